#include "cap_line.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_buffer.h"
#include "cap_serial.h"

#define CONNECT_MS 10000

/* One address; 0 or the errno. */
static int connect_address(const struct addrinfo *address, int *file)
{
    struct pollfd ready = {.events = POLLOUT};
    int reason = 0;
    socklen_t size = sizeof reason;

    *file = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*file < 0)
        return errno;
    if (connect(*file, address->ai_addr, address->ai_addrlen) == 0)
        return 0;
    reason = errno;
    if (reason == EINPROGRESS) {
        ready.fd = *file;
        if (poll(&ready, 1, CONNECT_MS) <= 0)
            reason = ETIMEDOUT;
        else if (getsockopt(*file, SOL_SOCKET, SO_ERROR, &reason, &size) != 0)
            reason = errno;
    }
    if (reason != 0) {
        close(*file);
        *file = -1;
    }
    return reason;
}

static bool connect_to(struct line *line, const char *place, struct error *error)
{
    const struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    const char *host_port = place + strlen("tcp:"), *colon = strrchr(host_port, ':');
    struct addrinfo *found = NULL, *each;
    struct buffer host = {0};
    int result, reason = 0;

    if (colon == NULL || colon == host_port || colon[1] == '\0') {
        error_set(error, EXIT_USAGE, "%s: give tcp:HOST:PORT", place);
        return false;
    }
    if (host_port[0] == '[' && colon[-1] == ']')
        buffer_append(&host, host_port + 1, (size_t)(colon - host_port) - 2);
    else
        buffer_append(&host, host_port, (size_t)(colon - host_port));
    result = getaddrinfo(host.data, colon + 1, &wanted, &found);
    buffer_free(&host);
    if (result != 0) {
        error_set(error, EXIT_USAGE, "%s: %s", place, gai_strerror(result));
        return false;
    }
    for (each = found; each != NULL && line->file < 0; each = each->ai_next)
        reason = connect_address(each, &line->file);
    freeaddrinfo(found);
    if (line->file < 0) {
        error_set(error, EXIT_USAGE, "%s: %s; is what forwards the target's line running there?",
                  place, strerror(reason));
        return false;
    }
    line->both_ways = true;
    return true;
}

static bool open_file(struct line *line, const char *place, struct error *error)
{
    const char *path = place + strlen("file:");
    struct stat about;

    line->file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (line->file < 0 || fstat(line->file, &about) != 0 || S_ISDIR(about.st_mode)) {
        error_set(error, EXIT_USAGE, "%s: %s", place,
                  line->file < 0 ? strerror(errno) : "is a directory");
        line_close(line);
        return false;
    }
    return true;
}

bool line_open(struct line *line, const char *place, uint32_t baud, struct error *error)
{
    *line = (struct line){.file = -1};
    if (strcmp(place, "-") == 0) {
        line->file = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
        if (line->file < 0)
            error_set(error, EXIT_USAGE, "standard input: %s", strerror(errno));
    } else if (strncmp(place, "serial:", 7) == 0) {
        line->file = serial_open(place + 7, baud, error);
        line->both_ways = true;
    } else if (strncmp(place, "tcp:", 4) == 0) {
        return connect_to(line, place, error);
    } else if (strncmp(place, "file:", 5) == 0) {
        return open_file(line, place, error);
    } else {
        error_set(error, EXIT_USAGE,
                  "%s: no line for frames; give serial:PATH, tcp:HOST:PORT, file:PATH or - for "
                  "standard input",
                  place);
    }
    return line->file >= 0;
}

void line_close(struct line *line)
{
    if (line->file >= 0)
        close(line->file);
    line->file = -1;
}
