#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rep_cost.h"
#include "rep_svg.h"

enum {
    NARROW = 470,
    WIDE = 940,
    LABELS = 118,
    ROW = 46,
    TOP = 26,
    AXIS = 40
};

int cost_series(const struct cost_analysis *analysis, size_t arm)
{
    const struct cost_experiment *experiment = analysis->data->experiment;
    if (experiment->arms[arm].role == COST_BASELINE) {
        return 0;
    }
    if (experiment->arms[arm].role == COST_SAME) {
        return 1;
    }
    int series = 2;
    for (size_t i = 0; i < arm; i++) {
        series +=
            experiment->arms[i].role != COST_BASELINE && experiment->arms[i].role != COST_SAME;
    }
    return series;
}

void cost_plot_name(const struct cost_page *page, size_t metric, const char *kind,
                    struct buffer *out)
{
    const struct cost_experiment *experiment = page->analysis->data->experiment;
    const char *name =
        metric < experiment->metrics_count ? experiment->metrics[metric].name : "sentinel";
    for (; *name != 0; name++) {
        bool plain = strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-",
                            *name) != NULL;
        buffer_append(out, plain ? name : "_", 1);
    }
    buffer_printf(out, "-%s.svg", kind);
}

static void picture_id(const struct cost_page *page, size_t metric, const char *kind,
                       struct buffer *out)
{
    buffer_text(out, "plot-");
    cost_plot_name(page, metric, kind, out);
    out->size -= strlen(".svg");
    out->data[out->size] = 0;
}

static void draw_axis(struct buffer *out, const struct svg_axis *axis, double top, double bottom,
                      const char *unit)
{
    double first = ceil(axis->low / axis->step - 1e-9);
    double last = floor(axis->high / axis->step + 1e-9);
    int ticks = (int)(last - first);
    for (int tick = 0; tick <= ticks; tick++) {
        double value = (first + tick) * axis->step;
        double x = svg_axis_place(axis, value);
        struct buffer text = {0};
        cost_number(&text, value, axis->decimals, false);
        svg_line(out, "svg-rule", x, top, x, bottom);
        svg_text(out, "svg-small svg-soft", x, bottom + 15, SVG_MIDDLE, text.data);
        buffer_free(&text);
    }
    svg_text(out, "svg-small svg-soft", axis->to, bottom + 31, SVG_END, unit);
}

static bool arm_shown(const struct cost_page *page, size_t arm, size_t metric)
{
    const struct cost_analysis *analysis = page->analysis;
    size_t metrics = analysis->data->experiment->metrics_count;
    return analysis->summaries[arm * metrics + metric].count > 0;
}

/* The run of an arm in a block that counts, NULL when there is none. */
static const struct cost_run *block_run(const struct cost_data *data, size_t arm, size_t block)
{
    for (size_t i = 0; i < data->run_count; i++) {
        const struct cost_run *run = &data->runs[i];
        if (run->arm == arm && run->block == block && !run->voided) {
            return run;
        }
    }
    return NULL;
}

/* Blocks are set off against each other within a row, so that equal values stay apart. */
static double block_offset(const struct cost_data *data, size_t block)
{
    double blocks = data->experiment->blocks > 1 ? data->experiment->blocks - 1 : 1;
    return ((double)block / blocks - 0.5) * 18;
}

static void value_range(const struct cost_page *page, size_t metric, double *low, double *high)
{
    const struct cost_analysis *analysis = page->analysis;
    const struct cost_experiment *experiment = analysis->data->experiment;
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t arm = 0; arm < experiment->arms_count; arm++) {
        const struct cost_summary *summary =
            &analysis->summaries[arm * experiment->metrics_count + metric];
        if (summary->count > 0) {
            *low = fmin(*low, summary->least);
            *high = fmax(*high, summary->most);
        }
    }
    if (!(*low <= *high)) {
        *low = 0;
        *high = 1;
    }
}

