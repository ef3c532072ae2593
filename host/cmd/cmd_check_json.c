#include <inttypes.h>
#include <string.h>

#include "base_json.h"
#include "cmd_check_report.h"
#include "dec_text.h"

static void put_totals(struct json *json, const struct check_totals *totals)
{
    uint64_t lost = totals->dropped + totals->suppressed + totals->torn;

    json_put_unsigned(json, "attempted_events", totals->stored + lost);
    json_put_unsigned(json, "stored_events", totals->stored);
    json_put_unsigned(json, "lost_events", lost);
    json_put_unsigned(json, "dropped_events", totals->dropped);
    json_put_unsigned(json, "suppressed_events", totals->suppressed);
    json_put_unsigned(json, "torn_events", totals->torn);
    json_put_bool(json, "counts_exact", totals->exact_streams == totals->streams);
    json_put_unsigned(json, "suppressed_no_ring_events", totals->suppressed_no_ring);
    json_put_unsigned(json, "unnamed_events", totals->unnamed);
    json_put_unsigned(json, "text_records", totals->texts);
    json_put_unsigned(json, "reserved_records", totals->reserved);
    json_put_unsigned(json, "gaps", totals->gaps);
    json_put_unsigned(json, "gap_words", totals->gap_words);
    json_put_unsigned(json, "gap_events_at_least", (totals->gap_words + 2) / 3);
    json_put_unsigned(json, "gap_events_at_most", totals->gap_words);
    json_put_unsigned(json, "words_before_first_block", totals->gap_before);
    json_put_unsigned(json, "overwritten_words", totals->overwritten);
    json_put_unsigned(json, "skipped_bytes", totals->skipped_bytes);
    json_put_unsigned(json, "cut_bytes", totals->cut_bytes);
    json_put_unsigned(json, "misread_bytes", totals->reread_bytes);
    json_put_unsigned(json, "blocks", totals->blocks);
    json_put_unsigned(json, "unverified_blocks", totals->unverified_blocks);
    json_put_unsigned(json, "words", totals->words);
    json_put_unsigned(json, "event_words", totals->words_events);
    json_put_unsigned(json, "anchor_words", totals->words_anchors);
    json_put_unsigned(json, "epoch_words", totals->words_epochs);
    json_put_unsigned(json, "names_lost", totals->names_lost);
    json_put_unsigned(json, "ids_refused", totals->ids_refused);
    json_put_unsigned(json, "rings_refused", totals->rings_refused);
    json_put_unsigned(json, "unnumbered_events", totals->unnumbered);
    json_put_unsigned(json, "kernel_objects", totals->all_objects);
    json_put_unsigned(json, "kernel_objects_unnamed", totals->unnamed_objects);
    json_put_object(json, "kernel_objects_by_class");
    for (unsigned i = 0; i < TARE_CLASS_COUNT; i++)
        if (totals->objects[i] > 0)
            json_put_unsigned(json, text_class_name(i), totals->objects[i]);
    json_end_object(json);
    json_put_unsigned(json, "mixed_streams", totals->mixed_streams);
    json_put_unsigned(json, "active_streams", totals->active_streams);
    json_put_object(json, "faults");
    for (unsigned i = 0; i < STREAM_FAULT_COUNT; i++)
        json_put_unsigned(json, stream_fault_name((enum stream_fault)i), totals->faults[i]);
    json_end_object(json);
}

static void put_file(struct json *json, const struct check_source *source)
{
    static const char *const kinds[] = {
        [INPUT_FILE] = "tare", [INPUT_RAW] = "raw", [INPUT_IMAGE] = "image"};
    const struct container_facts *facts = decoder_facts(source->decoder);

    json_put_text(json, "input", kinds[decoder_kind(source->decoder)]);
    json_put_unsigned(json, "file_bytes", decoder_size(source->decoder));
    json_put_bool(json, "collector_finished", facts->finished);
    json_put_bool(json, "signature_damaged", facts->bad_signature);
    json_put_unsigned(json, "unusable_chunks", facts->misfits);
    json_put_unsigned(json, "names_tables", facts->names_tables);
    json_put_unsigned(json, "damaged_bytes", facts->damaged_bytes);
    json_put_unsigned(json, "bytes_before_synchronisation", facts->skipped_before);
    json_put_object(json, "file_faults");
    for (unsigned i = 0; i < FILE_FAULT_COUNT; i++)
        json_put_unsigned(json, file_fault_name((enum file_fault)i), facts->faults[i]);
    json_end_object(json);
}

