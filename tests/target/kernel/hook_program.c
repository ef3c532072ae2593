/* What events cost in the hooks, without a kernel: functions that stand for those of a kernel, each
 * once with the hook and once without, around objects that keep their number as a kernel's do.
 * kernel_figures.py counts instructions of the measured calls of both.
 *
 * The pieces have the form of kernel code: no function keeps an address for the next one, each
 * needs the link register for itself, and uses its object behind the hook.
 */
#include "target_drain.h"
#include "tare_baremetal.h"

#ifndef BATCHES
#define BATCHES 8u
#endif
#define ITERATIONS 100u
#define SHORT_ITERATIONS 20u /* stay within a block */
#define MUTEXES 61u          /* with two tasks and a queue there are 64 objects */

TARE_CATEGORY(user, 0, "user")
TARE_EVENT1(sample, user, "sample", u32, number, "")
TARE_EVENT0(filler, user, "filler")
TARE_CATEGORY(interrupts, TARE_CATEGORY_INTERRUPT, "interrupts")
TARE_INTERRUPT(device, interrupts, "device")

struct queue {
    void *head; /* NULL: a mutex */
    uint32_t number, items, changes;
};

struct task {
    uint32_t number, runs;
};

static struct queue queue = {&queue, 0, 0, 0};
static struct queue mutexes[MUTEXES];
static struct task producer, consumer;
static struct task *volatile current;
static uint32_t attempted;

/* ------------------------------------------------------------------ with the hook and without */

#define KERNEL_FUNCTION static __attribute__((noinline, noclone)) void
#define OTHER_CALLS __asm volatile("" ::: "r0", "r1", "r2", "r3", "ip", "lr", "memory")
#define PART __asm volatile("" ::: "memory")

#define EVENT(category, word, operation) TARE_OBJECT_EVENT(category, word, operation)
#define NO_EVENT(category, word, operation) ((void)0)

/* As traceBLOCKING_ON_QUEUE_RECEIVE of tare_freertos.h. */
#define HOLDER(queue) \
    do { \
        if ((queue)->head == NULL) \
            tare_kernel_event(TARE_KERNEL_HOLDER, (queue)->number, 0); \
    } while (0)
#define NO_HOLDER(queue) ((void)0)

#define KERNEL(with, event, holder) \
    KERNEL_FUNCTION with##_send(struct queue *at) \
    { \
        OTHER_CALLS; \
        at->items++; \
        PART; \
        event(TARE_CATEGORY_OBJECT, at->number, TARE_SEND); \
        PART; \
        at->changes++; \
    } \
    KERNEL_FUNCTION with##_receive(struct queue *at) \
    { \
        OTHER_CALLS; \
        at->items--; \
        PART; \
        event(TARE_CATEGORY_OBJECT, at->number, TARE_RECEIVE); \
        PART; \
        at->changes++; \
    } \
    KERNEL_FUNCTION with##_block(struct queue *at) \
    { \
        OTHER_CALLS; \
        at->changes++; \
        PART; \
        holder(at); \
        event(TARE_CATEGORY_OBJECT, at->number, TARE_RECEIVE_BLOCK); \
        PART; \
        at->items++; \
    } \
    KERNEL_FUNCTION with##_switch(struct task *next) \
    { \
        OTHER_CALLS; \
        current = next; \
        PART; \
        event(TARE_CATEGORY_TASK, current->number, TARE_TASK_RUNS); \
        PART; \
        next->runs++; \
    } \
    KERNEL_FUNCTION with##_ready(struct task *task) \
    { \
        OTHER_CALLS; \
        task->runs--; \
        PART; \
        event(TARE_CATEGORY_TASK, task->number, TARE_TASK_READY); \
        PART; \
        task->runs++; \
    }

KERNEL(hook, EVENT, HOLDER)
KERNEL(bare, NO_EVENT, NO_HOLDER)

/* Measured are whole calls of these. */
#define LOOP(name, body) \
    static void __attribute__((noinline, noclone)) loop_##name(uint32_t count) \
    { \
        uint32_t i; \
        for (i = 0; i < count; i++) { \
            body; \
        } \
    }

#define QUEUE_ITERATION(with) \
    with##_send(&queue); \
    with##_switch(&consumer); \
    with##_receive(&queue); \
    with##_block(&queue); \
    with##_switch(&producer)

LOOP(queue_bare, QUEUE_ITERATION(bare))
LOOP(queue, QUEUE_ITERATION(hook))
LOOP(ready_bare, bare_ready(&consumer); QUEUE_ITERATION(bare))
LOOP(ready, hook_ready(&consumer); QUEUE_ITERATION(hook))
LOOP(user_bare, __asm volatile("" ::"r"(i)))
LOOP(user, __asm volatile("" ::"r"(i)); sample(i))
LOOP(mutex_bare, bare_receive(mutexes + i % MUTEXES); bare_send(mutexes + i % MUTEXES))
LOOP(mutex, hook_receive(mutexes + i % MUTEXES); hook_send(mutexes + i % MUTEXES))
LOOP(isr_bare, __asm volatile("" ::: "memory"))
LOOP(isr, device_enter(); device_exit())

