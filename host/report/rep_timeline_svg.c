#include "rep_timeline_svg.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rep_svg.h"

enum {
    WIDTH = 940,
    LABELS = 130,
    LANE = 34,
    BAR = 20,
    ROW = 13,
    TOP = 30,
    FOOT = 34,
    CAPTION = 18,
    NESTING = 3
};

static const double letter_width = 6.3; /* of the small text, on average */

/* State 0, then the others; further ones repeat the light colours. */
static const char *const state_classes[] = {"svg-f2",           "svg-f1 svg-light",
                                            "svg-f3 svg-light", "svg-f5 svg-light",
                                            "svg-f6 svg-light", "svg-f7 svg-light"};
enum {
    STATE_CLASSES = sizeof state_classes / sizeof *state_classes
};

struct look {
    const char *class_name;
    double height; /* share of the bar's */
    bool light;    /* text on it is dark */
};

static const struct look looks[] = {
    [TIMELINE_LOOK_RUNS] = {"svg-f2", 1, false},
    [TIMELINE_LOOK_READY] = {"svg-f3 svg-light", 0.7, true},
    [TIMELINE_LOOK_DISPLACED] = {"svg-f5 svg-light", 0.7, true},
    [TIMELINE_LOOK_WAITS] = {"svg-f1 svg-light", 0.35, true},
    [TIMELINE_LOOK_INTERRUPT] = {"svg-f3", 1, false},
    [TIMELINE_LOOK_TIMER] = {"svg-f6", 1, false},
};

static struct look look_of(const struct timeline *timeline, bool declared, unsigned state)
{
    struct look look = {"svg-f4", 1, false};
    if (declared) {
        return look;
    }
    if (timeline->state_looks != NULL && timeline->state_looks[state] != TIMELINE_LOOK_PLAIN) {
        return looks[timeline->state_looks[state]];
    }
    look.class_name =
        state_classes[state < STATE_CLASSES ? state : 1 + (state - 1) % (STATE_CLASSES - 1)];
    look.light = state > 0;
    return look;
}

struct picture {
    struct buffer *out;
    const struct timeline *timeline;
    double from, to; /* pixels of the stretch */
};

static double place(const struct picture *picture, uint64_t at_ns)
{
    const struct timeline *timeline = picture->timeline;
    uint64_t at = at_ns < timeline->begin_ns ? timeline->begin_ns : at_ns;
    at = at > timeline->end_ns ? timeline->end_ns : at;
    double share =
        (double)(at - timeline->begin_ns) / (double)(timeline->end_ns - timeline->begin_ns);
    return picture->from + share * (picture->to - picture->from);
}

static bool inside(const struct timeline *timeline, uint64_t begin_ns, uint64_t end_ns)
{
    return end_ns >= timeline->begin_ns && begin_ns <= timeline->end_ns;
}

/* What a kernel says of a task fills the bar; the task's own spans then have a row below it. */
static bool is_ruled(const struct timeline *timeline, const struct timeline_span *span)
{
    return !span->declared && timeline->state_looks != NULL &&
           timeline->state_looks[span->state] != TIMELINE_LOOK_PLAIN;
}

static bool has_row(const struct timeline *timeline, const struct timeline_lane *lane)
{
    bool ruled = false;
    bool declared = false;
    for (size_t i = 0; i < lane->span_count; i++) {
        ruled = ruled || is_ruled(timeline, &lane->spans[i]);
        declared = declared || lane->spans[i].declared;
    }
    return ruled && declared;
}

static double lane_height(const struct timeline *timeline, const struct timeline_lane *lane)
{
    return LANE + (has_row(timeline, lane) ? ROW : 0);
}

static void draw_span(const struct picture *picture, const struct timeline_span *span, double y,
                      double height, double inset)
{
    struct look look = look_of(picture->timeline, span->declared, span->state);
    double left = place(picture, span->begin_ns);
    double right = place(picture, span->end_ns);
    /* The shortest span is still seen. */
    double width = right - left < 0.8 ? 0.8 : right - left;
    inset = look.height < 1 ? height * (1 - look.height) / 2 : inset;
    svg_rectangle(picture->out, look.class_name, left, y + inset, width, height - 2 * inset);
    if (span->label != NULL && (double)strlen(span->label) * letter_width + 8 < width) {
        svg_text(picture->out, look.light ? "svg-small svg-ink" : "svg-small svg-paper", left + 4,
                 y + height / 2.0 + 4, SVG_START, span->label);
    }
}

