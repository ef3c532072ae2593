/* Another recorder's hooks for the gateway on the board, as an example of an arm of one's own:
 *
 *     cost/workloads/gateway/board/build_gateway_board.sh other.elf --kernel freertos \
 *         --arm examples/other_recorder
 *
 * This file stands at the end of FreeRTOSConfig.h; without a kernel, in gateway_os_bare.c.
 */
#ifndef OTHER_RECORDER_HOOK_H
#define OTHER_RECORDER_HOOK_H

#include <stdint.h>

void other_recorder_switch(uint32_t task);

/* FreeRTOS: a task begins to run. */
#define traceTASK_SWITCHED_IN() other_recorder_switch((uint32_t)pxCurrentTCB->uxTCBNumber)

/* Without a kernel: a step of the loop found work. */
#define GATEWAY_HOOK_STEP_BEGIN(number) other_recorder_switch(number)

#endif
