/* The steps of kernel_program.c, each a function of the task `driver`, in the order in which they
 * run. Each notes what the recording of it must hold. */
#ifndef KERNEL_STEPS_H
#define KERNEL_STEPS_H

#include "kernel_account.h"
#include "queue.h"

/* kernel_program.c: */

/* Empties the ring and lets the recorder write names. */
void collect(void);

/* An event of the program. */
void mark(uint32_t number);

/* A string event, not noted. */
void say_something(const char *text);

/* What is recorded from now on stays in the ring, from a block border on, and collect() does
 * nothing. */
void leave_the_rest(void);

/* Starts the task `helper` with a priority above the driver's; it runs at once. */
void start_helper(TaskFunction_t function, uint32_t priority);

/* Its last statement. */
void end_helper(void);

/* Runs `body` in an interrupt. It may give the variable `woken` to the kernel. */
void interrupt(void (*body)(void));
extern BaseType_t woken;

#define PRIORITY_DRIVER 3
#define PRIORITY_HELPER 5
#define STACK_WORDS 200

extern uint32_t timer_queue; /* the number of the kernel's own queue for timers */

/* The timer task has been woken and takes one message from its queue; what it does then stands
 * between the two; it finds no other message and waits, until the tick `until`; 0: for ever. */
void daemon_wakes(void);
void daemon_waits(uint32_t until);

/* kernel_steps_queue.c */
void step_queues(void);
void step_queues_in_interrupts(void);
void step_queue_set(void);
void step_semaphores(void);
void step_mutexes(void);
void step_recursive_mutex(void);

/* kernel_steps_task.c */
void step_tasks(void);
void step_delays(void);
void step_notifications(void);
void step_event_groups(void);
void step_buffers(void);
void step_timers(void);
void step_memory(void);
void step_stack(void);

/* kernel_steps_many.c */
void step_more_than_fit(void);
void step_texts(void);
void step_service_task(void);

#endif
