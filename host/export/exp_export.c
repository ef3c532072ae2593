#include "exp_export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base_progress.h"

extern const struct exporter exporter_perfetto;

/* NULL ends the list. */
static const struct exporter *const exporters[] = {&exporter_perfetto, NULL};

const struct exporter *export_find(const char *name)
{
    for (const struct exporter *const *exporter = exporters; *exporter != NULL; exporter++)
        if (strcmp((*exporter)->name, name) == 0)
            return *exporter;
    return NULL;
}

const char *export_names(void)
{
    return "perfetto";
}

/* ------------------------------------------------------------------ the stretch */

/* A state or span that is open. Its item is kept so that it can begin later, where the stretch
 * does. */
struct open_item {
    struct timeline_item item;
    uint64_t begin_ns;
    uint32_t tag;
    bool used, shown;
};

struct pass {
    const struct exporter *exporter;
    void *state;
    const struct export_clock *clocks;
    struct export_counts *counts;
    uint64_t begin_ns, end_ns; /* the stretch */
    bool *inside;              /* by ordinal of the stream: it has passed the begin */
    size_t stream_count;
    struct open_item *open;
    uint32_t *spare; /* stack of the unused ones */
    size_t open_capacity, spare_count;
};

static uint64_t export_ns(const struct export_clock *clock, uint64_t ticks)
{
    int64_t ns = scale_ns(&clock->scale, ticks);

    if (clock->scale.source == CLOCK_UNKNOWN)
        ns = ticks - clock->scale.origin_ticks > INT64_MAX
                 ? 0
                 : (int64_t)(ticks - clock->scale.origin_ticks);
    if (ns < 0)
        return clock->base_ns > -(uint64_t)ns ? clock->base_ns - -(uint64_t)ns : 0;
    return (uint64_t)ns > UINT64_MAX - clock->base_ns ? UINT64_MAX : clock->base_ns + (uint64_t)ns;
}

static uint64_t within(const struct pass *pass, uint64_t ns)
{
    return ns < pass->begin_ns ? pass->begin_ns : ns > pass->end_ns ? pass->end_ns : ns;
}

static void hand_over(struct pass *pass, const struct timeline_item *item, uint64_t begin_ns,
                      uint64_t ns, uint32_t *tag)
{
    struct export_item out = {
        .item = item, .ns = within(pass, ns), .begin_ns = within(pass, begin_ns), .tag = tag};

    out.clipped = out.ns != ns || (item->kind == TIMELINE_LOST && out.begin_ns != begin_ns);
    pass->counts->items++;
    if (item->kind != TIMELINE_LOST) {
        pass->exporter->event(pass->state, &out);
        return;
    }
    pass->counts->losses++;
    pass->exporter->lost(pass->state, &out);
}

static void open_more(struct pass *pass)
{
    size_t count = 2 * pass->open_capacity + 64;

    pass->open = memory_resize(pass->open, count, sizeof(*pass->open));
    pass->spare = memory_resize(pass->spare, count, sizeof(*pass->spare));
    for (size_t i = count; i > pass->open_capacity; i--) {
        pass->open[i - 1].used = false;
        pass->spare[pass->spare_count++] = (uint32_t)(i - 1);
    }
    pass->open_capacity = count;
}

static struct open_item *open_new(struct pass *pass, const struct timeline_item *item)
{
    struct open_item *open;

    if (pass->spare_count == 0)
        open_more(pass);
    *item->tag = pass->spare[--pass->spare_count];
    open = &pass->open[*item->tag];
    *open = (struct open_item){.item = *item, .used = true};
    return open;
}

struct age {
    uint64_t number; /* of the interval */
    size_t at;       /* in pass->open */
};

static int compare_age(const void *one, const void *other)
{
    const struct age *a = one, *b = other;

    return a->number < b->number ? -1 : a->number > b->number;
}

static bool *inside(struct pass *pass, const struct decode_stream *stream)
{
    if (stream->ordinal >= pass->stream_count) {
        size_t count = (size_t)stream->ordinal + 1 + pass->stream_count / 2;

        pass->inside = memory_resize(pass->inside, count, sizeof(*pass->inside));
        memset(pass->inside + pass->stream_count, 0, count - pass->stream_count);
        pass->stream_count = count;
    }
    return &pass->inside[stream->ordinal];
}

