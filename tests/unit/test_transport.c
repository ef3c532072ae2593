/* recorder/transport, compiled for this machine over rings that are written here: what it sends
 * comes through the host's reader of frames word for word; a line that flips, cuts, drops or adds
 * costs frames that are known to be missing, and never gives a wrong word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "frame_recording.h"

#define TARE_CORES 2
/* As a program on a target has it, with rings of this test's. */
#include "transport/tare_transport.c" /* NOLINT(bugprone-suspicious-include) */

#define SENT_WORDS 65536u

/* ------------------------------------------------------------------ a writer of rings */

struct core {
    struct tare_ring *ring;
    uint32_t *words;
    uint32_t index; /* words written */
    uint32_t sent[SENT_WORDS];
};

static struct core cores[TARE_CORES];
static char *memory;                /* below 4 GiB: a ring has 32-bit addresses */
static struct tare_channel foreign; /* in another control block; of core 1 */
static bool use_foreign;
static bool no_zero; /* words without a zero byte: the longest runs of the stuffing */

struct tare_ring *tare_ring_of_core(uint32_t core)
{
    return cores[core].ring;
}

struct tare_channel *tare_channel_of_core(uint32_t core)
{
    return core == 1 && use_foreign ? &foreign : &cores[core].ring->up;
}

static uint32_t address_of(const void *at)
{
    return (uint32_t)(uintptr_t)at;
}

static void begin_rings(uint32_t block_words, uint32_t blocks)
{
    if (memory == NULL)
        memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    assert_true((uintptr_t)memory < UINT32_MAX - (1 << 20));
    memset(memory, 0, 1 << 20);
    memset(cores, 0, sizeof cores);
    memset(tare_senders, 0, sizeof tare_senders);
    memset(&tare_transit, 0, sizeof tare_transit);
    use_foreign = false;
    for (uint32_t core = 0; core < TARE_CORES; core++) {
        struct tare_ring *ring = (void *)(memory + (size_t)4096 * core);
        uint32_t *words = (void *)(memory + (size_t)65536 * (core + 1));

        cores[core].ring = ring;
        cores[core].words = words;
        ring->up.buffer = address_of(words);
        ring->up.bytes = 4 * block_words * blocks;
        ring->down.buffer = address_of(ring->commands);
        ring->down.bytes = sizeof ring->commands;
        ring->magic = TARE_RING_MAGIC;
        ring->version = TARE_FORMAT_VERSION;
        ring->block_words = block_words;
        ring->session = 0x5E51;
        ring->stream = core;
        ring->state = TARE_RING_ACTIVE;
    }
}

static void put_word(struct core *core, uint32_t word)
{
    struct tare_channel *channel = tare_channel_of_core((uint32_t)(core - cores));

    core->words[core->index % (channel->bytes / 4)] = word;
    core->sent[core->index++ % SENT_WORDS] = word;
}

/* Writes `count` words, an anchor at each border, as far as there is room. The last word of the lap
 * takes the offset to 0, as the recorder does. Returns the number written. */
static uint32_t write_words(uint32_t number, uint32_t count)
{
    struct core *core = &cores[number];
    struct tare_channel *channel = tare_channel_of_core(number);
    uint32_t ring_words = channel->bytes / 4, begin = core->index;

    while (count > 0) {
        bool border = core->index % core->ring->block_words == 0;
        uint32_t need = border ? TARE_ANCHOR_WORDS : 1;
        uint32_t used =
            (channel->write_offset - channel->read_offset + channel->bytes) % channel->bytes / 4;

        if (need > count || used + need >= ring_words)
            break;
        for (uint32_t i = 0; i < need; i++)
            put_word(core, border && i == TARE_ANCHOR_INDEX   ? core->index - i
                           : core->index % 3 == 0 && !no_zero ? 0
                           : core->index % 7 == 0             ? UINT32_MAX
                           : no_zero ? core->index * 2654435761u | 0x01010101u
                                     : core->index * 2654435761u);
        core->ring->lap_index = core->index / ring_words * ring_words;
        channel->write_offset = 4 * (core->index % ring_words);
        count -= need;
    }
    return core->index - begin;
}

