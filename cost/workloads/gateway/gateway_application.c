#include "gateway_application.h"

#include <stdatomic.h>
#include <string.h>

#include "gateway_os.h"

#define WAIT_MS \
    200 /* how long a step waits before it lets the layer look whether it should end \
         */

#define GAIN_SHIFT 8
#define FILTER_SHIFT 3

struct pool_block {
    uint32_t received_at; /* counter */
    struct gateway_sender sender;
    struct gateway_block block;
};

enum window {
    WINDOW_NOT_YET,
    WINDOW_OPEN,
    WINDOW_CLOSED
};

static struct gateway_configuration configuration;
static struct pool_block pool[GATEWAY_POOL_BLOCKS];
static _Atomic uint32_t window;       /* enum window */
static _Atomic uint32_t blocks_heard; /* written by the receive thread, watched by the timer */

static struct {
    uint32_t gain; /* under GATEWAY_MUTEX_SETTINGS */
} settings;

/* One writer each, so that no count needs a lock: the result must not depend on what it measures.
 */
static struct {
    struct gateway_block_counts blocks[2];
    uint32_t malformed;
} received;

static struct {
    struct gateway_block_counts blocks[2];
    uint64_t ticks_sum;
    uint32_t ticks_max;
} processed;

static struct {
    struct gateway_activity_counts activity[2];
    uint32_t malformed;
} commanded;

static struct {
    struct gateway_activity_counts activity[2];
    uint64_t error_sum;
    uint32_t error_max;
    uint32_t heard, silent_expiries;
} timed;

static bool window_is_open(void)
{
    return atomic_load_explicit(&window, memory_order_acquire) == WINDOW_OPEN;
}

static void open_window_at_first_measured_block(void)
{
    if (atomic_load_explicit(&window, memory_order_relaxed) != WINDOW_NOT_YET)
        return;
    atomic_store_explicit(&window, WINDOW_OPEN, memory_order_release);
    if (configuration.window_opened)
        configuration.window_opened();
}

/* ------------------------------------------------------------------ receive */

static void receive_step(void)
{
    /* The whole datagram first, a free block second: an empty pool must still empty the socket. */
    static struct gateway_block incoming;
    struct gateway_sender sender;
    size_t size;
    if (!gateway_port_receive(GATEWAY_PORT_DATA, &incoming, sizeof incoming, &size, &sender,
                              WAIT_MS))
        return;
    uint32_t now = gateway_counter();
    if (size != sizeof incoming || incoming.magic != GATEWAY_BLOCK_MAGIC) {
        received.malformed++;
        return;
    }
    bool measured = incoming.type == GATEWAY_BLOCK_MEASURED;
    if (measured)
        open_window_at_first_measured_block();
    struct gateway_block_counts *counts = &received.blocks[measured];
    counts->received++;
    uint32_t heard = atomic_load_explicit(&blocks_heard, memory_order_relaxed);
    atomic_store_explicit(&blocks_heard, heard + 1, memory_order_relaxed);

    void *item;
    if (!gateway_queue_receive(GATEWAY_QUEUE_FREE, &item, 0)) {
        counts->without_free_block++;
        return;
    }
    struct pool_block *block = item;
    block->received_at = now;
    block->sender = sender;
    memcpy(&block->block, &incoming, sizeof incoming);
    if (!gateway_queue_send(GATEWAY_QUEUE_PENDING, block)) {
        counts->refused_by_queue++;
        gateway_queue_send(GATEWAY_QUEUE_FREE, block);
    }
}

/* ------------------------------------------------------------------ process */

static int32_t clip(int32_t value)
{
    if (value > INT16_MAX)
        return INT16_MAX;
    return value < INT16_MIN ? INT16_MIN : value;
}

void gateway_summarise(const struct gateway_block *block, uint32_t gain,
                       struct gateway_summary channels[GATEWAY_CHANNELS])
{
    for (int channel = 0; channel < GATEWAY_CHANNELS; channel++) {
        int32_t filtered = clip((block->samples[0][channel] * (int32_t)gain) >> GAIN_SHIFT);
        int32_t peak = 0;
        uint64_t squares = 0;
        for (int i = 0; i < GATEWAY_SAMPLES; i++) {
            int32_t input = clip((block->samples[i][channel] * (int32_t)gain) >> GAIN_SHIFT);
            filtered += (input - filtered) >> FILTER_SHIFT;
            int32_t magnitude = filtered < 0 ? -filtered : filtered;
            if (magnitude > peak)
                peak = magnitude;
            squares += (uint32_t)(filtered * filtered);
        }
        channels[channel].peak = peak;
        channels[channel].mean_square = (uint32_t)(squares / GATEWAY_SAMPLES);
    }
}

