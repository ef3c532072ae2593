/* From ring to frame: words of one block, a header, a CRC, and for byte lines COBS around them. */
#include "tare_transport.h"

#if TARE_ENABLED

#include <string.h>

#define TARE_HEADER_BYTES 12u
#define TARE_CRC_BYTES 4u
#define TARE_MAGIC_BYTES 4u /* of a datagram */

#define TARE_FRAME_WORDS 1u /* kind of a frame: words of a stream */

/* CRC-32C (Castagnoli), reflected polynomial 0x82F63B78, four bits at a time: the table of 64 bytes
 * makes it three times as fast as bit by bit; one of 1024 would double that. */
static uint32_t tare_crc(const unsigned char *bytes, uint32_t size)
{
    static const uint32_t part[16] = {0x00000000u, 0x105EC76Fu, 0x20BD8EDEu, 0x30E349B1u,
                                      0x417B1DBCu, 0x5125DAD3u, 0x61C69362u, 0x7198540Du,
                                      0x82F63B78u, 0x92A8FC17u, 0xA24BB5A6u, 0xB21572C9u,
                                      0xC38D26C4u, 0xD3D3E1ABu, 0xE330A81Au, 0xF36E6F75u};
    uint32_t crc = 0xFFFFFFFFu;

    while (size-- > 0) {
        crc ^= *bytes++;
        crc = crc >> 4 ^ part[crc & 15u];
        crc = crc >> 4 ^ part[crc & 15u];
    }
    return ~crc;
}

static unsigned char *tare_little(unsigned char *at, uint32_t value, uint32_t bytes)
{
    for (; bytes > 0; bytes--) {
        *at++ = (unsigned char)value;
        value >>= 8;
    }
    return at;
}

/* log2 of the block size in words; 0: no ring yet, or a stray write has hit it. */
static uint32_t tare_block_log(const struct tare_ring *ring)
{
    uint32_t log = 6;

    while (log <= 8 && ring->block_words != 1u << log)
        log++;
    return log <= 8 ? log : 0;
}

/* Bytes that are unread, as far as one frame may go: up to the end of the block. The end of the
 * ring is the end of a block too, so nothing wraps. A block begins with its whole anchor. */
static uint32_t tare_unread(const struct tare_ring *ring, const struct tare_channel *channel,
                            uint32_t read)
{
    uint32_t write = __atomic_load_n(&channel->write_offset, __ATOMIC_ACQUIRE);
    uint32_t size = channel->bytes, block = 4u * ring->block_words;
    uint32_t end = (read & ~(block - 1u)) + block, unread;

    if (ring->policy == TARE_FULL_OVERWRITE || ((read | write) & 3u) != 0 || read >= size ||
        write >= size || end > size)
        return 0;
    unread = (write >= read && write < end ? write : end) - read;
    return (read & (block - 1u)) == 0 && unread < 4u * TARE_ANCHOR_WORDS ? 0 : unread;
}

/* Index in the stream of the word at `read`. A block's anchor says it; within a block the sender
 * knows it, so that nothing depends on a writer who is about to begin a new lap. Only a sender that
 * is new to a ring in use must ask the ring. */
static uint32_t tare_index(const struct tare_sender *sender, const struct tare_ring *ring,
                           const struct tare_channel *channel, const uint32_t *words, uint32_t read)
{
    if ((read & (4u * ring->block_words - 1u)) == 0)
        return words[read / 4 + TARE_ANCHOR_INDEX];
    if (sender->sequence != 0)
        return sender->index;
    return ring->lap_index + read / 4 - (read > channel->write_offset ? channel->bytes / 4 : 0);
}

