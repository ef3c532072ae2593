#include "ana_statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ana_distribution.h"
#include "ana_random.h"
#include "base_buffer.h"

double mean_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
    }
    double mean = sum / (double)count;
    /* A second pass takes back what rounding lost when the values are far from 0. */
    double rest = 0;
    for (size_t i = 0; i < count; i++) {
        rest += values[i] - mean;
    }
    return mean + rest / (double)count;
}

double standard_deviation(const double *values, size_t count)
{
    if (count < 2) {
        return 0;
    }
    double mean = mean_of(values, count);
    double squares = 0;
    for (size_t i = 0; i < count; i++) {
        squares += (values[i] - mean) * (values[i] - mean);
    }
    return sqrt(squares / (double)(count - 1));
}

static int compare_numbers(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

double quantile_of(const double *values, size_t count, double share)
{
    double *sorted = memory_new(count, sizeof *sorted);
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_numbers);
    double position = share * (double)(count - 1);
    size_t below = (size_t)floor(position);
    size_t above = below + 1 < count ? below + 1 : below;
    double part = position - (double)below;
    double value = sorted[below] + part * (sorted[above] - sorted[below]);
    free(sorted);
    return value;
}

double median_of(const double *values, size_t count)
{
    return quantile_of(values, count, 0.5);
}

double median_deviation(const double *values, size_t count)
{
    double middle = median_of(values, count);
    double *distances = memory_new(count, sizeof *distances);
    for (size_t i = 0; i < count; i++) {
        distances[i] = fabs(values[i] - middle);
    }
    double deviation = median_of(distances, count);
    free(distances);
    return deviation;
}

struct paired_t paired_t_test(const double *differences, size_t count, double error)
{
    struct paired_t result = {0};
    result.mean = mean_of(differences, count);
    result.deviation = standard_deviation(differences, count);
    result.standard_error = result.deviation / sqrt((double)count);
    double freedom = (double)(count - 1);
    double reach = student_quantile(error / 2, freedom) * result.standard_error;
    if (result.deviation > 0) {
        result.p = student_two_sided(result.mean / result.standard_error, freedom);
    } else {
        result.p = result.mean == 0 ? 1 : 0;
        reach = 0;
    }
    result.interval = (struct interval){result.mean - reach, result.mean + reach};
    return result;
}

/* The k-th smallest, k from 0, by Hoare's selection; reorders the values. */
static double select_smallest(double *values, size_t count, size_t k)
{
    size_t left = 0;
    size_t right = count - 1;
    while (left < right) {
        double pivot = values[left + (right - left) / 2];
        size_t i = left;
        size_t j = right;
        while (true) {
            while (values[i] < pivot) {
                i++;
            }
            while (values[j] > pivot) {
                j--;
            }
            if (i >= j) {
                break;
            }
            double kept = values[i];
            values[i] = values[j];
            values[j] = kept;
            i++;
            j--;
        }
        if (k <= j) {
            right = j;
        } else {
            left = j + 1;
        }
    }
    return values[k];
}

/* The flips, each given by the sum and the size of the subset whose signs it turns. */
struct flips {
    double *sums;  /* [0] is the empty subset: nothing flipped, the data as they are */
    double *means; /* of the non-empty subsets, count - 1 of them */
    size_t count;
};

static struct flips flips_all(const double *differences, size_t count)
{
    struct flips flips = {.count = (size_t)1 << count};
    flips.sums = memory_new(flips.count, sizeof(double));
    flips.means = memory_new(flips.count, sizeof(double));
    for (size_t subset = 1; subset < flips.count; subset++) {
        int lowest = __builtin_ctzll(subset);
        flips.sums[subset] = flips.sums[subset & (subset - 1)] + differences[lowest];
        flips.means[subset - 1] = flips.sums[subset] / __builtin_popcountll(subset);
    }
    return flips;
}

