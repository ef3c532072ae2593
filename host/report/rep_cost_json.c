#include <math.h>
#include <stdlib.h>

#include "base_json.h"
#include "rep_cost.h"

/* What stands behind each derived figure; cost/METHOD.md explains them under the same names. */
static const char *const formulas[][2] = {
    {"mean", "arithmetic mean over the complete blocks"},
    {"median", "middle of the sorted values, or mean of the two in the middle"},
    {"median_deviation", "median of the distances from the median"},
    {"deviation", "square root of the sum of squared distances from the mean / (n - 1)"},
    {"paired_difference", "mean over the blocks of (arm - other arm) within the block"},
    {"t_interval",
     "mean difference +- t(1 - (1 - level) / 2, n - 1) x deviation / sqrt(n), at least "
     "+- the resolution"},
    {"sign_flip",
     "share of all 2^n sign patterns whose sum is as far from 0; interval: shifts that "
     "this test does not reject"},
    {"holm", "Holm's step-down over all questions of the report"},
    {"detectable", "difference found with 80 % probability by the rule in use x deviation of the "
                   "differences"},
    {"ratio",
     "exp of the mean over the blocks of ln(arm / other arm), t interval on the logarithms"},
    {"slope_permutation", "least-squares slope; p: share of orders with a slope as far from 0"},
    {"rule_of_three", "0 of N seen: 95 % upper bound of the share is 3 / N"},
    {"sum", "sum over the complete blocks"},
};

static void put_experiment(struct json *json, const struct cost_data *data)
{
    const struct cost_experiment *experiment = data->experiment;
    json_put_object(json, "experiment");
    json_put_text(json, "title", experiment->title);
    json_put_text(json, "question", experiment->question);
    json_put_text(json, "workload", experiment->workload);
    json_put_text(json, "target", experiment->target);
    json_put_text(json, "differs_between_blocks", experiment->spread);
    json_put_unsigned(json, "blocks_planned", experiment->blocks);
    json_put_unsigned(json, "blocks_complete", data->blocks_done);
    json_put_unsigned(json, "blocks_voided", data->blocks_voided);
    json_put_text(json, "stopped_early", data->stopped);
    json_put_unsigned(json, "seed", data->seed);
    json_put_number(json, "timeout_seconds", experiment->timeout_s);
    json_put_number(json, "duration_seconds", data->wall_s);
    json_put_array(json, "limits");
    for (unsigned i = 0; i < experiment->limits_count; i++) {
        json_put_text(json, NULL, experiment->limits[i]);
    }
    json_end_array(json);
    json_end_object(json);
}

static void put_metrics(struct json *json, const struct cost_analysis *analysis)
{
    static const char *const kinds[] = {"level", "extreme", "loss"};
    const struct cost_experiment *experiment = analysis->data->experiment;
    json_put_array(json, "metrics");
    for (size_t i = 0; i < experiment->metrics_count; i++) {
        const struct cost_metric *metric = &experiment->metrics[i];
        json_put_object(json, NULL);
        json_put_text(json, "name", metric->name);
        json_put_text(json, "label", metric->label);
        json_put_text(json, "unit", metric->unit);
        json_put_text(json, "difference_unit", cost_difference_unit(metric));
        json_put_text(json, "better", metric->better == COST_LOWER ? "lower" : "higher");
        json_put_text(json, "kind", kinds[metric->kind]);
        json_put_text(json, "of", metric->of);
        json_put_bool(json, "primary", metric->primary);
        json_put_number(json, "margin", metric->primary ? metric->margin : NAN);
        json_put_text(json, "margin_reason", metric->reason);
        json_put_number(json, "resolution", metric->resolution);
        json_put_integer(json, "printed_decimals", cost_decimals(analysis, i));
        json_end_object(json);
    }
    json_end_array(json);
}

