#include "mod_excerpt.h"

#include <stdlib.h>
#include <string.h>

#include "dec_text.h"
#include "mod_clock.h"
#include "mod_timeline.h"

/* ------------------------------------------------------------------ first pass: which stretch */

#define NONE SIZE_MAX

/* A thread, in a list by the time of its latest event. */
struct thread {
    uint64_t last_ns;
    size_t newer, older; /* NONE: no such thread */
    bool seen, listed;
};

struct search {
    uint64_t length_ns, from_ns; /* events before are passed over */
    struct thread *threads;      /* by ordinal of the stream */
    size_t thread_count, seen_count;
    size_t newest, oldest;
    size_t listed; /* threads with an event within length_ns */
    size_t best;
    uint64_t best_begin_ns, best_end_ns;
    uint64_t last_ns; /* of all events */
};

static void unlist(struct search *search, struct thread *thread)
{
    *(thread->newer != NONE ? &search->threads[thread->newer].older : &search->newest) =
        thread->older;
    *(thread->older != NONE ? &search->threads[thread->older].newer : &search->oldest) =
        thread->newer;
    thread->listed = false;
    search->listed--;
}

static void list_newest(struct search *search, struct thread *thread)
{
    size_t number = (size_t)(thread - search->threads);

    thread->older = search->newest;
    thread->newer = NONE;
    *(search->newest != NONE ? &search->threads[search->newest].newer : &search->oldest) = number;
    search->newest = number;
    thread->listed = true;
    search->listed++;
}

static struct thread *thread_of(struct search *search, uint32_t stream)
{
    if (stream >= search->thread_count) {
        size_t count = (size_t)stream + 1 + search->thread_count / 2;

        search->threads = memory_resize(search->threads, count, sizeof(*search->threads));
        memset(search->threads + search->thread_count, 0,
               (count - search->thread_count) * sizeof(*search->threads));
        search->thread_count = count;
    }
    return &search->threads[stream];
}

static void search_event(struct search *search, uint32_t stream, uint64_t ns)
{
    struct thread *thread = thread_of(search, stream);

    if (!thread->seen) {
        thread->seen = true;
        search->seen_count++;
    }
    if (ns < search->from_ns)
        return;
    if (thread->listed)
        unlist(search, thread);
    thread->last_ns = ns;
    list_newest(search, thread);
    while (search->threads[search->oldest].last_ns + search->length_ns < ns)
        unlist(search, &search->threads[search->oldest]);
    if (search->listed > search->best) {
        search->best = search->listed;
        search->best_begin_ns = search->threads[search->oldest].last_ns;
        search->best_end_ns = ns;
    }
}

/* The session of the first event, and its time: ns since that event. */
struct chosen_session {
    const struct decode_session *session;
    struct session_scale scale;
    int64_t origin_ns;
};

static uint64_t time_of(const struct chosen_session *chosen, uint64_t ticks)
{
    int64_t ns = scale_ns(&chosen->scale, ticks);

    return ns > chosen->origin_ns ? (uint64_t)ns - (uint64_t)chosen->origin_ns : 0;
}

static void choose_session(struct chosen_session *chosen, const struct decode_session *session,
                           uint64_t first_ticks)
{
    if (chosen->session != NULL)
        return;
    chosen->session = session;
    chosen->scale = session_scale(session, first_ticks);
    chosen->origin_ns = scale_ns(&chosen->scale, first_ticks);
}

/* The next run with events of that session. */
static bool next_run(struct decoder *decoder, struct chosen_session *chosen, struct decode_run *run)
{
    while (decoder_next(decoder, run)) {
        if (run->count == 0)
            continue;
        choose_session(chosen, run->stream->session, run->events[0].ticks);
        if (run->stream->session == chosen->session)
            return true;
    }
    return false;
}

