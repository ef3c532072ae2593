#include "exp_perfetto_writer.h"

#include <string.h>

#include "dec_text.h"
#include "exp_protobuf.h"

#define SEQUENCE 1u

static struct buffer *out(struct perfetto_writer *writer)
{
    return &writer->output->buffer;
}

static void packet_begin(struct perfetto_writer *writer)
{
    writer->packet = protobuf_begin(out(writer), TRACE_PACKET);
    protobuf_unsigned(out(writer), PACKET_SEQUENCE_ID, SEQUENCE);
}

static void packet_end(struct perfetto_writer *writer)
{
    if (writer->fresh.size > 0)
        protobuf_bytes(out(writer), PACKET_INTERNED_DATA, writer->fresh.data, writer->fresh.size);
    buffer_clear(&writer->fresh);
    protobuf_end(out(writer), writer->packet);
}

/* Names come from the recording; the format wants UTF-8. Valid until the next call. */
static const struct buffer *safe(struct perfetto_writer *writer, const char *bytes, size_t size)
{
    buffer_clear(&writer->scratch);
    text_append_safe(&writer->scratch, bytes, size);
    if (writer->scratch.data == NULL)
        buffer_text(&writer->scratch, "");
    return &writer->scratch;
}

static void put_text(struct perfetto_writer *writer, uint32_t field, const char *text)
{
    const struct buffer *clean = safe(writer, text, strlen(text));

    protobuf_bytes(out(writer), field, clean->data, clean->size);
}

/* The number of the text in its table; a new one is described in the packet that is open. */
static uint32_t number_of(struct perfetto_writer *writer, struct export_table *table,
                          uint32_t interned_field, const char *text)
{
    const struct buffer *clean = safe(writer, text, strlen(text));
    bool is_new;
    uint32_t number = export_table_number(table, clean->data, clean->size, &is_new);

    if (is_new) {
        size_t entry = protobuf_begin(&writer->fresh, interned_field);

        protobuf_unsigned(&writer->fresh, ENTRY_NUMBER, number);
        protobuf_bytes(&writer->fresh, ENTRY_TEXT, clean->data, clean->size);
        protobuf_end(&writer->fresh, entry);
    }
    return number;
}

void perfetto_begin(struct perfetto_writer *writer, struct export_output *output)
{
    size_t defaults;

    *writer = (struct perfetto_writer){.output = output};
    packet_begin(writer);
    protobuf_unsigned(out(writer), PACKET_SEQUENCE_FLAGS, SEQUENCE_STATE_CLEARED);
    protobuf_unsigned(out(writer), PACKET_FIRST_ON_SEQUENCE, 1);
    defaults = protobuf_begin(out(writer), PACKET_DEFAULTS);
    protobuf_unsigned(out(writer), DEFAULTS_TIMESTAMP_CLOCK_ID, SNAPSHOT_MONOTONIC);
    protobuf_end(out(writer), defaults);
    packet_end(writer);
}

void perfetto_free(struct perfetto_writer *writer)
{
    export_table_free(&writer->categories);
    export_table_free(&writer->names);
    export_table_free(&writer->annotation_names);
    export_table_free(&writer->annotation_texts);
    buffer_free(&writer->fresh);
    buffer_free(&writer->scratch);
}

static void put_clock(struct perfetto_writer *writer, enum perfetto_clock clock, uint64_t ns)
{
    size_t message = protobuf_begin(out(writer), SNAPSHOT_CLOCKS);

    protobuf_unsigned(out(writer), SNAPSHOT_CLOCK_ID, clock);
    protobuf_unsigned(out(writer), SNAPSHOT_CLOCK_TIME, ns);
    protobuf_end(out(writer), message);
}

