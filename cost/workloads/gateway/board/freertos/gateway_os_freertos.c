/* The gateway's OS layer on FreeRTOS and lwIP's netconn interface. The recorder's hooks are those
 * of the kernel, and one interrupt's, of which the kernel knows nothing. */
#include "FreeRTOS.h"
#include "queue.h"
#include "semphr.h"
#include "task.h"
#include "timers.h"

#include "lwip/api.h"
#include "lwip/tcpip.h"

#include "gateway_board.h"
#include "gateway_lan9118.h"
#include "gateway_os.h"

#ifdef GATEWAY_ARM_TARE
#include "tare_baremetal.h"
TARE_CATEGORY(interrupts, TARE_CATEGORY_INTERRUPT, "interrupts")
TARE_INTERRUPT(ethernet, interrupts, "Ethernet")
#else
#define ethernet_enter() ((void)0)
#define ethernet_exit() ((void)0)
#endif

#define STACK_WORDS 512
#define NETWORK_PRIORITY 5
#define STARTUP_PRIORITY 7
#define REPORT_PRIORITY 1
#define LAST_REPLIES_MS 50 /* for blocks that are still on their way when the stop comes */

const char gateway_board_kernel[] = "FreeRTOS " tskKERNEL_VERSION_NUMBER;
const bool gateway_board_figures_allowed = tskKERNEL_VERSION_MAJOR >= 10;

static QueueHandle_t queues[GATEWAY_QUEUE_COUNT];
static SemaphoreHandle_t mutexes[GATEWAY_MUTEX_COUNT];
static struct netconn *ports[GATEWAY_PORT_COUNT];
static SemaphoreHandle_t frame_came;
static struct netif interface;
static TaskHandle_t startup_task;
static void (*begin_application)(void), (*end_application)(void);

static struct {
    gateway_expiry *expiry;
    uint32_t due, period; /* counter */
} timer;

/* ------------------------------------------------------------------ the kernel's callbacks */

void vApplicationIdleHook(void)
{
    /* Never returns. One writer, so the count needs no lock. */
    __asm volatile(
        "1: ldr r3, [%0]\n\tadds r3, #1\n\tstr r3, [%0]\n\tb 1b" ::"r"(&gateway_idle_rounds)
        : "r3", "memory", "cc");
}

void vApplicationTickHook(void)
{
    gateway_board_tick();
}

void vApplicationMallocFailedHook(void)
{
    gateway_board_give_up("FreeRTOS: configTOTAL_HEAP_SIZE is used up");
}

void vApplicationStackOverflowHook(TaskHandle_t task, char *name)
{
    (void)task;
    gateway_board_give_up(name);
}

/* ------------------------------------------------------------------ threads */

static void thread_body(void *argument)
{
    gateway_step *step = (gateway_step *)argument;
    for (;;)
        step();
}

bool gateway_thread_create(const char *name, unsigned priority, gateway_step *step)
{
    return xTaskCreate(thread_body, name, STACK_WORDS, (void *)step, priority, NULL) == pdPASS;
}

/* ------------------------------------------------------------------ queues and mutexes */

bool gateway_queue_send(enum gateway_queue_identity queue, void *item)
{
    return xQueueSend(queues[queue], &item, 0) == pdTRUE;
}

bool gateway_queue_receive(enum gateway_queue_identity queue, void **item, uint32_t wait_ms)
{
    return xQueueReceive(queues[queue], item, pdMS_TO_TICKS(wait_ms)) == pdTRUE;
}

void gateway_mutex_take(enum gateway_mutex_identity mutex)
{
    xSemaphoreTake(mutexes[mutex], portMAX_DELAY);
}

void gateway_mutex_give(enum gateway_mutex_identity mutex)
{
    xSemaphoreGive(mutexes[mutex]);
}

static void create_objects(void)
{
    static const char *const queue_names[] = {"free", "pending"};
    for (int i = 0; i < GATEWAY_QUEUE_COUNT; i++) {
        queues[i] = xQueueCreate(GATEWAY_QUEUE_CAPACITY, sizeof(void *));
        vQueueAddToRegistry(queues[i], queue_names[i]);
    }
    for (int i = 0; i < GATEWAY_MUTEX_COUNT; i++) {
        mutexes[i] = xSemaphoreCreateMutex();
        vQueueAddToRegistry(mutexes[i], "settings");
    }
    frame_came = xSemaphoreCreateBinary();
    vQueueAddToRegistry(frame_came, "frame came");
}

/* ------------------------------------------------------------------ timer */

static void timer_callback(TimerHandle_t handle)
{
    (void)handle;
    uint32_t due = timer.due;
    timer.due += timer.period;
    timer.expiry(due);
}

