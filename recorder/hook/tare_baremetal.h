/* Hooks for a program without a kernel: interrupts and the parts of a loop. Also for the interrupts
 * of an application on a kernel.
 *
 *     TARE_CATEGORY(interrupts, 29, "interrupts")
 *     TARE_INTERRUPT(ethernet, interrupts, "Ethernet")
 *
 *     void ETH_Handler(void)
 *     {
 *         ethernet_enter();
 *         ...
 *         ethernet_exit();
 *     }
 *
 * A part of a loop is a span of tare.h: TARE_SPAN(step, loop, "step").
 */
#ifndef TARE_BAREMETAL_H
#define TARE_BAREMETAL_H

#include "../tare_kernel.h"

/* void symbol_enter(void), void symbol_exit(void): first and last statement of the handler; 4 bytes
 * each. Handlers may interrupt each other. At file scope, without a semicolon. [hot] */
#define TARE_INTERRUPT(symbol, category, text) TARE_PRIVATE_INTERRUPT(symbol, category, text)

#endif /* TARE_BAREMETAL_H */
