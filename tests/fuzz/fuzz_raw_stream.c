/* Fuzz target: any bytes as a raw stream, in pieces of any size and all at once. */
#include <string.h>

#include "fuzz_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Notes and events in one comparable number, so that two ways of reading can be held together. */
static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15) + (hash >> 29);
}

static uint64_t take(const struct record_batch *batch, uint64_t hash)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        const struct event *event = &batch->events[i];

        hash = mix(hash, event->ticks);
        hash = mix(hash, (uint64_t)event->id << 32 | event->argument[0]);
        hash = mix(hash, (uint64_t)event->argument[1] << 32 | event->stream);
    }
    return hash;
}

static uint64_t take_notes(const struct record_batch *batch, uint64_t hash)
{
    for (uint32_t i = 0; i < batch->note_count; i++) {
        const struct note *note = &batch->notes[i];

        hash = mix(hash, (uint64_t)note->kind << 32 | note->stream);
        hash = mix(hash, note->ticks ^ note->index << 13);
        if (note->kind == NOTE_TEXT)
            for (size_t k = 0; k < note->text.size; k++)
                hash = mix(hash, (unsigned char)batch_text(batch, note)[k]);
    }
    return hash;
}

/* Reads in pieces of `piece` bytes into batches of `capacity` events. */
static uint64_t read_in_pieces(const uint8_t *data, size_t size, size_t piece, uint32_t capacity,
                               uint64_t *notes)
{
    struct decode_directory directory = {0};
    struct record_decoder *decoder = record_decoder_new(&directory);
    struct record_batch batch;
    uint64_t hash = 0;
    size_t at = 0;
    bool done = false;

    *notes = 0;
    record_batch_init(&batch, capacity);
    while (!done) {
        if (record_batch_full(&batch)) {
            hash = take(&batch, hash);
            *notes = take_notes(&batch, *notes);
            record_batch_clear(&batch);
        }
        if (at < size)
            at += record_feed(decoder, data + at, piece < size - at ? piece : size - at, &batch);
        else
            done = record_finish(decoder, &batch);
    }
    for (size_t i = 0; i < directory.stream_count; i++)
        record_close_stream(directory.streams[i], &batch);
    hash = take(&batch, hash);
    *notes = take_notes(&batch, *notes);
    record_batch_free(&batch);
    record_decoder_free(decoder);
    directory_free(&directory);
    return hash;
}

static void read_as_recording(const uint8_t *data, size_t size)
{
    struct decode_options options = {.accept_all = true, .raw = true, .file_order = true};
    struct error error = {0};
    struct decoder *decoder;
    int file;
    char path[FILE_IN_MEMORY_PATH];

    file = file_in_memory(data, size, path);
    decoder = decoder_open(path, &options, &error);
    if (decoder != NULL && decoder_kind(decoder) == INPUT_RAW)
        watch_decoder(decoder, false, size);
    decoder_close(decoder);
    close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t piece = size > 0 ? 1 + data[size - 1] % 64 : 1;
    uint64_t notes, other_notes, events = read_in_pieces(data, size, size + 1, 4096, &notes);

    MUST_HOLD(3, read_in_pieces(data, size, piece, 4096, &other_notes) == events);
    MUST_HOLD(3, notes == other_notes);
    MUST_HOLD(3, read_in_pieces(data, size, size + 1, RECORD_BATCH_LEAST, &other_notes) == events);
    MUST_HOLD(3, notes == other_notes);
    read_as_recording(data, size);
    return 0;
}
