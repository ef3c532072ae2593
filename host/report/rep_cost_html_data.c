/* Sections 6 to 14 of the page: what stands behind the answer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rep_cost_html.h"

/* ------------------------------------------------------------------ 6 sources */

static void lab_cells(const struct cost_analysis *analysis, size_t arm, const char *name,
                      struct buffer *out)
{
    const struct cost_experiment *experiment = analysis->data->experiment;
    size_t metric = cost_metric_find(experiment, name);
    struct buffer text = {0};
    int decimals = cost_decimals(analysis, metric);
    cost_number(&text, analysis->summaries[arm * experiment->metrics_count + metric].mean, decimals,
                false);
    html_figure_cell(out, &text);
    for (size_t i = 0; i < analysis->comparison_count; i++) {
        const struct cost_comparison *comparison = &analysis->comparisons[i];
        if (comparison->metric == metric && comparison->arm == arm &&
            comparison->against == analysis->baseline && comparison->blocks >= 2) {
            cost_number(&text, comparison->verdict.t.mean, decimals, true);
            buffer_text(&text, " (");
            cost_interval(&text, comparison->verdict.t.interval, decimals);
            buffer_text(&text, ")");
        }
    }
    if (text.size == 0) {
        buffer_text(&text, "\u2013");
    }
    html_figure_cell(out, &text);
    buffer_free(&text);
}

static void lab_table(const struct cost_analysis *analysis, const char *caption,
                      const char *const *columns, const char *process, const char *collector,
                      struct buffer *out)
{
    const struct cost_data *data = analysis->data;
    html_table(out, caption, columns, 5);
    for (size_t arm = 0; arm < data->experiment->arms_count; arm++) {
        if (data->arms[arm].not_run == NULL) {
            buffer_text(out, "<tr>");
            html_head_cell(out, data->experiment->arms[arm].label);
            lab_cells(analysis, arm, process, out);
            lab_cells(analysis, arm, collector, out);
            buffer_text(out, "</tr>\n");
        }
    }
    html_end_table(out);
}

void html_sources(const struct cost_page *page, struct buffer *out)
{
    static const char *const columns[] = {"arm", ">application, ms", ">against the baseline",
                                          ">collector, ms", ">against the baseline"};
    html_section(out, 6, "sources", "Where the cost comes from");
    const char *target = page->analysis->data->experiment->target;
    if (target != NULL) {
        buffer_text(out, "<p>The application ran on its target (");
        svg_escape(out, target);
        buffer_text(out, "), and its own figures are in section 3. What this machine spent on it, "
                         "and on reading the recordings, is the application's in no way and stands "
                         "nowhere on this page.</p>\n");
        html_end_section(out);
        return;
    }
    lab_table(
        page->analysis,
        "CPU time of a whole run, start-up included, by the kernel's accounts: the application "
        "process apart from the collector that reads and stores its events. Interval 95 % each.",
        columns, "lab.process_cpu_ms", "lab.collector_cpu_ms", out);
    buffer_text(out,
                "<p class=\"note\">Not measured here: the recorder without its reader and the "
                "reader without the recorder, the cost by kind of event, and other loads. So this "
                "page cannot split the application's own share further.</p>\n");
    html_end_section(out);
}

/* ------------------------------------------------------------------ 7 memory */

