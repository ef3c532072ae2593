/* Random access to the bytes of an input, whatever it is. Not a memory map: a file that shrinks
 * while it is read must not end the program. */
#ifndef DEC_SOURCE_H
#define DEC_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_error.h"

struct source {
    int file;
    bool owned;      /* close it */
    char *path;      /* for messages */
    uint64_t start;  /* where the input begins in the file */
    uint64_t size;   /* bytes, as it was when it was opened */
    uint64_t failed; /* bytes that could not be read */
};

/* PATH is a regular file, or "-": standard input, copied to an unnamed temporary file if it is a
 * pipe (in $TMPDIR, else /var/tmp). On failure EXIT_USAGE with the reason. */
bool source_open(struct source *source, const char *path, struct error *error);

/* Reads up to `size` bytes and returns how many there were: fewer at the end, or where reading
 * fails, which is counted in `failed`. */
size_t source_read(struct source *source, uint64_t offset, void *bytes, size_t size);

void source_close(struct source *source);

#endif
