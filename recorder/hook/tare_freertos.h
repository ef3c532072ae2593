/* Tare's hooks for FreeRTOS 9, 10 and 11: include this at the end of FreeRTOSConfig.h and compile
 * tare_freertos.c beside tare.c.
 *
 *     #define configUSE_TRACE_FACILITY 1
 *     ...
 *     #include "tare_freertos.h"
 *
 * The options of tare_conf.h need TARE_OBJECTS: how many tasks, queues, semaphores, event groups,
 * buffers and timers there are at a time. The kernel's own number fields (uxTaskNumber,
 * uxQueueNumber, ...) hold what an event needs; nothing else may set them.
 *
 * hook of the kernel                 event                                           category
 * task switched in, ready            4 bytes each                                    TASK
 * queue, semaphore, mutex            send or give, receive or take, block: 4 bytes   OBJECT
 * event group, stream buffer         set, seen, block; send, receive, block: 4       OBJECT
 * created, deleted, failed, peeked,
 *   priority, inheritance, holder of a mutex that is waited for, delay, suspend,
 *   notification, timer              12 bytes                                        KERNEL
 * heap                               allocated, freed: 12                            MEMORY
 * interrupts                         of the kernel's port from FreeRTOS 11 on: 4     INTERRUPT
 * tick                               keeps the time; the count now and then          -
 *
 * A wait that ended in vain is "receive failed" of what was waited for; for a notification, of the
 * task itself. A change of priority tells once more that the task may run, because the kernel puts
 * it into another list. FreeRTOS 9 does not tell which task runs first.
 *
 * TARE_OBJECTS is enough when it is the most tasks plus the most other objects at a time: a number
 * that a task has had is for tasks.
 *
 * FreeRTOS before 10.2 keeps the holder of a mutex elsewhere: set TARE_FREERTOS_OLD_HOLDER there.
 * An application's own interrupts are declared by TARE_INTERRUPT of tare_baremetal.h. Queues,
 * semaphores and mutexes get their names from vQueueAddToRegistry (configQUEUE_REGISTRY_SIZE).
 */
#ifndef TARE_FREERTOS_H
#define TARE_FREERTOS_H

#if !defined(__ASSEMBLER__) && !defined(__ASSEMBLY__) && !defined(__IASMARM__)

#include "../tare_kernel.h"

#if TARE_ENABLED

#if !defined(configUSE_TRACE_FACILITY) || configUSE_TRACE_FACILITY != 1
#error "tare_freertos.h: set configUSE_TRACE_FACILITY to 1, and include this header behind it"
#endif
#if TARE_OBJECTS == 0
#error "tare_freertos.h: set TARE_OBJECTS to the number of kernel objects that exist at a time"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Records how much of its stack a task has never used. Scans that stack, outside any lock: call it
 * from the idle hook or a task of low priority. `task` is a TaskHandle_t; NULL: the caller.
 * Needs INCLUDE_uxTaskGetStackHighWaterMark. Task. [rare] */
void tare_freertos_stack(void *task);

/* Makes a task "tare" that calls tare_service every `period` ticks of the kernel, for applications
 * that have no better place. 1, or 0 when the kernel has no memory for it. Its stack is
 * TARE_FREERTOS_STACK words (160). Task, or before the scheduler starts. [rare] */
int tare_freertos_task(unsigned long priority, uint32_t period);

/* For the hooks below alone. */
uint32_t tare_freertos_queue(uint32_t queue_type, uint32_t length);
uint32_t tare_freertos_task_id(void *task);
void tare_freertos_interrupt(uint32_t operation);

#ifdef __cplusplus
}
#endif

#define TARE_OF_TASK(task) ((uint32_t)(task)->uxTaskNumber)
#define TARE_OF_QUEUE(queue) ((uint32_t)((Queue_t *)(queue))->uxQueueNumber)
#define TARE_OF_EVENTS(group) ((uint32_t)((EventGroup_t *)(group))->uxEventGroupNumber)
#define TARE_OF_BUFFER(buffer) ((uint32_t)((StreamBuffer_t *)(buffer))->uxStreamBufferNumber)
#define TARE_OF_TIMER(timer) ((uint32_t)((Timer_t *)(timer))->uxTimerNumber)

#define TARE_QUEUE_EVENT(queue, operation) \
    TARE_OBJECT_EVENT(TARE_CATEGORY_OBJECT, TARE_OF_QUEUE(queue), operation)

/* ------------------------------------------------------------------ tasks */

#define traceTASK_CREATE(task) \
    ((task)->uxTaskNumber = (UBaseType_t)tare_object_new(TARE_CLASS_TASK, (task)->pcTaskName, \
                                                         (uint32_t)(task)->uxPriority))
