/* `tare export`: a recording in the format of another program. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base_options.h"
#include "exp_export.h"

/* A recording must not be replaced by its own export. */
static bool same_file(const char *one, const char *other)
{
    struct stat a, b;

    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino && S_ISREG(a.st_mode);
}

static void check(const struct exporter *exporter, const char *to, const char *file,
                  const char *output, const struct export_options *options, struct error *error)
{
    if (to == NULL)
        error_set(error, EXIT_USAGE, "no format: give --to FORMAT (%s)", export_names());
    else if (exporter == NULL)
        error_set(error, EXIT_USAGE, "--to %s: no such format; there is: %s", to, export_names());
    else if (options->begin_ns > options->end_ns)
        error_set(error, EXIT_USAGE, "--begin lies behind --end; swap them");
    else if (strcmp(output, "-") != 0 && strcmp(file, "-") != 0 && same_file(file, output))
        error_set(error, EXIT_USAGE, "-o %s: this is the recording itself; name another file",
                  output);
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

static int run_export(int argc, char **argv)
{
    extern const struct command command_export;
    struct export_options options = {EXPORT_WHOLE, .decode.base = UINT64_MAX};
    const char *to = NULL, *path = "-";
    struct export_output output;
    struct export_counts counts;
    struct error error = {0};
    int arguments = 0, rest_count = 0;
    char **rest = NULL;
    bool good;
    const struct option_row rows[] = {
        {0, "to", OPTION_TEXT, &to, "FORMAT", "format to write: perfetto", 0, 0},
        {'o', "output", OPTION_TEXT, &path, "OUT",
         "file to write; default - (standard output, when it is no terminal)", 0, 0},
        {0, "begin", OPTION_TIME, &options.begin_ns, "TIME",
         "leave out what ends before, since time 0 of the recording as in 'tare dump'", 0, 0},
        {0, "end", OPTION_TIME, &options.end_ns, "TIME", "leave out what begins behind", 0, 0},
        {0, "base", OPTION_UNSIGNED, &options.decode.base, "ADDRESS",
         "image of memory: address of its first byte; default: what its rings say", 0, 0},
        {0, "raw", OPTION_FLAG, &options.decode.raw, NULL,
         "look for blocks everywhere in what is no .tare file, even if rings are found in it", 0,
         0},
        {'q', "quiet", OPTION_FLAG, &options.quiet, NULL, "no progress and no closing line", 0, 0},
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
    options.decode.base_given = options.decode.base != UINT64_MAX;
    check(to != NULL ? export_find(to) : NULL, to, argv[1], path, &options, &error);
    if (error.code != EXIT_DONE || !export_output_open(&output, path, &error))
        return error_report(&error);
    good = export_recording(export_find(to), argv[1], &options, &output, &counts, &error);
    if (!export_output_close(&output, good, &error) || !good)
        return error_report(&error);
    say_what_was_exported(&counts, path, &options);
    return EXIT_DONE;
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
        "Spans that end on another thread, or that overlap, have tracks of their own.\n"
        "docs/cli/export.md says exactly what becomes what.\n"
        "\n"
        "With --begin or --end, what reaches out of the stretch is cut at its border and says so.\n"
        "\n"
        "Exit status: 0 written; 2 wrong usage, or a file that cannot be opened or written; 4 the\n"
        "input is damaged beyond use. Losses do not change it: a warning names them.\n"
        "\n"
        "Example: tare export run.tare --to perfetto -o run.perfetto-trace\n",
    .run = run_export};
