#include "cmd_cost_schema.h"

#include "ana_cost.h"

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
    OPTIONAL_LIST("teardown", struct cost_arm, teardown, &step, 40),
    OPTIONAL_LIST("collector_processes", struct cost_arm, collector_processes, &word, 20),
    OPTIONAL_LIST("images", struct cost_arm, images, &word, 40),
    CYAML_FIELD_MAPPING_PTR("recording", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct cost_arm,
                            recording, recording_fields),
    OPTIONAL_LIST("settings", struct cost_arm, settings, &setting, 100),
    CYAML_FIELD_END};
static const cyaml_schema_value_t arm = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct cost_arm, arm_fields)};

static const cyaml_schema_field_t pair_fields[] = {
    NEEDED_TEXT("arm", struct cost_pair, arm), NEEDED_TEXT("against", struct cost_pair, against),
    CYAML_FIELD_END};
static const cyaml_schema_value_t pair = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct cost_pair, pair_fields)};

static const cyaml_schema_field_t experiment_fields[] = {
    NEEDED_TEXT("title", struct cost_experiment, title),
    NEEDED_TEXT("question", struct cost_experiment, question),
    OPTIONAL_TEXT("workload", struct cost_experiment, workload),
    OPTIONAL_TEXT("not_shown", struct cost_experiment, not_shown),
    CYAML_FIELD_UINT("blocks", CYAML_FLAG_OPTIONAL, struct cost_experiment, blocks),
    CYAML_FIELD_UINT("seed", CYAML_FLAG_OPTIONAL, struct cost_experiment, seed),
    CYAML_FIELD_FLOAT("timeout_s", CYAML_FLAG_OPTIONAL, struct cost_experiment, timeout_s),
    CYAML_FIELD_UINT("repeats", CYAML_FLAG_OPTIONAL, struct cost_experiment, repeats),
    NEEDED_LIST("metrics", struct cost_experiment, metrics, &metric, 60),
    CYAML_FIELD_SEQUENCE("arms", CYAML_FLAG_POINTER, struct cost_experiment, arms, &arm, 2, 12),
    OPTIONAL_LIST("comparisons", struct cost_experiment, comparisons, &pair, 20),
    OPTIONAL_LIST("limits", struct cost_experiment, limits, &word, 40),
    CYAML_FIELD_END};

const cyaml_schema_value_t cost_experiment_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct cost_experiment, experiment_fields)};
