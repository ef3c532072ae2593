/* The reader's part, done by the program that records, in the place of a debug probe: drain()
 * copies what is unread in the ring to COLLECTED, in memory that nothing else uses, and moves the
 * read offset. So the whole stream
 * is `collected` and then what is still in the ring. */
#ifndef TARGET_DRAIN_H
#define TARGET_DRAIN_H

#include "board.h"
#include "tare.h"

#define COLLECTED ((uint32_t *)((char *)board_data_begin + 0x400000u))
#define COLLECTED_WORDS 0x100000u

static struct tare_ring *ring;
static uint32_t collected_words;

static struct tare_ring *find_ring(void)
{
    uint32_t *word;

    for (word = board_data_begin; word < board_bss_end; word++) {
        struct tare_ring *found =
            (struct tare_ring *)((char *)word - offsetof(struct tare_ring, magic));

        if (*word == TARE_RING_MAGIC && found->self == (uint32_t)found)
            return found;
    }
    return NULL;
}

static void drain(void)
{
    const uint32_t *words = (const uint32_t *)ring->up.buffer;
    uint32_t write = ring->up.write_offset, read = ring->up.read_offset;

    while (read != write) {
        if (collected_words == COLLECTED_WORDS)
            board_exit(98);
        COLLECTED[collected_words++] = words[read / 4];
        read = read + 4 == ring->up.bytes ? 0 : read + 4;
    }
    ring->up.read_offset = read;
}

/* Words that are free in the present block; 0: the next record opens one. */
static uint32_t words_left(void)
{
    return (ring->block_words - ring->up.write_offset / 4) % ring->block_words;
}

/* The block of the ring that the write offset is in, from 0 on. */
static inline uint32_t present_block(void)
{
    return ring->up.write_offset / (4 * ring->block_words);
}

static uint32_t dropped_so_far(void)
{
    struct tare_totals totals;

    tare_counts(&totals);
    return totals.dropped;
}

static void print(const char *name, uint32_t number)
{
    board_print(name);
    board_print(" ");
    board_print_number(number);
    board_print("\n");
}

#endif
