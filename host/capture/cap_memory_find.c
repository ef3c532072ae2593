#include "cap_memory_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct memory_ring *ring_at(const struct memory_reader *reader, uint64_t place)
{
    for (uint32_t i = 0; i < reader->ring_count; i++) {
        if (reader->rings[i].attached && reader->rings[i].place == place)
            return reader->rings + i;
    }
    return NULL;
}

/* What a search has come upon. */
struct search {
    struct memory_reader *reader;
    const struct memory_map *map;
    bool placed; /* the places to look at are known */
    struct block_view *sound;
    size_t count;
    struct error refusal, unfinished;
};

/* Where the places of the wanted blocks are not known, what these say of themselves counts. */
static bool is_wanted(const struct memory_reader *reader, uint32_t self)
{
    const struct memory_options *options = &reader->options;

    for (uint32_t i = 0; i < options->address_count; i++) {
        uint32_t into = self - options->addresses[i];

        if (into == 0 || into < options->sizes[i])
            return true;
    }
    return options->address_count == 0;
}

static void look(struct search *search, uint64_t place)
{
    struct error why = {0};
    struct block_view view;
    enum block_kind kind;

    if (ring_at(search->reader, place) != NULL)
        return;
    kind = block_look(search->map, place, &view, &why);
    if (kind == BLOCK_NONE || (!search->placed && !is_wanted(search->reader, view.ring.self)))
        return;
    if (kind != BLOCK_SOUND) {
        error_set(kind == BLOCK_REFUSED ? &search->refusal : &search->unfinished, why.code, "%s",
                  why.text);
        return;
    }
    search->sound = memory_resize(search->sound, search->count + 1, sizeof(*search->sound));
    search->sound[search->count++] = view;
}

static void look_found(void *context, uint64_t place)
{
    look(context, place);
}

/* Whether two blocks cannot both be right. */
static bool contradict(const struct memory_map *map, const struct block_view *one, bool in_region,
                       uint32_t session, uint32_t stream, uint32_t self, uint64_t place)
{
    bool one_base = map->base_given || map->segment_count > 0 ||
                    one->ring.self - (uint32_t)one->place == self - (uint32_t)place;

    if (one->in_region || in_region)
        return one->ring.session == session && one->ring.stream == stream;
    return one->ring.stream == stream || !one_base;
}

static void refuse_double(struct search *search, const struct block_view *one, uint32_t session,
                          uint32_t stream, uint32_t self, uint64_t place)
{
    error_set(&search->refusal, EXIT_DAMAGED,
              "control block at 0x%08" PRIx32 " (offset %" PRIu64 " of %s): stream %" PRIu32
              " (session %" PRIu32 ") has a second block at 0x%08" PRIx32 " (offset %" PRIu64
              ", stream %" PRIu32 ", session %" PRIu32
              "); one of them is a copy or left over: name the right one with --elf or --address",
              one->ring.self, one->place, search->map->path, one->ring.stream, one->ring.session,
              self, place, stream, session);
}

/* A newcomer that contradicts another newcomer is refused, and so is one that contradicts a ring
 * that is being read, unless that has been silent: then the block has moved. */
static void judge(struct search *search, size_t which, uint64_t now_ns)
{
    struct memory_reader *reader = search->reader;
    const struct block_view *view = search->sound + which;

    for (size_t i = 0; i < search->count; i++) {
        const struct block_view *other = search->sound + i;

        if (i == which || !contradict(search->map, view, other->in_region, other->ring.session,
                                      other->ring.stream, other->ring.self, other->place))
            continue;
        refuse_double(search, view, other->ring.session, other->ring.stream, other->ring.self,
                      other->place);
        return;
    }
    for (uint32_t i = 0; i < reader->ring_count; i++) {
        struct memory_ring *own = reader->rings + i;

        if (!own->attached || !contradict(search->map, view, own->in_region, own->fixed.session,
                                          own->fixed.stream, own->fixed.self, own->place))
            continue;
        if (now_ns - own->progress_ns < MEMORY_SILENCE_NS) {
            refuse_double(search, view, own->fixed.session, own->fixed.stream, own->fixed.self,
                          own->place);
            return;
        }
        memory_break_ring(reader, own, "another control block of this stream has appeared");
    }
    memory_attach(reader, view, now_ns);
}

/* By their addresses where these can be placed, else by a search now and then. */
static bool is_time_to_look(struct memory_reader *reader, bool placed, uint64_t now_ns)
{
    const struct memory_options *options = &reader->options;
    uint32_t attached = memory_attached(reader);
    uint64_t pause = attached > 0 && !placed ? MEMORY_SILENCE_NS : MEMORY_SCAN_NS;

    if (reader->scanned && options->read_only)
        return false;
    if (reader->scanned && now_ns - reader->scanned_ns < pause)
        return placed && (attached == 0 || attached < options->address_count);
    reader->scanned = true;
    reader->scanned_ns = now_ns;
    memory_follow_file(reader);
    return true;
}

static void look_at_address(struct search *search, uint32_t address, uint32_t size)
{
    const struct memory_map *map = search->map;
    const struct memory_segment whole = {.address = map->base, .position = 0, .bytes = map->size};
    const struct memory_segment *segment = map->segment_count > 0 ? map->segments : &whole;
    size_t count = map->segment_count > 0 ? map->segment_count : 1;

    for (size_t i = 0; i < count; i++, segment++) {
        uint64_t into = address - segment->address;

        if (address < segment->address || into >= segment->bytes)
            continue;
        look(search, segment->position + into);
        for (uint32_t next = 4; next < size; next += 4)
            look(search, segment->position + into + next);
        return;
    }
    error_set(&search->refusal, EXIT_DAMAGED,
              "%s: address 0x%08" PRIx32 " of the control block is not in this memory", map->path,
              address);
}

static void look_everywhere(struct memory_reader *reader, bool placed, uint64_t now_ns)
{
    const struct memory_options *options = &reader->options;
    const struct memory_map map = memory_map(reader);
    struct search search = {.reader = reader, .map = &map, .placed = placed};

    for (uint32_t i = 0; placed && i < options->address_count; i++)
        look_at_address(&search, options->addresses[i], options->sizes[i]);
    if (!placed)
        map_search(&map, reader->file, options->offset, reader->skew, look_found, &search);
    reader->refusal = (struct error){0};
    for (size_t i = 0; i < search.count; i++)
        judge(&search, i, now_ns);
    if (search.refusal.code != EXIT_DONE)
        reader->refusal = search.refusal;
    reader->unfinished = search.unfinished;
    free(search.sound);
}

enum memory_state memory_find(struct memory_reader *reader, uint64_t now_ns)
{
    const struct memory_options *options = &reader->options;
    bool placed = options->address_count > 0 && (options->base_given || options->segment_count > 0);

    if (is_time_to_look(reader, placed, now_ns) && memory_is_whole(reader))
        look_everywhere(reader, placed, now_ns);
    if (memory_attached(reader) > 0)
        return MEMORY_ATTACHED;
    return reader->refusal.code != EXIT_DONE ? MEMORY_REFUSED : MEMORY_NOTHING;
}
