/* cap_frames and cap_datagram: the examples of FORMAT.md, the answer of the CRC's own publication,
 * frames made here byte by byte from the text of FORMAT.md, and lines that lose, repeat, swap and
 * damage them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "cap_datagram.h"
#include "frame_recording.h"

#define SECOND UINT64_C(1000000000)

static const unsigned char magic[4] = {0x54, 0x64, 0x67, 0x6D};

static uint32_t words[1024]; /* what the stream of these tests holds */

static void fill_words(void)
{
    for (uint32_t i = 0; i < 1024; i++)
        words[i] = i % 5 == 0 ? 0 : i * 0x01010101u;
}

static unsigned char *little(unsigned char *at, uint64_t value, int bytes)
{
    put_little(at, value, bytes);
    return at + bytes;
}

struct made {
    unsigned char bytes[1100];
    size_t size;
};

/* Blocks of 64 words. */
static struct made make_contents(uint32_t sequence, uint32_t session, uint32_t stream,
                                 uint32_t position, uint32_t count)
{
    struct made made = {0};
    unsigned char *at = made.bytes;

    at = little(at, 1, 1);
    at = little(at, 6, 1);
    at = little(at, sequence, 2);
    at = little(at, session, 2);
    at = little(at, stream, 2);
    at = little(at, position, 4);
    memcpy(at, words + position % 1024, 4 * (size_t)count);
    at += 4 * (size_t)count;
    at = little(at, frame_crc(made.bytes, (size_t)(at - made.bytes)), 4);
    made.size = (size_t)(at - made.bytes);
    return made;
}

static void stuff(struct made *made)
{
    struct made plain = *made;

    made->size = 0;
    plain.bytes[plain.size++] = 0; /* ends the last run */
    for (size_t at = 0, run; at < plain.size; at += run + (run < 254 ? 1 : 0)) {
        run = 0;
        while (run < 254 && plain.bytes[at + run] != 0)
            run++;
        made->bytes[made->size++] = (unsigned char)(run + 1);
        memcpy(made->bytes + made->size, plain.bytes + at, run);
        made->size += run;
    }
    made->bytes[made->size++] = 0;
}

static void send_words(struct frame_recording *to, uint32_t sequence, uint32_t position,
                       uint32_t count, uint64_t now_ns)
{
    struct made made;

    made = make_contents(sequence, 1, 0, position, count);
    if (to->frames.window == 0) {
        stuff(&made);
        frames_take(&to->frames, made.bytes, made.size, now_ns);
        return;
    }
    memmove(made.bytes + 4, made.bytes, made.size);
    memcpy(made.bytes, magic, 4);
    assert_true(frames_take_datagram(&to->frames, made.bytes, made.size + 4, now_ns));
}

/* Frame number n of 16 words, as all tests below have them. */
static void send_number(struct frame_recording *to, uint32_t number, uint64_t now_ns)
{
    send_words(to, number, 16 * number, 16, now_ns);
}

/* Ends the recording; true if exactly the frames with these numbers came. */
static void expect_numbers(struct frame_recording *recording, const char *numbers)
{
    struct buffer came = {0};
    size_t at = 0, count = 0;
    uint32_t session, stream;
    uint64_t position;
    const unsigned char *chunk;

    recording_end(recording);
    while ((chunk = recording_chunk(recording, &at, &session, &stream, &position, &count))) {
        assert_memory_equal(chunk, words + position % 1024, 4 * count);
        for (size_t i = 0; i < count; i += 16)
            buffer_printf(&came, "%s%d", i == 0 ? " " : "-", (int)(position + i) / 16);
    }
    assert_string_equal(came.data != NULL ? came.data : "", numbers);
    buffer_free(&came);
    free(recording->bytes);
}

/* ------------------------------------------------------------------ one frame */

static void crc_answers(void **state)
{
    unsigned char zeros[32] = {0};

    (void)state;
    assert_int_equal(frame_crc((const unsigned char *)"123456789", 9), 0xE3069283u);
    assert_int_equal(frame_crc(zeros, 32), 0x8A9136AAu); /* RFC 3720, B.4: bytes AA 36 91 8A */
}

/* The lines of FORMAT.md, section 9. */
static const unsigned char example_frame[] = {0x04, 0x01, 0x08, 0x07, 0x04, 0x51, 0x5E, 0x01, 0x03,
                                              0x06, 0x10, 0x01, 0x06, 0x45, 0x23, 0x11, 0x80, 0x2A,
                                              0x01, 0x01, 0x03, 0x94, 0xE9, 0x02, 0xD3, 0x00};

