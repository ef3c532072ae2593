/* `tare dump`: the events of a recording as text, JSON lines, CSV or listing. */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base_options.h"
#include "base_progress.h"
#include "cmd_dump_lines.h"
#include "dec_input.h"
#include "dec_listing.h"
#include "dec_text.h"
#include "mod_clock.h"

#define WRITE_BYTES (64u << 10)

struct dump_options {
    bool json, csv, listing, raw, quiet;
    int64_t from_ns, to_ns;
    const char *threads, *kinds; /* patterns with commas between; NULL: all */
    uint64_t base;
};

/* Whether an event passes --kind, as found out for its present definition. */
struct kind_verdict {
    const struct decode_session *session;
    const struct definition *definition;
    bool wanted;
};

/* What is shown of one stream. */
struct dump_stream {
    char *name;  /* for terminals; NULL: not made yet */
    bool wanted; /* passes --thread */

    /* The task that runs on its core: NULL while none is known. */
    const struct definition *running;
    struct buffer task; /* its name for terminals */
    bool task_wanted, has_tasks;
};

struct dump {
    struct dump_options options;
    const char *path;
    struct decoder *decoder;
    struct dump_lines lines;
    struct session_scale scale;
    const struct decode_session *session; /* that `scale` belongs to */
    struct dump_stream *streams;          /* by ordinal */
    size_t stream_count;
    struct kind_verdict kinds[TARE_ID_COUNT]; /* by id */
    uint64_t printed, passed_over;            /* events */
    bool reader_gone;                         /* of standard output */
};

/* ------------------------------------------------------------------ output */

/* False when nothing more can be written: quietly if whoever read it has enough. */
static bool write_out(struct dump *dump, struct error *error)
{
    struct buffer *out = &dump->lines.out;
    size_t done = 0;

    while (done < out->size) {
        ssize_t count = write(STDOUT_FILENO, out->data + done, out->size - done);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno == EPIPE) {
            dump->reader_gone = true;
            return false;
        }
        if (count <= 0) {
            error_set(error, EXIT_USAGE, "standard output: writing failed: %s",
                      count < 0 ? strerror(errno) : "nothing is taken");
            return false;
        }
        done += (size_t)count;
    }
    buffer_clear(out);
    return true;
}

/* ------------------------------------------------------------------ filters */

/* Whether a text matches one of several patterns with commas between. */
static bool matches(const char *patterns, const char *text)
{
    char *copy = memory_text(patterns), *rest = copy;
    bool found = false;

    while (!found && rest != NULL) {
        const char *pattern = strsep(&rest, ",");

        found = pattern[0] != 0 && fnmatch(pattern, text, 0) == 0;
    }
    free(copy);
    return found;
}

static bool matches_number(const char *patterns, uint32_t number)
{
    char text[16];

    snprintf(text, sizeof text, "%" PRIu32, number);
    return matches(patterns, text);
}

static struct dump_stream *stream_at(struct dump *dump, const struct decode_stream *stream)
{
    if (stream->ordinal >= dump->stream_count) {
        size_t count = 2 * (size_t)stream->ordinal + 16;

        dump->streams = memory_resize(dump->streams, count, sizeof *dump->streams);
        memset(dump->streams + dump->stream_count, 0,
               (count - dump->stream_count) * sizeof *dump->streams);
        dump->stream_count = count;
    }
    return &dump->streams[stream->ordinal];
}

static struct dump_stream *name_stream(struct dump *dump, const struct decode_stream *stream)
{
    struct dump_stream *at = stream_at(dump, stream);
    const char *patterns = dump->options.threads;
    struct buffer name = {0};

    if (at->name != NULL)
        return at;
    stream_append_name(&name, stream);
    at->name = name.data;
    at->wanted = patterns == NULL || matches(patterns, name.data) ||
                 matches_number(patterns, stream->number) ||
                 (stream->last_ring != NULL && matches_number(patterns, stream->last_ring->thread));
    return at;
}

/* Names may have changed. */
static void forget_names(struct dump *dump)
{
    for (size_t i = 0; i < dump->stream_count; i++) {
        free(dump->streams[i].name);
        dump->streams[i].name = NULL;
    }
}

