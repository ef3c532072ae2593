/* mod_timeline: what the events of a kernel's objects say about tasks, interrupts and timers. Each
 * scene is a list of events made by hand; every item that must come out is written down as a line
 * of text: the end of a state as "CORE TICKS NAME ACTIVITY since TICKS: cause", its begin without
 * "since".
 *
 * Core 0 and core 1 are streams of one session, core 2 belongs to another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mod_timeline.h"

/* Tasks, then objects of four ids, a timer and an interrupt. */
#define LOW 0x010u
#define HIGH 0x012u
#define THIRD 0x014u
#define QUEUE 0x020u
#define LOCK 0x024u
#define FLAGS 0x028u
#define TIMER 0x030u
#define IRQ 0x032u
#define INNER 0x034u
#define JOB 0x810u
#define STATE 0x820u
#define PLAIN 0x840u

struct scene {
    struct decode_directory directory;
    struct decode_stream *core[3];
    struct timeline_builder *timeline;
    struct buffer log;
    uint32_t ordinal; /* of the actor of the last item */
};

static void put_actor(struct buffer *log, const char *before, const struct timeline_actor *actor)
{
    if (actor == NULL)
        return;
    buffer_text(log, before);
    timeline_append_object(log, actor->definition);
    if (actor->generation != 0)
        buffer_printf(log, ".%u", actor->generation);
}

static void put_kernel_facts(struct buffer *log, const struct timeline_item *item)
{
    const char *unit = "", *name;
    uint32_t value = 0;

    put_actor(log, " by ", item->by);
    put_actor(log, " held by ", item->holder);
    if (item->wait == TIMELINE_WAIT_DELAY || item->wait == TIMELINE_WAIT_DELAY_UNTIL)
        buffer_printf(log, " %u", item->argument[0]);
    name = timeline_kernel_value(item, &unit, &value);
    if (name != NULL)
        buffer_printf(log, " %s %u%s", name, value, unit);
    if (item->kernel >= TARE_KERNEL_CREATED && item->kernel <= TARE_KERNEL_DISINHERITS &&
        item->actor != NULL && item->actor->priority_known)
        buffer_printf(log, " (%u, own %u%s)", item->actor->priority, item->actor->base_priority,
                      item->actor->inherited ? ", inherited" : "");
}

static void log_item(void *context, const struct timeline_item *item)
{
    struct scene *scene = context;
    struct buffer *log = &scene->log;

    if (item->kind == TIMELINE_STREAM)
        return;
    scene->ordinal = item->actor != NULL ? item->actor->ordinal : UINT32_MAX;
    buffer_printf(log, "%u %" PRIu64, item->stream->ordinal, item->ticks);
    put_actor(log, " ", item->actor);
    buffer_text(log, " ");
    switch (item->kind) {
    case TIMELINE_STATE_BEGIN:
    case TIMELINE_STATE_END:
        timeline_append_state(log, item);
        break;
    case TIMELINE_LOST:
        buffer_printf(log, "lost from %" PRIu64, item->begin_ticks);
        break;
    case TIMELINE_END:
        buffer_text(log, "end");
        break;
    default:
        buffer_text(log, item->kind == TIMELINE_ORPHAN ? "orphan " : "* ");
        timeline_append_event(log, item);
        break;
    }
    if (item->kind == TIMELINE_STATE_END || item->kind == TIMELINE_SPAN_END)
        buffer_printf(log, " since %" PRIu64 ": %s", item->begin_ticks,
                      timeline_cause_text(item->cause));
    put_kernel_facts(log, item);
    buffer_text(log, item->uncertain ? " uncertain\n" : "\n");
}

static void define(struct decode_session *session, uint32_t class, uint32_t id, const char *text)
{
    definitions_add(&session->definitions, class, 0, id, text, strlen(text));
    if (definition_group(class) == DEFINITION_OBJECT)
        definitions_expect(&session->definitions, id, 0, 0);
}

