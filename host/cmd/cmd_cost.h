/* The parts of `tare cost`. */
#ifndef CMD_COST_H
#define CMD_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "base_error.h"

struct cost_run_options {
    const char *experiment; /* path of the file */
    const char *out;        /* folder, NULL: cost-NAME-TIME */
    const char *build;      /* folder, NULL: the one that this program was built in */
    uint64_t seed;          /* 0: as in the file */
    uint64_t blocks;        /* 0: as in the file */
    bool json, quiet;
};

/* Both return an exit status. */
int cost_run(const struct cost_run_options *options);
int cost_measure(bool collector, const char *into, char **command);

#endif
