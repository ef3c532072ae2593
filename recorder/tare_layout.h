/* What a writer of events and a reader of its memory agree on: the words of the stream and the
 * structures in memory. spec/FORMAT.md is the document; this header is the same in C.
 *
 * All fields are 32-bit words of the machine that records, so that the layout is the same on a
 * microcontroller and on Linux.
 */
#ifndef TARE_LAYOUT_H
#define TARE_LAYOUT_H

#include <stdint.h>

#define TARE_FORMAT_VERSION 0u /* draft: readers accept this version only */

/* ------------------------------------------------------------------ the event word
 * [id:12][stamp:20] */

#define TARE_STAMP_BITS 20
#define TARE_STAMP_MASK 0xFFFFFu
#define TARE_ID_COUNT 4096u

#define TARE_RECORD(id, symbol, arguments, version, text, argument1, unit1, argument2, unit2) \
    TARE_ID_##symbol = (id),
enum tare_id {
#include "tare_events.def"
    /* first and last id that events of the program get, by number of argument words */
    TARE_ID_FREE0 = 0x010,
    TARE_ID_LAST0 = 0x7FF,
    TARE_ID_FREE1 = 0x810,
    TARE_ID_LAST1 = 0xBFF,
    TARE_ID_FREE2 = 0xC10,
    TARE_ID_LAST2 = 0xFEF,
    TARE_ID_ANCHOR = 0xFFF
};

#define TARE_RECORD(id, symbol, arguments, version, text, argument1, unit1, argument2, unit2)
#define TARE_CLASS(number, symbol, text) TARE_CLASS_##symbol = (number),
enum tare_class {
#include "tare_events.def"
    TARE_CLASS_COUNT
};

/* Words of a record with this id, its own word included. Not for TARE_ID_ANCHOR. */
#define TARE_RECORD_WORDS(id) ((id) < 0x800u ? 1u : (id) < 0xC00u ? 2u : 3u)

/* ------------------------------------------------------------------ anchor: begins each block */

#define TARE_SYNC 0xFFF7A600u /* the id 0xFFF, 12 bits more and, below the mask, the check byte */
#define TARE_SYNC_MASK 0xFFFFFF00u

enum tare_anchor_word {
    TARE_ANCHOR_SYNC,    /* TARE_SYNC | check */
    TARE_ANCHOR_FORM,    /* [version:4][log2 of block words:4][time, ticks, bits 55 to 32] */
    TARE_ANCHOR_STREAM,  /* [session:16][stream:16] */
    TARE_ANCHOR_LOW,     /* time, ticks, low word */
    TARE_ANCHOR_INDEX,   /* words written to this stream before this anchor, modulo 2^32 */
    TARE_ANCHOR_DROPPED, /* events dropped since the start of the stream, modulo 2^32 */
    TARE_ANCHOR_WORDS
};

/* The check byte: words 1 to 5, folded by exclusive or. */
static inline uint32_t tare_anchor_check(const uint32_t *anchor)
{
    uint32_t fold = anchor[TARE_ANCHOR_FORM] ^ anchor[TARE_ANCHOR_STREAM] ^
                    anchor[TARE_ANCHOR_LOW] ^ anchor[TARE_ANCHOR_INDEX] ^
                    anchor[TARE_ANCHOR_DROPPED];

    fold ^= fold >> 16;
    return (fold ^ (fold >> 8)) & 0xFFu;
}

/* ------------------------------------------------------------------ ring: of a thread or core */

#define TARE_RING_MAGIC 0x52A7E001u
/* Words of room that only the last loss records and the end record may use. */
#define TARE_RESERVE_WORDS 48u

enum tare_ring_state {
    TARE_RING_FREE = 0,    /* may be claimed */
    TARE_RING_CLAIMED = 1, /* being set up; contents not valid yet */
    TARE_RING_ACTIVE = 2,
    TARE_RING_CLOSED = 3 /* its thread has ended; a reader empties it, then frees it */
};

enum tare_ring_kind {
    TARE_RING_EVENTS = 0,
    TARE_RING_DEFINITIONS = 1, /* names; never consumed: a reader keeps its own position */
    TARE_RING_MIXED = 2        /* target: both in one ring */
};

