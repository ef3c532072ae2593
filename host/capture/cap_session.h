/* A recording session on this machine: the shared memory that the recorded processes write into. */
#ifndef CAP_SESSION_H
#define CAP_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_error.h"
#include "cap_clock.h"
#include "tare_layout.h"

struct session_options {
    uint32_t rings;       /* threads that can record at the same time, and one more a process */
    uint32_t ring_bytes;  /* a multiple of 4 * block_words, at least two blocks */
    uint32_t block_words; /* 64, 128 or 256 */
    uint32_t categories;  /* on at start, bit n for category n */
    bool want_monotonic;  /* do not use the processor's counter */
};

#define SESSION_RINGS_DEFAULT 64u
#define SESSION_RING_BYTES_DEFAULT (256u << 10)

struct session {
    char path[64]; /* of the region's file in /dev/shm */
    struct tare_region *region;
    size_t size;
    uint32_t rings, ring_bytes, block_words,
        buffers_offset; /* a copy that no process can overwrite */
    struct session_clock clock;
};

/* Makes and fills the region. Its memory is taken at once: a recorded program must never fail
 * because memory ran out later. On failure EXIT_RECORD_FAULT with what to do. */
bool session_create(struct session *session, const struct session_options *options,
                    struct error *error);

/* Unmaps and removes the region. Processes that still record keep their mapping. */
void session_destroy(struct session *session);

/* Ring `number` and its words. */
struct tare_ring *session_ring(const struct session *session, uint32_t number);
const unsigned char *session_words(const struct session *session, uint32_t number);

#endif
