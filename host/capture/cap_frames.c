#include "cap_frames.h"

#include <stdlib.h>
#include <string.h>

#define HISTORY 256u /* datagrams that are known again when they come twice */
#define HOLES 16u    /* gaps in which late datagrams are known as such */
/* A network repeats or delays no longer than this. Behind it, the same datagram comes from a target
 * that was started anew and does exactly what it did before. */
#define MEMORY_NS 1000000000u

struct held_frame {
    struct frame frame; /* its words are the bytes below */
    uint64_t held_since_ns;
    unsigned char bytes[1024];
};

/* Of one session and stream number. */
struct frame_stream {
    uint32_t session, stream, block_words;
    bool begun;        /* `next` is known */
    uint32_t sequence; /* of the frame that comes next */
    uint64_t next;     /* position of the word that comes next */
    uint64_t waiting_since_ns;
    struct buffer waiting;   /* words that are not yet in a chunk; they end at `next` */
    struct held_frame *held; /* by position; room for a window */
    uint32_t held_count;
    struct {
        uint64_t came_ns;
        uint32_t position, sequence, crc;
    } history[HISTORY];
    uint64_t history_count;
    struct {
        uint64_t given_up_ns;
        uint32_t position, words;
    } holes[HOLES];
    uint64_t hole_count;
};

/* ------------------------------------------------------------------ one frame */

uint32_t frame_crc(const unsigned char *bytes, size_t size)
{
    uint32_t crc = UINT32_MAX;

    while (size-- > 0) {
        crc ^= *bytes++;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (UINT32_C(0x82F63B78) & (0u - (crc & 1u)));
    }
    return ~crc;
}

size_t frame_unstuff(unsigned char *to, const unsigned char *from, size_t size)
{
    size_t made = 0;

    for (size_t at = 0; at < size;) {
        size_t code = from[at++];

        if (code == 0 || code - 1 > size - at)
            return 0;
        for (size_t i = 1; i < code; i++) {
            if (from[at] == 0)
                return 0;
            to[made++] = from[at++];
        }
        if (code < 255 && at < size)
            to[made++] = 0;
    }
    return made;
}

enum frame_verdict frame_parse(const unsigned char *contents, size_t size, bool checked,
                               struct frame *frame)
{
    size_t check = checked ? FRAME_CHECK_BYTES : 0;
    uint32_t log, room;

    if (size < FRAME_HEADER_BYTES + 4u || size > FRAME_CONTENTS_LIMIT)
        return FRAME_DAMAGED;
    frame->crc = frame_crc(contents, size - check);
    if (checked && frame->crc != get_little(contents + size - check, 4))
        return FRAME_DAMAGED;
    if (contents[0] != FRAME_KIND_WORDS)
        return FRAME_UNKNOWN;
    log = contents[1];
    if (log < 6 || log > 8)
        return FRAME_DAMAGED;
    frame->block_words = 1u << log;
    frame->sequence = (uint32_t)get_little(contents + 2, 2);
    frame->session = (uint32_t)get_little(contents + 4, 2);
    frame->stream = (uint32_t)get_little(contents + 6, 2);
    frame->position = (uint32_t)get_little(contents + 8, 4);
    frame->count = (uint32_t)(size - FRAME_HEADER_BYTES - check) / 4;
    frame->words = contents + FRAME_HEADER_BYTES;
    room = frame->block_words - frame->position % frame->block_words;
    if (frame->session == 0 || frame->count == 0 || frame->count > room ||
        FRAME_HEADER_BYTES + 4 * (size_t)frame->count + check != size)
        return FRAME_DAMAGED;
    return FRAME_GOOD;
}

/* ------------------------------------------------------------------ into the file */

static void write_waiting(struct frames *frames, struct frame_stream *stream)
{
    if (stream->waiting.size == 0)
        return;
    frames->container->session = stream->session;
    container_stream(frames->container, stream->stream, stream->next - stream->waiting.size / 4,
                     4 * stream->block_words, stream->waiting.data, stream->waiting.size);
    buffer_clear(&stream->waiting);
}