static void put_summary(struct json *json, const struct cost_metric *metric,
                        const struct cost_summary *summary)
{
    json_put_object(json, NULL);
    json_put_text(json, "metric", metric->name);
    json_put_text(json, "unit", metric->unit);
    json_put_text(json, "formula", "mean median median_deviation deviation");
    json_put_unsigned(json, "runs", summary->count);
    json_put_number(json, "mean", summary->mean);
    json_put_number(json, "median", summary->median);
    json_put_number(json, "deviation", summary->deviation);
    json_put_number(json, "median_deviation", summary->median_deviation);
    json_put_number(json, "least", summary->least);
    json_put_number(json, "most", summary->most);
    if (metric->kind == COST_LOSS) {
        json_put_object(json, "loss");
        json_put_text(json, "formula", "sum rule_of_three");
        json_put_number(json, "lost", summary->lost);
        json_put_number(json, "of", summary->of);
        json_put_number(json, "upper_bound_share", summary->bound_share);
        struct buffer text = {0};
        if (!isnan(summary->bound_share)) {
            cost_bound(&text, summary->bound_share);
        }
        json_put_text(json, "text", text.data);
        buffer_free(&text);
        json_end_object(json);
    }
    json_end_object(json);
}

static void put_images(struct json *json, const struct cost_analysis *analysis, size_t arm)
{
    const struct cost_arm_facts *facts = &analysis->data->arms[arm];
    json_put_array(json, "images");
    for (size_t i = 0; i < facts->image_count; i++) {
        const struct cost_image *image = &facts->images[i];
        json_put_object(json, NULL);
        json_put_text(json, "path", image->path);
        json_put_text(json, "hash", image->hash);
        json_put_number(json, "file_bytes", image->bytes);
        json_put_number(json, "code_bytes", image->code_bytes);
        json_put_number(json, "constant_bytes", image->constant_bytes);
        json_put_number(json, "data_bytes", image->data_bytes);
        json_put_number(json, "zeroed_bytes", image->zeroed_bytes);
        json_put_number(json, "loaded_minus_baseline_bytes",
                        cost_image_difference(analysis, arm, i, COST_LOADED));
        json_put_number(json, "readable_minus_baseline_bytes",
                        cost_image_difference(analysis, arm, i, COST_READABLE));
        json_put_number(json, "writable_minus_baseline_bytes",
                        cost_image_difference(analysis, arm, i, COST_WRITABLE));
        json_end_object(json);
    }
    json_end_array(json);
}

static void put_arm_trace(struct json *json, const struct cost_arm_trace *trace)
{
    json_put_object(json, "trace");
    json_put_text(json, "formula", "sum");
    json_put_unsigned(json, "recordings", trace->runs);
    json_put_unsigned(json, "recordings_checked", trace->runs_checked);
    json_put_unsigned(json, "recordings_with_loss", trace->runs_with_loss);
    json_put_unsigned(json, "recordings_unhealthy", trace->runs_unhealthy);
    json_put_number(json, "stored_events", trace->stored);
    json_put_number(json, "lost_events", trace->lost);
    json_put_bool(json, "complete", trace->complete);
    struct buffer text = {0};
    cost_trace_text(&text, trace);
    json_put_text(json, "text", text.data);
    buffer_free(&text);
    json_end_object(json);
}

static void put_arms(struct json *json, const struct cost_analysis *analysis)
{
    const struct cost_data *data = analysis->data;
    size_t metrics = data->experiment->metrics_count;
    json_put_array(json, "arms");
    for (size_t i = 0; i < data->experiment->arms_count; i++) {
        const struct cost_arm *arm = &data->experiment->arms[i];
        json_put_object(json, NULL);
        json_put_text(json, "name", arm->name);
        json_put_text(json, "label", arm->label);
        json_put_text(json, "role", cost_role_text(arm->role));
        json_put_text(json, "not_run_here", data->arms[i].not_run);
        json_put_text(json, "command", data->arms[i].command);
        json_put_object(json, "settings");
        for (unsigned k = 0; k < arm->settings_count; k++) {
            json_put_text(json, arm->settings[k].name, arm->settings[k].value);
        }
        json_end_object(json);
        json_put_object(json, "reported");
        for (size_t k = 0; k < data->arms[i].reported_count; k++) {
            json_put_text(json, data->arms[i].reported[k].name, data->arms[i].reported[k].value);
        }
        json_end_object(json);
        put_images(json, analysis, i);
        if (arm->recording != NULL) {
            put_arm_trace(json, &analysis->traces[i]);
        }
        json_put_array(json, "summaries");
        for (size_t k = 0; k < metrics; k++) {
            put_summary(json, &data->experiment->metrics[k], &analysis->summaries[i * metrics + k]);
        }
        json_end_array(json);
        json_end_object(json);
    }
    json_end_array(json);
}

