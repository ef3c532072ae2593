/* Queues, semaphores, mutexes. */
#include "kernel_steps.h"
#include "semphr.h"

#include "tare_kernel.h"

static QueueHandle_t queue, set, other_queue;
static uint32_t queue_object, set_object, other_object;
static SemaphoreHandle_t lock;
static uint32_t lock_object;
static uint32_t item;

static void make_queue(uint32_t length)
{
    queue_object = created(TARE_CLASS_QUEUE, length);
    queue = xQueueCreate(length, sizeof(item));
}

static void delete_queue(void)
{
    rare(TARE_KERNEL_DELETED, queue_object, 0);
    vQueueDelete(queue);
}

/* ------------------------------------------------------------------ queues */

static void consume(void *unused)
{
    uint32_t round;

    (void)unused;
    runs(&helper);
    for (round = 0; round < 3; round++) {
        waits_to_receive(queue_object);
        configASSERT(xQueueReceive(queue, &item, portMAX_DELAY));
        runs(&helper);
        receives(queue_object);
        configASSERT(item == round);
    }
    end_helper();
}

static void produce(void *unused)
{
    (void)unused;
    runs(&helper);
    sends(queue_object);
    xQueueSend(queue, &item, portMAX_DELAY);
    waits_to_send(queue_object);
    xQueueSend(queue, &item, portMAX_DELAY);
    runs(&helper);
    sends(queue_object);
    end_helper();
}

static void wait_in_vain(void *unused)
{
    (void)unused;
    runs(&helper);
    waits_to_receive(queue_object);
    helper.wakes = kernel_tick + 2;
    xQueueReceive(queue, &item, 2);
    runs(&helper);
    rare(TARE_KERNEL_RECEIVE_FAILED, queue_object, 0);
    waits_to_receive(queue_object);
    helper.wakes = kernel_tick + 1;
    xQueuePeek(queue, &item, 1);
    runs(&helper);
    rare(TARE_KERNEL_RECEIVE_FAILED, queue_object, 0);
    waits_to_receive(queue_object);
    xQueuePeek(queue, &item, portMAX_DELAY);
    runs(&helper);
    rare(TARE_KERNEL_PEEKED, queue_object, 0);
    end_helper();
}

void step_queues(void)
{
    uint32_t round;

    make_queue(1);
    vQueueAddToRegistry(queue, "a queue");
    start_helper(consume, PRIORITY_HELPER);
    for (round = 0; round < 3; round++) {
        sends(queue_object);
        ready(&helper);
        xQueueSend(queue, &round, 0);
        runs(&driver);
    }

    start_helper(produce, PRIORITY_HELPER);
    for (round = 0; round < 2; round++) {
        receives(queue_object);
        if (round == 0)
            ready(&helper);
        xQueueReceive(queue, &item, 0);
        runs(&driver);
    }

    rare(TARE_KERNEL_RECEIVE_FAILED, queue_object, 0);
    xQueueReceive(queue, &item, 0);
    rare(TARE_KERNEL_RECEIVE_FAILED, queue_object, 0);
    xQueuePeek(queue, &item, 0);
    sends(queue_object);
    xQueueOverwrite(queue, &item);
    rare(TARE_KERNEL_SEND_FAILED, queue_object, 0);
    xQueueSend(queue, &item, 0);
    rare(TARE_KERNEL_PEEKED, queue_object, 0);
    xQueuePeek(queue, &item, 0);
    receives(queue_object);
    xQueueReceive(queue, &item, 0);

    start_helper(wait_in_vain, PRIORITY_HELPER);
    for (round = 0; round < 4; round++) {
        tick();
        runs(&driver);
    }
    sends(queue_object);
    ready(&helper);
    xQueueSend(queue, &item, 0);
    runs(&driver);
    delete_queue();
}

static void interrupt_sends(void)
{
    sends(queue_object);
    xQueueSendFromISR(queue, &item, NULL);
    rare(TARE_KERNEL_SEND_FAILED, queue_object, 0);
    xQueueSendFromISR(queue, &item, NULL);
    rare(TARE_KERNEL_PEEKED, queue_object, 0);
    xQueuePeekFromISR(queue, &item);
    receives(queue_object);
    xQueueReceiveFromISR(queue, &item, NULL);
    rare(TARE_KERNEL_RECEIVE_FAILED, queue_object, 0);
    xQueueReceiveFromISR(queue, &item, NULL);
    rare(TARE_KERNEL_RECEIVE_FAILED, queue_object, 0);
    xQueuePeekFromISR(queue, &item);
}

