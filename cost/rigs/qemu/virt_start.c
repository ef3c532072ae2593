/* Start-up of a program on QEMU's machine virt: trap, memory, console, end. */
#include "virt_board.h"

#define REGISTER(address) (*(volatile uint32_t *)(address))

#define UART_DATA (*(volatile uint8_t *)0x10000000u)
#define UART_STATE (*(volatile uint8_t *)0x10000005u) /* bit 5: the transmitter is empty */

#define FINISH REGISTER(0x00100000u) /* ends QEMU */
#define FINISH_PASS 0x5555u
#define FINISH_FAIL 0x3333u /* with the status in the upper half */

#define COMPARE_LOW REGISTER(0x02004000u) /* mtimecmp of hart 0 */
#define COMPARE_HIGH REGISTER(0x02004004u)
#define COUNTER_HIGH REGISTER(VIRT_COUNTER_ADDRESS + 4u)

#define SOFTWARE_INTERRUPT(hart) REGISTER(0x02000000u + 4u * (hart))
#define SOFTWARE_ENABLE 0x8u /* mie.MSIE, mip.MSIP */

#define TIMER_INTERRUPT 0x80000007u /* mcause */
#define TIMER_ENABLE 0x80u          /* mie.MTIE */
#define INTERRUPTS_ENABLE 0x8u      /* mstatus.MIE */

/* From the linker script. */
extern uint32_t virt_data_source[], virt_data_begin[], virt_data_end[];
extern uint32_t virt_bss_begin[], virt_bss_end[];

void virt_reset(void);
void virt_start(void);
void virt_wait(uint32_t hart);
void virt_trap(void);

static uint32_t tick_counts;

void __attribute__((weak)) virt_tick(void)
{
}

void __attribute__((weak)) virt_other_main(uint32_t hart)
{
    (void)hart;
}

void virt_exit(int status)
{
    FINISH = status == 0 ? FINISH_PASS : (uint32_t)status << 16 | FINISH_FAIL;
    for (;;)
        ;
}

void virt_print(const char *text)
{
    for (; *text; text++) {
        while (!(UART_STATE & 0x20u))
            ;
        UART_DATA = (uint8_t)*text;
    }
}

void virt_print_number(uint32_t number)
{
    char digits[11];
    char *at = digits + sizeof(digits) - 1;

    *at = 0;
    do
        *--at = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    virt_print(at);
}

void virt_print_hex(const char *name, uint32_t number)
{
    char digits[] = " 0x00000000\n";
    uint32_t i;

    for (i = 0; i < 8; i++)
        digits[10 - i] = "0123456789abcdef"[number >> (4 * i) & 15u];
    virt_print(name);
    virt_print(digits);
}

/* The halves are written so that no time in between is in the past. */
static void compare_at(uint32_t high, uint32_t low)
{
    COMPARE_HIGH = 0xFFFFFFFFu;
    COMPARE_LOW = low;
    COMPARE_HIGH = high;
}

void virt_tick_every(uint32_t counts)
{
    uint32_t high, low;

    __asm volatile("csrc mie, %0" ::"r"(TIMER_ENABLE));
    tick_counts = counts;
    if (counts == 0)
        return;
    do {
        high = COUNTER_HIGH;
        low = VIRT_COUNTER;
    } while (high != COUNTER_HIGH);
    compare_at(high + (low + counts < low), low + counts);
    __asm volatile("csrs mie, %0" ::"r"(TIMER_ENABLE));
}

void __attribute__((interrupt, aligned(4))) virt_trap(void)
{
    uint32_t cause, at, value;

    __asm volatile("csrr %0, mcause" : "=r"(cause));
    if (cause == TIMER_INTERRUPT) {
        uint32_t low = COMPARE_LOW;

        compare_at(COMPARE_HIGH + (low + tick_counts < low), low + tick_counts);
        virt_tick();
        return;
    }
    __asm volatile("csrr %0, mepc" : "=r"(at));
    __asm volatile("csrr %0, mtval" : "=r"(value));
    virt_print("the processor took a trap\n");
    virt_print_hex("mcause", cause);
    virt_print_hex("mepc", at);
    virt_print_hex("mtval", value);
    virt_exit(99);
}

__attribute__((used)) void virt_start(void)
{
    uint32_t *from = virt_data_source, *to;

    for (to = virt_data_begin; to < virt_data_end;)
        *to++ = *from++;
    for (to = virt_bss_begin; to < virt_bss_end;)
        *to++ = 0;
    __asm volatile("csrw mtvec, %0" ::"r"(virt_trap));
    __asm volatile("csrs mstatus, %0" ::"r"(INTERRUPTS_ENABLE));
    virt_exit(main());
}

void virt_start_hart(uint32_t hart)
{
    __asm volatile("fence" ::: "memory");
    SOFTWARE_INTERRUPT(hart) = 1;
}

/* All harts leave reset together; the memory is hart 0's to set up. */
__attribute__((used)) void virt_wait(uint32_t hart)
{
    uint32_t pending;

    __asm volatile("csrs mie, %0" ::"r"(SOFTWARE_ENABLE));
    do {
        __asm volatile("wfi");
        __asm volatile("csrr %0, mip" : "=r"(pending));
    } while (!(pending & SOFTWARE_ENABLE));
    __asm volatile("csrc mie, %0" ::"r"(SOFTWARE_ENABLE));
    SOFTWARE_INTERRUPT(hart) = 0;
    __asm volatile("csrw mtvec, %0" ::"r"(virt_trap));
    __asm volatile("csrs mstatus, %0" ::"r"(INTERRUPTS_ENABLE) : "memory");
    virt_other_main(hart);
    for (;;)
        __asm volatile("wfi");
}

/* The stack and the global pointer come first; the linker must not shorten that by using them. Each
 * hart has a MiB of stack. */
__attribute__((naked, section(".reset"))) void virt_reset(void)
{
    __asm volatile(".option push\n\t"
                   ".option norelax\n\t"
                   "la gp, __global_pointer$\n\t"
                   ".option pop\n\t"
                   "la sp, virt_stack_top\n\t"
                   "csrr a0, mhartid\n\t"
                   "bnez a0, 1f\n\t"
                   "j virt_start\n"
                   "1:\n\t"
                   "slli t0, a0, 20\n\t"
                   "sub sp, sp, t0\n\t"
                   "j virt_wait");
}
