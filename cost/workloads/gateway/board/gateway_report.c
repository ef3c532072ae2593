#include "gateway_report.h"

#include "gateway_application.h"
#include "gateway_board.h"
#include "gateway_lan9118.h"
#include "gateway_os.h"
#include "gateway_recorder.h"
#include "lwip/stats.h"
#include "mps2_board.h"

#define PS_PER_COUNT (1000000000u / (GATEWAY_BOARD_CLOCK_HZ / 1000u))

static const char *separator = "{";

/* ------------------------------------------------------------------ JSON of plain texts */

static void put_key(const char *prefix, const char *key)
{
    mps2_print(separator);
    separator = ",";
    mps2_print("\"");
    mps2_print(prefix);
    mps2_print(key);
    mps2_print("\":");
}

/* The text holds nothing that JSON would escape. */
static void put_text(const char *key, const char *text)
{
    put_key("", key);
    mps2_print("\"");
    mps2_print(text);
    mps2_print("\"");
}

static void put_count(const char *prefix, const char *key, uint32_t count)
{
    put_key(prefix, key);
    mps2_print_number(count);
}

/* A number in millionths. */
static void put_millionths(const char *key, uint64_t millionths)
{
    char digits[7] = "000000";
    uint32_t rest = (uint32_t)(millionths % 1000000u);
    put_key("", key);
    mps2_print_number((uint32_t)(millionths / 1000000u));
    for (int i = 5; i >= 0; i--, rest /= 10)
        digits[i] = (char)('0' + rest % 10);
    mps2_print(".");
    mps2_print(digits);
}

/* ------------------------------------------------------------------ times and load */

static void put_times(const struct gateway_results *results, struct gateway_window window)
{
    uint32_t processed = results->blocks[1].processed;
    uint32_t expiries = results->activity[1].timer_expiries;
    uint64_t window_ns = (uint64_t)window.us * 1000u;
    uint64_t idle_ns =
        (uint64_t)window.idle_rounds * GATEWAY_IDLE_INSTRUCTIONS * gateway_board_instruction_ns();
    uint64_t busy_ns = window_ns > idle_ns ? window_ns - idle_ns : 0;

    put_millionths("counter_resolution_us", PS_PER_COUNT);
    put_count("", "instruction_ns", gateway_board_instruction_ns());
    put_millionths("window_seconds", window.us);
    put_count("", "window_idle_rounds", window.idle_rounds);
    put_millionths("cpu_busy_percent", window_ns ? busy_ns * 1000000u / (window_ns / 100u) : 0);
    put_millionths("receive_to_summary_mean_us",
                   processed ? results->summary_ticks_sum * PS_PER_COUNT / processed : 0);
    put_millionths("receive_to_summary_max_us",
                   (uint64_t)results->summary_ticks_max * PS_PER_COUNT);
    put_millionths("timer_error_mean_us",
                   expiries ? results->timer_error_sum * PS_PER_COUNT / expiries : 0);
    put_millionths("timer_error_max_us", (uint64_t)results->timer_error_max * PS_PER_COUNT);
}

/* ------------------------------------------------------------------ counts */

static void put_blocks(const char *prefix, const struct gateway_block_counts *counts)
{
    put_count(prefix, "blocks_received", counts->received);
    put_count(prefix, "blocks_without_free_block", counts->without_free_block);
    put_count(prefix, "blocks_refused_by_queue", counts->refused_by_queue);
    put_count(prefix, "blocks_processed", counts->processed);
    put_count(prefix, "replies_sent", counts->replied);
    put_count(prefix, "reply_errors", counts->reply_errors);
}

static void put_activity(const char *prefix, const struct gateway_activity_counts *counts)
{
    put_count(prefix, "commands_applied", counts->commands_applied);
    put_count(prefix, "commands_refused", counts->commands_refused);
    put_count(prefix, "timer_expiries", counts->timer_expiries);
    put_count(prefix, "input_stale_expiries", counts->stale_expiries);
}

static void put_whole_run(const struct gateway_results *results)
{
    const struct gateway_block_counts *before = &results->blocks[0], *in = &results->blocks[1];
    const struct gateway_activity_counts *outside = &results->activity[0],
                                         *inside = &results->activity[1];
    struct gateway_block_counts blocks = {
        .received = before->received + in->received,
        .without_free_block = before->without_free_block + in->without_free_block,
        .refused_by_queue = before->refused_by_queue + in->refused_by_queue,
        .processed = before->processed + in->processed,
        .replied = before->replied + in->replied,
        .reply_errors = before->reply_errors + in->reply_errors};
    struct gateway_activity_counts activity = {
        .commands_applied = outside->commands_applied + inside->commands_applied,
        .commands_refused = outside->commands_refused + inside->commands_refused,
        .timer_expiries = outside->timer_expiries + inside->timer_expiries,
        .stale_expiries = outside->stale_expiries + inside->stale_expiries};
    put_blocks("whole_run_", &blocks);
    put_activity("whole_run_", &activity);
    put_count("whole_run_", "datagrams_malformed", results->malformed);
}

static void put_network(void)
{
    put_count("whole_run_", "nic_interrupts", gateway_nic_counts.interrupts);
    put_count("whole_run_", "nic_frames_received", gateway_nic_counts.frames_received);
    put_count("whole_run_", "nic_frames_damaged", gateway_nic_counts.frames_damaged);
    put_count("whole_run_", "nic_frames_without_buffer", gateway_nic_counts.frames_without_buffer);
    put_count("whole_run_", "nic_frames_refused", gateway_nic_counts.frames_refused);
    put_count("whole_run_", "nic_frames_sent", gateway_nic_counts.frames_sent);
    put_count("whole_run_", "socket_drops", gateway_board_port_drops());
    put_count("whole_run_", "udp_datagrams_dropped", lwip_stats.udp.drop);
}

static void put_recorder(void)
{
    struct gateway_recorder_counts counts;
    if (!gateway_recorder_counts(&counts))
        return;
    put_count("", "recorder_bytes", counts.bytes);
    put_count("", "recorder_dropped_events", counts.dropped_events);
    put_count("", "recorder_suppressed_events", counts.suppressed_events);
}

void gateway_report_print(void)
{
    struct gateway_results results;
    struct gateway_window window = gateway_board_window();
    gateway_application_results(&results);
    put_text("workload", "gateway");
    put_text("arm", GATEWAY_ARM_NAME);
    put_text("board", "mps2-an385");
    put_text("kernel", gateway_board_kernel);
    put_text("compiler", "gcc " __VERSION__);
    put_text("compile_options", GATEWAY_COMPILE_OPTIONS);
    put_count("", "stop_period_counts", gateway_stop_period);
    put_count("", "jitter_seed", gateway_jitter_seed);
    if (gateway_board_figures_allowed)
        put_times(&results, window);
    else
        put_text("figures", "withheld: the licence of this kernel forbids to publish them");
    put_blocks("", &results.blocks[1]);
    put_count("", "application_missing_replies",
              results.blocks[1].received - results.blocks[1].replied);
    put_activity("", &results.activity[1]);
    put_whole_run(&results);
    put_network();
    put_recorder();
    mps2_print("}\n");
}