static void expect_example(const struct frame *frame)
{
    static const unsigned char record[8] = {0x45, 0x23, 0x11, 0x80, 0x2A, 0, 0, 0};

    assert_int_equal(frame->session, 0x5E51);
    assert_int_equal(frame->stream, 1);
    assert_int_equal(frame->block_words, 256);
    assert_int_equal(frame->sequence, 7);
    assert_int_equal(frame->position, 0x1006);
    assert_int_equal(frame->count, 2);
    assert_memory_equal(frame->words, record, 8);
}

static void examples(void **state)
{
    static const unsigned char unchecked[] = {0x74, 0x44, 0x47, 0x4D, 0x01, 0x08, 0x07, 0x00,
                                              0x51, 0x5E, 0x01, 0x00, 0x06, 0x10, 0x00, 0x00,
                                              0x45, 0x23, 0x11, 0x80, 0x2A, 0x00, 0x00, 0x00};
    unsigned char contents[sizeof example_frame], datagram[sizeof example_frame + 4];
    struct frame_recording recording;
    struct frame frame;
    size_t size;

    (void)state;
    size = frame_unstuff(contents, example_frame, sizeof example_frame - 1);
    assert_int_equal(size, 24);
    assert_int_equal(frame_parse(contents, size, true, &frame), FRAME_GOOD);
    expect_example(&frame);
    assert_int_equal(frame_parse(unchecked + 4, sizeof unchecked - 4, false, &frame), FRAME_GOOD);
    expect_example(&frame);

    recording_begin(&recording, FRAMES_WINDOW);
    memcpy(datagram, magic, 4);
    memcpy(datagram + 4, contents, size);
    assert_true(frames_take_datagram(&recording.frames, datagram, size + 4, 0));
    assert_true(frames_take_datagram(&recording.frames, unchecked, sizeof unchecked, 0));
    assert_false(frames_take_datagram(&recording.frames, datagram, size + 3, 0));
    assert_false(frames_take_datagram(&recording.frames, datagram, 4, 0));
    assert_false(frames_take_datagram(&recording.frames, datagram, 0, 0));
    recording_end(&recording);
    assert_int_equal(recording.frames.counts.frames, 1);
    assert_int_equal(recording.frames.counts.repeated, 1);
    assert_int_equal(recording.frames.counts.damaged, 3);
    free(recording.bytes);
}

/* Right CRC, wrong content: each field at and beyond its border. */
static void fields(void **state)
{
    static const struct {
        int at, bytes;
        uint32_t value;
        enum frame_verdict verdict;
    } table[] = {
        {0, 1, 1, FRAME_GOOD},      {0, 1, 0, FRAME_UNKNOWN},   {0, 1, 2, FRAME_UNKNOWN},
        {1, 1, 8, FRAME_GOOD},      {1, 1, 5, FRAME_DAMAGED},   {1, 1, 9, FRAME_DAMAGED},
        {1, 1, 134, FRAME_DAMAGED}, {2, 2, 0xFFFF, FRAME_GOOD}, {4, 2, 0, FRAME_DAMAGED},
        {4, 2, 0xFFFF, FRAME_GOOD}, {6, 2, 0, FRAME_GOOD},      {8, 4, 48, FRAME_GOOD},
        {8, 4, 49, FRAME_DAMAGED},  {8, 4, 63, FRAME_DAMAGED},  {8, 4, 0xFFFFFFF0, FRAME_GOOD},
    };
    struct frame frame;
    struct made made;

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        made = make_contents(0, 1, 0, 0, 16);
        little(made.bytes + table[i].at, table[i].value, table[i].bytes);
        little(made.bytes + made.size - 4, frame_crc(made.bytes, made.size - 4), 4);
        assert_int_equal(frame_parse(made.bytes, made.size, true, &frame), table[i].verdict);
    }
    for (size_t size = 0; size <= 20; size++) { /* 20: one word; no multiple of 4 is right */
        made = make_contents(0, 1, 0, 0, 16);
        if (size >= 4)
            little(made.bytes + size - 4, frame_crc(made.bytes, size - 4), 4);
        assert_int_equal(frame_parse(made.bytes, size, true, &frame),
                         size == 20 ? FRAME_GOOD : FRAME_DAMAGED);
    }
}

