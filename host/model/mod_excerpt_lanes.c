#include "mod_excerpt_inside.h"

#include <stdlib.h>
#include <string.h>

#include "dec_text.h"

struct seen {
    size_t lane;    /* 1 + number of the lane; 0: none yet */
    bool has_state; /* a state machine of it has been seen, of a task any state */
};

struct seen_list {
    struct seen *list; /* by ordinal */
    size_t count;
};

struct collector {
    struct excerpt *excerpt;
    struct chosen_session chosen;
    struct seen_list streams, actors;
    size_t count;
    size_t *cut; /* actors whose state the loss that comes next has ended */
    size_t cut_count, cut_capacity;
    struct buffer text;
};

static struct seen *seen_of(struct seen_list *seen, uint32_t ordinal)
{
    if (ordinal >= seen->count) {
        size_t count = (size_t)ordinal + 1 + seen->count / 2;

        seen->list = memory_resize(seen->list, count, sizeof(*seen->list));
        memset(seen->list + seen->count, 0, (count - seen->count) * sizeof(*seen->list));
        seen->count = count;
    }
    return &seen->list[ordinal];
}

static struct seen *seen_stream(struct collector *collector, const struct decode_stream *stream)
{
    return seen_of(&collector->streams, stream->ordinal);
}

static struct seen *seen_actor(struct collector *collector, const struct timeline_actor *actor)
{
    return seen_of(&collector->actors, actor->ordinal);
}

static enum excerpt_lane_kind lane_kind(const struct timeline_actor *actor)
{
    static const enum excerpt_lane_kind kinds[] = {[TIMELINE_TASK] = EXCERPT_LANE_TASK,
                                                   [TIMELINE_INTERRUPT] = EXCERPT_LANE_INTERRUPT,
                                                   [TIMELINE_TIMER] = EXCERPT_LANE_TIMER};

    return actor != NULL ? kinds[actor->kind] : EXCERPT_LANE_STREAM;
}

static size_t keep_text(struct collector *collector)
{
    struct buffer *texts = &collector->excerpt->texts;
    size_t at = texts->size;

    buffer_append(texts, collector->text.data, collector->text.size);
    buffer_append(texts, "", 1);
    return at;
}

static size_t keep_name(struct collector *collector, const struct timeline_actor *actor)
{
    buffer_clear(&collector->text);
    timeline_append_object(&collector->text, actor->definition);
    return keep_text(collector);
}

static struct excerpt_lane *lane_of(struct collector *collector, const struct decode_stream *stream,
                                    const struct timeline_actor *actor)
{
    struct excerpt *excerpt = collector->excerpt;
    size_t *number =
        &(actor != NULL ? seen_actor(collector, actor) : seen_stream(collector, stream))->lane;

    if (*number == 0) {
        excerpt->lanes =
            memory_resize(excerpt->lanes, excerpt->lane_count + 1, sizeof(*excerpt->lanes));
        excerpt->lanes[excerpt->lane_count] =
            (struct excerpt_lane){.kind = lane_kind(actor),
                                  .stream = (actor != NULL ? actor->stream : stream)->ordinal,
                                  .actor = actor != NULL ? actor->ordinal : 0,
                                  .name = actor != NULL ? keep_name(collector, actor) : 0};
        *number = ++excerpt->lane_count;
    }
    return &excerpt->lanes[*number - 1];
}

/* False: the excerpt is full, and what was to be added is left out. */
static bool has_room(struct collector *collector)
{
    if (collector->count == EXCERPT_LIMIT)
        collector->excerpt->complete = false;
    else
        collector->count++;
    return collector->excerpt->complete;
}

/* Room for one more behind `count`. */
static void *grown(void *list, size_t count, size_t size)
{
    /* A power of two is where the last growth ended. */
    if (count != 0 && (count < 16 || (count & (count - 1)) != 0))
        return list;
    return memory_resize(list, count < 16 ? 16 : 2 * count, size);
}

static uint32_t activity_of(const struct timeline_item *item)
{
    return item->actor->kind == TIMELINE_INTERRUPT ? EXCERPT_INTERRUPT
           : item->actor->kind == TIMELINE_TIMER   ? EXCERPT_TIMER
                                                   : (uint32_t)item->activity - TIMELINE_RUNNING;
}

static size_t legend_of(struct collector *collector, const struct timeline_item *item)
{
    buffer_clear(&collector->text);
    if (item->activity == TIMELINE_PROGRAM)
        timeline_append_state(&collector->text, item);
    else
        buffer_text(&collector->text, item->actor->kind == TIMELINE_INTERRUPT ? "interrupt"
                                      : item->actor->kind == TIMELINE_TIMER
                                          ? "timer"
                                          : timeline_activity_name(item->activity));
    return keep_text(collector);
}

