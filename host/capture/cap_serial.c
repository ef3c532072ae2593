#include "cap_serial.h"

#include <asm/termbits.h> /* any rate needs `struct termios2`, which termios.h does not have */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A port may round the rate to what its divider gives; UARTs bear 2 to 3 %. */
#define RATE_TOLERANCE 3u /* percent */

static bool set_raw(int file, const char *path, uint32_t baud, struct error *error)
{
    struct termios2 settings = {0};
    uint32_t made;

    if (ioctl(file, TCGETS2, &settings) != 0) {
        error_set(error, EXIT_USAGE, "serial:%s: is no serial port (%s); a plain file is file:%s",
                  path, strerror(errno), path);
        return false;
    }
    settings.c_iflag = IGNBRK;
    settings.c_oflag = 0;
    settings.c_lflag = 0;
    settings.c_cflag = CS8 | CREAD | CLOCAL | BOTHER; /* input has the same rate */
    settings.c_ospeed = settings.c_ispeed = baud;
    settings.c_cc[VMIN] = 1;
    settings.c_cc[VTIME] = 0;
    if (ioctl(file, TCSETS2, &settings) != 0 || ioctl(file, TCGETS2, &settings) != 0) {
        error_set(error, EXIT_USAGE, "serial:%s: cannot be set to %u baud, 8N1: %s", path, baud,
                  strerror(errno));
        return false;
    }
    made = settings.c_ospeed;
    if ((made > baud ? made - baud : baud - made) > (uint64_t)baud * RATE_TOLERANCE / 100) {
        error_set(error, EXIT_USAGE,
                  "serial:%s: this port makes %u baud of the %u that were asked for; give --baud a "
                  "rate that it and the target can make",
                  path, made, baud);
        return false;
    }
    return true;
}

int serial_open(const char *path, uint32_t baud, struct error *error)
{
    int file = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

    if (file < 0) {
        error_set(error, EXIT_USAGE, "serial:%s: cannot be opened: %s%s", path, strerror(errno),
                  errno == EACCES  ? "; add yourself to the group of this file (often dialout)"
                  : errno == EBUSY ? "; another program has the port"
                                   : "");
        return -1;
    }
    if (!set_raw(file, path, baud, error)) {
        close(file);
        return -1;
    }
    ioctl(file, TIOCEXCL);
    return file;
}
