#include "mod_check.h"

#include <stdlib.h>
#include <string.h>

/* So many events at one and the same time are no coincidence. */
#define STANDING_CLOCK_EVENTS 100u

/* ------------------------------------------------------------------ events by kind */

static struct check_kind *kind_of(struct check *check, uint32_t id)
{
    static const struct check_object none;
    const struct check_object *of = id <= TARE_ID_LAST0 ? &check->meaning[id] : &none;
    uint32_t part = of->object == NULL ? 0 : 1 + of->object->generation;
    uint64_t key = (uint64_t)check->counting->ordinal << 32 | part << 16 | of->operation << 12 | id;
    uint32_t known = key_table_find(&check->known_kinds, key);

    if (known != 0)
        return &check->kinds[known - 1];
    if (check->kind_count == check->kind_capacity) {
        check->kind_capacity = 2 * check->kind_capacity + 32;
        check->kinds = memory_resize(check->kinds, check->kind_capacity, sizeof *check->kinds);
    }
    check->kinds[check->kind_count] = (struct check_kind){
        .session = check->counting, .object = of->object, .operation = of->operation, .id = id};
    key_table_set(&check->known_kinds, key, (uint32_t)check->kind_count + 1);
    return &check->kinds[check->kind_count++];
}

/* Puts what was counted of some ids aside. */
static void settle_ids(struct check *check, uint32_t first, uint32_t last)
{
    for (uint32_t id = first; id <= last; id++) {
        if (check->counts[id] == 0)
            continue;
        kind_of(check, id)->events += check->counts[id];
        check->counts[id] = 0;
    }
}

/* The same of a session. */
static void settle_counts(struct check *check)
{
    if (check->counting != NULL)
        settle_ids(check, 0, TARE_ID_COUNT - 1);
}

/* Ids mean another object from this run on: those counted before belong to the one before. */
static void settle_objects(struct check *check, const struct decode_run *run)
{
    for (uint32_t i = 0; i < run->note_count; i++) {
        uint32_t id = run->notes[i].object.id;

        if (run->notes[i].kind == NOTE_OBJECT)
            settle_ids(check, id, id + 3 < TARE_ID_LAST0 ? id + 3 : TARE_ID_LAST0);
    }
}

static void count_event(struct check *check, uint32_t id)
{
    struct check_object *meaning;

    if (check->counts[id]++ > 0 || id > TARE_ID_LAST0)
        return;
    meaning = &check->meaning[id];
    meaning->operation = 0;
    meaning->object = definitions_object(&check->counting->definitions, id, &meaning->operation);
}

/* ------------------------------------------------------------------ places */

static bool is_place(const struct note *note)
{
    return note->kind == NOTE_LOSS || note->kind == NOTE_GAP || note->kind == NOTE_FAULT ||
           note->kind == NOTE_SKIPPED || note->kind == NOTE_UNVERIFIED;
}

static void describe(struct check_place *place, const struct note *note)
{
    switch (note->kind) {
    case NOTE_LOSS:
        place->amount = note->loss.count;
        place->suppressed = note->loss.suppressed;
        place->pending = note->loss.pending;
        place->from_known = place->to_known = note->loss.first_known;
        place->from_ticks = note->loss.first;
        place->to_ticks = note->loss.first + note->loss.span;
        break;
    case NOTE_GAP:
        place->amount = note->gap.words;
        place->before = note->gap.before;
        place->from_known = !note->gap.before;
        place->from_ticks = note->gap.from_ticks;
        break;
    case NOTE_FAULT:
        place->fault = note->fault.fault;
        place->amount = note->fault.back_ticks;
        break;
    case NOTE_SKIPPED:
        place->amount = note->bytes;
        break;
    default:
        break;
    }
}

