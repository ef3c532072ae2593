/* `tare export`: a recording in the format of another program. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base_options.h"
#include "cmd_export_svg.h"
#include "exp_export.h"

#define SVG "svg"
#define LENGTH_MS 20.0

struct request {
    const char *to, *output;
    struct export_options options;
    double length_ms; /* of the picture; 0: not given */
};

static bool is_picture(const struct request *request)
{
    return strcmp(request->to, SVG) == 0;
}

/* A recording must not be replaced by its own export. */
static bool same_file(const char *one, const char *other)
{
    struct stat a, b;

    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino && S_ISREG(a.st_mode);
}

static void check(const struct request *request, const char *file, struct error *error)
{
    const struct export_options *options = &request->options;

    if (request->to == NULL)
        error_set(error, EXIT_USAGE, "no format: give --to FORMAT (%s, " SVG ")", export_names());
    else if (!is_picture(request) && export_find(request->to) == NULL)
        error_set(error, EXIT_USAGE, "--to %s: no such format; there is: %s, " SVG, request->to,
                  export_names());
    else if (is_picture(request) && options->end_ns != INT64_MAX)
        error_set(error, EXIT_USAGE,
                  "--end: a picture has a begin and a length; give --length-ms instead");
    else if (!is_picture(request) && request->length_ms != 0)
        error_set(error, EXIT_USAGE,
                  "--length-ms is for --to " SVG "; give --begin and --end instead");
    else if (!(request->length_ms >= 0 && request->length_ms <= 1e9))
        error_set(error, EXIT_USAGE, "--length-ms %g: give a number above 0, at most 1e9",
                  request->length_ms);
    else if (options->begin_ns > options->end_ns)
        error_set(error, EXIT_USAGE, "--begin lies behind --end; swap them");
    else if (strcmp(request->output, "-") != 0 && strcmp(file, "-") != 0 &&
             same_file(file, request->output))
        error_set(error, EXIT_USAGE, "-o %s: this is the recording itself; name another file",
                  request->output);
}

static void say_what_was_exported(const struct export_counts *counts, const char *output,
                                  const struct export_options *options)
{
    if (counts->ticks)
        warn("the recording does not say how long a tick is: each is shown as 1 ns");
    if (counts->items == 0)
        warn("nothing lies in the stretch that was asked for, so %s holds no events",
             strcmp(output, "-") == 0 ? "the output" : output);
    if (counts->losses > 0)
        warn("losses, gaps or damage: %llu of them, see the tracks named \"lost\"",
             (unsigned long long)counts->losses);
    if (!options->quiet && strcmp(output, "-") != 0)
        fprintf(stderr, "tare: %s written; open it at https://ui.perfetto.dev\n", output);
}

static bool draw(const char *file, const struct request *request, struct error *error)
{
    double length_ms = request->length_ms != 0 ? request->length_ms : LENGTH_MS;
    const struct excerpt_options options = {.length_ns = (uint64_t)(length_ms * 1e6 + 0.5),
                                            .warm_up_percent = 25,
                                            .begin_given = request->options.begin_ns != INT64_MIN,
                                            .begin_ns = request->options.begin_ns,
                                            .decode = request->options.decode};
    struct export_output output;
    struct buffer summary = {0};
    bool good = export_output_open(&output, request->output, error);

    if (good) {
        good = export_svg(file, &options, &output, &summary, error);
        good = export_output_close(&output, good, error) && good;
    }
    if (good && !request->options.quiet && strcmp(request->output, "-") != 0)
        fprintf(stderr, "tare: %s written: %s\n", request->output, summary.data);
    buffer_free(&summary);
    return good;
}

static bool convert(const char *file, const struct request *request, struct error *error)
{
    struct export_output output;
    struct export_counts counts;
    bool good;

    if (!export_output_open(&output, request->output, error))
        return false;
    good = export_recording(export_find(request->to), file, &request->options, &output, &counts,
                            error);
    if (!export_output_close(&output, good, error) || !good)
        return false;
    say_what_was_exported(&counts, request->output, &request->options);
    return true;
}

