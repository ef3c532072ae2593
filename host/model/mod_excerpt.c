#include "mod_excerpt_inside.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ first pass: which stretch */

#define NONE SIZE_MAX

/* A thread or, where a kernel says what runs, a task, interrupt or timer; in a list by the time of
 * its latest event. */
struct thread {
    uint64_t last_ns;
    size_t newer, older; /* NONE: no such thread */
    bool seen, listed;
};

struct search {
    struct chosen_session chosen;
    bool kernel;                 /* the events of its objects say what runs */
    bool fixed;                  /* the stretch is given: from_ns and length_ns */
    uint64_t length_ns, from_ns; /* events before are passed over */
    struct thread *threads;      /* by ordinal of the stream, of the actor */
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

static struct thread *thread_of(struct search *search, uint32_t ordinal)
{
    if (ordinal >= search->thread_count) {
        size_t count = (size_t)ordinal + 1 + search->thread_count / 2;

        search->threads = memory_resize(search->threads, count, sizeof(*search->threads));
        memset(search->threads + search->thread_count, 0,
               (count - search->thread_count) * sizeof(*search->threads));
        search->thread_count = count;
    }
    return &search->threads[ordinal];
}

static void search_event(struct search *search, uint32_t ordinal, uint64_t ns)
{
    struct thread *thread = thread_of(search, ordinal);

    if (!thread->seen) {
        thread->seen = true;
        search->seen_count++;
    }
    if (ns < search->from_ns || (search->fixed && ns - search->from_ns > search->length_ns))
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

uint64_t excerpt_time(const struct chosen_session *chosen, uint64_t ticks)
{
    int64_t ns = scale_ns(&chosen->scale, ticks);

    return ns > chosen->origin_ns ? (uint64_t)ns - (uint64_t)chosen->origin_ns : 0;
}

static void choose_session(struct chosen_session *chosen, const struct decode_run *run)
{
    if (chosen->session != NULL || run->count == 0)
        return;
    chosen->session = run->stream->session;
    chosen->scale = session_scale(chosen->session, run->events[0].ticks);
    chosen->origin_ns = scale_ns(&chosen->scale, run->events[0].ticks);
}

static bool says_what_runs(const struct decode_session *session, const struct event *event)
{
    uint32_t operation;
    const struct definition *definition =
        event->id > TARE_ID_LAST0
            ? NULL
            : definitions_object(&session->definitions, event->id, &operation);

    return definition != NULL &&
           (definition->class == TARE_CLASS_TASK || definition->class == TARE_CLASS_INTERRUPT ||
            definition->class == TARE_CLASS_TIMER) &&
           operation == TARE_TASK_RUNS;
}

/* Finds the last time, and whether a kernel says what runs. */
static bool measure(struct search *search, const char *path, const struct decode_options *options,
                    struct error *error)
{
    struct decoder *decoder = decoder_open(path, options, error);
    struct chosen_session *chosen = &search->chosen;
    struct decode_run run;

    while (decoder != NULL && decoder_next(decoder, &run)) {
        choose_session(chosen, &run);
        for (uint32_t i = 0; run.stream->session == chosen->session && i < run.count; i++) {
            uint64_t ns = excerpt_time(chosen, run.events[i].ticks);

            search->last_ns = ns > search->last_ns ? ns : search->last_ns;
            search->kernel = search->kernel || says_what_runs(chosen->session, &run.events[i]);
        }
    }
    if (decoder != NULL && chosen->session == NULL)
        error_set(error, EXIT_CANNOT_TELL, "%s: holds no event, so there is nothing to show", path);
    else if (decoder != NULL && chosen->scale.source == CLOCK_UNKNOWN)
        error_set(error, EXIT_CANNOT_TELL,
                  "%s: does not say how long a tick is, so no stretch of time can be shown", path);
    chosen->session = NULL; /* its pointers end with the decoder */
    decoder_close(decoder);
    return error->code == EXIT_DONE;
}

static void search_item(void *context, const struct timeline_item *item)
{
    struct search *search = context;

    if (item->stream->session != search->chosen.session)
        return;
    switch (item->kind) {
    case TIMELINE_SPAN_END:
        if (item->cause != TIMELINE_NEXT)
            return; /* no event */
        break;
    case TIMELINE_STATE_BEGIN:
        if (search->kernel && item->activity == TIMELINE_RUNNING)
            search_event(search, item->actor->ordinal, excerpt_time(&search->chosen, item->ticks));
        break;
    case TIMELINE_INSTANT:
    case TIMELINE_VALUE:
    case TIMELINE_SPAN_BEGIN:
    case TIMELINE_ORPHAN:
        break;
    default:
        return;
    }
    if (!search->kernel)
        search_event(search, item->stream->ordinal, excerpt_time(&search->chosen, item->ticks));
}

bool excerpt_read(const char *path, const struct decode_options *options,
                  struct chosen_session *chosen, timeline_sink *sink, void *context,
                  void (*finish)(void *, const struct decode_directory *), struct error *error)
{
    struct decoder *decoder = decoder_open(path, options, error);
    struct timeline_builder *timeline;
    struct decode_run run;

    if (decoder == NULL)
        return false;
    timeline = timeline_new(TIMELINE_SPAN_LIMIT, sink, context);
    while (decoder_next(decoder, &run)) {
        choose_session(chosen, &run);
        timeline_take(timeline, &run);
    }
    timeline_finish(timeline, timeline_complete(decoder));
    timeline_free(timeline);
    if (finish != NULL)
        finish(context, decoder_directory(decoder));
    decoder_close(decoder);
    return true;
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

/* The begin that was asked for, as a time since the first event. */
static bool set_begin(struct search *search, const char *path,
                      const struct excerpt_options *options, struct error *error)
{
    int64_t first_ns = search->chosen.origin_ns;

    search->fixed = true;
    search->from_ns =
        options->begin_ns > first_ns ? (uint64_t)options->begin_ns - (uint64_t)first_ns : 0;
    if (search->from_ns < search->last_ns)
        return true;
    error_set(error, EXIT_CANNOT_TELL,
              "%s: its last event is at %.9f s, not behind the begin that was given, %.9f s", path,
              ((double)first_ns + (double)search->last_ns) / 1e9, (double)options->begin_ns / 1e9);
    return false;
}

static bool choose(const char *path, const struct excerpt_options *options, struct excerpt *excerpt,
                   struct error *error)
{
    struct search search = {.length_ns = options->length_ns, .newest = NONE, .oldest = NONE};
    bool good = measure(&search, path, &options->decode, error);

    /* Never empty: the last event is behind any warm-up below the whole. */
    search.from_ns = search.last_ns / 100 * options->warm_up_percent;
    if (good && options->begin_given)
        good = set_begin(&search, path, options, error);
    good = good &&
           excerpt_read(path, &options->decode, &search.chosen, search_item, &search, NULL, error);
    if (good && search.fixed) {
        excerpt->begin_ns = search.from_ns;
        excerpt->end_ns = search.last_ns - search.from_ns > search.length_ns
                              ? search.from_ns + search.length_ns
                              : search.last_ns;
    } else if (good) {
        set_stretch(excerpt, &search);
    }
    excerpt->first_ns = search.chosen.origin_ns;
    excerpt->kernel = search.kernel;
    excerpt->thread_count = search.seen_count;
    excerpt->active_count = search.best;
    free(search.threads);
    return good;
}

bool excerpt_take(const char *path, const struct excerpt_options *options, struct excerpt *excerpt,
                  struct error *error)
{
    *excerpt = (struct excerpt){.complete = true};
    return choose(path, options, excerpt, error) &&
           excerpt_collect(path, &options->decode, excerpt, error);
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
