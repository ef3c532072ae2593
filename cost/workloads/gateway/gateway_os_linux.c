/* The gateway's OS layer on Linux: pthreads, CLOCK_MONOTONIC, UDP sockets on 127.0.0.1 alone. */
#include "gateway_os_linux.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/sock_diag.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "gateway_trace.h"

#define NS_PER_SECOND 1000000000ull
#define NS_PER_TICK \
    100 /* 10 MHz: 0.1 us, fine enough for a mean of microseconds, wraps after 429 s */
#define THREAD_LIMIT 4

const uint32_t gateway_counter_hertz = NS_PER_SECOND / NS_PER_TICK;

struct thread {
    const char *name;
    gateway_step *step;
    pthread_t thread;
};

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    unsigned first, count;
    void *items[GATEWAY_QUEUE_CAPACITY];
};

struct port {
    int socket;
    uint16_t number;
    uint32_t wait_ms; /* what the socket's receive time-out is set to */
};

static uint64_t counter_start_ns;
static atomic_bool ending;
static struct thread threads[THREAD_LIMIT];
static unsigned thread_count;
static struct queue queues[GATEWAY_QUEUE_COUNT];
static pthread_mutex_t mutexes[GATEWAY_MUTEX_COUNT] = {PTHREAD_MUTEX_INITIALIZER};
static struct port ports[GATEWAY_PORT_COUNT] = {{.socket = -1}, {.socket = -1}};
static char fault[200];

static struct {
    const char *name;
    uint64_t first_ns, period_ns;
    gateway_expiry *expiry;
    pthread_t thread;
    bool running;
} timer;

/* ------------------------------------------------------------------ counter */

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static uint32_t counter_at(uint64_t ns)
{
    return (uint32_t)((ns - counter_start_ns) / NS_PER_TICK);
}

uint32_t gateway_counter(void)
{
    return counter_at(now_ns());
}

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_SECOND),
                             .tv_nsec = (long)(ns % NS_PER_SECOND)};
}

/* ------------------------------------------------------------------ threads */

static void *thread_body(void *argument)
{
    const struct thread *self = argument;
    pthread_setname_np(pthread_self(), self->name);
    trace_thread_start(self->name);
    trace_state(GATEWAY_RUNNING);
    while (!atomic_load_explicit(&ending, memory_order_relaxed))
        self->step();
    return NULL;
}

bool gateway_thread_create(const char *name, unsigned priority, gateway_step *step)
{
    (void)priority; /* real-time priorities need rights that a measurement must not depend on */
    if (thread_count == THREAD_LIMIT) {
        snprintf(fault, sizeof fault, "no room for thread '%s': the limit is %d", name,
                 THREAD_LIMIT);
        return false;
    }
    struct thread *thread = &threads[thread_count];
    thread->name = name;
    thread->step = step;
    int error = pthread_create(&thread->thread, NULL, thread_body, thread);
    if (error) {
        snprintf(fault, sizeof fault, "cannot create thread '%s': %s", name, strerror(error));
        return false;
    }
    thread_count++;
    return true;
}

/* ------------------------------------------------------------------ queues */

/* Hooks run under the queue's lock, as a kernel's do: so a send stands before its receive. */

bool gateway_queue_send(enum gateway_queue_identity identity, void *item)
{
    struct queue *queue = &queues[identity];
    pthread_mutex_lock(&queue->lock);
    bool room = queue->count < GATEWAY_QUEUE_CAPACITY;
    if (room) {
        queue->items[(queue->first + queue->count) % GATEWAY_QUEUE_CAPACITY] = item;
        queue->count++;
        trace_queue_send(identity);
        pthread_cond_signal(&queue->filled);
    } else {
        trace_queue_send_failed(identity);
    }
    pthread_mutex_unlock(&queue->lock);
    return room;
}

static void wait_for_item(struct queue *queue, enum gateway_queue_identity identity,
                          uint32_t wait_ms)
{
    struct timespec until = timespec_of(now_ns() + wait_ms * 1000000ull);
    trace_queue_block(identity);
    trace_state(GATEWAY_WAITING_FOR_QUEUE);
    while (queue->count == 0 &&
           pthread_cond_timedwait(&queue->filled, &queue->lock, &until) != ETIMEDOUT) {
    }
    trace_state(GATEWAY_RUNNING);
}

bool gateway_queue_receive(enum gateway_queue_identity identity, void **item, uint32_t wait_ms)
{
    struct queue *queue = &queues[identity];
    pthread_mutex_lock(&queue->lock);
    if (queue->count == 0 && wait_ms > 0)
        wait_for_item(queue, identity, wait_ms);
    bool found = queue->count > 0;
    if (found) {
        *item = queue->items[queue->first];
        queue->first = (queue->first + 1) % GATEWAY_QUEUE_CAPACITY;
        queue->count--;
        trace_queue_receive(identity);
    } else {
        trace_queue_receive_failed(identity);
    }
    pthread_mutex_unlock(&queue->lock);
    return found;
}

/* ------------------------------------------------------------------ mutexes */

void gateway_mutex_take(enum gateway_mutex_identity mutex)
{
    if (pthread_mutex_trylock(&mutexes[mutex]) != 0) {
        trace_mutex_block(mutex);
        trace_state(GATEWAY_WAITING_FOR_MUTEX);
        pthread_mutex_lock(&mutexes[mutex]);
        trace_state(GATEWAY_RUNNING);
    }
    trace_mutex_take(mutex);
}

