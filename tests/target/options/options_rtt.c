/* Firmware that has an RTT control block of its own, in which channel 1 is left to the recorder.
 * The host says `go`, then `finish`. */
#include "board.h"
#include "tare.h"

#define UP_CHANNELS 3
#define DOWN_CHANNELS 2

TARE_CATEGORY(numbers, 0, "numbers")
TARE_EVENT1(number, numbers, "number", u32, value, "")

struct channel {
    const char *name;
    char *buffer;
    uint32_t bytes, write_offset, read_offset, flags;
};

static char terminal[64] = "hello from the terminal", log_bytes[48] = "log", input[16], keys[8];

struct {
    char id[16];
    uint32_t up_channels, down_channels;
    struct channel up[UP_CHANNELS], down[DOWN_CHANNELS];
} _SEGGER_RTT = {
    "",
    UP_CHANNELS,
    DOWN_CHANNELS,
    {{"Terminal", terminal, sizeof(terminal), 23, 5, 2},
     {0},
     {"Log", log_bytes, sizeof(log_bytes), 3, 0, 0}},
    {{"Terminal", input, sizeof(input), 0, 0, 0}, {"Keys", keys, sizeof(keys), 4, 4, 1}},
};

volatile uint32_t stage, go, finish, recorded;
static volatile uint32_t ticks;

void board_tick(void)
{
    ticks++;
    tare_service();
}

int main(void)
{
    static const char id[] = "TTR REGGES"; /* not a copy of the id itself */
    uint32_t i, next;

    for (i = 0; i < sizeof(id) - 1; i++)
        _SEGGER_RTT.id[i] = id[sizeof(id) - 2 - i];
    stage = 1;
    while (!go)
        ;
    if (tare_start() != 0)
        return 1;
    board_tick_every(BOARD_COUNTER_HZ / 1000);
    for (; recorded < 100; recorded++)
        number(recorded);
    stage = 2;
    while (!finish) {
        next = ticks + 1;
        number(recorded);
        recorded++;
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
