/* Images of a target's memory: rings that are overwritten, that have their channel elsewhere, and
 * their names. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "dec_input.h"
#include "stream_maker.h"

#define SESSION 0x5E51u
#define TASK 0x010u
#define QUEUE 0x020u
#define RAM UINT32_C(0x20000000)
#define RING_AT 0x100u
#define WORDS_AT 0x400u
#define NAMES_AT 0x1000u
#define CHANNEL_AT 0x1800u
#define RING_BLOCKS 4u
#define RING_WORDS ((size_t)RING_BLOCKS * 64)

static unsigned char image[0x2000];
static struct maker maker;

static struct tare_ring ring_in_image(void)
{
    return (struct tare_ring){.id = "TARE ring",
                              .up_channels = 1,
                              .up = {.buffer = RAM + WORDS_AT, .bytes = RING_BLOCKS * 256},
                              .magic = TARE_RING_MAGIC,
                              .self = RAM + RING_AT,
                              .version = TARE_FORMAT_VERSION,
                              .block_words = 64,
                              .session = SESSION,
                              .stream = 1,
                              .kind = TARE_RING_MIXED,
                              .state = TARE_RING_ACTIVE};
}

/* The words of the maker as they lie in the ring after so many of them were written. */
static void fill_image(size_t words)
{
    memset(image, 0xA5, sizeof image);
    for (size_t i = 0; i < words; i++)
        memcpy(image + WORDS_AT + 4 * (i % RING_WORDS), &maker.words[i], 4);
}

static void write_image(const struct tare_ring *ring)
{
    struct error error = {0};

    memcpy(image + RING_AT, ring, sizeof *ring);
    assert_true(file_write("ram.bin", image, sizeof image, &error));
}

/* Blocks of 29 events with the arguments 0, 1, ... */
static void count_up(uint32_t blocks)
{
    maker_begin(&maker, SESSION, 1, 64, 1000);
    for (uint32_t i = 0; i < blocks * 29; i++) {
        maker_record(&maker, 0x810, i, 0);
        maker.ticks++;
    }
}

/* Reads events from `first` to `last`, and the words before them. */
static void assert_image(uint32_t first, uint32_t last, uint32_t before)
{
    struct error error = {0};
    struct decoder *decoder = decoder_open("ram.bin", NULL, &error);
    struct decode_run run;
    uint32_t next = first;

    if (decoder == NULL)
        fail_msg("%s", error.text);
    assert_int_equal(decoder_kind(decoder), INPUT_IMAGE);
    while (decoder_next(decoder, &run))
        for (uint32_t i = 0; i < run.count; i++)
            assert_int_equal(run.events[i].argument[0], next++);
    assert_int_equal(next, last + 1);
    assert_int_equal(decoder_directory(decoder)->streams[0]->counts.gap_before, before);
    assert_int_equal(decoder_directory(decoder)->streams[0]->counts.gaps, before > 0);
    assert_int_equal(decoder_directory(decoder)->streams[0]->counts.skipped_bytes, 0);
    assert_int_equal(decoder_facts(decoder)->skipped_before, 0);
    decoder_close(decoder);
}

/* Whatever was written last, all whole blocks that were not touched since come back. */
static void an_overwritten_ring_gives_its_newest_words(void **state)
{
    (void)state;
    count_up(10);
    for (size_t words = 6; words <= 9 * (size_t)64; words += 2) {
        struct tare_ring ring = ring_in_image();
        uint32_t lap = (uint32_t)(words - words % RING_WORDS);
        uint32_t block = (uint32_t)words / 64, first = block < RING_BLOCKS ? 0 : block - 3;
        uint32_t inside = (uint32_t)words % 64;

        if (inside > 0 && inside < 6) /* an anchor is written as a whole */
            continue;
        ring.policy = TARE_FULL_OVERWRITE;
        ring.lap_index = lap;
        ring.up.write_offset = 4 * ((uint32_t)words - lap);
        ring.up.read_offset = 0xFFFFFFF1; /* has no meaning */
        fill_image(words);
        write_image(&ring);
        if (block * 29 + (inside == 0 ? 0 : (inside - 6) / 2) == 0)
            continue; /* no event yet */
        assert_image(first * 29, block * 29 + (inside == 0 ? 0 : (inside - 6) / 2) - 1, first * 64);
    }
}

