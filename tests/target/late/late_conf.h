/* Recorder options of late_program.c. */
#include "board.h"

#define TARE_CLOCK_READ BOARD_COUNTER
#define TARE_CLOCK_HZ BOARD_COUNTER_HZ
#define TARE_RING_BYTES 8192
#define TARE_BLOCK_WORDS 64
#define TARE_OBJECTS 48
#define TARE_NAME_PERIOD 8000
