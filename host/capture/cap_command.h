/* Commands for a target, as they go into its down channel. */
#ifndef CAP_COMMAND_H
#define CAP_COMMAND_H

#include <stdint.h>
#include <string.h>

#include "tare_layout.h"

/* The eight bytes of a command, whatever this machine's byte order. */
static inline void command_fill(struct tare_command *command, enum tare_command_code code,
                                uint32_t argument)
{
    unsigned char bytes[sizeof(*command)] = {TARE_COMMAND_MARK, (unsigned char)code};

    for (int i = 0; i < 4; i++)
        bytes[4 + i] = (unsigned char)(argument >> (8 * i));
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[3] ^= i == 3 ? 0 : bytes[i];
    memcpy(command, bytes, sizeof(bytes));
}

#endif
