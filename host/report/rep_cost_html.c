/* The frame of the page and its first five sections. */
#include "rep_cost_html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char page_style[] =
    ":root{color-scheme:light dark;--ink:#1c2026;--soft:#5a636e;--paper:#fff;--panel:#f4f6f9;"
    "--rule:#dde1e6;--link:#0b5cad;--good:#0a6b4b;--good-b:#e0f3ea;--bad:#9a3b00;--bad-b:#fdebdd;"
    "--equal:#0b5cad;--equal-b:#e4eefa;--none:#4d5560;--none-b:#eceff2}"
    "@media screen and (prefers-color-scheme:dark){:root{--ink:#e8eaed;--soft:#a3acb8;"
    "--paper:#15181c;--panel:#1d2127;--rule:#343b44;--link:#7dbdff;--good:#6fdcae;--good-b:#12372a;"
    "--bad:#ffb27d;--bad-b:#41250f;--equal:#8cc4ff;--equal-b:#17304c;--none:#c0c7d0;"
    "--none-b:#2b3138}}"
    "*{box-sizing:border-box}html{-webkit-text-size-adjust:100%}"
    "body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"
    "'Segoe UI',Roboto,'DejaVu Sans',sans-serif}"
    "main{max-width:1000px;margin:0 auto;padding:28px 20px 60px}"
    "h1{font-size:1.75rem;line-height:1.25;margin:.2em 0 .5em;text-wrap:balance}"
    "h2{font-size:1.2rem;margin:2.4em 0 .6em;padding-top:.7em;border-top:1px solid var(--rule)}"
    "h3{font-size:1rem;margin:1.6em 0 .4em}p{margin:.5em 0;max-width:46em}"
    "p.note{font-size:.86rem;color:var(--soft);max-width:56em}.small{font-size:.92em;"
    "color:var(--soft);font-weight:400}"
    ".soft,caption,nav,footer{color:var(--soft)}a{color:var(--link)}"
    ".kicker{font-size:.8rem;letter-spacing:.05em;text-transform:uppercase;color:var(--soft)}"
    ".answer{background:var(--panel);border-left:5px solid var(--link);padding:14px 18px;"
    "border-radius:0 6px 6px 0;margin:18px 0}.answer p{max-width:none;margin:0}"
    ".answer .first{font-size:1.15rem;font-weight:600;line-height:1.45;margin-bottom:.4em}"
    ".banner{background:var(--bad-b);color:var(--bad);border-left:5px solid var(--bad);"
    "padding:10px 16px;font-weight:600;margin:14px 0;border-radius:0 6px 6px 0}"
    ".notrun{border:1px dashed var(--soft);padding:8px 14px;border-radius:6px;margin:10px 0}"
    "nav{font-size:.85rem;margin:16px 0}nav a{margin-right:1em;white-space:nowrap}"
    ".scroll{overflow-x:auto;margin:.6em 0 1.2em}"
    "table{border-collapse:collapse;font-size:.86rem;min-width:100%}"
    "caption{text-align:left;font-size:.86rem;padding:0 0 .4em}"
    "th,td{text-align:left;padding:5px 14px 5px 0;border-bottom:1px solid var(--rule);"
    "vertical-align:top}thead th{font-weight:600;color:var(--soft);border-bottom:1px solid "
    "var(--soft)}tbody th{font-weight:500}"
    ".n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
    "thead .n{white-space:normal}tr.group th{padding-top:1em;font-weight:600}tbody "
    "th{white-space:nowrap}"
    "tbody tr.group th{white-space:normal}tbody tr:not(.group) th.in{padding-left:14px}"
    "th:last-child,td:last-child{padding-right:0}"
    ".word{display:inline-block;padding:1px "
    "9px;border-radius:10px;font-size:.82rem;font-weight:600;"
    "line-height:1.5;border:1px solid currentColor}"
    ".w-good{color:var(--good);background:var(--good-b)}.w-bad{color:var(--bad);"
    "background:var(--bad-b)}.w-equal{color:var(--equal);background:var(--equal-b)}"
    ".w-none{color:var(--none);background:var(--none-b);border-style:dashed}"
    ".checks{display:grid;grid-template-columns:repeat(auto-fill,minmax(290px,1fr));gap:10px;"
    "padding:0;margin:.6em 0;list-style:none}.checks li{border:1px solid var(--rule);"
    "border-radius:6px;padding:8px 12px;font-size:.88rem;line-height:1.45}"
    ".checks b{display:block}.mark{float:right;margin-left:8px}"
    ".plots{display:flex;flex-wrap:wrap;gap:12px 24px;margin:.6em 0}"
    ".plots figure{flex:1 1 430px;min-width:0}figure{margin:0 0 1em}"
    "figcaption{font-size:.84rem;color:var(--soft);max-width:46em}"
    ".svg{max-width:100%;height:auto;display:block}.wide .svg{min-width:700px}"
    "code{font:.86em ui-monospace,'DejaVu Sans Mono',monospace;overflow-wrap:anywhere}"
    "pre{background:var(--panel);padding:10px 14px;overflow-x:auto;border-radius:6px}"
    ".runs table{font-size:.76rem}.runs td,.runs th{padding:3px 10px 3px 0}"
    ".runs td{white-space:nowrap}.runs thead "
    "th{white-space:normal;vertical-align:bottom}.void{opacity:.65}"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 18px;font-size:.9rem}"
    "dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}footer{margin-top:3em;font-size:."
    "85rem}"
    "td:last-child{min-width:8em}td.n:last-child{min-width:0}"
    "@media screen and (max-width:600px){main{padding:18px 14px 40px}h1{font-size:1.4rem}"
    "caption{display:block;max-width:calc(100vw - 30px)}"
    ".stack thead{display:none}.stack table,.stack tbody,.stack tr{display:block}"
    ".stack tr{border-bottom:1px solid var(--rule);padding:3px 0}.stack th,.stack td"
    "{display:inline-block;border:0;padding:2px 14px 2px 0;text-align:left}"
    ".stack td:last-child{padding-left:14px}.stack .group th{padding-top:.8em}"
    "dl{grid-template-columns:1fr}dd{margin-bottom:.5em}}"
    "@media print{body{font-size:10pt}main{max-width:none;padding:0}nav{display:none}"
    ".scroll{overflow:visible}table{font-size:8pt}.runs table{font-size:5.5pt}.runs td,.runs "
    "th{padding-right:4px}"
    ".wide .svg{min-width:0}h2,h3{break-after:avoid}figure,.checks li,tr{break-inside:avoid}"
    ".word,.answer{print-color-adjust:exact;-webkit-print-color-adjust:exact}}";

