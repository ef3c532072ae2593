#include "dec_record.h"

#include <stdlib.h>
#include <string.h>

#include "dec_stream.h"

#define BLOCK_WORDS_LIMIT 256u
#define HIGH_MASK ((UINT64_C(1) << (64 - TARE_STAMP_BITS)) - 1)
/* A batch with so many notes or bytes of text is full, whatever events it has. */
#define NOTES_ENOUGH 8192u
#define TEXTS_ENOUGH (1u << 20)

struct record_decoder {
    struct decode_directory *directory;
    struct decode_stream *stream; /* NULL before the first anchor */

    /* What is held: unsynchronised, bytes that may begin an anchor; else the block from its anchor
     * on and, when an anchor is due behind the decoded words, that. */
    uint32_t block[BLOCK_WORDS_LIMIT + TARE_ANCHOR_WORDS];
    size_t held; /* bytes */
    bool synchronised, anchor_due;
    bool order_known, swap;

    uint32_t block_words;
    uint32_t at;      /* words of the block that are decoded */
    uint32_t swapped; /* words of the block that are in this machine's order */
    uint32_t pads;    /* PADs at the end so far */
    int64_t skipped;  /* bytes since synchronisation was lost; negative: were decoded before that */
    uint64_t skipped_before; /* bytes before the first anchor */
    bool unverified;
    bool expecting;
    uint32_t expected_session, expected_stream;

    const uint8_t *roles; /* of ids in the session of the stream */
};

/* ------------------------------------------------------------------ what ids are */

/* Called where the session or what is told of its ids may have changed. */
static void choose_roles(struct record_decoder *decoder)
{
    const struct decode_session *session = decoder->stream->session;

    decoder->roles = session->roles != NULL ? session->roles : plain_roles;
}

/* ------------------------------------------------------------------ life */

struct record_decoder *record_decoder_new(struct decode_directory *directory)
{
    struct record_decoder *decoder = memory_new(1, sizeof *decoder);

    decoder->directory = directory;
    decoder->roles = plain_roles;
    return decoder;
}

void record_decoder_free(struct record_decoder *decoder)
{
    free(decoder);
}

struct decode_stream *record_stream(const struct record_decoder *decoder)
{
    return decoder->stream;
}

uint64_t record_skipped_before(const struct record_decoder *decoder)
{
    return decoder->skipped_before;
}

void record_unverified(struct record_decoder *decoder, bool unverified)
{
    decoder->unverified = unverified;
}

void record_expect(struct record_decoder *decoder, uint32_t session, uint32_t stream)
{
    decoder->expecting = true;
    decoder->expected_session = session;
    decoder->expected_stream = stream & 0xFFFF;
}

static unsigned char *held_bytes(struct record_decoder *decoder)
{
    return (unsigned char *)decoder->block;
}

/* The next word of the stream. */
static struct place place_of(const struct record_decoder *decoder, struct record_batch *batch)
{
    return (struct place){.stream = decoder->stream,
                          .batch = batch,
                          .index = decoder->stream->state->next,
                          .ticks = decoder->stream->state->last_time};
}

/* ------------------------------------------------------------------ anchors */

/* Whether a sound anchor may stand in this input: the byte order never changes, nor does the block
 * size of a stream. */
static bool anchor_fits(const struct record_decoder *decoder, const struct anchor *anchor)
{
    const struct decode_stream *stream;

    if (decoder->order_known &&
        anchor->big_endian != (decoder->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)))
        return false;
    stream = decoder->stream;
    if (stream == NULL || stream->number != anchor->stream ||
        stream->session->number != anchor->session)
        stream = directory_find_stream(decoder->directory, anchor->session, anchor->stream);
    return stream == NULL || stream->block_words == 0 || stream->block_words == anchor->block_words;
}

static void report_skipped(struct record_decoder *decoder, struct record_batch *batch)
{
    int64_t skipped = decoder->skipped;

    decoder->skipped = 0;
    if (decoder->stream == NULL) {
        decoder->skipped_before += (uint64_t)skipped;
    } else if (skipped < 0) {
        decoder->stream->counts.reread_bytes += (uint64_t)-skipped;
    } else if (skipped > 0) {
        struct place place = place_of(decoder, batch);

        note_add(&place, NOTE_SKIPPED)->bytes = (uint64_t)skipped;
        decoder->stream->counts.skipped_bytes += (uint64_t)skipped;
    }
}

