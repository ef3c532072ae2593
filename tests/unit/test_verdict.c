/* The wording rules: one case a rule, and the family-wise promise by simulation. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "ana_random.h"
#include "ana_verdict.h"

enum {
    BLOCKS = 8
};

/* Differences with the given mean and a known spread: standard deviation 0.1 x spread. */
static const double shape[BLOCKS] = {-0.1, 0.05, 0.12, -0.07, 0.02, -0.12, 0.16, -0.06};

static enum verdict_word judge(double mean, double spread, double margin, struct verdict *verdict)
{
    double differences[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++) {
        differences[i] = mean + spread * shape[i];
    }
    struct verdict_question question = {
        .differences = differences, .blocks = BLOCKS, .margin = margin, .lower_is_better = true};
    verdict_judge(&question, 1, 0.05, verdict);
    return verdict->word;
}

static void every_word_has_its_case(void **state)
{
    (void)state;
    struct verdict verdict;
    /* t interval: mean +- 0.084; flips: about the same. */
    assert_int_equal(judge(-2, 1, 1, &verdict), VERDICT_BETTER);
    assert_int_equal(judge(2, 1, 1, &verdict), VERDICT_BEHIND);
    assert_int_equal(judge(-1, 1, 1, &verdict), VERDICT_SLIGHTLY_BETTER);
    assert_int_equal(judge(1, 1, 1, &verdict), VERDICT_SLIGHTLY_BEHIND);
    assert_int_equal(judge(0.02, 1, 1, &verdict), VERDICT_EQUAL);
    assert_false(verdict.detectable_below_margin);
    /* Sure of the sign, yet wholly inside the margin: "equal" goes before "slightly". */
    assert_int_equal(judge(0.5, 1, 1, &verdict), VERDICT_EQUAL);
    assert_true(verdict.detectable_below_margin);
    assert_int_equal(judge(0.2, 10, 0.5, &verdict), VERDICT_CANNOT_TELL);
    assert_int_equal(verdict.blocks_needed, 6);
}

static void higher_may_be_better(void **state)
{
    (void)state;
    double differences[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++) {
        differences[i] = 2 + shape[i];
    }
    struct verdict_question question = {
        .differences = differences, .blocks = BLOCKS, .margin = 1, .lower_is_better = false};
    struct verdict verdict;
    verdict_judge(&question, 1, 0.05, &verdict);
    assert_int_equal(verdict.word, VERDICT_BETTER);
    assert_true(verdict.t.interval.low > 1); /* figures keep the metric's own sign */
}

static void weaker_word_of_two_tests(void **state)
{
    (void)state;
    /* One far value: all signs agree (flips say p = 2/256), t is blinded by the spread. */
    const double one_far[BLOCKS] = {1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 60};
    struct verdict_question question = {
        .differences = one_far, .blocks = BLOCKS, .margin = 1, .lower_is_better = true};
    struct verdict verdict;
    verdict_judge(&question, 1, 0.05, &verdict);
    assert_int_equal(verdict.word_by_sign_flip, VERDICT_BEHIND);
    assert_int_equal(verdict.word_by_t, VERDICT_CANNOT_TELL);
    assert_int_equal(verdict.word, VERDICT_CANNOT_TELL);
}

static void few_blocks_get_no_word(void **state)
{
    (void)state;
    assert_int_equal(verdict_blocks_needed(1, 0.05), 6);
    assert_int_equal(verdict_blocks_needed(2, 0.05), 7);
    assert_int_equal(verdict_blocks_needed(3, 0.05), 7);
    assert_int_equal(verdict_blocks_needed(6, 0.05), 8);
    double differences[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++) {
        differences[i] = 5 + shape[i];
    }
    for (size_t questions = 1; questions <= 3; questions += 2) {
        for (size_t blocks = 0; blocks <= BLOCKS; blocks++) {
            struct verdict_question family[3];
            struct verdict verdicts[3];
            for (size_t i = 0; i < 3; i++) {
                family[i] = (struct verdict_question){.differences = differences,
                                                      .blocks = blocks,
                                                      .margin = 1,
                                                      .lower_is_better = true};
            }
            verdict_judge(family, questions, 0.05, verdicts);
            bool enough = blocks >= (questions == 1 ? 6 : 7);
            assert_int_equal(verdicts[0].word, enough ? VERDICT_BEHIND : VERDICT_NO_WORD);
            assert_int_equal(verdicts[0].reasons, enough ? 0 : REASON_FEW_BLOCKS);
        }
    }
}

