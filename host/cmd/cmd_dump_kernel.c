#include "cmd_dump_kernel.h"

#include <inttypes.h>
#include <string.h>

#include "dec_text.h"

struct kernel_event kernel_event_of(const struct decode_stream *stream, const struct event *event)
{
    struct kernel_event kernel = {.event = event, .definitions = &stream->session->definitions};
    uint32_t of_object;

    if (event->id == TARE_ID_KERNEL) {
        kernel.known = kernel.rare = true;
        kernel.operation = event->argument[0] >> 24;
        if (kernel_kind_has_object(kernel.operation))
            kernel.object =
                definitions_object(kernel.definitions, event->argument[0] & 0xFFFF, &of_object);
    } else if (event->id <= TARE_ID_LAST0) {
        kernel.object = definitions_object(kernel.definitions, event->id, &kernel.operation);
        kernel.known = kernel.object != NULL;
    }
    return kernel;
}

/* ------------------------------------------------------------------ names */

void kernel_append_object(struct buffer *out, const struct kernel_event *kernel)
{
    if (kernel->object != NULL)
        text_append_object_name(out, kernel->object);
    else if (!kernel_kind_has_object(kernel->operation))
        buffer_text(out, "heap");
    else if ((kernel->event->argument[0] & 0xFFFF) == 0)
        buffer_text(out, "kernel");
    else
        buffer_printf(out, "#%03" PRIX32, kernel->event->argument[0] & 0xFFFF);
}

void kernel_append_operation(struct buffer *out, const struct kernel_event *kernel)
{
    const char *name = kernel->rare ? kernel_kind_name(kernel->operation)
                                    : text_operation_name(kernel->object->class, kernel->operation);

    if (name != NULL)
        buffer_text(out, name);
    else
        buffer_printf(out, "kind %" PRIu32, kernel->operation);
}

const char *kernel_class(const struct kernel_event *kernel)
{
    if (kernel->object != NULL)
        return text_class_name(kernel->object->class);
    return kernel_kind_has_object(kernel->operation) ? "kernel" : "heap";
}

/* ------------------------------------------------------------------ arguments */

/* The value of CREATED has the class in its upper bits. */
static uint32_t created_arguments(uint32_t value, struct kernel_argument *argument)
{
    bool is_task = value >> 24 == TARE_CLASS_TASK;

    *argument = (struct kernel_argument){
        .name = is_task ? "priority" : "length", .unit = "", .value = value & 0xFFFFFF};
    return is_task || argument->value != 0;
}

uint32_t kernel_arguments(const struct kernel_event *kernel, struct kernel_argument argument[2])
{
    uint32_t value = kernel->event->argument[1], operation;

    if (!kernel->rare)
        return 0;
    argument[0] = (struct kernel_argument){.name = kernel_kind_value(kernel->operation),
                                           .unit = kernel_kind_unit(kernel->operation),
                                           .value = value};
    switch (kernel->operation) {
    case TARE_KERNEL_CREATED:
        return created_arguments(value, argument);
    case TARE_KERNEL_HOLDER:
        argument[0].name = "task";
        argument[0].task = definitions_object(kernel->definitions, value, &operation);
        argument[0].hexadecimal = true;
        return 1;
    case TARE_KERNEL_BITS:
        argument[0].hexadecimal = true;
        return 1;
    case TARE_KERNEL_ALLOCATED:
    case TARE_KERNEL_FREED:
        argument[1] = argument[0];
        argument[1].hexadecimal = true;
        argument[0] = (struct kernel_argument){
            .name = "size", .unit = "B", .value = kernel->event->argument[0] & 0xFFFFFF};
        return 2;
    default:
        break;
    }
    if (argument[0].name == NULL) { /* a kind of a later version */
        argument[0].name = "value";
        argument[0].unit = "";
        argument[0].hexadecimal = true;
    }
    return argument[0].name[0] != 0;
}

void kernel_append_value(struct buffer *out, const struct kernel_argument *argument)
{
    if (argument->task != NULL)
        text_append_object_name(out, argument->task);
    else if (argument->hexadecimal)
        buffer_printf(out, "0x%08" PRIX32, argument->value);
    else
        buffer_printf(out, "%" PRIu32, argument->value);
}

void kernel_append_arguments(struct buffer *out, const struct kernel_event *kernel)
{
    struct kernel_argument argument[2];
    uint32_t count = kernel_arguments(kernel, argument);

    for (uint32_t i = 0; i < count; i++) {
        buffer_printf(out, "%s%s=", i == 0 ? "" : " ", argument[i].name);
        kernel_append_value(out, &argument[i]);
        if (argument[i].unit[0] != 0)
            buffer_printf(out, " %s", argument[i].unit);
    }
}

void kernel_json(struct json *json, const struct kernel_event *kernel)
{
    const struct definition *object = kernel->object;
    struct kernel_argument argument[2];
    uint32_t count = kernel_arguments(kernel, argument);
    struct buffer name = {0}, operation = {0};

    kernel_append_object(&name, kernel);
    kernel_append_operation(&operation, kernel);
    json_put_text(json, "name", object != NULL && object->name[0] != 0 ? object->name : name.data);
    json_put_text(json, "class", kernel_class(kernel));
    json_put_text(json, "operation", operation.data);
    if (object != NULL) {
        json_put_unsigned(json, "object_id", object->id);
        json_put_unsigned(json, "generation", object->generation);
    } else if (kernel_kind_has_object(kernel->operation)) {
        json_put_unsigned(json, "object_id", kernel->event->argument[0] & 0xFFFF);
        json_put_unsigned(json, "generation", kernel->event->argument[0] >> 16 & 0xFF);
    }
    json_put_array(json, "arguments");
    for (uint32_t i = 0; i < count; i++) {
        json_put_object(json, NULL);
        json_put_text(json, "name", argument[i].name);
        json_put_unsigned(json, "value", argument[i].value);
        if (argument[i].task != NULL)
            json_put_text(json, "value_name", argument[i].task->name);
        json_put_text(json, "unit", argument[i].unit);
        json_end_object(json);
    }
    json_end_array(json);
    buffer_free(&name);
    buffer_free(&operation);
}