/* An inner span is drawn with an inset; `ruled`: only what a kernel says, or only the rest. */
static void draw_nested(const struct picture *picture, const struct timeline_lane *lane, bool row,
                        bool ruled, double y, double height)
{
    uint64_t ends[16];
    size_t depth = 0;
    for (size_t i = 0; i < lane->span_count; i++) {
        const struct timeline_span *span = &lane->spans[i];
        if (!inside(picture->timeline, span->begin_ns, span->end_ns) ||
            (row && is_ruled(picture->timeline, span) != ruled)) {
            continue;
        }
        while (depth > 0 && ends[depth - 1] <= span->begin_ns) {
            depth--;
        }
        draw_span(picture, span, y, height,
                  NESTING * (double)(depth < 3 ? depth : 3) * height / BAR);
        if (depth < sizeof ends / sizeof *ends) {
            ends[depth++] = span->end_ns;
        }
    }
}

static void draw_spans(const struct picture *picture, const struct timeline_lane *lane, double y)
{
    bool row = has_row(picture->timeline, lane);
    draw_nested(picture, lane, row, true, y, BAR);
    if (row) {
        draw_nested(picture, lane, row, false, y + BAR + 2, ROW);
    }
}

static void draw_gaps(const struct picture *picture, const struct timeline_lane *lane, double y)
{
    for (size_t i = 0; i < lane->gap_count; i++) {
        const struct timeline_gap *gap = &lane->gaps[i];
        if (!inside(picture->timeline, gap->begin_ns, gap->end_ns)) {
            continue;
        }
        double left = place(picture, gap->begin_ns);
        double right = place(picture, gap->end_ns);
        right = right - left < 3 ? left + 3 : right;
        svg_rectangle(picture->out, "svg-gap", left, y - 3, right - left, BAR + 6);
        int stripes = (int)((right - left) / 7) + 1;
        for (int stripe = 0; stripe < stripes; stripe++) {
            double x = left + (right - left) * stripe / stripes;
            double end = left + (right - left) * (stripe + 1) / stripes;
            svg_line(picture->out, "svg-hatch svg-thin", x, y + BAR + 3, end, y - 3);
        }
        char text[64] = "not known";
        if (gap->lost_events > 0) {
            snprintf(text, sizeof text, "%" PRIu64 " events lost", gap->lost_events);
        }
        double needed = (double)strlen(text) * letter_width + 8;
        if (needed < right - left) {
            double middle = (left + right) / 2;
            svg_rectangle(picture->out, "svg-paper", middle - needed / 2, y + 2, needed, BAR - 4);
            svg_text(picture->out, "svg-small svg-ink", middle, y + BAR / 2.0 + 4, SVG_MIDDLE,
                     text);
        }
    }
}

static void draw_instants(const struct picture *picture, const struct timeline_lane *lane, double y)
{
    for (size_t i = 0; i < lane->instant_count; i++) {
        const struct timeline_instant *instant = &lane->instants[i];
        if (!inside(picture->timeline, instant->at_ns, instant->at_ns)) {
            continue;
        }
        double x = place(picture, instant->at_ns);
        svg_line(picture->out, "svg-s5 svg-thin", x, y - 4, x, y + 5);
    }
}

static void draw_axis(const struct picture *picture, double bottom)
{
    const struct timeline *timeline = picture->timeline;
    double length_ms = (double)(timeline->end_ns - timeline->begin_ns) / 1e6;
    struct svg_axis axis = svg_axis_make(0, length_ms, picture->from, picture->to, 10);
    for (int tick = 0; tick * axis.step <= length_ms * (1 + 1e-9); tick++) {
        char text[48];
        double x = svg_axis_place(&axis, tick * axis.step);
        snprintf(text, sizeof text, "%.*f", axis.decimals, tick * axis.step);
        svg_line(picture->out, "svg-rule", x, TOP - 6, x, bottom);
        bool edge = x + (double)strlen(text) * letter_width / 2 > picture->to + 10;
        svg_text(picture->out, "svg-small svg-soft", edge ? picture->to + 10 : x, bottom + 15,
                 edge ? SVG_END : SVG_MIDDLE, text);
    }
    svg_text(picture->out, "svg-small svg-soft", picture->to, bottom + 29, SVG_END, "milliseconds");
}

