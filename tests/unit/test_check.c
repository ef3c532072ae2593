/* Health of recordings whose every number is known. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <unistd.h>

#include "cap_container.h"
#include "mod_check.h"
#include "stream_maker.h"

#define SESSION 0x5E51u

static struct maker maker;
static struct container container;
static struct tare_ring ring;
static struct check check;

static void begin_file(void)
{
    struct error error = {0};

    assert_true(container_create(&container, "check.tare", SESSION, &error));
}

static void end_file(bool finished)
{
    struct error error = {0};

    if (finished)
        container_end(&container, "{}");
    assert_true(container_close(&container, &error));
}

static void begin_stream(uint32_t stream)
{
    maker_begin(&maker, SESSION, stream, 64, 1000);
    ring = (struct tare_ring){.up_channels = 1,
                              .magic = TARE_RING_MAGIC,
                              .version = TARE_FORMAT_VERSION,
                              .block_words = 64,
                              .session = SESSION,
                              .stream = stream,
                              .state = TARE_RING_ACTIVE};
}

static void put_stream(void)
{
    container_stream(&container, maker.stream, 0, 256, maker.words, 4 * maker.count);
    container_ring(&container, maker.stream, &ring);
}

static void put_region(uint32_t rate, uint32_t suppressed_no_ring, uint32_t ids_refused)
{
    struct tare_region region = {.magic = TARE_REGION_MAGIC,
                                 .version = TARE_FORMAT_VERSION,
                                 .session = SESSION,
                                 .ticks_per_second = rate,
                                 .suppressed_no_ring = suppressed_no_ring,
                                 .ids_refused = ids_refused};

    container_region(&container, &region);
}

/* The decoder is given back, because the check points into it. */
static struct decoder *check_path(const char *path, bool raw)
{
    struct decode_options options = {.raw = raw};
    struct error error = {0};
    struct decoder *decoder = decoder_open(path, &options, &error);
    struct decode_run run;

    assert_non_null(decoder);
    check = (struct check){0};
    while (decoder_next(decoder, &run))
        check_take(&check, &run);
    check_finish(&check, decoder);
    return decoder;
}

static void done(struct decoder *decoder)
{
    check_free(&check);
    decoder_close(decoder);
}

static void events(uint32_t count, uint64_t step)
{
    for (uint32_t i = 0; i < count; i++) {
        maker_record(&maker, 0x810 + i % 2, i, 0);
        maker_later(&maker, step);
    }
}

static void all_is_well(void **state)
{
    struct decoder *decoder;

    (void)state;
    begin_file();
    begin_stream(1);
    maker_define(&maker, TARE_CLASS_EVENT, 0x810, "even");
    maker_record(&maker, TARE_ID_SELF_COST, 1, 2500);
    events(101, 100);
    maker_record(&maker, TARE_ID_END, 0, 0);
    put_stream();
    put_region(100000000, 0, 0);
    end_file(true);
    decoder = check_path("check.tare", false);
    assert_int_equal(check.verdict, CHECK_COMPLETE);
    assert_true(check.healthy);
    assert_false(check.lossy || check.damaged || check.unfinished);
    assert_int_equal(check.totals.stored, 101);
    assert_int_equal(check.totals.streams, 1);
    assert_int_equal(check.totals.exact_streams, 1);
    assert_int_equal(check.totals.active_streams, 0);
    assert_int_equal(check.kind_count, 2);
    assert_int_equal(check.kinds[0].events, 51);
    assert_string_equal(check.kinds[0].definition->name, "even");
    assert_int_equal(check.kinds[1].events, 50);
    assert_null(check.kinds[1].definition);
    /* 101 steps of 100 ticks of 10 ns, up to the END record. */
    assert_int_equal(check.sessions[0].duration_ns, 101000);
    assert_true(check.sessions[0].cost_ns[1] == 25);
    assert_int_equal(check.sessions[0].by_arguments[1], 101);
    assert_int_equal(check.place_count, 0);
    /* 2 words an event; the rest is anchors, names, notes and PADs. */
    assert_int_equal(check.totals.words_events, 202);
    assert_int_equal(check.totals.words, maker.count);
    done(decoder);
}

