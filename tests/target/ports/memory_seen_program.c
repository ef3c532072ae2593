/* tare_port_memory_is_seen() on a Cortex-M7 and on a Cortex-M55. The memory protection unit is the
 * emulated one; QEMU has no caches and no registers for tightly coupled memory, so these two are
 * variables here. Prints each case that comes out wrong; the status is their number. */
#include "board.h"

static uint32_t configuration, tightly_coupled;

static volatile uint32_t *register_at(uint32_t address)
{
    if (address == 0xE000ED14u)
        return &configuration;
    if (address == 0xE000EF94u || address == 0xE001E014u)
        return &tightly_coupled;
    return (volatile uint32_t *)address;
}
#define TARE_CLOCK_HZ BOARD_COUNTER_HZ
#define TARE_PORT_REGISTER(address) (*register_at(address))
#include "port/tare_port_cortexm.h"

#define CACHE_ON (1u << 16)
#define MPU_ON 5u /* with the ordinary map behind it */

static int wrong;

static void expect(int line, int seen, uint32_t at, uint32_t bytes)
{
    if (tare_port_memory_is_seen((const void *)at, bytes) == seen)
        return;
    wrong++;
    board_print("wrong in line ");
    board_print_number((uint32_t)line);
    board_print("\n");
}
#define SEEN(at, bytes) expect(__LINE__, 1, at, bytes)
#define UNSEEN(at, bytes) expect(__LINE__, 0, at, bytes)

static void region(uint32_t number, uint32_t base, uint32_t extent)
{
    TARE_PORT_MPU_NUMBER = number;
    TARE_PORT_MPU_BASE = base;
    TARE_PORT_MPU_EXTENT = extent;
}

#if __ARM_ARCH >= 8

#define KIND(number) ((number) << 1 | 1u)

static void test_regions(void)
{
    TARE_PORT_MPU_KINDS(0) = 0x00BB44FFu; /* write-back, not cached, write-through, device */
    TARE_PORT_MPU_KINDS(1) = 0x000C4F44u; /* not cached, write-back outside only, device */
    region(0, 0x24000000u, 0x24007FE0u | KIND(0));
    region(1, 0x24008000u, 0x2400FFE0u | KIND(1));
    region(2, 0x24010000u, 0x24017FE0u | KIND(2));
    region(3, 0x24018000u, 0x2401FFE0u | KIND(3));
    region(4, 0x24020000u, 0x24027FE0u | KIND(4));
    region(5, 0x24028000u, 0x2402FFE0u | KIND(5));
    region(6, 0x24030000u, 0x24037FE0u | KIND(6));
    region(7, 0x24038000u, 0x2403FFE0u); /* disabled */
    UNSEEN(0x24008000u, 4096);           /* the unit is off */
    TARE_PORT_MPU_CONTROL = MPU_ON;
    UNSEEN(0x24000000u, 4096);
    SEEN(0x24008000u, 0x8000);
    UNSEEN(0x24008000u, 0x8001); /* a byte beyond it */
    UNSEEN(0x24007FF0u, 32);
    UNSEEN(0x24010000u, 4096);
    SEEN(0x24018000u, 4096);
    SEEN(0x24020000u, 4096);
    UNSEEN(0x24028000u, 4096);
    SEEN(0x24030000u, 4096);
    UNSEEN(0x24038000u, 4096);
}

#else

#define SIZE(bits) (((bits)-1u) << 1 | 1u)
#define WRITE_BACK (0x0Bu << 16)    /* TEX 1, C, B */
#define NOT_CACHED (0x08u << 16)    /* TEX 1 */
#define WRITE_THROUGH (0x02u << 16) /* C */
#define DEVICE (0x01u << 16)        /* B */
#define SHAREABLE (0x04u << 16)
#define ACCESS (3u << 24)

static void test_regions(void)
{
    region(0, 0x24000000u, ACCESS | WRITE_BACK | SIZE(18)); /* 256 KiB, the others lie on it */
    region(1, 0x24008000u, ACCESS | NOT_CACHED | SIZE(15));
    region(2, 0x2400C000u, ACCESS | WRITE_BACK | SIZE(12));
    region(3, 0x24010000u, ACCESS | DEVICE | SHAREABLE | SIZE(15));
    region(4, 0x24018000u, ACCESS | WRITE_THROUGH | SIZE(15));
    region(5, 0x24020000u, ACCESS | NOT_CACHED | SHAREABLE | 0x8000u | SIZE(16)); /* less 1/8 */
    region(6, 0x24030000u, ACCESS | SIZE(15));                      /* strongly ordered */
    region(7, 0x24038000u, (ACCESS | NOT_CACHED | SIZE(15)) & ~1u); /* disabled */
    UNSEEN(0x24008000u, 4096);                                      /* the unit is off */
    TARE_PORT_MPU_CONTROL = MPU_ON;
    UNSEEN(0x24000000u, 4096);
    SEEN(0x24008000u, 0x4000);
    UNSEEN(0x24008000u, 0x4001); /* a byte in the region on it */
    UNSEEN(0x24007FF0u, 32);
    UNSEEN(0x2400C000u, 4096);
    SEEN(0x2400D000u, 4096);
    SEEN(0x24010000u, 4096);
    UNSEEN(0x24018000u, 4096);
    SEEN(0x24020000u, 0xE000);
    UNSEEN(0x24020000u, 0xE001);
    UNSEEN(0x2402E000u, 0x2000);
    region(4, 0x2402E000u,
           ACCESS | NOT_CACHED | SIZE(13)); /* decides where that eighth is missing */
    SEEN(0x2402E000u, 0x2000);
    SEEN(0x24022000u, 0x2000);
    SEEN(0x24030000u, 4096);
    UNSEEN(0x24038000u, 4096);
    UNSEEN(0x60000000u, 4096);
    region(7, 0, ACCESS | NOT_CACHED | SIZE(32)); /* all of the address space */
    SEEN(0x24038000u, 4096);
    region(7, 0, 0);
}

#endif

int main(void)
{
    SEEN(0x60000000u, 4096); /* no cache: all is seen */
    configuration = CACHE_ON;
    UNSEEN(0x20000000u, 4096);
    tightly_coupled = 8u << 3 | 1u; /* 128 KiB */
    SEEN(0x20000000u, 0x20000);
    UNSEEN(0x20000000u, 0x20001);
    UNSEEN(0x2001FFF0u, 32);
    UNSEEN(0x1FFFFFF0u, 32);
    UNSEEN(0x21000000u, 4096);
#if __ARM_ARCH >= 8
    SEEN(0x30000000u, 0x20000);
#else
    UNSEEN(0x30000000u, 4096); /* ordinary memory on many parts */
#endif
    tightly_coupled = 8u << 3; /* off */
    UNSEEN(0x20000000u, 4096);
    TARE_PORT_MPU_NUMBER = 3;
    test_regions();
    TARE_PORT_MPU_NUMBER = 3;
    UNSEEN(0x70000000u, 4096);
    if (TARE_PORT_MPU_NUMBER != 3)
        wrong++;
    return wrong;
}
