/* What a kernel's objects say about its tasks, interrupts and timers (FORMAT.md, 3.13). */
#include <stdlib.h>
#include <string.h>

#include "base_progress.h"
#include "mod_timeline_inside.h"

/* ------------------------------------------------------------------ objects */

/* All tasks without a number of their own share one, and all other objects without. */
static bool is_shared(const struct kernel_object *object)
{
    return object->actor.id < TARE_ID_FREE0;
}

/* An interrupt may be entered on two cores at a time: each has an actor of its own. */
static uint64_t key_of(const struct lane *lane, const struct definition *definition)
{
    return definition->class == TARE_CLASS_INTERRUPT
               ? ((uint64_t)lane->stream->ordinal << 16 | definition->id) << 1 | 1
               : (uint64_t)definition->id << 1;
}

static enum timeline_actor_kind actor_kind(enum tare_class class)
{
    return class == TARE_CLASS_INTERRUPT ? TIMELINE_INTERRUPT
           : class == TARE_CLASS_TIMER   ? TIMELINE_TIMER
                                         : TIMELINE_TASK;
}

static bool is_actor(const struct definition *definition)
{
    return definition->class == TARE_CLASS_TASK || definition->class == TARE_CLASS_INTERRUPT ||
           definition->class == TARE_CLASS_TIMER;
}

#define NO_ACTOR UINT32_MAX

static struct kernel_object *new_object(const struct lane *lane,
                                        const struct definition *definition)
{
    struct kernel_object *object = memory_new(1, sizeof(*object));

    object->actor.stream = lane->stream;
    object->actor.id = definition->id;
    object->actor.generation = definition->generation;
    object->actor.ordinal = NO_ACTOR;
    return object;
}

/* Where the generations of an id hang, the newest first. */
static struct kernel_object **generations(struct timeline_builder *timeline,
                                          const struct lane *lane,
                                          const struct definition *definition)
{
    uint64_t key = key_of(lane, definition);
    uint32_t number = key_table_find(&timeline->object_table, key);

    if (number == 0) {
        if (timeline->object_count == timeline->object_capacity) {
            timeline->object_capacity = 2 * timeline->object_capacity + 16;
            timeline->objects = memory_resize(timeline->objects, timeline->object_capacity,
                                              sizeof(struct kernel_object *));
        }
        timeline->objects[timeline->object_count] = NULL;
        number = ++timeline->object_count;
        key_table_set(&timeline->object_table, key, number);
    }
    return &timeline->objects[number - 1];
}

static void delete_object(struct timeline_builder *timeline, struct lane *lane, uint64_t ticks,
                          struct kernel_object *object, bool uncertain);

/* The object of this generation. `now`: it is the one that has the id at this moment. */
static struct kernel_object *object_of(struct timeline_builder *timeline, struct lane *lane,
                                       const struct definition *definition, uint64_t ticks,
                                       bool now)
{
    struct kernel_object **first = generations(timeline, lane, definition), **at = first;
    struct kernel_object *object;

    while (*at != NULL && (*at)->actor.generation != definition->generation)
        at = &(*at)->next_generation;
    object = *at != NULL ? *at : new_object(lane, definition);
    object->actor.definition = definition;
    if (is_actor(definition) && object->actor.ordinal == NO_ACTOR) {
        object->actor.ordinal = timeline->actor_count++;
        object->actor.kind = actor_kind(definition->class);
    }
    if (object != *first && now) {
        /* The end of the one before it was not seen. */
        if (*first != NULL)
            delete_object(timeline, lane, ticks, *first, true);
        if (*at != NULL)
            *at = object->next_generation;
        object->next_generation = *first;
        *first = object;
    } else if (*at == NULL) {
        *at = object;
    }
    return object;
}

void kernel_free_objects(struct timeline_builder *timeline)
{
    for (uint32_t i = 0; i < timeline->object_count; i++) {
        while (timeline->objects[i] != NULL) {
            struct kernel_object *object = timeline->objects[i];

            timeline->objects[i] = object->next_generation;
            free(object);
        }
    }
    free(timeline->objects);
    timeline->objects = NULL;
    timeline->object_count = timeline->object_capacity = 0;
    key_table_free(&timeline->object_table);
    timeline->object_table = (struct key_table){0};
}

