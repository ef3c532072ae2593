#include "cmd_dump_lines.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base_json.h"
#include "dec_text.h"

#define WIDTH_MOST 28

bool dump_shows_note(const struct note *note)
{
    switch (note->kind) {
    case NOTE_LOSS:
    case NOTE_GAP:
    case NOTE_FAULT:
    case NOTE_SKIPPED:
    case NOTE_UNVERIFIED:
    case NOTE_END:
        return true;
    case NOTE_TEXT: /* else it stands with its event */
        return note->text.event == NOTE_NO_EVENT;
    default:
        return false;
    }
}

const char *dump_note_kind(const struct note *note)
{
    switch (note->kind) {
    case NOTE_LOSS:
        return "loss";
    case NOTE_GAP:
        return "gap";
    case NOTE_FAULT:
        return "fault";
    case NOTE_SKIPPED:
        return "skipped";
    case NOTE_UNVERIFIED:
        return "unverified";
    case NOTE_TEXT:
        return "text";
    default:
        return "end";
    }
}

/* Characters on a terminal, near enough: UTF-8 sequences count once. */
static int width_of(const char *text)
{
    int width = 0;

    for (; *text != 0; text++)
        width += (*text & 0xC0) != 0x80;
    return width;
}

static void widen(int *width, const char *text)
{
    int needed = width_of(text);

    if (needed > *width)
        *width = needed < WIDTH_MOST ? needed : WIDTH_MOST;
}

/* Of a kernel object: as long as the events with arguments are. */
static void append_object_name(struct buffer *out, const struct definition *definition)
{
    text_append_object_name(out, definition);
    buffer_text(out, " priority");
}

static void append_event_name(struct buffer *out, const struct definition *definition, uint32_t id)
{
    text_append_event_name(out, definition, id);
    if (definition != NULL && definition->class == TARE_CLASS_SPAN_BEGIN)
        buffer_text(out, " begin");
    if (definition != NULL && definition->class == TARE_CLASS_SPAN_END)
        buffer_text(out, " end");
}

void dump_measure(struct dump_lines *lines, const struct decode_directory *directory)
{
    struct buffer name = {0};

    lines->thread_width = 6;
    lines->event_width = 5;
    for (size_t i = 0; i < directory->stream_count; i++) {
        const struct decode_stream *stream = directory->streams[i];

        if (stream->last_ring != NULL && stream->last_ring->kind == TARE_RING_DEFINITIONS)
            continue;
        buffer_clear(&name);
        stream_append_name(&name, stream);
        widen(&lines->thread_width, name.data);
    }
    for (size_t i = 0; i < directory->session_count; i++) {
        const struct definitions *definitions = &directory->sessions[i]->definitions;

        for (uint32_t k = 0; k < definitions->count; k++) {
            const struct definition *definition = definitions->list[k];

            buffer_clear(&name);
            if (definition->class == TARE_CLASS_TASK) {
                text_append_object_name(&name, definition);
                widen(&lines->thread_width, name.data);
                widen(&lines->thread_width, "other tasks"); /* whose names are never known */
                buffer_clear(&name);
            }
            if (definition_group(definition->class) == DEFINITION_EVENT)
                append_event_name(&name, definition, definition->id);
            else if (definition_group(definition->class) == DEFINITION_OBJECT)
                append_object_name(&name, definition);
            else
                continue;
            widen(&lines->event_width, name.data);
        }
    }
    buffer_free(&name);
}

/* ------------------------------------------------------------------ times */

/* Right-aligned in at least `width` characters. By hand: one in every line, and printf is slow. */
static void append_digits(struct buffer *out, uint64_t value, unsigned decimals, bool negative,
                          int width)
{
    char text[40];
    char *at = text + sizeof text;
    unsigned digits = 0;

    do {
        if (decimals > 0 && digits == decimals)
            *--at = '.';
        *--at = (char)('0' + value % 10);
        value /= 10;
        digits++;
    } while (value > 0 || digits <= decimals);
    if (negative)
        *--at = '-';
    while (text + sizeof text - at < width)
        *--at = ' ';
    buffer_append(out, at, (size_t)(text + sizeof text - at));
}

