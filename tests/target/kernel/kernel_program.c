/* Runs on FreeRTOS, makes the kernel call each hook of tare_freertos.h, notes what it did itself
 * and in which order, and leaves both its notes and the recording in memory. kernel_check.py
 * compares them.
 *
 * Nothing comes by chance: the kernel's tick comes when tick() is called, interrupts when
 * interrupt() is. So each step knows what the kernel does, and in which order. One step is the
 * exception, and says so.
 */
#include "kernel_steps.h"
#include "timers.h"

#include "target_drain.h"
#include "tare_baremetal.h"

#define INTERRUPT 30u
#define INTERRUPT_PEND (*(volatile uint32_t *)0xE000E200u)
#define INTERRUPT_LEVEL 0x80u

TARE_CATEGORY(steps, 0, "steps")
TARE_EVENT1(marked, steps, "mark", u32, number, "")
TARE_STRING(say, steps, "say")
TARE_INTERRUPT(probe, steps, "probe")

uint32_t timer_queue;
BaseType_t woken;

static uint32_t is_left;
static void (*interrupt_body)(void);

/* When the ticks came, for the check of the second clock. */
#define EPOCHS 8u
struct epoch_tick {
    uint32_t before, after, count;
} epoch_ticks[EPOCHS];

uint32_t account_collected; /* words in front of the ring's own */
uint32_t account_done;

void kernel_failed(const char *file, int line)
{
    board_print(file);
    print(" failed in line", (uint32_t)line);
    board_exit(96);
}

/* The tick is the program's own. */
void vPortSetupTimerInterrupt(void);
void vPortSetupTimerInterrupt(void)
{
}

void vApplicationIdleHook(void);
void vApplicationIdleHook(void)
{
    runs(&idle);
    tick();
}

void collect(void)
{
    if (is_left)
        return;
    drain();
    tare_service();
}

void leave_the_rest(void)
{
    while (words_left() != 0) {
        mark(1002);
        drain();
    }
    account_collected = collected_words;
    is_left = 1;
}

void mark(uint32_t number)
{
    note(NOTE_MARK, NO_OBJECT, number);
    marked(number);
}

void say_something(const char *text)
{
    say(text);
}

/* ------------------------------------------------------------------ interrupt, helper, timer task
 */

void mps2_interrupt_30(void);
void mps2_interrupt_30(void)
{
    note(NOTE_ENTER, OUR_INTERRUPT, 0);
    probe_enter();
    interrupt_body();
    note(NOTE_EXIT, OUR_INTERRUPT, 0);
    probe_exit();
    portYIELD_FROM_ISR(woken);
}

void interrupt(void (*body)(void))
{
    interrupt_body = body;
    woken = pdFALSE;
    INTERRUPT_PEND = 1u << INTERRUPT;
    __asm volatile("dsb\n\tisb" ::: "memory");
}

void start_helper(TaskFunction_t function, uint32_t priority)
{
    collect();
    helper.object = created(TARE_CLASS_TASK, priority);
    ready(&helper);
    configASSERT(xTaskCreate(function, "helper", STACK_WORDS, NULL, priority, &helper.handle));
    runs(&driver);
}

void end_helper(void)
{
    rare(TARE_KERNEL_DELETED, helper.object, 0);
    helper.wakes = 0;
    vTaskDelete(NULL);
}

void daemon_wakes(void)
{
    runs(&daemon);
    receives(timer_queue);
}

void daemon_waits(uint32_t until)
{
    rare(TARE_KERNEL_RECEIVE_FAILED, timer_queue, 0);
    rare(TARE_KERNEL_DELAY_UNTIL, daemon.object, until ? until : kernel_tick - 1);
    daemon.wakes = until;
}

/* ------------------------------------------------------------------ the driver */

/* Lets the high part of the time change, so that the next tick is told. */
static void step_second_clock(void)
{
    uint32_t i;

    for (i = 0; i < EPOCHS; i++) {
        collect();
        epoch_ticks[i].count = xTaskGetTickCount();
        BOARD_COUNTER = (BOARD_COUNTER | TARE_STAMP_MASK) + 1;
        epoch_ticks[i].before = BOARD_COUNTER;
        tick();
        epoch_ticks[i].after = BOARD_COUNTER;
        tick(); /* not told */
    }
}

static void drive(void *unused)
{
    static void (*const steps[])(void) = {
        step_queues,       step_queues_in_interrupts,
        step_queue_set,    step_semaphores,
        step_mutexes,      step_recursive_mutex,
        step_tasks,        step_delays,
        step_second_clock, step_notifications,
        step_event_groups, step_buffers,
        step_timers,       step_memory,
        step_stack,        step_queues,
        step_mutexes,      step_more_than_fit,
        step_event_groups, step_texts,
        step_timers,       step_service_task,
    };
    uint32_t i;

    (void)unused;
    runs(&driver);
    daemon.handle = xTimerGetTimerDaemonTaskHandle();
    for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        mark(i);
        steps[i]();
        collect();
    }
    account_done = 1;
    tare_stop();
    board_exit(0);
}

/* What the kernel makes for itself when it starts. */
static void kernel_starts(void)
{
    idle.object = created(TARE_CLASS_TASK, 0);
    ready(&idle);
    timer_queue = created(TARE_CLASS_QUEUE, configTIMER_QUEUE_LENGTH);
    daemon.object = created(TARE_CLASS_TASK, configTIMER_TASK_PRIORITY);
    ready(&daemon);
    running = &daemon;
    if (KERNEL_VERSION >= 1000 && !KERNEL_TELLS_FIRST)
        note(NOTE_OPTIONAL, NO_OBJECT, 0);
    if (KERNEL_VERSION >= 1000)
        note(NOTE_OPERATION + TARE_TASK_RUNS, daemon.object, 0);
    rare(TARE_KERNEL_DELAY_UNTIL, daemon.object, kernel_tick - 1);
}

int main(void)
{
    QueueHandle_t early = xQueueCreate(3, 4);

    vQueueAddToRegistry(early, "early");
    note(NOTE_EARLY, created_early(), 0);
    if (tare_start() != 0)
        return 1;
    ring = find_ring();
    if (!ring)
        return 2;
    mps2_interrupt_enable(INTERRUPT, INTERRUPT_LEVEL);
    mark(1000);
    driver.object = created(TARE_CLASS_TASK, PRIORITY_DRIVER);
    ready(&driver);
    xTaskCreate(drive, "driver", 2 * STACK_WORDS, NULL, PRIORITY_DRIVER, &driver.handle);
    kernel_starts();
    vTaskStartScheduler();
    return 3;
}
