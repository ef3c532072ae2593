/* `tare record` from a target whose rings are read as they are. */
#include "cmd_record_target.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base_json.h"
#include "base_progress.h"
#include "cap_command.h"
#include "cap_elf.h"
#include "cap_line.h"
#include "cap_memory.h"
#include "cap_words.h"

#define READ_BYTES (64u << 10)
#define LOOK_NS 50000000           /* longest pause with connections alone */
#define RETRY_NS 200000000u        /* between two tries to connect */
#define COMMAND_PAUSE_NS 200000000 /* the down channel has room for one command at a time */
#define COMMANDS 4u

static volatile sig_atomic_t stopped;

static void note_stop(int number)
{
    stopped = number;
}

/* Commands on their way to a target. */
struct sender {
    struct {
        enum tare_command_code code;
        uint32_t argument;
    } queue[COMMANDS];
    uint32_t count;
    uint64_t next_ns; /* not before */
};

/* One connection to an RTT server. */
struct link {
    const char *place;
    struct line line;
    struct words_input input;
    struct sender sender;
    uint64_t lost_ns, next_try_ns; /* while there is no connection */
    uint32_t streams;              /* that the target has been spoken to about */
    bool given_up;
    struct error reason; /* why the last try failed */
};

struct target_session {
    const struct target_source *source;
    struct container container;
    struct memory_reader memory;
    struct sender sender; /* to the memory's rings */
    char *file;           /* of the memory */
    bool is_memory, is_open;
    uint32_t spoken_streams, spoken_late;
    struct link *links;
    struct pollfd *polls;
    uint64_t started_ns;
    struct error failure; /* why recording ended, if it did by itself */
};

bool target_place(const char *place)
{
    return strncmp(place, "mem:", 4) == 0 || strncmp(place, "tcp:", 4) == 0;
}

/* ------------------------------------------------------------------ commands */

static void sender_add(struct sender *sender, enum tare_command_code code, uint32_t argument)
{
    if (sender->count < COMMANDS) {
        sender->queue[sender->count].code = code;
        sender->queue[sender->count++].argument = argument;
    }
}

/* What a target is told when it appears, and again when it has begun anew. */
static void sender_greet(struct sender *sender, const struct target_source *source, bool late)
{
    sender->count = 0;
    if (source->categories != TARGET_NOT_GIVEN)
        sender_add(sender, TARE_COMMAND_FILTER, (uint32_t)source->categories);
    if (source->names || late)
        sender_add(sender, TARE_COMMAND_NAMES, 0);
}

static void sender_sent(struct sender *sender, uint64_t now_ns)
{
    sender->count--;
    memmove(sender->queue, sender->queue + 1, sizeof(sender->queue) - sizeof(sender->queue[0]));
    sender->next_ns = now_ns + COMMAND_PAUSE_NS;
}

/* ------------------------------------------------------------------ connections */

static void link_lost(struct link *link, uint64_t now_ns, const char *why, bool quiet)
{
    if (!quiet)
        warn("%s: connection lost (%s); trying again", link->place, why);
    words_cut(&link->input);
    line_close(&link->line);
    link->lost_ns = now_ns;
    link->next_try_ns = now_ns + RETRY_NS;
}

static void link_try(struct link *link, const struct target_source *source, uint64_t now_ns)
{
    if (now_ns < link->next_try_ns)
        return;
    link->reason = (struct error){0};
    link->next_try_ns = now_ns + RETRY_NS;
    if (line_open(&link->line, link->place, 0, &link->reason)) {
        sender_greet(&link->sender, source, false);
        return;
    }
    link->given_up = now_ns - link->lost_ns >= (uint64_t)source->wait_ns;
    if (link->given_up && link->input.bytes > 0)
        warn("%s: did not come back: %s", link->place, link->reason.text);
}

static void link_send(struct link *link, uint64_t now_ns)
{
    struct tare_command command;

    if (link->line.file < 0 || link->sender.count == 0 || now_ns < link->sender.next_ns)
        return;
    command_fill(&command, link->sender.queue[0].code, link->sender.queue[0].argument);
    if (send(link->line.file, &command, sizeof(command), MSG_NOSIGNAL | MSG_DONTWAIT) ==
        (ssize_t)sizeof(command))
        sender_sent(&link->sender, now_ns);
}

/* A stream that has begun anew does not know what its target was told; one that was met in its
 * middle has told its names already. */
