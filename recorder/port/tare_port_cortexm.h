/* Port: Cortex-M without an operating system, from M0 to M85.
 *
 * option              default        effect
 * TARE_CLOCK_READ     DWT CYCCNT     expression that gives the free-running 32-bit clock
 * TARE_CLOCK_HZ       none           its rate
 * TARE_LOCK_BASEPRI   not set        lock by BASEPRI: the value, 1 to 255, that is written to it.
 *                                    Interrupts of that level and of less urgent ones are held off
 *                                    while a record is written; more urgent ones never are, and
 *                                    must not record. Not set: PRIMASK, which holds off all of them
 * TARE_PORT_IN_ORDER  by compiler    1: a core up to the Cortex-M4, which writes memory in the
 * order of the program and has no data cache: no barrier, no check TARE_CORES          1 cores that
 * record TARE_CORE_READ      0              expression that gives the number of this core, from 0
 * on
 */
#ifndef TARE_PORT_CORTEXM_H
#define TARE_PORT_CORTEXM_H

#define TARE_PORT_TARGET 1

#ifndef TARE_CLOCK_HZ
#error "Set TARE_CLOCK_HZ to the rate of the clock that TARE_CLOCK_READ reads"
#endif
#ifndef TARE_CLOCK_READ
#define TARE_CLOCK_READ \
    (*(volatile uint32_t *)0xE0001004) /* DWT CYCCNT: start it before tare_start */
#endif

typedef uint32_t tare_clock;

static inline tare_clock tare_port_clock(void)
{
    return TARE_CLOCK_READ;
}

/* ------------------------------------------------------------------ lock */

#ifdef TARE_LOCK_BASEPRI

#if __ARM_ARCH_ISA_THUMB < 2 || defined(__ARM_ARCH_8M_BASE__)
#error "TARE_LOCK_BASEPRI: this core has no BASEPRI (it begins with the Cortex-M3)"
#endif
#if TARE_LOCK_BASEPRI < 1 || TARE_LOCK_BASEPRI > 255
#error \
    "TARE_LOCK_BASEPRI must be the number that is written to BASEPRI, 1 to 255; 0 holds off nothing"
#endif

/* BASEPRI_MAX takes the value only if it is the stricter one, so that a caller who holds off more
 * keeps that. Raising the level takes effect with the instruction itself (but for the erratum of
 * the first Cortex-M7, see port/README.md). */
static inline uint32_t tare_port_mask(void)
{
    uint32_t state;
    __asm volatile("mrs %0, basepri\n\tmsr basepri_max, %1"
                   : "=&r"(state)
                   : "r"(TARE_LOCK_BASEPRI)
                   : "memory");
    return state;
}

static inline void tare_port_unmask(uint32_t state)
{
    __asm volatile("msr basepri, %0" ::"r"(state) : "memory");
}

#else

static inline uint32_t tare_port_mask(void)
{
    uint32_t state;
    __asm volatile("mrs %0, primask\n\tcpsid i" : "=r"(state)::"memory");
    return state;
}

static inline void tare_port_unmask(uint32_t state)
{
    __asm volatile("msr primask, %0" ::"r"(state) : "memory");
}

#endif

/* ------------------------------------------------------------------ stamp */

#if __ARM_ARCH_ISA_THUMB >= 2
/* The compiler does not find this instruction by itself. */
#define TARE_PORT_STAMP
static inline uint32_t tare_port_stamp(uint32_t word, uint32_t clock)
{
    __asm("bfi %0, %1, #0, #20" : "+r"(word) : "r"(clock));
    return word;
}
#endif

/* ------------------------------------------------------------------ order of memory
 * ARM's application note 321 (Memory Barrier Instructions): the Cortex-M0, M0+, M1, M3 and M4 write
 * to memory in the order of the program and need no DMB for that. The compiler proves that it
 * compiles for one of them in two cases: ARMv6-M, and ARMv7-M without the E, which is the M3. The
 * M4 shares ARMv7E-M with the M7: there it takes the option. All newer cores get the DMB. */

#ifndef TARE_PORT_IN_ORDER
#if defined(__ARM_ARCH_6M__) || defined(__ARM_ARCH_7M__)
#define TARE_PORT_IN_ORDER 1
#else
#define TARE_PORT_IN_ORDER 0
#endif
#endif

/* Orders the words before the offset that covers them, for a probe that reads memory meanwhile. */
static inline void tare_port_publish(volatile uint32_t *offset, uint32_t value)
{
#if TARE_PORT_IN_ORDER
    __asm volatile("" ::: "memory");
#else
    __asm volatile("dmb" ::: "memory");
#endif
    *offset = value;
}

/* ------------------------------------------------------------------ cores */

#ifndef TARE_CORES
#define TARE_CORES 1
#endif
#ifndef TARE_CORE_READ
#if TARE_CORES > 1
#error "TARE_CORES: set TARE_CORE_READ to an expression that gives the number of the core"
#endif
#define TARE_CORE_READ 0u
#endif

static inline uint32_t tare_port_core(void)
{
    return TARE_CORE_READ;
}

/* ------------------------------------------------------------------ cache
 * A probe reads memory, not the data cache, and what it writes the cache does not see. So the ring
 * must lie where the cache is not used. */

#if TARE_PORT_IN_ORDER || defined(__ARM_ARCH_8M_BASE__)

/* These cores have no data cache. */
static inline int tare_port_memory_is_seen(const void *at, uint32_t bytes)
{
    (void)at;
    (void)bytes;
    return 1;
}

#else