static void join_blocks(const struct cost_page *page, size_t metric, const struct svg_axis *axis,
                        struct buffer *out)
{
    const struct cost_data *data = page->analysis->data;
    const struct cost_experiment *experiment = data->experiment;
    double *points = memory_new(2 * (size_t)experiment->arms_count, sizeof *points);
    for (size_t block = 0; block < experiment->blocks; block++) {
        int count = 0;
        size_t row = 0;
        for (size_t arm = 0; arm < experiment->arms_count; arm++) {
            if (!arm_shown(page, arm, metric)) {
                continue;
            }
            const struct cost_run *run = block_run(data, arm, block);
            if (run != NULL && !isnan(run->values[metric])) {
                points[2L * count] = svg_axis_place(axis, run->values[metric]);
                points[2L * count + 1] =
                    TOP + ROW * ((double)row + 0.5) + block_offset(data, block);
                count++;
            }
            row++;
        }
        svg_polyline(out, "svg-join svg-axis", points, count);
    }
    free(points);
}

static void draw_run_row(const struct cost_page *page, size_t metric, size_t arm, double middle,
                         const struct svg_axis *axis, struct buffer *out)
{
    const struct cost_analysis *analysis = page->analysis;
    const struct cost_data *data = analysis->data;
    const struct cost_metric *shown = &data->experiment->metrics[metric];
    int series = cost_series(analysis, arm);
    int decimals = cost_decimals(analysis, metric);
    svg_marker(out, series, 10, middle - 4, 5, false, NULL);
    svg_text(out, "svg-ink", 22, middle, SVG_START, data->experiment->arms[arm].label);
    const struct cost_summary *summary =
        &analysis->summaries[arm * data->experiment->metrics_count + metric];
    struct buffer text = {0};
    buffer_text(&text, "mean ");
    cost_number(&text, summary->mean, decimals, false);
    svg_text(out, "svg-small svg-soft", 22, middle + 15, SVG_START, text.data);
    for (size_t block = 0; block < data->experiment->blocks; block++) {
        const struct cost_run *run = block_run(data, arm, block);
        if (run == NULL || isnan(run->values[metric])) {
            continue;
        }
        buffer_clear(&text);
        buffer_printf(&text, "%s, block %zu: ", data->experiment->arms[arm].label, block + 1);
        cost_number(&text, run->values[metric], decimals, false);
        buffer_printf(&text, " %s", shown->unit);
        svg_marker(out, series, svg_axis_place(axis, run->values[metric]),
                   middle + block_offset(data, block), 4, false, text.data);
    }
    double x = svg_axis_place(axis, summary->mean);
    char stroke[40];
    snprintf(stroke, sizeof stroke, "svg-mean svg-s%d", series % SVG_SERIES);
    svg_line(out, stroke, x, middle - 17, x, middle + 17);
    buffer_free(&text);
}

void cost_plot_runs(const struct cost_page *page, size_t metric, bool standalone,
                    struct buffer *out)
{
    const struct cost_analysis *analysis = page->analysis;
    const struct cost_experiment *experiment = analysis->data->experiment;
    const struct cost_metric *shown = &experiment->metrics[metric];
    size_t rows = 0;
    for (size_t arm = 0; arm < experiment->arms_count; arm++) {
        rows += arm_shown(page, arm, metric);
    }
    double low, high;
    value_range(page, metric, &low, &high);
    double pad = (high - low) * 0.06;
    /* From zero where that does not squeeze the runs together; else the axis says that it does not.
     */
    bool from_zero = low >= 0 && high - low > 0.5 * high;
    struct svg_axis axis =
        svg_axis_make(from_zero ? 0 : low - pad, high + pad, LABELS, NARROW - 14, 8);
    double bottom = TOP + ROW * (double)rows;
    struct buffer id = {0};
    struct buffer title = {0};
    struct buffer unit = {0};
    picture_id(page, metric, "runs", &id);
    buffer_printf(&title, "Every run: %s", shown->label);
    buffer_printf(&unit, "%s%s", shown->unit,
                  from_zero ? "" : " (the axis does not start at zero)");
    svg_begin(out, id.data, NARROW, bottom + AXIS, title.data,
              "One row an arm, one mark a run, the runs of a block joined by a line, a bar at the "
              "mean. The values are in the table of all runs.",
              standalone);
    svg_text(out, "svg-bold svg-ink", 4, 14, SVG_START, title.data);
    draw_axis(out, &axis, TOP, bottom, unit.data);
    join_blocks(page, metric, &axis, out);
    size_t row = 0;
    for (size_t arm = 0; arm < experiment->arms_count; arm++) {
        if (arm_shown(page, arm, metric)) {
            draw_run_row(page, metric, arm, TOP + ROW * ((double)row++ + 0.5), &axis, out);
        }
    }
    svg_end(out);
    buffer_free(&id);
    buffer_free(&title);
    buffer_free(&unit);
}

