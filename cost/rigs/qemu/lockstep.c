/* One run of the telemetry gateway's firmware on an emulated board, in lock-step with its load: the
 * board stops at fixed instructions, and what comes from outside - frames, a probe that empties the
 * recorder's ring - comes while it stands still. The same image, seed and options give the same
 * bytes, however busy the machine is. The manual of the whole is ../README.md.
 */
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base_options.h"
#include "base_progress.h"
#include "gateway_ledger.h"
#include "lockstep_account.h"
#include "lockstep_link.h"
#include "lockstep_probe.h"

#define DATA_PORT 5000
#define COMMAND_PORT 5001
#define HOST_DATA_PORT 40000
#define HOST_COMMAND_PORT 40001
#define STOPS_PER_BLOCK 2
#define BOARD_CLOCK_HZ 25000000u /* of the timer that makes the stops */
#define STOP_TRIES 20
#define STOP_TRY_STOPS 64 /* stops between two tries to end the firmware */
#define QUESTION_TRIES 10
#define QUESTION_STOPS 200  /* stops between two questions for the board's address */
#define ANSWERS 8           /* ARP answers that wait for their turn */
#define STEP_LIMIT_S 60     /* wall time between two stops; far more than any takes */
#define IDLE_INSTRUCTIONS 4 /* of one round of the firmware's idle loop */
#define NO_SEED UINT64_MAX

static uint64_t seconds = 10, warm_up = 2, rate = 750, command_rate = 20, shift = 3;
static uint64_t seed = NO_SEED, limit_s = 600, probe_rate, probe_stop;
static const char *memory_path, *plugin_path, *recording_path;
static bool quiet;

static const struct option_row rows[] = {
    {0, "seconds", OPTION_UNSIGNED, &seconds, "N", "Board seconds of measured blocks (default 10).",
     1, 3600},
    {0, "warm-up", OPTION_UNSIGNED, &warm_up, "N", "Board seconds of traffic before (default 2).",
     0, 600},
    {0, "rate", OPTION_UNSIGNED, &rate, "N", "Blocks a second (default 750).", 1, 20000},
    {0, "command-rate", OPTION_UNSIGNED, &command_rate, "N",
     "Gain commands a second, 0 for none (default 20).", 0, 1000},
    {0, "seed", OPTION_UNSIGNED, &seed, "N",
     "Jitter of the stops, and so of the arrival of frames: initial value of the firmware's "
     "gateway_jitter_seed, 0 for none (default: as built).",
     0, UINT32_MAX},
    {0, "shift", OPTION_UNSIGNED, &shift, "N",
     "One instruction takes 2^N ns of the board's time (default 3: 125 million a second).", 0, 10},
    {0, "record", OPTION_TEXT, &recording_path, "FILE",
     "Play the probe: empty the recorder's ring at every stop, into FILE (default: nobody reads).",
     0, 0},
    {0, "probe-rate", OPTION_UNSIGNED, &probe_rate, "N",
     "The probe fetches at most N bytes a board second (default 0: no limit).", 0, UINT32_MAX},
    {0, "probe-stop", OPTION_UNSIGNED, &probe_stop, "N",
     "The probe fetches at most N bytes at one stop (default 0: no limit).", 0, UINT32_MAX},
    {0, "memory", OPTION_TEXT, &memory_path, "FILE",
     "Keep the board's memory from 0x21000000 on in FILE (default: gone after the run).", 0, 0},
    {0, "plugin", OPTION_TEXT, &plugin_path, "FILE",
     "QEMU's plugin (default: lockstep_plugin.so beside this program).", 0, 0},
    {0, "limit", OPTION_UNSIGNED, &limit_s, "S",
     "Give up after S seconds of this machine's time (default 600).", 1, 86400},
    {'q', "quiet", OPTION_FLAG, &quiet, NULL, "No line of progress.", 0, 0},
    {0, NULL, OPTION_FLAG, NULL, NULL, NULL, 0, 0}};