/* What began in this stream before the stretch begins with the stretch, the oldest first. */
static void enter(struct pass *pass, const struct decode_stream *stream)
{
    struct age *list = memory_new(pass->open_capacity, sizeof(*list));
    size_t count = 0;

    *inside(pass, stream) = true;
    for (size_t i = 0; i < pass->open_capacity; i++)
        if (pass->open[i].used && pass->open[i].item.stream == stream)
            list[count++] = (struct age){pass->open[i].item.number, i};
    qsort(list, count, sizeof(*list), compare_age);
    for (size_t i = 0; i < count; i++) {
        struct open_item *open = &pass->open[list[i].at];

        open->shown = true;
        hand_over(pass, &open->item, open->begin_ns, open->begin_ns, &open->tag);
    }
    free(list);
}

static void take_begin(struct pass *pass, const struct timeline_item *item, uint64_t ns)
{
    struct open_item *open = open_new(pass, item);

    open->begin_ns = ns;
    open->shown = *inside(pass, item->stream) && ns <= pass->end_ns;
    if (open->shown)
        hand_over(pass, item, ns, ns, &open->tag);
}

static void take_end(struct pass *pass, const struct timeline_item *item, uint64_t ns)
{
    uint32_t number = *item->tag;
    struct open_item *open = &pass->open[number];

    if (open->shown)
        hand_over(pass, item, open->begin_ns, ns, &open->tag);
    open->used = false;
    pass->spare[pass->spare_count++] = number;
}

static void take_item(void *context, const struct timeline_item *item)
{
    struct pass *pass = context;
    const struct export_clock *clock = &pass->clocks[item->stream->session->ordinal];
    uint64_t ns = export_ns(clock, item->ticks), begin_ns = ns;
    const struct decode_stream *began_in;

    if (item->kind == TIMELINE_STREAM)
        return;
    if (item->kind == TIMELINE_LOST)
        begin_ns = export_ns(clock, item->begin_ticks);
    began_in = item->begin_stream != NULL ? item->begin_stream : item->stream;
    if (ns >= pass->begin_ns && !*inside(pass, began_in))
        enter(pass, began_in);
    switch (item->kind) {
    case TIMELINE_STATE_BEGIN:
    case TIMELINE_SPAN_BEGIN:
        take_begin(pass, item, ns);
        break;
    case TIMELINE_STATE_END:
    case TIMELINE_SPAN_END:
        take_end(pass, item, ns);
        break;
    default:
        if (ns >= pass->begin_ns && begin_ns <= pass->end_ns)
            hand_over(pass, item, begin_ns, ns, NULL);
        break;
    }
}

/* ------------------------------------------------------------------ two passes */

struct session_times {
    bool seen;
    uint64_t first_ticks, last_ticks; /* the first that was seen, and the highest */
};

struct survey {
    const struct exporter *exporter;
    void *state;
    struct session_times *sessions; /* by ordinal */
    size_t session_count;
};

static void survey_item(void *context, const struct timeline_item *item)
{
    struct survey *survey = context;
    uint32_t session = item->stream->session->ordinal;
    struct session_times *times;

    while (session >= survey->session_count) {
        survey->sessions =
            memory_resize(survey->sessions, survey->session_count + 1, sizeof(*survey->sessions));
        survey->sessions[survey->session_count++] = (struct session_times){false, 0, 0};
    }
    times = &survey->sessions[session];
    times->first_ticks = times->seen ? times->first_ticks : item->ticks;
    times->seen = true;
    times->last_ticks = item->ticks > times->last_ticks ? item->ticks : times->last_ticks;
    if (survey->exporter->survey != NULL)
        survey->exporter->survey(survey->state, item);
}

/* By ordinal of the session; the caller frees it. */
static struct export_clock *make_clocks(const struct survey *survey,
                                        const struct decode_directory *directory,
                                        struct export_counts *counts)
{
    struct export_clock *clocks = memory_new(directory->session_count, sizeof(*clocks));
    uint64_t end_ns = 0;

    for (size_t i = 0; i < directory->session_count; i++) {
        const struct decode_session *session = directory->sessions[i];
        struct session_times times = {false, 0, 0};

        if (i < survey->session_count)
            times = survey->sessions[i];
        clocks[i].scale = session_scale(session, times.first_ticks);
        clocks[i].base_ns =
            session->snapshot_count > 0 ? session->snapshots[0].monotonic_ns : end_ns;
        counts->ticks |= clocks[i].scale.source == CLOCK_UNKNOWN;
        end_ns = export_ns(&clocks[i], times.last_ticks);
    }
    return clocks;
}