/* A task was switched in; NULL: which one runs is not known any more. */
static void switch_task(struct dump *dump, struct dump_stream *stream,
                        const struct definition *task)
{
    if (task == stream->running)
        return;
    stream->running = task;
    stream->task_wanted = false;
    buffer_clear(&stream->task);
    if (task == NULL)
        return;
    stream->has_tasks = true;
    text_append_object_name(&stream->task, task);
    stream->task_wanted =
        dump->options.threads != NULL && matches(dump->options.threads, stream->task.data);
}

static bool is_in_time(const struct dump *dump, uint64_t ticks)
{
    int64_t ns;

    if (dump->options.from_ns == INT64_MIN && dump->options.to_ns == INT64_MAX)
        return true;
    ns = scale_ns(&dump->scale, ticks);
    return ns >= dump->options.from_ns && ns <= dump->options.to_ns;
}

static bool matches_kind(const char *patterns, uint32_t id, const struct definition *definition)
{
    const char *class = definition != NULL ? text_class_name(definition->class) : "event";
    struct buffer name = {0};
    bool found;

    text_append_event_name(&name, definition, id);
    found = matches(patterns, name.data) || (class != NULL && matches(patterns, class));
    buffer_free(&name);
    return found;
}

/* By the name or class of the object, by what happened, or by both words. */
static bool matches_kernel(const char *patterns, const struct kernel_event *kernel)
{
    struct buffer object = {0}, operation = {0};
    bool found;

    kernel_append_object(&object, kernel);
    kernel_append_operation(&operation, kernel);
    found = matches(patterns, object.data) || matches(patterns, operation.data) ||
            matches(patterns, kernel_class(kernel));
    buffer_printf(&object, " %s", operation.data);
    found = found || matches(patterns, object.data);
    buffer_free(&object);
    buffer_free(&operation);
    return found;
}

static bool is_kind(struct dump *dump, const struct dump_item *item)
{
    struct kind_verdict *verdict = &dump->kinds[item->event->id];
    const struct kernel_event *kernel = &item->kernel;
    const struct definition *definition = kernel->known ? kernel->object : item->definition;

    if (dump->options.kinds == NULL)
        return true;
    if (kernel->rare)
        return matches_kernel(dump->options.kinds, kernel);
    if (verdict->session != dump->session || verdict->definition != definition) {
        verdict->session = dump->session;
        verdict->definition = definition;
        verdict->wanted = kernel->known
                              ? matches_kernel(dump->options.kinds, kernel)
                              : matches_kind(dump->options.kinds, item->event->id, definition);
    }
    return verdict->wanted;
}

/* ------------------------------------------------------------------ items */

/* Behind these no task counts as running until one is switched in. */
static bool loses_task(const struct note *note)
{
    return note->kind == NOTE_LOSS || note->kind == NOTE_GAP ||
           (note->kind == NOTE_FAULT && note->fault.fault == STREAM_FAULT_INDEX_BACKWARDS);
}

static void take_note(struct dump *dump, struct dump_item *item, struct dump_stream *stream,
                      const struct note *note)
{
    if (note->kind == NOTE_DEFINE && note->definition->class == TARE_CLASS_STREAM) {
        forget_names(dump);
        name_stream(dump, item->run->stream);
    }
    if (loses_task(note))
        switch_task(dump, stream, NULL);
    /* What was lost is shown whatever kind was asked for: it may be of that kind, or of that task.
     */
    if (!dump_shows_note(note) || !is_in_time(dump, note->ticks) ||
        !(stream->wanted || stream->has_tasks))
        return;
    item->thread = stream->name;
    item->task = NULL;
    item->event = NULL;
    item->text = NULL;
    item->definition = NULL;
    item->kernel = (struct kernel_event){0};
    item->note = note;
    dump_item(&dump->lines, item);
}

static void take_event(struct dump *dump, struct dump_item *item, struct dump_stream *stream,
                       struct decode_run *run, uint32_t number)
{
    const struct event *event = &run->events[number];

    item->definition = decoder_definition(run->stream, event->id);
    item->kernel = (struct kernel_event){0};
    if (item->definition == NULL)
        item->kernel = kernel_event_of(run->stream, event);
    if (kernel_switches(&item->kernel))
        switch_task(dump, stream, item->kernel.object);
    item->event = event;
    if (!(stream->wanted || stream->task_wanted) || !is_in_time(dump, event->ticks) ||
        !is_kind(dump, item)) {
        dump->passed_over++;
        return;
    }
    item->thread = stream->name;
    item->task = stream->running != NULL ? stream->task.data : NULL;
    item->note = NULL;
    item->text = item->definition != NULL && item->definition->class == TARE_CLASS_STRING
                     ? decoder_text(run, number)
                     : NULL;
    dump_item(&dump->lines, item);
    dump->printed++;
}

