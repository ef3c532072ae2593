#include "gateway_board.h"

#include "gateway_application.h"
#include "gateway_os.h"
#include "mps2_board.h"

#define REGISTER(address) (*(volatile uint32_t *)(address))

#define TIMER0_CONTROL REGISTER(0x40000000u)
#define TIMER0_RELOAD REGISTER(0x40000008u)
#define TIMER1_CONTROL REGISTER(0x40001000u)
#define TIMER1_VALUE REGISTER(0x40001004u)
#define TIMER1_RELOAD REGISTER(0x40001008u)
#define TIMER1_CLEAR REGISTER(0x4000100Cu)
#define TIMER1_INTERRUPT 9u
#define US_PRESCALE REGISTER(0x4002801Cu)

#define SYSTICK_RELOAD REGISTER(0xE000E014u)
#define SYSTICK_VALUE REGISTER(0xE000E018u)
#define INTERRUPT_CONTROL REGISTER(0xE000ED04u)
#define SYSTICK_IS_PENDING (1u << 26)

#define TIMER_RUN 1u
#define TIMER_RUN_AND_INTERRUPT 9u

#define NS_PER_COUNT (1000000000u / GATEWAY_BOARD_CLOCK_HZ)
#define CALIBRATION_ROUNDS 10000u

#ifndef GATEWAY_STOP_PERIOD
#define GATEWAY_STOP_PERIOD 16667 /* 666.68 us: two stops a block at 750 blocks a second */
#endif
#ifndef GATEWAY_JITTER_SEED
#define GATEWAY_JITTER_SEED 1
#endif
#ifndef GATEWAY_WINDOW_SECONDS
#define GATEWAY_WINDOW_SECONDS 0
#endif

const uint32_t gateway_counter_hertz = GATEWAY_BOARD_CLOCK_HZ;

/* In .data even when 0, so that a rig finds their first values in the image. */
#define SETTING __attribute__((section(".data"), used))
SETTING volatile uint32_t gateway_stop_period = GATEWAY_STOP_PERIOD;
SETTING volatile uint32_t gateway_jitter_seed = GATEWAY_JITTER_SEED;
SETTING volatile uint32_t gateway_window_seconds = GATEWAY_WINDOW_SECONDS;

volatile uint32_t gateway_board_us;
volatile uint32_t gateway_idle_rounds;

enum window_state {
    NOT_OPEN,
    OPEN,
    CLOSED
};

static struct {
    volatile enum window_state state;
    volatile bool stopped;
    uint32_t opened_us, opened_rounds;
    uint32_t closed_us, closed_rounds;
} run;

static uint32_t instruction_ns;
static uint32_t jitter;

uint32_t gateway_counter(void)
{
    return GATEWAY_BOARD_CLOCK;
}

/* Interrupts off from here to restore(). */
static uint32_t mask(void)
{
    uint32_t state;
    __asm volatile("mrs %0, primask\n\tcpsid i" : "=r"(state)::"memory");
    return state;
}

static void restore(uint32_t state)
{
    __asm volatile("msr primask, %0" ::"r"(state) : "memory");
}

void gateway_board_give_up(const char *what)
{
    mps2_print("gateway: ");
    mps2_print(what);
    mps2_print("\n");
    mps2_exit(3);
}

/* ------------------------------------------------------------------ clocks */

/* 4 instructions a round, as the idle loops have. The counter is read by an instruction on either
 * side: too little to matter among so many. */
static uint32_t measure_instruction_ns(void)
{
    uint32_t rounds = CALIBRATION_ROUNDS;
    uint32_t state = mask();
    uint32_t begin = GATEWAY_BOARD_CLOCK;
    __asm volatile("1: nop\n\tnop\n\tsubs %0, %0, #1\n\tbne 1b" : "+r"(rounds)::"cc");
    uint32_t counts = GATEWAY_BOARD_CLOCK - begin;
    restore(state);
    uint32_t instructions = CALIBRATION_ROUNDS * GATEWAY_IDLE_INSTRUCTIONS;
    return (counts * NS_PER_COUNT + instructions / 2) / instructions;
}

