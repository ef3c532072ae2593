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

/* One finding of damage in the file. */
struct file_finding {
    enum file_fault fault;
    uint64_t offset, bytes; /* in the file */
};

struct container_facts {
    uint64_t chunks[CHUNK_END +
                    1]; /* intact ones by type; [0]: of types that this version does not know */
    uint64_t faults[FILE_FAULT_COUNT];
    uint64_t damaged_bytes;        /* passed over in the file */
    struct file_finding *findings; /* the first CONTAINER_FINDINGS of them */
    size_t finding_count;
    struct buffer info, end; /* JSON text of the last INFO and END; empty: none */
    bool finished;           /* the END chunk is there: the reader finished in order */
    uint64_t first_arrival_ns, last_arrival_ns; /* of intact chunks, since 1970; 0: none */
};
#define CONTAINER_FINDINGS 1000u

#endif