static void deliver(struct frames *frames, struct frame_stream *stream, const struct frame *frame,
                    uint64_t now_ns)
{
    uint64_t slot = stream->history_count++ % HISTORY;

    if (stream->waiting.size == 0)
        stream->waiting_since_ns = now_ns;
    buffer_append(&stream->waiting, frame->words, 4 * (size_t)frame->count);
    stream->next += frame->count;
    stream->sequence = (frame->sequence + 1) & 0xFFFFu;
    stream->history[slot].came_ns = now_ns;
    stream->history[slot].position = frame->position;
    stream->history[slot].sequence = frame->sequence;
    stream->history[slot].crc = frame->crc;
    frames->counts.frames++;
    frames->counts.words += frame->count;
    if (stream->waiting.size >= FRAMES_CHUNK_BYTES)
        write_waiting(frames, stream);
}

/* What stands before `frame` will not come any more. */
static void give_up_before(struct frames *frames, struct frame_stream *stream,
                           const struct frame *frame, uint64_t now_ns)
{
    uint32_t words = frame->position - (uint32_t)stream->next;
    uint64_t slot = stream->hole_count++ % HOLES;

    write_waiting(frames, stream);
    stream->holes[slot].given_up_ns = now_ns;
    stream->holes[slot].position = (uint32_t)stream->next;
    stream->holes[slot].words = words;
    stream->next += words;
    frames->counts.gaps++;
    frames->counts.lost_words += words;
}

static void note_lost_frames(struct frames *frames, const struct frame_stream *stream,
                             const struct frame *frame)
{
    frames->counts.lost_frames += (frame->sequence - stream->sequence) & 0xFFFFu;
}

/* From here on the stream goes on at the frame's own position, whatever came before. */
static void begin_at(struct frames *frames, struct frame_stream *stream, const struct frame *frame)
{
    write_waiting(frames, stream);
    stream->begun = true;
    stream->block_words = frame->block_words;
    stream->next = frame->position;
    stream->sequence = frame->sequence;
    stream->history_count = 0;
    stream->hole_count = 0;
}

/* ------------------------------------------------------------------ order */

/* How far the frame is ahead of the word that comes next; negative: behind. */
static int32_t words_ahead(const struct frame_stream *stream, const struct frame *frame)
{
    return (int32_t)(frame->position - (uint32_t)stream->next);
}

static bool came_before(const struct frame_stream *stream, const struct frame *frame,
                        uint64_t now_ns)
{
    uint64_t known = stream->history_count < HISTORY ? stream->history_count : HISTORY;

    for (uint64_t i = 0; i < known; i++)
        if (now_ns - stream->history[i].came_ns < MEMORY_NS &&
            stream->history[i].position == frame->position &&
            stream->history[i].sequence == frame->sequence && stream->history[i].crc == frame->crc)
            return true;
    for (uint32_t i = 0; i < stream->held_count; i++)
        if (stream->held[i].frame.position == frame->position &&
            stream->held[i].frame.sequence == frame->sequence)
            return true;
    return false;
}

static bool was_given_up(const struct frame_stream *stream, const struct frame *frame,
                         uint64_t now_ns)
{
    uint64_t known = stream->hole_count < HOLES ? stream->hole_count : HOLES;

    for (uint64_t i = 0; i < known; i++)
        if (now_ns - stream->holes[i].given_up_ns < MEMORY_NS &&
            frame->position - stream->holes[i].position < stream->holes[i].words)
            return true;
    return false;
}

static void release_first(struct frames *frames, struct frame_stream *stream, uint64_t now_ns)
{
    struct held_frame *first = stream->held;
    int32_t ahead = words_ahead(stream, &first->frame);

    if (ahead >= 0) {
        note_lost_frames(frames, stream, &first->frame);
        if (ahead > 0)
            give_up_before(frames, stream, &first->frame, now_ns);
        first->frame.words = first->bytes;
        deliver(frames, stream, &first->frame, now_ns);
    } else {
        frames->counts.repeated++; /* overlaps what was taken: not from a right sender */
    }
    stream->held_count--;
    memmove(first, first + 1, stream->held_count * sizeof *first);
}

/* Delivers what is held: all that follows without a hole, so much that at most `most` frames stay,
 * and what has waited for `hold_ns`. */
static void release(struct frames *frames, struct frame_stream *stream, uint32_t most,
                    uint64_t hold_ns, uint64_t now_ns)
{
    while (stream->held_count > 0) {
        const struct held_frame *first = stream->held;
        bool follows = stream->begun && words_ahead(stream, &first->frame) <= 0;

        if (!follows && stream->held_count <= most && now_ns - first->held_since_ns < hold_ns)
            return;
        if (!stream->begun)
            begin_at(frames, stream, &first->frame);
        release_first(frames, stream, now_ns);
    }
}

