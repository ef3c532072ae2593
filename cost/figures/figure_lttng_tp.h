/* One event with a 32-bit value as an LTTng-UST tracepoint. The shape of this file, its missing
 * include guard among it, is what LTTng's headers demand: they include it several times over. */
/* clang-format off */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER tare_figures

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "figure_lttng_tp.h"

#if !defined(FIGURE_LTTNG_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define FIGURE_LTTNG_TP_H

#include <lttng/tracepoint.h>

/* cppcheck-suppress unknownMacro */
LTTNG_UST_TRACEPOINT_EVENT(
    tare_figures, sample,
    LTTNG_UST_TP_ARGS(uint32_t, number),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, number, number))
)

#endif

#include <lttng/tracepoint-event.h>
