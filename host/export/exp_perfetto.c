/* Perfetto track events.
 *
 * A process track for each process, a thread track for each stream that holds something. Below the
 * thread: a track for each of its state machines and one for each kind of loss, all of these named
 * "lost". Below the process: a counter for each value, and the spans that do not nest.
 *
 * A kernel: each task is a thread of its core's process, with what it does on a track "scheduling"
 * below it; interrupts and software timers are tracks below the core; queues, mutexes and the like
 * tracks below the process, with their events as instants.
 *
 * Slices of one track must nest. So a span lies on the track of its thread only if each span of its
 * declaration in the whole recording ends where it began and before any that began earlier; the
 * first pass finds out. All others lie on lanes of their own, one lane for each that is open at a
 * time.
 *
 * On one track times never fall: after a clock fault an event is placed at the latest time of its
 * track, and its own time is written beside it.
 */
#include "exp_export.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "dec_text.h"
#include "exp_perfetto_writer.h"

enum track_kind {
    TRACK_OF_PROCESS, /* owner: ordinal of the session, id: process id */
    TRACK_OF_THREAD,  /* owner: ordinal of the stream */
    TRACK_OF_STATE,   /* owner: ordinal of the stream, id: of the event */
    TRACK_OF_LOSS,    /* owner: ordinal of the stream, id: enum timeline_loss */
    TRACK_OF_VALUE,   /* owner: uuid of the process, id: of the event */
    TRACK_OF_SPANS, /* owner: uuid of the process, id: of the begin; lane 0 holds the free lanes */
    TRACK_OF_ACTOR, /* owner: ordinal of the actor */
    TRACK_OF_ACTIVITY,    /* the same */
    TRACK_OF_ACTOR_STATE, /* owner: ordinal of the actor, id: of the event */
    TRACK_OF_OBJECT, /* owner: ordinal of the session, id: of the object, lane: its generation */
    TRACK_KINDS
};

struct track_key {
    uint32_t kind, owner, id, lane;
};

struct track {
    uint64_t last_ns;
    uint32_t parent; /* uuid */
    uint32_t group;  /* of a span's lane: uuid of lane 0 */
    uint32_t lanes;  /* of lane 0: lanes that there are */
    uint32_t free;   /* of lane 0: the first free lane; of a free lane: the next; uuid, 0: none */
};

struct open_span {
    uint64_t number;
    uint32_t id;
};

/* Spans that are open in a lane, in order of begin. */
struct open_spans {
    struct open_span *list;
    size_t count, capacity;
};

/* By ordinal: of the stream, of the actor. */
struct open_lanes {
    struct open_spans *lanes;
    size_t count;
};

/* Ids of spans that get lanes of their own. */
struct own_lane {
    uint64_t ids[TARE_ID_COUNT / 64];
};

struct perfetto {
    struct perfetto_writer writer;
    struct export_output *output;
    const struct export_source *source;
    struct own_lane *own_lane; /* by ordinal of the session */
    size_t session_count;
    struct open_lanes open_streams, open_actors; /* first pass only */
    struct export_table keys;                    /* struct track_key; the number is the uuid */
    struct track *tracks;                        /* by uuid - 1 */
    size_t track_capacity;
    json_t *info; /* of the recorder, NULL: none */
    struct buffer name;
};

static void *perfetto_create(struct export_output *output)
{
    struct perfetto *perfetto = memory_new(1, sizeof(*perfetto));

    perfetto->output = output;
    return perfetto;
}

static void free_open_lanes(struct open_lanes *open)
{
    for (size_t i = 0; i < open->count; i++)
        free(open->lanes[i].list);
    free(open->lanes);
}

static void perfetto_destroy(void *state)
{
    struct perfetto *perfetto = state;

    free_open_lanes(&perfetto->open_streams);
    free_open_lanes(&perfetto->open_actors);
    free(perfetto->own_lane);
    perfetto_free(&perfetto->writer);
    export_table_free(&perfetto->keys);
    free(perfetto->tracks);
    json_decref(perfetto->info);
    buffer_free(&perfetto->name);
    free(perfetto);
}

/* ------------------------------------------------------------------ first pass: which spans nest
 */

