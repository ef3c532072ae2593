/* An interrupt records while an event is about to open a block in a ring that a reader has emptied:
 * nothing may be lost, wherever the interrupt comes. The first interrupt comes after FIRST steps of
 * the clock, the last after LAST. */
#include "board.h"
#include "tare.h"

#define FIRST 2u
#define LAST 700u

TARE_CATEGORY(work, 0, "work")
TARE_EVENT1(outside, work, "outside", u32, number, "")
TARE_EVENT1(inside, work, "inside", u32, number, "")

static volatile uint32_t interrupts, offset_at_interrupt;

void board_tick(void)
{
    board_tick_every(0);
    offset_at_interrupt = tare_channel_of_core(0)->write_offset;
    inside(interrupts);
    interrupts++;
}

static void print(const char *name, uint32_t value)
{
    board_print(name);
    board_print(" ");
    board_print_number(value);
    board_print("\n");
}

int main(void)
{
    struct tare_channel *up = tare_channel_of_core(0);
    struct tare_totals counts;
    uint32_t counts_later, first = 0, next = 0;

    if (tare_start() != 0)
        return 1;
    for (counts_later = FIRST; counts_later <= LAST; counts_later++) {
        uint32_t before = interrupts;

        do { /* up to the end of a block, which an anchor of 6 and records of 2 words fill */
            outside(0);
            up->read_offset = up->write_offset;
        } while (up->write_offset % 256 != 0);
        board_tick_every(counts_later);
        outside(counts_later);
        while (interrupts == before)
            ;
        first += offset_at_interrupt % 256 == 0; /* before the block was opened */
        next += offset_at_interrupt % 256 == 32; /* behind the event */
        up->read_offset = up->write_offset;
    }
    tare_stop();
    tare_counts(&counts);
    print("dropped", counts.dropped);
    print("before", first);
    print("behind", next);
    print("interrupts", interrupts);
    return 0;
}
