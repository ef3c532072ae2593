#include "dec_cursor.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#define WINDOW_BYTES (64u << 10)
#define WINDOW_PIECES (WINDOW_BYTES / 256u + 1u)
/* Fed at once; so many events fit between BATCH_ENOUGH and the batch's end. */
#define SLICE_BYTES (8u << 10)
#define BATCH_ENOUGH 2048u
#define BATCH_EVENTS 4608u

void cursor_add(struct cursor *cursor, uint32_t segment)
{
    if (cursor->count == cursor->capacity) {
        cursor->capacity = 2 * cursor->capacity + 2;
        cursor->segments =
            memory_resize(cursor->segments, cursor->capacity, sizeof *cursor->segments);
    }
    cursor->segments[cursor->count++] = segment;
    cursor->words += cursor->reader->list->segment[segment].bytes / 4;
}

static void begin(struct cursor *cursor)
{
    uint64_t bytes = 4 * cursor->words + 1024;
    uint64_t events = cursor->words + RECORD_BATCH_LEAST;

    cursor->window_bytes = bytes < WINDOW_BYTES ? (size_t)bytes : WINDOW_BYTES;
    cursor->window = memory_new(cursor->window_bytes, 1);
    cursor->hashes = memory_new(WINDOW_PIECES, sizeof *cursor->hashes);
    record_batch_init(&cursor->batch, events < BATCH_EVENTS ? (uint32_t)events : BATCH_EVENTS);
    cursor->open = true;
}

static void give_back(struct cursor *cursor)
{
    free(cursor->window);
    free(cursor->hashes);
    record_batch_free(&cursor->batch);
    cursor->window = NULL;
    cursor->hashes = NULL;
    cursor->open = false;
}

void cursor_free(struct cursor *cursor)
{
    if (cursor->open)
        give_back(cursor);
    free(cursor->segments);
    *cursor = (struct cursor){0};
}

/* ------------------------------------------------------------------ bytes of a segment */

static struct input *input_of(const struct cursor *cursor, const struct segment *segment)
{
    return &cursor->reader->inputs[segment->input];
}

static void report_skipped(const struct cursor *cursor, struct input *input, uint64_t offset,
                           uint64_t place)
{
    uint64_t bytes = record_skipped_before(input->decoder);

    input->skipped_reported = true;
    facts_skipped(cursor->reader->facts, offset, bytes, place);
}

/* Place in the file of byte `at` of the window. */
static uint64_t place_of(const struct cursor *cursor, size_t at)
{
    return cursor->segment->offset + cursor->loaded - (cursor->end - at);
}

static void unreadable(const struct cursor *cursor, uint64_t offset, uint64_t bytes)
{
    facts_add(cursor->reader->facts, &(struct file_finding){.kind = FINDING_FAULT,
                                                            .fault = FILE_FAULT_UNREADABLE,
                                                            .offset = offset,
                                                            .bytes = bytes});
}

/* Size of the piece that begins `done` bytes into the segment. */
static uint64_t piece_at(const struct segment *segment, uint64_t done)
{
    uint64_t words = segment->piece / 4;
    uint64_t piece = segment->piece - (segment->position + done / 4) % words * 4;

    return piece < segment->bytes - done ? piece : segment->bytes - done;
}

/* Pieces before byte `done` of the segment, where a piece begins. */
static uint64_t pieces_before(const struct segment *segment, uint64_t done)
{
    uint64_t words = segment->piece / 4, first = segment->position % words;

    return done == 0 ? 0 : (first + done / 4) / words;
}

bool segment_piece_right(struct source *source, const struct segment *segment, const void *piece)
{
    unsigned char hash[4];
    size_t size = (size_t)piece_at(segment, 0);

    return source_read(source, segment->table, hash, sizeof hash) == sizeof hash &&
           (uint32_t)XXH64(piece, size, 0) == get_little(hash, 4);
}

static void load(struct cursor *cursor)
{
    struct reader *reader = cursor->reader;
    const struct segment *segment = cursor->segment;
    uint64_t begin_at = cursor->loaded, size = 0, pieces = 0, table;
    size_t count;

    cursor->next = cursor->good = cursor->piece = 0;
    if (segment->kind == SEGMENT_STREAM) {
        uint64_t piece;

        while (begin_at + size < segment->bytes &&
               size + (piece = piece_at(segment, begin_at + size)) <= cursor->window_bytes) {
            size += piece;
            pieces++;
        }
        table = segment->table + 4 * pieces_before(segment, begin_at);
        count = source_read(reader->source, table, cursor->hashes, 4 * pieces);
        memset((char *)cursor->hashes + count, 0, 4 * pieces - count);
    } else {
        size = segment->bytes - begin_at;
        if (size > cursor->window_bytes)
            size = cursor->window_bytes;
    }
    count = source_read(reader->source, segment->offset + begin_at, cursor->window, size);
    if (count < size) {
        unreadable(cursor, segment->offset + begin_at + count, size - count);
        memset(cursor->window + count, 0, size - count);
    }
    cursor->end = size;
    cursor->loaded += size;
    reader->done += size;
}