static void put_verdict(struct json *json, const struct cost_comparison *comparison)
{
    static const struct {
        unsigned reason;
        const char *name;
    } reasons[] = {{REASON_FEW_BLOCKS, "few_blocks"},
                   {REASON_SAME_ARM, "same_arm_got_a_word"},
                   {REASON_TRACE_INCOMPLETE, "trace_incomplete"}};
    const struct verdict *verdict = &comparison->verdict;
    json_put_text(json, "word", verdict_text(verdict->word));
    json_put_text(json, "word_by_t", verdict_text(verdict->word_by_t));
    json_put_text(json, "word_by_sign_flip", verdict_text(verdict->word_by_sign_flip));
    json_put_array(json, "withheld_because");
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        if (verdict->reasons & reasons[i].reason) {
            json_put_text(json, NULL, reasons[i].name);
        }
    }
    json_end_array(json);
    json_put_bool(json, "detectable_below_margin", verdict->detectable_below_margin);
    json_put_bool(json, "limited_by_resolution", verdict->limited_by_resolution);
    json_put_object(json, "adjusted");
    json_put_text(json, "formula", "holm");
    json_put_number(json, "t_p", verdict->holm_t);
    json_put_number(json, "sign_flip_p", verdict->holm_sign_flip);
    json_end_object(json);
    json_put_object(json, "detectable");
    json_put_text(json, "formula", "detectable");
    json_put_number(json, "difference", verdict->detectable);
    json_end_object(json);
    json_put_unsigned(json, "blocks_needed", verdict->blocks_needed);
}

static void put_figures(struct json *json, const struct cost_comparison *comparison)
{
    const struct verdict *verdict = &comparison->verdict;
    json_put_object(json, "difference");
    json_put_text(json, "formula", "paired_difference deviation");
    json_put_number(json, "mean", verdict->t.mean);
    json_put_number(json, "deviation", verdict->t.deviation);
    json_end_object(json);
    json_put_object(json, "t");
    json_put_text(json, "formula", "t_interval");
    json_put_number(json, "level", verdict->level);
    json_put_number(json, "low", verdict->t.interval.low);
    json_put_number(json, "high", verdict->t.interval.high);
    json_put_number(json, "p", verdict->t.p);
    json_end_object(json);
    json_put_object(json, "sign_flip");
    json_put_text(json, "formula", "sign_flip");
    json_put_number(json, "level", verdict->level);
    json_put_number(json, "low", verdict->sign_flip.interval.low);
    json_put_number(json, "high", verdict->sign_flip.interval.high);
    json_put_number(json, "p", verdict->sign_flip.p);
    json_put_bool(json, "exact", verdict->sign_flip.exact);
    json_end_object(json);
    if (comparison->has_ratio) {
        json_put_object(json, "ratio");
        json_put_text(json, "formula", "ratio");
        json_put_number(json, "ratio", comparison->ratio.ratio);
        json_put_number(json, "low", comparison->ratio.interval.low);
        json_put_number(json, "high", comparison->ratio.interval.high);
        json_end_object(json);
    }
}

