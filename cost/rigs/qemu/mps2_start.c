/* Start-up of a program on an MPS2 board: vectors, memory, console, end. */
#include "mps2_board.h"

#include <stddef.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))

#define UART_DATA REGISTER(MPS2_UART0)
#define UART_STATE REGISTER(MPS2_UART0 + 0x04u) /* bit 0: full */
#define UART_CONTROL REGISTER(MPS2_UART0 + 0x08u)
#define UART_DIVIDER REGISTER(MPS2_UART0 + 0x10u)

#define SYSTICK_CONTROL REGISTER(0xE000E010u)
#define SYSTICK_RELOAD REGISTER(0xE000E014u)
#define SYSTICK_VALUE REGISTER(0xE000E018u)
#define SYSTICK_LEVEL REGISTER(0xE000ED20u) /* SHPR3, its upper byte */

#define VECTORS_ADDRESS REGISTER(0xE000ED08u) /* VTOR */

#define COUNTER_PRESCALE REGISTER(MPS2_FPGAIO + 0x1Cu)

#define INTERRUPT_ENABLE REGISTER(0xE000E100u)
#define INTERRUPT_DISABLE REGISTER(0xE000E180u)
#define INTERRUPT_LEVELS ((volatile uint32_t *)0xE000E400u) /* a byte each */

#define FAULT_STATE REGISTER(0xE000ED28u)      /* CFSR */
#define FAULT_HARD_STATE REGISTER(0xE000ED2Cu) /* HFSR */
#define FAULT_ADDRESS REGISTER(0xE000ED38u)    /* BFAR */

/* From the linker script. */
extern uint32_t mps2_data_source[], mps2_data_begin[], mps2_data_end[];
extern uint32_t mps2_bss_begin[], mps2_bss_end[];
extern uint32_t mps2_stack_top[];

void mps2_reset(void);
void mps2_fault(void);
void mps2_fault_report(const uint32_t *frame);
void mps2_unexpected(void);
extern void (*const mps2_vectors[16 + MPS2_INTERRUPTS])(void);

void __attribute__((weak)) mps2_tick(void)
{
}

void mps2_exit(int status)
{
    uint32_t reason[2] = {0x20026u /* the application ended */, (uint32_t)status};
    register uint32_t operation __asm("r0") = 0x20u; /* semihosting: exit, extended */
    register uint32_t *parameters __asm("r1") = reason;

    __asm volatile("bkpt 0xAB" ::"r"(operation), "r"(parameters) : "memory");
    for (;;)
        ;
}

void mps2_print(const char *text)
{
    for (; *text; text++) {
        while (UART_STATE & 1u)
            ;
        UART_DATA = (uint32_t)(unsigned char)*text;
    }
}

void mps2_print_number(uint32_t number)
{
    char digits[11];
    char *at = digits + sizeof(digits) - 1;

    *at = 0;
    do
        *--at = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    mps2_print(at);
}

void mps2_print_hex(const char *name, uint32_t number)
{
    char digits[] = " 0x00000000\n";
    uint32_t i;

    for (i = 0; i < 8; i++)
        digits[10 - i] = "0123456789abcdef"[number >> (4 * i) & 15u];
    mps2_print(name);
    mps2_print(digits);
}

void mps2_tick_every(uint32_t counts)
{
    SYSTICK_CONTROL = 0;
    if (counts == 0)
        return;
    SYSTICK_RELOAD = counts - 1;
    SYSTICK_VALUE = 0;
    SYSTICK_CONTROL = 7; /* processor's clock, interrupt, run */
}

void mps2_tick_level(uint32_t level)
{
    SYSTICK_LEVEL = (SYSTICK_LEVEL & 0x00FFFFFFu) | level << 24;
}

void mps2_reset(void)
{
    uint32_t *from = mps2_data_source, *to;

    for (to = mps2_data_begin; to < mps2_data_end;)
        *to++ = *from++;
    for (to = mps2_bss_begin; to < mps2_bss_end;)
        *to++ = 0;
    VECTORS_ADDRESS = (uint32_t)mps2_vectors;
    UART_DIVIDER = 16;
    UART_CONTROL = 1;
    COUNTER_PRESCALE = 0;
    mps2_exit(main());
}

