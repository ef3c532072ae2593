/* A target's memory as it is mapped here, and control blocks in it. Addresses are the target's;
 * places are offsets in the mapped memory. */
#ifndef CAP_MEMORY_MAP_H
#define CAP_MEMORY_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_error.h"
#include "cap_memory.h"
#include "tare_layout.h"

struct memory_map {
    const char *path; /* for messages */
    unsigned char *bytes;
    uint64_t size;
    const struct memory_segment *segments; /* with their place as position */
    size_t segment_count;
    bool base_given;
    uint32_t base;
};

/* One word, whole: the target may be writing at the same time. */
uint32_t map_load(const struct memory_map *map, uint64_t place, bool big_endian);
/* Stores `value` if `old` is still there. */
bool map_exchange(const struct memory_map *map, uint64_t place, bool big_endian, uint32_t old,
                  uint32_t value);
/* Behind all that was stored before. */
void map_store(const struct memory_map *map, uint64_t place, bool big_endian, uint32_t value);
void map_copy(const struct memory_map *map, uint64_t place, void *into, size_t size);

/* A control block as it is at the moment. */
struct block_view {
    uint64_t place;
    bool big_endian;
    struct tare_ring ring;  /* in this machine's byte order */
    struct tare_channel up; /* the up channel that counts */
    bool in_region;         /* of a Linux session, whose addresses are places in its region */
    bool steady;            /* write offset and lap index are of one moment */
    /* Where things are; valid once block_check() has passed. */
    uint64_t channel, buffer, names, down_buffer; /* names, down_buffer: 0: none */
    bool names_missing; /* it has a names table that is not in the memory, or cannot be one */
};

enum block_kind {
    BLOCK_NONE,       /* whatever this is, it is no control block of Tare's */
    BLOCK_UNFINISHED, /* its target is setting it up, or has not begun to */
    BLOCK_REFUSED,    /* it cannot be right: the error says which field */
    BLOCK_SOUND
};

/* Reads the block at `place` and checks every field; nothing of it is followed unchecked. The error
 * names block, field, value and what would be right; also for BLOCK_UNFINISHED. */
enum block_kind block_look(const struct memory_map *map, uint64_t place, struct block_view *view,
                           struct error *why);

/* The same words in the target's byte order, as a RING chunk keeps them. */
void block_verbatim(const struct tare_ring *ring, bool big_endian, unsigned char bytes[240]);

/* The anchor at `place`: false when there is none that can be right for this block. */
bool block_anchor(const struct memory_map *map, const struct block_view *view, uint64_t place,
                  uint32_t words[TARE_ANCHOR_WORDS]);

/* Where address is, with `bytes` bytes behind it; false: not all of it is in the memory. */
bool block_place(const struct memory_map *map, const struct block_view *view, uint32_t address,
                 uint64_t bytes, uint64_t *place);

/* Calls `found` with the place of everything that may be a control block: its magic is there, at
 * any alignment and in either byte order. Memory that was never written (a hole in the file) is
 * passed over. `skew` bytes in front of the mapped memory are mapped, too. */
void map_search(const struct memory_map *map, int file, uint64_t file_offset, size_t skew,
                void (*found)(void *context, uint64_t place), void *context);

#endif
