/* Recordings as files: what the writer writes the reader reads, merged by time, and no damage costs
 * more than what it touches. ctest: timeout=120 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cap_container.h"
#include "dec_input.h"
#include "dec_listing.h"
#include "stream_maker.h"

#define SESSION 0x5E51u
/* One-argument events that fill a block of 64 words behind its anchor. */
#define EVENTS 29

static struct maker one, two;

/* ------------------------------------------------------------------ files */

static void write_bytes(const char *path, const void *bytes, size_t size)
{
    struct error error = {0};

    assert_true(file_write(path, bytes, size, &error));
}

/* A stream of whole blocks: events with the arguments 0, 1, ..., `step` ticks apart. */
static void fill(struct maker *maker, uint32_t stream, uint32_t blocks, uint64_t ticks,
                 uint64_t step)
{
    maker_begin(maker, SESSION, stream, 64, ticks);
    for (uint32_t i = 0; i < blocks * EVENTS; i++) {
        maker_record(maker, 0x810, i, 0);
        maker->ticks += step;
    }
}

static struct tare_ring ring_of(const struct maker *maker, uint32_t kind)
{
    return (struct tare_ring){.id = "TARE ring",
                              .up_channels = 1,
                              .magic = TARE_RING_MAGIC,
                              .version = TARE_FORMAT_VERSION,
                              .block_words = maker->block_words,
                              .session = maker->session,
                              .stream = maker->stream,
                              .kind = kind,
                              .state = TARE_RING_CLOSED,
                              .process = 100,
                              .thread = 100 + maker->stream};
}

static void write_stream(struct container *container, const struct maker *maker, size_t from,
                         size_t to)
{
    container_stream(container, maker->stream, from, 4 * maker->block_words, maker->words + from,
                     4 * (to - from));
}

/* Two streams of three blocks each, in chunks that do not end at borders of blocks. */
static void write_recording(const char *path)
{
    struct container container;
    struct error error = {0};
    struct tare_ring ring;

    fill(&one, 1, 3, 1000, 10);
    fill(&two, 2, 3, 1005, 10);
    assert_true(container_create(&container, path, SESSION, &error));
    container.arrival_ns = 1;
    container_info(&container, "{\"command\":[\"test\"]}");
    container_clock(&container, 1000, 50000, 900000, 10);
    for (int i = 0; i < 2; i++) {
        ring = ring_of(i == 0 ? &one : &two, TARE_RING_EVENTS);
        container_ring(&container, ring.stream, &ring);
    }
    write_stream(&container, &one, 0, 101); /* within a record */
    write_stream(&container, &two, 0, 64);
    write_stream(&container, &one, 101, one.count);
    write_stream(&container, &two, 64, 80);
    write_stream(&container, &two, 80, two.count);
    for (int i = 0; i < 2; i++) {
        ring = ring_of(i == 0 ? &one : &two, TARE_RING_EVENTS);
        container_ring(&container, ring.stream, &ring);
    }
    container_clock(&container, 2000, 60000, 910000, 10);
    container_end(&container, "{}");
    assert_true(container_close(&container, &error));
}

static void read_file(const char *path, struct buffer *bytes)
{
    struct error error = {0};

    assert_true(file_read(path, bytes, &error));
}

/* ------------------------------------------------------------------ what is read */

struct seen {
    uint32_t events[3]; /* by number of the stream */
    uint32_t all;
    uint64_t last_ticks;
    uint32_t unverified, gaps;
    uint64_t damaged; /* faults of the file */
    bool finished;
};

/* Reads merged by time. Every event must be one that was written: argument and time fit together.
 */
static struct seen read_merged(const char *path)
{
    struct error error = {0};
    struct decoder *decoder = decoder_open(path, NULL, &error);
    struct seen seen = {0};
    struct decode_run run;

