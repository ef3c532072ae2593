/* One run of the telemetry gateway's firmware on an emulated board, live: QEMU keeps the board at
 * the pace of this machine's clock, its network controller hangs on QEMU's user network, and the
 * load is gateway_load over real UDP sockets. It shows that the network is real; figures of cost
 * come from lockstep, for here bursts and losses depend on how busy this machine is.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base_options.h"
#include "base_progress.h"
#include "lockstep_probe.h"
#include "lockstep_qemu.h"

#define READY_LIMIT_S 20
#define FINISH_LIMIT_S 30 /* beyond warm-up and window */
#define SERVE_LIMIT_S 120 /* the same, and until somebody else starts a load */
#define POLL_NS 1000000   /* the probe looks once a millisecond, if this machine lets it */
#define PACE_BOUND 0.02   /* a board that is this far from the host's pace tells nothing */
#define LATE_BOUND_US 50000
#define ANSWERED_BOUND 0.9

static uint64_t seconds = 5, warm_up = 1, rate = 750, shift = 3;
static bool serve;
static const char *recording_path, *memory_path, *load_path;

static const struct option_row rows[] = {
    {0, "seconds", OPTION_UNSIGNED, &seconds, "N", "Seconds of measured blocks (default 5).", 1,
     600},
    {0, "warm-up", OPTION_UNSIGNED, &warm_up, "N", "Seconds of traffic before (default 1).", 0, 60},
    {0, "rate", OPTION_UNSIGNED, &rate, "N", "Blocks a second (default 750).", 1, 20000},
    {0, "shift", OPTION_UNSIGNED, &shift, "N",
     "One instruction takes 2^N ns of the board's time (default 3: 125 million a second).", 0, 10},
    {0, "record", OPTION_TEXT, &recording_path, "FILE",
     "Empty the recorder's ring into FILE while the board runs (default: nobody reads).", 0, 0},
    {0, "memory", OPTION_TEXT, &memory_path, "FILE",
     "Keep the board's memory from 0x21000000 on in FILE (default: gone after the run).", 0, 0},
    {0, "serve", OPTION_FLAG, &serve, NULL,
     "Start no load: print the ports as one line when the firmware is ready, then pass on its own "
     "result, as the gateway programs for Linux do.",
     0, 0},
    {0, "load", OPTION_TEXT, &load_path, "FILE",
     "The load generator (default: gateway_load of the same build).", 0, 0},
    {0, NULL, OPTION_FLAG, NULL, NULL, NULL, 0, 0}};

static const struct command manual = {
    "live", "FIRMWARE.elf [options]",
    "one run of the gateway's firmware on an emulated board over real sockets",
    "Standard output gets one JSON object, with the keys of gateway_run and what this machine "
    "did.\n"
    "    live gateway.elf --seconds 5 --record run.tare\n"
    "    gateway_run --seconds 5 -- live gateway.elf --serve\n"
    "Exit codes: 0 the board kept pace and answered; 2 wrong usage; 3 cannot tell: the run failed, "
    "or\nthis machine was too busy for it (the object is printed all the same).",
    NULL};

static struct {
    struct firmware_image image;
    struct emulated_board board;
    struct rig_probe probe;
    struct child load;
    uint16_t ports[2];
    uint64_t begin_ns;
    uint32_t begin_us, end_us; /* the board's clock, with a resolution of its tick */
    double pace;               /* board seconds a second of this machine */
    bool pace_known;
    uint64_t polls, longest_poll_ns;
} rig;

/* ------------------------------------------------------------------ start */