static void stuffing(void **state)
{
    unsigned char plain[600], to[700];
    struct made made;

    (void)state;
    for (size_t size = 1; size < 600; size++)
        for (size_t zero = 0; zero < 600; zero += 1 + size / 7) {
            memset(plain, 0xAA, sizeof plain);
            plain[zero] = 0;
            plain[zero / 2] = 0;
            memcpy(made.bytes, plain, size);
            made.size = size;
            stuff(&made);
            assert_null(memchr(made.bytes, 0, made.size - 1));
            assert_int_equal(frame_unstuff(to, made.bytes, made.size - 1), size);
            assert_memory_equal(to, plain, size);
        }
    assert_int_equal(frame_unstuff(to, (const unsigned char *)"\x03\x41", 2), 0);
    assert_int_equal(frame_unstuff(to, (const unsigned char *)"\xFF", 1), 0);
    assert_int_equal(frame_unstuff(to, (const unsigned char *)"\x03\x41\x00", 3), 0);
    assert_int_equal(frame_unstuff(to, (const unsigned char *)"\x01\x00", 2), 0);
}

/* ------------------------------------------------------------------ a line */

static void line_in_pieces(void **state)
{
    struct frame_recording recording;
    struct made made;

    (void)state;
    for (size_t piece = 1; piece < 40; piece++) {
        recording_begin(&recording, 0);
        for (uint32_t number = 0; number < 8; number++) {
            made = make_contents(number, 1, 0, 16 * number, 16);
            stuff(&made);
            for (size_t at = 0; at < made.size; at += piece)
                frames_take(&recording.frames, made.bytes + at,
                            piece < made.size - at ? piece : made.size - at, 0);
        }
        expect_numbers(&recording, " 0-1-2-3-4-5-6-7");
        assert_int_equal(recording.frames.counts.words, 128);
        assert_int_equal(recording.frames.counts.damaged, 0);
        assert_int_equal(recording.frames.counts.gaps, 0);
    }
}

static void line_loses(void **state)
{
    struct frame_recording recording;
    struct frame_counts *counts = &recording.frames.counts;

    (void)state;
    recording_begin(&recording, 0);
    for (uint32_t number = 0; number < 20; number++)
        if (number != 3 && number != 7 && number != 8)
            send_number(&recording, number, 0);
    expect_numbers(&recording, " 0-1-2 4-5-6 9-10-11-12-13-14-15-16-17-18-19");
    assert_int_equal(counts->gaps, 2);
    assert_int_equal(counts->lost_frames, 3);
    assert_int_equal(counts->lost_words, 48);
    assert_int_equal(counts->frames, 17);
    assert_int_equal(counts->restarts, 0);
}

/* A console shares the line; reading begins within a frame; a frame is cut at the end. */
static void line_with_text(void **state)
{
    struct frame_recording recording;
    struct frame_counts *counts = &recording.frames.counts;
    static char text[3000];
    struct made made;

    (void)state;
    recording_begin(&recording, 0);
    made = make_contents(0, 1, 0, 0, 16);
    stuff(&made);
    frames_take(&recording.frames, made.bytes + 7, made.size - 7, 0);
    send_number(&recording, 1, 0);
    frames_take(&recording.frames, "hello\n\0\0\0", 9, 0);
    send_number(&recording, 2, 0);
    memset(text, 'x', sizeof text); /* longer than any frame */
    frames_take(&recording.frames, text, sizeof text, 0);
    frames_take(&recording.frames, "", 1, 0);
    for (size_t at = 0; at < sizeof text; at += 100)
        frames_take(&recording.frames, text, 100, 0);
    frames_take(&recording.frames, "", 1, 0);
    send_number(&recording, 3, 0);
    frames_take(&recording.frames, made.bytes, made.size - 3, 0);
    expect_numbers(&recording, " 1-2-3");
    assert_int_equal(counts->skipped_bytes, made.size - 8);
    assert_int_equal(counts->damaged, 4);
    assert_int_equal(counts->damaged_bytes, 6 + 2 * sizeof text + made.size - 3);
    assert_int_equal(counts->gaps, 0);
}

