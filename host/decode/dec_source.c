#include "dec_source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_buffer.h"

#define COPY_BYTES (256u << 10)

/* A file without a name, so that nothing is left behind however the program ends. */
static int open_temporary(struct error *error)
{
    const char *folder = getenv("TMPDIR");
    int file;

    if (folder == NULL || folder[0] == 0)
        folder = "/var/tmp";
    file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0) {
        FILE *stream = tmpfile(); /* for file systems without O_TMPFILE */

        if (stream != NULL) {
            file = fcntl(fileno(stream), F_DUPFD_CLOEXEC, 0);
            fclose(stream);
        }
    }
    if (file < 0)
        error_set(error, EXIT_USAGE,
                  "standard input cannot be copied to a temporary file in %s: %s; set TMPDIR to a "
                  "folder with room, or give the name of a file",
                  folder, strerror(errno));
    return file;
}

static bool write_all(int file, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t count = write(file, bytes, size);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        bytes += count;
        size -= (size_t)count;
    }
    return true;
}

static bool copy_pipe(struct source *source, struct error *error)
{
    int copy = open_temporary(error);
    char *bytes;
    ssize_t count;

    if (copy < 0)
        return false;
    bytes = memory_new(COPY_BYTES, 1);
    for (;;) {
        count = read(STDIN_FILENO, bytes, COPY_BYTES);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        if (!write_all(copy, bytes, (size_t)count)) {
            error_set(error, EXIT_USAGE,
                      "the temporary copy of standard input cannot be written at offset %" PRIu64
                      ": %s; set TMPDIR to a folder with room, or give the name of a file",
                      source->size, strerror(errno));
            break;
        }
        source->size += (uint64_t)count;
    }
    if (count < 0)
        error_set(error, EXIT_USAGE, "standard input: reading failed at offset %" PRIu64 ": %s",
                  source->size, strerror(errno));
    free(bytes);
    source->file = copy;
    source->owned = true;
    return error->code == EXIT_DONE;
}

static bool open_named(struct source *source, const char *path, struct error *error)
{
    struct stat status;

    /* Without O_NONBLOCK the open of a FIFO that nobody writes to would hang. */
    source->file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    source->owned = source->file >= 0;
    if (source->file < 0)
        error_set(error, EXIT_USAGE, "%s: cannot be opened: %s", path, strerror(errno));
    else if (fstat(source->file, &status) != 0)
        error_set(error, EXIT_USAGE, "%s: cannot be examined: %s", path, strerror(errno));
    else if (S_ISDIR(status.st_mode))
        error_set(error, EXIT_USAGE, "%s: is a directory; name a file in it", path);
    else if (!S_ISREG(status.st_mode))
        error_set(error, EXIT_USAGE,
                  "%s: is not a regular file; to read a pipe or a device give - and connect it to "
                  "standard input",
                  path);
    else
        source->size = (uint64_t)status.st_size;
    return error->code == EXIT_DONE;
}

static bool open_standard(struct source *source, struct error *error)
{
    struct stat status;
    off_t start = lseek(STDIN_FILENO, 0, SEEK_CUR);

    source->file = STDIN_FILENO;
    if (fstat(STDIN_FILENO, &status) != 0) {
        error_set(error, EXIT_USAGE, "standard input cannot be read: %s", strerror(errno));
    } else if (S_ISDIR(status.st_mode)) {
        error_set(error, EXIT_USAGE, "standard input is a directory; name a file in it");
    } else if (isatty(STDIN_FILENO) != 0) {
        error_set(error, EXIT_USAGE, "standard input is a terminal; name a file or connect a pipe");
    } else if (S_ISREG(status.st_mode) && start >= 0) {
        source->start = (uint64_t)start;
        if (status.st_size > start)
            source->size = (uint64_t)(status.st_size - start);
    } else {
        return copy_pipe(source, error);
    }
    return error->code == EXIT_DONE;
}

bool source_open(struct source *source, const char *path, struct error *error)
{
    bool standard = strcmp(path, "-") == 0;

    *source = (struct source){.file = -1};
    source->path = memory_text(standard ? "standard input" : path);
    if (standard ? open_standard(source, error) : open_named(source, path, error))
        return true;
    source_close(source);
    return false;
}

size_t source_read(struct source *source, uint64_t offset, void *bytes, size_t size)
{
    size_t done = 0;

    if (offset >= source->size)
        return 0;
    if (size > source->size - offset)
        size = (size_t)(source->size - offset);
    while (done < size) {
        ssize_t count = pread(source->file, (char *)bytes + done, size - done,
                              (off_t)(source->start + offset + done));

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        done += (size_t)count;
    }
    source->failed += size - done;
    return done;
}

void source_close(struct source *source)
{
    if (source->owned)
        close(source->file);
    free(source->path);
    *source = (struct source){.file = -1};
}
