/* The excerpt as a picture: a gap is drawn as a gap, hostile names stay text, bytes repeat. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "rep_svg.h"
#include "rep_timeline_svg.h"

static const uint64_t start = 5000000000u;
static const uint64_t ms = 1000000;

static size_t count(const char *text, const char *part)
{
    size_t found = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
        found++;
    }
    return found;
}

static struct buffer draw(const struct timeline *timeline, bool standalone)
{
    struct buffer out = {0};
    timeline_svg(&out, "excerpt", timeline, "An excerpt", standalone);
    return out;
}

static void a_gap_is_drawn_as_a_gap(void **state)
{
    (void)state;
    const struct timeline_span spans[] = {{start + ms, start + 3 * ms, false, 0, "work"},
                                          {start + 8 * ms, start + 9 * ms, false, 2, NULL}};
    const struct timeline_gap gaps[] = {{start + 10 * ms, start + 16 * ms, 12}};
    struct timeline_lane lane = {
        .name = "receive", .spans = spans, .span_count = 2, .gaps = gaps, .gap_count = 1};
    struct timeline timeline = {
        .begin_ns = start, .end_ns = start + 20 * ms, .lanes = &lane, .lane_count = 1};
    struct buffer with = draw(&timeline, false);
    assert_non_null(strstr(with.data, "12 events lost"));
    assert_non_null(strstr(with.data, "gap: not known"));
    assert_int_equal(count(with.data, "class=\"svg-gap\""), 2); /* the gap and its legend */
    assert_true(count(with.data, "svg-hatch") > 10);
    /* 940 pixels, 130 of them for names, 12 at the right: 6 of 20 ms are 239.4 wide. */
    assert_non_null(strstr(with.data, "x=\"529\" y=\"34\" width=\"239.4\""));
    lane.gap_count = 0;
    struct buffer without = draw(&timeline, false);
    assert_null(strstr(without.data, "svg-gap"));
    buffer_free(&with);
    buffer_free(&without);
}

static void spans_are_cut_to_the_stretch(void **state)
{
    (void)state;
    const struct timeline_span spans[] = {
        {0, start + ms, false, 0, NULL},
        {start + 19 * ms, UINT64_MAX, false, 1, NULL},
        {start + 5 * ms, start + 5 * ms, true, 0, "a label that has no room"},
        {0, start - ms, false, 2, "outside"},
        {start + 30 * ms, start + 31 * ms, false, 2, "outside"}};
    const struct timeline_lane lane = {.name = "lane", .spans = spans, .span_count = 5};
    struct timeline timeline = {
        .begin_ns = start, .end_ns = start + 20 * ms, .lanes = &lane, .lane_count = 1};
    struct buffer out = draw(&timeline, false);
    assert_non_null(strstr(out.data, "x=\"130\" y=\"37\" width=\"39.9\""));
    assert_non_null(strstr(out.data, "x=\"888.1\" y=\"37\" width=\"39.9\""));
    assert_non_null(strstr(out.data, "width=\"0.8\"")); /* the shortest is still seen */
    assert_null(strstr(out.data, "outside"));
    assert_null(strstr(out.data, "no room"));
    buffer_free(&out);
}

/* What a kernel says of a task: heights tell its states apart, and the task's own spans have a row
 * below the bar, so that neither hides the other. Lanes without both keep their height. */
