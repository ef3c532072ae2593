#include "ana_distribution.h"

#include <math.h>
#include <stdbool.h>

static double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign); /* lgamma writes a global */
}

/* The continued fraction of DLMF 8.17.22 (also Abramowitz and Stegun 26.5.8), evaluated from the
 * front by Lentz's method as modified by Thompson and Barnett (1986). Converges for x <
 * (a+1)/(a+b+2). */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double numerator = 1;
    double denominator = 1 - (a + b) * x / (a + 1);
    if (fabs(denominator) < tiny) {
        denominator = tiny;
    }
    denominator = 1 / denominator;
    double value = denominator;
    for (int step = 1; step < 10000; step++) {
        double m = step;
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double change = 1;
        for (int half = 0; half < 2; half++) {
            double term = half == 0 ? even : odd;
            denominator = 1 + term * denominator;
            numerator = 1 + term / numerator;
            denominator = 1 / (fabs(denominator) < tiny ? tiny : denominator);
            numerator = fabs(numerator) < tiny ? tiny : numerator;
            change = numerator * denominator;
            value *= change;
        }
        if (fabs(change - 1) < 1e-16) {
            break;
        }
    }
    return value;
}

double incomplete_beta(double a, double b, double x, double complement)
{
    if (x <= 0) {
        return 0;
    }
    if (complement <= 0) {
        return 1;
    }
    double front =
        exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log(complement));
    if (x < (a + 1) / (a + b + 2)) {
        return front * beta_fraction(a, b, x) / a;
    }
    return 1 - front * beta_fraction(b, a, complement) / b;
}

double normal_below(double z)
{
    return 0.5 * erfc(-z / M_SQRT2);
}

double student_two_sided(double t, double freedom)
{
    double square = t * t;
    if (isinf(square)) {
        return 0;
    }
    /* Abramowitz and Stegun 26.5.27. */
    return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + square),
                           square / (freedom + square));
}

static double student_density(double t, double freedom)
{
    double logarithm = log_gamma((freedom + 1) / 2) - log_gamma(freedom / 2) -
                       0.5 * log(freedom * M_PI) - (freedom + 1) / 2 * log1p(t * t / freedom);
    return exp(logarithm);
}

double student_quantile(double tail, double freedom)
{
    if (tail >= 0.5) {
        return 0;
    }
    if (!(tail > 0)) {
        return INFINITY;
    }
    double low = 0;
    double high = 1;
    while (student_two_sided(high, freedom) / 2 > tail) {
        low = high;
        high *= 2;
    }
    double t = (low + high) / 2;
    for (int step = 0; step < 200; step++) {
        double excess = student_two_sided(t, freedom) / 2 - tail;
        if (excess > 0) {
            low = t;
        } else {
            high = t;
        }
        double next = t + excess / student_density(t, freedom);
        if (!(next > low && next < high)) {
            next = (low + high) / 2;
        }
        bool settled = fabs(next - t) <= 1e-15 * t;
        t = next;
        if (settled) {
            break;
        }
    }
    return t;
}

double noncentral_student_above(double t, double freedom, double shift)
{
    /* T = (Z + shift) / S with S = sqrt(chi-square / freedom): integrate P(Z > t s - shift) over
     * the density of S, by Simpson's rule on the stretch that holds all but 1e-20 of it. */
    double spread = 1 / sqrt(2 * freedom);
    double from = fmax(0, 1 - 12 * spread);
    double to = 1 + 12 * spread;
    double constant = M_LN2 + freedom / 2 * log(freedom / 2) - log_gamma(freedom / 2);
    const int steps = 4000;
    double sum = 0;
    for (int step = 0; step <= steps; step++) {
        double s = from + (to - from) * step / steps;
        double density = s > 0 ? exp(constant + (freedom - 1) * log(s) - freedom * s * s / 2) : 0;
        if (s <= 0 && freedom == 1) {
            density = exp(constant);
        }
        double weight = step == 0 || step == steps ? 1 : (step % 2 == 1 ? 4 : 2);
        sum += weight * density * normal_below(shift - t * s);
    }
    return sum * (to - from) / steps / 3;
}