static uint64_t *own_lane_word(struct perfetto *perfetto, uint32_t session, uint32_t id)
{
    while (session >= perfetto->session_count) {
        perfetto->own_lane = memory_resize(perfetto->own_lane, perfetto->session_count + 1,
                                           sizeof(*perfetto->own_lane));
        perfetto->own_lane[perfetto->session_count++] = (struct own_lane){{0}};
    }
    return &perfetto->own_lane[session].ids[id % TARE_ID_COUNT / 64];
}

static bool has_own_lane(struct perfetto *perfetto, const struct timeline_item *item)
{
    return *own_lane_word(perfetto, item->begin_stream->session->ordinal, item->id) >>
               (item->id % 64) &
           1;
}

/* Of the lane that the span began in. */
static struct open_spans *open_spans_of(struct perfetto *perfetto, const struct timeline_item *item)
{
    struct open_lanes *open =
        item->actor != NULL ? &perfetto->open_actors : &perfetto->open_streams;
    uint32_t lane = item->actor != NULL ? item->actor->ordinal : item->begin_stream->ordinal;

    while (lane >= open->count) {
        size_t count = 2 * open->count + 16;

        open->lanes = memory_resize(open->lanes, count, sizeof(*open->lanes));
        memset(open->lanes + open->count, 0, (count - open->count) * sizeof(*open->lanes));
        open->count = count;
    }
    return &open->lanes[lane];
}

/* Whether it has an end of its own, in another lane than its begin. */
static bool ends_elsewhere(const struct timeline_item *item)
{
    return item->stream != item->begin_stream ||
           (item->by != item->actor &&
            (item->cause == TIMELINE_NEXT || item->cause == TIMELINE_AGAIN));
}

static void note_span_begin(struct perfetto *perfetto, const struct timeline_item *item)
{
    struct open_spans *open = open_spans_of(perfetto, item);

    if (open->count == open->capacity) {
        open->capacity = 2 * open->capacity + 16;
        open->list = memory_resize(open->list, open->capacity, sizeof(*open->list));
    }
    open->list[open->count++] = (struct open_span){item->number, item->id};
}

static void note_span_end(struct perfetto *perfetto, const struct timeline_item *item)
{
    struct open_spans *open = open_spans_of(perfetto, item);
    uint32_t session = item->begin_stream->session->ordinal;

    /* Those that got a lane of their own meanwhile are no longer in the way. */
    while (open->count > 0) {
        uint32_t id = open->list[open->count - 1].id;

        if ((*own_lane_word(perfetto, session, id) >> (id % 64) & 1) == 0)
            break;
        open->count--;
    }
    if (has_own_lane(perfetto, item))
        return;
    if (!ends_elsewhere(item) && open->count > 0 &&
        open->list[open->count - 1].number == item->number)
        open->count--;
    else
        *own_lane_word(perfetto, session, item->id) |= (uint64_t)1 << (item->id % 64);
}

static void perfetto_survey(void *state, const struct timeline_item *item)
{
    struct perfetto *perfetto = state;

    if (item->kind == TIMELINE_SPAN_BEGIN && !has_own_lane(perfetto, item))
        note_span_begin(perfetto, item);
    else if (item->kind == TIMELINE_SPAN_END)
        note_span_end(perfetto, item);
}

/* ------------------------------------------------------------------ tracks */

/* The uuid; *is_new says that the track must be described. */
static uint32_t find_track(struct perfetto *perfetto, enum track_kind kind, uint32_t owner,
                           uint32_t id, uint32_t lane, bool *is_new)
{
    struct track_key key = {kind, owner, id, lane};
    uint32_t uuid = export_table_number(&perfetto->keys, &key, sizeof(key), is_new);

    if (*is_new) {
        if (uuid > perfetto->track_capacity) {
            perfetto->track_capacity = 2 * perfetto->track_capacity + 64;
            perfetto->tracks = memory_resize(perfetto->tracks, perfetto->track_capacity,
                                             sizeof(*perfetto->tracks));
        }
        perfetto->tracks[uuid - 1] = (struct track){0};
    }
    return uuid;
}

/* A target without processes gets numbers that no viewer takes for the idle process. */
static uint32_t process_of(const struct decode_stream *stream)
{
    return stream->first_ring != NULL && stream->first_ring->process != 0
               ? stream->first_ring->process
               : stream->session->ordinal + 1;
}

static uint32_t thread_of(const struct decode_stream *stream)
{
    return stream->first_ring != NULL && stream->first_ring->thread != 0
               ? stream->first_ring->thread
               : stream->number + 1;
}

