/* Three passes over the text: libyaml for syntax and for the place of every value, libcyaml for the
 * schema, and then the rules that a schema cannot express. */
#include "cmd_cost_experiment.h"

#include <cyaml/cyaml.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base_buffer.h"
#include "base_options.h"
#include "cmd_cost_schema.h"

enum {
    PRIMARY_MAXIMUM = 3,
    BLOCKS_MAXIMUM = 200
};

const char measure_process_word[] = "${measure_process}";
const char measure_collector_word[] = "${measure_collector}";

static const char *const variables[] = {"build", "tare",      "out",  "run",
                                        "here",  "recording", "block"};

const char *const lab_metric_names[LAB_METRICS] = {
    [LAB_PROCESS_CPU_MS] = "lab.process_cpu_ms",
    [LAB_COLLECTOR_CPU_MS] = "lab.collector_cpu_ms",
    [LAB_PROCESS_PEAK_MIB] = "lab.process_peak_mib",
    [LAB_COLLECTOR_PEAK_MIB] = "lab.collector_peak_mib",
    [LAB_WALL_S] = "lab.wall_s",
};

static const char *const lab_metric_labels[LAB_METRICS] = {
    [LAB_PROCESS_CPU_MS] = "CPU time of the application process",
    [LAB_COLLECTOR_CPU_MS] = "CPU time of the collector",
    [LAB_PROCESS_PEAK_MIB] = "peak memory of the application process",
    [LAB_COLLECTOR_PEAK_MIB] = "peak memory of the collector",
    [LAB_WALL_S] = "duration of the run",
};

static const char *const lab_metric_units[LAB_METRICS] = {"ms", "ms", "MiB", "MiB", "s"};

struct loader {
    const char *path;
    const struct cost_places *places;
    yaml_document_t document;
    bool parsed; /* the document holds something to free */
    yaml_node_t *root;
    struct cost_experiment *experiment;
    struct error *error;
};

__attribute__((format(printf, 3, 4))) static bool
refuse(struct loader *loader, const yaml_node_t *node, const char *format, ...)
{
    char text[700];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const yaml_node_t *at = node != NULL ? node : loader->root;
    error_set(loader->error, EXIT_USAGE, "%s:%zu:%zu: %s", loader->path, at->start_mark.line + 1,
              at->start_mark.column + 1, text);
    return false;
}

/* The value behind a key of a mapping, NULL when the key is not there. */
static yaml_node_t *value_of(struct loader *loader, yaml_node_t *mapping, const char *key)
{
    if (mapping == NULL || mapping->type != YAML_MAPPING_NODE) {
        return NULL;
    }
    for (yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
         pair < mapping->data.mapping.pairs.top; pair++) {
        yaml_node_t *name = yaml_document_get_node(&loader->document, pair->key);
        if (name->type == YAML_SCALAR_NODE &&
            strcmp((const char *)name->data.scalar.value, key) == 0) {
            return yaml_document_get_node(&loader->document, pair->value);
        }
    }
    return NULL;
}

static yaml_node_t *item_of(struct loader *loader, yaml_node_t *sequence, size_t index)
{
    if (sequence == NULL || sequence->type != YAML_SEQUENCE_NODE ||
        (size_t)(sequence->data.sequence.items.top - sequence->data.sequence.items.start) <=
            index) {
        return NULL;
    }
    return yaml_document_get_node(&loader->document, sequence->data.sequence.items.start[index]);
}

/* ------------------------------------------------------------------ syntax */