/* ------------------------------------------------------------------ round trip */

static uint32_t take_frame_into(struct frame_recording *recording, uint32_t capacity)
{
    unsigned char frame[TARE_FRAME_MOST + 8];
    uint32_t size;

    memset(frame, 0xEE, sizeof frame);
    size = tare_frame_next(frame, capacity);
    assert_true(size <= capacity);
    for (size_t i = capacity < sizeof frame ? capacity : sizeof frame; i < sizeof frame; i++)
        assert_int_equal(frame[i], 0xEE); /* no byte behind the buffer */
    if (size > 0)
        assert_int_equal(frame[size - 1], 0);
    frames_take(&recording->frames, frame, size, 0);
    return size;
}

/* All block sizes, all capacities, some laps of the ring; pushes of odd length. */
static void round_trip(void **state)
{
    (void)state;
    for (uint32_t block = 64; block <= 256; block *= 2)
        for (uint32_t capacity = TARE_FRAME_LEAST; capacity <= TARE_FRAME_MOST;
             capacity += capacity < 60    ? 1
                         : capacity < 300 ? 7
                                          : 97) {
            struct frame_recording recording;

            begin_rings(block, 3);
            no_zero = capacity % 2 != 0;
            recording_begin(&recording, 0);
            for (uint32_t round = 0; round < 100; round++) {
                write_words(0, 7 + round * 13 % 150);
                while (take_frame_into(&recording, capacity) > 0)
                    ;
            }
            recording_end(&recording);
            assert_true(cores[0].index > 10 * block);
            assert_int_equal(recording_compare(&recording, cores[0].sent, cores[0].index),
                             cores[0].index);
            assert_int_equal(recording.frames.counts.damaged, 0);
            assert_int_equal(recording.frames.counts.gaps, 0);
            assert_int_equal(recording.frames.counts.restarts, 0);
            assert_int_equal(cores[0].ring->up.read_offset, cores[0].ring->up.write_offset);
            free(recording.bytes);
        }
    no_zero = false;
}

static void too_small(void **state)
{
    unsigned char frame[64];

    (void)state;
    begin_rings(64, 2);
    write_words(0, 100);
    for (uint32_t capacity = 0; capacity < TARE_FRAME_LEAST; capacity++)
        assert_int_equal(tare_frame_next(frame, capacity), 0);
    for (uint32_t capacity = 0; capacity < TARE_DATAGRAM_LEAST; capacity++)
        assert_int_equal(tare_datagram_next(frame, capacity), 0);
    assert_int_equal(cores[0].ring->up.read_offset, 0);
    assert_int_equal(tare_datagram_next(frame, TARE_DATAGRAM_LEAST), TARE_DATAGRAM_LEAST);
    assert_int_equal(cores[0].ring->up.read_offset, 4);
}

/* What a stray write, or a start that has not happened yet, leaves in a ring. */
static void no_ring(void **state)
{
    unsigned char frame[TARE_FRAME_MOST];
    static const uint32_t wrong[] = {0, 1, 63, 65, 96, 512, 0x80000000u, UINT32_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        begin_rings(64, 4);
        write_words(0, 100);
        cores[0].ring->block_words = wrong[i];
        assert_int_equal(tare_frame_next(frame, sizeof frame), 0);
    }
    for (uint32_t offset = 1; offset != 0; offset <<= 1) {
        if (offset % 4 == 0 && offset < 1024)
            continue;
        begin_rings(64, 4);
        write_words(0, 100);
        cores[0].ring->up.read_offset = offset;
        assert_int_equal(tare_frame_next(frame, sizeof frame), 0);
        cores[0].ring->up.read_offset = 0;
        cores[0].ring->up.write_offset = offset;
        assert_int_equal(tare_frame_next(frame, sizeof frame), 0);
    }
    for (uint32_t words = 1; words < TARE_ANCHOR_WORDS; words++) { /* an anchor is being written */
        begin_rings(64, 4);
        cores[0].ring->up.write_offset = 4 * words;
        assert_int_equal(tare_frame_next(frame, sizeof frame), 0);
    }
    begin_rings(64, 4);
    write_words(0, 100);
    cores[0].ring->policy = TARE_FULL_OVERWRITE;
    assert_int_equal(tare_frame_next(frame, sizeof frame), 0);
    memset(cores[0].ring, 0, sizeof *cores[0].ring);
    assert_int_equal(tare_frame_next(frame, sizeof frame), 0);
}

