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
    uint32_t write = up->write_offset, ahead;

    /* An interrupt may open a block here: an empty ring must not look full for it. */
    __atomic_signal_fence(__ATOMIC_ACQUIRE);
    ahead = read - ring->block_end;
    if (TARE_FULL_POLICY == TARE_OVERWRITE)
        return TARE_RING_BYTES;
    if (read >= TARE_RING_BYTES || read % 4 != 0) /* no reader's offset: take the ring as full */
        return 0;
    if (read < ring->block_end || (ahead == 0 && read == write))
        ahead += TARE_RING_BYTES;
    return ahead;
}

/* Whether the next block is free. One that only just fits would make the ring look empty. */
static int tare_next_is_free(const struct tare_ring *ring)
{
    return tare_ahead(ring) > 4u * TARE_BLOCK_WORDS;
}

/* Bits 32 and up of the time. */
static inline uint32_t tare_high_word(const struct tare_ring *ring)
{
    return ring->high[1] << TARE_STAMP_BITS | ring->high[0] >> (32 - TARE_STAMP_BITS);
}

/* One step as it is made ready with interrupts enabled: the words, and how the ring is afterwards.
 * It is valid as long as the ring is as it was: every change but those of the fast path counts
 * `steps`, and the fast path moves the offset. */
struct tare_plan {
    struct tare_ring *ring;
    uint32_t offset, steps, here; /* what it is made for; `here`: bits 20 to 31 of the time */
    uint32_t words;               /* 1 to 3 of a record, 6 of an anchor */
    uint32_t word[TARE_ANCHOR_WORDS];
    uint32_t next; /* write offset */
    uint32_t block_end, lap_index, limit, known, pending;
};

/* Reads what is there. Of an interrupt in between the steps tell. */
static TARE_RARE void tare_plan_begin(struct tare_plan *plan)
{
    struct tare_ring *ring = plan->ring = tare_writer_here();

    plan->steps = __atomic_load_n(&ring->steps, __ATOMIC_ACQUIRE);
    plan->offset = TARE_UP(ring)->write_offset;
    plan->here = ring->high[0] & 0xFFFu;
    plan->block_end = ring->block_end;
    plan->lap_index = ring->lap_index;
    plan->limit = ring->limit;
    plan->known = ring->known;
    plan->pending = ring->pending_dropped.count;
}

/* An offset that reaches the end of the ring wraps at once, so that readers never see one equal to
 * the size. */
static void tare_plan_end(struct tare_plan *plan, uint32_t next)
{
    if (next == TARE_RING_BYTES) {
        plan->lap_index += TARE_RING_BYTES / 4u;
        plan->block_end = 0;
        if (plan->limit > TARE_LOSS_TIMED)
            plan->limit = TARE_LOOK_AGAIN;
        next = 0;
    }
    plan->next = next;
}

/* One or two words that fill the block. */
static void tare_plan_filling(struct tare_plan *plan, uint32_t bytes)
{
    plan->words = bytes / 4u;
    plan->word[0] = plan->word[1] = TARE_WORD(TARE_ID_PAD);
    tare_plan_end(plan, plan->block_end);
}

/* The next block with its anchor. */
static TARE_RARE void tare_plan_anchor(struct tare_plan *plan)
{
    const struct tare_ring *ring = plan->ring;

    plan->words = TARE_ANCHOR_WORDS;
    plan->word[TARE_ANCHOR_SYNC] = TARE_SYNC;
    plan->word[TARE_ANCHOR_FORM] =
        TARE_FORMAT_VERSION << 28 | TARE_BLOCK_LOG2 << 24 | (tare_high_word(ring) & 0xFFFFFFu);
    plan->word[TARE_ANCHOR_STREAM] = ring->session << 16 | ring->stream;
    plan->word[TARE_ANCHOR_LOW] = 0;
    plan->word[TARE_ANCHOR_INDEX] = ring->lap_index + plan->offset / 4;
    plan->word[TARE_ANCHOR_DROPPED] = ring->dropped;
    plan->block_end = plan->offset + 4u * TARE_BLOCK_WORDS;
    plan->known = ring->high[0];
    plan->next = plan->offset + 4u * TARE_ANCHOR_WORDS;
}

/* Whether a new time or a loss must stand before all others. */
static int tare_is_due(const struct tare_plan *plan)
{
    return plan->limit <= TARE_LOSS_TIMED ||
           (plan->ring->high[0] != plan->known && plan->block_end != 0);
}