/* Bit 2 of the return code in lr tells on which stack the processor put the registers. */
__attribute__((naked)) void mps2_fault(void)
{
    __asm volatile("movs r0, #4\n\t"
                   "mov r1, lr\n\t"
                   "tst r0, r1\n\t"
                   "beq 1f\n\t"
                   "mrs r0, psp\n\t"
                   "b 2f\n"
                   "1:\n\t"
                   "mrs r0, msp\n"
                   "2:\n\t"
                   "ldr r1, =mps2_fault_report\n\t"
                   "bx r1\n\t"
                   ".ltorg");
}

__attribute__((used)) void mps2_fault_report(const uint32_t *frame)
{
    mps2_print("the processor took a fault\n");
    mps2_print_hex("pc", frame[6]);
    mps2_print_hex("lr", frame[5]);
    mps2_print_hex("CFSR", FAULT_STATE);
    mps2_print_hex("HFSR", FAULT_HARD_STATE);
    mps2_print_hex("BFAR", FAULT_ADDRESS);
    mps2_exit(99);
}

void mps2_unexpected(void)
{
    uint32_t exception;

    __asm volatile("mrs %0, ipsr" : "=r"(exception));
    if (exception < 16) {
        mps2_print("nobody handles the exception ");
        mps2_print_number(exception);
    } else {
        mps2_print("nobody handles the interrupt ");
        mps2_print_number(exception - 16);
    }
    mps2_print("\n");
    mps2_exit(98);
}

void mps2_interrupt_enable(uint32_t number, uint32_t level)
{
    uint32_t shift = 8 * (number % 4);

    INTERRUPT_LEVELS[number / 4] =
        (INTERRUPT_LEVELS[number / 4] & ~(0xFFu << shift)) | (level << shift);
    INTERRUPT_ENABLE = 1u << number;
}

void mps2_interrupt_disable(uint32_t number)
{
    INTERRUPT_DISABLE = 1u << number;
    __asm volatile("dsb\n\tisb" ::: "memory");
}

__attribute__((weak)) void SysTick_Handler(void)
{
    mps2_tick();
}

#define WEAK_HANDLER(name) void name(void) __attribute__((weak, alias("mps2_unexpected")))

WEAK_HANDLER(SVC_Handler);
WEAK_HANDLER(PendSV_Handler);

/* Four neighbours of the table of interrupts: first what declares, then what names them. */
#define WEAK_FOUR(a, b, c, d) \
    WEAK_HANDLER(mps2_interrupt_##a); \
    WEAK_HANDLER(mps2_interrupt_##b); \
    WEAK_HANDLER(mps2_interrupt_##c); \
    WEAK_HANDLER(mps2_interrupt_##d)
#define FOUR(a, b, c, d) \
    mps2_interrupt_##a, mps2_interrupt_##b, mps2_interrupt_##c, mps2_interrupt_##d

WEAK_FOUR(0, 1, 2, 3);
WEAK_FOUR(4, 5, 6, 7);
WEAK_FOUR(8, 9, 10, 11);
WEAK_FOUR(12, 13, 14, 15);
WEAK_FOUR(16, 17, 18, 19);
WEAK_FOUR(20, 21, 22, 23);
WEAK_FOUR(24, 25, 26, 27);
WEAK_FOUR(28, 29, 30, 31);

void (*const mps2_vectors[16 + MPS2_INTERRUPTS])(void)
    __attribute__((section(".vectors"), used)) = {
        (void (*)(void))mps2_stack_top,
        mps2_reset,
        mps2_fault,
        mps2_fault,
        mps2_fault,
        mps2_fault,
        mps2_fault,
        mps2_fault,
        NULL,
        NULL,
        NULL,
        SVC_Handler,
        mps2_fault,
        NULL,
        PendSV_Handler,
        SysTick_Handler,
        FOUR(0, 1, 2, 3),
        FOUR(4, 5, 6, 7),
        FOUR(8, 9, 10, 11),
        FOUR(12, 13, 14, 15),
        FOUR(16, 17, 18, 19),
        FOUR(20, 21, 22, 23),
        FOUR(24, 25, 26, 27),
        FOUR(28, 29, 30, 31),
};
