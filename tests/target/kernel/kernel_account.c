#include "kernel_account.h"

#include "tare_kernel.h"

#define INTERRUPT_CONTROL (*(volatile uint32_t *)0xE000ED04u) /* ICSR */
#define INTERRUPT_CONTROL_TICK (1u << 26)                     /* PENDSTSET */

struct note notes[NOTES];
uint32_t note_count;

struct task idle, daemon, driver, helper, service;
struct task *running;
uint32_t kernel_tick;

static uint32_t objects;

void note(uint32_t code, uint32_t object, uint32_t value)
{
    configASSERT(note_count < NOTES);
    notes[note_count].code = code;
    notes[note_count].object = object;
    notes[note_count++].value = value;
}

uint32_t created(uint32_t event_class, uint32_t value)
{
    rare(TARE_KERNEL_CREATED, objects, event_class << 24 | value);
    return objects++;
}

uint32_t created_early(void)
{
    return objects++;
}

void rare(uint32_t kind, uint32_t object, uint32_t value)
{
    note(kind, object, value);
}

void sends(uint32_t object)
{
    note(NOTE_OPERATION + TARE_SEND, object, 0);
}

void receives(uint32_t object)
{
    note(NOTE_OPERATION + TARE_RECEIVE, object, 0);
}

void waits_to_send(uint32_t object)
{
    note(NOTE_OPERATION + TARE_SEND_BLOCK, object, 0);
}

void waits_to_receive(uint32_t object)
{
    note(NOTE_OPERATION + TARE_RECEIVE_BLOCK, object, 0);
}

void bits_of(uint32_t operation, uint32_t object, uint32_t bits)
{
    note(NOTE_OPERATION + operation, object, 0);
    rare(TARE_KERNEL_BITS, object, bits);
}

void ready(struct task *task)
{
    note(NOTE_OPERATION + TARE_TASK_READY, task->object, 0);
    task->wakes = 0;
}

void runs(struct task *task)
{
    if (running == task)
        return;
    running = task;
    note(NOTE_OPERATION + TARE_TASK_RUNS, task->object, 0);
}

void tick(void)
{
    struct task *const sleepers[] = {&helper, &driver, &daemon, &service};
    uint32_t i;

    kernel_tick++;
    if (KERNEL_TELLS_TICKS)
        note(NOTE_ENTER, KERNEL_INTERRUPT, 0);
    for (i = 0; i < sizeof(sleepers) / sizeof(sleepers[0]); i++)
        if (sleepers[i]->wakes == kernel_tick)
            ready(sleepers[i]);
    if (KERNEL_TELLS_TICKS)
        note(NOTE_EXIT, KERNEL_INTERRUPT, 0);
    INTERRUPT_CONTROL = INTERRUPT_CONTROL_TICK;
    __asm volatile("dsb\n\tisb" ::: "memory");
}
