#include "cap_memory_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ a stream begins and ends */

/* Only what is fixed for the life of the ring: the rest changes under our eyes. */
static struct tare_ring fixed_part(const struct tare_ring *ring)
{
    struct tare_ring fixed = *ring;

    fixed.up.write_offset = fixed.up.read_offset = 0;
    fixed.down.write_offset = fixed.down.read_offset = 0;
    fixed.state = TARE_RING_ACTIVE;
    fixed.lap_index = fixed.dropped = fixed.suppressed = fixed.names_lost = 0;
    fixed.pending_dropped = fixed.pending_suppressed = (struct tare_loss){0};
    fixed.writing = fixed.dropped_before = 0;
    memset((char *)&fixed + offsetof(struct tare_ring, limit), 0,
           sizeof(fixed) - offsetof(struct tare_ring, limit));
    return fixed;
}

static void write_ring(struct memory_reader *reader, const struct memory_ring *own,
                       const struct tare_ring *ring)
{
    unsigned char bytes[sizeof(struct tare_ring)];

    block_verbatim(ring, own->big_endian, bytes);
    reader->container->session = own->fixed.session;
    container_ring(reader->container, own->fixed.stream, bytes);
}

void memory_flush_ring(struct memory_reader *reader, struct memory_ring *own)
{
    reader->container->session = own->fixed.session;
    container_stream(reader->container, own->fixed.stream, own->waiting_position,
                     4 * own->fixed.block_words, own->waiting.data, own->waiting.size);
    buffer_clear(&own->waiting);
}

void memory_end_ring(struct memory_reader *reader, struct memory_ring *own)
{
    memory_flush_ring(reader, own);
    write_ring(reader, own, &own->last);
    reader->dropped += own->last.dropped;
    buffer_free(&own->waiting);
    buffer_free(&own->table);
    own->attached = false;
}

/* The block went away or began anew; what it held is lost with it. */
void memory_break_ring(struct memory_reader *reader, struct memory_ring *own, const char *reason)
{
    warn("session %" PRIu32 ", stream %" PRIu32 ": ended without being closed (%s); %" PRIu32
         " words were still unread",
         own->fixed.session, own->fixed.stream, reason, own->unread / 4);
    reader->words_missed += own->unread / 4;
    reader->restarts++;
    memory_end_ring(reader, own);
}

/* The names table where it has changed. An entry that changes while it is copied counts as free; it
 * differs then from the memory, so that the next look reads it. */
void memory_read_names(struct memory_reader *reader, struct memory_ring *own,
                       const struct block_view *view)
{
    const struct memory_map map = memory_map(reader);
    uint32_t entry = view->ring.name_bytes;
    size_t bytes = (size_t)entry * view->ring.name_count;
    unsigned char head[4];

    if (view->names_missing && !own->told_names) {
        warn("session %" PRIu32 ", stream %" PRIu32 ": names 0x%08" PRIx32 " (%" PRIu32
             " entries of %" PRIu32 " bytes) cannot be read; the names of objects are missing",
             own->fixed.session, own->fixed.stream, view->ring.names, view->ring.name_count, entry);
        own->told_names = true;
    }
    if (view->names == 0)
        return;
    struct buffer payload = {.data = memory_new(1, bytes + 5), .size = bytes + 4};

    payload.capacity = bytes + 5;
    map_copy(&map, view->place + offsetof(struct tare_ring, name_bytes), head, 4);
    memcpy(payload.data, head, 4);
    map_copy(&map, view->names, payload.data + 4, bytes);
    for (size_t i = 0; i < bytes; i += entry) {
        uint32_t what = map_load(&map, view->names + i, false);
        unsigned char *copy = (unsigned char *)payload.data + 4 + i;

        if (get_little(copy, 4) != what)
            memset(copy, 0, entry);
    }
    if (own->table.data != NULL && payload.size == own->table.size &&
        memcmp(payload.data, own->table.data, payload.size) == 0) {
        buffer_free(&payload);
        return;
    }
    reader->container->session = own->fixed.session;
    container_names(reader->container, own->fixed.stream, payload.data, payload.size);
    buffer_free(&own->table);
    own->table = payload;
}

/* ------------------------------------------------------------------ positions */

/* Stream index of what is written next. The lap index may be ahead by one lap, in the moment before
 * a writer that comes round moves the offset; the anchor of the present block knows. */
