#include "cap_memory_map.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define RING_BYTES sizeof(struct tare_ring)
#define RING_WORDS (RING_BYTES / 4)
#define ID_WORDS 4u
#define MARKS_NEEDED 3 /* besides the magic, before something passes for a control block */
#define STEADY_TRIES 100
#define COMMAND_ROOM (sizeof(struct tare_command) + 1)

_Static_assert(RING_BYTES == 240, "the size that FORMAT.md gives");

/* ------------------------------------------------------------------ words */

static uint32_t in_order(uint32_t word, bool big_endian)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return big_endian ? __builtin_bswap32(word) : word;
#else
    return big_endian ? word : __builtin_bswap32(word);
#endif
}

/* Words at odd places, as images may have them: nobody writes to them meanwhile. */
static uint32_t load_bytes(const unsigned char *at)
{
    uint32_t word;
    unsigned char bytes[4];

    for (int i = 0; i < 4; i++)
        bytes[i] = __atomic_load_n(at + i, __ATOMIC_ACQUIRE);
    memcpy(&word, bytes, 4);
    return word;
}

static void store_bytes(unsigned char *at, uint32_t word)
{
    unsigned char bytes[4];

    memcpy(bytes, &word, 4);
    for (int i = 0; i < 4; i++)
        __atomic_store_n(at + i, bytes[i], __ATOMIC_RELEASE);
}

uint32_t map_load(const struct memory_map *map, uint64_t place, bool big_endian)
{
    const unsigned char *at = map->bytes + place;

    return in_order((uintptr_t)at % 4 == 0
                        ? __atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_ACQUIRE)
                        : load_bytes(at),
                    big_endian);
}

bool map_exchange(const struct memory_map *map, uint64_t place, bool big_endian, uint32_t old,
                  uint32_t value)
{
    unsigned char *at = map->bytes + place;
    uint32_t expected = in_order(old, big_endian), wanted = in_order(value, big_endian);

    if ((uintptr_t)at % 4 == 0)
        return __atomic_compare_exchange_n((uint32_t *)(void *)at, &expected, wanted, false,
                                           __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    if (load_bytes(at) != expected)
        return false;
    store_bytes(at, wanted);
    return true;
}

void map_store(const struct memory_map *map, uint64_t place, bool big_endian, uint32_t value)
{
    unsigned char *at = map->bytes + place;

    value = in_order(value, big_endian);
    if ((uintptr_t)at % 4 == 0)
        __atomic_store_n((uint32_t *)(void *)at, value, __ATOMIC_RELEASE);
    else
        store_bytes(at, value);
}

/* Word by word where that is possible: the writer of a ring that is overwritten may be there. */
void map_copy(const struct memory_map *map, uint64_t place, void *into, size_t size)
{
    const unsigned char *at = map->bytes + place;
    unsigned char *to = into;

    if ((uintptr_t)at % 4 == 0) {
        for (; size >= 4; size -= 4, at += 4, to += 4) {
            uint32_t word = __atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_RELAXED);

            memcpy(to, &word, 4);
        }
    }
    memcpy(to, at, size);
}

/* ------------------------------------------------------------------ addresses */

static const struct memory_segment *segment_of(const struct memory_map *map, uint64_t place)
{
    for (size_t i = 0; i < map->segment_count; i++) {
        const struct memory_segment *segment = map->segments + i;

        if (place >= segment->position && place - segment->position < segment->bytes)
            return segment;
    }
    return NULL;
}

/* The address of what is at `place`, if the memory tells; else what the block itself says. */
static uint32_t address_of(const struct memory_map *map, uint64_t place, uint32_t self)
{
    const struct memory_segment *segment = segment_of(map, place);

    if (segment != NULL)
        return (uint32_t)(segment->address + (place - segment->position));
    return map->base_given ? map->base + (uint32_t)place : self;
}

/* The rings of a Linux session say their place in its region, wherever that was mapped. */
static bool is_in_region(const struct memory_map *map, uint64_t place, uint32_t self)
{
    char id[sizeof("TARE region")];

    if (self < TARE_REGION_RINGS || place < self || place - self > map->size - sizeof(id))
        return false;
    map_copy(map, place - self, id, sizeof(id));
    return memcmp(id, "TARE region", sizeof(id)) == 0;
}

static bool is_placed(const struct memory_map *map, uint64_t place, uint32_t self)
{
    return address_of(map, place, self) == self || is_in_region(map, place, self);
}