struct kernel_object *kernel_context(const struct lane *lane)
{
    return lane->interrupts != NULL ? lane->interrupts : lane->running;
}

static const struct timeline_actor *actor_of(const struct kernel_object *object)
{
    return object != NULL ? &object->actor : NULL;
}

static void stop_running(struct kernel_object *task)
{
    task->core->running = NULL;
    task->core = NULL;
    task->waiting = (struct waiting){.what = TIMELINE_WAIT_NONE};
    task->woken = task->deleted = false;
    task->waker = NULL;
}

void kernel_forget(struct lane *lane)
{
    if (lane->running != NULL)
        stop_running(lane->running);
    for (; lane->interrupts != NULL; lane->interrupts = lane->interrupts->below)
        lane->interrupts->entered = false;
}

/* ------------------------------------------------------------------ what actors do */

static void end_activity(struct timeline_builder *timeline, struct lane *lane, uint64_t ticks,
                         struct kernel_object *object, enum timeline_cause cause, bool uncertain)
{
    struct interval *interval = object->activity;

    if (interval == NULL)
        return;
    /* What another core has lost may have ended this; that a task runs, its own core would say. */
    if (interval->begin.activity != TIMELINE_RUNNING &&
        lost_elsewhere(&timeline->lost_streams, interval->begin.stream,
                       interval->begin.begin_ticks))
        uncertain = true;
    interval_end(
        timeline, interval,
        &(struct interval_end){
            .stream = lane->stream, .ticks = ticks, .cause = cause, .uncertain = uncertain});
}

static void begin_activity(struct timeline_builder *timeline, struct lane *lane, uint64_t ticks,
                           struct kernel_object *object, enum timeline_activity activity,
                           const struct timeline_actor *by)
{
    const struct waiting *waiting = &object->waiting;
    struct timeline_item item = {.ticks = ticks,
                                 .id = object->actor.id,
                                 .actor = &object->actor,
                                 .by = by,
                                 .activity = activity};

    if (activity == TIMELINE_BLOCKED) {
        item.wait = waiting->what;
        item.argument[0] = waiting->value;
        item.object = waiting->on;
        item.holder = waiting->object != NULL ? waiting->object->holder : NULL;
    }
    object->activity = interval_begin(timeline, lane, SCOPE_ACTIVITY, &item, object);
}

static void end_states(struct timeline_builder *timeline, struct lane *lane, uint64_t ticks,
                       struct interval_list *states, enum timeline_cause cause, bool uncertain)
{
    const struct interval_end end = {
        .stream = lane->stream, .ticks = ticks, .cause = cause, .uncertain = uncertain};

    while (states->youngest != NULL)
        interval_end(timeline, states->youngest, &end);
}

static void leave_interrupt(struct timeline_builder *timeline, struct lane *lane, uint64_t ticks,
                            struct kernel_object *interrupt, enum timeline_cause cause)
{
    for (bool found = false; !found;) {
        struct kernel_object *inner = lane->interrupts;

        found = inner == interrupt;
        lane->interrupts = inner->below;
        inner->entered = false;
        end_activity(timeline, lane, ticks, inner, found ? cause : TIMELINE_NO_EXIT,
                     !found || cause == TIMELINE_NO_EXIT);
    }
}

static void delete_object(struct timeline_builder *timeline, struct lane *lane, uint64_t ticks,
                          struct kernel_object *object, bool uncertain)
{
    if (object->entered)
        leave_interrupt(timeline, lane, ticks, object, TIMELINE_DELETED);
    end_activity(timeline, lane, ticks, object, TIMELINE_DELETED, uncertain);
    end_states(timeline, lane, ticks, &object->states, TIMELINE_DELETED, uncertain);
    if (object->core != NULL)
        stop_running(object);
    object->holder = NULL;
}

