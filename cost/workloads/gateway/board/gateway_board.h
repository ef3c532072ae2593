/* The board under the gateway: clocks, idle accounting, the measured window and the stop of the
 * lock-step rig. The same for FreeRTOS and for the loop without a kernel. mps2_board.h has the
 * rest.
 *
 * Clocks, all of them driven by the board's time and so in step with each other:
 *   gateway_counter()   CMSDK timer 0, 25 MHz, 32 bits: latency, timer error, and the recorder's
 * clock GATEWAY_BOARD_US    counter of the FPGA's I/O block, 1 MHz, 32 bits: the length of the
 * window SysTick             1 kHz: the kernel's tick
 *
 * CPU load is measured by what is left over: nothing sleeps, whoever has no work counts in a loop
 * of exactly GATEWAY_IDLE_INSTRUCTIONS instructions. How long an instruction takes is measured at
 * start-up; under `-icount shift=N` it is 2^N ns. The counts are 32 bits: a window may last
 * 4 x 2^32 instructions, which is 137 s at shift 3.
 */
#ifndef GATEWAY_BOARD_H
#define GATEWAY_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#define GATEWAY_TIMER0_VALUE (*(volatile uint32_t *)0x40000004u)
#define GATEWAY_BOARD_CLOCK (~GATEWAY_TIMER0_VALUE) /* the timer counts down */
#define GATEWAY_BOARD_CLOCK_HZ 25000000u
#define GATEWAY_BOARD_US (*(volatile uint32_t *)0x40028018u)

#define GATEWAY_IDLE_INSTRUCTIONS 4

/* Levels of interrupts; a smaller one is more urgent. The stop interrupts all the others and also a
 * kernel's critical sections, as a debug probe does. */
#define GATEWAY_LEVEL_STOP 0u
#define GATEWAY_LEVEL_KERNEL_MAXIMUM 64u /* the most urgent that may call the kernel */
#define GATEWAY_LEVEL_NETWORK 160u

/* ---- what a rig sets before the first instruction, in the image (-D of the build script) or in
 * the memory of the loaded program */
extern volatile uint32_t gateway_stop_period;    /* mean, in counts of 25 MHz; 0: no stops */
extern volatile uint32_t gateway_jitter_seed;    /* 0: stops exactly at the period, else +-25 % */
extern volatile uint32_t gateway_window_seconds; /* 0: the window ends with the stop command */

/* ---- what a rig reads while the program runs */
extern volatile uint32_t gateway_board_us; /* GATEWAY_BOARD_US at the newest tick */

/* The rig's place to stop at: `nop; bx lr`, reached from interrupt level 0. */
void gateway_probe_stop(void);

/* Rounds of the idle loop, written only by it: at every round by a kernel's idle hook, at the end
 * of a spin by the loop without a kernel. */
extern volatile uint32_t gateway_idle_rounds;

/* Starts the clocks and measures how long an instruction takes. Call it first. */
void gateway_board_begin(void);

/* Says that the application listens, and lets the stops begin. */
void gateway_board_ready(void);

/* The counter at the newest wrap of SysTick. False: the interrupt of that wrap has not run yet, try
 * again. Call it where no tick can come between it and what depends on it. */
bool gateway_board_newest_tick(uint32_t *counter);

/* Call it every millisecond, from an interrupt or not. */
void gateway_board_tick(void);

/* Nanoseconds of one instruction. */
uint32_t gateway_board_instruction_ns(void);

/* The callbacks of gateway_configuration. `gateway_board_stopped` turns true after a stop. */
void gateway_board_window_opened(void);
void gateway_board_stop_requested(void);
bool gateway_board_stopped(void);

struct gateway_window {
    uint32_t us;          /* length; 0 when no measured block came */
    uint32_t idle_rounds; /* in it */
};
struct gateway_window gateway_board_window(void);

/* Says what is wrong and ends the program with status 3. */
void gateway_board_give_up(const char *what) __attribute__((noreturn));

/* ---- what the two OS layers offer to the program around the application */

/* Kernel and version for the report. */
extern const char gateway_board_kernel[];

/* False for a kernel whose licence forbids to publish figures of its run time (FreeRTOS before 10):
 * then the report holds counts only. */
extern const bool gateway_board_figures_allowed;

/* Datagrams that found the queue of their port full. */
uint32_t gateway_board_port_drops(void);

/* The stop has come; the board calls it from the step that heard it. */
void gateway_board_end_run(void);

/* Runs `begin`, which starts the application, then the application until it has been stopped, then
 * `end`. Never returns. */
void gateway_board_run(void (*begin)(void), void (*end)(void)) __attribute__((noreturn));

#endif