static void tasks_have_a_row_for_spans(void **state)
{
    (void)state;
    static const char *const names[] = {"running", "blocked", "preempted"};
    static const enum timeline_look looks[] = {TIMELINE_LOOK_RUNS, TIMELINE_LOOK_WAITS,
                                               TIMELINE_LOOK_DISPLACED};
    const struct timeline_span task[] = {{start, start + 4 * ms, false, 0, "running"},
                                         {start + 2 * ms, start + 10 * ms, true, 0, "work"},
                                         {start + 4 * ms, start + 6 * ms, false, 2, NULL},
                                         {start + 6 * ms, start + 20 * ms, false, 1, NULL}};
    const struct timeline_span other[] = {{start, start + 20 * ms, false, 1, NULL}};
    const struct timeline_lane lanes[] = {{.name = "one", .spans = task, .span_count = 4},
                                          {.name = "two", .spans = other, .span_count = 1}};
    struct timeline timeline = {.begin_ns = start,
                                .end_ns = start + 20 * ms,
                                .lanes = lanes,
                                .lane_count = 2,
                                .state_names = names,
                                .state_looks = looks,
                                .state_count = 3,
                                .caption = "twenty <ms>"};
    struct buffer out = draw(&timeline, true);
    /* 39.9 pixels a millisecond; the bar is 20 high from y = 37 on, the row 13 from 59 on. */
    assert_non_null(
        strstr(out.data, "\"svg-f2\" x=\"130\" y=\"37\" width=\"159.6\" height=\"20\""));
    assert_non_null(
        strstr(out.data, "\"svg-f4\" x=\"209.8\" y=\"59\" width=\"319.2\" height=\"13\""));
    assert_non_null(strstr(out.data, "x=\"289.6\" y=\"40\" width=\"79.8\" height=\"14\""));
    assert_non_null(strstr(out.data, "x=\"369.4\" y=\"43.5\" width=\"558.6\" height=\"7\""));
    /* The second lane begins 34 + 13 further down; two lanes, the foot and the caption below. */
    assert_non_null(strstr(out.data, "x=\"130\" y=\"90.5\" width=\"798\" height=\"7\""));
    assert_non_null(strstr(out.data, "viewBox=\"0 0 940 163\""));
    assert_non_null(strstr(out.data, "twenty &lt;ms&gt;"));
    buffer_free(&out);
    timeline.caption = NULL;
    out = draw(&timeline, true);
    assert_non_null(strstr(out.data, "viewBox=\"0 0 940 145\""));
    buffer_free(&out);
}

static void names_stay_text(void **state)
{
    (void)state;
    const struct timeline_instant instant = {start, "x"};
    const struct timeline_lane lane = {
        .name = "<script>&\"'\x01", .instants = &instant, .instant_count = 1};
    struct timeline timeline = {
        .begin_ns = start, .end_ns = start + ms, .lanes = &lane, .lane_count = 1};
    struct buffer out = draw(&timeline, true);
    assert_null(strstr(out.data, "<script>"));
    assert_non_null(strstr(out.data, "&lt;script&gt;&amp;&quot;&#39;<"));
    assert_non_null(strstr(out.data, "<style>"));
    struct buffer again = draw(&timeline, true);
    assert_string_equal(out.data, again.data);
    buffer_free(&out);
    buffer_free(&again);
}

static void an_empty_stretch_draws_nothing(void **state)
{
    (void)state;
    const struct timeline_span span = {start, start, false, 0, NULL};
    const struct timeline_lane lane = {.name = "lane", .spans = &span, .span_count = 1};
    struct timeline timeline = {
        .begin_ns = start, .end_ns = start, .lanes = &lane, .lane_count = 1};
    struct buffer out = draw(&timeline, false);
    assert_null(strstr(out.data, "nan"));
    assert_non_null(strstr(out.data, "</svg>"));
    buffer_free(&out);
}

static void axes_have_round_steps(void **state)
{
    (void)state;
    struct svg_axis axis = svg_axis_make(0, 20, 100, 200, 10);
    assert_true(axis.step == 2 && axis.decimals == 0);
    assert_true(svg_axis_place(&axis, 10) == 150);
    axis = svg_axis_make(0.11, 0.19, 0, 1, 5);
    assert_true(axis.step > 0.0199 && axis.step < 0.0201 && axis.decimals == 2);
    axis = svg_axis_make(7, 7, 0, 100, 5); /* no width: widened around the value */
    assert_true(axis.low < 7 && axis.high > 7);
    axis = svg_axis_make(0, 0, 0, 100, 5);
    assert_true(axis.low < 0 && axis.high > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gap_is_drawn_as_a_gap),
        cmocka_unit_test(spans_are_cut_to_the_stretch),
        cmocka_unit_test(tasks_have_a_row_for_spans),
        cmocka_unit_test(names_stay_text),
        cmocka_unit_test(an_empty_stretch_draws_nothing),
        cmocka_unit_test(axes_have_round_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
