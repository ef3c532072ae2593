/* The telemetry gateway as a Linux program: one measured run, one JSON object. */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base_buffer.h"
#include "base_error.h"
#include "base_json.h"
#include "base_options.h"
#include "gateway_application.h"
#include "gateway_os_linux.h"

#define ARRIVAL_LIMIT_S 15 /* for the first measured block, beyond the warm-up */
#define STOP_LIMIT_S 10    /* for the stop command, beyond the window */

static uint64_t data_port, command_port;
static uint64_t seconds = 5, warm_up = 1;

static const struct option_row rows[] = {
    {0, "data-port", OPTION_UNSIGNED, &data_port, "N",
     "UDP port for blocks on 127.0.0.1; 0 picks a free one (default 0).", 0, 65535},
    {0, "command-port", OPTION_UNSIGNED, &command_port, "N",
     "UDP port for commands on 127.0.0.1; 0 picks a free one (default 0).", 0, 65535},
    {0, "seconds", OPTION_UNSIGNED, &seconds, "N", "Length of the measured window (default 5).", 1,
     3600},
    {0, "warm-up", OPTION_UNSIGNED, &warm_up, "N",
     "Seconds of traffic that the load sends before measured blocks (default 1).", 0, 600},
    {0, NULL, OPTION_FLAG, NULL, NULL, NULL, 0, 0}};

static const struct command manual = {
    "gateway", "[options]", "the telemetry gateway of the cost lab, arm " GATEWAY_ARM_NAME,
    "Prints {\"data_port\":N,\"command_port\":N} as one line when it is ready for gateway_load. "
    "The\n"
    "first block marked as measured opens the window; the load's stop command, or a time limit,\n"
    "ends the program, which then prints its measurements as one JSON object.\n"
    "Exit codes: 0 measured; 2 wrong usage or a port that is taken; 3 no measured block came.",
    NULL};

/* A moment of the run as the process sees it. */
struct moment {
    uint64_t wall_ns, cpu_ns;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool open, stop;
    struct moment opened;
} run = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
                             .tv_nsec = (long)(ns % 1000000000u)};
}

static struct moment moment_now(void)
{
    return (struct moment){.wall_ns = clock_ns(CLOCK_MONOTONIC),
                           .cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID)};
}

static void window_opened(void)
{
    struct moment now = moment_now();
    pthread_mutex_lock(&run.lock);
    run.opened = now;
    run.open = true;
    pthread_cond_signal(&run.changed);
    pthread_mutex_unlock(&run.lock);
}

static void stop_requested(void)
{
    pthread_mutex_lock(&run.lock);
    run.stop = true;
    pthread_cond_signal(&run.changed);
    pthread_mutex_unlock(&run.lock);
}

/* Waits until the flag is set, or until the time is up; returns the flag. */
static bool wait_for(const bool *flag, uint64_t limit_s)
{
    struct timespec until = timespec_of(clock_ns(CLOCK_MONOTONIC) + limit_s * 1000000000u);
    int error = 0;
    pthread_mutex_lock(&run.lock);
    while (!*flag && !error)
        error = pthread_cond_timedwait(&run.changed, &run.lock, &until);
    bool set = *flag;
    pthread_mutex_unlock(&run.lock);
    return set;
}

/* Of this program alone. getrusage would start from the peak of the program that started it. */
static int64_t peak_memory_kib(void)
{
    char line[200];
    int64_t peak = -1;
    FILE *status = fopen("/proc/self/status", "r");
    if (!status)
        return -1;
    while (peak < 0 && fgets(line, sizeof line, status)) {
        if (strncmp(line, "VmHWM:", 6) == 0)
            peak = strtoll(line + 6, NULL, 10);
    }
    fclose(status);
    return peak;
}

static void write_identity(struct json *json)
{
    struct timespec resolution = {0, 0};
    clock_getres(CLOCK_MONOTONIC, &resolution);
    json_put_text(json, "workload", "gateway");
    json_put_text(json, "arm", GATEWAY_ARM_NAME);
    json_put_text(json, "compiler", GATEWAY_COMPILER);
    json_put_text(json, "compile_options", GATEWAY_COMPILE_OPTIONS);
    json_put_number(json, "counter_resolution_us", 1e6 / gateway_counter_hertz);
    json_put_integer(json, "clock_resolution_ns", resolution.tv_nsec);
}

static double mean_us(uint64_t ticks, uint32_t count)
{
    return count ? (double)ticks / count * 1e6 / gateway_counter_hertz : 0;
}

static void write_blocks(struct json *json, const char *prefix,
                         const struct gateway_block_counts *counts)
{
    const struct {
        const char *name;
        uint32_t count;
    } rows_of_counts[] = {{"blocks_received", counts->received},
                          {"blocks_without_free_block", counts->without_free_block},
                          {"blocks_refused_by_queue", counts->refused_by_queue},
                          {"blocks_processed", counts->processed},
                          {"replies_sent", counts->replied},
                          {"reply_errors", counts->reply_errors}};
    char key[80];
    for (size_t i = 0; i < sizeof rows_of_counts / sizeof rows_of_counts[0]; i++) {
        snprintf(key, sizeof key, "%s%s", prefix, rows_of_counts[i].name);
        json_put_unsigned(json, key, rows_of_counts[i].count);
    }
}

static void write_activity(struct json *json, const char *prefix,
                           const struct gateway_activity_counts *counts)
{
    const struct {
        const char *name;
        uint32_t count;
    } rows_of_counts[] = {{"commands_applied", counts->commands_applied},
                          {"commands_refused", counts->commands_refused},
                          {"timer_expiries", counts->timer_expiries},
                          {"input_stale_expiries", counts->stale_expiries}};
    char key[80];
    for (size_t i = 0; i < sizeof rows_of_counts / sizeof rows_of_counts[0]; i++) {
        snprintf(key, sizeof key, "%s%s", prefix, rows_of_counts[i].name);
        json_put_unsigned(json, key, rows_of_counts[i].count);
    }
}