/* Compares the index of an anchor with what the stream has come to. True when the block is behind.
 */
static bool check_index(const struct place *at, const struct anchor *anchor)
{
    struct place place = *at;
    struct stream_state *state = place.stream->state;
    struct stream_counts *counts = &place.stream->counts;
    uint32_t ahead = anchor->index - (uint32_t)state->next;
    bool behind = state->begun && ahead >= UINT32_C(1) << 31;

    if (behind) {
        uint32_t back = (uint32_t)state->next - anchor->index;

        state->next = state->next >= back ? state->next - back : anchor->index;
        place.index = state->next;
        note_fault(&place, STREAM_FAULT_INDEX_BACKWARDS);
    } else if (ahead > 0) {
        struct note *note = note_add(&place, NOTE_GAP);

        note->gap.from_ticks = state->last_time;
        note->gap.words = ahead;
        note->gap.before = !state->begun;
        state->next += ahead;
        note->index = state->next;
        counts->gaps++;
        counts->gap_words += ahead;
        if (!state->begun)
            counts->gap_before = ahead;
    }
    if (behind || ahead > 0) {
        place.index = state->next;
        state->clean = false;
        state->loss_time_set = false;
        stream_lose_context(&place);
    }
    return behind;
}

static void note_clock_backwards(const struct place *place)
{
    uint64_t back = place->stream->state->last_time - place->ticks;

    note_fault(place, STREAM_FAULT_CLOCK_BACKWARDS);
    place->batch->notes[place->batch->note_count - 1].fault.back_ticks = back;
}

static void count_time(struct stream_counts *counts, uint64_t ticks)
{
    if (ticks < counts->first_ticks)
        counts->first_ticks = ticks;
    if (ticks > counts->last_ticks)
        counts->last_ticks = ticks;
}

static void take_anchor(struct record_decoder *decoder, const struct anchor *anchor,
                        struct record_batch *batch)
{
    struct decode_stream *stream = decoder->stream;
    struct place place = {.batch = batch, .ticks = anchor->ticks};
    struct stream_state *state;
    bool behind;

    report_skipped(decoder, batch);
    if (stream == NULL || stream->number != anchor->stream ||
        stream->session->number != anchor->session) {
        stream = directory_stream(decoder->directory, anchor->session, anchor->stream);
        decoder->stream = stream;
    }
    choose_roles(decoder);
    place.stream = stream;
    stream->block_words = anchor->block_words;
    stream->big_endian = anchor->big_endian;
    stream_announce(&place);
    state = stream->state;
    state->closed = false;
    if (decoder->expecting && (anchor->session != decoder->expected_session ||
                               anchor->stream != decoder->expected_stream))
        stream->mixed = true;
    behind = check_index(&place, anchor);
    place.index = state->next;
    if (decoder->unverified) {
        note_add(&place, NOTE_UNVERIFIED);
        stream->counts.unverified_blocks++;
    }
    if (state->begun && !behind && anchor->ticks < state->last_time)
        note_clock_backwards(&place);
    if (!state->begun)
        stream->counts.first_ticks = stream->counts.last_ticks = anchor->ticks;
    count_time(&stream->counts, anchor->ticks);
    stream_anchor_total(&place, anchor->dropped);
    state->begun = true;
    state->last_time = anchor->ticks;
    stream->counts.blocks++;
    stream->counts.words += TARE_ANCHOR_WORDS;
    stream->counts.words_anchors += TARE_ANCHOR_WORDS;

    decoder->order_known = true;
    decoder->swap = anchor->big_endian == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    decoder->block_words = anchor->block_words;
    decoder->at = decoder->swapped = TARE_ANCHOR_WORDS;
    decoder->pads = 0;
    state->next += TARE_ANCHOR_WORDS;
    decoder->synchronised = true;
    decoder->anchor_due = false;
}

/* ------------------------------------------------------------------ records */

enum step {
    STEP_ON,
    STEP_WAIT,
    STEP_BLOCK_END,
    STEP_ANCHOR,
    STEP_DAMAGE
};

/* Counts words that were read. */
static void pass(struct record_decoder *decoder, uint32_t words)
{
    decoder->at += words;
    decoder->stream->counts.words += words;
    decoder->stream->state->next += words;
}