static const struct command manual = {
    "lockstep", "FIRMWARE.elf [NAME=FUNCTIONS...] [options]",
    "one run of the gateway's firmware on an emulated board, the same to the byte every time",
    "NAME=FUNCTIONS counts the instructions of functions apart; FUNCTIONS are names or patterns of "
    "the\nshell, separated by commas. Standard output gets one JSON object.\n"
    "    lockstep gateway.elf 'recorder=tare_*' idle=vApplicationIdleHook --seconds 10 --seed 1\n"
    "Exit codes: 0 measured; 2 wrong usage; 3 the run failed or its blocks do not add up, and the\n"
    "message says why.",
    NULL};

struct group {
    const char *name;
    unsigned number, functions;
};

static struct {
    struct firmware_image image;
    struct emulated_board board;
    struct lockstep_link link;
    struct gateway_ledger ledger;
    struct rig_probe probe;
    struct group groups[LOCKSTEP_RANGES];
    unsigned group_count;
    struct buffer ranges; /* arguments of the plugin */
    struct frame answers[ANSWERS];
    unsigned answers_made, answers_sent;
    uint32_t command_total;
    uint64_t stops, frames_sent, bad_frames, other_frames, requests;
    bool board_answered; /* to the question for its address */
    unsigned questions;
    uint64_t quiet_stops; /* since everything was sent */
    unsigned stop_tries;
    struct lockstep_message first, opened, closed; /* counts at these moments */
    uint64_t close_at;                             /* the stop that ends the window */
    XXH64_state_t *reply_hash, *recording_hash;
    const volatile uint32_t *idle_rounds; /* NULL: the firmware has none that is in sight */
    uint32_t first_idle_rounds;
} rig;

/* ------------------------------------------------------------------ preparation */

static void add_range(void *context, uint32_t low, uint32_t high)
{
    struct group *group = context;
    buffer_printf(&rig.ranges, ",range%u=%x-%x", group->number, low, high);
    group->functions++;
}

/* NAME=PATTERN[,PATTERN...] */
static bool take_group(char *text, struct error *error)
{
    char *rest = NULL, *equals = strchr(text, '=');
    if (!equals || equals == text || equals[1] == 0) {
        error_set(error, EXIT_USAGE, "'%s' is not of the form NAME=FUNCTIONS", text);
        return false;
    }
    if (rig.group_count == LOCKSTEP_RANGES) {
        error_set(error, EXIT_USAGE, "at most %d groups of functions can be counted",
                  LOCKSTEP_RANGES);
        return false;
    }
    struct group *group = &rig.groups[rig.group_count];
    *equals = 0;
    *group = (struct group){.name = text, .number = rig.group_count++};
    for (char *pattern = strtok_r(equals + 1, ",", &rest); pattern;
         pattern = strtok_r(NULL, ",", &rest)) {
        if (firmware_functions(&rig.image, pattern, add_range, group) == 0) {
            error_set(error, EXIT_USAGE, "%s has no function '%s', of the group '%s'",
                      rig.image.path, pattern, text);
            return false;
        }
    }
    return true;
}

