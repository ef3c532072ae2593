/* Known answers worked out by hand, and the long-run promises checked by simulation (fixed seeds).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "ana_distribution.h"
#include "ana_random.h"
#include "ana_statistics.h"

static void near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("%.17g is not within %g of %.17g", value, tolerance, expected);
    }
}

static void student_has_closed_forms(void **state)
{
    (void)state;
    for (int step = 1; step <= 40; step++) {
        double t = 0.25 * step;
        near(student_two_sided(t, 1), 1 - 2 / M_PI * atan(t), 1e-13);
        near(student_two_sided(t, 2), 1 - t / sqrt(2 + t * t), 1e-13);
        double sine = t / sqrt(4 + t * t);
        double cosine_square = 4 / (4 + t * t);
        near(student_two_sided(t, 4), 1 - sine * (1 + cosine_square / 2), 1e-13);
    }
    assert_true(student_two_sided(0, 5) == 1);
    assert_true(student_two_sided(INFINITY, 5) == 0);
    /* Far in the tail the relative error counts: for 2 degrees of freedom p is about 1/t^2. */
    near(student_two_sided(1e6, 2) * 1e12, 1, 1e-9);
}

static void student_quantile_inverts(void **state)
{
    (void)state;
    near(student_quantile(0.025, 1), tan(M_PI * 0.475), 1e-11);
    /* Printed tables: 2.365 for 7 degrees of freedom, 12.706 for 1. */
    near(student_quantile(0.025, 7), 2.3646242515927849, 1e-12);
    for (int freedom = 1; freedom < 60; freedom += 3) {
        for (int power = 1; power <= 30; power += 3) {
            double tail = ldexp(0.8, -power);
            double t = student_quantile(tail, freedom);
            near(student_two_sided(t, freedom) / 2 / tail, 1, 1e-11);
        }
    }
    assert_true(student_quantile(0.5, 3) == 0);
    assert_true(isinf(student_quantile(0, 3)));
}

static void noncentral_meets_the_central(void **state)
{
    (void)state;
    for (int freedom = 1; freedom <= 31; freedom += 5) {
        for (int step = 0; step < 6; step++) {
            near(noncentral_student_above(step, freedom, 0), student_two_sided(step, freedom) / 2,
                 1e-8);
        }
    }
}

static void descriptions_by_hand(void **state)
{
    (void)state;
    const double values[] = {6, 1, 9, 2, 4, 1, 2};
    near(mean_of(values, 7), 25.0 / 7, 1e-15);
    near(median_of(values, 7), 2, 0);
    near(median_deviation(values, 7), 1, 0); /* distances 4 1 7 0 2 1 0 */
    near(quantile_of(values, 7, 0.25), 1.5, 0);
    near(quantile_of(values, 7, 1), 9, 0);
    near(median_of(values, 2), 3.5, 0);
    const double spread[] = {2, 4, 4, 4, 5, 5, 7, 9};
    near(standard_deviation(spread, 8), sqrt(32.0 / 7), 1e-15);
    assert_true(standard_deviation(spread, 1) == 0);
    /* Far from 0 nothing is lost. */
    const double far[] = {1e12 + 1, 1e12 + 2, 1e12 + 3};
    near(standard_deviation(far, 3), 1, 1e-12);
}

static void paired_t_by_hand(void **state)
{
    (void)state;
    const double differences[] = {1, 2, 3, 4, 5};
    struct paired_t test = paired_t_test(differences, 5, 0.05);
    near(test.mean, 3, 1e-15);
    near(test.standard_error, sqrt(0.5), 1e-15);
    /* t = 3 / sqrt(0.5) = sqrt(18), closed form for 4 degrees of freedom. */
    near(test.p, 1 - sqrt(18.0 / 22) * (1 + 2.0 / 22), 1e-13);
    near(test.interval.high - 3, 2.7764451051977987 * sqrt(0.5), 1e-12);
    near(test.interval.low + test.interval.high, 6, 1e-12);

    const double constant[] = {2, 2, 2};
    test = paired_t_test(constant, 3, 0.05);
    assert_true(test.p == 0 && test.interval.low == 2 && test.interval.high == 2);
    const double nothing[] = {0, 0, 0};
    test = paired_t_test(nothing, 3, 0.05);
    assert_true(test.p == 1 && test.interval.low == 0 && test.interval.high == 0);
}

