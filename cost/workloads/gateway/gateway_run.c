/* One measured run of one arm of the telemetry gateway, as one command: starts the program under
 * test, perhaps inside a recorder's command, then the load, and prints what both measured as one
 * JSON object.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base_buffer.h"
#include "base_error.h"
#include "base_json.h"
#include "base_options.h"
#include "base_progress.h"

#define NS_PER_SECOND 1000000000u
#define PORTS_LIMIT_S 15 /* from the start of the program under test to its line of ports */
#define FINISH_LIMIT_S \
    30 /* beyond warm-up and window: last replies, stop, a recorder's last writes */
#define TERMINATE_LIMIT_S 2
#define OUTPUT_LIMIT (1 << 20) /* bytes on standard output; more is not the gateway speaking */

static uint64_t seconds = 5, warm_up = 1, rate = 750;
static const char *load_path;

static const struct option_row rows[] = {
    {0, "seconds", OPTION_UNSIGNED, &seconds, "N", "Length of the measured window (default 5).", 1,
     3600},
    {0, "warm-up", OPTION_UNSIGNED, &warm_up, "N", "Seconds of traffic before it (default 1).", 0,
     600},
    {0, "rate", OPTION_UNSIGNED, &rate, "N", "Blocks a second (default 750).", 1, 100000},
    {0, "load", OPTION_TEXT, &load_path, "FILE",
     "The load generator (default: gateway_load beside this program).", 0, 0},
    {0, NULL, OPTION_FLAG, NULL, NULL, NULL, 0, 0}};

static const struct command manual = {
    "gateway_run", "[options] -- COMMAND [ARGUMENT...]",
    "one measured run of one arm of the telemetry gateway",
    "COMMAND is a gateway program, or a recorder's command that ends in one; --seconds and "
    "--warm-up\n"
    "are added behind its last argument. Standard output gets one JSON object.\n"
    "    gateway_run --seconds 5 -- tare record -o run.tare -- ./gateway_tare\n"
    "Exit codes: 0 measured; 2 wrong usage; 3 the run failed, and the message says why.",
    NULL};

/* A program that was started and what it wrote on standard output so far. */
struct child {
    const char *name;
    pid_t pid; /* also its process group; 0 once it was waited for */
    int output;
    int status;
    struct buffer text;
};

/* ------------------------------------------------------------------ processes */

static void become(char *const *arguments, const int output[2])
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(output[1], STDOUT_FILENO);
    execvp(arguments[0], arguments);
    fprintf(stderr, "gateway_run: cannot start '%s': %s\n", arguments[0], strerror(errno));
    _exit(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

static bool start(struct child *child, char *const *arguments, struct error *error)
{
    int output[2] = {-1, -1};
    child->name = arguments[0];
    if (pipe2(output, O_CLOEXEC) != 0 || (child->pid = fork()) < 0) {
        error_set(error, EXIT_CANNOT_TELL, "gateway_run: cannot start '%s': %s", arguments[0],
                  strerror(errno));
        child->pid = 0;
        close(output[0]);
        close(output[1]);
        return false;
    }
    if (child->pid == 0)
        become(arguments, output);
    setpgid(child->pid, child->pid); /* by both, so that it holds whoever runs first */
    close(output[1]);
    child->output = output[0];
    return true;
}

/* Waits until the child has ended or the time is up; true when it has ended. */
static bool wait_for_end(struct child *child, uint64_t until_ns)
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

/* Ends what is left of a failed run, group by group, so that a gateway inside a recorder goes too.
 */
static void end_by_force(struct child *child)
{
    if (child->pid <= 0)
        return;
    pid_t group = child->pid;
    kill(-group, SIGTERM);
    if (!wait_for_end(child, monotonic_ns() + TERMINATE_LIMIT_S * (uint64_t)NS_PER_SECOND)) {
        kill(-group, SIGKILL);
        wait_for_end(child, UINT64_MAX);
    }
}

static void release(struct child *child)
{
    if (child->output >= 0)
        close(child->output);
    child->output = -1;
    buffer_free(&child->text);
}

static void describe_status(const struct child *child, char *text, size_t size)
{
    if (WIFSIGNALED(child->status))
        snprintf(text, size, "was ended by signal %d", WTERMSIG(child->status));
    else
        snprintf(text, size, "ended with status %d", WEXITSTATUS(child->status));
}

/* Reads what there is; closes the pipe at its end. */
static bool read_output(struct child *child, struct error *error)
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
                  "gateway_run: '%s' wrote more than %d bytes on standard output: is it a gateway?",
                  child->name, OUTPUT_LIMIT);
        return false;
    }
    return true;
}