static bool parse_document(struct loader *loader, const struct buffer *text)
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) {
        die("out of memory");
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text->data, text->size);
    loader->parsed = yaml_parser_load(&parser, &loader->document);
    if (!loader->parsed) {
        yaml_mark_t mark = parser.problem != NULL && parser.error != YAML_READER_ERROR
                               ? parser.problem_mark
                               : parser.mark;
        error_set(loader->error, EXIT_USAGE, "%s:%zu:%zu: no valid YAML: %s%s%s", loader->path,
                  mark.line + 1, mark.column + 1,
                  parser.problem != NULL ? parser.problem : "unreadable",
                  parser.context != NULL ? " " : "", parser.context != NULL ? parser.context : "");
    } else {
        loader->root = yaml_document_get_root_node(&loader->document);
        if (loader->root == NULL) {
            error_set(loader->error, EXIT_USAGE, "%s:1:1: the file is empty", loader->path);
        } else if (loader->root->type != YAML_MAPPING_NODE) {
            refuse(loader, NULL, "expected a mapping (title: ..., arms: ...)");
        }
    }
    yaml_parser_delete(&parser);
    return loader->error->code == EXIT_DONE;
}

/* ------------------------------------------------------------------ schema */

/* libcyaml has nothing to add once the walk found no fault; its log is kept for the case that it
 * has. */
__attribute__((format(printf, 3, 0))) static void take_log(cyaml_log_t level, void *context,
                                                           const char *format, va_list arguments)
{
    (void)level;
    char *message = context;
    if (message[0] == 0) {
        vsnprintf(message, 300, format, arguments);
        message[strcspn(message, "\n")] = 0;
    }
}

static bool apply_schema(struct loader *loader, const struct buffer *text)
{
    struct schema_fault fault = {.text = ""};
    if (!schema_check(&loader->document, loader->root, &cost_experiment_schema, &fault)) {
        error_set(loader->error, EXIT_USAGE, "%s:%zu:%zu: %s%s", loader->path, fault.mark.line + 1,
                  fault.mark.column + 1, fault.text,
                  strstr(fault.text, " (in ") != NULL ? ")" : "");
        return false;
    }
    char message[300] = "";
    cyaml_config_t config = {
        .log_fn = take_log, .log_ctx = message, .log_level = CYAML_LOG_ERROR, .mem_fn = cyaml_mem};
    void *data = NULL;
    cyaml_err_t code = cyaml_load_data((const uint8_t *)text->data, text->size, &config,
                                       &cost_experiment_schema, &data, NULL);
    if (code != CYAML_OK) {
        error_set(loader->error, EXIT_USAGE, "%s:1:1: %s", loader->path,
                  message[0] != 0 ? message : cyaml_strerror(code));
        return false;
    }
    loader->experiment = data;
    return true;
}

void cost_experiment_free(struct cost_experiment *experiment)
{
    const cyaml_config_t config = {.log_level = CYAML_LOG_ERROR, .mem_fn = cyaml_mem};
    cyaml_free(&config, &cost_experiment_schema, experiment, 0);
}

/* ------------------------------------------------------------------ rules */

static bool check_variables(struct loader *loader, yaml_node_t *words, char **texts, unsigned count,
                            bool measured)
{
    for (unsigned i = 0; i < count; i++) {
        if (measured && (strcmp(texts[i], measure_process_word) == 0 ||
                         strcmp(texts[i], measure_collector_word) == 0)) {
            continue;
        }
        for (const char *at = strstr(texts[i], "${"); at != NULL; at = strstr(at + 1, "${")) {
            size_t length = strcspn(at + 2, "}");
            bool known = at[2 + length] == '}';
            bool found = false;
            for (size_t k = 0; known && k < sizeof variables / sizeof *variables; k++) {
                found = found || (strlen(variables[k]) == length &&
                                  strncmp(variables[k], at + 2, length) == 0);
            }
            if (!found) {
                return refuse(loader, item_of(loader, words, i),
                              "unknown variable in '%s'; known are ${build}, ${tare}, ${out}, "
                              "${run}, ${block}, ${here}, ${recording} and, as a word of its own "
                              "in 'command', ${measure_process} and ${measure_collector}",
                              texts[i]);
            }
        }
    }
    return true;
}

