/* Decoder of one stream: bytes in, batches of events and notes out (FORMAT.md, sections 2 to 5).
 *
 * Whoever wants a whole recording uses dec_input.h; this is the engine below it.
 */
#ifndef DEC_RECORD_H
#define DEC_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_buffer.h"
#include "dec_directory.h"
#include "dec_error.h"

#include "tare_layout.h"

/* One event: a record of the program or of a kernel's object, KERNEL, or UNNAMED. */
struct event {
    uint64_t ticks;
    uint32_t id;
    uint32_t argument[2]; /* 0 where the record has none */
    uint32_t stream;      /* ordinal of the stream */
};

enum note_kind {
    NOTE_STREAM,     /* the stream begins; first thing of every stream */
    NOTE_DEFINE,     /* a complete definition */
    NOTE_NAME,       /* an entry of a names table */
    NOTE_OBJECT,     /* an id means another object from here on: before its KERNEL record */
    NOTE_TICK,       /* the kernel's tick count */
    NOTE_TEXT,       /* text of a STRING event, at the place of its last TEXT record */
    NOTE_EPOCH,      /* the high part of the time has changed by a record */
    NOTE_LOSS,       /* events refused by the recorder: it says so itself */
    NOTE_GAP,        /* words that were not read: lost on the path, or skipped as damaged */
    NOTE_FAULT,      /* damage or a clock fault */
    NOTE_SKIPPED,    /* bytes passed over while unsynchronised */
    NOTE_UNVERIFIED, /* the block that begins here was salvaged: no hash vouches for it */
    NOTE_CLOCK,      /* rate of the clock */
    NOTE_COST,       /* what an event costs */
    NOTE_RESERVED,   /* record of a later version, stepped over */
    NOTE_END,        /* the recording of this stream was ended in order */
    NOTE_TOTAL /* nothing more of this stream follows; its counts are complete. (In a file whose
                  chunks hold blocks of other streams than they say, more may follow, and then
                  another of these.) */
};

#define NOTE_NO_EVENT UINT32_MAX

struct note {
    enum note_kind kind;
    uint32_t stream; /* ordinal */
    uint32_t before; /* the note stands before the event of this number in its batch (or run) */
    uint64_t ticks;  /* time of the stream at this place */
    uint64_t index;  /* words since the start of the stream: where the note stands */
    union {
        const struct definition *definition; /* NOTE_DEFINE, NOTE_NAME */
        struct {
            uint32_t id, generation; /* of the object: definitions_object() knows it already */
            bool created;            /* here; else it was created in what is missing */
        } object;                    /* NOTE_OBJECT */
        uint32_t tick;               /* NOTE_TICK: modulo 2^32 */
        struct {
            size_t at, size;      /* in `texts` of the batch; see batch_text() */
            uint64_t event_ticks; /* time of the STRING event */
            uint32_t event_id;
            uint32_t event; /* its number in this batch; NOTE_NO_EVENT: it came in an earlier one */
            bool cut;       /* the end is missing; a NOTE_FAULT follows */
        } text;             /* NOTE_TEXT */
        struct {
            uint64_t first; /* time of the first refused event */
            uint32_t span;  /* ticks from first to last refused event; UINT32_MAX: that or more */
            uint32_t count; /* events */
            bool suppressed, first_known;
            bool pending; /* at the end of the stream: known from its ring, not from a record */
        } loss;           /* NOTE_LOSS */
        struct {
            uint64_t from_ticks; /* time of the last record before; `ticks` is the time behind */
            uint32_t words;      /* between words / 3 and words events are missing */
            bool before;         /* nothing of the stream was read before: the reader came late */
        } gap;                   /* NOTE_GAP */
        struct {
            uint64_t back_ticks; /* CLOCK_BACKWARDS: by how much */
            enum stream_fault fault;
        } fault;        /* NOTE_FAULT */
        uint64_t bytes; /* NOTE_SKIPPED */
        uint64_t rate;  /* NOTE_CLOCK: ticks a second */
        struct {
            uint32_t words, milliticks;
        } cost; /* NOTE_COST */
        struct {
            uint32_t id, argument[2];
        } reserved; /* NOTE_RESERVED */
        struct {
            uint32_t dropped, suppressed;
        } end; /* NOTE_END: totals of the stream */
    };
};