/* The task or the depth of interrupts that an event changes to. */
static inline void change_context(struct text_key *context, uint8_t role, uint32_t id)
{
    if ((role & ROLE_TASK) != 0)
        context->task = id;
    else if ((role & ROLE_ENTER) != 0)
        context->depth++;
    else if ((role & ROLE_LEAVE) != 0 && context->depth > 0)
        context->depth--;
}

/* The fast path: plain events in order of time, as many as there are with two words to spare. */
static inline __attribute__((always_inline)) void take_events_with(struct record_decoder *decoder,
                                                                   struct record_batch *batch,
                                                                   uint32_t end, bool contexts)
{
    const uint32_t *words = decoder->block;
    const uint8_t *roles = decoder->roles;
    struct stream_state *state = decoder->stream->state;
    struct stream_counts *counts = &decoder->stream->counts;
    struct event *event = batch->events + batch->count;
    const uint64_t high = state->last_time & ~(uint64_t)TARE_STAMP_MASK;
    const uint32_t ordinal = decoder->stream->ordinal;
    uint32_t at = decoder->at;
    uint32_t last = (uint32_t)state->last_time & TARE_STAMP_MASK;
    struct text_key context = state->context;

    while (at + 3 <= end) {
        uint32_t word = words[at], id = word >> TARE_STAMP_BITS, stamp = word & TARE_STAMP_MASK;
        uint32_t role = roles[id], length = contexts ? role & ROLE_WORDS : role;

        if (length == 0 || stamp < last)
            break;
        if (contexts && role > ROLE_WORDS)
            change_context(&context, (uint8_t)role, id);
        event->ticks = high | stamp;
        event->id = id;
        event->argument[0] = length > 1 ? words[at + 1] : 0;
        event->argument[1] = length > 2 ? words[at + 2] : 0;
        event->stream = ordinal;
        event++;
        at += length;
        last = stamp;
    }
    if (at == decoder->at)
        return;
    if (contexts)
        state->context = context;
    counts->words_events += at - decoder->at;
    counts->events += (uint64_t)(event - (batch->events + batch->count));
    batch->count = (uint32_t)(event - batch->events);
    state->last_time = high | last;
    if (state->last_time > counts->last_ticks)
        counts->last_ticks = state->last_time;
    pass(decoder, at - decoder->at);
}

/* Apart, so that the registers are those that each needs. */
static __attribute__((noinline)) void take_plain_events(struct record_decoder *decoder,
                                                        struct record_batch *batch, uint32_t end)
{
    take_events_with(decoder, batch, end, false);
}

static __attribute__((noinline)) void take_kernel_events(struct record_decoder *decoder,
                                                         struct record_batch *batch, uint32_t end)
{
    take_events_with(decoder, batch, end, true);
}

static void take_events(struct record_decoder *decoder, struct record_batch *batch, uint32_t end)
{
    if (decoder->roles == plain_roles)
        take_plain_events(decoder, batch, end);
    else
        take_kernel_events(decoder, batch, end);
}

static void put_event(const struct place *place, uint32_t id, const uint32_t argument[2])
{
    place->batch->events[place->batch->count++] =
        (struct event){.ticks = place->ticks,
                       .id = id,
                       .argument = {argument[0], argument[1]},
                       .stream = place->stream->ordinal};
}

static void take_event(struct record_decoder *decoder, const struct place *place, uint32_t id,
                       const uint32_t argument[2])
{
    struct decode_stream *stream = place->stream;

    if (id == TARE_ID_OTHER_TASK_RUNS)
        session_keep_roles(stream->session);
    else if (id == TARE_ID_KERNEL)
        stream_kernel(place, argument);
    choose_roles(decoder);
    put_event(place, id, argument);
    stream->counts.events++;
    stream->counts.words_events += TARE_RECORD_WORDS(id);
    if (id == TARE_ID_UNNAMED0 || id == TARE_ID_UNNAMED1 || id == TARE_ID_UNNAMED2)
        stream->counts.unnamed++;
    change_context(&stream->state->context, decoder->roles[id], id);
    if ((decoder->roles[id] & ROLE_STRING) != 0)
        stream_open_text(place, NULL, argument[0]);
}