static void put_number(struct json *json, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    if (json_is_integer(value))
        json_put_integer(json, key, json_integer_value(value));
    else if (json_is_real(value))
        json_put_number(json, key, json_real_value(value));
}

/* Numbers of the collector's END chunk that have the same names here. */
static void put_collector(struct json *json, const struct container_facts *facts)
{
    static const char *const from_info[] = {"poll_requested_ns", "rings", "ring_bytes",
                                            "block_words"};
    static const char *const from_end[] = {"command_status",
                                           "command_signal",
                                           "duration_ns",
                                           "highest_fill_bytes",
                                           "polls",
                                           "poll_mean_ns",
                                           "poll_longest_ns",
                                           "collector_user_us",
                                           "collector_system_us",
                                           "collector_peak_kib"};
    json_t *info = check_json(&facts->info), *end = check_json(&facts->end);

    for (size_t i = 0; i < sizeof from_info / sizeof *from_info; i++)
        put_number(json, info, from_info[i]);
    for (size_t i = 0; i < sizeof from_end / sizeof *from_end; i++)
        put_number(json, end, from_end[i]);
    json_decref(info);
    json_decref(end);
}

static void put_time(struct json *json, const char *key, const struct check_session *session,
                     uint64_t ticks, bool known)
{
    if (known && session->scale.source != CLOCK_UNKNOWN)
        json_put_integer(json, key, scale_ns(&session->scale, ticks));
    else
        json_put_null(json, key);
}

static void put_clock(struct json *json, const struct check_session *session)
{
    static const char *const sources[] = {[CLOCK_SNAPSHOTS] = "snapshots",
                                          [CLOCK_REGION] = "region",
                                          [CLOCK_RECORD] = "record",
                                          [CLOCK_UNKNOWN] = "unknown"};
    const struct session_scale *scale = &session->scale;

    json_put_object(json, "clock");
    json_put_text(json, "source", sources[scale->source]);
    if (scale->source == CLOCK_UNKNOWN)
        json_put_null(json, "ticks_per_second");
    else
        json_put_number(json, "ticks_per_second", scale->ticks_per_second);
    if (scale->declared_ticks_per_second > 0)
        json_put_number(json, "declared_ticks_per_second", scale->declared_ticks_per_second);
    else
        json_put_null(json, "declared_ticks_per_second");
    json_put_unsigned(json, "snapshots", session->session->snapshot_count);
    json_put_number(json, "snapshot_span_s", scale->span_s);
    json_put_unsigned(json, "uncertainty_ns", scale->uncertainty_ns);
    json_put_number(json, "worst_residual_ns", scale->worst_residual_ns);
    json_put_number(json, "slowest_ppm", scale->slowest_ppm);
    json_put_number(json, "fastest_ppm", scale->fastest_ppm);
    json_put_bool(json, "stands_still", session->clock_stands);
    json_end_object(json);
}