/* ------------------------------------------------------------------ pieces */

void html_section(struct buffer *out, int number, const char *anchor, const char *title)
{
    buffer_printf(out, "<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">%d. %s</h2>\n", anchor,
                  anchor, number, title);
}

void html_end_section(struct buffer *out)
{
    buffer_text(out, "</section>\n");
}

void html_table(struct buffer *out, const char *caption, const char *const *columns, size_t count)
{
    buffer_text(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
    svg_escape(out, caption);
    buffer_text(out, "\"><table>\n<caption>");
    svg_escape(out, caption);
    buffer_text(out, "</caption>\n<thead><tr>");
    for (size_t i = 0; i < count; i++) {
        bool figures = columns[i][0] == '>';
        buffer_printf(out, "<th scope=\"col\"%s>", figures ? " class=\"n\"" : "");
        svg_escape(out, columns[i] + figures);
        buffer_text(out, "</th>");
    }
    buffer_text(out, "</tr></thead>\n<tbody>\n");
}

void html_end_table(struct buffer *out)
{
    buffer_text(out, "</tbody></table></div>\n");
}

void html_cell(struct buffer *out, const char *text)
{
    buffer_text(out, "<td>");
    svg_escape(out, text);
    buffer_text(out, "</td>");
}

void html_head_cell(struct buffer *out, const char *text)
{
    buffer_text(out, "<th scope=\"row\">");
    svg_escape(out, text);
    buffer_text(out, "</th>");
}

void html_figure_cell(struct buffer *out, struct buffer *text)
{
    buffer_text(out, "<td class=\"n\">");
    svg_escape(out, text->size > 0 ? text->data : "");
    buffer_text(out, "</td>");
    buffer_clear(text);
}

static const char *word_class(const struct cost_comparison *comparison)
{
    switch (comparison->verdict.word) {
    case VERDICT_BETTER:
    case VERDICT_SLIGHTLY_BETTER:
        return "w-good";
    case VERDICT_BEHIND:
    case VERDICT_SLIGHTLY_BEHIND:
        return "w-bad";
    case VERDICT_EQUAL:
        return "w-equal";
    default:
        return "w-none";
    }
}

/* The word as a badge, what belongs beside it behind it. */
static void word_cell(const struct cost_analysis *analysis,
                      const struct cost_comparison *comparison, struct buffer *out)
{
    char *text = cost_word_text(analysis, comparison);
    size_t badge = strcspn(text, "([:");
    while (badge > 0 && text[badge - 1] == ' ') {
        badge--;
    }
    const char *rest = text + badge + strspn(text + badge, ": ");
    buffer_printf(out, "<td><span class=\"word %s\">", word_class(comparison));
    struct buffer word = {0};
    buffer_append(&word, text, badge);
    svg_escape(out, word.data);
    buffer_text(out, "</span>");
    if (*rest != 0) {
        buffer_text(out, "<br><span class=\"soft\">");
        svg_escape(out, rest);
        buffer_text(out, "</span>");
    }
    buffer_text(out, "</td>");
    buffer_free(&word);
    free(text);
}

/* ------------------------------------------------------------------ 1 answer */

static void group_row(struct buffer *out, size_t columns, const char *title, const char *note)
{
    buffer_printf(out, "<tr class=\"group\"><th scope=\"colgroup\" colspan=\"%zu\">", columns);
    svg_escape(out, title);
    buffer_text(out, " <span class=\"small\">");
    svg_escape(out, note);
    buffer_text(out, "</span></th></tr>\n");
}

static void name_cell(const struct cost_analysis *analysis,
                      const struct cost_comparison *comparison, struct buffer *out)
{
    const struct cost_experiment *experiment = analysis->data->experiment;
    buffer_text(out, "<th scope=\"row\" class=\"in\">");
    svg_escape(out, experiment->arms[comparison->arm].label);
    buffer_text(out, " <span class=\"small\">against</span> ");
    svg_escape(out, experiment->arms[comparison->against].label);
    buffer_text(out, "</th>");
}

static void answer_row(const struct cost_analysis *analysis,
                       const struct cost_comparison *comparison, struct buffer *out)
{
    const struct cost_metric *metric = &analysis->data->experiment->metrics[comparison->metric];
    int decimals = cost_decimals(analysis, comparison->metric);
    struct buffer text = {0};
    buffer_text(out, "<tr>");
    name_cell(analysis, comparison, out);
    if (comparison->blocks >= 2) {
        cost_number(&text, comparison->verdict.t.mean, decimals, true);
        buffer_printf(&text, " %s", cost_difference_unit(metric));
        html_figure_cell(out, &text);
        cost_interval(&text, comparison->verdict.t.interval, decimals);
        html_figure_cell(out, &text);
    } else {
        buffer_text(out, "<td colspan=\"2\">not measured in two blocks</td>");
    }
    word_cell(analysis, comparison, out);
    buffer_text(out, "</tr>\n");
    buffer_free(&text);
}

static bool memory_metric(const struct cost_metric *metric)
{
    return strcmp(metric->name, "lab.process_peak_mib") == 0 ||
           strcmp(metric->name, "lab.collector_peak_mib") == 0;
}

/* The comparisons that the box shows: all questions, and memory against the baseline. */
static bool answers(const struct cost_analysis *analysis, const struct cost_comparison *comparison)
{
    const struct paired_t *t = &comparison->verdict.t;
    bool nothing = t->mean == 0 && t->deviation == 0;
    return !comparison->same &&
           (comparison->word_asked ||
            (memory_metric(&analysis->data->experiment->metrics[comparison->metric]) &&
             comparison->against == analysis->baseline && !nothing));
}

static void completeness_rows(const struct cost_analysis *analysis, struct buffer *out)
{
    const struct cost_data *data = analysis->data;
    bool first = true;
    for (size_t arm = 0; arm < data->experiment->arms_count; arm++) {
        const struct cost_arm_trace *trace = &analysis->traces[arm];
        if (trace->runs == 0) {
            continue;
        }
        if (first) {
            group_row(out, 4, "trace completeness", "(all recordings together)");
            first = false;
        }
        struct buffer text = {0};
        cost_trace_text(&text, trace);
        buffer_text(out, "<tr><th scope=\"row\" class=\"in\">");
        svg_escape(out, data->experiment->arms[arm].label);
        buffer_text(out, "</th><td colspan=\"2\">");
        svg_escape(out, text.data);
        buffer_printf(out, "</td><td><span class=\"word %s\">%s</span></td></tr>\n",
                      trace->complete ? "w-good" : "w-bad",
                      trace->complete ? "complete" : "incomplete");
        buffer_free(&text);
    }
}

void html_answer(const struct cost_page *page, struct buffer *out)
{
    static const char *const columns[] = {"comparison", ">measured difference", ">interval",
                                          "word"};
    const struct cost_analysis *analysis = page->analysis;
    const struct cost_data *data = analysis->data;
    const struct cost_experiment *experiment = data->experiment;
    html_section(out, 1, "answer", "Answer");
    struct buffer caption = {0};
    buffer_printf(&caption,
                  "The primary metrics, named before the run, at this workload and configuration: "
                  "mean of %zu blocks; their intervals hold with ",
                  data->blocks_done);
    cost_questions(&caption, analysis);
    buffer_text(&caption, ".");
    buffer_text(out, "<div class=\"stack\">\n");
    html_table(out, caption.data, columns, 4);
    for (size_t metric = 0; metric < experiment->metrics_count; metric++) {
        bool first = true;
        for (size_t i = 0; i < analysis->comparison_count; i++) {
            const struct cost_comparison *comparison = &analysis->comparisons[i];
            if (comparison->metric == metric && answers(analysis, comparison)) {
                if (first) {
                    group_row(out, 4, experiment->metrics[metric].label,
                              comparison->word_asked ? "" : "(exploratory, 95 % each)");
                    first = false;
                }
                answer_row(analysis, comparison, out);
            }
        }
    }
    completeness_rows(analysis, out);
    html_end_table(out);
    buffer_text(out, "</div>\n");
    for (size_t arm = 0; arm < experiment->arms_count; arm++) {
        if (data->arms[arm].not_run != NULL) {
            buffer_text(out, "<p class=\"notrun\"><b>Not run here: ");
            svg_escape(out, experiment->arms[arm].label);
            buffer_text(out, "</b> (");
            svg_escape(out, data->arms[arm].not_run);
            buffer_text(out, "). Nothing on this page is about it.</p>\n");
        }
    }
    buffer_free(&caption);
    html_end_section(out);
}

/* ------------------------------------------------------------------ 2 validity */

void html_validity(const struct cost_page *page, struct buffer *out)
{
    static const char *const classes[] = {"w-good", "w-bad", "w-none"};
    static const char *const marks[] = {"good", "not good", "not known"};
    const struct cost_analysis *analysis = page->analysis;
    html_section(out, 2, "validity", "May this rig judge?");
    buffer_text(out, "<ul class=\"checks\">\n");
    for (size_t i = 0; i < analysis->check_count; i++) {
        const struct cost_check *check = &analysis->checks[i];
        buffer_printf(out, "<li><span class=\"word mark %s\">%s</span><b>%s</b>",
                      classes[check->state], marks[check->state], check->name);
        svg_escape(out, check->text);
        buffer_text(out, "</li>\n");
    }
    buffer_text(out, "</ul>\n");
    html_end_section(out);
}

/* ------------------------------------------------------------------ 3 cost */

static void ratio_text(const struct cost_comparison *comparison, struct buffer *text)
{
    if (comparison->has_ratio) {
        double width = comparison->ratio.interval.high - comparison->ratio.interval.low;
        int decimals = width > 0 ? 1 - (int)floor(log10(width / 2)) : 3;
        decimals = decimals < 1 ? 1 : (decimals > 5 ? 5 : decimals);
        buffer_text(text, "\u00d7");
        cost_number(text, comparison->ratio.ratio, decimals, false);
        buffer_text(text, " (");
        cost_number(text, comparison->ratio.interval.low, decimals, false);
        buffer_text(text, " to ");
        cost_number(text, comparison->ratio.interval.high, decimals, false);
        buffer_text(text, ")");
    } else {
        buffer_text(text, "\u2013");
    }
}

/* The difference, and below it the ratio; the t interval, and below it that of the sign flips. */
static void difference_cells(const struct cost_analysis *analysis,
                             const struct cost_comparison *comparison, struct buffer *out)
{
    int decimals = cost_decimals(analysis, comparison->metric);
    struct buffer text = {0};
    buffer_text(out, "<td class=\"n\">");
    cost_number(out, comparison->verdict.t.mean, decimals, true);
    buffer_text(out, "<br><span class=\"small\">");
    ratio_text(comparison, &text);
    svg_escape(out, text.data);
    buffer_text(out, "</span></td><td class=\"n\">");
    cost_interval(out, comparison->verdict.t.interval, decimals);
    buffer_text(out, "<br><span class=\"small\">");
    cost_interval(out, comparison->verdict.sign_flip.interval, decimals);
    buffer_text(out, "</span></td>");
    buffer_free(&text);
}

static void cost_row(const struct cost_analysis *analysis, const struct cost_comparison *comparison,
                     struct buffer *out)
{
    const struct verdict *verdict = &comparison->verdict;
    size_t metrics = analysis->data->experiment->metrics_count;
    int decimals = cost_decimals(analysis, comparison->metric);
    int columns = comparison->word_asked ? 4 : 2;
    struct buffer text = {0};
    buffer_text(out, "<tr>");
    name_cell(analysis, comparison, out);
    const size_t arms[] = {comparison->against, comparison->arm};
    for (size_t side = 0; side < 2; side++) {
        cost_number(&text, analysis->summaries[arms[side] * metrics + comparison->metric].mean,
                    decimals, false);
        html_figure_cell(out, &text);
    }
    if (comparison->blocks < 2) {
        buffer_printf(out, "<td colspan=\"%d\">not measured in two blocks</td></tr>\n", columns);
        buffer_free(&text);
        return;
    }
    if (!comparison->word_asked && verdict->t.mean == 0 && verdict->t.deviation == 0) {
        buffer_text(out, "<td colspan=\"2\" class=\"n soft\">the same in every block</td></tr>\n");
        buffer_free(&text);
        return;
    }
    difference_cells(analysis, comparison, out);
    if (comparison->word_asked) {
        if (isinf(verdict->detectable)) {
            buffer_text(&text, "\u2013");
        } else {
            cost_number(&text, verdict->detectable, decimals, false);
        }
        html_figure_cell(out, &text);
        word_cell(analysis, comparison, out);
    }
    buffer_text(out, "</tr>\n");
    buffer_free(&text);
}

static void cost_rows(const struct cost_analysis *analysis, bool primary, size_t columns,
                      struct buffer *out)
{
    const struct cost_experiment *experiment = analysis->data->experiment;
    size_t metric = experiment->metrics_count;
    for (size_t i = 0; i < analysis->comparison_count; i++) {
        const struct cost_comparison *comparison = &analysis->comparisons[i];
        if (comparison->word_asked != primary) {
            continue;
        }
        if (comparison->metric != metric) {
            metric = comparison->metric;
            const struct cost_metric *shown = &experiment->metrics[metric];
            struct buffer note = {0};
            buffer_printf(&note, "(%s, %s is better", shown->unit,
                          shown->better == COST_LOWER ? "lower" : "higher");
            if (primary) {
                buffer_printf(&note, "; margin %.6g %s: %s", shown->margin,
                              cost_difference_unit(shown), shown->reason);
            }
            buffer_text(&note, ")");
            group_row(out, columns, shown->label, note.data);
            buffer_free(&note);
        }
        cost_row(analysis, comparison, out);
    }
}

static void extremes_table(const struct cost_analysis *analysis, struct buffer *out)
{
    static const char *const columns[] = {"metric",    "arm",     ">runs",
                                          ">smallest", ">median", ">largest"};
    const struct cost_experiment *experiment = analysis->data->experiment;
    bool open = false;
    struct buffer text = {0};
    for (size_t metric = 0; metric < experiment->metrics_count; metric++) {
        const struct cost_metric *shown = &experiment->metrics[metric];
        int decimals = cost_decimals(analysis, metric);
        for (size_t arm = 0; shown->kind == COST_EXTREME && arm < experiment->arms_count; arm++) {
            const struct cost_summary *summary =
                &analysis->summaries[arm * experiment->metrics_count + metric];
            if (summary->count == 0) {
                continue;
            }
            if (!open) {
                html_table(out,
                           "Extremes: what was seen, one value a run. They describe these runs and "
                           "bound nothing; no interval, no word.",
                           columns, 6);
                open = true;
            }
            buffer_text(out, "<tr>");
            buffer_printf(&text, "%s (%s)", shown->label, shown->unit);
            html_head_cell(out, text.data);
            buffer_clear(&text);
            html_cell(out, experiment->arms[arm].label);
            buffer_printf(&text, "%zu", summary->count);
            html_figure_cell(out, &text);
            const double values[] = {summary->least, summary->median, summary->most};
            for (size_t i = 0; i < 3; i++) {
                cost_number(&text, values[i], decimals, false);
                html_figure_cell(out, &text);
            }
            buffer_text(out, "</tr>\n");
        }
    }
    if (open) {
        html_end_table(out);
    }
    buffer_free(&text);
}

void html_costs(const struct cost_page *page, struct buffer *out)
{
    static const char *const columns[] = {
        "arm against other arm",     ">other arm",       ">arm", ">difference, ratio",
        ">intervals: t, sign flips", ">could have seen", "word"};
    const struct cost_analysis *analysis = page->analysis;
    html_section(out, 3, "cost", "Cost");
    struct buffer caption = {0};
    buffer_printf(
        &caption,
        "Primary metrics: mean of the paired differences, arm minus other arm within each "
        "block, %zu blocks. Both intervals hold with ",
        analysis->data->blocks_done);
    cost_questions(&caption, analysis);
    buffer_text(&caption, "; the A/A comparison is judged apart.");
    html_table(out, caption.data, columns, 7);
    cost_rows(analysis, true, 7, out);
    html_end_table(out);
    buffer_clear(&caption);
    buffer_text(&caption, "Other metrics, exploratory: intervals hold with ");
    cost_exploratory(&caption, analysis);
    buffer_text(&caption, ", taken alone; no words, because they were not named as a question "
                          "before the run.");
    html_table(out, caption.data, columns, 5);
    cost_rows(analysis, false, 5, out);
    html_end_table(out);
    extremes_table(analysis, out);
    buffer_free(&caption);
    html_end_section(out);
}

/* ------------------------------------------------------------------ 4 graphs, 5 order */

void html_graphs(const struct cost_page *page, struct buffer *out)
{
    const struct cost_experiment *experiment = page->analysis->data->experiment;
    html_section(out, 4, "graphs", "Every run, and the differences");
    for (size_t metric = 0; metric < experiment->metrics_count; metric++) {
        if (experiment->metrics[metric].primary) {
            buffer_text(out, "<div class=\"plots\"><figure>");
            cost_plot_runs(page, metric, false, out);
            buffer_text(out, "</figure><figure>");
            cost_plot_differences(page, metric, false, out);
            buffer_text(out, "</figure></div>\n");
        }
    }
    buffer_text(out,
                "<p class=\"note\">Left: one mark a run, a faint line joins the runs of one block, "
                "the bar is the mean. Right: faint marks are the differences of the single "
                "blocks, the thick line is the t interval with a bar at the mean, the thin line "
                "below it the sign-flip interval (dashed: not bounded), the shaded band the "
                "margin within which a difference does not matter.</p>\n");
    html_end_section(out);
}

void html_order(const struct cost_page *page, struct buffer *out)
{
    const struct cost_analysis *analysis = page->analysis;
    const struct cost_experiment *experiment = analysis->data->experiment;
    html_section(out, 5, "order", "In the order of the runs");
    for (size_t metric = 0; metric <= experiment->metrics_count; metric++) {
        bool sentinel = metric == experiment->metrics_count && experiment->target == NULL;
        if (sentinel ||
            (metric < experiment->metrics_count && experiment->metrics[metric].primary)) {
            buffer_text(out, "<figure class=\"wide scroll\" tabindex=\"0\">");
            cost_plot_order(page, metric, false, out);
            buffer_text(out, "</figure>\n");
        }
    }
    static const char *const columns[] = {"baseline over the experiment", ">change per run", ">p"};
    html_table(out,
               "Trend of the baseline's own runs, by a permutation test: a small p says that the "
               "machine or the program changed while it was measured.",
               columns, 3);
    for (size_t metric = 0; metric < experiment->metrics_count; metric++) {
        const struct slope *slope = &analysis->drift.baseline[metric];
        if (!experiment->metrics[metric].primary) {
            continue;
        }
        struct buffer text = {0};
        buffer_text(out, "<tr>");
        html_head_cell(out, experiment->metrics[metric].label);
        if (isnan(slope->p)) {
            buffer_text(out, "<td colspan=\"2\">fewer than three runs</td></tr>\n");
            continue;
        }
        cost_number(&text, slope->slope, cost_decimals(analysis, metric) + 2, true);
        buffer_printf(&text, " %s", cost_difference_unit(&experiment->metrics[metric]));
        html_figure_cell(out, &text);
        buffer_printf(&text, "%.2g", slope->p);
        html_figure_cell(out, &text);
        buffer_text(out, "</tr>\n");
        buffer_free(&text);
    }
    html_end_table(out);
    buffer_text(out, "<p class=\"note\">Not measured here: windows within a run (warm-up) and the "
                     "distribution of single responses; each run gives one value a metric.</p>\n");
    html_end_section(out);
}

/* ------------------------------------------------------------------ the page */

static void page_head(const struct cost_page *page, struct buffer *out)
{
    static const char *const anchors[][2] = {
        {"answer", "Answer"},           {"validity", "Validity"}, {"cost", "Cost"},
        {"graphs", "Graphs"},           {"order", "Order"},       {"sources", "Where from"},
        {"memory", "Memory"},           {"trace", "Trace"},       {"load", "Load"},
        {"application", "Application"}, {"runs", "Every run"},    {"settings", "Settings"},
        {"limits", "Limits"},           {"again", "Again"}};
    const struct cost_analysis *analysis = page->analysis;
    const struct cost_experiment *experiment = analysis->data->experiment;
    buffer_text(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                     "<title>");
    svg_escape(out, experiment->title);
    buffer_printf(out, "</title>\n<style>%s%s</style>\n</head>\n<body>\n<main>\n", page_style,
                  svg_style);
    buffer_text(out, "<p class=\"kicker\">Cost of recording, measured</p>\n<h1>");
    svg_escape(out, experiment->title);
    buffer_text(out, "</h1>\n<div class=\"answer\"><p class=\"first\">");
    svg_escape(out, analysis->answer);
    buffer_text(out, "</p><p>");
    svg_escape(out, analysis->not_shown);
    buffer_text(out, "</p>");
    if (analysis->spread_note != NULL) {
        buffer_text(out, "<p>");
        svg_escape(out, analysis->spread_note);
        buffer_text(out, "</p>");
    }
    buffer_text(out, "</div>\n");
    if (analysis->words_withheld) {
        buffer_text(out,
                    "<p class=\"banner\" role=\"alert\">This rig is not fit for verdicts: the same "
                    "program measured twice got a word. All words are withheld.</p>\n");
    }
    if (analysis->data->stopped != NULL) {
        buffer_text(out, "<p class=\"banner\" role=\"alert\">The experiment is not complete: ");
        svg_escape(out, analysis->data->stopped);
        buffer_text(out, ".</p>\n");
    }
    buffer_text(out, "<p>");
    svg_escape(out, experiment->question);
    buffer_text(out, "</p>\n");
    if (experiment->workload != NULL) {
        buffer_text(out, "<p class=\"soft\">Workload: ");
        svg_escape(out, experiment->workload);
        buffer_text(out, "</p>\n");
    }
    if (experiment->target != NULL) {
        buffer_text(out, "<p class=\"soft\">Target: ");
        svg_escape(out, experiment->target);
        buffer_text(out, "</p>\n");
    }
    buffer_text(out, "<nav aria-label=\"Sections\">");
    for (size_t i = 0; i < sizeof anchors / sizeof *anchors; i++) {
        buffer_printf(out, "<a href=\"#%s\">%s</a> ", anchors[i][0], anchors[i][1]);
    }
    buffer_text(out, "</nav>\n");
}

void cost_html(const struct cost_page *page, struct buffer *out)
{
    static void (*const sections[])(const struct cost_page *, struct buffer *) = {
        html_answer,  html_validity, html_costs,  html_graphs,      html_order,
        html_sources, html_memory,   html_trace,  html_load,        html_application,
        html_runs,    html_settings, html_limits, html_reproduction};
    page_head(page, out);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        sections[i](page, out);
    }
    buffer_text(out, "<footer>Written by tare cost " TARE_VERSION " from analysis.json beside this "
                     "page; no number stands here that is not there.</footer>\n"
                     "</main>\n</body>\n</html>\n");
}
