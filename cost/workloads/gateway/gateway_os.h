/* What the gateway needs of an operating system, and nothing more: threads, queues, a mutex, a
 * timer, a counter and UDP. gateway_application.c calls only these, so the same application source
 * runs on pthreads (gateway_os_linux.c), on an RTOS, and in a bare loop without a kernel.
 *
 * A thread is a *step* that is called again and again: it waits in at most one call, at its start,
 * and returns when that call had nothing for it. On a kernel the layer loops over the step in a
 * thread of its own and the call blocks; in a bare loop every call answers at once and the loop
 * goes round all steps. A step need not know which.
 *
 * The recorder's hooks sit inside the implementations of this layer, never in the application, as a
 * kernel's hooks do.
 */
#ifndef GATEWAY_OS_H
#define GATEWAY_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Identities that appear in the recording; each object exists once. */
enum gateway_queue_identity {
    GATEWAY_QUEUE_FREE,
    GATEWAY_QUEUE_PENDING,
    GATEWAY_QUEUE_COUNT
};
enum gateway_mutex_identity {
    GATEWAY_MUTEX_SETTINGS,
    GATEWAY_MUTEX_COUNT
};
enum gateway_port_identity {
    GATEWAY_PORT_DATA,
    GATEWAY_PORT_COMMAND,
    GATEWAY_PORT_COUNT
};

#define GATEWAY_QUEUE_CAPACITY 16 /* items in each queue */

/* ---- counter: the measuring clock. It is the same in every arm and independent of the recorder's.
 * Free running, wraps; differences of two readings are right up to 2^32 ticks. `hertz` is at least
 * 1,000,000: one tick is the resolution of every time that the gateway reports. */
uint32_t gateway_counter(void);
extern const uint32_t gateway_counter_hertz;

/* ---- threads. `name` must stay valid; a larger priority is more urgent (a layer without
 * priorities ignores it). Returns false when the thread cannot be created. */
typedef void gateway_step(void);
bool gateway_thread_create(const char *name, unsigned priority, gateway_step *step);

/* ---- queues of pointers, GATEWAY_QUEUE_CAPACITY items each, ready without being created.
 * send: false when the queue is full; never waits. receive: waits up to `wait_ms`, 0 not at all;
 * false when nothing came. */
bool gateway_queue_send(enum gateway_queue_identity queue, void *item);
bool gateway_queue_receive(enum gateway_queue_identity queue, void **item, uint32_t wait_ms);

/* ---- mutexes, ready without being created; not recursive. */
void gateway_mutex_take(enum gateway_mutex_identity mutex);
void gateway_mutex_give(enum gateway_mutex_identity mutex);

/* ---- periodic timer. `expiry` runs in the timer's own thread, or in the bare loop; `intended` is
 * the counter value of the grid point that is due: first + n x period. A late expiry is not
 * skipped: the missed ones follow at once, each with its own intended time. One timer; false when
 * it cannot start. */
typedef void gateway_expiry(uint32_t intended);
bool gateway_timer_start(const char *name, uint32_t period_us, gateway_expiry *expiry);

/* ---- UDP. The sender of a datagram, as the layer stores it; the application only hands it back.
 */
struct gateway_sender {
    uint32_t address;
    uint16_t port;
};

/* Opens a port; 0 lets the layer choose. False when the number is taken. */
bool gateway_port_open(enum gateway_port_identity port, uint16_t number);

/* Waits up to `wait_ms` for a datagram. `*size` is its true size; bytes beyond `capacity` are lost.
 */
bool gateway_port_receive(enum gateway_port_identity port, void *bytes, size_t capacity,
                          size_t *size, struct gateway_sender *sender, uint32_t wait_ms);

/* Sends one datagram back from the same port; any thread may call it. False when it was not sent.
 */
bool gateway_port_reply(enum gateway_port_identity port, const struct gateway_sender *to,
                        const void *bytes, size_t size);

#endif
