/* Reader of the `.tare` file: finds the chunks, verifies them, and lists for every stream where its
 * bytes lie. Damage costs what it touches: behind a damaged chunk the next one is found by its
 * magic, and blocks between are salvaged as "unverified". */
#ifndef DEC_CONTAINER_H
#define DEC_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_buffer.h"
#include "base_error.h"
#include "cap_container.h"
#include "dec_directory.h"
#include "dec_error.h"

/* Damage in the file, and bytes that belong to no stream. */
struct file_finding {
    enum {
        FINDING_FAULT,
        FINDING_SKIPPED /* an input passed over `bytes` bytes before it found an anchor, or the end
                         */
    } kind;
    enum file_fault fault;
    uint64_t offset; /* in the file */
    uint64_t bytes;  /* damaged or passed over; 0: unknown */
    bool has_stream; /* BAD_PIECE: */
    uint32_t stream; /* as its chunk says */
    uint64_t index;  /* words of the stream before the piece */
};

struct container_facts {
    uint64_t chunks[CHUNK_END + 1]; /* intact ones by type; [0]: of types that are not known here */
    uint64_t faults[FILE_FAULT_COUNT];
    uint64_t skipped_before;       /* bytes that inputs passed over before their first anchor */
    uint64_t damaged_bytes;        /* in damaged pieces and chunks, before any salvage */
    struct file_finding *findings; /* the first CONTAINER_FINDINGS of them, in order of the file */
    size_t finding_count, finding_capacity;
    struct buffer info, end; /* JSON text of the last INFO and END; empty: none */
    bool finished;           /* the END chunk is there: the reader finished in order */
    uint64_t first_arrival_ns, last_arrival_ns; /* of intact chunks, since 1970; 0: none */
};
#define CONTAINER_FINDINGS 100000u

#endif
