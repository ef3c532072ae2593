/* Receives a target's datagrams (spec/FORMAT.md, section 9) on a UDP port of this machine. */
#ifndef CAP_DATAGRAM_H
#define CAP_DATAGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base_error.h"
#include "cap_frames.h"

struct datagrams {
    int file;          /* to poll for reading; -1: closed */
    uint32_t port;     /* that it listens on */
    bool sender_known; /* the address that the first good datagram came from: the target */
    bool warned_sender;
    uint64_t strangers; /* datagrams from other addresses; left out */
    struct sockaddr_storage sender;
};

/* Binds to PLACE: "ADDRESS:PORT", "[ADDRESS]:PORT" for IPv6, or ":PORT" or "PORT" for this machine
 * alone (127.0.0.1). The address is a numeric one of this machine; 0.0.0.0 hears all networks. Port
 * 0 takes any that is free. On failure EXIT_USAGE with the reason. */
bool datagrams_open(struct datagrams *datagrams, const char *place, struct error *error);

/* Takes datagrams that have come, without waiting. False: there are more. */
bool datagrams_receive(struct datagrams *datagrams, struct frames *frames, uint64_t now_ns);

void datagrams_close(struct datagrams *datagrams);

#endif
