#include "cap_container.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <xxhash.h>

#include "base_buffer.h"

#define BLOCK_BYTES_LEAST 256u
#define PIECES_LIMIT (CONTAINER_STREAM_LIMIT / BLOCK_BYTES_LEAST + 1u)

static const char *advice(int number)
{
    switch (number) {
    case ENOSPC:
    case EDQUOT:
        return "; free space or write to another disk with -o";
    case EFBIG:
        return "; write to a file system without this limit, or raise it (ulimit -f)";
    case EPIPE:
        return "; the program that read this output has ended";
    case EIO:
        return "; check the disk or the connection to it";
    default:
        return "";
    }
}

static bool fail_write(struct container *container, int number)
{
    error_set(&container->failure, EXIT_USAGE,
              "%s: writing failed at offset %" PRIu64
              ": %s%s (what was written before stays readable)",
              container->path, container->bytes, strerror(number), advice(number));
    return false;
}

/* Writes all parts; short writes are continued. */
static bool write_parts(struct container *container, struct iovec *part, int count)
{
    if (container->failure.code != EXIT_DONE || container->file < 0)
        return false;
    while (count > 0) {
        ssize_t written;

        if (part->iov_len == 0) {
            part++;
            count--;
            continue;
        }
        written = writev(container->file, part, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return fail_write(container, written < 0 ? errno : EIO);
        container->bytes += (uint64_t)written;
        while (count > 0 && (size_t)written >= part->iov_len) {
            written -= (ssize_t)part->iov_len;
            part++;
            count--;
        }
        if (count > 0) {
            part->iov_base = (char *)part->iov_base + written;
            part->iov_len -= (size_t)written;
        }
    }
    return true;
}

struct chunk_head {
    enum chunk_type type;
    uint32_t stream;
    uint64_t position;
    uint32_t piece_bytes;
};

/* A chunk whose payload is `table` and then `data`. The payload's hash covers the table alone; of
 * other types than STREAM the table is the whole payload. */
static bool write_chunk(struct container *container, const struct chunk_head *head,
                        const void *table, size_t table_bytes, const void *data, size_t bytes)
{
    unsigned char header[CHUNK_HEAD_BYTES] = CHUNK_MAGIC;
    uint64_t arrival = container->arrival_ns;
    struct timespec now;
    struct iovec part[3] = {
        {header, sizeof header},
        {(void *)(uintptr_t)table, table_bytes},
        {(void *)(uintptr_t)data, bytes},
    };

    if (arrival == 0) {
        clock_gettime(CLOCK_REALTIME, &now);
        arrival = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
    }
    put_little(header + CHUNK_AT_TYPE, (uint64_t)head->type, 2);
    put_little(header + CHUNK_AT_LENGTH, table_bytes + bytes, 4);
    put_little(header + CHUNK_AT_SESSION, container->session, 4);
    put_little(header + CHUNK_AT_ARRIVAL, arrival, 8);
    put_little(header + CHUNK_AT_POSITION, head->position, 8);
    put_little(header + CHUNK_AT_STREAM, head->stream, 4);
    put_little(header + CHUNK_AT_PIECE, head->piece_bytes, 4);
    put_little(header + CHUNK_AT_HASH, XXH64(header, CHUNK_HASHED_BYTES, 0), 4);
    put_little(header + CHUNK_AT_PAYLOAD_HASH, XXH64(table, table_bytes, 0), 4);
    return write_parts(container, part, 3);
}

bool container_create(struct container *container, const char *path, uint32_t session,
                      struct error *error)
{
    unsigned char head[CONTAINER_HEAD_BYTES] = CONTAINER_SIGNATURE;
    struct iovec part = {head, sizeof head};

    *container = (struct container){.session = session};
    container->standard = strcmp(path, "-") == 0;
    container->path = memory_text(container->standard ? "standard output" : path);
    if (container->standard) {
        container->file = STDOUT_FILENO;
        if (isatty(STDOUT_FILENO) != 0)
            error_set(&container->failure, EXIT_USAGE,
                      "standard output is a terminal and the recording is binary; name a file with "
                      "-o or connect a pipe");
    } else {
        container->file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
        if (container->file < 0)
            error_set(&container->failure, EXIT_USAGE, "%s: cannot be created: %s%s", path,
                      strerror(errno), advice(errno));
    }
    put_little(head + 8, CONTAINER_VERSION, 4);
    if (container->failure.code == EXIT_DONE && write_parts(container, &part, 1))
        return true;
    error_set(error, container->failure.code, "%s", container->failure.text);
    if (!container->standard && container->file >= 0)
        close(container->file);
    container->file = -1;
    free(container->path);
    container->path = NULL;
    return false;
}

bool container_info(struct container *container, const char *json_text)
{
    return write_chunk(container, &(struct chunk_head){.type = CHUNK_INFO}, json_text,
                       strlen(json_text), NULL, 0);
}

bool container_region(struct container *container, const void *region)
{
    return write_chunk(container, &(struct chunk_head){.type = CHUNK_REGION}, region, 256, NULL, 0);
}

bool container_ring(struct container *container, uint32_t stream, const void *ring)
{
    return write_chunk(container, &(struct chunk_head){.type = CHUNK_RING, .stream = stream}, ring,
                       sizeof(struct tare_ring), NULL, 0);
}

bool container_names(struct container *container, uint32_t stream, const void *payload, size_t size)
{
    return write_chunk(container, &(struct chunk_head){.type = CHUNK_NAMES, .stream = stream},
                       payload, size, NULL, 0);
}

bool container_stream(struct container *container, uint32_t stream, uint64_t position_words,
                      uint32_t piece_bytes, const void *data, size_t size)
{
    static const struct chunk_head empty = {.type = CHUNK_STREAM};
    unsigned char table[4 + 4 * PIECES_LIMIT];
    const unsigned char *next = data;
    struct chunk_head head = empty;

    if (piece_bytes < BLOCK_BYTES_LEAST || piece_bytes % 4 != 0)
        die("container: pieces of %" PRIu32 " bytes", piece_bytes);
    head.stream = stream;
    head.piece_bytes = piece_bytes;
    while (size > 0) {
        /* The first piece ends at the block border that comes next. */
        size_t piece = piece_bytes - (size_t)(position_words % (piece_bytes / 4)) * 4;
        size_t bytes = 0, count = 0;

        while (bytes < size && (bytes == 0 || bytes + piece_bytes <= CONTAINER_STREAM_LIMIT)) {
            if (piece > size - bytes)
                piece = size - bytes;
            put_little(table + 4 + 4 * count, XXH64(next + bytes, piece, 0), 4);
            bytes += piece;
            count++;
            piece = piece_bytes;
        }
        put_little(table, count, 4);
        head.position = position_words;
        if (!write_chunk(container, &head, table, 4 + 4 * count, next, bytes))
            return false;
        next += bytes;
        size -= bytes;
        position_words += bytes / 4;
    }
    return container->failure.code == EXIT_DONE;
}

bool container_clock(struct container *container, uint64_t ticks, uint64_t monotonic,
                     uint64_t realtime, uint64_t uncertainty)
{
    unsigned char payload[32];

    put_little(payload, ticks, 8);
    put_little(payload + 8, monotonic, 8);
    put_little(payload + 16, realtime, 8);
    put_little(payload + 24, uncertainty, 8);
    return write_chunk(container, &(struct chunk_head){.type = CHUNK_CLOCK}, payload,
                       sizeof payload, NULL, 0);
}

bool container_end(struct container *container, const char *json_text)
{
    return write_chunk(container, &(struct chunk_head){.type = CHUNK_END}, json_text,
                       strlen(json_text), NULL, 0);
}

bool container_close(struct container *container, struct error *error)
{
    bool good;

    if (container->file >= 0 && !container->standard && close(container->file) != 0)
        fail_write(container, errno);
    container->file = -1;
    good = container->failure.code == EXIT_DONE;
    if (!good)
        error_set(error, container->failure.code, "%s", container->failure.text);
    free(container->path);
    container->path = NULL;
    return good;
}