static void every_loss_is_counted(void **state)
{
    struct decoder *decoder;

    (void)state;
    begin_file();
    begin_stream(1);
    events(3, 10);
    maker_record(&maker, TARE_ID_LOSS_TIME, 1020, 0);
    maker_record(&maker, TARE_ID_DROPPED, 7, 5);
    maker_record(&maker, TARE_ID_SUPPRESSED, 2, 0);
    events(2, 10);
    ring.dropped = 11; /* 4 of them at the very end */
    ring.suppressed = 2;
    ring.pending_dropped = (struct tare_loss){4, 2000, 0, 2030, 0};
    ring.up.write_offset = 40;
    ring.writing = 41; /* and one event was being written when it was killed */
    ring.dropped_before = 11;
    put_stream();
    put_region(0, 13, 0);
    end_file(true);
    decoder = check_path("check.tare", false);
    assert_int_equal(check.verdict, CHECK_LOSSY);
    assert_false(check.damaged || check.unfinished || check.healthy);
    assert_int_equal(check.totals.stored, 5);
    assert_int_equal(check.totals.dropped, 11);
    assert_int_equal(check.totals.suppressed, 2 + 13);
    assert_int_equal(check.totals.suppressed_no_ring, 13);
    assert_int_equal(check.totals.torn, 1);
    assert_int_equal(check.totals.exact_streams, 1);
    assert_int_equal(check.totals.active_streams, 1);
    assert_int_equal(check.place_totals[NOTE_LOSS], 3);
    assert_int_equal(check.places[0].amount, 7);
    assert_int_equal(check.places[0].from_ticks, 1020);
    assert_int_equal(check.places[0].to_ticks, 1025);
    assert_true(check.places[1].suppressed);
    assert_false(check.places[1].from_known);
    assert_int_equal(check.places[2].amount, 4);
    assert_true(check.places[2].pending);
    assert_int_equal(check.sessions[0].duration_ns, -1); /* no rate is known */
    done(decoder);
}

static void a_gap_makes_the_counts_inexact(void **state)
{
    struct decoder *decoder;

    (void)state;
    begin_file();
    begin_stream(1);
    events(4 * 29, 1);
    container_stream(&container, 1, 0, 256, maker.words, 256);
    container_stream(&container, 1, 128, 256, maker.words + 128, 512);
    container_ring(&container, 1, &ring);
    end_file(true);
    decoder = check_path("check.tare", false);
    assert_int_equal(check.verdict, CHECK_LOSSY);
    assert_int_equal(check.totals.gaps, 1);
    assert_int_equal(check.totals.gap_words, 64);
    assert_int_equal(check.totals.exact_streams, 0);
    assert_int_equal(check.places[0].kind, NOTE_GAP);
    assert_int_equal(check.places[0].amount, 64);
    done(decoder);
}

static void an_unfinished_file_is_told(void **state)
{
    struct decoder *decoder;

    (void)state;
    begin_file();
    begin_stream(1);
    events(30, 1);
    put_stream();
    end_file(false);
    decoder = check_path("check.tare", false);
    assert_int_equal(check.verdict, CHECK_UNFINISHED);
    assert_false(check.lossy || check.damaged);
    done(decoder);
    /* Cut within its last chunk: the same verdict, for nothing in it was altered. */
    assert_int_equal(truncate("check.tare", 500), 0);
    decoder = check_path("check.tare", false);
    assert_true(check.unfinished);
    assert_false(check.damaged);
    done(decoder);
}

static void damage_comes_before_loss(void **state)
{
    struct decoder *decoder;

    (void)state;
    begin_file();
    begin_stream(1);
    events(40, 1);
    maker_record(&maker, TARE_ID_DROPPED, 1, 0);
    maker.words[70] = 1; /* a PAD that is not zero */
    put_stream();
    end_file(true);
    decoder = check_path("check.tare", false);
    assert_int_equal(check.verdict, CHECK_DAMAGED);
    assert_int_equal(check.totals.faults[STREAM_FAULT_BAD_PAD], 1);
    assert_int_equal(check.totals.damage, 1);
    assert_true(check.totals.skipped_bytes > 0);
    done(decoder);
}

static void a_clock_is_watched(void **state)
{
    struct decoder *decoder;

    (void)state;
    begin_file();
    begin_stream(1);
    events(200, 0); /* it does not run */
    put_stream();
    end_file(true);
    decoder = check_path("check.tare", false);
    assert_true(check.sessions[0].clock_stands);
    assert_int_equal(check.verdict, CHECK_DAMAGED);
    done(decoder);

    begin_file();
    begin_stream(1);
    events(5, 10);
    maker.ticks -= 30; /* it runs backwards */
    events(5, 10);
    put_stream();
    end_file(true);
    decoder = check_path("check.tare", false);
    assert_int_equal(check.verdict, CHECK_DAMAGED);
    assert_int_equal(check.places[0].fault, STREAM_FAULT_CLOCK_BACKWARDS);
    assert_int_equal(check.places[0].amount, 20);
    done(decoder);
}

static void nothing_recorded_is_not_complete(void **state)
{
    struct decoder *decoder;

    (void)state;
    begin_file();
    begin_stream(1);
    container_ring(&container, 1, &ring);
    end_file(true);
    decoder = check_path("check.tare", false);
    assert_int_equal(check.verdict, CHECK_EMPTY);
    assert_false(check.healthy);
    done(decoder);
}

static void an_event_without_its_own_name_is_not_healthy(void **state)
{
    struct decoder *decoder;

    (void)state;
    begin_file();
    begin_stream(1);
    events(5, 1);
    put_stream();
    put_region(0, 0, 2);
    end_file(true);
    decoder = check_path("check.tare", false);
    assert_int_equal(check.verdict, CHECK_COMPLETE);
    assert_int_equal(check.totals.ids_refused, 2);
    assert_false(check.healthy);
    done(decoder);
}