static void add_interval(struct collector *collector, const struct timeline_item *item,
                         uint64_t begin_ns, uint64_t ns)
{
    struct excerpt_lane *lane = lane_of(collector, item->begin_stream, item->actor);
    bool span = item->kind == TIMELINE_SPAN_END;
    struct excerpt_interval *interval;

    if (!has_room(collector))
        return;
    lane->intervals = grown(lane->intervals, lane->interval_count, sizeof(*lane->intervals));
    interval = &lane->intervals[lane->interval_count++];
    *interval = (struct excerpt_interval){.begin_ns = begin_ns,
                                          .end_ns = ns,
                                          .number = item->number,
                                          .machine = span ? 0 : item->id,
                                          .state = item->argument[0],
                                          .span = span,
                                          .uncertain = item->uncertain};
    if (item->activity != TIMELINE_PROGRAM) {
        interval->machine = EXCERPT_KERNEL;
        interval->state = activity_of(item);
    }
    buffer_clear(&collector->text);
    if (span)
        timeline_append_event(&collector->text, item);
    else if (item->activity != TIMELINE_PROGRAM && item->actor->kind != TIMELINE_TASK)
        timeline_append_object(&collector->text, item->actor->definition);
    else
        timeline_append_state(&collector->text, item);
    interval->name = interval->legend = keep_text(collector);
    if (item->activity == TIMELINE_BLOCKED ||
        (item->activity != TIMELINE_PROGRAM && item->actor->kind != TIMELINE_TASK))
        interval->legend = legend_of(collector, item);
}

static void append_arguments(struct buffer *text, const struct timeline_item *item)
{
    uint32_t words = TARE_RECORD_WORDS(item->id) - 1;

    for (uint32_t i = 0; i < words && item->text == NULL; i++) {
        const struct definition_argument *argument =
            item->definition != NULL && i < item->definition->argument_count
                ? &item->definition->argument[i]
                : NULL;

        buffer_text(text, " ");
        text_append_value(text, argument, item->argument[i]);
        if (argument != NULL && *argument->unit != 0) {
            buffer_text(text, " ");
            text_append_safe(text, argument->unit, strlen(argument->unit));
        }
    }
    if (item->text != NULL) {
        buffer_text(text, ": ");
        text_append_safe(text, item->text, item->text_size);
    }
}

static void append_kernel_facts(struct buffer *text, const struct timeline_item *item)
{
    const char *unit = "", *name;
    uint32_t value;

    if (item->holder != NULL) {
        buffer_text(text, " ");
        timeline_append_object(text, item->holder->definition);
        return;
    }
    name = timeline_kernel_value(item, &unit, &value);
    if (name != NULL)
        buffer_printf(text, " %u%s%s", value, *unit != 0 ? " " : "", unit);
}

static void add_instant(struct collector *collector, const struct timeline_item *item, uint64_t ns)
{
    struct excerpt_lane *lane = lane_of(collector, item->stream, item->actor);

    if (!has_room(collector))
        return;
    buffer_clear(&collector->text);
    timeline_append_event(&collector->text, item);
    if (item->object != NULL || item->kernel != 0)
        append_kernel_facts(&collector->text, item);
    else
        append_arguments(&collector->text, item);
    lane->instants = grown(lane->instants, lane->instant_count, sizeof(*lane->instants));
    lane->instants[lane->instant_count++] =
        (struct excerpt_instant){.ns = ns, .name = keep_text(collector)};
}

/* ------------------------------------------------------------------ what is not known */

/* False: there is no room. */
static bool add_gap(struct collector *collector, struct excerpt_lane *lane, uint64_t begin_ns,
                    uint64_t end_ns, uint64_t events)
{
    /* One that ended before the stretch makes room. */
    if (lane->gap_count > 0 &&
        lane->gaps[lane->gap_count - 1].end_ns < collector->excerpt->begin_ns)
        lane->gap_count--;
    else if (!has_room(collector))
        return false;
    lane->gaps = grown(lane->gaps, lane->gap_count, sizeof(*lane->gaps));
    lane->gaps[lane->gap_count++] =
        (struct excerpt_gap){.begin_ns = begin_ns, .end_ns = end_ns, .events = events};
    return true;
}

static uint64_t lost_events(const struct timeline_item *item)
{
    return item->loss == TIMELINE_DROPPED || item->loss == TIMELINE_SUPPRESSED ? item->count : 0;
}