/* A loss that is not in the stream yet. */
struct tare_loss {
    uint32_t count; /* events refused since the last loss record of this class; 0: none */
    uint32_t first_low, first_high; /* time of the first of them, ticks */
    uint32_t last_low, last_high;   /* time of the last of them, ticks */
};

/* 256 bytes. The first 48 are a SEGGER RTT control block with one up channel; on a 32-bit target
 * any RTT reader can drain the ring. Offsets are in bytes and only ever cover finished words; the
 * ring is empty when they are equal, and never quite full. The writer owns all fields but
 * read_offset, state (a reader frees a closed ring) and reader_wants. */
struct tare_ring {
    char id[16];            /* target: "SEGGER RTT"; Linux: "TARE ring"; written last */
    uint32_t up_channels;   /* 1 */
    uint32_t down_channels; /* 0 */
    uint32_t name;          /* target: address of the channel's name */
    uint32_t buffer;        /* target: address of the words; Linux: offset in the region */
    uint32_t bytes; /* size of the buffer: a multiple of the block size, at least two blocks */
    volatile uint32_t write_offset;
    volatile uint32_t read_offset;
    uint32_t flags; /* RTT mode; 0: never block */

    uint32_t magic; /* TARE_RING_MAGIC */
    uint32_t self;  /* target: address of this structure; Linux: offset in the region */
    uint32_t version;
    uint32_t block_words; /* power of two, 64 to 256 */
    uint32_t session;     /* 1 to 65535 */
    uint32_t stream;      /* number of the stream, unique in the session */
    uint32_t kind;        /* enum tare_ring_kind */
    volatile uint32_t state;
    uint32_t process, thread; /* Linux: process and thread id */
    uint32_t lap_index;       /* words written to this stream before offset 0 of the present lap */
    uint32_t dropped;         /* totals since the start of the stream, modulo 2^32 */
    uint32_t suppressed;
    uint32_t names_lost; /* definitions that found no room */
    struct tare_loss pending_dropped;
    struct tare_loss pending_suppressed;
    /* The write offset when the last event was begun, + 1. After a kill that event is torn if the
     * offset has not moved since and `dropped` is still what it was before. */
    uint32_t writing;
    uint32_t dropped_before;
    uint32_t unused[64 - 12 - 16 - 10];
};

/* ------------------------------------------------------------------ region: Linux, shared memory
 */

#define TARE_REGION_MAGIC 0x52A7E002u
#define TARE_REGION_VARIABLE "TARE_REGION" /* environment: path of the region's file */

enum tare_clock_kind {
    TARE_CLOCK_TSC = 1,      /* processor's counter, shifted right by clock_shift */
    TARE_CLOCK_MONOTONIC = 2 /* CLOCK_MONOTONIC nanoseconds, shifted right by clock_shift */
};

/* Of one session. 256 bytes at offset 0 of the file; the ring structures follow from
 * TARE_REGION_RINGS on, the buffers from buffers_offset on, ring_bytes each. Made by the collector;
 * processes that record only add to it. */
struct tare_region {
    char id[16]; /* "TARE region" */
    uint32_t magic;
    uint32_t version;
    uint32_t session; /* 1 to 65535 */
    uint32_t clock_kind;
    uint32_t clock_shift;
    uint32_t ticks_per_second; /* first estimate; the collector's clock snapshots are better */
    uint32_t ring_count;
    uint32_t ring_bytes;
    uint32_t block_words;
    uint32_t buffers_offset;
    volatile uint32_t categories; /* switched on when a process starts */
    volatile uint32_t next_stream;
    volatile uint32_t next_id[3];         /* next free id by number of argument words */
    volatile uint32_t ids_refused;        /* declarations that got no id of their own */
    volatile uint32_t suppressed_no_ring; /* events of threads that found no ring */
    volatile uint32_t rings_refused;
    uint32_t unused[64 - 22];
};

#define TARE_REGION_RINGS 4096u

#endif /* TARE_LAYOUT_H */