static void image_rows(const struct cost_analysis *analysis, size_t arm, struct buffer *out)
{
    const struct cost_data *data = analysis->data;
    const struct cost_arm_facts *facts = &data->arms[arm];
    for (size_t i = 0; i < facts->image_count; i++) {
        const struct cost_image *image = &facts->images[i];
        struct buffer text = {0};
        buffer_text(out, "<tr>");
        html_head_cell(out, data->experiment->arms[arm].label);
        const char *folder = "${out}/";
        bool made_here = strncmp(image->path, folder, strlen(folder)) == 0;
        buffer_text(out, "<td><code>");
        svg_escape(out, image->path + (made_here ? strlen(folder) : 0));
        buffer_text(out, "</code></td>");
        const double sizes[] = {image->code_bytes, image->constant_bytes, image->data_bytes,
                                image->zeroed_bytes, image->bytes};
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            cost_number(&text, sizes[k], 0, false);
            html_figure_cell(out, &text);
        }
        const enum cost_part parts[] = {COST_READABLE, COST_WRITABLE};
        for (size_t k = 0; k < 2; k++) {
            double difference = cost_image_difference(analysis, arm, i, parts[k]);
            if (isnan(difference)) {
                buffer_text(&text, "\u2013");
            } else {
                cost_number(&text, difference, 0, true);
            }
            html_figure_cell(out, &text);
        }
        buffer_text(out, "</tr>\n");
        buffer_free(&text);
    }
}

void html_memory(const struct cost_page *page, struct buffer *out)
{
    static const char *const peaks[] = {"arm", ">application, MiB", ">against the baseline",
                                        ">collector, MiB", ">against the baseline"};
    static const char *const images[] = {"arm",
                                         "image",
                                         ">code, bytes",
                                         ">constants",
                                         ">data",
                                         ">zeroed",
                                         ">file",
                                         ">code, constants against the baseline",
                                         ">data, zeroed against the baseline"};
    const struct cost_analysis *analysis = page->analysis;
    html_section(out, 7, "memory", "Memory");
    bool here = analysis->data->experiment->target == NULL;
    if (here) {
        lab_table(
            analysis,
            "Largest resident size, mean over the runs. Pages shared with other processes count in "
            "each of them. Interval 95 % each.",
            peaks, "lab.process_peak_mib", "lab.collector_peak_mib", out);
    }
    size_t count = 0;
    for (size_t arm = 0; arm < analysis->data->experiment->arms_count; arm++) {
        count += analysis->data->arms[arm].image_count;
    }
    if (count > 0) {
        html_table(out,
                   here ? "What the images load, by section. Shared libraries that an image brings "
                          "along are not in it."
                        : "What the images occupy, by section: code and constants lie in flash, "
                          "data in flash and RAM, zeroed bytes in RAM. A recorder's ring and a "
                          "kernel's stacks are in the zeroed bytes.",
                   images, 9);
        for (size_t arm = 0; arm < analysis->data->experiment->arms_count; arm++) {
            image_rows(analysis, arm, out);
        }
        html_end_table(out);
    } else {
        buffer_text(out,
                    "<p class=\"note\">The experiment file names no images, so code and constants "
                    "were not measured.</p>\n");
    }
    buffer_text(out, "<p class=\"note\">Not measured here: stack and heap apart, reserved against "
                     "used.</p>\n");
    html_end_section(out);
}

/* ------------------------------------------------------------------ 8 trace health */

static void trace_runs(const struct cost_analysis *analysis, size_t arm, struct buffer *out)
{
    const struct cost_data *data = analysis->data;
    const struct cost_recording *recording = data->experiment->arms[arm].recording;
    const char **columns = memory_new(6 + (size_t)recording->facts_count, sizeof *columns);
    size_t count = 0;
    columns[count++] = "recording";
    columns[count++] = ">stored events";
    columns[count++] = ">lost events";
    columns[count++] = ">size";
    for (unsigned i = 0; i < recording->facts_count; i++) {
        columns[count++] = recording->facts[i].name;
    }
    struct buffer text = {0};
    buffer_printf(&text, "%s, every recording", data->experiment->arms[arm].label);
    html_table(out, text.data, columns, count);
    buffer_clear(&text);
    for (size_t i = 0; i < data->run_count; i++) {
        const struct cost_run *run = &data->runs[i];
        if (run->arm != arm || run->voided) {
            continue;
        }
        buffer_text(out, "<tr><th scope=\"row\"><code>");
        svg_escape(out, run->trace.path != NULL ? run->trace.path : "none");
        buffer_text(out, "</code></th>");
        if (run->trace.checked) {
            cost_number(&text, run->trace.stored, 0, false);
            html_figure_cell(out, &text);
            cost_number(&text, run->trace.lost, 0, false);
            html_figure_cell(out, &text);
        } else {
            buffer_text(out, "<td colspan=\"2\">not known: ");
            svg_escape(out, run->trace.problem != NULL ? run->trace.problem : "not checked");
            buffer_text(out, "</td>");
        }
        cost_bytes(&text, run->trace.bytes);
        html_figure_cell(out, &text);
        for (size_t k = 0; k < run->trace.fact_count; k++) {
            const char *value = run->trace.facts[k].value;
            if (value[strspn(value, "0123456789")] == 0 && strlen(value) < 16) {
                cost_number(&text, strtod(value, NULL), 0, false);
                html_figure_cell(out, &text);
            } else {
                html_cell(out, value);
            }
        }
        buffer_text(out, "</tr>\n");
    }
    html_end_table(out);
    buffer_free(&text);
    free(columns);
}