/* Header, words and CRC, at most `capacity` bytes at `to`; returns their size, 0: nothing. */
static uint32_t tare_contents(struct tare_sender *sender, const struct tare_ring *ring,
                              struct tare_channel *channel, unsigned char *to, uint32_t capacity,
                              uint32_t crc_bytes)
{
    const uint32_t *words = (const uint32_t *)(uintptr_t)channel->buffer;
    uint32_t read = channel->read_offset;
    uint32_t log = tare_block_log(ring), unread, size;
    unsigned char *at = to;

    if (log == 0)
        return 0;
    unread = tare_unread(ring, channel, read);
    size = (capacity - TARE_HEADER_BYTES - crc_bytes) & ~3u;
    if (size > unread)
        size = unread;
    if (size == 0)
        return 0;
    sender->index = tare_index(sender, ring, channel, words, read);
    *at++ = TARE_FRAME_WORDS;
    *at++ = (unsigned char)log;
    at = tare_little(at, sender->sequence++, 2);
    at = tare_little(at, ring->session, 2);
    at = tare_little(at, ring->stream, 2);
    at = tare_little(at, sender->index, 4);
    memcpy(at, words + read / 4, size);
    at += size;
    sender->index += size / 4;
    read += size;
    if (read == channel->bytes)
        read = 0;
    __atomic_store_n(&channel->read_offset, read, __ATOMIC_RELEASE);
    if (crc_bytes > 0)
        at = tare_little(at, tare_crc(to, (uint32_t)(at - to)), TARE_CRC_BYTES);
    return (uint32_t)(at - to);
}

/* Consistent overhead byte stuffing; `from` may be the end of what `to` begins. */
static uint32_t tare_stuff(unsigned char *to, const unsigned char *from, uint32_t size)
{
    unsigned char *code = to, *at = to + 1;

    for (; size > 0; size--) {
        unsigned char byte = *from++;

        if (byte != 0)
            *at++ = byte;
        if (byte == 0 || at - code == 255) {
            *code = (unsigned char)(at - code);
            code = at++;
        }
    }
    *code = (unsigned char)(at - code);
    *at++ = 0;
    return (uint32_t)(at - to);
}

uint32_t tare_sender_frame(struct tare_sender *sender, const struct tare_ring *ring,
                           struct tare_channel *channel, void *frame, uint32_t capacity)
{
    unsigned char *to = (unsigned char *)frame;
    /* `gap`: for two zeros and a code byte every 254; the contents move into it. 128 divides with
     * a shift. */
    uint32_t gap, size, first = sender->sequence == 0;

    if (capacity < TARE_FRAME_LEAST)
        return 0;
    if (capacity > TARE_FRAME_MOST)
        capacity = TARE_FRAME_MOST;
    gap = 3u + capacity / 128u;
    size = tare_contents(sender, ring, channel, to + gap, capacity - gap, TARE_CRC_BYTES);
    if (size == 0)
        return 0;
    if (first)
        *to = 0; /* ends what stood on the line before */
    return first + tare_stuff(to + first, to + gap, size);
}

uint32_t tare_sender_datagram(struct tare_sender *sender, const struct tare_ring *ring,
                              struct tare_channel *channel, void *datagram, uint32_t capacity)
{
#if TARE_DATAGRAM_CRC
    static const unsigned char magic[TARE_MAGIC_BYTES] = {'T', 'd', 'g', 'm'};
#else
    static const unsigned char magic[TARE_MAGIC_BYTES] = {'t', 'D', 'G', 'M'};
#endif
    unsigned char *to = (unsigned char *)datagram;
    uint32_t size;

    if (capacity < TARE_DATAGRAM_LEAST)
        return 0;
    size = tare_contents(sender, ring, channel, to + TARE_MAGIC_BYTES, capacity - TARE_MAGIC_BYTES,
                         TARE_DATAGRAM_CRC ? TARE_CRC_BYTES : 0u);
    if (size == 0)
        return 0;
    memcpy(to, magic, TARE_MAGIC_BYTES);
    return TARE_MAGIC_BYTES + size;
}

/* ------------------------------------------------------------------ all cores, one way out */

static struct tare_sender tare_senders[TARE_CORES];

