#include <string.h>

#include "dec_record.h"

static bool read_words(const unsigned char *bytes, uint32_t words[TARE_ANCHOR_WORDS], bool *swapped)
{
    memcpy(words, bytes, TARE_ANCHOR_WORDS * sizeof *words);
    *swapped = (__builtin_bswap32(words[TARE_ANCHOR_SYNC]) & TARE_SYNC_MASK) == TARE_SYNC;
    if (*swapped)
        for (int i = 0; i < TARE_ANCHOR_WORDS; i++)
            words[i] = __builtin_bswap32(words[i]);
    return (words[TARE_ANCHOR_SYNC] & TARE_SYNC_MASK) == TARE_SYNC;
}

static bool is_swapped_big_endian(bool swapped)
{
    return swapped == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
}

/* All that is tested but the version. */
static bool is_sound(const uint32_t words[TARE_ANCHOR_WORDS], uint32_t *block_words)
{
    uint32_t form = words[TARE_ANCHOR_FORM], log = form >> 24 & 0xF;

    *block_words = UINT32_C(1) << log;
    return log >= 6 && log <= 8 && (words[TARE_ANCHOR_SYNC] & 0xFF) == tare_anchor_check(words) &&
           words[TARE_ANCHOR_INDEX] % *block_words == 0;
}

bool anchor_read(const unsigned char *bytes, struct anchor *anchor)
{
    uint32_t words[TARE_ANCHOR_WORDS], block_words;
    bool swapped;

    if (!read_words(bytes, words, &swapped) || !is_sound(words, &block_words) ||
        words[TARE_ANCHOR_FORM] >> 28 != TARE_FORMAT_VERSION)
        return false;
    anchor->big_endian = is_swapped_big_endian(swapped);
    anchor->block_words = block_words;
    anchor->stream = words[TARE_ANCHOR_STREAM] & 0xFFFF;
    anchor->session = words[TARE_ANCHOR_STREAM] >> 16;
    anchor->ticks = (uint64_t)(words[TARE_ANCHOR_FORM] & 0xFFFFFF) << 32 | words[TARE_ANCHOR_LOW];
    anchor->index = words[TARE_ANCHOR_INDEX];
    anchor->dropped = words[TARE_ANCHOR_DROPPED];
    return true;
}

static bool is_sync(const unsigned char *bytes)
{
    uint32_t word;

    memcpy(&word, bytes, sizeof word);
    return (word & TARE_SYNC_MASK) == TARE_SYNC ||
           (__builtin_bswap32(word) & TARE_SYNC_MASK) == TARE_SYNC;
}

/* Offset of the next sync word in either byte order from `at` on that leaves room for an anchor;
 * `size` when there is none. 0xF7 is its third byte in one order and its second in the other: to
 * look for that alone is ten times as fast as to look at every word. */
static size_t find_sync(const unsigned char *bytes, size_t at, size_t size)
{
    size_t end;

    if (size < at + ANCHOR_BYTES)
        return size;
    end = size - ANCHOR_BYTES + 1;
    for (size_t middle = at + 1; middle < end + 2; middle++) {
        const unsigned char *found =
            memchr(bytes + middle, TARE_SYNC >> 16 & 0xFF, end + 2 - middle);

        if (found == NULL)
            break;
        middle = (size_t)(found - bytes);
        if (middle >= at + 2 && is_sync(found - 2))
            return middle - 2;
        if (middle - 1 < end && is_sync(found - 1))
            return middle - 1;
    }
    return size;
}

size_t anchor_find(const unsigned char *bytes, size_t size, struct anchor *anchor)
{
    size_t at = find_sync(bytes, 0, size);

    while (at < size && !anchor_read(bytes + at, anchor))
        at = find_sync(bytes, at + 1, size);
    return at;
}

size_t anchor_find_foreign(const unsigned char *bytes, size_t size, uint32_t *version)
{
    size_t at = find_sync(bytes, 0, size);

    for (; at < size; at = find_sync(bytes, at + 1, size)) {
        uint32_t words[TARE_ANCHOR_WORDS], block_words;
        bool swapped;

        if (!read_words(bytes + at, words, &swapped) || !is_sound(words, &block_words))
            continue;
        *version = words[TARE_ANCHOR_FORM] >> 28;
        if (*version != TARE_FORMAT_VERSION)
            return at;
    }
    return size;
}