static void take_note(struct check *check, const struct decode_stream *stream,
                      const struct note *note)
{
    struct check_place *place;

    if (!is_place(note))
        return;
    check->place_totals[note->kind]++;
    if (check->kept[note->kind] == CHECK_PLACES)
        return;
    check->kept[note->kind]++;
    if (check->place_count == check->place_capacity) {
        check->place_capacity = 2 * check->place_capacity + 32;
        check->places = memory_resize(check->places, check->place_capacity, sizeof *check->places);
    }
    place = &check->places[check->place_count++];
    *place = (struct check_place){.kind = note->kind,
                                  .stream = stream,
                                  .from_ticks = note->ticks,
                                  .to_ticks = note->ticks,
                                  .from_known = true,
                                  .to_known = true,
                                  .index = note->index};
    describe(place, note);
}

void check_take(struct check *check, const struct decode_run *run)
{
    if (check->counting != run->stream->session) {
        settle_counts(check);
        check->counting = run->stream->session;
    }
    settle_objects(check, run);
    for (uint32_t i = 0; i < run->count; i++)
        count_event(check, run->events[i].id);
    for (uint32_t i = 0; i < run->note_count; i++)
        take_note(check, run->stream, &run->notes[i]);
}

/* ------------------------------------------------------------------ sums */

bool check_counts_stream(const struct decode_stream *stream)
{
    const struct stream_counts *counts = &stream->counts;

    if (stream->state == NULL) /* it never appeared */
        return false;
    return counts->events + counts->texts + counts->dropped + counts->suppressed + counts->torn >
               0 ||
           stream->last_ring == NULL || stream->last_ring->kind != TARE_RING_DEFINITIONS;
}

/* Faults that show damaged data, or a count or clock that is wrong. Texts are cut where events were
 * lost, and data may end anywhere, without any damage. */
static uint64_t count_damage(const struct stream_counts *counts)
{
    uint64_t damage = 0;

    for (unsigned i = 0; i < STREAM_FAULT_COUNT; i++)
        if (i != STREAM_FAULT_CUT_TEXT && i != STREAM_FAULT_ORPHAN_TEXT &&
            i != STREAM_FAULT_TRUNCATED)
            damage += counts->faults[i];
    return damage;
}

bool check_is_exact(const struct decode_stream *stream)
{
    const struct stream_counts *counts = &stream->counts;

    return counts->gaps == 0 && !stream->mixed && counts->reread_bytes == 0 &&
           counts->cut_bytes == 0 &&
           count_damage(counts) - counts->faults[STREAM_FAULT_CLOCK_BACKWARDS] == 0 &&
           (counts->ended || (stream->last_ring != NULL && stream->ring_is_last));
}

bool check_is_active(const struct decode_stream *stream)
{
    if (stream->counts.ended)
        return false;
    return stream->last_ring == NULL || stream->last_ring->state == TARE_RING_ACTIVE;
}

static void add_stream(struct check_totals *totals, const struct decode_stream *stream)
{
    const struct stream_counts *counts = &stream->counts;

    totals->stored += counts->events + counts->texts;
    totals->dropped += counts->dropped;
    totals->suppressed += counts->suppressed;
    totals->torn += counts->torn;
    totals->texts += counts->texts;
    totals->unnamed += counts->unnamed;
    totals->reserved += counts->reserved;
    totals->gaps += counts->gaps - (counts->gap_before > 0);
    totals->gap_words += counts->gap_words - counts->gap_before;
    if (stream_is_overwritten(stream))
        totals->overwritten += counts->gap_before;
    else
        totals->gap_before += counts->gap_before;
    totals->skipped_bytes += counts->skipped_bytes;
    totals->cut_bytes += counts->cut_bytes;
    totals->reread_bytes += counts->reread_bytes;
    totals->blocks += counts->blocks;
    totals->unverified_blocks += counts->unverified_blocks;
    totals->words += counts->words;
    totals->words_anchors += counts->words_anchors;
    totals->words_epochs += counts->words_epochs;
    totals->words_events += counts->words_events;
    totals->damage += count_damage(counts);
    for (unsigned i = 0; i < STREAM_FAULT_COUNT; i++)
        totals->faults[i] += counts->faults[i];
    if (stream->last_ring != NULL)
        totals->names_lost += stream->last_ring->names_lost;
    if (!check_counts_stream(stream))
        return;
    totals->streams++;
    totals->mixed_streams += stream->mixed;
    totals->active_streams += check_is_active(stream);
    totals->exact_streams += check_is_exact(stream);
}

