/* The words of the cost lab, and nothing but the rules that give them (cost/METHOD.md, "Words").
 *
 * One question is one primary metric of one comparison: the differences "arm minus the other arm",
 * one a block. Questions that are answered in one report are judged as one family: a word that
 * claims a difference where there is none appears in at most `error` of such reports.
 *
 * Two tests must agree: Student's t on the differences and the exact sign flip. Signs are decided
 * by Holm's step-down over the family, sizes by intervals that hold for the whole family at once
 * (each at error / number of questions). Where the two tests give different words, the weaker
 * one is used. */
#ifndef ANA_VERDICT_H
#define ANA_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

#include "ana_statistics.h"

/* What was measured about the arm; "better" and "behind" follow the metric's good direction. */
enum verdict_word {
    VERDICT_BETTER,          /* interval wholly beyond the margin on the good side */
    VERDICT_SLIGHTLY_BETTER, /* sure of the sign; the size may be below the margin */
    VERDICT_EQUAL,           /* interval wholly inside the margin, whether or not it holds 0 */
    VERDICT_SLIGHTLY_BEHIND,
    VERDICT_BEHIND,
    VERDICT_CANNOT_TELL,
    VERDICT_NO_WORD /* withheld; the reasons say why */
};

/* Why there is no word. Bits. */
enum verdict_reason {
    REASON_FEW_BLOCKS = 1,      /* fewer than blocks_needed */
    REASON_SAME_ARM = 2,        /* the A/A arm itself got a word: the rig is not fit for verdicts */
    REASON_TRACE_INCOMPLETE = 4 /* the word would praise an arm that lost trace events */
};

struct verdict_question {
    const double *differences; /* one a block, arm minus the other arm, in the metric's unit */
    size_t blocks;
    double margin;     /* > 0, same unit: smaller differences do not matter to the reader */
    double resolution; /* >= 0: the interval is never narrower than +- this */
    bool lower_is_better;
    bool arm_lost_events;   /* favourable words for the arm are withheld */
    bool other_lost_events; /* unfavourable words for the arm are withheld */
};

struct verdict {
    enum verdict_word word;
    unsigned reasons;            /* of VERDICT_NO_WORD, enum verdict_reason */
    enum verdict_word word_by_t; /* what each test alone would say */
    enum verdict_word word_by_sign_flip;
    struct paired_t t; /* interval at `level` */
    struct sign_flip sign_flip;
    double level;                  /* of both intervals: 1 - error / questions */
    double holm_t, holm_sign_flip; /* p after Holm over the family */
    bool detectable_below_margin;  /* VERDICT_EQUAL, and sure of the sign all the same */
    bool limited_by_resolution;    /* the interval was widened to the resolution */
    double detectable;             /* see verdict_detectable; infinite before, metric's unit */
    size_t blocks_needed;          /* for this family */
};

/* The least number of blocks with which `questions` together can get a word at `error`: 6 for one,
 * 7 for three, 8 for six (at 0.05). */
size_t verdict_blocks_needed(size_t questions, double error);

/* Judges a family. With fewer blocks than needed every word is VERDICT_NO_WORD; the figures are
 * filled as far as the blocks allow (2 or more). */
void verdict_judge(const struct verdict_question *questions, size_t count, double error,
                   struct verdict *verdicts);

/* Fills `detectable`; apart, because it takes a simulation (some 50 ms). Same arguments as above.
 */
void verdict_detectable(const struct verdict_question *questions, size_t count, double error,
                        struct verdict *verdicts);

/* Takes all words back, because the A/A comparison failed. */
void verdict_withhold_all(struct verdict *verdicts, size_t count);

/* True for the four words that claim a difference: what an A/A arm must not get. */
bool verdict_claims_difference(enum verdict_word word);

/* "slightly better", "cannot tell", ...; never NULL. */
const char *verdict_text(enum verdict_word word);

#endif