static void line_restarts(void **state)
{
    struct frame_recording recording;

    (void)state;
    recording_begin(&recording, 0);
    for (uint32_t number = 0; number < 5; number++)
        send_number(&recording, number, 0);
    for (uint32_t number = 0; number < 3; number++)
        send_number(&recording, number, 0);
    /* Anew, as far as it was before: within a block such a frame would pass for the next one. */
    send_words(&recording, 40, 48, 16, 0);
    send_words(&recording, 41, 64, 16, 0);
    send_words(&recording, 90, 80, 16, 0);
    send_words(&recording, 91, 96, 16, 0);
    /* At the beginning of a block its anchor tells. */
    send_words(&recording, 92, 112, 16, 0);
    send_words(&recording, 7, 128, 16, 0);
    expect_numbers(&recording, " 0-1-2-3-4 0-1-2 4 6-7 8");
    assert_int_equal(recording.frames.counts.restarts, 2);
    assert_int_equal(recording.frames.counts.repeated, 0);
}

/* Positions beyond 2^32 go on in the file, sequence numbers beyond 2^16 too. */
static void line_turns_over(void **state)
{
    struct frame_recording recording;
    uint32_t session, stream;
    size_t at = 0, count;
    uint64_t position;

    (void)state;
    recording_begin(&recording, 0);
    send_words(&recording, 65535, UINT32_MAX - 15, 16, 0);
    send_words(&recording, 0, 0, 16, 0);
    send_words(&recording, 3, 48, 16, 0);
    recording_end(&recording);
    assert_non_null(recording_chunk(&recording, &at, &session, &stream, &position, &count));
    assert_int_equal(position, UINT32_MAX - 15);
    assert_int_equal(count, 32);
    assert_non_null(recording_chunk(&recording, &at, &session, &stream, &position, &count));
    assert_true(position == (UINT64_C(1) << 32) + 48);
    assert_int_equal(recording.frames.counts.lost_frames, 2);
    assert_int_equal(recording.frames.counts.lost_words, 32);
    free(recording.bytes);
}

static void line_of_many_streams(void **state)
{
    struct frame_recording recording;
    uint32_t session, stream, seen = 0;
    size_t at = 0, count;
    uint64_t position;
    struct made made;

    (void)state;
    recording_begin(&recording, 0);
    for (uint32_t i = 0; i < 300; i++) {
        made = make_contents(0, 1 + i % 2, i / 2, 0, 16);
        stuff(&made);
        frames_take(&recording.frames, made.bytes, made.size, 0);
    }
    recording_end(&recording);
    while (recording_chunk(&recording, &at, &session, &stream, &position, &count)) {
        assert_int_equal(session, 1 + seen % 2);
        assert_int_equal(stream, seen / 2);
        seen++;
    }
    assert_int_equal(seen, FRAME_STREAMS);
    assert_int_equal(recording.frames.counts.refused, 300 - FRAME_STREAMS);
    free(recording.bytes);
}

/* Chunks are written in time, and big ones at once. */
static void chunks_in_time(void **state)
{
    struct frame_recording recording;
    uint64_t before;

    (void)state;
    recording_begin(&recording, 0);
    before = recording.container.bytes;
    send_number(&recording, 0, 5 * SECOND);
    frames_flush(&recording.frames, 5 * SECOND + FRAMES_CHUNK_NS - 1);
    assert_int_equal(recording.container.bytes, before);
    frames_flush(&recording.frames, 5 * SECOND + FRAMES_CHUNK_NS);
    assert_true(recording.container.bytes > before);
    before = recording.container.bytes;
    for (uint32_t number = 1; number < 1 + FRAMES_CHUNK_BYTES / 64; number++)
        send_number(&recording, number, 5 * SECOND);
    assert_true(recording.container.bytes > before);
    recording_end(&recording);
    free(recording.bytes);
}

/* Any bytes at all: nothing comes of them, and nothing breaks. */
static void line_of_noise(void **state)
{
    struct frame_recording recording;
    unsigned char noise[997];
    uint32_t number = 1;

    (void)state;
    recording_begin(&recording, 0);
    for (int round = 0; round < 3000; round++) {
        for (size_t i = 0; i < sizeof noise; i++) {
            number = number * 1664525u + 1013904223u;
            noise[i] = (unsigned char)(number >> 24 & (round % 3 == 0 ? 0x03 : 0xFF));
        }
        frames_take(&recording.frames, noise, sizeof noise, (uint64_t)round);
        frames_take_datagram(&recording.frames, noise, sizeof noise, (uint64_t)round);
    }
    expect_numbers(&recording, "");
    assert_int_equal(recording.frames.counts.frames, 0);
}

/* ------------------------------------------------------------------ datagrams */

