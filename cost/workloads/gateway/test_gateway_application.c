/* The gateway's arithmetic against answers worked out by hand, and its bookkeeping on a layer
 * without a kernel: every wait answers at once and the loop goes round the steps, as on a bare
 * target. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gateway_application.h"
#include "gateway_os.h"

/* ------------------------------------------------------------------ a layer without a kernel */

const uint32_t gateway_counter_hertz = 1000000;

static struct {
    uint32_t counter;
    gateway_step *steps[4];
    unsigned step_count;
    gateway_expiry *expiry;
    void *items[GATEWAY_QUEUE_COUNT][GATEWAY_QUEUE_CAPACITY];
    unsigned first[GATEWAY_QUEUE_COUNT], count[GATEWAY_QUEUE_COUNT];
    const void *input[GATEWAY_PORT_COUNT]; /* one waiting datagram a port */
    size_t input_size[GATEWAY_PORT_COUNT];
    unsigned taken, windows_opened, stops;
    bool network_down;
    unsigned replies[GATEWAY_PORT_COUNT];
    struct gateway_reply reply;
    struct gateway_command answer;
} bare;

uint32_t gateway_counter(void)
{
    return bare.counter;
}

bool gateway_thread_create(const char *name, unsigned priority, gateway_step *step)
{
    assert_non_null(name);
    assert_true(priority > 0);
    bare.steps[bare.step_count++] = step;
    return true;
}

bool gateway_queue_send(enum gateway_queue_identity queue, void *item)
{
    if (bare.count[queue] == GATEWAY_QUEUE_CAPACITY)
        return false;
    bare.items[queue][(bare.first[queue] + bare.count[queue]++) % GATEWAY_QUEUE_CAPACITY] = item;
    return true;
}

bool gateway_queue_receive(enum gateway_queue_identity queue, void **item, uint32_t wait_ms)
{
    (void)wait_ms;
    if (bare.count[queue] == 0)
        return false;
    *item = bare.items[queue][bare.first[queue]];
    bare.first[queue] = (bare.first[queue] + 1) % GATEWAY_QUEUE_CAPACITY;
    bare.count[queue]--;
    return true;
}

void gateway_mutex_take(enum gateway_mutex_identity mutex)
{
    assert_int_equal(mutex, GATEWAY_MUTEX_SETTINGS);
    assert_int_equal(bare.taken++, 0);
}

void gateway_mutex_give(enum gateway_mutex_identity mutex)
{
    assert_int_equal(mutex, GATEWAY_MUTEX_SETTINGS);
    assert_int_equal(bare.taken--, 1);
}

bool gateway_timer_start(const char *name, uint32_t period_us, gateway_expiry *expiry)
{
    assert_non_null(name);
    assert_int_equal(period_us, 10000);
    bare.expiry = expiry;
    return true;
}

bool gateway_port_open(enum gateway_port_identity port, uint16_t number)
{
    return number == (port == GATEWAY_PORT_DATA ? 5000 : 5001);
}

bool gateway_port_receive(enum gateway_port_identity port, void *bytes, size_t capacity,
                          size_t *size, struct gateway_sender *sender, uint32_t wait_ms)
{
    (void)wait_ms;
    if (!bare.input[port])
        return false;
    *size = bare.input_size[port];
    memcpy(bytes, bare.input[port], *size < capacity ? *size : capacity);
    *sender = (struct gateway_sender){.address = 0x0100007f, .port = 77};
    bare.input[port] = NULL;
    return true;
}

bool gateway_port_reply(enum gateway_port_identity port, const struct gateway_sender *to,
                        const void *bytes, size_t size)
{
    assert_int_equal(to->port, 77);
    if (bare.network_down)
        return false;
    bare.replies[port]++;
    if (port == GATEWAY_PORT_DATA) {
        assert_int_equal(size, 88);
        memcpy(&bare.reply, bytes, size);
    } else {
        assert_int_equal(size, 16);
        memcpy(&bare.answer, bytes, size);
    }
    return true;
}

static void go_round(void)
{
    for (unsigned i = 0; i < bare.step_count; i++)
        bare.steps[i]();
}

static void arrive(enum gateway_port_identity port, const void *bytes, size_t size)
{
    bare.input[port] = bytes;
    bare.input_size[port] = size;
}

/* ------------------------------------------------------------------ arithmetic, by hand */

static struct gateway_block block;

static void fill(int channel, int16_t first, int16_t second, int16_t rest)
{
    for (int i = 0; i < GATEWAY_SAMPLES; i++)
        block.samples[i][channel] = i == 0 ? first : i == 1 ? second : rest;
}

