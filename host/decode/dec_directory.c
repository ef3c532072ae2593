#include "dec_directory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dec_record.h"
#include "dec_text.h"

/* One table for both: a session's key has a bit that no stream number has. */
static uint64_t key_of_session(uint32_t number)
{
    return (uint64_t)number << 32 | 0x10000;
}

static uint64_t key_of_stream(uint32_t session, uint32_t number)
{
    return (uint64_t)session << 32 | (number & 0xFFFF); /* an anchor has room for no more */
}

struct decode_session *directory_session(struct decode_directory *directory, uint32_t number)
{
    uint32_t known = key_table_find(&directory->table, key_of_session(number));
    struct decode_session *session;

    if (known != 0)
        return directory->sessions[known - 1];
    if (directory->session_count == directory->session_capacity) {
        directory->session_capacity = 2 * directory->session_capacity + 4;
        directory->sessions = memory_resize(directory->sessions, directory->session_capacity,
                                            sizeof(struct decode_session *));
    }
    session = memory_new(1, sizeof *session);
    session->number = number;
    session->ordinal = (uint32_t)directory->session_count;
    directory->sessions[directory->session_count++] = session;
    key_table_set(&directory->table, key_of_session(number), session->ordinal + 1);
    return session;
}

struct decode_stream *directory_find_stream(const struct decode_directory *directory,
                                            uint32_t session, uint32_t number)
{
    uint32_t known = key_table_find(&directory->table, key_of_stream(session, number));

    return known == 0 ? NULL : directory->streams[known - 1];
}

struct decode_stream *directory_stream(struct decode_directory *directory, uint32_t session,
                                       uint32_t number)
{
    struct decode_stream *stream = directory_find_stream(directory, session, number);

    if (stream != NULL)
        return stream;
    if (directory->stream_count == directory->stream_capacity) {
        directory->stream_capacity = 2 * directory->stream_capacity + 4;
        directory->streams = memory_resize(directory->streams, directory->stream_capacity,
                                           sizeof(struct decode_stream *));
    }
    stream = memory_new(1, sizeof *stream);
    stream->session = directory_session(directory, session);
    stream->number = number & 0xFFFF;
    stream->ordinal = (uint32_t)directory->stream_count;
    directory->streams[directory->stream_count++] = stream;
    key_table_set(&directory->table, key_of_stream(session, number), stream->ordinal + 1);
    return stream;
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
        free(session->roles);
        free(session);
    }
    free(directory->streams);
    free(directory->sessions);
    key_table_free(&directory->table);
    *directory = (struct decode_directory){0};
}

const uint8_t plain_roles[TARE_ID_COUNT] = {
    [TARE_ID_OTHER_TASK_READY... TARE_ID_OTHER_RECEIVE_BLOCK] = 1,
    [TARE_ID_FREE0... TARE_ID_LAST0] = 1,
    [TARE_ID_FREE1... TARE_ID_LAST1] = 2,
    [TARE_ID_FREE2... TARE_ID_LAST2] = 3,
};

void session_keep_roles(struct decode_session *session)
{
    if (session->roles != NULL)
        return;
    session->roles = memory_new(1, sizeof plain_roles);
    memcpy(session->roles, plain_roles, sizeof plain_roles);
    session->roles[TARE_ID_OTHER_TASK_RUNS] = 1 | ROLE_TASK;
}

static bool add_role(struct decode_session *session, uint32_t id, uint8_t role)
{
    session_keep_roles(session);
    if ((session->roles[id] & role) != 0)
        return false;
    session->roles[id] |= role;
    return true;
}

bool session_add_class(struct decode_session *session, uint32_t class, uint32_t id)
{
    if (class == TARE_CLASS_STRING && id >= TARE_ID_FREE1 && id <= TARE_ID_LAST1) {
        bool added = add_role(session, id, ROLE_STRING);

        session->roles[id] &= (uint8_t)~ROLE_WORDS; /* no longer one that is only handed on */
        return added;
    }
    if (id < TARE_ID_FREE0 || id > TARE_ID_LAST0)
        return false;
    if (class == TARE_CLASS_TASK)
        return add_role(session, id, ROLE_TASK);
    if (class != TARE_CLASS_INTERRUPT)
        return false;
    if (id < TARE_ID_LAST0)
        add_role(session, id + 1, ROLE_LEAVE);
    return add_role(session, id, ROLE_ENTER);
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
