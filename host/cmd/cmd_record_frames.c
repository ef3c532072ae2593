/* `tare record` from a target that sends frames or datagrams. */
#include "cmd_record_frames.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base_json.h"
#include "base_progress.h"
#include "cap_command.h"
#include "cap_datagram.h"
#include "cap_line.h"

#define READ_BYTES (64u << 10)
#define LOOK_MS 50
#define LAST_LOOKS 64
#define COMMAND_NS 100000000u /* between two commands */

static volatile sig_atomic_t stopped;

static void note_stop(int number)
{
    stopped = number;
}

struct frames_session {
    const struct frames_source *source;
    struct container container;
    struct frames frames;
    struct line line;           /* one of these two ... */
    struct datagrams datagrams; /* ... has a file */
    uint64_t started_ns;
    bool ended; /* the input is at its end */
    /* Commands that the target shall get, when it was last told one, and what was known of its
     * streams then: one that began anew has forgotten all. */
    bool want_categories, want_names;
    uint64_t told_ns, known_streams;
};

bool frames_place(const char *place)
{
    return strncmp(place, "udp:", 4) == 0 || strncmp(place, "serial:", 7) == 0;
}

static void write_info(struct frames_session *session)
{
    struct buffer text = {0};
    struct json json = json_begin(&text, 0);
    struct utsname host = {0};

    uname(&host);
    json_put_object(&json, NULL);
    json_put_text(&json, "tool", "tare " TARE_VERSION);
    json_put_text(&json, "source", session->source->place);
    if (strncmp(session->source->place, "serial:", 7) == 0)
        json_put_unsigned(&json, "baud", session->source->baud);
    json_put_text(&json, "transport", session->datagrams.file >= 0 ? "datagrams" : "frames");
    json_put_text(&json, "system", host.sysname);
    json_put_text(&json, "system_release", host.release);
    json_put_text(&json, "machine", host.machine);
    json_end_object(&json);
    container_info(&session->container, text.data);
    buffer_free(&text);
}

static void write_end(struct frames_session *session)
{
    const struct frame_counts *counts = &session->frames.counts;
    struct buffer text = {0};
    struct json json = json_begin(&text, 0);

    json_put_object(&json, NULL);
    json_put_text(&json, "ended_by", session->ended ? "input" : stopped != 0 ? "signal" : "limit");
    json_put_unsigned(&json, "duration_ns", monotonic_ns() - session->started_ns);
    json_put_unsigned(&json, "words", counts->words);
    json_put_unsigned(&json, "streams", counts->streams);
    json_put_unsigned(&json, "bytes_received", counts->bytes);
    json_put_unsigned(&json, "frames", counts->frames);
    json_put_unsigned(&json, "frames_damaged", counts->damaged);
    json_put_unsigned(&json, "bytes_damaged", counts->damaged_bytes);
    json_put_unsigned(&json, "bytes_skipped", counts->skipped_bytes);
    json_put_unsigned(&json, "frames_lost", counts->lost_frames);
    json_put_unsigned(&json, "words_lost", counts->lost_words);
    json_put_unsigned(&json, "gaps", counts->gaps);
    json_put_unsigned(&json, "frames_repeated", counts->repeated);
    json_put_unsigned(&json, "frames_late", counts->late);
    json_put_unsigned(&json, "frames_unknown", counts->unknown);
    json_put_unsigned(&json, "frames_refused", counts->refused + session->datagrams.strangers);
    json_put_unsigned(&json, "restarts", counts->restarts);
    json_end_object(&json);
    container_end(&session->container, text.data);
    buffer_free(&text);
}

static void tell(struct frames_session *session, enum tare_command_code code, uint32_t argument)
{
    struct tare_command command;

    command_fill(&command, code, argument);
    if (write(session->line.file, &command, sizeof command) != sizeof command)
        warn("%s: the target could not be told its categories or asked for its names: %s",
             session->source->place, strerror(errno));
}

/* A reader that comes late has missed the names; a line that goes both ways can ask for them. Not
 * before a frame has come: who knows what is connected there. The target takes one command at a
 * time, when it calls tare_service. */
static void tell_target(struct frames_session *session, uint64_t now_ns)
{
    const struct frame_counts *counts = &session->frames.counts;
    const struct frames_source *source = session->source;
    uint64_t streams = counts->streams + counts->restarts;

    if (!session->line.both_ways || counts->frames == 0)
        return;
    if (streams != session->known_streams) {
        session->want_names =
            source->names || (session->known_streams == 0 && session->frames.first_position != 0);
        session->want_categories = source->categories != FRAMES_NOT_GIVEN;
        session->known_streams = streams;
    }
    if (now_ns - session->told_ns < COMMAND_NS)
        return;
    if (session->want_categories)
        tell(session, TARE_COMMAND_FILTER, (uint32_t)source->categories);
    else if (session->want_names)
        tell(session, TARE_COMMAND_NAMES, 0);
    else
        return;
    session->want_names = session->want_names && session->want_categories;
    session->want_categories = false;
    session->told_ns = now_ns;
}

