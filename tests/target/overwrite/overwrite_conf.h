#include "board.h"

#define TARE_CLOCK_READ BOARD_COUNTER
#define TARE_CLOCK_HZ BOARD_COUNTER_HZ
#define TARE_FULL_POLICY TARE_OVERWRITE
#define TARE_RING_BYTES 4096
#define TARE_BLOCK_WORDS 64
#define TARE_OBJECTS 12
#define TARE_NAME_PERIOD 60000 /* never in this test: the table alone must have the names */
