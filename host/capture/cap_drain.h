/* Moves what recorded processes have written from a session's rings into a `.tare` file. */
#ifndef CAP_DRAIN_H
#define CAP_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base_buffer.h"
#include "cap_container.h"
#include "cap_session.h"

/* Bytes are kept in memory per ring until a chunk is worth its header. */
#define DRAIN_CHUNK_BYTES (64u << 10)
#define DRAIN_CHUNK_NS 100000000u /* but no longer than this */

struct drain_ring {
    bool seen;            /* its RING chunk has been written */
    bool broken;          /* its header makes no sense any more; left alone */
    uint32_t stream;      /* as in its header when it was first seen */
    uint32_t read_offset; /* this reader's own; the shared one can be overwritten */
    uint64_t position;    /* words of the stream in chunks that were written */
    uint64_t waiting_since_ns;
    struct buffer waiting; /* bytes that are read but not yet in a chunk */
    uint32_t highest_fill; /* bytes, the most that was found unread */
};

struct drain {
    struct session *session;
    struct container *container;
    struct drain_ring *rings; /* session->rings of them */
    uint64_t words;           /* read in all */
    uint64_t dropped;         /* by writers, of the streams that are done with */
    uint32_t streams;         /* seen in all */
    uint32_t highest_fill;    /* bytes, of all rings */
};

/* Writes the region into the container, which a reader needs for the length of a tick. */
void drain_begin(struct drain *drain, struct session *session, struct container *container);

/* Reads what is there now from every ring; `now_ns` is monotonic_ns(). Rings whose thread has ended
 * are emptied, noted and freed. Costs one look at each ring's state and a copy of the new words. */
void drain_once(struct drain *drain, uint64_t now_ns);

/* Reads the rest, writes the last state of every ring and the region's totals, frees the memory. */
void drain_end(struct drain *drain);

#endif
