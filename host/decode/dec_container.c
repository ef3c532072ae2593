#include "dec_container.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#define SEARCH_BYTES (64u << 10)
#define RING_BYTES 240u
#define REGION_BYTES 256u
#define CLOCK_BYTES 32u

_Static_assert(sizeof(struct tare_ring) == RING_BYTES, "FORMAT.md says 240");
_Static_assert(sizeof(struct tare_region) == REGION_BYTES, "FORMAT.md says 256");

/* ------------------------------------------------------------------ lists */

void facts_add(struct container_facts *facts, const struct file_finding *finding)
{
    if (finding->kind == FINDING_FAULT) {
        facts->faults[finding->fault]++;
        facts->damaged_bytes += finding->bytes;
    } else if (finding->kind == FINDING_SKIPPED) {
        facts->skipped_before += finding->bytes;
    }
    if (facts->finding_count == CONTAINER_FINDINGS)
        return;
    if (facts->finding_count == facts->finding_capacity) {
        facts->finding_capacity = 2 * facts->finding_capacity + 16;
        facts->findings =
            memory_resize(facts->findings, facts->finding_capacity, sizeof *facts->findings);
    }
    facts->findings[facts->finding_count] = *finding;
    facts->findings[facts->finding_count].order = facts->finding_count;
    if (finding->place == 0)
        facts->findings[facts->finding_count].place = finding->offset;
    facts->finding_count++;
}

uint64_t facts_faults(const struct container_facts *facts)
{
    uint64_t count = 0;

    for (size_t i = 0; i < facts->finding_count; i++)
        count += facts->findings[i].kind != FINDING_NAME;
    return count;
}

void facts_skipped(struct container_facts *facts, uint64_t end, uint64_t bytes, uint64_t place)
{
    /* Its place is before what is found at the byte behind. */
    if (bytes > 0)
        facts_add(facts, &(struct file_finding){.kind = FINDING_SKIPPED,
                                                .offset = end,
                                                .place = place != 0 ? place : end - 1,
                                                .bytes = bytes});
}

static int compare_findings(const void *one, const void *other)
{
    const struct file_finding *a = one, *b = other;

    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    /* A cut comes last of all, though it was found first. */
    if ((a->fault == FILE_FAULT_TRUNCATED) != (b->fault == FILE_FAULT_TRUNCATED))
        return a->fault == FILE_FAULT_TRUNCATED ? 1 : -1;
    return a->order < b->order ? -1 : a->order > b->order;
}

void facts_sort(struct container_facts *facts)
{
    if (facts->finding_count > 0)
        qsort(facts->findings, facts->finding_count, sizeof *facts->findings, compare_findings);
}

void facts_free(struct container_facts *facts)
{
    free(facts->findings);
    buffer_free(&facts->info);
    buffer_free(&facts->end);
    *facts = (struct container_facts){0};
}

void segment_add(struct segment_list *list, const struct segment *segment)
{
    if (list->count == list->capacity) {
        list->capacity = 2 * list->capacity + 16;
        list->segment = memory_resize(list->segment, list->capacity, sizeof *list->segment);
    }
    list->segment[list->count++] = *segment;
}

uint32_t segment_input(struct segment_list *list, uint32_t session, uint32_t stream)
{
    uint64_t key = (uint64_t)session << 32 | stream;
    uint32_t known = key_table_find(&list->inputs, key);

    if (known == 0) {
        known = ++list->input_count;
        key_table_set(&list->inputs, key, known);
    }
    return known - 1;
}

void segment_list_free(struct segment_list *list)
{
    free(list->segment);
    key_table_free(&list->inputs);
    *list = (struct segment_list){0};
}

/* ------------------------------------------------------------------ rings, regions, names */

bool names_size_right(uint32_t bytes)
{
    return bytes >= 8 && bytes <= 1028 && bytes % 4 == 0;
}

static void swap_words(void *structure, size_t from, size_t count)
{
    uint32_t *words = structure;

    for (size_t i = from; i < from + count; i++)
        words[i] = __builtin_bswap32(words[i]);
}

