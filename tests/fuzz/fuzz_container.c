/* Fuzz target: any bytes as whatever file they are taken for, merged by time, in order of the file,
 * and as the text of `dump --listing`. Hashes are made right first, or hardly any input would come
 * past them. */
#include <string.h>

#include <xxhash.h>

#include "cap_container.h"
#include "dec_listing.h"
#include "fuzz_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Where a chunk seems to begin, its hashes are put right; one of eight is left as it is. */
static void repair(unsigned char *bytes, size_t size)
{
    unsigned char *chunk = bytes;

    while ((chunk = memmem(chunk, size - (size_t)(chunk - bytes), CHUNK_MAGIC, 4)) != NULL) {
        size_t left = size - (size_t)(chunk - bytes), length, hashed, table;

        if (left < CHUNK_HEAD_BYTES)
            return;
        if ((chunk[CHUNK_AT_ARRIVAL] & 7) == 7) {
            chunk += 4;
            continue;
        }
        length = get_little(chunk + CHUNK_AT_LENGTH, 4);
        hashed = length < left - CHUNK_HEAD_BYTES ? length : left - CHUNK_HEAD_BYTES;
        if (get_little(chunk + CHUNK_AT_TYPE, 2) == CHUNK_STREAM && hashed >= 4) {
            table = 4 + 4 * (size_t)get_little(chunk + CHUNK_HEAD_BYTES, 4);
            if (table < hashed) {
                uint32_t piece = (uint32_t)get_little(chunk + CHUNK_AT_PIECE, 4);
                uint64_t position = get_little(chunk + CHUNK_AT_POSITION, 8);
                size_t at = table, number = 0;

                while (at < hashed && piece >= 4 && 4 + 4 * number + 4 <= table) {
                    size_t take = piece - position * 4 % piece;

                    if (take > hashed - at)
                        take = hashed - at;
                    put_little(chunk + CHUNK_HEAD_BYTES + 4 + 4 * number++,
                               XXH64(chunk + CHUNK_HEAD_BYTES + at, take, 0), 4);
                    at += take;
                    position += take / 4;
                    if (take % 4 != 0)
                        break;
                }
                hashed = table;
            }
        }
        put_little(chunk + CHUNK_AT_HASH, XXH64(chunk, CHUNK_HASHED_BYTES, 0), 4);
        put_little(chunk + CHUNK_AT_PAYLOAD_HASH, XXH64(chunk + CHUNK_HEAD_BYTES, hashed, 0), 4);
        chunk += 4;
    }
}

static void read_merged(const char *path, uint64_t *stored)
{
    struct error error = {0};
    struct decoder *decoder = decoder_open(path, NULL, &error);

    MUST_HOLD(2, decoder != NULL || (error.code == EXIT_DAMAGED && error.text[0] != 0));
    if (decoder == NULL)
        return;
    watch_decoder(decoder, decoder_kind(decoder) != INPUT_RAW, UINT64_MAX);
    *stored = 0;
    for (size_t i = 0; i < decoder_directory(decoder)->stream_count; i++)
        *stored += decoder_directory(decoder)->streams[i]->counts.events;
    decoder_close(decoder);
}

static void read_listing(const char *path)
{
    struct decode_options options = {.accept_all = true, .file_order = true};
    struct error error = {0};
    struct decoder *decoder = decoder_open(path, &options, &error);
    struct buffer out = {0};

    if (decoder == NULL)
        return;
    watch_decoder(decoder, false, UINT64_MAX);
    decoder_close(decoder);
    decoder = decoder_open(path, &options, &error);
    MUST_HOLD(3, decoder != NULL);
    listing_append(&out, decoder);
    buffer_free(&out);
    decoder_close(decoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int file;
    unsigned char *bytes = memory_new(size + 1, 1);
    uint64_t stored = 0;
    char path[FILE_IN_MEMORY_PATH];

    if (size > 0)
        memcpy(bytes, data, size);
    repair(bytes, size);
    file = file_in_memory(bytes, size, path);
    free(bytes);
    read_merged(path, &stored);
    read_listing(path);
    close(file);
    return 0;
}