/* The kernel's ticks are the grid: the timer expires at the tick `period` after the present one,
 * and both clocks have the same source. */
bool gateway_timer_start(const char *name, uint32_t period_us, gateway_expiry *expiry)
{
    uint32_t counts_per_tick = configCPU_CLOCK_HZ / configTICK_RATE_HZ;
    TickType_t ticks = period_us / (1000000u / configTICK_RATE_HZ);
    TimerHandle_t handle = xTimerCreate(name, ticks, pdTRUE, NULL, timer_callback);
    bool started = false, found = false;
    uint32_t tick;
    if (!handle)
        return false;
    timer.expiry = expiry;
    timer.period = ticks * counts_per_tick;
    while (!found) {
        taskENTER_CRITICAL();
        found = gateway_board_newest_tick(&tick);
        if (found) {
            timer.due = tick + timer.period;
            started = xTimerStart(handle, 0) == pdPASS;
        }
        taskEXIT_CRITICAL();
    }
    return started;
}

/* ------------------------------------------------------------------ network */

void gateway_nic_interrupt(void)
{
    BaseType_t woken = pdFALSE;
    ethernet_enter();
    xSemaphoreGiveFromISR(frame_came, &woken);
    ethernet_exit();
    portYIELD_FROM_ISR(woken);
}

static void network_body(void *unused)
{
    (void)unused;
    for (;;) {
        xSemaphoreTake(frame_came, portMAX_DELAY);
        gateway_nic_drain(&interface);
    }
}

static void network_begin(void *unused)
{
    ip4_addr_t address, network, host;
    (void)unused;
    IP4_ADDR(&address, 10, 0, 2, 15);
    IP4_ADDR(&network, 255, 255, 255, 0);
    IP4_ADDR(&host, 10, 0, 2, 2);
    netif_add(&interface, &address, &network, &host, NULL, gateway_nic_start, tcpip_input);
    netif_set_default(&interface);
    netif_set_up(&interface);
}

bool gateway_port_open(enum gateway_port_identity port, uint16_t number)
{
    ports[port] = netconn_new(NETCONN_UDP);
    return ports[port] && netconn_bind(ports[port], IP_ADDR_ANY, number) == ERR_OK;
}

bool gateway_port_receive(enum gateway_port_identity port, void *bytes, size_t capacity,
                          size_t *size, struct gateway_sender *sender, uint32_t wait_ms)
{
    struct netbuf *datagram;
    netconn_set_recvtimeout(ports[port], (int)wait_ms);
    if (netconn_recv(ports[port], &datagram) != ERR_OK)
        return false;
    *size = netbuf_len(datagram);
    netbuf_copy(datagram, bytes, (uint16_t)capacity);
    sender->address = ip_2_ip4(netbuf_fromaddr(datagram))->addr;
    sender->port = netbuf_fromport(datagram);
    netbuf_delete(datagram);
    return true;
}

bool gateway_port_reply(enum gateway_port_identity port, const struct gateway_sender *to,
                        const void *bytes, size_t size)
{
    ip_addr_t address;
    bool sent = false;
    struct netbuf *datagram = netbuf_new();
    if (!datagram)
        return false;
    ip_addr_set_ip4_u32(&address, to->address);
    if (netbuf_ref(datagram, bytes, (uint16_t)size) == ERR_OK)
        sent = netconn_sendto(ports[port], datagram, &address, to->port) == ERR_OK;
    netbuf_delete(datagram);
    return sent;
}

/* ------------------------------------------------------------------ start and end */

static void network_ready(void *semaphore)
{
    network_begin(NULL);
    xSemaphoreGive((SemaphoreHandle_t)semaphore);
}

/* Starts everything, then waits at the lowest priority for the end. */
static void startup_body(void *unused)
{
    (void)unused;
    SemaphoreHandle_t ready = xSemaphoreCreateBinary();
    create_objects();
    tcpip_init(network_ready, ready);
    xSemaphoreTake(ready, portMAX_DELAY);
    xTaskCreate(network_body, "network", STACK_WORDS, NULL, NETWORK_PRIORITY, NULL);
    begin_application();
    gateway_board_ready();
    vTaskPrioritySet(NULL, REPORT_PRIORITY);
    ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
    vTaskDelay(pdMS_TO_TICKS(LAST_REPLIES_MS));
    end_application();
}

void gateway_board_end_run(void)
{
    xTaskNotifyGive(startup_task);
}

void gateway_board_run(void (*begin)(void), void (*end)(void))
{
    begin_application = begin;
    end_application = end;
    xTaskCreate(startup_body, "startup", STACK_WORDS, NULL, STARTUP_PRIORITY, &startup_task);
    vTaskStartScheduler();
    gateway_board_give_up("FreeRTOS did not start: configTOTAL_HEAP_SIZE is too small");
}
