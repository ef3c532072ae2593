/* A target's memory made by hand in a file, with a control block and a writer of words, and the
 * chunks of a recording taken apart: independent of the recorder and of the decoder. */
#ifndef TARGET_MEMORY_H
#define TARGET_MEMORY_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base_buffer.h"
#include "cap_container.h"
#include "tare_layout.h"

#define TARGET_BASE 0x21000000u

struct target {
    unsigned char *bytes;
    uint32_t size;
    uint32_t skew;            /* the target's memory begins so many bytes into the file */
    uint32_t block, buffer;   /* places in the memory */
    uint32_t session, stream; /* of the ring that the writer writes to */
    uint32_t block_words, ring_bytes;
    uint32_t lap_index, dropped;
    uint32_t write, block_end; /* bytes */
    uint32_t written;          /* words since the ring began */
    bool big_endian;
};

static inline uint32_t target_order(const struct target *target, uint32_t word)
{
    return target->big_endian ? __builtin_bswap32(word) : word;
}

static inline void target_map(struct target *target, const char *path, uint32_t size, uint32_t skew)
{
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

    memset(target, 0, sizeof(*target));
    target->size = size;
    target->skew = skew;
    if (file < 0 || ftruncate(file, (off_t)size + skew) != 0)
        abort();
    target->bytes = mmap(NULL, size + skew, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (target->bytes == MAP_FAILED)
        abort();
    target->bytes += skew;
    close(file);
}

static inline void target_unmap(struct target *target)
{
    munmap(target->bytes - target->skew, target->size + target->skew);
}

/* A word at a place; whole, as the core of a target writes it. */
static inline void target_put(struct target *target, uint32_t place, uint32_t word)
{
    unsigned char *at = target->bytes + place;

    word = target_order(target, word);
    if ((uintptr_t)at % 4 == 0)
        __atomic_store_n((uint32_t *)(void *)at, word, __ATOMIC_RELEASE);
    else
        memcpy(at, &word, 4);
}

static inline uint32_t target_get(const struct target *target, uint32_t place)
{
    const unsigned char *at = target->bytes + place;
    uint32_t word;

    if ((uintptr_t)at % 4 == 0)
        word = __atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_ACQUIRE);
    else
        memcpy(&word, at, 4);
    return target_order(target, word);
}

#define TARGET_PUT(target, field, value) \
    target_put(target, (target)->block + (uint32_t)offsetof(struct tare_ring, field), value)
#define TARGET_GET(target, field) \
    target_get(target, (target)->block + (uint32_t)offsetof(struct tare_ring, field))

/* The id, its head at the very end. */
static inline void target_name(struct target *target, const char *id)
{
    unsigned char bytes[16] = {0};

    for (size_t i = 0; id[i] != '\0'; i++)
        bytes[i] = (unsigned char)id[i];
    for (int i = 12; i >= 0; i -= 4) {
        uint32_t word = (uint32_t)get_little(bytes + i, 4);

        target_put(target, target->block + (uint32_t)i, target_order(target, word));
    }
}

/* A sound control block at `block` whose words lie at `buffer`: 64-word blocks, drop policy. */
static inline void target_begin(struct target *target, uint32_t block, uint32_t buffer,
                                uint32_t ring_bytes, uint32_t session, uint32_t stream)
{
    target->block = block;
    target->buffer = buffer;
    target->session = session;
    target->stream = stream;
    target->block_words = 64;
    target->ring_bytes = ring_bytes;
    target->lap_index = target->write = target->block_end = target->written = 0;
    target->dropped = 0;
    for (uint32_t i = 0; i < sizeof(struct tare_ring); i += 4)
        target_put(target, block + i, 0);
    TARGET_PUT(target, up_channels, 1);
    TARGET_PUT(target, down_channels, 1);
    TARGET_PUT(target, up.buffer, TARGET_BASE + buffer);
    TARGET_PUT(target, up.bytes, ring_bytes);
    TARGET_PUT(target, down.buffer, TARGET_BASE + block + 256); /* 16 bytes */
    TARGET_PUT(target, down.bytes, 16);
    TARGET_PUT(target, self, TARGET_BASE + block);
    TARGET_PUT(target, version, TARE_FORMAT_VERSION);
    TARGET_PUT(target, block_words, 64);
    TARGET_PUT(target, session, session);
    TARGET_PUT(target, stream, stream);
    TARGET_PUT(target, kind, TARE_RING_MIXED);
    TARGET_PUT(target, state, TARE_RING_ACTIVE);
    TARGET_PUT(target, magic, TARE_RING_MAGIC);
    target_name(target, "SEGGER RTT");
}

static inline void target_overwrites(struct target *target)
{
    TARGET_PUT(target, policy, TARE_FULL_OVERWRITE);
    target_name(target, "TARE ring");
}

static inline void target_word(struct target *target, uint32_t word)
{
    target_put(target, target->buffer + target->write, word);
    target->write += 4;
    target->written++;
}

/* As a recorder does it: the lap index moves before the write offset does, each of them after the
 * words; a block begins with its anchor. */