bool block_place(const struct memory_map *map, const struct block_view *view, uint32_t address,
                 uint64_t bytes, uint64_t *place)
{
    uint32_t self = view->ring.self;
    const struct memory_segment *segment = segment_of(map, view->place);

    if (segment == NULL || address_of(map, view->place, self) != self) {
        *place = view->place + (uint64_t)(int64_t)(int32_t)(address - self);
        return *place <= map->size && bytes <= map->size - *place;
    }
    for (size_t i = 0; i < map->segment_count; i++) {
        uint64_t into = address - map->segments[i].address;

        if (address < map->segments[i].address || into > map->segments[i].bytes ||
            bytes > map->segments[i].bytes - into)
            continue;
        *place = map->segments[i].position + into;
        return true;
    }
    return false;
}

/* ------------------------------------------------------------------ control blocks */

static bool id_is(const struct tare_ring *ring, const char *text)
{
    char wanted[sizeof(ring->id)] = "";

    memcpy(wanted, text, strlen(text));
    return memcmp(ring->id, wanted, sizeof(wanted)) == 0;
}

static bool blocks_fit(uint32_t block_words)
{
    return block_words == 64 || block_words == 128 || block_words == 256;
}

static void load_ring(const struct memory_map *map, uint64_t place, bool big_endian,
                      struct tare_ring *ring)
{
    uint32_t words[RING_WORDS];

    map_copy(map, place, words, sizeof(ring->id));
    for (size_t i = ID_WORDS; i < RING_WORDS; i++)
        words[i] = map_load(map, place + 4 * i, big_endian);
    memcpy(ring, words, sizeof(words));
}

void block_verbatim(const struct tare_ring *ring, bool big_endian, unsigned char bytes[240])
{
    uint32_t words[RING_WORDS];

    memcpy(words, ring, sizeof(words));
    for (size_t i = ID_WORDS; i < RING_WORDS; i++)
        words[i] = in_order(words[i], big_endian);
    memcpy(bytes, words, sizeof(words));
}

static enum block_kind refuse(const struct memory_map *map, const struct block_view *view,
                              struct error *why, const char *text)
{
    error_set(why, EXIT_DAMAGED, "control block at 0x%08" PRIx32 " (offset %" PRIu64 " of %s): %s",
              address_of(map, view->place, view->ring.self), view->place, map->path, text);
    return BLOCK_REFUSED;
}

#define REFUSE(...) \
    do { \
        char text[256]; \
        snprintf(text, sizeof(text), __VA_ARGS__); \
        return refuse(map, view, why, text); \
    } while (0)

/* Whether this is a block at all: the magic alone also stands in the code that writes it. */
static bool resembles(const struct memory_map *map, const struct block_view *view)
{
    const struct tare_ring *ring = &view->ring;
    int marks = (id_is(ring, "SEGGER RTT") || id_is(ring, "TARE ring")) +
                (ring->version == TARE_FORMAT_VERSION) + (ring->up_channels == 1) +
                blocks_fit(ring->block_words) +
                ((map->base_given || map->segment_count > 0) && ring->self != 0 &&
                 is_placed(map, view->place, ring->self));

    return marks >= MARKS_NEEDED;
}

/* What the target's memory holds must not act on the terminal. */
static void show_id(const struct tare_ring *ring, char text[sizeof(ring->id) + 1])
{
    size_t i;

    for (i = 0; i < sizeof(ring->id) && ring->id[i] != '\0'; i++)
        text[i] = (char)(ring->id[i] >= ' ' && ring->id[i] <= '~' ? ring->id[i] : '?');
    text[i] = '\0';
}

static enum block_kind check_identity(const struct memory_map *map, const struct block_view *view,
                                      struct error *why)
{
    const struct tare_ring *ring = &view->ring;

