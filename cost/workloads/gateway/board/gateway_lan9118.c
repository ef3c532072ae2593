#include "gateway_lan9118.h"

#include "gateway_board.h"
#include "lwip/etharp.h"
#include "lwip/pbuf.h"
#include "mps2_board.h"

#define REGISTER(offset) (*(volatile uint32_t *)(0x40200000u + (offset)))

#define RX_DATA REGISTER(0x00u)
#define TX_DATA REGISTER(0x20u)
#define RX_STATUS REGISTER(0x40u)
#define TX_STATUS REGISTER(0x48u)
#define INTERRUPT_CONFIGURATION REGISTER(0x54u)
#define INTERRUPT_STATUS REGISTER(0x58u)
#define INTERRUPT_ENABLE REGISTER(0x5Cu)
#define FIFO_LEVELS REGISTER(0x68u)
#define RX_CONFIGURATION REGISTER(0x6Cu)
#define TX_CONFIGURATION REGISTER(0x70u)
#define RX_FIFO REGISTER(0x7Cu)
#define TX_FIFO REGISTER(0x80u)
#define MAC_COMMAND REGISTER(0xA4u)
#define MAC_DATA REGISTER(0xA8u)

#define RX_STATUS_LEVEL (1u << 3) /* an entry has come into the status FIFO */
#define RX_ERROR (1u << 15)
#define RX_OFFSET 2u /* bytes before a frame: then the IP header stands at a multiple of 4 */
#define CHECKSUM_BYTES 4u
#define SHORTEST_FRAME (14u + CHECKSUM_BYTES)
#define LONGEST_FRAME 1518u
#define TX_FIRST_AND_LAST 0x3000u
#define TX_START_OFFSET (RX_OFFSET << 16)
#define NIC_INTERRUPT 13u

_Static_assert(ETH_PAD_SIZE == RX_OFFSET,
               "lwIP and the chip must agree on the bytes before a frame");

enum mac_register {
    MAC_CONTROL = 1,
    MAC_ADDRESS_HIGH = 2,
    MAC_ADDRESS_LOW = 3
};
#define MAC_RECEIVE_TRANSMIT_DUPLEX 0x0010000Cu

struct gateway_nic_counts gateway_nic_counts;

static void mac_write(enum mac_register number, uint32_t value)
{
    MAC_DATA = value;
    MAC_COMMAND = 0x80000000u | number;
}

static uint32_t mac_read(enum mac_register number)
{
    MAC_COMMAND = 0xC0000000u | number;
    return MAC_DATA;
}

void mps2_interrupt_13(void)
{
    INTERRUPT_ENABLE = 0;
    gateway_nic_counts.interrupts++;
    gateway_nic_interrupt();
}

static void skip_words(uint32_t words)
{
    while (words-- > 0)
        (void)RX_DATA;
}

static void take_frame(struct netif *interface)
{
    uint32_t status = RX_STATUS;
    uint32_t length = status >> 16 & 0x3FFFu;
    uint32_t words = (RX_OFFSET + length + 3) / 4;
    if (status & RX_ERROR || length < SHORTEST_FRAME || length > LONGEST_FRAME) {
        gateway_nic_counts.frames_damaged++;
        skip_words(words);
        return;
    }
    /* A frame longer than one buffer of the pool is none of ours. */
    struct pbuf *buffer = pbuf_alloc(PBUF_RAW, (uint16_t)(words * 4), PBUF_POOL);
    if (!buffer || buffer->next) {
        gateway_nic_counts.frames_without_buffer++;
        if (buffer)
            pbuf_free(buffer);
        skip_words(words);
        return;
    }
    uint32_t *to = buffer->payload;
    for (uint32_t i = 0; i < words; i++)
        to[i] = RX_DATA;
    pbuf_realloc(buffer, (uint16_t)(RX_OFFSET + length - CHECKSUM_BYTES));
    gateway_nic_counts.frames_received++;
    if (interface->input(buffer, interface) != ERR_OK) {
        gateway_nic_counts.frames_refused++;
        pbuf_free(buffer);
    }
}

void gateway_nic_drain(struct netif *interface)
{
    /* The chip raises this at the arrival of a frame only, so it must be cleared before the last
     * look, not after it. */
    INTERRUPT_STATUS = 0xFFFFFFFFu;
    while (RX_FIFO >> 16 & 0xFFu)
        take_frame(interface);
    INTERRUPT_ENABLE = RX_STATUS_LEVEL;
}

/* lwIP calls it from one place at a time. */
static err_t send_frame(struct netif *interface, struct pbuf *frame)
{
    static uint32_t words[(RX_OFFSET + LONGEST_FRAME + 3) / 4];
    (void)interface;
    uint32_t length = pbuf_copy_partial(frame, words, sizeof words, 0) - RX_OFFSET;
    TX_DATA = TX_START_OFFSET | TX_FIRST_AND_LAST | length;
    TX_DATA = gateway_nic_counts.frames_sent << 16 | length;
    for (uint32_t i = 0; i < (RX_OFFSET + length + 3) / 4; i++)
        TX_DATA = words[i];
    gateway_nic_counts.frames_sent++;
    while (TX_FIFO >> 16 & 0xFFu)
        (void)TX_STATUS;
    return ERR_OK;
}

err_t gateway_nic_start(struct netif *interface)
{
    uint32_t low = mac_read(MAC_ADDRESS_LOW), high = mac_read(MAC_ADDRESS_HIGH);
    interface->name[0] = 'e';
    interface->name[1] = '0';
    interface->output = etharp_output;
    interface->linkoutput = send_frame;
    interface->mtu = 1500;
    interface->hwaddr_len = 6;
    for (uint32_t i = 0; i < 4; i++)
        interface->hwaddr[i] = (uint8_t)(low >> (8 * i));
    interface->hwaddr[4] = (uint8_t)high;
    interface->hwaddr[5] = (uint8_t)(high >> 8);
    interface->flags = NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_LINK_UP;

    RX_CONFIGURATION = RX_OFFSET << 8;
    TX_CONFIGURATION = 2; /* transmitter on */
    FIFO_LEVELS = 0x48000000u;
    mac_write(MAC_CONTROL, MAC_RECEIVE_TRANSMIT_DUPLEX);
    INTERRUPT_CONFIGURATION = 0x111u; /* on, push-pull, active high */
    INTERRUPT_STATUS = 0xFFFFFFFFu;
    INTERRUPT_ENABLE = RX_STATUS_LEVEL;
    mps2_interrupt_enable(NIC_INTERRUPT, GATEWAY_LEVEL_NETWORK);
    return ERR_OK;
}
