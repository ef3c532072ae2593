/* `tare cost`: what does recording cost the application? */
#include <stdio.h>
#include <string.h>

#include "base_options.h"
#include "cmd_cost.h"

static int run(int argc, char **argv);

const struct command command_cost = {
    .name = "cost",
    .synopsis = "run FILE.yaml [options]",
    .summary = "measure what recording costs an application, with intervals and words",
    .details =
        "Runs every arm of an experiment (recorder off, the same program again, recorders on) in\n"
        "balanced blocks and reports the paired differences with their intervals, the words that\n"
        "the data support, and the health of every recording. The experiment file names the\n"
        "arms, the metrics and the margins; docs/cli/cost.md describes it, cost/METHOD.md how\n"
        "and why the words are given.\n"
        "\n"
        "The output folder gets runs.csv (one row a run), manifest.json (what was run),\n"
        "analysis.json (every printed figure with its formula), report.md, report.html, plots/,\n"
        "recordings/ and logs/. --json prints analysis.json instead of the table.\n"
        "\n"
        "Exit status: 0 done, whatever the words; 2 the experiment file or an option is wrong;\n"
        "3 stopped early (interrupted, too many broken runs, fewer than two arms can run here):\n"
        "what was measured so far is written and readable.\n"
        "\n"
        "Example: tare cost run cost/experiments/gateway.yaml -o gateway-cost",
    .run = run};

static const struct command measure_command = {
    .name = "cost measure",
    .synopsis = "--role process|collector --into FILE -- COMMAND...",
    .summary = "runs one part of an arm and notes its CPU time and memory",
    .details =
        "Used by experiment files as ${measure_process} and ${measure_collector}. Appends one\n"
        "JSON line to FILE and ends with the status of COMMAND.",
    .run = NULL};

static int usage(const char *text)
{
    struct error error = {0};
    error_set(&error, EXIT_USAGE, "cost: %s (see 'tare help cost')", text);
    return error_report(&error);
}

static int run_measure(int argc, char **argv)
{
    const char *role = NULL;
    const char *into = NULL;
    const struct option_row rows[] = {
        {0, "role", OPTION_TEXT, &role, "ROLE", "process or collector", 0, 0},
        {0, "into", OPTION_TEXT, &into, "FILE", "file that gets the line", 0, 0},
        {0}};
    int argument_count = 0;
    char **rest = NULL;
    int rest_count = 0;
    struct error error = {0};
    if (!options_parse(&measure_command, rows, argc, argv, &argument_count, &rest, &rest_count,
                       &error)) {
        return error_report(&error);
    }
    bool collector = role != NULL && strcmp(role, "collector") == 0;
    bool process = role != NULL && strcmp(role, "process") == 0;
    if (argument_count > 0 || rest_count == 0 || into == NULL || (!collector && !process)) {
        return usage("measure needs --role process|collector, --into FILE and -- COMMAND");
    }
    return cost_measure(collector, into, rest);
}

static int run(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "measure") == 0) {
        return run_measure(argc - 1, argv + 1);
    }
    struct cost_run_options options = {0};
    const struct option_row rows[] = {
        {'o', "output", OPTION_TEXT, &options.out, "DIR",
         "folder for data and reports, new or empty (default: cost-NAME-TIME)", 0, 0},
        {0, "seed", OPTION_UNSIGNED, &options.seed, "N", "seed of the order, instead of the file's",
         1, UINT64_MAX},
        {0, "blocks", OPTION_UNSIGNED, &options.blocks, "N",
         "number of blocks, instead of the file's", 1, 200},
        {0, "build", OPTION_TEXT, &options.build, "DIR",
         "what ${build} stands for (default: the folder this program was built in)", 0, 0},
        {0, "json", OPTION_FLAG, &options.json, NULL, "print analysis.json instead of the table", 0,
         0},
        {'q', "quiet", OPTION_FLAG, &options.quiet, NULL, "no progress line", 0, 0},
        {0}};
    int argument_count = 0;
    char **rest = NULL;
    int rest_count = 0;
    struct error error = {0};
    if (!options_parse(&command_cost, rows, argc, argv, &argument_count, &rest, &rest_count,
                       &error)) {
        return error_report(&error);
    }
    if (argument_count < 1 || strcmp(argv[1], "run") != 0) {
        return usage("expected 'run FILE.yaml'");
    }
    if (argument_count != 2 || rest != NULL) {
        return usage("run takes one experiment file");
    }
    options.experiment = argv[2];
    return cost_run(&options);
}
