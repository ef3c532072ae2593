/* mod_timeline: runs made by hand; every item that must come out is written down as a line of text.
 *
 * Ids: 0x810 span "job" (ends with 0x811), 0x820 state "thread state", 0x830 value, 0x840 event,
 * 0x850 string; 0x860 has no definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mod_timeline.h"

#define JOB 0x810u
#define JOB_END 0x811u
#define STATE 0x820u
#define VALUE 0x830u
#define PLAIN 0x840u
#define STRING 0x850u
#define UNKNOWN 0x860u

struct scene {
    struct decode_directory directory;
    struct decode_stream *stream[3]; /* two of one session, one of another */
    struct timeline_builder *timeline;
    struct buffer log;
};

static const char *event_name(const struct timeline_item *item)
{
    return item->definition != NULL ? item->definition->name : "?";
}

static void log_item(void *context, const struct timeline_item *item)
{
    static const char *const kinds[] = {"stream", "instant",   "text", "value",
                                        "state",  "state-end", "span", "span-end",
                                        "orphan", "lost",      "end"};
    struct scene *scene = context;
    struct buffer *log = &scene->log;

    buffer_printf(log, "%s %u %" PRIu64, kinds[item->kind], item->stream->ordinal, item->ticks);
    switch (item->kind) {
    case TIMELINE_STATE_END:
    case TIMELINE_SPAN_END:
        buffer_printf(log, " %s %u from %u %" PRIu64 " #%" PRIu64 " tag %u: %s", event_name(item),
                      item->argument[0], item->begin_stream->ordinal, item->begin_ticks,
                      item->number, *item->tag, timeline_cause_text(item->cause));
        break;
    case TIMELINE_STATE_BEGIN:
    case TIMELINE_SPAN_BEGIN:
        assert_int_equal(*item->tag, 0);
        *item->tag = 100 + (uint32_t)item->number;
        buffer_printf(log, " %s %u #%" PRIu64, event_name(item), item->argument[0], item->number);
        break;
    case TIMELINE_LOST:
        buffer_printf(log, " from %" PRIu64 "%s: %s %" PRIu64, item->begin_ticks,
                      item->begin_known ? "" : " or later", timeline_loss_name(item->loss),
                      item->count);
        break;
    case TIMELINE_STREAM:
    case TIMELINE_END:
        break;
    default:
        buffer_printf(log, " %s %u", event_name(item), item->argument[0]);
        break;
    }
    if (item->text != NULL)
        buffer_printf(log, " \"%.*s\"%s", (int)item->text_size, item->text,
                      item->text_cut ? " cut" : "");
    buffer_text(log, item->uncertain ? " uncertain\n" : "\n");
}

static void define(struct decode_session *session, uint32_t class, uint32_t id, const char *text)
{
    definitions_add(&session->definitions, class, 0, id, text, strlen(text));
}

static int set_up_limited(void **state, uint32_t span_limit)
{
    struct scene *scene = memory_new(1, sizeof(*scene));

    scene->stream[0] = directory_stream(&scene->directory, 1, 1);
    scene->stream[1] = directory_stream(&scene->directory, 1, 2);
    scene->stream[2] = directory_stream(&scene->directory, 2, 1);
    for (int i = 0; i < 3; i += 2) {
        struct decode_session *session = scene->stream[i]->session;

        define(session, TARE_CLASS_SPAN_BEGIN, JOB, "job|id:u32:");
        define(session, TARE_CLASS_SPAN_END, JOB_END, "job|id:u32:");
        define(session, TARE_CLASS_STATE, STATE, "thread state|state:u32:{running,waiting}");
        define(session, TARE_CLASS_VALUE, VALUE, "depth|value:u32:blocks");
        define(session, TARE_CLASS_EVENT, PLAIN, "tick|number:u32:");
        define(session, TARE_CLASS_STRING, STRING, "log|length:u32:B");
    }
    scene->timeline = timeline_new(span_limit, log_item, scene);
    *state = scene;
    return 0;
}

static int set_up(void **state)
{
    return set_up_limited(state, TIMELINE_SPAN_LIMIT);
}

static int set_up_two_spans(void **state)
{
    return set_up_limited(state, 2);
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    timeline_free(scene->timeline);
    directory_free(&scene->directory);
    buffer_free(&scene->log);
    free(scene);
    return 0;
}

