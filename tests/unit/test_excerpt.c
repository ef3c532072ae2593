/* mod_excerpt: recordings made by hand, 1 tick = 1000 ns; which stretch is taken, and what is in
 * it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cap_container.h"
#include "mod_excerpt.h"

#include "tare_layout.h"

#define SESSION 7u
#define BLOCK 64u
#define STATE 0x810u
#define JOB 0x811u
#define PLAIN 0x813u
#define LOW 0x010u
#define HIGH 0x012u
#define LATE 0x014u
#define QUEUE 0x020u
#define IRQ 0x030u
#define START 1000u /* ticks of the first event */

/* A writer that follows FORMAT.md, for times below 2^20 ticks. */
struct writer {
    uint32_t words[1 << 16];
    uint32_t count, number;
};

static struct writer threads[4];

static uint32_t first_word(uint32_t id, uint32_t ticks)
{
    return id << TARE_STAMP_BITS | (START + ticks);
}

static void put_words(struct writer *writer, uint32_t ticks, const uint32_t *words, uint32_t count)
{
    while (writer->count % BLOCK != 0 && writer->count % BLOCK + count > BLOCK)
        writer->words[writer->count++] = 0;
    if (writer->count % BLOCK == 0) {
        uint32_t *anchor = &writer->words[writer->count];
        const uint32_t content[TARE_ANCHOR_WORDS] = {TARE_SYNC,
                                                     TARE_FORMAT_VERSION << 28 | 6u << 24,
                                                     SESSION << 16 | writer->number,
                                                     ticks,
                                                     writer->count,
                                                     0};

        memcpy(anchor, content, sizeof(content));
        anchor[TARE_ANCHOR_SYNC] |= tare_anchor_check(anchor);
        writer->count += TARE_ANCHOR_WORDS;
    }
    memcpy(&writer->words[writer->count], words, count * sizeof(*words));
    writer->count += count;
}

static void event(int thread, uint32_t ticks, uint32_t id, uint32_t argument)
{
    const uint32_t words[2] = {first_word(id, ticks), argument};

    put_words(&threads[thread], START + ticks, words, 2);
}

/* An event of a kernel's object. */
static void hot(int thread, uint32_t ticks, uint32_t id)
{
    const uint32_t word = first_word(id, ticks);

    put_words(&threads[thread], START + ticks, &word, 1);
}

static void dropped(int thread, uint32_t ticks, uint32_t count, uint32_t first, uint32_t span)
{
    const uint32_t time[3] = {first_word(TARE_ID_LOSS_TIME, ticks), START + first, 0};
    const uint32_t loss[3] = {first_word(TARE_ID_DROPPED, ticks), count, span};

    put_words(&threads[thread], START + ticks, time, 3);
    put_words(&threads[thread], START + ticks, loss, 3);
}

static void define(int thread, uint32_t class, uint32_t id, const char *text)
{
    size_t size = strlen(text);
    const uint32_t words[3] = {first_word(TARE_ID_DEFINE, 0), class << 24 | id, (uint32_t)size};

    put_words(&threads[thread], START, words, 3);
    for (size_t at = 0; at < size; at += 8) {
        uint32_t piece[3] = {first_word(TARE_ID_TEXT, 0), 0, 0};

        memcpy(&piece[1], text + at, size - at < 8 ? size - at : 8);
        put_words(&threads[thread], START, piece, 3);
    }
}

static void begin_recording(void)
{
    memset(threads, 0, sizeof(threads));
    for (int i = 0; i < 4; i++)
        threads[i].number = (uint32_t)i + 1;
    define(0, TARE_CLASS_STATE, STATE, "thread state|state:u32:{running,waiting}");
    define(0, TARE_CLASS_SPAN_BEGIN, JOB, "job|id:u32:");
    define(0, TARE_CLASS_SPAN_END, JOB + 1, "job|id:u32:");
    define(0, TARE_CLASS_EVENT, PLAIN, "send|queue:u32:{free,pending}");
    define(0, TARE_CLASS_STREAM, 2, "worker");
    define(0, TARE_CLASS_TASK, LOW, "low");
    define(0, TARE_CLASS_TASK, HIGH, "high");
    define(0, TARE_CLASS_TASK, LATE, "late");
    define(0, TARE_CLASS_QUEUE, QUEUE, "queue");
    define(0, TARE_CLASS_INTERRUPT, IRQ, "irq");
}

