/* Target: start, definitions, silence, commands and end. */

static int tare_started(void)
{
    return tare0[0].ring.state == TARE_RING_ACTIVE;
}

/* ------------------------------------------------------------------ definitions */

/* Ids by number of argument words, in the linker's order: link-time order, so the same every boot.
 */
static TARE_RARE void tare_give_all_ids(void)
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

/* Events come first: a definition is written only while an eighth of the ring stays free behind it,
 * if it is no longer than that allows in an empty ring, and whole, if no interrupt takes its room.
 * One that never fits is counted and passed over. */
static TARE_RARE int tare_define(struct tare_writer *writer, uint32_t event_class,
                                 uint32_t category, uint32_t id, const char *text)
{
    uint32_t length = tare_text_length(text, TARE_DEFINITION_LIMIT), at, words[2];
    uint32_t need = 12u * (1u + (length + 7u) / 8u) + 4u * TARE_ANCHOR_WORDS;
    uint32_t room = writer->block_end - TARE_UP(writer)->write_offset + tare_ahead(writer);

    need += need / (4u * TARE_BLOCK_WORDS) * 4u * (2u + TARE_ANCHOR_WORDS);
    need += 4u * TARE_BLOCK_WORDS + TARE_KEPT_BYTES;
    if (need > TARE_RING_BYTES) {
        writer->names_lost++;
        return 1;
    }
    if (need + TARE_RING_BYTES / 8u <= TARE_RING_BYTES)
        need += TARE_RING_BYTES / 8u;
    if (room < need || !tare_store(TARE_CLAIM_NOTE, TARE_WORD(TARE_ID_DEFINE),
                                   event_class << 24 | category << 16 | id, length))
        return 0;
    for (at = 0; at < length; at += 8) {
        tare_text_words(text, length, at, words);
        if (!tare_store(TARE_CLAIM_TEXT, TARE_WORD(TARE_ID_TEXT), words[0], words[1]))
            return 0;
    }
    return 1;
}

static void tare_note(struct tare_writer *writer, enum tare_id id, uint32_t first, uint32_t second)
{
    (void)writer;
    (void)tare_store(TARE_CLAIM_NOTE, TARE_WORD(id), first, second);
}

/* Writes the next definition, of a declaration or a kernel object: 0 when there was no room, or no
 * more. */
static TARE_RARE int tare_define_next(struct tare_writer *writer)
{
    uint32_t declared = (uint32_t)(__stop_tare_events - __start_tare_events);
    uint32_t number = writer->next_definition;

    if (number >= declared + TARE_OBJECTS)
        return 0;
    if (number == 0) /* a reader that comes late needs it as well */
        tare_note(writer, TARE_ID_CLOCK, (uint32_t)(TARE_CLOCK_HZ),
                  (uint32_t)((uint64_t)(TARE_CLOCK_HZ) >> 32));
#if TARE_OBJECTS > 0
    if (number >= declared) {
        if (!tare_define_object(writer, number - declared))
            return 0;
    } else
#endif
        if (tare_has_name(__start_tare_events + number) &&
            !tare_define_event(writer, __start_tare_events + number))
        return 0;
    writer->next_definition++;
    return 1;
}

/* ------------------------------------------------------------------ start */

static void tare_rewind(struct tare_writer *writer)
{
    TARE_UP(writer)->write_offset = TARE_UP(writer)->read_offset = 0;
    writer->block_end = writer->lap_index = 0;
    writer->dropped = writer->pending_dropped.count = 0;
    writer->limit = TARE_LOOK_AGAIN;
}

/* The id comes last, word by word from the end, so that a probe neither finds a half-built block
 * nor this constant in flash. */
static TARE_RARE void tare_announce(char *id, int is_rtt)
{
    static const uint32_t rtt[4] = {~0x47474553u, ~0x52205245u, ~0x00005454u, ~0u};
    static const uint32_t other[4] = {~0x45524154u, ~0x6E697220u, ~0x00000067u, ~0u};
    const uint32_t *words = is_rtt ? rtt : other;
    volatile uint32_t *at = (volatile uint32_t *)(void *)id;
    int i;

    for (i = 3; i >= 0; i--)
        tare_port_publish(at + i, ~words[i]);
}

/* The number of this start. Memory that no start-up code clears counts on through a reset; after
 * power-up any number is as good. */