static bool check_words(struct loader *loader, yaml_node_t *owner, const char *key, char **texts,
                        unsigned count)
{
    return check_variables(loader, value_of(loader, owner, key), texts, count, false);
}

static bool check_steps(struct loader *loader, yaml_node_t *arm, const char *key,
                        const struct cost_step *steps, unsigned count)
{
    yaml_node_t *list = value_of(loader, arm, key);
    for (unsigned i = 0; i < count; i++) {
        if (!check_words(loader, item_of(loader, list, i), "run", steps[i].run,
                         steps[i].run_count)) {
            return false;
        }
    }
    return true;
}

static bool good_name(const char *name)
{
    return name[0] != 0 && strlen(name) <= 40 &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
               strlen(name);
}

static bool check_recording(struct loader *loader, yaml_node_t *node, const struct cost_arm *arm)
{
    const struct cost_recording *recording = arm->recording;
    if (recording == NULL) {
        return arm->role != COST_RECORDER ||
               refuse(loader, node, "arm '%s' is a recorder and needs 'recording'", arm->name);
    }
    yaml_node_t *place = value_of(loader, node, "recording");
    char *path = recording->path;
    return check_variables(loader, NULL, &path, 1, false) &&
           check_words(loader, place, "check", recording->check, recording->check_count);
}

/* The program that a command starts, behind the measuring parents. */
static bool check_program(struct loader *loader, yaml_node_t *words, char **texts, unsigned count)
{
    unsigned first = 0;
    while (first < count && (strcmp(texts[first], measure_process_word) == 0 ||
                             strcmp(texts[first], measure_collector_word) == 0)) {
        first++;
    }
    if (first == count) {
        return refuse(loader, words, "the command starts no program");
    }
    char *program = cost_expand(loader->places, texts[first]);
    bool found = cost_program_exists(program);
    if (!found) {
        refuse(loader, item_of(loader, words, first),
               "the program '%s' is not there or cannot be executed", program);
    }
    free(program);
    return found;
}

static bool check_programs(struct loader *loader, yaml_node_t *node, const struct cost_arm *arm)
{
    char *missing = cost_arm_misses(arm, loader->places);
    if (missing != NULL) {
        free(missing);
        return arm->role != COST_BASELINE ||
               refuse(loader, value_of(loader, node, "requires"),
                      "the baseline cannot run here: not all that it requires is there");
    }
    const struct cost_step *const steps[] = {arm->setup, arm->before, arm->after, arm->finally,
                                             arm->teardown};
    const unsigned counts[] = {arm->setup_count, arm->before_count, arm->after_count,
                               arm->finally_count, arm->teardown_count};
    const char *const keys[] = {"setup", "before", "after", "finally", "teardown"};
    for (size_t kind = 0; kind < 5; kind++) {
        yaml_node_t *list = value_of(loader, node, keys[kind]);
        for (unsigned i = 0; i < counts[kind]; i++) {
            yaml_node_t *words = value_of(loader, item_of(loader, list, i), "run");
            if (!check_program(loader, words, steps[kind][i].run, steps[kind][i].run_count)) {
                return false;
            }
        }
    }
    return check_program(loader, value_of(loader, node, "command"), arm->command,
                         arm->command_count) &&
           (arm->recording == NULL ||
            check_program(loader, value_of(loader, value_of(loader, node, "recording"), "check"),
                          arm->recording->check, arm->recording->check_count));
}

