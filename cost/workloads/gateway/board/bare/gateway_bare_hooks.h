/* The recorder's hooks in the loop without a kernel. An arm defines those that it wants in the
 * header that GATEWAY_HOOK_HEADER names; the others are empty. Those of queues, mutexes and the
 * timer are in gateway_trace.h.
 *
 *   GATEWAY_HOOK_INTERRUPT_BEGIN(number)  in an interrupt: 15 is SysTick, 16 + n the board's n
 *   GATEWAY_HOOK_INTERRUPT_END(number)
 *   GATEWAY_HOOK_STEP_BEGIN(number)       a step of the loop found work; `number` counts from 0 in
 *   GATEWAY_HOOK_STEP_END(number)         the order of gateway_thread_create
 */
#ifndef GATEWAY_BARE_HOOKS_H
#define GATEWAY_BARE_HOOKS_H

#ifdef GATEWAY_HOOK_HEADER
#include GATEWAY_HOOK_HEADER
#endif

#ifndef GATEWAY_HOOK_INTERRUPT_BEGIN
#define GATEWAY_HOOK_INTERRUPT_BEGIN(number) ((void)0)
#endif
#ifndef GATEWAY_HOOK_INTERRUPT_END
#define GATEWAY_HOOK_INTERRUPT_END(number) ((void)0)
#endif
#ifndef GATEWAY_HOOK_STEP_BEGIN
#define GATEWAY_HOOK_STEP_BEGIN(number) ((void)0)
#endif
#ifndef GATEWAY_HOOK_STEP_END
#define GATEWAY_HOOK_STEP_END(number) ((void)0)
#endif
#ifndef GATEWAY_HOOK_TICK
#define GATEWAY_HOOK_TICK() ((void)0)
#endif

#endif