void html_trace(const struct cost_page *page, struct buffer *out)
{
    static const char *const columns[] = {"arm",          ">recordings", ">checked",
                                          ">with loss",   ">damaged",    ">stored events",
                                          ">lost events", "complete"};
    const struct cost_analysis *analysis = page->analysis;
    const struct cost_experiment *experiment = analysis->data->experiment;
    html_section(out, 8, "trace", "Trace health");
    html_table(out,
               "Every recording was checked after its run by the recorder's own reader. What the "
               "recorder lost stands here; what the application lost stands in section 10.",
               columns, 8);
    size_t recording = 0;
    for (size_t arm = 0; arm < experiment->arms_count; arm++) {
        const struct cost_arm_trace *trace = &analysis->traces[arm];
        if (trace->runs == 0) {
            continue;
        }
        recording++;
        struct buffer text = {0};
        buffer_text(out, "<tr>");
        html_head_cell(out, experiment->arms[arm].label);
        const double figures[] = {(double)trace->runs,
                                  (double)trace->runs_checked,
                                  (double)trace->runs_with_loss,
                                  (double)trace->runs_unhealthy,
                                  trace->stored,
                                  trace->lost};
        for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
            cost_number(&text, figures[i], 0, false);
            html_figure_cell(out, &text);
        }
        buffer_printf(out, "<td><span class=\"word %s\">%s</span></td></tr>\n",
                      trace->complete ? "w-good" : "w-bad", trace->complete ? "yes" : "no");
        buffer_free(&text);
    }
    if (recording == 0) {
        buffer_text(out, "<tr><td colspan=\"8\">no arm left a recording</td></tr>\n");
    }
    html_end_table(out);
    for (size_t arm = 0; arm < experiment->arms_count; arm++) {
        if (analysis->traces[arm].runs > 0) {
            trace_runs(analysis, arm, out);
        }
    }
    html_end_section(out);
}

/* ------------------------------------------------------------------ 9 load selection */

static void load_row(const struct cost_load_selection *selection, const struct cost_load_row *row,
                     struct buffer *out)
{
    struct buffer text = {0};
    buffer_text(out, "<tr>");
    if (row->cells == NULL) {
        buffer_printf(out, "<td colspan=\"%u\">not measured: ", selection->columns_count);
        svg_escape(out, row->problem);
        buffer_text(out, "</td>");
    }
    for (unsigned i = 0; row->cells != NULL && i < selection->columns_count; i++) {
        const char *cell = row->cells[i];
        char *end = NULL;
        double value = strtod(cell, &end);
        if (*cell != 0 && *end == 0) {
            cost_number(&text, value, value == floor(value) ? 0 : 2, false);
            html_figure_cell(out, &text);
        } else if (strcmp(cell, "yes") == 0 || strcmp(cell, "no") == 0) {
            buffer_printf(out, "<td class=\"n\"><span class=\"word %s\">%s</span></td>",
                          *cell == 'y' ? "w-good" : "w-bad", cell);
        } else {
            buffer_text(&text, cell);
            html_figure_cell(out, &text);
        }
    }
    buffer_text(out, "</tr>\n");
    buffer_free(&text);
}