static void add_region(struct check_totals *totals, const struct tare_region *region)
{
    if (region == NULL)
        return;
    totals->suppressed_no_ring += region->suppressed_no_ring;
    totals->suppressed += region->suppressed_no_ring;
    totals->ids_refused += region->ids_refused;
    totals->rings_refused += region->rings_refused;
}

static void add_objects(struct check_totals *totals, const struct definitions *definitions)
{
    uint32_t counts[TARE_CLASS_COUNT] = {0};

    totals->unnamed_objects += definitions_count_objects(definitions, counts);
    for (unsigned class = 0; class < TARE_CLASS_COUNT; class ++) {
        totals->objects[class] += counts[class];
        totals->all_objects += counts[class];
    }
}

/* ------------------------------------------------------------------ sessions */

static void add_times(struct check_session *session, const struct decode_stream *stream)
{
    const struct stream_counts *counts = &stream->counts;

    session->events += counts->events;
    if (counts->blocks > 0) {
        if (counts->first_ticks < session->first_ticks)
            session->first_ticks = counts->first_ticks;
        if (counts->last_ticks > session->last_ticks)
            session->last_ticks = counts->last_ticks;
    }
}

static void add_costs(struct check_session *session, const struct decode_stream *stream)
{
    if (session->scale.source == CLOCK_UNKNOWN)
        return;
    for (unsigned i = 0; i < 3; i++)
        if (stream->cost_milliticks[i] != 0)
            session->cost_ns[i] =
                (double)stream->cost_milliticks[i] / 1000 / session->scale.ticks_per_second * 1e9;
}

static void finish_session(struct check_session *session, const struct decode_directory *directory)
{
    if (session->first_ticks > session->last_ticks) /* no block was read */
        session->first_ticks = session->last_ticks = 0;
    session->scale = session_scale(session->session, session->first_ticks);
    session->duration_ns = -1;
    if (session->scale.source != CLOCK_UNKNOWN)
        session->duration_ns =
            scale_span_ns(&session->scale, session->last_ticks - session->first_ticks);
    session->clock_stands =
        session->events >= STANDING_CLOCK_EVENTS && session->first_ticks == session->last_ticks;
    for (size_t i = 0; i < directory->stream_count; i++)
        if (directory->streams[i]->session == session->session)
            add_costs(session, directory->streams[i]);
}

static void finish_sessions(struct check *check, const struct decode_directory *directory)
{
    check->session_count = directory->session_count;
    check->sessions = memory_new(check->session_count + 1, sizeof *check->sessions);
    for (size_t i = 0; i < check->session_count; i++)
        check->sessions[i] =
            (struct check_session){.session = directory->sessions[i], .first_ticks = UINT64_MAX};
    for (size_t i = 0; i < directory->stream_count; i++)
        add_times(&check->sessions[directory->streams[i]->session->ordinal], directory->streams[i]);
    for (size_t i = 0; i < check->kind_count; i++) {
        const struct check_kind *kind = &check->kinds[i];

        check->sessions[kind->session->ordinal].by_arguments[TARE_RECORD_WORDS(kind->id) - 1] +=
            kind->events;
    }
    for (size_t i = 0; i < check->session_count; i++)
        finish_session(&check->sessions[i], directory);
}

/* ------------------------------------------------------------------ verdict */

static int compare_kinds(const void *one, const void *other)
{
    const struct check_kind *a = one, *b = other;

    if (a->events != b->events)
        return a->events < b->events ? 1 : -1;
    if (a->session != b->session)
        return a->session->ordinal < b->session->ordinal ? -1 : 1;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    if (a->object == NULL || b->object == NULL)
        return (a->object != NULL) - (b->object != NULL);
    return (int)a->object->generation - (int)b->object->generation;
}

