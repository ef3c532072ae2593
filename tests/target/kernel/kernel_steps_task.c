/* Tasks and time, notifications, event groups, buffers, timers, memory. */
#include "kernel_steps.h"
#include "event_groups.h"
#include "timers.h"
#if KERNEL_VERSION >= 1000
#include "message_buffer.h"
#include "stream_buffer.h"
#endif

#include "tare_kernel.h"

/* ------------------------------------------------------------------ tasks */

static void suspend_itself(void *unused)
{
    uint32_t round;

    (void)unused;
    runs(&helper);
    for (round = 0; round < 2; round++) {
        rare(TARE_KERNEL_SUSPENDED, helper.object, 0);
        vTaskSuspend(NULL);
        runs(&helper);
    }
    end_helper();
}

static void interrupt_resumes(void)
{
    rare(TARE_KERNEL_RESUMED, helper.object, 0);
    ready(&helper);
    woken = xTaskResumeFromISR(helper.handle);
}

static void never(void *unused)
{
    (void)unused;
    configASSERT(0);
}

void step_tasks(void)
{
    struct task low;

    start_helper(suspend_itself, PRIORITY_HELPER);
    rare(TARE_KERNEL_RESUMED, helper.object, 0);
    ready(&helper);
    vTaskResume(helper.handle);
    runs(&driver);
    interrupt(interrupt_resumes);
    runs(&driver);

    low.object = created(TARE_CLASS_TASK, 1);
    ready(&low);
    xTaskCreate(never, "never", STACK_WORDS, NULL, 1, &low.handle);
    rare(TARE_KERNEL_PRIORITY, low.object, 2);
    ready(&low); /* it goes into another list */
    vTaskPrioritySet(low.handle, 2);
    rare(TARE_KERNEL_SUSPENDED, low.object, 0);
    vTaskSuspend(low.handle);
    rare(TARE_KERNEL_PRIORITY, low.object, 1);
    vTaskPrioritySet(low.handle, 1);
    rare(TARE_KERNEL_PRIORITY, driver.object, 4);
    ready(&driver);
    vTaskPrioritySet(NULL, 4);
    rare(TARE_KERNEL_PRIORITY, driver.object, PRIORITY_DRIVER);
    ready(&driver);
    running = NULL; /* the kernel looks for the next task, and finds this one */
    runs(&driver);
    vTaskPrioritySet(NULL, PRIORITY_DRIVER);
    rare(TARE_KERNEL_DELETED, low.object, 0);
    vTaskDelete(low.handle);
}

void step_delays(void)
{
    TickType_t last;

    rare(TARE_KERNEL_DELAY, driver.object, 3);
    driver.wakes = kernel_tick + 3;
    vTaskDelay(3);
    runs(&driver);
    last = xTaskGetTickCount();
    configASSERT(last == kernel_tick);
    rare(TARE_KERNEL_DELAY_UNTIL, driver.object, kernel_tick + 2);
    driver.wakes = kernel_tick + 2;
    vTaskDelayUntil(&last, 2);
    runs(&driver);
}

/* ------------------------------------------------------------------ notifications */

static void be_notified(void *unused)
{
    uint32_t value;

    (void)unused;
    runs(&helper);
    rare(TARE_KERNEL_NOTIFY_BLOCK, helper.object, 0);
    ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
    runs(&helper);
    rare(TARE_KERNEL_NOTIFY_TAKEN, helper.object, 0);
    rare(TARE_KERNEL_NOTIFY_BLOCK, helper.object, 0);
    xTaskNotifyWait(0, 0xFFFFFFFFu, &value, portMAX_DELAY);
    runs(&helper);
    rare(TARE_KERNEL_NOTIFY_TAKEN, helper.object, 0);
    configASSERT(value == 7);

    rare(TARE_KERNEL_NOTIFY_BLOCK, helper.object, 0);
    helper.wakes = kernel_tick + 1;
    configASSERT(ulTaskNotifyTake(pdTRUE, 1) == 0);
    runs(&helper);
    rare(TARE_KERNEL_RECEIVE_FAILED, helper.object, 0);
    rare(TARE_KERNEL_RECEIVE_FAILED, helper.object, 0);
    configASSERT(!xTaskNotifyWait(0, 0, NULL, 0));
#if KERNEL_VERSION >= 1004
    rare(TARE_KERNEL_NOTIFY_BLOCK, helper.object, 1);
    ulTaskNotifyTakeIndexed(1, pdTRUE, portMAX_DELAY);
    runs(&helper);
    rare(TARE_KERNEL_NOTIFY_TAKEN, helper.object, 1);
    rare(TARE_KERNEL_RECEIVE_FAILED, helper.object, 1);
    configASSERT(!xTaskNotifyWaitIndexed(1, 0, 0, NULL, 0));
#endif
    end_helper();
}

