/* `tare check`: how healthy a recording is. */
#include <stdio.h>

#include "base_options.h"
#include "base_progress.h"
#include "cmd_check_report.h"
#include "dec_input.h"
#include "mod_check.h"

struct check_options {
    bool strict, json, raw, quiet;
    uint64_t base;
};

extern const struct command command_check;

static int check_file(const char *path, const struct check_options *options)
{
    const struct decode_options how = {
        .raw = options->raw, .base_given = options->base != UINT64_MAX, .base = options->base};
    struct error error = {0};
    struct decoder *decoder = decoder_open(path, &how, &error);
    struct check check = {0};
    struct check_source source = {path, decoder};
    struct progress progress;
    struct decode_run run;
    struct buffer out = {0};
    int code = EXIT_DONE;

    if (decoder == NULL)
        return error_report(&error);
    progress = progress_begin("checking", decoder_size(decoder), options->quiet);
    while (decoder_next(decoder, &run)) {
        check_take(&check, &run);
        progress_step(&progress, decoder_done(decoder));
    }
    progress_end(&progress);
    check_finish(&check, decoder);
    if (options->json)
        check_append_json(&out, &check, &source);
    else
        check_append_text(&out, &check, &source);
    if (!file_write("-", out.data, out.size, &error))
        code = error_report(&error);
    else if (options->strict && !check.healthy)
        code = EXIT_VERDICT_NO;
    buffer_free(&out);
    check_free(&check);
    decoder_close(decoder);
    return code;
}

static int run_check(int argc, char **argv)
{
    struct check_options options = {.base = UINT64_MAX};
    const struct option_row rows[] = {
        {0, "strict", OPTION_FLAG, &options.strict, NULL,
         "exit with 1 unless all is there, sound and named", 0, 0},
        {0, "json", OPTION_FLAG, &options.json, NULL, "one JSON document", 0, 0},
        {0, "base", OPTION_UNSIGNED, &options.base, "ADDRESS",
         "image of memory: address of its first byte; default: what its rings say", 0, UINT32_MAX},
        {0, "raw", OPTION_FLAG, &options.raw, NULL,
         "look for blocks everywhere in what is no .tare file, even if rings are found", 0, 0},
        {'q', "quiet", OPTION_FLAG, &options.quiet, NULL, "no progress line", 0, 0},
        {0},
    };
    struct error error = {0};
    int count = 0, rest_count = 0;
    char **rest = NULL;

    if (!options_parse(&command_check, rows, argc, argv, &count, &rest, &rest_count, &error))
        return error_report(&error);
    if (count + rest_count != 1) {
        error_set(&error, EXIT_USAGE,
                  "check: give one recording, or - for standard input ('tare help check')");
        return error_report(&error);
    }
    return check_file(count == 1 ? argv[1] : rest[0], &options);
}

const struct command command_check = {
    .name = "check",
    .synopsis = "FILE [options]",
    .summary = "how healthy a recording is: events, losses, gaps, clock, damage",
    .details =
        "Reads what `tare dump` reads: a .tare file, a raw stream or an image of memory; - is\n"
        "standard input. The first line is the verdict:\n"
        "\n"
        "  complete    nothing lost, nothing damaged\n"
        "  lossy       events are missing, and the recorder counted them; the rest is sound\n"
        "  unfinished  the collector did not come to its end\n"
        "  damaged     part of the data is damaged; every intact block was read\n"
        "  empty       no event at all\n"
        "\n"
        "attempted = stored + dropped + suppressed + torn: attempted passed the category test;\n"
        "dropped found no room in the ring; suppressed came from inside the recorder or had no\n"
        "ring; torn was being written when the program was killed.\n"
        "\n"
        "Exit status: 0 done, whatever was found; with --strict 1 unless the recording is\n"
        "complete and every event has its own name; 2 wrong usage or a file that cannot be\n"
        "opened; 4 nothing in it can be read.\n"
        "\n"
        "Example: tare check --strict run.tare",
    .run = run_check,
};
