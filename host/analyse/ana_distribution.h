/* The probability distributions behind the verdicts. Accuracy: 1e-9 or better against R, absolute
 * and, in the tails, relative (tests/unit/test_statistics_r.c). */
#ifndef ANA_DISTRIBUTION_H
#define ANA_DISTRIBUTION_H

/* Regularised incomplete beta function I_x(a, b) with a, b > 0; `complement` is 1 - x, given apart
 * so that nothing is lost when x is close to 1. */
double incomplete_beta(double a, double b, double x, double complement);

double normal_below(double z); /* P(Z <= z) */

/* P(|T| >= |t|) for Student's t with `freedom` > 0 degrees of freedom. */
double student_two_sided(double t, double freedom);
/* The t >= 0 with P(T > t) = tail, 0 < tail <= 0.5. Tail 0 gives infinity. */
double student_quantile(double tail, double freedom);
/* P(T > t) for the noncentral t with the given shift: the power of a one-sided t test. */
double noncentral_student_above(double t, double freedom, double shift);

#endif