/* The record for that; 3 words. */
static TARE_RARE void tare_plan_due(struct tare_plan *plan)
{
    const struct tare_ring *ring = plan->ring;
    const struct tare_loss *loss = &ring->pending_dropped;
    uint32_t *word = plan->word;

    plan->words = 3;
    if (ring->high[0] != plan->known) {
        word[0] = TARE_WORD(TARE_ID_EPOCH_WIDE);
        word[1] = 0; /* the time at which it is stored */
        word[2] = tare_high_word(ring);
        plan->known = ring->high[0];
        if (plan->limit == TARE_LOSS_TIMED) /* a time between the two makes the first void */
            plan->limit = TARE_LOSS_DUE;
    } else if (plan->limit == TARE_LOSS_DUE && plan->pending != 0) {
        word[0] = TARE_WORD(TARE_ID_LOSS_TIME);
        word[1] = loss->first_low;
        word[2] = loss->first_high;
        plan->limit = TARE_LOSS_TIMED;
    } else {
        word[0] = TARE_WORD(TARE_ID_DROPPED);
        word[1] = plan->pending;
        word[2] = loss->last_high - loss->first_high > (loss->last_low < loss->first_low)
                      ? ~0u
                      : loss->last_low - loss->first_low;
        plan->pending = 0;
        plan->limit = TARE_LOOK_AGAIN;
    }
}

static inline __attribute__((always_inline)) int tare_plan_is_valid(const struct tare_plan *plan,
                                                                    tare_clock clock)
{
    const struct tare_ring *ring = plan->ring;

    return ring == TARE_HERE() && TARE_UP(ring)->write_offset == plan->offset &&
           ring->steps == plan->steps && clock >> TARE_STAMP_BITS == plan->here;
}

/* Makes the step, unless something has come in between. */
static TARE_RARE int tare_carry_out(const struct tare_plan *plan)
{
    struct tare_ring *ring = plan->ring;
    uint32_t *at = TARE_WORDS_AT(ring, plan->offset), fold = 0, i;
    uint32_t is_time = plan->word[0] == TARE_WORD(TARE_ID_EPOCH_WIDE), state;
    tare_clock clock;
    int valid;

    if (plan->words == TARE_ANCHOR_WORDS)
        for (i = 1; i < TARE_ANCHOR_WORDS; i++)
            fold ^= plan->word[i];
    state = tare_port_mask();
    clock = tare_port_clock();
    valid = tare_plan_is_valid(plan, clock);
    if (valid) {
        if (plan->words == TARE_ANCHOR_WORDS) {
            fold ^= clock;
            fold ^= fold >> 16;
            at[TARE_ANCHOR_FORM] = plan->word[TARE_ANCHOR_FORM];
            at[TARE_ANCHOR_STREAM] = plan->word[TARE_ANCHOR_STREAM];
            at[TARE_ANCHOR_LOW] = clock;
            at[TARE_ANCHOR_INDEX] = plan->word[TARE_ANCHOR_INDEX];
            at[TARE_ANCHOR_DROPPED] = plan->word[TARE_ANCHOR_DROPPED];
            at[TARE_ANCHOR_SYNC] = plan->word[TARE_ANCHOR_SYNC] | ((fold ^ fold >> 8) & 0xFFu);
        } else {
            at[0] = plan->word[0] == 0 ? 0 : tare_port_stamp(plan->word[0], clock);
            if (plan->words > 1)
                at[1] = is_time ? clock : plan->word[1];
            if (plan->words > 2)
                at[2] = plan->word[2];
        }
        ring->block_end = plan->block_end;
        ring->lap_index = plan->lap_index;
        ring->limit = plan->limit;
        ring->known = plan->known;
        ring->high_here = plan->known & 0xFFFu;
        ring->pending_dropped.count = plan->pending;
        ring->steps = plan->steps + 1;
        tare_port_publish(&TARE_UP(ring)->write_offset, plan->next);
    }
    tare_port_unmask(state);
    return valid;
}

/* Refuses a record, and counts it if it is an event. 0: the high part of the time is not known. */
static TARE_RARE int tare_refuse(enum tare_claim claim)
{
    uint32_t state = tare_port_mask();
    struct tare_ring *ring = TARE_HERE();
    struct tare_loss *loss = &ring->pending_dropped;
    tare_clock clock = tare_port_clock();
    int timely = clock >> TARE_STAMP_BITS == (ring->high[0] & 0xFFFu);

    if (timely) {
        if (claim == TARE_CLAIM_EVENT) {
            ring->dropped++;
            loss->last_low = clock;
            loss->last_high = tare_high_word(ring);
            if (loss->count++ == 0) {
                loss->first_low = clock;
                loss->first_high = loss->last_high;
            }
        }
        ring->limit = TARE_LOSS_DUE;
        ring->steps++;
    }
    tare_port_unmask(state);
    return timely;
}

