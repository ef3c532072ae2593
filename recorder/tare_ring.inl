/* From event to ring: what all writers share. The writer of a ring is one thread, or one core with
 * interrupts masked.
 *
 * The fast path (tare_put, of tare_thread.inl and of tare_target.inl) compares the write offset
 * against one cached `limit`: the end of the block, or the place up to which the reader has made
 * room, whichever is nearer. All else - new block, new high part of the time, loss, end of the ring
 * - is found by that comparison or by the one of the high part, and done out of line:
 * tare_slow_thread.inl, tare_slow_target.inl.
 */

#define TARE_UNLIKELY(condition) __builtin_expect((condition), 0)

#define TARE_WORD(id) ((uint32_t)(id) << TARE_STAMP_BITS)

/* Stores one event with all that must stand before it, or counts it as dropped. The stamp of `word`
 * has no meaning. Called last, so that the fast path needs no stack. */
static void tare_put_slow(uint32_t word, uint32_t first, uint32_t second);