static double draw_key(const struct picture *picture, double x, struct look look, const char *name)
{
    double height = 12 * look.height;
    svg_rectangle(picture->out, look.class_name, x, 4 + (12 - height) / 2, 12, height);
    svg_text(picture->out, "svg-small svg-ink", x + 17, 14, SVG_START, name);
    return x + 17 + (double)strlen(name) * letter_width + 14;
}

static void draw_legend(const struct picture *picture)
{
    const struct timeline *timeline = picture->timeline;
    bool declared = false;
    bool instants = false;
    bool gaps = false;
    double x = picture->from;
    for (unsigned state = 0; state < timeline->state_count; state++) {
        x = draw_key(picture, x, look_of(timeline, false, state), timeline->state_names[state]);
    }
    for (size_t i = 0; i < timeline->lane_count; i++) {
        for (size_t k = 0; k < timeline->lanes[i].span_count; k++) {
            declared = declared || timeline->lanes[i].spans[k].declared;
        }
        instants = instants || timeline->lanes[i].instant_count > 0;
        gaps = gaps || timeline->lanes[i].gap_count > 0;
    }
    if (declared) {
        x = draw_key(picture, x, look_of(timeline, true, 0), "span");
    }
    if (instants) {
        svg_line(picture->out, "svg-s5 svg-thin", x + 3, 5, x + 3, 15);
        svg_text(picture->out, "svg-small svg-ink", x + 10, 14, SVG_START, "event");
        x += 10 + 5 * letter_width + 18;
    }
    if (gaps) {
        svg_rectangle(picture->out, "svg-gap", x, 4, 12, 12);
        svg_line(picture->out, "svg-hatch svg-thin", x, 16, x + 12, 4);
        svg_text(picture->out, "svg-small svg-ink", x + 17, 14, SVG_START, "gap: not known");
    }
}

void timeline_svg(struct buffer *out, const char *id, const struct timeline *timeline,
                  const char *title, bool standalone)
{
    struct buffer description = {0};
    buffer_printf(&description, "%zu lanes over %.6g ms: ", timeline->lane_count,
                  (double)(timeline->end_ns - timeline->begin_ns) / 1e6);
    for (size_t i = 0; i < timeline->lane_count; i++) {
        const struct timeline_lane *lane = &timeline->lanes[i];
        buffer_printf(&description, "%s%s with %zu spans, %zu events and %zu gaps",
                      i > 0 ? "; " : "", lane->name, lane->span_count, lane->instant_count,
                      lane->gap_count);
    }
    double bottom = TOP;
    for (size_t i = 0; i < timeline->lane_count; i++) {
        bottom += lane_height(timeline, &timeline->lanes[i]);
    }
    svg_begin(out, id, WIDTH, bottom + FOOT + (timeline->caption != NULL ? CAPTION : 0), title,
              description.data, standalone);
    buffer_free(&description);
    struct picture picture = {out, timeline, LABELS, WIDTH - 12};
    if (timeline->end_ns > timeline->begin_ns) {
        draw_axis(&picture, bottom);
        draw_legend(&picture);
        double y = TOP + (LANE - BAR) / 2.0;
        for (size_t i = 0; i < timeline->lane_count; i++) {
            const struct timeline_lane *lane = &timeline->lanes[i];
            svg_text(out, "svg-ink", LABELS - 10, y + BAR / 2.0 + 4, SVG_END, lane->name);
            svg_line(out, "svg-rule", picture.from, y + BAR, picture.to, y + BAR);
            draw_spans(&picture, lane, y);
            draw_gaps(&picture, lane, y);
            draw_instants(&picture, lane, y);
            y += lane_height(timeline, lane);
        }
    }
    if (timeline->caption != NULL) {
        svg_text(out, "svg-small svg-soft", picture.to, bottom + FOOT + 11, SVG_END,
                 timeline->caption);
    }
    svg_end(out);
}
