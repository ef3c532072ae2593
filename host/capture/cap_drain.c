#include "cap_drain.h"

#include <stdlib.h>
#include <string.h>

#include "base_progress.h"

void drain_begin(struct drain *drain, struct session *session, struct container *container)
{
    memset(drain, 0, sizeof(*drain));
    drain->session = session;
    drain->container = container;
    drain->rings = memory_new(session->rings, sizeof(*drain->rings));
    /* A recording whose collector is killed has the length of a tick all the same. */
    container_region(container, session->region);
}

static void flush(struct drain *drain, struct drain_ring *own)
{
    container_stream(drain->container, own->stream, own->position, 4 * drain->session->block_words,
                     own->waiting.data, own->waiting.size);
    own->position += own->waiting.size / 4;
    buffer_clear(&own->waiting);
}

static void take(struct drain *drain, struct drain_ring *own, const unsigned char *words,
                 uint32_t begin, uint32_t end)
{
    buffer_append(&own->waiting, words + begin, end - begin);
    drain->words += (end - begin) / 4;
}

/* A recorded program may have written anywhere by mistake: its header is not believed blindly. */
static bool offset_sound(const struct drain *drain, uint32_t offset)
{
    return offset < drain->session->ring_bytes && offset % 4 == 0;
}

static void read_ring(struct drain *drain, uint32_t number, struct drain_ring *own, uint64_t now_ns)
{
    struct tare_ring *ring = session_ring(drain->session, number);
    const unsigned char *words = session_words(drain->session, number);
    uint32_t write = __atomic_load_n(&ring->up.write_offset, __ATOMIC_ACQUIRE);
    uint32_t size = drain->session->ring_bytes, fill;

    if (!offset_sound(drain, write)) {
        warn("stream %u: write offset %u is outside its ring of %u bytes; the program has "
             "overwritten the recorder's memory, the rest of this stream is not read",
             own->stream, write, size);
        own->broken = true;
        return;
    }
    if (write == own->read_offset)
        return;
    if (own->waiting.size == 0)
        own->waiting_since_ns = now_ns;
    fill = write >= own->read_offset ? write - own->read_offset : size - own->read_offset + write;
    if (fill > own->highest_fill)
        own->highest_fill = fill;
    if (write < own->read_offset) {
        take(drain, own, words, own->read_offset, size);
        own->read_offset = 0;
    }
    take(drain, own, words, own->read_offset, write);
    own->read_offset = write;
    if (ring->kind != TARE_RING_DEFINITIONS)
        __atomic_store_n(&ring->up.read_offset, write, __ATOMIC_RELEASE);
}

/* Only what is fixed for the life of the ring: the rest changes under our eyes. */
static void first_look(struct drain *drain, const struct tare_ring *ring, struct drain_ring *own)
{
    struct tare_ring fixed = {.up_channels = 1,
                              .up = {.buffer = ring->up.buffer, .bytes = ring->up.bytes},
                              .magic = ring->magic,
                              .self = ring->self,
                              .version = ring->version,
                              .block_words = ring->block_words,
                              .session = ring->session,
                              .stream = ring->stream,
                              .kind = ring->kind,
                              .state = TARE_RING_ACTIVE,
                              .process = ring->process,
                              .thread = ring->thread};

    memcpy(fixed.id, ring->id, sizeof(fixed.id));
    own->seen = true;
    own->stream = ring->stream;
    drain->streams++;
    container_ring(drain->container, own->stream, &fixed);
}

/* The stream is over, or the recording is: all its words and the last state of its ring. */
static void last_look(struct drain *drain, const struct tare_ring *ring, struct drain_ring *own)
{
    if (!own->broken)
        flush(drain, own);
    container_ring(drain->container, own->stream, ring);
    drain->dropped += ring->dropped;
    if (own->highest_fill > drain->highest_fill)
        drain->highest_fill = own->highest_fill;
    buffer_free(&own->waiting);
    memset(own, 0, sizeof(*own));
}

void drain_once(struct drain *drain, uint64_t now_ns)
{
    for (uint32_t number = 0; number < drain->session->rings; number++) {
        struct tare_ring *ring = session_ring(drain->session, number);
        struct drain_ring *own = drain->rings + number;
        uint32_t state = __atomic_load_n(&ring->state, __ATOMIC_ACQUIRE);

        if ((state != TARE_RING_ACTIVE && state != TARE_RING_CLOSED) || own->broken)
            continue;
        if (!own->seen)
            first_look(drain, ring, own);
        read_ring(drain, number, own, now_ns);
        if (own->broken)
            continue;
        if (state == TARE_RING_CLOSED) {
            last_look(drain, ring, own);
            __atomic_store_n(&ring->state, TARE_RING_FREE, __ATOMIC_RELEASE);
        } else if (own->waiting.size >= DRAIN_CHUNK_BYTES ||
                   (own->waiting.size > 0 && now_ns - own->waiting_since_ns >= DRAIN_CHUNK_NS)) {
            flush(drain, own);
        }
    }
}

void drain_end(struct drain *drain)
{
    drain_once(drain, monotonic_ns());
    for (uint32_t number = 0; number < drain->session->rings; number++) {
        struct drain_ring *own = drain->rings + number;

        if (own->seen)
            last_look(drain, session_ring(drain->session, number), own);
    }
    container_region(drain->container, drain->session->region);
    free(drain->rings);
    drain->rings = NULL;
}
