#include "exp_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FLUSH_BYTES 262144u

static bool open_standard(struct export_output *output, struct error *error)
{
    if (isatty(STDOUT_FILENO)) {
        error_set(error, EXIT_USAGE,
                  "standard output is a terminal and the export is not text: name a file with -o, "
                  "or connect a pipe");
        return false;
    }
    fflush(stdout);
    output->file = STDOUT_FILENO;
    output->path = memory_text("standard output");
    return true;
}

/* A link stays a link: the file that it names is replaced. */
static void name_part(struct export_output *output, const char *path)
{
    char *target = realpath(path, NULL);
    struct buffer part = {0};

    output->path = target != NULL ? target : memory_text(path);
    buffer_printf(&part, "%s.part", output->path);
    output->part = part.data;
}

bool export_output_open(struct export_output *output, const char *path, struct error *error)
{
    struct stat status;
    bool exists;

    *output = (struct export_output){.file = -1};
    if (strcmp(path, "-") == 0)
        return open_standard(output, error);
    exists = stat(path, &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) {
        error_set(error, EXIT_USAGE, "%s: is a directory; name a file in it", path);
        return false;
    }
    /* A rename would replace a device by a file. */
    if (exists && !S_ISREG(status.st_mode)) {
        output->path = memory_text(path);
        output->file = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    } else {
        output->mode = exists ? status.st_mode & 07777 : 0;
        name_part(output, path);
        output->file =
            open(output->part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    }
    if (output->file >= 0)
        return true;
    error_set(error, EXIT_USAGE, "%s: cannot be opened for writing: %s",
              output->part != NULL ? output->part : output->path, strerror(errno));
    free(output->path);
    free(output->part);
    return false;
}

static void flush(struct export_output *output)
{
    const char *bytes = output->buffer.data;
    size_t size = output->buffer.size;

    while (size > 0 && output->failure.code == EXIT_DONE) {
        ssize_t count = write(output->file, bytes, size);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0) {
            error_set(&output->failure, EXIT_USAGE, "%s: writing failed at offset %llu: %s",
                      output->path, (unsigned long long)output->written, strerror(errno));
            break;
        }
        bytes += count;
        size -= (size_t)count;
        output->written += (uint64_t)count;
    }
    buffer_clear(&output->buffer);
}

bool export_output_step(struct export_output *output)
{
    if (output->buffer.size >= FLUSH_BYTES)
        flush(output);
    return output->failure.code == EXIT_DONE;
}

bool export_output_close(struct export_output *output, bool keep, struct error *error)
{
    struct error *failure = &output->failure;

    if (keep)
        flush(output);
    if (keep && output->mode != 0 && fchmod(output->file, output->mode) != 0)
        error_set(failure, EXIT_USAGE, "%s: its mode cannot be set: %s", output->part,
                  strerror(errno));
    if (output->file != STDOUT_FILENO && close(output->file) != 0)
        error_set(failure, EXIT_USAGE, "%s: writing failed: %s", output->path, strerror(errno));
    if (output->part != NULL) {
        keep = keep && failure->code == EXIT_DONE;
        if (keep && rename(output->part, output->path) != 0) {
            error_set(failure, EXIT_USAGE, "%s: cannot be put in place of %s: %s", output->part,
                      output->path, strerror(errno));
            keep = false;
        }
        if (!keep)
            unlink(output->part);
    }
    if (failure->code != EXIT_DONE)
        error_set(error, failure->code, "%s", failure->text);
    buffer_free(&output->buffer);
    free(output->path);
    free(output->part);
    return failure->code == EXIT_DONE;
}
