/* Linux: the writer of the calling thread, and how a thread comes by its ring. */

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Rings are numbered; each has its writer at the same place of a private table. The kernel wipes
 * the table in a child after fork, so that a child finds no ring and claims its own. */
static struct tare_region *tare_region;
static struct tare_writer *tare_writers;
static pthread_key_t tare_thread_key;

/* Of threads without a ring: `ready` is always NULL, so each event takes the slow way. */
static struct tare_writer tare_no_writer;
/* Of a thread that is claiming a ring: a signal handler meanwhile is counted, not served. */
static struct tare_writer tare_claiming_writer;

/* In a shared library the compiler must be told that no call is needed to find it; in a program it
 * knows a shorter way by itself. */
#if defined(__PIC__) && !defined(__PIE__)
#define TARE_THREAD_MODEL __attribute__((tls_model("initial-exec")))
#else
#define TARE_THREAD_MODEL
#endif
static __thread struct tare_writer *tare_self TARE_THREAD_MODEL = &tare_no_writer;

/* Keeps the compiler from moving stores out of the locked part, as a signal handler on this thread
 * would see; the processor needs nothing. */
#define TARE_SIGNAL_FENCE() __atomic_signal_fence(__ATOMIC_SEQ_CST)

#define TARE_LOCK(writer, ring) \
    ring = __atomic_load_n(&writer->ready, __ATOMIC_RELAXED); \
    if (__builtin_expect(ring != NULL, 1)) { \
        __atomic_store_n(&writer->ready, NULL, __ATOMIC_RELAXED); \
        TARE_SIGNAL_FENCE(); \
    } \
    (void)0

#define TARE_UNLOCK(writer, ring) \
    TARE_SIGNAL_FENCE(); \
    __atomic_store_n(&writer->ready, ring, __ATOMIC_RELAXED)

/* Shared, so that it outlives a kill. Not taken back: a moved offset or a grown total says as much.
 */
#define TARE_NOTE_WRITING(ring, offset) \
    __atomic_store_n(&ring->writing, (offset) + 1u, __ATOMIC_RELAXED); \
    TARE_SIGNAL_FENCE()

static inline struct tare_writer *tare_writer_here(void)
{
    return tare_self;
}

static inline tare_clock tare_clock_here(const struct tare_writer *writer)
{
    return tare_port_counter() >> writer->shift;
}

/* Ticks of the session's clock; `clock` is what the fast path has read of the counter. */
static uint64_t tare_time(const struct tare_writer *writer, tare_clock clock)
{
    struct timespec now;

    if (writer->fast)
        return clock;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec) >> writer->shift;
}

static uint64_t tare_time_now(const struct tare_writer *writer)
{
    return tare_time(writer, tare_clock_here(writer));
}

static struct tare_ring *tare_ring_at(uint32_t number)
{
    return (struct tare_ring *)(void *)((char *)tare_region + TARE_REGION_RINGS +
                                        (size_t)TARE_RING_SLOT * number);
}

static void tare_ring_set_up(struct tare_ring *ring, uint32_t number, enum tare_ring_kind kind)
{
    static const char id[16] = "TARE ring";

    memset(ring, 0, offsetof(struct tare_ring, state));
    memset((char *)ring + offsetof(struct tare_ring, process), 0,
           sizeof(*ring) - offsetof(struct tare_ring, process));
    ring->up_channels = 1;
    ring->up.buffer = tare_region->buffers_offset + number * tare_region->ring_bytes;
    ring->up.bytes = tare_region->ring_bytes;
    ring->self = (uint32_t)((char *)ring - (char *)tare_region);
    ring->version = TARE_FORMAT_VERSION;
    ring->block_words = tare_region->block_words;
    ring->session = tare_region->session;
    ring->stream = __atomic_fetch_add(&tare_region->next_stream, 1, __ATOMIC_RELAXED);
    ring->kind = kind;
    ring->process = (uint32_t)getpid();
    ring->thread = (uint32_t)syscall(SYS_gettid);
    ring->magic = TARE_RING_MAGIC;
    memcpy(ring->id, id, sizeof(id));
}

/* Takes a free ring; NULL when there is none. Safe in a signal handler: no lock, no allocation. */
static struct tare_writer *tare_claim(enum tare_ring_kind kind)
{
    uint32_t number;

