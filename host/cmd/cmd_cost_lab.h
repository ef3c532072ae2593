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
    double run_s_total;  /* of the finished runs, for the time left */
    double load_s_total; /* of the finished rows of the load selection */
    char note[160];
    size_t begun;                                        /* arms whose set-up was begun */
    void (*setup_tick)(void *context, double elapsed_s); /* of lab_set_up's progress line */
    volatile sig_atomic_t *interrupted;
    /* Called after every run with the data as they are; false stops the experiment. */
    bool (*save)(struct lab *lab, struct error *error);
};

/* Draws the order and finds the arms that can run. False when fewer than two can. */
bool lab_prepare(struct lab *lab, struct error *error);

/* Set-up of every arm, sizes and hashes of their images, load selection (cmd_cost_setup.c). What
 * fails or is interrupted ends the experiment: data.stopped says why. */
void lab_set_up(struct lab *lab, bool quiet);

/* Runs everything. The experiment may end early (interrupted, too many voided blocks, a set-up step
 * that fails): then data.stopped says why and the complete blocks stay. False only when the data
 * could not be saved. */
bool lab_run(struct lab *lab, bool quiet, struct error *error);

void lab_free(struct lab *lab);

/* Pieces that the halves of the lab share. */
bool lab_set_up_arm(struct lab *lab, const struct cost_arm *arm, struct buffer *reason);
/* Writes logs/NAME unless there is nothing to write. */
void lab_keep_output(const struct lab *lab, const char *name, const struct buffer *bytes);
/* The experiment ends early, with this reason. */
void lab_stop(struct lab *lab, const char *what, const char *detail);

#endif