static void hold(struct frames *frames, struct frame_stream *stream, const struct frame *frame,
                 uint64_t now_ns)
{
    uint32_t at = stream->held_count;
    struct held_frame *held;

    if (stream->held == NULL)
        stream->held = memory_new(frames->window + 1, sizeof *stream->held);
    held = stream->held;
    while (at > 0 && words_ahead(stream, &held[at - 1].frame) > words_ahead(stream, frame))
        at--;
    memmove(held + at + 1, held + at, (stream->held_count - at) * sizeof *held);
    stream->held_count++;
    held[at].frame = *frame;
    held[at].held_since_ns = now_ns;
    memcpy(held[at].bytes, frame->words, 4 * (size_t)frame->count);
    release(frames, stream, frames->window, UINT64_MAX, now_ns);
}

static struct frame_stream *find_stream(struct frames *frames, const struct frame *frame)
{
    struct frame_stream *stream;

    for (uint32_t i = 0; i < frames->counts.streams; i++)
        if (frames->streams[i]->session == frame->session &&
            frames->streams[i]->stream == frame->stream)
            return frames->streams[i];
    if (frames->counts.streams == FRAME_STREAMS) {
        frames->counts.refused++;
        if (!frames->warned_refused)
            warn("more than %u streams: session %u, stream %u and all others that are new are left "
                 "out; is something else sending to this place?",
                 FRAME_STREAMS, frame->session, frame->stream);
        frames->warned_refused = true;
        return NULL;
    }
    stream = memory_new(1, sizeof *stream);
    stream->session = frame->session;
    stream->stream = frame->stream;
    if (frames->counts.streams == 0)
        frames->first_position = frame->position;
    stream->next = frame->position; /* what is held is sorted by the distance from here */
    frames->streams[frames->counts.streams++] = stream;
    return stream;
}

static void restart(struct frames *frames, struct frame_stream *stream, const struct frame *frame,
                    uint64_t now_ns)
{
    release(frames, stream, 0, UINT64_MAX, now_ns);
    begin_at(frames, stream, frame);
    frames->counts.restarts++;
    if (!frames->warned_restart)
        warn(
            "session %u, stream %u: the target began anew and gave itself the same session number; "
            "the recording shows a jump backwards. Give it a boot counter: TARE_SESSION in "
            "tare_conf.h",
            frame->session, frame->stream);
    frames->warned_restart = true;
}

/* A frame that is behind, or that cannot be the next one. False: it is left out. */
static bool take_unexpected(struct frames *frames, struct frame_stream *stream,
                            const struct frame *frame, uint64_t now_ns)
{
    int32_t ahead = words_ahead(stream, frame);

    if (ahead != 0 && frames->window > 0 && came_before(stream, frame, now_ns)) {
        frames->counts.repeated++;
        return false;
    }
    if (ahead < 0 && frames->window > 0 && was_given_up(stream, frame, now_ns)) {
        frames->counts.late++;
        return false;
    }
    /* The right place, but not the frame that follows: a target that began anew. Within a block the
     * file could not show that its words belong to another one. */
    if (ahead == 0 && frame->sequence != stream->sequence) {
        if (frame->position % frame->block_words != 0)
            return false;
        ahead = -1;
    }
    if (ahead < 0 || frame->block_words != stream->block_words)
        restart(frames, stream, frame, now_ns);
    return true;
}

static void take_frame(struct frames *frames, const struct frame *frame, uint64_t now_ns)
{
    struct frame_stream *stream = find_stream(frames, frame);
    int32_t ahead;

    if (stream == NULL)
        return;
    if (!stream->begun && (frames->window == 0 || (frame->position == 0 && frame->sequence == 0)))
        begin_at(frames, stream, frame);
    if (stream->begun) {
        if (!take_unexpected(frames, stream, frame, now_ns))
            return;
    } else if (came_before(stream, frame, now_ns)) {
        frames->counts.repeated++;
        return;
    }
    ahead = words_ahead(stream, frame);
    if (!stream->begun || (ahead > 0 && frames->window > 0)) {
        hold(frames, stream, frame, now_ns);
        return;
    }
    note_lost_frames(frames, stream, frame);
    if (ahead > 0)
        give_up_before(frames, stream, frame, now_ns);
    deliver(frames, stream, frame, now_ns);
    release(frames, stream, frames->window, UINT64_MAX, now_ns);
}