static void take_run(struct scene *scene, int stream, const struct event *events, uint32_t count,
                     const struct note *notes, uint32_t note_count)
{
    struct record_batch batch = {0};
    struct decode_run run = {.stream = scene->stream[stream],
                             .events = events,
                             .count = count,
                             .notes = notes,
                             .note_count = note_count,
                             .batch = &batch};

    batch.events = (struct event *)events;
    batch.count = count;
    batch.notes = (struct note *)notes;
    batch.note_count = note_count;
    buffer_text(&batch.texts, "hello late ");
    timeline_take(scene->timeline, &run);
    buffer_free(&batch.texts);
}

static void event(struct scene *scene, int stream, uint64_t ticks, uint32_t id, uint32_t argument)
{
    struct event one = {.ticks = ticks, .id = id, .argument = {argument, 0}};

    take_run(scene, stream, &one, 1, NULL, 0);
}

static void note(struct scene *scene, int stream, struct note note)
{
    take_run(scene, stream, NULL, 0, &note, 1);
}

static void expect(struct scene *scene, const char *lines)
{
    assert_string_equal(scene->log.data != NULL ? scene->log.data : "", lines);
    buffer_clear(&scene->log);
}

static void dropped(struct scene *scene, int stream, uint64_t ticks, uint64_t first, uint32_t span,
                    bool first_known)
{
    struct note one = {.kind = NOTE_LOSS, .ticks = ticks};

    one.loss.first = first;
    one.loss.span = span;
    one.loss.count = 7;
    one.loss.first_known = first_known;
    note(scene, stream, one);
}

/* ------------------------------------------------------------------ */

static void points(void **state)
{
    struct scene *scene = *state;
    const struct event events[] = {
        {.ticks = 10, .id = PLAIN, .argument = {1, 0}},
        {.ticks = 10, .id = VALUE, .argument = {5, 0}},
        {.ticks = 11, .id = STRING, .argument = {5, 0}},
        {.ticks = 12, .id = STRING, .argument = {6, 0}},
        {.ticks = 12, .id = UNKNOWN, .argument = {9, 0}},
        {.ticks = 12, .id = TARE_ID_UNNAMED1, .argument = {3, 0}},
    };
    struct note notes[2] = {{.kind = NOTE_TEXT, .before = 3, .ticks = 11},
                            {.kind = NOTE_TEXT, .before = 6, .ticks = 13}};

    notes[0].text.size = 5;
    notes[0].text.event = 2;
    notes[1].text.at = 6;
    notes[1].text.size = 4;
    notes[1].text.event = NOTE_NO_EVENT; /* as if it belonged to an earlier batch */
    notes[1].text.event_ticks = 9;
    notes[1].text.event_id = STRING;
    notes[1].text.cut = true;
    take_run(scene, 0, events, 6, notes, 2);
    expect(scene, "stream 0 10\n"
                  "instant 0 10 tick 1\n"
                  "value 0 10 depth 5\n"
                  "instant 0 11 log 5 \"hello\"\n"
                  "instant 0 12 log 6\n"
                  "instant 0 12 ? 9\n"
                  "instant 0 12 ? 3\n"
                  "text 0 9 log 0 \"late\" cut\n");
}

static void states(void **state)
{
    struct scene *scene = *state;
    struct note end = {.kind = NOTE_END, .ticks = 60};

    event(scene, 0, 10, STATE, 1);
    event(scene, 1, 20, STATE, 0);
    event(scene, 0, 30, STATE, 1);
    event(scene, 0, 40, JOB, 4);
    note(scene, 0, end);
    timeline_finish(scene->timeline, true);
    expect(scene, "stream 0 10\n"
                  "state 0 10 thread state 1 #1\n"
                  "stream 1 20\n"
                  "state 1 20 thread state 0 #2\n"
                  "state-end 0 30 thread state 1 from 0 10 #1 tag 101: ended\n"
                  "state 0 30 thread state 1 #3\n"
                  "span 0 40 job 4 #4\n"
                  "state-end 0 60 thread state 1 from 0 30 #3 tag 103: the recording of this "
                  "thread ended\n"
                  "end 0 60\n"
                  "span-end 0 60 job 4 from 0 40 #4 tag 104: open when the recording ended\n"
                  "state-end 1 60 thread state 0 from 1 20 #2 tag 102: open when the recording "
                  "ended\n");
}