#define traceTASK_DELETE(task) tare_object_delete(TARE_OF_TASK(task))
#define traceTASK_SWITCHED_IN() \
    TARE_OBJECT_EVENT(TARE_CATEGORY_TASK, TARE_OF_TASK(pxCurrentTCB), TARE_TASK_RUNS)
#define traceMOVED_TASK_TO_READY_STATE(task) \
    TARE_OBJECT_EVENT(TARE_CATEGORY_TASK, TARE_OF_TASK(task), TARE_TASK_READY)
#define traceTASK_PRIORITY_SET(task, priority) \
    tare_kernel_event(TARE_KERNEL_PRIORITY, TARE_OF_TASK(task), (uint32_t)(priority))
#define traceTASK_PRIORITY_INHERIT(task, priority) \
    tare_kernel_event(TARE_KERNEL_INHERITS, TARE_OF_TASK(task), (uint32_t)(priority))
#define traceTASK_PRIORITY_DISINHERIT(task, priority) \
    tare_kernel_event(TARE_KERNEL_DISINHERITS, TARE_OF_TASK(task), (uint32_t)(priority))
#define traceTASK_DELAY() \
    tare_kernel_event(TARE_KERNEL_DELAY, TARE_OF_TASK(pxCurrentTCB), (uint32_t)xTicksToDelay)
#define traceTASK_DELAY_UNTIL(time) \
    tare_kernel_event(TARE_KERNEL_DELAY_UNTIL, TARE_OF_TASK(pxCurrentTCB), (uint32_t)(time))
#define traceTASK_SUSPEND(task) tare_kernel_event(TARE_KERNEL_SUSPENDED, TARE_OF_TASK(task), 0)
#define traceTASK_RESUME(task) tare_kernel_event(TARE_KERNEL_RESUMED, TARE_OF_TASK(task), 0)
#define traceTASK_RESUME_FROM_ISR(task) \
    tare_kernel_event(TARE_KERNEL_RESUMED, TARE_OF_TASK(task), 0)

/* Notifications have an index from FreeRTOS 10.4 on; where there is none, `+ 0` makes it 0. */
#define TARE_NOTIFICATION(kind, task, index) \
    tare_kernel_event(kind, TARE_OF_TASK(task), (uint32_t)(index))
#define traceTASK_NOTIFY(...) TARE_NOTIFICATION(TARE_KERNEL_NOTIFIED, pxTCB, __VA_ARGS__ + 0)
#define traceTASK_NOTIFY_FROM_ISR(...) \
    TARE_NOTIFICATION(TARE_KERNEL_NOTIFIED, pxTCB, __VA_ARGS__ + 0)
#define traceTASK_NOTIFY_GIVE_FROM_ISR(...) \
    TARE_NOTIFICATION(TARE_KERNEL_NOTIFIED, pxTCB, __VA_ARGS__ + 0)
#define traceTASK_NOTIFY_TAKE_BLOCK(...) \
    TARE_NOTIFICATION(TARE_KERNEL_NOTIFY_BLOCK, pxCurrentTCB, __VA_ARGS__ + 0)
#define traceTASK_NOTIFY_WAIT_BLOCK(...) \
    TARE_NOTIFICATION(TARE_KERNEL_NOTIFY_BLOCK, pxCurrentTCB, __VA_ARGS__ + 0)
/* The kernel calls these two behind every wait, also one that ended without a notification. */
#define traceTASK_NOTIFY_TAKE(...) \
    TARE_NOTIFICATION(((volatile uint32_t *)&pxCurrentTCB->ulNotifiedValue)[__VA_ARGS__ + 0] != 0 \
                          ? TARE_KERNEL_NOTIFY_TAKEN \
                          : TARE_KERNEL_RECEIVE_FAILED, \
                      pxCurrentTCB, __VA_ARGS__ + 0)
#define traceTASK_NOTIFY_WAIT(...) \
    TARE_NOTIFICATION(((volatile uint8_t *)&pxCurrentTCB->ucNotifyState)[__VA_ARGS__ + 0] == \
                              taskNOTIFICATION_RECEIVED \
                          ? TARE_KERNEL_NOTIFY_TAKEN \
                          : TARE_KERNEL_RECEIVE_FAILED, \
                      pxCurrentTCB, __VA_ARGS__ + 0)

#define traceTASK_INCREMENT_TICK(count) tare_tick((uint32_t)(count))

/* ------------------------------------------------------------------ queues, semaphores, mutexes */

#ifdef TARE_FREERTOS_OLD_HOLDER
#define TARE_HOLDER(queue) ((queue)->pxMutexHolder)
#else
#define TARE_HOLDER(queue) ((queue)->u.xSemaphore.xMutexHolder)
#endif

#define traceQUEUE_CREATE(queue) \
    ((queue)->uxQueueNumber = \
         (UBaseType_t)tare_freertos_queue((queue)->ucQueueType, (uint32_t)(queue)->uxLength))