/* Verifies pieces of the window up to the first bad one. */
static void verify(struct cursor *cursor)
{
    const struct segment *segment = cursor->segment;
    uint64_t window_at = cursor->loaded - cursor->end;

    if (segment->kind != SEGMENT_STREAM) {
        cursor->good = cursor->end;
        return;
    }
    while (cursor->good < cursor->end) {
        size_t size = piece_at(segment, window_at + cursor->good);
        const unsigned char *piece = cursor->window + cursor->good;
        uint64_t hash = get_little((const unsigned char *)&cursor->hashes[cursor->piece], 4);

        if ((uint32_t)XXH64(piece, size, 0) != hash) {
            if (cursor->good > cursor->next)
                return; /* first those before it */
            facts_add(cursor->reader->facts,
                      &(struct file_finding){.kind = FINDING_FAULT,
                                             .fault = FILE_FAULT_BAD_PIECE,
                                             .offset = place_of(cursor, cursor->good),
                                             .bytes = size,
                                             .has_stream = true,
                                             .stream = segment->stream,
                                             .index = segment->position +
                                                      (window_at + cursor->good) / 4});
            cursor->hole = true;
            cursor->next = cursor->good += size;
            cursor->piece++;
            return;
        }
        cursor->good += size;
        cursor->piece++;
    }
}

/* ------------------------------------------------------------------ steps; each false: batch full
 */

static bool feed(struct cursor *cursor)
{
    struct input *input = input_of(cursor, cursor->segment);
    size_t size = cursor->good - cursor->next;

    if (size > SLICE_BYTES)
        size = SLICE_BYTES;
    cursor->next +=
        record_feed(input->decoder, cursor->window + cursor->next, size, &cursor->batch);
    if (!input->skipped_reported && record_stream(input->decoder) != NULL)
        report_skipped(cursor, input, place_of(cursor, cursor->next), cursor->segment->place);
    return !record_batch_full(&cursor->batch);
}

static bool finish_input(struct cursor *cursor, struct input *input, uint64_t offset)
{
    if (input->decoder == NULL)
        return true;
    if (!record_finish(input->decoder, &cursor->batch))
        return false;
    if (!input->skipped_reported)
        report_skipped(cursor, input, offset, 0);
    record_decoder_free(input->decoder);
    input->decoder = NULL;
    input->finished = true;
    return true;
}

static bool leave_segment(struct cursor *cursor)
{
    const struct segment *segment = cursor->segment;
    struct input *input = input_of(cursor, segment);

    if (segment->kind == SEGMENT_SALVAGE &&
        !finish_input(cursor, input, segment->offset + segment->bytes))
        return false;
    cursor->segment = NULL;
    return true;
}

static void take_ring(struct cursor *cursor, const struct segment *segment)
{
    unsigned char bytes[sizeof(struct tare_ring)];
    struct tare_ring ring;
    uint32_t version;
    bool big_endian;

    if (source_read(cursor->reader->source, segment->offset, bytes, sizeof bytes) == sizeof bytes &&
        ring_read(bytes, &ring, &big_endian, &version))
        record_ring(directory_stream(cursor->reader->directory, segment->session, segment->stream),
                    &ring, &cursor->batch);
}

static void take_name(struct cursor *cursor, const struct segment *segment, uint64_t offset,
                      const unsigned char *entry)
{
    struct decode_directory *directory = cursor->reader->directory;
    struct decode_session *session = directory_session(directory, segment->session);
    const char *text = (const char *)entry + 4;
    const struct definition *definition;
    struct decode_stream *stream = NULL;
    uint32_t what;

    memcpy(&what, entry, 4);
    if (segment->swap)
        what = __builtin_bswap32(what);
    if (what == 0)
        return;
    session_add_class(session, what >> 24, what & 0xFFFF);
    definition = definitions_add(&session->definitions, what >> 24, what >> 16 & 0xFF,
                                 what & 0xFFFF, text, strnlen(text, segment->piece - 4));
    if (definition_group(definition->class) == DEFINITION_OBJECT)
        definitions_expect(&session->definitions, definition->id, definition->generation,
                           UINT64_MAX);
    if (segment->stream <= 0xFFFF)
        stream = directory_find_stream(directory, segment->session, segment->stream);
    if (stream != NULL && stream->state != NULL)
        record_name(stream, definition, &cursor->batch);
    else if (cursor->reader->names_listed)
        facts_add(cursor->reader->facts, &(struct file_finding){.kind = FINDING_NAME,
                                                                .offset = offset,
                                                                .stream = segment->stream,
                                                                .definition = definition});
}

