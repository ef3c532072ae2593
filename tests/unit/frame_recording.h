/* What of a stream came through a line of frames: a recording in memory, read back by the chunk
 * layout alone, and compared with the words that were sent. */
#ifndef FRAME_RECORDING_H
#define FRAME_RECORDING_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cap_frames.h"

struct frame_recording {
    int file;
    struct container container;
    struct frames frames;
    unsigned char *bytes; /* of the whole file, after recording_end */
    size_t size;
};

static inline void recording_begin(struct frame_recording *recording, uint32_t window)
{
    struct error error = {0};
    char path[32];

    recording->file = memfd_create("frames", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", recording->file);
    assert_true(container_create(&recording->container, path, 1, &error));
    recording->container.arrival_ns = 1;
    frames_begin(&recording->frames, &recording->container, window);
}

static inline void recording_end(struct frame_recording *recording)
{
    struct error error = {0};

    frames_end(&recording->frames);
    recording->size = (size_t)recording->container.bytes;
    assert_true(container_close(&recording->container, &error));
    recording->bytes = malloc(recording->size);
    assert_int_equal(pread(recording->file, recording->bytes, recording->size, 0), recording->size);
    close(recording->file);
}

/* One run of words without a hole, or NULL behind the last; `*at` is 0 at first. */
static inline const unsigned char *recording_chunk(const struct frame_recording *recording,
                                                   size_t *at, uint32_t *session, uint32_t *stream,
                                                   uint64_t *position, size_t *words)
{
    const unsigned char *head = recording->bytes + (*at == 0 ? CONTAINER_HEAD_BYTES : *at);
    size_t table;

    *session = *stream = 0;
    *position = 0;
    *words = 0;
    if (head >= recording->bytes + recording->size)
        return NULL;
    assert_memory_equal(head, CHUNK_MAGIC, 4);
    assert_int_equal(get_little(head + CHUNK_AT_TYPE, 2), CHUNK_STREAM);
    *session = (uint32_t)get_little(head + CHUNK_AT_SESSION, 4);
    *stream = (uint32_t)get_little(head + CHUNK_AT_STREAM, 4);
    *position = get_little(head + CHUNK_AT_POSITION, 8);
    table = 4 + 4 * (size_t)get_little(head + CHUNK_HEAD_BYTES, 4);
    *words = ((size_t)get_little(head + CHUNK_AT_LENGTH, 4) - table) / 4;
    *at = (size_t)(head - recording->bytes) + CHUNK_HEAD_BYTES + table + 4 * *words;
    return head + CHUNK_HEAD_BYTES + table;
}

/* Every word in the recording is the one that was sent at its position, and none is there twice.
 * `sent`: words of the only stream, from position 0. Returns how many came. */
static inline size_t recording_compare(const struct frame_recording *recording,
                                       const uint32_t *sent, size_t count)
{
    size_t at = 0, words = 0, came = 0;
    uint32_t session = 0, stream = 0;
    uint64_t position = 0, next = 0;
    const unsigned char *chunk;

    while ((chunk = recording_chunk(recording, &at, &session, &stream, &position, &words))) {
        assert_true(position >= next && position + words <= count);
        assert_memory_equal(chunk, sent + position, 4 * words);
        next = position + words;
        came += words;
    }
    return came;
}

#endif
