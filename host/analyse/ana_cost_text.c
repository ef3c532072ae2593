/* The sentences of the reports. They are made here and not in the reports, so that every page says
 * the same and analysis.json holds them word for word. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ana_cost.h"

static const char default_not_shown[] =
    "other workloads, other machines, other settings of the recorders, or the worst case";

void cost_number(struct buffer *out, double value, int decimals, bool with_sign)
{
    if (isnan(value)) {
        buffer_text(out, "not measured");
        return;
    }
    if (isinf(value)) {
        buffer_text(out, value < 0 ? "-infinity" : "infinity");
        return;
    }
    char text[400];
    snprintf(text, sizeof text, with_sign ? "%+.*f" : "%.*f", decimals, value);
    /* A rounded zero has no sign. */
    if (strspn(text, "+-0.") == strlen(text)) {
        snprintf(text, sizeof text, "%.*f", decimals, 0.0);
    }
    size_t sign = text[0] == '+' || text[0] == '-';
    size_t whole = strspn(text + sign, "0123456789");
    buffer_append(out, text, sign);
    for (size_t i = 0; i < whole; i++) {
        if (i > 0 && whole > 4 && (whole - i) % 3 == 0) {
            buffer_text(out, ",");
        }
        buffer_append(out, text + sign + i, 1);
    }
    buffer_text(out, text + sign + whole);
}

void cost_interval(struct buffer *out, struct interval interval, int decimals)
{
    if (isinf(interval.low) || isinf(interval.high)) {
        buffer_text(out, "not bounded");
        return;
    }
    cost_number(out, interval.low, decimals, true);
    buffer_text(out, " to ");
    cost_number(out, interval.high, decimals, true);
}

void cost_bytes(struct buffer *out, double bytes)
{
    if (isnan(bytes)) {
        buffer_text(out, "not measured");
    } else if (fabs(bytes) < 1024) {
        buffer_printf(out, "%.0f B", bytes);
    } else if (fabs(bytes) < 1048576) {
        buffer_printf(out, "%.1f KiB", bytes / 1024);
    } else {
        buffer_printf(out, "%.2f MiB", bytes / 1048576);
    }
}

void cost_bound(struct buffer *out, double share)
{
    /* Rounded down, so that the bound stays true. */
    double one_in = 1 / share;
    double unit = one_in >= 100 ? pow(10, floor(log10(one_in)) - 1) : 1;
    buffer_text(out, "at 95 % fewer than 1 in ");
    cost_number(out, floor(one_in / unit) * unit, 0, false);
}

static void add_spread(struct buffer *out, const struct cost_analysis *analysis)
{
    const char *spread = analysis->data->experiment->spread;
    if (spread != NULL) {
        buffer_printf(out, ", over %ss", spread);
    }
}

void cost_questions(struct buffer *out, const struct cost_analysis *analysis)
{
    if (analysis->questions == 1) {
        buffer_text(out, "95 %");
    } else {
        buffer_printf(out, "95 %% for all %zu questions together", analysis->questions);
    }
    add_spread(out, analysis);
}

void cost_exploratory(struct buffer *out, const struct cost_analysis *analysis)
{
    buffer_text(out, "95 % each");
    add_spread(out, analysis);
}

void cost_trace_text(struct buffer *out, const struct cost_arm_trace *trace)
{
    if (trace->runs_checked == 0) {
        buffer_text(out, "not one could be checked, so what they lost is not known");
        return;
    }
    cost_number(out, trace->lost, 0, false);
    buffer_text(out, " of ");
    cost_number(out, trace->stored + trace->lost, 0, false);
    buffer_text(out, " events lost");
    if (trace->complete && trace->stored > 0) {
        buffer_text(out, " (");
        cost_bound(out, 3 / trace->stored);
        buffer_text(out, ")");
    }
    if (trace->runs_checked < trace->runs) {
        buffer_printf(out, "; %zu of %zu recordings could not be checked",
                      trace->runs - trace->runs_checked, trace->runs);
    }
    if (trace->runs_unhealthy > 0) {
        buffer_printf(out, "; %zu of %zu recordings damaged or with gaps", trace->runs_unhealthy,
                      trace->runs);
    }
}

