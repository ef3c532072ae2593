#include "dec_image.h"

#include <stddef.h>
#include <string.h>

#define REGION_ID "TARE region"
#define WINDOW_BYTES (64u << 10)
#define RING_BYTES sizeof(struct tare_ring)
#define CHANNEL_BYTES sizeof(struct tare_channel)
#define REGION_BYTES sizeof(struct tare_region)
#define MAGIC_IN_RING offsetof(struct tare_ring, magic)
#define MAGIC_IN_REGION 16u

struct image {
    struct source *source;
    const struct image_options *options;
    struct segment_list *list;
    struct decode_directory *directory;
    struct container_facts *container; /* what is found wrong becomes a finding */
    struct image_facts *facts;
};

/* A ring that was found. */
struct found_ring {
    struct tare_ring ring; /* in this machine's byte order, `up` as it counts */
    bool big_endian;
    uint64_t offset; /* in the image */
};

static void note_foreign(struct image_facts *facts, uint32_t version)
{
    if (!facts->foreign)
        facts->foreign_version = version;
    facts->foreign = true;
}

static bool is_sound(const struct tare_ring *ring)
{
    return ring->up.bytes % (4 * ring->block_words) == 0 &&
           ring->up.bytes >= 8 * ring->block_words && ring->up.write_offset < ring->up.bytes &&
           ring->up.write_offset % 4 == 0 &&
           (ring->policy == TARE_FULL_OVERWRITE ||
            (ring->up.read_offset < ring->up.bytes && ring->up.read_offset % 4 == 0));
}

/* Where the bytes at a target's address lie; false: not wholly in the image. */
static bool find_bytes(const struct image *image, const struct found_ring *found, uint32_t address,
                       uint64_t size, uint64_t *offset)
{
    if (image->options->base_given)
        *offset = address - image->options->base;
    else
        *offset = found->offset + address - found->ring.self; /* below 0: beyond any size */
    return *offset <= image->source->size && size <= image->source->size - *offset;
}

/* Reads the channel that is used instead of the ring's own, if there is one. */
static bool read_channel(const struct image *image, struct found_ring *found)
{
    uint32_t words[CHANNEL_BYTES / 4];
    uint64_t offset;
    bool swap = found->big_endian == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

    if (found->ring.channel == 0)
        return true;
    if (!find_bytes(image, found, found->ring.channel, sizeof words, &offset) ||
        source_read(image->source, offset, words, sizeof words) < sizeof words)
        return false;
    for (size_t i = 0; swap && i < CHANNEL_BYTES / 4; i++)
        words[i] = __builtin_bswap32(words[i]);
    memcpy(&found->ring.up, words, sizeof words);
    return true;
}

static void add_words(const struct image *image, const struct segment *like, uint64_t buffer,
                      uint32_t from, uint32_t to, uint64_t position)
{
    struct segment segment = *like;

    if (from == to)
        return;
    segment.offset = buffer + from;
    segment.bytes = to - from;
    segment.position = position;
    segment_add(image->list, &segment);
}

static void add_names(const struct image *image, const struct segment *like,
                      const struct found_ring *found)
{
    const struct tare_ring *ring = &found->ring;
    struct segment segment = *like;

    if (ring->names == 0)
        return;
    segment.kind = SEGMENT_NAMES;
    segment.bytes = (uint64_t)ring->name_count * ring->name_bytes;
    segment.piece = ring->name_bytes;
    segment.swap = found->big_endian == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    if (!names_size_right(ring->name_bytes) ||
        !find_bytes(image, found, ring->names, segment.bytes, &segment.offset)) {
        if (image->facts->names_missing++ == 0) {
            image->facts->names_offset = found->offset;
            image->facts->names_address = ring->names;
        }
        facts_add(image->container, &(struct file_finding){.kind = FINDING_FAULT,
                                                           .fault = FILE_FAULT_BAD_NAMES,
                                                           .offset = found->offset,
                                                           .place = like->place});
        return;
    }
    image->container->names_tables++;
    segment_add(image->list, &segment);
}

/* Where reading begins: a block can be read from its anchor on alone, and what a reader has fetched
 * of the block is still there, unless the writer is in it again. Nothing unread: nothing to read.
 */
static uint32_t begin_of_block(uint32_t read, uint32_t write, uint32_t block)
{
    uint32_t begin = read / block * block;

    return write >= begin && write <= read ? read : begin;
}

