#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd_check_report.h"
#include "dec_text.h"

#define PLACES_SHOWN 12u
#define KINDS_SHOWN 20u
#define STREAMS_SHOWN 40u
/* A clock that was declared more than this wrong is worth a word. */
#define RATE_TOLERANCE 0.02

/* ------------------------------------------------------------------ verdict */

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void append_missing(struct buffer *out, const struct check_totals *totals)
{
    uint64_t lost = totals->dropped + totals->suppressed + totals->torn;

    if (lost > 0) {
        buffer_printf(out,
                      "%" PRIu64 " of %" PRIu64 " attempted events are missing (%" PRIu64
                      " dropped, %" PRIu64 " suppressed, %" PRIu64 " torn)",
                      lost, totals->stored + lost, totals->dropped, totals->suppressed,
                      totals->torn);
        if (totals->gap_words > 0)
            buffer_text(out, ", and ");
    }
    if (totals->gap_words > 0)
        buffer_printf(
            out, "%" PRIu64 " gap%s hold%s %" PRIu64 " to %" PRIu64 " events that were not read",
            totals->gaps, plural(totals->gaps), totals->gaps == 1 ? "s" : "",
            (totals->gap_words + 2) / 3, totals->gap_words);
    if (lost == 0 && totals->gap_words == 0)
        buffer_printf(out, "%" PRIu64 " words before the first block were not read",
                      totals->gap_before);
}

static void append_damage(struct buffer *out, const struct check *check,
                          const struct container_facts *facts)
{
    const struct check_totals *totals = &check->totals;
    uint64_t file_faults = facts->misfits + facts->bad_signature, clock;
    const char *separator = "";

    for (unsigned i = 0; i < FILE_FAULT_COUNT; i++)
        file_faults +=
            i == FILE_FAULT_TRUNCATED || i == FILE_FAULT_BAD_NAMES ? 0 : facts->faults[i];
    clock = totals->faults[STREAM_FAULT_CLOCK_BACKWARDS];
    if (file_faults > 0) {
        buffer_printf(out, "%" PRIu64 " fault%s in the file", file_faults, plural(file_faults));
        separator = ", ";
    }
    if (totals->damage > clock) {
        buffer_printf(out, "%s%" PRIu64 " fault%s in the streams", separator,
                      totals->damage - clock, plural(totals->damage - clock));
        separator = ", ";
    }
    if (clock > 0) {
        buffer_printf(out, "%sthe clock went back %" PRIu64 " time%s", separator, clock,
                      plural(clock));
        separator = ", ";
    }
    for (size_t i = 0; i < check->session_count; i++)
        if (check->sessions[i].clock_stands) {
            buffer_printf(out, "%sthe clock stood still", separator);
            separator = ", ";
            break;
        }
    if (totals->mixed_streams > 0) {
        buffer_printf(out, "%s%" PRIu32 " stream%s with blocks under the name of another",
                      separator, totals->mixed_streams, plural(totals->mixed_streams));
        separator = ", ";
    }
    if (totals->unverified_blocks > 0)
        buffer_printf(out, "%s%" PRIu64 " block%s that no hash vouches for", separator,
                      totals->unverified_blocks, plural(totals->unverified_blocks));
    buffer_text(out, "; every intact block was read");
}

static void append_unfinished(struct buffer *out, const struct check *check,
                              const struct check_source *source)
{
    const struct container_facts *facts = decoder_facts(source->decoder);

    if (facts->faults[FILE_FAULT_TRUNCATED] > 0)
        buffer_text(out, "the file is cut");
    else if (check->totals.faults[STREAM_FAULT_TRUNCATED] > 0)
        buffer_text(out, "the data end within a record");
    else
        buffer_text(out, "the collector did not come to its end (it was killed, or is at work)");
}

/* Seconds of all sessions together; negative: unknown. */
static double total_seconds(const struct check *check)
{
    double seconds = 0;

    for (size_t i = 0; i < check->session_count; i++) {
        if (check->sessions[i].duration_ns < 0)
            return -1;
        seconds += (double)check->sessions[i].duration_ns / 1e9;
    }
    return seconds;
}

static void append_amount(struct buffer *out, const struct check *check)
{
    const struct check_totals *totals = &check->totals;
    double seconds = total_seconds(check);

    buffer_printf(out, "%" PRIu64 " event%s of %" PRIu32 " stream%s", totals->stored,
                  plural(totals->stored), totals->streams, plural(totals->streams));
    if (seconds >= 0)
        buffer_printf(out, " in %.6g s", seconds);
}