/* ------------------------------------------------------------------ bytes */

void frames_begin(struct frames *frames, struct container *container, uint32_t window)
{
    memset(frames, 0, sizeof *frames);
    frames->container = container;
    frames->window = window;
    frames->streams = memory_new(FRAME_STREAMS, sizeof(struct frame_stream *));
}

/* A zero byte, or the end, has come: what stood before it? */
static void take_raw(struct frames *frames, uint64_t now_ns)
{
    unsigned char contents[FRAME_STUFFED_LIMIT];
    struct frame frame;
    enum frame_verdict verdict = FRAME_DAMAGED;

    if (frames->raw_bytes == 0)
        return;
    if (!frames->overlong)
        verdict = frame_parse(contents, frame_unstuff(contents, frames->raw, frames->raw_bytes),
                              true, &frame);
    if (verdict == FRAME_GOOD) {
        take_frame(frames, &frame, now_ns);
    } else if (verdict == FRAME_UNKNOWN) {
        frames->counts.unknown++;
    } else if (!frames->synchronised) {
        frames->counts.skipped_bytes += frames->raw_bytes;
    } else {
        frames->counts.damaged++;
        frames->counts.damaged_bytes += frames->raw_bytes;
    }
    frames->raw_bytes = 0;
    frames->overlong = false;
}

void frames_take(struct frames *frames, const void *bytes, size_t size, uint64_t now_ns)
{
    const unsigned char *next = bytes, *end = next + size;

    frames->counts.bytes += size;
    while (next < end) {
        const unsigned char *zero = memchr(next, 0, (size_t)(end - next));
        size_t run = (size_t)((zero != NULL ? zero : end) - next);

        if (frames->overlong || run > sizeof frames->raw - frames->raw_bytes)
            frames->overlong = true;
        else
            memcpy(frames->raw + frames->raw_bytes, next, run);
        frames->raw_bytes += run;
        next += run;
        if (zero != NULL) {
            take_raw(frames, now_ns);
            frames->synchronised = true;
            next++;
        }
    }
}

bool frames_take_datagram(struct frames *frames, const void *bytes, size_t size, uint64_t now_ns)
{
    const unsigned char *datagram = bytes;
    struct frame frame;
    enum frame_verdict verdict = FRAME_DAMAGED;

    frames->counts.bytes += size;
    if (size > 4 && size <= DATAGRAM_LIMIT && memcmp(datagram, DATAGRAM_MAGIC, 4) == 0)
        verdict = frame_parse(datagram + 4, size - 4, true, &frame);
    else if (size > 4 && memcmp(datagram, DATAGRAM_MAGIC_UNCHECKED, 4) == 0)
        verdict = frame_parse(datagram + 4, size - 4, false, &frame);
    if (verdict == FRAME_GOOD) {
        take_frame(frames, &frame, now_ns);
    } else if (verdict == FRAME_UNKNOWN) {
        frames->counts.unknown++;
    } else {
        frames->counts.damaged++;
        frames->counts.damaged_bytes += size;
    }
    return verdict != FRAME_DAMAGED;
}

void frames_flush(struct frames *frames, uint64_t now_ns)
{
    for (uint32_t i = 0; i < frames->counts.streams; i++) {
        struct frame_stream *stream = frames->streams[i];

        release(frames, stream, frames->window, FRAMES_HOLD_NS, now_ns);
        if (stream->waiting.size > 0 && now_ns - stream->waiting_since_ns >= FRAMES_CHUNK_NS)
            write_waiting(frames, stream);
    }
}

void frames_end(struct frames *frames)
{
    take_raw(frames, 0);
    for (uint32_t i = 0; i < frames->counts.streams; i++) {
        struct frame_stream *stream = frames->streams[i];

        release(frames, stream, 0, UINT64_MAX, 0);
        write_waiting(frames, stream);
        buffer_free(&stream->waiting);
        free(stream->held);
        free(stream);
    }
    free(frames->streams);
    frames->streams = NULL;
}
