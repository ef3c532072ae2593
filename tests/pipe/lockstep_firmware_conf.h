/* Options of the recorder in lockstep_firmware.c. */
#include "mps2_board.h"

#define TARE_CLOCK_READ MPS2_COUNTER
#define TARE_CLOCK_HZ MPS2_COUNTER_HZ
#ifndef TARE_RING_BYTES
#define TARE_RING_BYTES 4096
#endif
#define TARE_BLOCK_WORDS 64