/* Lets the fast path go on as far as there is room. The last block is not filled to the brim there:
 * the offset would have to wrap. */
static TARE_RARE void tare_look(void)
{
    struct tare_ring *ring = tare_writer_here();
    uint32_t steps = __atomic_load_n(&ring->steps, __ATOMIC_ACQUIRE), end = ring->block_end, state;

    if (ring->limit <= TARE_LOSS_TIMED || end == 0 || ring->high[0] != ring->known)
        return;
    if (!tare_next_is_free(ring))
        end -= TARE_KEPT_BYTES;
    else if (end == TARE_RING_BYTES)
        end -= 4u;
    state = tare_port_mask();
    if (ring == TARE_HERE() && ring->steps == steps)
        ring->limit = end;
    tare_port_unmask(state);
}

/* Widens the clock; 1 if the high part has changed. */
static TARE_RARE int tare_keep_time(void)
{
    uint32_t state = tare_port_mask(), old;
    struct tare_ring *ring = TARE_HERE();

    old = ring->high[0];
    tare_widen(ring, tare_port_clock());
    old ^= ring->high[0];
    if (old != 0) {
        ring->steps++;
        /* The fast path sees a part of the time only, which may look the same by chance. */
        if (ring->limit > TARE_LOSS_TIMED)
            ring->limit = TARE_LOOK_AGAIN;
    }
    tare_port_unmask(state);
    return old != 0;
}

/* Does the first thing that there is to do. */
static TARE_RARE enum tare_step tare_step(enum tare_claim claim, uint32_t word, uint32_t first,
                                          uint32_t second)
{
    struct tare_plan plan;
    uint32_t bytes = 4u * TARE_RECORD_WORDS(word >> TARE_STAMP_BITS), left;
    int due;

    tare_plan_begin(&plan);
    if (TARE_UNLIKELY(tare_port_clock() >> TARE_STAMP_BITS != plan.here)) {
        (void)tare_keep_time();
        return TARE_STEP_MORE;
    }
    left = plan.block_end - plan.offset;
    if (left < bytes + TARE_KEPT_BYTES && claim != TARE_CLAIM_END &&
        !tare_next_is_free(plan.ring)) {
        if (claim == TARE_CLAIM_NOTE)
            return TARE_STEP_REFUSED;
        return tare_refuse(claim) ? TARE_STEP_REFUSED : TARE_STEP_MORE;
    }
    due = tare_is_due(&plan);
    if (due)
        bytes = 12u;
    if (left == 0) {
        tare_plan_anchor(&plan);
        due = 1;
    } else if (left < bytes) {
        tare_plan_filling(&plan, left);
        due = 1;
    } else {
        plan.words = bytes / 4u;
        plan.word[0] = word;
        plan.word[1] = first;
        plan.word[2] = second;
        if (due)
            tare_plan_due(&plan);
        tare_plan_end(&plan, plan.offset + bytes);
    }
    return !tare_carry_out(&plan) || due ? TARE_STEP_MORE : TARE_STEP_STORED;
}

/* Stores one record with all that must stand before it: 0 when there was no room. */
static TARE_RARE int __attribute__((noinline))
tare_store(enum tare_claim claim, uint32_t word, uint32_t first, uint32_t second)
{
    enum tare_step step;

    do
        step = tare_step(claim, word, first, second);
    while (step == TARE_STEP_MORE);
    tare_look();
    return step == TARE_STEP_STORED;
}

static TARE_RARE void __attribute__((noinline))
tare_put_slow(uint32_t word, uint32_t first, uint32_t second)
{
    const struct tare_ring *ring = tare_writer_here();

    /* Losing is to cost little: no plan as long as nothing has changed. */
    if (ring->limit == TARE_LOSS_DUE && ring->pending_dropped.count != 0 &&
        !tare_next_is_free(ring) && tare_refuse(TARE_CLAIM_EVENT))
        return;
    (void)tare_store(TARE_CLAIM_EVENT, word & ~TARE_STAMP_MASK, first, second);
}