static int compare_widths(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Without an interval: as many decimals as the values themselves have, up to four digits in all. */
static int decimals_of_values(const struct cost_analysis *analysis, size_t metric)
{
    size_t metrics = analysis->data->experiment->metrics_count;
    int most = 0;
    double largest = 0;
    for (size_t arm = 0; arm < analysis->data->experiment->arms_count; arm++) {
        const struct cost_summary *summary = &analysis->summaries[arm * metrics + metric];
        const double values[] = {summary->least, summary->most};
        for (size_t i = 0; i < 2 && summary->count > 0; i++) {
            double scaled = fabs(values[i]);
            int decimals = 0;
            largest = fmax(largest, scaled);
            while (decimals < 6 && fabs(scaled - nearbyint(scaled)) > 1e-9 * scaled) {
                scaled *= 10;
                decimals++;
            }
            most = decimals > most ? decimals : most;
        }
    }
    int digits = largest > 0 ? 3 - (int)floor(log10(largest)) : 0;
    return most < digits ? most : digits;
}

int cost_decimals(const struct cost_analysis *analysis, size_t metric)
{
    double *widths = memory_new(analysis->comparison_count + 1, sizeof *widths);
    size_t count = 0;
    for (size_t i = 0; i < analysis->comparison_count; i++) {
        const struct cost_comparison *comparison = &analysis->comparisons[i];
        double half =
            (comparison->verdict.t.interval.high - comparison->verdict.t.interval.low) / 2;
        const struct cost_summary *summary =
            &analysis
                 ->summaries[comparison->arm * analysis->data->experiment->metrics_count + metric];
        /* Differences of equal values differ by rounding; that is no spread. */
        if (comparison->metric == metric && comparison->blocks >= 2 &&
            half > 1e-9 * fabs(summary->mean)) {
            widths[count++] = half;
        }
    }
    qsort(widths, count, sizeof *widths, compare_widths);
    int decimals = count > 0 ? 1 - (int)floor(log10(widths[(count - 1) / 2]))
                             : decimals_of_values(analysis, metric);
    free(widths);
    return decimals < 0 ? 0 : (decimals > 6 ? 6 : decimals);
}

static const char *arm_name(const struct cost_analysis *analysis, size_t arm)
{
    return analysis->data->experiment->arms[arm].label;
}

static void add_loss(struct buffer *out, const struct cost_analysis *analysis, size_t arm)
{
    const struct cost_arm_trace *trace = &analysis->traces[arm];
    if (trace->runs == 0 || trace->complete) {
        return;
    }
    buffer_printf(out, "%s ", arm_name(analysis, arm));
    if (trace->lost > 0) {
        buffer_text(out, "lost ");
        cost_number(out, trace->lost, 0, false);
        buffer_text(out, " of ");
        cost_number(out, trace->lost + trace->stored, 0, false);
        buffer_text(out, " trace events");
    } else if (trace->runs_checked < trace->runs) {
        buffer_printf(out, "left %zu of %zu recordings whose health is not known",
                      trace->runs - trace->runs_checked, trace->runs);
    } else {
        buffer_printf(out, "left %zu of %zu recordings damaged or with gaps", trace->runs_unhealthy,
                      trace->runs);
    }
}

static void add_reasons(struct buffer *out, const struct cost_analysis *analysis,
                        const struct cost_comparison *comparison)
{
    unsigned reasons = comparison->verdict.reasons;
    if (reasons & REASON_FEW_BLOCKS) {
        buffer_printf(out, "described only: %zu blocks, a word needs %zu", comparison->blocks,
                      comparison->verdict.blocks_needed);
    } else if (reasons & REASON_SAME_ARM) {
        buffer_text(out, "word withheld: the same program measured twice got a word too");
    } else if (reasons & REASON_TRACE_INCOMPLETE) {
        buffer_text(out, "word withheld: ");
        size_t before = out->size;
        add_loss(out, analysis, comparison->arm);
        if (out->size > before && !analysis->traces[comparison->against].complete &&
            analysis->traces[comparison->against].runs > 0) {
            buffer_text(out, ", ");
        }
        add_loss(out, analysis, comparison->against);
    }
}

char *cost_word_text(const struct cost_analysis *analysis, const struct cost_comparison *comparison)
{
    struct buffer out = {0};
    const struct cost_metric *metric = &analysis->data->experiment->metrics[comparison->metric];
    const struct verdict *verdict = &comparison->verdict;
    const char *unit = cost_difference_unit(metric);
    int decimals = cost_decimals(analysis, comparison->metric);
    if (!comparison->word_asked) {
        buffer_text(&out, "exploratory");
        return out.data;
    }
    switch (verdict->word) {
    case VERDICT_EQUAL:
        buffer_printf(&out, "equal within %.6g %s", metric->margin, unit);
        if (verdict->detectable_below_margin) {
            buffer_printf(&out, " (detectably %s, but below the margin)",
                          verdict->t.mean < 0 ? "lower" : "higher");
        }
        break;
    case VERDICT_CANNOT_TELL:
        buffer_text(&out, "cannot tell (could have seen ");
        cost_number(&out, verdict->detectable, decimals, false);
        buffer_printf(&out, " %s or more)", unit);
        break;
    case VERDICT_NO_WORD:
        add_reasons(&out, analysis, comparison);
        break;
    default:
        buffer_text(&out, verdict_text(verdict->word));
        break;
    }
    if (verdict->word_by_t != verdict->word_by_sign_flip && verdict->word != VERDICT_NO_WORD) {
        buffer_printf(&out, " [t alone: %s; sign flips alone: %s]",
                      verdict_text(verdict->word_by_t), verdict_text(verdict->word_by_sign_flip));
    }
    return out.data;
}

/* The comparison that the page answers first: a recorder before any other change. */
static const struct cost_comparison *leading_comparison(const struct cost_analysis *analysis)
{
    const struct cost_comparison *leading = NULL;
    for (size_t i = 0; i < analysis->comparison_count; i++) {
        const struct cost_comparison *comparison = &analysis->comparisons[i];
        bool recorder = analysis->data->experiment->arms[comparison->arm].role == COST_RECORDER;
        if (comparison->word_asked && !comparison->same &&
            comparison->against == analysis->baseline &&
            (leading == NULL ||
             (recorder && leading->metric == comparison->metric &&
              analysis->data->experiment->arms[leading->arm].role != COST_RECORDER))) {
            leading = comparison;
        }
    }
    return leading;
}

static char *answer_of(const struct cost_analysis *analysis)
{
    struct buffer out = {0};
    const struct cost_comparison *leading = leading_comparison(analysis);
    if (leading == NULL || leading->blocks < 2) {
        buffer_printf(&out, "Not enough was measured for an answer: %zu complete blocks",
                      analysis->data->blocks_done);
        if (leading == NULL) {
            buffer_text(&out, ", and no arm to compare with the baseline");
        }
        buffer_text(&out, ".");
        return out.data;
    }
    const struct cost_metric *metric = &analysis->data->experiment->metrics[leading->metric];
    const struct verdict *verdict = &leading->verdict;
    const char *unit = cost_difference_unit(metric);
    int decimals = cost_decimals(analysis, leading->metric);
    buffer_printf(&out, "With %s, %s was measured ", arm_name(analysis, leading->arm),
                  metric->label);
    struct buffer size = {0};
    cost_number(&size, fabs(verdict->t.mean), decimals, false);
    buffer_printf(&out, "%s %s %s than with %s (interval ", size.data, unit,
                  verdict->t.mean < 0 ? "lower" : "higher", arm_name(analysis, leading->against));
    buffer_free(&size);
    cost_interval(&out, verdict->t.interval, decimals);
    char *word = cost_word_text(analysis, leading);
    buffer_printf(&out, " %s from %zu blocks, ", unit, leading->blocks);
    cost_questions(&out, analysis);
    buffer_printf(&out, "): %s.", word);
    free(word);
    return out.data;
}

static void add_check(struct cost_analysis *analysis, const char *name, enum cost_state state,
                      struct buffer *text)
{
    analysis->checks =
        memory_resize(analysis->checks, analysis->check_count + 1, sizeof *analysis->checks);
    analysis->checks[analysis->check_count++] = (struct cost_check){name, state, text->data};
    *text = (struct buffer){0};
}

static void check_blocks(struct cost_analysis *analysis)
{
    const struct cost_data *data = analysis->data;
    struct buffer text = {0};
    bool enough = data->blocks_done >= analysis->blocks_needed;
    buffer_printf(&text, "%zu of %u blocks complete, %zu needed for %zu question%s",
                  data->blocks_done, data->experiment->blocks, analysis->blocks_needed,
                  analysis->questions, analysis->questions == 1 ? "" : "s");
    if (data->blocks_voided > 0) {
        buffer_printf(&text, "; %zu voided and repeated", data->blocks_voided);
    }
    if (data->stopped != NULL) {
        buffer_printf(&text, "; stopped early: %s", data->stopped);
    }
    enum cost_state state = enough && data->stopped == NULL ? COST_GOOD : COST_BAD;
    add_check(analysis, "Blocks", state, &text);
}

static void check_same(struct cost_analysis *analysis)
{
    struct buffer text = {0};
    enum cost_state state = COST_UNKNOWN;
    const struct cost_comparison *found = NULL;
    for (size_t i = 0; i < analysis->comparison_count; i++) {
        const struct cost_comparison *comparison = &analysis->comparisons[i];
        if (!comparison->same || !comparison->word_asked) {
            continue;
        }
        found = comparison;
        if (verdict_claims_difference(comparison->verdict.word)) {
            buffer_printf(&text, "%s%s against %s got \"%s\" for %s", text.size > 0 ? "; " : "",
                          arm_name(analysis, comparison->arm),
                          arm_name(analysis, comparison->against),
                          verdict_text(comparison->verdict.word),
                          analysis->data->experiment->metrics[comparison->metric].label);
        }
    }
    if (found == NULL) {
        buffer_text(&text, "no arm measures the same program twice; the noise floor is not known");
    } else if (text.size > 0) {
        buffer_text(&text, ": this rig is not fit for verdicts, all words are withheld");
        state = COST_BAD;
    } else if (found->verdict.reasons & REASON_FEW_BLOCKS) {
        buffer_text(&text, "too few blocks to judge");
    } else {
        buffer_printf(&text, "%s against %s: no word, as it must be",
                      arm_name(analysis, found->arm), arm_name(analysis, found->against));
        state = COST_GOOD;
    }
    add_check(analysis, "Same program twice (A/A)", state, &text);
}

static void check_drift(struct cost_analysis *analysis)
{
    const struct cost_drift *drift = &analysis->drift;
    struct buffer text = {0};
    enum cost_state state = COST_UNKNOWN;
    if (analysis->data->experiment->target != NULL) {
        buffer_printf(&text, "every time is that of the %s; how fast this machine was is in none",
                      analysis->data->experiment->target);
        state = COST_GOOD;
    } else if (drift->measured) {
        state = drift->sentinel_drifts ? COST_BAD : COST_GOOD;
        buffer_printf(&text,
                      "the fixed computation took %.3g ms, %s over the experiment (%+.2f %%, p = "
                      "%.2g), spread %.1f %%",
                      drift->sentinel_median_ns / 1e6,
                      drift->sentinel_drifts ? "drifting" : "without a trend",
                      100 * drift->sentinel_change_share, drift->sentinel.p,
                      100 * drift->sentinel_spread_share);
        if (drift->sentinel_drifts) {
            buffer_text(&text, "; blocks cancel slow drift, yet read the order plot");
        }
    } else {
        buffer_text(&text, "fewer than three runs");
    }
    add_check(analysis, "Machine speed over time", state, &text);
}

static void check_traces(struct cost_analysis *analysis)
{
    struct buffer text = {0};
    enum cost_state state = COST_UNKNOWN;
    for (size_t arm = 0; arm < analysis->data->experiment->arms_count; arm++) {
        const struct cost_arm_trace *trace = &analysis->traces[arm];
        if (trace->runs == 0) {
            continue;
        }
        if (text.size > 0) {
            buffer_text(&text, "; ");
        }
        if (trace->complete) {
            buffer_printf(&text, "%s: 0 of ", arm_name(analysis, arm));
            cost_number(&text, trace->stored, 0, false);
            buffer_text(&text, " events lost");
            state = state == COST_BAD ? COST_BAD : COST_GOOD;
        } else {
            add_loss(&text, analysis, arm);
            state = COST_BAD;
        }
    }
    if (text.size == 0) {
        buffer_text(&text, "no arm left a recording");
    }
    add_check(analysis, "Trace complete", state, &text);
}

static void check_resolution(struct cost_analysis *analysis)
{
    struct buffer text = {0};
    bool known = false;
    for (size_t i = 0; i < analysis->comparison_count; i++) {
        const struct cost_comparison *comparison = &analysis->comparisons[i];
        const struct cost_metric *metric = &analysis->data->experiment->metrics[comparison->metric];
        /* Where nothing is random, no difference at all is no question of resolution. */
        bool none = analysis->data->experiment->spread != NULL && comparison->verdict.t.mean == 0 &&
                    comparison->verdict.t.deviation == 0;
        known = known || (comparison->word_asked && metric->resolution > 0);
        if (comparison->word_asked && comparison->verdict.limited_by_resolution && !none) {
            buffer_printf(&text, "%s%s, %s: interval widened to the resolution of %.6g %s",
                          text.size > 0 ? "; " : "", metric->label,
                          arm_name(analysis, comparison->arm), metric->resolution,
                          cost_difference_unit(metric));
        }
    }
    enum cost_state state = text.size > 0 ? COST_BAD : (known ? COST_GOOD : COST_UNKNOWN);
    if (state == COST_GOOD) {
        buffer_text(&text, "every interval is wider than what the clocks resolve");
    } else if (state == COST_UNKNOWN) {
        buffer_text(&text, "the experiment file states no resolution for its primary metrics");
    }
    add_check(analysis, "Resolution", state, &text);
}

void cost_describe(struct cost_analysis *analysis)
{
    struct buffer text = {0};
    const char *not_shown = analysis->data->experiment->not_shown;
    buffer_printf(&text, "It does not show %s.", not_shown != NULL ? not_shown : default_not_shown);
    analysis->not_shown = text.data;
    if (analysis->data->experiment->spread != NULL) {
        const char *spread = analysis->data->experiment->spread;
        text = (struct buffer){0};
        buffer_printf(
            &text,
            "Each block has a %s of its own, the same for all of its arms; a run with the "
            "same %s repeats to the byte. So the intervals describe how much the %s "
            "matters. They are no confidence intervals of a noise of measurement: there "
            "is none.",
            spread, spread, spread);
        analysis->spread_note = text.data;
    }
    analysis->answer = answer_of(analysis);
    check_blocks(analysis);
    check_same(analysis);
    text = (struct buffer){0};
    buffer_text(&text,
                "no arm adds a known cost, so the sensitivity is not proved; what could have "
                "been seen stands beside each \"cannot tell\"");
    add_check(analysis, "Known cost found", COST_UNKNOWN, &text);
    check_drift(analysis);
    buffer_text(&text,
                "not checked: each run gives one value, taken after the program's own warm-up");
    add_check(analysis, "Warm-up", COST_UNKNOWN, &text);
    check_traces(analysis);
    check_resolution(analysis);
}
