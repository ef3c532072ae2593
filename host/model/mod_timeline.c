/* Open states and spans live in one hash table, but for what actors do; each also hangs in the list
 * of the stream that it began in, so that a loss ends exactly those, and in a list by age. */
#include "mod_timeline_inside.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <xxhash.h>

#include "base_progress.h"

#define FIRST_SLOTS 256u

struct timeline_builder *timeline_new(uint32_t span_limit, timeline_sink *sink, void *context)
{
    struct timeline_builder *timeline = memory_new(1, sizeof(*timeline));

    timeline->span_limit = span_limit;
    /* So that no input can be made to hit one slot only. */
    if (getrandom(&timeline->seed, sizeof(timeline->seed), GRND_NONBLOCK) < 0)
        timeline->seed = monotonic_ns();
    timeline->sink = sink;
    timeline->context = context;
    timeline->slot_count = FIRST_SLOTS;
    timeline->slots = memory_new(FIRST_SLOTS, sizeof(struct interval *));
    return timeline;
}

void timeline_free(struct timeline_builder *timeline)
{
    if (timeline == NULL)
        return;
    while (timeline->spare != NULL) {
        struct interval *interval = timeline->spare;

        timeline->spare = interval->chain;
        free(interval);
    }
    free(timeline->slots);
    for (size_t i = 0; i < timeline->lane_count; i++) {
        struct lane *lane = timeline->lanes[i];

        for (struct interval *at = lane != NULL ? lane->first : NULL, *next; at != NULL;
             at = next) {
            next = at->behind;
            free(at);
        }
        free(lane);
    }
    free(timeline->lanes);
    kernel_free_objects(timeline);
    free(timeline);
}

/* ------------------------------------------------------------------ what is open */

static uint64_t hash(const struct timeline_builder *timeline, enum interval_scope scope,
                     uint32_t owner, uint32_t id, uint32_t span_id)
{
    uint32_t key[4] = {scope, owner, id, span_id};

    return XXH64(key, sizeof(key), timeline->seed);
}

/* A state's value is no part of its key, a span's id is. */
static struct interval **slot_of(const struct timeline_builder *timeline, enum interval_scope scope,
                                 uint32_t owner, uint32_t id, uint32_t span_id)
{
    struct interval **at;

    span_id = scope == SCOPE_SESSION ? span_id : 0;
    at = &timeline->slots[hash(timeline, scope, owner, id, span_id) & (timeline->slot_count - 1)];
    while (*at != NULL &&
           ((*at)->scope != scope || (*at)->owner != owner || (*at)->begin.id != id ||
            (scope == SCOPE_SESSION && (*at)->begin.argument[0] != span_id)))
        at = &(*at)->chain;
    return at;
}

static struct interval **slot_of_interval(const struct timeline_builder *timeline,
                                          const struct interval *interval)
{
    return slot_of(timeline, interval->scope, interval->owner, interval->begin.id,
                   interval->begin.argument[0]);
}

static void grow_slots(struct timeline_builder *timeline)
{
    struct interval **old = timeline->slots;
    size_t old_count = timeline->slot_count;

    timeline->slot_count *= 2;
    timeline->slots = memory_new(timeline->slot_count, sizeof(struct interval *));
    for (size_t i = 0; i < old_count; i++) {
        for (struct interval *interval = old[i], *next; interval != NULL; interval = next) {
            struct interval **at = slot_of_interval(timeline, interval);

            next = interval->chain;
            interval->chain = NULL;
            *at = interval;
        }
    }
    free(old);
}

static struct lane *lane_of(struct timeline_builder *timeline, const struct decode_stream *stream)
{
    if (stream->ordinal >= timeline->lane_count) {
        size_t count = (size_t)stream->ordinal + 1 + timeline->lane_count / 2;

        timeline->lanes = memory_resize(timeline->lanes, count, sizeof(struct lane *));
        memset(timeline->lanes + timeline->lane_count, 0,
               (count - timeline->lane_count) * sizeof(struct lane *));
        timeline->lane_count = count;
    }
    if (timeline->lanes[stream->ordinal] == NULL)
        timeline->lanes[stream->ordinal] = memory_new(1, sizeof(struct lane));
    return timeline->lanes[stream->ordinal];
}