static bool check_arm(struct loader *loader, size_t index)
{
    struct cost_arm *arms = loader->experiment->arms;
    struct cost_arm *arm = &arms[index];
    yaml_node_t *node = item_of(loader, value_of(loader, loader->root, "arms"), index);
    yaml_node_t *name = value_of(loader, node, "name");
    if (!good_name(arm->name)) {
        return refuse(loader, name,
                      "the arm's name '%s' must be 1 to 40 letters, digits, '_' or '-'", arm->name);
    }
    for (size_t i = 0; i < index; i++) {
        if (strcmp(arms[i].name, arm->name) == 0) {
            return refuse(loader, name, "there are two arms '%s'", arm->name);
        }
        if (arms[i].role == COST_BASELINE && arm->role == COST_BASELINE) {
            return refuse(loader, value_of(loader, node, "role"),
                          "arm '%s' is already the baseline; there must be exactly one",
                          arms[i].name);
        }
    }
    if (arm->label == NULL) {
        arm->label = memory_text(arm->name);
    }
    yaml_node_t *environment = value_of(loader, node, "environment");
    for (unsigned i = 0; i < arm->environment_count; i++) {
        if (strchr(arm->environment[i], '=') == NULL || arm->environment[i][0] == '=') {
            return refuse(loader, item_of(loader, environment, i), "'%s' must be NAME=VALUE",
                          arm->environment[i]);
        }
    }
    return check_variables(loader, value_of(loader, node, "command"), arm->command,
                           arm->command_count, true) &&
           check_words(loader, node, "requires", arm->requires, arm->requires_count) &&
           check_words(loader, node, "environment", arm->environment, arm->environment_count) &&
           check_words(loader, node, "images", arm->images, arm->images_count) &&
           check_steps(loader, node, "setup", arm->setup, arm->setup_count) &&
           check_steps(loader, node, "before", arm->before, arm->before_count) &&
           check_steps(loader, node, "after", arm->after, arm->after_count) &&
           check_steps(loader, node, "finally", arm->finally, arm->finally_count) &&
           check_steps(loader, node, "teardown", arm->teardown, arm->teardown_count) &&
           check_recording(loader, node, arm) && check_programs(loader, node, arm);
}

static bool check_primary(struct loader *loader, yaml_node_t *node,
                          const struct cost_metric *metric)
{
    if (metric->kind != COST_LEVEL) {
        return refuse(loader, value_of(loader, node, "kind"),
                      "metric '%s' cannot be primary: an extreme or a loss count gets no word",
                      metric->name);
    }
    yaml_node_t *margin = value_of(loader, node, "margin");
    if (margin == NULL) {
        return refuse(loader, node,
                      "the primary metric '%s' needs 'margin', the largest difference "
                      "that does not matter",
                      metric->name);
    }
    if (!(metric->margin > 0) || isinf(metric->margin)) {
        return refuse(loader, margin, "the margin of '%s' must be above 0", metric->name);
    }
    if (metric->reason == NULL || metric->reason[0] == 0) {
        return refuse(loader, node,
                      "the primary metric '%s' needs 'reason', why its margin is what "
                      "it is",
                      metric->name);
    }
    return true;
}

static bool complete_lab_metric(struct loader *loader, yaml_node_t *name,
                                struct cost_metric *metric)
{
    const char *nearest = lab_metric_names[0];
    for (size_t i = 0; i < LAB_METRICS; i++) {
        if (strcmp(metric->name, lab_metric_names[i]) == 0) {
            if (metric->label == NULL) {
                metric->label = memory_text(lab_metric_labels[i]);
            }
            if (metric->unit == NULL) {
                metric->unit = memory_text(lab_metric_units[i]);
            }
            return true;
        }
        if (text_distance(metric->name, lab_metric_names[i]) <
            text_distance(metric->name, nearest)) {
            nearest = lab_metric_names[i];
        }
    }
    return refuse(loader, name, "the lab measures no '%s'; the nearest is '%s'", metric->name,
                  nearest);
}

