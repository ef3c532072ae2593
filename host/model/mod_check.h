/* Health of a recording: what was attempted, stored and lost, what is damaged, and how far the
 * numbers can be trusted.
 *
 *     struct check check = {0};
 *     while (decoder_next(decoder, &run))
 *         check_take(&check, &run);
 *     check_finish(&check, decoder);
 *     ...
 *     check_free(&check);
 */
#ifndef MOD_CHECK_H
#define MOD_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dec_input.h"
#include "mod_clock.h"

/* A loss, gap or fault, with its place. */
struct check_place {
    enum note_kind kind; /* NOTE_LOSS, NOTE_GAP, NOTE_FAULT, NOTE_SKIPPED or NOTE_UNVERIFIED */
    const struct decode_stream *stream;
    uint64_t from_ticks,
        to_ticks; /* LOSS: first and last refused event; GAP: the silence; else equal */
    bool from_known, to_known;
    uint64_t index;  /* words since the start of the stream */
    uint64_t amount; /* LOSS: events; GAP: words; SKIPPED: bytes; clock fault: ticks; else 0 */
    bool suppressed; /* LOSS; else dropped */
    bool pending;    /* LOSS: no record of it in the stream yet */
    bool before;     /* GAP: before the first block that was read */
    enum stream_fault fault; /* FAULT */
};

/* Of each kind so many places are kept; the counts are complete. */
#define CHECK_PLACES 1000u

/* How often one id was recorded in one session. */
struct check_kind {
    const struct decode_session *session;
    const struct definition *definition; /* NULL: none */
    const struct definition *object;     /* kernel object whose event it is; NULL: of none */
    uint32_t operation;                  /* of the object: enum tare_operation */
    uint32_t id;
    uint64_t events;
};

struct check_session {
    const struct decode_session *session;
    struct session_scale scale;
    uint64_t first_ticks, last_ticks; /* of anchors and records */
    uint64_t events;
    int64_t duration_ns; /* -1: the length of a tick is unknown */
    bool clock_stands;   /* many events, and all at one time */
    double cost_ns[3]; /* of an event with 0, 1, 2 arguments, by the recorder itself; 0: unknown */
    uint64_t by_arguments[3]; /* events with so many arguments */
};

/* Sums over all streams and what the region adds to them. */
struct check_totals {
    uint64_t stored, dropped, suppressed, torn;
    uint64_t suppressed_no_ring; /* contained in suppressed: events of threads that found no ring */
    uint64_t texts, unnamed, reserved;
    uint64_t gaps, gap_words; /* without those before the first block */
    uint64_t gap_before;      /* words before the first block of a stream */
    uint64_t overwritten;     /* the same where new words replace the oldest: no loss */
    uint64_t skipped_bytes, cut_bytes, reread_bytes;
    uint64_t blocks, unverified_blocks;
    uint64_t words, words_anchors, words_epochs, words_events;
    uint64_t faults[STREAM_FAULT_COUNT];
    uint64_t damage; /* faults that mean damage: all but those of a loss or of an early end */
    uint64_t names_lost, ids_refused, rings_refused;
    uint64_t objects[TARE_CLASS_COUNT]; /* of a kernel, by class, all generations */
    uint64_t all_objects, unnamed_objects;
    uint64_t unnumbered;     /* events of kernel objects that found no number of their own */
    uint32_t streams;        /* with events or losses, or with a ring for events */
    uint32_t active_streams; /* recorders that were still at work at the end */
    uint32_t mixed_streams;  /* with blocks under the name of another stream */
    uint32_t exact_streams;  /* of `streams` */
};

enum check_verdict {
    CHECK_COMPLETE,   /* nothing lost, nothing damaged */
    CHECK_LOSSY,      /* events are missing; what is there is sound */
    CHECK_UNFINISHED, /* the collector did not come to its end, or the end is missing */
    CHECK_DAMAGED,    /* part of the data is damaged */
    CHECK_EMPTY       /* no event at all */
};

struct check {
    struct check_totals totals;
    struct check_session *sessions;
    size_t session_count;
    struct check_kind *kinds; /* the most frequent first */
    size_t kind_count, kind_capacity;
    struct check_place *places; /* in order of time */
    size_t place_count, place_capacity;
    uint64_t place_totals[NOTE_TOTAL + 1]; /* by kind, those that are not kept included */
    enum check_verdict verdict;
    bool lossy, unfinished, damaged; /* several may hold */
    bool healthy; /* what --strict asks: complete, and every event has its own name */

    /* private */
    struct key_table known_kinds; /* session and id to 1 + number */
    const struct decode_session *counting;
    uint64_t counts[TARE_ID_COUNT]; /* of the session that is counted at the moment */
    /* What the ids with a count belong to. */
    struct check_object {
        const struct definition *object;
        uint32_t operation;
    } meaning[TARE_ID_LAST0 + 1];
    uint64_t kept[NOTE_TOTAL + 1];
};

void check_take(struct check *check, const struct decode_run *run);
/* When decoder_next() has returned false. */
void check_finish(struct check *check, const struct decoder *decoder);
void check_free(struct check *check);

/* "complete", "lossy", ... */
const char *check_verdict_name(enum check_verdict verdict);

/* Whether the counts of a stream are exact: read from its start to its end without gap or damage.
 */
bool check_is_exact(const struct decode_stream *stream);
/* Whether the recorder was still at work when the data end. */
bool check_is_active(const struct decode_stream *stream);
/* Whether the stream is one of events, or had any: rings that only hold names are not. */
bool check_counts_stream(const struct decode_stream *stream);

#endif