static void datagrams_swapped(void **state)
{
    static const uint32_t order[] = {0, 2, 1, 3, 7, 6, 5, 4, 8, 9, 9, 3, 11, 11, 10, 12};
    struct frame_recording recording;
    struct frame_counts *counts = &recording.frames.counts;

    (void)state;
    recording_begin(&recording, FRAMES_WINDOW);
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        send_number(&recording, order[i], SECOND);
    expect_numbers(&recording, " 0-1-2-3-4-5-6-7-8-9-10-11-12");
    assert_int_equal(counts->repeated, 3);
    assert_int_equal(counts->gaps, 0);
    assert_int_equal(counts->lost_frames, 0);
    assert_int_equal(counts->restarts, 0);
}

static void datagrams_swapped_at_start(void **state)
{
    struct frame_recording recording;

    (void)state;
    recording_begin(&recording, FRAMES_WINDOW);
    send_number(&recording, 2, SECOND);
    send_number(&recording, 1, SECOND);
    send_number(&recording, 1, SECOND);
    send_number(&recording, 0, SECOND);
    send_number(&recording, 3, SECOND);
    expect_numbers(&recording, " 0-1-2-3");
    assert_int_equal(recording.frames.counts.repeated, 1);

    /* A late reader: after a while the first that came is the first. */
    recording_begin(&recording, FRAMES_WINDOW);
    send_number(&recording, 21, SECOND);
    send_number(&recording, 20, SECOND);
    frames_flush(&recording.frames, SECOND + FRAMES_HOLD_NS);
    send_number(&recording, 22, SECOND + FRAMES_HOLD_NS);
    expect_numbers(&recording, " 20-21-22");
    assert_int_equal(recording.frames.counts.gaps, 0);
}

static void datagrams_lost(void **state)
{
    struct frame_recording recording;
    struct frame_counts *counts = &recording.frames.counts;

    (void)state;
    /* Given up by time, then it comes after all. */
    recording_begin(&recording, FRAMES_WINDOW);
    send_number(&recording, 0, SECOND);
    send_number(&recording, 2, SECOND);
    frames_flush(&recording.frames, SECOND + FRAMES_HOLD_NS - 1);
    assert_int_equal(counts->gaps, 0);
    frames_flush(&recording.frames, SECOND + FRAMES_HOLD_NS);
    assert_int_equal(counts->gaps, 1);
    send_number(&recording, 1, SECOND + FRAMES_HOLD_NS); /* too late */
    send_number(&recording, 3, SECOND + FRAMES_HOLD_NS);
    expect_numbers(&recording, " 0 2-3");
    assert_int_equal(counts->late, 1);
    assert_int_equal(counts->lost_frames, 1);
    assert_int_equal(counts->lost_words, 16);
    assert_int_equal(counts->restarts, 0);

    /* However late it is taken, what has come is not given up. */
    recording_begin(&recording, FRAMES_WINDOW);
    send_number(&recording, 0, SECOND);
    send_number(&recording, 2, SECOND);
    send_number(&recording, 3, 9 * SECOND);
    send_number(&recording, 1, 9 * SECOND);
    frames_flush(&recording.frames, 9 * SECOND);
    expect_numbers(&recording, " 0-1-2-3");
    assert_int_equal(counts->gaps, 0);

    /* Given up because too many came behind it. */
    recording_begin(&recording, 4);
    for (uint32_t number = 0; number < 12; number++)
        if (number != 1 && number != 2)
            send_number(&recording, number, SECOND);
    assert_int_equal(counts->gaps, 1);
    expect_numbers(&recording, " 0 3-4-5-6-7-8-9-10-11");
    assert_int_equal(counts->lost_frames, 2);

    /* The last before the end: what is held comes into the file. */
    recording_begin(&recording, FRAMES_WINDOW);
    send_number(&recording, 0, SECOND);
    send_number(&recording, 2, SECOND);
    expect_numbers(&recording, " 0 2");
    assert_int_equal(counts->lost_words, 16);
}

static void datagrams_restart(void **state)
{
    struct frame_recording recording;

    (void)state;
    recording_begin(&recording, FRAMES_WINDOW);
    for (uint32_t number = 0; number < 6; number++)
        send_number(&recording, number, SECOND);
    words[0] ^= 1; /* another time in the first anchor */
    send_number(&recording, 0, SECOND);
    send_number(&recording, 1, SECOND);
    send_number(&recording, 0, 2 * SECOND); /* as before, yet too late to be a repeated one */
    send_number(&recording, 1, 2 * SECOND);
    words[0] ^= 1;
    recording_end(&recording);
    assert_int_equal(recording.frames.counts.restarts, 2);
    assert_int_equal(recording.frames.counts.frames, 10);
    assert_int_equal(recording.frames.counts.repeated, 0);
    free(recording.bytes);
}