bool ring_read(const void *bytes, struct tare_ring *ring, bool *big_endian, uint32_t *version)
{
    bool swap;

    memcpy(ring, bytes, sizeof *ring);
    swap = ring->magic == __builtin_bswap32(TARE_RING_MAGIC);
    if (swap)
        swap_words(ring, 4, 56);
    *version = 0;
    if (ring->magic != TARE_RING_MAGIC)
        return false;
    *version = ring->version;
    *big_endian = swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    return ring->version == TARE_FORMAT_VERSION &&
           (ring->block_words == 64 || ring->block_words == 128 || ring->block_words == 256);
}

void ring_keep(struct decode_stream *stream, const struct tare_ring *ring)
{
    if (stream->first_ring == NULL) {
        stream->first_ring = memory_new(1, sizeof *ring);
        stream->last_ring = memory_new(1, sizeof *ring);
        *stream->first_ring = *ring;
    }
    *stream->last_ring = *ring;
    stream->ring_is_last = true;
}

bool region_read(const void *bytes, struct tare_region *region, uint32_t *version)
{
    memcpy(region, bytes, sizeof *region);
    if (region->magic == __builtin_bswap32(TARE_REGION_MAGIC))
        swap_words(region, 4, 60);
    *version = 0;
    if (region->magic != TARE_REGION_MAGIC)
        return false;
    *version = region->version;
    return region->version == TARE_FORMAT_VERSION;
}

void region_keep(struct decode_session *session, const struct tare_region *region)
{
    if (session->first_region == NULL) {
        session->first_region = memory_new(1, sizeof *region);
        session->last_region = memory_new(1, sizeof *region);
        *session->first_region = *region;
    }
    *session->last_region = *region;
}

/* ------------------------------------------------------------------ chunks */

struct chunk {
    uint64_t offset; /* of the header */
    enum chunk_type type;
    uint32_t length, session, stream, piece, payload_hash;
    uint64_t arrival, position;
};

struct indexing {
    struct source *source;
    struct segment_list *list;
    struct decode_directory *directory;
    struct container_facts *facts;
    unsigned char *payload; /* of the chunk that is taken */
    size_t payload_capacity;
};

static bool header_read(const unsigned char *bytes, struct chunk *chunk)
{
    if (memcmp(bytes, CHUNK_MAGIC, 4) != 0 ||
        (uint32_t)XXH64(bytes, CHUNK_HASHED_BYTES, 0) != get_little(bytes + CHUNK_AT_HASH, 4))
        return false;
    chunk->type = (enum chunk_type)get_little(bytes + CHUNK_AT_TYPE, 2);
    chunk->length = (uint32_t)get_little(bytes + CHUNK_AT_LENGTH, 4);
    chunk->session = (uint32_t)get_little(bytes + CHUNK_AT_SESSION, 4);
    chunk->arrival = get_little(bytes + CHUNK_AT_ARRIVAL, 8);
    chunk->position = get_little(bytes + CHUNK_AT_POSITION, 8);
    chunk->stream = (uint32_t)get_little(bytes + CHUNK_AT_STREAM, 4);
    chunk->piece = (uint32_t)get_little(bytes + CHUNK_AT_PIECE, 4);
    chunk->payload_hash = (uint32_t)get_little(bytes + CHUNK_AT_PAYLOAD_HASH, 4);
    return chunk->length <= CHUNK_PAYLOAD_LIMIT;
}

bool container_recognise(struct source *source)
{
    unsigned char bytes[CONTAINER_HEAD_BYTES + CHUNK_HEAD_BYTES];
    size_t size = source_read(source, 0, bytes, sizeof bytes);
    struct chunk chunk;

    return (size >= 8 && memcmp(bytes, CONTAINER_SIGNATURE, 8) == 0) ||
           (size == sizeof bytes && header_read(bytes + CONTAINER_HEAD_BYTES, &chunk));
}

