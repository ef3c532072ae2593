/* What the decoder remembers of a stream between records: texts that are open, losses, totals, and
 * the notes that follow from them. For dec_record.c alone. */
#ifndef DEC_STREAM_H
#define DEC_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "dec_record.h"

#define OPEN_TEXT_LIMIT 8u /* of one context */
#define CONTEXT_LIMIT 64u  /* with open texts */
#define TEXT_BYTES_LIMIT 1023u

/* Who opened a text: FORMAT.md, 3.5. */
struct text_key {
    uint32_t task;  /* switched in last; 0: none */
    uint32_t depth; /* interrupts that are entered; where there are any, the task does not matter */
};

/* A text whose TEXT records have not all come yet. */
struct open_text {
    struct buffer bytes;
    struct text_key key;
    uint32_t length;
    uint64_t index; /* of the record that opened it */
    uint64_t ticks;
    bool is_define;  /* else of an event */
    uint32_t define; /* argument of the DEFINE record */
    uint32_t event_id;
    uint32_t event; /* its number in the batch, as long as that is not cleared: */
    const struct record_batch *batch;
    uint32_t serial;
};

struct stream_state {
    uint64_t next;      /* index of the first word that was not read */
    uint64_t last_time; /* of the last record or anchor */
    uint64_t loss_time; /* LOSS_TIME that waits for its loss record */
    bool loss_time_set;
    bool begun;     /* a block was read */
    bool clean;     /* read from index 0 without gap, damage or index-backwards */
    bool total_bad; /* bad-total was reported */
    bool announced; /* NOTE_STREAM was given */
    bool closed;
    bool pending_told;
    uint32_t total;             /* dropped, of the last anchor */
    uint32_t (*ring_totals)[2]; /* dropped and suppressed of each ring that was seen, in turn */
    uint32_t ring_count, ring_capacity;
    struct text_key context;
    struct open_text *open; /* in the order in which they were opened */
    uint32_t open_count, open_capacity;
    uint32_t open_contexts; /* that have open texts */
    /* Kernel objects, by id: 1 + the generation that this stream spoke of last; NULL: of none. */
    uint16_t *generations;
};

/* The record that is being decoded. */
struct place {
    struct decode_stream *stream;
    struct record_batch *batch;
    uint64_t index;
    uint64_t ticks;
};

struct note *note_add(const struct place *place, enum note_kind kind);
void note_fault(const struct place *place, enum stream_fault fault);

/* Allocates the state and gives NOTE_STREAM, once. */
void stream_announce(const struct place *place);

/* Opens the text of a DEFINE record, whose first argument `define` points at, or, with NULL, of the
 * event that stands last in the batch. */
void stream_open_text(const struct place *place, const uint32_t *define, uint32_t length);
void stream_text_record(const struct place *place, const uint32_t argument[2]);
/* Something was lost, perhaps a switch of tasks: cuts all texts. */
void stream_lose_context(const struct place *place);

/* What a KERNEL record changes; it stands before the event itself. */
void stream_kernel(const struct place *place, const uint32_t argument[2]);
/* A DEFINE record of a kernel object: the object is there now. */
void stream_object(const struct place *place, uint32_t id, uint32_t generation);

/* A DROPPED or SUPPRESSED record. */
void stream_loss(const struct place *place, bool suppressed, uint32_t count, uint32_t span);
/* The dropped total of an anchor. */
void stream_anchor_total(const struct place *place, uint32_t dropped);
/* An END record. */
void stream_end(const struct place *place, uint32_t dropped, uint32_t suppressed);

#endif
