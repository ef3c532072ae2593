#include "dec_stream.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ batches and notes */

void record_batch_init(struct record_batch *batch, uint32_t capacity)
{
    *batch = (struct record_batch){0};
    batch->capacity = capacity < RECORD_BATCH_LEAST ? RECORD_BATCH_LEAST : capacity;
    batch->events = memory_new(batch->capacity, sizeof *batch->events);
}

void record_batch_clear(struct record_batch *batch)
{
    batch->count = batch->note_count = 0;
    batch->serial++;
    buffer_clear(&batch->texts);
}

void record_batch_free(struct record_batch *batch)
{
    free(batch->events);
    free(batch->notes);
    buffer_free(&batch->texts);
    *batch = (struct record_batch){0};
}

struct note *note_add(const struct place *place, enum note_kind kind)
{
    struct record_batch *batch = place->batch;
    struct note *note;

    if (batch->note_count == batch->note_capacity) {
        batch->note_capacity = 2 * batch->note_capacity + 64;
        batch->notes = memory_resize(batch->notes, batch->note_capacity, sizeof *batch->notes);
    }
    note = &batch->notes[batch->note_count++];
    *note = (struct note){.kind = kind,
                          .stream = place->stream->ordinal,
                          .before = batch->count,
                          .ticks = place->ticks,
                          .index = place->index};
    return note;
}

void note_fault(const struct place *place, enum stream_fault fault)
{
    note_add(place, NOTE_FAULT)->fault.fault = fault;
    place->stream->counts.faults[fault]++;
}

void stream_announce(const struct place *place)
{
    struct decode_stream *stream = place->stream;

    if (stream->state == NULL) {
        stream->state = memory_new(1, sizeof *stream->state);
        stream->state->clean = true;
    }
    if (!stream->state->announced)
        note_add(place, NOTE_STREAM);
    stream->state->announced = true;
}

void record_free_state(struct decode_stream *stream)
{
    if (stream->state == NULL)
        return;
    for (uint32_t i = 0; i < stream->state->open_capacity; i++)
        buffer_free(&stream->state->open[i].bytes);
    free(stream->state->open);
    free(stream->state->ring_totals);
    free(stream->state->generations);
    free(stream->state);
    stream->state = NULL;
}

/* ------------------------------------------------------------------ texts */

static bool is_in_batch(const struct open_text *text, const struct record_batch *batch)
{
    return text->batch == batch && text->serial == batch->serial;
}

static void note_text(const struct place *place, const struct open_text *text, bool cut)
{
    struct record_batch *batch = place->batch;
    size_t at = batch->texts.size;
    struct note *note = note_add(place, NOTE_TEXT);

    buffer_append(&batch->texts, text->bytes.data, text->bytes.size);
    buffer_append(&batch->texts, "", 1);
    note->text.at = at;
    note->text.size = text->bytes.size;
    note->text.event_ticks = text->ticks;
    note->text.event_id = text->event_id;
    note->text.event = is_in_batch(text, batch) ? text->event : NOTE_NO_EVENT;
    note->text.cut = cut;
}

static struct text_key present_key(const struct stream_state *state)
{
    struct text_key key = state->context;

    if (key.depth > 0)
        key.task = 0;
    return key;
}

static bool is_same_key(struct text_key one, struct text_key other)
{
    return one.task == other.task && one.depth == other.depth;
}

/* The text of a context that was opened last; NULL: none is open. */
static struct open_text *innermost(const struct stream_state *state, struct text_key key)
{
    for (uint32_t i = state->open_count; i-- > 0;)
        if (is_same_key(state->open[i].key, key))
            return &state->open[i];
    return NULL;
}

static uint32_t count_open(const struct stream_state *state, struct text_key key)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < state->open_count; i++)
        count += is_same_key(state->open[i].key, key);
    return count;
}

