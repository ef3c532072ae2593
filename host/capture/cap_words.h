/* Raw words of targets as an RTT server gives them (bytes without frames, from anywhere in a stream
 * on) to the STREAM chunks of a `.tare` file.
 *
 * Anchors tell which stream, block and word the bytes belong to; no valid record holds the bytes of
 * one. What stands behind an anchor goes into the file as it came. Left out, and counted, is what
 * comes before the first anchor, and what is stale: after a reset of the target a reader over a
 * probe may give old bytes once more, whose
 * blocks are of a session that is over or lie behind what came before.
 */
#ifndef CAP_WORDS_H
#define CAP_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_buffer.h"
#include "cap_container.h"
#include "tare_layout.h"

#define WORDS_CHUNK_BYTES (64u << 10) /* words are kept until a chunk is worth its header ... */
#define WORDS_CHUNK_NS 100000000u     /* ... but no longer than this */
#define WORDS_STREAMS 256u            /* a connection that names more is no target's */

struct words_stream {
    uint32_t session, stream, block_words;
    uint32_t anchor_index; /* of the last anchor */
    uint64_t next;         /* words of the stream before what comes next, as far as it was given */
    uint64_t position;     /* words of the stream before the block */
    struct buffer block;   /* the present block, from its anchor on */
    size_t given;          /* bytes of it that are in `waiting` already */
    uint64_t block_since_ns; /* when its first byte came that is not */
    struct buffer waiting;   /* not in a chunk yet */
    uint64_t waiting_position, waiting_since_ns;
    bool late;  /* its first word was not there to be read any more */
    bool over;  /* a later session of the same stream has begun */
    bool ended; /* its END record has come */
};

/* One connection. All zero but the container is a good beginning. */
struct words_input {
    struct container *container;
    bool order_known, big_endian;
    struct words_stream **streams;
    uint32_t stream_count;
    struct words_stream *now; /* the block that bytes belong to; NULL: none */
    bool stale;               /* ... because it is one that is over */
    struct buffer pending;    /* bytes that may be the beginning of an anchor */

    uint64_t bytes;         /* received */
    uint64_t words;         /* that went into the file */
    uint64_t skipped_bytes; /* belonged to no block */
    uint64_t stale_bytes;
    uint64_t gap_words; /* missing between blocks that came */
    uint32_t restarts;  /* sessions that followed another one of the same stream */
};

void words_begin(struct words_input *input, struct container *container);

/* Bytes as they come; `now_ns` is monotonic_ns(). */
void words_take(struct words_input *input, const void *bytes, size_t size, uint64_t now_ns);

/* Writes what has waited long enough; call it at least every 100 ms. */
void words_flush(struct words_input *input, uint64_t now_ns);

/* The connection was lost: what comes next begins anywhere. */
void words_cut(struct words_input *input);

/* Whether the target has ended all streams that came, in order. */
bool words_ended(const struct words_input *input);

/* Writes the rest and frees the memory; the counts stay. */
void words_end(struct words_input *input);

/* How many bytes of a block, from its anchor on, are records that can follow each other: all the
 * whole ones up to the first that cannot. `cut`: what comes next does not continue them. A last
 * record that ends with a zero is then left out, for a reset may have cleared the ring in the
 * middle of it while it was read; so it is in front of cleared words. *ended: an END record is
 * among them. `size` is at most that of the block. */
size_t words_sound(const unsigned char *block, size_t size, uint32_t block_words, bool big_endian,
                   bool cut, bool *ended);

#endif
