/* Text forms of decoded words: safe for terminals, the same on every machine. */
#ifndef DEC_TEXT_H
#define DEC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_buffer.h"
#include "dec_definition.h"

/* As FORMAT.md section 8 has it: bytes below 0x20, 0x7F and above, `"` and `\` as \xHH. */
void text_append_escaped(struct buffer *out, const char *bytes, size_t size);

/* For people: valid UTF-8 stays, control characters and broken bytes become \xHH. */
void text_append_safe(struct buffer *out, const char *bytes, size_t size);

/* The value of an argument without its unit: "42", "-3", "0x0000002A", "1.5", or the name of an
 * enumeration's value (its number when it has none). NULL stands for an argument without
 * definition, shown in hexadecimal. */
void text_append_value(struct buffer *out, const struct definition_argument *argument,
                       uint32_t word);

/* f32 from its bits. */
float text_float(uint32_t word);

/* Name of an event: its definition's, "unnamed" for the three UNNAMED ids, "kernel" for
 * KERNEL, else "#id" in hexadecimal ("#810"). Safe for terminals. */
void text_append_event_name(struct buffer *out, const struct definition *definition, uint32_t id);

/* "event", "span_begin", "task", "counting semaphore", ...; NULL for a class that this version does
 * not know. */
const char *text_class_name(uint32_t class);

/* What the event of a kernel object says, by class and enum tare_operation: "runs", "send", "block
 * on take", "enter", ...; NULL: there is no such event. */
const char *text_operation_name(uint32_t class, uint32_t operation);

/* Name of a kernel object, safe for terminals; "#012" when it is not known. */
void text_append_object_name(struct buffer *out, const struct definition *object);

#endif
