/* Builds streams word by word for the tests of the decoder, independent of recorder and encoder. */
#ifndef STREAM_MAKER_H
#define STREAM_MAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tare_layout.h"

#define MAKER_WORDS 65536u

struct maker {
    uint32_t words[MAKER_WORDS];
    size_t count;
    uint32_t session, stream, block_words;
    uint32_t base;    /* index of words[0] in the stream */
    uint32_t dropped; /* total for the anchors */
    uint64_t ticks;
};

static inline void maker_begin(struct maker *maker, uint32_t session, uint32_t stream,
                               uint32_t block_words, uint64_t ticks)
{
    memset(maker, 0, sizeof *maker);
    maker->session = session;
    maker->stream = stream;
    maker->block_words = block_words;
    maker->ticks = ticks;
}

static inline void maker_word(struct maker *maker, uint32_t word)
{
    maker->words[maker->count++] = word;
}

static inline uint32_t maker_log(uint32_t words)
{
    return words == 64 ? 6 : words == 128 ? 7 : 8;
}

/* Puts the check byte into the anchor at word `at`. */
static inline void maker_check(struct maker *maker, size_t at)
{
    maker->words[at] = TARE_SYNC | tare_anchor_check(maker->words + at);
}

static inline void maker_anchor(struct maker *maker)
{
    size_t at = maker->count;

    maker_word(maker, TARE_SYNC);
    maker_word(maker, TARE_FORMAT_VERSION << 28 | maker_log(maker->block_words) << 24 |
                          (uint32_t)(maker->ticks >> 32));
    maker_word(maker, maker->session << 16 | maker->stream);
    maker_word(maker, (uint32_t)maker->ticks);
    maker_word(maker, maker->base + (uint32_t)at);
    maker_word(maker, maker->dropped);
    maker_check(maker, at);
}

static inline uint32_t maker_room(const struct maker *maker)
{
    return maker->block_words - (uint32_t)(maker->count % maker->block_words);
}

/* Fills the block up with PADs. */
static inline void maker_pad(struct maker *maker)
{
    while (maker->count % maker->block_words != 0)
        maker_word(maker, 0);
}

/* A record at the present time, with the anchor and PADs that it needs before it. */
static inline void maker_record(struct maker *maker, uint32_t id, uint32_t first, uint32_t second)
{
    uint32_t words = TARE_RECORD_WORDS(id);

    if (maker->count % maker->block_words != 0 && maker_room(maker) < words)
        maker_pad(maker);
    if (maker->count % maker->block_words == 0)
        maker_anchor(maker);
    maker_word(maker, id << TARE_STAMP_BITS | (uint32_t)(maker->ticks & TARE_STAMP_MASK));
    if (words > 1)
        maker_word(maker, first);
    if (words > 2)
        maker_word(maker, second);
}

/* Later; writes an EPOCH where the high part changes. Not more than 65535 high parts at once. */
static inline void maker_later(struct maker *maker, uint64_t ticks)
{
    uint64_t old = maker->ticks >> TARE_STAMP_BITS, now = (maker->ticks + ticks) >> TARE_STAMP_BITS;

    maker->ticks += ticks;
    if (now != old && maker->count % maker->block_words != 0 && maker_room(maker) >= 2)
        maker_record(maker, TARE_ID_EPOCH, (uint32_t)(old << 16 | (now & 0xFFFF)), 0);
    else if (now != old)
        maker_pad(maker);
}

static inline void maker_text(struct maker *maker, const char *text, size_t length)
{
    for (size_t at = 0; at < length; at += 8) {
        uint32_t words[2] = {0, 0};

        for (size_t i = 0; i < 8 && at + i < length; i++)
            words[i / 4] |= (uint32_t)(unsigned char)text[at + i] << 8 * (i % 4);
        maker_record(maker, TARE_ID_TEXT, words[0], words[1]);
    }
}

static inline void maker_define(struct maker *maker, uint32_t class, uint32_t id, const char *text)
{
    maker_record(maker, TARE_ID_DEFINE, class << 24 | id, (uint32_t)strlen(text));
    maker_text(maker, text, strlen(text));
}

static inline void maker_swap(struct maker *maker)
{
    for (size_t i = 0; i < maker->count; i++)
        maker->words[i] = __builtin_bswap32(maker->words[i]);
}

#endif
