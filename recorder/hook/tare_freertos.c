/* The part of Tare's FreeRTOS hooks that needs no place inside the kernel. Compile it beside
 * tare.c, with the options that the kernel is compiled with. */
#include <FreeRTOS.h>
#include <queue.h>
#include <task.h>

#include "tare_baremetal.h"
#include "tare_freertos.h"

#if TARE_ENABLED

TARE_CATEGORY(tare_tasks, TARE_CATEGORY_TASK, "tasks")
TARE_CATEGORY(tare_queues, TARE_CATEGORY_OBJECT, "queues and other objects")
TARE_CATEGORY(tare_interrupts, TARE_CATEGORY_INTERRUPT, "interrupts")
TARE_CATEGORY(tare_rare, TARE_CATEGORY_KERNEL, "kernel")
TARE_CATEGORY(tare_memory, TARE_CATEGORY_MEMORY, "memory")
TARE_INTERRUPT(tare_kernel_interrupt, tare_interrupts, "kernel")

#ifndef TARE_FREERTOS_STACK
#define TARE_FREERTOS_STACK 160 /* words */
#endif

uint32_t tare_freertos_queue(uint32_t queue_type, uint32_t length)
{
    uint32_t event_class = TARE_CLASS_QUEUE;

    switch (queue_type) {
    case queueQUEUE_TYPE_MUTEX:
        event_class = TARE_CLASS_MUTEX;
        break;
    case queueQUEUE_TYPE_COUNTING_SEMAPHORE:
        event_class = TARE_CLASS_COUNTING;
        break;
    case queueQUEUE_TYPE_BINARY_SEMAPHORE:
        event_class = TARE_CLASS_SEMAPHORE;
        break;
    case queueQUEUE_TYPE_RECURSIVE_MUTEX:
        event_class = TARE_CLASS_RECURSIVE;
        break;
    default:
        break;
    }
    return tare_object_new(event_class, NULL, length);
}

/* 0: none. */
uint32_t tare_freertos_task_id(void *task)
{
    return task ? (uint32_t)uxTaskGetTaskNumber((TaskHandle_t)task) >> TARE_STAMP_BITS : 0;
}

/* portYIELD_FROM_ISR of FreeRTOS 11 says "exit" also in interrupts of which nobody said "enter". */
void tare_freertos_interrupt(uint32_t operation)
{
    static volatile uint32_t entered;

    if (operation == TARE_ENTER) {
        entered++;
        tare_kernel_interrupt_enter();
    } else if (entered > 0) {
        entered--;
        tare_kernel_interrupt_exit();
    }
}

#if INCLUDE_uxTaskGetStackHighWaterMark == 1
void tare_freertos_stack(void *task)
{
    TaskHandle_t handle = task ? (TaskHandle_t)task : xTaskGetCurrentTaskHandle();
    uint32_t words = (uint32_t)uxTaskGetStackHighWaterMark(handle);

    tare_kernel_event(TARE_KERNEL_STACK_LEFT, (uint32_t)uxTaskGetTaskNumber(handle),
                      words * (uint32_t)sizeof(StackType_t));
}
#endif

static void tare_freertos_run(void *period)
{
    for (;;) {
        vTaskDelay((TickType_t)(uintptr_t)period);
        tare_service();
    }
}

int tare_freertos_task(unsigned long priority, uint32_t period)
{
    return xTaskCreate(tare_freertos_run, "tare", TARE_FREERTOS_STACK, (void *)(uintptr_t)period,
                       (UBaseType_t)priority, NULL) == pdPASS;
}

#endif /* TARE_ENABLED */