static void link_speak(struct link *link, const struct target_source *source)
{
    const struct words_input *input = &link->input;
    uint32_t streams = input->stream_count + input->restarts;

    if (streams == link->streams || input->stream_count == 0)
        return;
    if (link->streams > 0)
        sender_greet(&link->sender, source, false);
    else if (input->streams[0]->late && !source->names)
        sender_add(&link->sender, TARE_COMMAND_NAMES, 0);
    link->streams = streams;
}

static void link_read(struct link *link, const struct target_source *source, uint64_t now_ns)
{
    static unsigned char bytes[READ_BYTES];
    ssize_t size = read(link->line.file, bytes, sizeof(bytes));

    if (size > 0) {
        words_take(&link->input, bytes, (size_t)size, now_ns);
        link_speak(link, source);
    } else if (size == 0) {
        link_lost(link, now_ns, "the server closed it", source->quiet);
    } else if (errno != EINTR && errno != EAGAIN) {
        link_lost(link, now_ns, strerror(errno), source->quiet);
    }
}

/* One look at all connections, at most `pause_ns` long. */
static void look_at_links(struct target_session *session, int64_t pause_ns)
{
    const struct target_source *source = session->source;
    struct timespec pause = {.tv_nsec = pause_ns};
    uint64_t now_ns = monotonic_ns();
    int count = source->place_count;

    for (int i = 0; i < count; i++) {
        struct link *link = session->links + i;

        if (link->line.file < 0 && !link->given_up)
            link_try(link, source, now_ns);
        session->polls[i] = (struct pollfd){.fd = link->line.file, .events = POLLIN};
    }
    ppoll(session->polls, (nfds_t)count, &pause, NULL);
    now_ns = monotonic_ns();
    for (int i = 0; i < count; i++) {
        struct link *link = session->links + i;

        if (link->line.file >= 0 && session->polls[i].revents != 0)
            link_read(link, source, now_ns);
        words_flush(&link->input, now_ns);
        link_send(link, now_ns);
    }
}

static bool links_are_done(struct target_session *session)
{
    bool ended = session->source->until_end, given_up = true;

    for (int i = 0; i < session->source->place_count; i++) {
        const struct link *link = session->links + i;

        ended = ended && words_ended(&link->input);
        given_up = given_up && link->given_up;
    }
    if (given_up)
        session->failure = session->links[0].reason;
    return ended || given_up;
}

/* ------------------------------------------------------------------ memory */

/* "mem:FILE" or "mem:FILE@OFFSET". */
static bool memory_options_of(struct target_session *session, struct memory_options *options,
                              struct error *error)
{
    const struct target_source *source = session->source;
    char *at, *end;

    *options = (struct memory_options){0};
    session->file = memory_text(source->places[0] + strlen("mem:"));
    at = strrchr(session->file, '@');
    if (at != NULL && at[1] >= '0' && at[1] <= '9') {
        options->offset = strtoull(at + 1, &end, 0);
        if (*end == '\0')
            *at = '\0';
        else
            options->offset = 0;
    }
    options->path = session->file;
    options->base_given = source->base != TARGET_NOT_GIVEN;
    options->base = (uint32_t)source->base;
    if (source->elf != NULL && !elf_find_blocks(source->elf, options, error))
        return false;
    if (source->address != TARGET_NOT_GIVEN) {
        options->addresses[0] = (uint32_t)source->address;
        options->sizes[0] = 0;
        options->address_count = 1;
    }
    return true;
}

static void look_at_memory(struct target_session *session, const struct memory_options *options)
{
    const struct target_source *source = session->source;
    struct memory_reader *reader = &session->memory;
    struct timespec pause = {.tv_sec = source->poll_ns / 1000000000,
                             .tv_nsec = source->poll_ns % 1000000000};
    uint64_t now_ns = monotonic_ns();
    struct error error = {0};

    if (!session->is_open) {
        session->is_open = memory_open(reader, options, &session->container, &error);
        session->failure = error; /* until it is there */
    }
    if (session->is_open) {
        memory_drain(reader, UINT64_MAX, now_ns);
        if (reader->streams != session->spoken_streams) {
            sender_greet(&session->sender, source, reader->late != session->spoken_late);
            session->spoken_streams = reader->streams;
            session->spoken_late = reader->late;
        }
        if (session->sender.count > 0 && now_ns >= session->sender.next_ns &&
            memory_command(reader, session->sender.queue[0].code,
                           session->sender.queue[0].argument))
            sender_sent(&session->sender, now_ns);
    }
    nanosleep(&pause, NULL);
}

