/* The parts of QEMU's machine virt with 32-bit RISC-V harts that programs without an operating
 * system use here. All runs in machine mode.
 *
 * Under `-icount shift=5` one instruction takes 32 ns of the board's time, whatever it does, and
 * the counter takes one step every 100 ns: 8 steps are 25 instructions.
 */
#ifndef VIRT_BOARD_H
#define VIRT_BOARD_H

#include <stdint.h>

/* The low half of mtime; runs freely, 32 bits; writing sets it. */
#define VIRT_COUNTER_ADDRESS 0x0200BFF8u
#define VIRT_COUNTER (*(volatile uint32_t *)VIRT_COUNTER_ADDRESS)
#define VIRT_COUNTER_HZ 10000000u

/* Runs after the memory has been set up; its result becomes the exit status of QEMU. */
int main(void);

/* Ends the program and with it QEMU. */
void virt_exit(int status) __attribute__((noreturn));

/* Text and decimal numbers to the UART, which the runner connects to standard output. */
void virt_print(const char *text);
void virt_print_number(uint32_t number);

/* `name`, `number` in hexadecimal, and the end of the line. */
void virt_print_hex(const char *name, uint32_t number);

/* Calls virt_tick() in an interrupt every `counts` steps of the counter; 0: never. */
void virt_tick_every(uint32_t counts);
void virt_tick(void);

/* With -smp: the other harts sleep until hart 0 starts one of them, which then runs
 * virt_other_main with interrupts enabled. The tick is hart 0's alone. */
void virt_start_hart(uint32_t hart);
void virt_other_main(uint32_t hart);

#endif
