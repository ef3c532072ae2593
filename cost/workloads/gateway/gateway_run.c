/* One measured run of one arm of the telemetry gateway, as one command: starts the program under
 * test, perhaps inside a recorder's command, then the load, and prints what both measured as one
 * JSON object.
 */
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base_options.h"
#include "base_progress.h"
#include "gateway_child.h"

#define PORTS_LIMIT_S 15 /* from the start of the program under test to its line of ports */
#define FINISH_LIMIT_S \
    30 /* beyond warm-up and window: last replies, stop, a recorder's last writes */

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

/* ------------------------------------------------------------------ what they say */

static bool read_ports(struct child *gateway, uint64_t until_ns, int ports[2], struct error *error)
{
    json_t *object;
    while ((object = child_find_object(&gateway->text, "data_port")) == NULL) {
        if (gateway->output < 0) {
            char status[60];
            child_wait_for_end(gateway, until_ns);
            child_describe_status(gateway, status, sizeof status);
            error_set(error, EXIT_CANNOT_TELL,
                      "'%s' %s before it printed its ports; its own message stands above",
                      gateway->name, status);
            return false;
        }
        if (!child_wait_for_output(gateway, 1, until_ns, "it printed no line with its ports",
                                   error))
            return false;
    }
    ports[0] = (int)json_integer_value(json_object_get(object, "data_port"));
    ports[1] = (int)json_integer_value(json_object_get(object, "command_port"));
    json_decref(object);
    return true;
}

static bool print_both(const struct child *gateway, const struct child *load, struct error *error)
{
    json_t *ours = child_find_object(&gateway->text, "workload");
    json_t *theirs = child_find_object(&load->text, "blocks_sent");
    if (ours && theirs) {
        struct buffer out = {0};
        struct json json = json_begin(&out, 0);
        json_put_object(&json, NULL);
        child_copy_values(&json, ours);
        child_copy_values(&json, theirs);
        json_end_object(&json);
        printf("%s\n", out.data);
        buffer_free(&out);
    } else {
        error_set(error, EXIT_CANNOT_TELL, "'%s' ended well but printed no measurements",
                  ours ? load->name : gateway->name);
    }
    json_decref(ours);
    json_decref(theirs);
    return error->code == EXIT_DONE;
}

/* ------------------------------------------------------------------ the run */

static bool run(char *const *gateway_arguments, struct child children[2], struct error *error)
{
    struct child *gateway = &children[0], *load = &children[1];
    char data_port[16], command_port[16], length[32], before[32], blocks[32];
    int ports[2];
    uint64_t now = monotonic_ns();
    if (!child_start(gateway, gateway_arguments, -1, error) ||
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
    if (!child_start(load, load_arguments, -1, error))
        return false;
    uint64_t until = monotonic_ns() + (warm_up + seconds + FINISH_LIMIT_S) * NS_PER_SECOND;
    while (gateway->output >= 0 || load->output >= 0) {
        if (!child_wait_for_output(children, 2, until, "the run did not end", error))
            return false;
        /* A load that failed sends no stop command: do not wait for what cannot come. */
        if (load->output < 0 && load->pid > 0 && !child_ended_well(load, until, error))
            return false;
    }
    return child_ended_well(load, until, error) && child_ended_well(gateway, until, error) &&
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

    struct child children[2] = {CHILD_NONE, CHILD_NONE};
    bool good = run(gateway_arguments, children, &error);
    for (int i = 0; i < 2; i++) {
        child_close(&children[i]);
    }
    free(gateway_arguments);
    return good ? EXIT_DONE : error_report(&error);
}
