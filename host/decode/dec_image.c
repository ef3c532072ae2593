#include "dec_image.h"

#include <stddef.h>
#include <string.h>

#define REGION_ID "TARE region"
#define WINDOW_BYTES (64u << 10)
#define RING_BYTES sizeof(struct tare_ring)
#define REGION_BYTES sizeof(struct tare_region)
#define MAGIC_IN_RING offsetof(struct tare_ring, magic)
#define MAGIC_IN_REGION 16u

struct image {
    struct source *source;
    const struct image_options *options;
    struct segment_list *list;
    struct decode_directory *directory;
    struct image_facts *facts;
};

static bool is_sound(const struct tare_ring *ring)
{
    return ring->up.bytes % (4 * ring->block_words) == 0 &&
           ring->up.bytes >= 8 * ring->block_words && ring->up.write_offset < ring->up.bytes &&
           ring->up.write_offset % 4 == 0 && ring->up.read_offset < ring->up.bytes &&
           ring->up.read_offset % 4 == 0;
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

/* The ring at `offset`, whose buffer lies at `buffer`: its structure and its unread words. */
static void add_ring(const struct image *image, const struct tare_ring *ring, bool big_endian,
                     uint64_t offset, uint64_t buffer)
{
    struct decode_stream *stream = directory_stream(image->directory, ring->session, ring->stream);
    struct segment segment = {.kind = SEGMENT_RING,
                              .input = segment_input(image->list, ring->session, ring->stream),
                              .session = ring->session,
                              .stream = ring->stream,
                              .offset = offset,
                              .bytes = RING_BYTES};
    uint32_t read = ring->up.read_offset, write = ring->up.write_offset;
    uint64_t lap = ring->lap_index;

    ring_keep(stream, ring);
    stream->big_endian = big_endian;
    segment_add(image->list, &segment);
    segment.kind = SEGMENT_RAW;
    if (read <= write) {
        add_words(image, &segment, buffer, read, write, lap + read / 4);
    } else {
        add_words(image, &segment, buffer, read, ring->up.bytes, lap - (ring->up.bytes - read) / 4);
        add_words(image, &segment, buffer, 0, write, lap);
    }
    image->facts->rings++;
}

/* What has a ring's magic at `magic` in the image. */
static void take_ring(const struct image *image, uint64_t magic)
{
    unsigned char bytes[RING_BYTES];
    struct tare_ring ring;
    uint64_t offset = magic - MAGIC_IN_RING, buffer;
    uint32_t version;
    bool big_endian;

    if (magic < MAGIC_IN_RING ||
        source_read(image->source, offset, bytes, sizeof bytes) < sizeof bytes)
        return;
    if (!ring_read(bytes, &ring, &big_endian, &version)) {
        if (version != TARE_FORMAT_VERSION && ring.up_channels == 1)
            image->facts->foreign_version = version;
        return;
    }
    /* A ring that is free or being set up has nothing to read yet. */
    if (ring.up_channels != 1 || (ring.state != TARE_RING_ACTIVE && ring.state != TARE_RING_CLOSED))
        return;
    if (!is_sound(&ring)) {
        if (image->facts->unusable++ == 0)
            image->facts->unusable_offset = offset;
        return;
    }
    if (image->options->base_given)
        buffer = ring.up.buffer - image->options->base;
    else
        buffer = offset + (uint64_t)(int64_t)(int32_t)(ring.up.buffer - ring.self);
    if (buffer > image->source->size || ring.up.bytes > image->source->size - buffer) {
        if (image->facts->outside++ == 0) {
            image->facts->outside_offset = offset;
            image->facts->outside_address = ring.up.buffer;
        }
        return;
    }
    add_ring(image, &ring, big_endian, offset, buffer);
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
        image->facts->foreign_version = version;
}

void image_index(struct source *source, const struct image_options *options,
                 struct segment_list *list, struct decode_directory *directory,
                 struct image_facts *facts)
{
    const struct image image = {source, options, list, directory, facts};
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
