#include "dec_directory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <xxhash.h>

#include "base_progress.h"
#include "dec_record.h"
#include "dec_text.h"

/* The hash table holds both kinds: 1 + 2 * number for a session, 2 + 2 * number for a stream. The
 * seed is random, so that no input can be made to hit one slot only. */

static uint64_t hash_key(const struct decode_directory *directory, uint32_t session, uint32_t rest)
{
    uint32_t key[2] = {session, rest};

    return XXH64(key, sizeof key, directory->seed);
}

static uint64_t hash_of(const struct decode_directory *directory, uint32_t slot)
{
    const struct decode_stream *stream;

    if ((slot & 1) != 0)
        return hash_key(directory, directory->sessions[slot / 2]->number, 0x10000);
    stream = directory->streams[slot / 2 - 1];
    return hash_key(directory, stream->session->number, stream->number);
}

static bool slot_is(const struct decode_directory *directory, uint32_t slot, bool is_session,
                    uint32_t session, uint32_t number)
{
    const struct decode_stream *stream;

    if (((slot & 1) != 0) != is_session)
        return false;
    if (is_session)
        return directory->sessions[slot / 2]->number == session;
    stream = directory->streams[slot / 2 - 1];
    return stream->session->number == session && stream->number == number;
}

static void grow(struct decode_directory *directory)
{
    size_t old_count = directory->slot_count, count = old_count == 0 ? 16 : old_count * 2;
    uint32_t *old = directory->slots;

    if (2 * directory->slots_used < old_count)
        return;
    if (old_count == 0 && getrandom(&directory->seed, sizeof directory->seed, GRND_NONBLOCK) < 0)
        directory->seed = monotonic_ns();
    directory->slots = memory_new(count, sizeof *directory->slots);
    directory->slot_count = count;
    for (size_t i = 0; i < old_count; i++) {
        size_t at;

        if (old[i] == 0)
            continue;
        at = hash_of(directory, old[i]) & (count - 1);
        while (directory->slots[at] != 0)
            at = (at + 1) & (count - 1);
        directory->slots[at] = old[i];
    }
    free(old);
}

/* The slot of the key, or the empty one where it belongs. */
static uint32_t *find(const struct decode_directory *directory, bool is_session, uint32_t session,
                      uint32_t number)
{
    size_t at =
        hash_key(directory, session, is_session ? 0x10000 : number) & (directory->slot_count - 1);

    while (directory->slots[at] != 0 &&
           !slot_is(directory, directory->slots[at], is_session, session, number))
        at = (at + 1) & (directory->slot_count - 1);
    return &directory->slots[at];
}

struct decode_session *directory_session(struct decode_directory *directory, uint32_t number)
{
    struct decode_session *session;
    uint32_t *slot;

    grow(directory);
    slot = find(directory, true, number, 0);
    if (*slot != 0)
        return directory->sessions[*slot / 2];
    if (directory->session_count == directory->session_capacity) {
        directory->session_capacity = 2 * directory->session_capacity + 4;
        directory->sessions = memory_resize(directory->sessions, directory->session_capacity,
                                            sizeof(struct decode_session *));
    }
    session = memory_new(1, sizeof *session);
    session->number = number;
    session->ordinal = (uint32_t)directory->session_count;
    directory->sessions[directory->session_count] = session;
    *slot = 1 + 2 * (uint32_t)directory->session_count++;
    directory->slots_used++;
    return session;
}

struct decode_stream *directory_stream(struct decode_directory *directory, uint32_t session,
                                       uint32_t number)
{
    uint32_t *slot;
    struct decode_stream *stream;

    number &= 0xFFFF; /* an anchor has room for no more */
    grow(directory);
    slot = find(directory, false, session, number);
    if (*slot != 0)
        return directory->streams[*slot / 2 - 1];
    if (directory->stream_count == directory->stream_capacity) {
        directory->stream_capacity = 2 * directory->stream_capacity + 4;
        directory->streams = memory_resize(directory->streams, directory->stream_capacity,
                                           sizeof(struct decode_stream *));
    }
    stream = memory_new(1, sizeof *stream);
    stream->session = directory_session(directory, session);
    stream->number = number;
    stream->ordinal = (uint32_t)directory->stream_count;
    directory->streams[directory->stream_count] = stream;
    grow(directory);
    slot = find(directory, false, session, number); /* the session may have moved the table */
    *slot = 2 + 2 * (uint32_t)directory->stream_count++;
    directory->slots_used++;
    return stream;
}

struct decode_stream *directory_find_stream(const struct decode_directory *directory,
                                            uint32_t session, uint32_t number)
{
    const uint32_t *slot;

    if (directory->slot_count == 0)
        return NULL;
    slot = find(directory, false, session, number & 0xFFFF);
    return *slot == 0 ? NULL : directory->streams[*slot / 2 - 1];
}

void directory_free(struct decode_directory *directory)
{
    for (size_t i = 0; i < directory->stream_count; i++) {
        struct decode_stream *stream = directory->streams[i];

        record_free_state(stream);
        free(stream->first_ring);
        free(stream->last_ring);
        free(stream);
    }
    for (size_t i = 0; i < directory->session_count; i++) {
        struct decode_session *session = directory->sessions[i];

        definitions_free(&session->definitions);
        free(session->snapshots);
        free(session->first_region);
        free(session->last_region);
        free(session->string_ids);
        free(session);
    }
    free(directory->streams);
    free(directory->sessions);
    free(directory->slots);
    *directory = (struct decode_directory){0};
}

void session_add_string(struct decode_session *session, uint32_t id)
{
    if (id < TARE_ID_FREE1 || id > TARE_ID_LAST1)
        return;
    if (session->string_ids == NULL)
        session->string_ids = memory_new(0x400 / 32, sizeof(uint32_t));
    session->string_ids[(id - 0x800) / 32] |= UINT32_C(1) << (id - 0x800) % 32;
}

void stream_append_name(struct buffer *out, const struct decode_stream *stream)
{
    const struct definition *definition =
        definitions_find(&stream->session->definitions, DEFINITION_STREAM, stream->number);

    if (definition != NULL && definition->name[0] != 0)
        text_append_safe(out, definition->name, strlen(definition->name));
    else if (stream->last_ring != NULL && stream->last_ring->kind == TARE_RING_DEFINITIONS)
        buffer_printf(out, "names of process %" PRIu32, stream->last_ring->process);
    else if (stream->last_ring != NULL && stream->last_ring->thread != 0)
        buffer_printf(out, "thread %" PRIu32, stream->last_ring->thread);
    else
        buffer_printf(out, "stream %" PRIu32, stream->number);
}