static void take_define(struct record_decoder *decoder, const struct place *place,
                        const uint32_t argument[2])
{
    uint32_t class = argument[0] >> 24, id = argument[0] & 0xFFFF;

    session_add_class(place->stream->session, class, id);
    choose_roles(decoder);
    if (definition_group(class) == DEFINITION_OBJECT)
        stream_object(place, id, argument[0] >> 16 & 0xFF);
    stream_open_text(place, argument, argument[1]);
}

/* A built-in record other than PAD and the epochs. */
static void take_built_in(struct record_decoder *decoder, const struct place *place, uint32_t id,
                          const uint32_t argument[2])
{
    struct decode_stream *stream = place->stream;
    uint64_t wide = (uint64_t)argument[1] << 32 | argument[0];
    struct note *note;

    switch (id) {
    case TARE_ID_TEXT:
        stream_text_record(place, argument);
        break;
    case TARE_ID_DEFINE:
        take_define(decoder, place, argument);
        break;
    case TARE_ID_DROPPED:
    case TARE_ID_SUPPRESSED:
        stream_loss(place, id == TARE_ID_SUPPRESSED, argument[0], argument[1]);
        break;
    case TARE_ID_TICK:
        note_add(place, NOTE_TICK)->tick = argument[0];
        break;
    case TARE_ID_CLOCK:
        note_add(place, NOTE_CLOCK)->rate = wide;
        if (stream->session->clock_rate == 0)
            stream->session->clock_rate = wide;
        break;
    case TARE_ID_SELF_COST:
        note = note_add(place, NOTE_COST);
        note->cost.words = argument[0];
        note->cost.milliticks = argument[1];
        if (argument[0] < 3)
            stream->cost_milliticks[argument[0]] = argument[1];
        break;
    case TARE_ID_END:
        stream_end(place, argument[0], argument[1]);
        break;
    default:
        note = note_add(place, NOTE_RESERVED);
        note->reserved.id = id;
        note->reserved.argument[0] = argument[0];
        note->reserved.argument[1] = argument[1];
        stream->counts.reserved++;
        break;
    }
}

/* EPOCH and EPOCH_WIDE: false when the record does not fit, else the new time is in *time. */
static bool read_epoch(const struct record_decoder *decoder, uint32_t id, uint32_t stamp,
                       const uint32_t argument[2], uint64_t *time)
{
    uint64_t high = decoder->stream->state->last_time >> TARE_STAMP_BITS;
    uint32_t grown = (argument[0] - (argument[0] >> 16)) & 0xFFFF;

    if (id == TARE_ID_EPOCH_WIDE) {
        *time = (uint64_t)argument[1] << 32 | argument[0];
        return (argument[0] & TARE_STAMP_MASK) == stamp;
    }
    *time = ((high + grown) & HIGH_MASK) << TARE_STAMP_BITS | stamp;
    return argument[0] >> 16 == (high & 0xFFFF) && grown != 0;
}

static bool is_event_id(uint32_t id)
{
    return id == TARE_ID_UNNAMED0 || id == TARE_ID_UNNAMED1 || id == TARE_ID_UNNAMED2 ||
           id == TARE_ID_OTHER_TASK_RUNS || id == TARE_ID_KERNEL || plain_roles[id] != 0;
}

static enum step damage(struct record_decoder *decoder, struct record_batch *batch,
                        enum stream_fault fault)
{
    struct place place = place_of(decoder, batch);
    struct stream_state *state = decoder->stream->state;

    note_fault(&place, fault);
    state->clean = false;
    state->loss_time_set = false;
    return STEP_DAMAGE;
}

static enum step take_pad(struct record_decoder *decoder, struct record_batch *batch, uint32_t word)
{
    if (word != 0 || decoder->pads == 2)
        return damage(decoder, batch, STREAM_FAULT_BAD_PAD);
    decoder->pads++;
    pass(decoder, 1);
    return STEP_ON;
}

