/* What the events of a kernel's objects say in words. */
#ifndef CMD_DUMP_KERNEL_H
#define CMD_DUMP_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base_buffer.h"
#include "base_json.h"
#include "dec_input.h"

/* An event of a kernel's object; with `known` false it is none. */
struct kernel_event {
    bool known;
    const struct event *event;
    const struct definitions *definitions;
    const struct definition *object; /* NULL: not known, or none */
    uint32_t operation;              /* enum tare_operation; of a KERNEL record its kind */
    bool rare;                       /* a KERNEL record */
};

/* What the event is at its place in the recording. */
struct kernel_event kernel_event_of(const struct decode_stream *stream, const struct event *event);

/* Whether a task was switched in. */
static inline bool kernel_switches(const struct kernel_event *kernel)
{
    return kernel->object != NULL && !kernel->rare && kernel->object->class == TARE_CLASS_TASK &&
           kernel->operation == TARE_TASK_RUNS;
}

/* The object's name, "#012" when it is not known, "heap" of the two kinds that have none; safe for
 * terminals. */
void kernel_append_object(struct buffer *out, const struct kernel_event *kernel);
/* What happened: "runs", "block on receive", "created", "kind 99". */
void kernel_append_operation(struct buffer *out, const struct kernel_event *kernel);
/* Class of the object, "heap" or "kernel". */
const char *kernel_class(const struct kernel_event *kernel);

/* An argument of a KERNEL record. */
struct kernel_argument {
    const char *name, *unit;
    uint32_t value;
    bool hexadecimal;
    const struct definition *task; /* that the value is the id of; else NULL */
};

/* At most 2. */
uint32_t kernel_arguments(const struct kernel_event *kernel, struct kernel_argument argument[2]);
void kernel_append_value(struct buffer *out, const struct kernel_argument *argument);

/* "priority=3", "size=64 B address=0x20000000" */
void kernel_append_arguments(struct buffer *out, const struct kernel_event *kernel);
/* Members of the event's JSON object. */
void kernel_json(struct json *json, const struct kernel_event *kernel);

#endif