static void interrupt_wakes(void)
{
    uint32_t number = 0;

    sends(queue_object);
    ready(&helper);
    xQueueSendFromISR(queue, &number, &woken);
}

/* While the scheduler stands still the task waits in a list of the kernel and is ready behind it.
 */
static void interrupt_wakes_later(void)
{
    uint32_t number = 1;

    sends(queue_object);
    xQueueSendFromISR(queue, &number, NULL);
}

void step_queues_in_interrupts(void)
{
    uint32_t number = 2;

    make_queue(1);
    interrupt(interrupt_sends);
    start_helper(consume, PRIORITY_HELPER);
    interrupt(interrupt_wakes);
    runs(&driver);
    vTaskSuspendAll();
    interrupt(interrupt_wakes_later);
    ready(&helper);
    xTaskResumeAll();
    runs(&driver);
    sends(queue_object);
    ready(&helper);
    xQueueSend(queue, &number, 0);
    runs(&driver);
    delete_queue();
}

static void consume_set(void *unused)
{
    (void)unused;
    runs(&helper);
    waits_to_receive(set_object);
    configASSERT(xQueueSelectFromSet(set, portMAX_DELAY) == (QueueSetMemberHandle_t)other_queue);
    runs(&helper);
    receives(set_object);
    receives(other_object);
    xQueueReceive(other_queue, &item, 0);
    end_helper();
}

void step_queue_set(void)
{
    make_queue(1);
    other_object = created(TARE_CLASS_QUEUE, 1);
    other_queue = xQueueCreate(1, sizeof(item));
    set_object = created(TARE_CLASS_QUEUE, 2);
    set = xQueueCreateSet(2);
    xQueueAddToSet(queue, set);
    xQueueAddToSet(other_queue, set);
    start_helper(consume_set, PRIORITY_HELPER);
    sends(other_object);
    sends(set_object);
    ready(&helper);
    xQueueSend(other_queue, &item, 0);
    runs(&driver);
    xQueueRemoveFromSet(queue, set);
    xQueueRemoveFromSet(other_queue, set);
    delete_queue();
    rare(TARE_KERNEL_DELETED, other_object, 0);
    vQueueDelete(other_queue);
    rare(TARE_KERNEL_DELETED, set_object, 0);
    vQueueDelete(set);
}

/* ------------------------------------------------------------------ semaphores */

static void take_lock(void *unused)
{
    (void)unused;
    runs(&helper);
    waits_to_receive(lock_object);
    xSemaphoreTake(lock, portMAX_DELAY);
    runs(&helper);
    receives(lock_object);
    end_helper();
}

static void interrupt_gives(void)
{
    sends(lock_object);
    ready(&helper);
    xSemaphoreGiveFromISR(lock, &woken);
}

static void interrupt_gives_and_takes(void)
{
    sends(lock_object);
    xSemaphoreGiveFromISR(lock, NULL);
    rare(TARE_KERNEL_SEND_FAILED, lock_object, 0);
    xSemaphoreGiveFromISR(lock, NULL);
    receives(lock_object);
    xSemaphoreTakeFromISR(lock, NULL);
    rare(TARE_KERNEL_RECEIVE_FAILED, lock_object, 0);
    xSemaphoreTakeFromISR(lock, NULL);
}

static void delete_lock(void)
{
    rare(TARE_KERNEL_DELETED, lock_object, 0);
    vSemaphoreDelete(lock);
}

void step_semaphores(void)
{
    uint32_t round;

    lock_object = created(TARE_CLASS_SEMAPHORE, 1);
    lock = xSemaphoreCreateBinary();
    vQueueAddToRegistry(lock, "a semaphore");
    start_helper(take_lock, PRIORITY_HELPER);
    interrupt(interrupt_gives);
    runs(&driver);
    interrupt(interrupt_gives_and_takes);
    sends(lock_object);
    xSemaphoreGive(lock);
    rare(TARE_KERNEL_SEND_FAILED, lock_object, 0);
    xSemaphoreGive(lock);
    delete_lock();

    lock_object = created(TARE_CLASS_COUNTING, 3);
    lock = xSemaphoreCreateCounting(3, 1);
    for (round = 0; round < 2; round++) {
        sends(lock_object);
        xSemaphoreGive(lock);
    }
    rare(TARE_KERNEL_SEND_FAILED, lock_object, 0);
    xSemaphoreGive(lock);
    for (round = 0; round < 3; round++) {
        receives(lock_object);
        xSemaphoreTake(lock, 0);
    }
    rare(TARE_KERNEL_RECEIVE_FAILED, lock_object, 0);
    xSemaphoreTake(lock, 0);
    start_helper(take_lock, PRIORITY_HELPER);
    sends(lock_object);
    ready(&helper);
    xSemaphoreGive(lock);
    runs(&driver);
    delete_lock();
}