/* Words that overlap others: nothing is taken twice. */
static void datagrams_overlap(void **state)
{
    struct frame_recording recording;

    (void)state;
    recording_begin(&recording, FRAMES_WINDOW);
    send_words(&recording, 0, 0, 16, SECOND);
    send_words(&recording, 2, 32, 16, SECOND);
    send_words(&recording, 3, 40, 16, SECOND);
    send_words(&recording, 1, 16, 16, SECOND);
    recording_end(&recording);
    assert_int_equal(recording_compare(&recording, words, 1024), 48);
    assert_int_equal(recording.frames.counts.repeated, 1);
    free(recording.bytes);
}

/* ------------------------------------------------------------------ socket */

static void socket_receives(void **state)
{
    struct frame_recording recording;
    struct datagrams datagrams;
    struct error error = {0};
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}},
                       stranger = {.sin_family = AF_INET, .sin_addr = {htonl(0x7F000002)}};
    int one = socket(AF_INET, SOCK_DGRAM, 0), other = socket(AF_INET, SOCK_DGRAM, 0);
    struct made made;

    (void)state;
    recording_begin(&recording, FRAMES_WINDOW);
    assert_true(datagrams_open(&datagrams, ":0", &error));
    to.sin_port = htons((uint16_t)datagrams.port);
    assert_int_equal(bind(other, (struct sockaddr *)&stranger, sizeof stranger), 0);
    for (uint32_t number = 0; number < 4; number++) {
        made = make_contents(number, 1, 0, 16 * number, 16);
        memmove(made.bytes + 4, made.bytes, made.size);
        memcpy(made.bytes, magic, 4);
        /* The first that makes sense tells who the target is. */
        if (number == 0)
            sendto(other, "hello", 5, 0, (struct sockaddr *)&to, sizeof to);
        sendto(one, made.bytes, made.size + 4, 0, (struct sockaddr *)&to, sizeof to);
        if (number > 0)
            sendto(other, made.bytes, made.size + 4, 0, (struct sockaddr *)&to, sizeof to);
        datagrams_receive(&datagrams, &recording.frames, SECOND);
    }
    datagrams_close(&datagrams);
    close(one);
    close(other);
    expect_numbers(&recording, " 0-1-2-3");
    assert_int_equal(recording.frames.counts.damaged, 1);
    assert_int_equal(datagrams.strangers, 3);
}

static void socket_places(void **state)
{
    static const char *const wrong[] = {"",        "127.0.0.1:", "127.0.0.1:65536", "localhost:5",
                                        "1.2.3:x", "::1:5",      "127.0.0.1:-1",    "8.8.8.8:5000"};
    static const char *const right[] = {"0", ":0", "127.0.0.1:0", "0.0.0.0:0"};
    struct datagrams datagrams;

    (void)state;
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        struct error error = {0};

        assert_true(datagrams_open(&datagrams, right[i], &error));
        assert_int_not_equal(datagrams.port, 0);
        datagrams_close(&datagrams);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct error error = {0};

        assert_false(datagrams_open(&datagrams, wrong[i], &error));
        assert_int_equal(error.code, EXIT_USAGE);
        assert_non_null(strstr(error.text, wrong[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crc_answers),
        cmocka_unit_test(examples),
        cmocka_unit_test(fields),
        cmocka_unit_test(stuffing),
        cmocka_unit_test(line_in_pieces),
        cmocka_unit_test(line_loses),
        cmocka_unit_test(line_with_text),
        cmocka_unit_test(line_restarts),
        cmocka_unit_test(line_turns_over),
        cmocka_unit_test(line_of_many_streams),
        cmocka_unit_test(chunks_in_time),
        cmocka_unit_test(line_of_noise),
        cmocka_unit_test(datagrams_swapped),
        cmocka_unit_test(datagrams_swapped_at_start),
        cmocka_unit_test(datagrams_lost),
        cmocka_unit_test(datagrams_restart),
        cmocka_unit_test(datagrams_overlap),
        cmocka_unit_test(socket_receives),
        cmocka_unit_test(socket_places),
    };

    fill_words();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