/* The example of FORMAT.md, made by the target's code. */
static void example(void **state)
{
    static const unsigned char frame[] = {0x04, 0x01, 0x08, 0x07, 0x04, 0x51, 0x5E, 0x01, 0x03,
                                          0x06, 0x10, 0x01, 0x06, 0x45, 0x23, 0x11, 0x80, 0x2A,
                                          0x01, 0x01, 0x03, 0x94, 0xE9, 0x02, 0xD3, 0x00};
    static const unsigned char datagram[] = {
        0x54, 0x64, 0x67, 0x6D, 0x01, 0x08, 0x07, 0x00, 0x51, 0x5E, 0x01, 0x00, 0x06, 0x10,
        0x00, 0x00, 0x45, 0x23, 0x11, 0x80, 0x2A, 0x00, 0x00, 0x00, 0x94, 0xE9, 0x00, 0xD3};
    struct tare_sender sender = {7, 0x1006};
    unsigned char made[TARE_FRAME_MOST];
    struct tare_ring *ring;

    (void)state;
    begin_rings(256, 2);
    ring = cores[0].ring;
    ring->stream = 1;
    ring->up.read_offset = 24;
    ring->up.write_offset = 32;
    cores[0].words[6] = 0x80112345u;
    cores[0].words[7] = 42;
    assert_int_equal(tare_sender_frame(&sender, ring, &ring->up, made, sizeof made), sizeof frame);
    assert_memory_equal(made, frame, sizeof frame);
    assert_int_equal(ring->up.read_offset, 32);

    sender = (struct tare_sender){7, 0x1006};
    ring->up.read_offset = 24;
    assert_int_equal(tare_sender_datagram(&sender, ring, &ring->up, made, sizeof made),
                     sizeof datagram);
    assert_memory_equal(made, datagram, sizeof datagram);
}

/* A sender that is new to a ring in use finds the position in the ring itself. */
static void late_sender(void **state)
{
    struct frame_recording recording;
    size_t at = 0, count;
    uint32_t session, stream, begin;
    uint64_t position;
    const unsigned char *chunk;

    (void)state;
    for (uint32_t skip = 4; skip < 3 * 64 * 4; skip += 4) {
        begin_rings(64, 3);
        write_words(0, 150);
        cores[0].ring->up.read_offset = cores[0].ring->up.write_offset;
        write_words(0, 100); /* over the end of the ring */
        begin = 150;
        while (begin < cores[0].index && 4 * begin % (3 * 64 * 4) != skip)
            begin++;
        if (begin == cores[0].index)
            continue;
        cores[0].ring->up.read_offset = skip;
        recording_begin(&recording, 0);
        while (take_frame_into(&recording, 100) > 0)
            ;
        recording_end(&recording);
        at = 0;
        chunk = recording_chunk(&recording, &at, &session, &stream, &position, &count);
        assert_non_null(chunk);
        assert_int_equal(position, begin);
        assert_int_equal(count, cores[0].index - begin);
        assert_memory_equal(chunk, cores[0].sent + begin, 4 * count);
        free(recording.bytes);
    }
}