static TARE_RARE uint32_t tare_session(void)
{
#ifdef TARE_SESSION
    return ((uint32_t)(TARE_SESSION)-1u) % 65535u + 1u; /* what an anchor has room for */
#else
    static uint32_t starts __attribute__((section(".noinit")));

    starts = (starts & 0xFFFFu) % 65535u + 1u;
    return starts;
#endif
}

static TARE_RARE void tare_set_up(struct tare_ring *ring, uint32_t core, uint32_t session)
{
    struct tare_channel *up = TARE_UP_OF_CORE(core);

    memset(ring, 0, sizeof(*ring));
    ring->up_channels = ring->down_channels = 1;
    up->name = ring->down.name = (uint32_t)(uintptr_t) "tare";
    up->buffer = (uint32_t)(uintptr_t)((struct tare_core *)(void *)ring)->words;
    up->bytes = 0; /* nothing to read yet, for a probe that knows this place from before a reset */
    up->flags = 0;
    if (up != &ring->up)
        ring->channel = (uint32_t)(uintptr_t)up;
#if TARE_COMMANDS
    ring->down.buffer = (uint32_t)(uintptr_t)ring->commands;
    ring->down.bytes = sizeof(ring->commands);
#endif
    ring->self = (uint32_t)(uintptr_t)ring;
    ring->version = TARE_FORMAT_VERSION;
    ring->block_words = TARE_BLOCK_WORDS;
    ring->session = session;
    ring->stream = core;
    ring->kind = TARE_RING_MIXED;
    ring->policy = TARE_FULL_POLICY == TARE_OVERWRITE ? TARE_FULL_OVERWRITE : TARE_FULL_DROP;
#if TARE_OBJECTS > 0
    ring->names = (uint32_t)(uintptr_t)tare_names;
    ring->name_count = TARE_OBJECTS;
    ring->name_bytes = TARE_NAME_BYTES;
#endif
    tare_rewind(ring);
}

/* Makes the rings visible. */
static TARE_RARE void tare_show(void)
{
    uint32_t core;

    for (core = 0; core < TARE_CORES; core++) {
        struct tare_channel *up = TARE_UP_OF_CORE(core);

        up->read_offset = 0; /* what such a probe may have left here */
        tare_port_publish((volatile uint32_t *)&up->bytes, TARE_RING_BYTES);
        tare0[core].ring.state = TARE_RING_ACTIVE;
        tare_announce(tare0[core].ring.id,
                      tare0[core].ring.channel == 0 && TARE_FULL_POLICY == TARE_DROP);
        tare_port_publish(&tare0[core].ring.magic, TARE_RING_MAGIC);
    }
#if TARE_CORES > 1 && !defined(TARE_RTT_CHANNEL)
    tare_rtt.up_channels = TARE_CORES;
    tare_rtt.down_channels = 1;
    tare_rtt.down = tare0[0].ring.down;
    tare_announce(tare_rtt.id, TARE_FULL_POLICY == TARE_DROP);
#endif
}

TARE_RARE int tare_start(void)
{
    struct tare_writer *writer = tare_writer_here();
    uint32_t core, session;
#if TARE_SELF_TEST
    uint32_t costs[3], arguments;
    int result;
#endif

    if (tare_started())
        return 0;
    session = tare_session();
    for (core = 0; core < TARE_CORES; core++) {
        tare_set_up(&tare0[core].ring, core, session);
        if (!tare_port_memory_is_seen(&tare0[core], sizeof(tare0[core])))
            return TARE_ERROR_CACHE;
    }
#if TARE_SELF_TEST
    result = tare_test_clock(writer);
    if (result != 0)
        return result;
    for (arguments = 0; arguments < 3; arguments++)
        costs[arguments] = tare_measure(writer, arguments);
#endif
    tare_give_all_ids();
#if TARE_SELF_TEST
    tare_define_costs(writer, costs);
#endif
    tare_show();
    while (tare_define_next(writer))
        ;
    tare_categories_on = TARE_CATEGORIES;
    return 0;
}

/* ------------------------------------------------------------------ silence */

#if TARE_COMMANDS

static TARE_RARE void tare_obey(uint32_t code, uint32_t argument)
{
    static uint32_t before_stop = TARE_CATEGORIES;

    switch (code) {
    case TARE_COMMAND_START:
        argument = before_stop;
        break;
    case TARE_COMMAND_STOP:
        before_stop = tare_categories_on ? tare_categories_on : before_stop;
        argument = 0;
        break;
    case TARE_COMMAND_FILTER:
        break;
    case TARE_COMMAND_NAMES:
        tare0[0].ring.next_definition = 0;
        return;
    default:
        return;
    }
    tare_switch(argument, ~argument);
}