/* A process that was killed is not shown as waiting for as long as another one records. */
static void processes(void **state)
{
    struct scene *scene = *state;

    for (int i = 0; i < 2; i++) {
        scene->stream[i]->first_ring = memory_new(1, sizeof(struct tare_ring));
        scene->stream[i]->first_ring->process = 100 + (uint32_t)i;
    }
    event(scene, 0, 10, STATE, 1);
    event(scene, 0, 15, PLAIN, 1);
    event(scene, 1, 12, STATE, 0);
    event(scene, 1, 90, PLAIN, 2);
    buffer_clear(&scene->log);
    timeline_finish(scene->timeline, true);
    expect(scene, "state-end 0 15 thread state 1 from 0 10 #1 tag 101: open when the recording "
                  "ended\n"
                  "state-end 1 90 thread state 0 from 1 12 #2 tag 102: open when the recording "
                  "ended\n");
}

/* Without a word that everything was read, a state lasts as long as its own stream is known. */
static void incomplete(void **state)
{
    struct scene *scene = *state;

    event(scene, 0, 10, STATE, 1);
    event(scene, 0, 15, PLAIN, 1);
    event(scene, 1, 90, PLAIN, 2);
    buffer_clear(&scene->log);
    timeline_finish(scene->timeline, false);
    expect(scene, "state-end 0 15 thread state 1 from 0 10 #1 tag 101: open when the recording "
                  "ended uncertain\n");
}

static void spans(void **state)
{
    struct scene *scene = *state;

    event(scene, 0, 10, JOB, 1);
    event(scene, 0, 11, JOB, 2);
    event(scene, 1, 12, JOB_END, 1); /* on another thread */
    event(scene, 0, 13, JOB, 2);     /* again */
    event(scene, 0, 14, JOB_END, 2);
    event(scene, 0, 15, JOB_END, 2); /* once too often */
    expect(scene, "stream 0 10\n"
                  "span 0 10 job 1 #1\n"
                  "span 0 11 job 2 #2\n"
                  "stream 1 12\n"
                  "span-end 1 12 job 1 from 0 10 #1 tag 101: ended\n"
                  "span-end 0 13 job 2 from 0 11 #2 tag 102: began again without an end\n"
                  "span 0 13 job 2 #3\n"
                  "span-end 0 14 job 2 from 0 13 #3 tag 103: ended\n"
                  "orphan 0 15 job 2\n");
}

static void spans_of_sessions(void **state)
{
    struct scene *scene = *state;

    event(scene, 0, 10, JOB, 1);
    event(scene, 0, 12, PLAIN, 1);
    event(scene, 2, 5, JOB_END, 1);
    event(scene, 2, 6, JOB, 1);
    timeline_finish(scene->timeline, true);
    expect(scene, "stream 0 10\n"
                  "span 0 10 job 1 #1\n"
                  "instant 0 12 tick 1\n"
                  "span-end 0 12 job 1 from 0 10 #1 tag 101: open when the recording ended "
                  "uncertain\n"
                  "stream 2 5\n"
                  "orphan 2 5 job 1\n"
                  "span 2 6 job 1 #2\n"
                  "span-end 2 6 job 1 from 2 6 #2 tag 102: open when the recording ended\n");
}

static void span_limit(void **state)
{
    struct scene *scene = *state;

    event(scene, 0, 10, JOB, 1);
    event(scene, 0, 11, JOB, 2);
    event(scene, 0, 12, JOB, 2); /* replaces one of the two */
    event(scene, 0, 13, JOB, 3);
    event(scene, 0, 14, JOB_END, 2);
    event(scene, 0, 15, JOB_END, 3);
    expect(scene, "stream 0 10\n"
                  "span 0 10 job 1 #1\n"
                  "span 0 11 job 2 #2\n"
                  "span-end 0 12 job 2 from 0 11 #2 tag 102: began again without an end\n"
                  "span 0 12 job 2 #3\n"
                  "span-end 0 13 job 1 from 0 10 #1 tag 101: too many spans were open uncertain\n"
                  "span 0 13 job 3 #4\n"
                  "span-end 0 14 job 2 from 0 12 #3 tag 103: ended\n"
                  "span-end 0 15 job 3 from 0 13 #4 tag 104: ended\n");
}