/* Finds the last time. */
static bool measure(struct search *search, const char *path, struct error *error)
{
    struct decoder *decoder = decoder_open(path, NULL, error);
    struct chosen_session chosen = {.session = NULL};
    struct decode_run run;

    while (decoder != NULL && next_run(decoder, &chosen, &run)) {
        for (uint32_t i = 0; i < run.count; i++) {
            uint64_t ns = time_of(&chosen, run.events[i].ticks);

            search->last_ns = ns > search->last_ns ? ns : search->last_ns;
        }
    }
    if (decoder != NULL && chosen.session == NULL)
        error_set(error, EXIT_CANNOT_TELL, "%s: holds no event, so there is nothing to show", path);
    else if (decoder != NULL && chosen.scale.source == CLOCK_UNKNOWN)
        error_set(error, EXIT_CANNOT_TELL,
                  "%s: does not say how long a tick is, so no stretch of time can be shown", path);
    decoder_close(decoder);
    return error->code == EXIT_DONE;
}

static bool find_best(struct search *search, const char *path, struct error *error)
{
    struct decoder *decoder = decoder_open(path, NULL, error);
    struct chosen_session chosen = {.session = NULL};
    struct decode_run run;

    while (decoder != NULL && next_run(decoder, &chosen, &run))
        for (uint32_t i = 0; i < run.count; i++)
            search_event(search, run.stream->ordinal, time_of(&chosen, run.events[i].ticks));
    decoder_close(decoder);
    return decoder != NULL;
}

/* Sets the stretch so that the events that decided lie in its middle, within the recording. */
static void set_stretch(struct excerpt *excerpt, const struct search *search)
{
    uint64_t spare = search->length_ns - (search->best_end_ns - search->best_begin_ns);
    uint64_t begin = search->best_begin_ns, end;

    begin = begin - search->from_ns > spare / 2 ? begin - spare / 2 : search->from_ns;
    end = begin + search->length_ns;
    if (end > search->last_ns) {
        end = search->last_ns;
        begin =
            end - search->from_ns > search->length_ns ? end - search->length_ns : search->from_ns;
    }
    excerpt->begin_ns = begin;
    excerpt->end_ns = end;
}

static bool choose(const char *path, const struct excerpt_options *options, struct excerpt *excerpt,
                   struct error *error)
{
    struct search search = {.length_ns = options->length_ns, .newest = NONE, .oldest = NONE};
    bool good = measure(&search, path, error);

    if (good) {
        /* Never empty: the last event is behind any warm-up below the whole. */
        search.from_ns = search.last_ns / 100 * options->warm_up_percent;
        good = find_best(&search, path, error);
    }
    if (good) {
        set_stretch(excerpt, &search);
        excerpt->thread_count = search.seen_count;
        excerpt->active_count = search.best;
    }
    free(search.threads);
    return good;
}

/* ------------------------------------------------------------------ second pass: what happens */

struct seen_stream {
    size_t lane;    /* 1 + number of the lane; 0: none yet */
    bool has_state; /* a state machine of it has been seen */
};

struct collector {
    struct excerpt *excerpt;
    struct chosen_session chosen;
    struct seen_stream *streams; /* by ordinal */
    size_t stream_count, count;
    struct buffer text;
};

static struct seen_stream *seen_stream(struct collector *collector,
                                       const struct decode_stream *stream)
{
    if (stream->ordinal >= collector->stream_count) {
        size_t count = (size_t)stream->ordinal + 1 + collector->stream_count / 2;

        collector->streams = memory_resize(collector->streams, count, sizeof(*collector->streams));
        memset(collector->streams + collector->stream_count, 0,
               (count - collector->stream_count) * sizeof(*collector->streams));
        collector->stream_count = count;
    }
    return &collector->streams[stream->ordinal];
}

static struct excerpt_lane *lane_of(struct collector *collector, const struct decode_stream *stream)
{
    struct excerpt *excerpt = collector->excerpt;
    size_t *number = &seen_stream(collector, stream)->lane;

