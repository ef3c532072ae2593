#include "dec_merge.h"

#include <stdlib.h>

/* ------------------------------------------------------------------ cursors */

static struct cursor *add_cursor(struct decoder *decoder, uint32_t session)
{
    struct cursor *cursor;

    if (decoder->cursor_count == decoder->cursor_capacity) {
        decoder->cursor_capacity = 2 * decoder->cursor_capacity + 4;
        decoder->cursors =
            memory_resize(decoder->cursors, decoder->cursor_capacity, sizeof *decoder->cursors);
    }
    cursor = &decoder->cursors[decoder->cursor_count];
    *cursor = (struct cursor){
        .reader = &decoder->reader, .session = session, .order = decoder->cursor_count};
    decoder->cursor_count++;
    return cursor;
}

void merge_in_file_order(struct decoder *decoder, const struct decode_directory *rings,
                         bool definitions_only)
{
    struct cursor *cursor = add_cursor(decoder, 0);

    for (uint32_t i = 0; i < decoder->list->count; i++) {
        const struct segment *segment = &decoder->list->segment[i];
        const struct decode_stream *stream = NULL;

        if (definitions_only && segment->kind != SEGMENT_SALVAGE && segment->kind != SEGMENT_NAMES)
            stream = directory_find_stream(rings, segment->session, segment->stream);
        if (stream == NULL || stream->last_ring == NULL ||
            stream->last_ring->kind != TARE_RING_EVENTS)
            cursor_add(cursor, i);
    }
}

void merge_by_time(struct decoder *decoder)
{
    struct key_table known = {0};

    for (uint32_t i = 0; i < decoder->list->count; i++) {
        const struct segment *segment = &decoder->list->segment[i];
        uint64_t key = (uint64_t)segment->session << 32 | (segment->stream & 0xFFFF);
        uint32_t number = key_table_find(&known, key);

        if (number == 0) {
            struct decode_session *session =
                directory_session(&decoder->directory, segment->session);

            add_cursor(decoder, session->ordinal)->one_stream = true;
            number = decoder->cursor_count;
            key_table_set(&known, key, number);
        }
        cursor_add(&decoder->cursors[number - 1], i);
    }
    key_table_free(&known);
}

/* Time of the anchor that the first segment begins with, if it is sure that reading begins there.
 */
static bool first_anchor(struct decoder *decoder, const struct segment *segment,
                         struct anchor *anchor)
{
    unsigned char piece[4 * 256];
    const struct decode_stream *stream;
    size_t size = segment->kind == SEGMENT_STREAM ? segment->piece : ANCHOR_BYTES;

    if (segment->kind == SEGMENT_STREAM && size > segment->bytes)
        size = (size_t)segment->bytes;
    if (size < ANCHOR_BYTES || size > segment->bytes ||
        (segment->kind == SEGMENT_STREAM && segment->position % (segment->piece / 4) != 0) ||
        source_read(decoder->source, segment->offset, piece, size) < size ||
        !anchor_read(piece, anchor))
        return false;
    stream = directory_find_stream(&decoder->directory, anchor->session, anchor->stream);
    if (stream != NULL && stream->first_ring != NULL &&
        stream->first_ring->block_words != anchor->block_words)
        return false;
    return segment->kind != SEGMENT_STREAM || segment_piece_right(decoder->source, segment, piece);
}

/* Lower bound of the time of a cursor that was not filled yet: many streams need not be open at
 * once. */
static uint64_t first_ticks(struct decoder *decoder, const struct cursor *cursor)
{
    for (uint32_t i = 0; i < cursor->count; i++) {
        const struct segment *segment = &decoder->list->segment[cursor->segments[i]];
        struct anchor anchor;

        if (segment->kind == SEGMENT_RING || segment->kind == SEGMENT_NAMES)
            continue;
        return first_anchor(decoder, segment, &anchor) ? anchor.ticks : 0;
    }
    return 0;
}

/* ------------------------------------------------------------------ heap */

static bool is_earlier(const struct cursor *one, const struct cursor *other)
{
    if (one->session != other->session)
        return one->session < other->session;
    if (one->ticks != other->ticks)
        return one->ticks < other->ticks;
    return one->order < other->order;
}

