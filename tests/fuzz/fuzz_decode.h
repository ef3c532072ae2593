/* What must hold after any input (docs/trust.md, "Statements that hold after any input"); the
 * numbers below are those of that page. A statement that does not hold ends the program. */
#ifndef FUZZ_DECODE_H
#define FUZZ_DECODE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dec_input.h"

#define MUST_HOLD(number, condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "statement %d does not hold: %s\n", number, #condition); \
            abort(); \
        } \
    } while (0)

#define FILE_IN_MEMORY_PATH 64

/* A file that holds the bytes, and a path to open it by; the caller closes it. */
static inline int file_in_memory(const uint8_t *data, size_t size, char path[FILE_IN_MEMORY_PATH])
{
    int file = memfd_create("input", MFD_CLOEXEC);

    if (file < 0 || write(file, data, size) != (ssize_t)size)
        abort();
    snprintf(path, FILE_IN_MEMORY_PATH, "/proc/self/fd/%d", file);
    return file;
}

struct watched_stream {
    uint64_t events, texts;
    uint64_t ticks;
    bool may_fall; /* the next time may be earlier: the decoder has said so */
    bool closed;
};

struct watch {
    struct watched_stream *streams;
    size_t count;
    uint64_t last_ticks; /* of the session that is read, merged by time */
    const struct decode_session *session;
    bool merged, fell;
};

static inline struct watched_stream *watched(struct watch *watch,
                                             const struct decode_stream *stream)
{
    while (stream->ordinal >= watch->count) {
        size_t count = 2 * watch->count + 8;

        watch->streams = memory_resize(watch->streams, count, sizeof *watch->streams);
        for (size_t i = watch->count; i < count; i++)
            watch->streams[i] = (struct watched_stream){0};
        watch->count = count;
    }
    return &watch->streams[stream->ordinal];
}

static inline void watch_note(struct watch *watch, const struct decode_run *run,
                              const struct note *note)
{
    struct watched_stream *stream = watched(watch, run->stream);

    /* Merged by time, blocks under a wrong name may come after their stream's own end. */
    MUST_HOLD(9, !stream->closed || run->stream->mixed);
    MUST_HOLD(1, note->stream == run->stream->ordinal);
    switch (note->kind) {
    case NOTE_FAULT:
        MUST_HOLD(1, note->fault.fault < STREAM_FAULT_COUNT);
        if (note->fault.fault == STREAM_FAULT_CLOCK_BACKWARDS ||
            note->fault.fault == STREAM_FAULT_INDEX_BACKWARDS)
            stream->may_fall = watch->fell = true;
        break;
    case NOTE_TEXT:
        MUST_HOLD(11, note->text.size <= 1023);
        MUST_HOLD(1, note->text.at + note->text.size < run->batch->texts.size);
        MUST_HOLD(1, batch_text(run->batch, note)[note->text.size] == 0);
        MUST_HOLD(1, note->text.event == NOTE_NO_EVENT || note->text.event < run->batch->count);
        break;
    case NOTE_DEFINE:
        MUST_HOLD(11, note->definition->text_size <= 1023);
        break;
    case NOTE_NAME:
        MUST_HOLD(11, note->definition->text_size <= 1024);
        MUST_HOLD(1, strlen(note->definition->name) <= note->definition->text_size);
        break;
    case NOTE_OBJECT:
        MUST_HOLD(1, note->object.id >= TARE_ID_FREE0 && note->object.id <= TARE_ID_LAST0);
        MUST_HOLD(1, note->object.generation < 256);
        break;
    case NOTE_SKIPPED:
        MUST_HOLD(4, note->bytes > 0);
        break;
    case NOTE_TOTAL:
        stream->closed = true;
        break;
    default:
        break;
    }
}