    if (*number == 0) {
        excerpt->lanes =
            memory_resize(excerpt->lanes, excerpt->lane_count + 1, sizeof(*excerpt->lanes));
        excerpt->lanes[excerpt->lane_count] = (struct excerpt_lane){.stream = stream->ordinal};
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

static size_t keep_text(struct collector *collector)
{
    struct buffer *texts = &collector->excerpt->texts;
    size_t at = texts->size;

    buffer_append(texts, collector->text.data, collector->text.size);
    buffer_append(texts, "", 1);
    return at;
}

static void add_interval(struct collector *collector, const struct timeline_item *item,
                         uint64_t begin_ns, uint64_t ns)
{
    struct excerpt_lane *lane = lane_of(collector, item->begin_stream);
    bool span = item->kind == TIMELINE_SPAN_END;

    if (!has_room(collector))
        return;
    buffer_clear(&collector->text);
    if (span)
        timeline_append_event(&collector->text, item);
    else
        timeline_append_state(&collector->text, item);
    lane->intervals = grown(lane->intervals, lane->interval_count, sizeof(*lane->intervals));
    lane->intervals[lane->interval_count++] =
        (struct excerpt_interval){.begin_ns = begin_ns,
                                  .end_ns = ns,
                                  .number = item->number,
                                  .name = keep_text(collector),
                                  .machine = span ? 0 : item->id,
                                  .state = item->argument[0],
                                  .span = span,
                                  .uncertain = item->uncertain};
}

static void add_instant(struct collector *collector, const struct timeline_item *item, uint64_t ns)
{
    struct excerpt_lane *lane = lane_of(collector, item->stream);
    uint32_t words = TARE_RECORD_WORDS(item->id) - 1;

    if (!has_room(collector))
        return;
    buffer_clear(&collector->text);
    timeline_append_event(&collector->text, item);
    for (uint32_t i = 0; i < words && item->text == NULL && item->object == NULL; i++) {
        const struct definition_argument *argument =
            item->definition != NULL && i < item->definition->argument_count
                ? &item->definition->argument[i]
                : NULL;

        buffer_text(&collector->text, " ");
        text_append_value(&collector->text, argument, item->argument[i]);
        if (argument != NULL && *argument->unit != 0) {
            buffer_text(&collector->text, " ");
            text_append_safe(&collector->text, argument->unit, strlen(argument->unit));
        }
    }
    if (item->text != NULL) {
        buffer_text(&collector->text, ": ");
        text_append_safe(&collector->text, item->text, item->text_size);
    }
    lane->instants = grown(lane->instants, lane->instant_count, sizeof(*lane->instants));
    lane->instants[lane->instant_count++] =
        (struct excerpt_instant){.ns = ns, .name = keep_text(collector)};
}

static void add_gap(struct collector *collector, const struct timeline_item *item,
                    uint64_t begin_ns, uint64_t ns)
{
    struct excerpt_lane *lane = lane_of(collector, item->stream);

    /* One that ended before the stretch makes room. */
    if (lane->gap_count > 0 &&
        lane->gaps[lane->gap_count - 1].end_ns < collector->excerpt->begin_ns)
        lane->gap_count--;
    else if (!has_room(collector))
        return;
    lane->gaps = grown(lane->gaps, lane->gap_count, sizeof(*lane->gaps));
    lane->gaps[lane->gap_count++] = (struct excerpt_gap){
        .begin_ns = begin_ns,
        .end_ns = seen_stream(collector, item->stream)->has_state ? UINT64_MAX : ns,
        .events =
            item->loss == TIMELINE_DROPPED || item->loss == TIMELINE_SUPPRESSED ? item->count : 0};
}

/* A gap in a thread with states lasts until the next state is known. */
static void close_gaps(struct collector *collector, const struct decode_stream *stream, uint64_t ns)
{
    struct seen_stream *seen = seen_stream(collector, stream);
    struct excerpt_lane *lane;

    seen->has_state = true;
    if (seen->lane == 0)
        return;
    lane = &collector->excerpt->lanes[seen->lane - 1];
    for (size_t i = lane->gap_count; i > 0 && lane->gaps[i - 1].end_ns == UINT64_MAX; i--)
        lane->gaps[i - 1].end_ns =
            ns > lane->gaps[i - 1].begin_ns ? ns : lane->gaps[i - 1].begin_ns;
}

static void collect(void *context, const struct timeline_item *item)
{
    struct collector *collector = context;
    const struct excerpt *excerpt = collector->excerpt;
    uint64_t ns, begin_ns;

    if (item->stream->session != collector->chosen.session)
        return;
    ns = begin_ns = time_of(&collector->chosen, item->ticks);
    if (item->kind == TIMELINE_STATE_BEGIN)
        close_gaps(collector, item->stream, ns);
    if (item->kind == TIMELINE_STATE_END || item->kind == TIMELINE_SPAN_END ||
        item->kind == TIMELINE_LOST)
        begin_ns = time_of(&collector->chosen, item->begin_ticks);
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
            add_gap(collector, item, begin_ns, ns);
        break;
    default:
        break;
    }
}

/* ------------------------------------------------------------------ order */

static int compare_lanes(const void *one, const void *other)
{
    const struct excerpt_lane *a = one, *b = other;

    return a->stream < b->stream ? -1 : a->stream > b->stream;
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

static void put_in_order(struct excerpt *excerpt, const struct decode_directory *directory)
{
    struct buffer name = {0};
    size_t kept = 0;

    if (excerpt->lane_count > 0)
        qsort(excerpt->lanes, excerpt->lane_count, sizeof(*excerpt->lanes), compare_lanes);
    for (size_t i = 0; i < excerpt->lane_count; i++) {
        struct excerpt_lane *lane = &excerpt->lanes[i];

        choose_machine(lane);
        choose_gaps(excerpt, lane);
        if (lane->interval_count + lane->instant_count + lane->gap_count == 0) {
            free(lane->intervals);
            free(lane->instants);
            free(lane->gaps);
            continue;
        }
        if (lane->interval_count > 0)
            qsort(lane->intervals, lane->interval_count, sizeof(*lane->intervals),
                  compare_intervals);
        buffer_clear(&name);
        stream_append_name(&name, directory->streams[lane->stream]);
        lane->name = excerpt->texts.size;
        buffer_append(&excerpt->texts, name.data, name.size + 1);
        excerpt->lanes[kept++] = *lane;
    }
    excerpt->lane_count = kept;
    buffer_free(&name);
}

static bool read_stretch(const char *path, struct collector *collector, struct error *error)
{
    struct decoder *decoder = decoder_open(path, NULL, error);
    struct timeline_builder *timeline;
    struct decode_run run;

    if (decoder == NULL)
        return false;
    timeline = timeline_new(TIMELINE_SPAN_LIMIT, collect, collector);
    while (decoder_next(decoder, &run)) {
        if (run.count > 0)
            choose_session(&collector->chosen, run.stream->session, run.events[0].ticks);
        timeline_take(timeline, &run);
    }
    timeline_finish(timeline, timeline_complete(decoder));
    timeline_free(timeline);
    put_in_order(collector->excerpt, decoder_directory(decoder));
    decoder_close(decoder);
    return true;
}

bool excerpt_take(const char *path, const struct excerpt_options *options, struct excerpt *excerpt,
                  struct error *error)
{
    struct collector collector = {.excerpt = excerpt};
    bool good;

    *excerpt = (struct excerpt){.complete = true};
    good = choose(path, options, excerpt, error) && read_stretch(path, &collector, error);
    free(collector.streams);
    buffer_free(&collector.text);
    return good;
}

void excerpt_free(struct excerpt *excerpt)
{
    for (size_t i = 0; i < excerpt->lane_count; i++) {
        free(excerpt->lanes[i].intervals);
        free(excerpt->lanes[i].instants);
        free(excerpt->lanes[i].gaps);
    }
    free(excerpt->lanes);
    buffer_free(&excerpt->texts);
}