/* ------------------------------------------------------------------ differences */

static void widen(double *low, double *high, double value)
{
    if (isfinite(value)) {
        *low = fmin(*low, value);
        *high = fmax(*high, value);
    }
}

static void difference_range(const struct cost_analysis *analysis, size_t metric, double *low,
                             double *high)
{
    *low = *high = 0;
    for (size_t i = 0; i < analysis->comparison_count; i++) {
        const struct cost_comparison *comparison = &analysis->comparisons[i];
        if (comparison->metric == metric && comparison->blocks >= 2) {
            widen(low, high, comparison->verdict.t.interval.low);
            widen(low, high, comparison->verdict.t.interval.high);
            for (size_t k = 0; k < comparison->blocks; k++) {
                widen(low, high, comparison->differences[k]);
            }
        }
    }
    /* The margin belongs into the picture unless it would press everything else together. */
    double margin = analysis->data->experiment->metrics[metric].margin;
    if (margin < 4 * (*high - *low)) {
        widen(low, high, margin * 1.1);
        widen(low, high, -margin * 1.1);
    }
}

static double clipped(const struct svg_axis *axis, double value)
{
    double place = svg_axis_place(axis, fmax(axis->low, fmin(axis->high, value)));
    return fmax(axis->from, fmin(axis->to, place));
}

static void draw_difference_row(const struct cost_page *page,
                                const struct cost_comparison *comparison, double middle,
                                const struct svg_axis *axis, struct buffer *out)
{
    const struct cost_analysis *analysis = page->analysis;
    const struct cost_data *data = analysis->data;
    int series = cost_series(analysis, comparison->arm) % SVG_SERIES;
    int decimals = cost_decimals(analysis, comparison->metric);
    const struct verdict *verdict = &comparison->verdict;
    const char *unit = cost_difference_unit(&data->experiment->metrics[comparison->metric]);
    char class_name[48];
    struct buffer text = {0};
    svg_marker(out, series, 10, middle - 6, 5, false, NULL);
    svg_text(out, "svg-ink", 22, middle - 2, SVG_START,
             data->experiment->arms[comparison->arm].label);
    buffer_printf(&text, "minus %s", data->experiment->arms[comparison->against].label);
    svg_text(out, "svg-small svg-soft", 22, middle + 12, SVG_START, text.data);
    for (size_t k = 0; k < comparison->blocks; k++) {
        buffer_clear(&text);
        cost_number(&text, comparison->differences[k], decimals, true);
        buffer_printf(&text, " %s", unit);
        svg_marker(out, series, clipped(axis, comparison->differences[k]), middle - 11, 3, true,
                   text.data);
    }
    if (comparison->blocks >= 2) {
        snprintf(class_name, sizeof class_name, "svg-thick svg-s%d", series);
        svg_line(out, class_name, clipped(axis, verdict->t.interval.low), middle,
                 clipped(axis, verdict->t.interval.high), middle);
        struct interval flips = verdict->sign_flip.interval;
        bool open = isinf(flips.low);
        snprintf(class_name, sizeof class_name, "svg-thin%s svg-s%d", open ? " svg-dash" : "",
                 series);
        svg_line(out, class_name, clipped(axis, flips.low), middle + 8, clipped(axis, flips.high),
                 middle + 8);
        double x = clipped(axis, verdict->t.mean);
        svg_line(out, "svg-mean svg-axis", x, middle - 6, x, middle + 6);
    }
    buffer_free(&text);
}