void check_append_verdict(struct buffer *out, const struct check *check,
                          const struct check_source *source)
{
    const struct container_facts *facts = decoder_facts(source->decoder);

    text_append_safe(out, source->path, strlen(source->path));
    buffer_printf(out, ": %s: ", check_verdict_name(check->verdict));
    switch (check->verdict) {
    case CHECK_EMPTY:
        buffer_text(out, "the recording holds no event");
        if (check->unfinished) {
            buffer_text(out, "; ");
            append_unfinished(out, check, source);
        }
        if (check->damaged) {
            buffer_text(out, "; ");
            append_damage(out, check, facts);
        }
        return;
    case CHECK_DAMAGED:
        append_damage(out, check, facts);
        if (check->unfinished) {
            buffer_text(out, "; ");
            append_unfinished(out, check, source);
        }
        break;
    case CHECK_UNFINISHED:
        append_unfinished(out, check, source);
        break;
    case CHECK_LOSSY:
        append_missing(out, &check->totals);
        buffer_text(out, "; what is there is sound");
        break;
    case CHECK_COMPLETE:
        append_amount(out, check);
        buffer_text(out, ", nothing lost, nothing damaged");
        break;
    }
    if (check->lossy && check->verdict != CHECK_LOSSY) {
        buffer_text(out, "; ");
        append_missing(out, &check->totals);
    }
    if (check->totals.overwritten > 0)
        buffer_printf(out, "; %" PRIu64 " words before the oldest block were overwritten",
                      check->totals.overwritten);
}

/* ------------------------------------------------------------------ lines of facts */

/* "  label        text" */
static void label(struct buffer *out, const char *name)
{
    buffer_printf(out, "  %-12s ", name);
}

/* A number that is too large for an integer costs nothing but its own exactness. */
json_t *check_json(const struct buffer *text)
{
    json_t *json = NULL;

    if (text->size > 0)
        json = json_loadb(text->data, text->size, 0, NULL);
    if (json == NULL && text->size > 0)
        json = json_loadb(text->data, text->size, JSON_DECODE_INT_AS_REAL, NULL);
    return json;
}

static void append_json_string(struct buffer *out, const json_t *object, const char *key,
                               const char *before)
{
    const char *text = json_string_value(json_object_get(object, key));

    if (text == NULL)
        return;
    buffer_text(out, before);
    text_append_safe(out, text, strlen(text));
}

static void append_command(struct buffer *out, const struct container_facts *facts)
{
    json_t *info = check_json(&facts->info);
    const json_t *command = json_object_get(info, "command");

    if (json_array_size(command) > 0) {
        label(out, "command");
        for (size_t i = 0; i < json_array_size(command); i++) {
            const char *word = json_string_value(json_array_get(command, i));

            if (word == NULL)
                continue;
            buffer_text(out, i == 0 ? "" : " ");
            text_append_safe(out, word, strlen(word));
        }
        append_json_string(out, info, "machine", "   on ");
        append_json_string(out, info, "system", " ");
        append_json_string(out, info, "system_release", " ");
        buffer_text(out, "\n");
    }
    json_decref(info);
}

static void append_end(struct buffer *out, const struct container_facts *facts)
{
    json_t *end = check_json(&facts->end);
    json_int_t number = json_integer_value(json_object_get(end, "command_signal"));
    const json_t *status = json_object_get(end, "command_status");

    if (number != 0)
        buffer_printf(out, ", the command was ended by signal %" JSON_INTEGER_FORMAT, number);
    else if (json_is_integer(status))
        buffer_printf(out, ", the command ended with status %" JSON_INTEGER_FORMAT,
                      json_integer_value(status));
    json_decref(end);
}

static void append_input(struct buffer *out, const struct check_source *source)
{
    static const char *const kinds[] = {
        [INPUT_FILE] = ".tare file", [INPUT_RAW] = "raw stream", [INPUT_IMAGE] = "image of memory"};
    const struct container_facts *facts = decoder_facts(source->decoder);
    enum input_kind kind = decoder_kind(source->decoder);

    append_command(out, facts);
    label(out, "input");
    buffer_printf(out, "%s, %" PRIu64 " bytes", kinds[kind], decoder_size(source->decoder));
    if (kind == INPUT_FILE) {
        buffer_text(out, facts->finished ? "; the collector finished in order"
                                         : "; the collector did not finish");
        append_end(out, facts);
    }
    buffer_text(out, "\n");
}

