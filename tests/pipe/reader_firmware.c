/* Firmware that readers are tried on. Numbered events at a steady pace in real time; after FIRST of
 * them a burst and a reset with the burst unread; then SECOND of them and an end in order.
 */
#include "mps2_board.h"
#include "tare.h"

#ifndef FIRST
#define FIRST 3000u
#endif
#ifndef SECOND
#define SECOND 6000u
#endif
#define BURST 150u

TARE_CATEGORY(numbers, 0, "numbers")
TARE_CATEGORY(extras, 1, "extras")
TARE_EVENT1(number, numbers, "number", u32, value, "")
TARE_EVENT1(extra, extras, "extra", u32, value, "")

static volatile uint32_t ticks;
static volatile uint32_t starts __attribute__((section(".noinit")));

void mps2_tick(void)
{
    ticks++;
    tare_service();
}

static void reset_board(void)
{
    volatile uint32_t *control = (volatile uint32_t *)0xE000ED0Cu;

    *control = 0x05FA0004u; /* VECTKEY, SYSRESETREQ */
    for (;;)
        ;
}

/* Bytes in the ring that nobody has read. */
static uint32_t unread(void)
{
    const struct tare_channel *up = tare_channel_of_core(0);

    return (up->write_offset - up->read_offset + TARE_RING_BYTES) % TARE_RING_BYTES;
}

/* Two numbers and a quarter of an extra each millisecond, 18 kB/s, or what the reader takes: no
 * event is dropped, however busy the machine is that the board and the reader run on. */
static void record_numbers(uint32_t count)
{
    uint32_t value, next;

    for (value = 0; value < count; value++) {
        while (unread() > TARE_RING_BYTES / 4)
            ;
        number(value);
        if (value % 8 == 0)
            extra(value);
        if (value % 2 == 1) {
            next = ticks + 1;
            while ((int32_t)(ticks - next) < 0)
                ;
        }
    }
}

int main(void)
{
    volatile uint32_t *read_offset = &tare_channel_of_core(0)->read_offset; /* the reader's */
    uint32_t value;

    if (starts > 1) /* whatever the memory held before */
        starts = 0;
    if (tare_start() != 0)
        return 1;
    mps2_tick_every(MPS2_COUNTER_HZ / 1000);
    if (starts == 0) {
        mps2_print("ready\n");
        while (*read_offset == 0) /* somebody reads */
            ;
        record_numbers(FIRST);
        for (value = 0; value < BURST; value++)
            number(FIRST + value);
        starts = 1;
        reset_board();
    }
    record_numbers(SECOND);
    starts = 0;
    tare_stop();
    mps2_print("done\n");
    return 0;
}
