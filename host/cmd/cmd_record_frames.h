/* The part of `tare record` that takes frames and datagrams of a target. */
#ifndef CMD_RECORD_FRAMES_H
#define CMD_RECORD_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#define FRAMES_NOT_GIVEN UINT64_MAX

struct frames_source {
    const char *place;   /* "udp:ADDRESS:PORT", or a line as cap_line.h has them */
    const char *output;  /* recording to write */
    uint32_t baud;       /* serial ports */
    uint64_t categories; /* that the target shall have on; FRAMES_NOT_GIVEN: as they are. These
                            two reach it over a serial port or TCP alone */
    bool names;          /* ask for all names, whether they were missed or not */
    int64_t limit_ns;    /* record no longer than this; 0: until the input ends or a signal comes */
    bool quiet;          /* no closing line */
};

/* Whether a place names a source that always carries frames. */
bool frames_place(const char *place);

/* Records until the input ends, or SIGINT, SIGTERM or SIGHUP comes. Says on stderr what went wrong,
 * and in the end what was recorded. Returns an exit code: EXIT_CANNOT_TELL when nothing at all was
 * received, EXIT_DAMAGED when what came held no frame. */
int record_frames(const struct frames_source *source);

#endif