#define COMMAND_WORDS 64u

static uint32_t process_track(struct perfetto *perfetto, const struct decode_stream *stream)
{
    uint32_t process = process_of(stream), count = 0, uuid;
    const char *command[COMMAND_WORDS];
    const json_t *words = json_object_get(perfetto->info, "command");
    bool is_new;

    uuid = find_track(perfetto, TRACK_OF_PROCESS, stream->session->ordinal, process, 0, &is_new);
    if (!is_new)
        return uuid;
    buffer_clear(&perfetto->name);
    if (stream->first_ring == NULL || stream->first_ring->process == 0)
        buffer_printf(&perfetto->name, "session %08X%s", stream->session->number,
                      perfetto->source->clocks[stream->session->ordinal].scale.source ==
                              CLOCK_UNKNOWN
                          ? " (1 tick shown as 1 ns)"
                          : "");
    else if (json_integer_value(json_object_get(perfetto->info, "process_id")) == process)
        for (size_t i = 0; i < json_array_size(words) && count < COMMAND_WORDS; i++)
            if (json_is_string(json_array_get(words, i)))
                command[count++] = json_string_value(json_array_get(words, i));
    if (count > 0)
        buffer_text(&perfetto->name,
                    strrchr(command[0], '/') != NULL ? strrchr(command[0], '/') + 1 : command[0]);
    else if (perfetto->name.size == 0)
        buffer_printf(&perfetto->name, "process %u", process);
    perfetto_process_track(&perfetto->writer, uuid, process, perfetto->name.data, command, count);
    return uuid;
}

static uint32_t thread_track(struct perfetto *perfetto, const struct decode_stream *stream)
{
    bool is_new;
    uint32_t uuid = find_track(perfetto, TRACK_OF_THREAD, stream->ordinal, 0, 0, &is_new);

    if (is_new) {
        uint32_t process = process_track(perfetto, stream);

        perfetto->tracks[uuid - 1].parent = process;
        buffer_clear(&perfetto->name);
        stream_append_name(&perfetto->name, perfetto->source->directory->streams[stream->ordinal]);
        perfetto_thread_track(&perfetto->writer, uuid, process, process_of(stream),
                              thread_of(stream), perfetto->name.data);
    }
    return uuid;
}

static const char *event_name(struct perfetto *perfetto, const struct timeline_item *item)
{
    buffer_clear(&perfetto->name);
    timeline_append_event(&perfetto->name, item);
    return perfetto->name.data;
}

static const char *object_name(struct perfetto *perfetto, const struct definition *object,
                               bool with_class)
{
    const char *class = text_class_name(object->class);

    buffer_clear(&perfetto->name);
    if (with_class && class != NULL && object->name[0] != 0)
        buffer_printf(&perfetto->name, "%s ", class);
    timeline_append_object(&perfetto->name, object);
    return perfetto->name.data;
}

/* Beyond all numbers of streams. */
static uint32_t task_thread(const struct timeline_actor *task)
{
    return 0x1000000u + (task->id << 8 | task->generation);
}

static uint32_t actor_track(struct perfetto *perfetto, const struct timeline_actor *actor)
{
    bool is_new;
    uint32_t uuid = find_track(perfetto, TRACK_OF_ACTOR, actor->ordinal, 0, 0, &is_new);

    if (!is_new)
        return uuid;
    if (actor->kind == TIMELINE_TASK) {
        uint32_t process = process_track(perfetto, actor->stream);

        perfetto_thread_track(&perfetto->writer, uuid, process, process_of(actor->stream),
                              task_thread(actor), object_name(perfetto, actor->definition, false));
    } else {
        uint32_t core = thread_track(perfetto, actor->stream);

        perfetto_track(&perfetto->writer, uuid, core,
                       object_name(perfetto, actor->definition, true));
    }
    return uuid;
}

/* Where its instants and the spans inside each other lie. */
static uint32_t lane_track(struct perfetto *perfetto, const struct timeline_item *item)
{
    return item->actor != NULL ? actor_track(perfetto, item->actor)
                               : thread_track(perfetto, item->stream);
}

static const char *actor_name(struct perfetto *perfetto, const struct timeline_actor *actor)
{
    return object_name(perfetto, actor->definition, actor->kind != TIMELINE_TASK);
}

