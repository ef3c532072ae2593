/* The recorder's options on the board; the build script gives TARE_RING_BYTES. */
#include "gateway_board.h"

#define TARE_CLOCK_READ GATEWAY_BOARD_CLOCK
#define TARE_CLOCK_HZ GATEWAY_BOARD_CLOCK_HZ
#define TARE_OBJECTS 32 /* there are some twenty */