static int set_up(void **state)
{
    struct scene *scene = memory_new(1, sizeof(*scene));
    struct decode_session *session;

    scene->core[0] = directory_stream(&scene->directory, 1, 1);
    scene->core[1] = directory_stream(&scene->directory, 1, 2);
    scene->core[2] = directory_stream(&scene->directory, 2, 1);
    session = scene->core[0]->session;
    define(session, TARE_CLASS_TASK, LOW, "low");
    define(session, TARE_CLASS_TASK, HIGH, "high");
    define(session, TARE_CLASS_TASK, THIRD, "");
    define(session, TARE_CLASS_QUEUE, QUEUE, "queue");
    define(session, TARE_CLASS_MUTEX, LOCK, "lock");
    define(session, TARE_CLASS_EVENTS, FLAGS, "flags");
    define(session, TARE_CLASS_TIMER, TIMER, "timer");
    define(session, TARE_CLASS_INTERRUPT, IRQ, "irq");
    define(session, TARE_CLASS_INTERRUPT, INNER, "inner");
    define(session, TARE_CLASS_SPAN_BEGIN, JOB, "job|id:u32:");
    define(session, TARE_CLASS_SPAN_END, JOB + 1, "job|id:u32:");
    define(session, TARE_CLASS_STATE, STATE, "mode|state:u32:{off,on}");
    define(session, TARE_CLASS_EVENT, PLAIN, "plain|number:u32:");
    define(scene->core[2]->session, TARE_CLASS_TASK, LOW, "other low");
    scene->timeline = timeline_new(TIMELINE_SPAN_LIMIT, log_item, scene);
    *state = scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;

    timeline_free(scene->timeline);
    directory_free(&scene->directory);
    buffer_free(&scene->log);
    free(scene);
    return 0;
}

static void take(struct scene *scene, int core, const struct event *event, const struct note *note)
{
    struct record_batch batch = {0};
    struct decode_run run = {.stream = scene->core[core],
                             .events = event,
                             .count = event != NULL,
                             .notes = note,
                             .note_count = note != NULL,
                             .batch = &batch};

    batch.events = (struct event *)event;
    batch.count = event != NULL;
    timeline_take(scene->timeline, &run);
}

static void core_event(struct scene *scene, int core, uint64_t ticks, uint32_t id,
                       uint32_t argument)
{
    take(scene, core, &(struct event){.ticks = ticks, .id = id, .argument = {argument, 0}}, NULL);
}

static void event(struct scene *scene, uint64_t ticks, uint32_t id)
{
    core_event(scene, 0, ticks, id, 0);
}

static void kernel_of(struct scene *scene, uint64_t ticks, enum tare_kernel kind,
                      uint32_t generation, uint32_t id, uint32_t value)
{
    uint32_t first = (uint32_t)kind << 24 | generation << 16 | id;

    take(scene, 0,
         &(struct event){.ticks = ticks, .id = TARE_ID_KERNEL, .argument = {first, value}}, NULL);
}

static void kernel(struct scene *scene, uint64_t ticks, enum tare_kernel kind, uint32_t id,
                   uint32_t value)
{
    kernel_of(scene, ticks, kind, 0, id, value);
}

/* As the decoder does it: the definition comes into force with the event. */
static void create(struct scene *scene, uint64_t ticks, uint32_t generation, uint32_t id,
                   uint32_t priority)
{
    struct definitions *definitions = &scene->core[0]->session->definitions;

    definitions_create(definitions, TARE_CLASS_TASK, generation, id);
    definitions_renew(definitions, id, generation);
    kernel_of(scene, ticks, TARE_KERNEL_CREATED, generation, id,
              (uint32_t)TARE_CLASS_TASK << 24 | priority);
}

