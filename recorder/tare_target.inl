/* Target without an operating system: one core, one ring, all of it in one static structure, so
 * that the fast path reaches everything from one address. */

static struct {
    struct tare_ring ring;
    struct tare_writer writer;
    uint32_t words[TARE_RING_BYTES / 4];
} tare0;

/* What the locked part of tare_put needs; interrupts are masked from here ... */
#define TARE_LOCK(writer, ring) \
    uint32_t tare_lock_state = tare_port_mask(); \
    ring = &tare0.ring
/* ... to here. */
#define TARE_UNLOCK(writer, ring) tare_port_unmask(tare_lock_state)

/* Nothing kills a record half-way here. */
#define TARE_NOTE_WRITING(ring, offset) ((void)0)

static inline struct tare_writer *tare_writer_here(void)
{
    return &tare0.writer;
}

static inline tare_clock tare_clock_here(const struct tare_writer *writer)
{
    (void)writer;
    return tare_port_clock();
}

/* Widens the clock. Sees each turn, because a turn changes the high part and that comes here; over
 * a silence of more than a turn tare_service keeps count. */
static uint64_t tare_time(struct tare_writer *writer, tare_clock clock)
{
    if (clock < writer->clock_last)
        writer->clock_turns++;
    writer->clock_last = clock;
    return (uint64_t)writer->clock_turns << 32 | clock;
}

/* The ring is never missing here. */
static inline void tare_put_unready(uint32_t word, uint32_t first, uint32_t second)
{
    (void)word;
    (void)first;
    (void)second;
}

/* Counters of the ring change with interrupts masked alone; small cores have nothing better. */
static inline void tare_count_one(uint32_t *counter)
{
    ++*counter;
}

static inline uint32_t tare_take_count(uint32_t *counter)
{
    uint32_t count = *counter;

    *counter = 0;
    return count;
}

static inline void tare_switch(uint32_t on, uint32_t off)
{
    uint32_t state = tare_port_mask();

    tare_categories_on = (tare_categories_on | on) & ~off;
    tare_port_unmask(state);
}
