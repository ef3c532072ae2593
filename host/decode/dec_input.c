#include "dec_input.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dec_image.h"
#include "dec_merge.h"

#define SCAN_BYTES (64u << 10)

/* ------------------------------------------------------------------ anchors in a part of the input
 */

/* Calls `found` for each valid anchor in the part, with its offset in the source, until it returns
 * false. */
static void scan_anchors(struct source *source, uint64_t offset, uint64_t bytes,
                         bool (*found)(void *context, const struct anchor *anchor, uint64_t at),
                         void *context)
{
    unsigned char window[SCAN_BYTES];

    while (bytes >= ANCHOR_BYTES) {
        size_t size = bytes < sizeof window ? (size_t)bytes : sizeof window, at = 0;
        struct anchor anchor;

        if (source_read(source, offset, window, size) < size)
            return;
        while ((at += anchor_find(window + at, size - at, &anchor)) < size) {
            if (!found(context, &anchor, offset + at))
                return;
            at++;
        }
        size -= ANCHOR_BYTES - 1; /* an anchor may stand across the border of two windows */
        offset += size;
        bytes -= size;
    }
}

static bool note_first(void *context, const struct anchor *anchor, uint64_t at)
{
    (void)anchor;
    *(uint64_t *)context = at;
    return false;
}

/* Offset of the first valid anchor in the whole input; its size when there is none. */
static uint64_t first_anchor(struct source *source)
{
    uint64_t at = source->size;

    scan_anchors(source, 0, source->size, note_first, &at);
    return at;
}

/* Whether there is an anchor of another version; *version is that of the first one. */
static bool find_foreign(struct source *source, uint32_t *version)
{
    unsigned char window[SCAN_BYTES];
    uint64_t offset = 0;
    size_t size;

    do {
        size = source_read(source, offset, window, sizeof window);
        if (anchor_find_foreign(window, size, version) < size)
            return true;
        offset += sizeof window - (ANCHOR_BYTES - 1);
    } while (size == sizeof window);
    return false;
}

/* ------------------------------------------------------------------ salvage */

struct splitting {
    struct segment_list *list;
    struct segment part; /* up to the place where another stream begins */
    bool known;          /* part.session and part.stream are */
};

static void end_part(struct splitting *splitting, uint64_t at)
{
    splitting->part.bytes = at - splitting->part.offset;
    segment_add(splitting->list, &splitting->part);
    splitting->part.offset = at;
    splitting->part.input = splitting->list->input_count++;
}

static bool split_at(void *context, const struct anchor *anchor, uint64_t at)
{
    struct splitting *splitting = context;

    if (splitting->known &&
        (anchor->session != splitting->part.session || anchor->stream != splitting->part.stream))
        end_part(splitting, at);
    splitting->known = true;
    splitting->part.session = anchor->session;
    splitting->part.stream = anchor->stream;
    return true;
}

/* Cuts salvaged bytes where their stream changes, so that each part finds its way into the cursor
 * of its stream. Bytes without any anchor are left out: they are counted here. */
static void split_salvage(struct decoder *decoder)
{
    struct segment_list whole = decoder->own_list;

    decoder->own_list.segment = NULL;
    decoder->own_list.count = decoder->own_list.capacity = 0;
    for (uint32_t i = 0; i < whole.count; i++) {
        struct splitting splitting = {.list = &decoder->own_list, .part = whole.segment[i]};
        uint64_t end = splitting.part.offset + splitting.part.bytes;

        if (splitting.part.kind != SEGMENT_SALVAGE) {
            segment_add(&decoder->own_list, &whole.segment[i]);
            continue;
        }
        scan_anchors(decoder->source, splitting.part.offset, splitting.part.bytes, split_at,
                     &splitting);
        if (splitting.known)
            end_part(&splitting, end);
        else
            facts_skipped(&decoder->facts, end, splitting.part.bytes, 0);
    }
    free(whole.segment);
}

/* ------------------------------------------------------------------ what comes before the decoding
 */

/* A decoder over the same segments with a directory of its own. */
static void look(struct decoder *looking, const struct decoder *decoder, bool definitions_only)
{
    *looking = (struct decoder){.source = decoder->source, .list = decoder->list};
    looking->reader = (struct reader){.source = looking->source,
                                      .list = looking->list,
                                      .directory = &looking->directory,
                                      .facts = &looking->facts};
    merge_in_file_order(looking, &decoder->directory, definitions_only);
    merge_begin(looking);
}

/* What an object's id means before this note. */
static void expect_object(struct definitions *definitions, const struct note *note)
{
    if (note->kind == NOTE_OBJECT)
        definitions_expect(definitions, note->object.id,
                           (note->object.generation - note->object.created) & 0xFF, note->ticks);
}