/* Time of the first thing in the run that has one; false: it only says that a stream begins. */
static bool first_ticks(const struct decode_run *run, uint64_t *ticks)
{
    for (uint32_t i = 0; i < run->note_count; i++)
        if (run->notes[i].kind != NOTE_STREAM) {
            *ticks = run->notes[i].ticks;
            return true;
        }
    if (run->count > 0)
        *ticks = run->events[0].ticks;
    return run->count > 0;
}

static void enter_session(struct dump *dump, const struct decode_run *run, uint64_t ticks)
{
    dump->session = run->stream->session;
    dump->scale = session_scale(dump->session, ticks);
    if (dump->scale.source == CLOCK_UNKNOWN &&
        (dump->options.from_ns != INT64_MIN || dump->options.to_ns != INT64_MAX))
        warn("%s: session %08" PRIX32 " does not say how long a tick is, so --from and --to select "
             "nothing by time in it",
             dump->path, dump->session->number);
    dump_session(&dump->lines, dump->session, &dump->scale);
}

static void take_run(struct dump *dump, struct decode_run *run)
{
    const struct note *note = run->notes, *end = note + run->note_count;
    struct dump_item item = {.run = run, .scale = &dump->scale};
    struct dump_stream *stream;
    uint64_t ticks;

    if (run->stream->session != dump->session) {
        if (!first_ticks(run, &ticks))
            return;
        enter_session(dump, run, ticks);
    }
    stream = name_stream(dump, run->stream);
    for (uint32_t i = 0; i <= run->count; i++) {
        for (; note < end && note->before == i; note++)
            take_note(dump, &item, stream, note);
        if (i < run->count)
            take_event(dump, &item, stream, run, i);
    }
}

static bool print_all(struct dump *dump, struct error *error)
{
    struct progress progress = progress_begin("reading", decoder_size(dump->decoder),
                                              dump->options.quiet || isatty(STDOUT_FILENO) != 0);
    const struct decode_directory *directory = decoder_directory(dump->decoder);
    struct decode_run run;
    bool good = true;

    dump_head(&dump->lines);
    dump_measure(&dump->lines, directory);
    while (good && decoder_next(dump->decoder, &run)) {
        take_run(dump, &run);
        progress_step(&progress, decoder_done(dump->decoder));
        if (dump->lines.out.size >= WRITE_BYTES)
            good = write_out(dump, error);
    }
    if (good) {
        dump_tail(&dump->lines, directory, decoder_facts(dump->decoder), dump->printed);
        good = write_out(dump, error);
    }
    progress_end(&progress);
    if (good && dump->printed == 0 && dump->passed_over > 0)
        warn("%s: none of its %" PRIu64 " events is what --from, --to, --thread and --kind ask for",
             dump->path, dump->passed_over);
    return good;
}

static int print_listing(struct dump *dump, struct error *error)
{
    enum exit_code code = listing_append(&dump->lines.out, dump->decoder);

    return write_out(dump, error) || dump->reader_gone ? (int)code : error_report(error);
}

/* ------------------------------------------------------------------ command */

static bool check_options(const struct dump *dump, struct error *error)
{
    const struct dump_options *options = &dump->options;

    if (options->json + options->csv + options->listing > 1)
        error_set(error, EXIT_USAGE, "dump: give one of --json, --csv and --listing");
    else if (options->listing && (options->from_ns != INT64_MIN || options->to_ns != INT64_MAX ||
                                  options->threads != NULL || options->kinds != NULL))
        error_set(error, EXIT_USAGE,
                  "dump: --listing is the whole recording in the form of FORMAT.md; leave out "
                  "--from, --to, --thread and --kind");
    else if (options->from_ns > options->to_ns)
        error_set(error, EXIT_USAGE, "dump: --from is later than --to");
    return error->code == EXIT_DONE;
}

static int finish(struct dump *dump, int code)
{
    decoder_close(dump->decoder);
    forget_names(dump);
    for (size_t i = 0; i < dump->stream_count; i++)
        buffer_free(&dump->streams[i].task);
    free(dump->streams);
    buffer_free(&dump->lines.out);
    return code;
}