/* The record at `at`, of any kind; `end`: words that are there. */
static enum step take_record(struct record_decoder *decoder, struct record_batch *batch,
                             uint32_t end)
{
    const uint32_t *words = decoder->block + decoder->at;
    uint32_t id = words[0] >> TARE_STAMP_BITS, stamp = words[0] & TARE_STAMP_MASK;
    uint32_t length = TARE_RECORD_WORDS(id), argument[2] = {0, 0};
    struct place place = place_of(decoder, batch);
    struct stream_state *state = decoder->stream->state;
    uint64_t time = (state->last_time & ~(uint64_t)TARE_STAMP_MASK) | stamp;
    bool is_epoch = id == TARE_ID_EPOCH || id == TARE_ID_EPOCH_WIDE;

    if (id == TARE_ID_ANCHOR)
        return STEP_ANCHOR;
    if (id == TARE_ID_PAD)
        return take_pad(decoder, batch, words[0]);
    if (decoder->pads > 0)
        return damage(decoder, batch, STREAM_FAULT_BAD_PAD);
    if (decoder->at + length > decoder->block_words)
        return damage(decoder, batch, STREAM_FAULT_CROSSING);
    if (decoder->at + length > end)
        return STEP_WAIT;
    if (length > 1)
        argument[0] = words[1];
    if (length > 2)
        argument[1] = words[2];
    if (is_epoch && !read_epoch(decoder, id, stamp, argument, &time))
        return damage(decoder, batch, STREAM_FAULT_BAD_EPOCH);

    place.ticks = time;
    if (time < state->last_time)
        note_clock_backwards(&place);
    state->last_time = time;
    count_time(&decoder->stream->counts, time);
    pass(decoder, length);
    if (id == TARE_ID_LOSS_TIME) {
        state->loss_time = (uint64_t)argument[1] << 32 | argument[0];
        state->loss_time_set = true;
        return STEP_ON;
    }
    if (is_event_id(id)) {
        take_event(decoder, &place, id, argument);
    } else if (is_epoch) {
        decoder->stream->counts.words_epochs += length;
        note_add(&place, NOTE_EPOCH);
    } else {
        take_built_in(decoder, &place, id, argument);
    }
    state->loss_time_set = false;
    return STEP_ON;
}

/* Decodes what is held of the block. */
static enum step take_block(struct record_decoder *decoder, struct record_batch *batch)
{
    struct stream_state *state = decoder->stream->state;
    uint32_t end = (uint32_t)(decoder->held / 4);
    enum step step = STEP_ON;

    if (end > decoder->block_words)
        end = decoder->block_words;
    if (decoder->swap)
        for (uint32_t i = decoder->swapped; i < end; i++)
            decoder->block[i] = __builtin_bswap32(decoder->block[i]);
    decoder->swapped = end;
    while (step == STEP_ON && decoder->at < end) {
        if (!state->loss_time_set && decoder->pads == 0)
            take_events(decoder, batch, end);
        if (decoder->at < end)
            step = take_record(decoder, batch, end);
    }
    if (step == STEP_ON)
        step = decoder->at == decoder->block_words ? STEP_BLOCK_END : STEP_WAIT;
    return step;
}

/* ------------------------------------------------------------------ input */

/* Puts the words from `at` on back into the order of the input. */
static void swap_back(struct record_decoder *decoder, uint32_t at)
{
    if (decoder->swap)
        for (uint32_t i = at; i < decoder->swapped; i++)
            decoder->block[i] = __builtin_bswap32(decoder->block[i]);
    if (decoder->swapped > at)
        decoder->swapped = at;
}

/* Puts what is held from word `at` on to the front. */
static void hold_from(struct record_decoder *decoder, uint32_t at)
{
    swap_back(decoder, at);
    decoder->held -= 4 * (size_t)at;
    memmove(decoder->block, decoder->block + at, decoder->held);
}

/* Damage: the search begins behind the block's anchor, because lost bytes may have hidden the next
 * anchor among words that were read wrong. */
static void lose_synchronisation(struct record_decoder *decoder)
{
    decoder->skipped = 4 * ((int64_t)TARE_ANCHOR_WORDS - (int64_t)decoder->at);
    hold_from(decoder, TARE_ANCHOR_WORDS);
    decoder->synchronised = decoder->anchor_due = false;
}

