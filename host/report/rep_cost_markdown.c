#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rep_cost.h"

/* Text inside a table or a paragraph: what Markdown would take for its own marks is masked. */
static void plain(struct buffer *out, const char *text)
{
    for (; *text != 0; text++) {
        if (strchr("\\|*_`<>[]#", *text) != NULL) {
            buffer_text(out, "\\");
        }
        buffer_append(out, *text == '\n' ? " " : text, 1);
    }
}

static void put_answer(const struct cost_page *page, struct buffer *out)
{
    const struct cost_analysis *analysis = page->analysis;
    const struct cost_experiment *experiment = analysis->data->experiment;
    buffer_text(out, "# ");
    plain(out, experiment->title);
    buffer_text(out, "\n\n**");
    plain(out, analysis->answer);
    buffer_text(out, "** ");
    plain(out, analysis->not_shown);
    if (analysis->spread_note != NULL) {
        buffer_text(out, " ");
        plain(out, analysis->spread_note);
    }
    buffer_text(out, "\n\n");
    plain(out, experiment->question);
    buffer_text(out, "\n");
    if (analysis->words_withheld) {
        buffer_text(out,
                    "\n> This rig is not fit for verdicts: the same program measured twice got "
                    "a word. All words are withheld.\n");
    }
    for (size_t arm = 0; arm < experiment->arms_count; arm++) {
        if (analysis->data->arms[arm].not_run != NULL) {
            buffer_text(out, "\n> Not run here: ");
            plain(out, experiment->arms[arm].label);
            buffer_text(out, " (");
            plain(out, analysis->data->arms[arm].not_run);
            buffer_text(out, ")\n");
        }
    }
}

static void put_checks(const struct cost_analysis *analysis, struct buffer *out)
{
    static const char *const states[] = {"good", "**not good**", "unknown"};
    buffer_text(out, "\n## Validity\n\n| check | state | |\n|---|---|---|\n");
    for (size_t i = 0; i < analysis->check_count; i++) {
        buffer_printf(out, "| %s | %s | ", analysis->checks[i].name,
                      states[analysis->checks[i].state]);
        plain(out, analysis->checks[i].text);
        buffer_text(out, " |\n");
    }
}

static void put_comparison(const struct cost_analysis *analysis,
                           const struct cost_comparison *comparison, struct buffer *out)
{
    const struct cost_experiment *experiment = analysis->data->experiment;
    const struct cost_metric *metric = &experiment->metrics[comparison->metric];
    size_t metrics = experiment->metrics_count;
    int decimals = cost_decimals(analysis, comparison->metric);
    buffer_text(out, "| ");
    plain(out, metric->label);
    buffer_text(out, " | ");
    plain(out, experiment->arms[comparison->arm].label);
    buffer_text(out, " against ");
    plain(out, experiment->arms[comparison->against].label);
    buffer_text(out, " | ");
    cost_number(out, analysis->summaries[comparison->against * metrics + comparison->metric].mean,
                decimals, false);
    buffer_text(out, " | ");
    cost_number(out, analysis->summaries[comparison->arm * metrics + comparison->metric].mean,
                decimals, false);
    buffer_printf(out, " %s | ", metric->unit);
    if (comparison->blocks >= 2) {
        cost_number(out, comparison->verdict.t.mean, decimals, true);
        buffer_printf(out, " %s | ", cost_difference_unit(metric));
        cost_interval(out, comparison->verdict.t.interval, decimals);
    } else {
        buffer_text(out, "not measured |");
    }
    char *word = cost_word_text(analysis, comparison);
    buffer_text(out, " | ");
    plain(out, word);
    buffer_text(out, " |\n");
    free(word);
}

static void put_costs(const struct cost_analysis *analysis, struct buffer *out)
{
    static const char head[] = "| metric | comparison | other arm | arm | difference | interval | "
                               "word |\n|---|---|--:|--:|--:|---|---|\n";
    buffer_printf(out, "\n## Cost\n\nPrimary metrics: mean of %zu blocks; interval ",
                  analysis->data->blocks_done);
    cost_questions(out, analysis);
    buffer_printf(out, ".\n\n%s", head);
    for (size_t i = 0; i < analysis->comparison_count; i++) {
        if (analysis->comparisons[i].word_asked) {
            put_comparison(analysis, &analysis->comparisons[i], out);
        }
    }
    buffer_text(out, "\nOther metrics: interval ");
    cost_exploratory(out, analysis);
    buffer_printf(out, ", no words.\n\n%s", head);
    for (size_t i = 0; i < analysis->comparison_count; i++) {
        if (!analysis->comparisons[i].word_asked) {
            put_comparison(analysis, &analysis->comparisons[i], out);
        }
    }
}

