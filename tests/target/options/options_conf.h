/* Recorder options of the programs in this folder; the command line may have others. */
#include "board.h"

#ifdef __riscv
#define TARE_PORT_FILE "port/tare_port_riscv.h"
#endif
#define TARE_CLOCK_READ BOARD_COUNTER
#define TARE_CLOCK_HZ BOARD_COUNTER_HZ
#define TARE_RING_BYTES 2048
#define TARE_BLOCK_WORDS 64