static void sift_down(struct decoder *decoder, uint32_t at)
{
    struct cursor *moving = decoder->heap[at];

    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child >= decoder->heap_count)
            break;
        if (child + 1 < decoder->heap_count &&
            is_earlier(decoder->heap[child + 1], decoder->heap[child]))
            child++;
        if (!is_earlier(decoder->heap[child], moving))
            break;
        decoder->heap[at] = decoder->heap[child];
        at = child;
    }
    decoder->heap[at] = moving;
}

void merge_begin(struct decoder *decoder)
{
    decoder->reader.inputs =
        memory_new((size_t)decoder->list->input_count + 1, sizeof(struct input));
    decoder->heap = memory_new(decoder->cursor_count, sizeof(struct cursor *));
    decoder->heap_count = decoder->cursor_count;
    for (uint32_t i = 0; i < decoder->cursor_count; i++) {
        decoder->heap[i] = &decoder->cursors[i];
        decoder->cursors[i].ticks = first_ticks(decoder, &decoder->cursors[i]);
    }
    for (uint32_t i = decoder->heap_count / 2; i-- > 0;)
        sift_down(decoder, i);
}

/* The earliest but the first; NULL when there is none. */
static const struct cursor *second(const struct decoder *decoder)
{
    if (decoder->heap_count < 2)
        return NULL;
    if (decoder->heap_count == 2 || is_earlier(decoder->heap[1], decoder->heap[2]))
        return decoder->heap[1];
    return decoder->heap[2];
}

/* ------------------------------------------------------------------ runs */

static bool is_exhausted(const struct cursor *cursor)
{
    return !cursor->open ||
           (cursor->event_at == cursor->batch.count && cursor->note_at == cursor->batch.note_count);
}

/* Whether ids mean something else from the note on. */
static bool changes_definitions(const struct note *note)
{
    return note->kind == NOTE_DEFINE || note->kind == NOTE_NAME || note->kind == NOTE_OBJECT;
}

static void enforce(struct definitions *definitions, const struct note *note)
{
    if (note->kind == NOTE_OBJECT)
        definitions_renew(definitions, note->object.id, note->object.generation);
    else if (changes_definitions(note))
        definitions_enforce(definitions, note->definition);
}

static void set_ticks(struct cursor *cursor)
{
    const struct record_batch *batch = &cursor->batch;

    const struct note *note =
        cursor->note_at < batch->note_count ? &batch->notes[cursor->note_at] : NULL;

    /* Notes go with the event behind them, but for those that matter to other streams. */
    if (note != NULL && note->before <= cursor->event_at &&
        (changes_definitions(note) || cursor->event_at == batch->count))
        cursor->ticks = note->ticks;
    else if (cursor->event_at < batch->count)
        cursor->ticks = batch->events[cursor->event_at].ticks;
}

/* The cursor that is next, with something to hand on; NULL at the end. */
static struct cursor *earliest(struct decoder *decoder)
{
    while (decoder->heap_count > 0) {
        struct cursor *cursor = decoder->heap[0];

        if (!is_exhausted(cursor))
            return cursor;
        if (cursor_fill(cursor))
            set_ticks(cursor);
        else
            decoder->heap[0] = decoder->heap[--decoder->heap_count];
        if (decoder->heap_count > 0)
            sift_down(decoder, 0);
    }
    return NULL;
}

static bool is_bounded(const struct cursor *cursor, const struct cursor *limit)
{
    return limit != NULL && limit->session == cursor->session;
}

/* Definitions hold from their note on, so a run begins with them, and they wait for their time. */
static bool ends_run(const struct cursor *cursor, const struct cursor *limit,
                     const struct decode_run *run, const struct note *note)
{
    if (note->stream != run->stream->ordinal)
        return true;
    if (!changes_definitions(note))
        return false;
    return note->before > run->first ||
           (run->note_count > 0 && is_bounded(cursor, limit) && note->ticks > limit->ticks);
}

/* Takes the notes into the run that stand before the next event of the batch. False: the run ends.
 */
static bool take_notes(struct decoder *decoder, struct cursor *cursor, const struct cursor *limit,
                       struct decode_run *run)
{
    struct record_batch *batch = &cursor->batch;

    while (cursor->note_at < batch->note_count) {
        struct note *note = &batch->notes[cursor->note_at];

        if (note->before > cursor->event_at)
            return true;
        if (ends_run(cursor, limit, run, note))
            return false;
        enforce(&decoder->directory.streams[note->stream]->session->definitions, note);
        note->before -= run->first;
        run->note_count++;
        cursor->note_at++;
    }
    return true;
}

