#include "cap_memory_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cap_command.h"

struct memory_map memory_map(const struct memory_reader *reader)
{
    return (struct memory_map){.path = reader->options.path,
                               .bytes = reader->mapping + reader->skew,
                               .size = reader->size,
                               .segments = reader->options.segments,
                               .segment_count = reader->options.segment_count,
                               .base_given = reader->options.base_given,
                               .base = reader->options.base};
}

/* ------------------------------------------------------------------ the file */

static bool map_file(struct memory_reader *reader, struct error *error)
{
    const struct memory_options *options = &reader->options;
    const bool write = !options->read_only;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    struct stat status;

    reader->file = open(options->path, (write ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOCTTY);
    if (reader->file < 0 || fstat(reader->file, &status) != 0) {
        error_set(error, EXIT_USAGE, "%s: cannot be opened: %s", options->path, strerror(errno));
        return false;
    }
    if (!S_ISREG(status.st_mode)) {
        error_set(error, EXIT_USAGE, "%s: is no regular file; name the file that holds the memory",
                  options->path);
        return false;
    }
    if (options->offset >= (uint64_t)status.st_size ||
        options->bytes > (uint64_t)status.st_size - options->offset) {
        error_set(error, EXIT_USAGE,
                  "%s: has %" PRId64 " bytes; there are no %" PRIu64 " at offset %" PRIu64,
                  options->path, (int64_t)status.st_size, options->bytes, options->offset);
        return false;
    }
    reader->size =
        options->bytes != 0 ? options->bytes : (uint64_t)status.st_size - options->offset;
    reader->skew = (size_t)(options->offset % page);
    reader->mapping_bytes = (size_t)reader->size + reader->skew;
    reader->mapping = mmap(NULL, reader->mapping_bytes, write ? PROT_READ | PROT_WRITE : PROT_READ,
                           write ? MAP_SHARED : MAP_PRIVATE, reader->file,
                           (off_t)(options->offset - reader->skew));
    if (reader->mapping == MAP_FAILED) {
        reader->mapping = NULL;
        error_set(error, EXIT_USAGE, "%s: cannot be mapped: %s", options->path, strerror(errno));
        return false;
    }
    return true;
}

static void unmap_file(struct memory_reader *reader)
{
    if (reader->mapping != NULL)
        munmap(reader->mapping, reader->mapping_bytes);
    if (reader->file >= 0)
        close(reader->file);
    reader->mapping = NULL;
    reader->file = -1;
}

bool memory_open(struct memory_reader *reader, const struct memory_options *options,
                 struct container *container, struct error *error)
{
    *reader = (struct memory_reader){.options = *options, .container = container, .file = -1};
    if (!map_file(reader, error)) {
        unmap_file(reader);
        return false;
    }
    reader->piece = memory_new(1, MEMORY_CHUNK_BYTES);
    return true;
}

/* QEMU makes its file anew when it starts: what is mapped then belongs to nobody any more. */
void memory_follow_file(struct memory_reader *reader)
{
    struct stat now, mapped;
    struct error error = {0};

    if (reader->options.read_only)
        return;
    if (reader->file >= 0) {
        if (stat(reader->options.path, &now) != 0 || fstat(reader->file, &mapped) != 0 ||
            (now.st_ino == mapped.st_ino && now.st_dev == mapped.st_dev))
            return;
        for (uint32_t i = 0; i < reader->ring_count; i++) {
            if (reader->rings[i].attached)
                memory_break_ring(reader, reader->rings + i,
                                  "the file of the memory was made anew");
        }
        unmap_file(reader);
    }
    if (!map_file(reader, &error)) {
        unmap_file(reader);
        reader->refusal = error;
    }
}

/* Whether the file still holds all that is mapped: beyond its end there is nothing to read. */
bool memory_is_whole(struct memory_reader *reader)
{
    struct stat status;

    if (reader->file < 0 || fstat(reader->file, &status) != 0)
        return false;
    if ((uint64_t)status.st_size >= reader->options.offset + reader->size)
        return true;
    for (uint32_t i = 0; i < reader->ring_count; i++) {
        if (reader->rings[i].attached)
            memory_break_ring(reader, reader->rings + i, "the file of the memory was cut");
    }
    reader->refusal = (struct error){0};
    error_set(&reader->refusal, EXIT_USAGE, "%s: was cut to %" PRId64 " bytes while it was read",
              reader->options.path, (int64_t)status.st_size);
    return false;
}

uint32_t memory_attached(const struct memory_reader *reader)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < reader->ring_count; i++)
        count += reader->rings[i].attached;
    return count;
}

