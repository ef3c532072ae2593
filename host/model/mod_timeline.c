/* Open states and spans live in one hash table; each also hangs in the list of the stream that it
 * began in, so that a loss ends exactly those, and spans in a list by age. */
#include "mod_timeline.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <xxhash.h>

#include "base_progress.h"

/* A state or span that is open. */
struct interval {
    bool span;
    uint32_t owner; /* ordinal: of the session for a span, of the stream for a state */
    uint32_t id;    /* of the event that began it */
    uint32_t argument[2];
    uint32_t tag;
    uint64_t begin_ticks, number;
    const struct decode_stream *stream;
    const struct definition *definition;
    struct interval *chain;           /* of the hash table */
    struct interval *before, *behind; /* in its stream, in order of begin */
    struct interval *older, *younger; /* spans only */
};

/* Where the last loss ended. By time, not by order: notes of one stream may come before events of
 * another that are older. */
struct lost_until {
    bool any;
    uint64_t ticks;
};

struct lane {
    const struct decode_stream *stream; /* NULL: nothing of this stream has been seen */
    uint64_t last_ticks, highest_ticks; /* they differ after a clock fault */
    struct lost_until lost;
    struct interval *first, *last;
};

struct timeline_builder {
    uint32_t span_limit;
    uint64_t seed;
    timeline_sink *sink;
    void *context;
    const struct decode_session *session;
    struct lost_until lost; /* in this session */
    uint64_t numbers;
    struct lane *lanes; /* by ordinal of the stream */
    size_t lane_count;
    struct interval **slots;
    size_t slot_count, open_count; /* slot_count is a power of two */
    struct interval *oldest, *youngest, *spare;
    uint32_t span_count;
};

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
    for (size_t i = 0; i < timeline->slot_count; i++) {
        while (timeline->slots[i] != NULL) {
            struct interval *interval = timeline->slots[i];

            timeline->slots[i] = interval->chain;
            free(interval);
        }
    }
    while (timeline->spare != NULL) {
        struct interval *interval = timeline->spare;

        timeline->spare = interval->chain;
        free(interval);
    }
    free(timeline->slots);
    free(timeline->lanes);
    free(timeline);
}

/* ------------------------------------------------------------------ what is open */

static uint64_t hash(const struct timeline_builder *timeline, bool span, uint32_t owner,
                     uint32_t id, uint32_t span_id)
{
    uint32_t key[4] = {span, owner, id, span_id};

    return XXH64(key, sizeof(key), timeline->seed);
}

/* A state's value is no part of its key, a span's id is. */
static struct interval **slot_of(const struct timeline_builder *timeline, bool span, uint32_t owner,
                                 uint32_t id, uint32_t span_id)
{
    struct interval **at = &timeline->slots[hash(timeline, span, owner, id, span ? span_id : 0) &
                                            (timeline->slot_count - 1)];

    while (*at != NULL && ((*at)->span != span || (*at)->owner != owner || (*at)->id != id ||
                           (span && (*at)->argument[0] != span_id)))
        at = &(*at)->chain;
    return at;
}