uint32_t gateway_board_instruction_ns(void)
{
    return instruction_ns;
}

void gateway_board_begin(void)
{
    US_PRESCALE = GATEWAY_BOARD_CLOCK_HZ / 1000000u - 1;
    GATEWAY_BOARD_US = 0;
    TIMER0_CONTROL = 0;
    TIMER0_RELOAD = 0xFFFFFFFFu;
    GATEWAY_TIMER0_VALUE = 0xFFFFFFFFu;
    TIMER0_CONTROL = TIMER_RUN;
    instruction_ns = measure_instruction_ns();
#ifdef GATEWAY_SHIFT
    if (instruction_ns != 1u << GATEWAY_SHIFT)
        gateway_board_give_up("the image was built for another -icount shift than the board has");
#endif
}

bool gateway_board_newest_tick(uint32_t *counter)
{
    uint32_t state = mask();
    uint32_t since_tick = SYSTICK_RELOAD - SYSTICK_VALUE, now = GATEWAY_BOARD_CLOCK;
    bool is_pending = (INTERRUPT_CONTROL & SYSTICK_IS_PENDING) != 0;
    restore(state);
    *counter = now - since_tick;
    return !is_pending;
}

/* ------------------------------------------------------------------ the rig's stop */

__attribute__((naked, noinline, used)) void gateway_probe_stop(void)
{
    __asm volatile("nop\n\tbx lr");
}

/* Timer 1. The jitter is a property of the load, so it depends on the seed alone. */
void mps2_interrupt_9(void)
{
    uint32_t period = gateway_stop_period;
    TIMER1_CLEAR = 1;
    if (gateway_jitter_seed != 0) {
        jitter = jitter * 1664525u + 1013904223u;
        TIMER1_RELOAD = period - 1 - period / 4 + ((jitter >> 16) * (period / 2) >> 16);
    }
    gateway_probe_stop();
}

void gateway_board_ready(void)
{
    mps2_print("{\"data_port\":5000,\"command_port\":5001}\n");
    if (gateway_stop_period == 0)
        return;
    jitter = gateway_jitter_seed;
    TIMER1_RELOAD = gateway_stop_period - 1;
    TIMER1_VALUE = gateway_stop_period - 1;
    mps2_interrupt_enable(TIMER1_INTERRUPT, GATEWAY_LEVEL_STOP);
    TIMER1_CONTROL = TIMER_RUN_AND_INTERRUPT;
}

/* ------------------------------------------------------------------ the measured window */

void gateway_board_window_opened(void)
{
    uint32_t state = mask();
    run.opened_us = GATEWAY_BOARD_US;
    run.opened_rounds = gateway_idle_rounds;
    run.state = OPEN;
    restore(state);
}

/* Interrupts are off. */
static void close_window(void)
{
    run.closed_us = GATEWAY_BOARD_US;
    run.closed_rounds = gateway_idle_rounds;
    run.state = CLOSED;
    gateway_application_close_window();
}

void gateway_board_tick(void)
{
    uint32_t now = GATEWAY_BOARD_US;
    gateway_board_us = now;
    if (gateway_window_seconds == 0 || run.state != OPEN)
        return;
    uint32_t state = mask();
    if (run.state == OPEN && now - run.opened_us >= gateway_window_seconds * 1000000u)
        close_window();
    restore(state);
}

void gateway_board_stop_requested(void)
{
    uint32_t state = mask();
    if (run.state == OPEN)
        close_window();
    run.stopped = true;
    restore(state);
    gateway_board_end_run();
}

bool gateway_board_stopped(void)
{
    return run.stopped;
}

struct gateway_window gateway_board_window(void)
{
    return (struct gateway_window){.us = run.closed_us - run.opened_us,
                                   .idle_rounds = run.closed_rounds - run.opened_rounds};
}