static uint32_t owner_of(const struct lane *lane, enum interval_scope scope,
                         const struct kernel_object *object)
{
    return scope == SCOPE_SESSION  ? lane->stream->session->ordinal
           : scope == SCOPE_STREAM ? lane->stream->ordinal
                                   : object->actor.ordinal;
}

/* By age; NULL: of its kind there is no such list. */
static struct interval_list *list_of(struct timeline_builder *timeline,
                                     const struct interval *interval)
{
    switch (interval->scope) {
    case SCOPE_SESSION:
        return &timeline->spans;
    case SCOPE_STREAM:
        return &timeline->lanes[interval->begin.stream->ordinal]->states;
    case SCOPE_ACTOR:
        return &interval->object->states;
    default:
        return NULL;
    }
}

static void link_interval(struct timeline_builder *timeline, struct lane *lane,
                          struct interval *interval)
{
    struct interval_list *list = list_of(timeline, interval);

    *(lane->last != NULL ? &lane->last->behind : &lane->first) = interval;
    lane->last = interval;
    if (list == NULL)
        return;
    interval->older = list->youngest;
    *(list->youngest != NULL ? &list->youngest->younger : &list->oldest) = interval;
    list->youngest = interval;
    timeline->span_count += interval->scope == SCOPE_SESSION;
    if (timeline->open_count == timeline->slot_count)
        grow_slots(timeline);
    *slot_of_interval(timeline, interval) = interval;
    timeline->open_count++;
}

static void unlink_interval(struct timeline_builder *timeline, struct interval *interval)
{
    struct lane *lane = timeline->lanes[interval->begin.stream->ordinal];
    struct interval_list *list = list_of(timeline, interval);

    *(interval->before != NULL ? &interval->before->behind : &lane->first) = interval->behind;
    *(interval->behind != NULL ? &interval->behind->before : &lane->last) = interval->before;
    if (list != NULL) {
        *(interval->older != NULL ? &interval->older->younger : &list->oldest) = interval->younger;
        *(interval->younger != NULL ? &interval->younger->older : &list->youngest) =
            interval->older;
        timeline->span_count -= interval->scope == SCOPE_SESSION;
        *slot_of_interval(timeline, interval) = interval->chain;
        timeline->open_count--;
    } else if (interval->object != NULL) {
        interval->object->activity = NULL;
    }
    interval->chain = timeline->spare;
    timeline->spare = interval;
}

void interval_end(struct timeline_builder *timeline, struct interval *interval,
                  const struct interval_end *end)
{
    struct timeline_item item = interval->begin;

    item.kind = interval->scope == SCOPE_SESSION ? TIMELINE_SPAN_END : TIMELINE_STATE_END;
    item.stream = end->stream;
    /* Never before its begin, whatever a loss record or another stream's clock claims. */
    item.ticks = end->ticks > item.begin_ticks ? end->ticks : item.begin_ticks;
    item.tag = &interval->tag;
    item.uncertain = end->uncertain;
    item.cause = end->cause;
    item.by = end->by;
    timeline->sink(timeline->context, &item);
    unlink_interval(timeline, interval);
}

struct interval *interval_begin(struct timeline_builder *timeline, struct lane *lane,
                                enum interval_scope scope, const struct timeline_item *item,
                                struct kernel_object *object)
{
    struct interval *interval = timeline->spare;

    if (interval != NULL)
        timeline->spare = interval->chain;
    else
        interval = memory_new(1, sizeof(*interval));
    *interval = (struct interval){.scope = scope,
                                  .owner = owner_of(lane, scope, object),
                                  .begin = *item,
                                  .object = object,
                                  .before = lane->last};
    interval->begin.kind = scope == SCOPE_SESSION ? TIMELINE_SPAN_BEGIN : TIMELINE_STATE_BEGIN;
    interval->begin.stream = interval->begin.begin_stream = lane->stream;
    interval->begin.begin_ticks = item->ticks;
    interval->begin.number = ++timeline->numbers;
    link_interval(timeline, lane, interval);

