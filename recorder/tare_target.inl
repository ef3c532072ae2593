/* Target without an operating system's threads: one ring a core, in one static structure, so that
 * the fast path reaches everything from one address. The ring is its own writer. */

#define tare_writer tare_ring

/* Debugger-visible: tools find it by this name. */
static struct tare_core {
    struct tare_ring ring;
    uint32_t words[TARE_RING_BYTES / 4];
} tare0[TARE_CORES];

/* Where the up channel of a ring lies: in the ring itself, in one control block for all cores, or
 * in the one that the firmware has already. */
#if defined(TARE_RTT_CHANNEL)
extern char TARE_RTT_BLOCK[];
#define TARE_UP_OF_CORE(core) \
    ((struct tare_channel *)(void *)(TARE_RTT_BLOCK + 24 + \
                                     sizeof(struct tare_channel) * (TARE_RTT_CHANNEL + (core))))
#elif TARE_CORES > 1
static struct {
    char id[16];
    uint32_t up_channels, down_channels;
    struct tare_channel up[TARE_CORES], down;
} tare_rtt;
#define TARE_UP_OF_CORE(core) (tare_rtt.up + (core))
#else
#define TARE_UP_OF_CORE(core) (&tare0[core].ring.up)
#endif

#if TARE_CORES > 1
#define TARE_UP(ring) TARE_UP_OF_CORE((ring)->stream)
#define TARE_HERE() (&tare0[tare_port_core()].ring)
#else
#define TARE_UP(ring) ((void)(ring), TARE_UP_OF_CORE(0))
#define TARE_HERE() (&tare0[0].ring)
#endif

/* The words follow the ring. */
#define TARE_WORDS_AT(ring, offset) \
    ((uint32_t *)(void *)((char *)(ring) + offsetof(struct tare_core, words) + (offset)))

static inline struct tare_ring *tare_writer_here(void)
{
    return TARE_HERE();
}

static inline tare_clock tare_clock_here(const struct tare_ring *ring)
{
    (void)ring;
    return tare_port_clock();
}

/* Widens the clock, of which 12 bits are bits 20 to 31 of the time. Interrupts are masked. Sees
 * each turn, because a turn changes the high part and that comes here; over a silence of more than
 * half a turn tare_service keeps count. */
static void tare_widen(struct tare_ring *ring, tare_clock clock)
{
    uint32_t here = clock >> TARE_STAMP_BITS, old = ring->high[0];
    uint32_t high = (old & ~0xFFFu) | here;

    if (high < old) {
        high += 0x1000;
        if (high < 0x1000)
            ring->high[1]++;
    }
    ring->high[0] = high;
}

/* The part of the time that the clock shows. */
static inline uint32_t tare_time(const struct tare_ring *ring, tare_clock clock)
{
    (void)ring;
    return clock;
}

static inline void tare_switch(uint32_t on, uint32_t off)
{
    uint32_t state = tare_port_mask();

    tare_categories_on = (tare_categories_on | on) & ~off;
    tare_port_unmask(state);
}

/* The port may have an instruction for it. The stamp of `word` is 0. */
#ifndef TARE_PORT_STAMP
static inline uint32_t tare_port_stamp(uint32_t word, uint32_t clock)
{
    return word | (clock & TARE_STAMP_MASK);
}
#endif

/* One event; `words` is a constant at every caller. tests/target counts its instructions against
 * cost/budgets.json. Written so that the compiler needs few registers: both bounds are loaded
 * together, and one offset serves as bound, place and result. */
static inline __attribute__((always_inline)) void tare_put(uint32_t word, uint32_t first,
                                                           uint32_t second, uint32_t words)
{
    uint32_t state = tare_port_mask(); /* only now the core is certain */
    struct tare_ring *ring = TARE_HERE();
    tare_clock clock = tare_port_clock();
    uint32_t high = ring->high_here, limit = ring->limit, next, *at;

    if (TARE_UNLIKELY(clock >> TARE_STAMP_BITS != high)) {
        tare_port_unmask(state);
        tare_put_slow(word, first, second);
        return;
    }
    word = tare_port_stamp(word, clock);
    next = TARE_UP(ring)->write_offset + 4 * words;
    if (TARE_UNLIKELY(next > limit)) {
        tare_port_unmask(state);
        tare_put_slow(word, first, second);
        return;
    }
    at = TARE_WORDS_AT(ring, next) - words;
    at[0] = word;
    if (words > 1)
        at[1] = first;
    if (words > 2)
        at[2] = second;
    tare_port_publish(&TARE_UP(ring)->write_offset, next);
    tare_port_unmask(state);
}
