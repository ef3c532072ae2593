/* The decoder of one stream, on words made by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>

#include "dec_record.h"
#include "stream_maker.h"

#define SESSION 0x5E51u
/* One-argument events that fill a block of 64 words behind its anchor. */
#define EVENTS 29
#define BLOCK_BYTES ((size_t)4 * 64)

/* What was read of the maker's words: everything in one batch. */
struct reading {
    struct decode_directory directory;
    struct record_decoder *decoder;
    struct record_batch batch;
};

static struct maker maker;

static void read_bytes(struct reading *reading, const void *bytes, size_t size, size_t piece)
{
    const unsigned char *at = bytes;

    *reading = (struct reading){0};
    reading->decoder = record_decoder_new(&reading->directory);
    record_batch_init(&reading->batch, 1u << 17);
    while (size > 0) {
        size_t part = piece < size ? piece : size;

        assert_int_equal(record_feed(reading->decoder, at, part, &reading->batch), part);
        at += part;
        size -= part;
    }
    assert_true(record_finish(reading->decoder, &reading->batch));
    for (size_t i = 0; i < reading->directory.stream_count; i++)
        record_close_stream(reading->directory.streams[i], &reading->batch);
}

static void read_maker(struct reading *reading)
{
    read_bytes(reading, maker.words, 4 * maker.count, SIZE_MAX);
}

static void done(struct reading *reading)
{
    record_batch_free(&reading->batch);
    record_decoder_free(reading->decoder);
    directory_free(&reading->directory);
}

static const struct note *note_of(const struct reading *reading, enum note_kind kind,
                                  unsigned number)
{
    for (uint32_t i = 0; i < reading->batch.note_count; i++)
        if (reading->batch.notes[i].kind == kind && number-- == 0)
            return &reading->batch.notes[i];
    fail_msg("no note of kind %d", (int)kind);
    return NULL;
}

static unsigned count_notes(const struct reading *reading, enum note_kind kind)
{
    unsigned count = 0;

    for (uint32_t i = 0; i < reading->batch.note_count; i++)
        count += reading->batch.notes[i].kind == kind;
    return count;
}

static void assert_event(const struct reading *reading, uint32_t number, uint64_t ticks,
                         uint32_t id, uint32_t first, uint32_t second)
{
    const struct event *event = &reading->batch.events[number];

    assert_true(number < reading->batch.count);
    assert_int_equal(event->ticks, ticks);
    assert_int_equal(event->id, id);
    assert_int_equal(event->argument[0], first);
    assert_int_equal(event->argument[1], second);
}

static void assert_faults(const struct reading *reading, enum stream_fault only, uint64_t count)
{
    const struct stream_counts *counts = &reading->directory.streams[0]->counts;

    for (unsigned i = 0; i < STREAM_FAULT_COUNT; i++)
        assert_int_equal(counts->faults[i], i == only ? count : 0);
}

static void assert_no_fault(const struct reading *reading)
{
    assert_faults(reading, STREAM_FAULT_COUNT, 0);
}

/* ------------------------------------------------------------------ records */

static void words_become_events(void **state)
{
    struct reading reading;

    (void)state;
    maker_begin(&maker, SESSION, 1, 64, 0x900812345);
    maker_record(&maker, 0x010, 0, 0);
    maker.ticks += 5;
    maker_record(&maker, 0x810, 42, 0);
    maker_record(&maker, 0xC10, 0xFFFFFFFF, 7);
    maker_record(&maker, TARE_ID_UNNAMED1, 9, 0);
    read_maker(&reading);
    assert_int_equal(reading.batch.count, 4);
    assert_event(&reading, 0, 0x900812345, 0x010, 0, 0);
    assert_event(&reading, 1, 0x90081234A, 0x810, 42, 0);
    assert_event(&reading, 2, 0x90081234A, 0xC10, 0xFFFFFFFF, 7);
    assert_event(&reading, 3, 0x90081234A, TARE_ID_UNNAMED1, 9, 0);
    assert_int_equal(reading.directory.streams[0]->counts.unnamed, 1);
    assert_int_equal(reading.directory.streams[0]->number, 1);
    assert_int_equal(reading.directory.sessions[0]->number, SESSION);
    assert_no_fault(&reading);
    done(&reading);
}