static void grow_slots(struct timeline_builder *timeline)
{
    struct interval **old = timeline->slots;
    size_t old_count = timeline->slot_count;

    timeline->slot_count *= 2;
    timeline->slots = memory_new(timeline->slot_count, sizeof(struct interval *));
    for (size_t i = 0; i < old_count; i++) {
        for (struct interval *interval = old[i], *next; interval != NULL; interval = next) {
            struct interval **at = slot_of(timeline, interval->span, interval->owner, interval->id,
                                           interval->argument[0]);

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

        timeline->lanes = memory_resize(timeline->lanes, count, sizeof(struct lane));
        memset(timeline->lanes + timeline->lane_count, 0,
               (count - timeline->lane_count) * sizeof(struct lane));
        timeline->lane_count = count;
    }
    return &timeline->lanes[stream->ordinal];
}

static void unlink_interval(struct timeline_builder *timeline, struct interval *interval)
{
    struct lane *lane = &timeline->lanes[interval->stream->ordinal];

    *(interval->before != NULL ? &interval->before->behind : &lane->first) = interval->behind;
    *(interval->behind != NULL ? &interval->behind->before : &lane->last) = interval->before;
    if (interval->span) {
        *(interval->older != NULL ? &interval->older->younger : &timeline->oldest) =
            interval->younger;
        *(interval->younger != NULL ? &interval->younger->older : &timeline->youngest) =
            interval->older;
        timeline->span_count--;
    }
    *slot_of(timeline, interval->span, interval->owner, interval->id, interval->argument[0]) =
        interval->chain;
    timeline->open_count--;
    interval->chain = timeline->spare;
    timeline->spare = interval;
}

static void end_interval(struct timeline_builder *timeline, struct interval *interval,
                         const struct decode_stream *stream, uint64_t ticks,
                         enum timeline_cause cause, bool uncertain)
{
    struct timeline_item item = {
        .kind = interval->span ? TIMELINE_SPAN_END : TIMELINE_STATE_END,
        .stream = stream,
        /* Never before its begin, whatever a loss record or another stream's clock claims. */
        .ticks = ticks > interval->begin_ticks ? ticks : interval->begin_ticks,
        .definition = interval->definition,
        .id = interval->id,
        .argument = {interval->argument[0], interval->argument[1]},
        .begin_ticks = interval->begin_ticks,
        .begin_stream = interval->stream,
        .number = interval->number,
        .tag = &interval->tag,
        .uncertain = uncertain,
        .cause = cause};

    timeline->sink(timeline->context, &item);
    unlink_interval(timeline, interval);
}

static void begin_interval(struct timeline_builder *timeline, struct lane *lane, bool span,
                           const struct event *event, const struct definition *definition)
{
    struct interval *interval = timeline->spare;
    const struct decode_stream *stream = lane->stream;

    if (interval != NULL)
        timeline->spare = interval->chain;
    else
        interval = memory_new(1, sizeof(*interval));
    *interval = (struct interval){.span = span,
                                  .owner = span ? stream->session->ordinal : stream->ordinal,
                                  .id = event->id,
                                  .argument = {event->argument[0], event->argument[1]},
                                  .begin_ticks = event->ticks,
                                  .number = ++timeline->numbers,
                                  .stream = stream,
                                  .definition = definition,
                                  .before = lane->last};
    *(lane->last != NULL ? &lane->last->behind : &lane->first) = interval;
    lane->last = interval;
    if (span) {
        interval->older = timeline->youngest;
        *(timeline->youngest != NULL ? &timeline->youngest->younger : &timeline->oldest) = interval;
        timeline->youngest = interval;
        timeline->span_count++;
    }
    if (timeline->open_count == timeline->slot_count)
        grow_slots(timeline);
    *slot_of(timeline, span, interval->owner, interval->id, interval->argument[0]) = interval;
    timeline->open_count++;

    struct timeline_item item = {.kind = span ? TIMELINE_SPAN_BEGIN : TIMELINE_STATE_BEGIN,
                                 .stream = stream,
                                 .ticks = event->ticks,
                                 .definition = definition,
                                 .id = event->id,
                                 .argument = {event->argument[0], event->argument[1]},
                                 .begin_ticks = event->ticks,
                                 .begin_stream = stream,
                                 .number = interval->number,
                                 .tag = &interval->tag};
    timeline->sink(timeline->context, &item);
}

/* ------------------------------------------------------------------ events */

static bool lost_since(const struct lost_until *lost, uint64_t ticks)
{
    return lost->any && lost->ticks >= ticks;
}

static void note_lost(struct lost_until *lost, uint64_t ticks)
{
    if (!lost->any || ticks > lost->ticks)
        lost->ticks = ticks;
    lost->any = true;
}

static void take_state(struct timeline_builder *timeline, struct lane *lane,
                       const struct event *event, const struct definition *definition)
{
    struct interval *old = *slot_of(timeline, false, lane->stream->ordinal, event->id, 0);

    if (old != NULL)
        end_interval(timeline, old, lane->stream, event->ticks, TIMELINE_NEXT, false);
    begin_interval(timeline, lane, false, event, definition);
}

static void take_span_begin(struct timeline_builder *timeline, struct lane *lane,
                            const struct event *event, const struct definition *definition)
{
    struct interval *old =
        *slot_of(timeline, true, lane->stream->session->ordinal, event->id, event->argument[0]);

    if (old != NULL)
        end_interval(timeline, old, lane->stream, event->ticks, TIMELINE_AGAIN,
                     lost_since(&timeline->lost, old->begin_ticks));
    else if (timeline->span_count == timeline->span_limit)
        end_interval(timeline, timeline->oldest, lane->stream, event->ticks, TIMELINE_FORGOTTEN,
                     true);
    begin_interval(timeline, lane, true, event, definition);
}

static void put_event(struct timeline_builder *timeline, enum timeline_kind kind,
                      const struct decode_stream *stream, const struct event *event,
                      const struct definition *definition)
{
    struct timeline_item item = {.kind = kind,
                                 .stream = stream,
                                 .ticks = event->ticks,
                                 .definition = definition,
                                 .id = event->id,
                                 .argument = {event->argument[0], event->argument[1]}};

    item.uncertain = kind == TIMELINE_ORPHAN && timeline->lost.any;
    timeline->sink(timeline->context, &item);
}

static void take_span_end(struct timeline_builder *timeline, struct lane *lane,
                          const struct event *event, const struct definition *definition)
{
    /* The end's id follows that of its begin. */
    struct interval *begun =
        *slot_of(timeline, true, lane->stream->session->ordinal, event->id - 1, event->argument[0]);

    if (begun == NULL)
        put_event(timeline, TIMELINE_ORPHAN, lane->stream, event, definition);
    else
        end_interval(timeline, begun, lane->stream, event->ticks, TIMELINE_NEXT,
                     lost_since(&lane->lost, begun->begin_ticks));
}

static void take_string(struct timeline_builder *timeline, struct decode_run *run, uint32_t number,
                        const struct definition *definition)
{
    const struct event *event = &run->events[number];
    const struct note *text = decoder_text(run, number);
    struct timeline_item item = {.kind = TIMELINE_INSTANT,
                                 .stream = run->stream,
                                 .ticks = event->ticks,
                                 .definition = definition,
                                 .id = event->id,
                                 .argument = {event->argument[0], event->argument[1]}};

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
    const struct definition *definition = decoder_definition(run->stream, event->id);

    switch (definition != NULL ? definition->class : TARE_CLASS_EVENT) {
    case TARE_CLASS_VALUE:
        put_event(timeline, TIMELINE_VALUE, run->stream, event, definition);
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
        take_string(timeline, run, number, definition);
        break;
    default:
        put_event(timeline, TIMELINE_INSTANT, run->stream, event, definition);
        break;
    }
}

/* ------------------------------------------------------------------ losses and other notes */

/* Ends what began in this stream, the innermost first. */
static void cut_lane(struct timeline_builder *timeline, struct lane *lane, uint64_t ticks)
{
    while (lane->last != NULL)
        end_interval(timeline, lane->last, lane->stream, ticks, TIMELINE_CUT, true);
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

    for (struct interval *at = lane->last, *before; at != NULL; at = before) {
        before = at->before;
        if (!at->span)
            end_interval(timeline, at, lane->stream, note->ticks, TIMELINE_CLOSED, false);
    }
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
        const struct lane *lane = &timeline->lanes[i];

        if (lane->stream != NULL && lane->stream->session == timeline->session)
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

/* `complete`: see timeline_finish(). */
static void end_session(struct timeline_builder *timeline, bool complete)
{
    size_t count;
    struct process_end *ends = process_ends(timeline, &count);

    for (size_t i = 0; i < timeline->lane_count; i++) {
        struct lane *lane = &timeline->lanes[i];

        while (lane->last != NULL) {
            struct interval *interval = lane->last;
            bool lost = interval->span && lost_since(&timeline->lost, interval->begin_ticks);

            end_interval(timeline, interval, lane->stream,
                         complete ? end_of_process(ends, count, process_of(lane->stream))
                                  : lane->last_ticks,
                         TIMELINE_LEFT_OPEN, lost || !complete);
        }
    }
    free(ends);
    timeline->lost.any = false;
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

/* ------------------------------------------------------------------ names */

const char *timeline_loss_name(enum timeline_loss loss)
{
    static const char *const names[] = {[TIMELINE_DROPPED] = "dropped",
                                        [TIMELINE_SUPPRESSED] = "suppressed",
                                        [TIMELINE_GAP] = "gap",
                                        [TIMELINE_DISORDER] = "disorder",
                                        [TIMELINE_DAMAGE] = "damage",
                                        [TIMELINE_BACKWARDS] = "clock backwards",
                                        [TIMELINE_UNVERIFIED] = "unverified"};

    return names[loss];
}

const char *timeline_cause_text(enum timeline_cause cause)
{
    static const char *const texts[] = {[TIMELINE_NEXT] = "ended",
                                        [TIMELINE_AGAIN] = "began again without an end",
                                        [TIMELINE_CUT] = "cut by a loss",
                                        [TIMELINE_CLOSED] = "the recording of this thread ended",
                                        [TIMELINE_LEFT_OPEN] = "open when the recording ended",
                                        [TIMELINE_FORGOTTEN] = "too many spans were open"};

    return texts[cause];
}