static const char *plugin_beside_this_program(void)
{
    static char path[PATH_MAX + 32];
    char program[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
    program[size > 0 ? size : 0] = 0;
    snprintf(path, sizeof path, "%s/lockstep_plugin.so", dirname(program));
    return path;
}

static bool prepare(int argument_count, char **arguments, struct error *error)
{
    uint32_t stop_address = 0, ignored;
    uint32_t period =
        (uint32_t)((BOARD_CLOCK_HZ + STOPS_PER_BLOCK * rate / 2) / (STOPS_PER_BLOCK * rate));
    if (!firmware_open(&rig.image, arguments[0], error))
        return false;
    if (!firmware_find(&rig.image, "gateway_probe_stop", &stop_address)) {
        error_set(
            error, EXIT_USAGE,
            "%s has no function 'gateway_probe_stop' at which to stop: build the firmware for "
            "the lock-step rig",
            arguments[0]);
        return false;
    }
    if (!firmware_set(&rig.image, "gateway_stop_period", period, error) ||
        (firmware_find(&rig.image, "gateway_window_seconds", &ignored) &&
         !firmware_set(&rig.image, "gateway_window_seconds", (uint32_t)seconds, error)) ||
        (seed != NO_SEED &&
         !firmware_set(&rig.image, "gateway_jitter_seed", (uint32_t)seed, error)))
        return false;
    for (int i = 1; i < argument_count; i++) {
        if (!take_group(arguments[i], error))
            return false;
    }
    buffer_text(&rig.ranges, "");
    if (!board_prepare(&rig.board, memory_path, error) ||
        !link_open(&rig.link, &rig.board, plugin_path ? plugin_path : plugin_beside_this_program(),
                   stop_address, rig.ranges.data, error))
        return false;
    board_argument(&rig.board, "-icount");
    board_argument(&rig.board, "shift=%" PRIu64 ",sleep=off", shift);
    rig.probe.bytes_per_second = probe_rate;
    rig.probe.bytes_per_stop = probe_stop;
    return rig_probe_open(&rig.probe, recording_path, rig.board.memory_path, &rig.image, error) &&
           board_start(&rig.board, &rig.image, error);
}

/* ------------------------------------------------------------------ one stop */

static uint64_t board_ns(void)
{
    return rig.link.counts.instructions << shift;
}

static void take_datagram(const struct frame_content *content)
{
    uint32_t sequence;
    XXH64_update(rig.reply_hash, content->payload, content->size);
    if (content->from_port == DATA_PORT && content->to_port == HOST_DATA_PORT)
        gateway_ledger_reply(&rig.ledger, content->payload, content->size, &sequence);
    else if (content->from_port == COMMAND_PORT && content->to_port == HOST_COMMAND_PORT)
        gateway_ledger_acknowledgement(&rig.ledger, content->payload, content->size);
    else
        rig.ledger.foreign++;
}

static void take_frames(void)
{
    for (size_t i = 0; i < rig.link.incoming_count; i++) {
        const struct frame *frame = &rig.link.incoming[i];
        struct frame_content content = frame_read(frame);
        if (content.kind == FRAME_UDP) {
            take_datagram(&content);
        } else if (content.kind == FRAME_REQUEST) {
            rig.requests++;
            if (rig.answers_made - rig.answers_sent < ANSWERS)
                frame_answer(&rig.answers[rig.answers_made++ % ANSWERS], frame);
        } else if (content.kind == FRAME_ANSWER) {
            rig.board_answered = true;
        } else if (content.kind == FRAME_BAD) {
            rig.bad_frames++;
        } else {
            rig.other_frames++;
        }
    }
    link_clear(&rig.link);
}

static void make_block(struct frame *frame)
{
    struct gateway_block block;
    gateway_ledger_block(&rig.ledger, &block);
    if (rig.ledger.blocks_sent == rig.ledger.warm_up_blocks + 1)
        rig.opened = rig.link.counts;
    if (rig.ledger.blocks_sent == rig.ledger.block_total)
        rig.close_at = rig.stops + STOPS_PER_BLOCK;
    frame_udp(frame, HOST_DATA_PORT, DATA_PORT, &block, sizeof block);
}

static bool command_is_due(void)
{
    return rig.ledger.commands_sent < rig.command_total &&
           rig.ledger.commands_sent * rate <= rig.ledger.blocks_sent * command_rate;
}

static bool everything_is_answered(void)
{
    return rig.ledger.replies == rig.ledger.block_total &&
           rig.ledger.commands_acknowledged >= rig.command_total;
}

/* When all is sent: one board second for what may still come, then the firmware is told to end. */
static bool end_is_due(void)
{
    if (rig.ledger.blocks_sent < rig.ledger.block_total ||
        rig.ledger.commands_sent < rig.command_total || rig.ledger.stopped)
        return false;
    rig.quiet_stops++;
    bool waited = everything_is_answered() || rig.quiet_stops > STOPS_PER_BLOCK * rate;
    return waited && rig.quiet_stops % STOP_TRY_STOPS == 0;
}

/* At most one frame a stop: blocks at the even ones, all else at the odd ones. */
static bool make_frame(struct frame *frame)
{
    struct gateway_command command;
    if (!rig.board_answered && rig.answers_sent == rig.answers_made) {
        bool asks = rig.stops % QUESTION_STOPS == 0;
        if (asks) {
            frame_question(frame);
            rig.questions++;
        }
        return asks;
    }
    if (rig.board_answered && rig.stops % STOPS_PER_BLOCK == 0) {
        if (rig.ledger.blocks_sent == rig.ledger.block_total)
            return false;
        make_block(frame);
        return true;
    }
    if (rig.answers_sent != rig.answers_made) {
        *frame = rig.answers[rig.answers_sent++ % ANSWERS];
        return true;
    }
    if (!rig.board_answered)
        return false;
    if (command_is_due()) {
        gateway_ledger_command(&rig.ledger, &command);
    } else if (end_is_due()) {
        rig.stop_tries++;
        gateway_ledger_stop(&command);
    } else {
        return false;
    }
    frame_udp(frame, HOST_COMMAND_PORT, COMMAND_PORT, &command, sizeof command);
    return true;
}

static void begin_counting(void)
{
    uint32_t address;
    rig.first = rig.link.counts;
    if (!firmware_find(&rig.image, "gateway_idle_rounds", &address))
        return;
    rig.idle_rounds = board_word(&rig.board, address);
    rig.first_idle_rounds = rig.idle_rounds ? *rig.idle_rounds : 0;
}

static bool at_stop(struct error *error)
{
    struct frame frame;
    if (rig.stops == 0)
        begin_counting();
    if (rig.close_at && rig.stops == rig.close_at)
        rig.closed = rig.link.counts;
    take_frames();
    if (!rig_probe_drain(&rig.probe, board_ns(), error))
        return false;
    if (make_frame(&frame)) {
        if (!link_send(&rig.link, &frame, error))
            return false;
        rig.frames_sent++;
    }
    rig.stops++;
    if (rig.questions > QUESTION_TRIES) {
        board_explain(&rig.board, "the firmware does not answer to its address, 10.0.2.15", error);
        return false;
    }
    if (rig.stop_tries > STOP_TRIES) {
        board_explain(&rig.board, "the firmware does not end at the stop command", error);
        return false;
    }
    return link_go(&rig.link, error);
}

static bool run(struct error *error)
{
    uint64_t end_ns = monotonic_ns() + limit_s * NS_PER_SECOND;
    struct progress progress = progress_begin("board", rig.ledger.block_total, quiet);
    enum link_event event = LINK_FAILED;
    do {
        uint64_t step_ns = monotonic_ns() + STEP_LIMIT_S * (uint64_t)NS_PER_SECOND;
        event = link_wait(&rig.link, step_ns < end_ns ? step_ns : end_ns, error);
        progress_step(&progress, rig.ledger.blocks_sent);
    } while (event == LINK_STOP && at_stop(error));
    progress_end(&progress);
    if (event != LINK_ENDED)
        return false;
    take_frames();
    if (rig.stops == 0) {
        board_explain(&rig.board, "the firmware ended before its first stop", error);
        return false;
    }
    uint64_t finish_ns = monotonic_ns() + STEP_LIMIT_S * (uint64_t)NS_PER_SECOND;
    return board_finish(&rig.board, finish_ns, error) &&
           rig_probe_finish(&rig.probe, board_ns(), error);
}

/* ------------------------------------------------------------------ results */

static void write_hash(struct json *json, const char *key, XXH64_state_t *state)
{
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, (uint64_t)XXH64_digest(state));
    json_put_text(json, key, text);
}

