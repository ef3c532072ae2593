/* Start-up of a program on the MPS2 board: vectors, memory, console, end. */
#include "mps2_board.h"

#include <stddef.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))

#define UART_DATA REGISTER(0x40004000u)
#define UART_STATE REGISTER(0x40004004u) /* bit 0: full */
#define UART_CONTROL REGISTER(0x40004008u)
#define UART_DIVIDER REGISTER(0x40004010u)

#define SYSTICK_CONTROL REGISTER(0xE000E010u)
#define SYSTICK_RELOAD REGISTER(0xE000E014u)
#define SYSTICK_VALUE REGISTER(0xE000E018u)

#define COUNTER_PRESCALE REGISTER(0x4002801Cu)

/* From the linker script. */
extern uint32_t mps2_data_source[], mps2_data_begin[], mps2_data_end[];
extern uint32_t mps2_bss_begin[], mps2_bss_end[];
extern uint32_t mps2_stack_top[];

void mps2_reset(void);
void mps2_fault(void);

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

void mps2_fault(void)
{
    mps2_print("the processor took a fault\n");
    mps2_exit(99);
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

void mps2_tick_every(uint32_t counts)
{
    SYSTICK_CONTROL = 0;
    if (counts == 0)
        return;
    SYSTICK_RELOAD = counts - 1;
    SYSTICK_VALUE = 0;
    SYSTICK_CONTROL = 7; /* processor's clock, interrupt, run */
}

void mps2_reset(void)
{
    uint32_t *from = mps2_data_source, *to;

    for (to = mps2_data_begin; to < mps2_data_end;)
        *to++ = *from++;
    for (to = mps2_bss_begin; to < mps2_bss_end;)
        *to++ = 0;
    UART_DIVIDER = 16;
    UART_CONTROL = 1;
    COUNTER_PRESCALE = 0;
    mps2_exit(main());
}

/* The processor's own vectors; the board's interrupts stay off. */
static void (*const mps2_vectors[16])(void) __attribute__((section(".vectors"), used)) = {
    (void (*)(void))mps2_stack_top,
    mps2_reset,
    mps2_fault,
    mps2_fault,
    mps2_fault,
    mps2_fault,
    mps2_fault,
    NULL,
    NULL,
    NULL,
    NULL,
    mps2_fault,
    mps2_fault,
    NULL,
    mps2_fault,
    mps2_tick,
};
