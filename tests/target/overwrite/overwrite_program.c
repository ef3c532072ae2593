/* Records into a ring that keeps the newest events, until the host sets `finish`. The host looks at
 * the memory meanwhile. */
#include "board.h"
#include "tare_kernel.h"

TARE_CATEGORY(numbers, 0, "numbers")
TARE_EVENT1(number, numbers, "number", u32, value, "")
TARE_EVENT2(pair, numbers, "pair", u32, first, "", u32, second, "")

volatile uint32_t finish, recorded, pace;
static volatile uint32_t ticks;

void board_tick(void)
{
    ticks++;
    pair(ticks, recorded);
    tare_service();
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
    static const char *const names[] = {"receiver", "worker",  "commands", "free",
                                        "pending",  "refresh", "settings", "done"};
    static const uint8_t classes[] = {TARE_CLASS_TASK,      TARE_CLASS_TASK,  TARE_CLASS_TASK,
                                      TARE_CLASS_QUEUE,     TARE_CLASS_QUEUE, TARE_CLASS_TIMER,
                                      TARE_CLASS_SEMAPHORE, TARE_CLASS_MUTEX};
    struct tare_totals counts;
    uint32_t i;

    if (tare_start() != 0)
        return 1;
    for (i = 0; i < sizeof(classes); i++)
        (void)tare_object_new(classes[i], names[i], 1);
    board_tick_every(BOARD_COUNTER_HZ / 1000);
    while (!finish) {
        number(recorded);
        recorded++;
        if (pace) {
            uint32_t now = ticks;

            while (ticks == now && !finish)
                ;
        }
    }
    board_tick_every(0);
    tare_stop();
    tare_counts(&counts);
    print("recorded", recorded);
    print("ticks", ticks);
    print("words", counts.words);
    print("dropped", counts.dropped);
    return 0;
}