    if (decoder == NULL)
        return seen;
    while (decoder_next(decoder, &run)) {
        for (uint32_t i = 0; i < run.count; i++) {
            const struct event *event = &run.events[i];
            uint64_t base = run.stream->number == 1 ? 1000 : 1005;

            assert_true(run.stream->number == 1 || run.stream->number == 2);
            assert_int_equal(event->ticks, base + 10 * (uint64_t)event->argument[0]);
            assert_true(event->ticks >= seen.last_ticks);
            seen.last_ticks = event->ticks;
            seen.events[run.stream->number]++;
            seen.all++;
        }
        for (uint32_t i = 0; i < run.note_count; i++) {
            seen.unverified += run.notes[i].kind == NOTE_UNVERIFIED;
            seen.gaps += run.notes[i].kind == NOTE_GAP;
        }
    }
    for (unsigned i = 0; i < FILE_FAULT_COUNT; i++)
        seen.damaged += decoder_facts(decoder)->faults[i];
    seen.finished = decoder_facts(decoder)->finished;
    decoder_close(decoder);
    return seen;
}

static void a_recording_comes_back(void **state)
{
    struct error error = {0};
    struct seen seen;
    struct decoder *decoder;
    struct decode_run run;
    const struct decode_directory *directory;

    (void)state;
    write_recording("good.tare");
    seen = read_merged("good.tare");
    assert_int_equal(seen.events[1], 3 * EVENTS);
    assert_int_equal(seen.events[2], 3 * EVENTS);
    assert_int_equal(seen.damaged + seen.gaps + seen.unverified, 0);
    assert_true(seen.finished);

    decoder = decoder_open("good.tare", NULL, &error);
    assert_non_null(decoder);
    while (decoder_next(decoder, &run))
        ;
    directory = decoder_directory(decoder);
    assert_int_equal(decoder_kind(decoder), INPUT_FILE);
    assert_int_equal(directory->stream_count, 2);
    assert_int_equal(directory->sessions[0]->snapshot_count, 2);
    assert_int_equal(directory->sessions[0]->snapshots[1].monotonic_ns, 60000);
    assert_int_equal(directory->streams[0]->last_ring->thread, 101);
    assert_string_equal(decoder_facts(decoder)->info.data, "{\"command\":[\"test\"]}");
    decoder_close(decoder);
}

/* Equal times: a stream is not left before it has passed that time, and its own order is kept. */
static void equal_times_keep_their_order(void **state)
{
    struct container container;
    struct error error = {0};
    struct decoder *decoder;
    struct decode_run run;
    uint32_t number = 0, streams[12], arguments[12];
    static const uint32_t wanted_streams[12] = {1, 1, 1, 2, 2, 2, 2, 2, 2, 1, 1, 1};
    static const uint32_t wanted_arguments[12] = {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5};

    (void)state;
    maker_begin(&one, SESSION, 1, 64, 500);
    maker_begin(&two, SESSION, 2, 64, 500);
    for (uint32_t i = 0; i < 6; i++) {
        one.ticks = two.ticks = i < 3 ? 500 : 501;
        maker_record(&one, 0x810, i, 0);
        maker_record(&two, 0x810, i, 0);
    }
    assert_true(container_create(&container, "equal.tare", SESSION, &error));
    write_stream(&container, &one, 0, one.count);
    write_stream(&container, &two, 0, two.count);
    assert_true(container_close(&container, &error));
    decoder = decoder_open("equal.tare", NULL, &error);
    assert_non_null(decoder);
    while (decoder_next(decoder, &run))
        for (uint32_t i = 0; i < run.count; i++) {
            assert_true(number < 12);
            streams[number] = run.stream->number;
            arguments[number++] = run.events[i].argument[0];
        }
    assert_int_equal(number, 12);
    for (uint32_t i = 0; i < 12; i++) {
        assert_int_equal(streams[i], wanted_streams[i]);
        assert_int_equal(arguments[i], wanted_arguments[i]);
    }
    decoder_close(decoder);
}

/* Names stand in a stream of their own and hold for all streams, also for what was recorded before;
 * from a redefinition on the new name holds. */