void cost_plot_differences(const struct cost_page *page, size_t metric, bool standalone,
                           struct buffer *out)
{
    const struct cost_analysis *analysis = page->analysis;
    const struct cost_metric *shown = &analysis->data->experiment->metrics[metric];
    size_t rows = 0;
    for (size_t i = 0; i < analysis->comparison_count; i++) {
        rows += analysis->comparisons[i].metric == metric;
    }
    double low, high;
    difference_range(analysis, metric, &low, &high);
    double pad = (high - low) * 0.05;
    struct svg_axis axis = svg_axis_make(low - pad, high + pad, LABELS, NARROW - 14, 8);
    double bottom = TOP + ROW * (double)rows;
    struct buffer id = {0};
    struct buffer unit = {0};
    picture_id(page, metric, "differences", &id);
    bool margin_fits = shown->margin > 0 && shown->margin <= fmax(-axis.low, axis.high);
    if (shown->margin > 0) {
        buffer_printf(&unit, "%s; margin \u00b1%.6g%s", cost_difference_unit(shown), shown->margin,
                      margin_fits ? " (shaded)" : ", wider than the picture");
    } else {
        buffer_text(&unit, cost_difference_unit(shown));
    }
    struct buffer title = {0};
    buffer_printf(&title, "Difference: %s", shown->label);
    svg_begin(
        out, id.data, NARROW, bottom + AXIS, title.data,
        "One row a comparison: a faint mark for each block, a thick line for the t interval, a "
        "thin one for the sign-flip interval, a bar at the mean; the margin is shaded. The "
        "values are in the cost table.",
        standalone);
    svg_text(out, "svg-bold svg-ink", 4, 14, SVG_START, title.data);
    if (shown->margin > 0) {
        double left = clipped(&axis, -shown->margin);
        svg_rectangle(out, "svg-band", left, TOP, clipped(&axis, shown->margin) - left,
                      bottom - TOP);
    }
    draw_axis(out, &axis, TOP, bottom, unit.data);
    double zero = svg_axis_place(&axis, 0);
    svg_line(out, "svg-axis svg-thin", zero, TOP, zero, bottom);
    size_t row = 0;
    for (size_t i = 0; i < analysis->comparison_count; i++) {
        if (analysis->comparisons[i].metric == metric) {
            draw_difference_row(page, &analysis->comparisons[i],
                                TOP + ROW * ((double)row++ + 0.5) + 3, &axis, out);
        }
    }
    svg_end(out);
    buffer_free(&id);
    buffer_free(&unit);
    buffer_free(&title);
}

/* ------------------------------------------------------------------ order */

static double order_value(const struct cost_page *page, size_t metric, const struct cost_run *run)
{
    const struct cost_analysis *analysis = page->analysis;
    if (metric < analysis->data->experiment->metrics_count) {
        return run->values[metric];
    }
    return 100 * run->sentinel_before_ns / analysis->drift.sentinel_median_ns;
}