void html_load(const struct cost_page *page, struct buffer *out)
{
    const struct cost_data *data = page->analysis->data;
    const struct cost_load_selection *selection = data->experiment->load_selection;
    html_section(out, 9, "load", "Load selection");
    if (selection == NULL) {
        buffer_text(out, "<p class=\"note\">Not measured here: the load at which a recorder begins "
                         "to lose.</p>\n");
        html_end_section(out);
        return;
    }
    struct buffer *names = memory_new(selection->columns_count, sizeof *names);
    const char **columns = memory_new(selection->columns_count, sizeof *columns);
    for (unsigned i = 0; i < selection->columns_count; i++) {
        buffer_printf(&names[i], ">%s", selection->columns[i].name);
        columns[i] = names[i].data;
    }
    html_table(out,
               selection->note != NULL ? selection->note
                                       : "One run at each load, before the "
                                         "experiment.",
               columns, selection->columns_count);
    for (size_t i = 0; i < data->load_row_count; i++) {
        load_row(selection, &data->load_rows[i], out);
    }
    html_end_table(out);
    for (unsigned i = 0; i < selection->columns_count; i++) {
        buffer_free(&names[i]);
    }
    free(names);
    free(columns);
    html_end_section(out);
}

/* ------------------------------------------------------------------ 10 application */

static void loss_rows(const struct cost_analysis *analysis, size_t metric, struct buffer *out)
{
    const struct cost_experiment *experiment = analysis->data->experiment;
    const struct cost_metric *shown = &experiment->metrics[metric];
    for (size_t arm = 0; arm < experiment->arms_count; arm++) {
        const struct cost_summary *summary =
            &analysis->summaries[arm * experiment->metrics_count + metric];
        if (summary->count == 0) {
            continue;
        }
        struct buffer text = {0};
        buffer_text(out, "<tr>");
        html_head_cell(out, shown->label);
        html_cell(out, experiment->arms[arm].label);
        cost_number(&text, summary->lost, 0, false);
        html_figure_cell(out, &text);
        cost_number(&text, summary->of, 0, false);
        html_figure_cell(out, &text);
        if (isnan(summary->bound_share)) {
            buffer_text(&text, "\u2013");
        } else {
            cost_bound(&text, summary->bound_share);
        }
        html_figure_cell(out, &text);
        buffer_text(out, "</tr>\n");
        buffer_free(&text);
    }
}

void html_application(const struct cost_page *page, struct buffer *out)
{
    static const char *const columns[] = {"what was lost", "arm", ">lost", ">of",
                                          ">bound when none was seen"};
    const struct cost_analysis *analysis = page->analysis;
    const struct cost_experiment *experiment = analysis->data->experiment;
    html_section(out, 10, "application", "What the application did");
    bool any = false;
    for (size_t metric = 0; metric < experiment->metrics_count; metric++) {
        if (experiment->metrics[metric].kind == COST_LOSS) {
            if (!any) {
                html_table(out,
                           "Work of the application that was lost, all runs together. Zero seen is "
                           "not zero for ever: the bound is 3 / N.",
                           columns, 5);
            }
            any = true;
            loss_rows(analysis, metric, out);
        }
    }
    if (any) {
        html_end_table(out);
    }
    if (page->excerpt != NULL) {
        buffer_text(out, "<figure class=\"wide scroll\" tabindex=\"0\">");
        timeline_svg(out, "excerpt", page->excerpt, page->excerpt_note, false);
        buffer_text(out, "<figcaption>");
        svg_escape(out, page->excerpt_note);
        buffer_text(out, "</figcaption></figure>\n");
    } else {
        buffer_text(out, "<p class=\"note\">No excerpt of a recording: ");
        svg_escape(out, page->excerpt_note);
        buffer_text(out, ".</p>\n");
    }
    html_end_section(out);
}