static struct flips flips_drawn(const double *differences, size_t count)
{
    struct flips flips = {.count = (size_t)1 << SIGN_FLIP_EXACT_MAXIMUM};
    flips.sums = memory_new(flips.count, sizeof(double));
    flips.means = memory_new(flips.count, sizeof(double));
    struct random random = {20};
    for (size_t flip = 1; flip < flips.count; flip++) {
        size_t size = 0;
        double sum = 0;
        while (size == 0) {
            for (size_t i = 0; i < count; i++) {
                if (random_next(&random) >> 63) {
                    sum += differences[i];
                    size++;
                }
            }
        }
        flips.sums[flip] = sum;
        flips.means[flip - 1] = sum / (double)size;
    }
    return flips;
}

struct sign_flip sign_flip_test(const double *differences, size_t count, double error)
{
    struct sign_flip result = {.exact = count <= SIGN_FLIP_EXACT_MAXIMUM};
    struct flips flips =
        result.exact ? flips_all(differences, count) : flips_drawn(differences, count);
    double sum = 0;
    double size = 0;
    for (size_t i = 0; i < count; i++) {
        sum += differences[i];
        size += fabs(differences[i]);
    }
    /* Sums that are equal on paper differ by rounding; without the slack ties would be missed. */
    double slack = 1e-12 * size;
    size_t as_extreme = 0;
    for (size_t flip = 0; flip < flips.count; flip++) {
        as_extreme += fabs(sum - 2 * flips.sums[flip]) >= fabs(sum) - slack;
    }
    result.p = (double)as_extreme / (double)flips.count;
    /* A shift is rejected from below when fewer than `outside` subset means lie under it. */
    size_t outside = (size_t)floor(error / 2 * (double)flips.count * (1 + 1e-12));
    result.interval = (struct interval){-INFINITY, INFINITY};
    if (outside > 0) {
        size_t means = flips.count - 1;
        result.interval.low = select_smallest(flips.means, means, outside - 1);
        result.interval.high = select_smallest(flips.means, means, means - outside);
    }
    free(flips.sums);
    free(flips.means);
    return result;
}

double sign_flip_least_p(size_t count)
{
    return count > SIGN_FLIP_EXACT_MAXIMUM ? ldexp(1, -SIGN_FLIP_EXACT_MAXIMUM)
                                           : ldexp(1, 1 - (int)count);
}

