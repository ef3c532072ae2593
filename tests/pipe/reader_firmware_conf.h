#include "mps2_board.h"

#define TARE_CLOCK_READ MPS2_COUNTER
#define TARE_CLOCK_HZ MPS2_COUNTER_HZ
#define TARE_RING_BYTES 8192
#define TARE_BLOCK_WORDS 64
/* The self-test writes into the ring and rewinds it. OpenOCD, which does not look at the id again
 * after a reset, would read that, and its offset would be ahead of the ring. */
#define TARE_SELF_TEST 0
