#include "base_buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes room for `more` bytes and the zero behind them. */
static void buffer_reserve(struct buffer *buffer, size_t more)
{
    size_t wanted, capacity = buffer->capacity;

    if (__builtin_add_overflow(buffer->size, more, &wanted) ||
        __builtin_add_overflow(wanted, 1, &wanted))
        die("out of memory: a buffer of %zu bytes cannot grow by %zu", buffer->size, more);
    if (wanted <= capacity)
        return;
    capacity = capacity > SIZE_MAX / 2 ? wanted : capacity * 2;
    if (capacity < wanted)
        capacity = wanted;
    if (capacity < 64)
        capacity = 64;
    buffer->data = memory_resize(buffer->data, capacity, 1);
    buffer->capacity = capacity;
}

void buffer_append(struct buffer *buffer, const void *bytes, size_t size)
{
    buffer_reserve(buffer, size);
    if (size != 0)
        memcpy(buffer->data + buffer->size, bytes, size);
    buffer->size += size;
    buffer->data[buffer->size] = 0;
}

void buffer_text(struct buffer *buffer, const char *text)
{
    buffer_append(buffer, text, strlen(text));
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list arguments;
    int length;

    buffer_reserve(buffer, 64);
    va_start(arguments, format);
    length =
        vsnprintf(buffer->data + buffer->size, buffer->capacity - buffer->size, format, arguments);
    va_end(arguments);
    if (length < 0)
        die("a text could not be formatted: \"%s\"", format);
    if ((size_t)length >= buffer->capacity - buffer->size) {
        buffer_reserve(buffer, (size_t)length);
        va_start(arguments, format);
        vsnprintf(buffer->data + buffer->size, buffer->capacity - buffer->size, format, arguments);
        va_end(arguments);
    }
    buffer->size += (size_t)length;
}

void buffer_clear(struct buffer *buffer)
{
    buffer->size = 0;
    if (buffer->data != NULL)
        buffer->data[0] = 0;
}

void buffer_free(struct buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct buffer){0};
}

void *memory_new(size_t count, size_t size)
{
    /* calloc(0) may be NULL, which would look like a failure. */
    void *memory = count == 0 || size == 0 ? calloc(1, 1) : calloc(count, size);

    if (memory == NULL)
        die("out of memory: %zu items of %zu bytes", count, size);
    return memory;
}

void *memory_resize(void *old, size_t count, size_t size)
{
    void *memory = count == 0 || size == 0 ? realloc(old, 1) : reallocarray(old, count, size);

    if (memory == NULL)
        die("out of memory: %zu items of %zu bytes", count, size);
    return memory;
}

char *memory_text(const char *text)
{
    char *copy = strdup(text);

    if (copy == NULL)
        die("out of memory: a text of %zu bytes", strlen(text));
    return copy;
}

/* Opens a regular file for reading; -1 with the reason in `error`. */
static int open_regular(const char *path, size_t *size, struct error *error)
{
    struct stat status;
    /* Without O_NONBLOCK the open of a FIFO that nobody writes to would hang. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (file < 0) {
        error_set(error, EXIT_USAGE, "%s: cannot be opened: %s", path, strerror(errno));
        return -1;
    }
    if (fstat(file, &status) != 0) {
        error_set(error, EXIT_USAGE, "%s: cannot be examined: %s", path, strerror(errno));
    } else if (S_ISDIR(status.st_mode)) {
        error_set(error, EXIT_USAGE, "%s: is a directory; name a file in it", path);
    } else if (!S_ISREG(status.st_mode)) {
        error_set(error, EXIT_USAGE,
                  "%s: is not a regular file; to read a pipe or a device give - and connect it to "
                  "standard input",
                  path);
    } else {
        *size = status.st_size > 0 ? (size_t)status.st_size : 0;
        return file;
    }
    close(file);
    return -1;
}

bool file_read(const char *path, struct buffer *into, struct error *error)
{
    bool standard = strcmp(path, "-") == 0;
    size_t expected = 0;
    int file = standard ? STDIN_FILENO : open_regular(path, &expected, error);
    ssize_t count;

    if (file < 0)
        return false;
    buffer_clear(into);
    buffer_reserve(into, expected);
    for (;;) {
        buffer_reserve(into, 1);
        count = read(file, into->data + into->size, into->capacity - into->size - 1);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        into->size += (size_t)count;
        /* One byte more than expected is asked for, so the end of a regular file costs no growth.
         */
        if (into->size + 1 >= into->capacity)
            buffer_reserve(into, 4096);
    }
    into->data[into->size] = 0;
    if (count < 0)
        error_set(error, EXIT_USAGE, "%s: reading failed at offset %zu: %s",
                  standard ? "standard input" : path, into->size, strerror(errno));
    if (!standard)
        close(file);
    return count == 0;
}

static bool write_all(int file, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t count = write(file, bytes, size);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return false;
        bytes += count;
        size -= (size_t)count;
    }
    return true;
}

/* Writes into what is already there: a device, a pipe, standard output. */
static bool write_in_place(const char *path, const void *bytes, size_t size, struct error *error)
{
    bool standard = strcmp(path, "-") == 0;
    int file = standard ? STDOUT_FILENO : open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    bool good;

    if (file < 0) {
        error_set(error, EXIT_USAGE, "%s: cannot be opened for writing: %s", path, strerror(errno));
        return false;
    }
    good = write_all(file, bytes, size);
    if (!standard && close(file) != 0)
        good = false;
    if (!good)
        error_set(error, EXIT_USAGE, "%s: writing %zu bytes failed: %s",
                  standard ? "standard output" : path, size, strerror(errno));
    return good;
}

/* Writes PART and renames it to PATH. An existing file keeps its mode. */
static bool write_and_rename(const char *path, const char *part, mode_t mode, const void *bytes,
                             size_t size, struct error *error)
{
    int file = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    bool good;

    if (file < 0) {
        error_set(error, EXIT_USAGE, "%s: cannot be created: %s", part, strerror(errno));
        return false;
    }
    good = write_all(file, bytes, size) && (mode == 0 || fchmod(file, mode) == 0);
    if (close(file) != 0)
        good = false;
    if (!good)
        error_set(error, EXIT_USAGE, "%s: writing %zu bytes failed: %s", part, size,
                  strerror(errno));
    else if (rename(part, path) != 0) {
        error_set(error, EXIT_USAGE, "%s: cannot be put in place of %s: %s", part, path,
                  strerror(errno));
        good = false;
    }
    if (!good)
        unlink(part);
    return good;
}

bool file_write(const char *path, const void *bytes, size_t size, struct error *error)
{
    struct buffer part = {0};
    struct stat status;
    char *target;
    mode_t mode = 0;
    bool good;

    if (strcmp(path, "-") == 0) {
        /* What stdio still holds was printed earlier and belongs in front. */
        fflush(stdout);
        return write_in_place(path, bytes, size, error);
    }
    if (stat(path, &status) == 0) {
        if (S_ISDIR(status.st_mode)) {
            error_set(error, EXIT_USAGE, "%s: is a directory; name a file in it", path);
            return false;
        }
        /* A rename would replace a device by a file. */
        if (!S_ISREG(status.st_mode))
            return write_in_place(path, bytes, size, error);
        mode = status.st_mode & 07777;
    }
    /* A link stays a link: the file that it names is replaced. */
    target = realpath(path, NULL);
    buffer_printf(&part, "%s.part", target != NULL ? target : path);
    good = write_and_rename(target != NULL ? target : path, part.data, mode, bytes, size, error);
    buffer_free(&part);
    free(target);
    return good;
}
