/* Port: 32-bit RISC-V without an operating system, in machine mode. Interrupts are masked by
 * mstatus.MIE while a record is written.
 *
 * option              default        effect
 * TARE_CLOCK_READ     mcycle         expression that gives the free-running 32-bit clock; the low
 *                                    half of mtime, say: (*(volatile uint32_t *)0x0200BFF8)
 * TARE_CLOCK_HZ       none           its rate
 * TARE_CORES          1              harts that record: those with mhartid 0 to TARE_CORES - 1.
 *                                    Their clock must be one that all of them share, so not mcycle
 * TARE_CORE_READ      mhartid        expression that gives the number of this hart, from 0 on
 * TARE_MEMORY_IS_SEEN yes            TARE_MEMORY_IS_SEEN(at, bytes): 0 if these bytes are cached
 */
#ifndef TARE_PORT_RISCV_H
#define TARE_PORT_RISCV_H

#define TARE_PORT_TARGET 1

#ifndef TARE_CLOCK_HZ
#error "Set TARE_CLOCK_HZ to the rate of the clock that TARE_CLOCK_READ reads"
#endif
#ifndef TARE_CORES
#define TARE_CORES 1
#endif

typedef uint32_t tare_clock;

static inline tare_clock tare_port_clock(void)
{
#ifdef TARE_CLOCK_READ
    return TARE_CLOCK_READ;
#elif TARE_CORES > 1
#error "TARE_CORES: set TARE_CLOCK_READ to a clock that all harts share"
#else
    uint32_t cycles;
    __asm volatile("csrr %0, mcycle" : "=r"(cycles));
    return cycles;
#endif
}

static inline uint32_t tare_port_mask(void)
{
    uint32_t state;
    __asm volatile("csrrci %0, mstatus, 8" : "=r"(state)::"memory");
    return state;
}

/* Only sets bits, all of which were set before: MIE, if it was. */
static inline void tare_port_unmask(uint32_t state)
{
    __asm volatile("csrs mstatus, %0" ::"r"(state) : "memory");
}

/* Orders the words before the offset that covers them, for a probe that reads memory meanwhile. */
static inline void tare_port_publish(volatile uint32_t *offset, uint32_t value)
{
    __asm volatile("fence w, w" ::: "memory");
    *offset = value;
}

static inline uint32_t tare_port_core(void)
{
#ifdef TARE_CORE_READ
    return TARE_CORE_READ;
#elif TARE_CORES > 1
    uint32_t hart;
    __asm volatile("csrr %0, mhartid" : "=r"(hart));
    return hart;
#else
    return 0;
#endif
}

/* Nothing tells in a standard way whether there is a data cache: the firmware says so. 1: a probe
 * sees what is written to this memory, and the program sees what the probe writes. */
static inline int tare_port_memory_is_seen(const void *at, uint32_t bytes)
{
    (void)at;
    (void)bytes;
#ifdef TARE_MEMORY_IS_SEEN
    return TARE_MEMORY_IS_SEEN(at, bytes);
#else
    return 1;
#endif
}

#endif /* TARE_PORT_RISCV_H */
