/* Linux: what the fast path leaves out. The thread is the only writer of its ring and nothing
 * disturbs it but its own signal handlers, which find it busy: no lock is needed. */

/* Words that tare_write may add around a record: an epoch, and twice a block's padding and anchor.
 */
#define TARE_AROUND_WORDS (3u + 2u * (2u + TARE_ANCHOR_WORDS))
/* These, one before them and an anchor fit a block of 64 words. */
#define TARE_MEASURE_EVENTS 16
#define TARE_LOSS_WORDS 6u /* LOSS_TIME and DROPPED or SUPPRESSED */

/* Bytes from the write offset to where the reader forbids, less the reserve; negative when the
 * reserve is touched. One word stays free, because equal offsets mean "empty". */
static int32_t tare_room(const struct tare_ring *ring)
{
    uint32_t read = __atomic_load_n(&ring->up.read_offset, __ATOMIC_ACQUIRE);
    uint32_t write = ring->up.write_offset;
    uint32_t used;

    if (read >= ring->up.bytes || read % 4 != 0) /* no reader's offset: take the ring as full */
        return -1;
    used = write >= read ? write - read : ring->up.bytes - read + write;
    return (int32_t)(ring->up.bytes - used - 4u) - (int32_t)(4u * TARE_RESERVE_WORDS);
}

static void tare_set_limit(struct tare_writer *writer, const struct tare_ring *ring)
{
    int32_t room = tare_room(ring);
    uint32_t allowed = ring->up.write_offset + (room > 0 ? (uint32_t)room : 0u);
    /* The fast path must not fill the last block to the brim: the offset would have to wrap. */
    uint32_t end = writer->block_end == ring->up.bytes ? ring->up.bytes - 4u : writer->block_end;

    writer->limit = (allowed < end ? allowed : end) & writer->fast;
}

static void tare_set_high(struct tare_writer *writer, uint64_t high)
{
    writer->high = high;
    writer->high_here = (tare_clock)high & (tare_clock)(~(tare_clock)0 >> TARE_STAMP_BITS);
}

/* Fills the present block and opens the next one with its anchor. */
static void tare_next_block(struct tare_writer *writer, struct tare_ring *ring, uint64_t time)
{
    uint32_t offset = ring->up.write_offset;
    uint32_t *anchor;

    for (; offset < writer->block_end; offset += 4)
        writer->words[offset / 4] = TARE_WORD(TARE_ID_PAD);
    if (offset == ring->up.bytes) {
        ring->lap_index += ring->up.bytes / 4;
        offset = 0;
    }
    anchor = writer->words + offset / 4;
    anchor[TARE_ANCHOR_FORM] = TARE_FORMAT_VERSION << 28 |
                               (uint32_t)__builtin_ctz(ring->block_words) << 24 |
                               ((uint32_t)(time >> 32) & 0xFFFFFFu);
    anchor[TARE_ANCHOR_STREAM] = ring->session << 16 | (ring->stream & 0xFFFFu);
    anchor[TARE_ANCHOR_LOW] = (uint32_t)time;
    anchor[TARE_ANCHOR_INDEX] = ring->lap_index + offset / 4;
    anchor[TARE_ANCHOR_DROPPED] = ring->dropped;
    anchor[TARE_ANCHOR_SYNC] = TARE_SYNC | tare_anchor_check(anchor);
    writer->block_end = offset + 4 * ring->block_words;
    tare_set_high(writer, time >> TARE_STAMP_BITS);
    tare_port_publish(&ring->up.write_offset, offset + 4 * TARE_ANCHOR_WORDS);
}

/* Stores one record; the caller has made sure of room. An offset that reaches the end of the ring
 * wraps at once, so that readers never see one equal to the size. */
static void tare_store(struct tare_writer *writer, struct tare_ring *ring, uint64_t time,
                       uint32_t word, uint32_t first, uint32_t second)
{
    uint32_t words = TARE_RECORD_WORDS(word >> TARE_STAMP_BITS);
    uint32_t offset, *at;

    if (ring->up.write_offset + 4 * words > writer->block_end)
        tare_next_block(writer, ring, time);
    offset = ring->up.write_offset;
    at = writer->words + offset / 4;
    at[0] = word | ((uint32_t)time & TARE_STAMP_MASK);
    if (words > 1)
        at[1] = first;
    if (words > 2)
        at[2] = second;
    offset += 4 * words;
    if (offset == ring->up.bytes) {
        ring->lap_index += ring->up.bytes / 4;
        writer->block_end = 0;
        offset = 0;
    }
    tare_port_publish(&ring->up.write_offset, offset);
}

/* Puts the new high part into the ring before the reader needs it; only then it is remembered.
 * Where the block has no room for the record, the next block's anchor says it instead. */