static void put_pictures(const struct cost_page *page, struct buffer *out)
{
    const struct cost_experiment *experiment = page->analysis->data->experiment;
    for (size_t metric = 0; metric < experiment->metrics_count; metric++) {
        static const char *const kinds[] = {"runs", "differences", "order"};
        if (!experiment->metrics[metric].primary) {
            continue;
        }
        for (size_t kind = 0; kind < 3; kind++) {
            buffer_text(out, kind == 0 ? "\n![" : "![");
            plain(out, experiment->metrics[metric].label);
            buffer_printf(out, ": %s](plots/", kinds[kind]);
            cost_plot_name(page, metric, kinds[kind], out);
            buffer_text(out, ")\n");
        }
    }
    if (experiment->target == NULL) {
        buffer_text(out, "\n![speed of the machine](plots/sentinel-order.svg)\n");
    }
    if (page->excerpt != NULL) {
        buffer_text(out, "\n![excerpt of a recording](plots/excerpt.svg)\n");
    }
}

static void put_health(const struct cost_analysis *analysis, struct buffer *out)
{
    const struct cost_data *data = analysis->data;
    buffer_text(out, "\n## Trace health\n\n");
    bool any = false;
    for (size_t arm = 0; arm < data->experiment->arms_count; arm++) {
        if (analysis->traces[arm].runs > 0) {
            any = true;
            buffer_text(out, "- ");
            plain(out, data->experiment->arms[arm].label);
            buffer_printf(out, ": %zu recordings, ", analysis->traces[arm].runs);
            cost_trace_text(out, &analysis->traces[arm]);
            buffer_text(out, "\n");
        }
    }
    if (!any) {
        buffer_text(out, "No arm left a recording.\n");
    }
}

static void put_load(const struct cost_data *data, struct buffer *out)
{
    const struct cost_load_selection *selection = data->experiment->load_selection;
    if (selection == NULL) {
        return;
    }
    buffer_text(out, "\n## Load selection\n\n");
    plain(out, selection->note != NULL ? selection->note : "");
    buffer_text(out, "\n\n|");
    for (unsigned i = 0; i < selection->columns_count; i++) {
        buffer_text(out, " ");
        plain(out, selection->columns[i].name);
        buffer_text(out, " |");
    }
    buffer_text(out, "\n|");
    for (unsigned i = 0; i < selection->columns_count; i++) {
        buffer_text(out, "--:|");
    }
    for (size_t i = 0; i < data->load_row_count; i++) {
        const struct cost_load_row *row = &data->load_rows[i];
        buffer_text(out, "\n|");
        for (unsigned k = 0; row->cells != NULL && k < selection->columns_count; k++) {
            buffer_text(out, " ");
            plain(out, row->cells[k]);
            buffer_text(out, " |");
        }
        if (row->cells == NULL) {
            buffer_text(out, " not measured: ");
            plain(out, row->problem);
            buffer_text(out, " |");
        }
    }
    buffer_text(out, "\n");
}

static void put_host(const struct cost_page *page, struct buffer *out)
{
    const struct cost_data *data = page->analysis->data;
    buffer_text(out, "\n## Where and how\n\n");
    for (size_t i = 0; i < data->host_count; i++) {
        buffer_printf(out, "- %s: ", data->host[i].name);
        plain(out, data->host[i].value);
        buffer_text(out, "\n");
    }
    buffer_printf(out, "- seed of the order: %llu\n- again: `%s`\n", (unsigned long long)data->seed,
                  page->command);
    buffer_text(out, "\nEvery run is in `runs.csv`, every figure with its formula in "
                     "`analysis.json`, what was run in `manifest.json`.\n");
}

void cost_markdown(const struct cost_page *page, struct buffer *out)
{
    buffer_text(out, "<!-- generated by tare cost from analysis.json -->\n\n");
    put_answer(page, out);
    put_checks(page->analysis, out);
    put_costs(page->analysis, out);
    put_pictures(page, out);
    put_health(page->analysis, out);
    put_load(page->analysis->data, out);
    put_host(page, out);
}
