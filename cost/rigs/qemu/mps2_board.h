/* The parts of an ARM MPS2 board (application note 385: Cortex-M3) that programs without an
 * operating system use here. QEMU's machine mps2-an385 is such a board.
 *
 * Under `-icount shift=5` one instruction takes 32 ns of the board's time, whatever it does, and
 * the counter below takes one step every 40 ns: 4 steps are 5 instructions.
 */
#ifndef MPS2_BOARD_H
#define MPS2_BOARD_H

#include <stdint.h>

#define MPS2_COUNTER_ADDRESS 0x40028018u /* runs freely, 32 bits; writing sets it */
#define MPS2_COUNTER (*(volatile uint32_t *)MPS2_COUNTER_ADDRESS)
#define MPS2_COUNTER_HZ 25000000u

/* Runs after the memory has been set up; its result becomes the exit status of QEMU. */
int main(void);

/* Ends the program and with it QEMU. */
void mps2_exit(int status) __attribute__((noreturn));

/* Text and decimal numbers to UART0, which the runner connects to standard output. */
void mps2_print(const char *text);
void mps2_print_number(uint32_t number);

/* `name`, `number` in hexadecimal, and the end of the line. */
void mps2_print_hex(const char *name, uint32_t number);

/* Calls mps2_tick() in an interrupt every `counts` steps of the 25 MHz clock; 0: never. */
void mps2_tick_every(uint32_t counts);
void mps2_tick(void);

/* Handlers that a program may define; the names are those of ARM's CMSIS, which kernels use. Unless
 * it does, SysTick_Handler calls mps2_tick(), and the others end the program with status 98 and
 * say who was called. */
void SVC_Handler(void);
void PendSV_Handler(void);
void SysTick_Handler(void);

/* Interrupts of the board, by their number: mps2_interrupt_8() is that of timer 0. Defined by the
 * program or, weakly, as above. */
#define MPS2_INTERRUPTS 32u

/* Level 0 is the most urgent; the emulated core looks at all 8 bits. */
void mps2_interrupt_enable(uint32_t number, uint32_t level);
void mps2_interrupt_disable(uint32_t number);

#endif
