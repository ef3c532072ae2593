/* The part of `tare record` that reads a target's rings: out of its mapped memory, or from RTT
 * servers. */
#ifndef CMD_RECORD_TARGET_H
#define CMD_RECORD_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#define TARGET_NOT_GIVEN UINT64_MAX

struct target_source {
    char *const *places; /* one "mem:FILE", "mem:FILE@OFFSET", or any number of "tcp:HOST:PORT" */
    int place_count;
    const char *output;
    const char *elf;        /* the firmware; NULL: not given */
    uint64_t address, base; /* of the control block, of the memory; or TARGET_NOT_GIVEN */
    uint64_t categories;    /* that the target shall have on; or TARGET_NOT_GIVEN */
    int64_t poll_ns;        /* pause between two looks at a memory */
    int64_t limit_ns;       /* record no longer than this; 0: until a signal comes */
    int64_t wait_ns;        /* for the first control block or connection, and for lost ones */
    bool names;             /* ask for all names, whether they were missed or not */
    bool until_end, quiet;  /* until the target ends its recording; no closing line */
};

/* Whether a place names a target that is read raw. */
bool target_place(const char *place);

/* Records until SIGINT, SIGTERM or SIGHUP, the limit, or the end of the target's recording. Says on
 * stderr what went wrong, and in the end what was recorded. Returns an exit code: EXIT_CANNOT_TELL
 * when there was nothing to read, EXIT_DAMAGED when what was there had to be refused. */
int record_target(const struct target_source *source);

#endif