void gateway_mutex_give(enum gateway_mutex_identity mutex)
{
    trace_mutex_give(mutex); /* first, so that it stands before the next take */
    pthread_mutex_unlock(&mutexes[mutex]);
}

/* ------------------------------------------------------------------ timer */

static void *timer_body(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), timer.name);
    prctl(PR_SET_TIMERSLACK, 1ul); /* else the kernel may add 50 us to every expiry, in every arm */
    trace_thread_start(timer.name);
    trace_state(GATEWAY_RUNNING);
    uint64_t due_ns = timer.first_ns;
    for (uint32_t number = 0; !atomic_load_explicit(&ending, memory_order_relaxed); number++) {
        struct timespec due = timespec_of(due_ns);
        trace_state(GATEWAY_WAITING_FOR_TIMER);
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR) {
        }
        trace_state(GATEWAY_RUNNING);
        trace_timer_expiry_begin(number);
        timer.expiry(counter_at(due_ns));
        trace_timer_expiry_end(number);
        due_ns += timer.period_ns;
    }
    return NULL;
}

bool gateway_timer_start(const char *name, uint32_t period_us, gateway_expiry *expiry)
{
    timer.name = name;
    timer.expiry = expiry;
    timer.period_ns = period_us * 1000ull;
    /* On a whole tick of the counter, so that no grid point carries a rounding error. */
    timer.first_ns = now_ns() + timer.period_ns;
    timer.first_ns -= (timer.first_ns - counter_start_ns) % NS_PER_TICK;
    int error = pthread_create(&timer.thread, NULL, timer_body, NULL);
    if (error) {
        snprintf(fault, sizeof fault, "cannot create timer '%s': %s", name, strerror(error));
        return false;
    }
    timer.running = true;
    return true;
}

/* ------------------------------------------------------------------ UDP */

bool gateway_port_open(enum gateway_port_identity identity, uint16_t number)
{
    struct port *port = &ports[identity];
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(number),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    port->socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (port->socket < 0 || bind(port->socket, (struct sockaddr *)&address, length) != 0 ||
        getsockname(port->socket, (struct sockaddr *)&address, &length) != 0) {
        snprintf(
            fault, sizeof fault,
            "cannot open UDP port 127.0.0.1:%u: %s; give another number, or 0 to pick a free one",
            (unsigned)number, strerror(errno));
        return false;
    }
    port->number = ntohs(address.sin_port);
    return true;
}

bool gateway_port_receive(enum gateway_port_identity identity, void *bytes, size_t capacity,
                          size_t *size, struct gateway_sender *sender, uint32_t wait_ms)
{
    struct port *port = &ports[identity];
    if (port->wait_ms != wait_ms) { /* one thread a port receives, so this happens once */
        struct timeval limit = {.tv_sec = wait_ms / 1000, .tv_usec = wait_ms % 1000 * 1000L};
        setsockopt(port->socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        port->wait_ms = wait_ms;
    }
    struct sockaddr_in from = {0};
    socklen_t length = sizeof from;
    trace_state(GATEWAY_WAITING_FOR_NETWORK);
    ssize_t got =
        recvfrom(port->socket, bytes, capacity, MSG_TRUNC, (struct sockaddr *)&from, &length);
    trace_state(GATEWAY_RUNNING);
    if (got < 0)
        return false;
    *size = (size_t)got;
    sender->address = from.sin_addr.s_addr;
    sender->port = from.sin_port;
    return true;
}

bool gateway_port_reply(enum gateway_port_identity identity, const struct gateway_sender *to,
                        const void *bytes, size_t size)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = to->port, .sin_addr.s_addr = to->address};
    return sendto(ports[identity].socket, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL,
                  (struct sockaddr *)&address, sizeof address) == (ssize_t)size;
}

/* ------------------------------------------------------------------ the program's side */

void gateway_linux_begin(void)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    for (int i = 0; i < GATEWAY_QUEUE_COUNT; i++) {
        pthread_mutex_init(&queues[i].lock, NULL);
        pthread_cond_init(&queues[i].filled, &attributes);
    }
    pthread_condattr_destroy(&attributes);
    counter_start_ns = now_ns();
    trace_thread_start("main");
}

const char *gateway_linux_fault(void)
{
    return fault;
}

uint16_t gateway_linux_port_number(enum gateway_port_identity port)
{
    return ports[port].number;
}

void gateway_linux_end(void)
{
    atomic_store_explicit(&ending, true, memory_order_relaxed);
    for (unsigned i = 0; i < thread_count; i++)
        pthread_join(threads[i].thread, NULL);
    if (timer.running)
        pthread_join(timer.thread, NULL);
}

int64_t gateway_linux_socket_drops(void)
{
    int64_t drops = 0;
    for (int i = 0; i < GATEWAY_PORT_COUNT; i++) {
        uint32_t figures[SK_MEMINFO_VARS] = {0};
        socklen_t length = sizeof figures;
        if (getsockopt(ports[i].socket, SOL_SOCKET, SO_MEMINFO, figures, &length) != 0 ||
            length <= SK_MEMINFO_DROPS * sizeof(figures[0]))
            return -1;
        drops += figures[SK_MEMINFO_DROPS];
    }
    return drops;
}
