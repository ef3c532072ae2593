/* Target: what the fast path leaves out. Interrupts must not wait for it, so it is done in steps.
 * Each step masks interrupts, does the first thing that still stands between the record and the
 * ring - fills the block, opens the next one, tells the new high part of the time or a loss - and
 * unmasks. An interrupt between two steps finds the ring whole and goes on with the same steps.
 *
 * Room is looked for once a block: a block is opened only when all of it is free. While the next
 * one is not, the last words of this one are kept for the end of the recording.
 */

/* The end record (3 words) behind a loss (6) and a new time (3), and once more a loss and a time,
 * which a last event may bring with it. */
#define TARE_KEPT_BYTES (4u * (3u + 2u * 9u))

#define TARE_BLOCK_LOG2 (TARE_BLOCK_WORDS == 64 ? 6u : TARE_BLOCK_WORDS == 128 ? 7u : 8u)

/* These, one before them and an anchor fit what is not kept of a block of 64 words. */
#define TARE_MEASURE_EVENTS 8

/* Values of `limit` that no record fits below. */
enum {
    TARE_LOSS_DUE = 0,   /* a loss record comes first */
    TARE_LOSS_TIMED = 1, /* its LOSS_TIME is written, the rest comes next */
    TARE_LOOK_AGAIN = 2  /* nothing is due */
};

enum tare_claim {
    TARE_CLAIM_EVENT, /* counted when it is refused */
    TARE_CLAIM_NOTE,  /* the recorder's own: not counted */
    TARE_CLAIM_TEXT,  /* goes on with a text: the reader must see that the rest is missing */
    TARE_CLAIM_END    /* may take what is kept */
};

enum tare_step {
    TARE_STEP_MORE,
    TARE_STEP_STORED,
    TARE_STEP_REFUSED
};

/* Bytes from the end of the present block to the first one that the reader has not read. */
static uint32_t tare_ahead(const struct tare_ring *ring)
{
    const struct tare_channel *up = TARE_UP(ring);
    uint32_t read = __atomic_load_n(&up->read_offset, __ATOMIC_ACQUIRE);
    uint32_t ahead = read - ring->block_end;

    if (TARE_FULL_POLICY == TARE_OVERWRITE)
        return TARE_RING_BYTES;
    if (read >= TARE_RING_BYTES || read % 4 != 0) /* no reader's offset: take the ring as full */
        return 0;
    if (read < ring->block_end || (ahead == 0 && read == up->write_offset))
        ahead += TARE_RING_BYTES;
    return ahead;
}

/* Whether the next block is free. One that only just fits would make the ring look empty. */
static int tare_next_is_free(const struct tare_ring *ring)
{
    return tare_ahead(ring) > 4u * TARE_BLOCK_WORDS;
}

/* Lets the fast path go on as far as there is room. The last block is not filled to the brim there:
 * the offset would have to wrap. */
static void tare_look(struct tare_ring *ring)
{
    uint32_t state = tare_port_mask();
    uint32_t end = ring->block_end;

    if (ring->limit > TARE_LOSS_TIMED && end != 0 && ring->high[0] == ring->known) {
        if (!tare_next_is_free(ring))
            end -= TARE_KEPT_BYTES;
        else if (end == TARE_RING_BYTES)
            end -= 4u;
        ring->limit = end;
    }
    tare_port_unmask(state);
}

/* Moves the write offset. One that reaches the end of the ring wraps at once, so that readers never
 * see one equal to the size. */
static void tare_advance(struct tare_ring *ring, uint32_t offset)
{
    if (offset == TARE_RING_BYTES) {
        ring->lap_index += TARE_RING_BYTES / 4u;
        ring->block_end = 0;
        if (ring->limit > TARE_LOSS_TIMED)
            ring->limit = TARE_LOOK_AGAIN;
        offset = 0;
    }
    tare_port_publish(&TARE_UP(ring)->write_offset, offset);
}

/* Bits 32 and up of the time. */
static inline uint32_t tare_high_word(const struct tare_ring *ring)
{
    return ring->high[1] << TARE_STAMP_BITS | ring->high[0] >> (32 - TARE_STAMP_BITS);
}

static void tare_know_time(struct tare_ring *ring)
{
    ring->known = ring->high[0];
    ring->high_here = ring->high[0] & 0xFFFu;
}

/* Fills the rest of the block, one or two words. */
static void tare_fill_block(struct tare_ring *ring, uint32_t offset)
{
    for (; offset < ring->block_end; offset += 4)
        *TARE_WORDS_AT(ring, offset) = TARE_WORD(TARE_ID_PAD);
    tare_advance(ring, offset);
}

/* Opens the block at `offset` with its anchor. */
static void tare_open_block(struct tare_ring *ring, uint32_t offset, tare_clock clock)
{
    uint32_t *anchor = TARE_WORDS_AT(ring, offset);

    anchor[TARE_ANCHOR_FORM] =
        TARE_FORMAT_VERSION << 28 | TARE_BLOCK_LOG2 << 24 | (tare_high_word(ring) & 0xFFFFFFu);
    anchor[TARE_ANCHOR_STREAM] = ring->session << 16 | ring->stream;
    anchor[TARE_ANCHOR_LOW] = clock;
    anchor[TARE_ANCHOR_INDEX] = ring->lap_index + offset / 4;
    anchor[TARE_ANCHOR_DROPPED] = ring->dropped;
    anchor[TARE_ANCHOR_SYNC] = TARE_SYNC | tare_anchor_check(anchor);
    ring->block_end = offset + 4u * TARE_BLOCK_WORDS;
    tare_know_time(ring);
    tare_port_publish(&TARE_UP(ring)->write_offset, offset + 4u * TARE_ANCHOR_WORDS);
}