static void tare_store_epoch(struct tare_writer *writer, struct tare_ring *ring, uint64_t time)
{
    uint64_t high = time >> TARE_STAMP_BITS;
    uint64_t grown = high - writer->high; /* huge when the clock ran backwards */
    int wide = grown >= 0x10000u;

    if (writer->block_end == 0 || grown == 0)
        return; /* an anchor comes next, or nothing has changed */
    if (ring->up.write_offset + (wide ? 12u : 8u) > writer->block_end) {
        tare_next_block(writer, ring, time);
        return;
    }
    if (wide)
        tare_store(writer, ring, time, TARE_WORD(TARE_ID_EPOCH_WIDE), (uint32_t)time,
                   (uint32_t)(time >> 32));
    else
        tare_store(writer, ring, time, TARE_WORD(TARE_ID_EPOCH),
                   (uint32_t)(writer->high << 16) | (uint32_t)(high & 0xFFFFu), 0);
    tare_set_high(writer, high);
}

static void tare_count_loss(struct tare_loss *loss, uint64_t time)
{
    if (loss->count == 0) {
        loss->first_low = (uint32_t)time;
        loss->first_high = (uint32_t)(time >> 32);
    }
    loss->last_low = (uint32_t)time;
    loss->last_high = (uint32_t)(time >> 32);
    tare_count_one(&loss->count);
}

static void tare_store_loss(struct tare_writer *writer, struct tare_ring *ring, uint64_t time,
                            struct tare_loss *loss, enum tare_id id)
{
    uint64_t first = (uint64_t)loss->first_high << 32 | loss->first_low;
    uint64_t span = ((uint64_t)loss->last_high << 32 | loss->last_low) - first;
    uint32_t count = tare_take_count(&loss->count);

    tare_store(writer, ring, time, TARE_WORD(TARE_ID_LOSS_TIME), (uint32_t)first,
               (uint32_t)(first >> 32));
    tare_store(writer, ring, time, TARE_WORD(id), count,
               span > 0xFFFFFFFFu ? 0xFFFFFFFFu : (uint32_t)span);
}

static void tare_store_losses(struct tare_writer *writer, struct tare_ring *ring, uint64_t time)
{
    tare_store_epoch(writer, ring, time);
    if (TARE_UNLIKELY(ring->pending_dropped.count != 0))
        tare_store_loss(writer, ring, time, &ring->pending_dropped, TARE_ID_DROPPED);
    if (TARE_UNLIKELY(__atomic_load_n(&ring->pending_suppressed.count, __ATOMIC_RELAXED) != 0))
        tare_store_loss(writer, ring, time, &ring->pending_suppressed, TARE_ID_SUPPRESSED);
}

/* The slow path: stores one event with all that must stand before it, or counts it as dropped. */
static void tare_write(struct tare_writer *writer, struct tare_ring *ring, uint64_t time,
                       uint32_t word, uint32_t first, uint32_t second)
{
    uint32_t words = TARE_RECORD_WORDS(word >> TARE_STAMP_BITS);
    uint32_t need = 4 * (words + TARE_AROUND_WORDS + 2 * TARE_LOSS_WORDS);

    ring->dropped_before = ring->dropped;
    TARE_NOTE_WRITING(ring, ring->up.write_offset);
    if (tare_room(ring) < (int32_t)need) {
        ring->dropped++;
        tare_count_loss(&ring->pending_dropped, time);
        writer->limit = 0;
        return;
    }
    tare_store_losses(writer, ring, time);
    if (ring->up.write_offset + 4 * words > writer->block_end)
        tare_next_block(writer, ring, time);
    TARE_NOTE_WRITING(ring, ring->up.write_offset); /* all before the event itself has moved it */
    tare_store(writer, ring, time, word, first, second);
    tare_set_limit(writer, ring);
}

/* The last words of a stream: pending losses and the END record, out of the reserve if need be. */
static void tare_write_end(struct tare_writer *writer, struct tare_ring *ring, uint64_t time)
{
    if (tare_room(ring) + (int32_t)(4u * TARE_RESERVE_WORDS) <
        (int32_t)(4u * (3u + TARE_AROUND_WORDS + 2 * TARE_LOSS_WORDS)))
        return; /* only after a reader's offset that makes no sense */
    tare_store_losses(writer, ring, time);
    tare_store(writer, ring, time, TARE_WORD(TARE_ID_END), ring->dropped, ring->suppressed);
    writer->limit = 0;
}

static void __attribute__((noinline)) tare_put_slow(uint32_t word, uint32_t first, uint32_t second)
{
    struct tare_writer *writer = tare_writer_here();
    struct tare_ring *ring;
    TARE_LOCK(writer, ring);

    if (!ring) {
        tare_put_unready(word, first, second);
        return;
    }
    tare_write(writer, ring, tare_time(writer, tare_clock_here(writer)), word, first, second);
    TARE_UNLOCK(writer, ring);
}