static void lost(struct scene *scene, int core, uint64_t first, uint64_t ticks)
{
    struct note note = {.kind = NOTE_LOSS, .ticks = ticks};

    note.loss.first = first;
    note.loss.span = (uint32_t)(ticks - first);
    note.loss.count = 3;
    note.loss.first_known = true;
    take(scene, core, NULL, &note);
}

static void expect(struct scene *scene, const char *lines)
{
    assert_string_equal(scene->log.data != NULL ? scene->log.data : "", lines);
    buffer_clear(&scene->log);
}

/* ------------------------------------------------------------------ tasks */

/* A task runs until another one is switched in; without having begun to wait it was preempted. What
 * was never seen is in no state. To be switched in again changes nothing. */
static void running_and_preempted(void **state)
{
    struct scene *scene = *state;

    event(scene, 10, LOW);
    event(scene, 20, HIGH);
    event(scene, 25, HIGH);
    event(scene, 30, LOW);
    expect(scene, "0 10 low running\n"
                  "0 20 low running since 10: ended\n"
                  "0 20 low preempted by high\n"
                  "0 20 high running\n"
                  "0 30 high running since 20: ended\n"
                  "0 30 high preempted by low\n"
                  "0 30 low preempted since 20: ended\n"
                  "0 30 low running\n");
}

/* It waits from the switch on until it may run, and says who made it so. */
static void blocked_and_ready(void **state)
{
    struct scene *scene = *state;

    event(scene, 10, HIGH);
    event(scene, 12, QUEUE + TARE_RECEIVE_BLOCK);
    event(scene, 14, LOW);
    event(scene, 20, QUEUE + TARE_SEND);
    event(scene, 21, HIGH + TARE_TASK_READY);
    event(scene, 22, HIGH);
    expect(scene, "0 10 high running\n"
                  "0 12 high * queue: block on receive\n"
                  "0 14 high running since 10: ended\n"
                  "0 14 high blocked: receive queue\n"
                  "0 14 low running\n"
                  "0 20 low * queue: send\n"
                  "0 21 high blocked: receive queue since 14: ended\n"
                  "0 21 high ready by low\n"
                  "0 22 low running since 14: ended\n"
                  "0 22 low preempted by high\n"
                  "0 22 high ready since 21: ended\n"
                  "0 22 high running\n");
}

static void what_it_waits_for(void **state)
{
    struct scene *scene = *state;
    static const char *const waits[] = {"send queue",   "take lock", "bits flags",   "delay 7",
                                        "notification", "suspended", "delay until 8"};

    for (int i = 0; i < 7; i++) {
        char wanted[100];

        event(scene, 10, LOW);
        switch (i) {
        case 0:
            event(scene, 11, QUEUE + TARE_SEND_BLOCK);
            break;
        case 1:
            event(scene, 11, LOCK + TARE_RECEIVE_BLOCK);
            break;
        case 2:
            event(scene, 11, FLAGS + TARE_RECEIVE_BLOCK);
            break;
        case 3:
            kernel(scene, 11, TARE_KERNEL_DELAY, LOW, 7);
            break;
        case 4:
            kernel(scene, 11, TARE_KERNEL_NOTIFY_BLOCK, LOW, 0);
            break;
        case 5:
            kernel(scene, 11, TARE_KERNEL_SUSPENDED, LOW, 0);
            break;
        default:
            kernel(scene, 11, TARE_KERNEL_DELAY_UNTIL, LOW, 8);
            break;
        }
        buffer_clear(&scene->log);
        event(scene, 12, HIGH);
        snprintf(wanted, sizeof(wanted), "\n0 12 low blocked: %s\n", waits[i]);
        assert_non_null(strstr(scene->log.data, wanted));
    }
}