static void a_channel_may_lie_elsewhere(void **state)
{
    struct tare_ring ring = ring_in_image();
    struct tare_channel channel = ring.up;
    struct error error = {0};

    (void)state;
    count_up(3);
    fill_image(3 * (size_t)64);
    channel.read_offset = 256;
    channel.write_offset = 768;
    ring.up = (struct tare_channel){.buffer = 7, .bytes = 3, .write_offset = 77};
    ring.channel = RAM + CHANNEL_AT;
    memcpy(image + CHANNEL_AT, &channel, sizeof channel);
    write_image(&ring);
    assert_image(29, 3 * 29 - 1, 64);

    ring.channel = RAM + sizeof image - 20; /* not wholly in the image */
    write_image(&ring);
    assert_null(decoder_open("ram.bin", NULL, &error));
    assert_non_null(strstr(error.text, "0x20001FEC"));
}

/* Asserts what the two ids mean; "": nothing. */
static void assert_names(const char *task, const char *queue, uint32_t faults)
{
    struct error error = {0};
    struct decoder *decoder = decoder_open("ram.bin", NULL, &error);
    const char *expected[2] = {task, queue};
    const uint32_t ids[2] = {TASK, QUEUE};
    struct decode_run run;
    uint32_t seen = 0, operation;

    assert_non_null(decoder);
    while (decoder_next(decoder, &run))
        for (uint32_t i = 0; i < run.count; i++) {
            const struct definition *object =
                definitions_object(&run.stream->session->definitions, run.events[i].id, &operation);

            if (seen < 2) {
                assert_int_equal(run.events[i].id, ids[seen]);
                assert_string_equal(object != NULL ? object->name : "", expected[seen]);
            }
            seen++;
        }
    assert_int_equal(seen, 2);
    assert_int_equal(decoder_facts(decoder)->faults[FILE_FAULT_BAD_NAMES], faults);
    assert_int_equal(decoder_facts(decoder)->names_tables, 1 - faults);
    decoder_close(decoder);
}

static void an_image_has_names(void **state)
{
    struct tare_ring ring = ring_in_image();
    const struct tare_name worker = {TARE_CLASS_TASK << 24 | 3u << 16 | TASK, "work"};
    const struct tare_name pending = {TARE_CLASS_QUEUE << 24 | QUEUE, "wait"};

    (void)state;
    maker_begin(&maker, SESSION, 1, 64, 1000);
    maker_record(&maker, TASK, 0, 0);
    maker_record(&maker, QUEUE, 0, 0);
    fill_image(maker.count);
    ring.up.write_offset = 4 * (uint32_t)maker.count;
    ring.names = RAM + NAMES_AT;
    ring.name_count = 3;
    ring.name_bytes = 12;
    memset(image + NAMES_AT, 0, 36);
    memcpy(image + NAMES_AT, &worker, sizeof worker);
    memcpy(image + NAMES_AT + 24, &pending, sizeof pending);
    write_image(&ring);
    assert_names("work", "wait", 0);

    /* What is not wholly in the image, or cannot be, is told; the events are read. */
    ring.names = RAM + sizeof image - 35;
    write_image(&ring);
    assert_names("", "", 1);
    ring.names = RAM + NAMES_AT;
    ring.name_bytes = 14;
    write_image(&ring);
    assert_names("", "", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_overwritten_ring_gives_its_newest_words),
        cmocka_unit_test(a_channel_may_lie_elsewhere),
        cmocka_unit_test(an_image_has_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
