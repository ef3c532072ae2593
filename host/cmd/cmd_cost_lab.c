#include "cmd_cost_lab.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ana_order.h"
#include "cmd_cost_experiment.h"
#include "cmd_cost_health.h"
#include "cmd_cost_host.h"
#include "cmd_cost_process.h"

static const double step_timeout_s = 60;
static const double setup_timeout_s = 900; /* programs may be built */
static const uint64_t progress_per_run = 1000;

/* ------------------------------------------------------------------ before the first run */

bool lab_prepare(struct lab *lab, struct error *error)
{
    const struct cost_experiment *experiment = lab->experiment;
    lab->data.arms = memory_new(experiment->arms_count, sizeof *lab->data.arms);
    lab->active = memory_new(experiment->arms_count, sizeof *lab->active);
    for (size_t i = 0; i < experiment->arms_count; i++) {
        const struct cost_arm *arm = &experiment->arms[i];
        struct cost_arm_facts *facts = &lab->data.arms[i];
        struct buffer text = {0};
        for (unsigned k = 0; k < arm->command_count; k++) {
            buffer_printf(&text, "%s%s", k > 0 ? " " : "", arm->command[k]);
        }
        facts->command = text.data;
        char *missing = cost_arm_misses(arm, lab->places);
        if (missing != NULL) {
            text = (struct buffer){0};
            buffer_printf(&text, "'%s' is not there", missing);
            facts->not_run = text.data;
            free(missing);
            continue;
        }
        lab->active[lab->active_count++] = i;
    }
    if (lab->active_count < 2) {
        error_set(error, EXIT_CANNOT_TELL,
                  "only one arm can run here; install what the others require");
        return false;
    }
    lab->order = memory_new(lab->active_count * experiment->blocks, sizeof *lab->order);
    order_draw(lab->data.seed, lab->active_count, experiment->blocks, lab->order);
    return true;
}

/* ------------------------------------------------------------------ steps */

void lab_keep_output(const struct lab *lab, const char *name, const struct buffer *bytes)
{
    if (bytes->size == 0) {
        return;
    }
    struct buffer path = {0};
    struct error ignored = {0};
    buffer_printf(&path, "%s/logs/%s", lab->places->out, name);
    if (!file_write(path.data, bytes->data, bytes->size, &ignored)) {
        warn("%s", ignored.text);
    }
    buffer_free(&path);
}

/* The last line of what a failed program said, which tells the most. */
static void add_last_line(struct buffer *reason, const struct buffer *err)
{
    size_t end = err->size;
    while (end > 0 && (err->data[end - 1] == '\n' || err->data[end - 1] == ' ')) {
        end--;
    }
    size_t start = end;
    while (start > 0 && err->data[start - 1] != '\n' && end - start < 300) {
        start--;
    }
    if (end > start) {
        buffer_text(reason, "; it said: ");
        buffer_append(reason, err->data + start, end - start);
    }
}

/* Runs a list of steps; the first that fails ends it, unless `all`, which runs the rest anyway. */
static bool run_steps(struct lab *lab, const struct cost_arm *arm, const char *kind,
                      const struct cost_step *steps, unsigned count, bool all,
                      struct buffer *reason)
{
    bool setup = strcmp(kind, "setup") == 0;
    bool good = true;
    char *const *environment =
        cost_expand_argv(lab->places, arm->environment, arm->environment_count);
    for (unsigned i = 0; i < count && (good || all); i++) {
        char **argv = cost_expand_argv(lab->places, steps[i].run, steps[i].run_count);
        struct process_request request = {.argv = argv,
                                          .environment = environment,
                                          .environment_count = arm->environment_count,
                                          .timeout_s = setup ? setup_timeout_s : step_timeout_s,
                                          .tick = setup ? lab->setup_tick : NULL,
                                          .context = lab,
                                          .interrupted = all ? NULL : lab->interrupted};
        struct process_result result;
        struct buffer problem = {0};
        process_run(&request, &result);
        if (!process_succeeded(&result, &problem) && good) {
            good = false;
            buffer_printf(reason, "step %u of '%s' (%s): %s", i + 1, kind, steps[i].run[0],
                          problem.data);
            add_last_line(reason, &result.err);
            char name[200];
            snprintf(name, sizeof name, "%s.%s%u.err",
                     lab->places->run != NULL ? lab->places->run : arm->name, kind, i + 1);
            lab_keep_output(lab, name, &result.err);
        }
        buffer_free(&problem);
        process_result_free(&result);
        cost_argv_free(argv);
    }
    cost_argv_free((char **)environment);
    return good;
}

/* ------------------------------------------------------------------ one run */

bool lab_set_up_arm(struct lab *lab, const struct cost_arm *arm, struct buffer *reason)
{
    return run_steps(lab, arm, "setup", arm->setup, arm->setup_count, false, reason);
}

