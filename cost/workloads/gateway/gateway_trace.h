/* The hooks of the gateway's OS layer: what a kernel's trace hooks would tell, and no more. There
 * is no event of the application's own and none for interrupts.
 *
 * The layer calls the same hooks in each arm; the arm decides what they do. GATEWAY_ARM_TARE writes
 * them with Tare, GATEWAY_ARM_LTTNG with LTTng-UST, neither compiles them to nothing. Each arm
 * records the same events with the same arguments, so that recorder stands against recorder:
 *
 *   hook                        event                  argument              bytes Tare   bytes
 * LTTng trace_thread_start          thread name            name                  names table  10 +
 * text + 1 trace_state                 thread state           one of GATEWAY_STATES          8 14
 *   trace_queue_send            queue send             {free,pending}                 8 14
 *   trace_queue_send_failed     queue send failed      {free,pending}                 8 14
 *   trace_queue_receive         queue receive          {free,pending}                 8 14
 *   trace_queue_receive_failed  queue receive failed   {free,pending}                 8 14
 *   trace_queue_block           queue block            {free,pending}                 8 14
 *   trace_mutex_take            mutex take             {settings}                     8 14
 *   trace_mutex_give            mutex give             {settings}                     8 14
 *   trace_mutex_block           mutex block            {settings}                     8 14
 *   trace_timer_expiry_begin    timer expiry (begin)   number of the expiry           8 14
 *   trace_timer_expiry_end      timer expiry (end)     number of the expiry           8 14
 *
 * Tare's ring belongs to a thread, so its record need not name it. LTTng's buffer belongs to a CPU:
 * its session adds the context `vtid` (4 of the 14 bytes), without which the thread is not
 * recorded.
 */
#ifndef GATEWAY_TRACE_H
#define GATEWAY_TRACE_H

#include <stdint.h>

enum gateway_state {
    GATEWAY_RUNNING,
    GATEWAY_WAITING_FOR_QUEUE,
    GATEWAY_WAITING_FOR_MUTEX,
    GATEWAY_WAITING_FOR_NETWORK,
    GATEWAY_WAITING_FOR_TIMER
};

#if defined(GATEWAY_ARM_TARE)

#include "tare.h"

#define GATEWAY_STATES \
    "{running,waiting for queue,waiting for mutex,waiting for network,waiting for timer}"
#define GATEWAY_QUEUES "{free,pending}"
#define GATEWAY_MUTEXES "{settings}"

TARE_CATEGORY(gateway_kernel, 0, "kernel")
TARE_STATES(trace_state, gateway_kernel, "thread state", GATEWAY_STATES)
TARE_EVENT1(trace_queue_send, gateway_kernel, "queue send", u32, queue, GATEWAY_QUEUES)
TARE_EVENT1(trace_queue_send_failed, gateway_kernel, "queue send failed", u32, queue,
            GATEWAY_QUEUES)
TARE_EVENT1(trace_queue_receive, gateway_kernel, "queue receive", u32, queue, GATEWAY_QUEUES)
TARE_EVENT1(trace_queue_receive_failed, gateway_kernel, "queue receive failed", u32, queue,
            GATEWAY_QUEUES)
TARE_EVENT1(trace_queue_block, gateway_kernel, "queue block", u32, queue, GATEWAY_QUEUES)
TARE_EVENT1(trace_mutex_take, gateway_kernel, "mutex take", u32, mutex, GATEWAY_MUTEXES)
TARE_EVENT1(trace_mutex_give, gateway_kernel, "mutex give", u32, mutex, GATEWAY_MUTEXES)
TARE_EVENT1(trace_mutex_block, gateway_kernel, "mutex block", u32, mutex, GATEWAY_MUTEXES)
TARE_SPAN(trace_timer_expiry, gateway_kernel, "timer expiry")

static inline void trace_thread_start(const char *name)
{
    tare_thread_name(name);
}

#else

#if defined(GATEWAY_ARM_LTTNG)
#include "gateway_lttng_tp.h"
#define GATEWAY_HOOK(name, argument) lttng_ust_tracepoint(tare_gateway, name, argument)
#else
#define GATEWAY_HOOK(name, argument) ((void)(argument))
#endif

static inline void trace_thread_start(const char *name)
{
    GATEWAY_HOOK(thread_start, name);
}

static inline void trace_state(uint32_t state)
{
    GATEWAY_HOOK(thread_state, state);
}

static inline void trace_queue_send(uint32_t queue)
{
    GATEWAY_HOOK(queue_send, queue);
}

static inline void trace_queue_send_failed(uint32_t queue)
{
    GATEWAY_HOOK(queue_send_failed, queue);
}

static inline void trace_queue_receive(uint32_t queue)
{
    GATEWAY_HOOK(queue_receive, queue);
}

static inline void trace_queue_receive_failed(uint32_t queue)
{
    GATEWAY_HOOK(queue_receive_failed, queue);
}

static inline void trace_queue_block(uint32_t queue)
{
    GATEWAY_HOOK(queue_block, queue);
}

static inline void trace_mutex_take(uint32_t mutex)
{
    GATEWAY_HOOK(mutex_take, mutex);
}

static inline void trace_mutex_give(uint32_t mutex)
{
    GATEWAY_HOOK(mutex_give, mutex);
}

static inline void trace_mutex_block(uint32_t mutex)
{
    GATEWAY_HOOK(mutex_block, mutex);
}

static inline void trace_timer_expiry_begin(uint32_t number)
{
    GATEWAY_HOOK(timer_expiry_begin, number);
}

static inline void trace_timer_expiry_end(uint32_t number)
{
    GATEWAY_HOOK(timer_expiry_end, number);
}

#endif

#endif
