#include "gateway_ledger.h"

#include <stdlib.h>
#include <string.h>

#define GAIN_CYCLE 100 /* gains repeat after so many commands: 5 s at 20 a second */

/* ------------------------------------------------------------------ the oracle */

/* Any block can be made again from its number: xorshift, seeded by it. */
static void make_block(const struct gateway_ledger *ledger, uint32_t sequence,
                       struct gateway_block *block)
{
    uint32_t state = sequence * 2654435761u + 12345u;
    if (state == 0)
        state = 1;
    block->magic = GATEWAY_BLOCK_MAGIC;
    block->sequence = sequence;
    block->type =
        sequence < ledger->warm_up_blocks ? GATEWAY_BLOCK_WARM_UP : GATEWAY_BLOCK_MEASURED;
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
static bool gain_is_possible(const struct gateway_ledger *ledger, uint32_t sequence, uint32_t gain)
{
    for (uint32_t i = ledger->blocks[sequence].acknowledged; i <= ledger->commands_sent; i++) {
        if (gain == gain_of_command(i))
            return true;
    }
    return false;
}

static bool reply_is_right(const struct gateway_ledger *ledger, const struct gateway_reply *reply)
{
    struct gateway_block block;
    if (!gain_is_possible(ledger, reply->sequence, reply->gain) || reply->counter_hertz == 0)
        return false;
    make_block(ledger, reply->sequence, &block);
    for (int channel = 0; channel < GATEWAY_CHANNELS; channel++) {
        struct gateway_summary expected;
        expected_summary(&block, channel, reply->gain, &expected);
        if (reply->channels[channel].peak != expected.peak ||
            reply->channels[channel].mean_square != expected.mean_square)
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------ the books */

void gateway_ledger_begin(struct gateway_ledger *ledger, uint32_t block_total,
                          uint32_t warm_up_blocks)
{
    *ledger = (struct gateway_ledger){.block_total = block_total, .warm_up_blocks = warm_up_blocks};
    ledger->blocks = memory_new(block_total, sizeof ledger->blocks[0]);
    ledger->summaries_us = memory_new(block_total, sizeof ledger->summaries_us[0]);
    ledger->round_trips_ns = memory_new(block_total, sizeof ledger->round_trips_ns[0]);
}

void gateway_ledger_end(struct gateway_ledger *ledger)
{
    free(ledger->blocks);
    free(ledger->summaries_us);
    free(ledger->round_trips_ns);
    *ledger = (struct gateway_ledger){0};
}

void gateway_ledger_block(struct gateway_ledger *ledger, struct gateway_block *block)
{
    uint32_t sequence = ledger->blocks_sent++;
    ledger->blocks[sequence].acknowledged = ledger->newest_acknowledged;
    make_block(ledger, sequence, block);
}

void gateway_ledger_command(struct gateway_ledger *ledger, struct gateway_command *command)
{
    uint32_t number = ++ledger->commands_sent;
    *command = (struct gateway_command){.magic = GATEWAY_COMMAND_MAGIC,
                                        .sequence = number,
                                        .kind = GATEWAY_COMMAND_GAIN,
                                        .value = gain_of_command(number)};
}

void gateway_ledger_stop(struct gateway_command *command)
{
    *command =
        (struct gateway_command){.magic = GATEWAY_COMMAND_MAGIC, .kind = GATEWAY_COMMAND_STOP};
}

bool gateway_ledger_reply(struct gateway_ledger *ledger, const void *bytes, size_t size,
                          uint32_t *sequence)
{
    struct gateway_reply reply = {0};
    if (size == sizeof reply)
        memcpy(&reply, bytes, sizeof reply);
    if (size != sizeof reply || reply.magic != GATEWAY_REPLY_MAGIC ||
        reply.sequence >= ledger->blocks_sent) {
        ledger->foreign++;
        return false;
    }
    struct gateway_sent_block *record = &ledger->blocks[reply.sequence];
    if (record->answered) {
        ledger->duplicates++;
        return false;
    }
    record->answered = true;
    ledger->replies++;
    if (!reply_is_right(ledger, &reply))
        ledger->wrong++;
    if (reply.sequence >= ledger->warm_up_blocks)
        ledger->summaries_us[ledger->measured_replies++] =
            reply.counter_hertz ? reply.summary_ticks * 1e6 / reply.counter_hertz : 0;
    *sequence = reply.sequence;
    return true;
}

void gateway_ledger_acknowledgement(struct gateway_ledger *ledger, const void *bytes, size_t size)
{
    struct gateway_command command = {0};
    if (size == sizeof command)
        memcpy(&command, bytes, sizeof command);
    if (size != sizeof command || command.magic != GATEWAY_COMMAND_MAGIC) {
        ledger->foreign++;
    } else if (command.kind == GATEWAY_COMMAND_STOP) {
        ledger->stopped = true;
    } else if (command.value == gain_of_command(command.sequence)) {
        ledger->commands_acknowledged++;
        ledger->newest_acknowledged = command.sequence;
    } else {
        ledger->wrong++;
    }
}

/* ------------------------------------------------------------------ results */

uint32_t gateway_rank(uint32_t count, uint32_t percent)
{
    uint64_t position = ((uint64_t)count * percent + 99) / 100;
    return position ? (uint32_t)position - 1 : 0;
}

static int compare_us(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

void gateway_ledger_write_window(struct gateway_ledger *ledger, struct json *json)
{
    uint32_t sent = ledger->block_total - ledger->warm_up_blocks;
    json_put_unsigned(json, "blocks_sent", sent);
    json_put_unsigned(json, "replies_unique", ledger->measured_replies);
    json_put_unsigned(json, "replies_missing", sent - ledger->measured_replies);
}

void gateway_ledger_write_times(struct gateway_ledger *ledger, struct json *json)
{
    uint32_t count = ledger->measured_replies;
    qsort(ledger->summaries_us, count, sizeof ledger->summaries_us[0], compare_us);
    json_put_number(json, "receive_to_summary_p50_us",
                    ledger->summaries_us[gateway_rank(count, 50)]);
    json_put_number(json, "receive_to_summary_p99_us",
                    ledger->summaries_us[gateway_rank(count, 99)]);
}

void gateway_ledger_write_whole_run(const struct gateway_ledger *ledger, struct json *json)
{
    json_put_unsigned(json, "whole_run_blocks_sent", ledger->blocks_sent);
    json_put_unsigned(json, "whole_run_commands_sent", ledger->commands_sent);
    json_put_unsigned(json, "whole_run_commands_acknowledged", ledger->commands_acknowledged);
    json_put_unsigned(json, "whole_run_replies_unique", ledger->replies);
    json_put_unsigned(json, "whole_run_replies_duplicate", ledger->duplicates);
    json_put_unsigned(json, "whole_run_replies_wrong", ledger->wrong);
    json_put_unsigned(json, "whole_run_datagrams_foreign", ledger->foreign);
}