/* Offset of the first right header from `offset` on; the size of the file when there is none. */
static uint64_t find_header(struct source *source, uint64_t offset)
{
    unsigned char window[SEARCH_BYTES];

    for (;;) {
        size_t size = source_read(source, offset, window, sizeof window), at = 0;

        while (at + CHUNK_HEAD_BYTES <= size) {
            const unsigned char *found = memmem(window + at, size - at, CHUNK_MAGIC, 4);
            struct chunk chunk;

            if (found == NULL || (size_t)(found - window) + CHUNK_HEAD_BYTES > size)
                break;
            if (header_read(found, &chunk))
                return offset + (uint64_t)(found - window);
            at = (size_t)(found - window) + 1;
        }
        if (size < sizeof window)
            return source->size;
        offset += sizeof window - (CHUNK_HEAD_BYTES - 1);
    }
}

bool container_has_chunk(struct source *source)
{
    return find_header(source, 0) < source->size;
}

static void fault_at(struct indexing *indexing, enum file_fault fault, uint64_t offset,
                     uint64_t bytes)
{
    facts_add(
        indexing->facts,
        &(struct file_finding){.kind = FINDING_FAULT,
                               .fault = fault,
                               .offset = offset,
                               .bytes = bytes,
                               .place = fault == FILE_FAULT_TRUNCATED ? offset + bytes : offset});
}

static void salvage(struct indexing *indexing, uint64_t offset, uint64_t bytes)
{
    if (bytes == 0)
        return;
    segment_add(indexing->list, &(struct segment){.kind = SEGMENT_SALVAGE,
                                                  .input = indexing->list->input_count++,
                                                  .offset = offset,
                                                  .bytes = bytes});
}

/* Number of pieces of a STREAM chunk with `bytes` of raw data. */
static uint64_t count_pieces(const struct chunk *chunk, uint64_t bytes)
{
    uint64_t first = chunk->piece - chunk->position % (chunk->piece / 4) * 4;

    if (bytes <= first)
        return bytes > 0;
    return 1 + (bytes - first + chunk->piece - 1) / chunk->piece;
}

/* Bytes of the whole pieces among the first `bytes`. */
static uint64_t whole_pieces(const struct chunk *chunk, uint64_t bytes)
{
    uint64_t first = chunk->piece - chunk->position % (chunk->piece / 4) * 4;

    return bytes < first ? 0 : bytes - (bytes - first) % chunk->piece;
}

/* Reads the first bytes of the chunk's payload; false when they are not there. */
static bool read_payload(struct indexing *indexing, const struct chunk *chunk, size_t size)
{
    uint64_t at = chunk->offset + CHUNK_HEAD_BYTES;

    if (size > indexing->source->size || at > indexing->source->size - size)
        return false;
    if (size > indexing->payload_capacity || indexing->payload == NULL) {
        indexing->payload_capacity = size + size / 2;
        indexing->payload = memory_resize(indexing->payload, indexing->payload_capacity, 1);
    }
    return source_read(indexing->source, at, indexing->payload, size) == size;
}

/* A STREAM chunk of which `there` bytes of payload are in the file; false: its payload is damaged.
 */
static bool take_stream(struct indexing *indexing, const struct chunk *chunk, uint64_t there)
{
    uint64_t payload = chunk->offset + CHUNK_HEAD_BYTES, table, raw;
    struct decode_stream *stream;

    if (chunk->length < 4 || (chunk->piece != 256 && chunk->piece != 512 && chunk->piece != 1024))
        return false;
    if (!read_payload(indexing, chunk, 4))
        return there < chunk->length; /* cut before its table: nothing to read */
    table = 4 + 4 * get_little(indexing->payload, 4);
    if (table > chunk->length)
        return false;
    raw = chunk->length - table;
    if (raw % 4 != 0 || table != 4 + 4 * count_pieces(chunk, raw))
        return false;
    if (table > there)
        return true;
    if (!read_payload(indexing, chunk, table) ||
        (uint32_t)XXH64(indexing->payload, table, 0) != chunk->payload_hash)
        return false;
    stream = directory_find_stream(indexing->directory, chunk->session, chunk->stream);
    if (stream != NULL)
        stream->ring_is_last = false;
    directory_session(indexing->directory, chunk->session);
    segment_add(
        indexing->list,
        &(struct segment){.kind = SEGMENT_STREAM,
                          .input = segment_input(indexing->list, chunk->session, chunk->stream),
                          .session = chunk->session,
                          .stream = chunk->stream,
                          .piece = chunk->piece,
                          .offset = payload + table,
                          .bytes = there < chunk->length ? whole_pieces(chunk, there - table) : raw,
                          .table = payload + 4,
                          .position = chunk->position});
    return true;
}