static void names_come_from_another_stream(void **state)
{
    static struct maker names;
    struct container container;
    struct error error = {0};
    struct decoder *decoder;
    struct decode_run run;
    struct tare_ring ring;
    uint32_t first = 0, second = 0, texts = 0;

    (void)state;
    maker_begin(&names, SESSION, 9, 64, 2000);
    maker_define(&names, TARE_CLASS_EVENT, 0x810, "first");
    maker_define(&names, TARE_CLASS_STRING, 0x811, "log|length:u32:B");
    names.ticks = 3950;
    maker_define(&names, TARE_CLASS_EVENT, 0x810, "second");
    maker_begin(&one, SESSION, 1, 64, 1000);
    for (uint32_t i = 0; i < 40; i++) { /* times 1000 to 4900: across both definitions */
        maker_record(&one, 0x810, i, 0);
        maker_record(&one, 0x811, 5, 0);
        maker_text(&one, "hello", 5);
        maker_later(&one, 100);
    }
    assert_true(container_create(&container, "names.tare", SESSION, &error));
    ring = ring_of(&one, TARE_RING_EVENTS);
    container_ring(&container, 1, &ring);
    write_stream(&container, &one, 0, one.count);
    ring = ring_of(&names, TARE_RING_DEFINITIONS);
    container_ring(&container, 9, &ring);
    write_stream(&container, &names, 0, names.count);
    assert_true(container_close(&container, &error));
    decoder = decoder_open("names.tare", NULL, &error);
    assert_non_null(decoder);
    while (decoder_next(decoder, &run))
        for (uint32_t i = 0; i < run.count; i++) {
            const struct definition *definition = decoder_definition(run.stream, run.events[i].id);
            const struct note *text;

            assert_non_null(definition);
            if (run.events[i].id == 0x811) {
                text = decoder_text(&run, i);
                assert_non_null(text);
                assert_string_equal(batch_text(run.batch, text), "hello");
                texts++;
            } else if (strcmp(definition->name, "first") == 0) {
                assert_true(run.events[i].ticks < 3950);
                first++;
            } else {
                assert_string_equal(definition->name, "second");
                assert_true(run.events[i].ticks >= 3950);
                second++;
            }
        }
    assert_int_equal(first, 30);
    assert_int_equal(second, 10);
    assert_int_equal(texts, 40);
    decoder_close(decoder);
}

/* Many events: batches, windows and the merge are passed many times. */
static void a_long_recording_comes_back(void **state)
{
    struct container container;
    struct error error = {0};
    struct decoder *decoder;
    struct decode_run run;
    uint64_t events = 0, last = 0;
    uint32_t next[3] = {0};

    (void)state;
    fill(&one, 1, 1000, 1000, 3);
    fill(&two, 2, 1000, 1001, 3);
    assert_true(container_create(&container, "long.tare", SESSION, &error));
    for (size_t at = 0; at < one.count; at += 500) {
        write_stream(&container, &one, at, at + 500 < one.count ? at + 500 : one.count);
        write_stream(&container, &two, at, at + 500 < two.count ? at + 500 : two.count);
    }
    assert_true(container_close(&container, &error));
    decoder = decoder_open("long.tare", NULL, &error);
    assert_non_null(decoder);
    while (decoder_next(decoder, &run))
        for (uint32_t i = 0; i < run.count; i++) {
            assert_true(run.events[i].ticks >= last);
            last = run.events[i].ticks;
            assert_int_equal(run.events[i].argument[0], next[run.stream->number]++);
            events++;
        }
    assert_int_equal(events, 2000 * EVENTS);
    decoder_close(decoder);
}

/* ------------------------------------------------------------------ damage */

static void every_cut_is_read_up_to_it(void **state)
{
    struct seen longer, seen;
    struct stat status;

    (void)state;
    write_recording("cut.tare");
    longer = seen = read_merged("cut.tare");
    assert_int_equal(longer.all, 6 * EVENTS);
    assert_int_equal(stat("cut.tare", &status), 0);
    for (off_t size = status.st_size - 1; size >= 0; size--) {
        assert_int_equal(truncate("cut.tare", size), 0);
        seen = read_merged("cut.tare");
        assert_true(seen.all <= longer.all);
        assert_true(longer.all - seen.all <= EVENTS);
        assert_int_equal(seen.gaps + seen.unverified, 0);
        assert_false(seen.finished);
        longer = seen;
    }
    assert_int_equal(seen.all, 0);
}