void holm_adjust(const double *p, size_t count, double *adjusted)
{
    size_t *order = memory_new(count, sizeof *order);
    for (size_t i = 0; i < count; i++) {
        size_t at = i;
        while (at > 0 && p[order[at - 1]] > p[i]) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
    double *result = memory_new(count, sizeof *result);
    double largest = 0;
    for (size_t rank = 0; rank < count; rank++) {
        double value = fmin(1, p[order[rank]] * (double)(count - rank));
        largest = fmax(largest, value);
        result[order[rank]] = largest;
    }
    memcpy(adjusted, result, count * sizeof *result);
    free(result);
    free(order);
}

enum {
    SIMULATED_EFFECT_MAXIMUM = 14
};

static double detectable_by_simulation(size_t count, double error, double power)
{
    size_t repeats = ((size_t)1 << 26) >> count;
    repeats = repeats > 20000 ? 20000 : repeats;
    double *needed = memory_new(repeats, sizeof *needed);
    double sample[SIMULATED_EFFECT_MAXIMUM] = {0};
    double quantile = student_quantile(error / 2, (double)(count - 1));
    size_t outside = (size_t)floor(error / 2 * ldexp(1, (int)count) * (1 + 1e-12));
    struct random random = {80};
    for (size_t repeat = 0; repeat < repeats; repeat++) {
        for (size_t i = 0; i < count; i++) {
            sample[i] = random_normal(&random);
        }
        double reach = quantile * standard_deviation(sample, count) / sqrt((double)count);
        struct flips flips = flips_all(sample, count);
        double flip_low = select_smallest(flips.means, flips.count - 1, outside - 1);
        free(flips.sums);
        free(flips.means);
        /* A true effect only moves both lower limits up; found once the lower of them passes 0. */
        needed[repeat] = -fmin(mean_of(sample, count) - reach, flip_low);
    }
    double effect = quantile_of(needed, repeats, power);
    free(needed);
    return effect;
}

double detectable_effect(size_t count, double error, double power)
{
    if (count < 2 || sign_flip_least_p(count) > error) {
        return INFINITY;
    }
    if (count <= SIMULATED_EFFECT_MAXIMUM) {
        return detectable_by_simulation(count, error, power);
    }
    double freedom = (double)(count - 1);
    double threshold = student_quantile(error / 2, freedom);
    double low = 0;
    double high = 100;
    for (int step = 0; step < 60; step++) {
        double effect = (low + high) / 2;
        double found = noncentral_student_above(threshold, freedom, effect * sqrt((double)count));
        if (found < power) {
            low = effect;
        } else {
            high = effect;
        }
    }
    return (low + high) / 2;
}

bool paired_ratio(const double *other, const double *base, size_t count, double error,
                  struct ratio *ratio)
{
    double *logarithms = memory_new(count, sizeof *logarithms);
    bool positive = true;
    for (size_t i = 0; i < count; i++) {
        positive = positive && other[i] > 0 && base[i] > 0;
        logarithms[i] = positive ? log(other[i] / base[i]) : 0;
    }
    if (positive) {
        struct paired_t test = paired_t_test(logarithms, count, error);
        ratio->ratio = exp(test.mean);
        ratio->interval = (struct interval){exp(test.interval.low), exp(test.interval.high)};
    }
    free(logarithms);
    return positive;
}

enum {
    ALL_ORDERS_MAXIMUM = 8,
    DRAWN_ORDERS = 20000
};

static double product_sum(const double *x, const double *y, const size_t *places, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += x[i] * y[places[i]];
    }
    return sum;
}

/* The next order of `places` in lexicographic sequence; false after the last. */
static bool next_order(size_t *places, size_t count)
{
    size_t pivot = count - 1;
    while (pivot > 0 && places[pivot - 1] >= places[pivot]) {
        pivot--;
    }
    if (pivot == 0) {
        return false;
    }
    size_t swap = count - 1;
    while (places[swap] <= places[pivot - 1]) {
        swap--;
    }
    size_t kept = places[pivot - 1];
    places[pivot - 1] = places[swap];
    places[swap] = kept;
    for (size_t left = pivot, right = count - 1; left < right; left++, right--) {
        kept = places[left];
        places[left] = places[right];
        places[right] = kept;
    }
    return true;
}

struct slope slope_test(const double *order, const double *values, size_t count)
{
    double *x = memory_new(count, sizeof *x);
    double *y = memory_new(count, sizeof *y);
    size_t *places = memory_new(count, sizeof *places);
    double middle = mean_of(order, count);
    double level = mean_of(values, count);
    double squares = 0;
    double size = 0;
    for (size_t i = 0; i < count; i++) {
        x[i] = order[i] - middle;
        y[i] = values[i] - level;
        places[i] = i;
        squares += x[i] * x[i];
        size += fabs(x[i] * y[i]);
    }
    double observed = product_sum(x, y, places, count);
    double as_good = fabs(observed) - 1e-12 * size;
    /* The order as it was counts as one of the tried ones. */
    int tried = 1;
    int as_extreme = 1;
    struct random random = {8};
    bool all = count <= ALL_ORDERS_MAXIMUM;
    while (all ? next_order(places, count) : tried <= DRAWN_ORDERS) {
        if (!all) {
            random_shuffle(&random, places, count);
        }
        as_extreme += fabs(product_sum(x, y, places, count)) >= as_good;
        tried++;
    }
    free(x);
    free(y);
    free(places);
    return (struct slope){squares > 0 ? observed / squares : 0, (double)as_extreme / tried};
}
