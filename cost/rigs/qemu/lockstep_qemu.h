/* One emulated board: QEMU's machine mps2-an385 (Cortex-M3) with its PSRAM in a file, its UART on
 * our pipe, and a folder for all that belongs to the run. */
#ifndef LOCKSTEP_QEMU_H
#define LOCKSTEP_QEMU_H

#include <stdbool.h>
#include <stdint.h>

#include "gateway_child.h"
#include "lockstep_image.h"

#define BOARD_MEMORY_ADDRESS 0x21000000u /* where the file's first byte is */
#define BOARD_MEMORY_BYTES (16u << 20)

struct emulated_board {
    char folder[64];     /* of this run; removed at the end */
    char *memory_path;   /* the board's memory, made anew */
    bool memory_is_ours; /* in the folder */
    void *memory;
    char **arguments;
    unsigned argument_count;
    int log; /* what QEMU says on its standard error */
    struct child qemu;
};

/* Makes the folder and the memory's file, and the arguments that every rig has in common. `memory`
 * NULL: in the folder. */
bool board_prepare(struct emulated_board *board, const char *memory, struct error *error);

/* The path of a file in the run's folder; the caller frees it. */
char *board_file(const struct emulated_board *board, const char *name);

void board_argument(struct emulated_board *board, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes the firmware with its changes into the folder and starts it. */
bool board_start(struct emulated_board *board, const struct firmware_image *image,
                 struct error *error);

/* A word of the board's memory, aligned; NULL when it is not in the file. */
const volatile uint32_t *board_word(const struct emulated_board *board, uint32_t address);

/* EXIT_CANNOT_TELL: `what`, then how QEMU ended if it did, and the last lines of what the board and
 * QEMU wrote. */
void board_explain(struct emulated_board *board, const char *what, struct error *error);

/* Waits for the end of output and of QEMU; false, explained, unless the firmware ended with 0. */
bool board_finish(struct emulated_board *board, uint64_t until_ns, struct error *error);

void board_close(struct emulated_board *board);

/* SIGINT, SIGTERM and SIGHUP set this, so that a run that is stopped removes its folder. */
extern volatile int board_interrupted;
void board_catch_signals(void);

#endif
