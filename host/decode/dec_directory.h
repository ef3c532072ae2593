/* The sessions and streams of a recording, and what is known and counted about each. */
#ifndef DEC_DIRECTORY_H
#define DEC_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dec_definition.h"
#include "dec_error.h"

#include "tare_layout.h"

/* One moment on three clocks (CLOCK chunk). */
struct clock_snapshot {
    uint64_t ticks;
    uint64_t monotonic_ns;
    uint64_t realtime_ns; /* since 1970 */
    uint64_t uncertainty_ns;
};

struct decode_session {
    uint32_t number;
    uint32_t ordinal; /* sessions in order of appearance */
    struct definitions definitions;
    uint64_t clock_rate;              /* CLOCK record, ticks a second; 0: none */
    struct clock_snapshot *snapshots; /* in order of the file */
    size_t snapshot_count;
    struct tare_region *first_region, *last_region; /* in this machine's byte order; NULL: none */
    uint32_t *string_ids; /* ids of class STRING that hold in every stream of the session */
    size_t string_id_count;
};

/* Counts that the decoder keeps of a stream. They run ahead of what decoder_next() has delivered
 * and are complete when it has returned false. */
struct stream_counts {
    uint64_t events;              /* records of events, UNNAMED included, TEXT records not */
    uint64_t unnamed;             /* of these: UNNAMED */
    uint64_t texts;               /* TEXT records of STRING events: stored records as well */
    uint64_t dropped, suppressed; /* sums over the loss records */
    uint64_t
        dropped_in_gaps; /* known from the totals in the anchors, without a record that was read */
    uint64_t dropped_before;  /* total in the first anchor that was read */
    uint64_t dropped_total;   /* latest total known from anchors and loss records, mod 2^32 */
    uint64_t total_mismatch;  /* anchors whose total contradicts the records without any gap */
    uint64_t gaps, gap_words; /* lost on the path; a gap backwards counts 0 words */
    uint64_t blocks, unverified_blocks;
    uint64_t bytes;         /* decoded: anchors and records */
    uint64_t skipped_bytes; /* passed over inside the stream: damage, or while unsynchronised */
    uint64_t words_anchors, words_epochs, words_events; /* where the bytes went */
    uint64_t unknown_records; /* built-in ids of a later version, stepped over */
    uint64_t faults[STREAM_FAULT_COUNT];
    uint64_t first_ticks, last_ticks;     /* of anchors and records; only valid with blocks > 0 */
    bool ended;                           /* END record seen */
    uint32_t end_dropped, end_suppressed; /* its totals */
};

struct decode_stream {
    uint32_t ordinal; /* in order of appearance; `stream` of events and notes */
    uint32_t number;  /* in the format */
    struct decode_session *session;
    uint32_t block_words; /* 0: no block was read */
    bool big_endian;
    struct tare_ring *first_ring, *last_ring; /* this machine's byte order; NULL: never seen */
    struct stream_counts counts;
    /* SELF_COST records: thousandths of a tick for an event with 0, 1, 2 arguments; 0: none. */
    uint32_t cost_milliticks[3];
};

struct decode_directory {
    struct decode_session **sessions;
    size_t session_count, session_capacity;
    struct decode_stream **streams;
    size_t stream_count, stream_capacity;
};

/* Finds or adds. */
struct decode_session *directory_session(struct decode_directory *directory, uint32_t number);
/* Adds a stream even when there is one of this number: the caller knows whether it goes on. */
struct decode_stream *directory_add_stream(struct decode_directory *directory,
                                           struct decode_session *session, uint32_t number);
/* The latest stream of this session and number, or NULL. */
struct decode_stream *directory_find_stream(const struct decode_directory *directory,
                                            uint32_t session, uint32_t number);
void directory_free(struct decode_directory *directory);

/* Name of a stream for people: its definition's, else "thread 1234" from the ring, else "stream 3".
 */
void stream_append_name(struct buffer *out, const struct decode_stream *stream);

#endif
