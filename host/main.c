/* The program `tare`: finds the subcommand and hands over. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base_options.h"

#define COMMAND(name) extern const struct command command_##name;
#include "cmd_commands.h"
#undef COMMAND

/* NULL ends the list. */
static const struct command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "cmd_commands.h"
#undef COMMAND
    NULL};

static const struct command *find_command(const char *name)
{
    for (const struct command *const *command = commands; *command != NULL; command++) {
        if (strcmp((*command)->name, name) == 0)
            return *command;
    }
    return NULL;
}

static int report_unknown(const char *name)
{
    struct error error = {0};
    const char *nearest = "help";
    size_t best = text_distance(name, nearest);

    for (const struct command *const *command = commands; *command != NULL; command++) {
        size_t distance = text_distance(name, (*command)->name);

        if (distance < best) {
            best = distance;
            nearest = (*command)->name;
        }
    }
    error_set(&error, EXIT_USAGE,
              "'%s' is no subcommand; the nearest is '%s' ('tare help' lists all)", name, nearest);
    return error_report(&error);
}

static void print_overview(FILE *stream)
{
    fputs("tare " TARE_VERSION ": records events of C programs and proves what recording costs\n\n"
          "Usage: tare SUBCOMMAND ...\n\n"
          "Subcommands:\n",
          stream);
    for (const struct command *const *command = commands; *command != NULL; command++)
        fprintf(stream, "  %-10s %s\n", (*command)->name, (*command)->summary);
    fputs("  help       this list, or the manual of one subcommand: tare help SUBCOMMAND\n\n"
          "Results go to standard output, progress and warnings to standard error.\n"
          "Exit status: 0 done, 1 the verdict is no, 2 wrong usage or an input that cannot be "
          "opened,\n"
          "3 cannot tell, 4 the input is damaged beyond use. 'tare record -- CMD' ends with CMD's "
          "own.\n",
          stream);
}

static int run_help(int argc, char **argv)
{
    char option[] = "--help";
    char *arguments[] = {NULL, option, NULL};
    const struct command *command;
    struct error error = {0};

    if (argc <= 2) {
        print_overview(stdout);
        return EXIT_DONE;
    }
    if (argc > 3) {
        error_set(&error, EXIT_USAGE, "help takes one subcommand, but got %d: '%s' ...", argc - 2,
                  argv[2]);
        return error_report(&error);
    }
    command = find_command(argv[2]);
    if (command == NULL)
        return report_unknown(argv[2]);
    arguments[0] = argv[2];
    return command->run(2, arguments);
}

static int run(int argc, char **argv)
{
    const struct command *command;

    if (argc < 2) {
        print_overview(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
        strcmp(argv[1], "-h") == 0)
        return run_help(argc, argv);
    if (strcmp(argv[1], "--version") == 0) {
        puts("tare " TARE_VERSION);
        return EXIT_DONE;
    }
    command = find_command(argv[1]);
    if (command == NULL)
        return report_unknown(argv[1]);
    return command->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    int code = run(argc, argv);

    /* A full disk behind standard output shows only here. */
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        struct error error = {0};

        error_set(&error, EXIT_USAGE, "standard output: writing failed: %s", strerror(errno));
        error_report(&error);
        if (code == EXIT_DONE)
            code = error.code;
    }
    return code;
}
