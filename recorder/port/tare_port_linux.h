/* Port: Linux, one ring a thread in the session's shared memory. No lock: only its thread writes a
 * ring, and a signal handler that interrupts the recorder finds `ready` empty and is counted.
 *
 * Clock: the processor's time stamp counter where the collector found it invariant (the fast path),
 * else CLOCK_MONOTONIC; then `limit` stays 0 and every event takes the slow path, which asks the
 * right clock. So the fast path pays nothing for the choice. */
#ifndef TARE_PORT_LINUX_H
#define TARE_PORT_LINUX_H

#define TARE_PORT_TARGET 0

typedef uint64_t tare_clock;

static inline uint64_t tare_port_counter(void)
{
#if defined(__x86_64__) || defined(__i386__)
    return __builtin_ia32_rdtsc();
#else
    return 0; /* never used: the collector chooses TARE_CLOCK_MONOTONIC */
#endif
}

static inline void tare_port_publish(volatile uint32_t *offset, uint32_t value)
{
    __atomic_store_n(offset, value, __ATOMIC_RELEASE);
}

#endif /* TARE_PORT_LINUX_H */
