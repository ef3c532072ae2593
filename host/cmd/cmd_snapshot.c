/* `tare snapshot`: what an image of memory holds, as a recording. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base_json.h"
#include "base_options.h"
#include "cap_container.h"
#include "cap_elf.h"
#include "cap_memory.h"
#include "dec_container.h"

#define NOT_GIVEN UINT64_MAX

struct snapshot_options {
    const char *output, *elf;
    uint64_t base, address, offset;
    bool quiet;
};

struct snapshot {
    struct snapshot_options options;
    const char *path;
    struct memory_options memory;
    struct memory_segment *segments;
    struct container container;
    struct memory_reader reader;
};

/* Where the image's bytes belong. */
static bool place_image(struct snapshot *snapshot, struct error *error)
{
    const struct snapshot_options *options = &snapshot->options;
    struct memory_options *memory = &snapshot->memory;

    *memory = (struct memory_options){.path = snapshot->path,
                                      .offset = options->offset,
                                      .base_given = options->base != NOT_GIVEN,
                                      .base = (uint32_t)options->base,
                                      .read_only = true};
    if (options->elf != NULL && !elf_find_blocks(options->elf, memory, error))
        return false;
    if (options->address != NOT_GIVEN) {
        memory->addresses[0] = (uint32_t)options->address;
        memory->sizes[0] = 0;
        memory->address_count = 1;
    }
    if (memory->base_given || memory->offset != 0 || !elf_is_one(snapshot->path))
        return true;
    if (!elf_segments(snapshot->path, &snapshot->segments, &memory->segment_count, error))
        return false;
    memory->segments = snapshot->segments;
    return true;
}

static bool refuse_recording(const char *path, struct error *error)
{
    struct source source;
    bool recording;

    if (!source_open(&source, path, error))
        return false;
    recording = container_recognise(&source);
    source_close(&source);
    if (recording)
        error_set(error, EXIT_USAGE,
                  "%s: is a recording already; read it with 'tare dump' or "
                  "'tare check'",
                  path);
    return !recording;
}

static void write_info(struct snapshot *snapshot)
{
    struct buffer text = {0};
    struct json json = json_begin(&text, 0);

    json_put_object(&json, NULL);
    json_put_text(&json, "tool", "tare " TARE_VERSION);
    json_put_text(&json, "image", snapshot->path);
    json_put_text(&json, "image_kind", snapshot->segments != NULL ? "ELF core" : "memory");
    json_put_unsigned(&json, "image_bytes", snapshot->reader.size);
    json_end_object(&json);
    container_info(&snapshot->container, text.data);
    buffer_free(&text);
}

/* The regions of Linux sessions, each once: they have the length of a tick. */
static void write_regions(struct snapshot *snapshot)
{
    const struct memory_reader *reader = &snapshot->reader;

    for (uint32_t i = 0; i < reader->ring_count; i++) {
        const struct memory_ring *ring = reader->rings + i;
        unsigned char region[sizeof(struct tare_region)];
        bool known = false;

        for (uint32_t n = 0; n < i; n++)
            known = known || (reader->rings[n].in_region &&
                              reader->rings[n].place - reader->rings[n].fixed.self ==
                                  ring->place - ring->fixed.self);
        if (!ring->in_region || known ||
            !memory_bytes(reader, ring->place - ring->fixed.self, region, sizeof(region)))
            continue;
        snapshot->container.session = ring->fixed.session;
        container_region(&snapshot->container, region);
    }
}

static void say_ring(const struct memory_ring *ring)
{
    const struct tare_ring *fixed = &ring->fixed;

    fprintf(stderr,
            "tare: session %" PRIu32 ", stream %" PRIu32 ": control block at 0x%08" PRIx32
            " (offset %" PRIu64 "), ring of %" PRIu32 " bytes%s%s%s\n",
            fixed->session, fixed->stream, fixed->self, ring->place, ring->bytes,
            fixed->policy == TARE_FULL_OVERWRITE ? ", overwritten" : "",
            ring->last.state == TARE_RING_CLOSED ? ", ended in order" : "",
            fixed->names == 0      ? ""
            : ring->table.size > 0 ? ", with its names"
                                   : ", whose names are not in the image");
}

static void write_end(struct snapshot *snapshot, uint64_t words, uint32_t streams)
{
    struct buffer text = {0};
    struct json json = json_begin(&text, 0);

    json_put_object(&json, NULL);
    json_put_text(&json, "ended_by", "end of the image");
    json_put_unsigned(&json, "words", words);
    json_put_unsigned(&json, "streams", streams);
    json_end_object(&json);
    container_end(&snapshot->container, text.data);
    buffer_free(&text);
}