static void append_seconds(struct buffer *out, int64_t ns, int width)
{
    append_digits(out, ns < 0 ? -(uint64_t)ns : (uint64_t)ns, 9, ns < 0, width);
}

static void append_time_wide(struct buffer *out, const struct session_scale *scale, uint64_t ticks,
                             int width)
{
    if (scale->source == CLOCK_UNKNOWN)
        append_digits(out, ticks, 0, false, width);
    else
        append_seconds(out, scale_ns(scale, ticks), width);
}

static void append_time(struct buffer *out, const struct session_scale *scale, uint64_t ticks)
{
    append_time_wide(out, scale, ticks, 0);
}

static const char *time_unit(const struct session_scale *scale)
{
    return scale->source == CLOCK_UNKNOWN ? "ticks" : "s";
}

static void append_duration(struct buffer *out, const struct session_scale *scale, uint64_t ticks)
{
    int64_t ns = scale_span_ns(scale, ticks);

    if (scale->source == CLOCK_UNKNOWN)
        buffer_printf(out, "%" PRIu64 " ticks", ticks);
    else if (ns < 10000)
        buffer_printf(out, "%" PRId64 " ns", ns);
    else if (ns < 10000000)
        buffer_printf(out, "%.1f us", (double)ns / 1e3);
    else if (ns < INT64_C(10000000000))
        buffer_printf(out, "%.1f ms", (double)ns / 1e6);
    else
        buffer_printf(out, "%.1f s", (double)ns / 1e9);
}

static uint64_t ticks_of(const struct dump_item *item)
{
    return item->event != NULL ? item->event->ticks : item->note->ticks;
}

/* Argument words of a note or event that has a definition or not. */
static uint32_t argument_words(const struct event *event)
{
    return TARE_RECORD_WORDS(event->id) - 1;
}

static const struct definition_argument *argument_of(const struct dump_item *item, uint32_t i)
{
    return item->definition != NULL && i < item->definition->argument_count
               ? &item->definition->argument[i]
               : NULL;
}

/* In quotation marks, so that the end of the text is certain. */
static void append_quoted(struct buffer *out, const char *text, size_t size)
{
    size_t plain = 0;

    buffer_text(out, "\"");
    for (size_t i = 0; i <= size; i++) {
        if (i < size && text[i] != '"' && text[i] != '\\')
            continue;
        text_append_safe(out, text + plain, i - plain);
        if (i < size)
            buffer_printf(out, "\\%c", text[i]);
        plain = i + 1;
    }
    buffer_text(out, "\"");
}

/* ------------------------------------------------------------------ notes for people */

static void append_loss(struct buffer *out, const struct dump_item *item)
{
    const struct note *note = item->note;

    buffer_printf(out, "%" PRIu32 " event%s %s", note->loss.count, note->loss.count == 1 ? "" : "s",
                  note->loss.suppressed ? "suppressed" : "dropped");
    if (note->loss.first_known) {
        buffer_text(out, ", first at ");
        append_time(out, item->scale, note->loss.first);
        buffer_printf(out, " %s", time_unit(item->scale));
        if (note->loss.count > 1) {
            buffer_text(out, note->loss.span == UINT32_MAX ? ", last at least " : ", last ");
            append_duration(out, item->scale, note->loss.span);
            buffer_text(out, " later");
        }
    }
    buffer_text(out, note->loss.suppressed ? " (came from inside the recorder, or had no ring)"
                                           : " (the ring had no room)");
    if (note->loss.pending)
        buffer_text(out, "; the last thing known of this stream");
}

