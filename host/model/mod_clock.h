/* Ticks of a session to nanoseconds. */
#ifndef MOD_CLOCK_H
#define MOD_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "dec_directory.h"

/* Where the length of a tick is known from, the best first. */
enum clock_source {
    CLOCK_SNAPSHOTS, /* the collector read both clocks at the start and at the end */
    CLOCK_REGION,    /* the collector's estimate before the recording began */
    CLOCK_RECORD,    /* a CLOCK record of the recorder */
    CLOCK_UNKNOWN    /* times can only be shown in ticks */
};

struct session_scale {
    enum clock_source source;
    double ticks_per_second; /* 0: unknown */
    /* Time 0: the first snapshot, else the first tick that was given to session_scale(). */
    uint64_t origin_ticks;
    bool realtime_known;
    uint64_t origin_realtime_ns; /* time 0, ns since 1970 */
    uint64_t multiplier;         /* ns = ticks * multiplier >> shift; for scale_ns() */
    unsigned shift;

    /* What the snapshots say about the clock itself; all 0 with fewer than three. */
    double declared_ticks_per_second; /* of region or CLOCK record; 0: none */
    double worst_residual_ns;        /* of any snapshot from the straight line from first to last */
    double slowest_ppm, fastest_ppm; /* rate between neighbours, against the rate over all */
    uint64_t uncertainty_ns;         /* of first and last snapshot together */
    double span_s;                   /* from the first to the last snapshot */
};

/* `first_ticks`: any time of the session, time 0 when there is no snapshot: the first that is
 * shown. */
struct session_scale session_scale(const struct decode_session *session, uint64_t first_ticks);

/* Nanoseconds since time 0, negative before it, 0 when the length of a tick is unknown; saturates.
 */
int64_t scale_ns(const struct session_scale *scale, uint64_t ticks);

/* A number of ticks as nanoseconds; saturates. */
int64_t scale_span_ns(const struct session_scale *scale, uint64_t ticks);

#endif
