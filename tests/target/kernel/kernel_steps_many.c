/* More objects than have a number; texts that are cut into; a task that serves the recorder. */
#include "kernel_steps.h"
#include "semphr.h"

#include "tare_kernel.h"

#define SYSTICK_CONTROL (*(volatile uint32_t *)0xE000E010u)
#define SYSTICK_RELOAD (*(volatile uint32_t *)0xE000E014u)
#define SYSTICK_VALUE (*(volatile uint32_t *)0xE000E018u)

#define TASK_NUMBERLESS TARE_ID_OTHER_TASK_RUNS
#define OBJECT_NUMBERLESS TARE_ID_OTHER_SEND

/* ------------------------------------------------------------------ more than fit */

#define MANY (TARE_OBJECTS + 4)

static SemaphoreHandle_t many[MANY];
static uint32_t many_objects[MANY];
static QueueHandle_t queue;
static uint32_t item;

/* Which objects go without a number the check finds out by itself; here the kernel says it. */
static uint32_t created_maybe(uint32_t event_class, uint32_t number, uint32_t value)
{
    uint32_t id = number >> TARE_STAMP_BITS;

    if (id != TASK_NUMBERLESS && id != OBJECT_NUMBERLESS)
        return created(event_class, value);
    id = id == TASK_NUMBERLESS ? OTHER_TASK : OTHER_OBJECT;
    rare(TARE_KERNEL_CREATED, id, event_class << 24 | value);
    return id;
}

static void use_numberless(void *unused)
{
    (void)unused;
    runs(&helper);
    waits_to_receive(OTHER_OBJECT);
    xSemaphoreTake(many[MANY - 1], portMAX_DELAY);
    runs(&helper);
    receives(OTHER_OBJECT);
    sends(OTHER_OBJECT);
    xQueueSend(queue, &item, 0);
    waits_to_send(OTHER_OBJECT);
    xQueueSend(queue, &item, portMAX_DELAY);
    runs(&helper);
    sends(OTHER_OBJECT);
    end_helper();
}

static void never(void *unused)
{
    (void)unused;
    configASSERT(0);
}

void step_more_than_fit(void)
{
    TaskHandle_t tasks[MANY];
    uint32_t task_objects[MANY], i, task_count;
    struct task low;

    for (i = 0; i < MANY; i++) {
        many[i] = xSemaphoreCreateBinary();
        many_objects[i] = created_maybe(TARE_CLASS_SEMAPHORE, uxQueueGetQueueNumber(many[i]), 1);
        collect();
    }
    configASSERT(many_objects[MANY - 1] == OTHER_OBJECT);
    queue = xQueueCreate(1, sizeof(item));
    configASSERT(created_maybe(TARE_CLASS_QUEUE, uxQueueGetQueueNumber(queue), 1) == OTHER_OBJECT);

    for (task_count = 0; task_count < MANY; task_count++) {
        configASSERT(xTaskCreate(never, "never", 100, NULL, 1, &tasks[task_count]));
        low.object = created_maybe(TARE_CLASS_TASK, uxTaskGetTaskNumber(tasks[task_count]), 1);
        ready(&low);
        task_objects[task_count] = low.object;
        collect();
        if (low.object == OTHER_TASK)
            break;
    }
    configASSERT(task_count < MANY);

    helper.object = OTHER_TASK;
    rare(TARE_KERNEL_CREATED, OTHER_TASK, TARE_CLASS_TASK << 24 | PRIORITY_HELPER);
    ready(&helper);
    xTaskCreate(use_numberless, "nobody", STACK_WORDS, NULL, PRIORITY_HELPER, &helper.handle);
    runs(&driver);
    sends(OTHER_OBJECT);
    ready(&helper);
    xSemaphoreGive(many[MANY - 1]);
    runs(&driver);
    receives(OTHER_OBJECT);
    ready(&helper);
    xQueueReceive(queue, &item, 0);
    runs(&driver);

    for (i = 0; i <= task_count; i++) {
        rare(TARE_KERNEL_DELETED, task_objects[i], 0);
        vTaskDelete(tasks[i]);
    }
    rare(TARE_KERNEL_DELETED, OTHER_OBJECT, 0);
    vQueueDelete(queue);
    for (i = 0; i < MANY; i++) {
        rare(TARE_KERNEL_DELETED, many_objects[i], 0);
        vSemaphoreDelete(many[i]);
        collect();
    }
}

/* ------------------------------------------------------------------ texts
 * The one step with a tick that comes by itself, and so at any place of a text. What comes how
 * often is noted, not the order. */

#define ROUNDS 60u

static volatile uint32_t helper_said;

static void interject(void *unused)
{
    (void)unused;
    runs(&helper);
    rare(TARE_KERNEL_SUSPENDED, helper.object, 0);
    vTaskSuspend(NULL);
    for (;;) {
        say_something("the task that interrupts has its own words");
        helper_said++;
        vTaskDelay(1);
    }
}

void step_texts(void)
{
    uint32_t driver_said = 0, begin, ticks;

    start_helper(interject, PRIORITY_HELPER);
    note(NOTE_LOOSE, NO_OBJECT, 0);
    begin = xTaskGetTickCount();
    SYSTICK_RELOAD = 1999;
    SYSTICK_VALUE = 0;
    SYSTICK_CONTROL = 7;
    vTaskResume(helper.handle);
    while (helper_said < ROUNDS) {
        say_something("driver speaks");
        driver_said++;
        if (driver_said % 8 == 0)
            collect();
        SYSTICK_RELOAD = 1999 + driver_said % 64;
    }
    SYSTICK_CONTROL = 0;
    ticks = xTaskGetTickCount() - begin;
    kernel_tick += ticks;
    note(NOTE_TEXT, 0, driver_said);
    note(NOTE_TEXT, 1, helper_said);
    note(TARE_KERNEL_RESUMED, helper.object, 1);
    note(TARE_KERNEL_DELAY, helper.object, helper_said);
    note(NOTE_OPERATION + TARE_TASK_READY, helper.object, helper_said);
    note(NOTE_OPERATION + TARE_TASK_RUNS, helper.object, helper_said);
    note(NOTE_OPERATION + TARE_TASK_RUNS, driver.object, helper_said);
    if (KERNEL_TELLS_TICKS) {
        note(NOTE_ENTER, KERNEL_INTERRUPT, ticks);
        note(NOTE_EXIT, KERNEL_INTERRUPT, ticks);
    }
    note(NOTE_STRICT, NO_OBJECT, 0);
    mark(1001);
    rare(TARE_KERNEL_DELETED, helper.object, 0);
    vTaskDelete(helper.handle);
}

/* ------------------------------------------------------------------ the recorder's task */

#define PERIOD 2u

void step_service_task(void)
{
    uint32_t round;

    leave_the_rest();
    service.object = created(TARE_CLASS_TASK, PRIORITY_HELPER);
    ready(&service);
    note(NOTE_OPERATION + TARE_TASK_RUNS, service.object, 0);
    rare(TARE_KERNEL_DELAY, service.object, PERIOD);
    running = &service;
    configASSERT(tare_freertos_task(PRIORITY_HELPER, PERIOD));
    runs(&driver);
    for (round = 0; round < 10; round++) {
        service.wakes = kernel_tick + PERIOD;
        tick();
        tick();
        runs(&service);
        rare(TARE_KERNEL_DELAY, service.object, PERIOD);
        runs(&driver);
    }
}