static bool check_metric(struct loader *loader, size_t index)
{
    struct cost_metric *metrics = loader->experiment->metrics;
    struct cost_metric *metric = &metrics[index];
    yaml_node_t *node = item_of(loader, value_of(loader, loader->root, "metrics"), index);
    yaml_node_t *name = value_of(loader, node, "name");
    if (metric->name[0] == 0 || strpbrk(metric->name, ",\"\n") != NULL) {
        return refuse(loader, name,
                      "a metric's name must not be empty or hold commas, quotes or "
                      "line breaks");
    }
    for (size_t i = 0; i < index; i++) {
        if (strcmp(metrics[i].name, metric->name) == 0) {
            return refuse(loader, name, "there are two metrics '%s'", metric->name);
        }
    }
    if (strncmp(metric->name, "lab.", 4) == 0) {
        if (!complete_lab_metric(loader, name, metric)) {
            return false;
        }
        if (loader->experiment->target != NULL &&
            strcmp(metric->name, lab_metric_names[LAB_WALL_S]) != 0) {
            return refuse(loader, name,
                          "'%s' is of this machine, and the program runs on the 'target'",
                          metric->name);
        }
    }
    if (metric->label == NULL) {
        metric->label = memory_text(metric->name);
    }
    if (metric->unit == NULL) {
        return refuse(loader, node, "metric '%s' needs 'unit'", metric->name);
    }
    if (!(metric->resolution >= 0) || isinf(metric->resolution)) {
        return refuse(loader, value_of(loader, node, "resolution"),
                      "the resolution of '%s' must be 0 or more", metric->name);
    }
    if ((metric->kind == COST_LOSS) != (metric->of != NULL)) {
        return refuse(loader, node, "metric '%s': 'kind: loss' and 'of' go together", metric->name);
    }
    return !metric->primary || check_primary(loader, node, metric);
}

static bool check_metrics(struct loader *loader)
{
    struct cost_experiment *experiment = loader->experiment;
    yaml_node_t *list = value_of(loader, loader->root, "metrics");
    unsigned primary = 0;
    for (size_t i = 0; i < experiment->metrics_count; i++) {
        if (!check_metric(loader, i)) {
            return false;
        }
        primary += experiment->metrics[i].primary;
        if (primary > PRIMARY_MAXIMUM) {
            return refuse(loader, item_of(loader, list, i),
                          "at most three metrics may be primary; '%s' is the fourth",
                          experiment->metrics[i].name);
        }
    }
    if (primary == 0) {
        return refuse(loader, list, "no metric is primary; name one to three before the run");
    }
    for (size_t i = 0; i < experiment->metrics_count; i++) {
        const struct cost_metric *metric = &experiment->metrics[i];
        if (metric->of != NULL &&
            cost_metric_find(experiment, metric->of) == experiment->metrics_count) {
            return refuse(loader, value_of(loader, item_of(loader, list, i), "of"),
                          "there is no metric '%s'", metric->of);
        }
    }
    return true;
}

static bool check_comparison(struct loader *loader, size_t index)
{
    const struct cost_experiment *experiment = loader->experiment;
    const struct cost_pair *pair = &experiment->comparisons[index];
    yaml_node_t *node = item_of(loader, value_of(loader, loader->root, "comparisons"), index);
    const char *const names[] = {pair->arm, pair->against};
    const char *const keys[] = {"arm", "against"};
    for (size_t side = 0; side < 2; side++) {
        const struct cost_arm *found = NULL;
        for (size_t i = 0; i < experiment->arms_count; i++) {
            if (strcmp(experiment->arms[i].name, names[side]) == 0) {
                found = &experiment->arms[i];
            }
        }
        if (found == NULL) {
            return refuse(loader, value_of(loader, node, keys[side]), "there is no arm '%s'",
                          names[side]);
        }
        if (found->role == COST_BASELINE) {
            return refuse(loader, value_of(loader, node, keys[side]),
                          "every arm is compared with the baseline '%s' anyway", names[side]);
        }
    }
    if (strcmp(pair->arm, pair->against) == 0) {
        return refuse(loader, node, "arm '%s' cannot be compared with itself", pair->arm);
    }
    return true;
}