static void put_comparisons(struct json *json, const struct cost_analysis *analysis)
{
    const struct cost_experiment *experiment = analysis->data->experiment;
    json_put_array(json, "comparisons");
    for (size_t i = 0; i < analysis->comparison_count; i++) {
        const struct cost_comparison *comparison = &analysis->comparisons[i];
        json_put_object(json, NULL);
        json_put_text(json, "metric", experiment->metrics[comparison->metric].name);
        json_put_text(json, "arm", experiment->arms[comparison->arm].name);
        json_put_text(json, "against", experiment->arms[comparison->against].name);
        json_put_text(json, "unit", cost_difference_unit(&experiment->metrics[comparison->metric]));
        json_put_bool(json, "same_program", comparison->same);
        json_put_bool(json, "exploratory", !comparison->word_asked);
        json_put_array(json, "differences_by_block");
        for (size_t k = 0; k < comparison->blocks; k++) {
            json_put_number(json, NULL, comparison->differences[k]);
        }
        json_end_array(json);
        if (comparison->blocks >= 2) {
            put_figures(json, comparison);
        }
        if (comparison->word_asked) {
            put_verdict(json, comparison);
        }
        char *text = cost_word_text(analysis, comparison);
        json_put_text(json, "text", text);
        free(text);
        json_end_object(json);
    }
    json_end_array(json);
}

static void put_drift(struct json *json, const struct cost_analysis *analysis)
{
    const struct cost_experiment *experiment = analysis->data->experiment;
    const struct cost_drift *drift = &analysis->drift;
    json_put_object(json, "drift");
    json_put_text(json, "formula", "slope_permutation");
    json_put_bool(json, "measured", drift->measured);
    if (drift->measured) {
        json_put_number(json, "sentinel_median_ns", drift->sentinel_median_ns);
        json_put_number(json, "sentinel_slope_share_per_run", drift->sentinel.slope);
        json_put_number(json, "sentinel_p", drift->sentinel.p);
        json_put_number(json, "sentinel_change_share", drift->sentinel_change_share);
        json_put_number(json, "sentinel_spread_share", drift->sentinel_spread_share);
        json_put_bool(json, "sentinel_drifts", drift->sentinel_drifts);
    }
    json_put_array(json, "baseline");
    for (size_t i = 0; i < experiment->metrics_count; i++) {
        if (experiment->metrics[i].primary) {
            json_put_object(json, NULL);
            json_put_text(json, "metric", experiment->metrics[i].name);
            json_put_number(json, "slope_per_run", drift->baseline[i].slope);
            json_put_number(json, "p", drift->baseline[i].p);
            json_end_object(json);
        }
    }
    json_end_array(json);
    json_end_object(json);
}

static void put_trace(struct json *json, const struct cost_trace *trace)
{
    json_put_object(json, "trace");
    json_put_text(json, "recording", trace->path);
    json_put_bool(json, "checked", trace->checked);
    json_put_bool(json, "healthy", trace->checked && trace->healthy);
    json_put_text(json, "problem", trace->problem);
    json_put_number(json, "stored_events", trace->stored);
    json_put_number(json, "lost_events", trace->lost);
    json_put_number(json, "recording_bytes", trace->bytes);
    json_put_object(json, "facts");
    for (size_t i = 0; i < trace->fact_count; i++) {
        json_put_text(json, trace->facts[i].name, trace->facts[i].value);
    }
    json_end_object(json);
    json_end_object(json);
}

static void put_runs(struct json *json, const struct cost_data *data)
{
    const struct cost_experiment *experiment = data->experiment;
    json_put_array(json, "runs");
    for (size_t i = 0; i < data->run_count; i++) {
        const struct cost_run *run = &data->runs[i];
        json_put_object(json, NULL);
        json_put_unsigned(json, "run", i + 1);
        json_put_unsigned(json, "block", run->block + 1);
        json_put_unsigned(json, "attempt", run->attempt + 1);
        json_put_unsigned(json, "position", run->position + 1);
        json_put_text(json, "arm", experiment->arms[run->arm].name);
        json_put_number(json, "started_seconds", run->started_s);
        json_put_number(json, "sentinel_before_ns", run->sentinel_before_ns);
        json_put_number(json, "sentinel_after_ns", run->sentinel_after_ns);
        json_put_number(json, "load_average", run->load_average);
        json_put_text(json, "voided", run->voided ? run->reason : NULL);
        json_put_object(json, "values");
        for (size_t k = 0; k < experiment->metrics_count; k++) {
            json_put_number(json, experiment->metrics[k].name, run->values[k]);
        }
        json_end_object(json);
        if (experiment->arms[run->arm].recording != NULL && !run->voided) {
            put_trace(json, &run->trace);
        }
        json_end_object(json);
    }
    json_end_array(json);
}

