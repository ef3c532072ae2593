#include "ana_verdict.h"

#include <math.h>
#include <stdlib.h>

#include "base_buffer.h"

static const double detection_power = 0.8;

size_t verdict_blocks_needed(size_t questions, double error)
{
    size_t blocks = 6;
    while (sign_flip_least_p(blocks) * (double)questions > error && blocks < 64) {
        blocks++;
    }
    return blocks;
}

bool verdict_claims_difference(enum verdict_word word)
{
    return word == VERDICT_BETTER || word == VERDICT_SLIGHTLY_BETTER ||
           word == VERDICT_SLIGHTLY_BEHIND || word == VERDICT_BEHIND;
}

const char *verdict_text(enum verdict_word word)
{
    static const char *const texts[] = {
        [VERDICT_BETTER] = "better",
        [VERDICT_SLIGHTLY_BETTER] = "slightly better",
        [VERDICT_EQUAL] = "equal within margin",
        [VERDICT_SLIGHTLY_BEHIND] = "slightly behind",
        [VERDICT_BEHIND] = "behind",
        [VERDICT_CANNOT_TELL] = "cannot tell",
        [VERDICT_NO_WORD] = "no word",
    };
    return texts[word];
}

/* The word that one test alone supports. The interval is given with "good" as the negative side. */
static enum verdict_word word_of(struct interval interval, double margin, bool sign_sure,
                                 double mean)
{
    if (interval.high < -margin) {
        return VERDICT_BETTER;
    }
    if (interval.low > margin) {
        return VERDICT_BEHIND;
    }
    if (interval.low > -margin && interval.high < margin) {
        return VERDICT_EQUAL;
    }
    if (sign_sure) {
        return mean < 0 ? VERDICT_SLIGHTLY_BETTER : VERDICT_SLIGHTLY_BEHIND;
    }
    return VERDICT_CANNOT_TELL;
}

/* What both words support. "Equal" and a sure sign do not contradict each other, yet neither
 * implies the other: only the sign is left, and only when both tests are sure of it. */
static enum verdict_word weaker_word(enum verdict_word a, enum verdict_word b, bool both_sure,
                                     double mean)
{
    if (a == b) {
        return a;
    }
    if (a == VERDICT_CANNOT_TELL || b == VERDICT_CANNOT_TELL || !both_sure) {
        return VERDICT_CANNOT_TELL;
    }
    return mean < 0 ? VERDICT_SLIGHTLY_BETTER : VERDICT_SLIGHTLY_BEHIND;
}

static struct interval interval_oriented(struct interval interval, bool lower_is_better)
{
    return lower_is_better ? interval : (struct interval){-interval.high, -interval.low};
}

static struct interval interval_at_least(struct interval interval, double mean, double reach,
                                         bool *widened)
{
    struct interval least = {mean - reach, mean + reach};
    *widened = *widened || least.low < interval.low || least.high > interval.high;
    return (struct interval){fmin(interval.low, least.low), fmax(interval.high, least.high)};
}

static void judge_one(const struct verdict_question *question, double error,
                      struct verdict *verdict)
{
    double mean = question->lower_is_better ? verdict->t.mean : -verdict->t.mean;
    /* A difference below what the clock resolves proves no sign, however often it repeats. */
    bool resolved = fabs(mean) > question->resolution;
    bool t_sure = verdict->holm_t <= error && resolved;
    bool flip_sure = verdict->holm_sign_flip <= error && resolved;
    struct interval by_t = interval_oriented(verdict->t.interval, question->lower_is_better);
    struct interval by_flip =
        interval_oriented(verdict->sign_flip.interval, question->lower_is_better);
    verdict->word_by_t = word_of(by_t, question->margin, t_sure, mean);
    verdict->word_by_sign_flip = word_of(by_flip, question->margin, flip_sure, mean);
    bool both_sure = t_sure && flip_sure;
    verdict->word = weaker_word(verdict->word_by_t, verdict->word_by_sign_flip, both_sure, mean);
    verdict->detectable_below_margin = verdict->word == VERDICT_EQUAL && both_sure;
    bool praises_arm = verdict->word == VERDICT_BETTER ||
                       verdict->word == VERDICT_SLIGHTLY_BETTER || verdict->word == VERDICT_EQUAL;
    bool praises_other = verdict->word == VERDICT_BEHIND ||
                         verdict->word == VERDICT_SLIGHTLY_BEHIND || verdict->word == VERDICT_EQUAL;
    if ((praises_arm && question->arm_lost_events) ||
        (praises_other && question->other_lost_events)) {
        verdict->word = VERDICT_NO_WORD;
        verdict->reasons |= REASON_TRACE_INCOMPLETE;
    }
}

void verdict_judge(const struct verdict_question *questions, size_t count, double error,
                   struct verdict *verdicts)
{
    if (count == 0) {
        return;
    }
    double *p_t = memory_new(count, sizeof *p_t);
    double *p_flip = memory_new(count, sizeof *p_flip);
    double share = error / (double)count;
    for (size_t i = 0; i < count; i++) {
        const struct verdict_question *question = &questions[i];
        struct verdict *verdict = &verdicts[i];
        *verdict = (struct verdict){.word = VERDICT_NO_WORD,
                                    .word_by_t = VERDICT_NO_WORD,
                                    .word_by_sign_flip = VERDICT_NO_WORD,
                                    .level = 1 - share,
                                    .detectable = INFINITY,
                                    .blocks_needed = verdict_blocks_needed(count, error)};
        p_t[i] = p_flip[i] = 1;
        if (question->blocks < 2) {
            continue;
        }
        verdict->t = paired_t_test(question->differences, question->blocks, share);
        verdict->sign_flip = sign_flip_test(question->differences, question->blocks, share);
        bool *widened = &verdict->limited_by_resolution;
        verdict->t.interval =
            interval_at_least(verdict->t.interval, verdict->t.mean, question->resolution, widened);
        bool ignored = false;
        verdict->sign_flip.interval = interval_at_least(
            verdict->sign_flip.interval, verdict->t.mean, question->resolution, &ignored);
        p_t[i] = verdict->t.p;
        p_flip[i] = verdict->sign_flip.p;
    }
    holm_adjust(p_t, count, p_t);
    holm_adjust(p_flip, count, p_flip);
    for (size_t i = 0; i < count; i++) {
        verdicts[i].holm_t = p_t[i];
        verdicts[i].holm_sign_flip = p_flip[i];
        if (questions[i].blocks < verdicts[i].blocks_needed) {
            verdicts[i].reasons |= REASON_FEW_BLOCKS;
        } else {
            judge_one(&questions[i], error, &verdicts[i]);
        }
    }
    free(p_t);
    free(p_flip);
}

void verdict_detectable(const struct verdict_question *questions, size_t count, double error,
                        struct verdict *verdicts)
{
    double effect = INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || questions[i].blocks != questions[i - 1].blocks) {
            double share = error / (double)count;
            effect = detectable_effect(questions[i].blocks, share, detection_power);
        }
        double deviation = verdicts[i].t.deviation;
        verdicts[i].detectable =
            isinf(effect) ? INFINITY : fmax(effect * deviation, questions[i].resolution);
    }
}

void verdict_withhold_all(struct verdict *verdicts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        verdicts[i].word = VERDICT_NO_WORD;
        verdicts[i].reasons |= REASON_SAME_ARM;
    }
}
