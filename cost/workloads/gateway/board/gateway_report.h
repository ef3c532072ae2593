/* The measurements of a run on the board as one JSON line over the UART. */
#ifndef GATEWAY_REPORT_H
#define GATEWAY_REPORT_H

/* Keys and units are those of the Linux program; README.md lists what the board has besides. */
void gateway_report_print(void);

#endif
