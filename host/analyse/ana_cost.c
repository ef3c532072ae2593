#include "ana_cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double cost_family_error = 0.05;

/* A drift is named when it is unlikely to be chance and large enough to matter. */
static const double drift_error = 0.01;
static const double drift_share = 0.02;

/* The run that counts for an arm in a block: NULL when the block is not complete. */
static const struct cost_run *run_of(const struct cost_data *data, size_t arm, size_t block)
{
    for (size_t i = 0; i < data->run_count; i++) {
        const struct cost_run *run = &data->runs[i];
        if (run->arm == arm && run->block == block && !run->voided) {
            return run;
        }
    }
    return NULL;
}

/* Values of one metric in one arm, in block order; returns how many. */
static size_t arm_values(const struct cost_data *data, size_t arm, size_t metric, double *values)
{
    size_t count = 0;
    for (size_t block = 0; block < data->experiment->blocks; block++) {
        const struct cost_run *run = run_of(data, arm, block);
        if (run != NULL && !isnan(run->values[metric])) {
            values[count++] = run->values[metric];
        }
    }
    return count;
}

static void summarise_loss(const struct cost_data *data, size_t arm, size_t metric,
                           struct cost_summary *summary)
{
    size_t of = cost_metric_find(data->experiment, data->experiment->metrics[metric].of);
    for (size_t i = 0; i < data->run_count; i++) {
        const struct cost_run *run = &data->runs[i];
        if (run->arm == arm && !run->voided && !isnan(run->values[metric]) &&
            !isnan(run->values[of])) {
            summary->lost += run->values[metric];
            summary->of += run->values[of];
        }
    }
    if (summary->lost == 0 && summary->of > 0) {
        summary->bound_share = 3 / summary->of; /* (1 - q)^N = 0.05 at about q = 3 / N */
    }
}

static struct cost_summary summarise(const struct cost_data *data, size_t arm, size_t metric)
{
    struct cost_summary summary = {.mean = NAN,
                                   .median = NAN,
                                   .deviation = NAN,
                                   .median_deviation = NAN,
                                   .least = NAN,
                                   .most = NAN,
                                   .bound_share = NAN};
    double *values = memory_new(data->experiment->blocks, sizeof *values);
    size_t count = arm_values(data, arm, metric, values);
    summary.count = count;
    if (count > 0) {
        summary.mean = mean_of(values, count);
        summary.median = median_of(values, count);
        summary.deviation = count > 1 ? standard_deviation(values, count) : NAN;
        summary.median_deviation = median_deviation(values, count);
        summary.least = quantile_of(values, count, 0);
        summary.most = quantile_of(values, count, 1);
    }
    if (data->experiment->metrics[metric].kind == COST_LOSS) {
        summarise_loss(data, arm, metric, &summary);
    }
    free(values);
    return summary;
}

static struct cost_arm_trace trace_of(const struct cost_data *data, size_t arm)
{
    struct cost_arm_trace trace = {0};
    if (data->experiment->arms[arm].recording == NULL) {
        return trace;
    }
    for (size_t i = 0; i < data->run_count; i++) {
        const struct cost_run *run = &data->runs[i];
        if (run->arm != arm || run->voided) {
            continue;
        }
        trace.runs++;
        if (run->trace.checked) {
            trace.runs_checked++;
            trace.runs_with_loss += run->trace.lost > 0;
            trace.runs_unhealthy += !run->trace.healthy;
            trace.stored += run->trace.stored;
            trace.lost += run->trace.lost;
        }
    }
    trace.complete = trace.runs > 0 && trace.runs_checked == trace.runs &&
                     trace.runs_with_loss == 0 && trace.runs_unhealthy == 0;
    return trace;
}

static void measure_drift(struct cost_analysis *analysis)
{
    const struct cost_data *data = analysis->data;
    size_t metrics = data->experiment->metrics_count;
    struct cost_drift *drift = &analysis->drift;
    drift->baseline = memory_new(metrics, sizeof *drift->baseline);
    double *order = memory_new(data->run_count + 1, sizeof *order);
    double *values = memory_new(data->run_count + 1, sizeof *values);
    size_t count = 0;
    for (size_t i = 0; i < data->run_count; i++) {
        if (!data->runs[i].voided) {
            order[count] = (double)i;
            values[count++] = data->runs[i].sentinel_before_ns;
        }
    }
    drift->measured = count >= 3;
    if (drift->measured) {
        drift->sentinel_median_ns = median_of(values, count);
        for (size_t i = 0; i < count; i++) {
            values[i] /= drift->sentinel_median_ns;
        }
        drift->sentinel = slope_test(order, values, count);
        drift->sentinel_spread_share =
            quantile_of(values, count, 1) - quantile_of(values, count, 0);
        drift->sentinel_change_share = drift->sentinel.slope * (order[count - 1] - order[0]);
    }
    for (size_t metric = 0; metric < metrics; metric++) {
        count = 0;
        for (size_t i = 0; i < data->run_count; i++) {
            const struct cost_run *run = &data->runs[i];
            if (!run->voided && run->arm == analysis->baseline && !isnan(run->values[metric])) {
                order[count] = (double)i;
                values[count++] = run->values[metric];
            }
        }
        drift->baseline[metric] =
            count >= 3 ? slope_test(order, values, count) : (struct slope){NAN, NAN};
    }
    free(order);
    free(values);
}

