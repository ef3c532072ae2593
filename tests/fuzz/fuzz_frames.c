/* Fuzz target: a line or socket that gives any bytes, and frames whose CRC is right and whose
 * contents are anything, at any time. What must hold: the file has the words that were counted,
 * each stream without overlap unless it began anew, and what is missing is counted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cap_frames.c" /* NOLINT(bugprone-suspicious-include): the build links the decoder alone */

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition); \
            abort(); \
        } \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *data;
    size_t size;
};

static size_t take_bytes(struct input *input, void *to, size_t size)
{
    if (size > input->size)
        size = input->size;
    memcpy(to, input->data, size);
    input->data += size;
    input->size -= size;
    return size;
}

static size_t stuff(unsigned char *to, const unsigned char *from, size_t size)
{
    size_t code = 0, made = 1;

    for (size_t i = 0; i < size; i++) {
        if (from[i] != 0)
            to[made++] = from[i];
        if (from[i] == 0 || made - code == 255) {
            to[code] = (unsigned char)(made - code);
            code = made++;
        }
    }
    to[code] = (unsigned char)(made - code);
    to[made++] = 0;
    return made;
}

static void give_contents(struct frames *frames, unsigned char *datagram, size_t words,
                          uint64_t now_ns)
{
    unsigned char *contents = datagram + 4, line[FRAME_STUFFED_LIMIT + 8];
    size_t size = FRAME_HEADER_BYTES + 4 * words;

    put_little(contents + size, frame_crc(contents, size), FRAME_CHECK_BYTES);
    size += FRAME_CHECK_BYTES;
    if (frames->window > 0)
        frames_take_datagram(frames, datagram, 4 + size, now_ns);
    else
        frames_take(frames, line, stuff(line, contents, size), now_ns);
}

/* Any contents with a right CRC. */
static void give_any_frame(struct frames *frames, struct input *input, unsigned words,
                           uint64_t now_ns)
{
    unsigned char datagram[DATAGRAM_LIMIT] = DATAGRAM_MAGIC;

    take_bytes(input, datagram + 4, FRAME_HEADER_BYTES + 4 * (size_t)words);
    give_contents(frames, datagram, words, now_ns);
}

/* A frame of one of four streams, near those that came before: repeated, early, late, or the next.
 */
static void give_near_frame(struct frames *frames, unsigned how, uint32_t *numbers, uint64_t now_ns)
{
    unsigned char datagram[DATAGRAM_LIMIT] = DATAGRAM_MAGIC, *head = datagram + 4;
    unsigned slot = how & 3, words = 16 - (how >> 7);
    uint32_t number = numbers[slot] + (how >> 2 & 15);

    number -= (how >> 6 & 1) != 0 ? 12 : 0;
    if (number > numbers[slot] && number - numbers[slot] < 3)
        numbers[slot] = number;
    put_little(head, 1, 1);
    put_little(head + 1, 6, 1);
    put_little(head + 2, number, 2);
    put_little(head + 4, 1 + slot / 2, 2);
    put_little(head + 6, slot % 2, 2);
    put_little(head + 8, 16 * number, 4);
    memset(head + FRAME_HEADER_BYTES, (int)number, 4 * (size_t)words);
    give_contents(frames, datagram, words, now_ns);
}

static void give_all(struct frames *frames, struct input *input)
{
    uint32_t numbers[4] = {20, 20, 20, 0xFFFF0};
    unsigned char bytes[255], step[2];
    uint64_t now_ns = 0;

    while (take_bytes(input, step, sizeof step) == sizeof step) {
        switch (step[0] % 16) {
        case 0:
            frames_take(frames, bytes, take_bytes(input, bytes, step[1]), now_ns);
            break;
        case 1:
            frames_take_datagram(frames, bytes, take_bytes(input, bytes, step[1]), now_ns);
            break;
        case 2:
            now_ns += (uint64_t)step[1] * 10000000;
            break;
        case 3:
            frames_flush(frames, now_ns);
            break;
        case 4:
            give_any_frame(frames, input, step[1] % 70, now_ns);
            break;
        default:
            give_near_frame(frames, step[1], numbers, now_ns);
            break;
        }
    }
}

/* Sums up the STREAM chunks. */
static void check_file(const unsigned char *file, size_t size, const struct frame_counts *counts)
{
    const unsigned char *head = file + CONTAINER_HEAD_BYTES, *end = file + size;
    static uint64_t next[4], first[4]; /* of the streams that the frames above are near */
    uint64_t words = 0, span = 0;
    bool elsewhere = false;

    memset(next, 0, sizeof next);
    for (size_t i = 0; i < 4; i++)
        first[i] = UINT64_MAX;
    while (head < end) {
        size_t length = (size_t)get_little(head + CHUNK_AT_LENGTH, 4);
        size_t count = length / 4 - 1 - (size_t)get_little(head + CHUNK_HEAD_BYTES, 4);
        uint64_t session = get_little(head + CHUNK_AT_SESSION, 4);
        uint64_t stream = get_little(head + CHUNK_AT_STREAM, 4);
        uint64_t position = get_little(head + CHUNK_AT_POSITION, 8);

        CHECK(memcmp(head, CHUNK_MAGIC, 4) == 0 && length % 4 == 0 && count > 0);
        if (session - 1 < 2 && stream < 2) {
            size_t slot = (size_t)(2 * (session - 1) + stream);

            CHECK(counts->restarts > 0 || position >= next[slot]);
            first[slot] = first[slot] < position ? first[slot] : position;
            next[slot] = position + count;
        } else {
            elsewhere = true;
        }
        words += count;
        head += CHUNK_HEAD_BYTES + length;
    }
    CHECK(head == end);
    CHECK(words == counts->words);
    for (size_t i = 0; i < 4; i++)
        span += first[i] == UINT64_MAX ? 0 : next[i] - first[i];
    /* A stream that is elsewhere has its own words and losses. */
    if (counts->restarts == 0 && counts->streams <= 4 && !elsewhere)
        CHECK(words + counts->lost_words == span);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int file = -1;
    static struct frames frames;
    struct input input = {data, size};
    struct container container;
    struct error error = {0};
    unsigned char window = 0;
    char path[32];
    void *mapping;
    uint64_t bytes;

    if (file < 0)
        file = memfd_create("frames", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    CHECK(container_create(&container, path, 1, &error));
    take_bytes(&input, &window, 1);
    frames_begin(&frames, &container, window % 3 == 0 ? 0 : window % 3 == 1 ? 4 : FRAMES_WINDOW);
    frames.warned_restart = frames.warned_refused = true;
    give_all(&frames, &input);
    frames_end(&frames);
    bytes = container.bytes;
    CHECK(container_close(&container, &error));
    mapping = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
    CHECK(mapping != MAP_FAILED);
    check_file(mapping, bytes, &frames.counts);
    munmap(mapping, bytes);
    return 0;
}