/* What is open in the stream ends at the first refused event, the innermost first; the other stream
 * goes on, but its span that ends in the lossy one is marked. */
static void loss_cuts(void **state)
{
    struct scene *scene = *state;

    event(scene, 0, 10, STATE, 1);
    event(scene, 0, 11, JOB, 1);
    event(scene, 1, 12, STATE, 0);
    event(scene, 1, 13, JOB, 2);
    event(scene, 1, 14, JOB, 3);
    buffer_clear(&scene->log);
    dropped(scene, 0, 50, 20, 25, true);
    expect(scene, "span-end 0 20 job 1 from 0 11 #2 tag 102: cut by a loss uncertain\n"
                  "state-end 0 20 thread state 1 from 0 10 #1 tag 101: cut by a loss uncertain\n"
                  "lost 0 45 from 20: dropped 7\n");
    event(scene, 0, 50, JOB_END, 2);
    event(scene, 1, 51, JOB_END, 3);
    event(scene, 0, 52, JOB_END, 1);
    event(scene, 0, 53, JOB, 4);
    event(scene, 0, 54, JOB_END, 4);
    expect(scene, "span-end 0 50 job 2 from 1 13 #4 tag 104: ended uncertain\n"
                  "span-end 1 51 job 3 from 1 14 #5 tag 105: ended\n"
                  "orphan 0 52 job 1 uncertain\n"
                  "span 0 53 job 4 #6\n"
                  "span-end 0 54 job 4 from 0 53 #6 tag 106: ended\n");
}

/* A span without an end of its own is uncertain when anything of its session was lost since. */
static void loss_elsewhere(void **state)
{
    struct scene *scene = *state;

    event(scene, 0, 10, JOB, 1);
    event(scene, 0, 11, JOB, 2);
    event(scene, 1, 12, PLAIN, 1);
    dropped(scene, 1, 20, 15, 2, true);
    event(scene, 0, 30, JOB, 1);
    event(scene, 0, 31, JOB, 3);
    buffer_clear(&scene->log);
    timeline_finish(scene->timeline, true);
    expect(scene, "span-end 0 31 job 3 from 0 31 #4 tag 104: open when the recording ended\n"
                  "span-end 0 31 job 1 from 0 30 #3 tag 103: open when the recording ended\n"
                  "span-end 0 31 job 2 from 0 11 #2 tag 102: open when the recording ended "
                  "uncertain\n");
}

static void loss_times(void **state)
{
    struct scene *scene = *state;
    struct note pending = {.kind = NOTE_LOSS, .ticks = 90};

    event(scene, 0, 10, STATE, 1);
    dropped(scene, 0, 50, 0, 25, false); /* the time of the first is not known */
    event(scene, 0, 50, STATE, 1);
    dropped(scene, 0, 70, 60, UINT32_MAX, true); /* how long it lasted neither */
    event(scene, 0, 80, STATE, 1);
    dropped(scene, 0, 90, 79, 3, true); /* a moment before the event in front of it */
    event(scene, 0, 90, STATE, 0);
    pending.loss.first = 100;
    pending.loss.span = 50;
    pending.loss.count = 2;
    pending.loss.suppressed = pending.loss.first_known = pending.loss.pending = true;
    note(scene, 0, pending);
    expect(scene, "stream 0 10\n"
                  "state 0 10 thread state 1 #1\n"
                  "state-end 0 10 thread state 1 from 0 10 #1 tag 101: cut by a loss uncertain\n"
                  "lost 0 50 from 10 or later: dropped 7\n"
                  "state 0 50 thread state 1 #2\n"
                  "state-end 0 60 thread state 1 from 0 50 #2 tag 102: cut by a loss uncertain\n"
                  "lost 0 70 from 60: dropped 7\n"
                  "state 0 80 thread state 1 #3\n"
                  "state-end 0 80 thread state 1 from 0 80 #3 tag 103: cut by a loss uncertain\n"
                  "lost 0 82 from 80: dropped 7\n"
                  "state 0 90 thread state 0 #4\n"
                  "state-end 0 100 thread state 0 from 0 90 #4 tag 104: cut by a loss uncertain\n"
                  "lost 0 150 from 100: suppressed 2\n");
}

