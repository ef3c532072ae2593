#include "lockstep_link.h"

#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base_progress.h"

#define DELIVERY_LIMIT_NS (10 * (uint64_t)NS_PER_SECOND)

static struct sockaddr_un address_of(const struct emulated_board *board, const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char *path = board_file(board, name);
    /* The folder's name is short by construction. */
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    free(path);
    return address;
}

static int bound_socket(const struct emulated_board *board, const char *name, int type,
                        struct error *error)
{
    struct sockaddr_un address = address_of(board, name);
    int made = socket(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (made >= 0 && bind(made, (const struct sockaddr *)&address, sizeof address) == 0)
        return made;
    error_set(error, EXIT_CANNOT_TELL, "cannot make the socket '%s': %s", address.sun_path,
              strerror(errno));
    if (made >= 0)
        close(made);
    return -1;
}

bool link_open(struct lockstep_link *link, struct emulated_board *board, const char *plugin_path,
               uint32_t stop_address, const char *ranges, struct error *error)
{
    *link = (struct lockstep_link){.board = board, .network = -1, .listener = -1, .plugin = -1};
    link->controller = address_of(board, "network");
    link->network = bound_socket(board, "host", SOCK_DGRAM, error);
    if (link->network < 0)
        return false;
    link->listener = bound_socket(board, "stop", SOCK_STREAM, error);
    if (link->listener < 0)
        return false;
    if (listen(link->listener, 1) != 0) {
        error_set(error, EXIT_CANNOT_TELL, "cannot listen for the plugin: %s", strerror(errno));
        return false;
    }
    board_argument(board, "-netdev");
    board_argument(board,
                   "dgram,id=n0,local.type=unix,local.path=%s/network,remote.type=unix,"
                   "remote.path=%s/host",
                   board->folder, board->folder);
    board_argument(board, "-net");
    board_argument(board, "nic,model=lan9118,netdev=n0,macaddr=" BOARD_MAC_TEXT);
    board_argument(board, "-plugin");
    board_argument(board, "%s,socket=%s/stop,stop=0x%x%s", plugin_path, board->folder, stop_address,
                   ranges);
    return true;
}

static void take_frames(struct lockstep_link *link)
{
    for (;;) {
        if (link->incoming_count == link->incoming_capacity) {
            link->incoming_capacity = link->incoming_capacity ? 2 * link->incoming_capacity : 64;
            link->incoming =
                memory_resize(link->incoming, link->incoming_capacity, sizeof link->incoming[0]);
        }
        struct frame *frame = &link->incoming[link->incoming_count];
        ssize_t got = recv(link->network, frame->bytes, sizeof frame->bytes, 0);
        if (got < 0)
            return;
        frame->size = (size_t)got;
        link->incoming_count++;
    }
}

/* One message, whole; false at the end of the line. */
static bool read_message(struct lockstep_link *link)
{
    struct lockstep_message message = {0};
    size_t have = 0;
    while (have < sizeof message) {
        ssize_t got = recv(link->plugin, (char *)&message + have, sizeof message - have, 0);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got <= 0)
            return false;
        have += (size_t)got;
    }
    link->counts = message;
    return true;
}

static enum link_event interrupted(struct error *error)
{
    error_set(error, EXIT_CANNOT_TELL, "stopped by a signal");
    return LINK_FAILED;
}

enum link_event link_wait(struct lockstep_link *link, uint64_t until_ns, struct error *error)
{
    struct emulated_board *board = link->board;
    for (;;) {
        struct pollfd lines[3] = {
            {.fd = link->plugin >= 0 ? link->plugin : link->listener, .events = POLLIN},
            {.fd = link->network, .events = POLLIN},
            {.fd = board->qemu.output, .events = POLLIN}};
        uint64_t now = monotonic_ns();
        if (board_interrupted)
            return interrupted(error);
        if (now >= until_ns) {
            board_explain(board, "the board did not come to its next stop in time", error);
            return LINK_FAILED;
        }
        uint64_t wait_ms = (until_ns - now) / 1000000u + 1;
        if (poll(lines, 3, wait_ms < 1000 ? (int)wait_ms : 1000) <= 0)
            continue;
        if (lines[1].revents)
            take_frames(link);
        if (lines[2].revents && !child_read(&board->qemu, error))
            return LINK_FAILED;
        if (board->qemu.output < 0)
            return LINK_ENDED;
        if (!lines[0].revents)
            continue;
        if (link->plugin < 0) {
            struct sockaddr_un peer;
            socklen_t size = sizeof peer;
            link->plugin = accept4(link->listener, (struct sockaddr *)&peer, &size, SOCK_CLOEXEC);
        } else if (!read_message(link) || link->counts.kind == LOCKSTEP_END) {
            return LINK_ENDED;
        } else {
            /* All that the board sent before its stop is in our queue by now. */
            take_frames(link);
            return LINK_STOP;
        }
    }
}

static bool put_frame(struct lockstep_link *link, const struct frame *frame, uint64_t until_ns)
{
    while (sendto(link->network, frame->bytes, frame->size, 0,
                  (const struct sockaddr *)&link->controller, sizeof link->controller) < 0) {
        if ((errno != EAGAIN && errno != EINTR && errno != ENOBUFS) || monotonic_ns() > until_ns)
            return false;
        sched_yield();
    }
    return true;
}

/* QEMU takes one frame, gives it to the controller, and only then takes the next. So when nothing
 * is left in our socket, the barrier was taken and the frame before it is where it should be. */
bool link_send(struct lockstep_link *link, const struct frame *frame, struct error *error)
{
    struct frame barrier;
    uint64_t until_ns = monotonic_ns() + DELIVERY_LIMIT_NS;
    int waiting = 1;
    frame_barrier(&barrier);
    if (!put_frame(link, frame, until_ns) || !put_frame(link, &barrier, until_ns)) {
        board_explain(link->board, "no frame goes into the board's network controller", error);
        return false;
    }
    while (ioctl(link->network, SIOCOUTQ, &waiting) == 0 && waiting > 0) {
        if (monotonic_ns() > until_ns || board_interrupted) {
            board_explain(link->board, "the board's network controller does not take a frame",
                          error);
            return false;
        }
        sched_yield();
    }
    return true;
}

bool link_go(struct lockstep_link *link, struct error *error)
{
    if (send(link->plugin, "g", 1, MSG_NOSIGNAL) == 1)
        return true;
    board_explain(link->board, "QEMU ended while the board stood still", error);
    return false;
}

void link_clear(struct lockstep_link *link)
{
    link->incoming_count = 0;
}

void link_close(struct lockstep_link *link)
{
    const int lines[] = {link->network, link->listener, link->plugin};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        if (lines[i] >= 0)
            close(lines[i]);
    }
    free(link->incoming);
    *link = (struct lockstep_link){.network = -1, .listener = -1, .plugin = -1};
}