/* Whether the next event of the batch may follow in the run. */
static bool may_follow(const struct cursor *cursor, const struct cursor *limit,
                       const struct decode_run *run)
{
    const struct event *event = &cursor->batch.events[cursor->event_at];

    if (cursor->event_at == cursor->batch.count || event->stream != run->stream->ordinal)
        return false;
    return run->count + run->note_count == 0 || !is_bounded(cursor, limit) ||
           event->ticks <= limit->ticks;
}

/* The longest run of one stream that may come before the cursor `limit`. */
static void take_run(struct decoder *decoder, struct cursor *cursor, const struct cursor *limit,
                     struct decode_run *run)
{
    struct record_batch *batch = &cursor->batch;
    bool note_first = cursor->note_at < batch->note_count &&
                      batch->notes[cursor->note_at].before <= cursor->event_at;
    uint32_t ordinal =
        note_first ? batch->notes[cursor->note_at].stream : batch->events[cursor->event_at].stream;
    bool more;

    *run = (struct decode_run){.stream = decoder->directory.streams[ordinal],
                               .batch = batch,
                               .events = batch->events + cursor->event_at,
                               .notes = batch->notes + cursor->note_at,
                               .first = cursor->event_at};
    more = take_notes(decoder, cursor, limit, run);
    while (more && may_follow(cursor, limit, run)) {
        uint32_t until = cursor->note_at < batch->note_count ? batch->notes[cursor->note_at].before
                                                             : batch->count;

        do {
            cursor->event_at++;
            run->count++;
        } while (cursor->event_at < until && may_follow(cursor, limit, run));
        /* Notes belong to the event behind them; those at the end of the batch to the one before.
         */
        if (cursor->event_at == batch->count || may_follow(cursor, limit, run))
            more = take_notes(decoder, cursor, limit, run);
    }
}

/* Streams that no cursor has closed: their blocks came from elsewhere. */
static bool close_streams(struct decoder *decoder, struct decode_run *run)
{
    struct record_batch *batch = &decoder->last;
    uint32_t first;

    if (!decoder->closing) {
        decoder->closing = true;
        record_batch_init(batch, RECORD_BATCH_LEAST);
        for (size_t i = 0; i < decoder->directory.stream_count; i++)
            if (decoder->directory.streams[i]->state != NULL)
                record_close_stream(decoder->directory.streams[i], batch);
    }
    first = decoder->last_note;
    if (first == batch->note_count) {
        facts_sort(&decoder->facts);
        return false;
    }
    *run = (struct decode_run){.batch = batch, .events = batch->events};
    run->notes = batch->notes + first;
    run->stream = decoder->directory.streams[run->notes->stream];
    while (decoder->last_note < batch->note_count &&
           batch->notes[decoder->last_note].stream == run->notes->stream) {
        decoder->last_note++;
        run->note_count++;
    }
    return true;
}

bool decoder_next(struct decoder *decoder, struct decode_run *run)
{
    struct cursor *cursor = earliest(decoder);

    if (cursor == NULL)
        return close_streams(decoder, run);
    take_run(decoder, cursor, second(decoder), run);
    if (!is_exhausted(cursor)) {
        set_ticks(cursor);
        sift_down(decoder, 0);
    }
    return true;
}

const struct note *decoder_text(struct decode_run *run, uint32_t event)
{
    const struct note *end = run->batch->notes + run->batch->note_count, *note;
    uint32_t wanted = run->first + event;

    if (run->text_hint == NULL)
        run->text_hint = run->notes;
    /* Most texts are complete in the order of their events: what is passed once stays passed. */
    while (run->text_hint < end &&
           (run->text_hint->kind != NOTE_TEXT || run->text_hint->text.event < wanted))
        run->text_hint++;
    for (note = run->text_hint; note < end; note++)
        if (note->kind == NOTE_TEXT && note->text.event == wanted)
            return note;
    return NULL;
}

void merge_free(struct decoder *decoder)
{
    for (uint32_t i = 0; i < decoder->cursor_count; i++)
        cursor_free(&decoder->cursors[i]);
    for (uint32_t i = 0; decoder->reader.inputs != NULL && i < decoder->list->input_count; i++)
        record_decoder_free(decoder->reader.inputs[i].decoder);
    record_batch_free(&decoder->last);
    free(decoder->reader.inputs);
    free(decoder->cursors);
    free(decoder->heap);
    directory_free(&decoder->directory);
    facts_free(&decoder->facts);
}
