/* What a target has to say, for the cores that are compiled for here. */
#ifdef __riscv
#define TARE_PORT_FILE "port/tare_port_riscv.h"
#define TARE_CLOCK_READ (*(volatile uint32_t *)0x0200BFF8u)
#define TARE_CLOCK_HZ 10000000u
#elif defined(__arm__)
#define TARE_CLOCK_READ (*(volatile uint32_t *)0x40028018u)
#define TARE_CLOCK_HZ 25000000u
#define TARE_CORE_READ (*(volatile uint32_t *)0x40028010u & 1u)
#endif
