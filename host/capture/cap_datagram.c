#include "cap_datagram.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base_buffer.h"

#define RECEIVE_BYTES (4 << 20) /* what the kernel is asked to keep while this program is away */
#define AT_ONCE 256             /* datagrams, before the caller looks after other things */

/* Splits PLACE into address and port; the default address is this machine alone. */
static bool split_place(const char *place, struct buffer *address, const char **port,
                        struct error *error)
{
    const char *colon = strrchr(place, ':');
    size_t length = colon != NULL ? (size_t)(colon - place) : 0;

    *port = colon != NULL ? colon + 1 : place;
    if (length > 1 && place[0] == '[' && place[length - 1] == ']')
        buffer_append(address, place + 1, length - 2);
    else if (memchr(place, ':', length) == NULL)
        buffer_append(address, place, length);
    else
        *port = "";
    if (length == 0)
        buffer_text(address, "127.0.0.1");
    if (**port == '\0' || strspn(*port, "0123456789") != strlen(*port) ||
        strtoul(*port, NULL, 10) > 65535) {
        error_set(error, EXIT_USAGE,
                  "udp:%s: give ADDRESS:PORT with a port from 0 to 65535, [ADDRESS]:PORT for IPv6, "
                  "or only :PORT to hear this machine alone",
                  place);
        return false;
    }
    return true;
}

static void note_port(struct datagrams *datagrams)
{
    struct sockaddr_storage own;
    socklen_t size = sizeof own;

    memset(&own, 0, sizeof own);
    getsockname(datagrams->file, (struct sockaddr *)&own, &size);
    datagrams->port = ntohs(own.ss_family == AF_INET6
                                ? ((const struct sockaddr_in6 *)(const void *)&own)->sin6_port
                                : ((const struct sockaddr_in *)(const void *)&own)->sin_port);
}

bool datagrams_open(struct datagrams *datagrams, const char *place, struct error *error)
{
    const struct addrinfo wanted = {.ai_family = AF_UNSPEC,
                                    .ai_socktype = SOCK_DGRAM,
                                    .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE};
    const int room = RECEIVE_BYTES;
    struct addrinfo *found = NULL;
    struct buffer address = {0};
    const char *port;
    int result;

    memset(datagrams, 0, sizeof *datagrams);
    datagrams->file = -1;
    if (!split_place(place, &address, &port, error)) {
        buffer_free(&address);
        return false;
    }
    result = getaddrinfo(address.data, port, &wanted, &found);
    buffer_free(&address);
    if (result != 0) {
        error_set(error, EXIT_USAGE,
                  "udp:%s: %s; give a numeric address of this machine, 0.0.0.0 for all of them",
                  place, gai_strerror(result));
        return false;
    }
    datagrams->file = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* Less than asked for is right too: what it cannot keep is seen as a gap. */
    if (datagrams->file >= 0)
        setsockopt(datagrams->file, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    if (datagrams->file < 0 || bind(datagrams->file, found->ai_addr, found->ai_addrlen) != 0) {
        error_set(error, EXIT_USAGE, "udp:%s: cannot listen: %s%s", place, strerror(errno),
                  errno == EADDRINUSE      ? "; another program has this port, take another one"
                  : errno == EADDRNOTAVAIL ? "; this machine has no such address"
                  : errno == EACCES        ? "; ports below 1024 need rights, take a higher one"
                                           : "");
        freeaddrinfo(found);
        datagrams_close(datagrams);
        return false;
    }
    freeaddrinfo(found);
    note_port(datagrams);
    return true;
}

/* The port may change when the target is started anew; the address tells targets apart. */
static bool same_address(const struct sockaddr_storage *one, const struct sockaddr_storage *other)
{
    if (one->ss_family != other->ss_family)
        return false;
    if (one->ss_family == AF_INET6)
        return memcmp(&((const struct sockaddr_in6 *)(const void *)one)->sin6_addr,
                      &((const struct sockaddr_in6 *)(const void *)other)->sin6_addr,
                      sizeof(struct in6_addr)) == 0;
    return ((const struct sockaddr_in *)(const void *)one)->sin_addr.s_addr ==
           ((const struct sockaddr_in *)(const void *)other)->sin_addr.s_addr;
}

static void refuse_stranger(struct datagrams *datagrams, const struct sockaddr_storage *from)
{
    char name[INET6_ADDRSTRLEN] = "?", target[INET6_ADDRSTRLEN] = "?";

    datagrams->strangers++;
    if (datagrams->warned_sender)
        return;
    datagrams->warned_sender = true;
    getnameinfo((const struct sockaddr *)from, sizeof *from, name, sizeof name, NULL, 0,
                NI_NUMERICHOST);
    getnameinfo((const struct sockaddr *)&datagrams->sender, sizeof datagrams->sender, target,
                sizeof target, NULL, 0, NI_NUMERICHOST);
    warn("datagrams from %s are left out: the target is %s, which was heard first", name, target);
}

bool datagrams_receive(struct datagrams *datagrams, struct frames *frames, uint64_t now_ns)
{
    unsigned char datagram[DATAGRAM_LIMIT + 1]; /* one more shows that it is too long */

    for (int i = 0; i < AT_ONCE; i++) {
        struct sockaddr_storage from;
        socklen_t from_size = sizeof from;
        ssize_t size;

        memset(&from, 0, sizeof from);
        size = recvfrom(datagrams->file, datagram, sizeof datagram, 0, (struct sockaddr *)&from,
                        &from_size);
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0)
            return true;
        if (datagrams->sender_known && !same_address(&datagrams->sender, &from)) {
            refuse_stranger(datagrams, &from);
        } else if (frames_take_datagram(frames, datagram, (size_t)size, now_ns) &&
                   !datagrams->sender_known) {
            datagrams->sender_known = true;
            datagrams->sender = from;
        }
    }
    return false;
}

void datagrams_close(struct datagrams *datagrams)
{
    if (datagrams->file >= 0)
        close(datagrams->file);
    datagrams->file = -1;
}