static bool memory_is_done(struct target_session *session)
{
    const struct target_source *source = session->source;
    const struct memory_reader *reader = &session->memory;

    if (session->is_open && source->until_end && memory_finished(reader))
        return true;
    if (session->is_open && reader->streams > 0)
        return false;
    return monotonic_ns() - session->started_ns >= (uint64_t)source->wait_ns;
}

/* ------------------------------------------------------------------ a recording */

static void write_info(struct target_session *session)
{
    const struct target_source *source = session->source;
    struct buffer text = {0};
    struct json json = json_begin(&text, 0);
    struct utsname host = {0};

    uname(&host);
    json_put_object(&json, NULL);
    json_put_text(&json, "tool", "tare " TARE_VERSION);
    json_put_array(&json, "sources");
    for (int i = 0; i < source->place_count; i++)
        json_put_text(&json, NULL, source->places[i]);
    json_end_array(&json);
    json_put_text(&json, "transport", session->is_memory ? "memory" : "rtt");
    if (source->elf != NULL)
        json_put_text(&json, "firmware", source->elf);
    json_put_text(&json, "system", host.sysname);
    json_put_text(&json, "system_release", host.release);
    json_put_text(&json, "machine", host.machine);
    json_end_object(&json);
    container_info(&session->container, text.data);
    buffer_free(&text);
}

/* Sums over all connections, or those of the memory. */
struct totals {
    uint64_t words, bytes_received, bytes_skipped, bytes_stale, words_missed;
    uint32_t streams, restarts;
};

static struct totals totals_of(const struct target_session *session)
{
    const struct memory_reader *memory = &session->memory;
    struct totals totals = {.words = memory->words,
                            .bytes_received = 4 * memory->words,
                            .words_missed = memory->words_missed,
                            .streams = memory->streams,
                            .restarts = memory->restarts};

    for (int i = 0; !session->is_memory && i < session->source->place_count; i++) {
        const struct words_input *input = &session->links[i].input;

        totals.words += input->words;
        totals.bytes_received += input->bytes;
        totals.bytes_skipped += input->skipped_bytes;
        totals.bytes_stale += input->stale_bytes;
        totals.words_missed += input->gap_words;
        totals.streams += input->stream_count;
        totals.restarts += input->restarts;
    }
    return totals;
}

static void write_end(struct target_session *session, const struct totals *totals)
{
    struct buffer text = {0};
    struct json json = json_begin(&text, 0);

    json_put_object(&json, NULL);
    json_put_text(&json, "ended_by", stopped != 0 ? "signal" : "target or limit");
    json_put_unsigned(&json, "duration_ns", monotonic_ns() - session->started_ns);
    json_put_unsigned(&json, "words", totals->words);
    json_put_unsigned(&json, "streams", totals->streams);
    json_put_unsigned(&json, "restarts", totals->restarts);
    json_put_unsigned(&json, "words_missed", totals->words_missed);
    json_put_unsigned(&json, "bytes_received", totals->bytes_received);
    json_put_unsigned(&json, "bytes_skipped", totals->bytes_skipped);
    json_put_unsigned(&json, "bytes_stale", totals->bytes_stale);
    if (session->is_memory)
        json_put_unsigned(&json, "highest_fill_bytes", session->memory.highest_fill);
    json_end_object(&json);
    container_end(&session->container, text.data);
    buffer_free(&text);
}

/* Why nothing was recorded. */
static int say_nothing_came(const struct target_session *session, const struct totals *totals)
{
    const struct memory_reader *memory = &session->memory;
    const char *place = session->source->places[0];
    struct error error = session->failure;

    if (session->is_memory && session->is_open) {
        error = memory->refusal;
        if (error.code == EXIT_DONE && memory->unfinished.code != EXIT_DONE)
            error_set(&error, EXIT_CANNOT_TELL, "%s", memory->unfinished.text);
        if (error.code == EXIT_DONE)
            error_set(&error, EXIT_CANNOT_TELL,
                      "%s: there is no control block in this memory; does the target run, and was "
                      "it built with the recorder?",
                      session->file);
    } else if (error.code == EXIT_DONE && totals->bytes_received > 0) {
        error_set(&error, EXIT_DAMAGED,
                  "%s: %" PRIu64 " bytes were received, but no block of a recording is among them; "
                  "does this port serve the recorder's channel?",
                  place, totals->bytes_received);
    } else if (error.code == EXIT_DONE) {
        error_set(&error, EXIT_CANNOT_TELL,
                  "%s: nothing was received; does the target run, and was its control block found?",
                  place);
    }
    return error_report(&error);
}