/* ------------------------------------------------------------------ reading */

/* Rings that are read only, overwritten or of definitions keep their words. */
static bool is_consumed(const struct memory_reader *reader, const struct memory_ring *own)
{
    return !reader->options.read_only && own->fixed.policy == TARE_FULL_DROP &&
           own->fixed.kind != TARE_RING_DEFINITIONS;
}

#define SAME(name, now, before) \
    do { \
        uint32_t is = (now), was = (before); \
        if (is != was) { \
            error_set(why, EXIT_DAMAGED, name " changed from 0x%" PRIx32 " to 0x%" PRIx32, was, \
                      is); \
            return false; \
        } \
    } while (0)

/* Whether the block is still the one that was attached to, and its offsets go on from where they
 * were. Each word is accounted for, so a target that began anew is found even if it has the same
 * session number. */
static bool goes_on(const struct memory_reader *reader, const struct memory_ring *own,
                    const struct block_view *view, struct error *why)
{
    const struct memory_map map = memory_map(reader);
    const struct tare_ring *ring = &view->ring, *fixed = &own->fixed;
    uint32_t head = ring->lap_index + view->up.write_offset / 4, ahead;

    SAME("session", ring->session, fixed->session);
    SAME("stream", ring->stream, fixed->stream);
    SAME("self", ring->self, fixed->self);
    SAME("block_words", ring->block_words, fixed->block_words);
    SAME("kind", ring->kind, fixed->kind);
    SAME("policy", ring->policy, fixed->policy);
    SAME("channel", ring->channel, fixed->channel);
    SAME("buffer", view->up.buffer, own->buffer);
    SAME("bytes", view->up.bytes, own->bytes);
    if (fixed->policy == TARE_FULL_OVERWRITE) {
        head = memory_head(&map, view);
        if (view->steady && head - (uint32_t)own->position > UINT32_MAX / 2) {
            error_set(why, EXIT_DAMAGED, "lap_index %" PRIu32 " went back behind word %" PRIu64,
                      ring->lap_index, own->position);
            return false;
        }
        return true;
    }
    if (is_consumed(reader, own))
        SAME("read_offset", view->up.read_offset, own->read_offset);
    ahead = head - (uint32_t)own->position -
            (view->up.write_offset + own->bytes - own->read_offset) % own->bytes / 4;
    if (view->steady && ahead != 0 && ahead != own->bytes / 4) {
        error_set(why, EXIT_DAMAGED, "lap_index %" PRIu32 " does not go on from word %" PRIu64,
                  ring->lap_index, own->position);
        return false;
    }
    return true;
}

/* A look at a ring that is being read. False: its stream has been ended. */
static bool look_again(struct memory_reader *reader, struct memory_ring *own,
                       struct block_view *view)
{
    const struct memory_map map = memory_map(reader);
    struct error why = {0};
    enum block_kind kind = block_look(&map, own->place, view, &why);

    if (kind == BLOCK_SOUND && goes_on(reader, own, view, &why))
        return true;
    if (kind == BLOCK_NONE)
        error_set(&why, EXIT_DAMAGED, "its control block is gone");
    memory_break_ring(reader, own, why.text);
    return false;
}

/* Words of the ring from byte `offset` on, which may go round its end. */
static void copy_words(struct memory_reader *reader, const struct memory_ring *own,
                       const struct block_view *view, uint32_t offset, uint32_t bytes)
{
    const struct memory_map map = memory_map(reader);
    uint32_t straight = own->bytes - offset < bytes ? own->bytes - offset : bytes;

    map_copy(&map, view->buffer + offset, reader->piece, straight);
    map_copy(&map, view->buffer, reader->piece + straight, bytes - straight);
}

