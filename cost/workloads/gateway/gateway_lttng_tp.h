/* The gateway's hooks as LTTng-UST tracepoints of the provider tare_gateway: the same events and
 * arguments as in the arm tare. The shape of this file, its missing include guard among it, is what
 * LTTng's headers demand: they include it several times over.
 */
/* clang-format off */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER tare_gateway

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "gateway_lttng_tp.h"

#if !defined(GATEWAY_LTTNG_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define GATEWAY_LTTNG_TP_H

#include <lttng/tracepoint.h>

/* cppcheck-suppress unknownMacro */
LTTNG_UST_TRACEPOINT_ENUM(
    tare_gateway, state,
    LTTNG_UST_TP_ENUM_VALUES(
        lttng_ust_field_enum_value("running", 0)
        lttng_ust_field_enum_value("waiting for queue", 1)
        lttng_ust_field_enum_value("waiting for mutex", 2)
        lttng_ust_field_enum_value("waiting for network", 3)
        lttng_ust_field_enum_value("waiting for timer", 4)
    )
)

LTTNG_UST_TRACEPOINT_ENUM(
    tare_gateway, queue,
    LTTNG_UST_TP_ENUM_VALUES(
        lttng_ust_field_enum_value("free", 0)
        lttng_ust_field_enum_value("pending", 1)
    )
)

LTTNG_UST_TRACEPOINT_ENUM(
    tare_gateway, mutex,
    LTTNG_UST_TP_ENUM_VALUES(
        lttng_ust_field_enum_value("settings", 0)
    )
)

LTTNG_UST_TRACEPOINT_EVENT(
    tare_gateway, thread_start,
    LTTNG_UST_TP_ARGS(const char *, name),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_string(name, name))
)

LTTNG_UST_TRACEPOINT_EVENT(
    tare_gateway, thread_state,
    LTTNG_UST_TP_ARGS(uint32_t, number),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_enum(tare_gateway, state, uint32_t, state, number))
)

LTTNG_UST_TRACEPOINT_EVENT_CLASS(
    tare_gateway, queue_event,
    LTTNG_UST_TP_ARGS(uint32_t, number),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_enum(tare_gateway, queue, uint32_t, queue, number))
)

#define GATEWAY_QUEUE_EVENT(name) \
    LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(tare_gateway, queue_event, tare_gateway, name, \
                                        LTTNG_UST_TP_ARGS(uint32_t, number))

GATEWAY_QUEUE_EVENT(queue_send)
GATEWAY_QUEUE_EVENT(queue_send_failed)
GATEWAY_QUEUE_EVENT(queue_receive)
GATEWAY_QUEUE_EVENT(queue_receive_failed)
GATEWAY_QUEUE_EVENT(queue_block)

LTTNG_UST_TRACEPOINT_EVENT_CLASS(
    tare_gateway, mutex_event,
    LTTNG_UST_TP_ARGS(uint32_t, number),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_enum(tare_gateway, mutex, uint32_t, mutex, number))
)

#define GATEWAY_MUTEX_EVENT(name) \
    LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(tare_gateway, mutex_event, tare_gateway, name, \
                                        LTTNG_UST_TP_ARGS(uint32_t, number))

GATEWAY_MUTEX_EVENT(mutex_take)
GATEWAY_MUTEX_EVENT(mutex_give)
GATEWAY_MUTEX_EVENT(mutex_block)

LTTNG_UST_TRACEPOINT_EVENT_CLASS(
    tare_gateway, expiry_event,
    LTTNG_UST_TP_ARGS(uint32_t, expiry),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, number, expiry))
)

#define GATEWAY_EXPIRY_EVENT(name) \
    LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(tare_gateway, expiry_event, tare_gateway, name, \
                                        LTTNG_UST_TP_ARGS(uint32_t, expiry))

GATEWAY_EXPIRY_EVENT(timer_expiry_begin)
GATEWAY_EXPIRY_EVENT(timer_expiry_end)

#endif

#include <lttng/tracepoint-event.h>