/* Copies what is told of single ids; true when there is anything. */
static bool copy_roles(struct decode_directory *to, const struct decode_directory *from)
{
    bool any = false;

    for (size_t i = 0; i < from->session_count; i++) {
        struct decode_session *session = directory_session(to, from->sessions[i]->number);

        if (from->sessions[i]->roles == NULL)
            continue;
        any = true;
        session_keep_roles(session);
        memcpy(session->roles, from->sessions[i]->roles, sizeof plain_roles);
    }
    return any;
}

/* Decodes once for the sake of the definitions. `roles` NULL: nothing is known of the ids yet. */
static void look_for_definitions(struct decoder *looking, const struct decoder *decoder,
                                 const struct decode_directory *roles)
{
    struct decode_run run;

    look(looking, decoder, !decoder->options.file_order);
    if (roles != NULL)
        copy_roles(&looking->directory, roles);
    while (decoder_next(looking, &run))
        for (uint32_t i = 0; i < run.note_count; i++)
            expect_object(&run.stream->session->definitions, &run.notes[i]);
}

/* Definitions hold for all streams of a session and for events that stand before them; so they are
 * read first. Rings that hold events only have none. Which text a TEXT record belongs to depends on
 * classes of ids that may be told later: where there are such ids all is read again. */
static void read_definitions(struct decoder *decoder)
{
    struct decoder looking;

    look_for_definitions(&looking, decoder, NULL);
    if (copy_roles(&decoder->directory, &looking.directory)) {
        merge_free(&looking);
        look_for_definitions(&looking, decoder, &decoder->directory);
    }
    for (size_t i = 0; i < looking.directory.session_count; i++) {
        const struct decode_session *from = looking.directory.sessions[i];
        struct decode_session *to = directory_session(&decoder->directory, from->number);

        to->clock_rate = from->clock_rate;
        definitions_take_up(&to->definitions, &from->definitions);
    }
    merge_free(&looking);
}

static bool has_ring(const struct decoder *decoder)
{
    for (uint32_t i = 0; i < decoder->list->count; i++)
        if (decoder->list->segment[i].kind == SEGMENT_RING)
            return true;
    return false;
}

/* Whether any block can be read; what is damaged on the way to it counts as damage. */
static bool has_block(const struct decoder *decoder, bool *damaged)
{
    struct decoder looking;
    struct decode_run run;
    bool found = false;

    look(&looking, decoder, false);
    while (!found && decoder_next(&looking, &run))
        found = true;
    *damaged = *damaged || facts_faults(&looking.facts) > 0;
    merge_free(&looking);
    return found;
}

/* ------------------------------------------------------------------ opening */

static bool refuse_version(const struct decoder *decoder, uint32_t version, struct error *error)
{
    error_set(error, EXIT_DAMAGED,
              "%s: was recorded in version %" PRIu32
              " of the format, this program reads version %u; use the `tare` that belongs to the "
              "recorder, or a later one",
              decoder->source->path, version, TARE_FORMAT_VERSION);
    return false;
}

static bool refuse(const struct decoder *decoder, const char *what, struct error *error)
{
    if (decoder->options.accept_all)
        return true;
    error_set(error, EXIT_DAMAGED, "%s: %s", decoder->source->path, what);
    return false;
}

static void add_raw(struct decoder *decoder)
{
    struct segment segment = {.kind = SEGMENT_RAW,
                              .input = decoder->own_list.input_count++,
                              .bytes = decoder->source->size};

    decoder->kind = INPUT_RAW;
    if (segment.bytes > 0)
        segment_add(&decoder->own_list, &segment);
}

/* An image of memory none of whose rings can be read. */
static bool refuse_image(const struct decoder *decoder, const struct image_facts *facts,
                         struct error *error)
{
    if (facts->outside > 0)
        error_set(error, EXIT_DAMAGED,
                  "%s: the ring at offset %" PRIu64 " has its words at address 0x%08" PRIX32
                  ", which is not in this image; save more of the memory, or give the address of "
                  "its first byte with --base",
                  decoder->source->path, facts->outside_offset, facts->outside_address);
    else
        error_set(
            error, EXIT_DAMAGED,
            "%s: the ring at offset %" PRIu64
            " has a size or offsets that cannot be; to look for blocks without it, give --raw",
            decoder->source->path, facts->unusable_offset);
    return false;
}