static bool take_ring(struct indexing *indexing, const struct chunk *chunk)
{
    struct tare_ring ring;
    struct decode_stream *stream;
    uint32_t version;
    bool big_endian;

    if (chunk->length != RING_BYTES || !ring_read(indexing->payload, &ring, &big_endian, &version))
        return false;
    stream = directory_stream(indexing->directory, ring.session, ring.stream);
    ring_keep(stream, &ring);
    stream->big_endian = big_endian;
    segment_add(indexing->list,
                &(struct segment){.kind = SEGMENT_RING,
                                  .input = segment_input(indexing->list, ring.session, ring.stream),
                                  .session = ring.session,
                                  .stream = ring.stream,
                                  .offset = chunk->offset + CHUNK_HEAD_BYTES,
                                  .bytes = RING_BYTES});
    return true;
}

static bool take_names(struct indexing *indexing, const struct chunk *chunk)
{
    uint32_t size;
    bool swap;

    if (chunk->length < 4)
        return false;
    memcpy(&size, indexing->payload, 4);
    swap = !names_size_right(size);
    if (swap)
        size = __builtin_bswap32(size);
    if (!names_size_right(size) || (chunk->length - 4) % size != 0)
        return false;
    indexing->facts->names_tables++;
    directory_session(indexing->directory, chunk->session);
    segment_add(
        indexing->list,
        &(struct segment){.kind = SEGMENT_NAMES,
                          .input = segment_input(indexing->list, chunk->session, chunk->stream),
                          .session = chunk->session,
                          .stream = chunk->stream,
                          .piece = size,
                          .swap = swap,
                          .offset = chunk->offset + CHUNK_HEAD_BYTES + 4,
                          .bytes = chunk->length - 4});
    return true;
}

static bool take_region(struct indexing *indexing, const struct chunk *chunk)
{
    struct tare_region region;
    uint32_t version;

    if (chunk->length != REGION_BYTES || !region_read(indexing->payload, &region, &version))
        return false;
    region_keep(directory_session(indexing->directory, chunk->session), &region);
    return true;
}

static bool take_clock(struct indexing *indexing, const struct chunk *chunk)
{
    struct decode_session *session = directory_session(indexing->directory, chunk->session);
    const unsigned char *bytes = indexing->payload;
    size_t count = session->snapshot_count;

    if (chunk->length != CLOCK_BYTES)
        return false;
    if ((count & (count - 1)) == 0) /* full: its capacity is the next power of two */
        session->snapshots = memory_resize(session->snapshots, count == 0 ? 1 : 2 * count,
                                           sizeof *session->snapshots);
    session->snapshots[session->snapshot_count++] = (struct clock_snapshot){
        .ticks = get_little(bytes, 8),
        .monotonic_ns = get_little(bytes + 8, 8),
        .realtime_ns = get_little(bytes + 16, 8),
        .uncertainty_ns = get_little(bytes + 24, 8),
    };
    return true;
}

static void keep_json(struct buffer *into, const unsigned char *payload, uint32_t length)
{
    buffer_clear(into);
    buffer_append(into, payload, length);
}

/* Chunks whose hash is right and whose content cannot be: no reader can use them. */
static bool misfit(struct container_facts *facts)
{
    facts->misfits++;
    return true;
}

