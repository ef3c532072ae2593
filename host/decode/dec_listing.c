#include "dec_listing.h"

#include <inttypes.h>
#include <stdlib.h>

#include "dec_text.h"

/* The lines of one stream; streams are printed in the order in which they first appear. */
struct stream_lines {
    struct buffer lines;
    uint32_t ordinal;
};

struct listing {
    struct stream_lines *streams;
    size_t count, capacity;
    size_t *by_ordinal; /* 1 + number in `streams` */
    size_t ordinals;
};

static struct buffer *lines_of(struct listing *listing, const struct decode_stream *stream)
{
    while (stream->ordinal >= listing->ordinals) {
        size_t count = 2 * listing->ordinals + 16;

        listing->by_ordinal = memory_resize(listing->by_ordinal, count, sizeof(size_t));
        for (size_t i = listing->ordinals; i < count; i++)
            listing->by_ordinal[i] = 0;
        listing->ordinals = count;
    }
    if (listing->by_ordinal[stream->ordinal] == 0) {
        if (listing->count == listing->capacity) {
            listing->capacity = 2 * listing->capacity + 16;
            listing->streams =
                memory_resize(listing->streams, listing->capacity, sizeof *listing->streams);
        }
        listing->streams[listing->count++] = (struct stream_lines){.ordinal = stream->ordinal};
        listing->by_ordinal[stream->ordinal] = listing->count;
    }
    return &listing->streams[listing->by_ordinal[stream->ordinal] - 1].lines;
}

static void append_record(struct buffer *out, const char *what, uint32_t number, uint64_t ticks,
                          uint32_t id, const uint32_t argument[2])
{
    uint32_t words = TARE_RECORD_WORDS(id);

    buffer_printf(out, "%s %" PRIu32 " %" PRIu64 " %03" PRIX32, what, number, ticks, id);
    for (uint32_t i = 0; i + 1 < words; i++)
        buffer_printf(out, " %08" PRIX32, argument[i]);
    buffer_text(out, "\n");
}

static void append_loss(struct buffer *out, uint32_t number, const struct note *note)
{
    buffer_printf(out, "loss %" PRIu32 " %s %" PRIu32 " ", number,
                  note->loss.suppressed ? "suppressed" : "dropped", note->loss.count);
    if (note->loss.first_known)
        buffer_printf(out, "%" PRIu64, note->loss.first);
    else
        buffer_text(out, "-");
    buffer_printf(out, " %" PRIu32 "\n", note->loss.span);
}

/* What a DEFINE record or an entry of a names table says. */
static void append_definition(struct buffer *out, const char *what, uint32_t number,
                              const struct definition *definition)
{
    buffer_printf(out, "%s %" PRIu32 " %" PRIu32 " %" PRIu32 " %03" PRIX32 " \"", what, number,
                  (uint32_t)definition->class, definition->category, definition->id);
    text_append_escaped(out, definition->text, definition->text_size);
    buffer_text(out, "\"\n");
}

static void append_total(struct buffer *out, const struct decode_stream *stream)
{
    const struct stream_counts *counts = &stream->counts;

    buffer_printf(out,
                  "total %" PRIu32 " stored %" PRIu64 " dropped %" PRIu32 " suppressed %" PRIu32
                  " torn %" PRIu32 "\n",
                  stream->number, counts->events + counts->texts, (uint32_t)counts->dropped,
                  (uint32_t)counts->suppressed, counts->torn);
}

