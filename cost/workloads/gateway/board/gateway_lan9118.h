/* Driver of the board's network chip (LAN9118) for lwIP, with and without a kernel. */
#ifndef GATEWAY_LAN9118_H
#define GATEWAY_LAN9118_H

#include <stdint.h>

#include "lwip/netif.h"

/* One writer each. */
struct gateway_nic_counts {
    uint32_t interrupts;
    uint32_t frames_received;       /* whole, handed to lwIP */
    uint32_t frames_damaged;        /* the chip found an error */
    uint32_t frames_without_buffer; /* dropped: lwIP's pool was empty */
    uint32_t frames_refused;        /* dropped: lwIP's queue was full */
    uint32_t frames_sent;
};
extern struct gateway_nic_counts gateway_nic_counts;

/* For netif_add. Starts the chip; its interrupt then calls gateway_nic_interrupt. */
err_t gateway_nic_start(struct netif *interface);

/* The OS layer's: a frame has come. Until gateway_nic_drain the chip interrupts no more. */
void gateway_nic_interrupt(void);

/* Hands all frames of the chip to lwIP, then lets it interrupt again. Call it where lwIP may be
 * called: from a task, or from the loop. */
void gateway_nic_drain(struct netif *interface);

#endif
