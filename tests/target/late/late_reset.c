/* Numbered events at a pace while the host says `go`; the host resets the board in between. */
#include "board.h"
#include "tare.h"

TARE_CATEGORY(numbers, 0, "numbers")
TARE_EVENT1(number, numbers, "number", u32, value, "")

volatile uint32_t go, finish, recorded;
static volatile uint32_t ticks;

void board_tick(void)
{
    ticks++;
    tare_service();
}

int main(void)
{
    uint32_t next;

    if (tare_start() != 0)
        return 1;
    board_tick_every(BOARD_COUNTER_HZ / 1000);
    while (!finish) {
        next = ticks + 1;
        if (go) {
            number(recorded);
            recorded++;
        }
        while ((int32_t)(ticks - next) < 0)
            ;
    }
    board_tick_every(0);
    tare_stop();
    board_print("recorded ");
    board_print_number(recorded);
    board_print("\n");
    return 0;
}
