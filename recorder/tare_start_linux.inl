/* Linux: joining the session that `tare record` has prepared, names, and the end of threads and of
 * the process. */

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Writer of this process's names; its ring is NULL before the first and in a forked child. */
static struct tare_writer *tare_names_writer = &tare_no_writer;
/* Process id of the holder of the names' lock, 0 when free. Another process's id is a lock that was
 * held when that process forked: nobody will ever release it here. */
static int32_t tare_names_lock;
/* Totals of threads that have ended. */
static struct tare_totals tare_ended;

static int tare_started(void)
{
    return tare_region != NULL;
}

static void tare_lock_names(void)
{
    int32_t self = (int32_t)getpid(), holder = 0;

    while (!__atomic_compare_exchange_n(&tare_names_lock, &holder, self, 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
        if (holder == self) {
            sched_yield();
            holder = 0;
        }
    }
}

static void tare_unlock_names(void)
{
    __atomic_store_n(&tare_names_lock, 0, __ATOMIC_RELEASE);
}

/* Writes one definition whole, or nothing: 0 when there was no room for it. */
static int tare_define(struct tare_writer *writer, uint32_t event_class, uint32_t category,
                       uint32_t id, const char *text)
{
    struct tare_ring *ring = writer->ring;
    uint64_t time = tare_time_now(writer);
    uint32_t length = tare_text_length(text, TARE_DEFINITION_LIMIT);
    uint32_t records = 1 + (length + 7) / 8;
    uint32_t at, words[2];

    /* A block of 64 words takes 19 records of 3 words and its own 7 words of anchor and padding. */
    if (tare_room(ring) < (int32_t)(4 * (TARE_AROUND_WORDS + 2 * TARE_LOSS_WORDS + 3 * records +
                                         records / 19 * (1 + TARE_ANCHOR_WORDS))))
        return 0;
    tare_store_losses(writer, ring, time);
    tare_store(writer, ring, time, TARE_WORD(TARE_ID_DEFINE),
               event_class << 24 | category << 16 | id, length);
    for (at = 0; at < length; at += 8) {
        tare_text_words(text, length, at, words);
        tare_store(writer, ring, time, TARE_WORD(TARE_ID_TEXT), words[0], words[1]);
    }
    tare_set_limit(writer, ring);
    return 1;
}

static void tare_note(struct tare_writer *writer, enum tare_id id, uint32_t first, uint32_t second)
{
    tare_store(writer, writer->ring, tare_time_now(writer), TARE_WORD(id), first, second);
}

static void tare_rewind(struct tare_writer *writer)
{
    writer->ring->up.write_offset = writer->block_end = writer->limit = 0;
}

/* With the lock held: the writer for names, or NULL. */
static struct tare_writer *tare_names(void)
{
    if (!tare_names_writer->ring) {
        struct tare_writer *writer = tare_claim(TARE_RING_DEFINITIONS);

        tare_names_writer = writer ? writer : &tare_no_writer;
    }
    return tare_names_writer->ring ? tare_names_writer : NULL;
}

static void tare_give_ids(const struct tare_event *event)
{
    uint32_t wanted = tare_ids_wanted(event), id;

    if (wanted == 0)
        return;
    id = __atomic_fetch_add(&tare_region->next_id[event->arguments], wanted, __ATOMIC_RELAXED);
    if (id + wanted - 1 <= tare_last_id[event->arguments] && id >= tare_first_id[event->arguments])
        tare_give_id(event, id);
    else
        (void)__atomic_fetch_add(&tare_region->ids_refused, 1, __ATOMIC_RELAXED);
}

/* Runs at load of each program and library that includes tare.h. */
int tare_register(const struct tare_event *events, const struct tare_event *end)
{
    const struct tare_event *event;
    struct tare_writer *writer;

    if (tare_start() != 0)
        return 0;
    tare_lock_names();
    writer = tare_names();
    for (event = events; event < end; event++) {
        tare_give_ids(event);
        if (tare_has_name(event) && writer && !tare_define_event(writer, event))
            writer->ring->names_lost++;
    }
    tare_unlock_names();
    return 1;
}

void tare_thread_name(const char *name)
{
    struct tare_writer *writer;
    char kept[64] = "";

    if (!tare_region || (!tare_self->ring && !tare_claim_for_thread()))
        return;
    memcpy(kept, name, tare_text_length(name, sizeof(kept) - 1));
    tare_lock_names();
    writer = tare_names();
    if (writer &&
        !tare_define(writer, TARE_CLASS_STREAM, 0, tare_self->ring->stream & 0xFFFFu, kept))
        writer->ring->names_lost++;
    tare_unlock_names();
}

/* Ends the stream of the calling thread, in which no event can be half written. */
static void tare_close(struct tare_writer *writer)
{
    struct tare_ring *ring = writer->ring;

    writer->ready = NULL;
    TARE_SIGNAL_FENCE();
    tare_write_end(writer, ring, tare_time_now(writer));
    (void)__atomic_fetch_add(&tare_ended.words, ring->lap_index + ring->up.write_offset / 4,
                             __ATOMIC_RELAXED);
    (void)__atomic_fetch_add(&tare_ended.dropped, ring->dropped, __ATOMIC_RELAXED);
    (void)__atomic_fetch_add(&tare_ended.suppressed, ring->suppressed, __ATOMIC_RELAXED);
    tare_self = &tare_no_writer;
    memset(writer, 0, sizeof(*writer));
    __atomic_store_n(&ring->state, TARE_RING_CLOSED, __ATOMIC_RELEASE);
}

static void tare_thread_ended(void *writer)
{
    if (writer == tare_self && tare_self->ring)
        tare_close(tare_self);
}

/* Measures what events cost here, with a ring on the stack in place of a thread's own. */
static void tare_measure_costs(struct tare_writer *like, uint32_t costs[3])
{
    struct tare_ring ring;
    struct tare_writer writer;
    uint32_t words[512], arguments;

    memset(&ring, 0, sizeof(ring));
    memset(&writer, 0, sizeof(writer));
    ring.up.bytes = sizeof(words);
    ring.block_words = 256;
    writer.words = words;
    writer.ready = writer.ring = &ring;
    writer.fast = like->fast;
    writer.shift = like->shift;
    tare_self = &writer;
    for (arguments = 0; arguments < 3; arguments++)
        costs[arguments] = tare_measure(&writer, arguments);
    tare_self = &tare_no_writer;
}

/* Maps the session's region if it is sound; NULL otherwise. */
static struct tare_region *tare_map_region(const char *path)
{
    struct tare_region *region = NULL;
    struct stat status;
    int file = open(path, O_RDWR | O_CLOEXEC);

    if (file < 0)
        return NULL;
    if (fstat(file, &status) == 0 && status.st_size >= (off_t)sizeof(*region)) {
        void *memory =
            mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

        if (memory != MAP_FAILED)
            region = (struct tare_region *)memory;
    }
    close(file);
    if (!region)
        return NULL;
    if (region->magic == TARE_REGION_MAGIC && region->version == TARE_FORMAT_VERSION &&
        region->ring_count > 0 && region->ring_bytes % (4 * region->block_words) == 0 &&
        region->ring_bytes >= 8 * region->block_words &&
        (uint64_t)region->buffers_offset + (uint64_t)region->ring_count * region->ring_bytes <=
            (uint64_t)status.st_size)
        return region;
    munmap(region, (size_t)status.st_size);
    return NULL;
}

int tare_start(void)
{
    const char *path;
    struct tare_region *region;
    struct tare_writer *writer;
    uint32_t costs[3];
    size_t size;
    void *table;
    static int failed;

    if (tare_region || failed)
        return failed;
    path = getenv(TARE_REGION_VARIABLE);
    if (!path)
        return TARE_ERROR_NO_SESSION;
    region = tare_map_region(path);
    if (!region)
        return failed = TARE_ERROR_REGION;
    size = region->ring_count * sizeof(struct tare_writer);
    table = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (table == MAP_FAILED || madvise(table, size, MADV_WIPEONFORK) != 0 ||
        pthread_key_create(&tare_thread_key, tare_thread_ended) != 0)
        return failed = TARE_ERROR_REGION;
    tare_region = region;
    tare_writers = (struct tare_writer *)table;
    tare_lock_names();
    writer = tare_names();
    failed = writer ? tare_test_clock(writer) : TARE_ERROR_REGION;
    if (failed == 0) {
        tare_measure_costs(writer, costs);
        tare_define_costs(writer, costs);
    }
    tare_unlock_names();
    if (failed)
        tare_region = NULL;
    else
        __atomic_store_n(&tare_categories_on, region->categories, __ATOMIC_RELAXED);
    return failed;
}

void tare_stop(void)
{
    __atomic_store_n(&tare_categories_on, 0, __ATOMIC_RELAXED);
    if (tare_region && tare_self->ring)
        tare_close(tare_self);
    if (tare_names_writer->ring)
        __atomic_store_n(&tare_names_writer->ring->state, TARE_RING_CLOSED, __ATOMIC_RELEASE);
}

/* Behind the destructors of the program, which may still record. */
static __attribute__((destructor(101), used)) void tare_stop_at_exit(void)
{
    tare_stop();
}

void tare_service(void)
{
}

void tare_tick(uint32_t count)
{
    (void)count;
}

void tare_counts(struct tare_totals *counts)
{
    uint32_t number;

    *counts = tare_ended;
    if (!tare_region)
        return;
    counts->suppressed += tare_region->suppressed_no_ring;
    for (number = 0; number < tare_region->ring_count; number++) {
        const struct tare_ring *ring = tare_writers[number].ring;

        if (!ring)
            continue;
        counts->words += ring->lap_index + ring->up.write_offset / 4;
        counts->dropped += ring->dropped;
        counts->suppressed += ring->suppressed;
    }
}
