/* Runs one command of an experiment and measures it from outside: duration, CPU time, peak memory.
 */
#ifndef CMD_COST_PROCESS_H
#define CMD_COST_PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base_buffer.h"

struct process_request {
    char *const *argv;        /* ended by NULL */
    char *const *environment; /* NAME=VALUE, added to ours; may be NULL */
    size_t environment_count;
    double timeout_s;
    /* Ends the command early when it becomes non-zero; NULL: never. */
    const volatile sig_atomic_t *interrupted;
    void (*tick)(void *context, double elapsed_s); /* about five times a second; may be NULL */
    void *context;
    bool sweep; /* afterwards end what the command left running in its process group */
};

struct process_result {
    int start_error; /* errno when the program could not be started, else 0 */
    int status;      /* as of waitpid */
    bool timed_out, interrupted;
    double wall_s;
    double cpu_s;           /* of the command and all descendants that it waited for */
    double peak_bytes;      /* largest resident size of one of these; NaN: not known */
    struct buffer out, err; /* at most PROCESS_OUTPUT_MAXIMUM bytes each, the rest is dropped */
};

enum {
    PROCESS_OUTPUT_MAXIMUM = 4 << 20
};

/* Fills the result whatever happens. The command runs in a process group of its own, with standard
 * input from /dev/null; on a timeout or an interruption the whole group gets SIGTERM and two
 * seconds later SIGKILL. */
void process_run(const struct process_request *request, struct process_result *result);
void process_result_free(struct process_result *result);

/* True when the command ended by itself with status 0; else `reason` says what happened. */
bool process_succeeded(const struct process_result *result, struct buffer *reason);

/* Largest resident size so far of a living process in bytes (VmHWM), 0 when it cannot be read. */
double process_peak_bytes(pid_t process);

/* What `tare cost measure` found about the part of a run that it started. */
struct measured_part {
    bool found;
    double cpu_s;
    double peak_bytes;
};
struct measured_parts {
    struct measured_part process, collector;
};
/* Reads the lines that `tare cost measure` appended to a file; a missing file is no part. */
struct measured_parts measured_parts_read(const char *path);

/* CPU time and memory of running daemons, by name. */
struct daemon_times {
    struct daemon_time {
        pid_t process;
        double cpu_s;
        double peak_bytes;
    } * rows;
    size_t count;
};
struct daemon_times daemon_times_read(char *const *names, size_t count);
/* What was used between the two readings; peak_bytes sums the largest sizes of all of them. */
struct measured_part daemon_times_between(const struct daemon_times *before,
                                          const struct daemon_times *after);

#endif