    for (number = 0; number < tare_region->ring_count; number++) {
        struct tare_ring *ring = tare_ring_at(number);
        struct tare_writer *writer = tare_writers + number;
        uint32_t expected = TARE_RING_FREE;

        if (!__atomic_compare_exchange_n(&ring->state, &expected, TARE_RING_CLAIMED, 0,
                                         __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            continue;
        tare_ring_set_up(ring, number, kind);
        memset(writer, 0, sizeof(*writer));
        writer->ring = ring;
        writer->words = (uint32_t *)((char *)tare_region + ring->up.buffer);
        writer->fast = tare_region->clock_kind == TARE_CLOCK_TSC ? ~0u : 0;
        writer->shift = tare_region->clock_shift;
        __atomic_store_n(&ring->state, TARE_RING_ACTIVE, __ATOMIC_RELEASE);
        return writer;
    }
    (void)__atomic_fetch_add(&tare_region->rings_refused, 1, __ATOMIC_RELAXED);
    return NULL;
}

static struct tare_writer *tare_claim_for_thread(void)
{
    struct tare_writer *writer;

    tare_self = &tare_claiming_writer;
    TARE_SIGNAL_FENCE();
    writer = tare_claim(TARE_RING_EVENTS);
    if (writer)
        pthread_setspecific(tare_thread_key, writer); /* closes the ring when the thread ends */
    TARE_SIGNAL_FENCE();
    tare_self = writer ? writer : &tare_no_writer;
    if (writer)
        __atomic_store_n(&writer->ready, writer->ring, __ATOMIC_RELAXED);
    return writer;
}

/* Atomic, because a signal handler may add to the suppressed events meanwhile. */
static inline void tare_count_one(uint32_t *counter)
{
    (void)__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static inline uint32_t tare_take_count(uint32_t *counter)
{
    return __atomic_exchange_n(counter, 0, __ATOMIC_RELAXED);
}

static inline void tare_switch(uint32_t on, uint32_t off)
{
    (void)__atomic_fetch_or(&tare_categories_on, on, __ATOMIC_RELAXED);
    (void)__atomic_fetch_and(&tare_categories_on, ~off, __ATOMIC_RELAXED);
}

static void tare_count_loss(struct tare_loss *loss, uint64_t time);

/* The first event of a thread, of a forked child, or one from a signal handler that interrupted the
 * recorder itself. Only the last is counted as suppressed, or one that finds no ring. */
static void __attribute__((noinline, cold))
tare_put_unready(uint32_t word, uint32_t first, uint32_t second)
{
    struct tare_writer *writer = tare_self;
    int caller_errno = errno;

    if (writer->ring) {
        (void)__atomic_fetch_add(&writer->ring->suppressed, 1, __ATOMIC_RELAXED);
        tare_count_loss(&writer->ring->pending_suppressed, tare_time_now(writer));
    } else if (!tare_region) {
        /* switched on before tare_start: cannot happen, tare_enable checks */
    } else if (writer == &tare_claiming_writer || !tare_claim_for_thread()) {
        (void)__atomic_fetch_add(&tare_region->suppressed_no_ring, 1, __ATOMIC_RELAXED);
    } else if (TARE_RECORD_WORDS(word >> TARE_STAMP_BITS) == 1) {
        tare_put0(word);
    } else if (TARE_RECORD_WORDS(word >> TARE_STAMP_BITS) == 2) {
        tare_put1(word, first);
    } else {
        tare_put2(word, first, second);
    }
    errno = caller_errno;
}

/* One event; `words` is a constant at every caller. tests/target counts its instructions against
 * cost/budgets.json. */
static inline __attribute__((always_inline)) void tare_put(uint32_t word, uint32_t first,
                                                           uint32_t second, uint32_t words)
{
    struct tare_writer *writer = tare_writer_here();
    struct tare_ring *ring;
    tare_clock clock;
    uint32_t offset, *at;
    TARE_LOCK(writer, ring);

    if (TARE_UNLIKELY(!ring)) {
        tare_put_slow(word, first, second);
        return;
    }
    clock = tare_clock_here(writer);
    offset = ring->up.write_offset;
    TARE_NOTE_WRITING(ring, offset);
    if (TARE_UNLIKELY(offset + 4 * words > writer->limit ||
                      clock >> TARE_STAMP_BITS != writer->high_here)) {
        TARE_UNLOCK(writer, ring);
        tare_put_slow(word, first, second);
        return;
    }
    at = (uint32_t *)(void *)((char *)writer->words + offset);
    at[0] = word | ((uint32_t)clock & TARE_STAMP_MASK);
    if (words > 1)
        at[1] = first;
    if (words > 2)
        at[2] = second;
    tare_port_publish(&ring->up.write_offset, offset + 4 * words);
    TARE_UNLOCK(writer, ring);
}
