/* Recorder options of the programs in this folder. */
#include "mps2_board.h"

#define TARE_CLOCK_HZ MPS2_COUNTER_HZ
#define TARE_CLOCK_READ MPS2_COUNTER
#ifndef TARE_RING_BYTES
#define TARE_RING_BYTES 8192
#endif
#define TARE_CATEGORIES 0x00000001u