static void write_counts(struct json *json)
{
    const struct lockstep_message *end = &rig.link.counts;
    char key[80];
    json_put_unsigned(json, "instructions_per_board_second", 1000000000u >> shift);
    json_put_unsigned(json, "window_instructions",
                      rig.closed.instructions - rig.opened.instructions);
    json_put_unsigned(json, "whole_run_instructions", end->instructions);
    for (unsigned i = 0; i < rig.group_count; i++) {
        snprintf(key, sizeof key, "window_instructions_%s", rig.groups[i].name);
        json_put_unsigned(json, key,
                          rig.closed.range_instructions[i] - rig.opened.range_instructions[i]);
        snprintf(key, sizeof key, "whole_run_instructions_%s", rig.groups[i].name);
        json_put_unsigned(json, key, end->range_instructions[i]);
        snprintf(key, sizeof key, "whole_run_entries_%s", rig.groups[i].name);
        json_put_unsigned(json, key, end->range_entries[i]);
    }
}

static void write_probe(struct json *json)
{
    if (!recording_path)
        return;
    json_put_unsigned(json, "probe_bytes_per_second", probe_rate);
    json_put_unsigned(json, "probe_bytes_per_stop", probe_stop);
    json_put_unsigned(json, "probe_bytes", rig.probe.bytes);
    json_put_unsigned(json, "probe_limited_stops", rig.probe.limited_stops);
    json_put_unsigned(json, "ring_highest_fill_bytes", rig.probe.highest_fill);
    json_put_unsigned(json, "ring_bytes", rig.probe.ring_bytes);
    json_put_unsigned(json, "ring_restarts", rig.probe.restarts);
    json_put_unsigned(json, "ring_words_missed", rig.probe.words_missed);
    write_hash(json, "recording_xxh64", rig.recording_hash);
}