static void take_loss(struct collector *collector, const struct timeline_item *item,
                      uint64_t begin_ns, uint64_t ns)
{
    bool has_state = seen_stream(collector, item->stream)->has_state;

    add_gap(collector, lane_of(collector, item->stream, NULL), begin_ns,
            has_state ? UINT64_MAX : ns, lost_events(item));
    for (; collector->cut_count > 0; collector->cut_count--) {
        size_t number = collector->actors.list[collector->cut[collector->cut_count - 1]].lane;
        struct excerpt_lane *lane = &collector->excerpt->lanes[number - 1];

        lane->gaps[lane->gap_count - 1].events = lost_events(item);
    }
}

/* A task is always in some state: from a loss until the next one is seen it is not known. */
static void open_gap(struct collector *collector, const struct timeline_item *item, uint64_t ns)
{
    if (!add_gap(collector, lane_of(collector, item->stream, item->actor), ns, UINT64_MAX, 0))
        return;
    if (collector->cut_count == collector->cut_capacity) {
        collector->cut_capacity = 2 * collector->cut_capacity + 16;
        collector->cut =
            memory_resize(collector->cut, collector->cut_capacity, sizeof(*collector->cut));
    }
    collector->cut[collector->cut_count++] = item->actor->ordinal;
}

static void close_gaps(struct excerpt_lane *lane, uint64_t ns)
{
    for (size_t i = lane->gap_count; i > 0 && lane->gaps[i - 1].end_ns == UINT64_MAX; i--)
        lane->gaps[i - 1].end_ns =
            ns > lane->gaps[i - 1].begin_ns ? ns : lane->gaps[i - 1].begin_ns;
}

/* A gap in a thread with states lasts until the next state is known. */
static void know_state(struct collector *collector, const struct timeline_item *item, uint64_t ns)
{
    struct seen *seen;

    if (item->activity == TIMELINE_PROGRAM && item->actor != NULL)
        return;
    seen = item->actor != NULL ? seen_actor(collector, item->actor)
                               : seen_stream(collector, item->stream);
    if (seen->lane != 0)
        close_gaps(&collector->excerpt->lanes[seen->lane - 1], ns);
    /* It was there before the recording began: in which state, nobody knows. */
    if (!seen->has_state && item->actor != NULL && item->actor->kind == TIMELINE_TASK &&
        !item->actor->created && ns >= collector->excerpt->begin_ns)
        add_gap(collector, lane_of(collector, item->stream, item->actor), 0, ns, 0);
    seen->has_state = true;
}

static void collect(void *context, const struct timeline_item *item)
{
    struct collector *collector = context;
    const struct excerpt *excerpt = collector->excerpt;
    uint64_t ns, begin_ns;

    if (item->stream->session != collector->chosen.session)
        return;
    ns = begin_ns = excerpt_time(&collector->chosen, item->ticks);
    if (item->kind == TIMELINE_STATE_BEGIN)
        know_state(collector, item, ns);
    if (item->kind == TIMELINE_STATE_END && item->cause == TIMELINE_CUT &&
        item->activity != TIMELINE_PROGRAM && item->actor->kind == TIMELINE_TASK &&
        ns <= excerpt->end_ns)
        open_gap(collector, item, ns);
    if (item->kind == TIMELINE_STATE_END || item->kind == TIMELINE_SPAN_END ||
        item->kind == TIMELINE_LOST)
        begin_ns = excerpt_time(&collector->chosen, item->begin_ticks);
    /* A gap may yet grow into the stretch. */
    if (begin_ns > excerpt->end_ns || (ns < excerpt->begin_ns && item->kind != TIMELINE_LOST))
        return;
    switch (item->kind) {
    case TIMELINE_STATE_END:
    case TIMELINE_SPAN_END:
        add_interval(collector, item, begin_ns, ns);
        break;
    case TIMELINE_INSTANT:
    case TIMELINE_VALUE:
    case TIMELINE_ORPHAN:
        add_instant(collector, item, ns);
        break;
    case TIMELINE_LOST:
        if (item->loss != TIMELINE_UNVERIFIED)
            take_loss(collector, item, begin_ns, ns);
        break;
    default:
        break;
    }
}

/* ------------------------------------------------------------------ order */

static int compare_lanes(const void *one, const void *other)
{
    const struct excerpt_lane *a = one, *b = other;

    if (a->stream != b->stream)
        return a->stream < b->stream ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return a->actor < b->actor ? -1 : a->actor > b->actor;
}

