#include "cmd_cost_excerpt.h"

#include <stdlib.h>
#include <string.h>

#include "base_buffer.h"

/* The programs' own warm-up is a fifth of a run or less. */
static const struct excerpt_options options = {.length_ns = 20000000, .warm_up_percent = 25};

static bool tare_recording(const struct cost_run *run)
{
    const char *path = run->trace.path;
    size_t length = path != NULL ? strlen(path) : 0;
    return !run->voided && length > 5 && strcmp(path + length - 5, ".tare") == 0;
}

static const struct cost_run *middle_run(const struct cost_data *data)
{
    const struct cost_run *found = NULL;
    for (size_t i = 0; i < data->run_count; i++) {
        const struct cost_run *run = &data->runs[i];
        if (tare_recording(run) &&
            (found == NULL || (run->arm == found->arm && run->block <= data->blocks_done / 2))) {
            found = run;
        }
    }
    return found;
}

/* Index of a state's name in the legend; names are put in on their first use. */
static unsigned state_index(struct cost_excerpt *excerpt, const char *name)
{
    size_t index = 0;
    while (index < excerpt->timeline.state_count &&
           strcmp(excerpt->state_names[index], name) != 0) {
        index++;
    }
    if (index == excerpt->timeline.state_count) {
        excerpt->state_names =
            memory_resize(excerpt->state_names, index + 1, sizeof *excerpt->state_names);
        excerpt->state_names[index] = name;
        excerpt->timeline.state_count++;
    }
    return (unsigned)index;
}

/* States in the order of their numbers, so that the first one, which stands out, comes first. */
static void collect_states(struct cost_excerpt *excerpt)
{
    uint64_t number = 0;
    bool higher = true;
    while (higher) {
        uint64_t next = UINT64_MAX;
        for (size_t i = 0; i < excerpt->excerpt.lane_count; i++) {
            const struct excerpt_lane *lane = &excerpt->excerpt.lanes[i];
            for (size_t k = 0; k < lane->interval_count; k++) {
                const struct excerpt_interval *interval = &lane->intervals[k];
                if (interval->span) {
                    continue;
                }
                if (interval->state == number) {
                    state_index(excerpt, excerpt_text(&excerpt->excerpt, interval->name));
                } else if (interval->state > number && interval->state < next) {
                    next = interval->state;
                }
            }
        }
        higher = next != UINT64_MAX;
        number = next;
    }
}

static void fill_lane(struct cost_excerpt *excerpt, const struct excerpt_lane *from,
                      struct timeline_lane *lane)
{
    struct timeline_span *spans = memory_new(from->interval_count + 1, sizeof *spans);
    struct timeline_instant *instants = memory_new(from->instant_count + 1, sizeof *instants);
    struct timeline_gap *gaps = memory_new(from->gap_count + 1, sizeof *gaps);
    for (size_t i = 0; i < from->interval_count; i++) {
        const struct excerpt_interval *interval = &from->intervals[i];
        const char *name = excerpt_text(&excerpt->excerpt, interval->name);
        spans[i] = (struct timeline_span){.begin_ns = interval->begin_ns,
                                          .end_ns = interval->end_ns,
                                          .declared = interval->span,
                                          .state = interval->span ? 0 : state_index(excerpt, name),
                                          .label = name};
    }
    for (size_t i = 0; i < from->instant_count; i++) {
        instants[i] = (struct timeline_instant){
            from->instants[i].ns, excerpt_text(&excerpt->excerpt, from->instants[i].name)};
    }
    for (size_t i = 0; i < from->gap_count; i++) {
        gaps[i] = (struct timeline_gap){from->gaps[i].begin_ns, from->gaps[i].end_ns,
                                        from->gaps[i].events};
    }
    *lane = (struct timeline_lane){.name = excerpt_text(&excerpt->excerpt, from->name),
                                   .spans = spans,
                                   .span_count = from->interval_count,
                                   .instants = instants,
                                   .instant_count = from->instant_count,
                                   .gaps = gaps,
                                   .gap_count = from->gap_count};
}

static void fill_timeline(struct cost_excerpt *excerpt, const char *path)
{
    const struct excerpt *from = &excerpt->excerpt;
    struct buffer note = {0};
    excerpt->lanes = memory_new(from->lane_count + 1, sizeof *excerpt->lanes);
    excerpt->timeline.begin_ns = from->begin_ns;
    excerpt->timeline.end_ns = from->end_ns;
    collect_states(excerpt);
    for (size_t i = 0; i < from->lane_count; i++) {
        fill_lane(excerpt, &from->lanes[i], &excerpt->lanes[i]);
    }
    excerpt->timeline.lanes = excerpt->lanes;
    excerpt->timeline.lane_count = from->lane_count;
    excerpt->timeline.state_names = excerpt->state_names;
    buffer_printf(&note,
                  "%.3g ms of %s, from %.6f s after its first event; %zu of the %zu threads that "
                  "record have an event in it%s",
                  (double)(from->end_ns - from->begin_ns) / 1e6, path, (double)from->begin_ns / 1e9,
                  from->active_count, from->thread_count,
                  from->complete ? "" : "; more happened than can be drawn");
    excerpt->note = note.data;
    excerpt->found = from->lane_count > 0;
}

void cost_excerpt_take(struct cost_excerpt *excerpt, const struct cost_data *data,
                       const char *folder)
{
    const struct cost_run *run = middle_run(data);
    struct error error = {0};
    if (run == NULL) {
        excerpt->note = memory_text("no arm left a recording of Tare's");
        return;
    }
    struct buffer path = {0};
    buffer_printf(&path, "%s/%s", folder, run->trace.path);
    if (excerpt_take(path.data, &options, &excerpt->excerpt, &error)) {
        fill_timeline(excerpt, run->trace.path);
    } else {
        /* The reason names the file with its full path, which belongs on no page. */
        const char *reason = strstr(error.text, run->trace.path);
        excerpt->note = memory_text(reason != NULL ? reason : "the recording cannot be read");
    }
    buffer_free(&path);
}

void cost_excerpt_free(struct cost_excerpt *excerpt)
{
    for (size_t i = 0; i < excerpt->timeline.lane_count; i++) {
        free((void *)excerpt->lanes[i].spans);
        free((void *)excerpt->lanes[i].instants);
        free((void *)excerpt->lanes[i].gaps);
    }
    free(excerpt->lanes);
    free(excerpt->state_names);
    free(excerpt->note);
    excerpt_free(&excerpt->excerpt);
}