static void append_gap(struct buffer *out, const struct dump_item *item)
{
    const struct note *note = item->note;

    if (note->gap.before && stream_is_overwritten(item->run->stream)) {
        buffer_printf(out, "%" PRIu32 " words before this were overwritten by newer ones",
                      note->gap.words);
        return;
    }
    buffer_printf(out, "%" PRIu32 " words were not read", note->gap.words);
    if (note->gap.before) {
        buffer_text(out, " before this: the reader came late, or the beginning is lost");
        return;
    }
    buffer_printf(out, ": between %" PRIu32 " and %" PRIu32 " events are missing, from ",
                  (note->gap.words + 2) / 3, note->gap.words);
    append_time(out, item->scale, note->gap.from_ticks);
    buffer_printf(out, " %s on", time_unit(item->scale));
}

static void append_note_text(struct buffer *out, const struct dump_item *item)
{
    const struct note *note = item->note;

    switch (note->kind) {
    case NOTE_LOSS:
        append_loss(out, item);
        break;
    case NOTE_GAP:
        append_gap(out, item);
        break;
    case NOTE_FAULT:
        buffer_printf(out, "%s: %s, at word %" PRIu64 " of the stream",
                      stream_fault_name(note->fault.fault), stream_fault_text(note->fault.fault),
                      note->index);
        if (note->fault.fault == STREAM_FAULT_CLOCK_BACKWARDS) {
            buffer_text(out, ", by ");
            append_duration(out, item->scale, note->fault.back_ticks);
        }
        break;
    case NOTE_SKIPPED:
        buffer_printf(out, "%" PRIu64 " damaged bytes were passed over", note->bytes);
        break;
    case NOTE_UNVERIFIED:
        buffer_printf(out, "the block at word %" PRIu64 " is salvaged: no hash vouches for it",
                      note->index);
        break;
    case NOTE_TEXT:
        buffer_text(out, "text of an earlier event: ");
        append_quoted(out, batch_text(item->run->batch, note), note->text.size);
        buffer_text(out, note->text.cut ? " (cut)" : "");
        break;
    default:
        buffer_text(out, "end: the recording of this stream was ended in order");
        break;
    }
}

/* ------------------------------------------------------------------ text */

/* Pads what was appended since `start` to a width. */
static void pad_to(struct buffer *out, size_t start, int width)
{
    for (int have = width_of(out->data + start); have < width; have++)
        buffer_append(out, " ", 1);
}

static void text_arguments(struct buffer *out, const struct dump_item *item)
{
    for (uint32_t i = 0; i < argument_words(item->event); i++) {
        const struct definition_argument *argument = argument_of(item, i);

        buffer_text(out, i == 0 ? "" : " ");
        if (argument != NULL && argument->name[0] != 0) {
            text_append_safe(out, argument->name, strlen(argument->name));
            buffer_text(out, "=");
        }
        text_append_value(out, argument, item->event->argument[i]);
        if (argument != NULL && argument->unit[0] != 0) {
            buffer_text(out, " ");
            text_append_safe(out, argument->unit, strlen(argument->unit));
        }
    }
    if (item->text != NULL) {
        buffer_text(out, " ");
        append_quoted(out, batch_text(item->run->batch, item->text), item->text->text.size);
        buffer_text(out, item->text->text.cut ? " (cut)" : "");
    }
}

/* An event of a kernel's object. */
static void text_kernel(struct dump_lines *lines, const struct dump_item *item)
{
    struct buffer *out = &lines->out;
    struct kernel_argument argument[2];
    size_t start = out->size;

    kernel_append_object(out, &item->kernel);
    buffer_text(out, " ");
    kernel_append_operation(out, &item->kernel);
    if (kernel_arguments(&item->kernel, argument) > 0) {
        pad_to(out, start, lines->event_width);
        buffer_text(out, "  ");
        kernel_append_arguments(out, &item->kernel);
    }
}

