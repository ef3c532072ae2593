/* The sessions and streams of a recording, and what is known and counted about each. */
#ifndef DEC_DIRECTORY_H
#define DEC_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cap_clock.h"
#include "dec_definition.h"
#include "dec_error.h"
#include "dec_table.h"

#include "tare_layout.h"

struct decode_session {
    uint32_t number;
    uint32_t ordinal; /* sessions in order of appearance */
    struct definitions definitions;
    uint64_t clock_rate;              /* CLOCK record, ticks a second; 0: none */
    struct clock_snapshot *snapshots; /* in order of the file */
    size_t snapshot_count;
    struct tare_region *first_region, *last_region; /* in this machine's byte order; NULL: none */
    uint8_t *roles; /* of the ids, enum id_role; NULL: all are those of plain_roles */
};

/* What a record with an id is to the decoder: the words of an event that needs no more than to be
 * handed on, else 0, and what it says about the context of texts (FORMAT.md, 3.5). */
enum id_role {
    ROLE_WORDS = 3,
    ROLE_TASK = 4,   /* a task is switched in */
    ROLE_ENTER = 8,  /* an interrupt is entered */
    ROLE_LEAVE = 16, /* and left */
    ROLE_STRING = 32 /* it opens a text */
};
extern const uint8_t plain_roles[TARE_ID_COUNT];

/* The class of an id, by a definition or the creation of its object: it holds for the whole
 * session. True when that was not known before. */
bool session_add_class(struct decode_session *session, uint32_t class, uint32_t id);
/* Room for what is told of single ids. */
void session_keep_roles(struct decode_session *session);

/* Counts that the decoder keeps of a stream. They run ahead of what decoder_next() has delivered
 * and are complete when it has returned false. attempted = stored + dropped + suppressed + torn,
 * and stored = events + texts. */
struct stream_counts {
    uint64_t events;  /* records of events, UNNAMED included, TEXT records not */
    uint64_t unnamed; /* of these: UNNAMED */
    uint64_t texts;   /* TEXT records that are stored events: all but those of definitions */
    uint64_t dropped; /* by the loss records and all totals; what is pending at the end included */
    uint64_t suppressed;
    uint64_t dropped_records, suppressed_records; /* what the loss records alone say */
    uint64_t dropped_pending, suppressed_pending; /* refused last: no record in the stream yet */
    uint32_t torn;                                /* 1: the recorder was killed within a record */
    uint64_t gaps, gap_words; /* words not read: lost on the path, or skipped as damaged */
    uint64_t gap_before;      /* of these: before the first block that was read (late attach) */
    uint64_t blocks, unverified_blocks;
    uint64_t skipped_bytes; /* passed over while unsynchronised, behind the first anchor */
    uint64_t reread_bytes;  /* decoded wrongly, as an anchor found among them showed; read again */
    uint64_t cut_bytes;     /* of records that were cut by the end or by a damaged piece */
    uint64_t words;         /* decoded: anchors and records */
    uint64_t words_anchors, words_epochs, words_events; /* of these */
    uint64_t reserved; /* records of built-in ids that this version does not know */
    uint64_t faults[STREAM_FAULT_COUNT];
    uint64_t first_ticks, last_ticks; /* of anchors and records; only valid with blocks > 0 */
    bool ended;                       /* END record seen */
};

struct decode_stream {
    uint32_t ordinal; /* in order of appearance; `stream` of events and notes */
    uint32_t number;  /* in the format */
    struct decode_session *session;
    uint32_t block_words; /* 0: neither a block nor a RING chunk was read */
    bool big_endian;
    bool mixed; /* blocks stood under the name of another stream: merged by time, their order among
                   those under its own name is not certain */
    struct tare_ring *first_ring, *last_ring; /* this machine's byte order; NULL: never seen */
    bool ring_is_last; /* no STREAM chunk stands behind last_ring: it is the end of the stream */
    struct stream_counts counts;
    /* SELF_COST records: thousandths of a tick for an event with 0, 1, 2 arguments; 0: none. */
    uint32_t cost_milliticks[3];
    struct stream_state *state; /* private to dec_record.c */
};

struct decode_directory {
    struct decode_session **sessions;
    size_t session_count, session_capacity;
    struct decode_stream **streams;
    size_t stream_count, stream_capacity;
    struct key_table table; /* of both */
};

/* Both find or add. Pointers stay valid until directory_free(). */
struct decode_session *directory_session(struct decode_directory *directory, uint32_t number);
struct decode_stream *directory_stream(struct decode_directory *directory, uint32_t session,
                                       uint32_t number);
/* NULL when there is none. */
struct decode_stream *directory_find_stream(const struct decode_directory *directory,
                                            uint32_t session, uint32_t number);
void directory_free(struct decode_directory *directory);

/* Whether new words replace the oldest in the ring of the stream: what stood before its first block
 * is no loss on the way. */
static inline bool stream_is_overwritten(const struct decode_stream *stream)
{
    return stream->last_ring != NULL && stream->last_ring->policy == TARE_FULL_OVERWRITE;
}

/* Name of a stream for people: its definition's, else "thread 1234" from the ring, else "stream 3".
 */
void stream_append_name(struct buffer *out, const struct decode_stream *stream);

#endif
