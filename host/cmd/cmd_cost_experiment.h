/* Reads an experiment file (docs/cli/cost.md) and refuses what could not be run or judged. */
#ifndef CMD_COST_EXPERIMENT_H
#define CMD_COST_EXPERIMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "ana_cost.h"
#include "base_error.h"
#include "cmd_cost_places.h"

/* What the lab itself measures in every run; appended to the experiment's metrics unless it names
 * them itself. The order is that of enum lab_metric. */
enum lab_metric {
    LAB_PROCESS_CPU_MS,
    LAB_COLLECTOR_CPU_MS,
    LAB_PROCESS_PEAK_MIB,
    LAB_COLLECTOR_PEAK_MIB,
    LAB_WALL_S,
    LAB_METRICS
};
extern const char *const lab_metric_names[LAB_METRICS];

/* Words of a command that start a measuring parent around what follows (`tare cost measure`). */
extern const char measure_process_word[];
extern const char measure_collector_word[];

/* NULL with an EXIT_USAGE error "FILE:LINE:COLUMN: ..." when the file cannot be read, is no YAML,
 * does not fit the schema, contradicts itself or names a program that is not there. `places` tells
 * where to look; an arm whose `requires` are not met is not looked at. */
struct cost_experiment *cost_experiment_load(const char *path, const struct cost_places *places,
                                             struct error *error);

/* The first requirement of an arm that is not met here, expanded, or NULL. Caller frees. */
char *cost_arm_misses(const struct cost_arm *arm, const struct cost_places *places);
void cost_experiment_free(struct cost_experiment *experiment);

#endif