/* The running task of this core runs no longer; NEXT is switched in. */
static void switch_out(struct timeline_builder *timeline, struct lane *lane, uint64_t ticks,
                       const struct timeline_actor *next)
{
    struct kernel_object *task = lane->running;

    if (task->deleted) {
        delete_object(timeline, lane, ticks, task, false);
        return;
    }
    end_activity(timeline, lane, ticks, task, TIMELINE_NEXT, false);
    if (is_shared(task))
        ; /* Which of them it is that does not run now, nobody knows. */
    else if (task->waiting.what != TIMELINE_WAIT_NONE)
        begin_activity(timeline, lane, ticks, task, TIMELINE_BLOCKED, NULL);
    else if (task->woken)
        begin_activity(timeline, lane, ticks, task, TIMELINE_READY, task->waker);
    else
        begin_activity(timeline, lane, ticks, task, TIMELINE_PREEMPTED, next);
    stop_running(task);
}

static void run_task(struct timeline_builder *timeline, struct lane *lane, uint64_t ticks,
                     struct kernel_object *task)
{
    if (lane->running == task) {
        task->waiting = (struct waiting){.what = TIMELINE_WAIT_NONE};
        task->woken = false;
        return;
    }
    if (lane->running != NULL)
        switch_out(timeline, lane, ticks, &task->actor);
    else
        end_states(timeline, lane, ticks, &lane->states, TIMELINE_SWITCHED, true);
    if (task->core != NULL) /* another core had it last */
        stop_running(task);
    end_activity(timeline, lane, ticks, task, TIMELINE_NEXT, false);
    task->core = lane;
    lane->running = task;
    begin_activity(timeline, lane, ticks, task, TIMELINE_RUNNING, NULL);
}

/* False: that changes nothing. */
static bool may_run(struct timeline_builder *timeline, struct lane *lane, uint64_t ticks,
                    struct kernel_object *task)
{
    const struct timeline_actor *by = actor_of(kernel_context(lane));

    if (is_shared(task))
        return false;
    if (task->core != NULL) {
        if (task->waiting.what == TIMELINE_WAIT_NONE)
            return false;
        task->waiting = (struct waiting){.what = TIMELINE_WAIT_NONE};
        task->woken = true;
        task->waker = by;
        return true;
    }
    if (task->activity != NULL && task->activity->begin.activity != TIMELINE_BLOCKED)
        return false;
    end_activity(timeline, lane, ticks, task, TIMELINE_NEXT, false);
    begin_activity(timeline, lane, ticks, task, TIMELINE_READY, by);
    return true;
}

/* ------------------------------------------------------------------ events */

static void put_instant(struct timeline_builder *timeline, const struct lane *lane,
                        const struct event *event, const struct definition *object,
                        uint32_t operation, const struct timeline_item *more)
{
    struct timeline_item item = *more;

    item.stream = lane->stream;
    item.ticks = event->ticks;
    item.id = event->id;
    item.argument[0] = event->argument[0];
    item.argument[1] = event->argument[1];
    item.object = object;
    item.operation = operation;
    timeline->sink(timeline->context, &item);
}

static void take_task(struct timeline_builder *timeline, struct lane *lane,
                      const struct event *event, const struct definition *definition,
                      uint32_t operation)
{
    struct kernel_object *task = object_of(timeline, lane, definition, event->ticks, true);

    if (operation == TARE_TASK_RUNS)
        run_task(timeline, lane, event->ticks, task);
    else if (!may_run(timeline, lane, event->ticks, task))
        put_instant(timeline, lane, event, definition, operation,
                    &(struct timeline_item){.kind = TIMELINE_INSTANT,
                                            .actor = &task->actor,
                                            .by = actor_of(kernel_context(lane))});
}