static void gaps_and_faults(void **state)
{
    struct scene *scene = *state;
    struct note gap = {.kind = NOTE_GAP, .ticks = 40};
    struct note fault = {.kind = NOTE_FAULT, .ticks = 60};

    gap.gap.words = 256;
    gap.gap.before = true;
    gap.ticks = 5;
    note(scene, 0, gap);
    event(scene, 0, 6, JOB_END, 9);
    event(scene, 0, 10, STATE, 1);
    gap.gap.before = false;
    gap.gap.from_ticks = 20;
    gap.ticks = 40;
    note(scene, 0, gap);
    event(scene, 0, 41, STATE, 0);
    fault.fault.fault = STREAM_FAULT_BAD_PAD;
    note(scene, 0, fault);
    expect(scene, "stream 0 5\n"
                  "lost 0 5 from 5 or later: gap 256\n"
                  "orphan 0 6 job 9 uncertain\n"
                  "state 0 10 thread state 1 #1\n"
                  "state-end 0 20 thread state 1 from 0 10 #1 tag 101: cut by a loss uncertain\n"
                  "lost 0 40 from 20: gap 256\n"
                  "state 0 41 thread state 0 #2\n"
                  "state-end 0 60 thread state 0 from 0 41 #2 tag 102: cut by a loss uncertain\n"
                  "lost 0 60 from 60: damage 0\n");
}

static void clock_and_order(void **state)
{
    struct scene *scene = *state;
    struct note fault = {.kind = NOTE_FAULT, .ticks = 50};

    event(scene, 0, 100, STATE, 1);
    event(scene, 0, 120, PLAIN, 1);
    buffer_clear(&scene->log);
    fault.fault.fault = STREAM_FAULT_CLOCK_BACKWARDS;
    fault.fault.back_ticks = 70;
    note(scene, 0, fault);
    event(scene, 0, 50, STATE, 0);
    event(scene, 0, 55, PLAIN, 2);
    fault.fault.fault = STREAM_FAULT_CUT_TEXT; /* no event is missing */
    note(scene, 0, fault);
    note(scene, 0, (struct note){.kind = NOTE_UNVERIFIED, .ticks = 56});
    fault.fault.fault = STREAM_FAULT_INDEX_BACKWARDS;
    fault.ticks = 30;
    note(scene, 0, fault);
    expect(scene, "state-end 0 120 thread state 1 from 0 100 #1 tag 101: cut by a loss uncertain\n"
                  "lost 0 120 from 50: clock backwards 70\n"
                  "state 0 50 thread state 0 #2\n"
                  "instant 0 55 tick 2\n"
                  "lost 0 56 from 56: unverified 0\n"
                  "state-end 0 56 thread state 0 from 0 50 #2 tag 102: cut by a loss uncertain\n"
                  "lost 0 30 from 30: disorder 0\n");
}

/* Many open spans: the table grows, and each end still finds its begin. */
static void many(void **state)
{
    struct scene *scene = *state;
    enum {
        COUNT = 5000
    };

    for (uint32_t i = 0; i < COUNT; i++)
        event(scene, 0, i, JOB, i * 0x9E3779B9u);
    buffer_clear(&scene->log);
    for (uint32_t i = 0; i < COUNT; i++) {
        char wanted[200];

        event(scene, 0, COUNT + i, JOB_END, i * 0x9E3779B9u);
        snprintf(wanted, sizeof(wanted), "span-end 0 %u job %u from 0 %u #%u tag %u: ended\n",
                 COUNT + i, i * 0x9E3779B9u, i, i + 1, i + 101);
        expect(scene, wanted);
    }
    timeline_finish(scene->timeline, true);
    expect(scene, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(points, set_up, tear_down),
        cmocka_unit_test_setup_teardown(states, set_up, tear_down),
        cmocka_unit_test_setup_teardown(processes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(incomplete, set_up, tear_down),
        cmocka_unit_test_setup_teardown(spans, set_up, tear_down),
        cmocka_unit_test_setup_teardown(spans_of_sessions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(span_limit, set_up_two_spans, tear_down),
        cmocka_unit_test_setup_teardown(loss_cuts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(loss_elsewhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(loss_times, set_up, tear_down),
        cmocka_unit_test_setup_teardown(gaps_and_faults, set_up, tear_down),
        cmocka_unit_test_setup_teardown(clock_and_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
