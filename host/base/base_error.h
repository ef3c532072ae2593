/* Errors of the host program: what went wrong, where, and what to do about it.
 *
 * A function that can fail takes a `struct error *` as its last argument, fills it once with
 * error_set() and returns false (or NULL). Whoever cannot pass it on prints it with error_report()
 * and uses the code it returns as the exit status.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

/* The exit status of every subcommand (`record -- CMD` passes CMD's own status on instead). */
enum exit_code {
    EXIT_DONE = 0,           /* the work is done, whatever it found */
    EXIT_VERDICT_NO = 1,     /* a verdict that was asked for is "no" */
    EXIT_USAGE = 2,          /* wrong usage, or an input that cannot be opened */
    EXIT_CANNOT_TELL = 3,    /* not enough data for an answer */
    EXIT_DAMAGED = 4,        /* the input is damaged beyond use */
    EXIT_RECORD_FAULT = 125, /* Tare itself failed; 126 and 127 as in coreutils' timeout */
    EXIT_NOT_EXECUTABLE = 126,
    EXIT_NOT_FOUND = 127
};

struct error {
    enum exit_code code; /* EXIT_DONE as long as nothing failed */
    char text[1024];
};

/* Sets code and text; a second call keeps the first, innermost text and appends nothing. */
void error_set(struct error *error, enum exit_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints "tare: TEXT" on stderr and returns the code. */
int error_report(const struct error *error);

/* Prints "tare: warning: ..." on stderr. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints "tare: ..." and ends the program with EXIT_RECORD_FAULT: out of memory, broken invariants.
 */
void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
