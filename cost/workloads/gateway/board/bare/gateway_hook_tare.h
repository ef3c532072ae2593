/* The hooks of the loop without a kernel, written with Tare. */
#ifndef GATEWAY_HOOK_TARE_H
#define GATEWAY_HOOK_TARE_H

#include "tare_baremetal.h"

TARE_CATEGORY(gateway_interrupts, TARE_CATEGORY_INTERRUPT, "interrupts")
TARE_CATEGORY(gateway_loop, 1, "loop")
TARE_INTERRUPT(gateway_tick, gateway_interrupts, "SysTick")
TARE_INTERRUPT(gateway_ethernet, gateway_interrupts, "Ethernet")
TARE_SPAN(gateway_loop_step, gateway_loop, "step")

#define GATEWAY_HOOK_INTERRUPT_BEGIN(number) \
    ((number) == 15 ? gateway_tick_enter() : gateway_ethernet_enter())
#define GATEWAY_HOOK_INTERRUPT_END(number) \
    ((number) == 15 ? gateway_tick_exit() : gateway_ethernet_exit())
#define GATEWAY_HOOK_STEP_BEGIN(number) gateway_loop_step_begin(number)
#define GATEWAY_HOOK_STEP_END(number) gateway_loop_step_end(number)
#define GATEWAY_HOOK_TICK() tare_service()

#endif
