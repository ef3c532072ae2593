#include "gateway_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base_progress.h"

#define TERMINATE_LIMIT_S 2
#define OUTPUT_LIMIT (1 << 20) /* bytes on standard output; more is not the gateway speaking */

/* ------------------------------------------------------------------ processes */

static void become(char *const *arguments, int output, int errors)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    if (errors >= 0)
        dup2(errors, STDERR_FILENO);
    execvp(arguments[0], arguments);
    fprintf(stderr, "tare: cannot start '%s': %s\n", arguments[0], strerror(errno));
    _exit(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

bool child_start(struct child *child, char *const *arguments, int errors, struct error *error)
{
    int output[2] = {-1, -1};
    *child = CHILD_NONE;
    child->name = arguments[0];
    if (pipe2(output, O_CLOEXEC) != 0 || (child->pid = fork()) < 0) {
        error_set(error, EXIT_CANNOT_TELL, "cannot start '%s': %s", arguments[0], strerror(errno));
        child->pid = 0;
        if (output[0] >= 0) {
            close(output[0]);
            close(output[1]);
        }
        return false;
    }
    if (child->pid == 0)
        become(arguments, output[1], errors);
    setpgid(child->pid, child->pid); /* by both, so that it holds whoever runs first */
    close(output[1]);
    child->output = output[0];
    return true;
}

bool child_wait_for_end(struct child *child, uint64_t until_ns)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    while (child->pid > 0) {
        pid_t got = waitpid(child->pid, &child->status, WNOHANG);
        if (got == child->pid) {
            child->pid = 0;
        } else {
            if (monotonic_ns() >= until_ns)
                return false;
            nanosleep(&pause, NULL);
        }
    }
    return true;
}

void child_close(struct child *child)
{
    if (child->pid > 0) {
        pid_t group = child->pid;
        kill(-group, SIGTERM);
        if (!child_wait_for_end(child,
                                monotonic_ns() + TERMINATE_LIMIT_S * (uint64_t)NS_PER_SECOND)) {
            kill(-group, SIGKILL);
            child_wait_for_end(child, UINT64_MAX);
        }
    }
    if (child->output >= 0)
        close(child->output);
    child->output = -1;
    buffer_free(&child->text);
}

void child_describe_status(const struct child *child, char *text, size_t size)
{
    if (WIFSIGNALED(child->status))
        snprintf(text, size, "was ended by signal %d", WTERMSIG(child->status));
    else
        snprintf(text, size, "ended with status %d", WEXITSTATUS(child->status));
}

bool child_ended_well(struct child *child, uint64_t until_ns, struct error *error)
{
    char status[60];
    if (!child_wait_for_end(child, until_ns)) {
        error_set(error, EXIT_CANNOT_TELL, "'%s' closed its output but did not end in time",
                  child->name);
        return false;
    }
    if (WIFEXITED(child->status) && WEXITSTATUS(child->status) == EXIT_DONE)
        return true;
    child_describe_status(child, status, sizeof status);
    error_set(error, EXIT_CANNOT_TELL, "'%s' %s", child->name, status);
    return false;
}

bool child_read(struct child *child, struct error *error)
{
    char bytes[4096];
    ssize_t got = read(child->output, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR)
        return true;
    if (got <= 0) {
        close(child->output);
        child->output = -1;
        return true;
    }
    buffer_append(&child->text, bytes, (size_t)got);
    if (child->text.size > OUTPUT_LIMIT) {
        error_set(error, EXIT_CANNOT_TELL,
                  "'%s' wrote more than %d bytes on standard output: is it a gateway?", child->name,
                  OUTPUT_LIMIT);
        return false;
    }
    return true;
}

bool child_wait_for_output(struct child *children, int count, uint64_t until_ns, const char *what,
                           struct error *error)
{
    struct pollfd descriptors[2];
    uint64_t now = monotonic_ns();
    if (now >= until_ns) {
        error_set(error, EXIT_CANNOT_TELL, "'%s' took too long: %s", children[0].name, what);
        return false;
    }
    for (int i = 0; i < count; i++)
        descriptors[i] = (struct pollfd){.fd = children[i].output, .events = POLLIN};
    if (poll(descriptors, (nfds_t)count, (int)((until_ns - now) / 1000000u) + 1) <= 0)
        return true;
    for (int i = 0; i < count; i++) {
        if (descriptors[i].revents && !child_read(&children[i], error))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------ what they say */

json_t *child_find_object(const struct buffer *text, const char *key)
{
    json_t *found = NULL;
    const char *line = text->data;
    const char *end;
    while (line && (end = strchr(line, '\n')) != NULL) {
        json_t *object = *line == '{' ? json_loadb(line, (size_t)(end - line), 0, NULL) : NULL;
        if (object && json_object_get(object, key)) {
            json_decref(found);
            found = json_incref(object);
        }
        json_decref(object);
        line = end + 1;
    }
    return found;
}

void child_copy_values(struct json *json, json_t *object)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        if (json_is_integer(value))
            json_put_integer(json, key, json_integer_value(value));
        else if (json_is_real(value))
            json_put_number(json, key, json_real_value(value));
        else if (json_is_boolean(value))
            json_put_bool(json, key, json_is_true(value));
        else
            json_put_text(json, key, json_string_value(value));
    }
}