static bool open_image(struct decoder *decoder, const struct image_facts *facts,
                       struct error *error)
{
    decoder->kind = INPUT_IMAGE;
    if (facts->rings == 0)
        return refuse_image(decoder, facts, error);
    if (facts->outside > 0)
        warn("%s: %" PRIu32 " more rings have their words outside of the image (first: ring at "
             "offset %" PRIu64 ", words at address 0x%08" PRIX32 ")",
             decoder->source->path, facts->outside, facts->outside_offset, facts->outside_address);
    if (facts->unusable > 0)
        warn("%s: %" PRIu32 " more rings have a size or offsets that cannot be (first: ring at "
             "offset %" PRIu64 ")",
             decoder->source->path, facts->unusable, facts->unusable_offset);
    if (facts->names_missing > 0)
        warn("%s: names of kernel objects cannot be read: the ring at offset %" PRIu64
             " has them at address 0x%08" PRIX32
             ", which is not wholly in the image, or in entries "
             "of a size that cannot be; save more of the memory",
             decoder->source->path, facts->names_offset, facts->names_address);
    return true;
}

/* What is no `.tare` file: a raw stream or an image of memory. */
static bool open_bare(struct decoder *decoder, struct error *error)
{
    const struct image_options options = {decoder->options.base_given, decoder->options.base};
    struct source *source = decoder->source;
    struct image_facts image = {0};
    uint64_t anchor = first_anchor(source);
    uint32_t version;

    /* A `.tare` file whose beginning is lost holds rings as well, but is no image of memory. */
    if (anchor > 0 && !decoder->options.raw && !container_has_chunk(source)) {
        image_index(source, &options, &decoder->own_list, &decoder->directory, &decoder->facts,
                    &image);
        if (image.rings > 0 || ((image.outside > 0 || image.unusable > 0) &&
                                (anchor < source->size || !decoder->options.accept_all)))
            return open_image(decoder, &image, error);
        if (image.foreign)
            return refuse_version(decoder, image.foreign_version, error);
    }
    add_raw(decoder);
    if (anchor < source->size || decoder->options.accept_all)
        return true;
    if (find_foreign(source, &version))
        return refuse_version(decoder, version, error);
    return refuse(decoder,
                  source->size == 0
                      ? "is empty; nothing was recorded or copied"
                      : "holds no recording: neither a .tare file nor a block of a stream nor a "
                        "ring was found in it; check that this is the right file, and that the "
                        "recorder was started",
                  error);
}

static bool open_source(struct decoder *decoder, struct error *error)
{
    bool damaged;

    if (!container_recognise(decoder->source))
        return open_bare(decoder, error);
    decoder->kind = INPUT_FILE;
    if (!container_index(decoder->source, &decoder->own_list, &decoder->directory, &decoder->facts,
                         error))
        return false;
    damaged = decoder->facts.finding_count > 0 || decoder->facts.bad_signature;
    if (has_ring(decoder) || has_block(decoder, &damaged) || !damaged)
        return true;
    return refuse(
        decoder,
        "is damaged beyond use: no block of any stream in it can be read; if the file was "
        "copied, copy it again",
        error);
}

struct decoder *decoder_open(const char *path, const struct decode_options *options,
                             struct error *error)
{
    struct decoder *decoder = memory_new(1, sizeof *decoder);

    if (options != NULL)
        decoder->options = *options;
    decoder->source = &decoder->own_source;
    decoder->list = &decoder->own_list;
    decoder->reader = (struct reader){.source = decoder->source,
                                      .list = decoder->list,
                                      .directory = &decoder->directory,
                                      .facts = &decoder->facts};
    if (!source_open(decoder->source, path, error) || !open_source(decoder, error)) {
        decoder_close(decoder);
        return NULL;
    }
    read_definitions(decoder);
    decoder->reader.names_listed = decoder->options.file_order;
    if (decoder->options.file_order || decoder->kind == INPUT_RAW) {
        merge_in_file_order(decoder, NULL, false);
    } else {
        split_salvage(decoder);
        merge_by_time(decoder);
    }
    merge_begin(decoder);
    return decoder;
}

void decoder_close(struct decoder *decoder)
{
    if (decoder == NULL)
        return;
    merge_free(decoder);
    segment_list_free(&decoder->own_list);
    source_close(&decoder->own_source);
    free(decoder);
}

enum input_kind decoder_kind(const struct decoder *decoder)
{
    return decoder->kind;
}

const struct decode_directory *decoder_directory(const struct decoder *decoder)
{
    return &decoder->directory;
}

const struct container_facts *decoder_facts(const struct decoder *decoder)
{
    return &decoder->facts;
}

uint64_t decoder_size(const struct decoder *decoder)
{
    return decoder->source->size;
}

uint64_t decoder_done(const struct decoder *decoder)
{
    return decoder->reader.done;
}
