/* The names under which a program that runs on several boards uses its board: an MPS2 board for the
 * Cortex-M cores, QEMU's machine `virt` for RISC-V. The headers behind it say what each does. */
#ifndef BOARD_H
#define BOARD_H

#ifdef __riscv
#include "virt_board.h"
#define BOARD_COUNTER VIRT_COUNTER
#define BOARD_COUNTER_HZ VIRT_COUNTER_HZ
#define board_exit virt_exit
#define board_print virt_print
#define board_print_number virt_print_number
#define board_tick_every virt_tick_every
#define board_tick virt_tick
#define board_tick_level(level) ((void)(level)) /* there is one level */
#define board_data_begin virt_data_begin
#define board_bss_end virt_bss_end
#else
#include "mps2_board.h"
#define BOARD_COUNTER MPS2_COUNTER
#define BOARD_COUNTER_HZ MPS2_COUNTER_HZ
#define board_exit mps2_exit
#define board_print mps2_print
#define board_print_number mps2_print_number
#define board_tick_every mps2_tick_every
#define board_tick mps2_tick
#define board_tick_level mps2_tick_level
#define board_data_begin mps2_data_begin
#define board_bss_end mps2_bss_end
#endif

/* The program's data in RAM, from the linker script: board_data_begin up to board_bss_end. */
extern uint32_t board_data_begin[], board_bss_end[];

#endif