static void lossy_arm_earns_no_praise(void **state)
{
    (void)state;
    double differences[BLOCKS];
    const double means[] = {-2, -1, 0, 1, 2};
    for (size_t kind = 0; kind < 5; kind++) {
        for (size_t i = 0; i < BLOCKS; i++) {
            differences[i] = means[kind] + shape[i];
        }
        struct verdict_question question = {.differences = differences,
                                            .blocks = BLOCKS,
                                            .margin = 1,
                                            .lower_is_better = true,
                                            .arm_lost_events = true};
        struct verdict verdict;
        verdict_judge(&question, 1, 0.05, &verdict);
        bool praise = means[kind] <= 0;
        assert_int_equal(verdict.word == VERDICT_NO_WORD, praise);
        assert_int_equal(verdict.reasons, praise ? REASON_TRACE_INCOMPLETE : 0);
        /* The loss of the arm it is compared with protects from the opposite words. */
        question.arm_lost_events = false;
        question.other_lost_events = true;
        verdict_judge(&question, 1, 0.05, &verdict);
        assert_int_equal(verdict.word == VERDICT_NO_WORD, means[kind] >= 0);
    }
}

static void same_arm_takes_words_back(void **state)
{
    (void)state;
    struct verdict verdict;
    assert_int_equal(judge(2, 1, 1, &verdict), VERDICT_BEHIND);
    assert_true(verdict_claims_difference(verdict.word));
    verdict_withhold_all(&verdict, 1);
    assert_int_equal(verdict.word, VERDICT_NO_WORD);
    assert_int_equal(verdict.reasons, REASON_SAME_ARM);
    assert_int_equal(verdict.word_by_t, VERDICT_BEHIND);
    assert_false(verdict_claims_difference(VERDICT_EQUAL));
    assert_false(verdict_claims_difference(VERDICT_CANNOT_TELL));
}

static void resolution_limits_what_is_seen(void **state)
{
    (void)state;
    /* A clock of 1 us, every block 0.4 us apart: repeats prove nothing. */
    double differences[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++) {
        differences[i] = 0.4;
    }
    struct verdict_question question = {.differences = differences,
                                        .blocks = BLOCKS,
                                        .margin = 0.3,
                                        .resolution = 1,
                                        .lower_is_better = true};
    struct verdict verdict;
    verdict_judge(&question, 1, 0.05, &verdict);
    assert_int_equal(verdict.word, VERDICT_CANNOT_TELL);
    assert_true(verdict.limited_by_resolution);
    verdict_detectable(&question, 1, 0.05, &verdict);
    assert_true(verdict.detectable == 1);
    question.resolution = 0;
    verdict_judge(&question, 1, 0.05, &verdict);
    assert_int_equal(verdict.word, VERDICT_BEHIND);
    assert_false(verdict.limited_by_resolution);
}

static void detectable_scales_with_the_spread(void **state)
{
    (void)state;
    double differences[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++) {
        differences[i] = 10 * shape[i];
    }
    struct verdict_question question = {
        .differences = differences, .blocks = BLOCKS, .margin = 0.1, .lower_is_better = true};
    struct verdict verdict;
    verdict_judge(&question, 1, 0.05, &verdict);
    verdict_detectable(&question, 1, 0.05, &verdict);
    double deviations = verdict.detectable / standard_deviation(differences, BLOCKS);
    assert_true(deviations > 1.15 && deviations < 1.3);
}

struct simulated {
    double values[3][BLOCKS];
    struct verdict_question questions[3];
    struct verdict verdicts[3];
};