/* Its buffer is kept for one that is opened later. */
static void close_text(struct stream_state *state, struct open_text *text)
{
    struct open_text closed = *text;
    struct open_text *last = &state->open[--state->open_count];

    buffer_clear(&closed.bytes);
    memmove(text, text + 1, (size_t)(last - text) * sizeof *text);
    *last = closed;
    state->open_contexts -= count_open(state, closed.key) == 0;
}

static void complete_text(const struct place *place, struct open_text *text)
{
    struct stream_state *state = place->stream->state;

    if (!text->is_define) {
        note_text(place, text, false);
    } else {
        struct definitions *definitions = &place->stream->session->definitions;

        note_add(place, NOTE_DEFINE)->definition = definitions_add(
            definitions, text->define >> 24, text->define >> 16 & 0xFF, text->define & 0xFFFF,
            text->bytes.size > 0 ? text->bytes.data : "", text->bytes.size);
    }
    close_text(state, text);
}

/* Those of one context, or with NULL all. */
static void cut_texts(const struct place *place, const struct text_key *key)
{
    struct stream_state *state = place->stream->state;

    for (uint32_t i = state->open_count; i-- > 0;) {
        struct open_text *text = &state->open[i];
        struct place opener = *place;

        if (key != NULL && !is_same_key(text->key, *key))
            continue;
        if (!text->is_define)
            note_text(place, text, true);
        opener.index = text->index;
        note_fault(&opener, STREAM_FAULT_CUT_TEXT);
        close_text(state, text);
    }
}

void stream_lose_context(const struct place *place)
{
    cut_texts(place, NULL);
    place->stream->state->context = (struct text_key){0};
}

/* Makes room for one more text of a context. */
static void make_room(const struct place *place, struct text_key key)
{
    struct stream_state *state = place->stream->state;

    if (count_open(state, key) == OPEN_TEXT_LIMIT)
        cut_texts(place, &key);
    else if (count_open(state, key) == 0 && state->open_contexts == CONTEXT_LIMIT)
        cut_texts(place, NULL);
    if (state->open_count == state->open_capacity) {
        uint32_t capacity = 2 * state->open_capacity + 4;

        state->open = memory_resize(state->open, capacity, sizeof *state->open);
        memset(state->open + state->open_capacity, 0,
               (capacity - state->open_capacity) * sizeof *state->open);
        state->open_capacity = capacity;
    }
}

void stream_open_text(const struct place *place, const uint32_t *define, uint32_t length)
{
    struct stream_state *state = place->stream->state;
    struct text_key key = present_key(state);
    struct open_text *text;

    if (length > TEXT_BYTES_LIMIT) {
        note_fault(place, STREAM_FAULT_CUT_TEXT);
        return;
    }
    make_room(place, key);
    state->open_contexts += count_open(state, key) == 0;
    text = &state->open[state->open_count++];
    text->key = key;
    text->length = length;
    text->index = place->index;
    text->ticks = place->ticks;
    text->is_define = define != NULL;
    text->define = define != NULL ? *define : 0;
    text->batch = place->batch;
    text->serial = place->batch->serial;
    if (define == NULL) {
        text->event = place->batch->count - 1;
        text->event_id = place->batch->events[text->event].id;
    }
    if (length == 0)
        complete_text(place, text);
}

void stream_text_record(const struct place *place, const uint32_t argument[2])
{
    struct stream_state *state = place->stream->state;
    struct open_text *text = innermost(state, present_key(state));
    char bytes[8];
    size_t left;

    if (text == NULL) {
        place->stream->counts.texts++;
        note_fault(place, STREAM_FAULT_ORPHAN_TEXT);
        return;
    }
    if (!text->is_define)
        place->stream->counts.texts++;
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (char)(argument[i / 4] >> 8 * (i % 4));
    left = text->length - text->bytes.size;
    buffer_append(&text->bytes, bytes, left < 8 ? left : 8);
    if (left <= 8)
        complete_text(place, text);
}