/* Woken before it was switched out: no longer waiting, but not preempted either. */
static void woken_before_the_switch(void **state)
{
    struct scene *scene = *state;

    event(scene, 10, LOW);
    event(scene, 12, QUEUE + TARE_RECEIVE_BLOCK);
    event(scene, 13, IRQ + TARE_ENTER);
    event(scene, 14, LOW + TARE_TASK_READY);
    event(scene, 15, IRQ + TARE_EXIT);
    buffer_clear(&scene->log);
    event(scene, 16, HIGH);
    expect(scene, "0 16 low running since 10: ended\n"
                  "0 16 low ready by irq\n"
                  "0 16 high running\n");
    /* Switched in again, it waits for nothing. */
    event(scene, 20, HIGH);
    event(scene, 21, QUEUE + TARE_RECEIVE_BLOCK);
    event(scene, 22, HIGH);
    buffer_clear(&scene->log);
    event(scene, 23, LOW);
    expect(scene, "0 23 high running since 16: ended\n"
                  "0 23 high preempted by low\n"
                  "0 23 low ready since 16: ended\n"
                  "0 23 low running\n");
}

/* "May run" of a task that can run anyway (its priority was changed) is an event and no state. */
static void ready_already(void **state)
{
    struct scene *scene = *state;

    event(scene, 10, LOW);
    event(scene, 11, LOW + TARE_TASK_READY);
    event(scene, 12, HIGH);
    event(scene, 13, LOW + TARE_TASK_READY);
    event(scene, 14, THIRD + TARE_TASK_READY);
    event(scene, 15, THIRD + TARE_TASK_READY);
    expect(scene, "0 10 low running\n"
                  "0 11 low * low: ready by low\n"
                  "0 12 low running since 10: ended\n"
                  "0 12 low preempted by high\n"
                  "0 12 high running\n"
                  "0 13 low * low: ready by high\n"
                  "0 14 task #014 ready by high\n"
                  "0 15 task #014 * task #014: ready by high\n");
}

static void suspended_by_another(void **state)
{
    struct scene *scene = *state;

    event(scene, 10, LOW);
    event(scene, 12, HIGH);
    buffer_clear(&scene->log);
    kernel(scene, 13, TARE_KERNEL_SUSPENDED, LOW, 0);
    kernel(scene, 15, TARE_KERNEL_RESUMED, LOW, 0);
    event(scene, 16, LOW + TARE_TASK_READY);
    expect(scene, "0 13 low preempted since 12: ended\n"
                  "0 13 low blocked: suspended by high\n"
                  "0 13 low * low: suspended by high\n"
                  "0 15 low * low: resumed by high\n"
                  "0 16 low blocked: suspended since 13: ended\n"
                  "0 16 low ready by high\n");
}

/* ------------------------------------------------------------------ life of a task */

static void generations(void **state)
{
    struct scene *scene = *state;

    create(scene, 10, 1, THIRD, 3);
    event(scene, 11, THIRD + TARE_TASK_READY);
    event(scene, 12, THIRD);
    core_event(scene, 0, 13, STATE, 1);
    kernel_of(scene, 14, TARE_KERNEL_DELETED, 1, THIRD, 0); /* itself: it runs until the switch */
    event(scene, 15, LOW);
    create(scene, 20, 2, THIRD, 4);
    event(scene, 21, THIRD + TARE_TASK_READY);
    kernel_of(scene, 22, TARE_KERNEL_DELETED, 2, THIRD, 0); /* by another */
    expect(scene, "0 10 task #014.1 * task #014: created priority 3 (3, own 3)\n"
                  "0 11 task #014.1 ready\n"
                  "0 12 task #014.1 ready since 11: ended\n"
                  "0 12 task #014.1 running\n"
                  "0 13 task #014.1 on\n"
                  "0 14 task #014.1 * task #014: deleted by task #014.1 (3, own 3)\n"
                  "0 15 task #014.1 running since 12: deleted\n"
                  "0 15 task #014.1 on since 13: deleted\n"
                  "0 15 low running\n"
                  "0 20 task #014.2 * task #014: created by low priority 4 (4, own 4)\n"
                  "0 21 task #014.2 ready by low\n"
                  "0 22 task #014.2 * task #014: deleted by low (4, own 4)\n"
                  "0 22 task #014.2 ready since 21: deleted\n");
}

