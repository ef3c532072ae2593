/* What events cost on a kernel: a producer sends to a queue of one place, a consumer of higher
 * priority wakes, receives and waits again; a 32-bit value; a mutex that nobody else wants; an
 * interrupt. Built with the hooks, without that of ready tasks, and with TARE_ENABLED 0.
 * kernel_figures.py counts instructions of the measured calls.
 */
#include "FreeRTOS.h"
#include "queue.h"
#include "semphr.h"
#include "task.h"

#include "board.h"
#include "tare_baremetal.h"

#define BATCHES 8u
#define ITERATIONS 50u
#define INTERRUPT 30u
#define INTERRUPT_PEND (*(volatile uint32_t *)0xE000E200u)
#define OTHER_OBJECTS 6u /* of the kernel: two tasks, a queue; ours: the same */
#define MUTEXES (64u - OTHER_OBJECTS)

TARE_CATEGORY(user, 0, "user")
TARE_EVENT1(sample, user, "sample", u32, number, "")
TARE_EVENT0(filler, user, "filler")
TARE_CATEGORY(interrupts, 1, "interrupts")
TARE_INTERRUPT(device, interrupts, "device")

#if TARE_ENABLED
#include "target_drain.h"

/* One event into a new block, so that every measurement begins at the same place of one. */
static void open_block(void)
{
    do {
        filler();
        drain();
    } while (words_left() != ring->block_words - 7);
}
#else
static const uint32_t collected_words;
static void drain(void)
{
}
static void open_block(void)
{
}
static void print(const char *name, uint32_t number)
{
    board_print(name);
    board_print(" ");
    board_print_number(number);
    board_print("\n");
}
#endif

static QueueHandle_t queue;
static SemaphoreHandle_t mutexes[MUTEXES];
static uint32_t mutex_count = 1;

void kernel_failed(const char *file, int line)
{
    board_print(file);
    print(" failed in line", (uint32_t)line);
    board_exit(96);
}

/* No tick: nothing here waits for a time. */
void vPortSetupTimerInterrupt(void);
void vPortSetupTimerInterrupt(void)
{
}

void vApplicationIdleHook(void);
void vApplicationIdleHook(void)
{
}

void mps2_interrupt_30(void);
void mps2_interrupt_30(void)
{
    device_enter();
    device_exit();
}

/* ------------------------------------------------------------------ measured are whole calls */

#define LOOP(name, body) \
    static void __attribute__((noinline, noclone)) loop_##name(uint32_t count) \
    { \
        uint32_t i; \
        for (i = 0; i < count; i++) { \
            body; \
        } \
    }

LOOP(queue, xQueueSend(queue, &i, portMAX_DELAY))
LOOP(user, __asm volatile("" ::"r"(i)); sample(i))
LOOP(mutex, xSemaphoreTake(mutexes[i % mutex_count], portMAX_DELAY);
     xSemaphoreGive(mutexes[i % mutex_count]))
LOOP(isr, INTERRUPT_PEND = 1u << INTERRUPT; __asm volatile("dsb\n\tisb" ::: "memory"))

static void measure(const char *name, void (*loop)(uint32_t count))
{
    uint32_t batch, sum = 0, begin;

    open_block();
    drain();
    board_print(name);
    print("_begin", collected_words);
    BOARD_COUNTER = (BOARD_COUNTER | TARE_STAMP_MASK) - 300; /* see hook_program.c */
    for (batch = 0; batch < BATCHES; batch++) {
        drain();
        begin = BOARD_COUNTER;
        loop(ITERATIONS);
        sum += BOARD_COUNTER - begin;
    }
    drain();
    board_print(name);
    print("_end", collected_words);
    board_print(name);
    print("_all", sum);
}

static void consume(void *unused)
{
    uint32_t item;

    (void)unused;
    for (;;)
        xQueueReceive(queue, &item, portMAX_DELAY);
}

static void produce(void *unused)
{
    uint32_t i;

    (void)unused;
    measure("queue", loop_queue);
    measure("user", loop_user);
    measure("isr", loop_isr);
    measure("mutex_1", loop_mutex);
    for (i = 1; i < MUTEXES; i++) {
        mutexes[i] = xSemaphoreCreateMutex();
        drain();
    }
    mutex_count = MUTEXES;
    measure("mutex_64", loop_mutex);
#if TARE_ENABLED
    tare_stop();
    drain();
    print("dropped", dropped_so_far());
    print("collected_words", collected_words);
    print("collected_address", (uint32_t)COLLECTED);
#endif
    print("batches", BATCHES);
    print("iterations", ITERATIONS);
    board_exit(0);
}

int main(void)
{
    if (tare_start() != 0)
        return 1;
#if TARE_ENABLED
    ring = find_ring();
    if (!ring)
        return 2;
    tare_disable(1u << TARE_CATEGORY_MEMORY);
#endif
    mps2_interrupt_enable(INTERRUPT, 0x80u);
    queue = xQueueCreate(1, sizeof(uint32_t));
    mutexes[0] = xSemaphoreCreateMutex();
    xTaskCreate(produce, "producer", 400, NULL, 3, NULL);
    xTaskCreate(consume, "consumer", 200, NULL, 4, NULL);
    vTaskStartScheduler();
    return 3;
}
