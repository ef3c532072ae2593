/* Opens a serial port for bytes as they are: 8 data bits, no parity, one stop bit, no flow control.
 */
#ifndef CAP_SERIAL_H
#define CAP_SERIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base_error.h"

#define SERIAL_BAUD_DEFAULT 115200u

/* PATH is the port's device file, also a link to it such as /dev/serial/by-id/...; `baud` is any
 * rate that the port can make, not only the usual ones. Nobody else can open the port meanwhile.
 * Returns a file that reads without waiting; -1: EXIT_USAGE with the reason. */
int serial_open(const char *path, uint32_t baud, struct error *error);

#endif
