/* Options of a subcommand as a table: parsing, --help and checks come from the same rows. */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base_buffer.h"
#include "base_error.h"

enum option_kind {
    OPTION_FLAG,     /* bool *      */
    OPTION_TEXT,     /* const char ** */
    OPTION_UNSIGNED, /* uint64_t *, decimal or 0x..., checked against minimum and maximum */
    OPTION_NUMBER,   /* double *    */
    OPTION_TIME      /* int64_t *, nanoseconds; "12ms", "1.5s", "300us", "7ns"; unit required */
};

struct option_row {
    char letter;      /* 0: none */
    const char *name; /* long name without dashes; a row of zeros ends the table */
    enum option_kind kind;
    void *value;               /* holds the default before parsing */
    const char *argument;      /* name of the value in the help; NULL: a flag */
    const char *help;          /* one sentence: effect, unit, default */
    uint64_t minimum, maximum; /* OPTION_UNSIGNED; both 0: any */
};

struct command {
    const char *name;     /* "dump" */
    const char *synopsis; /* "FILE [options]" */
    const char *summary;  /* one line for the list of commands */
    const char *details;  /* paragraphs of --help: what it does, formats, exit codes, an example */
    int (*run)(int argc,
               char **argv); /* argv[0] is the name of the command; returns an exit_code */
};

/* Parses argv[1..]. Options may stand anywhere before "--"; both "--name value" and "--name=value"
 * work. Arguments that are no options are moved to the front of argv+1 in order and counted in
 * *argument_count; what follows "--" is left in *rest (NULL when there is no "--"), argument count
 * in *rest_count. `--help` prints the manual of `command` on stdout and ends with EXIT_DONE.
 * An unknown option names the nearest known one. */
bool options_parse(const struct command *command, const struct option_row *rows, int argc,
                   char **argv, int *argument_count, char ***rest, int *rest_count,
                   struct error *error);

/* The manual of `command`, as --help prints it. */
void options_manual(const struct command *command, const struct option_row *rows,
                    struct buffer *into);

/* How many single letters must be inserted, removed, replaced or swapped with their neighbour to
 * turn one text into the other: finds the name that a mistyped one was meant to be. */
size_t text_distance(const char *one, const char *other);

#endif
