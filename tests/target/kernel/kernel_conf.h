/* Recorder options of kernel_program.c. */
#include "board.h"

#define TARE_CLOCK_HZ BOARD_COUNTER_HZ
#define TARE_CLOCK_READ BOARD_COUNTER
#define TARE_RING_BYTES 16384
#define TARE_OBJECTS 24               /* few enough that they run out */
#define TARE_NAME_PERIOD 400          /* calls of tare_service */
#define TARE_CATEGORIES (~(1u << 27)) /* all but memory, which is switched on for a while */
