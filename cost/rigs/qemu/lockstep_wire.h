/* What the plugin inside QEMU says to the harness at every stop; both are built together. */
#ifndef LOCKSTEP_WIRE_H
#define LOCKSTEP_WIRE_H

#include <stdint.h>

#define LOCKSTEP_RANGES 8 /* groups of functions whose instructions are counted apart */

enum lockstep_kind {
    LOCKSTEP_STOP = 1, /* the board stands still until one byte comes back */
    LOCKSTEP_END = 2   /* the board has ended; nothing is expected */
};

/* Counts since the start of the board, without the instruction at the stop itself. */
struct lockstep_message {
    uint64_t kind;
    uint64_t instructions;
    uint64_t range_instructions[LOCKSTEP_RANGES];
    uint64_t range_entries[LOCKSTEP_RANGES]; /* how often a first instruction of the group ran */
};

#endif