static void put_sessions(struct json *json, const struct check *check)
{
    json_put_array(json, "sessions");
    for (size_t i = 0; i < check->session_count; i++) {
        const struct check_session *session = &check->sessions[i];

        json_put_object(json, NULL);
        json_put_unsigned(json, "session", session->session->number);
        json_put_unsigned(json, "events", session->events);
        if (session->duration_ns >= 0)
            json_put_integer(json, "duration_ns", session->duration_ns);
        else
            json_put_null(json, "duration_ns");
        json_put_unsigned(json, "first_ticks", session->first_ticks);
        json_put_unsigned(json, "last_ticks", session->last_ticks);
        put_clock(json, session);
        json_put_array(json, "self_cost");
        for (unsigned k = 0; k < 3; k++) {
            if (session->cost_ns[k] <= 0)
                continue;
            json_put_object(json, NULL);
            json_put_unsigned(json, "arguments", k);
            json_put_number(json, "cost_ns", session->cost_ns[k]);
            json_put_unsigned(json, "events", session->by_arguments[k]);
            json_end_object(json);
        }
        json_end_array(json);
        json_end_object(json);
    }
    json_end_array(json);
}

static void put_streams(struct json *json, const struct check_source *source)
{
    const struct decode_directory *directory = decoder_directory(source->decoder);
    struct buffer name = {0};

    json_put_array(json, "streams");
    for (size_t i = 0; i < directory->stream_count; i++) {
        const struct decode_stream *stream = directory->streams[i];
        const struct stream_counts *counts = &stream->counts;
        uint64_t stored = counts->events + counts->texts;

        if (!check_counts_stream(stream))
            continue;
        buffer_clear(&name);
        stream_append_name(&name, stream);
        json_put_object(json, NULL);
        json_put_unsigned(json, "session", stream->session->number);
        json_put_unsigned(json, "stream", stream->number);
        json_put_text(json, "name", name.data);
        if (stream->last_ring != NULL) {
            json_put_unsigned(json, "process_id", stream->last_ring->process);
            json_put_unsigned(json, "thread_id", stream->last_ring->thread);
        }
        json_put_unsigned(json, "attempted_events",
                          stored + counts->dropped + counts->suppressed + counts->torn);
        json_put_unsigned(json, "stored_events", stored);
        json_put_unsigned(json, "dropped_events", counts->dropped);
        json_put_unsigned(json, "suppressed_events", counts->suppressed);
        json_put_unsigned(json, "torn_events", counts->torn);
        json_put_unsigned(json, "pending_dropped_events", counts->dropped_pending);
        json_put_unsigned(json, "pending_suppressed_events", counts->suppressed_pending);
        json_put_bool(json, "counts_exact", check_is_exact(stream));
        json_put_bool(json, "ended_in_order", counts->ended);
        json_put_bool(json, "active_at_end", check_is_active(stream));
        json_put_unsigned(json, "blocks", counts->blocks);
        json_put_unsigned(json, "unverified_blocks", counts->unverified_blocks);
        json_put_unsigned(json, "gap_words", counts->gap_words);
        json_put_unsigned(json, "skipped_bytes", counts->skipped_bytes);
        json_end_object(json);
    }
    json_end_array(json);
    buffer_free(&name);
}

static void put_kinds(struct json *json, const struct check *check)
{
    struct buffer name = {0};

    json_put_array(json, "kinds");
    for (size_t i = 0; i < check->kind_count; i++) {
        const struct check_kind *kind = &check->kinds[i];
        const struct definition *object = kind->definition == NULL ? kind->object : NULL;

        buffer_clear(&name);
        if (object != NULL)
            text_append_object_name(&name, object);
        else
            text_append_event_name(&name, kind->definition, kind->id);
        json_put_object(json, NULL);
        json_put_unsigned(json, "session", kind->session->number);
        json_put_unsigned(json, "id", kind->id);
        json_put_text(json, "name", name.data);
        json_put_text(json, "class", check_kind_class(kind));
        if (object != NULL) {
            json_put_text(json, "operation", text_operation_name(object->class, kind->operation));
            json_put_unsigned(json, "object_id", object->id);
            json_put_unsigned(json, "generation", object->generation);
        }
        json_put_unsigned(json, "events", kind->events);
        json_end_object(json);
    }
    json_end_array(json);
    buffer_free(&name);
}