/* Two ports that nobody has. Somebody may take them before QEMU does; then QEMU says so. */
static bool find_ports(struct error *error)
{
    int held[2] = {-1, -1};
    bool good = true;
    for (int i = 0; i < 2 && good; i++) {
        struct sockaddr_in address = {.sin_family = AF_INET,
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t size = sizeof address;
        held[i] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        good = held[i] >= 0 &&
               bind(held[i], (const struct sockaddr *)&address, sizeof address) == 0 &&
               getsockname(held[i], (struct sockaddr *)&address, &size) == 0;
        rig.ports[i] = ntohs(address.sin_port);
    }
    if (!good)
        error_set(error, EXIT_CANNOT_TELL, "cannot get a UDP port on 127.0.0.1: %s",
                  strerror(errno));
    for (int i = 0; i < 2; i++) {
        if (held[i] >= 0)
            close(held[i]);
    }
    return good;
}

static bool prepare(const char *firmware, struct error *error)
{
    uint32_t ignored;
    if (!firmware_open(&rig.image, firmware, error) ||
        /* There is no harness to stop for. */
        !firmware_set(&rig.image, "gateway_stop_period", 0, error) ||
        (firmware_find(&rig.image, "gateway_window_seconds", &ignored) &&
         !firmware_set(&rig.image, "gateway_window_seconds", (uint32_t)seconds, error)) ||
        !board_prepare(&rig.board, memory_path, error) || !find_ports(error))
        return false;
    board_argument(&rig.board, "-icount");
    board_argument(&rig.board, "shift=%" PRIu64 ",align=on", shift);
    board_argument(&rig.board, "-nic");
    board_argument(&rig.board,
                   "user,model=lan9118,hostfwd=udp:127.0.0.1:%u-:5000,"
                   "hostfwd=udp:127.0.0.1:%u-:5001",
                   rig.ports[0], rig.ports[1]);
    return rig_probe_open(&rig.probe, recording_path, rig.board.memory_path, &rig.image, error) &&
           board_start(&rig.board, &rig.image, error);
}

static bool is_ready(void)
{
    json_t *ports = child_find_object(&rig.board.qemu.text, "data_port");
    json_decref(ports);
    return ports != NULL;
}

static const char *load_of_this_build(void)
{
    static char path[PATH_MAX + 64];
    char program[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
    program[size > 0 ? size : 0] = 0;
    snprintf(path, sizeof path, "%s/../workloads/gateway/gateway_load", dirname(program));
    return path;
}

static bool start_load(struct error *error)
{
    const uint64_t values[] = {rig.ports[0], rig.ports[1], seconds, warm_up, rate};
    static const char *const names[] = {"--data-port", "--command-port", "--seconds", "--warm-up",
                                        "--rate"};
    enum {
        COUNT = sizeof values / sizeof values[0]
    };
    char texts[COUNT][24];
    char *arguments[2 * COUNT + 2] = {(char *)(load_path ? load_path : load_of_this_build())};
    for (int i = 0; i < COUNT; i++) {
        snprintf(texts[i], sizeof texts[i], "%" PRIu64, values[i]);
        arguments[1 + 2 * i] = (char *)names[i];
        arguments[2 + 2 * i] = texts[i];
    }
    return child_start(&rig.load, arguments, -1, error);
}

/* ------------------------------------------------------------------ the run */

static uint32_t board_us(void)
{
    uint32_t address;
    const volatile uint32_t *word = NULL;
    if (firmware_find(&rig.image, "gateway_board_us", &address))
        word = board_word(&rig.board, address);
    return word ? *word : 0;
}

/* Sleeps until somebody has written something or it is time for the next look, and takes both. */
static bool step(struct error *error)
{
    static uint64_t last_ns;
    struct child *children[2] = {&rig.board.qemu, &rig.load};
    struct pollfd outputs[2] = {{.fd = children[0]->output, .events = POLLIN},
                                {.fd = children[1]->output, .events = POLLIN}};
    struct timespec pause = {.tv_nsec = POLL_NS};
    if (board_interrupted) {
        error_set(error, EXIT_CANNOT_TELL, "stopped by a signal");
        return false;
    }
    int ready = ppoll(outputs, 2, &pause, NULL);
    for (int i = 0; i < 2 && ready > 0; i++) {
        if (outputs[i].revents && !child_read(children[i], error))
            return false;
    }
    uint64_t now_ns = monotonic_ns();
    if (last_ns && now_ns - last_ns > rig.longest_poll_ns)
        rig.longest_poll_ns = now_ns - last_ns;
    last_ns = now_ns;
    rig.polls++;
    return rig_probe_drain(&rig.probe, now_ns, error);
}

static bool run_load(struct error *error)
{
    if (!start_load(error))
        return false;
    rig.begin_ns = monotonic_ns();
    rig.begin_us = board_us();
    uint64_t until_ns = rig.begin_ns + (warm_up + seconds + FINISH_LIMIT_S) * NS_PER_SECOND;
    while (rig.load.output >= 0) {
        /* Measured before the firmware ends, for then its clock stands. */
        uint64_t elapsed_ns = monotonic_ns() - rig.begin_ns;
        if (rig.board.qemu.output >= 0 && elapsed_ns < (warm_up + seconds) * NS_PER_SECOND) {
            rig.end_us = board_us();
            rig.pace_known = rig.end_us != 0;
            rig.pace = (double)(rig.end_us - rig.begin_us) * 1e3 / (double)elapsed_ns;
        }
        if (monotonic_ns() > until_ns) {
            board_explain(&rig.board, "the run did not end in time", error);
            return false;
        }
        if (!step(error))
            return false;
    }
    return child_ended_well(&rig.load, until_ns, error) &&
           board_finish(&rig.board, until_ns, error) &&
           rig_probe_finish(&rig.probe, monotonic_ns(), error);
}

static bool wait_for_others(struct error *error)
{
    uint64_t until_ns =
        monotonic_ns() + (warm_up + seconds + SERVE_LIMIT_S) * (uint64_t)NS_PER_SECOND;
    printf("{\"data_port\":%u,\"command_port\":%u}\n", rig.ports[0], rig.ports[1]);
    fflush(stdout);
    while (rig.board.qemu.output >= 0) {
        if (monotonic_ns() > until_ns) {
            board_explain(&rig.board, "no load has ended the firmware in time", error);
            return false;
        }
        if (!step(error))
            return false;
    }
    return board_finish(&rig.board, until_ns, error) &&
           rig_probe_finish(&rig.probe, monotonic_ns(), error);
}

static bool run(struct error *error)
{
    uint64_t until_ns = monotonic_ns() + READY_LIMIT_S * (uint64_t)NS_PER_SECOND;
    while (!is_ready()) {
        if (rig.board.qemu.output < 0 || monotonic_ns() > until_ns) {
            board_explain(&rig.board, "the firmware did not say that it is ready", error);
            return false;
        }
        if (!step(error))
            return false;
    }
    return serve ? wait_for_others(error) : run_load(error);
}

/* ------------------------------------------------------------------ results */

/* Frames that found the controller's memory full: QEMU's network says one line for each. */
static uint64_t refused_frames(void)
{
    struct buffer log = {0};
    struct error ignored = {0};
    char *path = board_file(&rig.board, "log");
    uint64_t count = 0;
    if (file_read(path, &log, &ignored)) {
        for (const char *at = log.data; (at = strstr(at, "Failed to send packet")) != NULL; at++)
            count++;
    }
    buffer_free(&log);
    free(path);
    return count;
}

static void judge(json_t *load, struct error *error)
{
    double sent = json_number_value(json_object_get(load, "blocks_sent"));
    double replies = json_number_value(json_object_get(load, "replies_unique"));
    double late = json_number_value(json_object_get(load, "send_late_max_us"));
    if (rig.pace_known && (rig.pace < 1 - PACE_BOUND || rig.pace > 1 + PACE_BOUND))
        error_set(error, EXIT_CANNOT_TELL,
                  "this machine is too busy: the board's clock made %.3f s a second", rig.pace);
    else if (late > LATE_BOUND_US)
        error_set(error, EXIT_CANNOT_TELL,
                  "this machine is too busy: a block was sent %.0f us late, the bound is %d us",
                  late, LATE_BOUND_US);
    else if (replies < sent * ANSWERED_BOUND)
        error_set(
            error, EXIT_CANNOT_TELL,
            "only %.0f of %.0f blocks were answered: this machine is too busy, or the firmware "
            "too slow; the counts say where they went",
            replies, sent);
}

/* The firmware's own line, as it came. */
static bool pass_on(struct error *error)
{
    json_t *firmware = child_find_object(&rig.board.qemu.text, "workload");
    struct buffer out = {0};
    struct json json = json_begin(&out, 0);
    if (!firmware) {
        board_explain(&rig.board, "the firmware printed no measurements", error);
        return false;
    }
    json_put_object(&json, NULL);
    child_copy_values(&json, firmware);
    json_end_object(&json);
    printf("%s\n", out.data);
    buffer_free(&out);
    json_decref(firmware);
    return true;
}

static bool print_results(struct error *error)
{
    json_t *firmware = child_find_object(&rig.board.qemu.text, "workload");
    json_t *load = child_find_object(&rig.load.text, "blocks_sent");
    struct buffer out = {0};
    struct json json = json_begin(&out, 0);
    if (firmware && load) {
        /* Times of a kernel whose licence forbids to publish them: the load measures some too. */
        static const char *const times[] = {"receive_to_summary_p50_us",
                                            "receive_to_summary_p99_us",
                                            "round_trip_mean_us",
                                            "round_trip_p50_us",
                                            "round_trip_p99_us",
                                            "round_trip_max_us",
                                            "throughput_replies_per_second"};
        bool withheld = json_object_get(firmware, "figures") != NULL;
        for (size_t i = 0; i < sizeof times / sizeof times[0] && withheld; i++)
            json_object_del(load, times[i]);
        json_put_object(&json, NULL);
        child_copy_values(&json, firmware);
        child_copy_values(&json, load);
        if (rig.pace_known)
            json_put_number(&json, "board_seconds_per_second", rig.pace);
        else
            json_put_null(&json, "board_seconds_per_second");
        json_put_unsigned(&json, "whole_run_frames_lost_in_controller", refused_frames());
        json_put_unsigned(&json, "poll_longest_us", rig.longest_poll_ns / 1000);
        if (recording_path) {
            json_put_unsigned(&json, "probe_bytes", rig.probe.bytes);
            json_put_unsigned(&json, "ring_highest_fill_bytes", rig.probe.highest_fill);
        }
        json_end_object(&json);
        printf("%s\n", out.data);
        judge(load, error);
    } else {
        board_explain(&rig.board, "the firmware or the load printed no measurements", error);
    }
    buffer_free(&out);
    json_decref(firmware);
    json_decref(load);
    return error->code == EXIT_DONE;
}

int main(int argc, char **argv)
{
    struct error error = {0};
    char **rest;
    int count, rest_count;
    if (!options_parse(&manual, rows, argc, argv, &count, &rest, &rest_count, &error))
        return error_report(&error);
    if (count != 1 || rest_count > 0) {
        error_set(&error, EXIT_USAGE, "live needs the firmware's ELF file; see --help");
        return error_report(&error);
    }
    board_catch_signals();
    rig.board.log = -1;
    rig.board.qemu = CHILD_NONE;
    rig.load = CHILD_NONE;
    bool good = prepare(argv[1], &error) && run(&error) &&
                (serve ? pass_on(&error) : print_results(&error));
    rig_probe_close(&rig.probe);
    child_close(&rig.load);
    board_close(&rig.board);
    firmware_close(&rig.image);
    return good ? EXIT_DONE : error_report(&error);
}