static void interrupt_notifies(void)
{
    rare(TARE_KERNEL_NOTIFIED, helper.object, 0);
    ready(&helper);
    vTaskNotifyGiveFromISR(helper.handle, &woken);
}

static void interrupt_notifies_value(void)
{
    rare(TARE_KERNEL_NOTIFIED, helper.object, 0);
    ready(&helper);
    xTaskNotifyFromISR(helper.handle, 7, eSetValueWithOverwrite, &woken);
}

void step_notifications(void)
{
    start_helper(be_notified, PRIORITY_HELPER);
    interrupt(interrupt_notifies);
    runs(&driver);
    interrupt(interrupt_notifies_value);
    runs(&driver);
    tick();
    runs(&driver);
#if KERNEL_VERSION >= 1004
    rare(TARE_KERNEL_NOTIFIED, helper.object, 1);
    ready(&helper);
    xTaskNotifyGiveIndexed(helper.handle, 1);
    runs(&driver);
#endif
    rare(TARE_KERNEL_NOTIFIED, driver.object, 0);
    xTaskNotifyGive(driver.handle);
    rare(TARE_KERNEL_NOTIFY_TAKEN, driver.object, 0);
    ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
}

/* ------------------------------------------------------------------ event groups */

static EventGroupHandle_t group;
static uint32_t group_object;

static void wait_for_bits(void *unused)
{
    (void)unused;
    runs(&helper);
    bits_of(TARE_RECEIVE_BLOCK, group_object, 3);
    xEventGroupWaitBits(group, 3, pdTRUE, pdTRUE, portMAX_DELAY);
    runs(&helper);
    bits_of(TARE_RECEIVE, group_object, 3);

    bits_of(TARE_RECEIVE_BLOCK, group_object, 4);
    helper.wakes = kernel_tick + 1;
    xEventGroupWaitBits(group, 4, pdTRUE, pdTRUE, 1);
    runs(&helper);
    rare(TARE_KERNEL_RECEIVE_FAILED, group_object, 0);

    bits_of(TARE_SEND, group_object, 8);
    bits_of(TARE_RECEIVE_BLOCK, group_object, 24);
    xEventGroupSync(group, 8, 24, portMAX_DELAY);
    runs(&helper);
    bits_of(TARE_RECEIVE, group_object, 24);

    bits_of(TARE_SEND, group_object, 8);
    bits_of(TARE_RECEIVE_BLOCK, group_object, 24);
    helper.wakes = kernel_tick + 1;
    xEventGroupSync(group, 8, 24, 1);
    runs(&helper);
    rare(TARE_KERNEL_RECEIVE_FAILED, group_object, 0);
    end_helper();
}

static void interrupt_sets_bits(void)
{
    sends(timer_queue);
    ready(&daemon);
    xEventGroupSetBitsFromISR(group, 32, &woken);
}

/* The kernel takes no variable here, but has to be told. */
static void interrupt_clears_bits(void)
{
    sends(timer_queue);
    ready(&daemon);
    xEventGroupClearBitsFromISR(group, 32);
    woken = pdTRUE;
}

