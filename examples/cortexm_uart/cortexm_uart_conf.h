/* Which clock, how fast it runs, and how much RAM the ring and the frame in transit may take. */
#include "mps2_board.h"

#define TARE_CLOCK_READ MPS2_COUNTER
#define TARE_CLOCK_HZ MPS2_COUNTER_HZ
#define TARE_RING_BYTES 2048
#define TARE_BLOCK_WORDS 64
#define TARE_FRAME_BYTES 288
