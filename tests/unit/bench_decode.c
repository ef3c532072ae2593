/* How fast chunks in memory are decoded, with full validation: one JSON line on stdout. Built with
 * the tests, run by hand; a wall-clock figure decides no test.
 *
 *     bench_decode [megabytes of stream, default 64]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base_progress.h"
#include "dec_record.h"

#define BLOCK_WORDS 256u
#define BLOCK_BYTES ((size_t)4 * BLOCK_WORDS)

static uint32_t word_of(uint32_t id, uint64_t ticks)
{
    return id << TARE_STAMP_BITS | (uint32_t)(ticks & TARE_STAMP_MASK);
}

/* A stream of one-argument events as the recorder writes it: a tick is 6 ns, an event every 40. */
static size_t write_stream(uint32_t *words, size_t count)
{
    size_t events = 0;
    uint64_t ticks = UINT64_C(0x900000000), high = 0;

    for (size_t at = 0; at < count; at += BLOCK_WORDS) {
        uint32_t *block = words + at, n = TARE_ANCHOR_WORDS;

        block[TARE_ANCHOR_FORM] = UINT32_C(8) << 24 | (uint32_t)(ticks >> 32);
        block[TARE_ANCHOR_STREAM] = UINT32_C(1) << 16 | 1;
        block[TARE_ANCHOR_LOW] = (uint32_t)ticks;
        block[TARE_ANCHOR_INDEX] = (uint32_t)at;
        block[TARE_ANCHOR_DROPPED] = 0;
        block[TARE_ANCHOR_SYNC] = TARE_SYNC | tare_anchor_check(block);
        high = ticks >> TARE_STAMP_BITS;
        while (n < BLOCK_WORDS - 3) {
            if (ticks >> TARE_STAMP_BITS != high) {
                block[n++] = word_of(TARE_ID_EPOCH, ticks);
                block[n++] = (uint32_t)(high << 16 | ((high + 1) & 0xFFFF));
                high++;
                continue;
            }
            block[n++] = word_of(TARE_ID_FREE1 + (uint32_t)events % 7, ticks);
            block[n++] = (uint32_t)events++;
            ticks += 5 + events % 3;
        }
        while (n < BLOCK_WORDS) {
            if (BLOCK_WORDS - n >= 2 && ticks >> TARE_STAMP_BITS == high) {
                block[n++] = word_of(TARE_ID_FREE1, ticks);
                block[n++] = (uint32_t)events++;
            } else {
                block[n++] = 0;
            }
        }
    }
    return events;
}

static double decode(const uint32_t *words, size_t count, size_t events, bool hash)
{
    struct decode_directory directory = {0};
    struct record_decoder *decoder = record_decoder_new(&directory);
    struct record_batch batch;
    const unsigned char *next = (const unsigned char *)words;
    size_t left = 4 * count, found = 0;
    uint64_t hashes = 0, begin, end;

    record_batch_init(&batch, 4096);
    begin = monotonic_ns();
    while (left > 0) {
        size_t size = left < 65536 ? left : 65536;

        if (hash)
            for (size_t at = 0; at < size; at += BLOCK_BYTES)
                hashes ^= XXH64(next + at, BLOCK_BYTES, 0);
        while (size > 0) {
            size_t taken = record_feed(decoder, next, size, &batch);

            next += taken;
            size -= taken;
            left -= taken;
            if (record_batch_full(&batch)) {
                found += batch.count;
                record_batch_clear(&batch);
            }
        }
    }
    while (!record_finish(decoder, &batch)) {
        found += batch.count;
        record_batch_clear(&batch);
    }
    end = monotonic_ns();
    found += batch.count;
    if (found != events || directory.streams[0]->counts.events != events) {
        fprintf(stderr, "bench_decode: %zu events instead of %zu (%" PRIx64 ")\n", found, events,
                hashes);
        exit(1);
    }
    for (int i = 0; i < STREAM_FAULT_COUNT; i++)
        if (directory.streams[0]->counts.faults[i] != 0)
            exit(1);
    record_batch_free(&batch);
    record_decoder_free(decoder);
    directory_free(&directory);
    return (double)events * 1e9 / (double)(end - begin);
}

int main(int argc, char **argv)
{
    size_t megabytes = argc > 1 ? strtoul(argv[1], NULL, 10) : 64, count = megabytes << 18;
    uint32_t *words = memory_new(count, sizeof *words);
    size_t events = write_stream(words, count);
    double best = 0, best_hashed = 0, best_swapped = 0;

    for (int round = 0; round < 7; round++) {
        double rate = decode(words, count, events, false);

        best = rate > best ? rate : best;
        rate = decode(words, count, events, true);
        best_hashed = rate > best_hashed ? rate : best_hashed;
    }
    for (size_t i = 0; i < count; i++)
        words[i] = __builtin_bswap32(words[i]);
    for (int round = 0; round < 7; round++) {
        double rate = decode(words, count, events, true);

        best_swapped = rate > best_swapped ? rate : best_swapped;
    }
    printf("{\"events\":%zu,\"decode_events_per_second\":%.0f,"
           "\"verified_decode_events_per_second\":%.0f,"
           "\"verified_decode_other_byte_order_events_per_second\":%.0f}\n",
           events, best, best_hashed, best_swapped);
    free(words);
    return 0;
}
