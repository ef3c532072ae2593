#include "cap_session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096u

static uint32_t buffers_offset(uint32_t rings)
{
    size_t end = TARE_REGION_RINGS + rings * (size_t)TARE_RING_SLOT;

    return (uint32_t)((end + PAGE - 1) / PAGE * PAGE);
}

static bool options_valid(const struct session_options *options, struct error *error)
{
    uint32_t block = options->block_words;

    if (block != 64 && block != 128 && block != 256) {
        error_set(error, EXIT_USAGE, "block of %u words: give 64, 128 or 256", block);
        return false;
    }
    if (options->ring_bytes < 8 * block || options->ring_bytes % (4 * block) != 0) {
        error_set(error, EXIT_USAGE,
                  "ring of %u bytes: give a multiple of the block (%u bytes), at least two blocks",
                  options->ring_bytes, 4 * block);
        return false;
    }
    if (options->rings < 2 || options->rings > 4096 ||
        (uint64_t)options->rings * options->ring_bytes > UINT32_MAX / 2) {
        error_set(error, EXIT_USAGE,
                  "%u rings of %u bytes: give 2 to 4096 rings, at most 2 GiB in all",
                  options->rings, options->ring_bytes);
        return false;
    }
    return true;
}

static int make_file(struct session *session, uint32_t number, struct error *error)
{
    int file, reason;

    snprintf(session->path, sizeof(session->path), "/dev/shm/tare-%d-%08x", (int)getpid(), number);
    file = open(session->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) {
        error_set(error, EXIT_RECORD_FAULT, "%s: cannot make shared memory: %s", session->path,
                  strerror(errno));
        return -1;
    }
    reason = posix_fallocate(file, 0, (off_t)session->size);
    if (reason != 0) {
        error_set(error, EXIT_RECORD_FAULT,
                  "%s: no room for %zu bytes of shared memory: %s; use smaller or fewer rings "
                  "(--ring-bytes, --rings) or enlarge /dev/shm",
                  session->path, session->size, strerror(reason));
        unlink(session->path);
        close(file);
        return -1;
    }
    return file;
}

static void fill_region(struct session *session, const struct session_options *options,
                        uint32_t number)
{
    struct tare_region *region = session->region;

    region->session = number;
    region->clock_kind = session->clock.kind;
    region->clock_shift = session->clock.shift;
    region->ticks_per_second = session->clock.ticks_per_second;
    region->ring_count = options->rings;
    region->ring_bytes = options->ring_bytes;
    region->block_words = options->block_words;
    region->buffers_offset = session->buffers_offset;
    region->categories = options->categories;
    region->next_id[0] = TARE_ID_FREE0;
    region->next_id[1] = TARE_ID_FREE1;
    region->next_id[2] = TARE_ID_FREE2;
    region->version = TARE_FORMAT_VERSION;
    region->magic = TARE_REGION_MAGIC;
    strcpy(region->id, "TARE region");
}

bool session_create(struct session *session, const struct session_options *options,
                    struct error *error)
{
    uint32_t number = 0;
    void *memory;
    int file;

    memset(session, 0, sizeof(*session));
    if (!options_valid(options, error))
        return false;
    if (getrandom(&number, sizeof(number), 0) != sizeof(number))
        number = (uint32_t)getpid();
    number = number % 65535u + 1;
    session->rings = options->rings;
    session->ring_bytes = options->ring_bytes;
    session->block_words = options->block_words;
    session->buffers_offset = buffers_offset(options->rings);
    session->size = session->buffers_offset + (size_t)options->rings * options->ring_bytes;
    file = make_file(session, number, error);
    if (file < 0)
        return false;
    memory = mmap(NULL, session->size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED) {
        error_set(error, EXIT_RECORD_FAULT, "%s: cannot map %zu bytes: %s", session->path,
                  session->size, strerror(errno));
        unlink(session->path);
        return false;
    }
    session->region = memory;
    session->clock = session_clock_choose(options->want_monotonic);
    fill_region(session, options, number);
    return true;
}

void session_destroy(struct session *session)
{
    if (session->region == NULL)
        return;
    munmap(session->region, session->size);
    unlink(session->path);
    session->region = NULL;
}

struct tare_ring *session_ring(const struct session *session, uint32_t number)
{
    return (struct tare_ring *)(void *)((char *)session->region + TARE_REGION_RINGS +
                                        (size_t)TARE_RING_SLOT * number);
}

const unsigned char *session_words(const struct session *session, uint32_t number)
{
    return (const unsigned char *)session->region + session->buffers_offset +
           (size_t)number * session->ring_bytes;
}
