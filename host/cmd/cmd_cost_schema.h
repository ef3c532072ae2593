/* The schema of experiment files for libcyaml; struct cost_experiment is its shape in memory. */
#ifndef CMD_COST_SCHEMA_H
#define CMD_COST_SCHEMA_H

#include <cyaml/cyaml.h>

extern const cyaml_schema_value_t cost_experiment_schema;

#endif
