/* Everything that a reader finds wrong, as two lists. The names are those of spec/FORMAT.md,
 * section 8. */
#ifndef DEC_ERROR_H
#define DEC_ERROR_H

/* STREAM_FAULT(symbol, name, what a person reads) */
#define STREAM_FAULT_LIST(STREAM_FAULT) \
    STREAM_FAULT(BAD_PAD, "bad-pad", "filler that is not filler") \
    STREAM_FAULT(CROSSING, "crossing", "record that would cross the end of its block") \
    STREAM_FAULT(BAD_ANCHOR, "bad-anchor", "no valid anchor where one must stand") \
    STREAM_FAULT(BAD_EPOCH, "bad-epoch", "epoch record that does not fit the time before it") \
    STREAM_FAULT(CLOCK_BACKWARDS, "clock-backwards", "time goes backwards") \
    STREAM_FAULT(INDEX_BACKWARDS, "index-backwards", "block repeated or out of order") \
    STREAM_FAULT(ORPHAN_TEXT, "orphan-text", "piece of a text whose beginning is missing") \
    STREAM_FAULT(CUT_TEXT, "cut-text", "text whose end is missing") \
    STREAM_FAULT(BAD_TOTAL, "bad-total", "count of lost events that contradicts the records") \
    STREAM_FAULT(TRUNCATED, "truncated", "the data end within a record")

/* FILE_FAULT(symbol, name, what a person reads) */
#define FILE_FAULT_LIST(FILE_FAULT) \
    FILE_FAULT(BAD_PIECE, "bad-piece", "block whose content was altered") \
    FILE_FAULT(BAD_CHUNK, "bad-chunk", "chunk whose header or content is damaged") \
    FILE_FAULT(TRUNCATED, "truncated", "the file ends within a chunk") \
    FILE_FAULT(BAD_NAMES, "bad-names", "names of kernel objects that are not in the image") \
    FILE_FAULT(UNREADABLE, "unreadable", "part of the file that could not be read")

#define STREAM_FAULT(symbol, name, text) STREAM_FAULT_##symbol,
enum stream_fault {
    STREAM_FAULT_LIST(STREAM_FAULT) STREAM_FAULT_COUNT
};
#undef STREAM_FAULT

#define FILE_FAULT(symbol, name, text) FILE_FAULT_##symbol,
enum file_fault {
    FILE_FAULT_LIST(FILE_FAULT) FILE_FAULT_COUNT
};
#undef FILE_FAULT

const char *stream_fault_name(enum stream_fault fault);
const char *stream_fault_text(enum stream_fault fault);
const char *file_fault_name(enum file_fault fault);
const char *file_fault_text(enum file_fault fault);

#endif