uint32_t memory_head(const struct memory_map *map, const struct block_view *view)
{
    uint32_t words[TARE_ANCHOR_WORDS];
    uint32_t write = view->up.write_offset, block = 4 * view->ring.block_words;
    uint32_t head = view->ring.lap_index + write / 4, begin, told;

    if (write == 0)
        return head;
    begin = (write - 4) / block * block;
    if (!block_anchor(map, view, view->buffer + begin, words))
        return head;
    told = words[TARE_ANCHOR_INDEX] + (write - begin) / 4;
    return told == head - view->up.bytes / 4 ? told : head;
}

/* Of a ring that is overwritten: stream index of the first word that can still be trusted. The
 * writer may be at the next anchor already, where its next record does not fit into the block. */
uint32_t memory_tail(const struct block_view *view, uint32_t head)
{
    uint32_t block = view->ring.block_words, size = view->up.bytes / 4;
    uint32_t write = view->up.write_offset / 4;
    uint32_t border = ((write + 2) / block + 1) * block; /* a record has at most 3 words */

    if (head - write == 0) /* the first lap */
        return 0;
    return head + (border - write) - size;
}

/* The index of the first unread word of a ring that is consumed; false: its words deny it. */
static bool first_index(const struct memory_map *map, const struct block_view *view,
                        uint32_t *index)
{
    uint32_t words[TARE_ANCHOR_WORDS];
    uint32_t read = view->up.read_offset, write = view->up.write_offset, size = view->up.bytes / 4;
    uint32_t block = 4 * view->ring.block_words, begin = read / block * block, told;

    *index = view->ring.lap_index + read / 4 - (read > write ? size : 0);
    if (read == write || !block_anchor(map, view, view->buffer + begin, words))
        return true;
    told = words[TARE_ANCHOR_INDEX] + (read - begin) / 4;
    if (write < read && write > begin) /* the anchor is that of the present lap already */
        told -= size;
    if (told != *index && told != *index - size)
        return false;
    *index = told;
    return true;
}

/* ------------------------------------------------------------------ attaching */

static struct memory_ring *free_slot(struct memory_reader *reader)
{
    for (uint32_t i = 0; i < reader->ring_count; i++) {
        if (!reader->rings[i].attached)
            return reader->rings + i;
    }
    reader->rings = memory_resize(reader->rings, reader->ring_count + 1, sizeof(*reader->rings));
    return reader->rings + reader->ring_count++;
}

void memory_attach(struct memory_reader *reader, const struct block_view *view, uint64_t now_ns)
{
    const struct memory_map map = memory_map(reader);
    const uint32_t block = 4 * view->ring.block_words;
    uint32_t index, head, read = view->up.read_offset;
    struct memory_ring *own;

    if (view->ring.policy == TARE_FULL_OVERWRITE) {
        if (!view->steady)
            return; /* the next look finds it again */
        head = memory_head(&map, view);
        index = memory_tail(view, head);
    } else if (!first_index(&map, view, &index)) {
        error_set(&reader->refusal, EXIT_DAMAGED,
                  "control block at 0x%08" PRIx32 " (offset %" PRIu64 " of %s): lap_index %" PRIu32
                  " is not that of its words; reset the target",
                  view->ring.self, view->place, reader->options.path, view->ring.lap_index);
        return;
    }
    if (reader->options.read_only && view->ring.policy != TARE_FULL_OVERWRITE) {
        /* An image is read from the anchor of the block on, of which a probe has fetched a part. */
        uint32_t begin = read / block * block;

        if (view->up.write_offset < begin || view->up.write_offset > read) {
            index -= (read - begin) / 4;
            read = begin;
        }
    }
    own = free_slot(reader);
    *own = (struct memory_ring){.attached = true,
                                .big_endian = view->big_endian,
                                .place = view->place,
                                .fixed = fixed_part(&view->ring),
                                .last = view->ring,
                                .position = index,
                                .buffer = view->up.buffer,
                                .bytes = view->up.bytes,
                                .read_offset = read,
                                .progress_ns = now_ns,
                                .in_region = view->in_region};
    reader->streams++;
    reader->late += index != 0;
    write_ring(reader, own, &own->fixed);
    memory_read_names(reader, own, view);
}
