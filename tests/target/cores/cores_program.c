/* Two cores record at once: first at full speed, with a while without a reader, so that events are
 * lost; then in turns, each only after the other one's event. Prints its own account.
 *
 * With OTHER_READER somebody else drains the rings; else each core copies its own to COLLECTED. */
#include "tare.h"
#include "virt_board.h"

#define STEPS 20000u
#define UNREAD_FROM 5000u /* steps that nobody reads */
#define UNREAD_TO 8000u
#define TURNS 200u   /* of each core */
#define IN_RING 100u /* the last of them stay in the ring */
#define TEXT_EVERY 500u
#define TEXT "pieces of a text that the other core's events must not come between"
#define TEXT_RECORDS (1u + (sizeof(TEXT) - 1u + 7u) / 8u)
#define COLLECTED(core) ((uint32_t *)(0x80400000u + 0x100000u * (core)))

TARE_CATEGORY(work, 0, "work")
TARE_EVENT1(step, work, "step", u32, number, "")
TARE_EVENT1(turn, work, "turn", u32, number, "")
TARE_EVENT0(interrupt, work, "interrupt")
TARE_STRING(text, work, "text")

static struct account {
    struct tare_totals totals;
    volatile uint32_t in_interrupt;
    uint32_t attempted, collected;
} accounts[2];

static volatile uint32_t next_turn;
static volatile uint32_t arrived[2];

void virt_tick(void)
{
    interrupt();
    accounts[0].in_interrupt++;
    tare_service();
}

static void collect(uint32_t core)
{
    struct tare_channel *up = tare_channel_of_core(core);
    const uint32_t *words = (const uint32_t *)(uintptr_t)up->buffer;
    uint32_t read = up->read_offset, write = up->write_offset;

#ifdef OTHER_READER
    (void)words, (void)read, (void)write;
#else
    while (read != write) {
        COLLECTED(core)[accounts[core].collected++] = words[read / 4];
        read = read + 4 == up->bytes ? 0 : read + 4;
    }
    __asm volatile("fence" ::: "memory");
    up->read_offset = read;
#endif
}

static void meet(uint32_t core, uint32_t stage)
{
    arrived[core] = stage;
    while (arrived[1 - core] < stage)
        ;
}

static void wait_for_room(uint32_t core)
{
    const struct tare_channel *up = tare_channel_of_core(core);

    do
        collect(core);
    while ((up->write_offset - up->read_offset) % up->bytes > up->bytes / 4);
}

static void next_tick_of_clock(void)
{
    uint32_t now = VIRT_COUNTER;

    while (VIRT_COUNTER == now)
        ;
}

static void record(uint32_t core)
{
    struct account *account = &accounts[core];
    uint32_t i;

    tare_thread_name(core == 0 ? "first core" : "second core");
    meet(core, 1);
    for (i = 0; i < STEPS; i++) {
        step(i);
        account->attempted++;
        if (i % TEXT_EVERY == 0) {
            text(TEXT);
            account->attempted += TEXT_RECORDS;
        }
        if (i % 50 == 0 && (i < UNREAD_FROM || i >= UNREAD_TO))
            collect(core);
    }
    wait_for_room(core);
    meet(core, 2);
    for (i = 0; i < TURNS; i++) {
        while (next_turn != 2 * i + core)
            ;
        if (i < TURNS - IN_RING)
            wait_for_room(core);
        next_tick_of_clock();
        turn(2 * i + core);
        account->attempted++;
        next_tick_of_clock();
        __asm volatile("fence" ::: "memory");
        next_turn = 2 * i + core + 1;
    }
    if (core == 0)
        virt_tick_every(0);
    meet(core, 3); /* a stop switches the categories of all cores off */
    tare_stop();
    tare_counts(&account->totals);
    meet(core, 4);
}

void virt_other_main(uint32_t hart)
{
    record(hart);
}

static void print(const char *name, uint32_t core, uint32_t number)
{
    virt_print(name);
    virt_print_number(core);
    virt_print(" ");
    virt_print_number(number);
    virt_print("\n");
}

int main(void)
{
    uint32_t core;

    if (tare_start() != 0)
        return 1;
    virt_tick_every(VIRT_COUNTER_HZ / 1000);
    virt_start_hart(1);
    record(0);
    for (core = 0; core < 2; core++) {
        print("attempted", core, accounts[core].attempted + accounts[core].in_interrupt);
        print("dropped", core, accounts[core].totals.dropped);
        print("suppressed", core, accounts[core].totals.suppressed);
        print("words", core, accounts[core].totals.words);
        print("collected", core, accounts[core].collected);
        print("interrupts", core, accounts[core].in_interrupt);
    }
    return 0;
}