/* A new task with the id of one whose deletion nobody has seen. */
static void deletion_unseen(void **state)
{
    struct scene *scene = *state;

    event(scene, 10, THIRD + TARE_TASK_READY);
    create(scene, 20, 1, THIRD, 3);
    expect(scene, "0 10 task #014 ready\n"
                  "0 20 task #014 ready since 10: deleted uncertain\n"
                  "0 20 task #014.1 * task #014: created priority 3 (3, own 3)\n");
}

static void inheritance(void **state)
{
    struct scene *scene = *state;

    kernel(scene, 5, TARE_KERNEL_PRIORITY, LOW, 1);
    event(scene, 10, LOW);
    event(scene, 11, LOCK + TARE_RECEIVE);
    event(scene, 12, HIGH);
    event(scene, 13, LOCK + TARE_RECEIVE_BLOCK);
    kernel(scene, 13, TARE_KERNEL_HOLDER, LOCK, LOW);
    kernel(scene, 14, TARE_KERNEL_INHERITS, LOW, 5);
    event(scene, 15, LOW);
    kernel(scene, 16, TARE_KERNEL_PRIORITY, LOW, 2);
    event(scene, 17, LOCK + TARE_SEND);
    kernel(scene, 18, TARE_KERNEL_DISINHERITS, LOW, 2);
    event(scene, 19, LOCK + TARE_RECEIVE_BLOCK);
    event(scene, 20, HIGH);
    expect(scene, "0 5 low * low: priority priority 1 (1, own 1)\n"
                  "0 10 low running\n"
                  "0 11 low * lock: take\n"
                  "0 12 low running since 10: ended\n"
                  "0 12 low preempted by high\n"
                  "0 12 high running\n"
                  "0 13 high * lock: block on take\n"
                  "0 13 high * lock: holder by high held by low id of the task 16\n"
                  "0 14 low * low: inherits by high priority 5 (5, own 1, inherited)\n"
                  "0 15 high running since 12: ended\n"
                  "0 15 high blocked: take lock held by low\n"
                  "0 15 low preempted since 12: ended\n"
                  "0 15 low running\n"
                  "0 16 low * low: priority by low priority 2 (5, own 2, inherited)\n"
                  "0 17 low * lock: give\n"
                  "0 18 low * low: disinherits by low priority 2 (2, own 2)\n"
                  "0 19 low * lock: block on take\n"
                  "0 20 low running since 15: ended\n"
                  "0 20 low blocked: take lock\n"
                  "0 20 high blocked: take lock since 15: ended held by low\n"
                  "0 20 high running\n");
}

/* Tasks without a number of their own: one of them runs, and of the others nothing is known. */
static void other_tasks(void **state)
{
    struct scene *scene = *state;

    event(scene, 10, TARE_ID_OTHER_TASK_RUNS);
    event(scene, 11, TARE_ID_OTHER_RECEIVE_BLOCK);
    event(scene, 12, LOW);
    event(scene, 13, TARE_ID_OTHER_TASK_READY);
    kernel(scene, 14, TARE_KERNEL_DELETED, TARE_ID_OTHER_TASK_RUNS, 0);
    event(scene, 15, TARE_ID_OTHER_SEND_BLOCK);
    event(scene, 16, TARE_ID_OTHER_TASK_RUNS);
    expect(scene, "0 10 other tasks running\n"
                  "0 11 other tasks * other objects: block on receive\n"
                  "0 12 other tasks running since 10: ended\n"
                  "0 12 low running\n"
                  "0 13 other tasks * other tasks: ready by low\n"
                  "0 14 other tasks * other tasks: deleted by low\n"
                  "0 15 low * other objects: block on send\n"
                  "0 16 low running since 12: ended\n"
                  "0 16 low blocked: send other objects\n"
                  "0 16 other tasks running\n");
}