static void end_recording(bool with_clock)
{
    struct container container;
    struct error error = {0};

    assert_true(container_create(&container, "excerpt.tare", SESSION, &error));
    if (with_clock)
        container_clock(&container, START, 5000000, 0, 1);
    for (int i = 0; i < 4; i++)
        container_stream(&container, threads[i].number, 0, BLOCK * 4, threads[i].words,
                         (size_t)threads[i].count * 4);
    if (with_clock)
        container_clock(&container, START + 1000000, 1005000000, 0, 1);
    container_end(&container, "{}");
    assert_true(container_close(&container, &error));
}

static struct excerpt take(uint64_t length_ns, unsigned warm_up_percent)
{
    const struct excerpt_options options = {.length_ns = length_ns,
                                            .warm_up_percent = warm_up_percent};
    struct excerpt excerpt;
    struct error error = {0};

    if (!excerpt_take("excerpt.tare", &options, &excerpt, &error))
        fail_msg("%s", error.text);
    return excerpt;
}

static void expect(const struct excerpt *excerpt, const char *wanted)
{
    struct buffer text = {0};

    buffer_printf(&text, "%" PRIu64 "-%" PRIu64 " us, %zu of %zu\n", excerpt->begin_ns / 1000,
                  excerpt->end_ns / 1000, excerpt->active_count, excerpt->thread_count);
    for (size_t i = 0; i < excerpt->lane_count; i++) {
        const struct excerpt_lane *lane = &excerpt->lanes[i];

        buffer_printf(&text, "%s:", excerpt_text(excerpt, lane->name));
        for (size_t k = 0; k < lane->interval_count; k++) {
            const struct excerpt_interval *interval = &lane->intervals[k];

            buffer_printf(&text, " %s%s %" PRIu64 "-%" PRIu64 "%s", interval->span ? "span " : "",
                          excerpt_text(excerpt, interval->name), interval->begin_ns / 1000,
                          interval->end_ns / 1000, interval->uncertain ? "?" : "");
            if (!interval->span && strcmp(excerpt_text(excerpt, interval->name),
                                          excerpt_text(excerpt, interval->legend)) != 0)
                buffer_printf(&text, " (%s %u)", excerpt_text(excerpt, interval->legend),
                              interval->state);
        }
        for (size_t k = 0; k < lane->instant_count; k++)
            buffer_printf(&text, " %s@%" PRIu64, excerpt_text(excerpt, lane->instants[k].name),
                          lane->instants[k].ns / 1000);
        for (size_t k = 0; k < lane->gap_count; k++)
            buffer_printf(&text, " gap %" PRIu64 "-%" PRIu64 " %" PRIu64,
                          lane->gaps[k].begin_ns / 1000, lane->gaps[k].end_ns / 1000,
                          lane->gaps[k].events);
        buffer_text(&text, "\n");
    }
    assert_string_equal(text.data, wanted);
    buffer_free(&text);
}

/* Three threads record; only from 500 to 512 us all of them do within 20 us. The 8 us left over lie
 * on both sides. Lanes show what reaches in, with its true times. */
