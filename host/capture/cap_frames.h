/* Frames and datagrams of a target (spec/FORMAT.md, section 9): from the bytes of a line or socket
 * to the STREAM chunks of a `.tare` file.
 *
 * Every byte may be hostile. A frame counts only with the right CRC; after damage reading goes on
 * behind the next zero byte. What is missing on the way is left out of the file, whose positions
 * then jump, so that every reader of the file sees the gap.
 */
#ifndef CAP_FRAMES_H
#define CAP_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_buffer.h"
#include "cap_container.h"

#define FRAME_HEADER_BYTES 12u
#define FRAME_CHECK_BYTES 4u
#define FRAME_KIND_WORDS 1u
/* Header, a block of 256 words, CRC; in a frame a byte more for every 254 and one at each end. */
#define FRAME_CONTENTS_LIMIT (FRAME_HEADER_BYTES + 1024u + FRAME_CHECK_BYTES)
#define FRAME_STUFFED_LIMIT (FRAME_CONTENTS_LIMIT + FRAME_CONTENTS_LIMIT / 254u + 1u)
#define DATAGRAM_MAGIC "Tdgm"
#define DATAGRAM_MAGIC_UNCHECKED "tDGM" /* has no CRC; one bad bit makes neither of the other */
#define DATAGRAM_LIMIT (4u + FRAME_CONTENTS_LIMIT)

/* ------------------------------------------------------------------ one frame */

struct frame {
    uint32_t session, stream, block_words;
    uint32_t sequence;          /* modulo 2^16, of the frames of this stream */
    uint32_t position;          /* index of the first word in the stream, modulo 2^32 */
    uint32_t count;             /* words, 1 to block_words */
    uint32_t crc;               /* of the frame, whether it was sent or not */
    const unsigned char *words; /* in the byte order of the target */
};

enum frame_verdict {
    FRAME_GOOD,
    FRAME_DAMAGED, /* no frame, or not as it was sent */
    FRAME_UNKNOWN  /* a whole frame of a kind that is not known here */
};

/* CRC-32C. */
uint32_t frame_crc(const unsigned char *bytes, size_t size);

/* Undoes the stuffing of what stood between two zero bytes. Returns the size of the contents at
 * `to` (at least `size` bytes of room); 0: not stuffed right. */
size_t frame_unstuff(unsigned char *to, const unsigned char *from, size_t size);

/* Contents are what is left of a frame without stuffing, of a datagram without magic. `checked`:
 * they end with a CRC. */
enum frame_verdict frame_parse(const unsigned char *contents, size_t size, bool checked,
                               struct frame *frame);

/* ------------------------------------------------------------------ a line or socket */

struct frame_counts {
    uint64_t bytes;         /* received */
    uint64_t frames, words; /* that went into the file */
    uint64_t damaged;       /* frames or datagrams */
    uint64_t damaged_bytes; /* of them; also text that was printed on the same line */
    uint64_t skipped_bytes; /* before the first zero byte: reading began within a frame */
    uint64_t unknown;       /* frames of other kinds */
    uint64_t lost_frames;   /* by their sequence numbers */
    uint64_t lost_words;    /* by their positions */
    uint64_t gaps;          /* places where words are missing */
    uint64_t repeated;      /* came twice; left out */
    uint64_t late;          /* came when they had been given up; left out, counted as lost */
    uint64_t restarts;      /* the target began anew with the same session number */
    uint64_t refused;       /* of streams beyond FRAME_STREAMS */
    uint32_t streams;
};

#define FRAME_STREAMS 256u        /* pairs of session and stream number; more are no target's */
#define FRAMES_WINDOW 64u         /* datagrams that are held while an earlier one is missing ... */
#define FRAMES_HOLD_NS 100000000u /* ... but no longer than this */
#define FRAMES_CHUNK_BYTES (64u << 10) /* words are kept until a chunk is worth its header ... */
#define FRAMES_CHUNK_NS 100000000u     /* ... but no longer than this */

struct frame_stream;

struct frames {
    struct container *container;
    uint32_t window; /* 0: frames come in the order in which they were sent */
    struct frame_stream **streams;
    struct frame_counts counts;
    uint32_t first_position; /* of the first frame that was taken; 0: nothing was missed */
    bool synchronised;       /* a zero byte was seen */
    bool warned_restart, warned_refused;
    bool overlong;    /* more bytes without a zero than a frame has */
    size_t raw_bytes; /* since the last zero byte, also those that `raw` has no room for */
    unsigned char raw[FRAME_STUFFED_LIMIT];
};

/* `window`: 0 for a line, FRAMES_WINDOW for datagrams. The container's session number is set to
 * that of each chunk. */
void frames_begin(struct frames *frames, struct container *container, uint32_t window);

/* Bytes of a line, as they come; `now_ns` is monotonic_ns(). */
void frames_take(struct frames *frames, const void *bytes, size_t size, uint64_t now_ns);

/* One datagram. False: it is none of ours, or damaged. */
bool frames_take_datagram(struct frames *frames, const void *bytes, size_t size, uint64_t now_ns);

/* Writes what has waited long enough, and gives up datagrams that have been missing too long. Call
 * it every 100 ms or so, when all that has come was taken: what is missing may be among it. */
void frames_flush(struct frames *frames, uint64_t now_ns);

/* Writes the rest and frees the memory; `counts` stay. A frame that was cut is damaged. */
void frames_end(struct frames *frames);

#endif
