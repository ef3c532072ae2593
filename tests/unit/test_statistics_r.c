/* ctest: labels=plain timeout=60
 * R as the oracle: the same samples go through R and through Tare, 1e-9 apart at most. Skipped
 * where R is not installed. R's side of the sign-flip test is written out by brute force in R. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "ana_distribution.h"
#include "ana_random.h"
#include "ana_statistics.h"

static const char r_functions[] =
    "options(digits = 17)\n"
    "say <- function(...) for (x in c(...)) cat(sprintf('%.17g\\n', x))\n"
    "flip <- function(d, e) {\n"
    "  n <- length(d)\n"
    "  s <- as.matrix(expand.grid(rep(list(c(1, -1)), n)))\n"
    "  p <- mean(abs(s %*% d) >= abs(sum(d)) - 1e-12 * sum(abs(d)))\n"
    "  m <- as.matrix(expand.grid(rep(list(0:1), n)))[-1, ]\n"
    "  v <- sort((m %*% d) / rowSums(m))\n"
    "  k <- floor(e / 2 * 2^n)\n"
    "  say(p, v[k], v[length(v) + 1 - k])\n"
    "}\n"
    "sample_case <- function(d, e) {\n"
    "  t <- t.test(d, conf.level = 1 - e)\n"
    "  say(mean(d), sd(d), median(d), mad(d, constant = 1), quantile(d, 0.9), t$p.value,"
    " t$conf.int)\n"
    "  flip(d, e)\n"
    "  say(p.adjust(abs(d) / 40, 'holm'))\n"
    "  say(coef(lm(d ~ seq_along(d)))[2])\n"
    "}\n"
    "power_case <- function(n, e)\n"
    "  say(power.t.test(n = n, sig.level = e, power = 0.8, type = 'one.sample',\n"
    "    tol = 1e-13)$delta)\n";

static double worst;
static int compared;

static bool compare(FILE *answers, double ours, const char *what)
{
    double theirs;
    char line[64];
    if (fgets(line, sizeof line, answers) == NULL) {
        fprintf(stderr, "R gave no value for %s\n", what);
        return false;
    }
    char *end;
    theirs = strtod(line, &end);
    double apart = fabs(ours - theirs) / fmax(1, fabs(theirs));
    worst = fmax(worst, apart);
    compared++;
    if (end == line || !(apart <= 1e-9)) {
        fprintf(stderr, "%s: %.17g here, R says %s", what, ours, line);
        return false;
    }
    return true;
}

enum {
    CASES = 24
};

static size_t draw_case(struct random *random, double *values, double *error)
{
    size_t count = 6 + random_below(random, 6);
    double shift = 3 * random_normal(random);
    bool skewed = random_below(random, 3) == 0;
    for (size_t i = 0; i < count; i++) {
        double value = random_normal(random);
        values[i] = shift + (skewed ? exp(value) : value);
    }
    *error = random_below(random, 2) == 0 ? 0.05 : 0.0625;
    return count;
}

static void write_script(FILE *script)
{
    fputs(r_functions, script);
    struct random random = {17};
    for (int i = 0; i < CASES; i++) {
        double values[12];
        double error;
        size_t count = draw_case(&random, values, &error);
        fputs("sample_case(c(", script);
        for (size_t k = 0; k < count; k++) {
            fprintf(script, "%s%.17g", k == 0 ? "" : ", ", values[k]);
        }
        fprintf(script, "), %.17g)\n", error);
    }
    fputs("for (n in 1:30) for (t in c(0.01, 0.5, 2, 7))"
          " say(2 * pt(-t, n), qt(0.1 / 2^n, n, lower.tail = FALSE))\n",
          script);
    fputs("for (a in 1:9) for (x in seq(0.05, 0.95, 0.1)) say(pbeta(x, a / 2, 3), pnorm(a * x))\n",
          script);
    fputs("for (n in c(2, 7, 30)) for (s in 0:5) say(pt(2.3, n, s, lower.tail = FALSE))\n", script);
    fputs("for (n in 15:20) power_case(n, 0.05)\n", script);
}

static bool check_sample(FILE *answers, const double *values, size_t count, double error)
{
    struct paired_t t = paired_t_test(values, count, error);
    struct sign_flip flip = sign_flip_test(values, count, error);
    double p[12] = {0};
    double order[12] = {0};
    for (size_t i = 0; i < count; i++) {
        p[i] = fabs(values[i]) / 40;
        order[i] = (double)i;
    }
    holm_adjust(p, count, p);
    bool good = compare(answers, t.mean, "mean") && compare(answers, t.deviation, "deviation") &&
                compare(answers, median_of(values, count), "median") &&
                compare(answers, median_deviation(values, count), "median deviation") &&
                compare(answers, quantile_of(values, count, 0.9), "quantile") &&
                compare(answers, t.p, "t p") && compare(answers, t.interval.low, "t low") &&
                compare(answers, t.interval.high, "t high") && compare(answers, flip.p, "flip p") &&
                compare(answers, flip.interval.low, "flip low") &&
                compare(answers, flip.interval.high, "flip high");
    for (size_t i = 0; i < count && good; i++) {
        good = compare(answers, p[i], "Holm");
    }
    return good && compare(answers, slope_test(order, values, count).slope, "slope");
}

static bool check_answers(FILE *answers)
{
    struct random random = {17};
    for (int i = 0; i < CASES; i++) {
        double values[12];
        double error;
        size_t count = draw_case(&random, values, &error);
        if (!check_sample(answers, values, count, error)) {
            return false;
        }
    }
    const double points[] = {0.01, 0.5, 2, 7};
    bool good = true;
    for (int n = 1; n <= 30 && good; n++) {
        for (int i = 0; i < 4 && good; i++) {
            good = compare(answers, student_two_sided(points[i], n), "pt") &&
                   compare(answers, student_quantile(0.1 * ldexp(1, -n), n), "qt");
        }
    }
    for (int a = 1; a <= 9 && good; a++) {
        for (int i = 0; i < 10 && good; i++) {
            double x = 0.05 + 0.1 * i;
            good = compare(answers, incomplete_beta(a / 2.0, 3, x, 1 - x), "pbeta") &&
                   compare(answers, normal_below(a * x), "pnorm");
        }
    }
    const int freedoms[] = {2, 7, 30};
    for (int i = 0; i < 3 && good; i++) {
        for (int shift = 0; shift <= 5 && good; shift++) {
            double ours = noncentral_student_above(2.3, freedoms[i], shift);
            good = compare(answers, ours, "pt with shift");
        }
    }
    for (size_t n = 15; n <= 20 && good; n++) {
        good = compare(answers, detectable_effect(n, 0.05, 0.8), "power.t.test");
    }
    return good;
}

int main(void)
{
    if (system("command -v Rscript >/dev/null") != 0) { /* NOLINT(cert-env33-c) */
        puts("skipped: R is not installed");
        return 77;
    }
    FILE *script = fopen("oracle.R", "w");
    if (script == NULL) {
        perror("oracle.R");
        return 1;
    }
    write_script(script);
    fclose(script);
    FILE *answers = popen("Rscript --vanilla oracle.R", "r"); /* NOLINT(cert-env33-c) */
    if (answers == NULL) {
        perror("Rscript");
        return 1;
    }
    bool good = check_answers(answers);
    bool ended = pclose(answers) == 0;
    printf("%d values compared with R, at most %.3g apart\n", compared, worst);
    return good && ended ? 0 : 1;
}
