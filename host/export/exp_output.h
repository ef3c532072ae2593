/* Where an export goes: a file that appears whole under its name or not at all, or a stream. */
#ifndef EXP_OUTPUT_H
#define EXP_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base_buffer.h"
#include "base_error.h"

struct export_output {
    struct buffer buffer; /* exporters append here and call export_output_step() now and then */
    uint64_t written;     /* bytes that have left the buffer */
    char *path, *part;    /* part NULL: written in place (standard output, a device, a pipe) */
    int file;
    unsigned mode;        /* of a file that is replaced; 0: a new one */
    struct error failure; /* the first one; what follows is dropped */
};

/* PATH as in file_write(): the bytes go to PATH.part first; "-" is standard output, a device or
 * pipe is written directly. Standard output that is a terminal is refused. */
bool export_output_open(struct export_output *output, const char *path, struct error *error);

/* Writes the buffer out when it has grown large. False after a failure: no need to go on. */
bool export_output_step(struct export_output *output);

/* Writes the rest and puts the file in its place; with `keep` false, or after a failure, the part
 * is removed and an old file stays as it was. */
bool export_output_close(struct export_output *output, bool keep, struct error *error);

#endif