/* Any bit of the file may be wrong: nothing false is shown, and it costs two blocks at most: those
 * of a chunk's pieces that it touches. */
static void every_bit_may_flip(void **state)
{
    struct buffer bytes = {0};
    uint32_t least = UINT32_MAX;
    int file;

    (void)state;
    write_recording("flip.tare");
    read_file("flip.tare", &bytes);
    file = open("flip.tare", O_WRONLY);
    assert_true(file >= 0);
    for (size_t bit = 0; bit < 8 * bytes.size; bit++) {
        off_t at = (off_t)(bit / 8);
        char altered = (char)(bytes.data[at] ^ 1 << bit % 8);
        struct seen seen;

        assert_int_equal(pwrite(file, &altered, 1, at), 1);
        seen = read_merged("flip.tare");
        assert_int_equal(pwrite(file, bytes.data + at, 1, at), 1);
        if (at >= 8 && at < 12) {
            assert_int_equal(seen.all, 0); /* another version is refused */
            continue;
        }
        if (at >= 16)
            assert_true(seen.damaged > 0);
        if (seen.all < least)
            least = seen.all;
    }
    assert_true(least >= 4 * EVENTS);
    close(file);
    buffer_free(&bytes);
}

/* Offset of chunk `number` of a type. */
static size_t chunk_at(const struct buffer *bytes, uint32_t type, unsigned number)
{
    size_t at = CONTAINER_HEAD_BYTES;

    while (at < bytes->size) {
        const unsigned char *chunk = (const unsigned char *)bytes->data + at;

        if (get_little(chunk + CHUNK_AT_TYPE, 2) == type && number-- == 0)
            return at;
        at += CHUNK_HEAD_BYTES + get_little(chunk + CHUNK_AT_LENGTH, 4);
    }
    fail_msg("no such chunk");
    return 0;
}

static size_t chunk_size(const struct buffer *bytes, size_t at)
{
    return CHUNK_HEAD_BYTES +
           get_little((const unsigned char *)bytes->data + at + CHUNK_AT_LENGTH, 4);
}

static void a_missing_chunk_is_a_gap(void **state)
{
    struct buffer bytes = {0};
    size_t at, size;
    struct seen seen;

    (void)state;
    write_recording("good.tare");
    read_file("good.tare", &bytes);
    at = chunk_at(&bytes, CHUNK_STREAM, 1); /* the first block of stream 2 */
    size = chunk_size(&bytes, at);
    memmove(bytes.data + at, bytes.data + at + size, bytes.size - at - size);
    write_bytes("missing.tare", bytes.data, bytes.size - size);
    seen = read_merged("missing.tare");
    assert_int_equal(seen.events[1], 3 * EVENTS);
    assert_int_equal(seen.events[2], 2 * EVENTS);
    assert_int_equal(seen.gaps, 1);
    buffer_free(&bytes);
}

static void a_damaged_header_costs_the_hash_alone(void **state)
{
    struct buffer bytes = {0};
    struct seen seen;

    (void)state;
    write_recording("good.tare");
    read_file("good.tare", &bytes);
    bytes.data[chunk_at(&bytes, CHUNK_STREAM, 1)] ^= 1;
    write_bytes("header.tare", bytes.data, bytes.size);
    seen = read_merged("header.tare");
    assert_int_equal(seen.all, 6 * EVENTS);
    assert_int_equal(seen.unverified, 1);
    assert_int_equal(seen.gaps, 0);
    assert_int_equal(seen.damaged, 1);
    buffer_free(&bytes);
}