    struct timeline_item begin = interval->begin;

    begin.tag = &interval->tag;
    timeline->sink(timeline->context, &begin);
    return interval;
}

/* ------------------------------------------------------------------ events */

static void note_lost(struct lost_until *lost, uint64_t ticks)
{
    if (!lost->any || ticks > lost->ticks)
        lost->ticks = ticks;
    lost->any = true;
}

static void note_lost_stream(struct lost_streams *lost, const struct decode_stream *stream,
                             uint64_t ticks)
{
    int at = lost->stream[0] != NULL && lost->stream[0] != stream;

    if (lost->stream[at] != stream || ticks > lost->ticks[at]) {
        if (at == 1 && lost->stream[1] != stream && lost->stream[1] != NULL &&
            ticks <= lost->ticks[1])
            return;
        lost->stream[at] = stream;
        lost->ticks[at] = ticks;
    }
    if (at == 1 && ticks > lost->ticks[0])
        *lost = (struct lost_streams){{lost->stream[1], lost->stream[0]},
                                      {lost->ticks[1], lost->ticks[0]}};
}

static const struct timeline_actor *actor_of(const struct lane *lane)
{
    const struct kernel_object *object = kernel_context(lane);

    return object != NULL ? &object->actor : NULL;
}

static struct timeline_item event_item(const struct lane *lane, const struct event *event,
                                       const struct definition *definition)
{
    return (struct timeline_item){.stream = lane->stream,
                                  .ticks = event->ticks,
                                  .definition = definition,
                                  .id = event->id,
                                  .argument = {event->argument[0], event->argument[1]},
                                  .actor = actor_of(lane)};
}

static void take_state(struct timeline_builder *timeline, struct lane *lane,
                       const struct event *event, const struct definition *definition)
{
    struct kernel_object *context = kernel_context(lane);
    enum interval_scope scope = context != NULL ? SCOPE_ACTOR : SCOPE_STREAM;
    struct interval *old = *slot_of(timeline, scope, owner_of(lane, scope, context), event->id, 0);
    struct timeline_item item = event_item(lane, event, definition);

    if (old != NULL)
        interval_end(timeline, old,
                     &(struct interval_end){
                         .stream = lane->stream, .ticks = event->ticks, .cause = TIMELINE_NEXT});
    interval_begin(timeline, lane, scope, &item, context);
}

static void take_span_begin(struct timeline_builder *timeline, struct lane *lane,
                            const struct event *event, const struct definition *definition)
{
    struct interval *old = *slot_of(timeline, SCOPE_SESSION, lane->stream->session->ordinal,
                                    event->id, event->argument[0]);
    struct timeline_item item = event_item(lane, event, definition);
    struct interval_end end = {.stream = lane->stream, .ticks = event->ticks, .by = item.actor};

    if (old != NULL) {
        end.cause = TIMELINE_AGAIN;
        end.uncertain = lost_since(&timeline->lost, old->begin.begin_ticks);
        interval_end(timeline, old, &end);
    } else if (timeline->span_count == timeline->span_limit) {
        end.cause = TIMELINE_FORGOTTEN;
        end.uncertain = true;
        interval_end(timeline, timeline->spans.oldest, &end);
    }
    interval_begin(timeline, lane, SCOPE_SESSION, &item, kernel_context(lane));
}

static void put_event(struct timeline_builder *timeline, enum timeline_kind kind,
                      const struct lane *lane, const struct event *event,
                      const struct definition *definition)
{
    struct timeline_item item = event_item(lane, event, definition);

    item.kind = kind;
    item.uncertain = kind == TIMELINE_ORPHAN && timeline->lost.any;
    timeline->sink(timeline->context, &item);
}

static void take_span_end(struct timeline_builder *timeline, struct lane *lane,
                          const struct event *event, const struct definition *definition)
{
    /* The end's id follows that of its begin. */
    struct interval *begun = *slot_of(timeline, SCOPE_SESSION, lane->stream->session->ordinal,
                                      event->id - 1, event->argument[0]);

    if (begun == NULL)
        put_event(timeline, TIMELINE_ORPHAN, lane, event, definition);
    else
        interval_end(
            timeline, begun,
            &(struct interval_end){.stream = lane->stream,
                                   .ticks = event->ticks,
                                   .cause = TIMELINE_NEXT,
                                   .uncertain = lost_since(&lane->lost, begun->begin.begin_ticks),
                                   .by = actor_of(lane)});
}

