/* A real run of an arm over loopback: every block that was sent is a reply or a counted loss, every
 * reply is right, and the counts of the two sides agree. No wall-clock figure decides.
 *
 *     test_gateway_run GATEWAY_RUN RATE SECONDS COMMAND...
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base_buffer.h"

static char **given;
static int given_count;
static json_t *run;
static long seconds;

static json_int_t count(const char *key)
{
    json_t *value = json_object_get(run, key);
    if (!json_is_integer(value))
        fail_msg("the result of the run has no integer '%s'", key);
    return json_integer_value(value);
}

static double number(const char *key)
{
    json_t *value = json_object_get(run, key);
    if (!json_is_number(value))
        fail_msg("the result of the run has no number '%s'", key);
    return json_number_value(value);
}

static int run_once(void **state)
{
    struct buffer line = {0}, output = {0};
    char bytes[4096];
    size_t got;
    (void)state;
    buffer_printf(&line, "'%s' --rate %s --seconds %s --warm-up 1 --", given[1], given[2],
                  given[3]);
    for (int i = 4; i < given_count; i++)
        buffer_printf(&line, " '%s'", given[i]);
    FILE *pipe = popen(line.data, "r");
    assert_non_null(pipe);
    while ((got = fread(bytes, 1, sizeof bytes, pipe)) > 0)
        buffer_append(&output, bytes, got);
    assert_int_equal(pclose(pipe), 0);
    print_message("%s", output.data);
    run = json_loads(output.data, 0, NULL);
    assert_non_null(run);
    buffer_free(&line);
    buffer_free(&output);
    return 0;
}

static int forget_run(void **state)
{
    (void)state;
    json_decref(run);
    return 0;
}

static void every_block_is_a_reply_or_a_counted_loss(void **state)
{
    (void)state;
    json_int_t blocks = count("rate_blocks_per_second") * (seconds + 1);
    assert_int_equal(count("whole_run_blocks_sent"), blocks);
    assert_int_equal(count("blocks_sent"), count("rate_blocks_per_second") * seconds);
    assert_int_equal(count("whole_run_send_errors"), 0);
    assert_int_equal(count("whole_run_datagrams_malformed"), 0);
    assert_int_equal(count("whole_run_datagrams_foreign"), 0);
    assert_int_equal(count("whole_run_replies_duplicate"), 0);
    assert_int_equal(blocks, count("whole_run_replies_sent") + count("whole_run_reply_errors") +
                                 count("whole_run_blocks_without_free_block") +
                                 count("whole_run_blocks_refused_by_queue") +
                                 count("whole_run_socket_drops"));
    assert_int_equal(count("whole_run_replies_sent"),
                     count("whole_run_replies_unique") + count("whole_run_load_socket_drops"));
    assert_true(count("replies_unique") > 0);
    assert_int_equal(count("replies_missing"), count("blocks_sent") - count("replies_unique"));
    assert_int_equal(count("application_missing_replies"),
                     count("blocks_received") - count("replies_sent"));
}

static void every_reply_is_right(void **state)
{
    (void)state;
    assert_int_equal(count("whole_run_replies_wrong"), 0);
    assert_true(json_is_true(json_object_get(run, "stopped_by_command")));
}

static void commands_are_applied_and_acknowledged(void **state)
{
    (void)state;
    json_int_t sent = count("rate_commands_per_second") * (seconds + 1);
    assert_int_equal(count("whole_run_commands_sent"), sent);
    assert_int_equal(count("whole_run_commands_applied"), count("whole_run_commands_acknowledged"));
    assert_int_equal(count("whole_run_commands_refused"), 0);
    assert_int_equal(sent, count("whole_run_commands_applied"));
}

static void figures_are_there(void **state)
{
    (void)state;
    assert_true(number("window_seconds") >= seconds);
    assert_true(number("cpu_busy_percent") > 0);
    assert_true(number("receive_to_summary_mean_us") > 0);
    assert_true(number("receive_to_summary_max_us") >= number("receive_to_summary_mean_us"));
    assert_true(number("timer_error_max_us") >= number("timer_error_mean_us"));
    assert_true(number("round_trip_p50_us") > number("receive_to_summary_p50_us"));
    assert_true(number("round_trip_p99_us") >= number("round_trip_p50_us"));
    assert_true(number("round_trip_max_us") >= number("round_trip_p99_us"));
    assert_true(number("throughput_replies_per_second") > 0);
    assert_true(count("timer_expiries") > 0);
    assert_true(count("max_rss_kib") > 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_is_a_reply_or_a_counted_loss),
        cmocka_unit_test(every_reply_is_right),
        cmocka_unit_test(commands_are_applied_and_acknowledged),
        cmocka_unit_test(figures_are_there),
    };
    if (argc < 5) {
        fprintf(stderr, "usage: test_gateway_run GATEWAY_RUN RATE SECONDS COMMAND...\n");
        return 2;
    }
    given = argv;
    seconds = strtol(argv[3], NULL, 10);
    given_count = argc;
    return cmocka_run_group_tests(tests, run_once, forget_run);
}
