/* Tare event recorder: the one file to compile. The parts follow the flow of an event. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* Linux: MADV_WIPEONFORK, syscall */
#endif
#include "tare.h"

#if TARE_ENABLED

#include <string.h>

#ifdef TARE_PORT_FILE
#include TARE_PORT_FILE
#elif defined(__linux__)
#include "port/tare_port_linux.h"
#elif defined(__riscv)
#include "port/tare_port_riscv.h"
#elif defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
#include "port/tare_port_cortexm.h"
#else
#error "No port for this machine: write one (port/README.md) and set TARE_PORT_FILE"
#endif

/* Out of the way of what is fast, and small. */
#define TARE_RARE __attribute__((cold))

uint32_t tare_categories_on;

#if TARE_PORT_TARGET

#include "tare_kernel.h"

/* Ids above belong to kernel objects. */
#define TARE_LAST_ID0 (TARE_ID_LAST0 - 4u * TARE_OBJECTS)

#include "tare_ring.inl"

#include "tare_target.inl"

#include "tare_slow_target.inl"

#include "tare_names.inl"

#include "tare_objects.inl"

#include "tare_start_target.inl"

#else

#define TARE_LAST_ID0 TARE_ID_LAST0

/* What the writer of a ring keeps for itself. */
struct tare_writer {
    struct tare_ring *ready; /* `ring` between two events, NULL inside one or before the first */
    struct tare_ring *ring;
    uint32_t *words;      /* the ring's buffer */
    uint32_t limit;       /* bytes: the fast path may write up to here */
    uint32_t block_end;   /* bytes: end of the present block; 0: the next record opens one */
    uint64_t high;        /* high part of the time that a reader of the ring knows */
    tare_clock high_here; /* the bits of it that the clock shows */
    uint32_t fast;        /* all bits set: the fast path reads the right clock; else 0 */
    uint32_t shift;       /* counter to ticks */
};

#include "tare_ring.inl"

#include "tare_thread.inl"

#include "tare_slow_thread.inl"

#include "tare_names.inl"

#include "tare_start_linux.inl"

#endif

void tare_put0(uint32_t word)
{
    tare_put(word, 0, 0, 1);
}

void tare_put1(uint32_t word, uint32_t first)
{
    tare_put(word, first, 0, 2);
}

void tare_put2(uint32_t word, uint32_t first, uint32_t second)
{
    tare_put(word, first, second, 3);
}

TARE_RARE void tare_enable(uint32_t categories)
{
    if (tare_started())
        tare_switch(categories, 0);
}

TARE_RARE void tare_disable(uint32_t categories)
{
    tare_switch(0, categories);
}

#endif /* TARE_ENABLED */
