/* Target: start, silence and end. */

static const struct tare_event
    *tare_next_definition; /* the next one to write; the end: all written */

static int tare_started(void)
{
    return tare_next_definition != NULL;
}

/* Ids by number of argument words, in the linker's order: link-time order, so the same every boot.
 */
static void tare_give_all_ids(void)
{
    uint32_t next[3] = {TARE_ID_FREE0, TARE_ID_FREE1, TARE_ID_FREE2};
    const struct tare_event *event;

    for (event = __start_tare_events; event < __stop_tare_events; event++) {
        uint32_t wanted = tare_ids_wanted(event);
        uint32_t id = next[event->arguments];

        if (wanted == 0 || id + wanted - 1 > tare_last_id[event->arguments])
            continue;
        tare_give_id(event, id);
        next[event->arguments] = id + wanted;
    }
}

/* Writes definitions as long as half of the ring is free, `most` at the most; events come first. */
static void tare_define_some(uint64_t time, uint32_t most)
{
    while (tare_next_definition < __stop_tare_events && most-- > 0 &&
           tare_room(&tare0.ring) > (int32_t)(TARE_RING_BYTES / 2)) {
        if (tare_has_name(tare_next_definition) &&
            !tare_define_event(&tare0.writer, time, tare_next_definition))
            return;
        tare_next_definition++;
    }
}

/* The id comes last, word by word from the end, so that a probe neither finds a half-built block
 * nor this constant in flash. */
static void tare_announce(struct tare_ring *ring)
{
    static const uint32_t id[4] = {~0x47474553u, ~0x52205245u, ~0x00005454u, ~0u};
    volatile uint32_t *at = (volatile uint32_t *)(void *)ring->id;
    int i;

    for (i = 3; i >= 0; i--)
        tare_port_publish(at + i, ~id[i]);
}

int tare_start(void)
{
    struct tare_ring *ring = &tare0.ring;
    struct tare_writer *writer = &tare0.writer;
    uint32_t costs[3], arguments;
    uint64_t time;
    int result;

    if (tare_started())
        return 0;
    ring->up_channels = 1;
    ring->up.name = (uint32_t)(uintptr_t) "tare";
    ring->up.buffer = (uint32_t)(uintptr_t)tare0.words;
    ring->up.bytes = TARE_RING_BYTES;
    ring->self = (uint32_t)(uintptr_t)ring;
    ring->version = TARE_FORMAT_VERSION;
    ring->block_words = TARE_BLOCK_WORDS;
    ring->session = ((uint32_t)(TARE_SESSION)-1u) % 65535u + 1u; /* what an anchor has room for */
    ring->kind = TARE_RING_MIXED;
    ring->state = TARE_RING_ACTIVE;
    writer->words = tare0.words;
    writer->ring = ring;
    writer->fast = ~0u;
    result = tare_test_clock(writer);
    if (result != 0)
        return result;
    for (arguments = 0; arguments < 3; arguments++)
        costs[arguments] = tare_measure(writer, arguments);
    tare_give_all_ids();
    ring->magic = TARE_RING_MAGIC;
    tare_announce(ring);

    time = tare_time(writer, tare_port_clock());
    tare_store(writer, ring, time, TARE_WORD(TARE_ID_CLOCK), (uint32_t)(TARE_CLOCK_HZ),
               (uint32_t)((uint64_t)(TARE_CLOCK_HZ) >> 32));
    tare_define_costs(writer, time, costs);
    tare_next_definition = __start_tare_events;
    tare_define_some(time, 0xFFFFFFFFu);
    tare_categories_on = TARE_CATEGORIES;
    return 0;
}

void tare_service(void)
{
    struct tare_writer *writer = tare_writer_here();
    struct tare_ring *ring;
    uint64_t time;
    TARE_LOCK(writer, ring);

    if (tare_started()) {
        time = tare_time(writer, tare_port_clock());
        if (tare_room(ring) >= (int32_t)(4u * (3u + TARE_AROUND_WORDS))) {
            tare_store_epoch(writer, ring, time);
            tare_define_some(time, 1);
            tare_set_limit(writer, ring);
        }
    }
    TARE_UNLOCK(writer, ring);
}

void tare_stop(void)
{
    struct tare_writer *writer = tare_writer_here();
    struct tare_ring *ring;

    tare_categories_on = 0;
    {
        TARE_LOCK(writer, ring);
        if (tare_started()) {
            tare_write_end(writer, ring, tare_time(writer, tare_port_clock()));
            ring->state = TARE_RING_CLOSED;
        }
        TARE_UNLOCK(writer, ring);
    }
}

void tare_thread_name(const char *name)
{
    struct tare_writer *writer = tare_writer_here();
    struct tare_ring *ring;
    TARE_LOCK(writer, ring);

    if (tare_started() && !tare_define(writer, tare_time(writer, tare_port_clock()),
                                       TARE_CLASS_STREAM, 0, ring->stream, name))
        ring->names_lost++;
    TARE_UNLOCK(writer, ring);
}

void tare_counts(struct tare_totals *counts)
{
    const struct tare_ring *ring = &tare0.ring;

    counts->words = ring->lap_index + ring->up.write_offset / 4;
    counts->dropped = ring->dropped;
    counts->suppressed = ring->suppressed;
}