static const char *lane_name(struct perfetto *perfetto, const struct decode_stream *stream,
                             const struct timeline_actor *actor)
{
    if (actor != NULL)
        return actor_name(perfetto, actor);
    buffer_clear(&perfetto->name);
    stream_append_name(&perfetto->name, perfetto->source->directory->streams[stream->ordinal]);
    return perfetto->name.data;
}

static uint32_t loss_track(struct perfetto *perfetto, const struct timeline_item *item)
{
    uint32_t parent = thread_track(perfetto, item->stream), uuid;
    bool is_new;

    uuid = find_track(perfetto, TRACK_OF_LOSS, item->stream->ordinal, item->loss, 0, &is_new);
    if (is_new)
        perfetto_track(&perfetto->writer, uuid, parent, "lost");
    return uuid;
}

static uint32_t state_track(struct perfetto *perfetto, const struct timeline_item *item)
{
    uint32_t parent = lane_track(perfetto, item), uuid;
    bool is_new;

    if (item->activity != TIMELINE_PROGRAM) {
        if (item->actor->kind != TIMELINE_TASK)
            return parent;
        uuid = find_track(perfetto, TRACK_OF_ACTIVITY, item->actor->ordinal, 0, 0, &is_new);
        if (is_new)
            perfetto_track(&perfetto->writer, uuid, parent, "scheduling");
        return uuid;
    }
    uuid =
        item->actor != NULL
            ? find_track(perfetto, TRACK_OF_ACTOR_STATE, item->actor->ordinal, item->id, 0, &is_new)
            : find_track(perfetto, TRACK_OF_STATE, item->stream->ordinal, item->id, 0, &is_new);
    if (is_new)
        perfetto_track(&perfetto->writer, uuid, parent, event_name(perfetto, item));
    return uuid;
}

/* A task's, timer's or interrupt's event. */
static bool is_of_actor(const struct timeline_item *item)
{
    return item->object->class == TARE_CLASS_TASK || item->object->class == TARE_CLASS_TIMER ||
           item->object->class == TARE_CLASS_INTERRUPT;
}

/* Of a queue, mutex, ...; other events of the kernel lie on the lane of their actor. */
static uint32_t object_track(struct perfetto *perfetto, const struct timeline_item *item)
{
    uint32_t uuid, process;
    bool is_new;

    if (item->object == NULL || is_of_actor(item))
        return lane_track(perfetto, item);
    process = process_track(perfetto, item->stream);
    uuid = find_track(perfetto, TRACK_OF_OBJECT, item->stream->session->ordinal, item->object->id,
                      item->object->generation, &is_new);
    if (is_new)
        perfetto_track(&perfetto->writer, uuid, process, object_name(perfetto, item->object, true));
    return uuid;
}

static uint32_t process_of_lane(struct perfetto *perfetto, const struct timeline_item *item)
{
    if (item->actor != NULL)
        return process_track(perfetto, item->stream);
    return perfetto->tracks[thread_track(perfetto, item->stream) - 1].parent;
}

static uint32_t value_track(struct perfetto *perfetto, const struct timeline_item *item)
{
    uint32_t process = process_of_lane(perfetto, item);
    bool is_new;
    uint32_t uuid = find_track(perfetto, TRACK_OF_VALUE, process, item->id, 0, &is_new);

    if (is_new)
        perfetto_counter_track(
            &perfetto->writer, uuid, process, event_name(perfetto, item),
            item->definition->argument_count > 0 ? item->definition->argument[0].unit : "");
    return uuid;
}

/* A lane on which no span is open. */
static uint32_t take_lane(struct perfetto *perfetto, const struct timeline_item *item)
{
    uint32_t process = process_of_lane(perfetto, item), group, lane;
    bool is_new;

    group = find_track(perfetto, TRACK_OF_SPANS, process, item->id, 0, &is_new);
    lane = perfetto->tracks[group - 1].free;
    if (lane != 0) {
        perfetto->tracks[group - 1].free = perfetto->tracks[lane - 1].free;
        return lane;
    }
    lane = find_track(perfetto, TRACK_OF_SPANS, process, item->id,
                      ++perfetto->tracks[group - 1].lanes, &is_new);
    perfetto->tracks[lane - 1].group = group;
    perfetto_track(&perfetto->writer, lane, process, event_name(perfetto, item));
    return lane;
}