/* What has come on the line. */
static void read_line(struct frames_session *session, uint64_t now_ns)
{
    static unsigned char bytes[READ_BYTES];
    ssize_t size = read(session->line.file, bytes, sizeof bytes);

    if (size > 0) {
        frames_take(&session->frames, bytes, (size_t)size, now_ns);
    } else if (size == 0 || errno == EIO) { /* EIO: a serial port that was unplugged */
        session->ended = true;
    } else if (errno != EINTR && errno != EAGAIN) {
        warn("%s: reading failed: %s; what came before is kept", session->source->place,
             strerror(errno));
        session->ended = true;
    }
}

/* Takes what comes within `wait_ms`; false: nothing did. */
static bool take_some(struct frames_session *session, int wait_ms, uint64_t *now_ns)
{
    struct pollfd ready = {.events = POLLIN};
    bool all = true;
    int found;

    ready.fd = session->datagrams.file >= 0 ? session->datagrams.file : session->line.file;
    found = poll(&ready, 1, wait_ms);
    *now_ns = monotonic_ns();
    if (found > 0 && session->datagrams.file >= 0)
        all = datagrams_receive(&session->datagrams, &session->frames, *now_ns);
    else if (found > 0)
        read_line(session, *now_ns);
    if (all)
        frames_flush(&session->frames, *now_ns);
    tell_target(session, *now_ns);
    return found > 0;
}

static void follow(struct frames_session *session)
{
    uint64_t now_ns = session->started_ns;
    uint64_t limit_ns = (uint64_t)session->source->limit_ns;

    while (!session->ended && stopped == 0 && session->container.failure.code == EXIT_DONE &&
           (limit_ns == 0 || now_ns - session->started_ns < limit_ns))
        take_some(session, LOOK_MS, &now_ns);
    /* What had come before the end was said; a target that never pauses does not hold it off. */
    for (int i = 0; i < LAST_LOOKS && !session->ended && take_some(session, 0, &now_ns); i++)
        ;
}

static int say_what_was_recorded(const struct frames_session *session)
{
    const struct frame_counts *counts = &session->frames.counts;
    const char *place = session->source->place;

    if (counts->bytes == 0) {
        warn("%s: nothing was received; %s holds no events", place, session->source->output);
        return EXIT_CANNOT_TELL;
    }
    if (counts->words == 0) {
        warn("%s: %" PRIu64
             " bytes were received, but no whole frame was among them%s; %s holds no "
             "events",
             place, counts->bytes,
             strncmp(place, "serial:", 7) == 0 ? "; does the target have the same --baud?"
             : session->datagrams.file >= 0    ? ""
                                               : "; a bare stream of words has no frames",
             session->source->output);
        return EXIT_DAMAGED;
    }
    if (!session->source->quiet)
        fprintf(stderr,
                "tare: %" PRIu64 " words of %" PRIu32 " streams in %s; lost on the way %" PRIu64
                " words at %" PRIu64 " places; damaged %" PRIu64 " frames\n",
                counts->words, counts->streams, session->source->output, counts->lost_words,
                counts->gaps, counts->damaged);
    return EXIT_DONE;
}

static bool open_source(struct frames_session *session, struct error *error)
{
    session->line.file = session->datagrams.file = -1;
    if (strncmp(session->source->place, "udp:", 4) == 0)
        return datagrams_open(&session->datagrams, session->source->place + 4, error);
    return line_open(&session->line, session->source->place, session->source->baud, error);
}

int record_frames(const struct frames_source *source)
{
    static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sigaction stop = {.sa_handler = note_stop};
    static struct frames_session session;
    struct error error = {0};
    int status;

    session = (struct frames_session){.source = source};
    for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++)
        sigaction(stops[i], &stop, NULL);
    if (!open_source(&session, &error))
        return error_report(&error);
    /* Before the first frame nobody knows the target's session number. */
    if (!container_create(&session.container, source->output, 1, &error)) {
        line_close(&session.line);
        datagrams_close(&session.datagrams);
        return error_report(&error);
    }
    session.started_ns = monotonic_ns();
    write_info(&session);
    if (session.datagrams.file >= 0 && !source->quiet)
        fprintf(stderr, "tare: listening on UDP port %" PRIu32 "\n", session.datagrams.port);
    frames_begin(&session.frames, &session.container,
                 session.datagrams.file >= 0 ? FRAMES_WINDOW : 0);
    follow(&session);
    frames_end(&session.frames);
    write_end(&session);
    status = say_what_was_recorded(&session);
    line_close(&session.line);
    datagrams_close(&session.datagrams);
    if (!container_close(&session.container, &error))
        return error_report(&error);
    return status;
}