static void all_threads(void **state)
{
    struct excerpt excerpt;

    (void)state;
    begin_recording();
    event(0, 0, STATE, 0);
    event(1, 0, STATE, 1);
    event(2, 100, PLAIN, 0);
    event(0, 300, STATE, 1);
    event(1, 304, STATE, 0);
    event(2, 450, JOB, 5);
    event(2, 500, PLAIN, 1);
    event(0, 506, JOB, 1);
    event(0, 509, JOB + 1, 1);
    event(1, 512, STATE, 1);
    event(2, 700, JOB + 1, 5);
    event(0, 800, STATE, 0);
    event(1, 900, STATE, 0);
    end_recording(true);
    excerpt = take(20000, 25);
    expect(&excerpt, "496-516 us, 3 of 3\n"
                     "stream 1: waiting 300-800 span job 506-509\n"
                     "worker: running 304-512 waiting 512-900\n"
                     "stream 3: span job 450-700 send pending@500\n");
    excerpt_free(&excerpt);
}

/* Times count from the first event, at 10 us.
 *
 * A thread that records at the start only never comes together with the others: the first stretch
 * with the most threads, and behind the warm-up, though the start would have had all. */
static void most_threads(void **state)
{
    struct excerpt excerpt;

    (void)state;
    begin_recording();
    for (int i = 0; i < 4; i++)
        event(i, 10 + (uint32_t)i, PLAIN, 0);
    event(0, 400, PLAIN, 0);
    event(1, 401, PLAIN, 0);
    event(0, 600, PLAIN, 1);
    event(1, 620, PLAIN, 1);
    event(2, 640, PLAIN, 1);
    event(0, 1000, PLAIN, 0);
    end_recording(true);
    excerpt = take(40000, 25);
    expect(&excerpt, "590-630 us, 3 of 4\n"
                     "stream 1: send pending@590\n"
                     "worker: send pending@610\n"
                     "stream 3: send pending@630\n");
    excerpt_free(&excerpt);
    excerpt = take(40000, 0);
    expect(&excerpt, "0-40 us, 4 of 4\n"
                     "stream 1: send free@0\n"
                     "worker: send free@1\n"
                     "stream 3: send free@2\n"
                     "stream 4: send free@3\n");
    excerpt_free(&excerpt);
    excerpt = take(5000000, 0); /* longer than the recording */
    assert_int_equal(excerpt.begin_ns, 0);
    assert_int_equal(excerpt.end_ns, 990000);
    excerpt_free(&excerpt);
}

/* A gap lasts until the next state is seen, not only until the last refused event; one that lies
 * before the stretch, or behind it, is not shown. */
static void gaps(void **state)
{
    struct excerpt excerpt;

    (void)state;
    begin_recording();
    event(0, 0, STATE, 0);
    dropped(0, 100, 3, 50, 20);
    event(0, 100, STATE, 1);
    event(1, 501, STATE, 0);
    dropped(0, 510, 9, 502, 4);
    event(0, 510, PLAIN, 0);
    event(0, 513, STATE, 0);
    dropped(1, 600, 1, 590, 0);
    event(1, 600, STATE, 1);
    event(0, 900, STATE, 1);
    end_recording(true);
    excerpt = take(20000, 25);
    expect(&excerpt, "495-515 us, 2 of 2\n"
                     "stream 1: waiting 100-502? running 513-900 send free@510 gap 502-513 9\n"
                     "worker: running 501-590?\n");
    excerpt_free(&excerpt);
}