static void sign_flip_by_hand(void **state)
{
    (void)state;
    const double same_sign[] = {1, 2, 3};
    struct sign_flip test = sign_flip_test(same_sign, 3, 0.25);
    near(test.p, 2.0 / 8, 0);
    assert_true(test.exact && test.interval.low == 1 && test.interval.high == 3);
    /* Sums of +-1 +-2 +-3: 6 4 2 0 0 -2 -4 -6; four of them as far from 0 as 4. */
    const double mixed[] = {-1, 2, 3};
    near(sign_flip_test(mixed, 3, 0.05).p, 0.5, 0);
    const double ties[] = {0.1, 0.1, -0.1};
    near(sign_flip_test(ties, 3, 0.05).p, 1, 0);
    /* Subset means of 0 3 6: 0 1.5 3 3 3 4.5 6; error 0.5 leaves one outside at each end. */
    const double stairs[] = {6, 0, 3};
    test = sign_flip_test(stairs, 3, 0.5);
    assert_true(test.interval.low == 1.5 && test.interval.high == 4.5);
    /* Below the least p nothing can be excluded. */
    test = sign_flip_test(stairs, 3, 0.2);
    assert_true(isinf(test.interval.low) && isinf(test.interval.high));
    near(sign_flip_least_p(8), 2.0 / 256, 0);
}

/* The interval is defined as the shifts that are not rejected: ask the test itself. */
static void sign_flip_interval_is_the_inversion(void **state)
{
    (void)state;
    struct random random = {11};
    for (int round = 0; round < 200; round++) {
        size_t count = 6 + random_below(&random, 4);
        double values[10] = {0};
        double shifted[10] = {0};
        for (size_t i = 0; i < count; i++) {
            values[i] = random_normal(&random) + 0.5;
        }
        const double error = 0.05;
        struct interval interval = sign_flip_test(values, count, error).interval;
        const double ends[] = {interval.low - 1e-6, interval.low + 1e-6, interval.high - 1e-6,
                               interval.high + 1e-6};
        for (int end = 0; end < 4; end++) {
            for (size_t i = 0; i < count; i++) {
                shifted[i] = values[i] - ends[end];
            }
            bool rejected = sign_flip_test(shifted, count, error).p <= error;
            assert_true(rejected == (end == 0 || end == 3));
        }
    }
}

static void drawn_flips_come_near_the_exact_ones(void **state)
{
    (void)state;
    struct random random = {12};
    double values[40];
    for (size_t i = 0; i < 40; i++) {
        values[i] = random_normal(&random) + 0.4;
    }
    struct sign_flip exact = sign_flip_test(values, 20, 0.05);
    assert_true(exact.exact);
    struct sign_flip drawn = sign_flip_test(values, 40, 0.05);
    assert_false(drawn.exact);
    struct paired_t t = paired_t_test(values, 40, 0.05);
    near(drawn.interval.low, t.interval.low, 0.03);
    near(drawn.interval.high, t.interval.high, 0.03);
}

static void holm_by_hand(void **state)
{
    (void)state;
    double p[] = {0.01, 0.04, 0.03};
    holm_adjust(p, 3, p);
    near(p[0], 0.03, 1e-15);
    near(p[1], 0.06, 1e-15); /* 0.04 x 1 is lifted to the 0.06 before it */
    near(p[2], 0.06, 1e-15);
    double large[] = {0.9, 0.8};
    holm_adjust(large, 2, large);
    assert_true(large[0] == 1 && large[1] == 1);
}