/* Figures of a kernel whose licence forbids to publish them are withheld here as in the firmware.
 */
static bool write_results(struct json *json, json_t *firmware, struct error *error)
{
    bool figures = json_object_get(firmware, "figures") == NULL;
    json_put_object(json, NULL);
    child_copy_values(json, firmware);
    json_put_unsigned(json, "rate_blocks_per_second", rate);
    json_put_unsigned(json, "rate_commands_per_second", command_rate);
    gateway_ledger_write_window(&rig.ledger, json);
    if (figures && rig.ledger.measured_replies > 0)
        gateway_ledger_write_times(&rig.ledger, json);
    gateway_ledger_write_whole_run(&rig.ledger, json);
    account_write(json, firmware, &rig.ledger, rig.frames_sent,
                  rig.stop_tries > 0 ? rig.stop_tries - 1 : 0, error);
    json_put_unsigned(json, "whole_run_stops", rig.stops);
    json_put_unsigned(json, "whole_run_frames_sent", rig.frames_sent);
    json_put_unsigned(json, "whole_run_frames_bad", rig.bad_frames);
    json_put_unsigned(json, "whole_run_arp_requests", rig.requests);
    if (figures)
        write_counts(json);
    write_probe(json);
    write_hash(json, "replies_xxh64", rig.reply_hash);
    json_end_object(json);
    return error->code == EXIT_DONE;
}

/* The loop that counts the processor's idle time has a known length: what it counted and what the
 * plugin counted are two measurements of one thing. */
