#include "gateway_board.h"
#include "gateway_recorder.h"
#include "tare.h"

#if !NO_SYS
#include "FreeRTOS.h" /* ends with the hooks */
#define SERVICE_PRIORITY 1
#define SERVICE_PERIOD 10 /* ticks */
#endif

void gateway_recorder_start(void)
{
    if (tare_start() != 0)
        gateway_board_give_up("tare_start found the clock standing still");
#if !NO_SYS
    /* The idle hook never returns here. */
    if (!tare_freertos_task(SERVICE_PRIORITY, SERVICE_PERIOD))
        gateway_board_give_up("no memory for the recorder's task");
#endif
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
