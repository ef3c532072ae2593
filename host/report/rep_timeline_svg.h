/* A short stretch of a recording as a picture: one lane a thread, task or interrupt, gaps drawn as
 * gaps. */
#ifndef REP_TIMELINE_SVG_H
#define REP_TIMELINE_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_buffer.h"

struct timeline_span {
    uint64_t begin_ns, end_ns; /* end >= begin; parts outside the stretch are cut off */
    bool declared;             /* a span that the application declared; else a state of the lane */
    unsigned state;            /* of a state: index into state_names */
    const char *label;         /* written inside when there is room; NULL: none */
};

struct timeline_instant {
    uint64_t at_ns;
    const char *label;
};

/* Where the lane's history is not known: events were lost or damaged. Never drawn as idle. */
struct timeline_gap {
    uint64_t begin_ns, end_ns;
    uint64_t lost_events; /* 0: not known */
};

struct timeline_lane {
    const char *name;
    const struct timeline_span *spans; /* by begin; an inner span behind the one that holds it */
    size_t span_count;
    const struct timeline_instant *instants;
    size_t instant_count;
    const struct timeline_gap *gaps;
    size_t gap_count;
};

/* How a state looks; where several tasks share a core, height tells apart as well as colour. */
enum timeline_look {
    TIMELINE_LOOK_PLAIN,     /* by number: 0 stands out, the others are light */
    TIMELINE_LOOK_RUNS,      /* a task has the processor */
    TIMELINE_LOOK_READY,     /* it could run */
    TIMELINE_LOOK_DISPLACED, /* it was preempted */
    TIMELINE_LOOK_WAITS,     /* it waits: thin */
    TIMELINE_LOOK_INTERRUPT,
    TIMELINE_LOOK_TIMER
};

struct timeline {
    uint64_t begin_ns, end_ns; /* the stretch, in the recording's time */
    const struct timeline_lane *lanes;
    size_t lane_count;
    /* For the legend. State 0 stands out (it should be "running"), the others are light. */
    const char *const *state_names;
    const enum timeline_look *state_looks; /* of each; NULL: all plain */
    size_t state_count;
    const char *caption; /* below the picture; NULL: none */
};

void timeline_svg(struct buffer *out, const char *id, const struct timeline *timeline,
                  const char *title, bool standalone);

#endif