static void give_lane_back(struct perfetto *perfetto, uint32_t uuid)
{
    struct track *lane = &perfetto->tracks[uuid - 1];

    if (lane->group != 0) {
        lane->free = perfetto->tracks[lane->group - 1].free;
        perfetto->tracks[lane->group - 1].free = uuid;
    }
}

/* ------------------------------------------------------------------ second pass: events */

static void begin_event(struct perfetto *perfetto, enum perfetto_event_type type, uint32_t uuid,
                        uint64_t ns)
{
    struct track *track = &perfetto->tracks[uuid - 1];
    bool late = ns < track->last_ns;

    if (!late)
        track->last_ns = ns;
    perfetto_event_begin(&perfetto->writer, type, uuid, track->last_ns);
    if (late)
        perfetto_note_unsigned(&perfetto->writer, "time as recorded (ns)", ns);
}

static void put_category(struct perfetto *perfetto, const struct timeline_item *item)
{
    const struct definition *category;

    if (item->definition == NULL)
        return;
    category = definitions_find(&item->stream->session->definitions, DEFINITION_CATEGORY,
                                item->definition->category);
    if (category != NULL) {
        perfetto_category(&perfetto->writer, category->name);
        return;
    }
    buffer_clear(&perfetto->name);
    buffer_printf(&perfetto->name, "category %u", item->definition->category);
    perfetto_category(&perfetto->writer, perfetto->name.data);
}

static void put_arguments(struct perfetto *perfetto, const struct timeline_item *item)
{
    static const char *const names[2] = {"first", "second"};
    uint32_t words = TARE_RECORD_WORDS(item->id) - 1;
    const struct definition *definition = item->definition;

    for (uint32_t i = 0; i < words && i < 2; i++)
        perfetto_argument(
            &perfetto->writer,
            definition != NULL && i < definition->argument_count ? &definition->argument[i] : NULL,
            names[i], item->argument[i]);
}

static void put_actor(struct perfetto *perfetto, const char *name,
                      const struct timeline_actor *actor)
{
    if (actor != NULL)
        perfetto_note_word(&perfetto->writer, name, actor_name(perfetto, actor));
}

static void put_object_event(struct perfetto *perfetto, const struct export_item *item)
{
    const struct timeline_item *what = item->item;
    const char *unit = "", *name;
    uint32_t value = 0, uuid = object_track(perfetto, what);

    event_name(perfetto, what);
    if (what->kind == TIMELINE_ORPHAN)
        buffer_text(&perfetto->name, " without begin");
    begin_event(perfetto, EVENT_INSTANT, uuid, item->ns);
    perfetto_name(&perfetto->writer, perfetto->name.data);
    name = timeline_kernel_value(what, &unit, &value);
    if (what->kernel == TARE_KERNEL_ALLOCATED || what->kernel == TARE_KERNEL_FREED)
        perfetto_note_unsigned(&perfetto->writer, "size (B)", what->argument[0] & 0xFFFFFFu);
    if (name != NULL && what->holder == NULL)
        perfetto_argument(&perfetto->writer,
                          &(struct definition_argument){.name = name, .unit = unit}, name, value);
    put_actor(perfetto, "by", what->object != NULL && is_of_actor(what) ? what->by : what->actor);
    put_actor(perfetto, "held by", what->holder);
    if (what->uncertain)
        perfetto_note_true(&perfetto->writer, "its begin may be among what was lost");
    perfetto_event_end(&perfetto->writer);
}

static void put_instant(struct perfetto *perfetto, const struct export_item *item)
{
    const struct timeline_item *what = item->item;

    if (what->object != NULL || what->kernel != 0) {
        put_object_event(perfetto, item);
        return;
    }
    begin_event(perfetto, EVENT_INSTANT, lane_track(perfetto, what), item->ns);
    put_category(perfetto, what);
    perfetto_name(&perfetto->writer, event_name(perfetto, what));
    if (what->definition != NULL && what->definition->class == TARE_CLASS_STRING) {
        if (what->text != NULL)
            perfetto_note_text(&perfetto->writer, "text", what->text, what->text_size);
        if (what->text_cut)
            perfetto_note_true(&perfetto->writer, "text is cut short");
    } else {
        put_arguments(perfetto, what);
    }
    perfetto_event_end(&perfetto->writer);
}