    if (ring->id[0] == '\0' || ring->state == TARE_RING_FREE || ring->state == TARE_RING_CLAIMED) {
        refuse(map, view, why,
               ring->id[0] == '\0' ? "its id is still empty: the target has not finished it"
                                   : "its state says that it is not in use yet");
        return BLOCK_UNFINISHED;
    }
    if (!id_is(ring, "SEGGER RTT") && !id_is(ring, "TARE ring")) {
        char id[sizeof(ring->id) + 1];

        show_id(ring, id);
        REFUSE("id '%s' is neither 'SEGGER RTT' nor 'TARE ring'; reset the target", id);
    }
    if (ring->version != TARE_FORMAT_VERSION)
        REFUSE("version %" PRIu32 " is not %u, the one that this program reads; use the recorder "
               "and the program of one release",
               ring->version, TARE_FORMAT_VERSION);
    if (ring->self % 4 != 0 || !is_placed(map, view->place, ring->self))
        REFUSE("self 0x%08" PRIx32
               " is not where it was found: a copy, or left over from another program",
               ring->self);
    if (ring->up_channels != 1)
        REFUSE("up_channels %" PRIu32 " is not 1", ring->up_channels);
    if (ring->down_channels > 1)
        REFUSE("down_channels %" PRIu32 " is not 0 or 1", ring->down_channels);
    if (!blocks_fit(ring->block_words))
        REFUSE("block_words %" PRIu32 " is not 64, 128 or 256", ring->block_words);
    if (ring->session < 1 || ring->session > 65535)
        REFUSE("session %" PRIu32 " is not 1 to 65535", ring->session);
    if (ring->kind > TARE_RING_MIXED)
        REFUSE("kind %" PRIu32 " is not 0 to 2", ring->kind);
    if (ring->state > TARE_RING_CLOSED)
        REFUSE("state %" PRIu32 " is not 2 (active) or 3 (closed)", ring->state);
    if (ring->policy > TARE_FULL_OVERWRITE)
        REFUSE("policy %" PRIu32 " is not 0 (drop) or 1 (overwrite)", ring->policy);
    if (ring->policy == TARE_FULL_OVERWRITE && id_is(ring, "SEGGER RTT"))
        REFUSE("policy 1 (overwrite) does not go with the id 'SEGGER RTT'");
    return BLOCK_SOUND;
}

static bool overlap(uint64_t one, uint64_t one_bytes, uint64_t other, uint64_t other_bytes)
{
    return one < other + other_bytes && other < one + one_bytes;
}

static enum block_kind find_channel(const struct memory_map *map, struct block_view *view,
                                    struct error *why)
{
    const struct tare_ring *ring = &view->ring;
    uint32_t words[sizeof(struct tare_channel) / 4];

    view->channel = view->place + offsetof(struct tare_ring, up);
    view->up = ring->up;
    if (ring->channel == 0)
        return BLOCK_SOUND;
    if (ring->channel % 4 != 0 ||
        !block_place(map, view, ring->channel, sizeof(words), &view->channel))
        REFUSE("channel 0x%08" PRIx32 " is not in the memory that is read", ring->channel);
    if (overlap(view->channel, sizeof(words), view->place, RING_BYTES))
        REFUSE("channel 0x%08" PRIx32 " lies within the control block itself", ring->channel);
    for (size_t i = 0; i < sizeof(words) / 4; i++)
        words[i] = map_load(map, view->channel + 4 * i, view->big_endian);
    memcpy(&view->up, words, sizeof(words));
    return BLOCK_SOUND;
}

/* Both from one moment: a writer moves them one after the other, the lap index first. */
static void load_progress(const struct memory_map *map, struct block_view *view)
{
    uint64_t write = view->channel + offsetof(struct tare_channel, write_offset);
    uint64_t lap = view->place + offsetof(struct tare_ring, lap_index);
    uint32_t before = map_load(map, write, view->big_endian);

    view->steady = false;
    for (int i = 0; i < STEADY_TRIES && !view->steady; i++) {
        view->ring.lap_index = map_load(map, lap, view->big_endian);
        view->up.write_offset = map_load(map, write, view->big_endian);
        view->steady = view->up.write_offset == before;
        before = view->up.write_offset;
    }
    if (view->ring.channel == 0)
        view->ring.up.write_offset = view->up.write_offset;
}

static enum block_kind check_buffer(const struct memory_map *map, struct block_view *view,
                                    struct error *why)
{
    const struct tare_ring *ring = &view->ring;
    const struct tare_channel *up = &view->up;
    uint32_t block = 4 * ring->block_words;

