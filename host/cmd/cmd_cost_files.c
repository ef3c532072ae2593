#include "cmd_cost_files.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base_json.h"

static bool make_folder(const char *path, struct error *error)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        error_set(error, EXIT_USAGE, "%s: cannot create the folder: %s", path, strerror(errno));
        return false;
    }
    return true;
}

bool cost_folder_make(const char *path, char **out, struct error *error)
{
    static const char *const parts[] = {"logs", "plots", "recordings"};
    if (!make_folder(path, error)) {
        return false;
    }
    DIR *folder = opendir(path);
    if (folder == NULL) {
        error_set(error, EXIT_USAGE, "%s: %s", path, strerror(errno));
        return false;
    }
    struct dirent *entry;
    bool empty = true;
    while ((entry = readdir(folder)) != NULL) {
        empty = empty && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0);
    }
    closedir(folder);
    if (!empty) {
        error_set(error, EXIT_USAGE,
                  "%s: the output folder is not empty; results are never overwritten, give another "
                  "with -o",
                  path);
        return false;
    }
    *out = realpath(path, NULL);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct buffer part = {0};
        buffer_printf(&part, "%s/%s", path, parts[i]);
        bool made = make_folder(part.data, error);
        buffer_free(&part);
        if (!made) {
            return false;
        }
    }
    return *out != NULL;
}

bool cost_file_write(const char *folder, const char *name, const struct buffer *bytes,
                     struct error *error)
{
    struct buffer path = {0};
    buffer_printf(&path, "%s/%s", folder, name);
    bool good = file_write(path.data, bytes->data, bytes->size, error);
    buffer_free(&path);
    return good;
}

/* ------------------------------------------------------------------ runs.csv */

static void put_cell(struct buffer *out, const char *text)
{
    buffer_text(out, ",\"");
    for (; text != NULL && *text != 0; text++) {
        buffer_append(out, *text == '\n' ? " " : text, 1);
        if (*text == '"') {
            buffer_text(out, "\"");
        }
    }
    buffer_text(out, "\"");
}

/* The same digits as in the JSON files; nothing for what was not measured. */
static void put_value(struct buffer *out, double value)
{
    buffer_text(out, ",");
    if (isfinite(value)) {
        struct json json = json_begin(out, 0);
        json_put_number(&json, NULL, value);
    }
}

static void put_time(struct buffer *out, double unix_s)
{
    char text[40];
    time_t seconds = (time_t)unix_s;
    struct tm parts;
    gmtime_r(&seconds, &parts);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    put_cell(out, text);
}

bool cost_runs_write(const char *folder, const struct cost_data *data, struct error *error)
{
    const struct cost_experiment *experiment = data->experiment;
    struct buffer out = {0};
    buffer_text(&out, "run,block,attempt,position,arm,started_utc,started_seconds");
    for (size_t k = 0; k < experiment->metrics_count; k++) {
        buffer_printf(&out, ",%s", experiment->metrics[k].name);
    }
    buffer_text(&out,
                ",sentinel_before_ns,sentinel_after_ns,load_average,trace_checked,trace_healthy,"
                "trace_stored_events,trace_lost_events,recording,recording_bytes,"
                "trace_problem,voided,void_reason\n");
    for (size_t i = 0; i < data->run_count; i++) {
        const struct cost_run *run = &data->runs[i];
        buffer_printf(&out, "%zu,%zu,%zu,%zu,%s", i + 1, run->block + 1, run->attempt + 1,
                      run->position + 1, experiment->arms[run->arm].name);
        put_time(&out, run->started_unix_s);
        put_value(&out, run->started_s);
        for (size_t k = 0; k < experiment->metrics_count; k++) {
            put_value(&out, run->values[k]);
        }
        put_value(&out, run->sentinel_before_ns);
        put_value(&out, run->sentinel_after_ns);
        put_value(&out, run->load_average);
        buffer_printf(&out, ",%d,%d", run->trace.checked, run->trace.checked && run->trace.healthy);
        put_value(&out, run->trace.stored);
        put_value(&out, run->trace.lost);
        put_cell(&out, run->trace.path);
        put_value(&out, run->trace.bytes);
        put_cell(&out, run->trace.problem);
        buffer_printf(&out, ",%d", run->voided);
        put_cell(&out, run->reason);
        buffer_text(&out, "\n");
    }
    bool good = cost_file_write(folder, "runs.csv", &out, error);
    buffer_free(&out);
    return good;
}

/* ------------------------------------------------------------------ manifest.json */

static void put_words(struct json *json, const char *key, char *const *words, size_t count)
{
    json_put_array(json, key);
    for (size_t i = 0; i < count; i++) {
        json_put_text(json, NULL, words[i]);
    }
    json_end_array(json);
}

