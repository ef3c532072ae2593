/* A progress line on stderr with the time left: shown only on a terminal, only when the work takes
 * longer than two seconds, at most ten times a second; `-q` silences it. */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what; /* "decoding" */
    uint64_t total;   /* 0: unknown, then only the elapsed time is shown */
    uint64_t started_ns, shown_ns;
    bool quiet, visible;
};

struct progress progress_begin(const char *what, uint64_t total, bool quiet);
void progress_step(struct progress *progress, uint64_t done);
/* With a note behind the numbers: "block 3 of 8, arm tare". */
void progress_note(struct progress *progress, uint64_t done, const char *note);
void progress_end(struct progress *progress); /* clears the line */
/* Clears the line of whichever progress is shown; it comes back at that one's next step. Called by
 * error_report(), warn() and die(), so that a message never runs into it. */
void progress_hide(void);

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t monotonic_ns(void);

#endif
