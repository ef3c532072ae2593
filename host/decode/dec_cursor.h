/* Reads a list of segments and decodes them into one batch after the other. For dec_input.c alone.
 */
#ifndef DEC_CURSOR_H
#define DEC_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "dec_container.h"
#include "dec_record.h"

struct input {
    struct record_decoder *decoder; /* NULL: not begun, or finished */
    uint64_t next_position;         /* of the STREAM chunk that must follow */
    bool begun, finished;
    bool skipped_reported;
};

/* What all cursors of a recording share. */
struct reader {
    struct source *source;
    const struct segment_list *list;
    struct decode_directory *directory;
    struct container_facts *facts;
    struct input *inputs; /* list->input_count of them */
    uint64_t done;        /* bytes read */
    bool names_listed;    /* names of streams that have not appeared become findings */
};

struct cursor {
    struct reader *reader;
    uint32_t *segments; /* numbers in the reader's list */
    uint32_t count, capacity;
    uint32_t session; /* ordinal: sessions come one after the other */
    uint32_t order;
    bool one_stream; /* its segments say that they belong to one stream */
    uint64_t words;  /* at most: of all segments */

    bool open; /* the following is allocated */
    bool ended;
    uint32_t at;                   /* segments that were opened */
    const struct segment *segment; /* open; NULL: none */
    uint64_t loaded;               /* bytes of it that were put into the window */
    bool hole;                     /* bytes are missing before those in the window */
    uint32_t finishing;            /* segments whose inputs were finished */
    uint32_t closing;              /* the same for streams */
    unsigned char *window;
    uint32_t *hashes; /* of the pieces in the window */
    size_t window_bytes;
    size_t next, good, end; /* in the window: bytes not taken yet, up to `good` verified */
    uint32_t piece;         /* pieces of the window that were verified */
    struct record_batch batch;

    /* For the merge: how far the batch was handed on. */
    uint32_t event_at, note_at;
    uint64_t ticks; /* of what comes next */
};

void cursor_add(struct cursor *cursor, uint32_t segment);

/* Fills the batch anew. False: there is nothing more, and all memory is given back. */
bool cursor_fill(struct cursor *cursor);

void cursor_free(struct cursor *cursor);

/* Whether the hash of the first piece of a STREAM segment is that of these bytes. */
bool segment_piece_right(struct source *source, const struct segment *segment, const void *piece);

#endif