static void take_string(struct timeline_builder *timeline, struct lane *lane,
                        struct decode_run *run, uint32_t number,
                        const struct definition *definition)
{
    const struct note *text = decoder_text(run, number);
    struct timeline_item item = event_item(lane, &run->events[number], definition);

    item.kind = TIMELINE_INSTANT;
    if (text != NULL) {
        item.text = batch_text(run->batch, text);
        item.text_size = text->text.size;
        item.text_cut = text->text.cut;
    }
    timeline->sink(timeline->context, &item);
}

static void take_event(struct timeline_builder *timeline, struct lane *lane, struct decode_run *run,
                       uint32_t number)
{
    const struct event *event = &run->events[number];
    const struct definition *definition;

    if (kernel_take(timeline, lane, event))
        return;
    definition = decoder_definition(run->stream, event->id);
    switch (definition != NULL ? definition->class : TARE_CLASS_EVENT) {
    case TARE_CLASS_VALUE:
        put_event(timeline, TIMELINE_VALUE, lane, event, definition);
        break;
    case TARE_CLASS_STATE:
        take_state(timeline, lane, event, definition);
        break;
    case TARE_CLASS_SPAN_BEGIN:
        take_span_begin(timeline, lane, event, definition);
        break;
    case TARE_CLASS_SPAN_END:
        take_span_end(timeline, lane, event, definition);
        break;
    case TARE_CLASS_STRING:
        take_string(timeline, lane, run, number, definition);
        break;
    default:
        put_event(timeline, TIMELINE_INSTANT, lane, event, definition);
        break;
    }
}

/* ------------------------------------------------------------------ losses and other notes */

/* Ends what began in this stream, the innermost first. */
static void cut_lane(struct timeline_builder *timeline, struct lane *lane, uint64_t ticks)
{
    const struct interval_end end = {
        .stream = lane->stream, .ticks = ticks, .cause = TIMELINE_CUT, .uncertain = true};

    while (lane->last != NULL)
        interval_end(timeline, lane->last, &end);
    kernel_forget(lane);
}

/* `cut_ticks`: until when at least what is open lasted. */
static void put_lost(struct timeline_builder *timeline, struct lane *lane,
                     struct timeline_item *item, uint64_t cut_ticks)
{
    item->kind = TIMELINE_LOST;
    item->stream = lane->stream;
    if (item->ticks < item->begin_ticks)
        item->ticks = item->begin_ticks;
    if (item->loss != TIMELINE_UNVERIFIED) {
        note_lost(&lane->lost, item->ticks);
        note_lost(&timeline->lost, item->ticks);
        note_lost_stream(&timeline->lost_streams, lane->stream, item->ticks);
        cut_lane(timeline, lane, cut_ticks);
    }
    timeline->sink(timeline->context, item);
}

static void take_loss(struct timeline_builder *timeline, struct lane *lane, const struct note *note)
{
    struct timeline_item item = {.loss =
                                     note->loss.suppressed ? TIMELINE_SUPPRESSED : TIMELINE_DROPPED,
                                 .begin_known = note->loss.first_known,
                                 .count = note->loss.count,
                                 .begin_ticks = lane->last_ticks,
                                 .ticks = note->ticks};

    if (note->loss.first_known) {
        item.begin_ticks = note->loss.first;
        if (note->loss.span < UINT32_MAX || note->loss.pending)
            item.ticks = note->loss.first + note->loss.span;
    }
    /* An event of a signal handler may be refused a moment before the event that was just being
     * stored, and which then stands before the loss. */
    if (item.begin_ticks < lane->last_ticks)
        item.begin_ticks = lane->last_ticks;
    put_lost(timeline, lane, &item, item.begin_ticks);
}