    if (up->bytes < 2 * block || up->bytes % block != 0)
        REFUSE("bytes %" PRIu32 " (size of the buffer) is not a multiple of the block, %" PRIu32
               " bytes, of at least two",
               up->bytes, block);
    if (up->buffer % 4 != 0 || !block_place(map, view, up->buffer, up->bytes, &view->buffer))
        REFUSE("buffer 0x%08" PRIx32 " with %" PRIu32
               " bytes does not lie in the memory that is read",
               up->buffer, up->bytes);
    if (overlap(view->buffer, up->bytes, view->place, RING_BYTES) ||
        overlap(view->buffer, up->bytes, view->channel, sizeof(*up)))
        REFUSE("buffer 0x%08" PRIx32 " lies over the control block", up->buffer);
    if (up->write_offset >= up->bytes || up->write_offset % 4 != 0)
        REFUSE("write_offset %" PRIu32 " is not a multiple of 4 below %" PRIu32, up->write_offset,
               up->bytes);
    if (ring->lap_index % ring->block_words != 0)
        REFUSE("lap_index %" PRIu32 " is not a multiple of the block", ring->lap_index);
    if (ring->policy == TARE_FULL_OVERWRITE)
        return BLOCK_SOUND;
    if (up->read_offset >= up->bytes || up->read_offset % 4 != 0)
        REFUSE("read_offset %" PRIu32 " is not a multiple of 4 below %" PRIu32, up->read_offset,
               up->bytes);
    if (ring->lap_index == 0 && up->read_offset > up->write_offset)
        REFUSE("read_offset %" PRIu32 " is ahead of write_offset %" PRIu32 " in the first lap",
               up->read_offset, up->write_offset);
    if (ring->kind == TARE_RING_DEFINITIONS && up->read_offset != 0)
        REFUSE("read_offset %" PRIu32 " is not 0 in a ring of definitions", up->read_offset);
    return BLOCK_SOUND;
}

static enum block_kind check_down(const struct memory_map *map, struct block_view *view,
                                  struct error *why)
{
    const struct tare_channel *down = &view->ring.down;

    view->down_buffer = 0;
    if (view->ring.down_channels == 0 || down->bytes == 0)
        return BLOCK_SOUND;
    if (!block_place(map, view, down->buffer, down->bytes, &view->down_buffer))
        REFUSE("down.buffer 0x%08" PRIx32 " with %" PRIu32
               " bytes does not lie in the memory that is read",
               down->buffer, down->bytes);
    if (down->bytes < COMMAND_ROOM)
        REFUSE("down.bytes %" PRIu32 " has no room for a command of %zu bytes", down->bytes,
               sizeof(struct tare_command));
    /* The block's own buffer for it is a part of the block. */
    if (overlap(view->down_buffer, down->bytes, view->place,
                offsetof(struct tare_ring, commands)) ||
        overlap(view->down_buffer, down->bytes, view->buffer, view->up.bytes))
        REFUSE("down.buffer 0x%08" PRIx32 " lies over the block or its words", down->buffer);
    if (down->write_offset >= down->bytes)
        REFUSE("down.write_offset %" PRIu32 " is not below %" PRIu32, down->write_offset,
               down->bytes);
    if (down->read_offset >= down->bytes)
        REFUSE("down.read_offset %" PRIu32 " is not below %" PRIu32, down->read_offset,
               down->bytes);
    return BLOCK_SOUND;
}

static void find_names(const struct memory_map *map, struct block_view *view)
{
    const struct tare_ring *ring = &view->ring;
    uint64_t bytes = (uint64_t)ring->name_count * ring->name_bytes;

    view->names = 0;
    view->names_missing = false;
    if (ring->names == 0 || ring->name_count == 0)
        return;
    view->names_missing =
        ring->names % 4 != 0 || ring->name_bytes % 4 != 0 || ring->name_bytes < 8 ||
        ring->name_bytes > 1028 || bytes > CHUNK_PAYLOAD_LIMIT - 4 ||
        !block_place(map, view, ring->names, bytes, &view->names) || view->names == 0 ||
        overlap(view->names, bytes, view->place, RING_BYTES) ||
        overlap(view->names, bytes, view->buffer, view->up.bytes);
    if (view->names_missing)
        view->names = 0;
}

/* The words that are there to be read must be of the stream that the block speaks of. */
static enum block_kind check_words(const struct memory_map *map, const struct block_view *view,
                                   struct error *why)
{
    uint32_t words[TARE_ANCHOR_WORDS];
    uint64_t block = (uint64_t)4 * view->ring.block_words, read = view->up.read_offset;