/* The same id, two tasks one after the other; a queue that is renamed counts once. */
static void objects_of_a_kernel_are_counted(void **state)
{
    struct decoder *decoder;

    (void)state;
    begin_file();
    begin_stream(1);
    maker_define(&maker, TARE_CLASS_TASK, 0x010, "first");
    maker_record(&maker, 0x010, 0, 0);
    maker_record(&maker, 0x010, 0, 0);
    maker_record(&maker, TARE_ID_KERNEL, TARE_KERNEL_CREATED << 24 | 1u << 16 | 0x010,
                 TARE_CLASS_TASK << 24);
    maker_record(&maker, 0x010, 0, 0);
    maker_define(&maker, TARE_CLASS_QUEUE, 0x020, "queue");
    maker_define(&maker, TARE_CLASS_QUEUE, 0x020, "renamed");
    maker_record(&maker, 0x023, 0, 0);
    maker_record(&maker, TARE_ID_OTHER_SEND, 0, 0);
    maker_record(&maker, TARE_ID_END, 0, 0);
    put_stream();
    end_file(true);
    decoder = check_path("check.tare", false);
    assert_int_equal(check.verdict, CHECK_COMPLETE);
    assert_false(check.healthy); /* an object found no number */
    assert_int_equal(check.totals.stored, 6);
    assert_int_equal(check.totals.all_objects, 3);
    assert_int_equal(check.totals.objects[TARE_CLASS_TASK], 2);
    assert_int_equal(check.totals.objects[TARE_CLASS_QUEUE], 1);
    assert_int_equal(check.totals.unnamed_objects, 1);
    assert_int_equal(check.totals.unnumbered, 1);
    assert_int_equal(check.kind_count, 5);
    assert_int_equal(check.kinds[0].events, 2);
    assert_string_equal(check.kinds[0].object->name, "first");
    assert_int_equal(check.kinds[0].operation, TARE_TASK_RUNS);
    assert_string_equal(check.kinds[1].object->name, "other objects");
    assert_int_equal(check.kinds[2].id, 0x010);
    assert_int_equal(check.kinds[2].object->generation, 1);
    assert_int_equal(check.kinds[3].operation, TARE_RECEIVE_BLOCK);
    assert_string_equal(check.kinds[3].object->name, "renamed");
    assert_int_equal(check.kinds[4].id, TARE_ID_KERNEL);
    done(decoder);
}

/* What newer words took the place of is no loss; what a late reader missed is. */
static void overwritten_is_not_lost(void **state)
{
    (void)state;
    for (uint32_t policy = 0; policy < 2; policy++) {
        struct decoder *decoder;

        begin_file();
        begin_stream(1);
        maker.base = 128;
        events(29, 1);
        ring.policy = policy;
        put_stream();
        end_file(true);
        decoder = check_path("check.tare", false);
        assert_int_equal(check.verdict, policy == 1 ? CHECK_COMPLETE : CHECK_LOSSY);
        assert_int_equal(check.totals.overwritten, policy == 1 ? 128 : 0);
        assert_int_equal(check.totals.gap_before, policy == 1 ? 0 : 128);
        assert_int_equal(check.totals.gap_words, 0);
        assert_int_equal(check.totals.exact_streams, 0);
        done(decoder);
    }
}

/* A raw stream whose beginning and end are missing, with a console line in front. */
static void a_raw_stream_is_judged_too(void **state)
{
    struct decoder *decoder;
    struct buffer bytes = {0};
    struct error error = {0};

    (void)state;
    begin_stream(1);
    events(3 * 29, 1);
    buffer_text(&bytes, "booting ...\r\n");
    buffer_append(&bytes, maker.words + 64, 4 * (maker.count - 64) - 2);
    assert_true(file_write("check.raw", bytes.data, bytes.size, &error));
    buffer_free(&bytes);
    decoder = check_path("check.raw", false);
    assert_int_equal(check.totals.stored, 2 * 29 - 1);
    assert_int_equal(check.totals.gap_before, 64);
    assert_int_equal(decoder_facts(decoder)->skipped_before, 13);
    assert_true(check.lossy && check.unfinished && !check.damaged);
    assert_int_equal(check.verdict, CHECK_UNFINISHED);
    done(decoder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_well),
        cmocka_unit_test(every_loss_is_counted),
        cmocka_unit_test(a_gap_makes_the_counts_inexact),
        cmocka_unit_test(an_unfinished_file_is_told),
        cmocka_unit_test(damage_comes_before_loss),
        cmocka_unit_test(a_clock_is_watched),
        cmocka_unit_test(nothing_recorded_is_not_complete),
        cmocka_unit_test(an_event_without_its_own_name_is_not_healthy),
        cmocka_unit_test(objects_of_a_kernel_are_counted),
        cmocka_unit_test(overwritten_is_not_lost),
        cmocka_unit_test(a_raw_stream_is_judged_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
