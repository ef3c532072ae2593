/* Load generator of the telemetry gateway: sends blocks and gain commands at fixed rates and judges
 * what comes back.
 *
 * Open loop: block n is due at start + n / rate whatever the gateway does, and its round trip
 * counts from then. A stall on either side therefore shows in every block that it delayed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

#include "base_buffer.h"
#include "base_error.h"
#include "base_json.h"
#include "base_options.h"
#include "base_progress.h"
#include "gateway_ledger.h"

#define NS_PER_SECOND 1000000000u
#define LAST_REPLIES_NS (NS_PER_SECOND * 2ull) /* how long replies may trail the last block */
#define STOP_TRIES 20
#define STOP_WAIT_MS 100
#define RECEIVE_BUFFER (1 << 20) /* so that this program loses none of the replies it counts */

static const char *address_text = "127.0.0.1";
static uint64_t data_port, command_port;
static uint64_t seconds = 5, warm_up = 1, rate = 750, command_rate = 20;

static const struct option_row rows[] = {
    {0, "address", OPTION_TEXT, &address_text, "A.B.C.D",
     "The gateway's IPv4 address, of a board on your desk (default 127.0.0.1).", 0, 0},
    {0, "data-port", OPTION_UNSIGNED, &data_port, "N", "The gateway's port for blocks; required.",
     0, 65535},
    {0, "command-port", OPTION_UNSIGNED, &command_port, "N",
     "The gateway's port for commands; required.", 0, 65535},
    {0, "seconds", OPTION_UNSIGNED, &seconds, "N", "Seconds of measured blocks (default 5).", 1,
     3600},
    {0, "warm-up", OPTION_UNSIGNED, &warm_up, "N", "Seconds of traffic before them (default 1).", 0,
     600},
    {0, "rate", OPTION_UNSIGNED, &rate, "N", "Blocks a second (default 750).", 1, 100000},
    {0, "command-rate", OPTION_UNSIGNED, &command_rate, "N",
     "Gain commands a second, 0 for none (default 20).", 0, 1000},
    {0, NULL, OPTION_FLAG, NULL, NULL, NULL, 0, 0}};

static const struct command manual = {
    "gateway_load", "--data-port N --command-port N [options]",
    "load generator of the telemetry gateway",
    "Round trips are in microseconds from the moment a block was due, whether or not it could be\n"
    "sent then. Every reply is compared with this program's own computation. Ends the gateway "
    "with\n"
    "a stop command.\n"
    "Exit codes: 0 measured, whatever came back; 2 wrong usage; 3 the gateway did not answer.",
    NULL};

static struct {
    int data, command;
    uint64_t start_ns;
    uint32_t command_total, send_errors;
    uint64_t send_late_max_ns;
    uint64_t first_reply_ns, last_reply_ns;
} load = {.data = -1, .command = -1};
static struct gateway_ledger ledger;

/* ------------------------------------------------------------------ traffic */

static bool open_socket(int *descriptor, uint64_t port, struct error *error)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int size = RECEIVE_BUFFER;
    if (inet_pton(AF_INET, address_text, &address.sin_addr) != 1) {
        error_set(error, EXIT_USAGE, "gateway_load: --address '%s' is no IPv4 address, A.B.C.D",
                  address_text);
        return false;
    }
    *descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (*descriptor < 0 ||
        connect(*descriptor, (const struct sockaddr *)&address, sizeof address) != 0) {
        error_set(error, EXIT_USAGE, "gateway_load: cannot open UDP to %s:%" PRIu64 ": %s",
                  address_text, port, strerror(errno));
        return false;
    }
    /* More than the machine's limit needs a right; what is granted is enough at these rates. */
    setsockopt(*descriptor, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    return true;
}

static uint64_t due_ns(uint64_t number, uint64_t per_second)
{
    return load.start_ns + number * NS_PER_SECOND / per_second;
}