static void judge(struct check *check, const struct decoder *decoder)
{
    const struct check_totals *totals = &check->totals;
    const struct container_facts *facts = decoder_facts(decoder);
    enum input_kind kind = decoder_kind(decoder);
    bool stands = false;

    for (size_t i = 0; i < check->session_count; i++)
        stands = stands || check->sessions[i].clock_stands;
    for (unsigned i = 0; i < FILE_FAULT_COUNT; i++)
        check->damaged = check->damaged || (facts->faults[i] > 0 && i != FILE_FAULT_TRUNCATED &&
                                            i != FILE_FAULT_BAD_NAMES);
    check->damaged = check->damaged || facts->bad_signature || facts->misfits > 0 ||
                     totals->damage > 0 || totals->mixed_streams > 0 ||
                     totals->unverified_blocks > 0 || stands;
    check->unfinished =
        (kind == INPUT_FILE && !facts->finished) || totals->faults[STREAM_FAULT_TRUNCATED] > 0;
    /* In an image of memory what was read before is not in the way. */
    check->lossy = totals->dropped + totals->suppressed + totals->torn + totals->gap_words > 0 ||
                   (kind != INPUT_IMAGE && totals->gap_before > 0);
    if (totals->stored == 0)
        check->verdict = CHECK_EMPTY;
    else if (check->damaged)
        check->verdict = CHECK_DAMAGED;
    else if (check->unfinished)
        check->verdict = CHECK_UNFINISHED;
    else
        check->verdict = check->lossy ? CHECK_LOSSY : CHECK_COMPLETE;
    check->healthy = check->verdict == CHECK_COMPLETE && totals->names_lost == 0 &&
                     totals->unnumbered == 0 && facts->faults[FILE_FAULT_BAD_NAMES] == 0 &&
                     totals->ids_refused == 0 && totals->rings_refused == 0;
}

/* The name that was known in the end. */
static void name_kind(struct check *check, struct check_kind *kind)
{
    const struct definitions *definitions = &kind->session->definitions;
    const struct definition *object = kind->object;

    if (kind->id >= TARE_ID_OTHER_TASK_RUNS && kind->id <= TARE_ID_OTHER_RECEIVE_BLOCK)
        check->totals.unnumbered += kind->events;
    else if (object != NULL)
        kind->object = definitions_generation(definitions, object->id, object->generation);
    kind->definition = definitions_find(definitions, DEFINITION_EVENT, kind->id);
}

void check_finish(struct check *check, const struct decoder *decoder)
{
    const struct decode_directory *directory = decoder_directory(decoder);

    settle_counts(check);
    for (size_t i = 0; i < check->kind_count; i++)
        name_kind(check, &check->kinds[i]);
    if (check->kind_count > 0)
        qsort(check->kinds, check->kind_count, sizeof *check->kinds, compare_kinds);
    for (size_t i = 0; i < directory->stream_count; i++)
        add_stream(&check->totals, directory->streams[i]);
    for (size_t i = 0; i < directory->session_count; i++)
        add_region(&check->totals, directory->sessions[i]->last_region);
    for (size_t i = 0; i < directory->session_count; i++)
        add_objects(&check->totals, &directory->sessions[i]->definitions);
    finish_sessions(check, directory);
    judge(check, decoder);
}

void check_free(struct check *check)
{
    free(check->sessions);
    free(check->kinds);
    free(check->places);
    key_table_free(&check->known_kinds);
    *check = (struct check){0};
}

const char *check_verdict_name(enum check_verdict verdict)
{
    static const char *const names[] = {
        [CHECK_COMPLETE] = "complete", [CHECK_LOSSY] = "lossy", [CHECK_UNFINISHED] = "unfinished",
        [CHECK_DAMAGED] = "damaged",   [CHECK_EMPTY] = "empty",
    };

    return names[verdict];
}