/* ------------------------------------------------------------------ mutexes */

/* The helper waits for what the driver holds, which inherits the helper's priority. */
static void helper_waits_for_driver(void)
{
    rare(TARE_KERNEL_HOLDER, lock_object, driver.object);
    waits_to_receive(lock_object);
    ready(&driver);
    rare(TARE_KERNEL_INHERITS, driver.object, PRIORITY_HELPER);
}

static void driver_gives_back(void)
{
    rare(TARE_KERNEL_DISINHERITS, driver.object, PRIORITY_DRIVER);
    ready(&driver);
}

static void contend(void *unused)
{
    (void)unused;
    runs(&helper);
    helper_waits_for_driver();
    xSemaphoreTake(lock, portMAX_DELAY);
    runs(&helper);
    receives(lock_object);
    sends(lock_object);
    xSemaphoreGive(lock);
    end_helper();
}

/* FreeRTOS 9 leaves the driver what it has inherited until it gives the mutex. */
static void contend_in_vain(void *unused)
{
    (void)unused;
    runs(&helper);
    helper_waits_for_driver();
    helper.wakes = kernel_tick + 1;
    xSemaphoreTake(lock, 1);
    runs(&helper);
    if (KERNEL_VERSION >= 1000)
        rare(TARE_KERNEL_DISINHERITS, driver.object, PRIORITY_DRIVER);
    rare(TARE_KERNEL_RECEIVE_FAILED, lock_object, 0);
    end_helper();
}

void step_mutexes(void)
{
    lock_object = created(TARE_CLASS_MUTEX, 1);
    sends(lock_object); /* it is given when it is made */
    lock = xSemaphoreCreateMutex();
    vQueueAddToRegistry(lock, "a mutex");
    receives(lock_object);
    xSemaphoreTake(lock, portMAX_DELAY);
    start_helper(contend, PRIORITY_HELPER);
    sends(lock_object);
    driver_gives_back();
    ready(&helper);
    xSemaphoreGive(lock);
    runs(&driver);

    receives(lock_object);
    xSemaphoreTake(lock, portMAX_DELAY);
    start_helper(contend_in_vain, PRIORITY_HELPER);
    rare(TARE_KERNEL_DELAY, driver.object, 2);
    driver.wakes = kernel_tick + 2;
    vTaskDelay(2);
    runs(&driver);
    sends(lock_object);
    if (KERNEL_VERSION < 1000) {
        driver_gives_back();
        running = NULL; /* the kernel looks for the next task, and finds this one */
        runs(&driver);
    }
    xSemaphoreGive(lock);
    delete_lock();
}

static void contend_recursively(void *unused)
{
    (void)unused;
    runs(&helper);
    helper_waits_for_driver();
    xSemaphoreTakeRecursive(lock, portMAX_DELAY);
    runs(&helper);
    receives(lock_object);
    sends(lock_object);
    xSemaphoreGiveRecursive(lock);
    end_helper();
}

/* The inner pairs are no events of the object. */
void step_recursive_mutex(void)
{
    lock_object = created(TARE_CLASS_RECURSIVE, 1);
    sends(lock_object);
    lock = xSemaphoreCreateRecursiveMutex();
    receives(lock_object);
    xSemaphoreTakeRecursive(lock, portMAX_DELAY);
    xSemaphoreTakeRecursive(lock, portMAX_DELAY);
    start_helper(contend_recursively, PRIORITY_HELPER);
    xSemaphoreGiveRecursive(lock);
    sends(lock_object);
    driver_gives_back();
    ready(&helper);
    xSemaphoreGiveRecursive(lock);
    runs(&driver);
    delete_lock();
}
