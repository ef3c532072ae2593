/* Everything that a reader finds wrong, as two lists. The names of the stream's faults are those of
 * spec/FORMAT.md, section 8; those of the file appear in `tare check --json`. */
#ifndef DEC_ERROR_H
#define DEC_ERROR_H

/* STREAM_FAULT(symbol, name, what a person reads) */
#define STREAM_FAULT_LIST(STREAM_FAULT) \
    STREAM_FAULT(BAD_PAD, "bad-pad", "filler that is not filler") \
    STREAM_FAULT(CROSSING, "crossing", "record that would cross the end of its block") \
    STREAM_FAULT(BAD_ANCHOR, "bad-anchor", "no valid anchor where one must stand") \
    STREAM_FAULT(BAD_EPOCH, "bad-epoch", "epoch record that does not fit the time before it") \
    STREAM_FAULT(CLOCK_BACKWARDS, "clock-backwards", "time goes backwards") \
    STREAM_FAULT(ORPHAN_TEXT, "orphan-text", "piece of a text whose beginning is missing") \
    STREAM_FAULT(CUT_TEXT, "cut-text", "text whose end is missing") \
    STREAM_FAULT(TRUNCATED, "truncated", "the data end within a record")

/* FILE_FAULT(symbol, name, what a person reads) */
#define FILE_FAULT_LIST(FILE_FAULT) \
    FILE_FAULT(CHUNK_DAMAGED, "chunk-damaged", "chunk with a damaged header or content") \
    FILE_FAULT(PIECE_DAMAGED, "piece-damaged", "block whose content was altered") \
    FILE_FAULT(CHUNK_MISFIT, "chunk-misfit", "chunk whose content does not fit its header") \
    FILE_FAULT(CHUNK_ORDER, "chunk-order", "chunk out of order or stored twice") \
    FILE_FAULT(FILE_CUT, "file-cut", "the file ends within a chunk") \
    FILE_FAULT(READ_FAILED, "read-failed", "part of the file that could not be read")

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
