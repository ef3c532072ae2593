#include "cap_words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ANCHOR_BYTES ((size_t)4 * TARE_ANCHOR_WORDS)

/* ------------------------------------------------------------------ words */

static uint32_t word_at(const unsigned char *at, bool big_endian)
{
    uint32_t word = (uint32_t)get_little(at, 4);

    return big_endian ? __builtin_bswap32(word) : word;
}

static bool read_anchor(const unsigned char *at, bool big_endian, uint32_t words[TARE_ANCHOR_WORDS])
{
    uint32_t log;

    if ((word_at(at, big_endian) & TARE_SYNC_MASK) != TARE_SYNC)
        return false;
    for (uint32_t i = 0; i < TARE_ANCHOR_WORDS; i++)
        words[i] = word_at(at + (size_t)4 * i, big_endian);
    log = words[TARE_ANCHOR_FORM] >> 24 & 0xFu;
    return (words[TARE_ANCHOR_SYNC] & 0xFFu) == tare_anchor_check(words) &&
           words[TARE_ANCHOR_FORM] >> 28 == TARE_FORMAT_VERSION && log >= 6 && log <= 8 &&
           words[TARE_ANCHOR_INDEX] % (1u << log) == 0 && words[TARE_ANCHOR_STREAM] >> 16 != 0;
}

/* Where an anchor may begin from `from` on, as far as the bytes that are there tell. */
static size_t next_sync(const struct words_input *input, size_t from)
{
    static const unsigned char little[4] = {0, 0xA6, 0xF7, 0xFF}, big[4] = {0xFF, 0xF7, 0xA6, 0};
    const unsigned char *bytes = (const unsigned char *)input->pending.data;
    size_t size = input->pending.size;

    for (size_t i = from; i < size; i++) {
        bool may_little = !input->order_known || !input->big_endian;
        bool may_big = !input->order_known || input->big_endian;

        for (size_t n = 0; n < 4 && i + n < size; n++) {
            may_little = may_little && (n == 0 || bytes[i + n] == little[n]);
            may_big = may_big && (n == 3 || bytes[i + n] == big[n]);
        }
        if (may_little || may_big)
            return i;
    }
    return size;
}

/* ------------------------------------------------------------------ what can follow what */

struct walk {
    uint32_t stamp, high; /* of the last record; the low 16 bits of the high part */
};

/* Whether the record can follow; one that does not fit behind it is not looked at. */
static bool can_follow(struct walk *walk, uint32_t id, uint32_t stamp, uint32_t first)
{
    if (id == TARE_ID_EPOCH) {
        if (first >> 16 != walk->high || (first & 0xFFFFu) == walk->high)
            return false;
        walk->high = first & 0xFFFFu;
    } else if (id == TARE_ID_EPOCH_WIDE) {
        if ((first & TARE_STAMP_MASK) != stamp)
            return false;
    } else if (stamp < walk->stamp) {
        return false;
    }
    walk->stamp = stamp;
    return true;
}

size_t words_sound(const unsigned char *block, size_t size, uint32_t block_words, bool big_endian,
                   bool cut, bool *ended)
{
    uint32_t low = word_at(block + (size_t)4 * TARE_ANCHOR_LOW, big_endian);
    uint32_t form = word_at(block + (size_t)4 * TARE_ANCHOR_FORM, big_endian);
    struct walk walk = {.stamp = low & TARE_STAMP_MASK,
                        .high =
                            (low >> TARE_STAMP_BITS | form << (32 - TARE_STAMP_BITS)) & 0xFFFFu};
    size_t at = ANCHOR_BYTES, last = at, whole = 4 * (size_t)block_words;

    *ended = false;
    while (at + 4 <= size) {
        uint32_t word = word_at(block + at, big_endian), id = word >> TARE_STAMP_BITS;
        size_t bytes = (size_t)4 * TARE_RECORD_WORDS(id);

        if (word == 0 && at + 8 >= whole) {
            last = at;
            at += 4;
            continue;
        }
        if (word == 0)
            cut = true;
        if (id == 0 || id == TARE_ID_ANCHOR || at + bytes > whole || at + bytes > size)
            break;
        if (!can_follow(&walk, id, word & TARE_STAMP_MASK,
                        bytes > 4 ? word_at(block + at + 4, big_endian) : 0))
            break;
        if (id == TARE_ID_EPOCH_WIDE)
            walk.high = (word_at(block + at + 4, big_endian) >> TARE_STAMP_BITS |
                         word_at(block + at + 8, big_endian) << (32 - TARE_STAMP_BITS)) &
                        0xFFFFu;
        *ended = *ended || id == TARE_ID_END;
        last = at;
        at += bytes;
    }
    return cut && at - last > 4 && word_at(block + at - 4, big_endian) == 0 ? last : at;
}