/* Takes at most one command. The reader's offset is not trusted. */
static void tare_take_command(struct tare_ring *ring)
{
    const unsigned char *bytes = (const unsigned char *)ring->commands;
    uint32_t write = ring->down.write_offset, read = ring->down.read_offset;
    uint32_t words[2] = {0, 0}, check = 0, i;

    if (write >= sizeof(ring->commands) || write == read)
        return;
    /* The rest of what is no command goes at once: it would take the next one's room. */
    if (bytes[read % sizeof(ring->commands)] == TARE_COMMAND_MARK &&
        (write + sizeof(ring->commands) - read) % sizeof(ring->commands) < 8)
        return;
    for (i = 0; i < 8; i++) {
        uint32_t byte = bytes[(read + i) % sizeof(ring->commands)];

        words[i / 4] |= byte << 8 * (i % 4);
        check ^= byte;
    }
    if ((words[0] & 0xFF00FFu) == TARE_COMMAND_MARK && check == 0) {
        tare_obey(words[0] >> 8 & 0xFFu, words[1]);
        read += 7;
    }
    ring->down.read_offset = (read + 1) % sizeof(ring->commands);
}

#endif

/* Whether definitions may have been overwritten since this was asked last. */
static TARE_RARE int tare_lap_is_new(const struct tare_ring *ring)
{
#if TARE_FULL_POLICY == TARE_OVERWRITE
    static uint32_t last;
    uint32_t before = last;

    last = ring->lap_index;
    return last != before;
#else
    (void)ring;
    return 0;
#endif
}

TARE_RARE void tare_service(void)
{
    struct tare_ring *ring = tare_writer_here();

    if (!tare_started())
        return;
    (void)tare_keep_time();
    if (ring->stream != 0)
        return;
#if TARE_COMMANDS
    tare_take_command(ring);
#endif
#if TARE_OBJECTS > 0
    if (tare_define_fresh(ring))
        return;
#endif
    if (ring->next_definition < (uint32_t)(__stop_tare_events - __start_tare_events) + TARE_OBJECTS)
        (void)tare_define_next(ring);
    else if (++ring->service_calls >= TARE_NAME_PERIOD || tare_lap_is_new(ring))
        ring->next_definition = ring->service_calls = 0;
}

TARE_RARE void tare_tick(uint32_t count)
{
    static uint32_t told; /* at this high part of the time, whoever saw it change */
    struct tare_ring *ring = tare_writer_here();

    if (!tare_started())
        return;
    (void)tare_keep_time();
    if (ring->high[0] == told)
        return;
    told = ring->high[0];
    tare_note(ring, TARE_ID_TICK, count, 0);
}

/* ------------------------------------------------------------------ end */

TARE_RARE void tare_stop(void)
{
    uint32_t state;
    struct tare_ring *ring = tare_writer_here();

    tare_categories_on = 0;
    if (ring->state != TARE_RING_ACTIVE)
        return;
    (void)tare_store(TARE_CLAIM_END, TARE_WORD(TARE_ID_END), ring->dropped, 0);
    state = tare_port_mask();
    ring->state = TARE_RING_CLOSED;
    ring->limit = TARE_LOOK_AGAIN;
    tare_port_unmask(state);
}

TARE_RARE void tare_thread_name(const char *name)
{
    struct tare_ring *ring = tare_writer_here();

    if (ring->state == TARE_RING_ACTIVE &&
        !tare_define(ring, TARE_CLASS_STREAM, 0, ring->stream, name))
        ring->names_lost++;
}

TARE_RARE void tare_counts(struct tare_totals *counts)
{
    const struct tare_ring *ring = tare_writer_here();

    counts->words = ring->lap_index + TARE_UP(ring)->write_offset / 4;
    counts->dropped = ring->dropped;
    counts->suppressed = 0;
}

/* ------------------------------------------------------------------ for transports */

TARE_RARE struct tare_ring *tare_ring_of_core(uint32_t core)
{
    return &tare0[core].ring;
}

TARE_RARE struct tare_channel *tare_channel_of_core(uint32_t core)
{
    return TARE_UP_OF_CORE(core);
}
