#include "cmd_cost_schema.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ana_cost.h"
#include "base_options.h"

/* Shorter names for what every row repeats. Optional texts and lists are NULL when left out. */
#define NEEDED_TEXT(key, type, member) \
    CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER, type, member, 1, 4000)
#define OPTIONAL_TEXT(key, type, member) \
    CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, member, 0, 4000)
#define NEEDED_LIST(key, type, member, entry, maximum) \
    CYAML_FIELD_SEQUENCE(key, CYAML_FLAG_POINTER, type, member, entry, 1, maximum)
#define OPTIONAL_LIST(key, type, member, entry, maximum) \
    CYAML_FIELD_SEQUENCE(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, member, entry, 0, \
                         maximum)

static const cyaml_schema_value_t word = {CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 0, 4000)};

static const cyaml_strval_t directions[] = {{"lower", COST_LOWER}, {"higher", COST_HIGHER}};
static const cyaml_strval_t kinds[] = {
    {"level", COST_LEVEL}, {"extreme", COST_EXTREME}, {"loss", COST_LOSS}};
static const cyaml_strval_t roles[] = {{"baseline", COST_BASELINE},
                                       {"same", COST_SAME},
                                       {"recorder", COST_RECORDER},
                                       {"change", COST_CHANGE}};

static const cyaml_schema_field_t metric_fields[] = {
    NEEDED_TEXT("name", struct cost_metric, name),
    OPTIONAL_TEXT("label", struct cost_metric, label),
    OPTIONAL_TEXT("unit", struct cost_metric, unit),
    OPTIONAL_TEXT("difference_unit", struct cost_metric, difference_unit),
    CYAML_FIELD_ENUM("better", CYAML_FLAG_OPTIONAL | CYAML_FLAG_STRICT, struct cost_metric, better,
                     directions, 2),
    CYAML_FIELD_BOOL("primary", CYAML_FLAG_OPTIONAL, struct cost_metric, primary),
    CYAML_FIELD_FLOAT("margin", CYAML_FLAG_OPTIONAL, struct cost_metric, margin),
    OPTIONAL_TEXT("reason", struct cost_metric, reason),
    CYAML_FIELD_FLOAT("resolution", CYAML_FLAG_OPTIONAL, struct cost_metric, resolution),
    CYAML_FIELD_ENUM("kind", CYAML_FLAG_OPTIONAL | CYAML_FLAG_STRICT, struct cost_metric, kind,
                     kinds, 3),
    OPTIONAL_TEXT("of", struct cost_metric, of),
    CYAML_FIELD_END};
static const cyaml_schema_value_t metric = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct cost_metric, metric_fields)};

static const cyaml_schema_field_t setting_fields[] = {
    NEEDED_TEXT("name", struct cost_setting, name),
    NEEDED_TEXT("value", struct cost_setting, value), CYAML_FIELD_END};
static const cyaml_schema_value_t setting = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct cost_setting, setting_fields)};

static const cyaml_schema_field_t step_fields[] = {
    NEEDED_LIST("run", struct cost_step, run, &word, 200), CYAML_FIELD_END};
static const cyaml_schema_value_t step = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct cost_step, step_fields)};

static const cyaml_schema_field_t fact_fields[] = {NEEDED_TEXT("name", struct cost_setting, name),
                                                   NEEDED_TEXT("place", struct cost_setting, value),
                                                   CYAML_FIELD_END};
static const cyaml_schema_value_t fact = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct cost_setting, fact_fields)};

static const cyaml_schema_field_t recording_fields[] = {
    NEEDED_TEXT("path", struct cost_recording, path),
    NEEDED_LIST("check", struct cost_recording, check, &word, 200),
    NEEDED_TEXT("stored", struct cost_recording, stored),
    NEEDED_TEXT("lost", struct cost_recording, lost),
    OPTIONAL_TEXT("healthy", struct cost_recording, healthy),
    OPTIONAL_LIST("facts", struct cost_recording, facts, &fact, 40),
    CYAML_FIELD_END};

static const cyaml_schema_field_t arm_fields[] = {
    NEEDED_TEXT("name", struct cost_arm, name),
    OPTIONAL_TEXT("label", struct cost_arm, label),
    CYAML_FIELD_ENUM("role", CYAML_FLAG_STRICT, struct cost_arm, role, roles, 4),
    OPTIONAL_LIST("requires", struct cost_arm, requires, &word, 40),
    OPTIONAL_LIST("environment", struct cost_arm, environment, &word, 40),
    OPTIONAL_LIST("setup", struct cost_arm, setup, &step, 40),
    OPTIONAL_LIST("before", struct cost_arm, before, &step, 40),
    NEEDED_LIST("command", struct cost_arm, command, &word, 200),
    OPTIONAL_LIST("after", struct cost_arm, after, &step, 40),
    OPTIONAL_LIST("finally", struct cost_arm, finally, &step, 40),
    OPTIONAL_LIST("teardown", struct cost_arm, teardown, &step, 40),
    OPTIONAL_LIST("collector_processes", struct cost_arm, collector_processes, &word, 20),
    OPTIONAL_LIST("images", struct cost_arm, images, &word, 40),
    CYAML_FIELD_MAPPING_PTR("recording", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct cost_arm,
                            recording, recording_fields),
    OPTIONAL_LIST("settings", struct cost_arm, settings, &setting, 100),
    CYAML_FIELD_END};