static const char *place_name(const struct check_place *place)
{
    switch (place->kind) {
    case NOTE_LOSS:
        return place->suppressed ? "suppressed" : "dropped";
    case NOTE_GAP:
        return place->before && stream_is_overwritten(place->stream) ? "overwritten" : "gap";
    case NOTE_FAULT:
        return stream_fault_name(place->fault);
    case NOTE_SKIPPED:
        return "skipped";
    default:
        return "unverified";
    }
}

static const char *amount_key(const struct check_place *place)
{
    switch (place->kind) {
    case NOTE_LOSS:
        return "events";
    case NOTE_GAP:
        return "words";
    case NOTE_SKIPPED:
        return "bytes";
    default:
        return place->fault == STREAM_FAULT_CLOCK_BACKWARDS && place->kind == NOTE_FAULT
                   ? "back_ticks"
                   : NULL;
    }
}

static void put_places(struct json *json, const struct check *check)
{
    uint64_t all = 0;

    for (unsigned i = 0; i <= NOTE_TOTAL; i++)
        all += check->place_totals[i];
    json_put_unsigned(json, "places_total", all);
    json_put_array(json, "places");
    for (size_t i = 0; i < check->place_count; i++) {
        const struct check_place *place = &check->places[i];
        const struct check_session *session = &check->sessions[place->stream->session->ordinal];
        const char *amount = amount_key(place);

        json_put_object(json, NULL);
        json_put_text(json, "what", place_name(place));
        json_put_unsigned(json, "session", place->stream->session->number);
        json_put_unsigned(json, "stream", place->stream->number);
        put_time(json, "from_ns", session, place->from_ticks, place->from_known);
        put_time(json, "to_ns", session, place->to_ticks, place->to_known);
        if (place->from_known)
            json_put_unsigned(json, "from_ticks", place->from_ticks);
        if (place->to_known)
            json_put_unsigned(json, "to_ticks", place->to_ticks);
        json_put_unsigned(json, "index_words", place->index);
        if (amount != NULL)
            json_put_unsigned(json, amount, place->amount);
        if (place->pending)
            json_put_bool(json, "pending", true);
        json_end_object(json);
    }
    json_end_array(json);
}

static void put_findings(struct json *json, const struct container_facts *facts)
{
    json_put_array(json, "file_places");
    for (size_t i = 0; i < facts->finding_count && i < CHECK_PLACES; i++) {
        const struct file_finding *finding = &facts->findings[i];

        json_put_object(json, NULL);
        json_put_text(json, "what",
                      finding->kind == FINDING_SKIPPED ? "skipped"
                                                       : file_fault_name(finding->fault));
        json_put_unsigned(json, "offset_bytes", finding->offset);
        json_put_unsigned(json, "bytes", finding->bytes);
        if (finding->has_stream) {
            json_put_unsigned(json, "stream", finding->stream);
            json_put_unsigned(json, "index_words", finding->index);
        }
        json_end_object(json);
    }
    json_end_array(json);
}

void check_append_json(struct buffer *out, const struct check *check,
                       const struct check_source *source)
{
    const struct container_facts *facts = decoder_facts(source->decoder);
    struct json json = json_begin(out, 2);
    struct buffer verdict = {0};

    check_append_verdict(&verdict, check, source);
    json_put_object(&json, NULL);
    json_put_text(&json, "schema", "tare check");
    json_put_unsigned(&json, "schema_version", 1);
    json_put_text(&json, "file", source->path);
    json_put_text(&json, "verdict", check_verdict_name(check->verdict));
    json_put_text(&json, "verdict_text", verdict.data);
    json_put_bool(&json, "healthy", check->healthy);
    json_put_bool(&json, "lossy", check->lossy);
    json_put_bool(&json, "damaged", check->damaged);
    json_put_bool(&json, "unfinished", check->unfinished);
    put_totals(&json, &check->totals);
    put_file(&json, source);
    put_collector(&json, facts);
    put_sessions(&json, check);
    put_streams(&json, source);
    put_kinds(&json, check);
    put_places(&json, check);
    put_findings(&json, facts);
    json_end_object(&json);
    buffer_text(out, "\n");
    buffer_free(&verdict);
}
