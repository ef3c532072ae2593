/* A short stretch of a recording, with all that its threads did in it, for a picture.
 *
 * Which stretch, unless its begin is given: behind the warm-up the first one in which every thread
 * that ever records an event records one; where there is none, the first with the most such
 * threads. It is set so that the events that decided lie in its middle. Where the events of a
 * kernel say what runs, its tasks, interrupts and timers stand for the threads, and that one begins
 * to run for an event. Of several sessions the first with an event is taken. The same recording
 * gives the same stretch.
 */
#ifndef MOD_EXCERPT_H
#define MOD_EXCERPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_buffer.h"
#include "base_error.h"
#include "dec_input.h"

/* Times in ns since the first event of the recording. What reaches out of the stretch keeps its
 * true times. */

/* What the lane of a task, interrupt or timer shows: its `machine` is EXCERPT_KERNEL. */
#define EXCERPT_KERNEL 1u
enum excerpt_activity {
    EXCERPT_RUNNING,
    EXCERPT_READY,
    EXCERPT_PREEMPTED,
    EXCERPT_BLOCKED,
    EXCERPT_INTERRUPT, /* an interrupt is entered */
    EXCERPT_TIMER      /* a timer's function runs */
};

struct excerpt_interval {
    uint64_t begin_ns, end_ns;
    uint64_t number;  /* in order of begin: an outer one before the one inside */
    size_t name;      /* of the state, or of the span: excerpt_text() */
    size_t legend;    /* of a state: its name without what it waits for; "interrupt", "timer" */
    uint32_t machine; /* id of the event of its state machine; of a span 0 */
    uint32_t state;   /* value of the state; of a kernel's: enum excerpt_activity */
    bool span;        /* declared as a span, else a state */
    bool uncertain;   /* something was lost that may have held its true end */
};

struct excerpt_instant {
    uint64_t ns;
    size_t name; /* with its arguments */
};

/* Nothing is known about the lane in between: from the first loss until its next state is seen. */
struct excerpt_gap {
    uint64_t begin_ns, end_ns;
    uint64_t events; /* that are missing; 0: not known */
};

/* In the order in which the lanes of one stream come. */
enum excerpt_lane_kind {
    EXCERPT_LANE_INTERRUPT,
    EXCERPT_LANE_TIMER,
    EXCERPT_LANE_STREAM, /* the thread itself; of a core: what no task or interrupt is known for */
    EXCERPT_LANE_TASK
};

struct excerpt_lane {
    enum excerpt_lane_kind kind;
    uint32_t stream;  /* ordinal */
    uint32_t actor;   /* ordinal of the task, interrupt or timer */
    size_t name;      /* of the thread, task, ... */
    uint32_t machine; /* whose states are shown: of several the one declared first; 0: none */
    struct excerpt_interval *intervals; /* by begin */
    size_t interval_count;
    struct excerpt_instant *instants; /* in order */
    size_t instant_count;
    struct excerpt_gap *gaps; /* in order */
    size_t gap_count;
};

struct excerpt {
    uint64_t begin_ns, end_ns;
    int64_t first_ns;           /* the first event, since time 0 of its session (mod_clock.h) */
    struct excerpt_lane *lanes; /* that show anything: by stream, kind and order of appearance */
    size_t lane_count;
    bool kernel;         /* its tasks, interrupts and timers count as threads */
    size_t thread_count; /* that ever record an event */
    size_t active_count; /* of these: with an event in the stretch */
    bool complete; /* false: more than EXCERPT_LIMIT things happen in it, the rest is missing */
    struct buffer texts;
};
#define EXCERPT_LIMIT 200000u

struct excerpt_options {
    uint64_t length_ns;
    unsigned warm_up_percent; /* of the recording, 0 to 99: its beginning that is passed over */
    bool begin_given;
    int64_t begin_ns; /* since time 0 of the session (mod_clock.h), as `tare dump` shows it */
    struct decode_options decode;
};

/* Reads PATH three times. False with the reason in `error`: as decoder_open(), and EXIT_CANNOT_TELL
 * when there is no event, none behind the begin that was given, or the length of a tick is not
 * known. Free it in either case. */
bool excerpt_take(const char *path, const struct excerpt_options *options, struct excerpt *excerpt,
                  struct error *error);
void excerpt_free(struct excerpt *excerpt);

static inline const char *excerpt_text(const struct excerpt *excerpt, size_t text)
{
    return excerpt->texts.data + text;
}

#endif