void perfetto_clock_snapshot(struct perfetto_writer *writer, uint64_t monotonic_ns,
                             uint64_t realtime_ns)
{
    size_t snapshot;

    packet_begin(writer);
    protobuf_unsigned(out(writer), PACKET_TIMESTAMP, monotonic_ns);
    protobuf_unsigned(out(writer), PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
    snapshot = protobuf_begin(out(writer), PACKET_CLOCK_SNAPSHOT);
    put_clock(writer, SNAPSHOT_MONOTONIC, monotonic_ns);
    if (realtime_ns != 0)
        put_clock(writer, SNAPSHOT_REALTIME, realtime_ns);
    protobuf_unsigned(out(writer), SNAPSHOT_PRIMARY_CLOCK, SNAPSHOT_MONOTONIC);
    protobuf_end(out(writer), snapshot);
    packet_end(writer);
}

/* ------------------------------------------------------------------ tracks */

static size_t track_begin(struct perfetto_writer *writer, uint64_t uuid, uint64_t parent)
{
    size_t track;

    packet_begin(writer);
    track = protobuf_begin(out(writer), PACKET_TRACK_DESCRIPTOR);
    protobuf_unsigned(out(writer), TRACK_UUID, uuid);
    if (parent != 0)
        protobuf_unsigned(out(writer), TRACK_PARENT_UUID, parent);
    return track;
}

static void track_end(struct perfetto_writer *writer, size_t track)
{
    protobuf_end(out(writer), track);
    packet_end(writer);
}

void perfetto_process_track(struct perfetto_writer *writer, uint64_t uuid, uint32_t process,
                            const char *name, const char *const *command, uint32_t command_count)
{
    size_t track = track_begin(writer, uuid, 0);
    size_t message = protobuf_begin(out(writer), TRACK_PROCESS);

    protobuf_signed(out(writer), PROCESS_ID, (int32_t)process);
    for (uint32_t i = 0; i < command_count; i++)
        put_text(writer, PROCESS_COMMAND_LINE, command[i]);
    put_text(writer, PROCESS_NAME, name);
    protobuf_end(out(writer), message);
    track_end(writer, track);
}

void perfetto_thread_track(struct perfetto_writer *writer, uint64_t uuid, uint64_t parent,
                           uint32_t process, uint32_t thread, const char *name)
{
    size_t track = track_begin(writer, uuid, parent);
    size_t message = protobuf_begin(out(writer), TRACK_THREAD);

    protobuf_signed(out(writer), THREAD_PROCESS_ID, (int32_t)process);
    protobuf_signed(out(writer), THREAD_ID, (int32_t)thread);
    put_text(writer, THREAD_NAME, name);
    protobuf_end(out(writer), message);
    track_end(writer, track);
}

void perfetto_track(struct perfetto_writer *writer, uint64_t uuid, uint64_t parent,
                    const char *name)
{
    size_t track = track_begin(writer, uuid, parent);

    put_text(writer, TRACK_NAME, name);
    track_end(writer, track);
}

void perfetto_counter_track(struct perfetto_writer *writer, uint64_t uuid, uint64_t parent,
                            const char *name, const char *unit)
{
    size_t track = track_begin(writer, uuid, parent), message;
    struct buffer full = {0};

    buffer_text(&full, name);
    if (*unit != 0)
        buffer_printf(&full, " (%s)", unit);
    put_text(writer, TRACK_NAME, full.data);
    buffer_free(&full);
    message = protobuf_begin(out(writer), TRACK_COUNTER);
    if (strcmp(unit, "ns") == 0)
        protobuf_unsigned(out(writer), COUNTER_UNIT, UNIT_NANOSECONDS);
    else if (strcmp(unit, "B") == 0)
        protobuf_unsigned(out(writer), COUNTER_UNIT, UNIT_BYTES);
    else if (*unit != 0)
        put_text(writer, COUNTER_UNIT_NAME, unit);
    protobuf_end(out(writer), message);
    track_end(writer, track);
}

/* ------------------------------------------------------------------ events */

void perfetto_event_begin(struct perfetto_writer *writer, enum perfetto_event_type type,
                          uint64_t uuid, uint64_t ns)
{
    packet_begin(writer);
    protobuf_unsigned(out(writer), PACKET_TIMESTAMP, ns);
    protobuf_unsigned(out(writer), PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
    writer->event = protobuf_begin(out(writer), PACKET_TRACK_EVENT);
    protobuf_unsigned(out(writer), EVENT_TYPE, type);
    protobuf_unsigned(out(writer), EVENT_TRACK_UUID, uuid);
}

void perfetto_event_end(struct perfetto_writer *writer)
{
    protobuf_end(out(writer), writer->event);
    packet_end(writer);
    export_output_step(writer->output);
}

void perfetto_name(struct perfetto_writer *writer, const char *name)
{
    protobuf_unsigned(out(writer), EVENT_NAME_NUMBER,
                      number_of(writer, &writer->names, INTERNED_EVENT_NAMES, name));
}

void perfetto_category(struct perfetto_writer *writer, const char *name)
{
    protobuf_unsigned(out(writer), EVENT_CATEGORY_NUMBERS,
                      number_of(writer, &writer->categories, INTERNED_CATEGORIES, name));
}

static double double_of(uint32_t word)
{
    return (double)text_float(word);
}

void perfetto_counter_value(struct perfetto_writer *writer, enum argument_type type, uint32_t word)
{
    if (type == ARGUMENT_F32)
        protobuf_double(out(writer), EVENT_COUNTER_DOUBLE, double_of(word));
    else
        protobuf_signed(out(writer), EVENT_COUNTER_VALUE,
                        type == ARGUMENT_I32 ? (int32_t)word : (int64_t)word);
}

static size_t note_begin(struct perfetto_writer *writer, const char *name)
{
    uint32_t number = number_of(writer, &writer->annotation_names, INTERNED_ANNOTATION_NAMES, name);
    size_t note = protobuf_begin(out(writer), EVENT_ANNOTATIONS);

    protobuf_unsigned(out(writer), ANNOTATION_NAME_NUMBER, number);
    return note;
}

static void put_word(struct perfetto_writer *writer, const char *word)
{
    protobuf_unsigned(
        out(writer), ANNOTATION_TEXT_NUMBER,
        number_of(writer, &writer->annotation_texts, INTERNED_ANNOTATION_TEXTS, word));
}

void perfetto_argument(struct perfetto_writer *writer, const struct definition_argument *argument,
                       const char *name, uint32_t word)
{
    struct buffer full = {0};
    size_t note;

    buffer_text(&full, argument != NULL ? argument->name : name);
    if (argument != NULL && *argument->unit != 0)
        buffer_printf(&full, " (%s)", argument->unit);
    note = note_begin(writer, full.data);
    buffer_free(&full);
    if (argument == NULL || argument->type == ARGUMENT_X32)
        protobuf_unsigned(out(writer), ANNOTATION_POINTER, word);
    else if (word < argument->value_count)
        put_word(writer, argument->values[word]);
    else if (argument->type == ARGUMENT_F32)
        protobuf_double(out(writer), ANNOTATION_DOUBLE, double_of(word));
    else if (argument->type == ARGUMENT_I32)
        protobuf_signed(out(writer), ANNOTATION_SIGNED, (int32_t)word);
    else
        protobuf_unsigned(out(writer), ANNOTATION_UNSIGNED, word);
    protobuf_end(out(writer), note);
}

void perfetto_note_unsigned(struct perfetto_writer *writer, const char *name, uint64_t value)
{
    size_t note = note_begin(writer, name);

    protobuf_unsigned(out(writer), ANNOTATION_UNSIGNED, value);
    protobuf_end(out(writer), note);
}

void perfetto_note_true(struct perfetto_writer *writer, const char *name)
{
    size_t note = note_begin(writer, name);

    protobuf_unsigned(out(writer), ANNOTATION_BOOL, 1);
    protobuf_end(out(writer), note);
}

void perfetto_note_text(struct perfetto_writer *writer, const char *name, const char *bytes,
                        size_t size)
{
    size_t note = note_begin(writer, name);
    const struct buffer *clean = safe(writer, bytes, size);

    protobuf_bytes(out(writer), ANNOTATION_TEXT, clean->data, clean->size);
    protobuf_end(out(writer), note);
}

void perfetto_note_word(struct perfetto_writer *writer, const char *name, const char *word)
{
    size_t note = note_begin(writer, name);

    put_word(writer, word);
    protobuf_end(out(writer), note);
}