void step_event_groups(void)
{
    group_object = created(TARE_CLASS_EVENTS, 0);
    group = xEventGroupCreate();
    start_helper(wait_for_bits, PRIORITY_HELPER);
    bits_of(TARE_SEND, group_object, 1);
    xEventGroupSetBits(group, 1);
    bits_of(TARE_SEND, group_object, 2);
    ready(&helper);
    xEventGroupSetBits(group, 2);
    runs(&driver);
    tick();
    runs(&driver);
    bits_of(TARE_SEND, group_object, 16);
    ready(&helper); /* it runs before this call returns */
    xEventGroupSync(group, 16, 24, portMAX_DELAY);
    runs(&driver);
    bits_of(TARE_RECEIVE, group_object, 24);
    tick();
    runs(&driver);

    bits_of(TARE_SEND, group_object, 64);
    xEventGroupSetBits(group, 64);
    bits_of(TARE_RECEIVE, group_object, 72);
    xEventGroupWaitBits(group, 65, pdFALSE, pdFALSE, 0);
    rare(TARE_KERNEL_RECEIVE_FAILED, group_object, 0);
    xEventGroupWaitBits(group, 65, pdFALSE, pdTRUE, 0);
    rare(TARE_KERNEL_RESET, group_object, 64);
    xEventGroupClearBits(group, 64);
    bits_of(TARE_SEND, group_object, 64);
    rare(TARE_KERNEL_RECEIVE_FAILED, group_object, 0);
    xEventGroupSync(group, 64, 128, 0);

    interrupt(interrupt_sets_bits);
    daemon_wakes();
    bits_of(TARE_SEND, group_object, 32);
    daemon_waits(0);
    runs(&driver);
    interrupt(interrupt_clears_bits);
    daemon_wakes();
    rare(TARE_KERNEL_RESET, group_object, 32);
    daemon_waits(0);
    runs(&driver);
    rare(TARE_KERNEL_DELETED, group_object, 0);
    vEventGroupDelete(group);
}

/* ------------------------------------------------------------------ stream and message buffers */

#if KERNEL_VERSION >= 1000

static StreamBufferHandle_t stream;
static uint32_t stream_object;
static char bytes[16];

static void notified_by_stream(void)
{
    rare(TARE_KERNEL_NOTIFIED, helper.object, 0);
    ready(&helper);
}

static void wait_for_stream(void)
{
    rare(TARE_KERNEL_NOTIFY_BLOCK, helper.object, 0);
}

static void use_stream(void *unused)
{
    (void)unused;
    runs(&helper);
    waits_to_receive(stream_object);
    wait_for_stream();
    xStreamBufferReceive(stream, bytes, 4, portMAX_DELAY);
    runs(&helper);
    rare(TARE_KERNEL_NOTIFY_TAKEN, helper.object, 0);
    receives(stream_object);

    waits_to_receive(stream_object);
    wait_for_stream();
    xStreamBufferReceive(stream, bytes, 4, portMAX_DELAY);
    runs(&helper);
    rare(TARE_KERNEL_NOTIFY_TAKEN, helper.object, 0);
    receives(stream_object);

    sends(stream_object);
    xStreamBufferSend(stream, bytes, 8, portMAX_DELAY);
    waits_to_send(stream_object);
    wait_for_stream();
    xStreamBufferSend(stream, bytes, 4, portMAX_DELAY);
    runs(&helper);
    rare(TARE_KERNEL_NOTIFY_TAKEN, helper.object, 0);
    sends(stream_object);
    end_helper();
}

static void interrupt_streams(void)
{
    notified_by_stream();
    sends(stream_object);
    xStreamBufferSendFromISR(stream, "5678", 4, &woken);
}

static void interrupt_takes_stream(void)
{
    receives(stream_object);
    xStreamBufferReceiveFromISR(stream, bytes, 4, NULL);
}

#ifdef traceENTER_xStreamBufferResetFromISR /* newer than 11.1 */
static void interrupt_resets_stream(void)
{
    rare(TARE_KERNEL_RESET, stream_object, 0);
    xStreamBufferResetFromISR(stream);
}
#endif