/* ------------------------------------------------------------------ interrupts and timers */

/* They nest on top of the task, whose state they do not change; what is recorded meanwhile is
 * theirs. */
static void interrupts(void **state)
{
    struct scene *scene = *state;

    event(scene, 10, LOW);
    event(scene, 11, IRQ + TARE_ENTER);
    core_event(scene, 0, 12, PLAIN, 1);
    event(scene, 13, INNER + TARE_ENTER);
    core_event(scene, 0, 14, STATE, 1);
    event(scene, 15, INNER + TARE_EXIT);
    core_event(scene, 0, 16, STATE, 0);
    event(scene, 17, IRQ + TARE_EXIT);
    core_event(scene, 0, 18, PLAIN, 2);
    expect(scene, "0 10 low running\n"
                  "0 11 irq running\n"
                  "0 12 irq * plain\n"
                  "0 13 inner running\n"
                  "0 14 inner on\n"
                  "0 15 inner running since 13: ended\n"
                  "0 16 irq off\n"
                  "0 17 irq running since 11: ended\n"
                  "0 18 low * plain\n");
}

static void missing_exits(void **state)
{
    struct scene *scene = *state;

    event(scene, 10, IRQ + TARE_EXIT);
    event(scene, 11, IRQ + TARE_ENTER);
    event(scene, 12, INNER + TARE_ENTER);
    event(scene, 13, IRQ + TARE_EXIT);
    event(scene, 14, INNER + TARE_ENTER);
    event(scene, 15, INNER + TARE_ENTER);
    kernel(scene, 16, TARE_KERNEL_DELETED, INNER, 0);
    core_event(scene, 0, 17, PLAIN, 2);
    expect(scene, "0 10 irq orphan irq: exit\n"
                  "0 11 irq running\n"
                  "0 12 inner running\n"
                  "0 13 inner running since 12: its exit was not recorded uncertain\n"
                  "0 13 irq running since 11: ended\n"
                  "0 14 inner running\n"
                  "0 15 inner running since 14: its exit was not recorded uncertain\n"
                  "0 15 inner running\n"
                  "0 16 inner * inner: deleted by inner\n"
                  "0 16 inner running since 15: deleted\n"
                  "0 17 * plain\n");
}

/* A timer's function runs within a task: its events are the task's. */
static void timers(void **state)
{
    struct scene *scene = *state;

    event(scene, 10, LOW);
    kernel(scene, 11, TARE_KERNEL_TIMER_COMMAND, TIMER, 1);
    event(scene, 12, TIMER + TARE_ENTER);
    core_event(scene, 0, 13, PLAIN, 1);
    event(scene, 14, HIGH);
    event(scene, 15, LOW);
    event(scene, 16, TIMER + TARE_EXIT);
    event(scene, 17, TIMER + TARE_EXIT);
    expect(scene, "0 10 low running\n"
                  "0 11 timer * timer: timer command by low command 1\n"
                  "0 12 timer running\n"
                  "0 13 low * plain\n"
                  "0 14 low running since 10: ended\n"
                  "0 14 low preempted by high\n"
                  "0 14 high running\n"
                  "0 15 high running since 14: ended\n"
                  "0 15 high preempted by low\n"
                  "0 15 low preempted since 14: ended\n"
                  "0 15 low running\n"
                  "0 16 timer running since 12: ended\n"
                  "0 17 timer orphan timer: end\n");
}

/* ------------------------------------------------------------------ whose lane */