static void take_gap(struct timeline_builder *timeline, struct lane *lane, const struct note *note)
{
    struct timeline_item item = {.loss = TIMELINE_GAP,
                                 .begin_known = !note->gap.before,
                                 .count = note->gap.words,
                                 .begin_ticks =
                                     note->gap.before ? note->ticks : note->gap.from_ticks,
                                 .ticks = note->ticks};

    put_lost(timeline, lane, &item, item.begin_ticks);
}

static void take_fault(struct timeline_builder *timeline, struct lane *lane,
                       const struct note *note)
{
    struct timeline_item item = {.loss = TIMELINE_DAMAGE,
                                 .begin_known = true,
                                 .fault = note->fault.fault,
                                 .begin_ticks = note->ticks,
                                 .ticks = note->ticks};

    switch (note->fault.fault) {
    case STREAM_FAULT_ORPHAN_TEXT:
    case STREAM_FAULT_CUT_TEXT:
        return; /* no event is missing because of these; a cut text says so itself */
    case STREAM_FAULT_CLOCK_BACKWARDS:
        item.loss = TIMELINE_BACKWARDS;
        item.count = note->fault.back_ticks;
        item.ticks = note->ticks + note->fault.back_ticks;
        break;
    case STREAM_FAULT_INDEX_BACKWARDS:
        item.loss = TIMELINE_DISORDER;
        break;
    default:
        break;
    }
    put_lost(timeline, lane, &item,
             item.loss == TIMELINE_DAMAGE ? item.begin_ticks : lane->last_ticks);
}

static void take_late_text(struct timeline_builder *timeline, struct decode_run *run,
                           const struct note *note)
{
    struct timeline_item item = {.kind = TIMELINE_TEXT,
                                 .stream = run->stream,
                                 .ticks = note->text.event_ticks,
                                 .definition = decoder_definition(run->stream, note->text.event_id),
                                 .id = note->text.event_id,
                                 .text = batch_text(run->batch, note),
                                 .text_size = note->text.size,
                                 .text_cut = note->text.cut};

    timeline->sink(timeline->context, &item);
}

/* States end with the recording of their stream; a span may yet end in another. */
static void take_end(struct timeline_builder *timeline, struct lane *lane, const struct note *note)
{
    struct timeline_item item = {
        .kind = TIMELINE_END, .stream = lane->stream, .ticks = note->ticks};

    const struct interval_end end = {
        .stream = lane->stream, .ticks = note->ticks, .cause = TIMELINE_CLOSED};

    for (struct interval *at = lane->last, *before; at != NULL; at = before) {
        before = at->before;
        if (at->scope != SCOPE_SESSION)
            interval_end(timeline, at, &end);
    }
    kernel_forget(lane);
    timeline->sink(timeline->context, &item);
}

static void take_note(struct timeline_builder *timeline, struct lane *lane, struct decode_run *run,
                      const struct note *note)
{
    struct timeline_item item = {.loss = TIMELINE_UNVERIFIED,
                                 .begin_known = true,
                                 .begin_ticks = note->ticks,
                                 .ticks = note->ticks};

    switch (note->kind) {
    case NOTE_TEXT:
        if (note->text.event == NOTE_NO_EVENT)
            take_late_text(timeline, run, note);
        break;
    case NOTE_LOSS:
        take_loss(timeline, lane, note);
        break;
    case NOTE_GAP:
        take_gap(timeline, lane, note);
        break;
    case NOTE_FAULT:
        take_fault(timeline, lane, note);
        break;
    case NOTE_UNVERIFIED:
        put_lost(timeline, lane, &item, item.ticks);
        break;
    case NOTE_END:
        take_end(timeline, lane, note);
        break;
    default:
        break;
    }
}

/* ------------------------------------------------------------------ runs */

/* The last time of a process; of a target without processes, of the session. */
struct process_end {
    uint32_t process;
    uint64_t ticks;
};

static uint32_t process_of(const struct decode_stream *stream)
{
    return stream->first_ring != NULL ? stream->first_ring->process : 0;
}

static int compare_ends(const void *one, const void *other)
{
    const struct process_end *a = one, *b = other;

    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return a->ticks < b->ticks ? -1 : a->ticks > b->ticks;
}

