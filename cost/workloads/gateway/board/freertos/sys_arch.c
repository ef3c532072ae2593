/* lwIP's operating-system layer on FreeRTOS. A tick is a millisecond. */
#include "FreeRTOS.h"
#include "queue.h"
#include "semphr.h"
#include "task.h"

#include "gateway_board.h"
#include "gateway_lan9118.h"
#include "lwip/sys.h"

static uint32_t mailbox_refusals; /* of the tasks that drain the chip and run lwIP, at one level */

static TickType_t ticks_of(u32_t wait_ms) /* lwIP: 0 is forever */
{
    return wait_ms == 0 ? portMAX_DELAY : (TickType_t)wait_ms;
}

void sys_init(void)
{
}

u32_t sys_now(void)
{
    return xTaskGetTickCount();
}

sys_prot_t sys_arch_protect(void)
{
    taskENTER_CRITICAL();
    return 0;
}

void sys_arch_unprotect(sys_prot_t unused)
{
    (void)unused;
    taskEXIT_CRITICAL();
}

err_t sys_mbox_new(sys_mbox_t *mailbox, int size)
{
    *mailbox = xQueueCreate((UBaseType_t)size, sizeof(void *));
    return *mailbox ? ERR_OK : ERR_MEM;
}

void sys_mbox_free(sys_mbox_t *mailbox)
{
    vQueueDelete(*mailbox);
}

void sys_mbox_post(sys_mbox_t *mailbox, void *message)
{
    xQueueSendToBack(*mailbox, &message, portMAX_DELAY);
}

err_t sys_mbox_trypost(sys_mbox_t *mailbox, void *message)
{
    if (xQueueSendToBack(*mailbox, &message, 0) == pdTRUE)
        return ERR_OK;
    mailbox_refusals++;
    return ERR_MEM;
}

/* lwIP does not count them. A refusal is either lwIP's own queue, which the driver counts, or that
 * of a port. */
uint32_t gateway_board_port_drops(void)
{
    return mailbox_refusals - gateway_nic_counts.frames_refused;
}

err_t sys_mbox_trypost_fromisr(sys_mbox_t *mailbox, void *message)
{
    BaseType_t woken = pdFALSE;
    BaseType_t sent = xQueueSendToBackFromISR(*mailbox, &message, &woken);
    portYIELD_FROM_ISR(woken);
    return sent == pdTRUE ? ERR_OK : ERR_MEM;
}

u32_t sys_arch_mbox_fetch(sys_mbox_t *mailbox, void **message, u32_t wait_ms)
{
    void *received = NULL;
    BaseType_t found = xQueueReceive(*mailbox, &received, ticks_of(wait_ms));
    if (message)
        *message = received;
    return found == pdTRUE ? 0 : SYS_ARCH_TIMEOUT;
}

u32_t sys_arch_mbox_tryfetch(sys_mbox_t *mailbox, void **message)
{
    void *received = NULL;
    BaseType_t found = xQueueReceive(*mailbox, &received, 0);
    if (message)
        *message = received;
    return found == pdTRUE ? 0 : SYS_MBOX_EMPTY;
}

err_t sys_sem_new(sys_sem_t *semaphore, u8_t count)
{
    *semaphore = xSemaphoreCreateBinary();
    if (!*semaphore)
        return ERR_MEM;
    if (count > 0)
        xSemaphoreGive((SemaphoreHandle_t)*semaphore);
    return ERR_OK;
}

void sys_sem_free(sys_sem_t *semaphore)
{
    vSemaphoreDelete((SemaphoreHandle_t)*semaphore);
}

void sys_sem_signal(sys_sem_t *semaphore)
{
    xSemaphoreGive((SemaphoreHandle_t)*semaphore);
}

u32_t sys_arch_sem_wait(sys_sem_t *semaphore, u32_t wait_ms)
{
    BaseType_t taken = xSemaphoreTake((SemaphoreHandle_t)*semaphore, ticks_of(wait_ms));
    return taken == pdTRUE ? 0 : SYS_ARCH_TIMEOUT;
}

err_t sys_mutex_new(sys_mutex_t *mutex)
{
    *mutex = xSemaphoreCreateMutex();
    return *mutex ? ERR_OK : ERR_MEM;
}

void sys_mutex_free(sys_mutex_t *mutex)
{
    vSemaphoreDelete((SemaphoreHandle_t)*mutex);
}

void sys_mutex_lock(sys_mutex_t *mutex)
{
    xSemaphoreTake((SemaphoreHandle_t)*mutex, portMAX_DELAY);
}

void sys_mutex_unlock(sys_mutex_t *mutex)
{
    xSemaphoreGive((SemaphoreHandle_t)*mutex);
}

sys_thread_t sys_thread_new(const char *name, lwip_thread_fn body, void *argument, int stack_words,
                            int priority)
{
    TaskHandle_t task = NULL;
    if (xTaskCreate(body, name, (uint16_t)stack_words, argument, (UBaseType_t)priority, &task) !=
        pdPASS)
        return NULL;
    return (sys_thread_t)task;
}