/* Keeps `bytes` of the piece from `from` on, which follow the ring's position. */
static void keep_words(struct memory_reader *reader, struct memory_ring *own, uint32_t from,
                       uint32_t bytes, uint64_t now_ns)
{
    if (bytes == 0)
        return;
    if (own->waiting.size > 0 && own->waiting_position + own->waiting.size / 4 != own->position)
        memory_flush_ring(reader, own);
    if (own->waiting.size == 0) {
        own->waiting_position = own->position;
        own->waiting_since_ns = now_ns;
    }
    buffer_append(&own->waiting, reader->piece + from, bytes);
    own->position += bytes / 4;
    own->progress_ns = now_ns;
    reader->words += bytes / 4;
    if (own->waiting.size >= MEMORY_CHUNK_BYTES)
        memory_flush_ring(reader, own);
}

static void note_fill(struct memory_reader *reader, const struct memory_ring *own, uint32_t fill)
{
    if (fill > reader->highest_fill) {
        reader->highest_fill = fill;
        reader->highest_bytes = own->bytes;
    }
}

static uint32_t least(uint64_t one, uint64_t other)
{
    return (uint32_t)(one < other ? one : other);
}

/* Gives the words back to the target. One that began anew just before gets a read offset that is
 * not its own: that is seen at once, and taken back. */
static bool release_words(struct memory_reader *reader, struct memory_ring *own,
                          struct block_view *view, uint32_t read)
{
    const struct memory_map map = memory_map(reader);
    const uint64_t at = view->channel + offsetof(struct tare_channel, read_offset);
    const uint32_t before = own->read_offset;

    if (!map_exchange(&map, at, own->big_endian, before, read))
        return false; /* the next look says why */
    own->read_offset = read;
    if (look_again(reader, own, view))
        return true;
    map_exchange(&map, at, own->big_endian, read, before);
    return false;
}

/* One piece of a ring that keeps what is unread. The words are kept before the target may write
 * over them. */
static uint32_t read_unread(struct memory_reader *reader, struct memory_ring *own,
                            struct block_view *view, uint64_t limit, uint64_t now_ns)
{
    uint32_t fill = (view->up.write_offset + own->bytes - own->read_offset) % own->bytes;
    uint32_t bytes = least(least(fill, MEMORY_CHUNK_BYTES), limit / 4 * 4);
    uint32_t read = (own->read_offset + bytes) % own->bytes;

    note_fill(reader, own, fill);
    own->unread = fill;
    if (bytes == 0 || reader->container->failure.code != EXIT_DONE)
        return 0;
    copy_words(reader, own, view, own->read_offset, bytes);
    if (!look_again(reader, own, view))
        return 0;
    keep_words(reader, own, 0, bytes, now_ns);
    if (reader->container->failure.code != EXIT_DONE)
        return 0;
    own->unread = fill - bytes;
    if (is_consumed(reader, own))
        return release_words(reader, own, view, read) ? bytes : 0;
    own->read_offset = read;
    return bytes;
}

/* One piece of a ring whose oldest words are overwritten: what the writer has come to in the
 * meantime is not believed. */
static uint32_t read_newest(struct memory_reader *reader, struct memory_ring *own,
                            struct block_view *view, uint64_t limit, uint64_t now_ns)
{
    const struct memory_map map = memory_map(reader);
    uint32_t head = memory_head(&map, view), words = own->bytes / 4, bytes, offset, lost;

    if (!view->steady)
        return 0;
    lost = memory_tail(view, head) - (uint32_t)own->position;
    if (lost > UINT32_MAX / 2)
        lost = 0;
    reader->words_missed += lost;
    own->position += lost;
    bytes = 4 * least(head - (uint32_t)own->position, least(limit, MEMORY_CHUNK_BYTES) / 4);
    if (head - (uint32_t)own->position > words) /* the tail is ahead of the head: nothing is left */
        return 0;
    note_fill(reader, own, 4 * (head - (uint32_t)own->position));
    if (bytes == 0)
        return 0;
    offset = (view->up.write_offset / 4 + words - (head - (uint32_t)own->position)) % words * 4;
    copy_words(reader, own, view, offset, bytes);
    if (!look_again(reader, own, view))
        return 0;
    lost = view->steady ? memory_tail(view, memory_head(&map, view)) - (uint32_t)own->position
                        : bytes / 4;
    lost = lost > UINT32_MAX / 2 ? 0 : least(lost, bytes / 4);
    reader->words_missed += lost;
    own->position += lost;
    keep_words(reader, own, 4 * lost, bytes - 4 * lost, now_ns);
    return bytes;
}

