/* `tare cost run`: reads the question, makes the runs, writes data and reports. */
#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base_buffer.h"
#include "cmd_cost.h"
#include "cmd_cost_excerpt.h"
#include "cmd_cost_experiment.h"
#include "cmd_cost_files.h"
#include "cmd_cost_host.h"
#include "cmd_cost_lab.h"
#include "rep_cost.h"
#include "rep_svg.h"

static volatile sig_atomic_t interrupted;

static void note_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

static void catch_interrupts(void)
{
    struct sigaction action = {.sa_handler = note_interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* cost-NAME-TIME, from the experiment's file name. */
static char *default_folder(const char *experiment)
{
    char *copy = memory_text(experiment);
    char *name = basename(copy);
    char *dot = strrchr(name, '.');
    if (dot != NULL && dot != name) {
        *dot = 0;
    }
    char when[40];
    time_t now = time(NULL);
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(when, sizeof when, "%Y%m%d-%H%M%S", &parts);
    struct buffer out = {0};
    buffer_printf(&out, "cost-%s-%s", name, when);
    free(copy);
    return out.data;
}

static bool save_runs(struct lab *lab, struct error *error)
{
    return cost_runs_write(lab->places->out, &lab->data, error);
}

static bool write_plot(const struct lab *lab, const char *name, struct buffer *picture,
                       struct error *error)
{
    struct buffer path = {0};
    buffer_printf(&path, "plots/%s", name);
    bool good = cost_file_write(lab->places->out, path.data, picture, error);
    buffer_free(&path);
    buffer_clear(picture);
    return good;
}

static bool write_plots(const struct lab *lab, const struct cost_page *page, struct error *error)
{
    static void (*const draw[])(const struct cost_page *, size_t, bool, struct buffer *) = {
        cost_plot_runs, cost_plot_differences, cost_plot_order};
    static const char *const kinds[] = {"runs", "differences", "order"};
    struct buffer picture = {0};
    struct buffer name = {0};
    bool good = true;
    for (size_t metric = 0; metric < lab->experiment->metrics_count && good; metric++) {
        for (size_t kind = 0; kind < 3 && good && lab->experiment->metrics[metric].primary;
             kind++) {
            buffer_clear(&name);
            cost_plot_name(page, metric, kinds[kind], &name);
            draw[kind](page, metric, true, &picture);
            good = write_plot(lab, name.data, &picture, error);
        }
    }
    if (good && lab->experiment->target == NULL) {
        cost_plot_order(page, lab->experiment->metrics_count, true, &picture);
        good = write_plot(lab, "sentinel-order.svg", &picture, error);
    }
    if (good && page->excerpt != NULL) {
        timeline_svg(&picture, "excerpt", page->excerpt, page->excerpt_note, true);
        good = write_plot(lab, "excerpt.svg", &picture, error);
    }
    buffer_free(&picture);
    buffer_free(&name);
    return good;
}

static bool write_reports(const struct lab *lab, const struct cost_page *page, bool json,
                          struct error *error)
{
    static const struct {
        const char *name;
        void (*write)(const struct cost_page *, struct buffer *);
    } reports[] = {
        {"analysis.json", cost_json}, {"report.md", cost_markdown}, {"report.html", cost_html}};
    struct buffer out = {0};
    bool good = write_plots(lab, page, error);
    for (size_t i = 0; i < sizeof reports / sizeof *reports && good; i++) {
        buffer_clear(&out);
        reports[i].write(page, &out);
        good = cost_file_write(lab->places->out, reports[i].name, &out, error);
        if (good && i == 0 && json) {
            fwrite(out.data, 1, out.size, stdout);
        }
    }
    buffer_free(&out);
    return good;
}

/* Analyses what there is and writes it; also for an experiment that ended early. */
static bool report(const struct lab *lab, const struct cost_run_options *options,
                   const char *folder, const char *command, struct error *error)
{
    struct cost_analysis analysis = cost_analyse(&lab->data);
    struct cost_excerpt excerpt = {0};
    cost_excerpt_take(&excerpt, &lab->data, lab->places->out);
    struct cost_page page = {.analysis = &analysis,
                             .excerpt = excerpt.found ? &excerpt.timeline : NULL,
                             .excerpt_note = excerpt.note,
                             .command = command};
    bool good = write_reports(lab, &page, options->json, error);
    if (good && !options->json) {
        struct buffer out = {0};
        cost_text(&page, &out);
        buffer_printf(&out,
                      "\nReport: %s/report.html\nData:   %s/runs.csv, analysis.json, "
                      "manifest.json, recordings/\n",
                      folder, folder);
        fwrite(out.data, 1, out.size, stdout);
        buffer_free(&out);
    }
    cost_excerpt_free(&excerpt);
    cost_analysis_free(&analysis);
    return good;
}

static bool run_lab(struct lab *lab, const struct cost_run_options *options, const char *folder,
                    struct error *error)
{
    struct buffer command = {0};
    buffer_printf(&command, "tare cost run %s --seed %llu --blocks %u", options->experiment,
                  (unsigned long long)lab->data.seed, lab->experiment->blocks);
    bool good = lab_prepare(lab, error) && cost_folder_make(folder, &lab->places->out, error);
    if (good) {
        catch_interrupts();
        lab_set_up(lab, options->quiet);
        good = cost_manifest_write(lab->places->out, &lab->data, lab->active, lab->active_count,
                                   lab->order, command.data, error) &&
               lab_run(lab, options->quiet, error) &&
               report(lab, options, folder, command.data, error);
    }
    buffer_free(&command);
    if (good && lab->data.stopped != NULL) {
        error_set(error, EXIT_CANNOT_TELL,
                  "%s; the %zu complete blocks and every run so far are in %s", lab->data.stopped,
                  lab->data.blocks_done, folder);
        good = false;
    }
    return good;
}

int cost_run(const struct cost_run_options *options)
{
    struct error error = {0};
    struct cost_places places = {0};
    struct cost_experiment *experiment = NULL;
    if (cost_places_find(&places, options->experiment, options->build, &error)) {
        experiment = cost_experiment_load(options->experiment, &places, &error);
    }
    if (experiment != NULL) {
        if (options->blocks > 0) {
            experiment->blocks = (unsigned)options->blocks;
        }
        struct lab lab = {.experiment = experiment,
                          .places = &places,
                          .data = {.experiment = experiment,
                                   .seed = options->seed > 0 ? options->seed : experiment->seed},
                          .interrupted = &interrupted,
                          .save = save_runs};
        lab.data.host = host_facts(&lab.data.host_count);
        char *folder =
            options->out != NULL ? memory_text(options->out) : default_folder(options->experiment);
        run_lab(&lab, options, folder, &error);
        free(folder);
        lab_free(&lab);
        cost_facts_free((struct cost_fact *)lab.data.host, lab.data.host_count);
        cost_experiment_free(experiment);
    }
    cost_places_free(&places);
    return error.code == EXIT_DONE ? EXIT_DONE : error_report(&error);
}
