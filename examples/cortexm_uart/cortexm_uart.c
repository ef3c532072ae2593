/* Records on a Cortex-M without a probe: the events leave over a UART, between whatever else the
 * program prints there.
 *
 *     cost/rigs/qemu/build_mps2.sh uart.elf examples/cortexm_uart/cortexm_uart.c \
 *         -Iexamples/cortexm_uart -DTARE_CONF_FILE='"cortexm_uart_conf.h"'
 *     cost/rigs/qemu/run_mps2.sh uart.elf uart.ram | tare record --frames - -o uart.tare
 *     tare dump uart.tare
 *
 * On a board of your own: compile recorder/transport/tare_transport.c, give it your UART, and read
 * the port with `tare record serial:/dev/ttyUSB0 --baud 921600 -o uart.tare`.
 */
#include "mps2_board.h"
#include "tare.h"

#include "transport/tare_transport.c" /* the board's build script compiles one file */

#define UART_DATA (*(volatile uint32_t *)MPS2_UART0)
#define UART_STATE (*(volatile uint32_t *)(MPS2_UART0 + 4u)) /* bit 0: full, bit 1: received */
#define UART_CONTROL (*(volatile uint32_t *)(MPS2_UART0 + 8u))

#define ROUNDS 2000u

TARE_CATEGORY(motor, 0, "motor")
TARE_EVENT1(round_done, motor, "round done", u32, number, "")
TARE_VALUE(speed, motor, "speed", i32, "rpm")
TARE_EVENT1(tick, motor, "tick", u32, number, "")
TARE_STRING(note, motor, "note")

static volatile uint32_t ticks;

/* Interrupt, ten times a millisecond: events may come from anywhere, also amid the sending. */
void mps2_tick(void)
{
    ticks++;
    tick(ticks);
    tare_service();
}

/* One byte at a time is what this UART takes. */
static uint32_t uart_room(void *context)
{
    (void)context;
    return (UART_STATE & 1u) == 0;
}

static void uart_send(void *context, const unsigned char *bytes, uint32_t size)
{
    (void)context;
    for (; size > 0; size--)
        UART_DATA = *bytes++;
}

int main(void)
{
    uint32_t number;
    int32_t rpm = 0;

    UART_CONTROL = 3; /* both ways */
    if (tare_start() != 0)
        return 1;
    mps2_print("motor control starts\n");
    mps2_tick_every(MPS2_COUNTER_HZ / 10000);
    note("over a line that others use too");
    for (number = 1; number <= ROUNDS; number++) {
        round_done(number);
        rpm += (3000 - rpm) / 4;
        speed(rpm);
        while (UART_STATE & 2u)
            tare_frame_command((unsigned char)UART_DATA);
        tare_frame_send(uart_send, uart_room, NULL);
    }
    mps2_tick_every(0);
    tare_stop();
    while (tare_frame_send(uart_send, uart_room, NULL) > 0)
        ;
    mps2_print("done\n");
    return 0;
}
