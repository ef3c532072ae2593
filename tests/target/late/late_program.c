/* Objects and 100,000 events that nobody keeps; then one name period, whose words are kept as an
 * RTT reader that comes now would get them; then events at a pace, until the host sets `finish`,
 * which reads the ring itself meanwhile. */
#include "board.h"
#include "tare_kernel.h"

#define EVENTS 100000u
#define OBJECTS 40u /* and 6 tasks */
#define COLLECTED ((uint32_t *)((char *)board_data_begin + 0x400000u))

TARE_CATEGORY(numbers, 0, "numbers")
TARE_CATEGORY(extras, 1, "extras")
TARE_EVENT1(number, numbers, "number", u32, value, "")
TARE_EVENT1(extra, extras, "extra", u32, value, "")
TARE_EVENT0(nothing, extras, "nothing")
TARE_EVENT2(pair, extras, "pair", u32, first, "", i32, second, "us")
TARE_VALUE(level, numbers, "level", u32, "blocks")
TARE_SPAN(job, numbers, "job")
TARE_STATES(mode, numbers, "mode", "{idle,busy}")
TARE_STRING(note, numbers, "note")

volatile uint32_t finish, stage, recorded;
static uint32_t collected, objects[OBJECTS], tasks[6];
static volatile uint32_t ticks;

void board_tick(void)
{
    ticks++;
}

static void print(const char *name, uint32_t value)
{
    board_print(name);
    board_print(" ");
    board_print_number(value);
    board_print("\n");
}

static void take_unread(int is_kept)
{
    struct tare_channel *up = tare_channel_of_core(0);
    const uint32_t *words = (const uint32_t *)(uintptr_t)up->buffer;
    uint32_t read = up->read_offset, write = up->write_offset;

    while (read != write) {
        if (is_kept)
            COLLECTED[collected++] = words[read / 4];
        read = read + 4 == up->bytes ? 0 : read + 4;
    }
    up->read_offset = read;
}

static void make_objects(void)
{
    static char name[] = "object 00";
    static char task_name[] = "task 0";
    uint32_t i;

    for (i = 0; i < OBJECTS; i++) {
        name[7] = (char)('0' + i / 10);
        name[8] = (char)('0' + i % 10);
        objects[i] = tare_object_new(TARE_CLASS_QUEUE + i % 5, name, i);
    }
    for (i = 0; i < 6; i++) {
        task_name[5] = (char)('0' + i);
        tasks[i] = tare_object_new(TARE_CLASS_TASK, task_name, i);
    }
}

int main(void)
{
    uint32_t i, next;

    if (tare_start() != 0)
        return 1;
    tare_thread_name("the core");
    make_objects();
    for (i = 0; i < EVENTS; i++) {
        if (i % 4 == 0)
            TARE_OBJECT_EVENT(TARE_CATEGORY_TASK, tasks[i / 4 % 6], TARE_TASK_RUNS);
        else
            TARE_OBJECT_EVENT(TARE_CATEGORY_OBJECT, objects[i % OBJECTS], TARE_SEND);
        if (i % 1000 == 0)
            tare_service();
        take_unread(0);
    }
    tare_object_delete(objects[7]);
    objects[7] = tare_object_new(TARE_CLASS_QUEUE, "in its place", 3);
    while (tare_channel_of_core(0)->write_offset % 100 != 48) /* in the midst of a block */
        number(0);
    take_unread(0);
    for (i = 0; i < TARE_NAME_PERIOD + 100; i++) { /* the period, then one name at each call */
        TARE_OBJECT_EVENT(TARE_CATEGORY_OBJECT, objects[i % OBJECTS], TARE_RECEIVE);
        tare_service();
        take_unread(1);
    }
    board_tick_every(BOARD_COUNTER_HZ / 1000);
    stage = 1;
    while (!finish) {
        next = ticks + 1;
        number(recorded);
        extra(recorded);
        recorded++;
        tare_service();
        while ((int32_t)(ticks - next) < 0)
            ;
    }
    board_tick_every(0);
    tare_stop();
    print("collected", collected);
    print("recorded", recorded);
    return 0;
}
