/* Reads the rings of a target out of its memory while the target runs: the memory is a mapped file,
 * such as QEMU's memory-backend-file, or the image of a target that has stopped.
 *
 *     struct memory_reader reader;
 *     memory_open(&reader, &options, &container, &error);
 *     while (...) {
 *         memory_drain(&reader, limit_bytes, now_ns);      (attaches by itself)
 *         ...
 *     }
 *     memory_end(&reader);
 *     memory_close(&reader);
 *
 * The target is neither stopped nor trusted. Every field of a control block is checked, each time,
 * before a byte of the target's memory is written; what is written then is the read offset of a
 * ring, over words that are kept already, and commands. A block that is not sound is refused with
 * the field, its value and its place.
 *
 * A block that disappears, moves, or begins anew (reset, other firmware) ends its stream in the
 * recording; the next sound block begins one, normally with a session number of its own. Chunks
 * carry the session of the ring they come from, and the time container.arrival_ns when that is set:
 * then the file depends on the target's memory and on `now_ns` alone.
 *
 * For one thread. Both byte orders.
 */
#ifndef CAP_MEMORY_H
#define CAP_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_buffer.h"
#include "cap_container.h"
#include "tare_layout.h"

#define MEMORY_ADDRESSES 16u         /* at most: one for each core */
#define MEMORY_SCAN_NS 100000000u    /* pause between two searches of the whole memory */
#define MEMORY_SILENCE_NS 1000000000 /* without a new word: look whether the block has moved */
#define MEMORY_CHUNK_BYTES (64u << 10)
#define MEMORY_CHUNK_NS 100000000u /* words wait no longer than this for their chunk */

/* A part of the target's memory that lies in one piece in the file. */
struct memory_segment {
    uint64_t address;  /* of its first byte, as the target sees it */
    uint64_t position; /* of its first byte in the file */
    uint64_t bytes;
};

struct memory_options {
    const char *path;
    uint64_t offset; /* where the memory begins in the file */
    uint64_t bytes;  /* how much of it; 0: up to the end of the file */
    bool base_given; /* `base` is the address of the first byte; else the blocks' own address tells
                        it */
    uint32_t base;
    /* Addresses of control blocks, for example of the symbol tare0. None: the memory is searched,
     * at any alignment, and whatever is sound is read. With an address but no base a block is taken
     * if it says that it stands at this address. */
    uint32_t addresses[MEMORY_ADDRESSES];
    uint32_t sizes[MEMORY_ADDRESSES]; /* 0: exactly there; else anywhere in so many bytes */
    uint32_t address_count;
    /* Parts with addresses of their own (a core file); instead of `base`. Kept by the caller. */
    const struct memory_segment *segments;
    size_t segment_count;
    bool read_only; /* an image: nothing is written to it */
};

enum memory_state {
    MEMORY_NOTHING, /* no control block, or one that is not finished yet: look again */
    MEMORY_REFUSED, /* a block that cannot be: see `refusal` */
    MEMORY_ATTACHED /* at least one ring is being read */
};

/* What is known of one ring; private to the reader, but for reading. */
struct memory_ring {
    bool attached;
    bool big_endian;
    uint64_t place;         /* of the control block in the memory */
    struct tare_ring fixed; /* as it was when attached, in this machine's byte order */
    struct tare_ring last;  /* as it was behind the last words read */
    uint64_t position;      /* words of the stream that are read */
    uint32_t buffer, bytes; /* of the up channel that counts */
    uint32_t read_offset;   /* ours; the one in memory must stay equal to it */
    uint32_t unread;        /* bytes that were left there by the last look */
    uint64_t progress_ns;   /* when the last new word was seen */
    uint64_t waiting_since_ns;
    struct buffer waiting; /* words that are read but not in a chunk yet */
    uint64_t waiting_position;
    struct buffer table; /* payload of the NAMES chunk that was written last */
    bool told_names;     /* the user knows that the names table cannot be read */
    bool in_region;
};

struct memory_reader {
    struct memory_options options;
    struct container *container;
    int file;
    unsigned char *mapping; /* what is asked for begins `skew` bytes in */
    size_t mapping_bytes, skew;
    uint64_t size; /* bytes that are asked for */
    struct memory_ring *rings;
    uint32_t ring_count;
    uint32_t turn;        /* ring that is read first by the next call */
    unsigned char *piece; /* MEMORY_CHUNK_BYTES */
    bool scanned;
    uint64_t scanned_ns;
    struct error refusal; /* why the block found last cannot be read; EXIT_DONE: none was refused */
    struct error unfinished; /* what is there, but not to be read yet; no fault */

    /* For reports. Counts are totals over all sessions. */
    uint64_t words;         /* read */
    uint32_t streams;       /* attached to so far, restarts included */
    uint32_t late;          /* of them: whose first words were not there to be read any more */
    uint32_t restarts;      /* streams that ended because their block went away or began anew */
    uint64_t words_missed;  /* overwritten before they were read, or seen unread at a restart */
    uint64_t dropped;       /* events, as the targets count them, of streams that are done with */
    uint32_t highest_fill;  /* bytes, the most that was found unread */
    uint32_t highest_bytes; /* size of that ring */
};

/* Maps the memory. It needs no control block in it yet. EXIT_USAGE with the reason when the file
 * cannot be opened or mapped or is smaller than said. */
bool memory_open(struct memory_reader *reader, const struct memory_options *options,
                 struct container *container, struct error *error);

/* Looks for control blocks that are not being read yet. memory_drain() does this too. */
enum memory_state memory_find(struct memory_reader *reader, uint64_t now_ns);

/* Reads at most `limit_bytes` (UINT64_MAX: all) of words from all rings together and returns how
 * many bytes it read. `now_ns` is any clock that never runs backwards. Reads nothing, so that the
 * target counts its losses itself, once writing the recording has failed. */
uint64_t memory_drain(struct memory_reader *reader, uint64_t limit_bytes, uint64_t now_ns);

/* Whether all rings that are being read were stopped by their target and are empty; false when none
 * is. */
bool memory_finished(const struct memory_reader *reader);

/* Puts a command (struct tare_command) into the down channel of every ring. False: one of them has
 * no room at the moment, or no down channel ; those that had room have it.
 */
bool memory_command(struct memory_reader *reader, enum tare_command_code code, uint32_t argument);

/* Copies bytes of the memory; false: not all of them are in it. */
bool memory_bytes(const struct memory_reader *reader, uint64_t place, void *into, size_t size);

/* Writes what is waiting, and the last state of each ring. The container is not ended. */
void memory_end(struct memory_reader *reader);

void memory_close(struct memory_reader *reader);

#endif