static uint64_t read_ring(struct memory_reader *reader, struct memory_ring *own, uint64_t limit,
                          uint64_t now_ns)
{
    const bool overwritten = own->fixed.policy == TARE_FULL_OVERWRITE;
    struct block_view view;
    uint64_t total = 0, most = own->bytes, bytes;

    if (!look_again(reader, own, &view))
        return 0;
    do { /* a writer that is as fast as this reader must not keep it here */
        bytes =
            (overwritten ? read_newest : read_unread)(reader, own, &view, limit - total, now_ns);
        total += bytes;
    } while (bytes > 0 && own->attached && total < most);
    if (!own->attached)
        return total;
    own->last = view.ring;
    memory_read_names(reader, own, &view);
    if (own->waiting.size > 0 && now_ns - own->waiting_since_ns >= MEMORY_CHUNK_NS)
        memory_flush_ring(reader, own);
    return total;
}

uint64_t memory_drain(struct memory_reader *reader, uint64_t limit_bytes, uint64_t now_ns)
{
    uint64_t total = 0;
    uint32_t count;

    if (reader->container->failure.code != EXIT_DONE)
        return 0;
    memory_find(reader, now_ns);
    if (!memory_is_whole(reader))
        return 0;
    count = reader->ring_count;
    for (uint32_t i = 0; i < count; i++) {
        struct memory_ring *own = reader->rings + (reader->turn + i) % count;

        if (own->attached)
            total += read_ring(reader, own, limit_bytes - total, now_ns);
    }
    reader->turn = count > 0 ? (reader->turn + 1) % count : 0;
    return total;
}

bool memory_finished(const struct memory_reader *reader)
{
    for (uint32_t i = 0; i < reader->ring_count; i++) {
        const struct memory_ring *own = reader->rings + i;

        if (own->attached && (own->last.state != TARE_RING_CLOSED || own->unread > 0))
            return false;
    }
    return memory_attached(reader) > 0;
}

/* ------------------------------------------------------------------ commands and the end */

static bool put_command(struct memory_reader *reader, const struct block_view *view,
                        const struct tare_command *command)
{
    const struct memory_map map = memory_map(reader);
    const struct tare_channel *down = &view->ring.down;
    uint64_t write_at = view->place + offsetof(struct tare_ring, down.write_offset);
    const unsigned char *bytes = (const unsigned char *)command;
    uint32_t used, write = down->write_offset;

    if (view->down_buffer == 0)
        return false;
    used = (write + down->bytes - down->read_offset) % down->bytes;
    if (used + sizeof(*command) >= down->bytes)
        return false;
    for (size_t i = 0; i < sizeof(*command); i++, write = (write + 1) % down->bytes)
        __atomic_store_n(map.bytes + view->down_buffer + write, bytes[i], __ATOMIC_RELAXED);
    map_store(&map, write_at, view->big_endian, write);
    return true;
}

bool memory_command(struct memory_reader *reader, enum tare_command_code code, uint32_t argument)
{
    struct tare_command command;
    bool all = memory_attached(reader) > 0 && !reader->options.read_only;

    command_fill(&command, code, argument);
    for (uint32_t i = 0; all && i < reader->ring_count; i++) {
        struct memory_ring *own = reader->rings + i;
        struct block_view view;

        if (own->attached)
            all = look_again(reader, own, &view) && put_command(reader, &view, &command);
    }
    return all;
}

bool memory_bytes(const struct memory_reader *reader, uint64_t place, void *into, size_t size)
{
    const struct memory_map map = memory_map(reader);

    if (place > map.size || size > map.size - place)
        return false;
    map_copy(&map, place, into, size);
    return true;
}

void memory_end(struct memory_reader *reader)
{
    for (uint32_t i = 0; i < reader->ring_count; i++) {
        struct memory_ring *own = reader->rings + i;
        struct block_view view;

        if (!own->attached || !memory_is_whole(reader) || !look_again(reader, own, &view))
            continue;
        own->last = view.ring;
        memory_read_names(reader, own, &view);
        memory_end_ring(reader, own);
    }
}

void memory_close(struct memory_reader *reader)
{
    for (uint32_t i = 0; i < reader->ring_count; i++) {
        buffer_free(&reader->rings[i].waiting);
        buffer_free(&reader->rings[i].table);
    }
    free(reader->rings);
    free(reader->piece);
    unmap_file(reader);
    *reader = (struct memory_reader){.file = -1};
}
