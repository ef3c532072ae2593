/* Port: Cortex-M without an operating system. One core, one ring; interrupts are masked by PRIMASK
 * while a record is written, so an interrupt's events stand between records, never inside one. */
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

/* Orders the words before the offset that covers them, for a probe that reads memory meanwhile. */
static inline void tare_port_publish(volatile uint32_t *offset, uint32_t value)
{
    __asm volatile("dmb" ::: "memory");
    *offset = value;
}

#endif /* TARE_PORT_CORTEXM_H */