typedef uint32_t tare_make(struct tare_sender *sender, const struct tare_ring *ring,
                           struct tare_channel *channel, void *to, uint32_t capacity);

/* Begins behind the core that was served last, so that a busy one does not starve the others. */
static uint32_t tare_next_of_any(tare_make *make, void *to, uint32_t capacity)
{
    static uint32_t core;
    uint32_t tries, size = 0;

    for (tries = 0; tries < TARE_CORES && size == 0; tries++) {
        core = core + 1 < TARE_CORES ? core + 1 : 0;
        size = make(&tare_senders[core], tare_ring_of_core(core), tare_channel_of_core(core), to,
                    capacity);
    }
    return size;
}

uint32_t tare_frame_next(void *frame, uint32_t capacity)
{
    return tare_next_of_any(tare_sender_frame, frame, capacity);
}

uint32_t tare_datagram_next(void *datagram, uint32_t capacity)
{
    return tare_next_of_any(tare_sender_datagram, datagram, capacity);
}

static struct {
    unsigned char bytes[TARE_FRAME_BYTES];
    uint32_t size, sent;
} tare_transit;

/* Bytes of the frame in transit that were not sent yet; a new frame when there are none. */
static uint32_t tare_transit_left(void)
{
    if (tare_transit.sent == tare_transit.size) {
        tare_transit.sent = 0;
        tare_transit.size = tare_frame_next(tare_transit.bytes, TARE_FRAME_BYTES);
    }
    return tare_transit.size - tare_transit.sent;
}

uint32_t tare_frame_send(void (*send)(void *context, const unsigned char *bytes, uint32_t size),
                         uint32_t (*room)(void *context), void *context)
{
    uint32_t total = 0, size, most;

    while ((size = tare_transit_left()) > 0) {
        most = room ? room(context) : size;
        if (most == 0)
            break;
        if (size > most)
            size = most;
        send(context, tare_transit.bytes + tare_transit.sent, size);
        tare_transit.sent += size;
        total += size;
    }
    return total;
}

int32_t tare_frame_byte(void)
{
    return tare_transit_left() > 0 ? tare_transit.bytes[tare_transit.sent++] : -1;
}

/* ------------------------------------------------------------------ commands */

#define TARE_COMMAND_BYTES 8u

/* Into the down channel, all or nothing; equal offsets mean empty, so one byte stays free. */
static int32_t tare_command_put(struct tare_channel *down, const unsigned char *command)
{
    unsigned char *buffer = (unsigned char *)(uintptr_t)down->buffer;
    uint32_t write = down->write_offset, size = down->bytes, i;
    uint32_t read = __atomic_load_n(&down->read_offset, __ATOMIC_ACQUIRE);

    if (write >= size || read >= size ||
        (read > write ? read - write : read + size - write) <= TARE_COMMAND_BYTES)
        return -1;
    for (i = 0; i < TARE_COMMAND_BYTES; i++) {
        buffer[write] = command[i];
        write = write + 1 < size ? write + 1 : 0;
    }
    __atomic_store_n(&down->write_offset, write, __ATOMIC_RELEASE);
    return 1;
}

int32_t tare_frame_command(unsigned char byte)
{
    static unsigned char last[TARE_COMMAND_BYTES];
    unsigned char fold = 0;
    int32_t result;
    uint32_t i;

    for (i = 0; i < TARE_COMMAND_BYTES; i++) {
        last[i] = i + 1 < TARE_COMMAND_BYTES ? last[i + 1] : byte;
        fold = (unsigned char)(fold ^ last[i]);
    }
    if (last[0] != TARE_COMMAND_MARK || last[1] == 0 || last[2] != 0 || fold != 0)
        return 0;
    result = tare_command_put(&tare_ring_of_core(0)->down, last);
    memset(last, 0, sizeof(last)); /* its bytes begin no other command */
    return result;
}

#endif /* TARE_ENABLED */