/* What an id means is an object of a kernel that takes this id, or nothing. */
static inline void watch_object(const struct decode_stream *stream, uint32_t id)
{
    uint32_t operation = 0;
    const struct definition *object =
        definitions_object(&stream->session->definitions, id, &operation);

    if (object == NULL)
        return;
    MUST_HOLD(8, definition_group(object->class) == DEFINITION_OBJECT);
    MUST_HOLD(8, operation < class_ids(object->class));
    MUST_HOLD(8, object->id + operation == id);
    MUST_HOLD(8, object->generation == object->category || object->id < TARE_ID_FREE0);
    MUST_HOLD(1, object->name != NULL);
}

static inline void watch_event(struct watch *watch, struct decode_run *run, uint32_t number)
{
    const struct event *event = &run->events[number];
    struct watched_stream *stream = watched(watch, run->stream);
    const struct definition *definition = decoder_definition(run->stream, event->id);
    uint32_t words = TARE_RECORD_WORDS(event->id);

    MUST_HOLD(8, event->stream == run->stream->ordinal);
    MUST_HOLD(8, event->id != TARE_ID_PAD && event->id < 0xFF0);
    MUST_HOLD(8, words > 1 || event->argument[0] == 0);
    MUST_HOLD(8, words > 2 || event->argument[1] == 0);
    MUST_HOLD(9, event->ticks >= stream->ticks || stream->may_fall || run->stream->mixed);
    watch_object(run->stream,
                 event->id == TARE_ID_KERNEL ? event->argument[0] & 0xFFFF : event->id);
    stream->may_fall = false;
    stream->ticks = event->ticks;
    stream->events++;
    if (definition != NULL && definition->class == TARE_CLASS_STRING) {
        const struct note *text = decoder_text(run, number);

        MUST_HOLD(8, text == NULL || text->text.event_id == event->id);
        MUST_HOLD(8, text == NULL || text->text.event_ticks == event->ticks);
    }
    if (run->stream->session != watch->session) {
        watch->session = run->stream->session;
        watch->last_ticks = 0;
    }
    watch->fell = watch->fell || run->stream->mixed;
    if (watch->merged && !watch->fell)
        MUST_HOLD(9, event->ticks >= watch->last_ticks);
    watch->last_ticks = event->ticks;
}

static inline void watch_run(struct watch *watch, struct decode_run *run)
{
    const struct note *note = run->notes, *end = note + run->note_count;

    MUST_HOLD(1, run->count + run->note_count > 0);
    for (uint32_t i = 0; i <= run->count; i++) {
        for (; note < end && note->before == i; note++)
            watch_note(watch, run, note);
        if (i < run->count)
            watch_event(watch, run, i);
    }
    MUST_HOLD(1, note == end);
}

/* Reads all of it and holds the statements against the counts. `bytes_fed`: what the streams'
 * inputs were given; UINT64_MAX: not known. */
static inline void watch_decoder(struct decoder *decoder, bool merged, uint64_t bytes_fed)
{
    const struct decode_directory *directory = decoder_directory(decoder);
    const struct container_facts *facts = decoder_facts(decoder);
    struct watch watch = {.merged = merged};
    struct decode_run run;
    uint64_t accounted = 0;

    while (decoder_next(decoder, &run))
        watch_run(&watch, &run);
    for (size_t i = 0; i < directory->stream_count; i++) {
        const struct decode_stream *stream = directory->streams[i];
        const struct stream_counts *counts = &stream->counts;
        const struct watched_stream *seen = watched(&watch, stream);

        MUST_HOLD(12, seen->events == counts->events);
        MUST_HOLD(12, seen->closed == (stream->state != NULL));
        MUST_HOLD(12, counts->torn <= 1);
        accounted +=
            4 * counts->words + counts->skipped_bytes + counts->cut_bytes - counts->reread_bytes;
    }
    accounted += facts->skipped_before;
    if (bytes_fed != UINT64_MAX)
        MUST_HOLD(4, accounted == bytes_fed);
    free(watch.streams);
}

#endif