void step_buffers(void)
{
    stream_object = created(TARE_CLASS_BUFFER, 9); /* the kernel keeps one byte free */
    stream = xStreamBufferCreate(8, 1);
    rare(TARE_KERNEL_RECEIVE_FAILED, stream_object, 0);
    xStreamBufferReceive(stream, bytes, 4, 0);
    start_helper(use_stream, PRIORITY_HELPER);
    sends(stream_object);
    notified_by_stream();
    xStreamBufferSend(stream, "1234", 4, 0);
    runs(&driver);
    interrupt(interrupt_streams);
    runs(&driver);
    rare(TARE_KERNEL_SEND_FAILED, stream_object, 0);
    xStreamBufferSend(stream, "9", 1, 0);
    receives(stream_object);
    notified_by_stream();
    xStreamBufferReceive(stream, bytes, 4, 0);
    runs(&driver);
    interrupt(interrupt_takes_stream);
    rare(TARE_KERNEL_RESET, stream_object, 0);
    xStreamBufferReset(stream);
#ifdef traceENTER_xStreamBufferResetFromISR
    interrupt(interrupt_resets_stream);
#endif
    sends(stream_object); /* it has kept its number */
    xStreamBufferSend(stream, "12", 2, 0);
    rare(TARE_KERNEL_DELETED, stream_object, 0);
    vStreamBufferDelete(stream);

    stream_object = created(TARE_CLASS_BUFFER, 33);
    stream = (StreamBufferHandle_t)xMessageBufferCreate(32);
    sends(stream_object);
    xMessageBufferSend((MessageBufferHandle_t)stream, "a message", 9, 0);
    receives(stream_object);
    xMessageBufferReceive((MessageBufferHandle_t)stream, bytes, sizeof(bytes), 0);
    rare(TARE_KERNEL_DELETED, stream_object, 0);
    vMessageBufferDelete((MessageBufferHandle_t)stream);
}

#else

void step_buffers(void)
{
}

#endif

/* ------------------------------------------------------------------ timers */

enum { /* of the kernel's timers.h */
    COMMAND_START = 1,
    COMMAND_STOP = 3,
    COMMAND_PERIOD = 4,
    COMMAND_DELETE = 5
};

static TimerHandle_t timer;
static uint32_t timer_object;

/* The timer task looks into its queue before and behind the call. */
static void expired(TimerHandle_t which)
{
    configASSERT(which == timer);
    runs(&daemon);
    rare(TARE_KERNEL_RECEIVE_FAILED, timer_queue, 0);
    rare(TARE_KERNEL_EXPIRED, timer_object, 0);
    mark(99);
    daemon_waits(0);
}

static void command(uint32_t code, uint32_t until)
{
    sends(timer_queue);
    ready(&daemon);
    daemon_wakes();
    rare(TARE_KERNEL_TIMER_COMMAND, timer_object, code);
    if (code == COMMAND_DELETE)
        rare(TARE_KERNEL_DELETED, timer_object, 0);
    daemon_waits(until);
}

void step_timers(void)
{
    timer_object = created(TARE_CLASS_TIMER, 2);
    timer = xTimerCreate("a timer", 2, pdFALSE, NULL, expired);
    command(COMMAND_START, kernel_tick + 2);
    xTimerStart(timer, 0);
    runs(&driver);
    tick();
    tick();
    runs(&driver);
    command(COMMAND_PERIOD, kernel_tick + 5);
    xTimerChangePeriod(timer, 5, 0);
    runs(&driver);
    command(COMMAND_STOP, 0);
    xTimerStop(timer, 0);
    runs(&driver);
    command(COMMAND_DELETE, 0);
    xTimerDelete(timer, 0);
    runs(&driver);
}

/* ------------------------------------------------------------------ memory and stacks */

/* Bytes of a block of heap_4, with its head. */
static uint32_t block_bytes(uint32_t wanted)
{
    return (wanted + 8 + 7) & ~7u;
}

void step_memory(void)
{
    uint32_t size = block_bytes(100);
    void *block;

    tare_enable(1u << TARE_CATEGORY_MEMORY);
    block = pvPortMalloc(100);
    note(TARE_KERNEL_ALLOCATED, size, (uint32_t)block);
    note(TARE_KERNEL_FREED, size, (uint32_t)block);
    vPortFree(block);
    tare_disable(1u << TARE_CATEGORY_MEMORY);
    vPortFree(pvPortMalloc(100)); /* not told */
}

void step_stack(void)
{
    uint32_t bytes_left;

    tare_freertos_stack(NULL);
    bytes_left = (uint32_t)uxTaskGetStackHighWaterMark(NULL) * 4u;
    rare(TARE_KERNEL_STACK_LEFT, driver.object, bytes_left);
    tare_freertos_stack(daemon.handle);
    rare(TARE_KERNEL_STACK_LEFT, daemon.object,
         (uint32_t)uxTaskGetStackHighWaterMark(daemon.handle) * 4u);
}
