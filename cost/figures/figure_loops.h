/* The loops whose cost is counted: one event an iteration, and none. The same source on a
 * microcontroller and on Linux. What an event costs is a loop with it less the loop without. */
#ifndef FIGURE_LOOPS_H
#define FIGURE_LOOPS_H

#include "tare.h"

TARE_CATEGORY(counted, 0, "counted")
TARE_CATEGORY(silence, 1, "switched off")
TARE_EVENT0(mark, counted, "mark")
TARE_EVENT1(sample, counted, "sample", u32, number, "")
TARE_EVENT2(pair, counted, "pair", u32, number, "", i32, opposite, "")
TARE_EVENT1(unwanted, silence, "unwanted", u32, number, "")

typedef void figure_loop(uint32_t count);

/* `body` sees the number `i`, which the compiler must have at hand in every loop. */
#define FIGURE_LOOP(name, body) \
    static void __attribute__((noinline)) loop_##name(uint32_t count) \
    { \
        uint32_t i; \
        for (i = 0; i < count; i++) { \
            __asm volatile("" ::"r"(i)); \
            body; \
        } \
    }

FIGURE_LOOP(nothing, (void)i)
FIGURE_LOOP(off, unwanted(i))
FIGURE_LOOP(event0, mark())
FIGURE_LOOP(event1, sample(i))
FIGURE_LOOP(event2, pair(i, -(int32_t)i))

#endif
