/* What a writer of events and a reader of its memory agree on: the words of the stream and the
 * structures in memory. spec/FORMAT.md is the document; this header is the same in C.
 *
 * All fields are 32-bit words of the machine that records, so that the layout is the same on a
 * microcontroller and on Linux.
 */
#ifndef TARE_LAYOUT_H
#define TARE_LAYOUT_H

#include <stdint.h>

#define TARE_FORMAT_VERSION 1u /* readers accept this version only */

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
#define TARE_CLASS(number, symbol, ids, text) TARE_CLASS_##symbol = (number),
enum tare_class {
#include "tare_events.def"
    TARE_CLASS_COUNT
};

/* What a KERNEL record tells of an object. */
#define TARE_RECORD(id, symbol, arguments, version, text, argument1, unit1, argument2, unit2)
#define TARE_KERNEL(number, symbol, text, value, unit) TARE_KERNEL_##symbol = (number),
enum tare_kernel {
#include "tare_events.def"
    TARE_KERNEL_COUNT
};

/* Offset of a kernel object's event from the object's id, by class. */
enum tare_operation {
    TARE_TASK_RUNS = 0,     /* TASK: was switched in */
    TARE_TASK_READY = 1,    /* TASK: may run */
    TARE_SEND = 0,          /* all others of four: sent, given, set */
    TARE_RECEIVE = 1,       /* received, taken, bits seen */
    TARE_SEND_BLOCK = 2,    /* the running task waits: for room */
    TARE_RECEIVE_BLOCK = 3, /* for something to receive */
    TARE_ENTER = 0,         /* INTERRUPT, TIMER: its code begins */
    TARE_EXIT = 1           /* ends */
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
/* Linux: words of room that only the last loss records and the end record may use. */
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

/* One direction of SEGGER's RTT. Offsets are in bytes; equal offsets mean empty, and the buffer is
 * never quite full. */
struct tare_channel {
    uint32_t name;   /* target: address of the channel's name */
    uint32_t buffer; /* target: address of the words; Linux: offset in the region */
    uint32_t bytes;  /* size of the buffer: a multiple of the block size, at least two blocks */
    volatile uint32_t write_offset;
    volatile uint32_t read_offset;
    uint32_t flags; /* RTT mode; 0: never block */
};

enum tare_full_policy {
    TARE_FULL_DROP = 0,     /* refuse new events until the reader makes room */
    TARE_FULL_OVERWRITE = 1 /* the newest events replace the oldest; read_offset has no meaning */
};

/* 240 bytes. The first 72 are a SEGGER RTT control block with one up and one down channel; on a
 * 32-bit target any RTT reader can drain the ring. Offsets only ever cover finished words. The
 * writer owns all fields but up.read_offset, down.write_offset and, on Linux, state (a reader frees
 * a closed ring). */
struct tare_ring {
    char id[16]; /* target: "SEGGER RTT"; elsewhere "TARE ring", also of a target's ring that is
                    overwritten or has its channel in another control block; written last */
    uint32_t up_channels;     /* 1 */
    uint32_t down_channels;   /* target: 1; Linux: 0 */
    struct tare_channel up;   /* events to the reader */
    struct tare_channel down; /* commands to the target: struct tare_command */

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
    uint32_t names_lost; /* definitions and kernel objects that found no room */
    struct tare_loss pending_dropped;
    struct tare_loss pending_suppressed;
    /* Linux: the write offset when the last event was begun, + 1. After a kill that event is torn
     * if the offset has not moved since and `dropped` is still what it was before. */
    uint32_t writing;
    uint32_t dropped_before;
    uint32_t channel; /* target: address of the up channel that is used instead of `up`, which lies
                         in another RTT control block; 0: `up` */
    uint32_t names;   /* target: address of the names table; 0: none */
    uint32_t name_count; /* entries in it */
    uint32_t name_bytes; /* bytes of an entry: a multiple of 4, at least 8 */
    uint32_t policy;     /* enum tare_full_policy */

    /* Target: the writer's own. Readers pass over them. */
    uint32_t high_here; /* of the time that a reader knows, the bits that the clock shows */
    uint32_t limit;     /* bytes: the fast path may write up to here; below 4: see
                           tare_slow_target.inl */
    uint32_t block_end; /* bytes: end of the present block; 0: the next record opens the first */
    uint32_t high[2];   /* bits 20 and up of the time, low word first */
    uint32_t known;     /* the low word of it that a reader of the ring knows */
    uint32_t steps;     /* changes that were not made by the fast path */
    uint16_t next_definition; /* its number; names of kernel objects follow the declarations */
    uint16_t service_calls;   /* until they are written again */
    uint32_t commands[3];     /* buffer of the down channel */
};

/* What is known of one object of the kernel, readable at any time. An entry is in use when `what`
 * is not 0; the writer clears it first and writes it last. `what` has the form of a DEFINE record's
 * first argument: [class:8][generation:8][id:16]. */
struct tare_name {
    volatile uint32_t what;
    char text[4]; /* name_bytes - 4 of them, ended by a zero if shorter */
};

/* What a reader may write into the down channel: 8 bytes, little-endian, all or nothing. */
struct tare_command {
    uint8_t mark; /* TARE_COMMAND_MARK */
    uint8_t code; /* enum tare_command_code */
    uint8_t zero;
    uint8_t check;     /* exclusive or of the seven other bytes */
    uint32_t argument; /* by code */
};
#define TARE_COMMAND_MARK 0xC5u

enum tare_command_code {
    TARE_COMMAND_START = 1,  /* switches the categories on that were on before STOP */
    TARE_COMMAND_STOP = 2,   /* switches all categories off */
    TARE_COMMAND_FILTER = 3, /* argument: the categories that shall be on, bit n for category n */
    TARE_COMMAND_NAMES = 4   /* writes all definitions again, one at each call of tare_service */
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
 * TARE_REGION_RINGS on, TARE_RING_SLOT apart, the buffers from buffers_offset on, ring_bytes each.
 * Made by the collector; processes that record only add to it. */
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
#define TARE_RING_SLOT 256u /* distance of the ring structures: no two share a cache line */

#endif /* TARE_LAYOUT_H */
