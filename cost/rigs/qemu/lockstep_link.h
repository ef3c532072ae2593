/* The two lines between the harness and an emulated board: frames to and from its network
 * controller, and the plugin that stops it. */
#ifndef LOCKSTEP_LINK_H
#define LOCKSTEP_LINK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/un.h>

#include "lockstep_frames.h"
#include "lockstep_qemu.h"
#include "lockstep_wire.h"

struct lockstep_link {
    struct emulated_board *board;
    int network;                   /* our end of the cable */
    struct sockaddr_un controller; /* the board's */
    int listener, plugin;
    struct frame *incoming; /* what the board has sent since link_clear(), in order */
    size_t incoming_count, incoming_capacity;
    struct lockstep_message counts; /* of the latest stop, or of the end */
};

/* Makes our ends, and the arguments that connect QEMU to them. `plugin_path` is the plugin's file,
 * `ranges` its arguments for ranges ("" or ",range0=..."). */
bool link_open(struct lockstep_link *link, struct emulated_board *board, const char *plugin_path,
               uint32_t stop_address, const char *ranges, struct error *error);

enum link_event {
    LINK_STOP,  /* the board stands still */
    LINK_ENDED, /* QEMU ended or is ending: board_finish() */
    LINK_FAILED /* `error` says why */
};

/* Takes what the board sends until it stops or ends. */
enum link_event link_wait(struct lockstep_link *link, uint64_t until_ns, struct error *error);

/* While the board stands still: puts a frame into its controller; back when it is there. */
bool link_send(struct lockstep_link *link, const struct frame *frame, struct error *error);

/* The board goes on. */
bool link_go(struct lockstep_link *link, struct error *error);

void link_clear(struct lockstep_link *link);
void link_close(struct lockstep_link *link);

#endif