static const cyaml_schema_value_t arm = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct cost_arm, arm_fields)};

static const cyaml_schema_field_t comparison_fields[] = {
    NEEDED_TEXT("arm", struct cost_pair, arm), NEEDED_TEXT("against", struct cost_pair, against),
    CYAML_FIELD_END};
static const cyaml_schema_value_t comparison = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct cost_pair, comparison_fields)};

static const cyaml_schema_field_t load_selection_fields[] = {
    OPTIONAL_TEXT("note", struct cost_load_selection, note),
    NEEDED_LIST("columns", struct cost_load_selection, columns, &fact, 20),
    NEEDED_LIST("rows", struct cost_load_selection, rows, &step, 100), CYAML_FIELD_END};

static const cyaml_schema_field_t experiment_fields[] = {
    NEEDED_TEXT("title", struct cost_experiment, title),
    NEEDED_TEXT("question", struct cost_experiment, question),
    OPTIONAL_TEXT("workload", struct cost_experiment, workload),
    OPTIONAL_TEXT("not_shown", struct cost_experiment, not_shown),
    OPTIONAL_TEXT("target", struct cost_experiment, target),
    OPTIONAL_TEXT("spread", struct cost_experiment, spread),
    CYAML_FIELD_MAPPING_PTR("load_selection", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
                            struct cost_experiment, load_selection, load_selection_fields),
    CYAML_FIELD_UINT("blocks", CYAML_FLAG_OPTIONAL, struct cost_experiment, blocks),
    CYAML_FIELD_UINT("seed", CYAML_FLAG_OPTIONAL, struct cost_experiment, seed),
    CYAML_FIELD_FLOAT("timeout_s", CYAML_FLAG_OPTIONAL, struct cost_experiment, timeout_s),
    CYAML_FIELD_UINT("repeats", CYAML_FLAG_OPTIONAL, struct cost_experiment, repeats),
    NEEDED_LIST("metrics", struct cost_experiment, metrics, &metric, 60),
    CYAML_FIELD_SEQUENCE("arms", CYAML_FLAG_POINTER, struct cost_experiment, arms, &arm, 2, 12),
    OPTIONAL_LIST("comparisons", struct cost_experiment, comparisons, &comparison, 20),
    OPTIONAL_LIST("limits", struct cost_experiment, limits, &word, 40),
    CYAML_FIELD_END};

const cyaml_schema_value_t cost_experiment_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct cost_experiment, experiment_fields)};

/* ------------------------------------------------------------------ the walk */

__attribute__((format(printf, 3, 4))) static bool
fault_at(struct schema_fault *fault, const yaml_node_t *node, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->text, sizeof fault->text, format, arguments);
    va_end(arguments);
    fault->mark = node->start_mark;
    return false;
}

static const char *text_of(const yaml_node_t *node)
{
    return (const char *)node->data.scalar.value;
}

static const cyaml_schema_field_t *field_of(const cyaml_schema_value_t *schema, const char *key)
{
    const cyaml_schema_field_t *field = schema->mapping.fields;
    while (field->key != NULL && strcmp(field->key, key) != 0) {
        field++;
    }
    return field->key != NULL ? field : NULL;
}

static bool unknown_key(const cyaml_schema_value_t *schema, const yaml_node_t *key,
                        struct schema_fault *fault)
{
    const char *nearest = schema->mapping.fields[0].key;
    for (const cyaml_schema_field_t *field = schema->mapping.fields; field->key != NULL; field++) {
        if (text_distance(text_of(key), field->key) < text_distance(text_of(key), nearest)) {
            nearest = field->key;
        }
    }
    return fault_at(fault, key, "unknown key '%s'; the nearest is '%s'", text_of(key), nearest);
}

