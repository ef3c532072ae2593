/* The decoder of a recording: a cursor for each stream, merged by time. Inside of dec_input.h. */
#ifndef DEC_MERGE_H
#define DEC_MERGE_H

#include "dec_cursor.h"
#include "dec_input.h"

struct decoder {
    struct decode_options options;
    enum input_kind kind;
    struct source *source;
    const struct segment_list *list;
    struct decode_directory directory;
    struct container_facts facts;
    struct reader reader;
    struct cursor *cursors;
    uint32_t cursor_count, cursor_capacity;
    struct cursor **heap; /* those that are not at their end, the earliest first */
    uint32_t heap_count;
    bool closing; /* the last batch: streams that belong to no cursor */
    struct record_batch last;
    uint32_t last_note;

    /* What `source` and `list` point at, unless another decoder has it. */
    struct source own_source;
    struct segment_list own_list;
};

/* One cursor for all segments, in order of the file; without those of rings that hold events only
 * when just definitions are wanted. Rings are known from `rings`. */
void merge_in_file_order(struct decoder *decoder, const struct decode_directory *rings,
                         bool definitions_only);
/* A cursor for each stream. */
void merge_by_time(struct decoder *decoder);
/* When all cursors are made. */
void merge_begin(struct decoder *decoder);
void merge_free(struct decoder *decoder);

#endif