static void text_item(struct dump_lines *lines, const struct dump_item *item)
{
    struct buffer *out = &lines->out;
    size_t start;

    append_time_wide(out, item->scale, ticks_of(item), 14);
    buffer_text(out, "  ");
    start = out->size;
    buffer_text(out, item->task != NULL ? item->task : item->thread);
    pad_to(out, start, lines->thread_width);
    if (item->event == NULL) {
        buffer_text(out, item->note->kind == NOTE_END || item->note->kind == NOTE_TEXT ? "  -- "
                                                                                       : "  !! ");
        append_note_text(out, item);
    } else if (item->kernel.known) {
        buffer_text(out, "  ");
        text_kernel(lines, item);
    } else {
        buffer_text(out, "  ");
        start = out->size;
        append_event_name(out, item->definition, item->event->id);
        if (argument_words(item->event) > 0 || item->text != NULL) {
            pad_to(out, start, lines->event_width);
            buffer_text(out, "  ");
            text_arguments(out, item);
        }
    }
    buffer_text(out, "\n");
}

static void text_session(struct dump_lines *lines, const struct decode_session *session,
                         const struct session_scale *scale)
{
    struct buffer *out = &lines->out;
    time_t seconds = (time_t)(scale->origin_realtime_ns / UINT64_C(1000000000));
    char date[40];
    struct tm parts;
    size_t start;

    buffer_printf(out, "# session %08" PRIX32, session->number);
    if (scale->realtime_known && gmtime_r(&seconds, &parts) != NULL &&
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &parts) > 0)
        buffer_printf(out, ", time 0 is %s.%06" PRIu64 " UTC", date,
                      scale->origin_realtime_ns / 1000 % 1000000);
    buffer_text(out, "\n");
    if (scale->source == CLOCK_UNKNOWN)
        buffer_text(out, "# times are ticks: this recording does not say how long a tick is\n");
    buffer_printf(out, "#%13s  ", scale->source == CLOCK_UNKNOWN ? "time, ticks" : "time, s");
    start = out->size;
    buffer_text(out, "thread");
    pad_to(out, start, lines->thread_width);
    buffer_text(out, "  ");
    start = out->size;
    buffer_text(out, "event");
    pad_to(out, start, lines->event_width);
    buffer_text(out, "  arguments\n");
}

static void append_finding(struct buffer *out, const struct file_finding *finding)
{
    if (finding->kind == FINDING_SKIPPED)
        buffer_printf(out, "%" PRIu64 " bytes before offset %" PRIu64 " belong to no stream",
                      finding->bytes, finding->offset);
    else
        buffer_printf(out, "%s: %s, %" PRIu64 " bytes at offset %" PRIu64,
                      file_fault_name(finding->fault), file_fault_text(finding->fault),
                      finding->bytes, finding->offset);
}

static void text_tail(struct dump_lines *lines, const struct container_facts *facts)
{
    for (size_t i = 0; i < facts->finding_count; i++) {
        buffer_text(&lines->out, "!! file: ");
        append_finding(&lines->out, &facts->findings[i]);
        buffer_text(&lines->out, "\n");
    }
}

/* ------------------------------------------------------------------ JSON lines */

static void json_time(struct json *json, const char *name, const struct session_scale *scale,
                      uint64_t ticks)
{
    struct buffer key = {0};

    buffer_printf(&key, "%s_ns", name);
    if (scale->source == CLOCK_UNKNOWN)
        json_put_null(json, key.data);
    else
        json_put_integer(json, key.data, scale_ns(scale, ticks));
    buffer_clear(&key);
    buffer_printf(&key, "%s_ticks", name);
    json_put_unsigned(json, key.data, ticks);
    buffer_free(&key);
}

static void json_text(struct json *json, const char *key, const struct dump_item *item,
                      const struct note *text)
{
    const char *bytes = batch_text(item->run->batch, text);
    struct buffer whole = {0};

    /* A zero byte would end the text. */
    for (size_t i = 0; i < text->text.size; i++)
        buffer_append(&whole, bytes[i] != 0 ? bytes + i : "\xEF\xBF\xBD", bytes[i] != 0 ? 1 : 3);
    json_put_text(json, key, whole.size > 0 ? whole.data : "");
    buffer_free(&whole);
    if (text->text.cut)
        json_put_bool(json, "text_cut", true);
}

