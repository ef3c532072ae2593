/* The firmware's ELF file, as the rigs use it: addresses of symbols, and initial values that differ
 * from run to run. */
#ifndef LOCKSTEP_IMAGE_H
#define LOCKSTEP_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base_buffer.h"
#include "base_error.h"

struct firmware_image {
    const char *path;
    struct buffer bytes; /* the file, with what firmware_set() changed */
    void *elf;
};

bool firmware_open(struct firmware_image *image, const char *path, struct error *error);
void firmware_close(struct firmware_image *image);

/* The address of a symbol, without the bit that marks Thumb code; false when there is none. */
bool firmware_find(const struct firmware_image *image, const char *name, uint32_t *address);

/* Calls `take` for every function whose name matches a pattern of the shell, by rising address.
 * Returns how many. */
unsigned firmware_functions(const struct firmware_image *image, const char *pattern,
                            void (*take)(void *context, uint32_t low, uint32_t high),
                            void *context);

/* Changes the initial value of a 32-bit variable that stands in the file (.data, .rodata). */
bool firmware_set(struct firmware_image *image, const char *name, uint32_t value,
                  struct error *error);

#endif