static void expect(int16_t first, int16_t second, int16_t rest, uint32_t gain, int32_t peak,
                   uint32_t mean_square)
{
    struct gateway_summary channels[GATEWAY_CHANNELS];
    memset(&block, 0, sizeof block);
    fill(5, first, second, rest);
    gateway_summarise(&block, gain, channels);
    for (int i = 0; i < GATEWAY_CHANNELS; i++) {
        assert_int_equal(channels[i].peak, i == 5 ? peak : 0);
        assert_int_equal(channels[i].mean_square, i == 5 ? mean_square : 0);
    }
}

static void gain_scales_and_rounds_down(void **state)
{
    (void)state;
    expect(8, 8, 8, 256, 8, 64);
    expect(8, 8, 8, 512, 16, 256);
    expect(8, 8, 8, 0, 0, 0);
    expect(-3, -3, -3, 128, 2, 4); /* -1.5 becomes -2 */
    expect(3, 3, 3, 128, 1, 1);    /* 1.5 becomes 1 */
}

static void gain_clips_at_the_range_of_the_converter(void **state)
{
    (void)state;
    expect(32767, 32767, 32767, 512, 32767, 1073676289);      /* 32767^2 */
    expect(-32768, -32768, -32768, 32767, 32768, 1073741824); /* 32768^2 */
    expect(-32768, -32768, -32768, 255, 32640, 1065369600);   /* just below: no clip */
}

/* 0 80 0 0 ...: y = 0 10 8 7 6 5 4 3 2 1 0 ...; squares 100+64+49+36+25+16+9+4+1 = 304; /31 = 9.8
 */
static void low_pass_of_an_impulse(void **state)
{
    (void)state;
    expect(0, 80, 0, 256, 10, 9);
}

/* Rounding down holds a negative tail at -7: y = 0 -10 -9 -8 and 27 times -7;
 * 100 + 81 + 64 + 27 x 49 = 1568; /31 = 50.6 */
static void low_pass_of_a_negative_impulse(void **state)
{
    (void)state;
    expect(0, -80, 0, 256, 10, 50);
}

/* The filter starts at the first sample: 64 56 49 42 36 31 27 23 20 17 14 12 10 8 7 6 5 4 3 2 1 0
 * ...; the squares sum to 16245; /31 = 524.03 */
static void low_pass_starts_at_the_first_sample(void **state)
{
    (void)state;
    expect(64, 0, 0, 256, 64, 524);
}

static void channels_are_independent(void **state)
{
    struct gateway_summary channels[GATEWAY_CHANNELS];
    (void)state;
    for (int i = 0; i < GATEWAY_CHANNELS; i++)
        fill(i, (int16_t)(10 * i), (int16_t)(10 * i), (int16_t)(10 * i));
    gateway_summarise(&block, 256, channels);
    for (int i = 0; i < GATEWAY_CHANNELS; i++) {
        assert_int_equal(channels[i].peak, 10 * i);
        assert_int_equal(channels[i].mean_square, 100 * i * i);
    }
}

/* ------------------------------------------------------------------ bookkeeping, one long run */

static void count_window(void)
{
    bare.windows_opened++;
}

static void count_stop(void)
{
    bare.stops++;
}

static void block_arrives(uint32_t sequence, uint32_t type)
{
    block.magic = GATEWAY_BLOCK_MAGIC;
    block.sequence = sequence;
    block.type = type;
    arrive(GATEWAY_PORT_DATA, &block, sizeof block);
}

static void command_arrives(uint32_t kind, uint32_t value)
{
    static struct gateway_command command;
    command = (struct gateway_command){
        .magic = GATEWAY_COMMAND_MAGIC, .sequence = 9, .kind = kind, .value = value};
    arrive(GATEWAY_PORT_COMMAND, &command, sizeof command);
    go_round();
}

static int start_application(void **state)
{
    const struct gateway_configuration configuration = {.data_port = 5000,
                                                        .command_port = 5001,
                                                        .window_opened = count_window,
                                                        .stop_requested = count_stop};
    (void)state;
    memset(&bare, 0, sizeof bare);
    return gateway_application_start(&configuration) ? 0 : -1;
}

