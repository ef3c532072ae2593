/* A target's memory, its reader and the recording, for the tests of the reader. */
#ifndef MEMORY_SCENE_H
#define MEMORY_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cap_memory.h"
#include "target_memory.h"

#define SIZE 65536u
#define BLOCK 0x100u   /* place of the control block */
#define BUFFER 0x1000u /* and of its words */
#define RING 4096u
#define ALL UINT64_MAX
#define SECOND UINT64_C(1000000000)

struct scene {
    struct target target;
    struct memory_options options;
    struct memory_reader reader;
    struct container container;
    struct chunks chunks;
    struct error error;
};

static inline void begin(struct scene *scene)
{
    memset(scene, 0, sizeof(*scene));
    target_map(&scene->target, "ram", SIZE, 0);
    target_begin(&scene->target, BLOCK, BUFFER, RING, 7, 3);
    scene->options =
        (struct memory_options){.path = "ram", .base_given = true, .base = TARGET_BASE};
    assert_true(container_create(&scene->container, "out.tare", 0, &scene->error));
    scene->container.arrival_ns = 5;
}

static inline void open_reader(struct scene *scene)
{
    assert_true(memory_open(&scene->reader, &scene->options, &scene->container, &scene->error));
}

static inline void end(struct scene *scene)
{
    memory_end(&scene->reader);
    memory_close(&scene->reader);
    assert_true(container_close(&scene->container, &scene->error));
    chunks_read(&scene->chunks, "out.tare");
}

static inline void leave(struct scene *scene)
{
    buffer_free(&scene->chunks.file);
    target_unmap(&scene->target);
}

/* All words of one session in the order of its chunks, which must join. Returns their number. */
static inline uint32_t check_words(const struct scene *scene, uint32_t session, uint64_t begins)
{
    struct buffer words = {0};
    size_t from = 0;
    const struct chunk *chunk;

    while ((chunk = chunks_next(&scene->chunks, CHUNK_STREAM, &from)) != NULL) {
        if (chunk->session != session)
            continue;
        assert_int_equal(chunk->stream, scene->target.stream);
        assert_int_equal(chunk->position, begins + words.size / 4);
        buffer_append(&words, chunk->payload, chunk->bytes);
    }
    uint32_t count = (uint32_t)(words.size / 4);
    assert_true(
        words_are_right((const unsigned char *)words.data, count, begins, &scene->target, session));
    buffer_free(&words);
    return count;
}

static inline void records_some(struct scene *scene, int count, uint64_t now_ns)
{
    for (int i = 0; i < count; i++)
        target_record(&scene->target, 2);
    memory_drain(&scene->reader, ALL, now_ns);
}

#endif