static void draw_order_grid(const struct cost_data *data, const struct svg_axis *across,
                            const struct svg_axis *up, struct buffer *out)
{
    double first = ceil(up->low / up->step - 1e-9);
    double last = floor(up->high / up->step + 1e-9);
    int ticks = (int)(last - first);
    double half =
        data->run_count > 1 ? (across->to - across->from) / (double)(data->run_count - 1) / 2 : 0;
    for (size_t i = 0; i < data->run_count; i++) {
        bool begins = i == 0 || data->runs[i].block != data->runs[i - 1].block ||
                      data->runs[i].attempt != data->runs[i - 1].attempt;
        if (!begins) {
            continue;
        }
        double x = svg_axis_place(across, (double)i) - half;
        char text[32];
        snprintf(text, sizeof text, "%s%zu", i == 0 ? "block " : "", data->runs[i].block + 1);
        svg_line(out, "svg-rule svg-dash", x, up->to, x, up->from + 4);
        svg_text(out, "svg-small svg-soft", x + 3, up->from + 16, SVG_START, text);
    }
    for (int tick = 0; tick <= ticks; tick++) {
        double value = (first + tick) * up->step;
        double y = svg_axis_place(up, value);
        struct buffer text = {0};
        cost_number(&text, value, up->decimals, false);
        svg_line(out, "svg-rule", across->from - half, y, across->to + half, y);
        svg_text(out, "svg-small svg-soft", across->from - half - 6, y + 4, SVG_END, text.data);
        buffer_free(&text);
    }
}

static void draw_order_legend(const struct cost_page *page, double y, struct buffer *out)
{
    const struct cost_data *data = page->analysis->data;
    double x = 66;
    for (size_t arm = 0; arm < data->experiment->arms_count; arm++) {
        if (data->arms[arm].not_run == NULL) {
            const char *label = data->experiment->arms[arm].label;
            svg_marker(out, cost_series(page->analysis, arm), x, y - 4, 5, false, NULL);
            svg_text(out, "svg-small svg-ink", x + 10, y, SVG_START, label);
            x += 34 + 6.4 * (double)strlen(label);
        }
    }
}

void cost_plot_order(const struct cost_page *page, size_t metric, bool standalone,
                     struct buffer *out)
{
    const struct cost_analysis *analysis = page->analysis;
    const struct cost_data *data = analysis->data;
    bool sentinel = metric >= data->experiment->metrics_count;
    double low = INFINITY;
    double high = -INFINITY;
    for (size_t i = 0; i < data->run_count; i++) {
        double value = order_value(page, metric, &data->runs[i]);
        if (!data->runs[i].voided && isfinite(value)) {
            low = fmin(low, value);
            high = fmax(high, value);
        }
    }
    if (!(low <= high)) {
        low = 0;
        high = 1;
    }
    double pad = fmax((high - low) * 0.08, sentinel ? 0.5 : 0);
    double last = data->run_count > 1 ? (double)(data->run_count - 1) : 1;
    struct svg_axis across = svg_axis_make(0, last, 72, WIDE - 22, 10);
    struct svg_axis up = svg_axis_make(low - pad, high + pad, 206, 30, 5);
    struct buffer id = {0};
    struct buffer title = {0};
    picture_id(page, metric, "order", &id);
    if (sentinel) {
        buffer_text(&title, "Time of the fixed computation before each run, % of its median");
    } else {
        buffer_printf(&title, "%s in the order of the runs, %s",
                      data->experiment->metrics[metric].label,
                      data->experiment->metrics[metric].unit);
    }
    svg_begin(
        out, id.data, WIDE, 252, title.data,
        "One mark a run from left to right in the order in which they were made; dashed lines "
        "part the blocks. A slope would be a drift of the machine.",
        standalone);
    svg_text(out, "svg-bold svg-ink", 4, 14, SVG_START, title.data);
    draw_order_grid(data, &across, &up, out);
    for (size_t i = 0; i < data->run_count; i++) {
        const struct cost_run *run = &data->runs[i];
        double value = order_value(page, metric, run);
        if (run->voided || !isfinite(value)) {
            continue;
        }
        char tooltip[160];
        snprintf(tooltip, sizeof tooltip, "run %zu, block %zu, %s: %.6g", i + 1, run->block + 1,
                 data->experiment->arms[run->arm].label, value);
        svg_marker(out, cost_series(analysis, run->arm), svg_axis_place(&across, (double)i),
                   svg_axis_place(&up, value), 4, false, tooltip);
    }
    draw_order_legend(page, 244, out);
    svg_end(out);
    buffer_free(&id);
    buffer_free(&title);
}