/* ------------------------------------------------------------------ 11 every run */

static void run_row(const struct cost_analysis *analysis, size_t number, struct buffer *out)
{
    const struct cost_data *data = analysis->data;
    const struct cost_run *run = &data->runs[number];
    struct buffer text = {0};
    buffer_text(out, run->voided ? "<tr class=\"void\">" : "<tr>");
    buffer_printf(&text, "%zu", number + 1);
    html_head_cell(out, text.data);
    buffer_clear(&text);
    const size_t places[] = {run->block + 1, run->position + 1};
    for (size_t i = 0; i < 2; i++) {
        buffer_printf(&text, "%zu", places[i]);
        html_figure_cell(out, &text);
    }
    html_cell(out, data->experiment->arms[run->arm].label);
    cost_number(&text, run->started_s, 1, false);
    html_figure_cell(out, &text);
    if (run->voided) {
        buffer_printf(out,
                      "<td colspan=\"%zu\">voided: ", (size_t)data->experiment->metrics_count + 2);
        svg_escape(out, run->reason);
        buffer_text(out, "</td></tr>\n");
        buffer_free(&text);
        return;
    }
    for (size_t metric = 0; metric < data->experiment->metrics_count; metric++) {
        if (isnan(run->values[metric])) {
            buffer_text(&text, "\u2013");
        } else {
            cost_number(&text, run->values[metric], cost_decimals(analysis, metric), false);
        }
        html_figure_cell(out, &text);
    }
    const double sentinels[] = {run->sentinel_before_ns, run->sentinel_after_ns};
    for (size_t i = 0; i < 2; i++) {
        cost_number(&text, sentinels[i] / 1e6, 3, false);
        html_figure_cell(out, &text);
    }
    buffer_text(out, "</tr>\n");
    buffer_free(&text);
}

void html_runs(const struct cost_page *page, struct buffer *out)
{
    const struct cost_data *data = page->analysis->data;
    size_t metrics = data->experiment->metrics_count;
    struct buffer *names = memory_new(metrics, sizeof *names);
    const char **columns = memory_new(metrics + 7, sizeof *columns);
    size_t count = 0;
    columns[count++] = "run";
    columns[count++] = ">block";
    columns[count++] = ">place";
    columns[count++] = "arm";
    columns[count++] = ">start, s";
    for (size_t i = 0; i < metrics; i++) {
        buffer_printf(&names[i], ">%s, %s", data->experiment->metrics[i].label,
                      data->experiment->metrics[i].unit);
        columns[count++] = names[i].data;
    }
    columns[count++] = ">sentinel before, ms";
    columns[count++] = ">after, ms";
    html_section(out, 11, "runs", "Every run");
    buffer_text(out, "<div class=\"runs\">\n");
    html_table(out,
               "In the order in which they were made; the same values with all digits are in "
               "runs.csv, with everything derived from them in analysis.json.",
               columns, count);
    for (size_t i = 0; i < data->run_count; i++) {
        run_row(page->analysis, i, out);
    }
    html_end_table(out);
    buffer_text(out, "</div>\n<p><a href=\"runs.csv\">runs.csv</a> &middot; <a "
                     "href=\"analysis.json\">analysis.json</a> &middot; <a "
                     "href=\"manifest.json\">manifest.json</a></p>\n");
    html_end_section(out);
    for (size_t i = 0; i < metrics; i++) {
        buffer_free(&names[i]);
    }
    free(names);
    free(columns);
}

/* ------------------------------------------------------------------ 12 to 14 */