static bool arm_ran(const struct cost_data *data, size_t arm)
{
    return data->arms[arm].not_run == NULL;
}

static size_t arm_find(const struct cost_experiment *experiment, const char *name)
{
    size_t arm = 0;
    while (arm < experiment->arms_count && strcmp(experiment->arms[arm].name, name) != 0) {
        arm++;
    }
    return arm;
}

static void compare(struct cost_analysis *analysis, size_t metric, size_t arm, size_t against)
{
    const struct cost_data *data = analysis->data;
    const struct cost_experiment *experiment = data->experiment;
    if (!arm_ran(data, arm) || !arm_ran(data, against)) {
        return;
    }
    struct cost_comparison *comparison = &analysis->comparisons[analysis->comparison_count++];
    *comparison = (struct cost_comparison){
        .metric = metric,
        .arm = arm,
        .against = against,
        .same = experiment->arms[arm].role == COST_SAME &&
                experiment->arms[against].role == COST_BASELINE,
        .word_asked = experiment->metrics[metric].primary,
        .verdict = {.word = VERDICT_NO_WORD, .level = 1 - cost_family_error}};
    double *differences = memory_new(3 * (size_t)experiment->blocks, sizeof *differences);
    double *ours = differences + experiment->blocks;
    double *theirs = ours + experiment->blocks;
    for (size_t block = 0; block < experiment->blocks; block++) {
        const struct cost_run *run = run_of(data, arm, block);
        const struct cost_run *other = run_of(data, against, block);
        if (run != NULL && other != NULL && !isnan(run->values[metric]) &&
            !isnan(other->values[metric])) {
            ours[comparison->blocks] = run->values[metric];
            theirs[comparison->blocks] = other->values[metric];
            differences[comparison->blocks++] = run->values[metric] - other->values[metric];
        }
    }
    comparison->differences = differences;
    if (comparison->blocks >= 2) {
        comparison->verdict.t = paired_t_test(differences, comparison->blocks, cost_family_error);
        comparison->verdict.sign_flip =
            sign_flip_test(differences, comparison->blocks, cost_family_error);
        comparison->verdict.detectable = INFINITY;
    }
}

static void compare_all(struct cost_analysis *analysis)
{
    const struct cost_experiment *experiment = analysis->data->experiment;
    size_t most = (size_t)experiment->metrics_count *
                  (experiment->arms_count + (size_t)experiment->comparisons_count);
    analysis->comparisons = memory_new(most + 1, sizeof *analysis->comparisons);
    for (size_t metric = 0; metric < experiment->metrics_count; metric++) {
        if (experiment->metrics[metric].kind != COST_LEVEL) {
            continue;
        }
        for (size_t arm = 0; arm < experiment->arms_count; arm++) {
            if (arm != analysis->baseline) {
                compare(analysis, metric, arm, analysis->baseline);
            }
        }
        for (size_t i = 0; i < experiment->comparisons_count; i++) {
            compare(analysis, metric, arm_find(experiment, experiment->comparisons[i].arm),
                    arm_find(experiment, experiment->comparisons[i].against));
        }
    }
}

static struct verdict_question question_of(const struct cost_analysis *analysis,
                                           const struct cost_comparison *comparison)
{
    const struct cost_experiment *experiment = analysis->data->experiment;
    const struct cost_metric *metric = &experiment->metrics[comparison->metric];
    bool arm_records = experiment->arms[comparison->arm].recording != NULL;
    bool other_records = experiment->arms[comparison->against].recording != NULL;
    return (struct verdict_question){
        .differences = comparison->differences,
        .blocks = comparison->blocks,
        .margin = metric->margin,
        .resolution = metric->resolution,
        .lower_is_better = metric->better == COST_LOWER,
        .arm_lost_events = arm_records && !analysis->traces[comparison->arm].complete,
        .other_lost_events = other_records && !analysis->traces[comparison->against].complete};
}

