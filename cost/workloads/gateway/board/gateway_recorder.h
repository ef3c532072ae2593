/* What an arm's recorder may tell the program around the application. Every function has a default
 * that does nothing; an arm replaces those that it needs. */
#ifndef GATEWAY_RECORDER_H
#define GATEWAY_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

/* Before the kernel starts, so that no task is missed. */
void gateway_recorder_start(void);

/* After the stop command and the last replies. */
void gateway_recorder_stop(void);

struct gateway_recorder_counts {
    uint32_t bytes;             /* written by the recorder, modulo 2^32 */
    uint32_t dropped_events;    /* for want of room */
    uint32_t suppressed_events; /* for any other reason */
};

/* False: this arm has no recorder. */
bool gateway_recorder_counts(struct gateway_recorder_counts *counts);

#endif