/* ------------------------------------------------------------------ chunks */

static void write_waiting(struct words_input *input, struct words_stream *stream)
{
    input->container->session = stream->session;
    container_stream(input->container, stream->stream, stream->waiting_position,
                     4 * stream->block_words, stream->waiting.data, stream->waiting.size);
    buffer_clear(&stream->waiting);
}

/* Gives the block's bytes up to `end` on; whole words alone. */
static void give(struct words_input *input, struct words_stream *stream, size_t end,
                 uint64_t now_ns)
{
    uint64_t position = stream->position + stream->given / 4;

    end -= end % 4;
    if (end <= stream->given)
        return;
    if (stream->waiting.size > 0 && stream->waiting_position + stream->waiting.size / 4 != position)
        write_waiting(input, stream);
    if (stream->waiting.size == 0) {
        stream->waiting_position = position;
        stream->waiting_since_ns = now_ns;
    }
    buffer_append(&stream->waiting, stream->block.data + stream->given, end - stream->given);
    input->words += (end - stream->given) / 4;
    stream->given = end;
    stream->next = stream->position + end / 4;
    if (stream->waiting.size >= WORDS_CHUNK_BYTES)
        write_waiting(input, stream);
}

/* The present block gets no more bytes. `broken`: something other than its stream's next block
 * follows; its last words may then be older than the first, or cleared, and count as far as they
 * can follow. */
static void leave_block(struct words_input *input, bool broken, uint64_t now_ns)
{
    struct words_stream *stream = input->now;
    bool ended = false;
    size_t size, sound;

    if (stream == NULL)
        return;
    size = stream->block.size;
    sound = words_sound((const unsigned char *)stream->block.data, size, stream->block_words,
                        input->big_endian, broken, &ended);
    stream->ended = stream->ended || ended;
    if (broken) {
        give(input, stream, sound, now_ns);
        input->stale_bytes += size - stream->given;
    } else {
        give(input, stream, size, now_ns);
        input->skipped_bytes += size - stream->given;
    }
    buffer_clear(&stream->block);
    stream->given = 0;
    input->now = NULL;
}

/* ------------------------------------------------------------------ blocks */

static struct words_stream *find_stream(struct words_input *input, uint32_t session,
                                        uint32_t number)
{
    for (uint32_t i = 0; i < input->stream_count; i++) {
        if (input->streams[i]->session == session && input->streams[i]->stream == number)
            return input->streams[i];
    }
    return NULL;
}

static struct words_stream *add_stream(struct words_input *input, uint32_t session, uint32_t number,
                                       uint32_t block_words)
{
    struct words_stream *stream = memory_new(1, sizeof(*stream));

    for (uint32_t i = 0; i < input->stream_count; i++) {
        struct words_stream *other = input->streams[i];

        if (other->stream == number && !other->over) {
            other->over = true;
            input->restarts++;
        }
    }
    stream->session = session;
    stream->stream = number;
    stream->block_words = block_words;
    input->streams =
        memory_resize(input->streams, input->stream_count + 1, sizeof(struct words_stream *));
    input->streams[input->stream_count++] = stream;
    return stream;
}

