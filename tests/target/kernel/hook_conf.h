/* Recorder options of hook_program.c and kernel_workload.c. */
#include "board.h"

#define TARE_CLOCK_HZ BOARD_COUNTER_HZ
#define TARE_CLOCK_READ BOARD_COUNTER
#define TARE_RING_BYTES 16384
#define TARE_OBJECTS 64