static bool check_mapping(yaml_document_t *document, yaml_node_t *node,
                          const cyaml_schema_value_t *schema, struct schema_fault *fault)
{
    if (node->type != YAML_MAPPING_NODE) {
        return fault_at(fault, node, "expected a mapping (%s: ...)", schema->mapping.fields[0].key);
    }
    yaml_node_pair_t *first = node->data.mapping.pairs.start;
    for (yaml_node_pair_t *pair = first; pair < node->data.mapping.pairs.top; pair++) {
        yaml_node_t *key = yaml_document_get_node(document, pair->key);
        if (key->type != YAML_SCALAR_NODE) {
            return fault_at(fault, key, "a key must be a word");
        }
        const cyaml_schema_field_t *field = field_of(schema, text_of(key));
        if (field == NULL) {
            return unknown_key(schema, key, fault);
        }
        for (yaml_node_pair_t *earlier = first; earlier < pair; earlier++) {
            yaml_node_t *other = yaml_document_get_node(document, earlier->key);
            if (strcmp(text_of(other), text_of(key)) == 0) {
                return fault_at(fault, key, "'%s' is given twice", text_of(key));
            }
        }
        yaml_node_t *value = yaml_document_get_node(document, pair->value);
        if (!schema_check(document, value, &field->value, fault)) {
            size_t length = strlen(fault->text);
            snprintf(fault->text + length, sizeof fault->text - length, "%s'%s'",
                     strstr(fault->text, " (in ") == NULL ? " (in " : " of ", field->key);
            return false;
        }
    }
    for (const cyaml_schema_field_t *field = schema->mapping.fields; field->key != NULL; field++) {
        bool found = (field->value.flags & CYAML_FLAG_OPTIONAL) != 0;
        for (yaml_node_pair_t *pair = first; pair < node->data.mapping.pairs.top; pair++) {
            found = found ||
                    strcmp(text_of(yaml_document_get_node(document, pair->key)), field->key) == 0;
        }
        if (!found) {
            return fault_at(fault, node, "'%s' is missing", field->key);
        }
    }
    return true;
}

static bool check_sequence(yaml_document_t *document, yaml_node_t *node,
                           const cyaml_schema_value_t *schema, struct schema_fault *fault)
{
    if (node->type != YAML_SEQUENCE_NODE) {
        return fault_at(fault, node, "expected a list ([...] or lines with '- ')");
    }
    yaml_node_item_t *first = node->data.sequence.items.start;
    size_t count = (size_t)(node->data.sequence.items.top - first);
    if (count < schema->sequence.min || count > schema->sequence.max) {
        return fault_at(fault, node, "a list of %zu; %u to %u are allowed", count,
                        schema->sequence.min, schema->sequence.max);
    }
    for (size_t i = 0; i < count; i++) {
        yaml_node_t *item = yaml_document_get_node(document, first[i]);
        if (!schema_check(document, item, schema->sequence.entry, fault)) {
            return false;
        }
    }
    return true;
}

static bool check_name(const yaml_node_t *node, const cyaml_schema_value_t *schema,
                       struct schema_fault *fault)
{
    char known[200] = "";
    for (uint32_t i = 0; i < schema->enumeration.count; i++) {
        if (strcmp(text_of(node), schema->enumeration.strings[i].str) == 0) {
            return true;
        }
        size_t length = strlen(known);
        snprintf(known + length, sizeof known - length, "%s%s", i > 0 ? ", " : "",
                 schema->enumeration.strings[i].str);
    }
    return fault_at(fault, node, "'%s' is none of %s", text_of(node), known);
}

static bool check_scalar(const yaml_node_t *node, const cyaml_schema_value_t *schema,
                         struct schema_fault *fault)
{
    if (node->type != YAML_SCALAR_NODE) {
        return fault_at(fault, node, "expected one value, not a list or a mapping");
    }
    const char *text = text_of(node);
    char *end = NULL;
    errno = 0;
    switch (schema->type) {
    case CYAML_UINT:
        (void)strtoull(text, &end, 0);
        if (end == text || *end != 0 || errno != 0 || text[0] == '-') {
            return fault_at(fault, node, "'%s' is no whole number from 0 up", text);
        }
        return true;
    case CYAML_FLOAT:
        (void)strtod(text, &end);
        if (end == text || *end != 0 || errno != 0) {
            return fault_at(fault, node, "'%s' is no number", text);
        }
        return true;
    case CYAML_BOOL:
        if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0) {
            return fault_at(fault, node, "'%s' is neither true nor false", text);
        }
        return true;
    case CYAML_ENUM:
        return check_name(node, schema, fault);
    default:
        if (strlen(text) < schema->string.min || strlen(text) > schema->string.max) {
            return fault_at(fault, node, "a text of %zu letters; %u to %u are allowed",
                            strlen(text), schema->string.min, schema->string.max);
        }
        return true;
    }
}

bool schema_check(yaml_document_t *document, yaml_node_t *node, const cyaml_schema_value_t *schema,
                  struct schema_fault *fault)
{
    switch (schema->type) {
    case CYAML_MAPPING:
        return check_mapping(document, node, schema, fault);
    case CYAML_SEQUENCE:
        return check_sequence(document, node, schema, fault);
    default:
        return check_scalar(node, schema, fault);
    }
}