/* A state machine of the program is one for each task; before the first switch, of the core. */
static void states_of_tasks(void **state)
{
    struct scene *scene = *state;

    core_event(scene, 0, 5, STATE, 1);
    event(scene, 10, LOW);
    core_event(scene, 0, 11, STATE, 0);
    core_event(scene, 0, 12, JOB, 7);
    event(scene, 20, HIGH);
    core_event(scene, 0, 21, STATE, 1);
    core_event(scene, 0, 22, JOB + 1, 7);
    event(scene, 30, LOW);
    core_event(scene, 0, 31, STATE, 1);
    expect(scene, "0 5 on\n"
                  "0 10 on since 5: a task was switched in uncertain\n"
                  "0 10 low running\n"
                  "0 11 low off\n"
                  "0 12 low * job\n"
                  "0 20 low running since 10: ended\n"
                  "0 20 low preempted by high\n"
                  "0 20 high running\n"
                  "0 21 high on\n"
                  "0 22 low * job since 12: ended by high\n"
                  "0 30 high running since 20: ended\n"
                  "0 30 high preempted by low\n"
                  "0 30 low preempted since 20: ended\n"
                  "0 30 low running\n"
                  "0 31 low off since 11: ended\n"
                  "0 31 low on\n");
}

static void heap_and_unknown(void **state)
{
    struct scene *scene = *state;

    event(scene, 10, LOW);
    kernel(scene, 11, TARE_KERNEL_ALLOCATED, 0x30, 0x20001000);
    kernel(scene, 12, TARE_KERNEL_RESET, 0x700, 0);
    kernel(scene, 13, (enum tare_kernel)99, LOW, 0);
    event(scene, 14, 0x600);
    expect(scene, "0 10 low running\n"
                  "0 11 low * allocated address 536875008\n"
                  "0 12 low * #700: reset\n"
                  "0 13 low * low: kind 99 by low\n"
                  "0 14 low * #600\n");
}

/* ------------------------------------------------------------------ losses */

/* After a loss every state of the core is unknown until an event says more: which task runs, a wait
 * that had begun, interrupts, holders. */
static void loss(void **state)
{
    struct scene *scene = *state;

    event(scene, 10, LOW);
    event(scene, 11, LOCK + TARE_RECEIVE_BLOCK);
    event(scene, 12, HIGH);
    event(scene, 13, QUEUE + TARE_SEND_BLOCK);
    event(scene, 14, IRQ + TARE_ENTER);
    buffer_clear(&scene->log);
    lost(scene, 0, 20, 30);
    expect(scene, "0 20 irq running since 14: cut by a loss uncertain\n"
                  "0 20 high running since 12: cut by a loss uncertain\n"
                  "0 20 low blocked: take lock since 12: cut by a loss uncertain\n"
                  "0 30 lost from 20\n");
    core_event(scene, 0, 31, PLAIN, 1);
    event(scene, 32, IRQ + TARE_EXIT);
    event(scene, 33, QUEUE + TARE_RECEIVE_BLOCK);
    event(scene, 34, HIGH);
    event(scene, 35, LOW);
    expect(scene, "0 31 * plain\n"
                  "0 32 irq orphan irq: exit uncertain\n"
                  "0 33 * queue: block on receive\n"
                  "0 34 high running\n"
                  "0 35 high running since 34: ended\n"
                  "0 35 high preempted by low\n"
                  "0 35 low running\n");
}

/* Only the running task delays itself: after a loss that tells which one runs. */
static void running_is_found_out(void **state)
{
    struct scene *scene = *state;

    lost(scene, 0, 20, 30);
    kernel(scene, 31, TARE_KERNEL_SUSPENDED, LOW, 0); /* another one may do that */
    kernel(scene, 32, TARE_KERNEL_DELAY, HIGH, 4);
    event(scene, 33, LOW);
    expect(scene, "0 30 lost from 20\n"
                  "0 31 low blocked: suspended\n"
                  "0 31 low * low: suspended\n"
                  "0 32 high running\n"
                  "0 32 high * high: delay by high time 4ticks of the kernel\n"
                  "0 33 high running since 32: ended\n"
                  "0 33 high blocked: delay 4\n"
                  "0 33 low blocked: suspended since 31: ended\n"
                  "0 33 low running\n");
}