static void show_progress(void *context, double elapsed_s)
{
    struct lab *lab = context;
    uint64_t done = lab->data.run_count * progress_per_run;
    double typical =
        lab->data.run_count > 0 ? lab->run_s_total / (double)lab->data.run_count : 2 * elapsed_s;
    double share = typical > 0 ? elapsed_s / typical : 0;
    done += (uint64_t)((share < 0.95 ? share : 0.95) * (double)progress_per_run);
    progress_note(&lab->progress, done < lab->progress.total ? done : lab->progress.total - 1,
                  lab->note);
}

/* What the program says about itself: compiler, options, ... */
static void take_reported(struct cost_arm_facts *facts, json_t *json)
{
    const char *key;
    json_t *value;
    if (facts->reported != NULL) {
        return;
    }
    facts->reported = memory_new(json_object_size(json) + 1, sizeof *facts->reported);
    json_object_foreach(json, key, value)
    {
        if (json_is_string(value)) {
            facts->reported[facts->reported_count++] =
                (struct cost_fact){memory_text(key), memory_text(json_string_value(value))};
        }
    }
}

static bool take_values(struct lab *lab, struct cost_run *run, const struct buffer *out,
                        struct buffer *reason)
{
    json_t *json = health_json(out);
    if (!json_is_object(json)) {
        buffer_text(reason, out->size == 0 ? "printed nothing, expected a JSON object of metrics"
                                           : "printed no JSON object");
        json_decref(json);
        return false;
    }
    bool good = true;
    for (size_t i = 0; i < lab->experiment->metrics_count && good; i++) {
        const struct cost_metric *metric = &lab->experiment->metrics[i];
        if (strncmp(metric->name, "lab.", 4) == 0) {
            continue;
        }
        json_t *value = health_find(json, metric->name);
        if (json_is_number(value)) {
            run->values[i] = json_number_value(value);
        } else if (value == NULL || !json_is_null(value) || metric->primary) {
            good = false;
            buffer_printf(reason, "metric '%s' is %s in its output", metric->name,
                          value == NULL ? "not" : "no number");
        }
    }
    if (good) {
        take_reported(&lab->data.arms[run->arm], json);
    }
    json_decref(json);
    return good;
}

static void take_lab_values(struct lab *lab, struct cost_run *run, const struct cost_arm *arm,
                            const struct process_result *result, const struct measured_parts *parts,
                            const struct measured_part *daemons)
{
    double values[LAB_METRICS] = {0};
    values[LAB_WALL_S] = result->wall_s;
    values[LAB_PROCESS_CPU_MS] =
        1e3 * (parts->process.found ? parts->process.cpu_s : result->cpu_s);
    values[LAB_PROCESS_PEAK_MIB] =
        (parts->process.found ? parts->process.peak_bytes : result->peak_bytes) / 1048576;
    /* Without a collector its cost is 0; one that was expected and not found is not known. */
    if (parts->collector.found || daemons->found) {
        values[LAB_COLLECTOR_CPU_MS] = 1e3 * (parts->collector.cpu_s + daemons->cpu_s);
        values[LAB_COLLECTOR_PEAK_MIB] =
            (parts->collector.peak_bytes + daemons->peak_bytes) / 1048576;
    } else if (arm->collector_processes_count > 0) {
        values[LAB_COLLECTOR_CPU_MS] = values[LAB_COLLECTOR_PEAK_MIB] = NAN;
    }
    for (size_t i = 0; i < LAB_METRICS; i++) {
        size_t place = cost_metric_find(lab->experiment, lab_metric_names[i]);
        if (place < lab->experiment->metrics_count) {
            run->values[place] = values[i];
        }
    }
}

static bool run_command(struct lab *lab, struct cost_run *run, const struct cost_arm *arm,
                        struct process_result *result, struct buffer *reason)
{
    char name[200];
    char **argv = cost_expand_argv(lab->places, arm->command, arm->command_count);
    char **environment = cost_expand_argv(lab->places, arm->environment, arm->environment_count);
    struct process_request request = {.argv = argv,
                                      .environment = environment,
                                      .environment_count = arm->environment_count,
                                      .timeout_s = lab->experiment->timeout_s,
                                      .interrupted = lab->interrupted,
                                      .tick = show_progress,
                                      .context = lab,
                                      .sweep = true};
    run->sentinel_before_ns = host_sentinel_ns();
    process_run(&request, result);
    run->sentinel_after_ns = host_sentinel_ns();
    snprintf(name, sizeof name, "%s.out", lab->places->run);
    lab_keep_output(lab, name, &result->out);
    snprintf(name, sizeof name, "%s.err", lab->places->run);
    lab_keep_output(lab, name, &result->err);
    cost_argv_free(argv);
    cost_argv_free(environment);
    return process_succeeded(result, reason) && take_values(lab, run, &result->out, reason);
}

