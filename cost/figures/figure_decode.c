/* Decodes a recording that lies in memory, with every check, again and again: how many events a
 * second, and what is in it.
 *
 *     figure_decode FILE.tare ROUNDS
 *
 * Prints one "name value" a line. Of the file only sound STREAM chunks are read, which is all that
 * `tare record` writes; anything else ends the program with status 1.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base_buffer.h"
#include "base_progress.h"
#include "cap_container.h"
#include "dec_record.h"

#define STREAM_LIMIT 64u

/* The input of one stream. */
struct input {
    uint32_t number;
    struct record_decoder *decoder;
};

struct recording {
    struct buffer file;
    struct decode_directory directory;
    struct input inputs[STREAM_LIMIT];
    uint32_t input_count;
    struct record_batch batch;
    uint64_t events, sum;
    uint32_t ticks_per_second;
};

static struct record_decoder *decoder_of(struct recording *recording, uint32_t number)
{
    struct input *input = recording->inputs;

    while (input < recording->inputs + recording->input_count && input->number != number)
        input++;
    if (input == recording->inputs + STREAM_LIMIT)
        die("more than %u streams", STREAM_LIMIT);
    if (input == recording->inputs + recording->input_count) {
        recording->input_count++;
        input->number = number;
        input->decoder = record_decoder_new(&recording->directory);
    }
    return input->decoder;
}

/* Uses every event, as a consumer would. */
static void take_batch(struct recording *recording)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < recording->batch.count; i++)
        sum += recording->batch.events[i].ticks ^ recording->batch.events[i].argument[0];
    recording->sum += sum;
    recording->events += recording->batch.count;
    record_batch_clear(&recording->batch);
}

static void feed(struct recording *recording, struct record_decoder *decoder,
                 const unsigned char *bytes, size_t size)
{
    while (size > 0) {
        size_t taken = record_feed(decoder, bytes, size, &recording->batch);

        bytes += taken;
        size -= taken;
        if (record_batch_full(&recording->batch))
            take_batch(recording);
    }
}

static uint32_t hash_of(const unsigned char *bytes, size_t size)
{
    return (uint32_t)XXH64(bytes, size, 0);
}

static void decode_chunk(struct recording *recording, const unsigned char *head, size_t length)
{
    const unsigned char *table = head + CHUNK_HEAD_BYTES;
    uint64_t position = get_little(head + CHUNK_AT_POSITION, 8);
    size_t piece = get_little(head + CHUNK_AT_PIECE, 4), count = get_little(table, 4);
    const unsigned char *bytes = table + 4 + 4 * count, *end = table + length;
    struct record_decoder *decoder =
        decoder_of(recording, (uint32_t)get_little(head + CHUNK_AT_STREAM, 4));

    if (hash_of(table, 4 + 4 * count) != get_little(head + CHUNK_AT_PAYLOAD_HASH, 4))
        die("damaged chunk");
    for (size_t i = 0; i < count; i++) {
        size_t size = piece - position * 4 % piece;

        if (size > (size_t)(end - bytes))
            size = (size_t)(end - bytes);
        if (hash_of(bytes, size) != get_little(table + 4 + 4 * i, 4))
            die("damaged piece");
        feed(recording, decoder, bytes, size);
        bytes += size;
        position += size / 4;
    }
}

static void decode_file(struct recording *recording)
{
    size_t at = CONTAINER_HEAD_BYTES;

    while (at + CHUNK_HEAD_BYTES <= recording->file.size) {
        const unsigned char *head = (const unsigned char *)recording->file.data + at;
        size_t length = get_little(head + CHUNK_AT_LENGTH, 4);

        if (memcmp(head, CHUNK_MAGIC, 4) != 0 ||
            at + CHUNK_HEAD_BYTES + length > recording->file.size ||
            hash_of(head, CHUNK_HASHED_BYTES) != get_little(head + CHUNK_AT_HASH, 4))
            die("damaged chunk at offset %zu", at);
        if (get_little(head + CHUNK_AT_TYPE, 2) == CHUNK_STREAM)
            decode_chunk(recording, head, length);
        if (get_little(head + CHUNK_AT_TYPE, 2) == CHUNK_REGION &&
            length == sizeof(struct tare_region))
            recording->ticks_per_second = (uint32_t)get_little(
                head + CHUNK_HEAD_BYTES + offsetof(struct tare_region, ticks_per_second), 4);
        at += CHUNK_HEAD_BYTES + length;
    }
    for (uint32_t i = 0; i < recording->input_count; i++)
        while (!record_finish(recording->inputs[i].decoder, &recording->batch))
            take_batch(recording);
    take_batch(recording);
}

static void forget(struct recording *recording)
{
    while (recording->input_count > 0)
        record_decoder_free(recording->inputs[--recording->input_count].decoder);
    directory_free(&recording->directory);
    memset(&recording->directory, 0, sizeof recording->directory);
    recording->events = recording->sum = 0;
}

static void print_contents(const struct recording *recording)
{
    struct stream_counts all = {0};

    for (size_t i = 0; i < recording->directory.stream_count; i++) {
        const struct decode_stream *stream = recording->directory.streams[i];
        const struct stream_counts *counts = &stream->counts;

        if (counts->events == 0)
            continue; /* definitions only */
        all.events += counts->events;
        all.texts += counts->texts;
        all.dropped += counts->dropped;
        all.suppressed += counts->suppressed;
        all.gaps += counts->gaps;
        all.words += counts->words;
        all.words_anchors += counts->words_anchors;
        all.words_epochs += counts->words_epochs;
        all.words_events += counts->words_events;
        for (int fault = 0; fault < STREAM_FAULT_COUNT; fault++)
            all.faults[0] += counts->faults[fault];
        if (!counts->ended)
            die("a stream without an end record");
    }
    for (size_t i = 0; i < recording->directory.stream_count; i++)
        for (uint32_t words = 0; words < 3; words++)
            if (recording->directory.streams[i]->cost_milliticks[words] != 0)
                printf("self_cost_%u_milliticks %u\n", words,
                       recording->directory.streams[i]->cost_milliticks[words]);
    printf("ticks_per_second %u\n", recording->ticks_per_second);
    printf("stored %" PRIu64 "\n", all.events + all.texts);
    printf("lost %" PRIu64 "\nkept_back %" PRIu64 "\n", all.dropped, all.suppressed);
    printf("gaps %" PRIu64 "\nfaults %" PRIu64 "\n", all.gaps, all.faults[0]);
    printf("words %" PRIu64 "\nwords_anchors %" PRIu64 "\nwords_epochs %" PRIu64 "\n", all.words,
           all.words_anchors, all.words_epochs);
    printf("words_events %" PRIu64 "\n", all.words_events);
}

int main(int argc, char **argv)
{
    static struct recording recording;
    struct error error = {0};
    uint64_t best_ns = 0, events = 0;
    unsigned long rounds = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;

    if (rounds == 0) {
        fprintf(stderr, "usage: figure_decode FILE.tare ROUNDS\n");
        return 2;
    }
    if (!file_read(argv[1], &recording.file, &error))
        return error_report(&error);
    record_batch_init(&recording.batch, 4096);
    for (unsigned long round = 0; round < rounds; round++) {
        uint64_t begin = monotonic_ns(), ns;

        forget(&recording);
        decode_file(&recording);
        ns = monotonic_ns() - begin;
        if (round == 0 || ns < best_ns)
            best_ns = ns;
        events = recording.events;
    }
    printf("decoded_events %" PRIu64 "\ndecode_ns %" PRIu64 "\n", events, best_ns);
    print_contents(&recording);
    return 0;
}