static void append_seconds(struct buffer *out, const struct check_session *session, uint64_t ticks)
{
    if (session->scale.source == CLOCK_UNKNOWN)
        buffer_printf(out, "%" PRIu64 " ticks", ticks);
    else
        buffer_printf(out, "%.9f s", (double)scale_ns(&session->scale, ticks) / 1e9);
}

static void append_session(struct buffer *out, const struct check_session *session)
{
    time_t seconds = (time_t)(session->scale.origin_realtime_ns / UINT64_C(1000000000));
    struct tm parts;
    char date[40];

    label(out, "session");
    buffer_printf(out, "%08" PRIX32, session->session->number);
    if (session->scale.realtime_known && gmtime_r(&seconds, &parts) != NULL &&
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S UTC", &parts) > 0)
        buffer_printf(out, ", began %s", date);
    buffer_text(out, ", recorded from ");
    append_seconds(out, session, session->first_ticks);
    buffer_text(out, " to ");
    append_seconds(out, session, session->last_ticks);
    buffer_text(out, "\n");
}

static void append_events(struct buffer *out, const struct check *check)
{
    const struct check_totals *totals = &check->totals;

    label(out, "events");
    buffer_printf(out,
                  "%" PRIu64 " attempted = %" PRIu64 " stored + %" PRIu64 " dropped + %" PRIu64
                  " suppressed + %" PRIu64 " torn",
                  totals->stored + totals->dropped + totals->suppressed + totals->torn,
                  totals->stored, totals->dropped, totals->suppressed, totals->torn);
    if (totals->exact_streams == totals->streams)
        buffer_text(out, " (exact)\n");
    else
        buffer_printf(out, " (exact for %" PRIu32 " of %" PRIu32 " streams, else at least)\n",
                      totals->exact_streams, totals->streams);
    if (totals->texts > 0) {
        label(out, "");
        buffer_printf(out, "%" PRIu64 " of the stored ones are pieces of texts\n", totals->texts);
    }
    if (totals->suppressed_no_ring > 0) {
        label(out, "");
        buffer_printf(out,
                      "%" PRIu64 " of the suppressed ones came from threads that found no ring: "
                      "record with more --rings\n",
                      totals->suppressed_no_ring);
    }
}

static void append_share(struct buffer *out, const char *name, uint64_t words, uint64_t all)
{
    buffer_printf(out, "%s %.2f %%", name, 100 * (double)words / (double)all);
}

static void append_bytes(struct buffer *out, const struct check_totals *totals)
{
    uint64_t rest =
        totals->words - totals->words_events - totals->words_anchors - totals->words_epochs;

    if (totals->words == 0)
        return;
    label(out, "words");
    buffer_printf(out, "%" PRIu64 " in %" PRIu64 " block%s: ", totals->words, totals->blocks,
                  plural(totals->blocks));
    append_share(out, "events", totals->words_events, totals->words);
    append_share(out, ", anchors", totals->words_anchors, totals->words);
    append_share(out, ", epochs", totals->words_epochs, totals->words);
    append_share(out, ", names, notes and texts", rest, totals->words);
    buffer_text(out, "\n");
}

static void append_names(struct buffer *out, const struct check_totals *totals)
{
    if (totals->names_lost + totals->ids_refused + totals->unnamed + totals->rings_refused +
            totals->reserved ==
        0)
        return;
    label(out, "names");
    buffer_printf(out,
                  "%" PRIu64 " declarations got no id, %" PRIu64
                  " names or kernel objects found no room, %" PRIu64 " events are unnamed, %" PRIu64
                  " rings were refused, %" PRIu64 " records are of a later version\n",
                  totals->ids_refused, totals->names_lost, totals->unnamed, totals->rings_refused,
                  totals->reserved);
}

static void append_objects(struct buffer *out, const struct check_totals *totals,
                           const struct container_facts *facts)
{
    const char *separator = ": ";

    if (totals->all_objects + totals->unnumbered + facts->names_tables == 0)
        return;
    label(out, "objects");
    buffer_printf(out, "%" PRIu64 " of a kernel", totals->all_objects);
    for (unsigned class = 0; class < TARE_CLASS_COUNT; class ++) {
        const char *name = text_class_name(class);

        if (totals->objects[class] == 0)
            continue;
        buffer_printf(out, "%s%" PRIu64 " %s", separator, totals->objects[class], name);
        if (totals->objects[class] != 1)
            buffer_text(out, name[strlen(name) - 1] == 'x' ? "es" : "s");
        separator = ", ";
    }
    if (totals->unnamed_objects > 0)
        buffer_printf(out, "; %" PRIu64 " without a name", totals->unnamed_objects);
    if (facts->names_tables > 0)
        buffer_printf(out, "; %" PRIu64 " names table%s read\n", facts->names_tables,
                      facts->names_tables == 1 ? " was" : "s were");
    else
        buffer_text(out, "; no names table was read\n");
    if (totals->unnumbered > 0) {
        label(out, "");
        buffer_printf(out,
                      "%" PRIu64 " event%s of objects that found no number of their own: they are "
                      "shown together, as other tasks and other objects\n",
                      totals->unnumbered, plural(totals->unnumbered));
    }
}

static void append_damage_lines(struct buffer *out, const struct check *check,
                                const struct container_facts *facts)
{
    const struct check_totals *totals = &check->totals;

    if (facts->skipped_before > 0) {
        label(out, "before sync");
        buffer_printf(out,
                      "%" PRIu64 " bytes stood before the first block and belong to no stream\n",
                      facts->skipped_before);
    }
    if (totals->overwritten > 0) {
        label(out, "overwritten");
        buffer_printf(out,
                      "%" PRIu64 " words (%" PRIu64 " to %" PRIu64
                      " events) before the oldest block: newer ones took their place\n",
                      totals->overwritten, (totals->overwritten + 2) / 3, totals->overwritten);
    }
    if (totals->gap_before > 0) {
        label(out, "late");
        buffer_printf(out, "%" PRIu64 " words before the first block that was read\n",
                      totals->gap_before);
    }
    if (totals->skipped_bytes + totals->cut_bytes + totals->reread_bytes > 0) {
        label(out, "resync");
        buffer_printf(out,
                      "%" PRIu64 " bytes were passed over, %" PRIu64
                      " bytes of records were cut off, %" PRIu64
                      " bytes were misread and read again\n",
                      totals->skipped_bytes, totals->cut_bytes, totals->reread_bytes);
    }
    for (unsigned i = 0; i < STREAM_FAULT_COUNT; i++)
        if (totals->faults[i] > 0) {
            label(out, "fault");
            buffer_printf(out, "%" PRIu64 " x %s: %s\n", totals->faults[i],
                          stream_fault_name((enum stream_fault)i),
                          stream_fault_text((enum stream_fault)i));
        }
    for (unsigned i = 0; i < FILE_FAULT_COUNT; i++)
        if (facts->faults[i] > 0) {
            label(out, "file fault");
            buffer_printf(out, "%" PRIu64 " x %s: %s\n", facts->faults[i],
                          file_fault_name((enum file_fault)i), file_fault_text((enum file_fault)i));
        }
    if (facts->bad_signature || facts->misfits > 0) {
        label(out, "file fault");
        buffer_printf(out, "%s%" PRIu64 " chunks whose content cannot be\n",
                      facts->bad_signature ? "the signature at offset 0 is damaged; " : "",
                      facts->misfits);
    }
}

/* ------------------------------------------------------------------ clock and cost */

static void append_clock(struct buffer *out, const struct check_session *session)
{
    static const char *const sources[] = {[CLOCK_SNAPSHOTS] = "by two readings of both clocks",
                                          [CLOCK_REGION] =
                                              "by the collector's estimate at the start",
                                          [CLOCK_RECORD] = "as the recorder says"};
    const struct session_scale *scale = &session->scale;
    double off;

    label(out, "clock");
    if (scale->source == CLOCK_UNKNOWN) {
        buffer_text(out, "the recording does not say how long a tick is; times are ticks\n");
        return;
    }
    buffer_printf(out, "%.10g ticks/s, %s", scale->ticks_per_second, sources[scale->source]);
    if (scale->source == CLOCK_SNAPSHOTS) {
        buffer_printf(out, " %.6g s apart, each good to %.3g us", scale->span_s,
                      (double)scale->uncertainty_ns / 2e3);
        if (session->session->snapshot_count > 2)
            buffer_printf(out, "; %zu between them are off by %.3g us at most",
                          session->session->snapshot_count - 2,
                          fabs(scale->worst_residual_ns) / 1e3);
    }
    buffer_text(out, "\n");
    if (session->clock_stands) {
        label(out, "");
        buffer_text(out, "ALL events have the same time: the clock of the recorder does not run\n");
    }
    off = scale->declared_ticks_per_second > 0
              ? scale->ticks_per_second / scale->declared_ticks_per_second - 1
              : 0;
    if (fabs(off) > RATE_TOLERANCE) {
        label(out, "");
        buffer_printf(out,
                      "the declared rate of %.10g ticks/s is %.1f %% off: the clock changed "
                      "its rate, or was declared wrongly\n",
                      scale->declared_ticks_per_second, 100 * off);
    }
}

static void append_cost(struct buffer *out, const struct check_session *session)
{
    double all = 0;

    if (session->cost_ns[0] + session->cost_ns[1] + session->cost_ns[2] <= 0)
        return;
    label(out, "self cost");
    for (unsigned i = 0; i < 3; i++)
        all += session->cost_ns[i] * (double)session->by_arguments[i];
    buffer_printf(out,
                  "%.1f, %.1f and %.1f ns an event with 0, 1 and 2 arguments, measured by the "
                  "recorder at its start",
                  session->cost_ns[0], session->cost_ns[1], session->cost_ns[2]);
    if (session->duration_ns > 0)
        buffer_printf(
            out,
            ";\n               that is %.3g ms for the events stored here, %.2g %% of one "
            "processor",
            all / 1e6, 100 * all / (double)session->duration_ns);
    buffer_text(out, "\n");
}

/* ------------------------------------------------------------------ tables */

static const char *state_of(const struct decode_stream *stream)
{
    if (stream->counts.torn > 0)
        return "killed within a record";
    if (stream->counts.ended)
        return "ended in order";
    return check_is_active(stream) ? "still recording" : "closed";
}

static void append_streams(struct buffer *out, const struct check_source *source)
{
    const struct decode_directory *directory = decoder_directory(source->decoder);
    struct buffer name = {0};
    size_t shown = 0, left = 0;

    buffer_printf(out, "\n  %-28s %12s %12s %10s %10s %4s  %s\n", "stream", "attempted", "stored",
                  "dropped", "suppressed", "torn", "at the end");
    for (size_t i = 0; i < directory->stream_count; i++) {
        const struct decode_stream *stream = directory->streams[i];
        const struct stream_counts *counts = &stream->counts;
        uint64_t stored = counts->events + counts->texts;

        if (!check_counts_stream(stream))
            continue;
        if (shown == STREAMS_SHOWN) {
            left++;
            continue;
        }
        shown++;
        buffer_clear(&name);
        buffer_printf(&name, "%" PRIu32 " ", stream->number);
        stream_append_name(&name, stream);
        buffer_printf(out,
                      "  %-28s %12" PRIu64 " %12" PRIu64 " %10" PRIu64 " %10" PRIu64 " %4" PRIu32
                      "  %s%s\n",
                      name.data, stored + counts->dropped + counts->suppressed + counts->torn,
                      stored, counts->dropped, counts->suppressed, counts->torn, state_of(stream),
                      check_is_exact(stream) ? "" : ", counts are at least");
    }
    if (left > 0)
        buffer_printf(out, "  ... and %zu more streams (--json lists all)\n", left);
    buffer_free(&name);
}

const char *check_kind_class(const struct check_kind *kind)
{
    if (kind->definition != NULL)
        return text_class_name(kind->definition->class);
    if (kind->object != NULL)
        return text_class_name(kind->object->class);
    return kind->id == TARE_ID_KERNEL ? "kernel" : NULL;
}

static void append_kind_name(struct buffer *out, const struct check_kind *kind)
{
    if (kind->definition != NULL || kind->object == NULL) {
        text_append_event_name(out, kind->definition, kind->id);
        return;
    }
    text_append_object_name(out, kind->object);
    buffer_printf(out, " %s", text_operation_name(kind->object->class, kind->operation));
}

static void append_kinds(struct buffer *out, const struct check *check)
{
    if (check->kind_count == 0)
        return;
    buffer_printf(out, "\n  %12s  %s\n", "events", "kind");
    for (size_t i = 0; i < check->kind_count && i < KINDS_SHOWN; i++) {
        const struct check_kind *kind = &check->kinds[i];
        const char *class = check_kind_class(kind);

        buffer_printf(out, "  %12" PRIu64 "  ", kind->events);
        append_kind_name(out, kind);
        if (class == NULL)
            buffer_text(out, kind->definition == NULL ? " (no definition)" : "");
        else if (kind->definition == NULL ? kind->object != NULL
                                          : kind->definition->class != TARE_CLASS_EVENT)
            buffer_printf(out, " (%s)", class);
        buffer_text(out, "\n");
    }
    if (check->kind_count > KINDS_SHOWN)
        buffer_printf(out, "  ... and %zu more kinds (--json lists all)\n",
                      check->kind_count - KINDS_SHOWN);
}

static void append_place_text(struct buffer *out, const struct check_place *place,
                              const struct check_session *session)
{
    switch (place->kind) {
    case NOTE_LOSS:
        buffer_printf(out, "%" PRIu64 " event%s %s", place->amount, plural(place->amount),
                      place->suppressed ? "suppressed" : "dropped");
        if (!place->from_known) {
            buffer_text(out, ", when is not known");
        } else if (place->amount == 1) {
            buffer_text(out, " at ");
            append_seconds(out, session, place->from_ticks);
        } else {
            buffer_text(out, " from ");
            append_seconds(out, session, place->from_ticks);
            buffer_text(out, " to ");
            append_seconds(out, session, place->to_ticks);
        }
        buffer_text(out, place->pending ? ", at the very end" : "");
        return;
    case NOTE_GAP:
        buffer_printf(out, "%s %" PRIu64 " words (%" PRIu64 " to %" PRIu64 " events)",
                      place->before && stream_is_overwritten(place->stream) ? "overwritten:"
                                                                            : "gap of",
                      place->amount, (place->amount + 2) / 3, place->amount);
        if (place->from_known) {
            buffer_text(out, " from ");
            append_seconds(out, session, place->from_ticks);
            buffer_text(out, " to ");
        } else {
            buffer_text(out, " before ");
        }
        append_seconds(out, session, place->to_ticks);
        return;
    case NOTE_FAULT:
        buffer_printf(out, "%s", stream_fault_name(place->fault));
        if (place->fault == STREAM_FAULT_CLOCK_BACKWARDS)
            buffer_printf(out, " by %" PRIu64 " ticks", place->amount);
        break;
    case NOTE_SKIPPED:
        buffer_printf(out, "%" PRIu64 " bytes passed over", place->amount);
        break;
    default:
        buffer_text(out, "unverified block");
        break;
    }
    buffer_printf(out, " at word %" PRIu64 ", ", place->index);
    append_seconds(out, session, place->to_ticks);
}

static void append_places(struct buffer *out, const struct check *check)
{
    uint64_t all = 0;

    for (unsigned i = 0; i <= NOTE_TOTAL; i++)
        all += check->place_totals[i];
    if (all == 0)
        return;
    buffer_text(out, "\n  where\n");
    for (size_t i = 0; i < check->place_count && i < PLACES_SHOWN; i++) {
        const struct check_place *place = &check->places[i];

        buffer_text(out, "  ");
        stream_append_name(out, place->stream);
        buffer_text(out, ": ");
        append_place_text(out, place, &check->sessions[place->stream->session->ordinal]);
        buffer_text(out, "\n");
    }
    if (all > PLACES_SHOWN)
        buffer_printf(out,
                      "  ... and %" PRIu64 " more places (--json lists up to %u of each kind)\n",
                      all - PLACES_SHOWN, CHECK_PLACES);
}

static void append_findings(struct buffer *out, const struct container_facts *facts)
{
    for (size_t i = 0; i < facts->finding_count && i < PLACES_SHOWN; i++) {
        const struct file_finding *finding = &facts->findings[i];

        if (finding->kind == FINDING_SKIPPED)
            continue;
        buffer_printf(out, "  file: %s, %" PRIu64 " bytes at offset %" PRIu64 "\n",
                      file_fault_name(finding->fault), finding->bytes, finding->offset);
    }
}

void check_append_text(struct buffer *out, const struct check *check,
                       const struct check_source *source)
{
    const struct container_facts *facts = decoder_facts(source->decoder);

    check_append_verdict(out, check, source);
    buffer_text(out, "\n");
    append_input(out, source);
    append_events(out, check);
    append_bytes(out, &check->totals);
    append_names(out, &check->totals);
    append_objects(out, &check->totals, facts);
    append_damage_lines(out, check, facts);
    for (size_t i = 0; i < check->session_count && i < STREAMS_SHOWN; i++) {
        append_session(out, &check->sessions[i]);
        append_clock(out, &check->sessions[i]);
        append_cost(out, &check->sessions[i]);
    }
    append_streams(out, source);
    append_kinds(out, check);
    append_places(out, check);
    append_findings(out, facts);
}
