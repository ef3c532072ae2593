#include "lockstep_frames.h"

#include <string.h>

#define ETHERNET_BYTES 14u
#define IP_BYTES 20u
#define UDP_BYTES 8u
#define ARP_BYTES 28u
#define SHORTEST_FRAME 60u

#define TYPE_IP 0x0800u
#define TYPE_ARP 0x0806u
#define PROTOCOL_UDP 17u
#define ARP_REQUEST 1u
#define ARP_ANSWER 2u

static const uint8_t host_mac[6] = {0x52, 0x55, 0x0A, 0x00, 0x02, 0x02};
static const uint8_t board_mac[6] = {0x52, 0x54, 0x00, 0x12, 0x34, 0x56}; /* BOARD_MAC_TEXT */
static const uint8_t group_mac[6] = {0x01, 0x55, 0xAA, 0xBB, 0xCC, 0xDD};
static const uint8_t host_ip[4] = {10, 0, 2, 2};
static const uint8_t board_ip[4] = {10, 0, 2, 15};

static void put16(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static uint32_t get16(const uint8_t *at)
{
    return (uint32_t)at[0] << 8 | at[1];
}

/* The sum of 16-bit words, as the checksums of IP and UDP take it, on top of `sum`. */
static uint32_t add_words(uint32_t sum, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i + 1 < size; i += 2)
        sum += get16(bytes + i);
    return size % 2 ? sum + ((uint32_t)bytes[size - 1] << 8) : sum;
}

static uint32_t checksum(uint32_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xFFFF) + (sum >> 16);
    return ~sum & 0xFFFF;
}

/* Over the addresses, the protocol and the length, then the datagram with its own field. */
static uint32_t udp_checksum(const uint8_t *ip, const uint8_t *udp, size_t size)
{
    return checksum(add_words(add_words(PROTOCOL_UDP + (uint32_t)size, ip + 12, 8), udp, size));
}

static uint8_t *begin_frame(struct frame *frame, const uint8_t *to, uint32_t type)
{
    memset(frame->bytes, 0, sizeof frame->bytes);
    memcpy(frame->bytes, to, 6);
    memcpy(frame->bytes + 6, host_mac, 6);
    put16(frame->bytes + 12, type);
    return frame->bytes + ETHERNET_BYTES;
}

static void end_frame(struct frame *frame, size_t size)
{
    frame->size = size < SHORTEST_FRAME ? SHORTEST_FRAME : size;
}

void frame_udp(struct frame *frame, uint16_t from_port, uint16_t to_port, const void *payload,
               size_t size)
{
    uint8_t *ip = begin_frame(frame, board_mac, TYPE_IP);
    uint8_t *udp = ip + IP_BYTES;
    size_t datagram = UDP_BYTES + size;
    ip[0] = 0x45;
    put16(ip + 2, (uint32_t)(IP_BYTES + datagram));
    ip[8] = 64; /* time to live */
    ip[9] = PROTOCOL_UDP;
    memcpy(ip + 12, host_ip, 4);
    memcpy(ip + 16, board_ip, 4);
    put16(ip + 10, checksum(add_words(0, ip, IP_BYTES)));
    put16(udp, from_port);
    put16(udp + 2, to_port);
    put16(udp + 4, (uint32_t)datagram);
    memcpy(udp + UDP_BYTES, payload, size);
    uint32_t sum = udp_checksum(ip, udp, datagram);
    put16(udp + 6, sum ? sum : 0xFFFF); /* 0 would mean: no checksum */
    end_frame(frame, ETHERNET_BYTES + IP_BYTES + datagram);
}

void frame_barrier(struct frame *frame)
{
    begin_frame(frame, group_mac, 0x88B5 /* for local experiments */);
    end_frame(frame, SHORTEST_FRAME);
}

static struct frame_content read_ip(const uint8_t *ip, size_t size)
{
    const struct frame_content bad = {.kind = FRAME_BAD};
    struct frame_content content = {.kind = FRAME_OTHER};
    if (size < IP_BYTES || ip[0] != 0x45)
        return content;
    size_t whole = get16(ip + 2);
    if (whole < IP_BYTES || whole > size || checksum(add_words(0, ip, IP_BYTES)) != 0)
        return bad;
    if (ip[9] != PROTOCOL_UDP || memcmp(ip + 16, host_ip, 4) != 0)
        return content;
    const uint8_t *udp = ip + IP_BYTES;
    size_t datagram = whole - IP_BYTES;
    if (datagram < UDP_BYTES || get16(udp + 4) != datagram ||
        (get16(udp + 6) != 0 && udp_checksum(ip, udp, datagram) != 0))
        return bad;
    return (struct frame_content){.kind = FRAME_UDP,
                                  .from_port = (uint16_t)get16(udp),
                                  .to_port = (uint16_t)get16(udp + 2),
                                  .payload = udp + UDP_BYTES,
                                  .size = datagram - UDP_BYTES};
}

struct frame_content frame_read(const struct frame *frame)
{
    struct frame_content content = {.kind = FRAME_OTHER};
    const uint8_t *inside = frame->bytes + ETHERNET_BYTES;
    if (frame->size < ETHERNET_BYTES)
        return (struct frame_content){.kind = FRAME_BAD};
    uint32_t type = get16(frame->bytes + 12);
    if (type == TYPE_IP)
        return read_ip(inside, frame->size - ETHERNET_BYTES);
    if (type != TYPE_ARP || frame->size < ETHERNET_BYTES + ARP_BYTES ||
        memcmp(inside + 24, host_ip, 4) != 0)
        return content;
    if (get16(inside + 6) == ARP_REQUEST)
        content.kind = FRAME_REQUEST;
    else if (get16(inside + 6) == ARP_ANSWER && memcmp(inside + 8, board_mac, 6) == 0)
        content.kind = FRAME_ANSWER;
    return content;
}

void frame_question(struct frame *frame)
{
    static const uint8_t everybody[6] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    static const uint8_t kinds[6] = {0, 1, 0x08, 0, 6, 4}; /* Ethernet, IP, sizes of addresses */
    uint8_t *arp = begin_frame(frame, everybody, TYPE_ARP);
    memcpy(arp, kinds, sizeof kinds);
    put16(arp + 6, ARP_REQUEST);
    memcpy(arp + 8, host_mac, 6);
    memcpy(arp + 14, host_ip, 4);
    memcpy(arp + 24, board_ip, 4);
    end_frame(frame, ETHERNET_BYTES + ARP_BYTES);
}

void frame_answer(struct frame *answer, const struct frame *request)
{
    const uint8_t *asked = request->bytes + ETHERNET_BYTES;
    uint8_t *arp = begin_frame(answer, request->bytes + 6, TYPE_ARP);
    memcpy(arp, asked, 6); /* Ethernet, IP and the sizes of their addresses */
    put16(arp + 6, ARP_ANSWER);
    memcpy(arp + 8, host_mac, 6);
    memcpy(arp + 14, host_ip, 4);
    memcpy(arp + 18, asked + 8, 10); /* whoever asked */
    end_frame(answer, ETHERNET_BYTES + ARP_BYTES);
}