/* A target that began anew and has the same session number as before. Old bytes never hold the
 * first block: it lies where the ring begins, and a reader that is ahead has come round there. */
static bool begins_anew(const uint32_t *anchor)
{
    return anchor[TARE_ANCHOR_INDEX] == 0;
}

static void restart_stream(struct words_input *input, struct words_stream *stream)
{
    for (uint32_t i = 0; i < input->stream_count; i++) {
        if (input->streams[i]->stream == stream->stream)
            input->streams[i]->over = true;
    }
    warn("session %" PRIu32 ", stream %" PRIu32
         ": the target began anew with the same session number; give it a boot counter "
         "(TARE_SESSION) to tell the two apart",
         stream->session, stream->stream);
    stream->over = stream->ended = false;
    stream->position = stream->next = 0;
    input->restarts++;
}

/* Whether the block of this anchor is wanted; its stream then stands at its first word. */
static struct words_stream *enter_block(struct words_input *input, const uint32_t *anchor)
{
    uint32_t session = anchor[TARE_ANCHOR_STREAM] >> 16;
    uint32_t number = anchor[TARE_ANCHOR_STREAM] & 0xFFFFu, index = anchor[TARE_ANCHOR_INDEX];
    struct words_stream *stream = find_stream(input, session, number);
    uint32_t ahead;

    if (stream == NULL) {
        if (input->stream_count >= WORDS_STREAMS)
            return NULL;
        stream = add_stream(input, session, number, 1u << (anchor[TARE_ANCHOR_FORM] >> 24 & 0xFu));
        stream->position = stream->next = index;
        stream->late = index != 0;
    } else if (begins_anew(anchor)) {
        restart_stream(input, stream);
    } else {
        ahead = index - stream->anchor_index;
        if (stream->over || ahead == 0 || ahead > UINT32_MAX / 2)
            return NULL;
        input->gap_words += (uint32_t)(index - (uint32_t)stream->next);
        stream->position += (uint32_t)(index - (uint32_t)stream->position);
    }
    stream->anchor_index = index;
    return stream;
}

static void take_anchor(struct words_input *input, const unsigned char *bytes,
                        const uint32_t *anchor, uint64_t now_ns)
{
    struct words_stream *before = input->now, *stream;
    bool follows = before != NULL &&
                   anchor[TARE_ANCHOR_STREAM] == (before->session << 16 | before->stream) &&
                   !begins_anew(anchor) &&
                   anchor[TARE_ANCHOR_INDEX] - before->anchor_index - 1 < UINT32_MAX / 2;

    leave_block(input, !follows, now_ns);
    stream = enter_block(input, anchor);
    input->stale = stream == NULL;
    input->now = stream;
    if (stream == NULL) {
        input->stale_bytes += ANCHOR_BYTES;
        return;
    }
    stream->block_since_ns = now_ns;
    buffer_append(&stream->block, bytes, ANCHOR_BYTES);
}

/* Bytes between anchors. */
static void take_bytes(struct words_input *input, const unsigned char *bytes, size_t size,
                       uint64_t now_ns)
{
    struct words_stream *stream = input->now;
    size_t whole;

    if (stream == NULL) {
        *(input->stale ? &input->stale_bytes : &input->skipped_bytes) += size;
        return;
    }
    whole = 4 * (size_t)stream->block_words;
    if (stream->given == stream->block.size)
        stream->block_since_ns = now_ns;
    if (stream->block.size + size > whole) {
        size_t fits = whole - stream->block.size;

        /* No anchor follows: damage, or old bytes that filled the block up. */
        buffer_append(&stream->block, bytes, fits);
        leave_block(input, true, now_ns);
        input->stale = false;
        input->skipped_bytes += size - fits;
        return;
    }
    buffer_append(&stream->block, bytes, size);
}