/* The anchor of FORMAT.md, section 4, byte for byte. */
static void anchor_of_the_document(void **state)
{
    static const unsigned char bytes[24] = {0xF8, 0xA6, 0xF7, 0xFF, 0x09, 0x00, 0x00, 0x18,
                                            0x01, 0x00, 0x51, 0x5E, 0x45, 0x23, 0x81, 0x00,
                                            0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};
    unsigned char other[24];
    struct anchor anchor;

    (void)state;
    assert_true(anchor_read(bytes, &anchor));
    assert_int_equal(anchor.stream, 1);
    assert_int_equal(anchor.session, SESSION);
    assert_int_equal(anchor.block_words, 256);
    assert_int_equal(anchor.ticks, 0x900812345);
    assert_false(anchor.big_endian);
    for (unsigned i = 0; i < 24; i++)
        other[i] = bytes[i / 4 * 4 + 3 - i % 4];
    assert_true(anchor_read(other, &anchor));
    assert_true(anchor.big_endian);
    assert_int_equal(anchor.ticks, 0x900812345);
    /* No single bit can be wrong. */
    for (unsigned bit = 0; bit < 8 * 24; bit++) {
        memcpy(other, bytes, sizeof other);
        other[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_false(anchor_read(other, &anchor));
    }
}

static void epochs_carry_the_time(void **state)
{
    struct reading reading;
    uint64_t wide = UINT64_C(0x7FFFFFFFFF12345);

    (void)state;
    maker_begin(&maker, SESSION, 1, 256, 0xFFFFF);
    maker_record(&maker, 0x010, 0, 0);
    maker_later(&maker, 1); /* high part 0 becomes 1 */
    maker_record(&maker, 0x011, 0, 0);
    maker_later(&maker, UINT64_C(65535) << 20);
    maker_record(&maker, 0x012, 0, 0);
    maker.ticks = wide;
    maker_record(&maker, TARE_ID_EPOCH_WIDE, (uint32_t)wide, (uint32_t)(wide >> 32));
    maker_record(&maker, 0x013, 0, 0);
    read_maker(&reading);
    assert_event(&reading, 0, 0xFFFFF, 0x010, 0, 0);
    assert_event(&reading, 1, 0x100000, 0x011, 0, 0);
    assert_event(&reading, 2, 0x100000 + (UINT64_C(65535) << 20), 0x012, 0, 0);
    assert_event(&reading, 3, wide, 0x013, 0, 0);
    assert_int_equal(count_notes(&reading, NOTE_EPOCH), 3);
    assert_no_fault(&reading);
    done(&reading);
}

static void clock_backwards_is_told_and_kept(void **state)
{
    struct reading reading;
    const struct note *note;

    (void)state;
    maker_begin(&maker, SESSION, 1, 64, 1000);
    maker_record(&maker, 0x010, 0, 0);
    maker.ticks = 990;
    maker_record(&maker, 0x010, 0, 0);
    maker.ticks = 995;
    maker_record(&maker, 0x010, 0, 0);
    read_maker(&reading);
    assert_int_equal(reading.batch.count, 3);
    assert_event(&reading, 1, 990, 0x010, 0, 0);
    assert_faults(&reading, STREAM_FAULT_CLOCK_BACKWARDS, 1);
    note = note_of(&reading, NOTE_FAULT, 0);
    assert_int_equal(note->fault.back_ticks, 10);
    assert_int_equal(note->index, 7);
    assert_int_equal(note->before, 1);
    done(&reading);
}

static void losses_have_place_and_size(void **state)
{
    struct reading reading;
    const struct note *note;

    (void)state;
    maker_begin(&maker, SESSION, 1, 64, 5000);
    maker_record(&maker, 0x010, 0, 0);
    maker.ticks = 6000;
    maker_record(&maker, TARE_ID_LOSS_TIME, 5100, 0);
    maker_record(&maker, TARE_ID_DROPPED, 3, 564);
    maker_record(&maker, TARE_ID_SUPPRESSED, 2, 0);
    maker_record(&maker, 0x011, 0, 0);
    read_maker(&reading);
    note = note_of(&reading, NOTE_LOSS, 0);
    assert_false(note->loss.suppressed);
    assert_int_equal(note->loss.count, 3);
    assert_int_equal(note->loss.span, 564);
    assert_true(note->loss.first_known);
    assert_int_equal(note->loss.first, 5100);
    assert_int_equal(note->before, 1);
    note = note_of(&reading, NOTE_LOSS, 1);
    assert_true(note->loss.suppressed);
    assert_false(note->loss.first_known);
    assert_int_equal(reading.directory.streams[0]->counts.dropped, 3);
    assert_int_equal(reading.directory.streams[0]->counts.suppressed, 2);
    assert_no_fault(&reading);
    done(&reading);
}

/* ------------------------------------------------------------------ texts and names */

static void definitions_name_events(void **state)
{
    struct reading reading;
    const struct definition *definition;

    (void)state;
    maker_begin(&maker, SESSION, 1, 64, 1);
    maker_define(&maker, TARE_CLASS_EVENT, 0xC10, "block read|size:u32:B|state:i32:{idle,busy,}");
    maker_define(&maker, TARE_CLASS_CATEGORY, 3, "net|work");
    maker_define(&maker, TARE_CLASS_STREAM, 1, "main");
    read_maker(&reading);
    assert_int_equal(count_notes(&reading, NOTE_DEFINE), 3);
    definition =
        definitions_find(&reading.directory.sessions[0]->definitions, DEFINITION_EVENT, 0xC10);
    assert_non_null(definition);
    assert_string_equal(definition->name, "block read");
    assert_int_equal(definition->argument_count, 2);
    assert_string_equal(definition->argument[0].name, "size");
    assert_string_equal(definition->argument[0].unit, "B");
    assert_int_equal(definition->argument[1].type, ARGUMENT_I32);
    assert_int_equal(definition->argument[1].value_count, 3);
    assert_string_equal(definition->argument[1].values[1], "busy");
    assert_string_equal(definition->argument[1].values[2], "");
    assert_string_equal(definition->argument[1].unit, "");
    definition =
        definitions_find(&reading.directory.sessions[0]->definitions, DEFINITION_CATEGORY, 3);
    assert_string_equal(definition->name, "net|work");
    assert_null(definitions_find(&reading.directory.sessions[0]->definitions, DEFINITION_EVENT, 3));
    done(&reading);
}

static void texts_nest(void **state)
{
    struct reading reading;
    const struct note *note;

    (void)state;
    maker_begin(&maker, SESSION, 1, 256, 1);
    maker_define(&maker, TARE_CLASS_STRING, 0x811, "log|length:u32:B");
    maker_record(&maker, 0x811, 10, 0); /* "outer text" in two pieces */
    maker_text(&maker, "outer te", 8);
    maker_record(&maker, 0x811, 5, 0); /* a signal handler's between them */
    maker_text(&maker, "inner", 5);
    maker_record(&maker, 0x811, 0, 0); /* and an empty one */
    maker_text(&maker, "xt", 2);
    read_maker(&reading);
    assert_int_equal(reading.batch.count, 3);
    note = note_of(&reading, NOTE_TEXT, 0);
    assert_string_equal(batch_text(&reading.batch, note), "inner");
    assert_int_equal(note->text.event, 1);
    note = note_of(&reading, NOTE_TEXT, 1);
    assert_int_equal(note->text.size, 0);
    assert_int_equal(note->text.event, 2);
    note = note_of(&reading, NOTE_TEXT, 2);
    assert_string_equal(batch_text(&reading.batch, note), "outer text");
    assert_int_equal(note->text.event, 0);
    assert_int_equal(reading.directory.streams[0]->counts.texts, 3);
    assert_no_fault(&reading);
    done(&reading);
}

static void a_loss_cuts_texts(void **state)
{
    struct reading reading;
    const struct note *note;

    (void)state;
    maker_begin(&maker, SESSION, 1, 256, 1);
    maker_define(&maker, TARE_CLASS_STRING, 0x811, "log|length:u32:B");
    maker_record(&maker, 0x811, 20, 0);
    maker_text(&maker, "only hal", 8);
    maker_record(&maker, TARE_ID_DROPPED, 1, 0);
    maker_text(&maker, "f", 1); /* belongs to nothing now */
    read_maker(&reading);
    note = note_of(&reading, NOTE_TEXT, 0);
    assert_true(note->text.cut);
    assert_string_equal(batch_text(&reading.batch, note), "only hal");
    assert_int_equal(reading.directory.streams[0]->counts.faults[STREAM_FAULT_CUT_TEXT], 1);
    assert_int_equal(reading.directory.streams[0]->counts.faults[STREAM_FAULT_ORPHAN_TEXT], 1);
    /* An event and two pieces of text were stored. */
    assert_int_equal(reading.directory.streams[0]->counts.events, 1);
    assert_int_equal(reading.directory.streams[0]->counts.texts, 2);
    done(&reading);
}

/* ------------------------------------------------------------------ blocks */

static void fill_blocks(uint32_t blocks)
{
    maker_begin(&maker, SESSION, 1, 64, 0x100000);
    while (maker.count < (size_t)blocks * 64 || maker.count % 64 != 0) {
        maker_record(&maker, 0x810, (uint32_t)maker.count, 0);
        maker.ticks += 3;
    }
}

static void a_missing_block_is_a_gap(void **state)
{
    struct reading reading;
    const struct note *note;

    (void)state;
    fill_blocks(4);
    memmove(maker.words + 64, maker.words + 128, 2 * BLOCK_BYTES);
    maker.count = 192;
    read_maker(&reading);
    assert_int_equal(reading.batch.count, 3 * EVENTS);
    note = note_of(&reading, NOTE_GAP, 0);
    assert_int_equal(note->gap.words, 64);
    assert_int_equal(note->before, EVENTS);
    assert_false(note->gap.before);
    assert_int_equal(note->gap.from_ticks, 0x100000 + (EVENTS - 1) * 3);
    assert_no_fault(&reading);
    done(&reading);
}

static void swapped_blocks_are_told(void **state)
{
    struct reading reading;
    uint32_t block[64];

    (void)state;
    fill_blocks(4);
    memcpy(block, maker.words + 64, sizeof block);
    memmove(maker.words + 64, maker.words + 128, sizeof block);
    memcpy(maker.words + 128, block, sizeof block);
    read_maker(&reading);
    assert_int_equal(reading.batch.count, 4 * EVENTS);
    assert_faults(&reading, STREAM_FAULT_INDEX_BACKWARDS, 1);
    assert_int_equal(count_notes(&reading, NOTE_GAP), 2);
    done(&reading);
}

static void a_late_reader_is_told_of_the_beginning(void **state)
{
    struct reading reading;
    const struct note *note;

    (void)state;
    fill_blocks(3);
    read_bytes(&reading, (unsigned char *)maker.words + 101, 4 * maker.count - 101, SIZE_MAX);
    assert_int_equal(record_skipped_before(reading.decoder), 64 * 4 - 101);
    note = note_of(&reading, NOTE_GAP, 0);
    assert_true(note->gap.before);
    assert_int_equal(note->gap.words, 64);
    assert_int_equal(reading.batch.count, 2 * EVENTS);
    done(&reading);
}

static void lost_bytes_cost_their_block_alone(void **state)
{
    (void)state;
    for (size_t lost = 1; lost < 60; lost++)
        for (size_t at = BLOCK_BYTES + 24; at + lost <= 2 * BLOCK_BYTES; at += 7) {
            struct reading reading;
            unsigned char *bytes = (unsigned char *)maker.words;

            fill_blocks(4);
            memmove(bytes + at, bytes + at + lost, 4 * maker.count - at - lost);
            read_bytes(&reading, bytes, 4 * maker.count - lost, SIZE_MAX);
            assert_true(reading.batch.count >= 3 * EVENTS);
            /* The last two blocks are whole. */
            assert_event(&reading, reading.batch.count - 1, 0x100000 + 115 * 3, 0x810, 254, 0);
            assert_event(&reading, reading.batch.count - 58, 0x100000 + 58 * 3, 0x810, 128, 0);
            done(&reading);
        }
}

/* Words lost at a border of records: the next anchor stands in the middle of a block. */
static void an_anchor_within_a_block_is_taken(void **state)
{
    (void)state;
    for (int order = 0; order < 2; order++)
        for (uint32_t kept = 0; kept < EVENTS; kept++) {
            struct reading reading;
            uint32_t words = 6 + 2 * kept;

            fill_blocks(4);
            memmove(maker.words + 64 + words, maker.words + 128, 2 * BLOCK_BYTES);
            maker.count = 64 + words + 128;
            if (order == 1)
                maker_swap(&maker);
            read_maker(&reading);
            assert_int_equal(reading.batch.count, 3 * EVENTS + kept);
            assert_int_equal(note_of(&reading, NOTE_GAP, 0)->gap.words, 64 - words);
            assert_no_fault(&reading);
            done(&reading);
        }
}

static void damage_ends_its_block(enum stream_fault fault, uint32_t word, uint32_t next)
{
    struct reading reading;

    fill_blocks(3);
    maker.words[64 + 6 + 10] = word;
    maker.words[64 + 6 + 11] = next;
    read_maker(&reading);
    assert_faults(&reading, fault, 1);
    assert_int_equal(note_of(&reading, NOTE_FAULT, 0)->index, 64 + 6 + 10);
    assert_int_equal(reading.batch.count, EVENTS + 5 + EVENTS);
    assert_int_equal(reading.directory.streams[0]->counts.skipped_bytes, 4 * (64 - 6 - 10));
    done(&reading);
}

static void each_damage_has_its_name(void **state)
{
    (void)state;
    damage_ends_its_block(STREAM_FAULT_BAD_PAD, 0x00000001, 0);
    damage_ends_its_block(STREAM_FAULT_BAD_ANCHOR, 0xFFF00000, 0);
    damage_ends_its_block(STREAM_FAULT_BAD_EPOCH, 0x800FFFFF, 0x00020003); /* old part is 1 */
    damage_ends_its_block(STREAM_FAULT_BAD_EPOCH, 0x800FFFFF, 0x00010001);
    damage_ends_its_block(STREAM_FAULT_BAD_EPOCH, 0xC00FFFFF, 0x00000001);
}

static void a_record_must_not_cross_its_block(void **state)
{
    struct reading reading;

    (void)state;
    fill_blocks(3);
    maker.words[126] = 0x010u << 20 | 57 * 3; /* an event without argument, */
    maker.words[127] = 0x810u << 20 | 57 * 3; /* one argument, no room for it */
    read_maker(&reading);
    assert_faults(&reading, STREAM_FAULT_CROSSING, 1);
    assert_int_equal(reading.batch.count, 3 * EVENTS);
    done(&reading);
}

static void data_may_end_anywhere(void **state)
{
    (void)state;
    fill_blocks(2);
    for (size_t size = 0; size <= 4 * maker.count; size++) {
        struct reading reading;
        size_t words = size / 4, in_block = words % 64;
        size_t events = words / 64 * EVENTS + (in_block > 6 ? (in_block - 6) / 2 : 0);
        /* Within a word, an anchor or an event of two words. */
        bool cut = size % 4 != 0 || (in_block > 0 && (in_block < 6 || in_block % 2 != 0));

        read_bytes(&reading, maker.words, size, SIZE_MAX);
        if (size >= 24) {
            assert_int_equal(reading.batch.count, events);
            assert_faults(&reading, STREAM_FAULT_TRUNCATED, cut ? 1 : 0);
        } else {
            assert_int_equal(reading.directory.stream_count, 0);
            assert_int_equal(record_skipped_before(reading.decoder), size);
        }
        done(&reading);
    }
}

static void another_session_is_another_stream(void **state)
{
    static struct maker other;
    struct reading reading;

    (void)state;
    fill_blocks(2);
    maker_begin(&other, SESSION + 1, 1, 64, 7);
    maker_record(&other, 0x010, 0, 0);
    memcpy(maker.words + maker.count, other.words, 4 * other.count);
    maker.count += other.count;
    read_maker(&reading);
    assert_int_equal(reading.directory.stream_count, 2);
    assert_int_equal(reading.batch.events[reading.batch.count - 1].stream, 1);
    assert_int_equal(reading.directory.streams[1]->session->number, SESSION + 1);
    assert_int_equal(count_notes(&reading, NOTE_GAP), 0);
    done(&reading);
}

/* The index has 32 bits; a stream may be longer. */
static void the_index_wraps(void **state)
{
    struct reading reading;

    (void)state;
    fill_blocks(4);
    for (uint32_t block = 0; block < 4; block++) {
        maker.words[64 * block + TARE_ANCHOR_INDEX] += 0u - 128u;
        maker_check(&maker, (size_t)64 * block);
    }
    read_maker(&reading);
    assert_int_equal(count_notes(&reading, NOTE_GAP), 1); /* the one before the first block */
    assert_true(note_of(&reading, NOTE_GAP, 0)->gap.before);
    assert_int_equal(reading.batch.count, 4 * EVENTS);
    assert_no_fault(&reading);
    done(&reading);
}

/* ------------------------------------------------------------------ totals */

static void totals_must_agree(void **state)
{
    struct reading reading;

    (void)state;
    maker_begin(&maker, SESSION, 1, 64, 1);
    maker_record(&maker, 0x010, 0, 0);
    maker_record(&maker, TARE_ID_DROPPED, 5, 0);
    while (maker.count < 64)
        maker_record(&maker, 0x010, 0, 0);
    maker.dropped = 4; /* less than the record before it says */
    maker_record(&maker, 0x010, 0, 0);
    read_maker(&reading);
    assert_int_equal(reading.directory.streams[0]->counts.faults[STREAM_FAULT_BAD_TOTAL], 1);
    done(&reading);
}

static void a_total_finds_loss_without_record(void **state)
{
    struct reading reading;

    (void)state;
    fill_blocks(3);
    maker.words[128 + TARE_ANCHOR_DROPPED] = 17;
    maker_check(&maker, 128);
    /* The block with the record is missing. */
    memmove(maker.words + 64, maker.words + 128, BLOCK_BYTES);
    maker.count = 128;
    read_maker(&reading);
    assert_int_equal(reading.directory.streams[0]->counts.dropped, 17);
    assert_int_equal(reading.directory.streams[0]->counts.dropped_records, 0);
    assert_no_fault(&reading);
    done(&reading);
}

static void the_ring_knows_what_is_pending(void **state)
{
    struct tare_ring ring = {.magic = TARE_RING_MAGIC,
                             .block_words = 64,
                             .state = TARE_RING_ACTIVE,
                             .dropped = 4,
                             .pending_dropped = {4, 100, 0, 130, 0},
                             .up.write_offset = 12,
                             .writing = 13,
                             .dropped_before = 4};
    struct reading reading = {0};
    struct decode_stream *stream = directory_stream(&reading.directory, SESSION, 1);
    const struct note *note;

    (void)state;
    stream->last_ring = memory_new(1, sizeof ring);
    *stream->last_ring = ring;
    stream->ring_is_last = true;
    record_batch_init(&reading.batch, 512);
    record_ring(stream, &ring, &reading.batch);
    record_close_stream(stream, &reading.batch);
    note = note_of(&reading, NOTE_LOSS, 0);
    assert_true(note->loss.pending);
    assert_int_equal(note->loss.count, 4);
    assert_int_equal(note->loss.first, 100);
    assert_int_equal(note->loss.span, 30);
    assert_int_equal(stream->counts.dropped, 4);
    assert_int_equal(stream->counts.torn, 1);
    assert_int_equal(note_of(&reading, NOTE_TOTAL, 0)->before, 0);
    done(&reading);
}

/* ------------------------------------------------------------------ any way of feeding */

static void make_mixture(void)
{
    maker_begin(&maker, SESSION, 1, 64, 0x1234567);
    maker_define(&maker, TARE_CLASS_STRING, 0x811, "log|length:u32:B");
    for (uint32_t i = 0; i < 200; i++) {
        maker_later(&maker, 100000);
        maker_record(&maker, 0x810 + i % 3, i == 1 ? 9 : i % 3 == 1 ? 3 : i, 0);
        if (i % 3 == 1)
            maker_text(&maker, "textmore!", i == 1 ? 9 : 3);
        maker_record(&maker, 0xC10, i, ~i);
        maker_record(&maker, 0x010, 0, 0);
    }
    maker.words[64 * 3 + 20] ^= 0x80000000; /* and some damage */
    maker.words[(size_t)64 * 5] ^= 1;
}

static void the_size_of_pieces_changes_nothing(void **state)
{
    struct reading whole, pieces;

    (void)state;
    make_mixture();
    for (int order = 0; order < 2; order++) {
        read_maker(&whole);
        assert_true(whole.batch.count > 400);
        assert_true(count_notes(&whole, NOTE_FAULT) >= 2);
        for (size_t piece = 1; piece <= 80; piece++) {
            read_bytes(&pieces, maker.words, 4 * maker.count, piece);
            assert_int_equal(pieces.batch.count, whole.batch.count);
            assert_memory_equal(pieces.batch.events, whole.batch.events,
                                whole.batch.count * sizeof(struct event));
            assert_int_equal(pieces.batch.note_count, whole.batch.note_count);
            for (uint32_t i = 0; i < whole.batch.note_count; i++) {
                assert_int_equal(pieces.batch.notes[i].kind, whole.batch.notes[i].kind);
                assert_int_equal(pieces.batch.notes[i].index, whole.batch.notes[i].index);
                assert_int_equal(pieces.batch.notes[i].before, whole.batch.notes[i].before);
            }
            done(&pieces);
        }
        done(&whole);
        maker_swap(&maker); /* once more in the other byte order */
    }
}

/* A small batch is handed on again and again; text and event stay together where they can. */
static void small_batches_lose_nothing(void **state)
{
    struct reading whole, small = {0};
    const unsigned char *bytes = (const unsigned char *)maker.words;
    size_t at = 0, size, events = 0, notes = 0;
    bool finished = false;

    (void)state;
    make_mixture();
    size = 4 * maker.count;
    read_maker(&whole);
    small.decoder = record_decoder_new(&small.directory);
    record_batch_init(&small.batch, RECORD_BATCH_LEAST);
    while (!finished) {
        if (record_batch_full(&small.batch)) {
            events += small.batch.count;
            notes += small.batch.note_count;
            record_batch_clear(&small.batch);
        }
        if (at < size)
            at += record_feed(small.decoder, bytes + at, size - at, &small.batch);
        else
            finished = record_finish(small.decoder, &small.batch);
    }
    for (size_t i = 0; i < small.directory.stream_count; i++)
        record_close_stream(small.directory.streams[i], &small.batch);
    assert_true(events > 0);
    assert_int_equal(events + small.batch.count, whole.batch.count);
    assert_int_equal(notes + small.batch.note_count, whole.batch.note_count);
    done(&whole);
    done(&small);
}

/* Every bit of a small recording, one after the other: no crash, and what was read stays plausible.
 */
static void any_bit_may_flip(void **state)
{
    (void)state;
    fill_blocks(3);
    for (size_t bit = 0; bit < 32 * maker.count; bit++) {
        struct reading reading;
        size_t block = bit / 32 / 64;

        maker.words[bit / 32] ^= UINT32_C(1) << bit % 32;
        read_maker(&reading);
        maker.words[bit / 32] ^= UINT32_C(1) << bit % 32;
        /* The two other blocks are read whole. */
        assert_true(reading.batch.count >= 2 * EVENTS);
        if (block != 0)
            assert_event(&reading, 0, 0x100000, 0x810, 0, 0);
        if (block != 2)
            assert_event(&reading, reading.batch.count - 1, 0x100000 + 86 * 3, 0x810, 190, 0);
        done(&reading);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_become_events),
        cmocka_unit_test(anchor_of_the_document),
        cmocka_unit_test(epochs_carry_the_time),
        cmocka_unit_test(clock_backwards_is_told_and_kept),
        cmocka_unit_test(losses_have_place_and_size),
        cmocka_unit_test(definitions_name_events),
        cmocka_unit_test(texts_nest),
        cmocka_unit_test(a_loss_cuts_texts),
        cmocka_unit_test(a_missing_block_is_a_gap),
        cmocka_unit_test(swapped_blocks_are_told),
        cmocka_unit_test(a_late_reader_is_told_of_the_beginning),
        cmocka_unit_test(lost_bytes_cost_their_block_alone),
        cmocka_unit_test(an_anchor_within_a_block_is_taken),
        cmocka_unit_test(each_damage_has_its_name),
        cmocka_unit_test(a_record_must_not_cross_its_block),
        cmocka_unit_test(data_may_end_anywhere),
        cmocka_unit_test(another_session_is_another_stream),
        cmocka_unit_test(the_index_wraps),
        cmocka_unit_test(totals_must_agree),
        cmocka_unit_test(a_total_finds_loss_without_record),
        cmocka_unit_test(the_ring_knows_what_is_pending),
        cmocka_unit_test(the_size_of_pieces_changes_nothing),
        cmocka_unit_test(small_batches_lose_nothing),
        cmocka_unit_test(any_bit_may_flip),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