static int compare_intervals(const void *one, const void *other)
{
    const struct excerpt_interval *a = one, *b = other;

    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Of several state machines the one with the lowest id is shown. */
static void choose_machine(struct excerpt_lane *lane)
{
    size_t kept = 0;

    for (size_t i = 0; i < lane->interval_count; i++) {
        uint32_t machine = lane->intervals[i].machine;

        if (machine != 0 && (lane->machine == 0 || machine < lane->machine))
            lane->machine = machine;
    }
    for (size_t i = 0; i < lane->interval_count; i++)
        if (lane->intervals[i].span || lane->intervals[i].machine == lane->machine)
            lane->intervals[kept++] = lane->intervals[i];
    lane->interval_count = kept;
}

/* The last gap before the stretch is still there. */
static void choose_gaps(const struct excerpt *excerpt, struct excerpt_lane *lane)
{
    size_t kept = 0;

    for (size_t i = 0; i < lane->gap_count; i++)
        if (lane->gaps[i].end_ns >= excerpt->begin_ns)
            lane->gaps[kept++] = lane->gaps[i];
    lane->gap_count = kept;
}

/* What the core has lost may have been an interrupt or a timer. */
static void copy_gaps(struct collector *collector, struct excerpt_lane *lane)
{
    size_t number = seen_of(&collector->streams, lane->stream)->lane;
    const struct excerpt_lane *from;

    if (lane->kind != EXCERPT_LANE_INTERRUPT && lane->kind != EXCERPT_LANE_TIMER)
        return;
    if (number == 0 || lane->interval_count + lane->instant_count == 0)
        return;
    from = &collector->excerpt->lanes[number - 1];
    for (size_t i = 0; i < from->gap_count; i++)
        add_gap(collector, lane, from->gaps[i].begin_ns, from->gaps[i].end_ns,
                from->gaps[i].events);
}

/* Whether it shows anything. What a core has lost stands in the lanes of its tasks. */
static bool shows(const struct excerpt *excerpt, size_t number)
{
    const struct excerpt_lane *lane = &excerpt->lanes[number];
    bool elsewhere = false;

    for (size_t i = number + 1; lane->kind == EXCERPT_LANE_STREAM && i < excerpt->lane_count &&
                                excerpt->lanes[i].stream == lane->stream && !elsewhere;
         i++)
        elsewhere = excerpt->lanes[i].gap_count > 0;
    return lane->interval_count + lane->instant_count + (elsewhere ? 0 : lane->gap_count) > 0;
}

static void name_stream(struct excerpt *excerpt, struct excerpt_lane *lane,
                        const struct decode_stream *stream)
{
    struct buffer name = {0};

    stream_append_name(&name, stream);
    lane->name = excerpt->texts.size;
    buffer_append(&excerpt->texts, name.data, name.size + 1);
    buffer_free(&name);
}

static void put_in_order(void *context, const struct decode_directory *directory)
{
    struct collector *collector = context;
    struct excerpt *excerpt = collector->excerpt;
    size_t kept = 0;

    for (size_t i = 0; i < excerpt->lane_count; i++)
        copy_gaps(collector, &excerpt->lanes[i]);
    for (size_t i = 0; i < excerpt->lane_count; i++) {
        choose_machine(&excerpt->lanes[i]);
        choose_gaps(excerpt, &excerpt->lanes[i]);
    }
    if (excerpt->lane_count > 0)
        qsort(excerpt->lanes, excerpt->lane_count, sizeof(*excerpt->lanes), compare_lanes);
    for (size_t i = 0; i < excerpt->lane_count; i++) {
        struct excerpt_lane *lane = &excerpt->lanes[i];

        if (!shows(excerpt, i)) {
            free(lane->intervals);
            free(lane->instants);
            free(lane->gaps);
            continue;
        }
        if (lane->interval_count > 0)
            qsort(lane->intervals, lane->interval_count, sizeof(*lane->intervals),
                  compare_intervals);
        if (lane->kind == EXCERPT_LANE_STREAM)
            name_stream(excerpt, lane, directory->streams[lane->stream]);
        excerpt->lanes[kept++] = *lane;
    }
    excerpt->lane_count = kept;
}

bool excerpt_collect(const char *path, const struct decode_options *options,
                     struct excerpt *excerpt, struct error *error)
{
    struct collector collector = {.excerpt = excerpt};
    bool good =
        excerpt_read(path, options, &collector.chosen, collect, &collector, put_in_order, error);

    free(collector.streams.list);
    free(collector.actors.list);
    free(collector.cut);
    buffer_free(&collector.text);
    return good;
}