static void a_run_without_a_kernel(void **state)
{
    struct gateway_results results;
    (void)state;
    assert_int_equal(bare.step_count, 3);
    assert_int_equal(bare.count[GATEWAY_QUEUE_FREE], GATEWAY_POOL_BLOCKS);

    /* A warm-up block: handled, but opens no window. */
    memset(&block, 0, sizeof block);
    fill(0, 8, 8, 8);
    block_arrives(41, GATEWAY_BLOCK_WARM_UP);
    go_round();
    go_round();
    assert_int_equal(bare.windows_opened, 0);
    assert_int_equal(bare.reply.magic, GATEWAY_REPLY_MAGIC);
    assert_int_equal(bare.reply.sequence, 41);
    assert_int_equal(bare.reply.gain, 256);
    assert_int_equal(bare.reply.channels[0].mean_square, 64);
    bare.expiry(bare.counter - 900); /* outside the window: counted, its error is not */

    /* Gain commands: in range, out of range, unknown. The answer is the gain in force. */
    command_arrives(GATEWAY_COMMAND_GAIN, 512);
    assert_int_equal(bare.answer.value, 512);
    assert_int_equal(bare.answer.sequence, 9);
    command_arrives(GATEWAY_COMMAND_GAIN, GATEWAY_GAIN_LIMIT + 1);
    assert_int_equal(bare.answer.value, 512);
    command_arrives(7, 1);
    assert_int_equal(bare.answer.value, 512);

    /* A measured block: 30 ticks from its receipt to its summary. */
    block_arrives(42, GATEWAY_BLOCK_MEASURED);
    bare.steps[1](); /* receive */
    bare.counter += 30;
    bare.steps[0](); /* process */
    assert_int_equal(bare.windows_opened, 1);
    assert_int_equal(bare.reply.gain, 512);
    assert_int_equal(bare.reply.summary_ticks, 30);
    assert_int_equal(bare.reply.channels[0].mean_square, 256);

    /* 18 blocks while nobody processes: the pool holds 16. */
    for (uint32_t i = 0; i < 18; i++) {
        block_arrives(43 + i, GATEWAY_BLOCK_MEASURED);
        bare.steps[1]();
    }
    assert_int_equal(bare.count[GATEWAY_QUEUE_FREE], 0);
    bare.counter += 100;
    bare.network_down = true;
    bare.steps[0]();
    bare.network_down = false;
    for (int i = 0; i < 20; i++)
        bare.steps[0]();
    assert_int_equal(bare.count[GATEWAY_QUEUE_FREE], GATEWAY_POOL_BLOCKS);

    /* Too short, too long, and with a wrong magic. */
    arrive(GATEWAY_PORT_DATA, &block, sizeof block - 1);
    go_round();
    arrive(GATEWAY_PORT_DATA, &block, sizeof block + 1);
    go_round();
    block_arrives(99, GATEWAY_BLOCK_MEASURED);
    block.magic++;
    go_round();
    arrive(GATEWAY_PORT_COMMAND, &block, 15);
    go_round();

    /* Late by 3, early by 4; then the input is silent: the 11th expiry in a row finds it stale. */
    bare.expiry(bare.counter - 3);
    bare.expiry(bare.counter + 4);
    for (int i = 0; i < 10; i++)
        bare.expiry(bare.counter);
    gateway_application_close_window();
    bare.expiry(bare.counter - 5000);
    command_arrives(GATEWAY_COMMAND_STOP, 0);
    assert_int_equal(bare.stops, 1);
    assert_int_equal(bare.windows_opened, 1);

    gateway_application_results(&results);
    assert_int_equal(results.blocks[0].received, 1);
    assert_int_equal(results.blocks[0].replied, 1);
    assert_int_equal(results.blocks[1].received, 19);
    assert_int_equal(results.blocks[1].without_free_block, 2);
    assert_int_equal(results.blocks[1].refused_by_queue, 0);
    assert_int_equal(results.blocks[1].processed, 17);
    assert_int_equal(results.blocks[1].reply_errors, 1);
    assert_int_equal(results.blocks[1].replied, 16);
    assert_int_equal(results.malformed, 4);
    assert_int_equal(results.summary_ticks_sum, 30 + 16 * 100);
    assert_int_equal(results.summary_ticks_max, 100);
    assert_int_equal(results.activity[0].commands_applied, 1);
    assert_int_equal(results.activity[0].commands_refused, 2);
    assert_int_equal(results.activity[0].timer_expiries, 2);
    assert_int_equal(results.activity[1].timer_expiries, 12);
    assert_int_equal(results.timer_error_sum, 7);
    assert_int_equal(results.timer_error_max, 4);
    assert_int_equal(results.activity[1].stale_expiries, 1);
    assert_int_equal(results.activity[0].stale_expiries, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gain_scales_and_rounds_down),
        cmocka_unit_test(gain_clips_at_the_range_of_the_converter),
        cmocka_unit_test(low_pass_of_an_impulse),
        cmocka_unit_test(low_pass_of_a_negative_impulse),
        cmocka_unit_test(low_pass_starts_at_the_first_sample),
        cmocka_unit_test(channels_are_independent),
        cmocka_unit_test_setup(a_run_without_a_kernel, start_application),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