bool record_text_open(const struct record_decoder *decoder, const struct record_batch *batch)
{
    const struct decode_stream *stream = record_stream(decoder);

    if (stream == NULL || stream->state == NULL)
        return false;
    for (uint32_t i = 0; i < stream->state->open_count; i++) {
        const struct open_text *text = &stream->state->open[i];

        if (!text->is_define && is_in_batch(text, batch))
            return true;
    }
    return false;
}

/* ------------------------------------------------------------------ objects of a kernel */

/* Any record of an object tells its generation: so a creation that was lost is made up for. */
static void meet_object(const struct place *place, uint32_t id, uint32_t generation, bool created)
{
    struct stream_state *state = place->stream->state;
    struct note *note;

    if (state->generations == NULL)
        state->generations = memory_new(TARE_ID_LAST0 + 1, sizeof *state->generations);
    if (!created && state->generations[id] == generation + 1)
        return;
    state->generations[id] = (uint16_t)(generation + 1);
    note = note_add(place, NOTE_OBJECT);
    note->object.id = id;
    note->object.generation = generation;
    note->object.created = created;
}

void stream_object(const struct place *place, uint32_t id, uint32_t generation)
{
    if (id >= TARE_ID_FREE0 && id <= TARE_ID_LAST0)
        meet_object(place, id, generation, false);
}

void stream_kernel(const struct place *place, const uint32_t argument[2])
{
    struct decode_session *session = place->stream->session;
    uint32_t kind = argument[0] >> 24, generation = argument[0] >> 16 & 0xFF;
    uint32_t id = argument[0] & 0xFFFF, class = argument[1] >> 24;

    if (kind == TARE_KERNEL_CREATED && class == TARE_CLASS_TASK)
        cut_texts(place, &(struct text_key){.task = id});
    if (!kernel_kind_has_object(kind) || id < TARE_ID_FREE0 || id > TARE_ID_LAST0)
        return;
    if (kind == TARE_KERNEL_CREATED && definition_group(class) == DEFINITION_OBJECT) {
        session_add_class(session, class, id);
        definitions_create(&session->definitions, class, generation, id);
    }
    meet_object(place, id, generation, kind == TARE_KERNEL_CREATED);
}

/* ------------------------------------------------------------------ losses and totals */

/* Whether one count of events is ahead of another, modulo 2^32. */
static bool is_ahead(uint64_t one, uint64_t other)
{
    uint32_t difference = (uint32_t)one - (uint32_t)other;

    return difference > 0 && difference < UINT32_C(1) << 31;
}

static void report_bad_total(const struct place *place)
{
    struct stream_state *state = place->stream->state;

    if (!state->total_bad)
        note_fault(place, STREAM_FAULT_BAD_TOTAL);
    state->total_bad = true;
}

/* A sum behind its total: loss that has no record that was read. */
static void raise_sum(uint64_t *sum, uint32_t total)
{
    if (is_ahead(total, *sum))
        *sum += total - (uint32_t)*sum;
}

void stream_loss(const struct place *place, bool suppressed, uint32_t count, uint32_t span)
{
    struct stream_state *state = place->stream->state;
    struct stream_counts *counts = &place->stream->counts;
    struct note *note;

    stream_lose_context(place);
    note = note_add(place, NOTE_LOSS);
    note->loss.first_known = state->loss_time_set;
    note->loss.first = state->loss_time_set ? state->loss_time : 0;
    note->loss.span = span;
    note->loss.count = count;
    note->loss.suppressed = suppressed;
    state->loss_time_set = false;
    if (suppressed) {
        counts->suppressed += count;
        counts->suppressed_records += count;
        return;
    }
    counts->dropped += count;
    counts->dropped_records += count;
    if (state->clean && is_ahead(state->total, counts->dropped))
        report_bad_total(place);
    raise_sum(&counts->dropped, state->total);
}

void stream_anchor_total(const struct place *place, uint32_t dropped)
{
    struct stream_state *state = place->stream->state;

    state->total = dropped;
    if (state->clean && is_ahead(place->stream->counts.dropped, dropped))
        report_bad_total(place);
}