/* Sleeps until one of the children wrote something, or the time is up. */
static bool wait_for_output(struct child *children, int count, uint64_t until_ns, const char *what,
                            struct error *error)
{
    struct pollfd descriptors[2];
    uint64_t now = monotonic_ns();
    if (now >= until_ns) {
        error_set(error, EXIT_CANNOT_TELL, "gateway_run: '%s' took too long: %s", children[0].name,
                  what);
        return false;
    }
    for (int i = 0; i < count; i++)
        descriptors[i] = (struct pollfd){.fd = children[i].output, .events = POLLIN};
    if (poll(descriptors, (nfds_t)count, (int)((until_ns - now) / 1000000u) + 1) <= 0)
        return true;
    for (int i = 0; i < count; i++) {
        if (descriptors[i].revents && !read_output(&children[i], error))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------ what they say */

/* The last complete line that is a JSON object with this key; a recorder may print lines too. */
static json_t *find_object(const struct buffer *text, const char *key)
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

static bool read_ports(struct child *gateway, uint64_t until_ns, int ports[2], struct error *error)
{
    json_t *object;
    while ((object = find_object(&gateway->text, "data_port")) == NULL) {
        if (gateway->output < 0) {
            char status[60];
            wait_for_end(gateway, until_ns);
            describe_status(gateway, status, sizeof status);
            error_set(
                error, EXIT_CANNOT_TELL,
                "gateway_run: '%s' %s before it printed its ports; its own message stands above",
                gateway->name, status);
            return false;
        }
        if (!wait_for_output(gateway, 1, until_ns, "it printed no line with its ports", error))
            return false;
    }
    ports[0] = (int)json_integer_value(json_object_get(object, "data_port"));
    ports[1] = (int)json_integer_value(json_object_get(object, "command_port"));
    json_decref(object);
    return true;
}

static void copy_values(struct json *json, json_t *object)
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

static bool print_both(const struct child *gateway, const struct child *load, struct error *error)
{
    json_t *ours = find_object(&gateway->text, "workload");
    json_t *theirs = find_object(&load->text, "blocks_sent");
    if (ours && theirs) {
        struct buffer out = {0};
        struct json json = json_begin(&out, 0);
        json_put_object(&json, NULL);
        copy_values(&json, ours);
        copy_values(&json, theirs);
        json_end_object(&json);
        printf("%s\n", out.data);
        buffer_free(&out);
    } else {
        error_set(error, EXIT_CANNOT_TELL,
                  "gateway_run: '%s' ended well but printed no measurements",
                  ours ? load->name : gateway->name);
    }
    json_decref(ours);
    json_decref(theirs);
    return error->code == EXIT_DONE;
}

/* ------------------------------------------------------------------ the run */

static bool ended_well(struct child *child, uint64_t until_ns, struct error *error)
{
    char status[60];
    if (!wait_for_end(child, until_ns)) {
        error_set(error, EXIT_CANNOT_TELL,
                  "gateway_run: '%s' closed its output but did not end in time", child->name);
        return false;
    }
    if (WIFEXITED(child->status) && WEXITSTATUS(child->status) == EXIT_DONE)
        return true;
    describe_status(child, status, sizeof status);
    error_set(error, EXIT_CANNOT_TELL, "gateway_run: '%s' %s", child->name, status);
    return false;
}

static bool run(char *const *gateway_arguments, struct child children[2], struct error *error)
{
    struct child *gateway = &children[0], *load = &children[1];
    char data_port[16], command_port[16], length[32], before[32], blocks[32];
    int ports[2];
    uint64_t now = monotonic_ns();
    if (!start(gateway, gateway_arguments, error) ||
        !read_ports(gateway, now + PORTS_LIMIT_S * (uint64_t)NS_PER_SECOND, ports, error))
        return false;
    snprintf(data_port, sizeof data_port, "%d", ports[0]);
    snprintf(command_port, sizeof command_port, "%d", ports[1]);
    snprintf(length, sizeof length, "%" PRIu64, seconds);
    snprintf(before, sizeof before, "%" PRIu64, warm_up);
    snprintf(blocks, sizeof blocks, "%" PRIu64, rate);
    char *const load_arguments[] = {(char *)load_path,
                                    "--data-port",
                                    data_port,
                                    "--command-port",
                                    command_port,
                                    "--seconds",
                                    length,
                                    "--warm-up",
                                    before,
                                    "--rate",
                                    blocks,
                                    NULL};
    if (!start(load, load_arguments, error))
        return false;
    uint64_t until = monotonic_ns() + (warm_up + seconds + FINISH_LIMIT_S) * NS_PER_SECOND;
    while (gateway->output >= 0 || load->output >= 0) {
        if (!wait_for_output(children, 2, until, "the run did not end", error))
            return false;
        /* A load that failed sends no stop command: do not wait for what cannot come. */
        if (load->output < 0 && load->pid > 0 && !ended_well(load, until, error))
            return false;
    }
    return ended_well(load, until, error) && ended_well(gateway, until, error) &&
           print_both(gateway, load, error);
}

static const char *load_beside_this_program(void)
{
    char path[PATH_MAX];
    struct buffer text = {0};
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
    if (size < 0)
        return "gateway_load";
    path[size] = 0;
    buffer_printf(&text, "%s/gateway_load", dirname(path));
    return text.data;
}

int main(int argc, char **argv)
{
    struct error error = {0};
    char **rest;
    int arguments, rest_count;
    if (!options_parse(&manual, rows, argc, argv, &arguments, &rest, &rest_count, &error))
        return error_report(&error);
    if (arguments > 0 || rest_count == 0) {
        error_set(&error, EXIT_USAGE,
                  "gateway_run needs the program under test behind '--'; see --help");
        return error_report(&error);
    }
    if (!load_path)
        load_path = load_beside_this_program();

    char length[32], before[32];
    char **gateway_arguments = memory_new((size_t)rest_count + 5, sizeof *gateway_arguments);
    snprintf(length, sizeof length, "%" PRIu64, seconds);
    snprintf(before, sizeof before, "%" PRIu64, warm_up);
    for (int i = 0; i < rest_count; i++)
        gateway_arguments[i] = rest[i];
    gateway_arguments[rest_count] = "--seconds";
    gateway_arguments[rest_count + 1] = length;
    gateway_arguments[rest_count + 2] = "--warm-up";
    gateway_arguments[rest_count + 3] = before;

    struct child children[2] = {{.output = -1}, {.output = -1}};
    bool good = run(gateway_arguments, children, &error);
    for (int i = 0; i < 2; i++) {
        end_by_force(&children[i]);
        release(&children[i]);
    }
    free(gateway_arguments);
    return good ? EXIT_DONE : error_report(&error);
}