/* The magic of a chunk may stand in the data, also where a header is looked for. */
static void a_magic_in_the_data_deceives_nobody(void **state)
{
    struct container container;
    struct buffer bytes = {0};
    struct error error = {0};
    struct decoder *decoder;
    struct decode_run run;
    uint32_t events = 0;

    (void)state;
    maker_begin(&one, SESSION, 1, 64, 1000);
    for (uint32_t i = 0; i < 2 * EVENTS; i++)
        maker_record(&one, 0x810, 0x6B686354, 0); /* "Tchk" */
    assert_true(container_create(&container, "magic.tare", SESSION, &error));
    write_stream(&container, &one, 0, 64);
    write_stream(&container, &one, 64, 128);
    assert_true(container_close(&container, &error));
    read_file("magic.tare", &bytes);
    bytes.data[chunk_at(&bytes, CHUNK_STREAM, 0)] ^= 1;
    write_bytes("magic.tare", bytes.data, bytes.size);
    decoder = decoder_open("magic.tare", NULL, &error);
    assert_non_null(decoder);
    while (decoder_next(decoder, &run))
        events += run.count;
    assert_int_equal(events, 2 * EVENTS);
    assert_int_equal(decoder_facts(decoder)->faults[FILE_FAULT_BAD_CHUNK], 1);
    assert_int_equal(decoder_facts(decoder)->chunks[CHUNK_STREAM], 1);
    decoder_close(decoder);
    buffer_free(&bytes);
}

/* ------------------------------------------------------------------ what cannot be read */

static void assert_refused(const char *path, enum exit_code code, const char *why)
{
    struct error error = {0};

    assert_null(decoder_open(path, NULL, &error));
    assert_int_equal(error.code, code);
    if (strstr(error.text, why) == NULL || strstr(error.text, path) == NULL)
        fail_msg("'%s' does not say '%s'", error.text, why);
}

static void what_cannot_be_read_is_named(void **state)
{
    struct buffer bytes = {0};

    (void)state;
    write_bytes("empty", "", 0);
    write_bytes("text", "this is no recording, but it is long enough to be one", 53);
    write_recording("good.tare");
    read_file("good.tare", &bytes);
    bytes.data[8] = 3;
    write_bytes("later.tare", bytes.data, bytes.size);
    write_bytes("head.tare", bytes.data, 5);
    fill(&one, 1, 1, 0, 1);
    one.words[TARE_ANCHOR_FORM] += 1u << 28; /* the version after this one */
    maker_check(&one, 0);
    write_bytes("later.raw", one.words, 4 * one.count);
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_int_equal(mkfifo("pipe", 0666), 0);

    assert_refused("nowhere", EXIT_USAGE, "No such file");
    assert_refused("folder", EXIT_USAGE, "is a directory");
    assert_refused("pipe", EXIT_USAGE, "not a regular file");
    assert_refused("empty", EXIT_DAMAGED, "is empty");
    assert_refused("text", EXIT_DAMAGED, "holds no recording");
    assert_refused("head.tare", EXIT_DAMAGED, "holds no recording");
    assert_refused("later.tare", EXIT_DAMAGED, "version 3, this program reads version 1");
    assert_refused("later.raw", EXIT_DAMAGED, "version 2 of the format");
    buffer_free(&bytes);
}

static void a_file_without_permission_is_named(void **state)
{
    (void)state;
    write_bytes("secret", "x", 1);
    assert_int_equal(chmod("secret", 0), 0);
    /* Root may read everything: become nobody for this. */
    if (geteuid() == 0 && seteuid(65534) != 0)
        skip();
    assert_refused("secret", EXIT_USAGE, "Permission denied");
    if (getuid() == 0)
        assert_int_equal(seteuid(0), 0);
}

/* ------------------------------------------------------------------ memory of a target */

