/* Recorder options of the programs in this folder. */
#include "board.h"

#ifdef __riscv
#define TARE_PORT_FILE "port/tare_port_riscv.h"
#endif
#define TARE_CLOCK_HZ BOARD_COUNTER_HZ
#define TARE_CLOCK_READ BOARD_COUNTER
#ifndef TARE_RING_BYTES
#define TARE_RING_BYTES 8192
#endif
#define TARE_CATEGORIES 0x00000001u