#define traceQUEUE_DELETE(queue) tare_object_delete(TARE_OF_QUEUE(queue))
#define traceQUEUE_REGISTRY_ADD(queue, name) tare_object_name(TARE_OF_QUEUE(queue), (name))
#define traceQUEUE_SEND(queue) TARE_QUEUE_EVENT(queue, TARE_SEND)
#define traceQUEUE_SEND_FROM_ISR(queue) TARE_QUEUE_EVENT(queue, TARE_SEND)
#define traceQUEUE_RECEIVE(queue) TARE_QUEUE_EVENT(queue, TARE_RECEIVE)
#define traceQUEUE_RECEIVE_FROM_ISR(queue) TARE_QUEUE_EVENT(queue, TARE_RECEIVE)
#define traceBLOCKING_ON_QUEUE_SEND(queue) TARE_QUEUE_EVENT(queue, TARE_SEND_BLOCK)
#define traceBLOCKING_ON_QUEUE_RECEIVE(queue) \
    do { \
        if ((queue)->uxQueueType == queueQUEUE_IS_MUTEX) \
            tare_kernel_event(TARE_KERNEL_HOLDER, TARE_OF_QUEUE(queue), \
                              tare_freertos_task_id((void *)TARE_HOLDER(queue))); \
        TARE_QUEUE_EVENT(queue, TARE_RECEIVE_BLOCK); \
    } while (0)
#define traceBLOCKING_ON_QUEUE_PEEK(queue) TARE_QUEUE_EVENT(queue, TARE_RECEIVE_BLOCK)
#define TARE_QUEUE_FAILED(kind, queue) tare_kernel_event(kind, TARE_OF_QUEUE(queue), 0)
#define traceQUEUE_SEND_FAILED(queue) TARE_QUEUE_FAILED(TARE_KERNEL_SEND_FAILED, queue)
#define traceQUEUE_SEND_FROM_ISR_FAILED(queue) TARE_QUEUE_FAILED(TARE_KERNEL_SEND_FAILED, queue)
#define traceQUEUE_RECEIVE_FAILED(queue) TARE_QUEUE_FAILED(TARE_KERNEL_RECEIVE_FAILED, queue)
#define traceQUEUE_RECEIVE_FROM_ISR_FAILED(queue) \
    TARE_QUEUE_FAILED(TARE_KERNEL_RECEIVE_FAILED, queue)
#define traceQUEUE_PEEK(queue) TARE_QUEUE_FAILED(TARE_KERNEL_PEEKED, queue)
#define traceQUEUE_PEEK_FROM_ISR(queue) TARE_QUEUE_FAILED(TARE_KERNEL_PEEKED, queue)
#define traceQUEUE_PEEK_FAILED(queue) TARE_QUEUE_FAILED(TARE_KERNEL_RECEIVE_FAILED, queue)
#define traceQUEUE_PEEK_FROM_ISR_FAILED(queue) TARE_QUEUE_FAILED(TARE_KERNEL_RECEIVE_FAILED, queue)

/* ------------------------------------------------------------------ event groups */

#define TARE_EVENTS_EVENT(group, operation, bits) \
    do { \
        TARE_OBJECT_EVENT(TARE_CATEGORY_OBJECT, TARE_OF_EVENTS(group), operation); \
        tare_kernel_event(TARE_KERNEL_BITS, TARE_OF_EVENTS(group), (uint32_t)(bits)); \
    } while (0)
#define traceEVENT_GROUP_CREATE(group) \
    (((EventGroup_t *)(group))->uxEventGroupNumber = \
         (UBaseType_t)tare_object_new(TARE_CLASS_EVENTS, NULL, 0))
#define traceEVENT_GROUP_DELETE(group) tare_object_delete(TARE_OF_EVENTS(group))
#define traceEVENT_GROUP_SET_BITS(group, bits) TARE_EVENTS_EVENT(group, TARE_SEND, bits)
#define traceEVENT_GROUP_CLEAR_BITS(group, bits) \
    tare_kernel_event(TARE_KERNEL_RESET, TARE_OF_EVENTS(group), (uint32_t)(bits))
#define traceEVENT_GROUP_WAIT_BITS_BLOCK(group, bits) \
    TARE_EVENTS_EVENT(group, TARE_RECEIVE_BLOCK, bits)
#define traceEVENT_GROUP_SYNC_BLOCK(group, set, bits) \
    TARE_EVENTS_EVENT(group, TARE_RECEIVE_BLOCK, bits)