static void process_step(void)
{
    static struct gateway_reply reply;
    void *item;
    if (!gateway_queue_receive(GATEWAY_QUEUE_PENDING, &item, WAIT_MS))
        return;
    struct pool_block *block = item;
    gateway_mutex_take(GATEWAY_MUTEX_SETTINGS);
    uint32_t gain = settings.gain;
    gateway_mutex_give(GATEWAY_MUTEX_SETTINGS);

    gateway_summarise(&block->block, gain, reply.channels);
    uint32_t now = gateway_counter();
    uint32_t ticks = now - block->received_at;
    bool measured = block->block.type == GATEWAY_BLOCK_MEASURED;
    struct gateway_block_counts *counts = &processed.blocks[measured];
    counts->processed++;
    if (measured) {
        processed.ticks_sum += ticks;
        if (ticks > processed.ticks_max)
            processed.ticks_max = ticks;
    }
    reply.magic = GATEWAY_REPLY_MAGIC;
    reply.sequence = block->block.sequence;
    reply.gain = gain;
    reply.summary_ticks = ticks;
    reply.counter = now;
    reply.counter_hertz = gateway_counter_hertz;
    if (gateway_port_reply(GATEWAY_PORT_DATA, &block->sender, &reply, sizeof reply)) {
        counts->replied++;
    } else {
        counts->reply_errors++;
    }
    gateway_queue_send(GATEWAY_QUEUE_FREE, block);
}

/* ------------------------------------------------------------------ command */

static void command_step(void)
{
    struct gateway_command command;
    struct gateway_sender sender;
    size_t size;
    if (!gateway_port_receive(GATEWAY_PORT_COMMAND, &command, sizeof command, &size, &sender,
                              WAIT_MS))
        return;
    if (size != sizeof command || command.magic != GATEWAY_COMMAND_MAGIC) {
        commanded.malformed++;
        return;
    }
    struct gateway_activity_counts *counts = &commanded.activity[window_is_open()];
    if (command.kind == GATEWAY_COMMAND_GAIN && command.value <= GATEWAY_GAIN_LIMIT) {
        gateway_mutex_take(GATEWAY_MUTEX_SETTINGS);
        settings.gain = command.value;
        gateway_mutex_give(GATEWAY_MUTEX_SETTINGS);
        counts->commands_applied++;
    } else if (command.kind != GATEWAY_COMMAND_STOP) {
        counts->commands_refused++;
    }
    command.value = settings.gain; /* without the mutex: no other thread writes it */
    gateway_port_reply(GATEWAY_PORT_COMMAND, &sender, &command, sizeof command);
    if (command.kind == GATEWAY_COMMAND_STOP && configuration.stop_requested)
        configuration.stop_requested();
}

/* ------------------------------------------------------------------ timer */

static void timer_expiry(uint32_t intended)
{
    int32_t error = (int32_t)(gateway_counter() - intended);
    bool open = window_is_open();
    struct gateway_activity_counts *counts = &timed.activity[open];
    counts->timer_expiries++;
    if (open) {
        uint32_t magnitude = error < 0 ? 0u - (uint32_t)error : (uint32_t)error;
        timed.error_sum += magnitude;
        if (magnitude > timed.error_max)
            timed.error_max = magnitude;
    }
    uint32_t heard = atomic_load_explicit(&blocks_heard, memory_order_relaxed);
    if (heard != timed.heard) {
        timed.heard = heard;
        timed.silent_expiries = 0;
    } else if (heard > 0 && ++timed.silent_expiries > GATEWAY_STALE_EXPIRIES) {
        counts->stale_expiries++;
    }
}

/* ------------------------------------------------------------------ start and results */

bool gateway_application_start(const struct gateway_configuration *wanted)
{
    configuration = *wanted;
    settings.gain = GATEWAY_GAIN_INITIAL;
    for (int i = 0; i < GATEWAY_POOL_BLOCKS; i++)
        gateway_queue_send(GATEWAY_QUEUE_FREE, &pool[i]);
    return gateway_port_open(GATEWAY_PORT_DATA, configuration.data_port) &&
           gateway_port_open(GATEWAY_PORT_COMMAND, configuration.command_port) &&
           gateway_thread_create("process", 3, process_step) &&
           gateway_thread_create("receive", 4, receive_step) &&
           gateway_thread_create("command", 2, command_step) &&
           gateway_timer_start("timer", GATEWAY_TIMER_PERIOD_US, timer_expiry);
}

void gateway_application_close_window(void)
{
    atomic_store_explicit(&window, WINDOW_CLOSED, memory_order_release);
}

void gateway_application_results(struct gateway_results *results)
{
    for (int i = 0; i < 2; i++) {
        results->blocks[i] = received.blocks[i];
        results->blocks[i].processed = processed.blocks[i].processed;
        results->blocks[i].replied = processed.blocks[i].replied;
        results->blocks[i].reply_errors = processed.blocks[i].reply_errors;
        results->activity[i] = timed.activity[i];
        results->activity[i].commands_applied = commanded.activity[i].commands_applied;
        results->activity[i].commands_refused = commanded.activity[i].commands_refused;
    }
    results->malformed = received.malformed + commanded.malformed;
    results->summary_ticks_sum = processed.ticks_sum;
    results->summary_ticks_max = processed.ticks_max;
    results->timer_error_sum = timed.error_sum;
    results->timer_error_max = timed.error_max;
}
