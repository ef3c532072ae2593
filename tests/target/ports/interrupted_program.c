/* Forces an interrupt at every instruction of the recorder's hot and slow paths in turn, and
 * records an event in it. interrupted_check.py compares the program's account with what was
 * recorded.
 *
 * Each case is tried again and again, and the timer that interrupts it is set STEP later each time,
 * until the interrupt comes after its end. An instruction takes longer than that (the check says so
 * to QEMU), so none is passed over.
 *
 * QEMU puts the first step into the word at FIRST_STEP. With 0 there, each case runs once, without
 * any interrupt: the log of that run has the instructions that the interrupts must reach.
 */
#include "target_drain.h"

#define FIRST_STEP (*(volatile uint32_t *)((char *)board_data_begin + 0x900000u))
#define STEPS_AT_MOST 100000u

TARE_CATEGORY(work, 0, "work")
TARE_EVENT0(mark, work, "mark")
TARE_EVENT1(number, work, "number", u32, value, "")
TARE_EVENT2(pair, work, "pair", u32, value, "", u32, inverse, "")
TARE_STRING(say, work, "say")
TARE_VALUE(interrupt, work, "interrupt", u32, "")

static uint32_t attempted_outside, next;

/* Of the interrupt. */
static uint32_t attempted_inside;
static volatile uint32_t acting, came, came_late;

/* A bit for each halfword of code: an interrupt came before the instruction there. */
static uint32_t reached[1u << 13];

#ifdef __riscv
#define CODE_BEGIN 0x80000000u
#elif MPS2_NOTE == 505 || MPS2_NOTE == 547
#define CODE_BEGIN 0x10000000u
#else
#define CODE_BEGIN 0u
#endif

/* ------------------------------------------------------------------ the interrupt */

__attribute__((used)) void interrupted_at(uint32_t address)
{
    uint32_t halfword = (address - CODE_BEGIN) / 2;

    board_tick_every(0);
    came = 1;
    came_late = !acting;
    if (acting && halfword / 32 < sizeof(reached) / sizeof(reached[0]))
        reached[halfword / 32] |= 1u << halfword % 32;
#ifndef URGENT /* one that the lock does not hold off must not record */
    interrupt(attempted_inside++);
#endif
}

#ifdef __riscv
void board_tick(void)
{
    uint32_t address;

    __asm volatile("csrr %0, mepc" : "=r"(address));
    interrupted_at(address);
}
#else
/* The processor has put the address into the seventh word of the stack. */
__attribute__((naked)) void SysTick_Handler(void)
{
    __asm volatile("ldr r0, [sp, #24]\n\t"
                   "ldr r1, =interrupted_at\n\t"
                   "bx r1\n\t"
                   ".ltorg");
}
#endif

/* ------------------------------------------------------------------ the cases */

static void record_mark(void)
{
    mark();
    attempted_outside++;
}

static void record_number(void)
{
    number(next++);
    attempted_outside++;
}

static void record_pair(void)
{
    pair(next, ~next);
    next++;
    attempted_outside++;
}

static uint32_t last_block(void)
{
    return ring->up.bytes / (4 * ring->block_words) - 1;
}

/* So that a turn comes only where a case makes it: each try must take the same way. */
static void keep_from_turning(void)
{
    drain();
    if ((BOARD_COUNTER & TARE_STAMP_MASK) > TARE_STAMP_MASK / 4 * 3) {
        BOARD_COUNTER = (BOARD_COUNTER | TARE_STAMP_MASK) + 1;
        record_mark();
        drain();
    }
}

/* Records until so many words are left in a block of the ring between these two. */
static void leave(uint32_t wanted, uint32_t first, uint32_t last)
{
    keep_from_turning();
    do {
        if (words_left() == 0 || words_left() >= wanted + 3)
            record_pair();
        else
            record_mark();
        drain();
    } while (words_left() != wanted || present_block() < first || present_block() > last);
}

static void prepare_room(void)
{
    keep_from_turning();
    if (words_left() < 20)
        leave(50, 0, last_block());
}

static void prepare_block_end(void)
{
    leave(1, 0, last_block() - 1);
}

static void prepare_ring_end(void)
{
    leave(1, last_block(), last_block());
}

static void prepare_turn(void)
{
    prepare_room();
    BOARD_COUNTER = (BOARD_COUNTER | TARE_STAMP_MASK) + 1;
}

static void prepare_full(void)
{
    uint32_t dropped = dropped_so_far();

    leave(20, 0, 0);
    while (dropped_so_far() == dropped)
        record_pair();
}

static void prepare_loss(void)
{
    prepare_full();
    drain();
}

static void prepare_loss_and_turn(void)
{
    prepare_loss();
    BOARD_COUNTER = (BOARD_COUNTER | TARE_STAMP_MASK) + 1;
}

static void act_each_length(void)
{
    record_mark();
    record_number();
    record_pair();
}

static void act_text(void)
{
    say("a text cut up"); /* 1 + 2 records */
    attempted_outside += 3;
}

static const struct scenario {
    const char *name;
    void (*prepare)(void);
    void (*act)(void);
} scenarios[] = {
    {"room", prepare_room, act_each_length},
    {"text", prepare_room, act_text},
    {"block_end", prepare_block_end, record_number},
    {"ring_end", prepare_ring_end, record_number},
    {"turn", prepare_turn, record_number},
    {"service", prepare_turn, tare_service},
    {"full", prepare_full, record_number},
    {"loss", prepare_loss, record_number},
    {"loss_and_turn", prepare_loss_and_turn, record_number},
};
#define SCENARIOS (sizeof(scenarios) / sizeof(scenarios[0]))

/* Marks in the log what was done in between. */
__attribute__((noinline)) void log_begin(void)
{
    __asm volatile("");
}
__attribute__((noinline)) void log_end(void)
{
    __asm volatile("");
}

static void try_dry(const struct scenario *one)
{
    one->prepare();
    log_begin();
    one->act();
    log_end();
    drain();
}

static void try_all_steps(const struct scenario *one)
{
    uint32_t steps;

    came_late = 0;
    for (steps = FIRST_STEP; !came_late; steps += STEP) {
        if (steps > STEPS_AT_MOST)
            board_exit(97);
        one->prepare();
        came = 0;
        acting = 1;
        board_tick_every(steps);
        one->act();
        acting = 0;
        while (!came)
            ;
        drain();
    }
    board_print(one->name);
    print("_steps", steps);
}

int main(void)
{
    uint32_t i, before_last;

    if (tare_start() != 0)
        return 1;
    ring = find_ring();
    if (!ring)
        return 2;
    for (i = 0; i < 50; i++) { /* it writes the names that had no room yet */
        tare_service();
        drain();
    }
#ifdef URGENT
    board_tick_level(0x20); /* above the lock */
#else
    board_tick_level(0x80);
#endif
    for (i = 0; i < SCENARIOS; i++)
        if (FIRST_STEP == 0)
            try_dry(&scenarios[i]);
        else
            try_all_steps(&scenarios[i]);

    leave(1, 0, last_block());
    record_mark();
    drain();
    before_last = attempted_outside + attempted_inside;
    print("dropped_before_last", dropped_so_far());
    act_each_length();
    tare_stop();
    print("dropped", dropped_so_far());
    print("attempted", attempted_outside + attempted_inside);
    print("attempted_before_last", before_last);
    print("interrupts", attempted_inside);
    print("numbers", next);
    print("collected_words", collected_words);
    print("collected_address", (uint32_t)COLLECTED);
    print("reached_address", (uint32_t)reached);
    print("reached_words", sizeof(reached) / sizeof(reached[0]));
    return 0;
}
