/* The telemetry gateway as firmware: one measured run, one JSON line over the UART, then the end of
 * the emulator. */
#include "gateway_application.h"
#include "gateway_board.h"
#include "gateway_recorder.h"
#include "gateway_report.h"
#include "mps2_board.h"

#define DATA_PORT 5000
#define COMMAND_PORT 5001

void __attribute__((weak)) gateway_recorder_start(void)
{
}

void __attribute__((weak)) gateway_recorder_stop(void)
{
}

bool __attribute__((weak)) gateway_recorder_counts(struct gateway_recorder_counts *counts)
{
    (void)counts;
    return false;
}

/* For lwIP, which asks for ports and identifiers that need not be secret. */
uint32_t gateway_lwip_random(void)
{
    static uint32_t state = 12345;
    state = state * 1664525u + 1013904223u;
    return state;
}

static void begin(void)
{
    static const struct gateway_configuration configuration = {
        .data_port = DATA_PORT,
        .command_port = COMMAND_PORT,
        .window_opened = gateway_board_window_opened,
        .stop_requested = gateway_board_stop_requested};
    if (!gateway_application_start(&configuration))
        gateway_board_give_up("a port, thread or timer could not be made");
}

static void end(void)
{
    gateway_recorder_stop();
    gateway_report_print();
    mps2_exit(0);
}

int main(void)
{
    gateway_board_begin();
    gateway_recorder_start();
    gateway_board_run(begin, end);
}
