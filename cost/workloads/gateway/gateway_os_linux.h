/* The part of the Linux layer that only the program around the application uses. */
#ifndef GATEWAY_OS_LINUX_H
#define GATEWAY_OS_LINUX_H

#include "gateway_os.h"

/* Call first, from the main thread: starts the counter and names the main thread in the recording.
 */
void gateway_linux_begin(void);

/* Why the layer last answered false to a call of the start-up: a sentence for people. */
const char *gateway_linux_fault(void);

/* The number of an open port. */
uint16_t gateway_linux_port_number(enum gateway_port_identity port);

/* Ends the steps and the timer and joins their threads: within a few tenths of a second. */
void gateway_linux_end(void);

/* Datagrams that the kernel dropped because the socket's buffer was full, both ports, whole run.
 * Negative when this kernel does not tell. Call it after gateway_linux_end. */
int64_t gateway_linux_socket_drops(void);

#endif
