/* The variables of an experiment file, and where programs are found. */
#ifndef CMD_COST_PLACES_H
#define CMD_COST_PLACES_H

#include <stdbool.h>
#include <stddef.h>

#include "base_error.h"

struct cost_places {
    char *build, *tare, *out, *here; /* absolute paths */
    /* Of the present run; NULL outside one. */
    const char *run, *block, *recording, *measured;
};

/* Fills build (from `build`, else the folder this program was built in), tare and here. */
bool cost_places_find(struct cost_places *places, const char *experiment, const char *build,
                      struct error *error);
void cost_places_free(struct cost_places *places);

/* A copy of the text with its variables replaced; unknown ones stay. Caller frees. */
char *cost_expand(const struct cost_places *places, const char *text);
/* The words as an argv that ends with NULL; ${measure_*} become the words that start the measuring
 * parent. Free with cost_argv_free. */
char **cost_expand_argv(const struct cost_places *places, char *const *words, size_t count);
void cost_argv_free(char **argv);

/* True when the word names something that can be started: a path, or a name on PATH. */
bool cost_program_exists(const char *word);
/* As above, or any file that can be read. */
bool cost_requirement_met(const char *word);

#endif