struct workload {
    const char *name;
    void (*loop)(uint32_t count);
    uint32_t events; /* of an iteration */
};

static const struct workload workloads[] = {
    {"queue_bare", loop_queue_bare, 0}, {"queue", loop_queue, 5},
    {"ready_bare", loop_ready_bare, 0}, {"ready", loop_ready, 6},
    {"user_bare", loop_user_bare, 0},   {"user", loop_user, 1},
    {"isr_bare", loop_isr_bare, 0},     {"isr", loop_isr, 2},
};
static const struct workload mutex_bare = {"mutex_bare", loop_mutex_bare, 0};
static const struct workload mutex = {"mutex", loop_mutex, 2};

/* One event into a new block, so that every measurement begins at the same place of one. */
static void open_block(void)
{
    do {
        filler();
        attempted++;
        drain();
    } while (words_left() != ring->block_words - 7);
}

/* At the same place of the ring as well: its end costs a block something. */
static void open_first_block(void)
{
    do
        open_block();
    while (present_block() != 0);
}

/* The high part of the time changes in a while: more often in a run than it does by itself, so that
 * its cost is in the figures. */
static void let_time_turn(void)
{
    BOARD_COUNTER = (BOARD_COUNTER | TARE_STAMP_MASK) - 300;
}

static uint32_t time_of(const struct workload *workload, uint32_t iterations)
{
    uint32_t begin = BOARD_COUNTER;

    workload->loop(iterations);
    begin = BOARD_COUNTER - begin;
    attempted += workload->events * iterations;
    return begin;
}

/* Long batches with new blocks and all else; the ring is emptied between them. Short ones: the fast
 * path alone. Prints steps of the counter, and the place of the words in the stream. */
static void measure(const char *suffix, const struct workload *workload)
{
    uint32_t batch, all = 0, fast = 0, begin;

    open_block();
    drain();
    begin = collected_words;
    let_time_turn();
    for (batch = 0; batch < BATCHES; batch++) {
        drain();
        all += time_of(workload, ITERATIONS);
    }
    drain();
    board_print(workload->name);
    board_print(suffix);
    print("_begin", begin);
    board_print(workload->name);
    board_print(suffix);
    print("_end", collected_words);
    for (batch = 0; batch < BATCHES; batch++) {
        open_block();
        fast += time_of(workload, SHORT_ITERATIONS);
    }
    drain();
    board_print(workload->name);
    board_print(suffix);
    print("_all", all);
    board_print(workload->name);
    board_print(suffix);
    print("_fast", fast);
}

static void make_mutexes(uint32_t count)
{
    uint32_t i;

    for (i = 1; i < count; i++) {
        mutexes[i].number = tare_object_new(TARE_CLASS_MUTEX, "mutex", 1);
        attempted++;
        drain();
    }
}

/* More than the ring holds. */
static void lose(void)
{
    uint32_t i;

    for (i = 0; i < ring->up.bytes / 4 + 500; i++) {
        filler();
        attempted++;
    }
    drain();
    filler();
    attempted++;
}

int main(void)
{
    uint32_t i;

    BOARD_COUNTER = 0xFFFE0000u;
    if (tare_start() != 0)
        return 1;
    ring = find_ring();
    if (!ring)
        return 2;
    producer.number = tare_object_new(TARE_CLASS_TASK, "producer", 3);
    consumer.number = tare_object_new(TARE_CLASS_TASK, "consumer", 4);
    queue.number = tare_object_new(TARE_CLASS_QUEUE, "queue", 1);
    mutexes[0].number = tare_object_new(TARE_CLASS_MUTEX, "mutex", 1);
    attempted += 4;
    for (i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++)
        measure("", workloads + i);

    for (i = 1; i < MUTEXES; i++)
        mutexes[i].number = mutexes[0].number;
    measure("_1", &mutex_bare);
    open_first_block();
    measure("_1", &mutex);
    make_mutexes(MUTEXES);
    for (i = 0; i < 2 * MUTEXES; i++) {
        tare_service();
        drain();
    }
    measure("_64", &mutex_bare);
    open_first_block();
    measure("_64", &mutex);

    lose();
    tare_stop();
    drain();
    print("attempted", attempted);
    print("dropped", dropped_so_far());
    print("collected_words", collected_words);
    print("collected_address", (uint32_t)COLLECTED);
    print("batches", BATCHES);
    print("iterations", ITERATIONS);
    print("short_iterations", SHORT_ITERATIONS);
    print("objects", MUTEXES + 3);
    return 0;
}
