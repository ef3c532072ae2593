/* A cost experiment as data: what was asked, every run, and everything that its reports may print.
 *
 * cost_analyse() turns the first two into the third. The reports (host/report/rep_cost_*.c) and
 * analysis.json are written from struct cost_analysis alone, so that no page holds a number that is
 * not in the data. Values that were not measured are NaN and are written as null. */
#ifndef ANA_COST_H
#define ANA_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ana_verdict.h"
#include "base_buffer.h"

/* ------------------------------------------------------------------ the question */

enum cost_role {
    COST_BASELINE, /* exactly one: what the others are compared with */
    COST_SAME,     /* the same source in another layout: must get no word (A/A) */
    COST_RECORDER, /* leaves a recording, whose health counts */
    COST_CHANGE    /* any other variant */
};

enum cost_direction {
    COST_LOWER,
    COST_HIGHER
};

enum cost_kind {
    COST_LEVEL,   /* a mean, a share, a percentile, a total: compared by differences */
    COST_EXTREME, /* the largest or smallest of many: described, never compared */
    COST_LOSS     /* a count out of the metric named in `of`; zero gets an upper bound */
};

struct cost_metric {
    char *name;  /* key in the program's JSON, dots lead into objects; or one of the lab's own */
    char *label; /* for people */
    char *unit;
    char *difference_unit; /* "points" for a percentage; NULL: unit */
    enum cost_direction better;
    bool primary;      /* named before the run; only primary metrics get words */
    double margin;     /* in difference_unit; > 0 for primary metrics */
    char *reason;      /* why that margin */
    double resolution; /* of one run's value, same unit; 0: not limited */
    enum cost_kind kind;
    char *of;
};

struct cost_setting {
    char *name, *value;
};

struct cost_step {
    char **run; /* argv */
    unsigned run_count;
};

struct cost_recording {
    char *path;
    char **check; /* argv of a command that prints the health as JSON */
    unsigned check_count;
    char *stored, *lost;        /* where in that JSON the two counts stand */
    char *healthy;              /* where it says true or false about the whole; NULL: nowhere */
    struct cost_setting *facts; /* further ones: a name for people, its place in that JSON */
    unsigned facts_count;
};

struct cost_arm {
    char *name, *label;
    enum cost_role role;
    char **requires; /* programs and files without which the arm is "not run here" */
    unsigned requires_count;
    char **environment; /* NAME=VALUE */
    unsigned environment_count;
    struct cost_step *setup, *teardown; /* once an experiment */
    struct cost_step *before, *after,
        *finally; /* once a run; after `after` the collector is read */
    unsigned setup_count, teardown_count, before_count, after_count, finally_count;
    char **command;
    unsigned command_count;
    char **collector_processes; /* names of daemons whose CPU time and memory are the collector's */
    unsigned collector_processes_count;
    char **images; /* files to hash and to measure */
    unsigned images_count;
    struct cost_recording *recording; /* NULL: none */
    struct cost_setting *settings;
    unsigned settings_count;
};

struct cost_pair {
    char *arm, *against;
};

/* Runs at other loads, one a row, made once before the experiment. */
struct cost_load_selection {
    char *note;
    struct cost_setting *columns; /* heading, and where in a row's JSON its value stands */
    unsigned columns_count;
    struct cost_step *rows;
    unsigned rows_count;
};

/* What an experiment file says (docs/cli/cost.md). */
struct cost_experiment {
    char *title, *question, *workload, *not_shown;
    char *target; /* what the program runs on when that is not this machine, or NULL */
    char *spread; /* what differs between blocks when all else repeats to the byte, or NULL */
    struct cost_load_selection *load_selection; /* NULL: none */
    unsigned blocks;
    uint64_t seed;
    double timeout_s;
    unsigned repeats; /* voided blocks allowed in all */
    struct cost_metric *metrics;
    unsigned metrics_count;
    struct cost_arm *arms;
    unsigned arms_count;
    struct cost_pair *comparisons; /* beyond "each arm against the baseline" */
    unsigned comparisons_count;
    char **limits;
    unsigned limits_count;
};

/* ------------------------------------------------------------------ what was measured */

struct cost_image {
    char *path;   /* as written in the experiment */
    char *hash;   /* "xxh3-128:..." of the whole file */
    double bytes; /* file */
    /* Sections of an ELF file that are loaded, by kind; NaN when it is no ELF file. */
    double code_bytes, constant_bytes, data_bytes, zeroed_bytes;
};

struct cost_fact {
    char *name, *value;
};

/* What happened to an arm as a whole. */
struct cost_arm_facts {
    char *not_run; /* the reason, or NULL */
    struct cost_image *images;
    size_t image_count;
    char *command; /* words joined by spaces, the variables of the experiment left in */
    struct cost_fact *reported; /* texts that the program printed beside its metrics, first run */
    size_t reported_count;
};

struct cost_trace {
    bool checked;        /* the health command gave an answer */
    bool healthy;        /* what it says about the whole; true where it says nothing */
    double stored, lost; /* events */
    char *problem;       /* why there is no answer, or NULL */
    char *path;          /* of the recording, relative to the output folder, or NULL */
    double bytes;        /* its size; a folder's files together */
    struct cost_fact *facts;
    size_t fact_count;
};

struct cost_run {
    size_t block;    /* from 0 */
    size_t attempt;  /* from 0; more than 0 after the block was voided */
    size_t position; /* within the block, from 0 */
    size_t arm;
    double started_unix_s;
    double started_s; /* since the first run */
    double *values;   /* one a metric */
    double sentinel_before_ns, sentinel_after_ns;
    double load_average; /* 1 minute, before the run */
    bool voided;
    char *reason; /* of the void: on the run that broke; the others of its block say which it was */
    struct cost_trace trace;
};

