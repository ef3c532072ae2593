/* clang-format off */
/* Options of the recorder. Give them to the compiler (-DTARE_RING_BYTES=8192), or write your own
 * header and name it: -DTARE_CONF_FILE='"my_tare_conf.h"'. None needs to be set on Linux; a target
 * without an operating system needs TARE_CLOCK_HZ, and TARE_CLOCK_READ unless it has DWT CYCCNT.
 *
 * option            default      unit   effect
 * TARE_ENABLED      1                   0: every event and call compiles to nothing
 * TARE_PORT_FILE    by compiler         header with the port's primitives (port/README.md)
 * TARE_RING_BYTES   4096         bytes  target: RAM of the ring; Linux: the collector decides
 * TARE_BLOCK_WORDS  256          words  target: block size, 64, 128 or 256; smaller blocks recover
 *                                       sooner after damage and cost more (6 words a block)
 * TARE_CATEGORIES   0xFFFFFFFF   bits   target: categories that are on after tare_start
 * TARE_TEXT_LIMIT   255          bytes  longest string event, at most 1023
 * TARE_CLOCK_READ   DWT CYCCNT          target: expression that gives the free-running 32-bit clock
 * TARE_CLOCK_HZ     none         Hz     target: its rate
 * TARE_SESSION      1                   target: number of the session, 1 to 65535; give a boot
 *                                       counter if you have one, so that a reader sees a restart
 *                                       (65536 counts as 1 again, and so on)
 */
/* clang-format on */
#ifndef TARE_CONF_H
#define TARE_CONF_H

#ifdef TARE_CONF_FILE
#include TARE_CONF_FILE
#endif

#ifndef TARE_ENABLED
#define TARE_ENABLED 1
#endif
#ifndef TARE_RING_BYTES
#define TARE_RING_BYTES 4096
#endif
#ifndef TARE_BLOCK_WORDS
#define TARE_BLOCK_WORDS 256
#endif
#ifndef TARE_CATEGORIES
#define TARE_CATEGORIES 0xFFFFFFFFu
#endif
#ifndef TARE_TEXT_LIMIT
#define TARE_TEXT_LIMIT 255
#endif
#ifndef TARE_SESSION
#define TARE_SESSION 1u
#endif

#if TARE_BLOCK_WORDS != 64 && TARE_BLOCK_WORDS != 128 && TARE_BLOCK_WORDS != 256
#error "TARE_BLOCK_WORDS must be 64, 128 or 256"
#endif
#if TARE_RING_BYTES < 8 * TARE_BLOCK_WORDS || TARE_RING_BYTES % (4 * TARE_BLOCK_WORDS) != 0
#error \
    "TARE_RING_BYTES must be a multiple of the block (4 * TARE_BLOCK_WORDS bytes), at least two blocks"
#endif
#if TARE_TEXT_LIMIT < 8 || TARE_TEXT_LIMIT > 1023
#error "TARE_TEXT_LIMIT must be 8 to 1023"
#endif

#endif /* TARE_CONF_H */