extern const struct command command_dump;

static int run_dump(int argc, char **argv)
{
    static struct dump dump; /* too large for the stack */
    struct dump_options *options = &dump.options;
    const struct option_row rows[] = {
        {0, "json", OPTION_FLAG, &options->json, NULL,
         "one JSON object a line; the last one is a summary", 0, 0},
        {0, "csv", OPTION_FLAG, &options->csv, NULL, "comma-separated values with a heading", 0, 0},
        {0, "listing", OPTION_FLAG, &options->listing, NULL,
         "every record, in the form that FORMAT.md, section 8, fixes", 0, 0},
        {0, "from", OPTION_TIME, &options->from_ns, "TIME",
         "first time that is shown, from the start of the recording: 1.5s, 300us", 0, 0},
        {0, "to", OPTION_TIME, &options->to_ns, "TIME", "last time that is shown", 0, 0},
        {0, "thread", OPTION_TEXT, &options->threads, "NAME",
         "only these threads or tasks: name, stream number or thread id; * and ? stand for any "
         "text and character, commas separate several",
         0, 0},
        {0, "kind", OPTION_TEXT, &options->kinds, "NAME",
         "only these events: name, class (event, value, state, span_begin, span_end, string, "
         "task, queue, mutex, interrupt, ...) or what happened (runs, send, created, ...), "
         "patterns as with --thread; losses and faults are always shown",
         0, 0},
        {0, "base", OPTION_UNSIGNED, &options->base, "ADDRESS",
         "image of memory: address of its first byte; default: what its rings say", 0, UINT32_MAX},
        {0, "raw", OPTION_FLAG, &options->raw, NULL,
         "look for blocks everywhere in what is no .tare file, even if rings are found", 0, 0},
        {'q', "quiet", OPTION_FLAG, &options->quiet, NULL, "no progress line", 0, 0},
        {0},
    };
    struct error error = {0};
    struct decode_options how = {0};
    int count = 0, rest_count = 0;
    char **rest = NULL;

    options->from_ns = INT64_MIN;
    options->to_ns = INT64_MAX;
    options->base = UINT64_MAX;
    if (!options_parse(&command_dump, rows, argc, argv, &count, &rest, &rest_count, &error) ||
        !check_options(&dump, &error))
        return error_report(&error);
    if (count + rest_count != 1) {
        error_set(&error, EXIT_USAGE,
                  "dump: give one recording, or - for standard input ('tare help dump')");
        return error_report(&error);
    }
    dump.path = count == 1 ? argv[1] : rest[0];
    dump.lines.form = options->json ? DUMP_JSON : options->csv ? DUMP_CSV : DUMP_TEXT;
    how.file_order = how.accept_all = options->listing;
    how.raw = options->raw;
    how.base_given = options->base != UINT64_MAX;
    how.base = options->base;
    dump.decoder = decoder_open(dump.path, &how, &error);
    if (dump.decoder == NULL)
        return finish(&dump, error_report(&error));
    if (options->listing)
        return finish(&dump, print_listing(&dump, &error));
    if (!print_all(&dump, &error) && !dump.reader_gone)
        return finish(&dump, error_report(&error));
    return finish(&dump, EXIT_DONE);
}

const struct command command_dump = {
    .name = "dump",
    .synopsis = "FILE [options]",
    .summary = "print the events of a recording",
    .details =
        "Reads a .tare file, a raw stream (what an RTT server or a UART gave) or an image of\n"
        "memory (RAM of a target, shared memory of a session, core file); - is standard input.\n"
        "Events of all threads come in order of time; equal times keep the order in which they\n"
        "were recorded. Lines with !! tell what is missing or damaged, and where.\n"
        "\n"
        "Where the tasks of a kernel are known, the column of the thread shows the task that "
        "runs.\n"
        "\n"
        "Times count from the start of the recording, in seconds; in ticks when the recording\n"
        "does not say how long a tick is.\n"
        "\n"
        "Exit status: 0 done, 2 wrong usage or a file that cannot be opened, 4 nothing in it can\n"
        "be read.\n"
        "\n"
        "Example: tare dump run.tare --thread 'work*' --from 1.2s --to 1.3s",
    .run = run_dump,
};
