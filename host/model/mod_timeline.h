/* From the decoder's runs to what happened when: states and spans with begin and end, values,
 * instants, and what was lost, as one sequence of items that is handed to a function.
 *
 *     struct timeline_builder *timeline = timeline_new(TIMELINE_SPAN_LIMIT, take_item, context);
 *     while (decoder_next(decoder, &run))
 *         timeline_take(timeline, &run);
 *     timeline_finish(timeline, timeline_complete(decoder));
 *     timeline_free(timeline);
 *
 * Order: within a stream items come in the order of its records, and their times never fall unless
 * its clock did. What a loss or a fault ends is dated back to the last moment that is known. Events
 * of the streams of a session are merged by time; losses and ends of a stream are not, they may
 * come early. Equal times keep the order of the records. Times are ticks of the item's session;
 * mod_clock.h turns them into nanoseconds.
 *
 * States. A state machine belongs to its stream: each STATE event ends the state before it in that
 * stream and begins the next one, also when it is the same state again.
 *
 * Spans. A span is known by session, declaration and its own 32-bit id. It may end in another
 * stream than it began in. Began twice without an end between: the second begin ends the first
 * (TIMELINE_AGAIN). An end without a begin is a TIMELINE_ORPHAN. No end until the recording ends:
 * TIMELINE_LEFT_OPEN. At most `span_limit` are open at a time; one more ends the one that has been
 * open longest (TIMELINE_FORGOTTEN).
 *
 * Losses. Dropped or suppressed events, a gap on the path and damage end every state of that stream
 * and every span that began in it (TIMELINE_CUT), at the first moment about which nothing is known;
 * until the next event says more, nothing is open. A span that began elsewhere stays open.
 * `uncertain` means: something that was lost may have held the true end. It is set on what a loss
 * has ended; on a span that ends in a stream which has lost something since the span began; on one
 * that has no end of its own, if any stream of the session has lost something since then.
 *
 * Memory: one record for each stream and each state and span that is open.
 */
#ifndef MOD_TIMELINE_H
#define MOD_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dec_input.h"

enum timeline_kind {
    TIMELINE_STREAM,  /* a stream begins; its first item */
    TIMELINE_INSTANT, /* an event that stands for itself: plain, string, without definition */
    TIMELINE_TEXT,    /* the text of an earlier string event, which was complete only now */
    TIMELINE_VALUE,   /* argument[0] is the value from now on */
    TIMELINE_STATE_BEGIN,
    TIMELINE_STATE_END,
    TIMELINE_SPAN_BEGIN,
    TIMELINE_SPAN_END,
    TIMELINE_ORPHAN, /* end of a span whose begin is not known */
    TIMELINE_LOST,   /* something of this stream is missing or not to be trusted */
    TIMELINE_END     /* the recording of this stream was ended in order */
};

/* Why a state or span ended. */
enum timeline_cause {
    TIMELINE_NEXT,      /* its own end event; the next state */
    TIMELINE_AGAIN,     /* a span with this id began again */
    TIMELINE_CUT,       /* a loss, gap or fault: the true end may be missing */
    TIMELINE_CLOSED,    /* the recording of its stream was ended in order (states only) */
    TIMELINE_LEFT_OPEN, /* it was open when the data ended */
    TIMELINE_FORGOTTEN  /* too many spans open */
};

enum timeline_loss {
    TIMELINE_DROPPED,    /* count: events; the ring had no room */
    TIMELINE_SUPPRESSED, /* count: events; refused inside the recorder */
    TIMELINE_GAP,        /* count: words lost on the path, or passed over as damaged */
    TIMELINE_DISORDER,   /* count: 0; blocks repeated or out of order, time may fall */
    TIMELINE_DAMAGE,     /* count: 0; the fault says which; a GAP mostly follows */
    TIMELINE_BACKWARDS,  /* count: ticks that the clock went back */
    TIMELINE_UNVERIFIED /* count: 0; what follows was salvaged, no hash vouches for it. Ends nothing
                         */
};

struct timeline_item {
    enum timeline_kind kind;
    const struct decode_stream *stream;  /* where it was recorded; of an end: where it ended */
    uint64_t ticks;                      /* when; of STATE_END, SPAN_END and LOST the end */
    const struct definition *definition; /* of the event, of ends that of the begin; NULL: unknown
                                          */
    uint32_t id;          /* of the event, of ends that of the begin; not of STREAM, LOST, END */
    uint32_t argument[2]; /* as recorded; STATE: [0] the state; SPAN, ORPHAN: [0] the span's id */

    /* STATE, SPAN and LOST */
    uint64_t begin_ticks;

    /* STATE and SPAN */
    const struct decode_stream *begin_stream;
    uint64_t number; /* counts the begins from 1: ties an end to its begin */
    uint32_t *tag;   /* a word for the user, 0 at the begin; the end gets what the begin left */

    /* STATE_END, SPAN_END, ORPHAN; of an ORPHAN: something was lost before that may be its begin */
    bool uncertain;
    enum timeline_cause cause; /* STATE_END, SPAN_END */

    /* INSTANT of a string event, TEXT: NULL when the text is not known (yet) */
    const char *text; /* `text_size` bytes and a zero; not checked bytes */
    size_t text_size;
    bool text_cut;

    /* LOST */
    enum timeline_loss loss;
    bool begin_known;        /* false: some time between begin_ticks and ticks */
    uint64_t count;          /* unit: see enum timeline_loss */
    enum stream_fault fault; /* of DAMAGE */
};

/* The item and what it points to are valid during the call. */
typedef void timeline_sink(void *context, const struct timeline_item *item);

#define TIMELINE_SPAN_LIMIT (1u << 20)

struct timeline_builder *timeline_new(uint32_t span_limit, timeline_sink *sink, void *context);
void timeline_take(struct timeline_builder *timeline, struct decode_run *run);
/* Ends what is open. `complete`: each stream was read up to the end of the session (the reader
 * finished in order, or it is an image of one moment), so that what is open lasted until the last
 * time of its process (of the session, where there are no processes). Else until the last time of
 * its own stream, and it is uncertain; so are the ends in a session that another one followed. No
 * run may come after this. */
void timeline_finish(struct timeline_builder *timeline, bool complete);
/* What the decoder knows of that, once decoder_next() has returned false. */
bool timeline_complete(const struct decoder *decoder);
void timeline_free(struct timeline_builder *timeline);

/* For people and for JSON: "dropped", "gap", ...; "cut by a loss", ... */
const char *timeline_loss_name(enum timeline_loss loss);
const char *timeline_cause_text(enum timeline_cause cause);

#endif
