/* Exporters: each turns the items of a recording's timeline into the format of another program.
 *
 * An exporter is one table of functions in one file, exp_NAME.c, and a row in export_find(). What
 * was lost has a function of its own, so that no format can leave it out by accident.
 */
#ifndef EXP_EXPORT_H
#define EXP_EXPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base_error.h"
#include "dec_input.h"
#include "exp_output.h"
#include "mod_clock.h"
#include "mod_timeline.h"

/* The time line of an export, in ns: CLOCK_MONOTONIC where the collector has read it. A session
 * without it begins at 0, or where the session before it ends. */
struct export_clock {
    struct session_scale scale;
    uint64_t base_ns; /* of the scale's time 0 */
};

/* What an exporter may look at besides the items: all that the first pass has found. */
struct export_source {
    const struct decode_directory *directory;
    const struct container_facts *facts;
    const struct export_clock *clocks; /* by ordinal of the session */
};

/* An item with its times in nanoseconds, within the stretch that is exported: what begins before
 * comes with a begin at the start of the stretch, what ends behind it ends at its end. */
struct export_item {
    const struct timeline_item *item;
    uint64_t ns,
        begin_ns;  /* on the time line of mod_clock.h; begin_ns as in struct timeline_item */
    uint32_t *tag; /* instead of item->tag */
    bool clipped;  /* the true begin or end (of LOST: either) lies outside of the stretch */
};

struct exporter {
    const char *name;    /* as in --to NAME */
    const char *summary; /* one line for the manual */
    /* Gives the state that the other functions get. They append to output->buffer. */
    void *(*create)(struct export_output *output);
    /* Optional: sees every item of the whole recording in a first pass over it, before header().
     * Its pointers do not outlive the call; ordinals mean the same in both passes. */
    void (*survey)(void *state, const struct timeline_item *item);
    void (*header)(void *state, const struct export_source *source);
    void (*event)(void *state, const struct export_item *item); /* all kinds but LOST */
    void (*lost)(void *state, const struct export_item *item);
    void (*footer)(void *state);
    void (*destroy)(void *state);
};

/* NULL when there is none of this name. export_names() is "perfetto, ...", for messages. */
const struct exporter *export_find(const char *name);
const char *export_names(void);

struct export_options {
    /* The stretch, in ns since time 0 of the recording's first session (mod_clock.h). */
    int64_t begin_ns, end_ns;
    struct decode_options decode; /* of what is no `.tare` file; merged by time */
    bool quiet;                   /* no progress line */
};
#define EXPORT_WHOLE .begin_ns = INT64_MIN, .end_ns = INT64_MAX

struct export_counts {
    uint64_t items, losses; /* that were exported; an interval counts twice */
    bool ticks;             /* the length of a tick is not known: one is shown as 1 ns */
};

/* The name of the recording for those who read it more than once: PATH, or that of a copy of
 * standard input ("-"), which has a name as long as it is open. NULL: `path` is a file, or `error`
 * says why not. */
FILE *export_copy_input(const char *path, struct buffer *name, struct error *error);

/* Reads PATH ("-": standard input) twice and writes it out. False with the reason in `error`; what
 * `output` holds then is not to be kept. */
bool export_recording(const struct exporter *exporter, const char *path,
                      const struct export_options *options, struct export_output *output,
                      struct export_counts *counts, struct error *error);

#endif
