/* From event to ring. The writer of a ring is one thread, or one core with interrupts masked.
 *
 * The fast path (tare_put) compares the write offset against one cached `limit`: the end of the
 * block, or the place up to which the reader has made room, whichever is nearer. All else - new
 * block, new high part of the time, loss, end of the ring - is found by that comparison or by the
 * one of the high part, and done out of line: tare_slow_thread.inl, tare_slow_target.inl.
 */

#define TARE_UNLIKELY(condition) __builtin_expect((condition), 0)

#define TARE_WORD(id) ((uint32_t)(id) << TARE_STAMP_BITS)

/* The port may have an instruction for it. The stamp of `word` is 0. */
#ifndef TARE_PORT_STAMP
static inline uint32_t tare_port_stamp(uint32_t word, uint32_t clock)
{
    return word | (clock & TARE_STAMP_MASK);
}
#endif

/* Stores one event with all that must stand before it, or counts it as dropped. The stamp of `word`
 * has no meaning. Called last, so that the fast path needs no stack. */
static void tare_put_slow(uint32_t word, uint32_t first, uint32_t second);

/* One event; `words` is a constant at every caller. tests/target counts its instructions against
 * cost/budgets.json. */
static inline __attribute__((always_inline)) void tare_put(uint32_t word, uint32_t first,
                                                           uint32_t second, uint32_t words)
{
    struct tare_writer *writer = tare_writer_here();
    struct tare_ring *ring;
    tare_clock clock, high;
    uint32_t offset, limit, *at;
    TARE_LOCK(writer, ring);

    if (TARE_UNLIKELY(!ring)) {
        tare_put_slow(word, first, second);
        return;
    }
    clock = tare_clock_here(writer);
    high = writer->high_here;
    limit = writer->limit;
    TARE_NOTE_WRITING(ring, TARE_UP(ring)->write_offset);
    if (TARE_UNLIKELY((clock >> TARE_STAMP_BITS) != high)) {
        TARE_UNLOCK(writer, ring);
        tare_put_slow(word, first, second);
        return;
    }
    word = tare_port_stamp(word, (uint32_t)clock);
    offset = TARE_UP(ring)->write_offset;
    if (TARE_UNLIKELY((int32_t)(limit - offset) < (int32_t)(4 * words))) {
        TARE_UNLOCK(writer, ring);
        tare_put_slow(word, first, second);
        return;
    }
    at = TARE_WORDS_AT(writer, offset);
    at[0] = word;
    if (words > 1)
        at[1] = first;
    if (words > 2)
        at[2] = second;
    tare_port_publish(&TARE_UP(ring)->write_offset, offset + 4 * words);
    TARE_UNLOCK(writer, ring);
}

void tare_put0(uint32_t word)
{
    tare_put(word, 0, 0, 1);
}

void tare_put1(uint32_t word, uint32_t first)
{
    tare_put(word, first, 0, 2);
}

void tare_put2(uint32_t word, uint32_t first, uint32_t second)
{
    tare_put(word, first, second, 3);
}