static void put_steps(struct json *json, const char *key, const struct cost_step *steps,
                      size_t count)
{
    json_put_array(json, key);
    for (size_t i = 0; i < count; i++) {
        put_words(json, NULL, steps[i].run, steps[i].run_count);
    }
    json_end_array(json);
}

static void put_arm(struct json *json, const struct cost_arm *arm,
                    const struct cost_arm_facts *facts)
{
    json_put_object(json, NULL);
    json_put_text(json, "name", arm->name);
    json_put_text(json, "role", cost_role_text(arm->role));
    json_put_text(json, "not_run_here", facts->not_run);
    put_words(json, "requires", arm->requires, arm->requires_count);
    put_words(json, "environment", arm->environment, arm->environment_count);
    put_steps(json, "setup", arm->setup, arm->setup_count);
    put_steps(json, "before", arm->before, arm->before_count);
    put_words(json, "command", arm->command, arm->command_count);
    put_steps(json, "after", arm->after, arm->after_count);
    put_steps(json, "finally", arm->finally, arm->finally_count);
    put_steps(json, "teardown", arm->teardown, arm->teardown_count);
    put_words(json, "collector_processes", arm->collector_processes,
              arm->collector_processes_count);
    json_put_array(json, "images");
    for (size_t i = 0; i < facts->image_count; i++) {
        json_put_object(json, NULL);
        json_put_text(json, "path", facts->images[i].path);
        json_put_text(json, "hash", facts->images[i].hash);
        json_put_number(json, "file_bytes", facts->images[i].bytes);
        json_end_object(json);
    }
    json_end_array(json);
    json_put_object(json, "settings");
    for (unsigned i = 0; i < arm->settings_count; i++) {
        json_put_text(json, arm->settings[i].name, arm->settings[i].value);
    }
    json_end_object(json);
    json_end_object(json);
}

bool cost_manifest_write(const char *folder, const struct cost_data *data, const size_t *active,
                         size_t active_count, const size_t *order, const char *command,
                         struct error *error)
{
    const struct cost_experiment *experiment = data->experiment;
    struct buffer out = {0};
    struct json json = json_begin(&out, 2);
    json_put_object(&json, NULL);
    json_put_text(&json, "schema", "tare-cost-manifest");
    json_put_unsigned(&json, "schema_version", 1);
    json_put_text(&json, "tare_version", TARE_VERSION);
    json_put_text(&json, "command", command);
    json_put_text(&json, "title", experiment->title);
    json_put_text(&json, "question", experiment->question);
    json_put_text(&json, "target", experiment->target);
    json_put_text(&json, "differs_between_blocks", experiment->spread);
    if (experiment->load_selection != NULL) {
        put_steps(&json, "load_selection", experiment->load_selection->rows,
                  experiment->load_selection->rows_count);
    }
    json_put_unsigned(&json, "blocks", experiment->blocks);
    json_put_unsigned(&json, "seed", data->seed);
    json_put_unsigned(&json, "voided_blocks_allowed", experiment->repeats);
    json_put_number(&json, "timeout_seconds", experiment->timeout_s);
    json_put_array(&json, "order");
    for (size_t block = 0; block < experiment->blocks; block++) {
        json_put_array(&json, NULL);
        for (size_t position = 0; position < active_count; position++) {
            size_t arm = active[order[block * active_count + position]];
            json_put_text(&json, NULL, experiment->arms[arm].name);
        }
        json_end_array(&json);
    }
    json_end_array(&json);
    json_put_array(&json, "columns");
    for (size_t i = 0; i < experiment->metrics_count; i++) {
        const struct cost_metric *metric = &experiment->metrics[i];
        json_put_object(&json, NULL);
        json_put_text(&json, "name", metric->name);
        json_put_text(&json, "label", metric->label);
        json_put_text(&json, "unit", metric->unit);
        json_put_bool(&json, "primary", metric->primary);
        json_put_number(&json, "margin", metric->primary ? metric->margin : NAN);
        json_put_text(&json, "margin_reason", metric->reason);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_put_array(&json, "arms");
    for (size_t i = 0; i < experiment->arms_count; i++) {
        put_arm(&json, &experiment->arms[i], &data->arms[i]);
    }
    json_end_array(&json);
    json_put_object(&json, "host");
    for (size_t i = 0; i < data->host_count; i++) {
        json_put_text(&json, data->host[i].name, data->host[i].value);
    }
    json_end_object(&json);
    json_end_object(&json);
    buffer_text(&out, "\n");
    bool good = cost_file_write(folder, "manifest.json", &out, error);
    buffer_free(&out);
    return good;
}
