/* Records on a target without an operating system, keeps its own account of it, and prints that
 * account. cortexm3_check.py compares it with what two decoders find in the memory.
 *
 * The ring is emptied by this program itself (target_drain.h). The image of the memory alone gives
 * the last part.
 */
#include "figure_loops.h"
#include "target_drain.h"

#ifndef BATCHES
#define BATCHES 8u
#endif
#define LONG_BATCH 400u /* some blocks of every kind of event, less than the ring */
#define SHORT_BATCH 40u
#define TICK_COUNTS \
    (BOARD_COUNTER_HZ / 10000u + 3u) /* about 100 us, no multiple of anything else here */
#define START_TIME 0xFFE80000u       /* so that the 32-bit counter turns over during the run */

TARE_EVENT1(stamped, counted, "stamped", u32, counter, "ticks")
TARE_VALUE(tick_number, counted, "tick number", u32, "ticks")
TARE_SPAN(job, counted, "job")
TARE_STRING(say, counted, "say")

/* Attempted events, counted apart because the interrupt may come at any instruction. */
static uint32_t attempted_outside;
static volatile uint32_t attempted_in_tick, ticks;

/* Records up to a block border, so that what comes next can be read without what was before. */
static void fill_block(void)
{
    while (words_left() != 0) {
        mark();
        attempted_outside++;
        drain();
    }
}

/* The high part of the time changes with every number of words left in the block, before events of
 * every length. */
static void turn_at_block_ends(void)
{
    uint32_t left, arguments;

    for (left = 0; left < 5; left++)
        for (arguments = 0; arguments < 3; arguments++) {
            fill_block();
            while (words_left() != left) {
                drain();
                mark();
                attempted_outside++;
            }
            BOARD_COUNTER = (BOARD_COUNTER | TARE_STAMP_MASK) + 1;
            if (arguments == 0)
                mark();
            else if (arguments == 1)
                stamped(BOARD_COUNTER);
            else
                pair(left, -(int32_t)left);
            attempted_outside++;
        }
    drain();
}

/* ------------------------------------------------------------------ what events cost */

/* Steps of the counter that one batch takes. */
static uint32_t time_of(figure_loop *loop, uint32_t count)
{
    uint32_t begin = BOARD_COUNTER;

    loop(count);
    return BOARD_COUNTER - begin;
}

/* Long batches with all that comes with them, then the same number of short ones that stay within
 * a block: the fast path alone. */
static void measure(const char *name, figure_loop *loop, uint32_t is_event)
{
    uint32_t batch, all = 0, fast = 0;

    for (batch = 0; batch < BATCHES; batch++) {
        drain();
        all += time_of(loop, LONG_BATCH);
    }
    for (batch = 0; batch < BATCHES; batch++) {
        fill_block();
        mark(); /* opens the block */
        attempted_outside++;
        fast += time_of(loop, SHORT_BATCH);
    }
    attempted_outside += is_event * BATCHES * (LONG_BATCH + SHORT_BATCH);
    board_print(name);
    print("_all", all);
    board_print(name);
    print("_fast", fast);
}

/* Calls with and without a turn of the time to be noted. */
static void __attribute__((noinline, noclone)) loop_service(uint32_t count)
{
    while (count-- > 0) {
        if (count % 2 == 0)
            BOARD_COUNTER = (BOARD_COUNTER | TARE_STAMP_MASK) + 1;
        tare_service();
        drain();
    }
}

/* ------------------------------------------------------------------ use and loss */

void board_tick(void)
{
    ticks++;
    tick_number(ticks);
    stamped(BOARD_COUNTER);
    attempted_in_tick += 2;
    tare_service();
}

/* Some of everything, with an interrupt that records as well. */
static void ordinary_use(uint32_t rounds)
{
    uint32_t round;

    for (round = 0; round < rounds; round++) {
        job_begin(round);
        stamped(BOARD_COUNTER);
        say("a text that the interrupt may cut into"); /* 38 bytes: 1 + 5 records */
        pair(round, -(int32_t)round);
        job_end(round);
        attempted_outside += 10;
        drain();
    }
}

/* Records into the full ring; when the first and the last event were refused, as seen from here. */
static void lose(uint32_t count)
{
    uint32_t first_before = 0, first_after = 0, last_before = 0, last_after = 0, lost = 0;

    while (lost < count) {
        uint32_t dropped = dropped_so_far(), before = BOARD_COUNTER, after;

        stamped(before);
        after = BOARD_COUNTER;
        attempted_outside++;
        if (dropped_so_far() == dropped)
            continue;
        if (lost++ == 0) {
            first_before = before;
            first_after = after;
        }
        last_before = before;
        last_after = after;
    }
    print("loss_count", lost);
    print("loss_first_after", first_before);
    print("loss_first_before", first_after);
    print("loss_last_after", last_before);
    print("loss_last_before", last_after);
}

int main(void)
{
    uint32_t begin, end, attempted_before_last;
    int result;

    BOARD_COUNTER = START_TIME;
    begin = BOARD_COUNTER;
    result = tare_start();
    end = BOARD_COUNTER;
    if (result != 0)
        return 1;
    ring = find_ring();
    if (!ring)
        return 2;
    print("start_ticks", end - begin);
    tare_thread_name("the core");

    measure("nothing", loop_nothing, 0);
    measure("off", loop_off, 0);
    measure("event0", loop_event0, 1);
    measure("event1", loop_event1, 1);
    measure("event2", loop_event2, 1);

    turn_at_block_ends();
    loop_service(50);

    board_tick_level(0x80); /* below the level of a BASEPRI lock */
    board_tick_every(TICK_COUNTS);
    ordinary_use(300);
    board_tick_every(0);

    lose(777);
    drain();
    ordinary_use(10);

    fill_block();
    drain(); /* if it was full by chance */
    attempted_before_last = attempted_outside + attempted_in_tick;
    print("dropped_before_last", dropped_so_far());
    board_tick_every(TICK_COUNTS);
    while (dropped_so_far() < 1000) {
        stamped(BOARD_COUNTER);
        attempted_outside++;
    }
    board_tick_every(0);
    tare_stop();
    mark(); /* after the stop nothing is attempted */

    print("dropped", dropped_so_far());
    print("attempted", attempted_outside + attempted_in_tick);
    print("attempted_before_last", attempted_before_last);
    print("attempted_in_tick", attempted_in_tick);
    print("collected_words", collected_words);
    print("collected_address", (uint32_t)COLLECTED);
    print("ring_bytes", ring->up.bytes);
    print("batches", BATCHES);
    print("long_batch", LONG_BATCH);
    print("short_batch", SHORT_BATCH);
    return 0;
}