/* By process, at the last of its entries the highest time. */
static struct process_end *process_ends(const struct timeline_builder *timeline, size_t *count)
{
    struct process_end *ends = memory_new(timeline->lane_count, sizeof(*ends));

    *count = 0;
    for (size_t i = 0; i < timeline->lane_count; i++) {
        const struct lane *lane = timeline->lanes[i];

        if (lane != NULL && lane->stream->session == timeline->session)
            ends[(*count)++] = (struct process_end){process_of(lane->stream), lane->highest_ticks};
    }
    qsort(ends, *count, sizeof(*ends), compare_ends);
    return ends;
}

static uint64_t end_of_process(const struct process_end *ends, size_t count, uint32_t process)
{
    size_t low = 0;

    while (count > 0) {
        if (ends[low + count / 2].process <= process) {
            low += count / 2 + 1;
            count -= count / 2 + 1;
        } else {
            count /= 2;
        }
    }
    return ends[low - 1].ticks;
}

/* Unseen, on another core. That a task runs no longer, its own core would say. */
static bool may_have_changed(const struct timeline_builder *timeline,
                             const struct interval *interval)
{
    return interval->begin.actor != NULL && interval->begin.activity != TIMELINE_RUNNING &&
           lost_elsewhere(&timeline->lost_streams, interval->begin.stream,
                          interval->begin.begin_ticks);
}

/* `complete`: see timeline_finish(). */
static void end_session(struct timeline_builder *timeline, bool complete)
{
    size_t count;
    struct process_end *ends = process_ends(timeline, &count);

    for (size_t i = 0; i < timeline->lane_count; i++) {
        struct lane *lane = timeline->lanes[i];

        while (lane != NULL && lane->last != NULL) {
            struct interval *interval = lane->last;
            bool lost = interval->scope == SCOPE_SESSION
                            ? lost_since(&timeline->lost, interval->begin.begin_ticks)
                            : may_have_changed(timeline, interval);

            interval_end(timeline, interval,
                         &(struct interval_end){
                             .stream = lane->stream,
                             .ticks = complete
                                          ? end_of_process(ends, count, process_of(lane->stream))
                                          : lane->last_ticks,
                             .cause = TIMELINE_LEFT_OPEN,
                             .uncertain = lost || !complete});
        }
        if (lane != NULL)
            kernel_forget(lane);
    }
    free(ends);
    kernel_free_objects(timeline);
    timeline->lost.any = false;
    timeline->lost_streams = (struct lost_streams){.stream = {NULL}};
}

static void advance(struct lane *lane, uint64_t ticks)
{
    lane->last_ticks = ticks;
    if (ticks > lane->highest_ticks)
        lane->highest_ticks = ticks;
}

void timeline_take(struct timeline_builder *timeline, struct decode_run *run)
{
    const struct note *note = run->notes;
    const struct note *last = run->note_count > 0 ? note + run->note_count : note;
    struct lane *lane;

    if (timeline->session != run->stream->session) {
        end_session(timeline, false);
        timeline->session = run->stream->session;
    }
    lane = lane_of(timeline, run->stream);
    if (lane->stream == NULL) {
        struct timeline_item item = {.kind = TIMELINE_STREAM, .stream = run->stream};

        item.ticks = run->count > 0        ? run->events[0].ticks
                     : run->note_count > 0 ? run->notes[0].ticks
                                           : 0;
        lane->stream = run->stream;
        timeline->sink(timeline->context, &item);
    }
    for (uint32_t i = 0; i <= run->count; i++) {
        for (; note < last && note->before <= i; note++) {
            take_note(timeline, lane, run, note);
            advance(lane, note->ticks);
        }
        if (i < run->count) {
            take_event(timeline, lane, run, i);
            advance(lane, run->events[i].ticks);
        }
    }
}

void timeline_finish(struct timeline_builder *timeline, bool complete)
{
    end_session(timeline, complete);
}

bool timeline_complete(const struct decoder *decoder)
{
    return decoder_kind(decoder) == INPUT_IMAGE || decoder_facts(decoder)->finished;
}