static void append_note(struct buffer *out, const struct decode_run *run, const struct note *note)
{
    const struct decode_stream *stream = run->stream;
    uint32_t number = stream->number;

    switch (note->kind) {
    case NOTE_STREAM:
        buffer_printf(out, "stream %" PRIu32 " session %08" PRIX32 " block %" PRIu32 "\n", number,
                      stream->session->number, stream->block_words);
        break;
    case NOTE_DEFINE:
        append_definition(out, "define", number, note->definition);
        break;
    case NOTE_NAME:
        append_definition(out, "name", number, note->definition);
        break;
    case NOTE_OBJECT:
        break;
    case NOTE_TICK:
        buffer_printf(out, "tick %" PRIu32 " %" PRIu64 " %" PRIu32 "\n", number, note->ticks,
                      note->tick);
        break;
    case NOTE_TEXT:
        if (note->text.cut)
            break;
        buffer_printf(out, "text %" PRIu32 " %" PRIu64 " \"", number, note->text.event_ticks);
        text_append_escaped(out, batch_text(run->batch, note), note->text.size);
        buffer_text(out, "\"\n");
        break;
    case NOTE_EPOCH:
        buffer_printf(out, "epoch %" PRIu32 " %" PRIu64 "\n", number, note->ticks);
        break;
    case NOTE_LOSS:
        append_loss(out, number, note);
        break;
    case NOTE_GAP:
        buffer_printf(out, "gap %" PRIu32 " %" PRIu32 "\n", number, note->gap.words);
        break;
    case NOTE_FAULT:
        buffer_printf(out, "fault %" PRIu32 " %" PRIu32 " %s\n", number, (uint32_t)note->index,
                      stream_fault_name(note->fault.fault));
        break;
    case NOTE_SKIPPED:
        buffer_printf(out, "skipped %" PRIu64 "\n", note->bytes);
        break;
    case NOTE_UNVERIFIED:
        buffer_printf(out, "unverified %" PRIu32 " %" PRIu32 "\n", number, (uint32_t)note->index);
        break;
    case NOTE_CLOCK:
        buffer_printf(out, "clock %" PRIu32 " %" PRIu64 "\n", number, note->rate);
        break;
    case NOTE_COST:
        buffer_printf(out, "cost %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", number, note->cost.words,
                      note->cost.milliticks);
        break;
    case NOTE_RESERVED:
        append_record(out, "reserved", number, note->ticks, note->reserved.id,
                      note->reserved.argument);
        break;
    case NOTE_END:
        buffer_printf(out, "end %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", number, note->end.dropped,
                      note->end.suppressed);
        break;
    case NOTE_TOTAL:
        append_total(out, stream);
        break;
    }
}

static void append_run(struct buffer *out, const struct decode_run *run)
{
    const struct note *note = run->notes, *end = note + run->note_count;

    for (uint32_t i = 0; i <= run->count; i++) {
        for (; note < end && note->before == i; note++)
            append_note(out, run, note);
        if (i < run->count)
            append_record(out, "event", run->stream->number, run->events[i].ticks,
                          run->events[i].id, run->events[i].argument);
    }
}

/* Lines that belong to no stream. */
static void append_findings(struct buffer *out, const struct container_facts *facts)
{
    for (size_t i = 0; i < facts->finding_count; i++) {
        const struct file_finding *finding = &facts->findings[i];

        if (finding->kind == FINDING_NAME)
            append_definition(out, "name", finding->stream, finding->definition);
        else if (finding->kind == FINDING_SKIPPED)
            buffer_printf(out, "skipped %" PRIu64 "\n", finding->bytes);
        else if (finding->has_stream)
            buffer_printf(out, "fault %" PRIu32 " %" PRIu32 " %s\n", finding->stream,
                          (uint32_t)finding->index, file_fault_name(finding->fault));
        else
            buffer_printf(out, "fault - %" PRIu64 " %s\n", finding->offset,
                          file_fault_name(finding->fault));
    }
}

enum exit_code listing_append(struct buffer *out, struct decoder *decoder)
{
    struct listing listing = {0};
    struct decode_run run;
    const struct container_facts *facts = decoder_facts(decoder);
    bool found, undamaged;

    while (decoder_next(decoder, &run))
        append_run(lines_of(&listing, run.stream), &run);
    append_findings(out, facts);
    for (size_t i = 0; i < listing.count; i++) {
        buffer_append(out, listing.streams[i].lines.data, listing.streams[i].lines.size);
        buffer_free(&listing.streams[i].lines);
    }
    found = listing.count > 0;
    undamaged =
        decoder_kind(decoder) == INPUT_FILE && facts_faults(facts) == 0 && !facts->bad_signature;
    free(listing.streams);
    free(listing.by_ordinal);
    return found || undamaged ? EXIT_DONE : EXIT_DAMAGED;
}
