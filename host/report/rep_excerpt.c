#include "rep_excerpt.h"

#include <stdlib.h>
#include <string.h>

static enum timeline_look look_of(const struct excerpt_interval *interval)
{
    static const enum timeline_look looks[] = {
        [EXCERPT_RUNNING] = TIMELINE_LOOK_RUNS,        [EXCERPT_READY] = TIMELINE_LOOK_READY,
        [EXCERPT_PREEMPTED] = TIMELINE_LOOK_DISPLACED, [EXCERPT_BLOCKED] = TIMELINE_LOOK_WAITS,
        [EXCERPT_INTERRUPT] = TIMELINE_LOOK_INTERRUPT, [EXCERPT_TIMER] = TIMELINE_LOOK_TIMER,
    };
    return interval->machine == EXCERPT_KERNEL ? looks[interval->state] : TIMELINE_LOOK_PLAIN;
}

/* Index in the legend; states are put in on their first use. */
static unsigned state_index(struct excerpt_picture *picture, const struct excerpt *excerpt,
                            const struct excerpt_interval *interval)
{
    const char *name = excerpt_text(excerpt, interval->legend);
    enum timeline_look look = look_of(interval);
    size_t index = 0;
    while (
        index < picture->timeline.state_count &&
        (picture->state_looks[index] != look || strcmp(picture->state_names[index], name) != 0)) {
        index++;
    }
    if (index == picture->timeline.state_count) {
        picture->state_names =
            memory_resize(picture->state_names, index + 1, sizeof *picture->state_names);
        picture->state_looks =
            memory_resize(picture->state_looks, index + 1, sizeof *picture->state_looks);
        picture->state_names[index] = name;
        picture->state_looks[index] = look;
        picture->timeline.state_count++;
    }
    return (unsigned)index;
}

/* States in the order of their numbers, so that the first one, which stands out, comes first. */
static void collect_states(struct excerpt_picture *picture, const struct excerpt *excerpt)
{
    uint64_t number = 0;
    bool higher = true;
    while (higher) {
        uint64_t next = UINT64_MAX;
        for (size_t i = 0; i < excerpt->lane_count; i++) {
            const struct excerpt_lane *lane = &excerpt->lanes[i];
            for (size_t k = 0; k < lane->interval_count; k++) {
                const struct excerpt_interval *interval = &lane->intervals[k];
                if (interval->span) {
                    continue;
                }
                if (interval->state == number) {
                    state_index(picture, excerpt, interval);
                } else if (interval->state > number && interval->state < next) {
                    next = interval->state;
                }
            }
        }
        higher = next != UINT64_MAX;
        number = next;
    }
}

static void fill_lane(struct excerpt_picture *picture, const struct excerpt *excerpt,
                      const struct excerpt_lane *from, struct timeline_lane *lane)
{
    struct timeline_span *spans = memory_new(from->interval_count + 1, sizeof *spans);
    struct timeline_instant *instants = memory_new(from->instant_count + 1, sizeof *instants);
    struct timeline_gap *gaps = memory_new(from->gap_count + 1, sizeof *gaps);
    for (size_t i = 0; i < from->interval_count; i++) {
        const struct excerpt_interval *interval = &from->intervals[i];
        spans[i] = (struct timeline_span){
            .begin_ns = interval->begin_ns,
            .end_ns = interval->end_ns,
            .declared = interval->span,
            .state = interval->span ? 0 : state_index(picture, excerpt, interval),
            .label = excerpt_text(excerpt, interval->name)};
    }
    for (size_t i = 0; i < from->instant_count; i++) {
        instants[i] = (struct timeline_instant){from->instants[i].ns,
                                                excerpt_text(excerpt, from->instants[i].name)};
    }
    for (size_t i = 0; i < from->gap_count; i++) {
        gaps[i] = (struct timeline_gap){from->gaps[i].begin_ns, from->gaps[i].end_ns,
                                        from->gaps[i].events};
    }
    *lane = (struct timeline_lane){.name = excerpt_text(excerpt, from->name),
                                   .spans = spans,
                                   .span_count = from->interval_count,
                                   .instants = instants,
                                   .instant_count = from->instant_count,
                                   .gaps = gaps,
                                   .gap_count = from->gap_count};
}

void excerpt_picture_make(struct excerpt_picture *picture, const struct excerpt *excerpt)
{
    *picture = (struct excerpt_picture){
        .timeline = {.begin_ns = excerpt->begin_ns, .end_ns = excerpt->end_ns}};
    picture->lanes = memory_new(excerpt->lane_count + 1, sizeof *picture->lanes);
    collect_states(picture, excerpt);
    for (size_t i = 0; i < excerpt->lane_count; i++) {
        fill_lane(picture, excerpt, &excerpt->lanes[i], &picture->lanes[i]);
    }
    picture->timeline.lanes = picture->lanes;
    picture->timeline.lane_count = excerpt->lane_count;
    picture->timeline.state_names = picture->state_names;
    picture->timeline.state_looks = picture->state_looks;
}

void excerpt_picture_free(struct excerpt_picture *picture)
{
    for (size_t i = 0; i < picture->timeline.lane_count; i++) {
        free((void *)picture->lanes[i].spans);
        free((void *)picture->lanes[i].instants);
        free((void *)picture->lanes[i].gaps);
    }
    free(picture->lanes);
    free(picture->state_names);
    free(picture->state_looks);
}

void excerpt_append_note(struct buffer *out, const struct excerpt *excerpt, const char *name)
{
    double length_ms = (double)(excerpt->end_ns - excerpt->begin_ns) / 1e6;
    buffer_printf(out, length_ms < 1000 ? "%.3g ms" : "%.0f ms", length_ms);
    if (name != NULL) {
        buffer_printf(out, " of %s, from %.6f s after its first event", name,
                      (double)excerpt->begin_ns / 1e9);
    } else {
        buffer_printf(out, " from %.6f s on",
                      ((double)excerpt->first_ns + (double)excerpt->begin_ns) / 1e9);
    }
    buffer_printf(out, "; %zu of the %zu %s in it%s", excerpt->active_count, excerpt->thread_count,
                  excerpt->kernel ? "tasks, interrupts and timers that ever run begin to run"
                                  : "threads that record have an event",
                  excerpt->complete ? "" : "; more happened than can be drawn");
}