void words_begin(struct words_input *input, struct container *container)
{
    *input = (struct words_input){.container = container};
}

void words_take(struct words_input *input, const void *bytes, size_t size, uint64_t now_ns)
{
    size_t done = 0, sync;
    const unsigned char *at;
    struct buffer rest = {0};

    input->bytes += size;
    buffer_append(&input->pending, bytes, size);
    at = (const unsigned char *)input->pending.data;
    while ((sync = next_sync(input, done)) + ANCHOR_BYTES <= input->pending.size) {
        uint32_t anchor[TARE_ANCHOR_WORDS];
        bool big = input->big_endian;
        bool found = read_anchor(at + sync, big, anchor);

        if (!found && !input->order_known) {
            big = true;
            found = read_anchor(at + sync, big, anchor);
        }
        take_bytes(input, at + done, sync - done, now_ns);
        done = sync;
        if (found) {
            input->order_known = true;
            input->big_endian = big;
            take_anchor(input, at + sync, anchor, now_ns);
            done += ANCHOR_BYTES;
        } else {
            take_bytes(input, at + sync, 1, now_ns);
            done++;
        }
    }
    take_bytes(input, at + done, sync - done, now_ns);
    buffer_append(&rest, at + sync, input->pending.size - sync);
    buffer_free(&input->pending);
    input->pending = rest;
}

/* Bytes that might begin an anchor, but make a record whole, do not. */
static void take_pending(struct words_input *input)
{
    struct words_stream *stream = input->now;
    size_t size = stream->block.size, sound;
    struct buffer rest = {0};
    bool ended = false;

    if (size + input->pending.size > 4 * (size_t)stream->block_words)
        return;
    buffer_append(&stream->block, input->pending.data, input->pending.size);
    sound = words_sound((const unsigned char *)stream->block.data, stream->block.size,
                        stream->block_words, input->big_endian, false, &ended);
    if (sound < size)
        sound = size;
    buffer_append(&rest, stream->block.data + sound, stream->block.size - sound);
    stream->block.size = sound;
    buffer_free(&input->pending);
    input->pending = rest;
}

void words_flush(struct words_input *input, uint64_t now_ns)
{
    struct words_stream *stream = input->now;

    if (stream != NULL && input->pending.size > 0)
        take_pending(input);

    /* What has stood there for so long came before whatever may follow. */
    if (stream != NULL && stream->block.size > stream->given &&
        now_ns - stream->block_since_ns >= WORDS_CHUNK_NS) {
        bool ended = false;

        give(input, stream,
             words_sound((const unsigned char *)stream->block.data, stream->block.size,
                         stream->block_words, input->big_endian, false, &ended),
             now_ns);
        stream->ended = stream->ended || ended;
    }
    for (uint32_t i = 0; i < input->stream_count; i++) {
        stream = input->streams[i];
        if (stream->waiting.size > 0 && now_ns - stream->waiting_since_ns >= WORDS_CHUNK_NS)
            write_waiting(input, stream);
    }
}

void words_cut(struct words_input *input)
{
    take_bytes(input, (const unsigned char *)input->pending.data, input->pending.size, 0);
    buffer_free(&input->pending);
    leave_block(input, false, 0);
    input->stale = false;
}

bool words_ended(const struct words_input *input)
{
    for (uint32_t i = 0; i < input->stream_count; i++) {
        if (!input->streams[i]->ended && !input->streams[i]->over)
            return false;
    }
    return input->stream_count > 0;
}

void words_end(struct words_input *input)
{
    words_cut(input);
    for (uint32_t i = 0; i < input->stream_count; i++) {
        struct words_stream *stream = input->streams[i];

        write_waiting(input, stream);
        buffer_free(&stream->waiting);
        buffer_free(&stream->block);
        free(stream);
    }
    free(input->streams);
    input->streams = NULL;
    input->stream_count = 0;
    input->now = NULL;
}
