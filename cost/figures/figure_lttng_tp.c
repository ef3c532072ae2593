/* The body of the tracepoint that figure_lttng_tp.h declares. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "figure_lttng_tp.h"