static bool check_load_selection(struct loader *loader)
{
    const struct cost_load_selection *selection = loader->experiment->load_selection;
    yaml_node_t *node = value_of(loader, loader->root, "load_selection");
    yaml_node_t *list = value_of(loader, node, "rows");
    for (unsigned i = 0; selection != NULL && i < selection->rows_count; i++) {
        const struct cost_step *row = &selection->rows[i];
        yaml_node_t *item = item_of(loader, list, i);
        if (!check_words(loader, item, "run", row->run, row->run_count) ||
            !check_program(loader, value_of(loader, item, "run"), row->run, row->run_count)) {
            return false;
        }
    }
    return true;
}

static bool check_whole(struct loader *loader)
{
    struct cost_experiment *experiment = loader->experiment;
    yaml_node_t *blocks = value_of(loader, loader->root, "blocks");
    if (blocks == NULL) {
        experiment->blocks = 8;
    }
    if (experiment->blocks < 1 || experiment->blocks > BLOCKS_MAXIMUM) {
        return refuse(loader, blocks, "blocks must be 1 to %d", BLOCKS_MAXIMUM);
    }
    yaml_node_t *timeout = value_of(loader, loader->root, "timeout_s");
    if (timeout == NULL) {
        experiment->timeout_s = 60;
    }
    if (!(experiment->timeout_s > 0 && experiment->timeout_s <= 86400)) {
        return refuse(loader, timeout, "timeout_s must be above 0 and at most 86400");
    }
    if (value_of(loader, loader->root, "repeats") == NULL) {
        experiment->repeats = 4;
    }
    if (value_of(loader, loader->root, "seed") == NULL) {
        experiment->seed = 1;
    }
    yaml_node_t *arms = value_of(loader, loader->root, "arms");
    bool baseline = false;
    for (size_t i = 0; i < experiment->arms_count; i++) {
        if (!check_arm(loader, i)) {
            return false;
        }
        baseline = baseline || experiment->arms[i].role == COST_BASELINE;
    }
    if (!baseline) {
        return refuse(loader, arms, "no arm has 'role: baseline'");
    }
    for (size_t i = 0; i < experiment->comparisons_count; i++) {
        if (!check_comparison(loader, i)) {
            return false;
        }
    }
    return check_load_selection(loader) && check_metrics(loader);
}

static void add_lab_metrics(struct cost_experiment *experiment)
{
    for (size_t i = 0; i < LAB_METRICS; i++) {
        /* Of a program that runs on a target, this machine sees the emulator or the link. */
        if (experiment->target != NULL ||
            cost_metric_find(experiment, lab_metric_names[i]) < experiment->metrics_count) {
            continue;
        }
        experiment->metrics = memory_resize(experiment->metrics, experiment->metrics_count + 1,
                                            sizeof *experiment->metrics);
        experiment->metrics[experiment->metrics_count++] =
            (struct cost_metric){.name = memory_text(lab_metric_names[i]),
                                 .label = memory_text(lab_metric_labels[i]),
                                 .unit = memory_text(lab_metric_units[i])};
    }
}

char *cost_arm_misses(const struct cost_arm *arm, const struct cost_places *places)
{
    for (unsigned i = 0; i < arm->requires_count; i++) {
        char *word = cost_expand(places, arm->requires[i]);
        if (!cost_requirement_met(word)) {
            return word;
        }
        free(word);
    }
    return NULL;
}

struct cost_experiment *cost_experiment_load(const char *path, const struct cost_places *places,
                                             struct error *error)
{
    struct loader loader = {.path = path, .places = places, .error = error};
    struct buffer text = {0};
    if (!file_read(path, &text, error)) {
        return NULL;
    }
    bool good =
        parse_document(&loader, &text) && apply_schema(&loader, &text) && check_whole(&loader);
    if (loader.parsed) {
        yaml_document_delete(&loader.document);
    }
    buffer_free(&text);
    if (!good) {
        cost_experiment_free(loader.experiment);
        return NULL;
    }
    add_lab_metrics(loader.experiment);
    return loader.experiment;
}
