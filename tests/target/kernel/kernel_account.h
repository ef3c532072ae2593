/* What kernel_program.c did, in its own order, kept beside the recording of it. */
#ifndef KERNEL_ACCOUNT_H
#define KERNEL_ACCOUNT_H

#include "FreeRTOS.h"
#include "task.h"

/* tskKERNEL_VERSION_MAJOR and _MINOR as one number: 9.0 is 900, 10.3 is 1003. */
#define KERNEL_VERSION (100 * tskKERNEL_VERSION_MAJOR + tskKERNEL_VERSION_MINOR)

/* The interrupt of the tick is told from FreeRTOS 11 on. */
#define KERNEL_TELLS_TICKS (KERNEL_VERSION >= 1100)

/* Whether the first task that runs is told. */
#define KERNEL_TELLS_FIRST (KERNEL_VERSION >= 1003)

/* Codes of notes; below 0x80 enum tare_kernel. kernel_check.py has the same. */
enum {
    NOTE_OPERATION = 0x80, /* + enum tare_operation, of an object */
    NOTE_ENTER = 0x90,     /* of an interrupt */
    NOTE_EXIT = 0x91,
    NOTE_MARK = 0xA0,    /* an event of the program */
    NOTE_TEXT = 0xA1,    /* the string event number `value` */
    NOTE_LOOSE = 0xA2,   /* from here on the order is not known, */
    NOTE_STRICT = 0xA3,  /* to here */
    NOTE_EARLY = 0xF0,   /* an object that was created before the recording */
    NOTE_OPTIONAL = 0xF1 /* the next note may be missing */
};

/* Objects are counted in the order in which they are created. */
enum {
    OTHER_TASK = 0xFE,
    OTHER_OBJECT = 0xFF,
    NO_OBJECT = 0xFD,
    KERNEL_INTERRUPT = 0, /* their numbers among the interrupts */
    OUR_INTERRUPT = 1
};

struct note {
    uint32_t code, object, value;
};

#define NOTES 6000u
extern struct note notes[NOTES];
extern uint32_t note_count;

void note(uint32_t code, uint32_t object, uint32_t value);

/* Gives the number of a new object. */
uint32_t created(uint32_t event_class, uint32_t value);

/* The same before the recording has begun. */
uint32_t created_early(void);

/* The rare event `kind` of enum tare_kernel. */
void rare(uint32_t kind, uint32_t object, uint32_t value);

void sends(uint32_t object);
void receives(uint32_t object);
void waits_to_send(uint32_t object);
void waits_to_receive(uint32_t object);

/* `object` with the event bits `bits`; operation of enum tare_operation. */
void bits_of(uint32_t operation, uint32_t object, uint32_t bits);

struct task {
    TaskHandle_t handle;
    uint32_t object;
    uint32_t wakes; /* tick at which a wait ends; 0: it does not wait for a time */
};

extern struct task idle, daemon, driver, helper, service;

void ready(struct task *task);

/* `task` finds itself running: its first statement, and behind each call that may switch. */
void runs(struct task *task);

/* Whether anybody else was noted as running since. */
extern struct task *running;

/* The kernel's tick comes here and now, and at no other time. */
void tick(void);
extern uint32_t kernel_tick; /* ticks so far */

#endif
