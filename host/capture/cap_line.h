/* Opens the lines that frames come over: a serial port, a TCP connection, a file or pipe. */
#ifndef CAP_LINE_H
#define CAP_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base_error.h"

struct line {
    int file;       /* to poll and read without waiting; -1: closed */
    bool both_ways; /* bytes that are written reach the target */
};

/* PLACE: "serial:PATH", "tcp:HOST:PORT" (a numeric address or a name; tried for at most 10 s),
 * "file:PATH" (also a pipe), or "-" for standard input. `baud` is for serial ports alone. On
 * failure EXIT_USAGE with the reason. */
bool line_open(struct line *line, const char *place, uint32_t baud, struct error *error);

void line_close(struct line *line);

#endif