    if (view->ring.policy == TARE_FULL_OVERWRITE || read == view->up.write_offset ||
        !block_anchor(map, view, view->buffer + read / block * block, words))
        return BLOCK_SOUND;
    if (words[TARE_ANCHOR_STREAM] != (view->ring.session << 16 | (view->ring.stream & 0xFFFFu)))
        REFUSE("session %" PRIu32 " and stream %" PRIu32 " are not those of its words, %" PRIu32
               " and %" PRIu32,
               view->ring.session, view->ring.stream, words[TARE_ANCHOR_STREAM] >> 16,
               words[TARE_ANCHOR_STREAM] & 0xFFFFu);
    return BLOCK_SOUND;
}

enum block_kind block_look(const struct memory_map *map, uint64_t place, struct block_view *view,
                           struct error *why)
{
    enum block_kind kind;
    uint32_t magic;

    memset(view, 0, sizeof(*view));
    view->place = place;
    if (place > map->size || RING_BYTES > map->size - place)
        return BLOCK_NONE;
    magic = map_load(map, place + offsetof(struct tare_ring, magic), false);
    if (magic != TARE_RING_MAGIC && magic != __builtin_bswap32(TARE_RING_MAGIC))
        return BLOCK_NONE;
    view->big_endian = magic != TARE_RING_MAGIC;
    load_ring(map, place, view->big_endian, &view->ring);
    if (!resembles(map, view))
        return BLOCK_NONE;
    view->in_region = is_in_region(map, place, view->ring.self);
    kind = check_identity(map, view, why);
    if (kind == BLOCK_SOUND)
        kind = find_channel(map, view, why);
    if (kind == BLOCK_SOUND) {
        load_progress(map, view);
        kind = check_buffer(map, view, why);
    }
    if (kind == BLOCK_SOUND)
        kind = check_down(map, view, why);
    if (kind == BLOCK_SOUND)
        kind = check_words(map, view, why);
    if (kind == BLOCK_SOUND)
        find_names(map, view);
    return kind;
}

bool block_anchor(const struct memory_map *map, const struct block_view *view, uint64_t place,
                  uint32_t words[TARE_ANCHOR_WORDS])
{
    for (uint32_t i = 0; i < TARE_ANCHOR_WORDS; i++)
        words[i] = map_load(map, place + (uint64_t)4 * i, view->big_endian);
    return (words[TARE_ANCHOR_SYNC] & TARE_SYNC_MASK) == TARE_SYNC &&
           (words[TARE_ANCHOR_SYNC] & 0xFFu) == tare_anchor_check(words) &&
           words[TARE_ANCHOR_FORM] >> 28 == TARE_FORMAT_VERSION &&
           1u << (words[TARE_ANCHOR_FORM] >> 24 & 0xFu) == view->ring.block_words &&
           words[TARE_ANCHOR_INDEX] % view->ring.block_words == 0;
}

/* ------------------------------------------------------------------ search */

/* Byte by byte through a window of four: any alignment, either byte order. */
static void search_part(const struct memory_map *map, const unsigned char *from, size_t bytes,
                        void (*found)(void *context, uint64_t place), void *context)
{
    const uint32_t magic = TARE_RING_MAGIC, swapped = __builtin_bswap32(TARE_RING_MAGIC);
    const ptrdiff_t into = offsetof(struct tare_ring, magic);
    uint32_t window = 0;

    for (size_t i = 0; i < bytes; i++) {
        ptrdiff_t place = from + i - 3 - map->bytes - into;

        window = window << 8 | __atomic_load_n(from + i, __ATOMIC_RELAXED);
        if ((window == magic || window == swapped) && i >= 3 && place >= 0)
            found(context, (uint64_t)place);
    }
}

void map_search(const struct memory_map *map, int file, uint64_t file_offset, size_t skew,
                void (*found)(void *context, uint64_t place), void *context)
{
    const unsigned char *first = map->bytes - skew;
    uint64_t begin = file_offset - skew, end = file_offset + map->size, at = begin;

    while (at < end) {
        off_t data = lseek(file, (off_t)at, SEEK_DATA);
        bool empty = data < 0 && errno == ENXIO;
        off_t hole = data < 0 ? -1 : lseek(file, data, SEEK_HOLE);
        uint64_t to = hole < 0 || (uint64_t)hole > end ? end : (uint64_t)hole;

        /* Not every file system knows its holes; then all of it is looked at. */
        if (data >= 0 && (uint64_t)data > at)
            at = (uint64_t)data;
        if (empty || at >= end || to <= at)
            break;
        search_part(map, first + (at - begin), (size_t)(to - at), found, context);
        at = to;
    }
}
