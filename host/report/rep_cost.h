/* The reports of a cost experiment. All of them are written from the same struct cost_page, and
 * analysis.json holds every number that any of them shows. */
#ifndef REP_COST_H
#define REP_COST_H

#include "ana_cost.h"
#include "rep_timeline_svg.h"

struct cost_page {
    const struct cost_analysis *analysis;
    const struct timeline *excerpt; /* NULL: none */
    const char *excerpt_note;       /* from which recording, or why there is none */
    const char *command;            /* that repeats the experiment */
};

/* analysis.json: schema version 1; every derived figure names its formula (cost/METHOD.md). */
void cost_json(const struct cost_page *page, struct buffer *out);
/* A page that needs no script and no network. */
void cost_html(const struct cost_page *page, struct buffer *out);
/* For a repository; refers to the pictures in plots/. */
void cost_markdown(const struct cost_page *page, struct buffer *out);
/* For the terminal: answer, table, trace health. */
void cost_text(const struct cost_page *page, struct buffer *out);

/* ------------------------------------------------------------------ pictures */

/* Every run of the metric by arm, the runs of a block joined. */
void cost_plot_runs(const struct cost_page *page, size_t metric, bool standalone,
                    struct buffer *out);
/* The differences of each comparison with interval and margin. */
void cost_plot_differences(const struct cost_page *page, size_t metric, bool standalone,
                           struct buffer *out);
/* The metric over the order of the runs; metrics_count stands for the sentinel. */
void cost_plot_order(const struct cost_page *page, size_t metric, bool standalone,
                     struct buffer *out);

/* File names of the pictures in plots/, without folder: "cpu_busy_percent-runs.svg". */
void cost_plot_name(const struct cost_page *page, size_t metric, const char *kind,
                    struct buffer *out);

/* Number of an arm's colour and shape: 0 baseline, 1 A/A, then the others. */
int cost_series(const struct cost_analysis *analysis, size_t arm);

#endif