static void json_value(struct json *json, const struct definition_argument *argument, uint32_t word)
{
    if (argument != NULL && argument->type == ARGUMENT_I32)
        json_put_integer(json, "value", (int32_t)word);
    else if (argument != NULL && argument->type == ARGUMENT_F32)
        json_put_number(json, "value", (double)text_float(word));
    else
        json_put_unsigned(json, "value", word);
    if (argument != NULL && word < argument->value_count)
        json_put_text(json, "value_name", argument->values[word]);
}

static void json_event(struct json *json, const struct dump_item *item)
{
    const struct definition *definition = item->definition;
    struct buffer name = {0};

    json_put_unsigned(json, "id", item->event->id);
    if (item->kernel.known) {
        kernel_json(json, &item->kernel);
        return;
    }
    text_append_event_name(&name, definition, item->event->id);
    json_put_text(json, "name",
                  definition != NULL && definition->name[0] != 0 ? definition->name : name.data);
    buffer_free(&name);
    json_put_text(json, "class", definition != NULL ? text_class_name(definition->class) : NULL);
    json_put_array(json, "arguments");
    for (uint32_t i = 0; i < argument_words(item->event); i++) {
        const struct definition_argument *argument = argument_of(item, i);

        json_put_object(json, NULL);
        json_put_text(json, "name", argument != NULL ? argument->name : NULL);
        json_value(json, argument, item->event->argument[i]);
        json_put_text(json, "unit", argument != NULL ? argument->unit : NULL);
        json_end_object(json);
    }
    json_end_array(json);
    if (item->text != NULL)
        json_text(json, "text", item, item->text);
}

static void json_note(struct json *json, const struct dump_item *item)
{
    const struct note *note = item->note;

    switch (note->kind) {
    case NOTE_LOSS:
        json_put_text(json, "class", note->loss.suppressed ? "suppressed" : "dropped");
        json_put_unsigned(json, "events", note->loss.count);
        if (note->loss.first_known)
            json_time(json, "first", item->scale, note->loss.first);
        json_put_unsigned(json, "span_ticks", note->loss.span);
        json_put_bool(json, "pending", note->loss.pending);
        break;
    case NOTE_GAP:
        json_put_unsigned(json, "words", note->gap.words);
        json_put_unsigned(json, "events_at_least", (note->gap.words + UINT64_C(2)) / 3);
        json_put_unsigned(json, "events_at_most", note->gap.words);
        json_put_bool(json, "before_first", note->gap.before);
        json_put_bool(json, "overwritten",
                      note->gap.before && stream_is_overwritten(item->run->stream));
        if (!note->gap.before)
            json_time(json, "from", item->scale, note->gap.from_ticks);
        break;
    case NOTE_FAULT:
        json_put_text(json, "fault", stream_fault_name(note->fault.fault));
        json_put_unsigned(json, "index_words", note->index);
        if (note->fault.fault == STREAM_FAULT_CLOCK_BACKWARDS)
            json_put_unsigned(json, "back_ticks", note->fault.back_ticks);
        break;
    case NOTE_SKIPPED:
        json_put_unsigned(json, "bytes", note->bytes);
        break;
    case NOTE_UNVERIFIED:
        json_put_unsigned(json, "index_words", note->index);
        break;
    case NOTE_TEXT:
        json_time(json, "event", item->scale, note->text.event_ticks);
        json_put_unsigned(json, "id", note->text.event_id);
        json_text(json, "text", item, note);
        break;
    default:
        json_put_unsigned(json, "dropped_events", note->end.dropped);
        json_put_unsigned(json, "suppressed_events", note->end.suppressed);
        break;
    }
}

