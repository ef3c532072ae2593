/* All that a target must say: which clock, how fast it runs, and how much RAM the ring may take. */
#include "mps2_board.h"

#define TARE_CLOCK_READ MPS2_COUNTER
#define TARE_CLOCK_HZ MPS2_COUNTER_HZ
#define TARE_RING_BYTES 4096