/* Two cores in turn, one of them through a channel in another control block. */
static void cores_in_turn(void **state)
{
    struct frame_recording recording;
    uint32_t session, stream, came[2] = {0, 0};
    size_t at = 0, count;
    uint64_t position;
    const unsigned char *chunk;

    (void)state;
    begin_rings(64, 4);
    foreign = cores[1].ring->up;
    use_foreign = true;
    recording_begin(&recording, 0);
    for (uint32_t round = 0; round < 60; round++) {
        write_words(0, 30);
        write_words(1, 20);
        take_frame_into(&recording, 200);
        take_frame_into(&recording, 200);
    }
    assert_int_equal(cores[1].ring->up.read_offset, 0);
    recording_end(&recording);
    while ((chunk = recording_chunk(&recording, &at, &session, &stream, &position, &count))) {
        assert_true(stream < 2 && position == came[stream]);
        assert_memory_equal(chunk, cores[stream].sent + position, 4 * count);
        came[stream] += (uint32_t)count;
    }
    /* A busy core does not keep the other one out. */
    assert_true(came[0] > 1000 && came[1] > 1000);
    free(recording.bytes);
}

/* ------------------------------------------------------------------ pumps */

struct line {
    unsigned char bytes[4096];
    uint32_t size, room;
};

static void line_send(void *context, const unsigned char *bytes, uint32_t size)
{
    struct line *line = context;

    assert_true(size > 0 && size <= line->room);
    memcpy(line->bytes + line->size, bytes, size);
    line->size += size;
    line->room -= size;
}

static uint32_t line_room(void *context)
{
    return ((struct line *)context)->room;
}

static void pumps(void **state)
{
    struct frame_recording recording;
    static struct line line;
    uint32_t sent, given;
    int32_t byte;

    (void)state;
    begin_rings(64, 4);
    recording_begin(&recording, 0);
    memset(&line, 0, sizeof line);
    for (uint32_t round = 0; round < 400; round++) {
        write_words(0, 11);
        line.size = 0;
        line.room = round % 50;
        sent = line.room;
        given = tare_frame_send(line_send, line_room, &line);
        assert_int_equal(given, line.size);
        assert_true(given <= sent);
        frames_take(&recording.frames, line.bytes, line.size, 0);
        for (uint32_t i = 0; i < 9 && (byte = tare_frame_byte()) >= 0; i++) {
            unsigned char one = (unsigned char)byte;

            assert_true(byte < 256);
            frames_take(&recording.frames, &one, 1, 0);
        }
    }
    line.size = 0;
    line.room = sizeof line.bytes;
    given = tare_frame_send(line_send, NULL, &line);
    assert_true(given > 0 && given == line.size);
    frames_take(&recording.frames, line.bytes, line.size, 0);
    assert_int_equal(tare_frame_byte(), -1);
    assert_int_equal(tare_frame_send(line_send, NULL, &line), 0);
    recording_end(&recording);
    assert_true(cores[0].index > 2000);
    assert_int_equal(recording_compare(&recording, cores[0].sent, cores[0].index), cores[0].index);
    assert_int_equal(recording.frames.counts.damaged, 0);
    free(recording.bytes);
}

/* ------------------------------------------------------------------ commands */

static void make_command(unsigned char *command, unsigned char code, uint32_t argument)
{
    memset(command, 0, 8);
    command[0] = TARE_COMMAND_MARK;
    command[1] = code;
    put_little(command + 4, argument, 4);
    for (int i = 0; i < 8; i++)
        if (i != 3)
            command[3] ^= command[i];
}

static int32_t feed(const unsigned char *bytes, size_t size)
{
    int32_t result = 0;

    for (size_t i = 0; i < size; i++) {
        assert_int_equal(result, 0); /* only its last byte completes a command */
        result = tare_frame_command(bytes[i]);
    }
    return result;
}

/* Takes the command out of the down channel, as tare_service does. */
static void expect_command(const unsigned char *command)
{
    struct tare_channel *down = &cores[0].ring->down;
    const unsigned char *bytes = (const unsigned char *)(uintptr_t)down->buffer;

    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(bytes[down->read_offset], command[i]);
        down->read_offset = (down->read_offset + 1) % down->bytes;
    }
    assert_int_equal(down->read_offset, down->write_offset);
}