static void json_item(struct dump_lines *lines, const struct dump_item *item)
{
    struct json json = json_begin(&lines->out, 0);
    const struct decode_stream *stream = item->run->stream;

    json_put_object(&json, NULL);
    json_put_text(&json, "type", item->event != NULL ? "event" : dump_note_kind(item->note));
    json_time(&json, "time", item->scale, ticks_of(item));
    json_put_unsigned(&json, "session", stream->session->number);
    json_put_unsigned(&json, "stream", stream->number);
    json_put_text(&json, "thread", item->thread);
    if (item->task != NULL)
        json_put_text(&json, "task", item->task);
    if (item->event != NULL)
        json_event(&json, item);
    else
        json_note(&json, item);
    json_end_object(&json);
    buffer_text(&lines->out, "\n");
}

static void json_session(struct dump_lines *lines, const struct decode_session *session,
                         const struct session_scale *scale)
{
    struct json json = json_begin(&lines->out, 0);

    json_put_object(&json, NULL);
    json_put_text(&json, "type", "session");
    json_put_text(&json, "schema", "tare dump");
    json_put_unsigned(&json, "schema_version", 1);
    json_put_unsigned(&json, "session", session->number);
    json_put_unsigned(&json, "origin_ticks", scale->origin_ticks);
    if (scale->realtime_known)
        json_put_unsigned(&json, "origin_realtime_ns", scale->origin_realtime_ns);
    else
        json_put_null(&json, "origin_realtime_ns");
    if (scale->source == CLOCK_UNKNOWN)
        json_put_null(&json, "ticks_per_second");
    else
        json_put_number(&json, "ticks_per_second", scale->ticks_per_second);
    json_end_object(&json);
    buffer_text(&lines->out, "\n");
}

