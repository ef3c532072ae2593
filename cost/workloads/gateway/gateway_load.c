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
#include "gateway_application.h"

#define NS_PER_SECOND 1000000000u
#define LAST_REPLIES_NS (NS_PER_SECOND * 2ull) /* how long replies may trail the last block */
#define STOP_TRIES 20
#define STOP_WAIT_MS 100
#define RECEIVE_BUFFER (1 << 20) /* so that this program loses none of the replies it counts */
#define GAIN_CYCLE 100           /* gains repeat after so many commands: 5 s at 20 a second */

static uint64_t data_port, command_port;
static uint64_t seconds = 5, warm_up = 1, rate = 750, command_rate = 20;

static const struct option_row rows[] = {
    {0, "data-port", OPTION_UNSIGNED, &data_port, "N",
     "The gateway's port for blocks on 127.0.0.1; required.", 0, 65535},
    {0, "command-port", OPTION_UNSIGNED, &command_port, "N",
     "The gateway's port for commands on 127.0.0.1; required.", 0, 65535},
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

/* What is remembered of a block that was sent. */
struct sent_block {
    uint64_t due_ns;
    uint32_t acknowledged; /* newest command that was acknowledged then */
    bool answered;
};

static struct {
    int data, command;
    uint64_t start_ns;
    uint32_t block_total, warm_up_blocks, command_total;
    uint32_t blocks_sent, commands_sent, commands_acknowledged;
    uint32_t newest_acknowledged; /* number of a command, from 1 */
    uint32_t send_errors;
    uint64_t send_late_max_ns;
    struct sent_block *blocks;
    /* Of measured blocks, in the order of arrival. */
    uint64_t *round_trips_ns;
    double *summaries_us;
    uint32_t replies, measured_replies, duplicates, wrong, foreign;
    uint64_t first_reply_ns, last_reply_ns;
    bool stopped;
} load = {.data = -1, .command = -1};

/* ------------------------------------------------------------------ the oracle */

/* Any block can be made again from its number: xorshift, seeded by it. */
static void make_block(uint32_t sequence, struct gateway_block *block)
{
    uint32_t state = sequence * 2654435761u + 12345u;
    if (state == 0)
        state = 1;
    block->magic = GATEWAY_BLOCK_MAGIC;
    block->sequence = sequence;
    block->type = sequence < load.warm_up_blocks ? GATEWAY_BLOCK_WARM_UP : GATEWAY_BLOCK_MEASURED;
    block->reserved = 0;
    for (int i = 0; i < GATEWAY_SAMPLES; i++) {
        for (int channel = 0; channel < GATEWAY_CHANNELS; channel++) {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            block->samples[i][channel] = (int16_t)(state >> 16);
        }
    }
}

/* Gain of command n; command 0 stands for the gain that the gateway starts with. Some clip. */
static uint32_t gain_of_command(uint32_t number)
{
    return number == 0 ? GATEWAY_GAIN_INITIAL : 200 + number % GAIN_CYCLE * 4;
}

static int64_t divide_down(int64_t value, int64_t by)
{
    int64_t quotient = value / by;
    return value % by < 0 ? quotient - 1 : quotient;
}

/* Written from the definition in gateway_application.h, on purpose not from the gateway's code. */
static void expected_summary(const struct gateway_block *block, int channel, uint32_t gain,
                             struct gateway_summary *summary)
{
    int64_t y = 0, peak = 0, sum = 0;
    for (int i = 0; i < GATEWAY_SAMPLES; i++) {
        int64_t x = divide_down((int64_t)block->samples[i][channel] * gain, 256);
        x = x > 32767 ? 32767 : x < -32768 ? -32768 : x;
        y = i == 0 ? x : y + divide_down(x - y, 8);
        peak = llabs(y) > peak ? llabs(y) : peak;
        sum += y * y;
    }
    summary->peak = (int32_t)peak;
    summary->mean_square = (uint32_t)(sum / GATEWAY_SAMPLES);
}

/* The gain in force when the block was processed: at least the newest command acknowledged before
 * the block was sent, at most the newest command sent by now. */
static bool gain_is_possible(uint32_t sequence, uint32_t gain)
{
    for (uint32_t i = load.blocks[sequence].acknowledged; i <= load.commands_sent; i++) {
        if (gain == gain_of_command(i))
            return true;
    }
    return false;
}

static bool reply_is_right(const struct gateway_reply *reply)
{
    struct gateway_block block;
    if (!gain_is_possible(reply->sequence, reply->gain) || reply->counter_hertz == 0)
        return false;
    make_block(reply->sequence, &block);
    for (int channel = 0; channel < GATEWAY_CHANNELS; channel++) {
        struct gateway_summary expected;
        expected_summary(&block, channel, reply->gain, &expected);
        if (reply->channels[channel].peak != expected.peak ||
            reply->channels[channel].mean_square != expected.mean_square)
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------ traffic */

static bool open_socket(int *descriptor, uint64_t port, struct error *error)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int size = RECEIVE_BUFFER;
    *descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (*descriptor < 0 ||
        connect(*descriptor, (const struct sockaddr *)&address, sizeof address) != 0) {
        error_set(error, EXIT_USAGE, "gateway_load: cannot open UDP to 127.0.0.1:%" PRIu64 ": %s",
                  port, strerror(errno));
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
    uint32_t sequence = load.blocks_sent++;
    struct sent_block *record = &load.blocks[sequence];
    record->due_ns = due;
    record->acknowledged = load.newest_acknowledged;
    make_block(sequence, &block);
    if (sequence >= load.warm_up_blocks && now - due > load.send_late_max_ns)
        load.send_late_max_ns = now - due;
    if (send(load.data, &block, sizeof block, 0) != (ssize_t)sizeof block)
        load.send_errors++;
}

static void send_command(uint32_t kind, uint32_t number, uint32_t value)
{
    struct gateway_command command = {
        .magic = GATEWAY_COMMAND_MAGIC, .sequence = number, .kind = kind, .value = value};
    if (send(load.command, &command, sizeof command, 0) != (ssize_t)sizeof command)
        load.send_errors++;
}

static void take_reply(const struct gateway_reply *reply, uint64_t now)
{
    struct sent_block *record = &load.blocks[reply->sequence];
    if (record->answered) {
        load.duplicates++;
        return;
    }
    record->answered = true;
    load.replies++;
    if (!reply_is_right(reply))
        load.wrong++;
    if (reply->sequence < load.warm_up_blocks)
        return;
    if (load.measured_replies == 0)
        load.first_reply_ns = now;
    load.last_reply_ns = now;
    load.round_trips_ns[load.measured_replies] = now - record->due_ns;
    load.summaries_us[load.measured_replies] =
        reply->counter_hertz ? reply->summary_ticks * 1e6 / reply->counter_hertz : 0;
    load.measured_replies++;
}

static void take_all_replies(void)
{
    union {
        struct gateway_reply reply;
        uint8_t bytes[256];
    } in;
    ssize_t size;
    while ((size = recv(load.data, &in, sizeof in, 0)) >= 0) {
        uint64_t now = monotonic_ns();
        if (size == (ssize_t)sizeof in.reply && in.reply.magic == GATEWAY_REPLY_MAGIC &&
            in.reply.sequence < load.blocks_sent)
            take_reply(&in.reply, now);
        else
            load.foreign++;
    }
}

static void take_all_acknowledgements(void)
{
    struct gateway_command command;
    ssize_t size;
    while ((size = recv(load.command, &command, sizeof command, 0)) >= 0) {
        if (size != (ssize_t)sizeof command || command.magic != GATEWAY_COMMAND_MAGIC) {
            load.foreign++;
        } else if (command.kind == GATEWAY_COMMAND_STOP) {
            load.stopped = true;
        } else if (command.value == gain_of_command(command.sequence)) {
            load.commands_acknowledged++;
            load.newest_acknowledged = command.sequence;
        } else {
            load.wrong++;
        }
    }
}

/* Sends what is due; returns when the next thing is due, 0 when everything has been sent. */
static uint64_t send_what_is_due(void)
{
    uint64_t next = 0;
    while (load.blocks_sent < load.block_total) {
        uint64_t due = due_ns(load.blocks_sent, rate), now = monotonic_ns();
        if (due > now) {
            next = due;
            break;
        }
        send_block(due, now);
    }
    while (load.commands_sent < load.command_total) {
        uint64_t due = due_ns(load.commands_sent, command_rate);
        if (due > monotonic_ns()) {
            next = next && next < due ? next : due;
            break;
        }
        uint32_t number = ++load.commands_sent;
        send_command(GATEWAY_COMMAND_GAIN, number, gain_of_command(number));
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
    return load.replies == load.block_total && load.commands_acknowledged >= load.command_total;
}

static void run_traffic(void)
{
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
    for (int i = 0; i < STOP_TRIES && !load.stopped; i++) {
        send_command(GATEWAY_COMMAND_STOP, 0, 0);
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

static int compare_us(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Nearest rank. `count` must not be 0. */
static uint32_t rank(uint32_t count, uint32_t percent)
{
    uint64_t position = ((uint64_t)count * percent + 99) / 100;
    return position ? (uint32_t)position - 1 : 0;
}

static void write_times(struct json *json)
{
    uint32_t count = load.measured_replies;
    double sum = 0;
    qsort(load.round_trips_ns, count, sizeof load.round_trips_ns[0], compare_ns);
    qsort(load.summaries_us, count, sizeof load.summaries_us[0], compare_us);
    for (uint32_t i = 0; i < count; i++)
        sum += (double)load.round_trips_ns[i];
    json_put_number(json, "round_trip_mean_us", sum / count / 1e3);
    json_put_number(json, "round_trip_p50_us", (double)load.round_trips_ns[rank(count, 50)] / 1e3);
    json_put_number(json, "round_trip_p99_us", (double)load.round_trips_ns[rank(count, 99)] / 1e3);
    json_put_number(json, "round_trip_max_us", (double)load.round_trips_ns[count - 1] / 1e3);
    json_put_number(json, "receive_to_summary_p50_us", load.summaries_us[rank(count, 50)]);
    json_put_number(json, "receive_to_summary_p99_us", load.summaries_us[rank(count, 99)]);
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
    uint32_t measured_sent = load.block_total - load.warm_up_blocks;
    json_put_object(&json, NULL);
    json_put_unsigned(&json, "rate_blocks_per_second", rate);
    json_put_unsigned(&json, "rate_commands_per_second", command_rate);
    json_put_unsigned(&json, "blocks_sent", measured_sent);
    json_put_unsigned(&json, "replies_unique", load.measured_replies);
    json_put_unsigned(&json, "replies_missing", measured_sent - load.measured_replies);
    write_times(&json);
    json_put_integer(&json, "send_late_max_us", (int64_t)(load.send_late_max_ns / 1000));
    json_put_unsigned(&json, "whole_run_blocks_sent", load.blocks_sent);
    json_put_unsigned(&json, "whole_run_commands_sent", load.commands_sent);
    json_put_unsigned(&json, "whole_run_commands_acknowledged", load.commands_acknowledged);
    json_put_unsigned(&json, "whole_run_replies_unique", load.replies);
    json_put_unsigned(&json, "whole_run_replies_duplicate", load.duplicates);
    json_put_unsigned(&json, "whole_run_replies_wrong", load.wrong);
    json_put_unsigned(&json, "whole_run_datagrams_foreign", load.foreign);
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
    load.warm_up_blocks = (uint32_t)(warm_up * rate);
    load.block_total = (uint32_t)((warm_up + seconds) * rate);
    load.command_total = (uint32_t)((warm_up + seconds) * command_rate);
    load.blocks = memory_new(load.block_total, sizeof load.blocks[0]);
    load.round_trips_ns = memory_new(load.block_total, sizeof load.round_trips_ns[0]);
    load.summaries_us = memory_new(load.block_total, sizeof load.summaries_us[0]);
    prctl(PR_SET_TIMERSLACK, 1ul); /* else the kernel may send every block 50 us late */

    run_traffic();
    if (load.measured_replies == 0)
        error_set(&error, EXIT_CANNOT_TELL,
                  "gateway_load: no reply to %u blocks on 127.0.0.1:%" PRIu64
                  " (%u of them could not be sent): is the gateway running?",
                  load.blocks_sent, data_port, load.send_errors);
    else
        print_results();
    free(load.blocks);
    free(load.round_trips_ns);
    free(load.summaries_us);
    return error.code == EXIT_DONE ? EXIT_DONE : error_report(&error);
}