static int run_export(int argc, char **argv)
{
    extern const struct command command_export;
    struct request request = {.output = "-", .options = {EXPORT_WHOLE, .decode.base = UINT64_MAX}};
    struct export_options *options = &request.options;
    struct error error = {0};
    int arguments = 0, rest_count = 0;
    char **rest = NULL;
    const struct option_row rows[] = {
        {0, "to", OPTION_TEXT, &request.to, "FORMAT", "format to write: perfetto or svg", 0, 0},
        {'o', "output", OPTION_TEXT, &request.output, "OUT",
         "file to write; default - (standard output, when it is no terminal)", 0, 0},
        {0, "begin", OPTION_TIME, &options->begin_ns, "TIME",
         "leave out what ends before, since time 0 of the recording as in 'tare dump'", 0, 0},
        {0, "end", OPTION_TIME, &options->end_ns, "TIME", "leave out what begins behind", 0, 0},
        {0, "length-ms", OPTION_NUMBER, &request.length_ms, "MS",
         "svg: length of the stretch that is drawn; default 20", 0, 0},
        {0, "base", OPTION_UNSIGNED, &options->decode.base, "ADDRESS",
         "image of memory: address of its first byte; default: what its rings say", 0, 0},
        {0, "raw", OPTION_FLAG, &options->decode.raw, NULL,
         "look for blocks everywhere in what is no .tare file, even if rings are found in it", 0,
         0},
        {'q', "quiet", OPTION_FLAG, &options->quiet, NULL, "no progress and no closing line", 0, 0},
        {0}};

    if (!options_parse(&command_export, rows, argc, argv, &arguments, &rest, &rest_count, &error))
        return error_report(&error);
    if (arguments != 1 || rest_count > 0) {
        error_set(&error, EXIT_USAGE,
                  "export takes one recording, but got %d: write 'tare export FILE --to FORMAT -o "
                  "OUT'",
                  arguments + rest_count);
        return error_report(&error);
    }
    options->decode.base_given = options->decode.base != UINT64_MAX;
    check(&request, argv[1], &error);
    if (error.code != EXIT_DONE)
        return error_report(&error);
    if (is_picture(&request) ? draw(argv[1], &request, &error) : convert(argv[1], &request, &error))
        return EXIT_DONE;
    return error_report(&error);
}

const struct command command_export = {
    .name = "export",
    .synopsis = "FILE --to FORMAT [-o OUT]",
    .summary = "write a recording in the format of another program",
    .details =
        "FILE is a recording, a raw stream, an image of memory, or - for standard input.\n"
        "\n"
        "perfetto: a trace for https://ui.perfetto.dev and trace_processor. Each thread has a "
        "track\n"
        "with its spans and events, below it one for each of its state machines, and one named\n"
        "\"lost\" with a slice for every loss, gap and damage. Values are counters with their "
        "units.\n"
        "Spans that end on another thread, or that overlap, have tracks of their own. Each task of "
        "a\n"
        "kernel is a thread.\n"
        "docs/cli/export.md says exactly what becomes what.\n"
        "\n"
        "svg: a picture of one short stretch, with a lane for each thread, task and interrupt: "
        "what\n"
        "they do, spans, events, and what is not known because of losses. It begins at --begin; "
        "if\n"
        "that is not given, where most of them are at work.\n"
        "\n"
        "With --begin or --end, what reaches out of the stretch is cut at its border and says so.\n"
        "\n"
        "Exit status: 0 written; 2 wrong usage, or a file that cannot be opened or written; 3 "
        "there\n"
        "is nothing to draw (svg); 4 the input is damaged beyond use. Losses do not change it: a\n"
        "warning names them.\n"
        "\n"
        "Examples: tare export run.tare --to perfetto -o run.perfetto-trace\n"
        "          tare export run.tare --to svg --length-ms 5 -o run.svg\n",
    .run = run_export};