/* A whole chunk of another type than STREAM; false: its payload is damaged. */
static bool take_other(struct indexing *indexing, const struct chunk *chunk)
{
    if (!read_payload(indexing, chunk, chunk->length) ||
        (uint32_t)XXH64(indexing->payload, chunk->length, 0) != chunk->payload_hash)
        return false;
    switch (chunk->type) {
    case CHUNK_INFO:
        keep_json(&indexing->facts->info, indexing->payload, chunk->length);
        return true;
    case CHUNK_END:
        keep_json(&indexing->facts->end, indexing->payload, chunk->length);
        indexing->facts->finished = true;
        return true;
    case CHUNK_REGION:
        return take_region(indexing, chunk) || misfit(indexing->facts);
    case CHUNK_RING:
        return take_ring(indexing, chunk);
    case CHUNK_NAMES:
        return take_names(indexing, chunk);
    case CHUNK_CLOCK:
        return take_clock(indexing, chunk) || misfit(indexing->facts);
    default:
        return true;
    }
}

static void count_chunk(struct container_facts *facts, const struct chunk *chunk)
{
    facts->chunks[chunk->type <= CHUNK_NAMES ? chunk->type : 0]++;
    if (facts->first_arrival_ns == 0)
        facts->first_arrival_ns = chunk->arrival;
    facts->last_arrival_ns = chunk->arrival;
}

/* Takes the chunk at `offset` and returns where the next one begins. */
static uint64_t take_chunk(struct indexing *indexing, uint64_t offset)
{
    unsigned char header[CHUNK_HEAD_BYTES];
    uint64_t size = indexing->source->size, there;
    struct chunk chunk = {.offset = offset};
    bool good;

    if (source_read(indexing->source, offset, header, sizeof header) < sizeof header &&
        size - offset < sizeof header) {
        fault_at(indexing, FILE_FAULT_TRUNCATED, offset, size - offset);
        return size;
    }
    if (!header_read(header, &chunk)) {
        uint64_t next = find_header(indexing->source, offset + 1);

        fault_at(indexing, FILE_FAULT_BAD_CHUNK, offset, next - offset);
        salvage(indexing, offset, next - offset);
        return next;
    }
    there = size - offset - CHUNK_HEAD_BYTES;
    if (there > chunk.length)
        there = chunk.length;
    if (chunk.type == CHUNK_STREAM)
        good = take_stream(indexing, &chunk, there);
    else
        good = take_other(indexing, &chunk);
    if (there < chunk.length) /* cut: what could be read of it was taken */
        good = true;
    if (there < chunk.length)
        fault_at(indexing, FILE_FAULT_TRUNCATED, offset, CHUNK_HEAD_BYTES + there);
    else if (good)
        count_chunk(indexing->facts, &chunk);
    if (!good) {
        fault_at(indexing, FILE_FAULT_BAD_CHUNK, offset, CHUNK_HEAD_BYTES + there);
        if (chunk.type == CHUNK_STREAM)
            salvage(indexing, offset + CHUNK_HEAD_BYTES, there);
    }
    return offset + CHUNK_HEAD_BYTES + there;
}

bool container_index(struct source *source, struct segment_list *list,
                     struct decode_directory *directory, struct container_facts *facts,
                     struct error *error)
{
    struct indexing indexing = {
        .source = source, .list = list, .directory = directory, .facts = facts};
    unsigned char head[CONTAINER_HEAD_BYTES] = {0};
    uint64_t offset = sizeof head;
    size_t size = source_read(source, 0, head, sizeof head);

    if (size == sizeof head && get_little(head + 8, 4) != CONTAINER_VERSION) {
        error_set(error, EXIT_DAMAGED,
                  "%s: is a Tare file of version %" PRIu64
                  ", this program reads version %u; use the `tare` that made it or a later one",
                  source->path, get_little(head + 8, 4), CONTAINER_VERSION);
        return false;
    }
    facts->bad_signature = size < 8 || memcmp(head, CONTAINER_SIGNATURE, 8) != 0;
    if (size < sizeof head)
        fault_at(&indexing, FILE_FAULT_TRUNCATED, 0, size);
    while (offset < source->size)
        offset = take_chunk(&indexing, offset);
    free(indexing.payload);
    return true;
}