static void send_block(uint64_t due, uint64_t now)
{
    static struct gateway_block block;
    gateway_ledger_block(&ledger, &block);
    if (block.type == GATEWAY_BLOCK_MEASURED && now - due > load.send_late_max_ns)
        load.send_late_max_ns = now - due;
    if (send(load.data, &block, sizeof block, 0) != (ssize_t)sizeof block)
        load.send_errors++;
}

static void send_command(const struct gateway_command *command)
{
    if (send(load.command, command, sizeof *command, 0) != (ssize_t)sizeof *command)
        load.send_errors++;
}

static void take_all_replies(void)
{
    uint8_t bytes[256];
    uint32_t sequence;
    ssize_t size;
    while ((size = recv(load.data, bytes, sizeof bytes, 0)) >= 0) {
        uint64_t now = monotonic_ns();
        uint32_t measured = ledger.measured_replies;
        if (!gateway_ledger_reply(&ledger, bytes, (size_t)size, &sequence) ||
            ledger.measured_replies == measured)
            continue;
        if (measured == 0)
            load.first_reply_ns = now;
        load.last_reply_ns = now;
        ledger.round_trips_ns[measured] = now - due_ns(sequence, rate);
    }
}

static void take_all_acknowledgements(void)
{
    uint8_t bytes[64];
    ssize_t size;
    while ((size = recv(load.command, bytes, sizeof bytes, 0)) >= 0)
        gateway_ledger_acknowledgement(&ledger, bytes, (size_t)size);
}

/* Sends what is due; returns when the next thing is due, 0 when everything has been sent. */
static uint64_t send_what_is_due(void)
{
    uint64_t next = 0;
    while (ledger.blocks_sent < ledger.block_total) {
        uint64_t due = due_ns(ledger.blocks_sent, rate), now = monotonic_ns();
        if (due > now) {
            next = due;
            break;
        }
        send_block(due, now);
    }
    while (ledger.commands_sent < load.command_total) {
        struct gateway_command command;
        uint64_t due = due_ns(ledger.commands_sent, command_rate);
        if (due > monotonic_ns()) {
            next = next && next < due ? next : due;
            break;
        }
        gateway_ledger_command(&ledger, &command);
        send_command(&command);
    }
    return next;
}

static void wait_for_input(uint64_t until_ns)
{
    struct pollfd descriptors[2] = {{.fd = load.data, .events = POLLIN},
                                    {.fd = load.command, .events = POLLIN}};
    uint64_t now = monotonic_ns(), wait = until_ns > now ? until_ns - now : 0;
    struct timespec limit = {.tv_sec = (time_t)(wait / NS_PER_SECOND),
                             .tv_nsec = (long)(wait % NS_PER_SECOND)};
    ppoll(descriptors, 2, &limit, NULL);
}

static bool everything_is_answered(void)
{
    return ledger.replies == ledger.block_total &&
           ledger.commands_acknowledged >= load.command_total;
}

static void run_traffic(void)
{
    struct gateway_command stop;
    uint64_t next;
    load.start_ns = monotonic_ns() + NS_PER_SECOND / 100;
    while ((next = send_what_is_due()) != 0) {
        wait_for_input(next);
        take_all_replies();
        take_all_acknowledgements();
    }
    uint64_t end = monotonic_ns() + LAST_REPLIES_NS;
    while (monotonic_ns() < end && !everything_is_answered()) {
        wait_for_input(end);
        take_all_replies();
        take_all_acknowledgements();
    }
    gateway_ledger_stop(&stop);
    for (int i = 0; i < STOP_TRIES && !ledger.stopped; i++) {
        send_command(&stop);
        wait_for_input(monotonic_ns() + STOP_WAIT_MS * (uint64_t)1000000);
        take_all_acknowledgements();
    }
    take_all_replies();
}

/* ------------------------------------------------------------------ results */

