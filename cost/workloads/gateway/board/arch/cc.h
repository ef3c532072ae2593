/* What lwIP asks of the compiler and the processor. */
#ifndef GATEWAY_ARCH_CC_H
#define GATEWAY_ARCH_CC_H

#include <stdint.h>

void gateway_board_give_up(const char *what) __attribute__((noreturn));

#define LWIP_PLATFORM_DIAG(message) ((void)0)
#define LWIP_PLATFORM_ASSERT(message) gateway_board_give_up("lwIP: " message)

/* The C library's would allocate. */
uint32_t gateway_lwip_random(void);
#define LWIP_RAND() gateway_lwip_random()

typedef uint32_t sys_prot_t;

#endif