/* RAM with a ring whose words lie around the end of its buffer. */
static void an_image_gives_its_unread_words(void **state)
{
    static unsigned char image[8192];
    struct tare_ring ring;
    struct error error = {0};
    struct decode_options options = {.base_given = true, .base = 0x20000000};
    struct decoder *decoder;
    struct decode_run run;
    uint32_t next = 0;

    (void)state;
    fill(&one, 1, 5, 700, 2); /* blocks 0 to 4; the ring holds four blocks */
    ring = ring_of(&one, TARE_RING_MIXED);
    ring.state = TARE_RING_ACTIVE;
    ring.self = 0x20000100;
    ring.up.buffer = 0x20000400;
    ring.up.bytes = 4 * 256;
    ring.lap_index = 256;      /* block 4 stands at the beginning of the buffer */
    ring.up.read_offset = 512; /* block 2 is the first that was not read */
    ring.up.write_offset = 256;
    memset(image, 0xA5, sizeof image);
    memcpy(image + 0x100, &ring, sizeof ring);
    memcpy(image + 0x400, one.words + 256, 256);
    memcpy(image + 0x500, one.words + 64, 768);
    write_bytes("ram.bin", image, sizeof image);
    decoder = decoder_open("ram.bin", NULL, &error);
    assert_non_null(decoder);
    assert_int_equal(decoder_kind(decoder), INPUT_IMAGE);
    while (decoder_next(decoder, &run))
        for (uint32_t i = 0; i < run.count; i++)
            assert_int_equal(run.events[i].argument[0], 2 * EVENTS + next++);
    assert_int_equal(next, 3 * EVENTS);
    assert_int_equal(decoder_directory(decoder)->streams[0]->counts.gap_words, 128);
    decoder_close(decoder);

    /* Its own address is wrong: the ring is found, its words are not, and then they are. */
    ring.self = 0x10000100;
    memcpy(image + 0x100, &ring, sizeof ring);
    write_bytes("ram.bin", image, sizeof image);
    assert_refused("ram.bin", EXIT_DAMAGED, "--base");
    decoder = decoder_open("ram.bin", &options, &error);
    assert_non_null(decoder);
    decoder_close(decoder);
    /* Or the blocks are looked for without the ring. */
    options = (struct decode_options){.raw = true};
    decoder = decoder_open("ram.bin", &options, &error);
    assert_non_null(decoder);
    assert_int_equal(decoder_kind(decoder), INPUT_RAW);
    decoder_close(decoder);
}

/* ------------------------------------------------------------------ writer */

static void a_full_disk_is_told(void **state)
{
    struct container container;
    struct error error = {0};

    (void)state;
    assert_false(container_create(&container, "/dev/full", SESSION, &error));
    assert_int_equal(error.code, EXIT_USAGE);
    assert_non_null(strstr(error.text, "/dev/full"));
    assert_non_null(strstr(error.text, "offset 0"));
    assert_non_null(strstr(error.text, "free space"));
    assert_false(container_info(&container, "{}"));
    assert_false(container_close(&container, &error));
}

/* Chunks stay below their limit, whatever is written at once. */
static void large_data_are_split(void **state)
{
    struct container container;
    struct error error = {0};
    struct buffer bytes = {0};
    size_t size = 3u << 20, chunks = 0;
    unsigned char *data = memory_new(size, 1);

    (void)state;
    assert_true(container_create(&container, "large.tare", SESSION, &error));
    assert_true(container_stream(&container, 1, 10, 256, data, size));
    assert_true(container_close(&container, &error));
    free(data);
    read_file("large.tare", &bytes);
    for (size_t at = CONTAINER_HEAD_BYTES; at < bytes.size; at += chunk_size(&bytes, at)) {
        assert_true(chunk_size(&bytes, at) <= CONTAINER_STREAM_LIMIT + 32768);
        chunks++;
    }
    assert_int_equal(chunks, 4);
    buffer_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_comes_back),
        cmocka_unit_test(equal_times_keep_their_order),
        cmocka_unit_test(names_come_from_another_stream),
        cmocka_unit_test(a_long_recording_comes_back),
        cmocka_unit_test(every_cut_is_read_up_to_it),
        cmocka_unit_test(every_bit_may_flip),
        cmocka_unit_test(a_missing_chunk_is_a_gap),
        cmocka_unit_test(a_damaged_header_costs_the_hash_alone),
        cmocka_unit_test(a_magic_in_the_data_deceives_nobody),
        cmocka_unit_test(what_cannot_be_read_is_named),
        cmocka_unit_test(a_file_without_permission_is_named),
        cmocka_unit_test(an_image_gives_its_unread_words),
        cmocka_unit_test(a_full_disk_is_told),
        cmocka_unit_test(large_data_are_split),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