/* Judges the primary comparisons, either the A/A ones or all others, as one family. */
static size_t judge_family(struct cost_analysis *analysis, bool same, bool *claims)
{
    size_t most = analysis->comparison_count + 1;
    struct verdict_question *questions = memory_new(most, sizeof *questions);
    struct verdict *verdicts = memory_new(most, sizeof *verdicts);
    size_t count = 0;
    for (size_t i = 0; i < analysis->comparison_count; i++) {
        const struct cost_comparison *comparison = &analysis->comparisons[i];
        if (comparison->word_asked && comparison->same == same) {
            questions[count++] = question_of(analysis, comparison);
        }
    }
    verdict_judge(questions, count, cost_family_error, verdicts);
    verdict_detectable(questions, count, cost_family_error, verdicts);
    for (size_t i = 0, k = 0; i < analysis->comparison_count; i++) {
        struct cost_comparison *comparison = &analysis->comparisons[i];
        if (comparison->word_asked && comparison->same == same) {
            comparison->verdict = verdicts[k++];
            *claims = *claims || verdict_claims_difference(comparison->verdict.word);
        }
    }
    free(questions);
    free(verdicts);
    return count;
}

static void judge_all(struct cost_analysis *analysis)
{
    bool same_claims = false;
    bool claims = false;
    judge_family(analysis, true, &same_claims);
    analysis->questions = judge_family(analysis, false, &claims);
    analysis->blocks_needed = verdict_blocks_needed(analysis->questions, cost_family_error);
    analysis->words_withheld = same_claims;
    for (size_t i = 0; i < analysis->comparison_count; i++) {
        struct cost_comparison *comparison = &analysis->comparisons[i];
        if (same_claims && comparison->word_asked && !comparison->same) {
            verdict_withhold_all(&comparison->verdict, 1);
        }
        const double *ours = comparison->differences + analysis->data->experiment->blocks;
        comparison->has_ratio =
            comparison->blocks >= 2 &&
            paired_ratio(ours, ours + analysis->data->experiment->blocks, comparison->blocks,
                         1 - comparison->verdict.level, &comparison->ratio);
    }
}

struct cost_analysis cost_analyse(const struct cost_data *data)
{
    const struct cost_experiment *experiment = data->experiment;
    struct cost_analysis analysis = {.data = data};
    while (experiment->arms[analysis.baseline].role != COST_BASELINE) {
        analysis.baseline++;
    }
    size_t arms = experiment->arms_count;
    size_t metrics = experiment->metrics_count;
    analysis.summaries = memory_new(arms * metrics, sizeof *analysis.summaries);
    analysis.traces = memory_new(arms, sizeof *analysis.traces);
    for (size_t arm = 0; arm < arms; arm++) {
        for (size_t metric = 0; metric < metrics; metric++) {
            analysis.summaries[arm * metrics + metric] = summarise(data, arm, metric);
        }
        analysis.traces[arm] = trace_of(data, arm);
    }
    measure_drift(&analysis);
    compare_all(&analysis);
    judge_all(&analysis);
    analysis.drift.sentinel_drifts = analysis.drift.measured &&
                                     analysis.drift.sentinel.p <= drift_error &&
                                     fabs(analysis.drift.sentinel_change_share) >= drift_share;
    cost_describe(&analysis);
    return analysis;
}

void cost_analysis_free(struct cost_analysis *analysis)
{
    for (size_t i = 0; i < analysis->comparison_count; i++) {
        free((void *)analysis->comparisons[i].differences);
    }
    for (size_t i = 0; i < analysis->check_count; i++) {
        free(analysis->checks[i].text);
    }
    free(analysis->comparisons);
    free(analysis->summaries);
    free(analysis->traces);
    free(analysis->drift.baseline);
    free(analysis->checks);
    free(analysis->answer);
    free(analysis->not_shown);
    free(analysis->spread_note);
    *analysis = (struct cost_analysis){0};
}

const char *cost_role_text(enum cost_role role)
{
    static const char *const texts[] = {[COST_BASELINE] = "baseline",
                                        [COST_SAME] = "same",
                                        [COST_RECORDER] = "recorder",
                                        [COST_CHANGE] = "change"};
    return texts[role];
}

const char *cost_difference_unit(const struct cost_metric *metric)
{
    return metric->difference_unit != NULL ? metric->difference_unit : metric->unit;
}

size_t cost_metric_find(const struct cost_experiment *experiment, const char *name)
{
    size_t metric = 0;
    while (metric < experiment->metrics_count &&
           strcmp(experiment->metrics[metric].name, name) != 0) {
        metric++;
    }
    return metric;
}

static double part_bytes(const struct cost_image *image, enum cost_part part)
{
    double readable = image->code_bytes + image->constant_bytes;
    double writable = image->data_bytes + image->zeroed_bytes;
    return part == COST_READABLE ? readable
                                 : (part == COST_WRITABLE ? writable : readable + writable);
}

double cost_image_difference(const struct cost_analysis *analysis, size_t arm, size_t image,
                             enum cost_part part)
{
    const struct cost_arm_facts *base = &analysis->data->arms[analysis->baseline];
    if (arm == analysis->baseline || image >= base->image_count) {
        return NAN;
    }
    return part_bytes(&analysis->data->arms[arm].images[image], part) -
           part_bytes(&base->images[image], part);
}