void stream_end(const struct place *place, uint32_t dropped, uint32_t suppressed)
{
    struct stream_state *state = place->stream->state;
    struct stream_counts *counts = &place->stream->counts;
    struct note *note = note_add(place, NOTE_END);

    note->end.dropped = dropped;
    note->end.suppressed = suppressed;
    counts->ended = true;
    /* A signal may add to the suppressed ones between the last loss record and this one. */
    if (state->clean &&
        (dropped != (uint32_t)counts->dropped || is_ahead(counts->suppressed, suppressed)))
        report_bad_total(place);
    raise_sum(&counts->dropped, dropped);
    raise_sum(&counts->suppressed, suppressed);
}

void record_ring(struct decode_stream *stream, const struct tare_ring *ring,
                 struct record_batch *batch)
{
    struct place place = {.stream = stream, .batch = batch};
    struct stream_state *state;

    if (stream->block_words == 0)
        stream->block_words = ring->block_words;
    stream_announce(&place);
    state = stream->state;
    if (state->ring_count == state->ring_capacity) {
        state->ring_capacity = 2 * state->ring_capacity + 2;
        state->ring_totals =
            memory_resize(state->ring_totals, state->ring_capacity, sizeof *state->ring_totals);
    }
    state->ring_totals[state->ring_count][0] = ring->dropped;
    state->ring_totals[state->ring_count++][1] = ring->suppressed;
}

void record_name(struct decode_stream *stream, const struct definition *definition,
                 struct record_batch *batch)
{
    struct place place = {.stream = stream,
                          .batch = batch,
                          .index = stream->state->next,
                          .ticks = stream->state->last_time};

    note_add(&place, NOTE_NAME)->definition = definition;
}

static void close_pending(const struct place *place, const struct tare_loss *loss, bool suppressed)
{
    struct stream_counts *counts = &place->stream->counts;
    uint64_t first = (uint64_t)loss->first_high << 32 | loss->first_low;
    uint64_t last = (uint64_t)loss->last_high << 32 | loss->last_low;
    struct note *note;

    if (loss->count == 0)
        return;
    note = note_add(place, NOTE_LOSS);
    note->loss.first = first;
    note->loss.first_known = true;
    note->loss.span = last < first                ? 0
                      : last - first > UINT32_MAX ? UINT32_MAX
                                                  : (uint32_t)(last - first);
    note->loss.count = loss->count;
    note->loss.suppressed = suppressed;
    note->loss.pending = true;
    /* The totals of the ring include it. */
    if (suppressed)
        counts->suppressed_pending = loss->count;
    else
        counts->dropped_pending = loss->count;
}

/* Neither stored nor counted as dropped since it was begun. */
static bool is_torn(const struct tare_ring *ring)
{
    return ring->channel == 0 && ring->writing != 0 && ring->writing - 1 == ring->up.write_offset &&
           ring->dropped_before == ring->dropped;
}

void record_close_stream(struct decode_stream *stream, struct record_batch *batch)
{
    struct place place = {.stream = stream, .batch = batch};
    struct stream_state *state;

    stream_announce(&place);
    state = stream->state;
    if (state->closed)
        return;
    state->closed = true;
    place.index = state->next;
    place.ticks = state->last_time;
    stream_lose_context(&place);
    if (stream->last_ring != NULL && stream->ring_is_last && !state->pending_told) {
        state->pending_told = true;
        close_pending(&place, &stream->last_ring->pending_dropped, false);
        close_pending(&place, &stream->last_ring->pending_suppressed, true);
        stream->counts.torn = is_torn(stream->last_ring);
    }
    raise_sum(&stream->counts.dropped, state->total);
    for (uint32_t i = 0; i < state->ring_count; i++) {
        raise_sum(&stream->counts.dropped, state->ring_totals[i][0]);
        raise_sum(&stream->counts.suppressed, state->ring_totals[i][1]);
    }
    note_add(&place, NOTE_TOTAL);
}