static void simulate(struct random *random, struct simulated *world)
{
    /* Three metrics that share part of their noise, as CPU time and latency do. */
    const double margins[] = {0.01, 1, 3};
    for (size_t block = 0; block < BLOCKS; block++) {
        double common = random_normal(random);
        for (size_t metric = 0; metric < 3; metric++) {
            world->values[metric][block] = 0.5 * common + random_normal(random);
        }
    }
    for (size_t metric = 0; metric < 3; metric++) {
        world->questions[metric] = (struct verdict_question){.differences = world->values[metric],
                                                             .blocks = BLOCKS,
                                                             .margin = margins[metric],
                                                             .lower_is_better = metric != 1};
    }
}

static void null_experiments_stay_silent(void **state)
{
    (void)state;
    const int repeats = 10000;
    struct random random = {15};
    struct simulated world;
    int false_reports = 0;
    for (int repeat = 0; repeat < repeats; repeat++) {
        simulate(&random, &world);
        verdict_judge(world.questions, 3, 0.05, world.verdicts);
        bool any = false;
        for (size_t metric = 0; metric < 3; metric++) {
            any = any || verdict_claims_difference(world.verdicts[metric].word);
        }
        false_reports += any;
    }
    print_message("false words in %.2f %% of %d null reports\n", 100.0 * false_reports / repeats,
                  repeats);
    assert_true(false_reports <= repeats * 5 / 100);
    /* A rule that never speaks would pass, too. */
    assert_true(false_reports >= repeats * 2 / 100);
}

static enum verdict_word opposite(enum verdict_word word)
{
    switch (word) {
    case VERDICT_BETTER:
        return VERDICT_BEHIND;
    case VERDICT_BEHIND:
        return VERDICT_BETTER;
    case VERDICT_SLIGHTLY_BETTER:
        return VERDICT_SLIGHTLY_BEHIND;
    case VERDICT_SLIGHTLY_BEHIND:
        return VERDICT_SLIGHTLY_BETTER;
    default:
        return word;
    }
}

static void labels_and_units_do_not_matter(void **state)
{
    (void)state;
    struct random random = {16};
    struct simulated world, swapped, scaled;
    for (int repeat = 0; repeat < 2000; repeat++) {
        simulate(&random, &world);
        for (size_t metric = 0; metric < 3; metric++) {
            for (size_t block = 0; block < BLOCKS; block++) {
                world.values[metric][block] += (double)(repeat % 5);
            }
        }
        swapped = scaled = world;
        for (size_t metric = 0; metric < 3; metric++) {
            const double unit = metric == 0 ? 1e-9 : 1e6;
            for (size_t block = 0; block < BLOCKS; block++) {
                swapped.values[metric][block] *= -1;
                scaled.values[metric][block] *= unit;
            }
            swapped.questions[metric].differences = swapped.values[metric];
            scaled.questions[metric].differences = scaled.values[metric];
            scaled.questions[metric].margin *= unit;
        }
        verdict_judge(world.questions, 3, 0.05, world.verdicts);
        verdict_judge(swapped.questions, 3, 0.05, swapped.verdicts);
        verdict_judge(scaled.questions, 3, 0.05, scaled.verdicts);
        for (size_t metric = 0; metric < 3; metric++) {
            const struct verdict *a = &world.verdicts[metric];
            const struct verdict *b = &swapped.verdicts[metric];
            assert_int_equal(b->word, opposite(a->word));
            assert_true(b->t.mean == -a->t.mean);
            assert_true(b->t.interval.low == -a->t.interval.high);
            assert_true(b->sign_flip.interval.low == -a->sign_flip.interval.high);
            assert_true(b->t.p == a->t.p && b->sign_flip.p == a->sign_flip.p);
            assert_int_equal(scaled.verdicts[metric].word, a->word);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_word_has_its_case),
        cmocka_unit_test(higher_may_be_better),
        cmocka_unit_test(weaker_word_of_two_tests),
        cmocka_unit_test(few_blocks_get_no_word),
        cmocka_unit_test(lossy_arm_earns_no_praise),
        cmocka_unit_test(same_arm_takes_words_back),
        cmocka_unit_test(resolution_limits_what_is_seen),
        cmocka_unit_test(detectable_scales_with_the_spread),
        cmocka_unit_test(null_experiments_stay_silent),
        cmocka_unit_test(labels_and_units_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
