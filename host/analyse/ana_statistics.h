/* Statistics of small paired samples: what the cost lab's intervals and words rest on.
 *
 * Samples are arrays of finite doubles in any unit; results carry the same unit. Nothing here
 * decides a word (ana_verdict.h does). Formulas and sources: cost/METHOD.md. */
#ifndef ANA_STATISTICS_H
#define ANA_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct interval {
    double low, high; /* infinite where the data cannot bound the value */
};

/* All need count >= 1; the standard deviation of one value is 0. */
double mean_of(const double *values, size_t count);
double standard_deviation(const double *values, size_t count); /* divides by count - 1 */
double median_of(const double *values, size_t count);
/* Median of the absolute distances from the median, not scaled. */
double median_deviation(const double *values, size_t count);
/* Quantile by linear interpolation between order statistics (type 7 of Hyndman and Fan, R's
 * default); share in 0..1. */
double quantile_of(const double *values, size_t count, double share);

/* One-sample t on paired differences, two-sided against 0. Values without any spread give p 0 (or 1
 * when they are all 0) and an interval of width 0. Needs count >= 2. */
struct paired_t {
    double mean, deviation, standard_error;
    double p;
    struct interval interval; /* covers the mean difference with probability 1 - error */
};
struct paired_t paired_t_test(const double *differences, size_t count, double error);

/* Fisher's randomisation test by flipping signs: under "no difference" each difference could as
 * well have had the other sign. Two-sided on the sum; p is a multiple of 2 / 2^count. The interval
 * is its inversion: all shifts that the test does not reject at `error`; its ends are order
 * statistics of the means of all subsets (Hartigan 1969). It is infinite when 2 / 2^count > error.
 * Exact for up to SIGN_FLIP_EXACT_MAXIMUM differences; beyond, 2^20 subsets drawn from a fixed
 * seed. */
enum {
    SIGN_FLIP_EXACT_MAXIMUM = 20
};
struct sign_flip {
    double p;
    struct interval interval;
    bool exact;
};
struct sign_flip sign_flip_test(const double *differences, size_t count, double error);

/* Least p that the sign-flip test can reach. */
double sign_flip_least_p(size_t count);

/* Holm's step-down adjustment (1979): adjusted[i] <= error for all i keeps the chance of one or
 * more false rejections at `error`. In place is fine. */
void holm_adjust(const double *p, size_t count, double *adjusted);

/* The smallest true mean difference, in standard deviations of the differences, that the rule "t
 * and sign flip both reject at `error`" finds with probability `power`. Up to 14 differences by
 * simulation from a fixed seed (no formula holds for the two tests together); beyond, where the two
 * agree, by the noncentral t. Infinite when the sign flip can never reject. */
double detectable_effect(size_t count, double error, double power);

/* Mean of the logarithms of other / base as a ratio with its t interval: "1.02 times". False when
 * a value is not above 0, then no ratio exists. */
struct ratio {
    double ratio;
    struct interval interval;
};
bool paired_ratio(const double *other, const double *base, size_t count, double error,
                  struct ratio *ratio);

/* Least-squares slope of value over order (change per step of order), with the p of a permutation
 * test: all orders up to 8 values, 20,000 drawn from a fixed seed beyond. Needs count >= 3. */
struct slope {
    double slope;
    double p;
};
struct slope slope_test(const double *order, const double *values, size_t count);

#endif