/* A channel of any size keeps one command whole until it is fetched. */
static void commands_wait(void **state)
{
    unsigned char first[8], second[8];

    (void)state;
    make_command(first, 3, 5);
    make_command(second, 2, 0);
    for (uint32_t bytes = 9; bytes <= 17; bytes++) {
        begin_rings(64, 2);
        cores[0].ring->down.bytes = bytes;
        cores[0].ring->down.buffer = cores[0].ring->up.buffer;
        for (uint32_t round = 0; round < 20; round++) {
            assert_int_equal(feed(first, 8), 1);
            if (bytes < 17)
                assert_int_equal(feed(second, 8), -1);
            expect_command(first);
        }
    }
    for (uint32_t round = 0; round < 3; round++)
        assert_int_equal(feed(first, 8), round < 2 ? 1 : -1); /* two in 17 bytes */
    cores[0].ring->down.bytes = 8;
    cores[0].ring->down.read_offset = cores[0].ring->down.write_offset = 0;
    assert_int_equal(feed(first, 8), -1);
}

static void commands(void **state)
{
    static const unsigned char noise[] = {0xC5, 1, 0, 0xC5, 0xC5, 0, 0, 'x', 0xC5, 4, 0};
    unsigned char command[8];

    (void)state;
    begin_rings(64, 2);
    for (uint32_t round = 0; round < 50; round++) {
        make_command(command, (unsigned char)(1 + round % 4), round * 0x10204081u);
        assert_int_equal(feed(noise, round % (sizeof noise + 1)), 0);
        assert_int_equal(feed(command, 8), 1);
        expect_command(command);
    }
    /* No bit may be wrong. */
    for (uint32_t bit = 0; bit < 64; bit++) {
        make_command(command, 3, 0x00FF1234);
        command[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_int_equal(feed(command, 8), 0);
        assert_int_equal(cores[0].ring->down.read_offset, cores[0].ring->down.write_offset);
    }
    /* Before the start there is no channel. */
    make_command(command, 1, 0);
    memset(&cores[0].ring->down, 0, sizeof cores[0].ring->down);
    assert_int_equal(feed(command, 8), -1);
}

/* ------------------------------------------------------------------ bad lines */

static unsigned char line[4096];
static size_t line_size, line_frames;

static void make_line(void)
{
    uint32_t size;

    begin_rings(64, 8);
    write_words(0, 64 * 4 + 40);
    line_size = line_frames = 0;
    while ((size = tare_frame_next(line + line_size, 30 + 37 * (uint32_t)(line_frames % 5))) > 0) {
        line_size += size;
        line_frames++;
    }
    assert_true(line_frames > 10 && line_size > 1200);
}

/* Takes the line as it came. No word is wrong; all that is missing is accounted for: in the middle
 * by number, at the end by the damage that is left. */
static void take_line(const unsigned char *bytes, size_t size)
{
    struct frame_recording recording;
    struct frame_counts *counts = &recording.frames.counts;
    size_t came, at = 0, words = 0;
    uint64_t position = 0, first = UINT64_MAX, end = 0;
    uint32_t session, stream;

    recording_begin(&recording, 0);
    frames_take(&recording.frames, bytes, size, 0);
    recording_end(&recording);
    came = recording_compare(&recording, cores[0].sent, cores[0].index);
    assert_int_equal(came, counts->words);
    assert_int_equal(counts->restarts + counts->unknown + counts->refused, 0);
    while (recording_chunk(&recording, &at, &session, &stream, &position, &words)) {
        first = first < position ? first : position;
        end = position + words;
    }
    if (came > 0)
        assert_int_equal(first + came + counts->lost_words, end);
    if (came < cores[0].index)
        assert_true(counts->lost_frames > 0 || counts->damaged > 0 || counts->skipped_bytes > 0 ||
                    size < line_size);
    assert_true(came + 192 >= cores[0].index || size + 8 < line_size);
    free(recording.bytes);
}

static void line_bits(void **state)
{
    unsigned char copy[sizeof line];

    (void)state;
    make_line();
    for (size_t bit = 0; bit < 8 * line_size; bit++) {
        memcpy(copy, line, line_size);
        copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
        take_line(copy, line_size);
    }
}

static void line_cuts(void **state)
{
    unsigned char copy[sizeof line + 1];

    (void)state;
    make_line();
    for (size_t at = 0; at <= line_size; at++) {
        take_line(line, at);
        take_line(line + at, line_size - at);
        for (size_t gone = 1; gone < 4 && at + gone <= line_size; gone++) { /* bytes are missing */
            memcpy(copy, line, at);
            memcpy(copy + at, line + at + gone, line_size - at - gone);
            take_line(copy, line_size - gone);
        }
        for (unsigned added = 0; added < 256; added += 85) { /* one too many */
            memcpy(copy, line, at);
            copy[at] = (unsigned char)added;
            memcpy(copy + at + 1, line + at, line_size - at);
            take_line(copy, line_size + 1);
        }
    }
}

/* Bursts as a line gives them that was unplugged, or runs at another rate. */
static void line_bursts(void **state)
{
    unsigned char copy[sizeof line];
    uint32_t number = 3;

    (void)state;
    make_line();
    for (int round = 0; round < 2000; round++) {
        size_t at, length;

        number = number * 1664525u + 1013904223u;
        at = (number >> 8) % line_size;
        length = 1 + (number >> 4) % 40;
        memcpy(copy, line, line_size);
        for (size_t i = at; i < at + length && i < line_size; i++) {
            number = number * 1664525u + 1013904223u;
            copy[i] = (unsigned char)(number >> 24 & (round % 2 == 0 ? 0xFF : 0x07));
        }
        take_line(copy, line_size);
    }
}

/* Datagrams that are lost, repeated and swapped; every bit of one. */
static void datagrams(void **state)
{
    static unsigned char made[64][TARE_DATAGRAM_MOST];
    uint32_t size[64], count = 0, number = 9;
    struct frame_recording recording;
    struct frame_counts *counts = &recording.frames.counts;

    (void)state;
    begin_rings(256, 8);
    write_words(0, 256 * 7);
    while ((size[count] = tare_datagram_next(made[count], 200)) > 0)
        count++;
    assert_true(count > 40);
    for (int round = 0; round < 500; round++) {
        size_t came, sent_words = 0;
        bool lost[64] = {false};

        recording_begin(&recording, FRAMES_WINDOW);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t pick = i ^ (round % 4 == 0 ? 0u : (uint32_t)round % 4); /* neighbours swap */

            number = number * 1664525u + 1013904223u;
            if (pick >= count)
                continue;
            lost[pick] = number >> 28 == 0;
            if (lost[pick])
                continue;
            sent_words += (size[pick] - 20) / 4;
            for (uint32_t times = number >> 24 & 1; times < 2; times++)
                assert_true(frames_take_datagram(&recording.frames, made[pick], size[pick], 1));
        }
        recording_end(&recording);
        came = recording_compare(&recording, cores[0].sent, cores[0].index);
        assert_int_equal(came, sent_words);
        assert_int_equal(counts->damaged + counts->restarts, 0);
        free(recording.bytes);
    }
    for (size_t bit = 0; bit < 8 * (size_t)size[1]; bit++) {
        recording_begin(&recording, FRAMES_WINDOW);
        made[1][bit / 8] ^= (unsigned char)(1u << bit % 8);
        for (uint32_t i = 0; i < 3; i++)
            frames_take_datagram(&recording.frames, made[i], size[i], 1);
        made[1][bit / 8] ^= (unsigned char)(1u << bit % 8);
        recording_end(&recording);
        assert_int_equal(recording_compare(&recording, cores[0].sent, cores[0].index),
                         (size[0] + size[2] - 40) / 4);
        assert_int_equal(counts->damaged, 1);
        assert_int_equal(counts->lost_frames, 1);
        assert_int_equal(counts->lost_words, (size[1] - 20) / 4);
        free(recording.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),    cmocka_unit_test(too_small),
        cmocka_unit_test(no_ring),       cmocka_unit_test(example),
        cmocka_unit_test(late_sender),   cmocka_unit_test(cores_in_turn),
        cmocka_unit_test(pumps),         cmocka_unit_test(commands),
        cmocka_unit_test(commands_wait), cmocka_unit_test(line_bits),
        cmocka_unit_test(line_cuts),     cmocka_unit_test(line_bursts),
        cmocka_unit_test(datagrams),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
