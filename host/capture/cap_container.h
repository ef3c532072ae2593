/* Writer of the `.tare` file (spec/FORMAT.md, section 7): chunks appended to a file or pipe. */
#ifndef CAP_CONTAINER_H
#define CAP_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_error.h"

#include "tare_layout.h"

/* ------------------------------------------------------------------ the file in figures */

#define CONTAINER_SIGNATURE "TARE\r\n\x1a\n" /* 8 bytes */
#define CONTAINER_VERSION 1u
#define CONTAINER_HEAD_BYTES 16u /* signature, version, reserved */
#define CHUNK_MAGIC "Tchk"
#define CHUNK_HEAD_BYTES 48u
#define CHUNK_HASHED_BYTES 40u          /* of the header; its hash follows */
#define CHUNK_PAYLOAD_LIMIT (16u << 20) /* a reader accepts no more */
/* The writer puts at most this much data into a chunk. */
#define CONTAINER_STREAM_LIMIT (1u << 20)

enum chunk_type {
    CHUNK_INFO = 1,
    CHUNK_REGION = 2,
    CHUNK_RING = 3,
    CHUNK_STREAM = 4,
    CHUNK_CLOCK = 5,
    CHUNK_END = 6,
    CHUNK_NAMES = 7
};

/* Offsets of the fields of a chunk header; all little-endian. */
enum chunk_offset {
    CHUNK_AT_MAGIC = 0,
    CHUNK_AT_TYPE = 4,         /* 16 bits */
    CHUNK_AT_LENGTH = 8,       /* 32 bits: payload, bytes */
    CHUNK_AT_SESSION = 12,     /* 32 bits */
    CHUNK_AT_ARRIVAL = 16,     /* 64 bits: ns since 1970 */
    CHUNK_AT_POSITION = 24,    /* 64 bits: words of the stream before this chunk */
    CHUNK_AT_STREAM = 32,      /* 32 bits */
    CHUNK_AT_PIECE = 36,       /* 32 bits: bytes of a piece */
    CHUNK_AT_HASH = 40,        /* 32 bits: low half of xxh64 of the bytes before it */
    CHUNK_AT_PAYLOAD_HASH = 44 /* 32 bits: low half of xxh64 of the payload; STREAM: of its table */
};

/* ------------------------------------------------------------------ writer */

/* Every call below returns false once writing has failed (disk full, pipe closed, ...): the reason
 * is in `failure` and comes out of container_close() too. Nothing is written after a failure, so
 * what stands in the file stays readable up to there. Not safe for several threads at once. */
struct container {
    int file;            /* -1: closed */
    bool standard;       /* standard output, which is not closed */
    char *path;          /* for messages */
    uint32_t session;    /* stamped on every chunk; may change between calls */
    uint64_t bytes;      /* written so far */
    uint64_t arrival_ns; /* 0: chunks get the time of the real-time clock; else this one (tests) */
    struct error failure;
};

/* Makes the file anew (an old one of this name is replaced) and writes its head. "-" is standard
 * output, refused when that is a terminal. On failure EXIT_USAGE with the reason; the container is
 * then closed and may still be given to every function here. */
bool container_create(struct container *container, const char *path, uint32_t session,
                      struct error *error);

/* One INFO chunk: a JSON object as text. */
bool container_info(struct container *container, const char *json_text);

/* The 256 bytes of a struct tare_region, verbatim. */
bool container_region(struct container *container, const void *region);

/* The 240 bytes of a struct tare_ring, verbatim: when first seen and when done with. */
bool container_ring(struct container *container, uint32_t stream, const void *ring);

/* A names table: the bytes of an entry as a word of the recording machine, then the entries,
 * verbatim. */
bool container_names(struct container *container, uint32_t stream, const void *payload,
                     size_t size);

/* Raw bytes of a stream. `position_words`: words of this stream before `data`; `piece_bytes`: its
 * block size in bytes (256, 512 or 1024). Any amount: chunks are split, hashes made here. `size` is
 * a multiple of 4 except at the very end of a stream. Nothing is written for size 0. */
bool container_stream(struct container *container, uint32_t stream, uint64_t position_words,
                      uint32_t piece_bytes, const void *data, size_t size);

/* One moment on three clocks: the recorder's ticks, CLOCK_MONOTONIC, ns since 1970. */
bool container_clock(struct container *container, uint64_t ticks, uint64_t monotonic,
                     uint64_t realtime, uint64_t uncertainty);

/* The END chunk, a JSON object as text: the reader finished in order. Still call container_close.
 */
bool container_end(struct container *container, const char *json_text);

/* Closes. False with the reason when this or any call before it failed. */
bool container_close(struct container *container, struct error *error);

/* ------------------------------------------------------------------ little-endian fields, for both
 * sides */

static inline void put_little(unsigned char *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

static inline uint64_t get_little(const unsigned char *at, int bytes)
{
    uint64_t value = 0;

    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

#endif