static void slope_by_hand(void **state)
{
    (void)state;
    const double order[] = {0, 1, 2, 3, 4};
    const double rising[] = {1e9 + 1, 1e9 + 3, 1e9 + 5, 1e9 + 7, 1e9 + 9};
    struct slope slope = slope_test(order, rising, 5);
    near(slope.slope, 2, 1e-9);
    near(slope.p, 2.0 / 120, 1e-15); /* the order itself and its mirror image of 5! */
    const double flat[] = {3, 3, 3, 3, 3};
    slope = slope_test(order, flat, 5);
    assert_true(slope.slope == 0 && slope.p == 1);
    double long_order[30];
    double drifting[30];
    for (int i = 0; i < 30; i++) {
        long_order[i] = i;
        drifting[i] = 100 + i + (i % 3);
    }
    assert_true(slope_test(long_order, drifting, 30).p < 0.001);
}

static void ratio_by_hand(void **state)
{
    (void)state;
    const double base[] = {1, 2, 4};
    const double other[] = {2, 4, 8};
    struct ratio ratio;
    assert_true(paired_ratio(other, base, 3, 0.05, &ratio));
    near(ratio.ratio, 2, 1e-15);
    const double zero[] = {1, 0, 4};
    assert_false(paired_ratio(other, zero, 3, 0.05, &ratio));
}

static void intervals_cover_the_truth(void **state)
{
    (void)state;
    const int repeats = 20000;
    struct random random = {13};
    for (size_t count = 6; count <= 10; count += 2) {
        int by_t = 0;
        int by_flip = 0;
        for (int repeat = 0; repeat < repeats; repeat++) {
            double values[10] = {0};
            for (size_t i = 0; i < count; i++) {
                values[i] = 5 + 3 * random_normal(&random);
            }
            struct interval t = paired_t_test(values, count, 0.05).interval;
            struct interval flip = sign_flip_test(values, count, 0.05).interval;
            by_t += t.low <= 5 && 5 <= t.high;
            by_flip += flip.low <= 5 && 5 <= flip.high;
        }
        near((double)by_t / repeats, 0.95, 0.01);
        /* Exact means: at least 95 %, by no more than one step of 2 / 2^count above it. */
        double step = ldexp(2, -(int)count);
        near((double)by_flip / repeats, 0.95 + step / 2, step / 2 + 0.005);
    }
}

static void detectable_effect_is_detected(void **state)
{
    (void)state;
    const int repeats = 10000;
    struct random random = {14};
    const struct {
        size_t count;
        double error;
    } cases[] = {{6, 0.05}, {8, 0.05}, {8, 0.05 / 6}, {10, 0.05 / 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double effect = detectable_effect(cases[i].count, cases[i].error, 0.8);
        int found = 0;
        for (int repeat = 0; repeat < repeats; repeat++) {
            double values[10] = {0};
            for (size_t k = 0; k < cases[i].count; k++) {
                values[k] = effect + random_normal(&random);
            }
            found += paired_t_test(values, cases[i].count, 0.05).p <= cases[i].error &&
                     sign_flip_test(values, cases[i].count, 0.05).p <= cases[i].error;
        }
        near((double)found / repeats, 0.8, 0.02);
    }
    /* Five blocks can never reach p <= 0.05 by flips; from 15 on the formula takes over smoothly.
     */
    assert_true(isinf(detectable_effect(5, 0.05, 0.8)));
    near(detectable_effect(14, 0.05, 0.8), 0.81, 0.03);
    near(detectable_effect(15, 0.05, 0.8), 0.78, 0.02);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(student_has_closed_forms),
        cmocka_unit_test(student_quantile_inverts),
        cmocka_unit_test(noncentral_meets_the_central),
        cmocka_unit_test(descriptions_by_hand),
        cmocka_unit_test(paired_t_by_hand),
        cmocka_unit_test(sign_flip_by_hand),
        cmocka_unit_test(sign_flip_interval_is_the_inversion),
        cmocka_unit_test(drawn_flips_come_near_the_exact_ones),
        cmocka_unit_test(holm_by_hand),
        cmocka_unit_test(slope_by_hand),
        cmocka_unit_test(ratio_by_hand),
        cmocka_unit_test(intervals_cover_the_truth),
        cmocka_unit_test(detectable_effect_is_detected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
