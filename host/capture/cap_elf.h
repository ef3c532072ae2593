/* What the readers of targets take from ELF files: where the recorder's symbols are, and which
 * parts of memory a core file holds. */
#ifndef CAP_ELF_H
#define CAP_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_error.h"
#include "cap_memory.h"

/* Sets addresses and sizes of `options` to where the firmware PATH has its control blocks: the
 * symbol tare0 (all cores), else _SEGGER_RTT, which may be the block itself. False: EXIT_USAGE with
 * the reason. */
bool elf_find_blocks(const char *path, struct memory_options *options, struct error *error);

/* Whether a file begins as ELF files do. */
bool elf_is_one(const char *path);

/* The parts of memory in a core file (or in a firmware's file: what would be loaded), as many as
 * lie in the file. The caller frees *segments. False: EXIT_DAMAGED with the reason. */
bool elf_segments(const char *path, struct memory_segment **segments, size_t *count,
                  struct error *error);

#endif
