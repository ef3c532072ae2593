/* A byte buffer that grows; always zero-terminated behind `size`, so it doubles as a string. */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_error.h"

/* All zero is an empty buffer. Running out of memory ends the program with a message. */
struct buffer {
    char *data;
    size_t size;     /* bytes used */
    size_t capacity; /* bytes allocated */
};

void buffer_append(struct buffer *buffer, const void *bytes, size_t size);
void buffer_text(struct buffer *buffer, const char *text);
void buffer_printf(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void buffer_clear(struct buffer *buffer); /* keeps the memory */
void buffer_free(struct buffer *buffer);

/* malloc, realloc and strdup that end the program with a message instead of returning NULL. */
void *memory_new(size_t count, size_t size) __attribute__((returns_nonnull)); /* zeroed */
void *memory_resize(void *old, size_t count, size_t size) __attribute__((returns_nonnull));
char *memory_text(const char *text) __attribute__((returns_nonnull));

/* Replaces the contents of `into` by a whole regular file, or by standard input for "-". A
 * directory, a device or pipe given by name, a missing file, a refused permission and a failing
 * read are EXIT_USAGE with the reason. */
bool file_read(const char *path, struct buffer *into, struct error *error);

/* Writes a file whole: to PATH.part first, then renamed, so that a reader never sees half; after a
 * failure (EXIT_USAGE with the reason) the old file is untouched and PATH.part is gone. "-" is
 * standard output, behind what stdio has printed so far; a device or pipe is written directly. */
bool file_write(const char *path, const void *bytes, size_t size, struct error *error);

#endif
