/* The clock of a Linux session: which one, and how its ticks relate to the host's clocks. */
#ifndef CAP_CLOCK_H
#define CAP_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* What a writer's ticks are. A tick is at least 6 ns, so that a stamp of 20 bits lasts 6 ms. */
struct session_clock {
    uint32_t kind;             /* enum tare_clock_kind */
    uint32_t shift;            /* counter to ticks */
    uint32_t ticks_per_second; /* measured over some milliseconds, good to about 1e-4 */
};

/* One moment on three clocks (a CLOCK chunk). */
struct clock_snapshot {
    uint64_t ticks;
    uint64_t monotonic_ns;
    uint64_t realtime_ns;    /* since 1970 */
    uint64_t uncertainty_ns; /* half the time that reading them took */
};

/* Takes the processor's counter where it is invariant and the kernel itself trusts it, else
 * CLOCK_MONOTONIC. `want_monotonic` forces the latter. Takes about 20 ms to measure the rate. */
struct session_clock session_clock_choose(bool want_monotonic);

/* The closest of several readings. */
struct clock_snapshot session_clock_snapshot(const struct session_clock *clock);

#endif