/* Looks for an anchor in what is held; drops what cannot be the beginning of one. */
static void search(struct record_decoder *decoder, struct record_batch *batch)
{
    unsigned char *bytes = held_bytes(decoder);
    size_t at = 0;
    struct anchor anchor;
    bool found;

    for (;;) {
        at += anchor_find(bytes + at, decoder->held - at, &anchor);
        found = at < decoder->held;
        if (!found || anchor_fits(decoder, &anchor))
            break;
        at++;
    }
    if (!found)
        at = decoder->held < ANCHOR_BYTES ? 0 : decoder->held - (ANCHOR_BYTES - 1);
    decoder->skipped += (int64_t)at;
    decoder->held -= at;
    memmove(bytes, bytes + at, decoder->held);
    if (found)
        take_anchor(decoder, &anchor, batch);
}

/* An anchor must stand behind the decoded words, and is held. */
static void expect_anchor(struct record_decoder *decoder, struct record_batch *batch)
{
    struct anchor anchor;

    swap_back(decoder, decoder->at);
    if (anchor_read(held_bytes(decoder) + 4 * (size_t)decoder->at, &anchor) &&
        anchor_fits(decoder, &anchor)) {
        hold_from(decoder, decoder->at);
        take_anchor(decoder, &anchor, batch);
    } else {
        damage(decoder, batch, STREAM_FAULT_BAD_ANCHOR);
        lose_synchronisation(decoder);
    }
}

/* Fills what is held up to `wanted` bytes; true when they are there. There may be more already. */
static bool fill(struct record_decoder *decoder, size_t wanted, const unsigned char **bytes,
                 size_t *size)
{
    size_t count = wanted > decoder->held ? wanted - decoder->held : 0;

    if (count > *size)
        count = *size;
    if (count == 0)
        return decoder->held >= wanted;
    memcpy(held_bytes(decoder) + decoder->held, *bytes, count);
    decoder->held += count;
    *bytes += count;
    *size -= count;
    return decoder->held >= wanted;
}

bool record_batch_full(const struct record_batch *batch)
{
    return batch->capacity - batch->count < BLOCK_WORDS_LIMIT || batch->note_count > NOTES_ENOUGH ||
           batch->texts.size > TEXTS_ENOUGH;
}

size_t record_feed(struct record_decoder *decoder, const void *bytes, size_t size,
                   struct record_batch *batch)
{
    const unsigned char *next = bytes;
    size_t left = size;
    bool more = true;

    while (more && !record_batch_full(batch)) {
        if (!decoder->synchronised) {
            more = fill(decoder, sizeof decoder->block, &next, &left);
            search(decoder, batch);
            more = more || decoder->synchronised;
            continue;
        }
        if (decoder->anchor_due) {
            more = fill(decoder, 4 * (size_t)decoder->at + ANCHOR_BYTES, &next, &left);
            if (more)
                expect_anchor(decoder, batch);
            continue;
        }
        more = fill(decoder, 4 * (size_t)decoder->block_words, &next, &left);
        switch (take_block(decoder, batch)) {
        case STEP_BLOCK_END:
        case STEP_ANCHOR:
            decoder->anchor_due = more = true;
            break;
        case STEP_DAMAGE:
            lose_synchronisation(decoder);
            more = true;
            break;
        case STEP_ON:
        case STEP_WAIT:
            break;
        }
    }
    return size - left;
}

/* Decodes all that is held as far as it goes; false: the batch is full before that. */
static bool drain(struct record_decoder *decoder, struct record_batch *batch)
{
    record_feed(decoder, NULL, 0, batch);
    return !record_batch_full(batch);
}

/* Gives up what is held and cannot be decoded without the bytes that are missing. */
static void give_up_held(struct record_decoder *decoder)
{
    if (!decoder->synchronised)
        decoder->skipped += (int64_t)decoder->held;
    else
        decoder->stream->counts.cut_bytes += decoder->held - 4 * (size_t)decoder->at;
    decoder->held = 0;
    decoder->synchronised = decoder->anchor_due = false;
}

bool record_hole(struct record_decoder *decoder, struct record_batch *batch)
{
    if (!drain(decoder, batch))
        return false;
    give_up_held(decoder);
    return true;
}

bool record_finish(struct record_decoder *decoder, struct record_batch *batch)
{
    if (!drain(decoder, batch))
        return false;
    if (decoder->synchronised && decoder->held > 4 * (size_t)decoder->at) {
        struct place place = place_of(decoder, batch);

        note_fault(&place, STREAM_FAULT_TRUNCATED);
    }
    give_up_held(decoder);
    report_skipped(decoder, batch);
    return true;
}