/* ------------------------------------------------------------------ two passes */

static void run_timeline(struct decoder *decoder, timeline_sink *sink, void *context,
                         struct progress *progress, uint64_t done_before,
                         struct export_output *output)
{
    struct timeline_builder *timeline = timeline_new(TIMELINE_SPAN_LIMIT, sink, context);
    struct decode_run run;

    while (output->failure.code == EXIT_DONE && decoder_next(decoder, &run)) {
        timeline_take(timeline, &run);
        progress_step(progress, done_before + decoder_done(decoder));
    }
    timeline_finish(timeline, timeline_complete(decoder));
    timeline_free(timeline);
}

FILE *export_copy_input(const char *path, struct buffer *name, struct error *error)
{
    char bytes[65536];
    size_t count;
    FILE *copy;

    if (strcmp(path, "-") != 0) {
        buffer_text(name, path);
        return NULL;
    }
    copy = tmpfile();
    if (copy == NULL) {
        error_set(error, EXIT_USAGE, "no temporary file for standard input: %s", strerror(errno));
        return NULL;
    }
    while ((count = fread(bytes, 1, sizeof(bytes), stdin)) > 0)
        if (fwrite(bytes, 1, count, copy) != count)
            break;
    if (ferror(stdin) || ferror(copy) || fflush(copy) != 0)
        error_set(error, EXIT_USAGE, "standard input cannot be copied to a temporary file: %s",
                  strerror(errno));
    buffer_printf(name, "/proc/self/fd/%d", fileno(copy));
    return copy;
}

/* Where a time relative to `base_ns` lies. */
static uint64_t absolute(uint64_t base_ns, int64_t ns)
{
    if (ns >= 0)
        return (uint64_t)ns > UINT64_MAX - base_ns ? UINT64_MAX : base_ns + (uint64_t)ns;
    return -(uint64_t)ns > base_ns ? 0 : base_ns - -(uint64_t)ns;
}

static void second_pass(struct pass *pass, struct decoder *decoder, struct progress *progress,
                        const struct export_source *source, const struct export_options *options,
                        struct export_output *output)
{
    uint64_t base_ns = source->directory->session_count > 0 ? pass->clocks[0].base_ns : 0;

    pass->begin_ns = absolute(base_ns, options->begin_ns);
    /* Later sessions may reach beyond all times that can be asked for. */
    pass->end_ns = options->end_ns == INT64_MAX ? UINT64_MAX : absolute(base_ns, options->end_ns);
    pass->exporter->header(pass->state, source);
    run_timeline(decoder, take_item, pass, progress, decoder_size(decoder), output);
    pass->exporter->footer(pass->state);
    free(pass->inside);
    free(pass->open);
    free(pass->spare);
}

bool export_recording(const struct exporter *exporter, const char *path,
                      const struct export_options *options, struct export_output *output,
                      struct export_counts *counts, struct error *error)
{
    struct survey survey = {.exporter = exporter, .state = exporter->create(output)};
    struct pass pass = {.exporter = exporter, .state = survey.state, .counts = counts};
    struct progress progress = progress_begin("exporting", 0, options->quiet);
    struct decoder *first = NULL, *second = NULL;
    struct export_clock *clocks = NULL;
    struct buffer name = {0};
    FILE *copy = export_copy_input(path, &name, error);

    *counts = (struct export_counts){0};
    if (error->code == EXIT_DONE)
        first = decoder_open(name.data, &options->decode, error);
    if (first != NULL) {
        progress.total = 2 * decoder_size(first);
        run_timeline(first, survey_item, &survey, &progress, 0, output);
        second = decoder_open(name.data, &options->decode, error);
    }
    if (second != NULL) {
        struct export_source source = {.directory = decoder_directory(first),
                                       .facts = decoder_facts(first)};

        source.clocks = pass.clocks = clocks = make_clocks(&survey, source.directory, counts);
        second_pass(&pass, second, &progress, &source, options, output);
    }
    progress_end(&progress);
    decoder_close(second);
    decoder_close(first);
    exporter->destroy(survey.state);
    free(survey.sessions);
    free(clocks);
    buffer_free(&name);
    if (copy != NULL)
        fclose(copy);
    return error->code == EXIT_DONE;
}
