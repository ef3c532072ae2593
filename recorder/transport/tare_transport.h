/* How events leave a target when no probe reads its memory: as frames over a UART or any other way
 * for bytes, or as datagrams. Use: add transport/tare_transport.c to the build, then either
 *
 *     void uart_send(void *context, const unsigned char *bytes, uint32_t size);
 *     uint32_t uart_room(void *context);
 *     ...
 *     tare_frame_send(uart_send, uart_room, NULL);     in the idle loop, a task or the tick
 *
 * or, in the transmit interrupt, tare_frame_byte(), or, over lwIP or sockets,
 *
 *     uint32_t size = tare_datagram_next(datagram, sizeof(datagram));
 *     if (size > 0)
 *         send it to where `tare record udp:ADDRESS:PORT` listens
 *
 * The target is then the reader of its own ring: these calls move up.read_offset over what they
 * have put into a frame and touch nothing else, so they take no lock, mask nothing and never wait;
 * a record that is being written meanwhile comes with the next frame. What they need in turn: one
 * caller at a time (not a task and an interrupt both), and no probe that drains the same ring. A
 * ring that is overwritten (TARE_FULL_OVERWRITE) has no reader and gives no frames.
 *
 * How often to call: a frame takes 16 bytes beside its words, so the fewer the better. Calling when
 * the line has room is right by itself: the slower the line, the more words wait for the next
 * frame. The ring must hold what is recorded between two calls.
 *
 * spec/FORMAT.md, section 9, is the layout of both.
 */
#ifndef TARE_TRANSPORT_H
#define TARE_TRANSPORT_H

#include "../tare_conf.h"
#include "../tare_layout.h"

#ifndef TARE_CORES
#define TARE_CORES 1
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Buffers. More is never used; half of it is still good; the least takes a word. A frame holds
 * words of one block: with TARE_BLOCK_WORDS 64 no frame is longer than 276 bytes. */
#define TARE_FRAME_MOST 1051u
#define TARE_FRAME_LEAST 24u
#define TARE_DATAGRAM_MOST 1044u
#define TARE_DATAGRAM_LEAST 24u

/* RAM of the frame in transit that tare_frame_send and tare_frame_byte share. */
#ifndef TARE_FRAME_BYTES
#define TARE_FRAME_BYTES 288
#endif

/* Datagrams carry a CRC over what UDP's own sum covers already. 0 leaves it out: on a wired network
 * whose interface checks the sum. */
#ifndef TARE_DATAGRAM_CRC
#define TARE_DATAGRAM_CRC 1
#endif

#if TARE_ENABLED

/* Fills `frame` with the next frame of any core's ring. Returns its size in bytes, the zero at its
 * end included; 0: nothing is unread, or `capacity` is below TARE_FRAME_LEAST. What does not fit
 * stays for the next frame. What it costs: README.md. */
uint32_t tare_frame_next(void *frame, uint32_t capacity);

/* Gives `send` what is left of the frame in transit and then new frames, until nothing is unread or
 * `room` says 0. `room` tells how many bytes `send` takes now without waiting; NULL: any number,
 * for a `send` that buffers by itself or may wait. Returns the bytes given to `send`. */
uint32_t tare_frame_send(void (*send)(void *context, const unsigned char *bytes, uint32_t size),
                         uint32_t (*room)(void *context), void *context);

/* The next byte to transmit, 0 to 255, or -1: nothing is unread. For a transmit interrupt: at -1
 * switch it off, and on again now and then, from the tick for example. */
int32_t tare_frame_byte(void);

/* Takes one byte that was received: commands of the reader (start, stop, filter, names). Other
 * bytes may come in between; they are passed over. tare_service carries commands out. Returns 1
 * when this byte completed a command, 0 otherwise; a command that comes before the last one was
 * carried out is lost, and -1 returned. Any context, but one caller at a time. */
int32_t tare_frame_command(unsigned char byte);

/* Fills `datagram` (not aligned in any way) with the next words of any core's ring. Returns its
 * size in bytes; 0: nothing is unread, or `capacity` is below TARE_DATAGRAM_LEAST. The words count
 * as read: where sending fails, keep the datagram and send it again, or it is a gap. */
uint32_t tare_datagram_next(void *datagram, uint32_t capacity);

/* ------------------------------------------------------------------ one ring at a time
 * For a line of its own for each core, or more than one way out of the chip. */

/* All zero at first; belongs to one ring. */
struct tare_sender {
    uint32_t sequence; /* frames and datagrams made */
    uint32_t index;    /* index in the stream of the word that comes next */
};

/* Of tare.h. */
struct tare_ring *tare_ring_of_core(uint32_t core);
struct tare_channel *tare_channel_of_core(uint32_t core);

/* `channel`: the ring's own `up`, or the one in another RTT control block that it uses instead. */
uint32_t tare_sender_frame(struct tare_sender *sender, const struct tare_ring *ring,
                           struct tare_channel *channel, void *frame, uint32_t capacity);
uint32_t tare_sender_datagram(struct tare_sender *sender, const struct tare_ring *ring,
                              struct tare_channel *channel, void *datagram, uint32_t capacity);

#else

static inline uint32_t tare_frame_next(void *frame, uint32_t capacity)
{
    (void)frame;
    (void)capacity;
    return 0;
}

static inline uint32_t tare_frame_send(void (*send)(void *context, const unsigned char *bytes,
                                                    uint32_t size),
                                       uint32_t (*room)(void *context), void *context)
{
    (void)send;
    (void)room;
    (void)context;
    return 0;
}

static inline int32_t tare_frame_byte(void)
{
    return -1;
}

static inline int32_t tare_frame_command(unsigned char byte)
{
    (void)byte;
    return 0;
}

static inline uint32_t tare_datagram_next(void *datagram, uint32_t capacity)
{
    (void)datagram;
    (void)capacity;
    return 0;
}

#endif /* TARE_ENABLED */

#ifdef __cplusplus
}
#endif

#endif /* TARE_TRANSPORT_H */
