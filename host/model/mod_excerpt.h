/* A short stretch of a recording, with all that its threads did in it, for a picture.
 *
 * Which stretch: behind the warm-up the first one in which every thread that ever records an event
 * records one; where there is none, the first with the most such threads. It is set so that the
 * events that decided lie in its middle. Of several sessions the first with an event is taken. The
 * same recording gives the same stretch.
 */
#ifndef MOD_EXCERPT_H
#define MOD_EXCERPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_buffer.h"
#include "base_error.h"

/* Times in ns since the first event of the recording. What reaches out of the stretch keeps its
 * true times. */

struct excerpt_interval {
    uint64_t begin_ns, end_ns;
    uint64_t number;  /* in order of begin: an outer one before the one inside */
    size_t name;      /* of the state, or of the span: excerpt_text() */
    uint32_t machine; /* id of the event of its state machine; of a span 0 */
    uint32_t state;   /* value of the state */
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

struct excerpt_lane {
    uint32_t stream;  /* ordinal */
    size_t name;      /* of the thread */
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
    struct excerpt_lane *lanes; /* threads that show anything, in order of appearance */
    size_t lane_count;
    size_t thread_count; /* that ever record an event */
    size_t active_count; /* of these: with an event in the stretch */
    bool complete; /* false: more than EXCERPT_LIMIT things happen in it, the rest is missing */
    struct buffer texts;
};
#define EXCERPT_LIMIT 200000u

struct excerpt_options {
    uint64_t length_ns;
    unsigned warm_up_percent; /* of the recording, 0 to 99: its beginning that is passed over */
};

/* Reads PATH three times. False with the reason in `error`: as decoder_open(), and EXIT_CANNOT_TELL
 * when there is no event or the length of a tick is not known. Free it in either case. */
bool excerpt_take(const char *path, const struct excerpt_options *options, struct excerpt *excerpt,
                  struct error *error);
void excerpt_free(struct excerpt *excerpt);

static inline const char *excerpt_text(const struct excerpt *excerpt, size_t text)
{
    return excerpt->texts.data + text;
}

#endif