static int compare_ns(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static void write_times(struct json *json)
{
    uint32_t count = ledger.measured_replies;
    double sum = 0;
    qsort(ledger.round_trips_ns, count, sizeof ledger.round_trips_ns[0], compare_ns);
    for (uint32_t i = 0; i < count; i++)
        sum += (double)ledger.round_trips_ns[i];
    json_put_number(json, "round_trip_mean_us", sum / count / 1e3);
    json_put_number(json, "round_trip_p50_us",
                    (double)ledger.round_trips_ns[gateway_rank(count, 50)] / 1e3);
    json_put_number(json, "round_trip_p99_us",
                    (double)ledger.round_trips_ns[gateway_rank(count, 99)] / 1e3);
    json_put_number(json, "round_trip_max_us", (double)ledger.round_trips_ns[count - 1] / 1e3);
    gateway_ledger_write_times(&ledger, json);
    double span = (double)(load.last_reply_ns - load.first_reply_ns) / 1e9;
    json_put_number(json, "throughput_replies_per_second", span > 0 ? (count - 1) / span : 0);
}

static int64_t socket_drops(void)
{
    uint32_t figures[SK_MEMINFO_VARS] = {0};
    socklen_t length = sizeof figures;
    if (getsockopt(load.data, SOL_SOCKET, SO_MEMINFO, figures, &length) != 0)
        return 0;
    return figures[SK_MEMINFO_DROPS];
}

static void print_results(void)
{
    struct buffer out = {0};
    struct json json = json_begin(&out, 0);
    json_put_object(&json, NULL);
    json_put_unsigned(&json, "rate_blocks_per_second", rate);
    json_put_unsigned(&json, "rate_commands_per_second", command_rate);
    gateway_ledger_write_window(&ledger, &json);
    write_times(&json);
    json_put_integer(&json, "send_late_max_us", (int64_t)(load.send_late_max_ns / 1000));
    gateway_ledger_write_whole_run(&ledger, &json);
    json_put_unsigned(&json, "whole_run_send_errors", load.send_errors);
    json_put_integer(&json, "whole_run_load_socket_drops", socket_drops());
    json_end_object(&json);
    printf("%s\n", out.data);
    buffer_free(&out);
}

static bool check_options(int stray, struct error *error)
{
    if (stray > 0)
        error_set(error, EXIT_USAGE, "gateway_load takes options only; see --help");
    else if (data_port == 0 || command_port == 0)
        error_set(error, EXIT_USAGE,
                  "gateway_load needs --data-port and --command-port: the numbers that the gateway "
                  "printed");
    else if ((warm_up + seconds) * rate > UINT32_MAX / 64)
        error_set(error, EXIT_USAGE,
                  "%" PRIu64 " blocks are too many for one run: lower --rate or --seconds",
                  (warm_up + seconds) * rate);
    return error->code == EXIT_DONE;
}

int main(int argc, char **argv)
{
    struct error error = {0};
    char **rest;
    int arguments, rest_count;
    if (!options_parse(&manual, rows, argc, argv, &arguments, &rest, &rest_count, &error) ||
        !check_options(arguments + rest_count, &error) ||
        !open_socket(&load.data, data_port, &error) ||
        !open_socket(&load.command, command_port, &error))
        return error_report(&error);
    uint32_t block_total = (uint32_t)((warm_up + seconds) * rate);
    gateway_ledger_begin(&ledger, block_total, (uint32_t)(warm_up * rate));
    load.command_total = (uint32_t)((warm_up + seconds) * command_rate);
    prctl(PR_SET_TIMERSLACK, 1ul); /* else the kernel may send every block 50 us late */

    run_traffic();
    if (ledger.measured_replies == 0)
        error_set(&error, EXIT_CANNOT_TELL,
                  "gateway_load: no reply to %u blocks on %s:%" PRIu64
                  " (%u of them could not be sent): is the gateway running?",
                  ledger.blocks_sent, address_text, data_port, load.send_errors);
    else
        print_results();
    gateway_ledger_end(&ledger);
    return error.code == EXIT_DONE ? EXIT_DONE : error_report(&error);
}