/* Not every kernel says truly whether the time ran out; the bits that the caller gets do. */
#define TARE_EVENTS_END(group, timeout, found) \
    do { \
        (void)(timeout); \
        if (found) \
            TARE_EVENTS_EVENT(group, TARE_RECEIVE, uxReturn); \
        else \
            tare_kernel_event(TARE_KERNEL_RECEIVE_FAILED, TARE_OF_EVENTS(group), 0); \
    } while (0)
#define traceEVENT_GROUP_WAIT_BITS_END(group, bits, timeout) \
    TARE_EVENTS_END(group, timeout, \
                    xWaitForAllBits ? (uxReturn & (bits)) == (bits) : (uxReturn & (bits)) != 0)
#define traceEVENT_GROUP_SYNC_END(group, set, bits, timeout) \
    TARE_EVENTS_END(group, timeout, (uxReturn & (bits)) == (bits))

/* ------------------------------------------------------------------ stream and message buffers */

#define TARE_BUFFER_EVENT(buffer, operation) \
    TARE_OBJECT_EVENT(TARE_CATEGORY_OBJECT, TARE_OF_BUFFER(buffer), operation)
#define traceSTREAM_BUFFER_CREATE(buffer, type) \
    (((StreamBuffer_t *)(buffer))->uxStreamBufferNumber = (UBaseType_t)tare_object_new( \
         TARE_CLASS_BUFFER, NULL, (uint32_t)((StreamBuffer_t *)(buffer))->xLength))
#define traceSTREAM_BUFFER_DELETE(buffer) tare_object_delete(TARE_OF_BUFFER(buffer))
#define traceSTREAM_BUFFER_SEND(buffer, bytes) TARE_BUFFER_EVENT(buffer, TARE_SEND)
#define traceSTREAM_BUFFER_SEND_FROM_ISR(buffer, bytes) TARE_BUFFER_EVENT(buffer, TARE_SEND)
#define traceSTREAM_BUFFER_RECEIVE(buffer, bytes) TARE_BUFFER_EVENT(buffer, TARE_RECEIVE)
#define traceSTREAM_BUFFER_RECEIVE_FROM_ISR(buffer, bytes) TARE_BUFFER_EVENT(buffer, TARE_RECEIVE)
#define traceBLOCKING_ON_STREAM_BUFFER_SEND(buffer) TARE_BUFFER_EVENT(buffer, TARE_SEND_BLOCK)
#define traceBLOCKING_ON_STREAM_BUFFER_RECEIVE(buffer) TARE_BUFFER_EVENT(buffer, TARE_RECEIVE_BLOCK)
#define traceSTREAM_BUFFER_SEND_FAILED(buffer) \
    tare_kernel_event(TARE_KERNEL_SEND_FAILED, TARE_OF_BUFFER(buffer), 0)
#define traceSTREAM_BUFFER_RECEIVE_FAILED(buffer) \
    tare_kernel_event(TARE_KERNEL_RECEIVE_FAILED, TARE_OF_BUFFER(buffer), 0)
#define traceSTREAM_BUFFER_RESET(buffer) \
    tare_kernel_event(TARE_KERNEL_RESET, TARE_OF_BUFFER(buffer), 0)
#define traceSTREAM_BUFFER_RESET_FROM_ISR(buffer) \
    tare_kernel_event(TARE_KERNEL_RESET, TARE_OF_BUFFER(buffer), 0)

/* ------------------------------------------------------------------ timers, heap, interrupts */

#define traceTIMER_CREATE(timer) \
    ((timer)->uxTimerNumber = (UBaseType_t)tare_object_new( \
         TARE_CLASS_TIMER, (timer)->pcTimerName, (uint32_t)(timer)->xTimerPeriodInTicks))
#define traceTIMER_EXPIRED(timer) tare_kernel_event(TARE_KERNEL_EXPIRED, TARE_OF_TIMER(timer), 0)
/* Nothing else tells that a timer is deleted. */
#define traceTIMER_COMMAND_RECEIVED(timer, command, value) \
    do { \
        tare_kernel_event(TARE_KERNEL_TIMER_COMMAND, TARE_OF_TIMER(timer), (uint32_t)(command)); \
        if ((command) == tmrCOMMAND_DELETE) \
            tare_object_delete(TARE_OF_TIMER(timer)); \
    } while (0)

#define traceMALLOC(address, bytes) TARE_MEMORY_EVENT(TARE_KERNEL_ALLOCATED, address, bytes)
#define traceFREE(address, bytes) TARE_MEMORY_EVENT(TARE_KERNEL_FREED, address, bytes)

#define traceISR_ENTER() tare_freertos_interrupt(TARE_ENTER)
#define traceISR_EXIT() tare_freertos_interrupt(TARE_EXIT)
#define traceISR_EXIT_TO_SCHEDULER() tare_freertos_interrupt(TARE_EXIT)

#endif /* TARE_ENABLED */

#endif /* not the assembler */

#endif /* TARE_FREERTOS_H */