static int say_what_was_recorded(const struct target_session *session, const struct totals *totals)
{
    if (totals->streams == 0)
        return say_nothing_came(session, totals);
    if (session->source->quiet)
        return EXIT_DONE;
    fprintf(stderr, "tare: %" PRIu64 " words of %" PRIu32 " streams in %s; restarts %" PRIu32,
            totals->words, totals->streams, session->source->output, totals->restarts);
    if (session->is_memory)
        fprintf(stderr,
                "; missed %" PRIu64 " words; fullest ring %" PRIu32 " of %" PRIu32 " bytes\n",
                totals->words_missed, session->memory.highest_fill, session->memory.highest_bytes);
    else
        fprintf(stderr,
                "; missed %" PRIu64 " words; left out %" PRIu64 " stale bytes and %" PRIu64
                " of no block\n",
                totals->words_missed, totals->bytes_stale, totals->bytes_skipped);
    return EXIT_DONE;
}

static bool is_over(const struct target_session *session)
{
    uint64_t limit_ns = (uint64_t)session->source->limit_ns;

    return stopped != 0 || session->container.failure.code != EXIT_DONE ||
           (limit_ns != 0 && monotonic_ns() - session->started_ns >= limit_ns);
}

static void follow_memory(struct target_session *session, const struct memory_options *options)
{
    do
        look_at_memory(session, options);
    while (!memory_is_done(session) && !is_over(session));
    if (session->is_open) {
        memory_drain(&session->memory, UINT64_MAX, monotonic_ns());
        memory_end(&session->memory);
    }
}

static void follow_links(struct target_session *session)
{
    int count = session->source->place_count;

    session->links = memory_new((size_t)count, sizeof(*session->links));
    session->polls = memory_new((size_t)count, sizeof(*session->polls));
    for (int i = 0; i < count; i++) {
        session->links[i].place = session->source->places[i];
        session->links[i].line.file = -1;
        session->links[i].lost_ns = session->started_ns;
        words_begin(&session->links[i].input, &session->container);
    }
    do
        look_at_links(session, LOOK_NS);
    while (!links_are_done(session) && !is_over(session));
    /* What is on its way already. */
    look_at_links(session, 0);
}

static void close_all(struct target_session *session)
{
    if (session->is_open)
        memory_close(&session->memory);
    for (int i = 0; session->links != NULL && i < session->source->place_count; i++)
        line_close(&session->links[i].line);
    free(session->links);
    free(session->polls);
    free(session->file);
}

static bool check_places(const struct target_source *source, struct error *error)
{
    bool memory = strncmp(source->places[0], "mem:", 4) == 0;

    for (int i = 0; i < source->place_count; i++) {
        if (!target_place(source->places[i]) || (memory && i > 0) ||
            (i > 0 && strncmp(source->places[i], "mem:", 4) == 0)) {
            error_set(error, EXIT_USAGE,
                      "'%s': give one mem:FILE, or one tcp:HOST:PORT for each core",
                      source->places[i]);
            return false;
        }
    }
    if (!memory && (source->elf != NULL || source->address != TARGET_NOT_GIVEN ||
                    source->base != TARGET_NOT_GIVEN)) {
        error_set(error, EXIT_USAGE,
                  "--elf, --address and --base go with mem:FILE; give the address to the RTT "
                  "server instead");
        return false;
    }
    return true;
}

int record_target(const struct target_source *source)
{
    static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sigaction stop = {.sa_handler = note_stop};
    static struct target_session session;
    struct memory_options options = {0};
    struct error error = {0};
    struct totals totals;
    int status;

    session = (struct target_session){.source = source,
                                      .is_memory = strncmp(source->places[0], "mem:", 4) == 0};
    if (!check_places(source, &error) ||
        (session.is_memory && !memory_options_of(&session, &options, &error)))
        return error_report(&error);
    for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++)
        sigaction(stops[i], &stop, NULL);
    /* Before the first block nobody knows the target's session number. */
    if (!container_create(&session.container, source->output, 1, &error))
        return error_report(&error);
    session.started_ns = monotonic_ns();
    write_info(&session);
    if (session.is_memory)
        follow_memory(&session, &options);
    else
        follow_links(&session);
    for (int i = 0; !session.is_memory && i < source->place_count; i++)
        words_cut(&session.links[i].input);
    totals = totals_of(&session);
    for (int i = 0; !session.is_memory && i < source->place_count; i++)
        words_end(&session.links[i].input);
    write_end(&session, &totals);
    status = say_what_was_recorded(&session, &totals);
    close_all(&session);
    if (!container_close(&session.container, &error))
        return error_report(&error);
    return status;
}
