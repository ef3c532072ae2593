/* The gateway's OS layer without a kernel: interrupts that set flags, and one loop that goes round
 * the steps; lwIP without threads (NO_SYS). When a round found nothing to do, the loop waits in a
 * counting spin until an interrupt has come. */
#include "lwip/init.h"
#include "lwip/netif.h"
#include "lwip/pbuf.h"
#include "lwip/timeouts.h"
#include "lwip/udp.h"
#include "netif/ethernet.h"

#include "gateway_board.h"
#include "gateway_lan9118.h"
#include "gateway_os.h"
#include "mps2_board.h"

#include "gateway_bare_hooks.h"
#include "gateway_trace.h"

#define STEP_LIMIT 4
#define DATAGRAM_LIMIT 24     /* that wait at a port, as many as in the layer on FreeRTOS */
#define LAST_REPLIES_MS 50    /* for blocks that are still on their way when the stop comes */
#define TIMER_EARLY_COUNTS 25 /* 1 us: both clocks have one source, but not one phase */

#define COUNTS_PER_TICK (GATEWAY_BOARD_CLOCK_HZ / 1000u)
#define SYSTICK_NUMBER 15
#define NIC_NUMBER (16 + 13)
#define SYSTICK_LEVEL (*(volatile uint8_t *)0xE000ED23u)

const char gateway_board_kernel[] = "none";
const bool gateway_board_figures_allowed = true;

struct queue {
    unsigned first, count;
    void *items[GATEWAY_QUEUE_CAPACITY];
};

struct datagram {
    struct pbuf *bytes;
    struct gateway_sender sender;
};

struct port {
    struct udp_pcb *pcb;
    unsigned first, count;
    struct datagram waiting[DATAGRAM_LIMIT];
};

/* Set by interrupts, cleared by the loop before it looks. */
static volatile uint32_t work_came, frame_came;
static volatile uint32_t milliseconds;

static gateway_step *steps[STEP_LIMIT];
static unsigned step_count;
static unsigned running_step;
static bool step_found_work;

static struct queue queues[GATEWAY_QUEUE_COUNT];
static struct port ports[GATEWAY_PORT_COUNT];
static uint32_t port_drops;
static struct netif interface;

static struct {
    gateway_expiry *expiry;
    uint32_t due, period; /* counter */
    uint32_t number;
} timer;

/* ------------------------------------------------------------------ interrupts and idle */

void SysTick_Handler(void)
{
    GATEWAY_HOOK_INTERRUPT_BEGIN(SYSTICK_NUMBER);
    milliseconds++;
    work_came = 1;
    GATEWAY_HOOK_INTERRUPT_END(SYSTICK_NUMBER);
}

void gateway_nic_interrupt(void)
{
    GATEWAY_HOOK_INTERRUPT_BEGIN(NIC_NUMBER);
    frame_came = 1;
    work_came = 1;
    GATEWAY_HOOK_INTERRUPT_END(NIC_NUMBER);
}

u32_t sys_now(void)
{
    return milliseconds;
}

/* Not inlined, so that a rig can count its instructions apart. */
static __attribute__((noinline)) void idle_until_interrupt(void)
{
    uint32_t rounds = 0, came;
    __asm volatile("1: ldr %1, [%2]\n\tadds %0, #1\n\tcmp %1, #0\n\tbeq 1b"
                   : "+r"(rounds), "=&r"(came)
                   : "r"(&work_came)
                   : "cc", "memory");
    gateway_idle_rounds += rounds;
}

/* ------------------------------------------------------------------ steps */

bool gateway_thread_create(const char *name, unsigned priority, gateway_step *step)
{
    (void)name;
    (void)priority;
    if (step_count == STEP_LIMIT)
        return false;
    steps[step_count++] = step;
    return true;
}

/* What a step waits for is there. */
static void found_work(void)
{
    if (step_found_work)
        return;
    step_found_work = true;
    GATEWAY_HOOK_STEP_BEGIN(running_step);
}

/* True when one of the steps did something. */
static bool run_steps(void)
{
    bool found = false;
    for (running_step = 0; running_step < step_count; running_step++) {
        step_found_work = false;
        steps[running_step]();
        if (step_found_work) {
            GATEWAY_HOOK_STEP_END(running_step);
            found = true;
        }
    }
    return found;
}

/* ------------------------------------------------------------------ queues and mutexes */

bool gateway_queue_send(enum gateway_queue_identity identity, void *item)
{
    struct queue *queue = &queues[identity];
    if (queue->count == GATEWAY_QUEUE_CAPACITY) {
        trace_queue_send_failed(identity);
        return false;
    }
    queue->items[(queue->first + queue->count) % GATEWAY_QUEUE_CAPACITY] = item;
    queue->count++;
    trace_queue_send(identity);
    return true;
}

bool gateway_queue_receive(enum gateway_queue_identity identity, void **item, uint32_t wait_ms)
{
    struct queue *queue = &queues[identity];
    if (queue->count == 0) {
        if (wait_ms == 0) /* else the loop asks again and again, which is no failure */
            trace_queue_receive_failed(identity);
        return false;
    }
    found_work();
    *item = queue->items[queue->first];
    queue->first = (queue->first + 1) % GATEWAY_QUEUE_CAPACITY;
    queue->count--;
    trace_queue_receive(identity);
    return true;
}