static void tare_count_dropped(struct tare_ring *ring, tare_clock clock)
{
    struct tare_loss *loss = &ring->pending_dropped;

    ring->dropped++;
    loss->last_low = clock;
    loss->last_high = tare_high_word(ring);
    if (loss->count++ == 0) {
        loss->first_low = loss->last_low;
        loss->first_high = loss->last_high;
    }
}

/* One record for the ring. */
struct tare_record {
    uint32_t word, first, second;
};

/* The record that must stand before `record`: a new time, or a loss. */
static int tare_take_due(struct tare_ring *ring, tare_clock clock, struct tare_record *record)
{
    struct tare_loss *loss = &ring->pending_dropped;
    uint32_t span = loss->last_low - loss->first_low;

    if (ring->high[0] != ring->known && ring->block_end != 0) {
        record->word = TARE_WORD(TARE_ID_EPOCH_WIDE);
        record->first = clock;
        record->second = tare_high_word(ring);
    } else if (ring->limit == TARE_LOSS_DUE && loss->count != 0) {
        record->word = TARE_WORD(TARE_ID_LOSS_TIME);
        record->first = loss->first_low;
        record->second = loss->first_high;
    } else if (ring->limit <= TARE_LOSS_TIMED) {
        record->word = TARE_WORD(TARE_ID_DROPPED);
        record->first = loss->count;
        record->second =
            loss->last_high - loss->first_high > (loss->last_low < loss->first_low) ? ~0u : span;
    } else {
        return 0;
    }
    return 1;
}

/* The same is in the ring now. */
static void tare_due_is_stored(struct tare_ring *ring, uint32_t word)
{
    if (word == TARE_WORD(TARE_ID_LOSS_TIME)) {
        ring->limit = TARE_LOSS_TIMED;
    } else if (word == TARE_WORD(TARE_ID_DROPPED)) {
        ring->pending_dropped.count = 0;
        ring->limit = TARE_LOOK_AGAIN;
    } else {
        tare_know_time(ring);
        if (ring->limit == TARE_LOSS_TIMED) /* a time between the two makes the first void */
            ring->limit = TARE_LOSS_DUE;
    }
}

/* Does the first thing that there is to do. */
static enum tare_step tare_step_masked(struct tare_ring *ring, enum tare_claim claim,
                                       const struct tare_record *wanted)
{
    tare_clock clock = tare_port_clock();
    struct tare_record record = *wanted;
    uint32_t offset = TARE_UP(ring)->write_offset, left = ring->block_end - offset;
    uint32_t *at = TARE_WORDS_AT(ring, offset), bytes;
    int due;

    tare_widen(ring, clock);
    bytes = 4u * TARE_RECORD_WORDS(record.word >> TARE_STAMP_BITS);
    if (left < bytes + TARE_KEPT_BYTES && claim != TARE_CLAIM_END && !tare_next_is_free(ring)) {
        if (claim != TARE_CLAIM_NOTE)
            ring->limit = TARE_LOSS_DUE;
        if (claim == TARE_CLAIM_EVENT)
            tare_count_dropped(ring, clock);
        return TARE_STEP_REFUSED;
    }
    due = tare_take_due(ring, clock, &record);
    bytes = 4u * TARE_RECORD_WORDS(record.word >> TARE_STAMP_BITS);
    if (left == 0 || ring->block_end == 0) {
        tare_open_block(ring, offset, clock);
        return TARE_STEP_MORE;
    }
    if (left < bytes) {
        tare_fill_block(ring, offset);
        return TARE_STEP_MORE;
    }
    at[0] = record.word | (clock & TARE_STAMP_MASK);
    if (bytes > 4)
        at[1] = record.first;
    if (bytes > 8)
        at[2] = record.second;
    if (due)
        tare_due_is_stored(ring, record.word);
    tare_advance(ring, offset + bytes);
    return due ? TARE_STEP_MORE : TARE_STEP_STORED;
}

/* Stores one record with all that must stand before it: 0 when there was no room. */
static TARE_RARE int __attribute__((noinline))
tare_store(enum tare_claim claim, uint32_t word, uint32_t first, uint32_t second)
{
    const struct tare_record record = {word & ~TARE_STAMP_MASK, first, second};
    enum tare_step step;
    struct tare_ring *ring;

    do {
        uint32_t state = tare_port_mask();

        ring = TARE_HERE();
        step = tare_step_masked(ring, claim, &record);
        tare_port_unmask(state);
    } while (step == TARE_STEP_MORE);
    tare_look(ring);
    return step == TARE_STEP_STORED;
}

static TARE_RARE void __attribute__((noinline))
tare_put_slow(uint32_t word, uint32_t first, uint32_t second)
{
    (void)tare_store(TARE_CLAIM_EVENT, word, first, second);
}
