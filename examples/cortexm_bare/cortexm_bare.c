/* Records on a Cortex-M without an operating system.
 *
 * Build it for QEMU's board mps2-an385, run it, and read the events out of its memory:
 *
 *     cost/rigs/qemu/build_board.sh bare.elf examples/cortexm_bare/cortexm_bare.c \
 *         -Iexamples/cortexm_bare -DTARE_CONF_FILE='"cortexm_bare_conf.h"'
 *     cost/rigs/qemu/run_board.sh bare.elf bare.ram
 *     tare dump bare.ram
 *
 * On a board of your own: your start-up code and linker script, unchanged; compile recorder/tare.c;
 * read the ring with any RTT reader, or save the RAM with a debugger.
 */
#include "mps2_board.h"
#include "tare.h"

TARE_CATEGORY(motor, 0, "motor")
TARE_VALUE(speed, motor, "speed", i32, "rpm")
TARE_SPAN(control, motor, "control step")
TARE_STATES(mode, motor, "mode", "{stopped,accelerating,steady}")
TARE_EVENT1(tick, motor, "tick", u32, number, "")
TARE_STRING(note, motor, "note")

static volatile uint32_t ticks;

/* Interrupt, every millisecond: events may come from anywhere. */
void mps2_tick(void)
{
    ticks++;
    tick(ticks);
    tare_service(); /* keeps the 64-bit time through silences */
}

int main(void)
{
    uint32_t step;
    int32_t rpm = 0;

    if (tare_start() != 0)
        return 1;
    tare_thread_name("main core");
    mps2_tick_every(MPS2_COUNTER_HZ / 1000);
    note("warming up");
    mode(1);
    for (step = 0; step < 20; step++) {
        uint32_t next = ticks + 1;

        control_begin(step);
        rpm += (3000 - rpm) / 4;
        speed(rpm);
        control_end(step);
        if (step == 15)
            mode(2);
        while (ticks < next)
            ;
    }
    mps2_tick_every(0);
    mode(0);
    tare_stop();
    mps2_print("done\n");
    return 0;
}
