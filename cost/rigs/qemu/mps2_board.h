/* The parts of ARM's MPS2 and MPS3 boards that programs without an operating system use here. QEMU
 * has these boards; build_board.sh gives the number of the application note that describes them:
 *
 *     BOARD        MPS2_NOTE  core        RAM here                  counter
 *     mps2-an385   385        Cortex-M3   0x21000000                25 MHz
 *     mps2-an386   386        Cortex-M4   0x21000000                25 MHz
 *     mps2-an500   500        Cortex-M7   0x60000000                25 MHz
 *     mps2-an505   505        Cortex-M33  0x80000000                20 MHz
 *     mps3-an547   547        Cortex-M55  0x70000000                20 MHz
 *
 * The last two have TrustZone; all runs in its secure state, as after reset.
 *
 * Under `-icount shift=5` one instruction takes 32 ns of the board's time, whatever it does, and
 * the counter takes one step every 40 ns at 25 MHz: 4 steps are 5 instructions.
 */
#ifndef MPS2_BOARD_H
#define MPS2_BOARD_H

#include <stdint.h>

#ifndef MPS2_NOTE
#define MPS2_NOTE 385
#endif

#if MPS2_NOTE == 385 || MPS2_NOTE == 386 || MPS2_NOTE == 500
#define MPS2_FPGAIO 0x40028000u
#define MPS2_UART0 0x40004000u
#define MPS2_COUNTER_HZ 25000000u
#elif MPS2_NOTE == 505
#define MPS2_FPGAIO 0x50302000u
#define MPS2_UART0 0x50200000u
#define MPS2_COUNTER_HZ 20000000u
#elif MPS2_NOTE == 547
#define MPS2_FPGAIO 0x59302000u
#define MPS2_UART0 0x59303000u
#define MPS2_COUNTER_HZ 20000000u /* of QEMU 7.2, beside a processor of 32 MHz */
#else
#error "MPS2_NOTE: 385, 386, 500, 505 or 547"
#endif

#define MPS2_COUNTER_ADDRESS (MPS2_FPGAIO + 0x18u) /* runs freely, 32 bits; writing sets it */
#define MPS2_COUNTER (*(volatile uint32_t *)MPS2_COUNTER_ADDRESS)

/* Runs after the memory has been set up; its result becomes the exit status of QEMU. */
int main(void);

/* Ends the program and with it QEMU. */
void mps2_exit(int status) __attribute__((noreturn));

/* Text and decimal numbers to UART0, which the runner connects to standard output. */
void mps2_print(const char *text);
void mps2_print_number(uint32_t number);

/* `name`, `number` in hexadecimal, and the end of the line. */
void mps2_print_hex(const char *name, uint32_t number);

/* Calls mps2_tick() in an interrupt every `counts` steps, at least 2, of the processor's clock: 20
 * MHz with note 505, 32 with note 547, else 25. 0: never. */
void mps2_tick_every(uint32_t counts);
void mps2_tick(void);

/* Its level: 0, the most urgent, unless set. */
void mps2_tick_level(uint32_t level);

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