static inline void target_next_block(struct target *target)
{
    uint32_t anchor[TARE_ANCHOR_WORDS] = {0};

    while (target->write < target->block_end)
        target_word(target, 0);
    if (target->write == target->ring_bytes) {
        target->lap_index += target->ring_bytes / 4;
        TARGET_PUT(target, lap_index, target->lap_index);
        target->write = 0;
    }
    anchor[TARE_ANCHOR_FORM] = TARE_FORMAT_VERSION << 28 | 6u << 24;
    anchor[TARE_ANCHOR_STREAM] = target->session << 16 | target->stream;
    anchor[TARE_ANCHOR_INDEX] = target->lap_index + target->write / 4;
    anchor[TARE_ANCHOR_DROPPED] = target->dropped;
    anchor[TARE_ANCHOR_SYNC] = TARE_SYNC | tare_anchor_check(anchor);
    target->block_end = target->write + 4 * target->block_words;
    for (int i = TARE_ANCHOR_WORDS - 1; i >= 0; i--) /* the sync word last */
        target_put(target, target->buffer + target->write + 4 * (uint32_t)i, anchor[i]);
    target->write += 4 * TARE_ANCHOR_WORDS;
    target->written += TARE_ANCHOR_WORDS;
    TARGET_PUT(target, up.write_offset, target->write);
}

/* A record of 2 or 3 words; each argument is the record's own place in the stream. */
static inline void target_record(struct target *target, uint32_t words)
{
    uint32_t index;

    if (target->write + 4 * words > target->block_end)
        target_next_block(target);
    index = target->lap_index + target->write / 4;
    target_word(target, words == 2 ? 0x81000000u : 0xC1000000u);
    for (uint32_t i = 1; i < words; i++)
        target_word(target, index);
    if (target->write == target->ring_bytes) {
        target->lap_index += target->ring_bytes / 4;
        TARGET_PUT(target, lap_index, target->lap_index);
        target->write = 0;
        target->block_end = 0;
    }
    TARGET_PUT(target, up.write_offset, target->write);
}

/* Bytes that a reader has left unread. */
static inline uint32_t target_fill(const struct target *target)
{
    uint32_t read = TARGET_GET(target, up.read_offset);

    return (target->write + target->ring_bytes - read) % target->ring_bytes;
}

/* ------------------------------------------------------------------ chunks */

struct chunk {
    uint32_t type, session, stream, bytes;
    uint64_t position, arrival;
    const unsigned char *payload; /* STREAM: the words */
};

struct chunks {
    struct buffer file;
    struct chunk list[4096];
    size_t count;
};

static inline void chunks_read(struct chunks *chunks, const char *path)
{
    struct error error = {0};
    size_t at = CONTAINER_HEAD_BYTES;

    memset(chunks, 0, sizeof(*chunks));
    if (!file_read(path, &chunks->file, &error))
        abort();
    while (at + CHUNK_HEAD_BYTES <= chunks->file.size) {
        const unsigned char *head = (const unsigned char *)chunks->file.data + at;
        struct chunk *chunk = chunks->list + chunks->count++;

        if (chunks->count > sizeof(chunks->list) / sizeof(chunks->list[0]))
            abort();
        chunk->type = (uint32_t)get_little(head + CHUNK_AT_TYPE, 2);
        chunk->bytes = (uint32_t)get_little(head + CHUNK_AT_LENGTH, 4);
        chunk->session = (uint32_t)get_little(head + CHUNK_AT_SESSION, 4);
        chunk->stream = (uint32_t)get_little(head + CHUNK_AT_STREAM, 4);
        chunk->position = get_little(head + CHUNK_AT_POSITION, 8);
        chunk->arrival = get_little(head + CHUNK_AT_ARRIVAL, 8);
        chunk->payload = head + CHUNK_HEAD_BYTES;
        at += CHUNK_HEAD_BYTES + chunk->bytes;
        if (chunk->type == CHUNK_STREAM) {
            uint32_t table = 4 + 4 * (uint32_t)get_little(chunk->payload, 4);

            chunk->payload += table;
            chunk->bytes -= table;
        }
    }
}

/* The next chunk of this type from *from on; NULL: none. */
static inline const struct chunk *chunks_next(const struct chunks *chunks, uint32_t type,
                                              size_t *from)
{
    for (; *from < chunks->count; (*from)++) {
        if (chunks->list[*from].type == type)
            return chunks->list + (*from)++;
    }
    return NULL;
}

/* Reads words of target_record() from `position` on: whether each stands where it says that it
 * stands. Begins anywhere at a record or block. */
static inline bool words_are_right(const unsigned char *bytes, uint32_t count, uint64_t position,
                                   const struct target *target, uint32_t session)
{
    const bool big_endian = target->big_endian;
    uint32_t i = 0;

#define WORD(n) \
    (big_endian ? __builtin_bswap32((uint32_t)get_little(bytes + 4 * (size_t)(n), 4)) \
                : (uint32_t)get_little(bytes + 4 * (size_t)(n), 4))
    while (i < count) {
        uint32_t word = WORD(i), index = (uint32_t)position + i;
        uint32_t words = word == 0 ? 1 : TARE_RECORD_WORDS(word >> TARE_STAMP_BITS);

        if (index % target->block_words == 0) {
            uint32_t anchor[TARE_ANCHOR_WORDS];

            for (uint32_t n = 0; n < TARE_ANCHOR_WORDS && i + n < count; n++)
                anchor[n] = WORD(i + n);
            if (count - i < TARE_ANCHOR_WORDS)
                return true;
            if (word != (TARE_SYNC | tare_anchor_check(anchor)) ||
                anchor[TARE_ANCHOR_INDEX] != index ||
                anchor[TARE_ANCHOR_STREAM] != (session << 16 | target->stream)) {
                fprintf(stderr, "word %u: no anchor of session %u\n", index, session);
                return false;
            }
            words = TARE_ANCHOR_WORDS;
        } else if (words > 1 && i + words <= count) {
            for (uint32_t n = 1; n < words; n++) {
                if (WORD(i + n) != index) {
                    fprintf(stderr, "word %u: its argument says %u\n", index, WORD(i + n));
                    return false;
                }
            }
        }
        i += words;
    }
    return true;
#undef WORD
}

#endif
