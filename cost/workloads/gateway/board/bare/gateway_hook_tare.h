/* The hooks of the loop without a kernel, written with Tare. */
#ifndef GATEWAY_HOOK_TARE_H
#define GATEWAY_HOOK_TARE_H

#include "tare.h"

TARE_CATEGORY(gateway_loop, 1, "loop")
TARE_SPAN(gateway_interrupt, gateway_loop, "interrupt")
TARE_SPAN(gateway_loop_step, gateway_loop, "step")

#define GATEWAY_HOOK_INTERRUPT_BEGIN(number) gateway_interrupt_begin(number)
#define GATEWAY_HOOK_INTERRUPT_END(number) gateway_interrupt_end(number)
#define GATEWAY_HOOK_STEP_BEGIN(number) gateway_loop_step_begin(number)
#define GATEWAY_HOOK_STEP_END(number) gateway_loop_step_end(number)
#define GATEWAY_HOOK_TICK() tare_service()

#endif
