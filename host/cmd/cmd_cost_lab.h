/* Makes the runs of an experiment, block by block, and keeps every figure. */
#ifndef CMD_COST_LAB_H
#define CMD_COST_LAB_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "ana_cost.h"
#include "base_progress.h"
#include "cmd_cost_places.h"

struct lab {
    const struct cost_experiment *experiment;
    struct cost_places *places; /* out is set */
    struct cost_data data;
    size_t *active; /* numbers of the arms that can run here */
    size_t active_count;
    size_t *order; /* [block * active_count + position], indices into active */
    struct progress progress;
    uint64_t begun_ns;
    double run_s_total; /* of the finished runs, for the time left */
    char note[160];
    volatile sig_atomic_t *interrupted;
    /* Called after every run with the data as they are; false stops the experiment. */
    bool (*save)(struct lab *lab, struct error *error);
};

/* Draws the order and finds the arms that can run. False when fewer than two can. */
bool lab_prepare(struct lab *lab, struct error *error);

/* Runs everything. The experiment may end early (interrupted, too many voided blocks, a set-up step
 * that fails): then data.stopped says why and the complete blocks stay. False only when the data
 * could not be saved. */
bool lab_run(struct lab *lab, bool quiet, struct error *error);

void lab_free(struct lab *lab);

#endif
