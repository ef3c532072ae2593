/* The telemetry gateway: takes 512-byte blocks of samples by UDP, summarises each and replies.
 *
 *     data port --receive--> free queue -> block -> pending queue --process--> 88-byte reply
 *     command port --command--> settings (gain, under a mutex)
 *     10-ms timer --> is the input fresh?
 *
 * Portable: no operating system beyond gateway_os.h, no floating point, no allocation. All fields
 * on the network are little-endian, and so must the CPU be.
 */
#ifndef GATEWAY_APPLICATION_H
#define GATEWAY_APPLICATION_H

#include <stdbool.h>
#include <stdint.h>

#define GATEWAY_CHANNELS 8
#define GATEWAY_SAMPLES 31 /* samples per channel in a block */
#define GATEWAY_POOL_BLOCKS 16
#define GATEWAY_TIMER_PERIOD_US 10000
#define GATEWAY_STALE_EXPIRIES 10 /* stale: more than so many expiries since the last block */

#define GATEWAY_BLOCK_MAGIC 0x4b4f4c42u   /* the bytes B L O K */
#define GATEWAY_REPLY_MAGIC 0x594c5052u   /* the bytes R P L Y */
#define GATEWAY_COMMAND_MAGIC 0x444e4d43u /* the bytes C M N D */

enum gateway_block_type {
    GATEWAY_BLOCK_WARM_UP = 0, /* handled like any other, kept out of the measured counts */
    GATEWAY_BLOCK_MEASURED = 1 /* the first one opens the measured window */
};

/* 512 bytes. Samples are in counts of the converter, -32768 to 32767. */
struct gateway_block {
    uint32_t magic, sequence, type, reserved;
    int16_t samples[GATEWAY_SAMPLES][GATEWAY_CHANNELS];
};

struct gateway_summary {
    int32_t peak;         /* largest |filtered sample|, counts, 0 to 32768 */
    uint32_t mean_square; /* mean of filtered squares, counts squared, rounded down */
};

/* 88 bytes. */
struct gateway_reply {
    uint32_t magic, sequence;
    uint32_t gain;          /* the gain that was applied, in 1/256 */
    uint32_t summary_ticks; /* from the receipt of the block to its summary, in counter ticks */
    uint32_t counter;       /* when the summary was ready */
    uint32_t counter_hertz;
    struct gateway_summary channels[GATEWAY_CHANNELS];
};

enum gateway_command_kind {
    GATEWAY_COMMAND_GAIN = 1, /* value: gain in 1/256, 0 to GATEWAY_GAIN_LIMIT */
    GATEWAY_COMMAND_STOP = 2  /* the measurement is over */
};

#define GATEWAY_GAIN_INITIAL 256u /* 1.0 */
#define GATEWAY_GAIN_LIMIT 32767u

/* 16 bytes. The gateway answers with the same command, `value` being the gain now in force. */
struct gateway_command {
    uint32_t magic, sequence, kind, value;
};

_Static_assert(sizeof(struct gateway_block) == 512, "the block is 512 bytes on the network");
_Static_assert(sizeof(struct gateway_reply) == 88, "the reply is 88 bytes on the network");
_Static_assert(sizeof(struct gateway_command) == 16, "a command is 16 bytes on the network");

/* The arithmetic of one channel, exactly:
 *   x[i] = samples[i] * gain / 256, rounded down, clipped to -32768 .. 32767
 *   y[0] = x[0];  y[i] = y[i-1] + (x[i] - y[i-1]) / 8, rounded down
 *   peak = max |y|;  mean_square = sum y^2 / 31, rounded down
 * The filter starts anew in every block, so a lost block cannot change the summary of the next one
 * and each reply can be checked by itself. */
void gateway_summarise(const struct gateway_block *block, uint32_t gain,
                       struct gateway_summary channels[GATEWAY_CHANNELS]);

struct gateway_configuration {
    uint16_t data_port, command_port; /* 0: the layer chooses */
    void (*window_opened)(void);      /* called once, by the receive thread */
    void (*stop_requested)(void);     /* called by the command thread, perhaps more than once */
};

/* Opens the ports and starts the threads and the timer. False when the layer refused one of them.
 */
bool gateway_application_start(const struct gateway_configuration *configuration);

/* Ends the window in which timer errors and commands count as measured. Blocks count by their type,
 * so those still on their way are not lost from the counts. */
void gateway_application_close_window(void);

struct gateway_block_counts {
    uint32_t received;           /* datagrams that are blocks */
    uint32_t without_free_block; /* received, dropped: the pool was empty */
    uint32_t refused_by_queue;   /* received, dropped: the pending queue was full */
    uint32_t processed;
    uint32_t replied;
    uint32_t reply_errors; /* processed, but the reply could not be sent */
};

struct gateway_activity_counts {
    uint32_t commands_applied, commands_refused;
    uint32_t timer_expiries;
    uint32_t stale_expiries; /* expiries that found the input stale; none before the first block */
};

/* Index 0: outside the measured window, 1: inside. Times in counter ticks; all of measured blocks
 * or of expiries inside the window. */
struct gateway_results {
    struct gateway_block_counts blocks[2];
    struct gateway_activity_counts activity[2];
    uint32_t malformed; /* datagrams on either port that are neither block nor command, whole run */
    uint64_t summary_ticks_sum;
    uint32_t summary_ticks_max;
    uint64_t timer_error_sum; /* of |expiry - intended| */
    uint32_t timer_error_max;
};

/* Exact once the threads have ended. */
void gateway_application_results(struct gateway_results *results);

#endif