struct record_batch {
    struct event *events;
    uint32_t count, capacity;
    struct note *notes;
    uint32_t note_count, note_capacity;
    struct buffer texts;
    uint32_t serial; /* counts the clearings */
};

/* Text of a NOTE_TEXT: `text.size` bytes and a zero, valid as long as the batch. */
static inline const char *batch_text(const struct record_batch *batch, const struct note *note)
{
    return batch->texts.data + note->text.at;
}

/* `capacity` events, at least RECORD_BATCH_LEAST; the notes grow as needed. */
#define RECORD_BATCH_LEAST 512u
void record_batch_init(struct record_batch *batch, uint32_t capacity);
void record_batch_clear(struct record_batch *batch);
void record_batch_free(struct record_batch *batch);

/* Reads one input: a run of bytes. Its anchors say which streams its blocks belong to; several
 * inputs may feed one stream, one after the other. */
#define ANCHOR_BYTES ((size_t)4 * TARE_ANCHOR_WORDS)

struct record_decoder;

/* Sessions and streams are added to `directory` as anchors name them. */
struct record_decoder *record_decoder_new(struct decode_directory *directory);
void record_decoder_free(struct record_decoder *decoder);

/* Decodes up to `size` bytes into `batch`, behind what it holds already, and returns how many were
 * taken. When the batch is full afterwards, clear it and call again with the rest, even if nothing
 * is left. An incomplete record is kept inside until more bytes come. */
size_t record_feed(struct record_decoder *decoder, const void *bytes, size_t size,
                   struct record_batch *batch);
bool record_batch_full(const struct record_batch *batch);

/* Bytes of the input are missing here (a damaged piece, a hole between chunks): an incomplete
 * record is dropped, and reading goes on unsynchronised. False: the batch is full; clear it, call
 * again. */
bool record_hole(struct record_decoder *decoder, struct record_batch *batch);

/* The input ends here. False: the batch is full; clear it, call again. */
bool record_finish(struct record_decoder *decoder, struct record_batch *batch);

/* Nothing more comes for this stream from any input: texts are cut, pending losses and totals of
 * its ring counted, NOTE_TOTAL is the last note. Does nothing the second time. */
void record_close_stream(struct decode_stream *stream, struct record_batch *batch);

/* A RING chunk stands here: the stream begins, if it has not yet, and the totals of the ring count
 * at its end. */
void record_ring(struct decode_stream *stream, const struct tare_ring *ring,
                 struct record_batch *batch);

/* For directory_free() alone. */
void record_free_state(struct decode_stream *stream);

/* An entry of the stream's names table. */
void record_name(struct decode_stream *stream, const struct definition *definition,
                 struct record_batch *batch);

/* Whether the text of an event in the batch is still open: a caller who feeds on before clearing
 * the batch gets text and event together. */
bool record_text_open(const struct record_decoder *decoder, const struct record_batch *batch);

/* The stream that the input is in; NULL: no anchor was found yet. */
struct decode_stream *record_stream(const struct record_decoder *decoder);

/* Bytes that the input has passed over before its first anchor. */
uint64_t record_skipped_before(const struct record_decoder *decoder);

/* The input should hold blocks of this stream alone: others that it holds become `mixed`. */
void record_expect(struct record_decoder *decoder, uint32_t session, uint32_t stream);

/* Blocks fed from now on are marked as unverified (salvaged), or no longer. */
void record_unverified(struct record_decoder *decoder, bool unverified);

/* ------------------------------------------------------------------ anchors, for searches */

struct anchor {
    uint64_t ticks;
    uint32_t session, stream, block_words, index, dropped;
    bool big_endian;
};

/* True when the TARE_ANCHOR_WORDS words at `bytes` are a valid anchor of this version, in either
 * byte order. */
bool anchor_read(const unsigned char *bytes, struct anchor *anchor);

/* Offset of the first valid anchor that lies wholly in the bytes; `size` when there is none. */
size_t anchor_find(const unsigned char *bytes, size_t size, struct anchor *anchor);

/* As anchor_find, for anchors of any version but this one; *version is the one found. */
size_t anchor_find_foreign(const unsigned char *bytes, size_t size, uint32_t *version);

#endif
