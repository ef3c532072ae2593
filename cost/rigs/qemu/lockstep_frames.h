/* Ethernet frames between the harness, which plays one host, and the board's network controller:
 * IPv4 with UDP and its checksums, ARP requests and their answers. */
#ifndef LOCKSTEP_FRAMES_H
#define LOCKSTEP_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_LIMIT 1514u     /* bytes, without the check sequence */
#define FRAME_UDP_BYTES 1472u /* payload of one datagram */
#define BOARD_MAC_TEXT "52:54:00:12:34:56"

/* The addresses are those of QEMU's user network, so the same firmware runs on both: the host is
 * 10.0.2.2, the board 10.0.2.15. */

struct frame {
    size_t size;
    uint8_t bytes[FRAME_LIMIT];
};

/* A datagram from the host to a port of the board; `size` is at most FRAME_UDP_BYTES. */
void frame_udp(struct frame *frame, uint16_t from_port, uint16_t to_port, const void *payload,
               size_t size);

/* A frame to a group address that no board listens to: its controller drops it unseen. */
void frame_barrier(struct frame *frame);

enum frame_kind {
    FRAME_OTHER,   /* nothing that concerns the host */
    FRAME_UDP,     /* a datagram to the host: `from_port`, `payload`, `size` */
    FRAME_ANSWER,  /* the board tells its address */
    FRAME_REQUEST, /* somebody asks for the host's address: frame_answer() */
    FRAME_BAD      /* a length or checksum is wrong */
};

struct frame_content {
    enum frame_kind kind;
    uint16_t from_port, to_port;
    const uint8_t *payload;
    size_t size;
};

struct frame_content frame_read(const struct frame *frame);

/* Asks for the board's address, as every host does before it sends the first datagram; who is asked
 * learns the host's own. */
void frame_question(struct frame *frame);

/* The answer to a frame of kind FRAME_REQUEST. */
void frame_answer(struct frame *answer, const struct frame *request);

#endif
