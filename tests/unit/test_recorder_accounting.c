/* attempted = stored + dropped + suppressed, to the event and at the right place: four threads, the
 * smallest ring, a jittered collector, and losses in the last moment before the stop.
 * ctest: timeout=120 labels=thread */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recorder_session.h"

#define THREADS 4
#define STREAMS 16
#define EVENTS 60000u
#define LAST_EVENTS 1000u
#define ATTEMPTED (EVENTS + LAST_EVENTS)
#define PATH "accounting.tare"

TARE_CATEGORY(test, 0, "test")
TARE_EVENT1(counted, test, "counted", u32, number, "")
TARE_EVENT2(pair, test, "pair", u32, number, "", x32, twice, "")

/* Read up to here; nobody reads from here on; all is written; read again. */
static pthread_barrier_t written, unread, refused, closed;

/* Every event carries or stands for one number, 0, 1, 2 ...: the reader knows which are missing. */
static void *write_events(void *argument)
{
    unsigned thread = (unsigned)(uintptr_t)argument, seed = thread + 7;
    char name[16];

    snprintf(name, sizeof(name), "writer %u", thread);
    tare_thread_name(name);
    for (uint32_t number = 0; number < EVENTS; number++) {
        if (number % 3 == 0)
            counted(number);
        else
            pair(number, 2 * number);
        if (rand_r(&seed) % 24 == 0)
            usleep(100);
    }
    pthread_barrier_wait(&written);
    pthread_barrier_wait(&unread);
    /* The ring fills up and the last events are refused for certain. */
    for (uint32_t number = EVENTS; number < EVENTS + LAST_EVENTS; number++)
        counted(number);
    if (thread % 2 == 0)
        return NULL; /* its ring is closed in order */
    pthread_barrier_wait(&refused);
    pthread_barrier_wait(&closed); /* its ring is read while it still lives */
    return NULL;
}

struct found {
    uint64_t stored, dropped, suppressed, faults, gaps, loss_records;
    uint32_t next; /* number of the next event that has not been seen or counted as lost */
};

static void take_event(struct found *found, const struct event *event)
{
    assert_true(event->argument[0] == found->next);
    if (event->id >= 0xC00)
        assert_int_equal(event->argument[1], 2 * event->argument[0]);
    found->next = event->argument[0] + 1;
    found->stored++;
}

/* A loss record stands before the next stored event and says exactly how many are missing there;
 * the decoder takes one that is pending in the ring as the last. */
static void take_note(struct found *found, const struct note *note)
{
    if (note->kind == NOTE_LOSS) {
        found->loss_records++;
        found->next += note->loss.count;
        assert_false(note->loss.suppressed);
        assert_true(note->loss.first_known);
    }
    if (note->kind == NOTE_FAULT)
        found->faults++;
    if (note->kind == NOTE_GAP)
        found->gaps++;
}

static void read_back(struct found found[STREAMS])
{
    struct error error = {0};
    struct decoder *decoder = decoder_open(PATH, NULL, &error);
    struct decode_run run;

    assert_non_null(decoder);
    while (decoder_next(decoder, &run)) {
        const struct note *note = run.notes, *last = note + run.note_count;

        assert_true(run.stream->ordinal < STREAMS);
        for (uint32_t i = 0; i <= run.count; i++) {
            for (; note < last && note->before == i; note++)
                take_note(&found[run.stream->ordinal], note);
            if (i < run.count)
                take_event(&found[run.stream->ordinal], &run.events[i]);
        }
    }
    for (size_t i = 0; i < decoder_directory(decoder)->stream_count; i++) {
        const struct decode_stream *stream = decoder_directory(decoder)->streams[i];
        struct found *own = &found[stream->ordinal];

        assert_non_null(stream->last_ring);
        own->dropped = stream->last_ring->dropped;
        own->suppressed = stream->last_ring->suppressed;
        assert_int_equal(stream->counts.events, own->stored);
        assert_int_equal(stream->counts.dropped, own->dropped);
    }
    decoder_close(decoder);
}

static void record_all(void)
{
    const struct session_options options = {
        .rings = 16, .ring_bytes = 512, .block_words = 64, .categories = UINT32_MAX};
    struct test_session test;
    pthread_t threads[THREADS];

    pthread_barrier_init(&written, NULL, THREADS + 1);
    pthread_barrier_init(&unread, NULL, THREADS + 1);
    pthread_barrier_init(&refused, NULL, THREADS / 2 + 1);
    pthread_barrier_init(&closed, NULL, THREADS / 2 + 1);
    assert_true(test_session_begin(&test, &options, PATH));
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_events, (void *)i), 0);
    pthread_barrier_wait(&written);
    test_session_pause(&test);
    pthread_barrier_wait(&unread);
    pthread_barrier_wait(&refused);
    for (unsigned i = 0; i < THREADS; i += 2)
        pthread_join(threads[i], NULL);
    assert_true(test_session_end(&test));
    pthread_barrier_wait(&closed);
    tare_disable(UINT32_MAX);
    for (unsigned i = 1; i < THREADS; i += 2)
        pthread_join(threads[i], NULL);
}

static void test_accounting(void **state)
{
    struct found found[STREAMS] = {0};
    uint64_t stored = 0, dropped = 0;
    unsigned writers = 0;

    (void)state;
    record_all();
    read_back(found);
    for (unsigned i = 0; i < STREAMS; i++) {
        stored += found[i].stored;
        dropped += found[i].dropped;
        assert_int_equal(found[i].suppressed, 0);
        assert_int_equal(found[i].faults, 0);
        assert_int_equal(found[i].gaps, 0);
        if (found[i].stored == 0)
            continue;
        writers++;
        assert_int_equal(found[i].next, ATTEMPTED);
        assert_int_equal(found[i].stored + found[i].dropped, ATTEMPTED);
        assert_true(found[i].loss_records > 0);
    }
    assert_int_equal(writers, THREADS);
    assert_int_equal(stored + dropped, THREADS * ATTEMPTED);
    printf("attempted %u = stored %llu + dropped %llu\n", THREADS * ATTEMPTED,
           (unsigned long long)stored, (unsigned long long)dropped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_accounting)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