/* Steps do not interrupt each other. */
void gateway_mutex_take(enum gateway_mutex_identity mutex)
{
    trace_mutex_take(mutex);
}

void gateway_mutex_give(enum gateway_mutex_identity mutex)
{
    trace_mutex_give(mutex);
}

/* ------------------------------------------------------------------ timer */

bool gateway_timer_start(const char *name, uint32_t period_us, gateway_expiry *expiry)
{
    uint32_t tick;
    (void)name;
    while (!gateway_board_newest_tick(&tick)) {
    }
    timer.period = period_us * (GATEWAY_BOARD_CLOCK_HZ / 1000000u);
    timer.due = tick + timer.period;
    timer.expiry = expiry;
    return true;
}

static void run_timer(void)
{
    while (timer.expiry && (int32_t)(gateway_counter() + TIMER_EARLY_COUNTS - timer.due) >= 0) {
        uint32_t due = timer.due;
        timer.due += timer.period;
        trace_timer_expiry_begin(timer.number);
        timer.expiry(due);
        trace_timer_expiry_end(timer.number);
        timer.number++;
    }
}

/* ------------------------------------------------------------------ network */

/* lwIP calls it from gateway_nic_drain. */
static void datagram_came(void *argument, struct udp_pcb *pcb, struct pbuf *bytes,
                          const ip_addr_t *address, u16_t number)
{
    struct port *port = argument;
    (void)pcb;
    if (port->count == DATAGRAM_LIMIT) {
        port_drops++;
        pbuf_free(bytes);
        return;
    }
    struct datagram *datagram = &port->waiting[(port->first + port->count) % DATAGRAM_LIMIT];
    datagram->bytes = bytes;
    datagram->sender.address = ip_2_ip4(address)->addr;
    datagram->sender.port = number;
    port->count++;
}

uint32_t gateway_board_port_drops(void)
{
    return port_drops;
}

bool gateway_port_open(enum gateway_port_identity identity, uint16_t number)
{
    struct port *port = &ports[identity];
    port->pcb = udp_new();
    if (!port->pcb || udp_bind(port->pcb, IP_ADDR_ANY, number) != ERR_OK)
        return false;
    udp_recv(port->pcb, datagram_came, port);
    return true;
}

bool gateway_port_receive(enum gateway_port_identity identity, void *bytes, size_t capacity,
                          size_t *size, struct gateway_sender *sender, uint32_t wait_ms)
{
    struct port *port = &ports[identity];
    (void)wait_ms;
    if (port->count == 0)
        return false;
    found_work();
    struct datagram *datagram = &port->waiting[port->first];
    port->first = (port->first + 1) % DATAGRAM_LIMIT;
    port->count--;
    *size = datagram->bytes->tot_len;
    pbuf_copy_partial(datagram->bytes, bytes, (uint16_t)capacity, 0);
    *sender = datagram->sender;
    pbuf_free(datagram->bytes);
    return true;
}

bool gateway_port_reply(enum gateway_port_identity identity, const struct gateway_sender *to,
                        const void *bytes, size_t size)
{
    ip_addr_t address;
    struct pbuf *datagram = pbuf_alloc(PBUF_TRANSPORT, (uint16_t)size, PBUF_RAM);
    if (!datagram)
        return false;
    pbuf_take(datagram, bytes, (uint16_t)size);
    ip_addr_set_ip4_u32(&address, to->address);
    bool sent = udp_sendto(ports[identity].pcb, datagram, &address, to->port) == ERR_OK;
    pbuf_free(datagram);
    return sent;
}

static void network_begin(void)
{
    ip4_addr_t address, network, host;
    IP4_ADDR(&address, 10, 0, 2, 15);
    IP4_ADDR(&network, 255, 255, 255, 0);
    IP4_ADDR(&host, 10, 0, 2, 2);
    lwip_init();
    netif_add(&interface, &address, &network, &host, NULL, gateway_nic_start, ethernet_input);
    netif_set_default(&interface);
    netif_set_up(&interface);
}

/* ------------------------------------------------------------------ the loop */

/* Every millisecond, from the loop. */
static void run_tick(void)
{
    GATEWAY_HOOK_TICK();
    gateway_board_tick();
    sys_check_timeouts();
}

/* The loop looks by itself. */
void gateway_board_end_run(void)
{
}

void gateway_board_run(void (*begin)(void), void (*end)(void))
{
    uint32_t tick_done = 0, stopped_at = 0;
    trace_thread_start("loop");
    SYSTICK_LEVEL = GATEWAY_LEVEL_NETWORK;
    mps2_tick_every(COUNTS_PER_TICK);
    network_begin();
    begin();
    gateway_board_ready();
    while (stopped_at == 0 || milliseconds - stopped_at < LAST_REPLIES_MS) {
        work_came = 0;
        if (frame_came) {
            frame_came = 0;
            gateway_nic_drain(&interface);
        }
        if (milliseconds != tick_done) {
            tick_done = milliseconds;
            run_tick();
            run_timer();
        }
        if (!run_steps())
            idle_until_interrupt();
        if (stopped_at == 0 && gateway_board_stopped())
            stopped_at = milliseconds;
    }
    end();
    gateway_board_give_up("the end did not end");
}
