#include <inttypes.h>
#include <string.h>

#include "dec_text.h"
#include "mod_timeline.h"

const char *timeline_loss_name(enum timeline_loss loss)
{
    static const char *const names[] = {[TIMELINE_DROPPED] = "dropped",
                                        [TIMELINE_SUPPRESSED] = "suppressed",
                                        [TIMELINE_GAP] = "gap",
                                        [TIMELINE_DISORDER] = "disorder",
                                        [TIMELINE_DAMAGE] = "damage",
                                        [TIMELINE_BACKWARDS] = "clock backwards",
                                        [TIMELINE_UNVERIFIED] = "unverified"};

    return names[loss];
}

const char *timeline_cause_text(enum timeline_cause cause)
{
    static const char *const texts[] = {[TIMELINE_NEXT] = "ended",
                                        [TIMELINE_AGAIN] = "began again without an end",
                                        [TIMELINE_CUT] = "cut by a loss",
                                        [TIMELINE_CLOSED] = "the recording of this thread ended",
                                        [TIMELINE_LEFT_OPEN] = "open when the recording ended",
                                        [TIMELINE_FORGOTTEN] = "too many spans were open",
                                        [TIMELINE_DELETED] = "deleted",
                                        [TIMELINE_NO_EXIT] = "its exit was not recorded",
                                        [TIMELINE_SWITCHED] = "a task was switched in"};

    return texts[cause];
}

const char *timeline_activity_name(enum timeline_activity activity)
{
    static const char *const names[] = {[TIMELINE_PROGRAM] = "",
                                        [TIMELINE_RUNNING] = "running",
                                        [TIMELINE_READY] = "ready",
                                        [TIMELINE_PREEMPTED] = "preempted",
                                        [TIMELINE_BLOCKED] = "blocked"};

    return names[activity];
}

void timeline_append_object(struct buffer *out, const struct definition *object)
{
    const char *class = text_class_name(object->class);

    if (object->name[0] != 0)
        text_append_safe(out, object->name, strlen(object->name));
    else
        buffer_printf(out, "%s #%03" PRIX32, class != NULL ? class : "object", object->id);
}

static void append_kernel(struct buffer *out, const struct timeline_item *item)
{
    const char *kind = kernel_kind_name(item->kernel);

    if (item->object != NULL) {
        timeline_append_object(out, item->object);
        buffer_text(out, ": ");
    } else if (kernel_kind_has_object(item->kernel)) {
        buffer_printf(out, "#%03" PRIX32 ": ", item->argument[0] & 0xFFFFu);
    }
    if (kind != NULL)
        buffer_text(out, kind);
    else
        buffer_printf(out, "kind %u", (unsigned)item->kernel);
}

void timeline_append_event(struct buffer *out, const struct timeline_item *item)
{
    if (item->id == TARE_ID_KERNEL) {
        append_kernel(out, item);
    } else if (item->object != NULL) {
        timeline_append_object(out, item->object);
        buffer_printf(out, ": %s", text_operation_name(item->object->class, item->operation));
    } else {
        text_append_event_name(out, item->definition, item->id);
    }
}

static void append_wait(struct buffer *out, const struct timeline_item *item)
{
    static const char *const words[] = {
        [TIMELINE_WAIT_NONE] = "",
        [TIMELINE_WAIT_SEND] = "send",
        [TIMELINE_WAIT_RECEIVE] = "receive",
        [TIMELINE_WAIT_DELAY] = "delay",
        [TIMELINE_WAIT_DELAY_UNTIL] = "delay until",
        [TIMELINE_WAIT_NOTIFICATION] = "notification",
        [TIMELINE_WAIT_SUSPENDED] = "suspended",
    };

    if (item->object == NULL) {
        buffer_text(out, words[item->wait]);
        return;
    }
    buffer_printf(out, "%s ",
                  item->object->class == TARE_CLASS_EVENTS
                      ? "bits"
                      : text_operation_name(item->object->class, item->wait == TIMELINE_WAIT_SEND
                                                                     ? TARE_SEND
                                                                     : TARE_RECEIVE));
    timeline_append_object(out, item->object);
}

void timeline_append_state(struct buffer *out, const struct timeline_item *item)
{
    buffer_text(out, timeline_activity_name(item->activity));
    if (item->activity == TIMELINE_BLOCKED) {
        buffer_text(out, ": ");
        append_wait(out, item);
    }
    if (item->activity != TIMELINE_PROGRAM)
        return;
    if (item->definition->argument_count > 0)
        text_append_value(out, &item->definition->argument[0], item->argument[0]);
    else
        buffer_printf(out, "%" PRIu32, item->argument[0]);
}

/* What the creation of an object of this class tells besides. */
static const char *created_value(uint32_t class)
{
    switch (class) {
    case TARE_CLASS_TASK:
        return "priority";
    case TARE_CLASS_QUEUE:
    case TARE_CLASS_COUNTING:
    case TARE_CLASS_BUFFER:
        return "length";
    default:
        return NULL;
    }
}

const char *timeline_kernel_value(const struct timeline_item *item, const char **unit,
                                  uint32_t *value)
{
    const char *name = item->id == TARE_ID_KERNEL ? kernel_kind_value(item->kernel) : NULL;

    if (name == NULL || *name == 0)
        return NULL;
    if (item->kernel == TARE_KERNEL_CREATED)
        name = created_value(item->argument[1] >> 24);
    *unit = kernel_kind_unit(item->kernel);
    *value =
        item->kernel == TARE_KERNEL_CREATED ? item->argument[1] & 0xFFFFFFu : item->argument[1];
    return name;
}