#ifndef TARE_PORT_REGISTER /* a test gives its own */
#define TARE_PORT_REGISTER(address) (*(volatile uint32_t *)(address))
#endif
#define TARE_PORT_CCR TARE_PORT_REGISTER(0xE000ED14u)
#define TARE_PORT_CCR_CACHED (1u << 16)
#define TARE_PORT_MPU_TYPE TARE_PORT_REGISTER(0xE000ED90u)
#define TARE_PORT_MPU_CONTROL TARE_PORT_REGISTER(0xE000ED94u)
#define TARE_PORT_MPU_NUMBER TARE_PORT_REGISTER(0xE000ED98u)
#define TARE_PORT_MPU_BASE TARE_PORT_REGISTER(0xE000ED9Cu)
#define TARE_PORT_MPU_EXTENT TARE_PORT_REGISTER(0xE000EDA0u) /* ARMv7-M RASR, ARMv8-M RLAR */
#define TARE_PORT_MPU_KINDS(half) TARE_PORT_REGISTER(0xE000EDC0u + 4u * (half)) /* ARMv8-M MAIR */
#if __ARM_ARCH >= 8
#define TARE_PORT_TCM_CONTROL TARE_PORT_REGISTER(0xE001E014u) /* DTCMCR of the M55 and later */
#define TARE_PORT_TCM_ADDRESSES 0xEFFFFFFFu /* at 0x20000000 and, secure, 0x30000000 */
#else
#define TARE_PORT_TCM_CONTROL TARE_PORT_REGISTER(0xE000EF94u) /* DTCMCR of the M7 */
#define TARE_PORT_TCM_ADDRESSES 0xFFFFFFFFu                   /* at 0x20000000 */
#endif

enum tare_port_region {
    TARE_PORT_ELSEWHERE, /* the region says nothing about the memory */
    TARE_PORT_UNCACHED,  /* all of the memory is in it and is not cached */
    TARE_PORT_CACHED     /* cached, or a part of the memory is elsewhere */
};

/* What the region of the MPU that is selected says about the memory from first to last. */
static inline enum tare_port_region tare_port_region(uint32_t first, uint32_t last)
{
    uint32_t base = TARE_PORT_MPU_BASE, extent = TARE_PORT_MPU_EXTENT, end, kind;

    if (!(extent & 1u))
        return TARE_PORT_ELSEWHERE;
#if __ARM_ARCH >= 8
    base &= ~31u;
    end = extent | 31u;
#else
    kind = extent >> 1 & 31u; /* the size is 2 to the power of this and one more */
    base &= ~((2u << kind) - 1u);
    end = base + ((2u << kind) - 1u);
#endif
    if (last < base || first > end)
        return TARE_PORT_ELSEWHERE;
    if (first < base || last > end)
        return TARE_PORT_CACHED;
#if __ARM_ARCH >= 8
    kind = extent >> 1 & 7u;
    kind = TARE_PORT_MPU_KINDS(kind / 4u) >> 8 * (kind % 4u) & 0xFFu;
    return kind == 0x44u || kind < 0x10u ? TARE_PORT_UNCACHED : TARE_PORT_CACHED;
#else
    if (extent & 0xFF00u) { /* some eighths are taken out of the region */
        uint32_t eighth = (end - base) / 8u + 1u;
        uint32_t ours = (0x200u << (last - base) / eighth) - (0x100u << (first - base) / eighth);

        if ((extent & ours) == ours)
            return TARE_PORT_ELSEWHERE;
        if (extent & ours)
            return TARE_PORT_CACHED;
    }
    kind = extent >> 16 & 0x3Bu; /* TEX, C, B: device and strongly ordered, or normal memory */
    return kind <= 1u || kind == 0x08u || kind == 0x10u || kind == 0x20u ? TARE_PORT_UNCACHED
                                                                         : TARE_PORT_CACHED;
#endif
}

/* For start-up, in privileged code. 1: a probe sees what is written to this memory and the program
 * sees what the probe writes, because the data cache is off, or it is tightly coupled memory, or
 * the MPU says that it is not cached. 0: not so, or more regions than one decide about it. */
static inline int tare_port_memory_is_seen(const void *at, uint32_t bytes)
{
    uint32_t first = (uint32_t)(uintptr_t)at, last = first + bytes - 1u;
    uint32_t tcm, offset, region, selected;
    enum tare_port_region said = TARE_PORT_ELSEWHERE;

    if (!(TARE_PORT_CCR & TARE_PORT_CCR_CACHED))
        return 1;
    tcm = TARE_PORT_TCM_CONTROL; /* bit 0: on; then 512 bytes times 2 to the power of bits 6 to 3 */
    offset = (first & TARE_PORT_TCM_ADDRESSES) - 0x20000000u;
    if ((tcm & 1u) && offset < 0x01000000u && offset + (last - first) < 512u << (tcm >> 3 & 15u))
        return 1;
    if (!(TARE_PORT_MPU_CONTROL & 1u))
        return 0;
    selected = TARE_PORT_MPU_NUMBER;
    /* The highest number decides on ARMv7-M; on ARMv8-M regions do not overlap. */
    for (region = TARE_PORT_MPU_TYPE >> 8 & 0xFFu; region-- > 0 && said == TARE_PORT_ELSEWHERE;) {
        TARE_PORT_MPU_NUMBER = region;
        said = tare_port_region(first, last);
    }
    TARE_PORT_MPU_NUMBER = selected;
    return said == TARE_PORT_UNCACHED;
}

#endif

#endif /* TARE_PORT_CORTEXM_H */