static void check_idle(struct error *error)
{
    for (unsigned i = 0; i < rig.group_count; i++) {
        if (strcmp(rig.groups[i].name, "idle") != 0 || !rig.idle_rounds)
            continue;
        /* Where the loop ends and begins again, instructions around it count too. */
        if (rig.link.counts.range_entries[i] != rig.first.range_entries[i])
            continue;
        uint64_t counted = rig.link.counts.range_instructions[i] - rig.first.range_instructions[i];
        uint64_t looped = (uint64_t)(*rig.idle_rounds - rig.first_idle_rounds) * IDLE_INSTRUCTIONS;
        uint64_t apart = counted > looped ? counted - looped : looped - counted;
        if (apart >= IDLE_INSTRUCTIONS)
            error_set(error, EXIT_CANNOT_TELL,
                      "the run does not add up: %" PRIu64 " instructions ran in the idle loop, but "
                      "its own count makes %" PRIu64,
                      counted, looped);
    }
}

/* The clock of the board must be that of the rig, or no time in the results means what it says. */
static void check_clock(json_t *firmware, struct error *error)
{
    json_t *ns = json_object_get(firmware, "instruction_ns");
    if (ns && json_integer_value(ns) != (json_int_t)1 << shift)
        error_set(error, EXIT_CANNOT_TELL,
                  "the firmware measured %" JSON_INTEGER_FORMAT " ns an instruction, and this run "
                  "has %d",
                  json_integer_value(ns), 1 << shift);
}

static bool hash_recording(struct error *error)
{
    struct buffer bytes = {0};
    bool good = !recording_path || file_read(recording_path, &bytes, error);
    XXH64_update(rig.recording_hash, bytes.data ? bytes.data : "", bytes.size);
    buffer_free(&bytes);
    return good;
}

static bool print_results(struct error *error)
{
    json_t *firmware = child_find_object(&rig.board.qemu.text, "workload");
    struct buffer out = {0};
    struct json json = json_begin(&out, 0);
    if (!firmware) {
        board_explain(&rig.board, "the firmware printed no line of measurements", error);
        return false;
    }
    hash_recording(error);
    check_clock(firmware, error);
    check_idle(error);
    write_results(&json, firmware, error);
    json_decref(firmware);
    printf("%s\n", out.data);
    buffer_free(&out);
    return error->code == EXIT_DONE;
}

int main(int argc, char **argv)
{
    struct error error = {0};
    char **rest;
    int count, rest_count;
    if (!options_parse(&manual, rows, argc, argv, &count, &rest, &rest_count, &error))
        return error_report(&error);
    if (count == 0 || rest_count > 0) {
        error_set(&error, EXIT_USAGE, "lockstep needs the firmware's ELF file; see --help");
        return error_report(&error);
    }
    if (recording_path && strcmp(recording_path, "-") == 0)
        error_set(&error, EXIT_USAGE, "--record needs a file: standard output has the results");
    if ((warm_up + seconds) * rate > UINT32_MAX / 64)
        error_set(&error, EXIT_USAGE,
                  "%" PRIu64 " blocks are too many for one run: lower --rate or --seconds",
                  (warm_up + seconds) * rate);
    if (error.code != EXIT_DONE)
        return error_report(&error);
    board_catch_signals();
    rig.board.log = -1;
    rig.board.qemu = CHILD_NONE;
    rig.link = (struct lockstep_link){.network = -1, .listener = -1, .plugin = -1};
    rig.reply_hash = XXH64_createState();
    rig.recording_hash = XXH64_createState();
    XXH64_reset(rig.reply_hash, 0);
    XXH64_reset(rig.recording_hash, 0);
    rig.command_total = (uint32_t)((warm_up + seconds) * command_rate);
    gateway_ledger_begin(&rig.ledger, (uint32_t)((warm_up + seconds) * rate),
                         (uint32_t)(warm_up * rate));
    bool good = prepare(count, argv + 1, &error) && run(&error) && print_results(&error);
    rig_probe_close(&rig.probe);
    link_close(&rig.link);
    board_close(&rig.board);
    firmware_close(&rig.image);
    gateway_ledger_end(&rig.ledger);
    buffer_free(&rig.ranges);
    XXH64_freeState(rig.reply_hash);
    XXH64_freeState(rig.recording_hash);
    return good ? EXIT_DONE : error_report(&error);
}
