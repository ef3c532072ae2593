/* What mod_timeline.c and mod_kernel.c share. Inside of mod_timeline.h. */
#ifndef MOD_TIMELINE_INSIDE_H
#define MOD_TIMELINE_INSIDE_H

#include "mod_timeline.h"

/* Who can have an interval of the same id open at the same time. */
enum interval_scope {
    SCOPE_SESSION, /* a span; its own id tells it apart */
    SCOPE_STREAM,  /* a state of the program, of no known actor */
    SCOPE_ACTOR,   /* a state of the program, of an actor */
    SCOPE_ACTIVITY /* what an actor does: kernel_object.activity */
};

struct interval_list {
    struct interval *oldest, *youngest;
};

/* A state or span that is open. */
struct interval {
    enum interval_scope scope;
    uint32_t owner; /* ordinal: of the session, stream or actor, by scope */
    uint32_t tag;
    struct timeline_item begin; /* as it was handed out, but for `tag` */
    struct kernel_object *object;
    struct interval *chain;           /* of the hash table */
    struct interval *before, *behind; /* in its stream, in order of begin */
    struct interval *older, *younger; /* spans: of all; states of the program: of their owner */
};

struct waiting {
    enum timeline_wait what;
    uint32_t value;               /* of the delay */
    const struct definition *on;  /* SEND, RECEIVE */
    struct kernel_object *object; /* the same; NULL: one without a number of its own */
};

/* Of one generation of an id. */
struct kernel_object {
    struct timeline_actor actor; /* kind and priority only of a task, interrupt or timer */
    struct kernel_object *next_generation;
    struct interval *activity;   /* NULL: none is open */
    struct interval_list states; /* of the program */
    /* While a task runs: */
    struct lane *core;      /* where; NULL: it does not */
    struct waiting waiting; /* what it has begun to wait for */
    bool woken, deleted;    /* its wait has ended; it will not come back when it is switched out */
    const struct timeline_actor *waker;
    /* Of an interrupt: */
    bool entered;
    struct kernel_object *below; /* the one that it interrupts */
    /* Of a mutex: */
    const struct timeline_actor *holder;
};

/* Where the last loss ended. By time, not by order: notes of one stream may come before events of
 * another that are older. */
struct lost_until {
    bool any;
    uint64_t ticks;
};

/* The two latest losses of different streams: what was lost in any stream but one. */
struct lost_streams {
    const struct decode_stream *stream[2]; /* the later one first; NULL: none */
    uint64_t ticks[2];
};

struct lane {
    const struct decode_stream *stream; /* NULL: nothing of this stream has been seen */
    uint64_t last_ticks, highest_ticks; /* they differ after a clock fault */
    struct lost_until lost;
    struct interval *first, *last;
    struct interval_list states;      /* of the program, of no known actor */
    struct kernel_object *running;    /* the task; NULL: not known */
    struct kernel_object *interrupts; /* entered ones, the innermost first */
};

struct timeline_builder {
    uint32_t span_limit;
    uint64_t seed;
    timeline_sink *sink;
    void *context;
    const struct decode_session *session;
    struct lost_until lost; /* in this session */
    struct lost_streams lost_streams;
    uint64_t numbers;
    struct lane **lanes; /* by ordinal of the stream; NULL: nothing of it has been seen */
    size_t lane_count;
    struct interval **slots;
    size_t slot_count, open_count; /* slot_count is a power of two */
    struct interval_list spans;
    struct interval *spare;
    uint32_t span_count;

    struct key_table object_table;  /* to 1 + number in `objects` */
    struct kernel_object **objects; /* by id (interrupts: and stream) the newest generation */
    uint32_t object_count, object_capacity;
    uint32_t actor_count; /* of all sessions */
};

static inline bool lost_since(const struct lost_until *lost, uint64_t ticks)
{
    return lost->any && lost->ticks >= ticks;
}

static inline bool lost_elsewhere(const struct lost_streams *lost,
                                  const struct decode_stream *stream, uint64_t ticks)
{
    int other = lost->stream[0] == stream;

    return lost->stream[other] != NULL && lost->ticks[other] >= ticks;
}

/* The context that an event of this stream comes from; NULL: not known. */
struct kernel_object *kernel_context(const struct lane *lane);

/* Hands out the begin: the caller sets all but kind, stream, begin_stream, begin_ticks, number and
 * tag. */
struct interval *interval_begin(struct timeline_builder *timeline, struct lane *lane,
                                enum interval_scope scope, const struct timeline_item *item,
                                struct kernel_object *object);
struct interval_end {
    const struct decode_stream *stream;
    uint64_t ticks;
    enum timeline_cause cause;
    bool uncertain;
    const struct timeline_actor *by;
};
void interval_end(struct timeline_builder *timeline, struct interval *interval,
                  const struct interval_end *end);

/* False: this is no event of a kernel's object. */
bool kernel_take(struct timeline_builder *timeline, struct lane *lane, const struct event *event);
/* Something of this stream is missing: which task runs and which interrupts are entered is not
 * known any more. What was open must have been ended. */
void kernel_forget(struct lane *lane);
void kernel_free_objects(struct timeline_builder *timeline);

#endif
