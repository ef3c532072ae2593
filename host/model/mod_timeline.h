/* From the decoder's runs to what happened when: states and spans with begin and end, values,
 * instants, what the tasks of a kernel did, and what was lost, as one sequence of items that is
 * handed to a function.
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
 * Actors. The events of a kernel's objects (FORMAT.md, 3.13) say which task, interrupt or software
 * timer runs. Each is an actor, with a lane of its own below the core (the stream) that it was
 * first seen on; another generation of an id is another actor. What a program records while an
 * actor runs belongs to it: item->actor. Where that is not known, and where there is no kernel, it
 * is NULL: the lane of the stream itself. A state machine of the program then belongs to the actor.
 *   What an actor does is a state too, with item->activity. A task is RUNNING from when it is
 * switched in until another one is. If it has begun to wait by then, it is BLOCKED, else PREEMPTED;
 * what it waits for, it waits for until an event says that it may run: READY. (A wait that ended
 * before the switch: READY as well.) An interrupt is RUNNING from enter to exit, on top of the
 * task, whose state does not change; interrupts nest. A timer's function is RUNNING from its begin
 * to its end, in the task that calls it, to which the events in it belong. All tasks without a
 * number are one actor, which is RUNNING or of unknown state. A task of which no state is open is
 * in an unknown state, not idle: before the first event that tells, and after a loss. With several
 * cores, a state that lasted while another core lost something is uncertain.
 *
 * Losses. Dropped or suppressed events, a gap on the path and damage end every state of that stream
 * and every span that began in it (TIMELINE_CUT), at the first moment about which nothing is known;
 * until the next event says more, nothing is open. A span that began elsewhere stays open.
 * `uncertain` means: something that was lost may have held the true end. It is set on what a loss
 * has ended; on a span that ends in a stream which has lost something since the span began; on one
 * that has no end of its own, if any stream of the session has lost something since then.
 *
 * Memory: one record for each stream, each object of the kernel (256 at most for an id), and each
 * state and span that is open.
 */
#ifndef MOD_TIMELINE_H
#define MOD_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dec_input.h"

enum timeline_kind {
    TIMELINE_STREAM,  /* a stream begins; its first item */
    TIMELINE_INSTANT, /* an event that stands for itself: plain, string, of an object of the kernel,
                         without definition. Events that begin or end an activity are none. */
    TIMELINE_TEXT,    /* the text of an earlier string event, which was complete only now */
    TIMELINE_VALUE,   /* argument[0] is the value from now on */
    TIMELINE_STATE_BEGIN,
    TIMELINE_STATE_END,
    TIMELINE_SPAN_BEGIN,
    TIMELINE_SPAN_END,
    TIMELINE_ORPHAN, /* end of a span, interrupt or timer whose begin is not known */
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
    TIMELINE_FORGOTTEN, /* too many spans open */
    TIMELINE_DELETED,   /* the actor was deleted */
    TIMELINE_NO_EXIT, /* an interrupt's exit is missing: one below it has ended, or it came again */
    TIMELINE_SWITCHED /* a state of the program, recorded when no actor was known: now one is */
};

enum timeline_actor_kind {
    TIMELINE_TASK,
    TIMELINE_INTERRUPT,
    TIMELINE_TIMER
};

/* Valid until the session ends. */
struct timeline_actor {
    enum timeline_actor_kind kind;
    uint32_t ordinal;                    /* in order of appearance, over all sessions */
    const struct decode_stream *stream;  /* the core that it was first seen on */
    const struct definition *definition; /* the latest that is known; never NULL */
    uint32_t id, generation;
    bool created;                     /* its creation was recorded */
    bool priority_known, inherited;   /* inherited: from a task that waits for its mutex */
    uint32_t priority, base_priority; /* at present; without what is inherited */
};

enum timeline_activity {
    TIMELINE_PROGRAM, /* none: a state that the program declared */
    TIMELINE_RUNNING,
    TIMELINE_READY,
    TIMELINE_PREEMPTED,
    TIMELINE_BLOCKED
};

enum timeline_wait {
    TIMELINE_WAIT_NONE,
    TIMELINE_WAIT_SEND,    /* for room in item->object */
    TIMELINE_WAIT_RECEIVE, /* to receive from it, take it, see bits in it */
    TIMELINE_WAIT_DELAY,   /* argument[0]: ticks of the kernel; of DELAY_UNTIL the tick count */
    TIMELINE_WAIT_DELAY_UNTIL,
    TIMELINE_WAIT_NOTIFICATION,
    TIMELINE_WAIT_SUSPENDED
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
    uint32_t id; /* of the event, of ends that of the begin; not of STREAM, LOST, END; of an
                    activity the actor's */
    uint32_t argument[2]; /* as recorded; STATE: [0] the state; SPAN, ORPHAN: [0] the span's id */

    /* Whose lane it belongs to, of ends that of the begin; NULL: the stream's own. An event of a
     * task (created, notified, ...) belongs to that task, whoever ran. */
    const struct timeline_actor *actor;
    /* Who else: begin of READY: who made it so; begin of PREEMPTED: the task that runs instead;
     * SPAN_END: where it ended; event of a task: who ran. NULL: not known. */
    const struct timeline_actor *by;

    /* INSTANT: whose event it is, BLOCKED: what it waits for; NULL: no object of the kernel. Its
     * `definition` is NULL. */
    const struct definition *object;
    uint32_t operation;      /* of the object's event (enum tare_operation) */
    enum tare_kernel kernel; /* of a KERNEL record its kind (argument[1]: its value); 0 */
    const struct timeline_actor *holder; /* BLOCKED, event HOLDER: who holds the mutex; NULL: not
                                            known */

    /* STATE */
    enum timeline_activity activity;
    enum timeline_wait wait; /* BLOCKED */

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
/* "running", "ready", "preempted", "blocked". */
const char *timeline_activity_name(enum timeline_activity activity);

/* Names, safe for terminals. Of an actor or another object: its own, else its class and id: "task
 * #010". Of an event: "tick", of an object "requests: send", of a state its value or, of an
 * activity, "running", "blocked: receive requests". */
void timeline_append_object(struct buffer *out, const struct definition *object);
void timeline_append_event(struct buffer *out, const struct timeline_item *item);
void timeline_append_state(struct buffer *out, const struct timeline_item *item);
/* Of an event of an object: what argument[1] is ("priority"), its unit ("" for none) and value;
 * NULL: it has none. */
const char *timeline_kernel_value(const struct timeline_item *item, const char **unit,
                                  uint32_t *value);

#endif
