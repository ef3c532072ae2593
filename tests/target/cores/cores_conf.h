/* Recorder options of cores_program.c: two cores, one clock. */
#include "virt_board.h"

#define TARE_PORT_FILE "port/tare_port_riscv.h"
#define TARE_CORES 2
#define TARE_CLOCK_READ VIRT_COUNTER
#define TARE_CLOCK_HZ VIRT_COUNTER_HZ
#define TARE_RING_BYTES 8192
#define TARE_BLOCK_WORDS 64
