#include "gateway_board.h"
#include "gateway_recorder.h"
#include "tare.h"

void gateway_recorder_start(void)
{
    if (tare_start() != 0)
        gateway_board_give_up("tare_start found the clock standing still");
}

void gateway_recorder_stop(void)
{
    tare_stop();
}

bool gateway_recorder_counts(struct gateway_recorder_counts *counts)
{
    struct tare_totals totals;
    tare_counts(&totals);
    *counts = (struct gateway_recorder_counts){.bytes = totals.words * 4,
                                               .dropped_events = totals.dropped,
                                               .suppressed_events = totals.suppressed};
    return true;
}
