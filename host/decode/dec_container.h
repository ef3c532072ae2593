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
#include "dec_source.h"

/* Damage in the file, and bytes that belong to no stream. */
struct file_finding {
    enum {
        FINDING_FAULT,
        FINDING_SKIPPED, /* an input passed over `bytes` bytes before it found an anchor, or the end
                          */
        FINDING_NAME     /* file_order alone: entry of a names table of a stream that has not
                            appeared yet */
    } kind;
    enum file_fault fault;
    uint64_t offset;                     /* in the file */
    uint64_t place, order;               /* to sort by: private */
    uint64_t bytes;                      /* damaged or passed over; 0: unknown */
    bool has_stream;                     /* BAD_PIECE: */
    uint32_t stream;                     /* as its chunk says; of a name as well */
    uint64_t index;                      /* words of the stream before the piece */
    const struct definition *definition; /* of a name */
};

struct container_facts {
    uint64_t
        chunks[CHUNK_NAMES + 1]; /* intact ones by type; [0]: of types that are not known here */
    uint64_t faults[FILE_FAULT_COUNT];
    uint64_t names_tables;         /* that were read: NAMES chunks, or tables in an image */
    uint64_t misfits;              /* REGION and CLOCK chunks whose content cannot be; ignored */
    uint64_t skipped_before;       /* bytes that inputs passed over before their first anchor */
    uint64_t damaged_bytes;        /* in damaged pieces and chunks, before any salvage */
    struct file_finding *findings; /* the first CONTAINER_FINDINGS of them, in order of the file */
    size_t finding_count, finding_capacity;
    struct buffer info, end; /* JSON text of the last INFO and END; empty: none */
    bool bad_signature;      /* of a file that is one by its first chunk */
    bool finished;           /* the END chunk is there: the reader finished in order */
    uint64_t first_arrival_ns, last_arrival_ns; /* of intact chunks, since 1970; 0: none */
};
#define CONTAINER_FINDINGS 100000u

/* Findings that are faults or skipped bytes. */
uint64_t facts_faults(const struct container_facts *facts);
void facts_add(struct container_facts *facts, const struct file_finding *finding);
/* `bytes`, maybe 0, were passed over up to `end` before any anchor; `place` 0: sorted by that. */
void facts_skipped(struct container_facts *facts, uint64_t end, uint64_t bytes, uint64_t place);
/* Puts the findings into the order of the file. */
void facts_sort(struct container_facts *facts);
void facts_free(struct container_facts *facts);

/* ------------------------------------------------------------------ where the streams' bytes lie
 */

enum segment_kind {
    SEGMENT_RAW,     /* no hash exists */
    SEGMENT_STREAM,  /* of a STREAM chunk: pieces with a hash each */
    SEGMENT_SALVAGE, /* of a damaged chunk: an input of its own, unverified */
    SEGMENT_RING,    /* the ring of a stream: 240 bytes */
    SEGMENT_NAMES    /* entries of a names table */
};

struct segment {
    enum segment_kind kind;
    uint32_t input;           /* number of the input that the bytes belong to */
    uint32_t session, stream; /* STREAM, RING, NAMES: as the chunk says */
    uint32_t piece;           /* STREAM: bytes of a whole piece; NAMES: of an entry */
    bool swap;                /* NAMES: words are not in this machine's byte order */
    uint64_t offset, bytes;   /* in the file */
    uint64_t table;           /* STREAM: offset of the first hash */
    uint64_t position;        /* STREAM: words of the stream before it */
    uint64_t place;           /* image: to sort findings by; else 0: they are where the bytes are */
};

/* In order of the file. */
struct segment_list {
    struct segment *segment;
    uint32_t count, capacity;
    uint32_t input_count;
    struct key_table inputs; /* session and stream of STREAM chunks to 1 + number of the input */
};

void segment_add(struct segment_list *list, const struct segment *segment);
/* The input of a session and stream, new when it has none. */
uint32_t segment_input(struct segment_list *list, uint32_t session, uint32_t stream);
void segment_list_free(struct segment_list *list);

/* Whether the entries of a names table may have this size in bytes. */
bool names_size_right(uint32_t bytes);

/* Whether the source is a `.tare` file: its signature, or a right chunk header where the first one
 * stands. */
bool container_recognise(struct source *source);
/* Whether there is a right chunk header anywhere. */
bool container_has_chunk(struct source *source);

/* Lists the segments of a `.tare` file; sessions, regions, rings and clock snapshots go into the
 * directory. False for another version: EXIT_DAMAGED. */
bool container_index(struct source *source, struct segment_list *list,
                     struct decode_directory *directory, struct container_facts *facts,
                     struct error *error);

/* The 240 bytes of a ring in this machine's byte order; false when they are no ring of this
 * version: *version is then the version of what is a ring otherwise, else 0. */
bool ring_read(const void *bytes, struct tare_ring *ring, bool *big_endian, uint32_t *version);
/* Keeps it as first and latest ring of its stream. */
void ring_keep(struct decode_stream *stream, const struct tare_ring *ring);
/* The same for a region. */
bool region_read(const void *bytes, struct tare_region *region, uint32_t *version);
void region_keep(struct decode_session *session, const struct tare_region *region);

#endif