static bool run_measured(struct lab *lab, struct cost_run *run, const struct cost_arm *arm,
                         struct buffer *reason)
{
    struct process_result result = {0};
    char *measured = memory_new(strlen(lab->places->out) + strlen(lab->places->run) + 32, 1);
    sprintf(measured, "%s/logs/%s.measured", lab->places->out, lab->places->run);
    lab->places->measured = measured;
    bool good = run_steps(lab, arm, "before", arm->before, arm->before_count, false, reason);
    struct daemon_times before =
        daemon_times_read(arm->collector_processes, arm->collector_processes_count);
    good = good && run_command(lab, run, arm, &result, reason);
    /* Also after a failure: what `before` began must not reach into the next run. */
    struct buffer ignored = {0};
    struct buffer *tell = good ? reason : &ignored;
    bool ended = run_steps(lab, arm, "after", arm->after, arm->after_count, true, tell);
    struct daemon_times after =
        daemon_times_read(arm->collector_processes, arm->collector_processes_count);
    tell = good && ended ? reason : &ignored;
    ended = run_steps(lab, arm, "finally", arm->finally, arm->finally_count, true, tell) && ended;
    buffer_free(&ignored);
    if (good) {
        struct measured_parts parts = measured_parts_read(measured);
        struct measured_part daemons = daemon_times_between(&before, &after);
        take_lab_values(lab, run, arm, &result, &parts, &daemons);
    }
    free(before.rows);
    free(after.rows);
    free(measured);
    lab->places->measured = NULL;
    process_result_free(&result);
    return good && ended;
}

static struct cost_run *add_run(struct lab *lab, size_t block, size_t attempt, size_t position,
                                size_t arm)
{
    lab->data.runs = memory_resize(lab->data.runs, lab->data.run_count + 1, sizeof *lab->data.runs);
    struct cost_run *run = &lab->data.runs[lab->data.run_count];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *run = (struct cost_run){.block = block,
                             .attempt = attempt,
                             .position = position,
                             .arm = arm,
                             .started_unix_s = (double)now.tv_sec + (double)now.tv_nsec / 1e9,
                             .started_s = (double)(monotonic_ns() - lab->begun_ns) / 1e9,
                             .sentinel_before_ns = NAN,
                             .sentinel_after_ns = NAN,
                             .load_average = host_load_average(),
                             .trace = {.stored = NAN, .lost = NAN, .bytes = NAN}};
    run->values = memory_new(lab->experiment->metrics_count, sizeof *run->values);
    for (size_t i = 0; i < lab->experiment->metrics_count; i++) {
        run->values[i] = NAN;
    }
    return run;
}

/* Makes one run; false when it is broken, then `reason` says how. */
static bool make_run(struct lab *lab, size_t block, size_t attempt, size_t position,
                     struct buffer *reason)
{
    size_t number = lab->active[lab->order[block * lab->active_count + position]];
    const struct cost_arm *arm = &lab->experiment->arms[number];
    char name[120];
    snprintf(name, sizeof name, "block%02zu%s-%s", block + 1, attempt > 0 ? "-repeat" : "",
             arm->name);
    if (attempt > 0) {
        snprintf(name, sizeof name, "block%02zu-repeat%zu-%s", block + 1, attempt, arm->name);
    }
    snprintf(lab->note, sizeof lab->note, "block %zu of %u, arm %s%s", block + 1,
             lab->experiment->blocks, arm->name, attempt > 0 ? " (repeated)" : "");
    char number_text[24];
    snprintf(number_text, sizeof number_text, "%zu", block + 1);
    lab->places->run = name;
    lab->places->block = number_text;
    char *recording =
        arm->recording != NULL ? cost_expand(lab->places, arm->recording->path) : NULL;
    lab->places->recording = recording;

    struct cost_run *run = add_run(lab, block, attempt, position, number);
    show_progress(lab, 0);
    uint64_t begun = monotonic_ns();
    bool good = run_measured(lab, run, arm, reason);
    if (good && recording != NULL) {
        health_check(lab->places, arm, recording, &run->trace);
    }
    if (!good) {
        run->voided = true;
        run->reason = memory_text(reason->data);
    }
    lab->data.run_count++;
    lab->run_s_total += (double)(monotonic_ns() - begun) / 1e9;
    lab->data.wall_s = (double)(monotonic_ns() - lab->begun_ns) / 1e9;
    free(recording);
    lab->places->run = lab->places->block = lab->places->recording = NULL;
    return good;
}

/* ------------------------------------------------------------------ blocks */

/* Voids the runs of a block that broke, except the broken one, which has its own reason. */
static void void_block(struct lab *lab, size_t block, size_t attempt, const char *arm)
{
    for (size_t i = 0; i < lab->data.run_count; i++) {
        struct cost_run *run = &lab->data.runs[i];
        if (run->block == block && run->attempt == attempt && !run->voided) {
            struct buffer text = {0};
            buffer_printf(&text, "the block was voided by its run of '%s'", arm);
            run->voided = true;
            run->reason = text.data;
        }
    }
}

