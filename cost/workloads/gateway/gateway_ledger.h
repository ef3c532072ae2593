/* The books of a load on the telemetry gateway: which block and command comes next, and whether
 * what comes back is right. No socket and no clock: gateway_load keeps the books of real UDP, the
 * lock-step rig those of frames that it puts into an emulated network controller.
 */
#ifndef GATEWAY_LEDGER_H
#define GATEWAY_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_json.h"
#include "gateway_application.h"

/* What is remembered of a block that was sent. */
struct gateway_sent_block {
    uint32_t acknowledged; /* newest command that was acknowledged then */
    bool answered;
};

struct gateway_ledger {
    uint32_t block_total, warm_up_blocks; /* of all blocks, the first so many are warm-up */
    uint32_t blocks_sent, commands_sent, commands_acknowledged;
    uint32_t newest_acknowledged; /* number of a command, from 1 */
    struct gateway_sent_block *blocks;
    /* Of measured blocks, in the order of arrival. */
    double *summaries_us;
    uint64_t *round_trips_ns; /* filled by a load that has a clock */
    uint32_t replies, measured_replies, duplicates, wrong, foreign;
    bool stopped; /* the stop command was acknowledged */
};

void gateway_ledger_begin(struct gateway_ledger *ledger, uint32_t block_total,
                          uint32_t warm_up_blocks);
void gateway_ledger_end(struct gateway_ledger *ledger);

/* The next block, noted as sent. */
void gateway_ledger_block(struct gateway_ledger *ledger, struct gateway_block *block);

/* The next gain command, noted as sent. */
void gateway_ledger_command(struct gateway_ledger *ledger, struct gateway_command *command);
void gateway_ledger_stop(struct gateway_command *command);

/* Takes a datagram from the data port. True when it is the first reply to a block, `*sequence`. */
bool gateway_ledger_reply(struct gateway_ledger *ledger, const void *bytes, size_t size,
                          uint32_t *sequence);

/* Takes a datagram from the command port. */
void gateway_ledger_acknowledgement(struct gateway_ledger *ledger, const void *bytes, size_t size);

/* Nearest rank in a sorted list; `count` must not be 0. */
uint32_t gateway_rank(uint32_t count, uint32_t percent);

/* Keys of the measured window, then of the whole run; see README.md. */
void gateway_ledger_write_window(struct gateway_ledger *ledger, struct json *json);
void gateway_ledger_write_times(struct gateway_ledger *ledger, struct json *json);
void gateway_ledger_write_whole_run(const struct gateway_ledger *ledger, struct json *json);

#endif
