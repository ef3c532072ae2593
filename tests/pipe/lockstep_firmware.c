/* The telemetry gateway in a bare loop, with just enough network code of its own, to test the
 * lock-step rig without a kernel or a network stack: build_mps2.sh OUT.elf lockstep_firmware.c.
 *
 * It trusts its one peer: no fragments, no options, no checksum of what comes in. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mps2_board.h"
#include "tare.h"
#include "gateway_application.c"

#define REGISTER(address) (*(volatile uint32_t *)(address))

TARE_CATEGORY(board, 0, "board")
TARE_EVENT1(frame_in, board, "frame in", u32, bytes, "B")
TARE_EVENT1(reply_out, board, "reply out", u32, sequence, "")
TARE_SPAN(step, board, "step")
TARE_EVENT0(expiry, board, "expiry")

/* ------------------------------------------------------------------ what the rig sets and reads */

#define TIMER1(offset) REGISTER(0x40001000u + (offset))
#define TIMER1_NUMBER 9u

uint32_t gateway_stop_period = 16667; /* 25-MHz steps between two stops */
uint32_t gateway_jitter_seed = 1;     /* 0: no jitter */
volatile uint32_t gateway_idle_rounds;

void gateway_probe_stop(void);
void gateway_idle(void) __attribute__((noreturn));

/* The rig's plugin stops the board here. */
__attribute__((naked, noinline, used)) void gateway_probe_stop(void)
{
    __asm volatile("nop\n\tbx lr");
}

void mps2_interrupt_9(void)
{
    static uint32_t random;
    uint32_t period = gateway_stop_period;

    TIMER1(0xC) = 1;
    if (gateway_jitter_seed != 0) {
        random = (random ? random : gateway_jitter_seed) * 1664525u + 1013904223u;
        period += (random >> 16) * (gateway_stop_period / 2) / 65536u - gateway_stop_period / 4;
    }
    TIMER1(8) = period - 1;
    gateway_probe_stop();
}

/* Four instructions a round; all work is done in PendSV_Handler, which interrupts it. */
void gateway_idle(void)
{
    __asm volatile("1: ldr r3, [%0]\n\t"
                   "adds r3, #1\n\t"
                   "str r3, [%0]\n\t"
                   "b 1b" ::"r"(&gateway_idle_rounds)
                   : "r3", "memory", "cc");
    for (;;)
        ;
}

static void call_for_work(void)
{
    REGISTER(0xE000ED04u) = 1u << 28; /* PendSV */
}

/* ------------------------------------------------------------------ network controller */

#define NIC(offset) REGISTER(0x40200000u + (offset))
#define NIC_NUMBER 13u

static uint32_t frame[400]; /* 2 bytes of padding, then the frame */
static uint32_t nic_frames;

static uint8_t *const ethernet = (uint8_t *)frame + 2;

void mps2_interrupt_13(void)
{
    NIC(0x5C) = 0;
    call_for_work();
}

static void nic_start(void)
{
    NIC(0x6C) = 2u << 8;
    NIC(0x70) = 2;
    NIC(0x68) = 0x48000000u;
    NIC(0xA8) = 0x0010000Cu;
    NIC(0xA4) = 0x80000001u;
    NIC(0x54) = 0x111;
    NIC(0x58) = 0xFFFFFFFFu;
    NIC(0x5C) = 8;
    mps2_interrupt_enable(NIC_NUMBER, 0xA0);
}

static void nic_send(uint32_t size)
{
    uint32_t words = (size + 2 + 3) / 4, i;

    NIC(0x20) = 2u << 16 | 0x3000u | size;
    NIC(0x20) = size;
    for (i = 0; i < words; i++)
        NIC(0x20) = frame[i];
    while (NIC(0x80) >> 16 & 0xFF)
        (void)NIC(0x48);
}

/* ------------------------------------------------------------------ UDP */

struct datagram {
    uint32_t size;
    struct gateway_sender sender;
    uint8_t bytes[512];
};

static struct {
    uint16_t number;
    uint32_t written, read;
    struct datagram slots[4];
} ports[GATEWAY_PORT_COUNT];
static uint32_t datagrams_dropped;
static uint8_t peer[6];

static uint32_t get16(const uint8_t *at)
{
    return (uint32_t)at[0] << 8 | at[1];
}