void html_settings(const struct cost_page *page, struct buffer *out)
{
    const struct cost_data *data = page->analysis->data;
    html_section(out, 12, "settings", "Settings of every arm");
    for (size_t i = 0; i < data->experiment->arms_count; i++) {
        const struct cost_arm *arm = &data->experiment->arms[i];
        buffer_text(out, "<h3>");
        svg_escape(out, arm->label);
        buffer_printf(out, " <span class=\"soft\">(%s)</span></h3>\n<dl><dt>command</dt><dd><code>",
                      cost_role_text(arm->role));
        svg_escape(out, data->arms[i].command);
        buffer_text(out, "</code></dd>");
        for (unsigned k = 0; k < arm->settings_count; k++) {
            buffer_text(out, "<dt>");
            svg_escape(out, arm->settings[k].name);
            buffer_text(out, "</dt><dd>");
            svg_escape(out, arm->settings[k].value);
            buffer_text(out, "</dd>");
        }
        for (size_t k = 0; k < data->arms[i].reported_count; k++) {
            buffer_text(out, "<dt>reported: ");
            svg_escape(out, data->arms[i].reported[k].name);
            buffer_text(out, "</dt><dd>");
            svg_escape(out, data->arms[i].reported[k].value);
            buffer_text(out, "</dd>");
        }
        for (unsigned k = 0; k < arm->environment_count; k++) {
            buffer_text(out, "<dt>environment</dt><dd><code>");
            svg_escape(out, arm->environment[k]);
            buffer_text(out, "</code></dd>");
        }
        buffer_text(out, "</dl>\n");
    }
    buffer_text(out,
                "<p class=\"note\">The arms were configured by whoever wrote the experiment file. "
                "Counts of events are not equal units: recorders split the same happening into "
                "different events.</p>\n");
    html_end_section(out);
}

void html_limits(const struct cost_page *page, struct buffer *out)
{
    const struct cost_experiment *experiment = page->analysis->data->experiment;
    html_section(out, 13, "limits", "What this cannot show");
    buffer_text(out, "<ul>\n<li>");
    svg_escape(out, page->analysis->not_shown);
    buffer_text(out, "</li>\n");
    for (unsigned i = 0; i < experiment->limits_count; i++) {
        buffer_text(out, "<li>");
        svg_escape(out, experiment->limits[i]);
        buffer_text(out, "</li>\n");
    }
    buffer_text(out,
                "<li>One image an arm is one sample of code layout: a difference between two arms "
                "includes where the linker put things. The A/A arm shows how much that can be, "
                "for one other layout.</li>\n"
                "<li>The extremes are those of these runs. They bound nothing.</li>\n</ul>\n");
    html_end_section(out);
}

void html_reproduction(const struct cost_page *page, struct buffer *out)
{
    const struct cost_data *data = page->analysis->data;
    html_section(out, 14, "again", "Do it again");
    buffer_text(out, "<pre><code>");
    svg_escape(out, page->command);
    buffer_printf(out,
                  "</code></pre>\n<dl><dt>seed of the order</dt><dd>%llu</dd><dt>duration</dt><dd>",
                  (unsigned long long)data->seed);
    cost_number(out, data->wall_s, 0, false);
    buffer_text(out, " s</dd>");
    for (size_t i = 0; i < data->host_count; i++) {
        buffer_text(out, "<dt>");
        svg_escape(out, data->host[i].name);
        buffer_text(out, "</dt><dd>");
        svg_escape(out, data->host[i].value);
        buffer_text(out, "</dd>");
    }
    for (size_t arm = 0; arm < data->experiment->arms_count; arm++) {
        for (size_t i = 0; i < data->arms[arm].image_count; i++) {
            buffer_text(out, "<dt>");
            svg_escape(out, data->arms[arm].images[i].path);
            buffer_text(out, "</dt><dd><code>");
            svg_escape(out, data->arms[arm].images[i].hash);
            buffer_text(out, "</code></dd>");
        }
    }
    buffer_text(out, "</dl>\n");
    html_end_section(out);
}