/* The instant of the event has been written already, without its text. */
static void put_late_text(struct perfetto *perfetto, const struct export_item *item)
{
    const struct timeline_item *what = item->item;
    uint32_t uuid = lane_track(perfetto, what);

    event_name(perfetto, what);
    buffer_text(&perfetto->name, " (text)");
    begin_event(perfetto, EVENT_INSTANT, uuid, item->ns);
    perfetto_name(&perfetto->writer, perfetto->name.data);
    perfetto_note_text(&perfetto->writer, "text", what->text, what->text_size);
    if (what->text_cut)
        perfetto_note_true(&perfetto->writer, "text is cut short");
    perfetto_event_end(&perfetto->writer);
}

static void put_orphan(struct perfetto *perfetto, const struct export_item *item)
{
    uint32_t uuid;

    if (item->item->object != NULL) {
        put_object_event(perfetto, item);
        return;
    }
    uuid = lane_track(perfetto, item->item);
    event_name(perfetto, item->item);
    buffer_text(&perfetto->name, ": end without begin");
    begin_event(perfetto, EVENT_INSTANT, uuid, item->ns);
    perfetto_name(&perfetto->writer, perfetto->name.data);
    put_category(perfetto, item->item);
    put_arguments(perfetto, item->item);
    if (item->item->uncertain)
        perfetto_note_true(&perfetto->writer, "its begin may be among what was lost");
    perfetto_event_end(&perfetto->writer);
}

static void put_value(struct perfetto *perfetto, const struct export_item *item)
{
    const struct definition *definition = item->item->definition;

    begin_event(perfetto, EVENT_COUNTER, value_track(perfetto, item->item), item->ns);
    perfetto_counter_value(&perfetto->writer,
                           definition->argument_count > 0 ? definition->argument[0].type
                                                          : ARGUMENT_U32,
                           item->item->argument[0]);
    perfetto_event_end(&perfetto->writer);
}

static void put_activity_facts(struct perfetto *perfetto, const struct timeline_item *what)
{
    struct perfetto_writer *writer = &perfetto->writer;

    put_actor(perfetto, "by", what->by);
    put_actor(perfetto, "held by", what->holder);
    if (what->wait == TIMELINE_WAIT_DELAY)
        perfetto_note_unsigned(writer, "ticks of the kernel", what->argument[0]);
    if (what->wait == TIMELINE_WAIT_DELAY_UNTIL)
        perfetto_note_unsigned(writer, "tick count of the kernel", what->argument[0]);
    if (what->actor->priority_known)
        perfetto_note_unsigned(writer, "priority", what->actor->priority);
    if (what->actor->inherited)
        perfetto_note_true(writer, "priority is inherited");
}

static void put_state_begin(struct perfetto *perfetto, const struct export_item *item)
{
    const struct timeline_item *what = item->item;

    *item->tag = state_track(perfetto, what);
    begin_event(perfetto, EVENT_SLICE_BEGIN, *item->tag, item->ns);
    put_category(perfetto, what);
    buffer_clear(&perfetto->name);
    if (what->activity != TIMELINE_PROGRAM && what->actor->kind != TIMELINE_TASK)
        timeline_append_object(&perfetto->name, what->actor->definition);
    else
        timeline_append_state(&perfetto->name, what);
    perfetto_name(&perfetto->writer, perfetto->name.data);
    if (what->activity != TIMELINE_PROGRAM)
        put_activity_facts(perfetto, what);
    if (item->clipped)
        perfetto_note_true(&perfetto->writer, "began earlier");
    perfetto_event_end(&perfetto->writer);
}

static void put_span_begin(struct perfetto *perfetto, const struct export_item *item)
{
    const struct timeline_item *what = item->item;
    /* On the track of an interrupt lies when it is entered, which a span may outlast. */
    bool own =
        has_own_lane(perfetto, what) || (what->actor != NULL && what->actor->kind != TIMELINE_TASK);

    *item->tag = own ? take_lane(perfetto, what) : lane_track(perfetto, what);
    begin_event(perfetto, EVENT_SLICE_BEGIN, *item->tag, item->ns);
    put_category(perfetto, what);
    perfetto_name(&perfetto->writer, event_name(perfetto, what));
    put_arguments(perfetto, what);
    if (own)
        perfetto_note_word(&perfetto->writer, "began on",
                           lane_name(perfetto, what->stream, what->actor));
    if (item->clipped)
        perfetto_note_true(&perfetto->writer, "began earlier");
    perfetto_event_end(&perfetto->writer);
}