static void put_load_selection(struct json *json, const struct cost_data *data)
{
    const struct cost_load_selection *selection = data->experiment->load_selection;
    if (selection == NULL) {
        return;
    }
    json_put_object(json, "load_selection");
    json_put_text(json, "note", selection->note);
    json_put_array(json, "rows");
    for (size_t i = 0; i < data->load_row_count; i++) {
        const struct cost_load_row *row = &data->load_rows[i];
        json_put_object(json, NULL);
        json_put_text(json, "not_measured", row->problem);
        for (unsigned k = 0; row->cells != NULL && k < selection->columns_count; k++) {
            json_put_text(json, selection->columns[k].name, row->cells[k]);
        }
        json_end_object(json);
    }
    json_end_array(json);
    json_end_object(json);
}

static void put_excerpt(struct json *json, const struct cost_page *page)
{
    const struct timeline *timeline = page->excerpt;
    json_put_object(json, "excerpt");
    json_put_text(json, "note", page->excerpt_note);
    if (timeline != NULL) {
        json_put_unsigned(json, "begin_ns", timeline->begin_ns);
        json_put_unsigned(json, "end_ns", timeline->end_ns);
        json_put_array(json, "lanes");
        for (size_t i = 0; i < timeline->lane_count; i++) {
            const struct timeline_lane *lane = &timeline->lanes[i];
            json_put_object(json, NULL);
            json_put_text(json, "name", lane->name);
            json_put_unsigned(json, "spans", lane->span_count);
            json_put_unsigned(json, "instants", lane->instant_count);
            json_put_unsigned(json, "gaps", lane->gap_count);
            json_end_object(json);
        }
        json_end_array(json);
    }
    json_end_object(json);
}

static void put_answers(struct json *json, const struct cost_analysis *analysis)
{
    static const char *const states[] = {"good", "bad", "unknown"};
    json_put_text(json, "answer", analysis->answer);
    json_put_text(json, "not_shown", analysis->not_shown);
    json_put_text(json, "spread_note", analysis->spread_note);
    json_put_number(json, "family_error", cost_family_error);
    json_put_unsigned(json, "questions", analysis->questions);
    json_put_unsigned(json, "blocks_needed", analysis->blocks_needed);
    json_put_bool(json, "words_withheld", analysis->words_withheld);
    json_put_array(json, "checks");
    for (size_t i = 0; i < analysis->check_count; i++) {
        json_put_object(json, NULL);
        json_put_text(json, "name", analysis->checks[i].name);
        json_put_text(json, "state", states[analysis->checks[i].state]);
        json_put_text(json, "text", analysis->checks[i].text);
        json_end_object(json);
    }
    json_end_array(json);
}

void cost_json(const struct cost_page *page, struct buffer *out)
{
    const struct cost_analysis *analysis = page->analysis;
    const struct cost_data *data = analysis->data;
    struct json json = json_begin(out, 2);
    json_put_object(&json, NULL);
    json_put_text(&json, "schema", "tare-cost-analysis");
    json_put_unsigned(&json, "schema_version", 1);
    json_put_text(&json, "tare_version", TARE_VERSION);
    put_answers(&json, analysis);
    put_experiment(&json, data);
    put_metrics(&json, analysis);
    put_arms(&json, analysis);
    put_comparisons(&json, analysis);
    put_drift(&json, analysis);
    put_load_selection(&json, data);
    put_runs(&json, data);
    put_excerpt(&json, page);
    json_put_object(&json, "host");
    for (size_t i = 0; i < data->host_count; i++) {
        json_put_text(&json, data->host[i].name, data->host[i].value);
    }
    json_end_object(&json);
    json_put_text(&json, "command", page->command);
    json_put_object(&json, "formulas");
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++) {
        json_put_text(&json, formulas[i][0], formulas[i][1]);
    }
    json_end_object(&json);
    json_end_object(&json);
    buffer_text(out, "\n");
}
