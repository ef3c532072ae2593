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
 * TARE_FULL_POLICY  TARE_DROP           target: what a full ring does. TARE_DROP refuses new events
 *                                       until a reader makes room; TARE_OVERWRITE keeps the newest,
 *                                       for snapshots: an RTT reader cannot drain such a ring
 * TARE_OBJECTS      0            number target: kernel objects that can have a name at a time. With
 *                                       several cores their creation and deletion must be under a lock
 *                                       that holds for all of them
 * TARE_NAME_BYTES   20           bytes  target: RAM of each, 4 of them its id
 * TARE_NAME_PERIOD  2000         calls  of tare_service between two rounds that write all names
 *                                       again, one at each call, for readers that come late
 * TARE_RTT_CHANNEL  own block           target: number of an up channel in the RTT control block
 *                                       that the firmware has already (several cores: the first)
 * TARE_RTT_BLOCK    _SEGGER_RTT         its symbol
 * TARE_SELF_TEST    1                   target: 0 saves some 280 bytes of code: tare_start does not test
 *                                       the clock and does not measure what events cost
 * TARE_COMMANDS     1                   target: 0 saves some 260 bytes of code: no commands from the
 *                                       reader
 * TARE_CORES        1                   target: cores that record, each into a ring of its own. They
 *                                       must share the clock. tare_start runs on core 0; tare_tick or
 *                                       tare_service on each (that of core 0 writes the names);
 *                                       tare_stop on each; a string whose task changes its core
 *                                       within is cut there
 * TARE_CATEGORIES   0xFFFFFFFF   bits   target: categories that are on after tare_start
 * TARE_TEXT_LIMIT   255          bytes  longest string event, at most 1023
 * TARE_CLOCK_READ   DWT CYCCNT          target: expression that gives the free-running 32-bit clock
 * TARE_CLOCK_HZ     none         Hz     target: its rate
 * TARE_SESSION      counts up           target: number of the session, 1 to 65535, so that a reader
 *                                       sees a restart; by itself it is counted in the section
 *                                       .noinit, which start-up code must leave alone
 *
 * The ports have options of their own (port/): TARE_LOCK_BASEPRI, TARE_PORT_IN_ORDER, TARE_CORE_READ,
 * TARE_MEMORY_IS_SEEN.
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
#define TARE_DROP 0
#define TARE_OVERWRITE 1
#ifndef TARE_FULL_POLICY
#define TARE_FULL_POLICY TARE_DROP
#endif
#ifndef TARE_OBJECTS
#define TARE_OBJECTS 0
#endif
#ifndef TARE_NAME_BYTES
#define TARE_NAME_BYTES 20
#endif
#ifndef TARE_NAME_PERIOD
#define TARE_NAME_PERIOD 2000
#endif
#ifndef TARE_RTT_BLOCK
#define TARE_RTT_BLOCK _SEGGER_RTT
#endif
#ifndef TARE_SELF_TEST
#define TARE_SELF_TEST 1
#endif
#ifndef TARE_COMMANDS
#define TARE_COMMANDS 1
#endif
#ifndef TARE_CORES
#define TARE_CORES 1
#endif

#if TARE_BLOCK_WORDS != 64 && TARE_BLOCK_WORDS != 128 && TARE_BLOCK_WORDS != 256
#error "TARE_BLOCK_WORDS must be 64, 128 or 256"
#endif
#if TARE_RING_BYTES < 8 * TARE_BLOCK_WORDS || TARE_RING_BYTES % (4 * TARE_BLOCK_WORDS) != 0
#error \
    "TARE_RING_BYTES must be a multiple of the block (4 * TARE_BLOCK_WORDS bytes), at least two blocks"
#endif
#if TARE_OBJECTS < 0 || TARE_OBJECTS > 400
#error "TARE_OBJECTS must be 0 to 400"
#endif
#if TARE_NAME_BYTES < 8 || TARE_NAME_BYTES > 256 || TARE_NAME_BYTES % 4 != 0
#error "TARE_NAME_BYTES must be a multiple of 4 from 8 to 256"
#endif
#if TARE_FULL_POLICY != TARE_DROP && TARE_FULL_POLICY != TARE_OVERWRITE
#error "TARE_FULL_POLICY must be TARE_DROP or TARE_OVERWRITE"
#endif
#if TARE_CORES < 1 || TARE_CORES > 16
#error "TARE_CORES must be 1 to 16"
#endif
#if TARE_NAME_PERIOD < 1 || TARE_NAME_PERIOD > 60000
#error "TARE_NAME_PERIOD must be 1 to 60000"
#endif
#if TARE_TEXT_LIMIT < 8 || TARE_TEXT_LIMIT > 1023
#error "TARE_TEXT_LIMIT must be 8 to 1023"
#endif

#endif /* TARE_CONF_H */
