/* The rig's debug probe: reads the recorder's rings out of the board's memory while the board
 * stands still, perhaps no more than a real probe would fetch, and writes a recording that depends
 * on nothing but the run. */
#ifndef LOCKSTEP_PROBE_H
#define LOCKSTEP_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "cap_memory.h"
#include "lockstep_image.h"

struct rig_probe {
    bool open;
    uint64_t bytes_per_second; /* 0: no limit */
    uint64_t bytes_per_stop;   /* 0: no limit */
    uint64_t credit;           /* what may still be read, in 1e-9 bytes */
    uint64_t last_ns; /* of the stop before; 0 before the first, at which the probe begins */
    uint64_t bytes, stops, limited_stops; /* limited: bytes were left behind */
    uint32_t highest_fill, ring_bytes;    /* the most that was unread, and of how much */
    uint32_t restarts;
    uint64_t words_missed;
    struct container container;
    struct memory_reader reader;
};

/* `path` NULL: there is no probe, and every call below does nothing. */
bool rig_probe_open(struct rig_probe *probe, const char *path, const char *memory_path,
                    const struct firmware_image *image, struct error *error);

/* `now_ns`: time of the board. False when the recording cannot be written, or when the board's
 * control block is refused. */
bool rig_probe_drain(struct rig_probe *probe, uint64_t now_ns, struct error *error);

/* All that is left, without a limit: the board has ended. Then the recording is complete. */
bool rig_probe_finish(struct rig_probe *probe, uint64_t now_ns, struct error *error);

void rig_probe_close(struct rig_probe *probe);

#endif
