/* Ticks to nanoseconds, with figures worked out by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "mod_clock.h"

static struct clock_snapshot snapshots[3];
static struct tare_region region;

static struct decode_session session_with(size_t count, uint32_t region_rate, uint64_t record_rate)
{
    region = (struct tare_region){.ticks_per_second = region_rate};
    return (struct decode_session){.snapshots = snapshots,
                                   .snapshot_count = count,
                                   .first_region = region_rate > 0 ? &region : NULL,
                                   .clock_rate = record_rate};
}

static void snapshots_are_best(void **state)
{
    struct decode_session session = session_with(2, 100000000, 1);
    struct session_scale scale;

    (void)state;
    /* 125 million ticks in one second: 8 ns a tick. */
    snapshots[0] = (struct clock_snapshot){1000, 5000000, 70, 30};
    snapshots[1] = (struct clock_snapshot){125001000, 1005000000, 99, 50};
    scale = session_scale(&session, 7);
    assert_int_equal(scale.source, CLOCK_SNAPSHOTS);
    assert_int_equal(scale.origin_ticks, 1000);
    assert_true(scale.realtime_known);
    assert_int_equal(scale.origin_realtime_ns, 70);
    assert_int_equal(scale.uncertainty_ns, 80);
    assert_true(scale.ticks_per_second == 125e6);
    assert_true(scale.declared_ticks_per_second == 100e6);
    assert_int_equal(scale_ns(&scale, 1000), 0);
    assert_int_equal(scale_ns(&scale, 1001), 8);
    assert_int_equal(scale_ns(&scale, 999), -8);
    assert_int_equal(scale_ns(&scale, 125001000), 1000000000);
    assert_int_equal(scale_span_ns(&scale, 125), 1000);
    /* A year later it is still exact: 8 ns * 3942000000000000 ticks. */
    assert_int_equal(scale_span_ns(&scale, UINT64_C(3942000000000000)), INT64_C(31536000000000000));
}

static void the_middle_snapshot_shows_the_residual(void **state)
{
    struct decode_session session = session_with(3, 0, 0);
    struct session_scale scale;

    (void)state;
    snapshots[0] = (struct clock_snapshot){0, 0, 0, 0};
    snapshots[1] = (struct clock_snapshot){101000, 1000000, 0, 0}; /* fast by 1 % at first */
    snapshots[2] = (struct clock_snapshot){200000, 2000000, 0, 0};
    scale = session_scale(&session, 0);
    /* 101000 ticks of 10 ns are 1010 us, 10 us more than it was. */
    assert_true(scale.worst_residual_ns == 10000);
    assert_true(scale.fastest_ppm > 9999 && scale.fastest_ppm < 10001);
    assert_true(scale.slowest_ppm < -9999 && scale.slowest_ppm > -10001);
}

static void without_snapshots_others_serve(void **state)
{
    struct decode_session session = session_with(0, 50000000, 1000000);
    struct session_scale scale = session_scale(&session, 100);

    (void)state;
    assert_int_equal(scale.source, CLOCK_REGION);
    assert_int_equal(scale_ns(&scale, 101), 20);
    assert_false(scale.realtime_known);
    session = session_with(0, 0, 1000000);
    scale = session_scale(&session, 100);
    assert_int_equal(scale.source, CLOCK_RECORD);
    assert_int_equal(scale_ns(&scale, 101), 1000);
    session = session_with(0, 0, 0);
    scale = session_scale(&session, 100);
    assert_int_equal(scale.source, CLOCK_UNKNOWN);
    assert_int_equal(scale_ns(&scale, 12345), 0);
}

/* A recording of a millisecond: two readings good to a microsecond say less than the estimate. */
static void close_snapshots_are_no_rate(void **state)
{
    struct decode_session session = session_with(2, 100000000, 0);
    struct session_scale scale;

    (void)state;
    snapshots[0] = (struct clock_snapshot){0, 0, 5, 1000};
    snapshots[1] = (struct clock_snapshot){100500, 1000000, 9, 1000};
    scale = session_scale(&session, 0);
    assert_int_equal(scale.source, CLOCK_REGION);
    assert_true(scale.realtime_known);
    assert_int_equal(scale_ns(&scale, 100), 1000);
}

static void hostile_snapshots_are_no_rate(void **state)
{
    static const struct clock_snapshot bad[][2] = {
        {{5, 5, 0, 0}, {5, 9, 0, 0}},          /* no tick between them */
        {{5, 5, 0, 0}, {9, 5, 0, 0}},          /* no time between them */
        {{9, 5, 0, 0}, {5, 9, 0, 0}},          /* backwards */
        {{0, 0, 0, 0}, {UINT64_MAX, 1, 0, 0}}, /* faster than any clock */
        {{0, 0, 0, 0}, {1, UINT64_MAX, 0, 0}}, /* slower than any */
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct decode_session session = session_with(2, 0, 0);

        snapshots[0] = bad[i][0];
        snapshots[1] = bad[i][1];
        assert_int_equal(session_scale(&session, 0).source, CLOCK_UNKNOWN);
    }
}

static void far_times_saturate(void **state)
{
    struct decode_session session = session_with(0, 1, 0); /* a tick of one second */
    struct session_scale scale = session_scale(&session, UINT64_C(1) << 63);

    (void)state;
    assert_int_equal(scale_ns(&scale, UINT64_MAX), INT64_MAX);
    assert_int_equal(scale_ns(&scale, 0), -INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(snapshots_are_best),
        cmocka_unit_test(the_middle_snapshot_shows_the_residual),
        cmocka_unit_test(without_snapshots_others_serve),
        cmocka_unit_test(close_snapshots_are_no_rate),
        cmocka_unit_test(hostile_snapshots_are_no_rate),
        cmocka_unit_test(far_times_saturate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