/* Entries of a names table, as many as fit into a part of the window. */
static void take_names(struct cursor *cursor, const struct segment *segment)
{
    uint64_t offset = segment->offset + cursor->loaded;
    uint64_t left = segment->bytes - cursor->loaded;
    size_t most = cursor->window_bytes / segment->piece * segment->piece, count;
    size_t size = left < most ? (size_t)left : most;

    if (size > SLICE_BYTES)
        size = SLICE_BYTES - SLICE_BYTES % segment->piece;
    count = source_read(cursor->reader->source, offset, cursor->window, size);
    if (count < size)
        unreadable(cursor, offset + count, size - count);
    for (size_t at = 0; at + segment->piece <= count; at += segment->piece)
        take_name(cursor, segment, offset + at, cursor->window + at);
    cursor->loaded += size;
    cursor->reader->done += size;
    if (cursor->loaded == segment->bytes)
        cursor->segment = NULL;
}

static void enter_segment(struct cursor *cursor)
{
    const struct segment *segment = &cursor->reader->list->segment[cursor->segments[cursor->at++]];
    struct input *input = input_of(cursor, segment);

    cursor->loaded = 0;
    if (segment->kind == SEGMENT_RING) {
        take_ring(cursor, segment);
        return;
    }
    if (segment->kind == SEGMENT_NAMES) {
        cursor->segment = segment->bytes > 0 ? segment : NULL;
        return;
    }
    if (input->decoder == NULL) {
        input->decoder = record_decoder_new(cursor->reader->directory);
        record_unverified(input->decoder, segment->kind == SEGMENT_SALVAGE);
        if (cursor->one_stream)
            record_expect(input->decoder, segment->session, segment->stream);
    }
    cursor->segment = segment;
    cursor->next = cursor->good = cursor->end = 0;
    if (input->begun && segment->position != input->next_position)
        cursor->hole = true;
    input->begun = true;
    input->next_position = segment->position + segment->bytes / 4;
}

/* Ends the inputs and then the streams of the cursor's segments, one a call; false at the end. */
static bool wind_up(struct cursor *cursor)
{
    struct reader *reader = cursor->reader;

    if (cursor->finishing < cursor->count) {
        const struct segment *segment = &reader->list->segment[cursor->segments[cursor->finishing]];

        /* What they skipped is found behind all else, the cut of the file included. */
        if (segment->kind == SEGMENT_RING || segment->kind == SEGMENT_NAMES ||
            finish_input(cursor, input_of(cursor, segment), reader->source->size + 2))
            cursor->finishing++;
        return true;
    }
    if (cursor->closing < cursor->count) {
        const struct segment *segment = &reader->list->segment[cursor->segments[cursor->closing]];
        struct decode_stream *stream = NULL;

        if (segment->kind == SEGMENT_STREAM || segment->kind == SEGMENT_RING)
            stream = directory_find_stream(reader->directory, segment->session, segment->stream);
        if (stream != NULL && stream->state != NULL)
            record_close_stream(stream, &cursor->batch);
        cursor->closing++;
        return true;
    }
    return false;
}

static bool is_enough(const struct cursor *cursor)
{
    const struct record_decoder *decoder =
        cursor->segment != NULL ? input_of(cursor, cursor->segment)->decoder : NULL;

    if (record_batch_full(&cursor->batch))
        return true;
    if (cursor->batch.count < BATCH_ENOUGH && cursor->batch.note_count < BATCH_ENOUGH)
        return false;
    /* Texts are wanted in the batch of their event. */
    return decoder == NULL || !record_text_open(decoder, &cursor->batch);
}

/* One step through the segment that is open. */
static void go_on_with(struct cursor *cursor, const struct segment *segment)
{
    if (segment->kind == SEGMENT_NAMES)
        take_names(cursor, segment);
    else if (cursor->hole)
        cursor->hole = !record_hole(input_of(cursor, segment)->decoder, &cursor->batch);
    else if (cursor->next < cursor->good)
        feed(cursor);
    else if (cursor->good < cursor->end)
        verify(cursor);
    else if (cursor->loaded < segment->bytes)
        load(cursor);
    else
        leave_segment(cursor);
}

bool cursor_fill(struct cursor *cursor)
{
    if (cursor->ended) {
        if (cursor->open)
            give_back(cursor);
        return false;
    }
    if (!cursor->open)
        begin(cursor);
    record_batch_clear(&cursor->batch);
    cursor->event_at = cursor->note_at = 0;
    while (!is_enough(cursor)) {
        if (cursor->segment != NULL) {
            go_on_with(cursor, cursor->segment);
        } else if (cursor->at < cursor->count) {
            enter_segment(cursor);
        } else if (!wind_up(cursor)) {
            cursor->ended = true;
            break;
        }
    }
    if (cursor->batch.count > 0 || cursor->batch.note_count > 0)
        return true;
    give_back(cursor);
    return false;
}