static void take_routine(struct timeline_builder *timeline, struct lane *lane,
                         const struct event *event, const struct definition *definition,
                         uint32_t operation)
{
    struct kernel_object *routine = object_of(timeline, lane, definition, event->ticks, true);
    bool interrupt = definition->class == TARE_CLASS_INTERRUPT;

    if (operation == TARE_EXIT && routine->activity == NULL) {
        put_instant(timeline, lane, event, definition, operation,
                    &(struct timeline_item){.kind = TIMELINE_ORPHAN,
                                            .actor = &routine->actor,
                                            .uncertain = timeline->lost.any});
        return;
    }
    if (operation == TARE_EXIT && !interrupt) {
        end_activity(timeline, lane, event->ticks, routine, TIMELINE_NEXT, false);
        return;
    }
    if (operation == TARE_EXIT || routine->entered)
        leave_interrupt(timeline, lane, event->ticks, routine,
                        operation == TARE_EXIT ? TIMELINE_NEXT : TIMELINE_NO_EXIT);
    else
        end_activity(timeline, lane, event->ticks, routine, TIMELINE_AGAIN, true);
    if (operation == TARE_EXIT)
        return;
    if (interrupt) {
        routine->entered = true;
        routine->below = lane->interrupts;
        lane->interrupts = routine;
    }
    begin_activity(timeline, lane, event->ticks, routine, TIMELINE_RUNNING, NULL);
}

static void begin_to_wait(struct kernel_object *task, enum timeline_wait what, uint32_t value,
                          const struct definition *on, struct kernel_object *object)
{
    task->waiting = (struct waiting){what, value, on, object};
    task->woken = false;
}

static void take_queue(struct timeline_builder *timeline, struct lane *lane,
                       const struct event *event, const struct definition *definition,
                       uint32_t operation)
{
    struct kernel_object *object = object_of(timeline, lane, definition, event->ticks, true);

    put_instant(
        timeline, lane, event, definition, operation,
        &(struct timeline_item){.kind = TIMELINE_INSTANT, .actor = actor_of(kernel_context(lane))});
    if (operation == TARE_SEND)
        object->holder = NULL;
    else if (operation >= TARE_SEND_BLOCK && lane->running != NULL)
        begin_to_wait(lane->running,
                      operation == TARE_SEND_BLOCK ? TIMELINE_WAIT_SEND : TIMELINE_WAIT_RECEIVE, 0,
                      definition, object);
}

/* ------------------------------------------------------------------ KERNEL records */

static void set_priority(struct timeline_actor *actor, uint32_t kind, uint32_t value)
{
    switch (kind) {
    case TARE_KERNEL_INHERITS:
        actor->inherited = true;
        break;
    case TARE_KERNEL_DISINHERITS:
        actor->inherited = false;
        break;
    default: /* created, set */
        actor->base_priority = value;
        if (actor->inherited)
            return;
        break;
    }
    if (!actor->priority_known)
        actor->base_priority = value;
    actor->priority_known = true;
    actor->priority = value;
}

static enum timeline_wait wait_of(uint32_t kind)
{
    switch (kind) {
    case TARE_KERNEL_DELAY:
        return TIMELINE_WAIT_DELAY;
    case TARE_KERNEL_DELAY_UNTIL:
        return TIMELINE_WAIT_DELAY_UNTIL;
    case TARE_KERNEL_NOTIFY_BLOCK:
        return TIMELINE_WAIT_NOTIFICATION;
    case TARE_KERNEL_SUSPENDED:
        return TIMELINE_WAIT_SUSPENDED;
    default:
        return TIMELINE_WAIT_NONE;
    }
}

static void take_task_kind(struct timeline_builder *timeline, struct lane *lane,
                           const struct event *event, struct kernel_object *task, uint32_t kind)
{
    uint32_t value = event->argument[1];
    enum timeline_wait wait = wait_of(kind);

    /* Only the running task does this: that tells which one it is. */
    if (lane->running == NULL && task->core == NULL &&
        (kind == TARE_KERNEL_DELAY || kind == TARE_KERNEL_DELAY_UNTIL ||
         kind == TARE_KERNEL_NOTIFY_BLOCK || kind == TARE_KERNEL_NOTIFY_TAKEN))
        run_task(timeline, lane, event->ticks, task);
    if (wait != TIMELINE_WAIT_NONE && task->core != NULL) {
        begin_to_wait(task, wait, value, NULL, NULL);
    } else if (wait == TIMELINE_WAIT_SUSPENDED && !is_shared(task)) {
        end_activity(timeline, lane, event->ticks, task, TIMELINE_NEXT, false);
        begin_to_wait(task, wait, 0, NULL, NULL);
        begin_activity(timeline, lane, event->ticks, task, TIMELINE_BLOCKED,
                       actor_of(kernel_context(lane)));
        task->waiting = (struct waiting){.what = TIMELINE_WAIT_NONE};
    }
    if (kind == TARE_KERNEL_CREATED)
        value &= 0xFFFFFFu;
    if (!is_shared(task) && (kind == TARE_KERNEL_CREATED || kind == TARE_KERNEL_PRIORITY ||
                             kind == TARE_KERNEL_INHERITS || kind == TARE_KERNEL_DISINHERITS))
        set_priority(&task->actor, kind, value);
}

