/* Events from a signal handler: one that interrupts the recorder itself is suppressed and counted,
 * all others are stored; a handler's first event may be the first of its thread.
 * ctest: timeout=60 labels=thread */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "recorder_session.h"

#define PATH "signals.tare"

TARE_CATEGORY(test, 0, "test")
TARE_EVENT1(from_thread, test, "from thread", u32, number, "")
TARE_EVENT1(from_handler, test, "from handler", u32, number, "")
TARE_STRING(text_from_handler, test, "text from handler")
TARE_STRING(text_from_thread, test, "text from thread")

static uint32_t handler_records;

#define HANDLER_TEXT "sixteen letters!"
#define THREAD_TEXT "a longer text than the one of the handler, over several records"

static void handle_alarm(int number)
{
    (void)number;
    from_handler(handler_records);
    text_from_handler(HANDLER_TEXT);
    __atomic_fetch_add(&handler_records, 1 + 1 + sizeof(HANDLER_TEXT) / 8, __ATOMIC_RELAXED);
}

static uint32_t write_until_interrupted(uint32_t wanted)
{
    uint32_t records = 0;

    while (__atomic_load_n(&handler_records, __ATOMIC_RELAXED) < wanted) {
        from_thread(records);
        text_from_thread(THREAD_TEXT);
        records += 1 + 1 + (sizeof(THREAD_TEXT) - 1 + 7) / 8;
    }
    return records;
}

static void test_signals(void **state)
{
    const struct session_options options = {
        .rings = 8, .ring_bytes = 1u << 20, .block_words = 256, .categories = UINT32_MAX};
    const struct itimerval fast = {{0, 100}, {0, 100}}, stop = {{0, 0}, {0, 0}};
    struct test_session test;
    struct tare_totals counts;
    struct error error = {0};
    struct decoder *decoder;
    struct decode_run run;
    sigset_t alarm_only;
    uint64_t attempted, stored = 0, whole_texts = 0, wrong_texts = 0, suppressed = 0, dropped = 0;

    (void)state;
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm_only, NULL); /* for the collector's thread */
    assert_true(test_session_begin(&test, &options, PATH));
    pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
    signal(SIGALRM, handle_alarm);
    handle_alarm(0); /* the first event of this thread */
    setitimer(ITIMER_REAL, &fast, NULL);
    attempted = write_until_interrupted(4000);
    setitimer(ITIMER_REAL, &stop, NULL);
    pthread_sigmask(SIG_BLOCK, &alarm_only, NULL);
    tare_disable(UINT32_MAX);
    attempted += handler_records;
    tare_counts(&counts);
    test_session_pause(&test);
    assert_true(test_session_end(&test));

    decoder = decoder_open(PATH, NULL, &error);
    assert_non_null(decoder);
    while (decoder_next(decoder, &run)) {
        for (uint32_t i = 0; i < run.note_count; i++) {
            const struct note *note = &run.notes[i];

            if (note->kind == NOTE_LOSS && note->loss.suppressed)
                suppressed += note->loss.count;
            if (note->kind == NOTE_LOSS && !note->loss.suppressed)
                dropped += note->loss.count;
            if (note->kind != NOTE_TEXT || note->text.cut)
                continue;
            if (strcmp(batch_text(run.batch, note), HANDLER_TEXT) == 0 ||
                strcmp(batch_text(run.batch, note), THREAD_TEXT) == 0)
                whole_texts++;
            else
                wrong_texts++;
        }
    }
    for (size_t i = 0; i < decoder_directory(decoder)->stream_count; i++) {
        const struct decode_stream *stream = decoder_directory(decoder)->streams[i];

        stored += stream->counts.events + stream->counts.texts;
    }
    decoder_close(decoder);
    assert_int_equal(wrong_texts, 0);
    assert_true(whole_texts > 0);
    assert_int_equal(counts.suppressed, suppressed);
    assert_int_equal(counts.dropped, dropped);
    assert_int_equal(attempted, stored + dropped + suppressed);
    printf("attempted %llu = stored %llu + dropped %llu + suppressed %llu\n",
           (unsigned long long)attempted, (unsigned long long)stored, (unsigned long long)dropped,
           (unsigned long long)suppressed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_signals)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