enum block_end {
    BLOCK_COMPLETE,
    BLOCK_BROKEN,
    BLOCK_UNSAVED
};

static enum block_end run_block(struct lab *lab, size_t block, size_t attempt,
                                struct buffer *reason, struct error *error)
{
    for (size_t position = 0; position < lab->active_count; position++) {
        struct buffer problem = {0};
        bool good = make_run(lab, block, attempt, position, &problem);
        if (!good) {
            size_t number = lab->active[lab->order[block * lab->active_count + position]];
            const char *arm = lab->experiment->arms[number].name;
            void_block(lab, block, attempt, arm);
            buffer_printf(reason, "block %zu, arm '%s': %s", block + 1, arm, problem.data);
        }
        buffer_free(&problem);
        if (!lab->save(lab, error)) {
            return BLOCK_UNSAVED;
        }
        if (!good) {
            return BLOCK_BROKEN;
        }
    }
    return BLOCK_COMPLETE;
}

void lab_stop(struct lab *lab, const char *what, const char *detail)
{
    struct buffer text = {0};
    buffer_printf(&text, "%s%s", what, detail);
    lab->data.stopped = text.data;
}

static bool run_blocks(struct lab *lab, struct error *error)
{
    size_t block = 0;
    size_t attempt = 0;
    while (block < lab->experiment->blocks && lab->data.stopped == NULL) {
        struct buffer reason = {0};
        enum block_end end = run_block(lab, block, attempt, &reason, error);
        if (end == BLOCK_UNSAVED) {
            buffer_free(&reason);
            return false;
        }
        if (end == BLOCK_COMPLETE) {
            lab->data.blocks_done++;
            block++;
            attempt = 0;
        } else if (*lab->interrupted) {
            char text[80];
            snprintf(text, sizeof text, "interrupted after %zu of %u blocks", block,
                     lab->experiment->blocks);
            lab_stop(lab, text, "");
        } else {
            lab->data.blocks_voided++;
            attempt++;
            /* The broken block's runs come on top of the planned ones. */
            lab->progress.total =
                (lab->data.run_count + lab->active_count * (lab->experiment->blocks - block)) *
                progress_per_run;
            if (lab->data.blocks_voided > lab->experiment->repeats) {
                lab_stop(lab, "too many broken runs; the last: ", reason.data);
            } else {
                warn("%s; the whole block is repeated", reason.data);
            }
        }
        buffer_free(&reason);
    }
    return true;
}

bool lab_run(struct lab *lab, bool quiet, struct error *error)
{
    lab->begun_ns = monotonic_ns();
    lab->progress = progress_begin(
        "measuring", lab->active_count * lab->experiment->blocks * progress_per_run, quiet);
    bool saved = lab->data.stopped != NULL ? lab->save(lab, error) : run_blocks(lab, error);
    for (size_t i = 0; i < lab->begun; i++) {
        const struct cost_arm *arm = &lab->experiment->arms[lab->active[i]];
        struct buffer reason = {0};
        if (!run_steps(lab, arm, "teardown", arm->teardown, arm->teardown_count, true, &reason)) {
            warn("arm '%s': %s", arm->name, reason.data);
        }
        buffer_free(&reason);
    }
    progress_end(&lab->progress);
    return saved;
}

void lab_free(struct lab *lab)
{
    for (size_t i = 0; i < lab->data.run_count; i++) {
        struct cost_run *run = &lab->data.runs[i];
        free(run->values);
        free(run->reason);
        free(run->trace.problem);
        free(run->trace.path);
        cost_facts_free(run->trace.facts, run->trace.fact_count);
    }
    for (size_t i = 0; i < lab->data.load_row_count; i++) {
        struct cost_load_row *row = &lab->data.load_rows[i];
        for (unsigned k = 0;
             row->cells != NULL && k < lab->experiment->load_selection->columns_count; k++) {
            free(row->cells[k]);
        }
        free(row->cells);
        free(row->problem);
    }
    free(lab->data.load_rows);
    for (size_t i = 0; lab->data.arms != NULL && i < lab->experiment->arms_count; i++) {
        struct cost_arm_facts *facts = &lab->data.arms[i];
        for (size_t k = 0; k < facts->image_count; k++) {
            free(facts->images[k].path);
            free(facts->images[k].hash);
        }
        free(facts->images);
        cost_facts_free(facts->reported, facts->reported_count);
        free(facts->not_run);
        free(facts->command);
    }
    free(lab->data.runs);
    free(lab->data.arms);
    free(lab->data.stopped);
    free(lab->active);
    free(lab->order);
}