static void put16(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

/* Whoever asks for an address means ours: there are two of us. */
static void answer_arp(void)
{
    static const uint8_t own[10] = {0x52, 0x54, 0, 0x12, 0x34, 0x56, 10, 0, 2, 15};
    uint8_t *arp = ethernet + 14;

    memcpy(ethernet, ethernet + 6, 6);
    memcpy(ethernet + 6, own, 6);
    put16(arp + 6, 2);
    memcpy(arp + 18, arp + 8, 10);
    memcpy(arp + 8, own, 10);
    nic_send(60);
}

static void take_datagram(uint32_t size)
{
    const uint8_t *ip = ethernet + 14, *udp = ip + 20;
    int i;

#ifdef LOCKSTEP_FORGETS
    /* A frame that is in no count: the rig must find out. */
    if (nic_frames % 100 == 0)
        return;
#endif
    if (size >= 42 && get16(ethernet + 12) == 0x0806 && get16(ethernet + 20) == 1)
        answer_arp();
    if (size < 42 || get16(ethernet + 12) != 0x0800 || ip[9] != 17)
        return;
    memcpy(peer, ethernet + 6, 6);
    for (i = 0; i < GATEWAY_PORT_COUNT; i++) {
        struct datagram *slot = &ports[i].slots[ports[i].written % 4];
        if (get16(udp + 2) != ports[i].number)
            continue;
        if (ports[i].written - ports[i].read == 4) {
            datagrams_dropped++;
            continue;
        }
        slot->size = get16(udp + 4) - 8;
        slot->sender.address = 0;
        slot->sender.port = (uint16_t)get16(udp);
        memcpy(slot->bytes, udp + 8, slot->size < 512 ? slot->size : 512);
        ports[i].written++;
    }
}

static void nic_drain(void)
{
    NIC(0x58) = 0xFFFFFFFFu;
    while (NIC(0x7C) >> 16 & 0xFF) {
        uint32_t size = NIC(0x40) >> 16 & 0x3FFF, words = (size + 2 + 3) / 4, i;
        for (i = 0; i < words; i++) {
            uint32_t word = NIC(0);
            if (i < sizeof frame / sizeof frame[0])
                frame[i] = word;
        }
        nic_frames++;
        frame_in(size - 4);
        take_datagram(size - 4);
    }
    NIC(0x5C) = 8;
}

bool gateway_port_open(enum gateway_port_identity port, uint16_t number)
{
    ports[port].number = number;
    return true;
}

bool gateway_port_receive(enum gateway_port_identity port, void *bytes, size_t capacity,
                          size_t *size, struct gateway_sender *sender, uint32_t wait_ms)
{
    const struct datagram *slot = &ports[port].slots[ports[port].read % 4];

    (void)wait_ms;
    if (ports[port].written == ports[port].read)
        return false;
    *size = slot->size;
    *sender = slot->sender;
    memcpy(bytes, slot->bytes, slot->size < capacity ? slot->size : capacity);
    ports[port].read++;
    return true;
}

bool gateway_port_reply(enum gateway_port_identity port, const struct gateway_sender *to,
                        const void *bytes, size_t size)
{
    static const uint8_t head[34] = {
        0,    0, 0, 0, 0, 0, 0x52, 0x54, 0,  0x12, 0x34, 0x56, 0x08, 0, /* IP */
        0x45, 0, 0, 0, 0, 0, 0,    0,    64, 17,   0,    0,    10,   0, 2, 15, 10, 0, 2, 2};
    uint8_t *ip = ethernet + 14, *udp = ip + 20;
    uint32_t sum = 0, i;

    memcpy(ethernet, head, sizeof head);
    memcpy(ethernet, peer, 6);
    put16(ip + 2, 28 + (uint32_t)size);
    for (i = 0; i < 20; i += 2)
        sum += get16(ip + i);
    sum = (sum & 0xFFFF) + (sum >> 16);
    put16(ip + 10, ~(sum + (sum >> 16)) & 0xFFFF);
    put16(udp, ports[port].number);
    put16(udp + 2, to->port);
    put16(udp + 4, 8 + (uint32_t)size);
    put16(udp + 6, 0);
    memcpy(udp + 8, bytes, size);
    nic_send(42 + (uint32_t)size < 60 ? 60 : 42 + (uint32_t)size);
    if (port == GATEWAY_PORT_DATA)
        reply_out(((const struct gateway_reply *)bytes)->sequence);
    return true;
}

/* ------------------------------------------------------------------ the rest of the layer */

const uint32_t gateway_counter_hertz = MPS2_COUNTER_HZ;

static struct {
    void *items[GATEWAY_QUEUE_CAPACITY];
    uint32_t written, read;
} queues[GATEWAY_QUEUE_COUNT];
static gateway_step *steps[4];
static unsigned step_count;
static gateway_expiry *timer_function;
static uint32_t timer_due;

uint32_t gateway_counter(void)
{
    return MPS2_COUNTER;
}

bool gateway_thread_create(const char *name, unsigned priority, gateway_step *function)
{
    (void)name;
    (void)priority;
    steps[step_count++] = function;
    return true;
}

bool gateway_queue_send(enum gateway_queue_identity queue, void *item)
{
    if (queues[queue].written - queues[queue].read == GATEWAY_QUEUE_CAPACITY)
        return false;
    queues[queue].items[queues[queue].written++ % GATEWAY_QUEUE_CAPACITY] = item;
    return true;
}

bool gateway_queue_receive(enum gateway_queue_identity queue, void **item, uint32_t wait_ms)
{
    (void)wait_ms;
    if (queues[queue].written == queues[queue].read)
        return false;
    *item = queues[queue].items[queues[queue].read++ % GATEWAY_QUEUE_CAPACITY];
    return true;
}

void gateway_mutex_take(enum gateway_mutex_identity mutex)
{
    (void)mutex;
}

void gateway_mutex_give(enum gateway_mutex_identity mutex)
{
    (void)mutex;
}

bool gateway_timer_start(const char *name, uint32_t period_us, gateway_expiry *function)
{
    (void)name;
    (void)period_us;
    timer_function = function;
    timer_due = MPS2_COUNTER + MPS2_COUNTER_HZ / 100;
    return true;
}

void mps2_tick(void)
{
    tare_service();
    call_for_work();
}

static void run_timer(void)
{
    while ((int32_t)(MPS2_COUNTER - timer_due) >= 0) {
        expiry();
        timer_function(timer_due);
        timer_due += MPS2_COUNTER_HZ / 100;
    }
}

/* ------------------------------------------------------------------ the program */

static bool stopping;
static uint32_t opened_at, opened_idle;

static void window_opened(void)
{
    opened_at = MPS2_COUNTER;
    opened_idle = gateway_idle_rounds;
}

static void stop_requested(void)
{
    stopping = true;
}

static void print_count(const char *name, uint32_t value)
{
    mps2_print(",\"");
    mps2_print(name);
    mps2_print("\":");
    mps2_print_number(value);
}

static void print_results(void)
{
    struct gateway_results results;
    struct tare_totals totals = {0, 0, 0};
    const struct gateway_block_counts *blocks = results.blocks;

    gateway_application_results(&results);
    tare_counts(&totals);
    mps2_print("{\"workload\":\"gateway\"");
    print_count("window_counter_ticks", MPS2_COUNTER - opened_at);
    print_count("window_idle_rounds", gateway_idle_rounds - opened_idle);
    print_count("whole_run_nic_frames_received", nic_frames);
    print_count("whole_run_socket_drops", datagrams_dropped);
    print_count("whole_run_blocks_received", blocks[0].received + blocks[1].received);
    print_count("whole_run_blocks_without_free_block",
                blocks[0].without_free_block + blocks[1].without_free_block);
    print_count("whole_run_blocks_refused_by_queue",
                blocks[0].refused_by_queue + blocks[1].refused_by_queue);
    print_count("whole_run_commands_applied",
                results.activity[0].commands_applied + results.activity[1].commands_applied);
    print_count("whole_run_reply_errors", blocks[0].reply_errors + blocks[1].reply_errors);
    print_count("whole_run_replies_sent", blocks[0].replied + blocks[1].replied);
    print_count("events_dropped", totals.dropped);
    print_count("events_suppressed", totals.suppressed);
    mps2_print("}\n");
}

void PendSV_Handler(void)
{
    unsigned i;

    nic_drain();
    run_timer();
    for (i = 0; i < 2 * step_count; i++) { /* what one step hands on, the same round takes up */
        step_begin(i % step_count);
        steps[i % step_count]();
        step_end(i % step_count);
    }
    if (!stopping)
        return;
    mps2_interrupt_disable(TIMER1_NUMBER);
    tare_stop();
    print_results();
    mps2_exit(0);
}

int main(void)
{
    const struct gateway_configuration wanted = {5000, 5001, window_opened, stop_requested};

    if (tare_start() != 0)
        return 2;
    REGISTER(0xE000ED20u) = 0xC0FF0000u; /* PendSV least urgent, SysTick above it */
    gateway_application_start(&wanted);
    nic_start();
    mps2_tick_every(MPS2_COUNTER_HZ / 1000);
#ifdef LOCKSTEP_HANGS
    for (;;)
        ;
#endif
    TIMER1(8) = gateway_stop_period - 1;
    TIMER1(4) = gateway_stop_period - 1;
    TIMER1(0) = 9;
    mps2_interrupt_enable(TIMER1_NUMBER, 0);
    mps2_print("{\"data_port\":5000,\"command_port\":5001}\n");
    gateway_idle();
}
