#include "dec_text.h"

#include <inttypes.h>
#include <string.h>

void text_append_escaped(struct buffer *out, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)bytes[i];

        if (byte < 0x20 || byte >= 0x7F || byte == '"' || byte == '\\')
            buffer_printf(out, "\\x%02X", byte);
        else
            buffer_append(out, bytes + i, 1);
    }
}

/* Length of a well-formed UTF-8 sequence that is no control character; 0: none stands here. */
static size_t printable_length(const unsigned char *text, size_t size)
{
    uint32_t code;
    size_t length;

    if (text[0] < 0x80)
        return text[0] >= 0x20 && text[0] != 0x7F;
    if (text[0] < 0xC2 || text[0] > 0xF4)
        return 0;
    length = text[0] < 0xE0 ? 2 : text[0] < 0xF0 ? 3 : 4;
    if (length > size)
        return 0;
    code = text[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3Fu);
    }
    if ((length == 3 && code < 0x800) || (length == 4 && (code < 0x10000 || code > 0x10FFFF)) ||
        (code >= 0xD800 && code < 0xE000) || code < 0xA0)
        return 0;
    /* Marks that change the direction of the text around them could make a line lie. */
    if ((code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) ||
        code == 0x200E || code == 0x200F || code == 0x2028 || code == 0x2029)
        return 0;
    return length;
}

void text_append_safe(struct buffer *out, const char *bytes, size_t size)
{
    const unsigned char *text = (const unsigned char *)bytes;
    size_t i = 0;

    while (i < size) {
        size_t length = printable_length(text + i, size - i);

        if (length == 0)
            buffer_printf(out, "\\x%02X", text[i++]);
        else
            buffer_append(out, bytes + i, length);
        i += length;
    }
}

float text_float(uint32_t word)
{
    float value;

    memcpy(&value, &word, sizeof value);
    return value;
}

void text_append_value(struct buffer *out, const struct definition_argument *argument,
                       uint32_t word)
{
    if (argument != NULL && word < argument->value_count) {
        const char *value = argument->values[word];

        if (value[0] != 0) {
            text_append_safe(out, value, strlen(value));
            return;
        }
    }
    switch (argument != NULL ? argument->type : ARGUMENT_X32) {
    case ARGUMENT_U32:
        buffer_printf(out, "%" PRIu32, word);
        break;
    case ARGUMENT_I32:
        buffer_printf(out, "%" PRId32, (int32_t)word);
        break;
    case ARGUMENT_X32:
        buffer_printf(out, "0x%08" PRIX32, word);
        break;
    case ARGUMENT_F32:
        /* Nine digits tell any two 32-bit floats apart. */
        buffer_printf(out, "%.9g", (double)text_float(word));
        break;
    }
}

void text_append_event_name(struct buffer *out, const struct definition *definition, uint32_t id)
{
    if (definition != NULL && definition->name[0] != 0)
        text_append_safe(out, definition->name, strlen(definition->name));
    else if (id == TARE_ID_UNNAMED0 || id == TARE_ID_UNNAMED1 || id == TARE_ID_UNNAMED2)
        buffer_text(out, "unnamed");
    else if (id == TARE_ID_KERNEL)
        buffer_text(out, "kernel");
    else
        buffer_printf(out, "#%03" PRIX32, id);
}

const char *text_class_name(uint32_t class)
{
    static const char *const names[] = {
        [TARE_CLASS_EVENT] = "event",         [TARE_CLASS_VALUE] = "value",
        [TARE_CLASS_STATE] = "state",         [TARE_CLASS_SPAN_BEGIN] = "span_begin",
        [TARE_CLASS_SPAN_END] = "span_end",   [TARE_CLASS_STRING] = "string",
        [TARE_CLASS_CATEGORY] = "category",   [TARE_CLASS_STREAM] = "stream",
        [TARE_CLASS_TASK] = "task",           [TARE_CLASS_QUEUE] = "queue",
        [TARE_CLASS_SEMAPHORE] = "semaphore", [TARE_CLASS_COUNTING] = "counting semaphore",
        [TARE_CLASS_MUTEX] = "mutex",         [TARE_CLASS_RECURSIVE] = "recursive mutex",
        [TARE_CLASS_EVENTS] = "event group",  [TARE_CLASS_BUFFER] = "buffer",
        [TARE_CLASS_TIMER] = "timer",         [TARE_CLASS_INTERRUPT] = "interrupt",
    };
    _Static_assert(sizeof names / sizeof *names == TARE_CLASS_COUNT, "every class has a name");

    return class < TARE_CLASS_COUNT ? names[class] : NULL;
}

const char *text_operation_name(uint32_t class, uint32_t operation)
{
    static const char *const of_task[] = {"runs", "ready"};
    static const char *const of_queue[] = {"send", "receive", "block on send", "block on receive"};
    static const char *const of_semaphore[] = {"give", "take", "block on give", "block on take"};
    static const char *const of_bits[] = {"set", "seen", "block on set", "block on wait"};
    static const char *const of_timer[] = {"begin", "end"};
    static const char *const of_interrupt[] = {"enter", "exit"};

    if (operation >= class_ids(class))
        return NULL;
    switch (class) {
    case TARE_CLASS_TASK:
        return of_task[operation];
    case TARE_CLASS_QUEUE:
    case TARE_CLASS_BUFFER:
        return of_queue[operation];
    case TARE_CLASS_SEMAPHORE:
    case TARE_CLASS_COUNTING:
    case TARE_CLASS_MUTEX:
    case TARE_CLASS_RECURSIVE:
        return of_semaphore[operation];
    case TARE_CLASS_EVENTS:
        return of_bits[operation];
    case TARE_CLASS_TIMER:
        return of_timer[operation];
    case TARE_CLASS_INTERRUPT:
        return of_interrupt[operation];
    default:
        return NULL;
    }
}

void text_append_object_name(struct buffer *out, const struct definition *object)
{
    if (object->name[0] != 0)
        text_append_safe(out, object->name, strlen(object->name));
    else
        buffer_printf(out, "#%03" PRIX32, object->id);
}