/* The words of a ring whose buffer lies at `buffer`, from the block of the first unread one on. */
static void add_stream(const struct image *image, const struct segment *like,
                       const struct tare_ring *ring, uint64_t buffer)
{
    const struct tare_channel *up = &ring->up;
    uint32_t write = up->write_offset;
    uint32_t read = begin_of_block(up->read_offset, write, 4 * ring->block_words);
    uint64_t lap = ring->lap_index;

    if (ring->policy == TARE_FULL_OVERWRITE) {
        uint32_t block = 4 * ring->block_words;

        /* The lap before from the next border behind on; the block between is mixed. */
        read = lap == 0 ? up->bytes : (write / block + 1) * block;
        add_words(image, like, buffer, read, up->bytes, lap - (up->bytes - read) / 4);
        add_words(image, like, buffer, 0, write, lap);
    } else if (read <= write) {
        add_words(image, like, buffer, read, write, lap + read / 4);
    } else {
        add_words(image, like, buffer, read, up->bytes, lap - (up->bytes - read) / 4);
        add_words(image, like, buffer, 0, write, lap);
    }
}

/* Its structure, its names and its words. */
static void add_ring(const struct image *image, const struct found_ring *found, uint64_t buffer)
{
    const struct tare_ring *ring = &found->ring;
    struct decode_stream *stream = directory_stream(image->directory, ring->session, ring->stream);
    struct segment segment = {.kind = SEGMENT_RING,
                              .input = segment_input(image->list, ring->session, ring->stream),
                              .session = ring->session,
                              .stream = ring->stream & 0xFFFF,
                              .place = found->offset + 1,
                              .offset = found->offset,
                              .bytes = RING_BYTES};

    ring_keep(stream, ring);
    stream->big_endian = found->big_endian;
    segment_add(image->list, &segment);
    add_names(image, &segment, found);
    segment.kind = SEGMENT_RAW;
    add_stream(image, &segment, ring, buffer);
    image->facts->rings++;
}

/* What has a ring's magic at `magic` in the image. */
static void take_ring(const struct image *image, uint64_t magic)
{
    unsigned char bytes[RING_BYTES];
    struct found_ring found = {.offset = magic - MAGIC_IN_RING};
    struct tare_ring *ring = &found.ring;
    struct image_facts *facts = image->facts;
    uint64_t buffer;
    uint32_t version, outside;

    if (magic < MAGIC_IN_RING ||
        source_read(image->source, found.offset, bytes, sizeof bytes) < sizeof bytes)
        return;
    if (!ring_read(bytes, ring, &found.big_endian, &version)) {
        if (ring->magic == TARE_RING_MAGIC && version != TARE_FORMAT_VERSION &&
            ring->up_channels == 1)
            note_foreign(facts, version);
        return;
    }
    /* A ring that is free or being set up has nothing to read yet. */
    if (ring->state != TARE_RING_ACTIVE && ring->state != TARE_RING_CLOSED)
        return;
    outside = ring->channel;
    if (read_channel(image, &found)) {
        if (!is_sound(ring)) {
            if (facts->unusable++ == 0)
                facts->unusable_offset = found.offset;
            return;
        }
        outside = ring->up.buffer;
        if (find_bytes(image, &found, ring->up.buffer, ring->up.bytes, &buffer)) {
            add_ring(image, &found, buffer);
            return;
        }
    }
    if (facts->outside++ == 0) {
        facts->outside_offset = found.offset;
        facts->outside_address = outside;
    }
}

static void take_region(const struct image *image, uint64_t magic)
{
    unsigned char bytes[REGION_BYTES];
    struct tare_region region;
    uint32_t version;

    if (magic < MAGIC_IN_REGION ||
        source_read(image->source, magic - MAGIC_IN_REGION, bytes, sizeof bytes) < sizeof bytes)
        return;
    if (region_read(bytes, &region, &version) &&
        memcmp(region.id, REGION_ID, sizeof REGION_ID) == 0)
        region_keep(directory_session(image->directory, region.session), &region);
    else if (version != TARE_FORMAT_VERSION && memcmp(region.id, REGION_ID, sizeof REGION_ID) == 0)
        note_foreign(image->facts, version);
}

void image_index(struct source *source, const struct image_options *options,
                 struct segment_list *list, struct decode_directory *directory,
                 struct container_facts *container, struct image_facts *facts)
{
    const struct image image = {source, options, list, directory, container, facts};
    uint32_t words[WINDOW_BYTES / 4];
    uint64_t offset = 0;
    size_t count;

    *facts = (struct image_facts){0};
    do {
        count = source_read(source, offset, words, sizeof words) / 4;
        for (size_t i = 0; i < count; i++) {
            if (words[i] == TARE_RING_MAGIC || words[i] == __builtin_bswap32(TARE_RING_MAGIC))
                take_ring(&image, offset + 4 * i);
            else if (words[i] == TARE_REGION_MAGIC ||
                     words[i] == __builtin_bswap32(TARE_REGION_MAGIC))
                take_region(&image, offset + 4 * i);
        }
        offset += sizeof words;
    } while (count == WINDOW_BYTES / 4);
}