static void put_end(struct perfetto *perfetto, const struct export_item *item)
{
    const struct timeline_item *what = item->item;

    begin_event(perfetto, EVENT_SLICE_END, *item->tag, item->ns);
    if (item->clipped)
        perfetto_note_true(&perfetto->writer, "ended later");
    if (what->kind == TIMELINE_SPAN_END && ends_elsewhere(what))
        perfetto_note_word(&perfetto->writer, "ended on",
                           lane_name(perfetto, what->stream, what->by));
    if (what->cause != TIMELINE_NEXT)
        perfetto_note_word(&perfetto->writer, "end", timeline_cause_text(what->cause));
    if (what->uncertain)
        perfetto_note_true(&perfetto->writer, "end uncertain");
    perfetto_event_end(&perfetto->writer);
    if (what->kind == TIMELINE_SPAN_END)
        give_lane_back(perfetto, *item->tag);
}

static void perfetto_event(void *state, const struct export_item *item)
{
    struct perfetto *perfetto = state;

    switch (item->item->kind) {
    case TIMELINE_INSTANT:
        put_instant(perfetto, item);
        break;
    case TIMELINE_TEXT:
        put_late_text(perfetto, item);
        break;
    case TIMELINE_VALUE:
        put_value(perfetto, item);
        break;
    case TIMELINE_STATE_BEGIN:
        put_state_begin(perfetto, item);
        break;
    case TIMELINE_SPAN_BEGIN:
        put_span_begin(perfetto, item);
        break;
    case TIMELINE_STATE_END:
    case TIMELINE_SPAN_END:
        put_end(perfetto, item);
        break;
    case TIMELINE_ORPHAN:
        put_orphan(perfetto, item);
        break;
    default:
        break;
    }
}

static void perfetto_lost(void *state, const struct export_item *item)
{
    static const char *const units[] = {[TIMELINE_DROPPED] = "events",
                                        [TIMELINE_SUPPRESSED] = "events",
                                        [TIMELINE_GAP] = "words",
                                        [TIMELINE_BACKWARDS] = "ticks",
                                        [TIMELINE_UNVERIFIED] = NULL};
    struct perfetto *perfetto = state;
    struct perfetto_writer *writer = &perfetto->writer;
    const struct timeline_item *what = item->item;
    uint32_t uuid = loss_track(perfetto, what);

    begin_event(perfetto, EVENT_SLICE_BEGIN, uuid, item->begin_ns);
    perfetto_name(writer, timeline_loss_name(what->loss));
    if (units[what->loss] != NULL)
        perfetto_note_unsigned(writer, units[what->loss], what->count);
    if (what->loss == TIMELINE_DAMAGE)
        perfetto_note_word(writer, "fault", stream_fault_text(what->fault));
    if (!what->begin_known)
        perfetto_note_true(writer, "begin not known");
    if (item->clipped)
        perfetto_note_true(writer, "reaches out of the stretch that was exported");
    perfetto_event_end(writer);
    begin_event(perfetto, EVENT_SLICE_END, uuid, item->ns);
    perfetto_event_end(writer);
}

/* ------------------------------------------------------------------ begin and end of the file */

static void perfetto_header(void *state, const struct export_source *source)
{
    struct perfetto *perfetto = state;

    perfetto->source = source;
    perfetto->info = source->facts->info.size == 0
                         ? NULL
                         : json_loadb(source->facts->info.data, source->facts->info.size,
                                      JSON_REJECT_DUPLICATES, NULL);
    perfetto_begin(&perfetto->writer, perfetto->output);
    for (size_t i = 0; i < source->directory->session_count; i++)
        perfetto_clock_snapshot(&perfetto->writer, source->clocks[i].base_ns,
                                source->clocks[i].scale.origin_realtime_ns);
}

static void perfetto_footer(void *state)
{
    (void)state;
}

const struct exporter exporter_perfetto = {
    .name = "perfetto",
    .summary = "Perfetto trace: open it at ui.perfetto.dev or query it with trace_processor",
    .create = perfetto_create,
    .survey = perfetto_survey,
    .header = perfetto_header,
    .event = perfetto_event,
    .lost = perfetto_lost,
    .footer = perfetto_footer,
    .destroy = perfetto_destroy};
