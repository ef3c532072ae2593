/* Runs each measured loop some times, long and short, for a tool that counts instructions. The
 * short ones fit a block of the ring, so that the cheapest of them shows the fast path alone.
 * Prints how many events were attempted.
 *
 * The ring must be large enough for everything: nothing is dropped.
 */
#include <stdio.h>

#include "figure_loops.h"

#define BATCHES 16u
#define LONG_BATCH 1000u /* 8 blocks of events with one argument */
#define SHORT_BATCH 40u

/* The names are what callgrind's output is searched for. */
static void __attribute__((noinline)) batch_long(figure_loop *loop)
{
    loop(LONG_BATCH);
}

static void __attribute__((noinline)) batch_short(figure_loop *loop)
{
    loop(SHORT_BATCH);
}

int main(void)
{
    figure_loop *const loops[] = {loop_nothing, loop_off, loop_event0, loop_event1, loop_event2};
    unsigned attempted = 0;

    tare_disable(1u << tare_category_silence);
    for (unsigned i = 0; i < sizeof loops / sizeof loops[0]; i++)
        for (unsigned batch = 0; batch < BATCHES; batch++) {
            batch_long(loops[i]);
            batch_short(loops[i]);
            if (i >= 2)
                attempted += LONG_BATCH + SHORT_BATCH;
        }
    printf("attempted %u\n", attempted);
    printf("long_batch %u\nshort_batch %u\nbatches %u\n", LONG_BATCH, SHORT_BATCH, BATCHES);
    return 0;
}
