/* The schema of experiment files for libcyaml; struct cost_experiment is its shape in memory. */
#ifndef CMD_COST_SCHEMA_H
#define CMD_COST_SCHEMA_H

#include <cyaml/cyaml.h>
#include <stdbool.h>
#include <yaml.h>

extern const cyaml_schema_value_t cost_experiment_schema;

struct schema_fault {
    yaml_mark_t mark; /* line and column from 0 */
    char text[400];
};

/* Compares a parsed document with a schema. libcyaml does the same when it loads, but names the
 * place of whatever it read before the fault; this walk names the very value. */
bool schema_check(yaml_document_t *document, yaml_node_t *node, const cyaml_schema_value_t *schema,
                  struct schema_fault *fault);

#endif