/* The task that now has this id; NULL: not known. */
static const struct timeline_actor *task_with(struct timeline_builder *timeline, struct lane *lane,
                                              uint32_t id)
{
    uint32_t operation;
    const struct definition *definition =
        definitions_object(&lane->stream->session->definitions, id, &operation);

    if (definition == NULL || definition->class != TARE_CLASS_TASK || operation != 0)
        return NULL;
    return &object_of(timeline, lane, definition, 0, false)->actor;
}

static void take_object_kind(struct timeline_builder *timeline, struct lane *lane,
                             const struct event *event, const struct definition *definition,
                             uint32_t kind)
{
    bool created = kind == TARE_KERNEL_CREATED;
    struct timeline_item item = {.kind = TIMELINE_INSTANT, .kernel = (enum tare_kernel)kind};
    struct kernel_object *object;

    object = object_of(timeline, lane, definition, event->ticks, created);
    if (created && !is_shared(object)) {
        delete_object(timeline, lane, event->ticks, object, true);
        object->actor.created = true;
        object->actor.inherited = object->actor.priority_known = false;
    }
    if (kind == TARE_KERNEL_HOLDER) {
        item.holder = task_with(timeline, lane, event->argument[1]);
        object->holder = is_shared(object) ? NULL : item.holder;
    }
    if (definition->class == TARE_CLASS_TASK)
        take_task_kind(timeline, lane, event, object, kind);
    item.by = actor_of(kernel_context(lane));
    item.actor = is_actor(definition) ? &object->actor : item.by;
    put_instant(timeline, lane, event, definition, 0, &item);
    if (kind == TARE_KERNEL_RESET)
        object->holder = NULL;
    if (kind != TARE_KERNEL_DELETED || is_shared(object))
        return;
    if (object->core != NULL)
        object->deleted = true;
    else
        delete_object(timeline, lane, event->ticks, object, false);
}

static void take_kernel(struct timeline_builder *timeline, struct lane *lane,
                        const struct event *event)
{
    const struct definitions *definitions = &lane->stream->session->definitions;
    uint32_t kind = event->argument[0] >> 24, id = event->argument[0] & 0xFFFFu, operation;
    const struct definition *definition = NULL;

    if (kernel_kind_has_object(kind))
        definition =
            id == TARE_ID_OTHER_TASK_RUNS || id == TARE_ID_OTHER_SEND
                ? definitions_object(definitions, id, &operation)
                : definitions_generation(definitions, id, event->argument[0] >> 16 & 0xFFu);
    if (definition != NULL)
        take_object_kind(timeline, lane, event, definition, kind);
    else
        put_instant(timeline, lane, event, NULL, 0,
                    &(struct timeline_item){.kind = TIMELINE_INSTANT,
                                            .kernel = (enum tare_kernel)kind,
                                            .actor = actor_of(kernel_context(lane))});
}

bool kernel_take(struct timeline_builder *timeline, struct lane *lane, const struct event *event)
{
    const struct definition *definition;
    uint32_t operation;

    if (event->id == TARE_ID_KERNEL) {
        take_kernel(timeline, lane, event);
        return true;
    }
    if (event->id > TARE_ID_LAST0)
        return false;
    definition = definitions_object(&lane->stream->session->definitions, event->id, &operation);
    if (definition == NULL)
        return false;
    if (definition->class == TARE_CLASS_TASK)
        take_task(timeline, lane, event, definition, operation);
    else if (is_actor(definition))
        take_routine(timeline, lane, event, definition, operation);
    else
        take_queue(timeline, lane, event, definition, operation);
    return true;
}