static void two_cores(void **state)
{
    struct scene *scene = *state;

    core_event(scene, 0, 10, LOW, 0);
    core_event(scene, 1, 11, HIGH, 0);
    core_event(scene, 0, 12, THIRD + TARE_TASK_READY, 0);
    core_event(scene, 1, 13, IRQ + TARE_ENTER, 0);
    core_event(scene, 0, 14, IRQ + TARE_ENTER, 0);
    core_event(scene, 0, 15, IRQ + TARE_EXIT, 0);
    buffer_clear(&scene->log);
    lost(scene, 1, 20, 30);
    core_event(scene, 0, 31, THIRD, 0); /* what core 1 has lost may have changed THIRD */
    core_event(scene, 1, 32, LOW, 0);   /* and LOW: preempted only since 31 */
    core_event(scene, 0, 33, HIGH, 0);
    expect(scene, "1 20 irq running since 13: cut by a loss uncertain\n"
                  "1 20 high running since 11: cut by a loss uncertain\n"
                  "1 30 lost from 20\n"
                  "0 31 low running since 10: ended\n"
                  "0 31 low preempted by task #014\n"
                  "0 31 task #014 ready since 12: ended uncertain\n"
                  "0 31 task #014 running\n"
                  "1 32 low preempted since 31: ended\n"
                  "1 32 low running\n"
                  "0 33 task #014 running since 31: ended\n"
                  "0 33 task #014 preempted by high\n"
                  "0 33 high running\n");
}

/* A task runs on one core: switched in on another, it has left the first, where then no task is
 * known. */
static void moved(void **state)
{
    struct scene *scene = *state;

    core_event(scene, 0, 10, LOW, 0);
    core_event(scene, 1, 12, LOW, 0);
    core_event(scene, 0, 13, PLAIN, 1);
    core_event(scene, 0, 14, HIGH, 0);
    core_event(scene, 1, 15, PLAIN, 1);
    expect(scene, "0 10 low running\n"
                  "1 12 low running since 10: ended\n"
                  "1 12 low running\n"
                  "0 13 * plain\n"
                  "0 14 high running\n"
                  "1 15 low * plain\n");
}

static void ends(void **state)
{
    struct scene *scene = *state;

    event(scene, 10, LOW);
    event(scene, 12, HIGH);
    event(scene, 13, IRQ + TARE_ENTER);
    buffer_clear(&scene->log);
    take(scene, 0, NULL, &(struct note){.kind = NOTE_END, .ticks = 20});
    event(scene, 21, HIGH);          /* nothing should follow an end; what does is taken as it is */
    core_event(scene, 2, 3, LOW, 0); /* another session: another task */
    core_event(scene, 2, 9, PLAIN, 0);
    timeline_finish(scene->timeline, true);
    expect(scene, "0 20 irq running since 13: the recording of this thread ended\n"
                  "0 20 high running since 12: the recording of this thread ended\n"
                  "0 20 low preempted since 12: the recording of this thread ended\n"
                  "0 20 end\n"
                  "0 21 high running\n"
                  "0 21 high running since 21: open when the recording ended uncertain\n"
                  "2 3 other low running\n"
                  "2 9 other low * #840\n"
                  "2 9 other low running since 3: open when the recording ended\n");
    assert_int_equal(scene->ordinal, 3); /* low, high and irq came before */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(running_and_preempted),
        TEST(blocked_and_ready),
        TEST(what_it_waits_for),
        TEST(woken_before_the_switch),
        TEST(ready_already),
        TEST(suspended_by_another),
        TEST(generations),
        TEST(deletion_unseen),
        TEST(inheritance),
        TEST(other_tasks),
        TEST(interrupts),
        TEST(missing_exits),
        TEST(timers),
        TEST(states_of_tasks),
        TEST(heap_and_unknown),
        TEST(loss),
        TEST(running_is_found_out),
        TEST(two_cores),
        TEST(moved),
        TEST(ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
