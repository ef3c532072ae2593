/* A program that a runner of the gateway starts and listens to: its standard output is kept, it has
 * a process group of its own, ends with the runner, and every wait is bounded. */
#ifndef GATEWAY_CHILD_H
#define GATEWAY_CHILD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base_buffer.h"
#include "base_error.h"
#include "base_json.h"

#define NS_PER_SECOND 1000000000u

/* Begin with CHILD_NONE. */
struct child {
    const char *name; /* argv[0], for messages */
    pid_t pid;        /* also its process group; 0 once it was waited for */
    int output;       /* its standard output; -1 once that is closed */
    int status;       /* as from waitpid, once pid is 0 */
    struct buffer text;
};

#define CHILD_NONE ((struct child){.output = -1})

/* Standard input is empty; `errors` becomes the standard error, -1 leaves it as it is. False with
 * EXIT_CANNOT_TELL when no process could be made. */
bool child_start(struct child *child, char *const *arguments, int errors, struct error *error);

/* Reads what there is into `text`; closes the pipe at its end. False when that is too much. */
bool child_read(struct child *child, struct error *error);

/* Sleeps until one of at most two children wrote something, and reads it, or some time went by.
 * False with a message, which `what` completes, when it is past `until_ns`. */
bool child_wait_for_output(struct child *children, int count, uint64_t until_ns, const char *what,
                           struct error *error);

/* Waits until the child has ended or the time is up; true when it has ended. */
bool child_wait_for_end(struct child *child, uint64_t until_ns);

/* The same, and true only for status 0; else a message. */
bool child_ended_well(struct child *child, uint64_t until_ns, struct error *error);

/* "ended with status 1" or "was ended by signal 9". */
void child_describe_status(const struct child *child, char *text, size_t size);

/* Ends what still runs, the whole group, and frees all. */
void child_close(struct child *child);

/* The last complete line that is a JSON object with this key, or NULL; a reference of the caller's.
 */
json_t *child_find_object(const struct buffer *text, const char *key);

/* Copies the numbers, flags and texts of an object, in their order. */
void child_copy_values(struct json *json, json_t *object);

#endif
