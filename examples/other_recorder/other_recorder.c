/* A recorder that is as small as can be: 8 bytes a task switch into an array, and when that is full
 * it only counts. Its hook runs in one context alone, so it needs no lock. */
#include "gateway_board.h"
#include "gateway_hook.h"
#include "gateway_recorder.h"

#define RECORD_LIMIT 640 /* 5120 bytes */

struct other_recorder {
    uint32_t stored, dropped;
    struct {
        uint32_t time, task;
    } records[RECORD_LIMIT];
};

/* Read by the test in the board's memory. */
struct other_recorder other_recorder;

void other_recorder_switch(uint32_t task)
{
    uint32_t place = other_recorder.stored;

    if (place == RECORD_LIMIT) {
        other_recorder.dropped++;
        return;
    }
    other_recorder.records[place].time = GATEWAY_BOARD_CLOCK;
    other_recorder.records[place].task = task;
    other_recorder.stored = place + 1;
}

/* For the report of the gateway; the defaults of the other two functions do nothing. */
bool gateway_recorder_counts(struct gateway_recorder_counts *counts)
{
    *counts = (struct gateway_recorder_counts){.bytes = other_recorder.stored *
                                                        (uint32_t)sizeof other_recorder.records[0],
                                               .dropped_events = other_recorder.dropped};
    return true;
}