static void write_window(struct json *json, const struct gateway_results *results,
                         struct moment opened, struct moment closed)
{
    const struct gateway_block_counts *blocks = &results->blocks[1];
    double wall = (double)(closed.wall_ns - opened.wall_ns);
    json_put_number(json, "window_seconds", wall / 1e9);
    json_put_number(json, "cpu_busy_percent",
                    100.0 * (double)(closed.cpu_ns - opened.cpu_ns) / wall);
    json_put_number(json, "receive_to_summary_mean_us",
                    mean_us(results->summary_ticks_sum, blocks->processed));
    json_put_number(json, "receive_to_summary_max_us", mean_us(results->summary_ticks_max, 1));
    json_put_number(json, "timer_error_mean_us",
                    mean_us(results->timer_error_sum, results->activity[1].timer_expiries));
    json_put_number(json, "timer_error_max_us", mean_us(results->timer_error_max, 1));
    write_blocks(json, "", blocks);
    json_put_unsigned(json, "application_missing_replies", blocks->received - blocks->replied);
    write_activity(json, "", &results->activity[1]);
}

/* The same counts over the life of the program: what a recording of it must agree with. */
static void write_whole_run(struct json *json, const struct gateway_results *results)
{
    const struct gateway_block_counts *blocks = results->blocks;
    const struct gateway_activity_counts *activity = results->activity;
    struct gateway_block_counts all_blocks = {
        .received = blocks[0].received + blocks[1].received,
        .without_free_block = blocks[0].without_free_block + blocks[1].without_free_block,
        .refused_by_queue = blocks[0].refused_by_queue + blocks[1].refused_by_queue,
        .processed = blocks[0].processed + blocks[1].processed,
        .replied = blocks[0].replied + blocks[1].replied,
        .reply_errors = blocks[0].reply_errors + blocks[1].reply_errors};
    struct gateway_activity_counts all_activity = {
        .commands_applied = activity[0].commands_applied + activity[1].commands_applied,
        .commands_refused = activity[0].commands_refused + activity[1].commands_refused,
        .timer_expiries = activity[0].timer_expiries + activity[1].timer_expiries,
        .stale_expiries = activity[0].stale_expiries + activity[1].stale_expiries};
    write_blocks(json, "whole_run_", &all_blocks);
    write_activity(json, "whole_run_", &all_activity);
    json_put_unsigned(json, "whole_run_datagrams_malformed", results->malformed);
    int64_t drops = gateway_linux_socket_drops();
    if (drops < 0)
        json_put_null(json, "whole_run_socket_drops");
    else
        json_put_integer(json, "whole_run_socket_drops", drops);
    json_put_integer(json, "max_rss_kib", peak_memory_kib());
}

static void print_ports(void)
{
    printf("{\"data_port\":%u,\"command_port\":%u}\n",
           (unsigned)gateway_linux_port_number(GATEWAY_PORT_DATA),
           (unsigned)gateway_linux_port_number(GATEWAY_PORT_COMMAND));
    fflush(stdout);
}

static void measure(struct error *error)
{
    if (!wait_for(&run.open, warm_up + ARRIVAL_LIMIT_S)) {
        error_set(error, EXIT_CANNOT_TELL,
                  "no measured block came within %" PRIu64 " s: start gateway_load --data-port %u "
                  "--command-port %u --warm-up %" PRIu64,
                  warm_up + ARRIVAL_LIMIT_S, (unsigned)gateway_linux_port_number(GATEWAY_PORT_DATA),
                  (unsigned)gateway_linux_port_number(GATEWAY_PORT_COMMAND), warm_up);
        return;
    }
    struct timespec until = timespec_of(run.opened.wall_ns + seconds * 1000000000u);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0) {
    }
    struct moment closed = moment_now();
    gateway_application_close_window();
    bool stopped = wait_for(&run.stop, STOP_LIMIT_S);
    gateway_linux_end();

    struct gateway_results results;
    struct buffer out = {0};
    gateway_application_results(&results);
    struct json json = json_begin(&out, 0);
    json_put_object(&json, NULL);
    write_identity(&json);
    write_window(&json, &results, run.opened, closed);
    write_whole_run(&json, &results);
    json_put_bool(&json, "stopped_by_command", stopped);
    json_end_object(&json);
    printf("%s\n", out.data);
    buffer_free(&out);
}

int main(int argc, char **argv)
{
    struct error error = {0};
    char **rest;
    int arguments, rest_count;
    if (!options_parse(&manual, rows, argc, argv, &arguments, &rest, &rest_count, &error))
        return error_report(&error);
    if (arguments + rest_count > 0) {
        error_set(&error, EXIT_USAGE, "gateway takes options only; see --help");
        return error_report(&error);
    }
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&run.changed, &attributes);
    pthread_condattr_destroy(&attributes);
    gateway_linux_begin();
    struct gateway_configuration configuration = {.data_port = (uint16_t)data_port,
                                                  .command_port = (uint16_t)command_port,
                                                  .window_opened = window_opened,
                                                  .stop_requested = stop_requested};
    if (!gateway_application_start(&configuration)) {
        error_set(&error, EXIT_USAGE, "gateway: %s", gateway_linux_fault());
        gateway_linux_end();
        return error_report(&error);
    }
    print_ports();
    measure(&error);
    if (error.code != EXIT_DONE) {
        gateway_linux_end();
        return error_report(&error);
    }
    return EXIT_DONE;
}