/* The last line, so that a reader can tell that it has all. */
static void json_tail(struct dump_lines *lines, const struct decode_directory *directory,
                      const struct container_facts *facts, uint64_t printed)
{
    struct json json = json_begin(&lines->out, 0);
    uint64_t stored = 0, dropped = 0, suppressed = 0, torn = 0;

    for (size_t i = 0; i < directory->stream_count; i++) {
        const struct stream_counts *counts = &directory->streams[i]->counts;

        stored += counts->events + counts->texts;
        dropped += counts->dropped;
        suppressed += counts->suppressed;
        torn += counts->torn;
    }
    json_put_object(&json, NULL);
    json_put_text(&json, "type", "summary");
    json_put_text(&json, "schema", "tare dump");
    json_put_unsigned(&json, "schema_version", 1);
    json_put_unsigned(&json, "printed_events", printed);
    json_put_unsigned(&json, "stored_events", stored);
    json_put_unsigned(&json, "dropped_events", dropped);
    json_put_unsigned(&json, "suppressed_events", suppressed);
    json_put_unsigned(&json, "torn_events", torn);
    json_put_array(&json, "file_faults");
    for (size_t i = 0; i < facts->finding_count; i++) {
        const struct file_finding *finding = &facts->findings[i];

        json_put_object(&json, NULL);
        json_put_text(&json, "fault",
                      finding->kind == FINDING_SKIPPED ? "skipped"
                                                       : file_fault_name(finding->fault));
        json_put_unsigned(&json, "offset_bytes", finding->offset);
        json_put_unsigned(&json, "bytes", finding->bytes);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_end_object(&json);
    buffer_text(&lines->out, "\n");
}

/* ------------------------------------------------------------------ CSV (RFC 4180) */

static void csv_field(struct buffer *out, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        buffer_text(out, text);
        return;
    }
    buffer_text(out, "\"");
    for (; *text != 0; text++)
        buffer_append(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    buffer_text(out, "\"");
}

static void csv_head(struct buffer *out)
{
    buffer_text(out, "time_s,time_ticks,session,stream,thread,task,kind,name,argument1,unit1,"
                     "argument2,unit2,text\r\n");
}

static void csv_kernel(struct buffer *out, const struct kernel_event *kernel, struct buffer *field)
{
    struct kernel_argument argument[2];
    uint32_t count = kernel_arguments(kernel, argument);

    buffer_printf(out, ",%s,", kernel_class(kernel));
    kernel_append_object(field, kernel);
    buffer_text(field, " ");
    kernel_append_operation(field, kernel);
    csv_field(out, field->data);
    for (uint32_t i = 0; i < 2; i++) {
        buffer_clear(field);
        if (i < count)
            kernel_append_value(field, &argument[i]);
        buffer_text(out, ",");
        csv_field(out, i < count ? field->data : "");
        buffer_printf(out, ",%s", i < count ? argument[i].unit : "");
    }
    buffer_text(out, ",");
}

static void csv_arguments(struct buffer *out, const struct dump_item *item, struct buffer *field)
{
    for (uint32_t i = 0; i < 2; i++) {
        const struct definition_argument *argument = argument_of(item, i);

        buffer_text(out, ",");
        if (i < argument_words(item->event)) {
            buffer_clear(field);
            text_append_value(field, argument, item->event->argument[i]);
            csv_field(out, field->data);
        }
        buffer_text(out, ",");
        if (argument != NULL && i < argument_words(item->event)) {
            buffer_clear(field);
            text_append_safe(field, argument->unit, strlen(argument->unit));
            csv_field(out, field->size > 0 ? field->data : "");
        }
    }
    buffer_text(out, ",");
    if (item->text != NULL) {
        buffer_clear(field);
        text_append_safe(field, batch_text(item->run->batch, item->text), item->text->text.size);
        csv_field(out, field->size > 0 ? field->data : "");
    }
}

static void csv_item(struct dump_lines *lines, const struct dump_item *item)
{
    struct buffer *out = &lines->out, field = {0};
    const struct decode_stream *stream = item->run->stream;
    const char *class = item->definition != NULL ? text_class_name(item->definition->class) : NULL;

    if (item->scale->source != CLOCK_UNKNOWN)
        append_seconds(out, scale_ns(item->scale, ticks_of(item)), 0);
    buffer_printf(out, ",%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",", ticks_of(item),
                  stream->session->number, stream->number);
    csv_field(out, item->thread);
    buffer_text(out, ",");
    csv_field(out, item->task != NULL ? item->task : "");
    if (item->event != NULL && item->kernel.known) {
        csv_kernel(out, &item->kernel, &field);
    } else if (item->event != NULL) {
        buffer_printf(out, ",%s,", class != NULL ? class : "event");
        text_append_event_name(&field, item->definition, item->event->id);
        csv_field(out, field.data);
        csv_arguments(out, item, &field);
    } else {
        buffer_printf(out, ",%s,,,,,,", dump_note_kind(item->note));
        append_note_text(&field, item);
        csv_field(out, field.data);
    }
    buffer_text(out, "\r\n");
    buffer_free(&field);
}

/* ------------------------------------------------------------------ all forms */

void dump_head(struct dump_lines *lines)
{
    if (lines->form == DUMP_CSV)
        csv_head(&lines->out);
}

void dump_session(struct dump_lines *lines, const struct decode_session *session,
                  const struct session_scale *scale)
{
    if (lines->form == DUMP_TEXT)
        text_session(lines, session, scale);
    else if (lines->form == DUMP_JSON)
        json_session(lines, session, scale);
}

void dump_item(struct dump_lines *lines, const struct dump_item *item)
{
    if (lines->form == DUMP_TEXT)
        text_item(lines, item);
    else if (lines->form == DUMP_JSON)
        json_item(lines, item);
    else
        csv_item(lines, item);
}

void dump_tail(struct dump_lines *lines, const struct decode_directory *directory,
               const struct container_facts *facts, uint64_t printed)
{
    if (lines->form == DUMP_TEXT)
        text_tail(lines, facts);
    else if (lines->form == DUMP_JSON)
        json_tail(lines, directory, facts, printed);
}