/* One row of the load selection. */
struct cost_load_row {
    char **cells;  /* one a column; NULL when the row has none */
    char *problem; /* why, or NULL */
};

struct cost_data {
    const struct cost_experiment *experiment;
    struct cost_arm_facts *arms; /* one an arm */
    struct cost_run *runs;       /* in the order they were made, voided ones included */
    size_t run_count;
    size_t blocks_done; /* complete and not voided */
    size_t blocks_voided;
    struct cost_load_row *load_rows;
    size_t load_row_count;
    char *stopped; /* why the experiment ended early, or NULL */
    uint64_t seed;
    double wall_s;
    const struct cost_fact *host; /* machine, compiler, version... in print order */
    size_t host_count;
};

/* ------------------------------------------------------------------ what is printed */

/* The values of one metric in one arm over the complete blocks. */
struct cost_summary {
    size_t count;
    double mean, median, deviation, median_deviation, least, most;
    /* COST_LOSS: sums over the runs and the upper bound of the share (95 %, 3/N) when lost is 0. */
    double lost, of, bound_share;
};

struct cost_comparison {
    size_t metric, arm, against;
    bool same;       /* the A/A comparison */
    bool word_asked; /* primary metric: `verdict` was judged within its family */
    const double *differences;
    size_t blocks;
    struct verdict
        verdict; /* without word_asked: only t and sign_flip, level 0.95 for this one alone */
    bool has_ratio;
    struct ratio ratio; /* arm / against, at the same level */
};

enum cost_state {
    COST_GOOD,
    COST_BAD,
    COST_UNKNOWN
};

struct cost_check {
    const char *name;
    enum cost_state state;
    char *text;
};

struct cost_arm_trace {
    size_t runs, runs_checked, runs_with_loss;
    size_t runs_unhealthy; /* checked, and found damaged, cut or with gaps */
    double stored, lost;   /* sums over the checked runs */
    bool complete;         /* every run was checked, is healthy and lost nothing */
};

struct cost_drift {
    bool measured;          /* three runs or more */
    struct slope sentinel;  /* change per run, as a share of the median */
    struct slope *baseline; /* one a metric: change per run of the experiment, baseline runs only */
    double sentinel_median_ns;
    double sentinel_spread_share; /* (most - least) / median */
    double sentinel_change_share; /* slope over all runs */
    bool sentinel_drifts;         /* p <= 0.01 and a change of 2 % or more */
};

struct cost_analysis {
    const struct cost_data *data;
    size_t baseline;
    struct cost_summary *summaries; /* [arm * metrics_count + metric] */
    struct cost_comparison *comparisons;
    size_t comparison_count;
    struct cost_arm_trace *traces; /* one an arm; runs == 0 when it does not record */
    struct cost_drift drift;
    struct cost_check *checks;
    size_t check_count;
    size_t questions;     /* primary comparisons that ask for a word */
    size_t blocks_needed; /* for them */
    bool words_withheld;  /* the A/A arm got a word */
    char *answer;         /* first sentence of every report */
    char *not_shown;      /* the second */
    char *spread_note;    /* the third, when the experiment says what differs between blocks */
};

/* `error` of the family: 0.05. */
extern const double cost_family_error;

struct cost_analysis cost_analyse(const struct cost_data *data);
/* Writes the sentences and the checks of an analysis (ana_cost_text.c); part of cost_analyse. */
void cost_describe(struct cost_analysis *analysis);
void cost_analysis_free(struct cost_analysis *analysis);

const char *cost_role_text(enum cost_role role);
/* The unit of differences: difference_unit or unit. */
const char *cost_difference_unit(const struct cost_metric *metric);
/* Finds a metric by name; returns metrics_count when there is none. */
size_t cost_metric_find(const struct cost_experiment *experiment, const char *name);

/* The word with what it needs beside it: "equal within 0.5 points", "cannot tell (0.8 points or
 * more would have been seen)", "no word: ...". Caller frees. */
char *cost_word_text(const struct cost_analysis *analysis,
                     const struct cost_comparison *comparison);

/* What of an image is meant. */
enum cost_part {
    COST_LOADED,   /* all of it */
    COST_READABLE, /* code and constants */
    COST_WRITABLE  /* initialised data and zeroed bytes */
};

/* Bytes of an arm's image (its number in the arm's list) minus those of the baseline's image with
 * that number; NaN when there is none to compare with. */
double cost_image_difference(const struct cost_analysis *analysis, size_t arm, size_t image,
                             enum cost_part part);

/* Decimals with which this metric's figures are printed, so that half the width of the typical
 * interval keeps two digits. */
int cost_decimals(const struct cost_analysis *analysis, size_t metric);
/* "+1,234.5" or "1,234.5"; "not measured" for NaN. Groups of three from 10,000 on. */
void cost_number(struct buffer *out, double value, int decimals, bool with_sign);
/* "+0.31 to +0.53"; "not bounded" when it is infinite. */
void cost_interval(struct buffer *out, struct interval interval, int decimals);
/* Bytes for people: "312 B", "48.1 KiB", "3.20 MiB". */
void cost_bytes(struct buffer *out, double bytes);
/* How far the intervals of primary metrics hold: "95 % for all 6 questions together". */
void cost_questions(struct buffer *out, const struct cost_analysis *analysis);
/* The same for the other metrics: "95 % each". */
void cost_exploratory(struct buffer *out, const struct cost_analysis *analysis);
/* The upper bound of a share when none was seen: "at 95 % fewer than 1 in 4,100". */
void cost_bound(struct buffer *out, double share);
/* "0 of 12,345 events lost (at 95 % fewer than 1 in 4,100)", or the loss, or what is
 * missing. */
void cost_trace_text(struct buffer *out, const struct cost_arm_trace *trace);

#endif