/* Tasks and interrupts count, not the core; lanes in the order interrupts, tasks. */
static void tasks(void **state)
{
    struct excerpt excerpt;

    (void)state;
    begin_recording();
    hot(0, 0, LOW);
    hot(0, 10, HIGH);
    hot(0, 12, IRQ);
    hot(0, 14, IRQ + TARE_EXIT);
    hot(0, 20, QUEUE + TARE_RECEIVE_BLOCK);
    hot(0, 500, LOW);
    event(0, 502, JOB, 1);
    event(0, 503, STATE, 1); /* not shown beside what the kernel says */
    hot(0, 505, IRQ);
    hot(0, 506, QUEUE + TARE_SEND);
    hot(0, 507, HIGH + TARE_TASK_READY);
    hot(0, 508, IRQ + TARE_EXIT);
    hot(0, 510, HIGH);
    event(0, 511, PLAIN, 1);
    hot(0, 512, QUEUE + TARE_RECEIVE_BLOCK);
    hot(0, 514, LOW);
    hot(0, 700, HIGH);
    hot(0, 1000, LOW);
    end_recording(true);
    excerpt = take(20000, 25);
    assert_true(excerpt.kernel);
    expect(&excerpt,
           "495-515 us, 3 of 3\n"
           "irq: irq 505-508 (interrupt 4) queue: send@506\n"
           "low: preempted 10-500 running 500-510 span job 502-1000 preempted 510-514 "
           "running 514-700\n"
           "high: running 10-500 blocked: receive queue 500-507 (blocked 3) ready 507-510 "
           "running 510-514 blocked: receive queue 514-700 (blocked 3) "
           "send pending@511 queue: block on receive@512\n");
    excerpt_free(&excerpt);
}

/* Each task's state is unknown from the loss until its next one, and before it was first seen; an
 * interrupt's while events were lost. A begin can be given. */
static void gaps_of_tasks(void **state)
{
    struct excerpt_options options = {.length_ns = 30000, .begin_given = true, .begin_ns = 295000};
    struct excerpt excerpt;
    struct error error = {0};

    (void)state;
    begin_recording();
    hot(0, 0, LOW);
    hot(0, 10, HIGH);
    hot(0, 300, LOW);
    hot(0, 302, IRQ);
    dropped(0, 310, 3, 303, 1);
    hot(0, 310, HIGH);
    hot(0, 315, LOW);
    hot(0, 320, LATE);
    hot(0, 900, LOW);
    end_recording(true);
    assert_true(excerpt_take("excerpt.tare", &options, &excerpt, &error));
    expect(&excerpt, "295-325 us, 4 of 4\n"
                     "irq: irq 302-303? (interrupt 4) gap 303-304 3\n"
                     "low: preempted 10-300 running 300-303? running 315-320 preempted 320-900 "
                     "gap 303-315 3\n"
                     "high: running 10-300 preempted 300-303? running 310-315 preempted 315-900 "
                     "gap 303-310 3\n"
                     "late: running 320-900 gap 0-320 0\n");
    excerpt_free(&excerpt);
    options.begin_ns = 900000;
    assert_false(excerpt_take("excerpt.tare", &options, &excerpt, &error));
    assert_int_equal(error.code, EXIT_CANNOT_TELL);
    assert_non_null(strstr(error.text, "not behind the begin"));
    excerpt_free(&excerpt);
}

static void refused(void **state)
{
    const struct excerpt_options options = {.length_ns = 20000, .warm_up_percent = 25};
    struct excerpt excerpt;
    struct error error = {0};

    (void)state;
    assert_false(excerpt_take("no such file", &options, &excerpt, &error));
    assert_int_equal(error.code, EXIT_USAGE);
    excerpt_free(&excerpt);

    begin_recording();
    end_recording(true);
    error = (struct error){0};
    assert_false(excerpt_take("excerpt.tare", &options, &excerpt, &error));
    assert_int_equal(error.code, EXIT_CANNOT_TELL);
    assert_non_null(strstr(error.text, "holds no event"));
    excerpt_free(&excerpt);

    begin_recording();
    event(0, 1, PLAIN, 0);
    end_recording(false);
    error = (struct error){0};
    assert_false(excerpt_take("excerpt.tare", &options, &excerpt, &error));
    assert_int_equal(error.code, EXIT_CANNOT_TELL);
    assert_non_null(strstr(error.text, "how long a tick is"));
    excerpt_free(&excerpt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_threads), cmocka_unit_test(most_threads),  cmocka_unit_test(gaps),
        cmocka_unit_test(tasks),       cmocka_unit_test(gaps_of_tasks), cmocka_unit_test(refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