/* Whether there is a ring to read: an image without one costs no older recording. */
static bool look_first(struct snapshot *snapshot, struct error *error)
{
    struct memory_reader *reader = &snapshot->reader;
    enum memory_state state = MEMORY_NOTHING;

    if (!container_create(&snapshot->container, "/dev/null", 1, error))
        return false;
    if (memory_open(reader, &snapshot->memory, &snapshot->container, error)) {
        state = memory_find(reader, 0);
        if (state == MEMORY_REFUSED)
            *error = reader->refusal;
        else if (state == MEMORY_NOTHING && reader->unfinished.code != EXIT_DONE)
            *error = reader->unfinished;
        else if (state == MEMORY_NOTHING)
            error_set(error, EXIT_DAMAGED,
                      "%s: there is no control block in this image; does it hold the memory in "
                      "which the recorder's ring lies (symbol tare0)?",
                      snapshot->path);
        else if (reader->refusal.code != EXIT_DONE)
            warn("%s; it is left out", reader->refusal.text);
        memory_close(reader);
    }
    container_close(&snapshot->container, error);
    return state == MEMORY_ATTACHED;
}

/* What the image holds, in one pass. */
static bool take_image(struct snapshot *snapshot, struct error *error)
{
    struct memory_reader *reader = &snapshot->reader;

    if (!container_create(&snapshot->container, snapshot->options.output, 1, error))
        return false;
    if (memory_open(reader, &snapshot->memory, &snapshot->container, error)) {
        memory_find(reader, 0);
        write_info(snapshot);
        write_regions(snapshot);
        while (memory_drain(reader, UINT64_MAX, 0) > 0)
            continue;
        for (uint32_t i = 0; !snapshot->options.quiet && i < reader->ring_count; i++)
            say_ring(reader->rings + i);
        memory_end(reader);
        write_end(snapshot, reader->words, reader->streams);
        if (!snapshot->options.quiet)
            fprintf(stderr, "tare: %" PRIu64 " words of %" PRIu32 " streams in %s\n", reader->words,
                    reader->streams, snapshot->options.output);
        memory_close(reader);
    }
    return container_close(&snapshot->container, error) && error->code == EXIT_DONE;
}

static int run_snapshot(int argc, char **argv)
{
    static struct snapshot snapshot;
    extern const struct command command_snapshot;
    struct snapshot_options *options = &snapshot.options;
    struct error error = {0};
    bool good;
    int arguments = 0, rest_count = 0;
    char **rest = NULL;
    const struct option_row rows[] = {
        {'o', "output", OPTION_TEXT, &options->output, "FILE",
         "recording to write; default run.tare", 0, 0},
        {0, "base", OPTION_UNSIGNED, &options->base, "N",
         "address of the image's first byte; default: that of an ELF core's parts, else what the "
         "control blocks say of themselves",
         0, UINT32_MAX},
        {0, "offset", OPTION_UNSIGNED, &options->offset, "N",
         "bytes of the file before the image; default 0", 0, INT64_MAX},
        {0, "elf", OPTION_TEXT, &options->elf, "FILE",
         "the firmware, whose symbol tare0 tells where the rings are", 0, 0},
        {0, "address", OPTION_UNSIGNED, &options->address, "N",
         "address of the control block; default: it is searched, at any alignment", 0, UINT32_MAX},
        {'q', "quiet", OPTION_FLAG, &options->quiet, NULL, "say nothing of what was found", 0, 0},
        {0}};

    *options =
        (struct snapshot_options){.output = "run.tare", .base = NOT_GIVEN, .address = NOT_GIVEN};
    if (!options_parse(&command_snapshot, rows, argc, argv, &arguments, &rest, &rest_count, &error))
        return error_report(&error);
    if (arguments != 1 || rest_count > 0) {
        error_set(&error, EXIT_USAGE, "give one image: 'tare snapshot FILE -o run.tare'");
        return error_report(&error);
    }
    snapshot.path = argv[1];
    good = refuse_recording(snapshot.path, &error) && place_image(&snapshot, &error) &&
           look_first(&snapshot, &error) && take_image(&snapshot, &error);
    free(snapshot.segments);
    return good ? EXIT_DONE : error_report(&error);
}

const struct command command_snapshot = {
    .name = "snapshot",
    .synopsis = "FILE [options]",
    .summary = "take a recording out of an image of memory",
    .details = "FILE is what a target's RAM held: an image as a debugger saves it (gdb: dump "
               "binary memory\n"
               "FILE BEGIN END), an ELF core file, the file behind an emulator's memory; also the "
               "core file of\n"
               "a Linux program or the shared memory of its session. It is not changed. The rings "
               "in it are\n"
               "found and checked as 'tare record mem:' does it. What is in them, the last moments "
               "before the\n"
               "image was taken, goes into a recording with the names table beside it.\n"
               "\n"
               "Exit status: 0; 2 wrong usage; 4 no ring is in it, or none that can be right.\n"
               "\n"
               "Example: tare snapshot ram.bin --base 0x20000000 -o last.tare\n",
    .run = run_snapshot};
