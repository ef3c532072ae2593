#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rep_cost.h"

enum {
    COLUMNS = 5
};

struct row {
    char *cells[COLUMNS];
};

struct table {
    struct row *rows;
    size_t count;
};

static void add_row(struct table *table, const struct cost_analysis *analysis,
                    const struct cost_comparison *comparison)
{
    const struct cost_experiment *experiment = analysis->data->experiment;
    const struct cost_metric *metric = &experiment->metrics[comparison->metric];
    int decimals = cost_decimals(analysis, comparison->metric);
    const char *unit = cost_difference_unit(metric);
    struct buffer cells[COLUMNS] = {0};
    buffer_text(&cells[0], metric->label);
    buffer_printf(&cells[1], "%s - %s", experiment->arms[comparison->arm].label,
                  experiment->arms[comparison->against].label);
    if (comparison->blocks >= 2) {
        cost_number(&cells[2], comparison->verdict.t.mean, decimals, true);
        buffer_printf(&cells[2], " %s", unit);
        buffer_text(&cells[3], "[");
        cost_interval(&cells[3], comparison->verdict.t.interval, decimals);
        buffer_text(&cells[3], "]");
    } else {
        buffer_text(&cells[2], "not measured");
        buffer_text(&cells[3], "");
    }
    if (comparison->word_asked) {
        cells[4].data = cost_word_text(analysis, comparison);
    } else {
        buffer_text(&cells[4], "");
    }
    table->rows = memory_resize(table->rows, table->count + 1, sizeof *table->rows);
    for (size_t i = 0; i < COLUMNS; i++) {
        table->rows[table->count].cells[i] = cells[i].data;
    }
    table->count++;
}

static void print_table(struct table *table, struct buffer *out)
{
    size_t widths[COLUMNS] = {0};
    for (size_t i = 0; i < table->count; i++) {
        for (size_t k = 0; k < COLUMNS; k++) {
            size_t width = strlen(table->rows[i].cells[k]);
            widths[k] = width > widths[k] ? width : widths[k];
        }
    }
    for (size_t i = 0; i < table->count; i++) {
        for (size_t k = 0; k < COLUMNS; k++) {
            /* Figures stand flush right; nothing stands behind the last text. */
            const char *cell = table->rows[i].cells[k];
            bool last =
                k + 2 > COLUMNS || (k + 2 == COLUMNS && table->rows[i].cells[k + 1][0] == 0);
            int width = last ? 0 : (int)widths[k];
            if (cell[0] != 0) {
                buffer_printf(out, "  %*s", k == 2 ? width : -width, cell);
            }
        }
        for (size_t k = 0; k < COLUMNS; k++) {
            free(table->rows[i].cells[k]);
        }
        buffer_text(out, "\n");
    }
    free(table->rows);
    *table = (struct table){0};
}

static void print_comparisons(const struct cost_analysis *analysis, bool primary,
                              struct buffer *out)
{
    struct table table = {0};
    for (size_t i = 0; i < analysis->comparison_count; i++) {
        const struct cost_comparison *comparison = &analysis->comparisons[i];
        /* Of the other metrics what differs from the baseline; all of it is in the report. */
        bool skipped =
            !primary && (comparison->same || comparison->against != analysis->baseline ||
                         (comparison->verdict.t.mean == 0 && comparison->verdict.t.deviation == 0));
        if (comparison->word_asked == primary && !skipped) {
            add_row(&table, analysis, comparison);
        }
    }
    print_table(&table, out);
}

static void print_health(const struct cost_page *page, struct buffer *out)
{
    const struct cost_analysis *analysis = page->analysis;
    const struct cost_data *data = analysis->data;
    buffer_text(out, "\nTrace health\n");
    bool any = false;
    for (size_t arm = 0; arm < data->experiment->arms_count; arm++) {
        const struct cost_arm_trace *trace = &analysis->traces[arm];
        if (trace->runs > 0) {
            any = true;
            buffer_printf(out, "  %s: %zu recordings, ", data->experiment->arms[arm].label,
                          trace->runs);
            cost_trace_text(out, trace);
            buffer_text(out, "\n");
        }
    }
    if (!any) {
        buffer_text(out, "  no arm left a recording\n");
    }
}

static void print_load(const struct cost_data *data, struct buffer *out)
{
    const struct cost_load_selection *selection = data->experiment->load_selection;
    if (selection == NULL) {
        return;
    }
    size_t *widths = memory_new(selection->columns_count, sizeof *widths);
    for (unsigned k = 0; k < selection->columns_count; k++) {
        widths[k] = strlen(selection->columns[k].name);
        for (size_t i = 0; i < data->load_row_count; i++) {
            char **cells = data->load_rows[i].cells;
            size_t width = cells != NULL ? strlen(cells[k]) : 0;
            widths[k] = width > widths[k] ? width : widths[k];
        }
    }
    buffer_text(out, "\nLoad selection\n");
    for (size_t i = 0; i <= data->load_row_count; i++) {
        const struct cost_load_row *row = i > 0 ? &data->load_rows[i - 1] : NULL;
        if (row != NULL && row->cells == NULL) {
            buffer_printf(out, "  not measured: %s", row->problem);
        }
        for (unsigned k = 0; k < selection->columns_count; k++) {
            if (row == NULL || row->cells != NULL) {
                buffer_printf(out, "  %*s", (int)widths[k],
                              row == NULL ? selection->columns[k].name : row->cells[k]);
            }
        }
        buffer_text(out, "\n");
    }
    free(widths);
}

void cost_text(const struct cost_page *page, struct buffer *out)
{
    static const char *const marks[] = {"  ok      ", "  NOT OK  ", "  unknown "};
    const struct cost_analysis *analysis = page->analysis;
    const struct cost_data *data = analysis->data;
    buffer_printf(out, "%s\n%s\n", analysis->answer, analysis->not_shown);
    if (analysis->spread_note != NULL) {
        buffer_printf(out, "%s\n", analysis->spread_note);
    }
    if (analysis->words_withheld) {
        buffer_text(out, "This rig is not fit for verdicts: the same program measured twice got a "
                         "word. All words are withheld.\n");
    }
    buffer_printf(out, "\nPrimary metrics (arm minus other arm, mean of %zu blocks, interval ",
                  data->blocks_done);
    cost_questions(out, analysis);
    buffer_text(out, ")\n");
    print_comparisons(analysis, true, out);
    buffer_text(out, "\nOther metrics against the baseline (interval ");
    cost_exploratory(out, analysis);
    buffer_text(out, ", no words)\n");
    print_comparisons(analysis, false, out);
    print_health(page, out);
    print_load(data, out);
    for (size_t arm = 0; arm < data->experiment->arms_count; arm++) {
        if (data->arms[arm].not_run != NULL) {
            buffer_printf(out, "\nNot run here: %s (%s)\n", data->experiment->arms[arm].label,
                          data->arms[arm].not_run);
        }
    }
    buffer_text(out, "\nChecks\n");
    for (size_t i = 0; i < analysis->check_count; i++) {
        buffer_printf(out, "%s%s: %s\n", marks[analysis->checks[i].state], analysis->checks[i].name,
                      analysis->checks[i].text);
    }
}
