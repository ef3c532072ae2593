/* Before the first run: set-up steps, what the images hold, load selection. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_cost_health.h"
#include "cmd_cost_host.h"
#include "cmd_cost_lab.h"
#include "cmd_cost_process.h"

static const uint64_t progress_per_step = 1000;

/* Arms may take long the first time and no time the next: only the elapsed time is certain. */
static void show_set_up(void *context, double elapsed_s)
{
    struct lab *lab = context;
    (void)elapsed_s;
    progress_note(&lab->progress, 0, lab->note);
}

static void show_load(void *context, double elapsed_s)
{
    struct lab *lab = context;
    double done = (double)lab->data.load_row_count;
    double typical = done > 0 ? lab->load_s_total / done : 2 * elapsed_s;
    double share = typical > 0 ? elapsed_s / typical : 0;
    progress_note(&lab->progress,
                  (uint64_t)((done + (share < 0.95 ? share : 0.95)) * (double)progress_per_step),
                  lab->note);
}

static void take_images(struct lab *lab, size_t arm)
{
    const struct cost_arm *asked = &lab->experiment->arms[arm];
    struct cost_arm_facts *facts = &lab->data.arms[arm];
    facts->images = memory_new(asked->images_count + 1, sizeof *facts->images);
    for (unsigned k = 0; k < asked->images_count; k++) {
        char *path = cost_expand(lab->places, asked->images[k]);
        facts->images[facts->image_count++] = host_image(asked->images[k], path);
        free(path);
    }
}

static void set_up_arms(struct lab *lab)
{
    while (lab->begun < lab->active_count && lab->data.stopped == NULL) {
        size_t number = lab->active[lab->begun++];
        const struct cost_arm *arm = &lab->experiment->arms[number];
        struct buffer reason = {0};
        snprintf(lab->note, sizeof lab->note, "arm %s", arm->name);
        if (!lab_set_up_arm(lab, arm, &reason)) {
            struct buffer text = {0};
            buffer_printf(&text, "arm '%s': %s", arm->name, reason.data);
            lab_stop(lab, "set-up failed: ", text.data);
            buffer_free(&text);
        }
        buffer_free(&reason);
        take_images(lab, number);
    }
}

static bool take_cells(const struct cost_load_selection *selection, const struct buffer *out,
                       struct cost_load_row *row, struct buffer *reason)
{
    json_t *json = health_json(out);
    bool good = json_is_object(json);
    if (good) {
        row->cells = memory_new(selection->columns_count, sizeof *row->cells);
        for (unsigned i = 0; i < selection->columns_count; i++) {
            row->cells[i] = health_text(health_find(json, selection->columns[i].value));
        }
    } else {
        buffer_text(reason, "printed no JSON object");
    }
    json_decref(json);
    return good;
}

static void make_row(struct lab *lab, size_t number)
{
    const struct cost_load_selection *selection = lab->experiment->load_selection;
    const struct cost_step *step = &selection->rows[number];
    char name[40];
    char log[60];
    snprintf(name, sizeof name, "load%02zu", number + 1);
    snprintf(lab->note, sizeof lab->note, "load %zu of %u", number + 1, selection->rows_count);
    lab->places->run = name;
    char **argv = cost_expand_argv(lab->places, step->run, step->run_count);
    struct process_request request = {.argv = argv,
                                      .timeout_s = lab->experiment->timeout_s,
                                      .interrupted = lab->interrupted,
                                      .tick = show_load,
                                      .context = lab,
                                      .sweep = true};
    struct process_result result;
    struct buffer reason = {0};
    struct cost_load_row row = {0};
    process_run(&request, &result);
    if (!process_succeeded(&result, &reason) ||
        !take_cells(selection, &result.out, &row, &reason)) {
        row.problem = reason.data;
        reason = (struct buffer){0};
        warn("load selection, row %zu: %s", number + 1, row.problem);
    }
    snprintf(log, sizeof log, "%s.out", name);
    lab_keep_output(lab, log, &result.out);
    snprintf(log, sizeof log, "%s.err", name);
    lab_keep_output(lab, log, &result.err);
    lab->data.load_rows[lab->data.load_row_count++] = row;
    lab->load_s_total += result.wall_s;
    lab->places->run = NULL;
    buffer_free(&reason);
    process_result_free(&result);
    cost_argv_free(argv);
}

static void select_load(struct lab *lab)
{
    const struct cost_load_selection *selection = lab->experiment->load_selection;
    lab->data.load_rows = memory_new(selection->rows_count, sizeof *lab->data.load_rows);
    for (size_t i = 0; i < selection->rows_count && lab->data.stopped == NULL; i++) {
        make_row(lab, i);
        if (*lab->interrupted) {
            lab_stop(lab, "interrupted", " before the first run");
        }
    }
}

void lab_set_up(struct lab *lab, bool quiet)
{
    lab->setup_tick = show_set_up;
    lab->progress = progress_begin("preparing", 0, quiet);
    set_up_arms(lab);
    progress_end(&lab->progress);
    if (lab->experiment->load_selection != NULL && lab->data.stopped == NULL) {
        lab->progress =
            progress_begin("load selection",
                           lab->experiment->load_selection->rows_count * progress_per_step, quiet);
        select_load(lab);
        progress_end(&lab->progress);
    }
}
