/* `tare record`: runs a command and keeps what its processes record. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base_json.h"
#include "base_options.h"
#include "base_progress.h"
#include "cap_container.h"
#include "cap_drain.h"
#include "cap_serial.h"
#include "cap_session.h"
#include "cmd_record_frames.h"
#include "cmd_record_target.h"

struct record_options {
    const char *output, *elf;
    uint64_t ring_bytes, rings, block_words, categories, baud, address, base;
    int64_t poll_ns, limit_ns, wait_ns;
    bool monotonic, quiet, frames, names, until_end;
};

struct recording {
    struct record_options options;
    struct session session;
    struct container container;
    struct drain drain;
    pid_t child;
    int status; /* as waitpid gives it */
    uint64_t started_ns, next_snapshot_ns;
    uint64_t polls, poll_last_ns, poll_sum_ns, poll_longest_ns; /* intervals as achieved */
};

static volatile sig_atomic_t signal_to_pass_on;

static void note_signal(int number)
{
    if (number == SIGTERM || number == SIGHUP)
        signal_to_pass_on = number;
}

/* What would end this program must not leave the recording unfinished and the shared memory behind:
 * it goes to the command, which ends the recording. SIGINT and SIGQUIT it gets from the terminal.
 */
static const int caught[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
#define CAUGHT (sizeof(caught) / sizeof(caught[0]))
static struct sigaction inherited[CAUGHT], inherited_size;

static void catch_signals(void)
{
    const struct sigaction pass_on = {.sa_handler = note_signal};

    for (size_t i = 0; i < CAUGHT; i++) {
        sigaction(caught[i], NULL, &inherited[i]);
        if (inherited[i].sa_handler != SIG_IGN) /* nohup, background jobs: stays ignored */
            sigaction(caught[i], &pass_on, NULL);
    }
    signal(SIGCHLD, SIG_DFL); /* a parent that ignores it would hide the command's end */
}

/* In the command, before it runs. */
static void restore_signals(void)
{
    for (size_t i = 0; i < CAUGHT; i++)
        sigaction(caught[i], &inherited[i], NULL);
    sigaction(SIGXFSZ, &inherited_size, NULL);
}

/* Looks for the command as execvp will, so that a mistyped name costs no older recording: 0 when it
 * seems to be there, else the errno that execvp would give. */
static int find_command(const char *name)
{
    const char *path = getenv("PATH");
    char *folders, *rest, *folder;
    int reason = ENOENT;

    if (strchr(name, '/') != NULL)
        return access(name, X_OK) == 0 ? 0 : errno;
    folders = rest = memory_text(path != NULL ? path : "/bin:/usr/bin");
    while (reason != 0 && (folder = strsep(&rest, ":")) != NULL) {
        struct buffer file = {0};

        buffer_printf(&file, "%s/%s", folder[0] != '\0' ? folder : ".", name);
        if (access(file.data, X_OK) == 0)
            reason = 0;
        else if (errno == EACCES)
            reason = EACCES;
        buffer_free(&file);
    }
    free(folders);
    return reason;
}

/* Starts the command stopped at a pipe that closes by itself when exec works; otherwise errno comes
 * through it. Returns the errno of a failed exec, 0 when the command runs, -1 when fork failed. */
static int start_command(struct recording *recording, char **command)
{
    int report[2], reason = 0;
    ssize_t got;

    if (pipe2(report, O_CLOEXEC) != 0)
        return -1;
    recording->child = fork();
    if (recording->child == 0) {
        restore_signals();
        setenv(TARE_REGION_VARIABLE, recording->session.path, 1);
        execvp(command[0], command);
        reason = errno;
        if (write(report[1], &reason, sizeof(reason)) != sizeof(reason))
            _exit(EXIT_RECORD_FAULT);
        _exit(EXIT_NOT_FOUND);
    }
    close(report[1]);
    do
        got = recording->child < 0 ? -1 : read(report[0], &reason, sizeof(reason));
    while (got < 0 && errno == EINTR && recording->child > 0);
    close(report[0]);
    if (recording->child < 0)
        return -1;
    return got == sizeof(reason) ? reason : 0;
}

static void write_info(struct recording *recording, char **command)
{
    struct buffer text = {0};
    struct json json = json_begin(&text, 0);
    const struct session *session = &recording->session;
    struct utsname host = {0};

    uname(&host);
    json_put_object(&json, NULL);
    json_put_text(&json, "tool", "tare " TARE_VERSION);
    json_put_array(&json, "command");
    for (; *command != NULL; command++)
        json_put_text(&json, NULL, *command);
    json_end_array(&json);
    json_put_integer(&json, "process_id", recording->child);
    json_put_text(&json, "system", host.sysname);
    json_put_text(&json, "system_release", host.release);
    json_put_text(&json, "machine", host.machine);
    json_put_text(&json, "clock",
                  session->clock.kind == TARE_CLOCK_TSC ? "processor counter" : "CLOCK_MONOTONIC");
    json_put_unsigned(&json, "clock_shift", session->clock.shift);
    json_put_unsigned(&json, "rings", session->rings);
    json_put_unsigned(&json, "ring_bytes", session->ring_bytes);
    json_put_unsigned(&json, "block_words", session->block_words);
    json_put_unsigned(&json, "categories", (uint32_t)recording->options.categories);
    json_put_integer(&json, "poll_requested_ns", recording->options.poll_ns);
    json_end_object(&json);
    container_info(&recording->container, text.data);
    buffer_free(&text);
}

static void write_end(struct recording *recording)
{
    struct buffer text = {0};
    struct json json = json_begin(&text, 0);
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    json_put_object(&json, NULL);
    json_put_integer(&json, "command_status",
                     WIFEXITED(recording->status) ? WEXITSTATUS(recording->status) : -1);
    json_put_integer(&json, "command_signal",
                     WIFSIGNALED(recording->status) ? WTERMSIG(recording->status) : 0);
    json_put_unsigned(&json, "duration_ns", monotonic_ns() - recording->started_ns);
    json_put_unsigned(&json, "words", recording->drain.words);
    json_put_unsigned(&json, "streams", recording->drain.streams);
    json_put_unsigned(&json, "highest_fill_bytes", recording->drain.highest_fill);
    json_put_unsigned(&json, "polls", recording->polls);
    json_put_unsigned(&json, "poll_mean_ns",
                      recording->polls ? recording->poll_sum_ns / recording->polls : 0);
    json_put_unsigned(&json, "poll_longest_ns", recording->poll_longest_ns);
    json_put_unsigned(&json, "collector_user_us",
                      (uint64_t)usage.ru_utime.tv_sec * 1000000u +
                          (uint64_t)usage.ru_utime.tv_usec);
    json_put_unsigned(&json, "collector_system_us",
                      (uint64_t)usage.ru_stime.tv_sec * 1000000u +
                          (uint64_t)usage.ru_stime.tv_usec);
    json_put_integer(&json, "collector_peak_kib", usage.ru_maxrss);
    json_end_object(&json);
    container_end(&recording->container, text.data);
    buffer_free(&text);
}

static void write_snapshot(struct recording *recording, uint64_t now_ns)
{
    struct clock_snapshot now = session_clock_snapshot(&recording->session.clock);

    container_clock(&recording->container, now.ticks, now.monotonic_ns, now.realtime_ns,
                    now.uncertainty_ns);
    recording->next_snapshot_ns = now_ns + 1000000000u;
}

static void note_poll(struct recording *recording, uint64_t now_ns)
{
    uint64_t interval = now_ns - recording->poll_last_ns;

    recording->poll_last_ns = now_ns;
    recording->polls++;
    recording->poll_sum_ns += interval;
    if (interval > recording->poll_longest_ns)
        recording->poll_longest_ns = interval;
}

/* Waits until the command has ended or `ns` have passed; false: it has surely not ended. Asking the
 * kernel for the status each time would cost as much as the pause itself. */
static bool may_have_ended(int process, int64_t ns)
{
    struct pollfd ended = {.fd = process, .events = POLLIN};
    struct timespec limit = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

    if (process >= 0)
        return ppoll(&ended, 1, &limit, NULL) != 0;
    nanosleep(&limit, NULL);
    return true;
}

/* Reads the rings until the command has ended. */
static void follow_command(struct recording *recording)
{
    int process = (int)syscall(SYS_pidfd_open, recording->child, 0);
    bool look = true, told = false;

    recording->poll_last_ns = monotonic_ns();
    while (!look || waitpid(recording->child, &recording->status, WNOHANG) == 0) {
        uint64_t now_ns;
        int number = __atomic_exchange_n(&signal_to_pass_on, 0, __ATOMIC_RELAXED);

        if (number != 0)
            kill(recording->child, number);
        look = may_have_ended(process, recording->options.poll_ns);
        now_ns = monotonic_ns();
        note_poll(recording, now_ns);
        drain_once(&recording->drain, now_ns);
        if (now_ns >= recording->next_snapshot_ns)
            write_snapshot(recording, now_ns);
        if (recording->container.failure.code != EXIT_DONE && !told) {
            warn("%s; the command goes on without being recorded",
                 recording->container.failure.text);
            told = true;
        }
    }
    if (process >= 0)
        close(process);
}

static void say_what_was_recorded(const struct recording *recording)
{
    const struct drain *drain = &recording->drain;

    if (recording->options.quiet || recording->container.failure.code != EXIT_DONE)
        return; /* why writing failed is said in the end */
    if (drain->streams == 0)
        warn("the command recorded nothing: it was not built with the recorder, declares no event, "
             "or runs as another user or below another root and cannot open the session's memory; "
             "%s holds no events",
             recording->options.output);
    else
        fprintf(stderr,
                "tare: %llu words of %u streams in %s; dropped %llu events; fullest ring %u of %u "
                "bytes\n",
                (unsigned long long)drain->words, drain->streams, recording->options.output,
                (unsigned long long)drain->dropped, drain->highest_fill,
                recording->session.ring_bytes);
}

/* The command's own status, in the way of a shell. */
static int command_status(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* `reason`: errno of execvp; below 0: no process could be made. */
static int refuse_command(const char *name, int reason, struct error *error)
{
    error_set(error,
              reason < 0         ? EXIT_RECORD_FAULT
              : reason == ENOENT ? EXIT_NOT_FOUND
                                 : EXIT_NOT_EXECUTABLE,
              "%s: %s", name, reason < 0 ? "cannot start a process" : strerror(reason));
    return error_report(error);
}

static int record(struct recording *recording, char **command, struct error *error)
{
    int reason;

    recording->started_ns = monotonic_ns();
    write_snapshot(recording, recording->started_ns); /* time 0: nothing is recorded before it */
    reason = start_command(recording, command);
    if (reason != 0) {
        if (reason > 0)
            waitpid(recording->child, &recording->status, 0);
        return refuse_command(command[0], reason, error);
    }
    write_info(recording, command);
    drain_begin(&recording->drain, &recording->session, &recording->container);
    follow_command(recording);
    write_snapshot(recording, monotonic_ns());
    drain_end(&recording->drain);
    write_end(recording);
    say_what_was_recorded(recording);
    return command_status(recording->status);
}

static bool parse(struct record_options *options, int argc, char **argv, int *arguments,
                  char ***command, int *command_words, struct error *error)
{
    extern const struct command command_record;
    const struct option_row rows[] = {
        {'o', "output", OPTION_TEXT, &options->output, "FILE",
         "recording to write; default run.tare", 0, 0},
        {0, "ring-bytes", OPTION_UNSIGNED, &options->ring_bytes, "N",
         "bytes of each thread's ring; default 262144", 512, 1u << 30},
        {0, "rings", OPTION_UNSIGNED, &options->rings, "N",
         "threads that can record at once, and one more a process; default 64", 2, 4096},
        {0, "block-words", OPTION_UNSIGNED, &options->block_words, "N",
         "words of a block: 64, 128 or 256 (default)", 64, 256},
        {0, "categories", OPTION_UNSIGNED, &options->categories, "MASK",
         "categories that are on at start, bit n for category n; default 0xffffffff, of a target "
         "what it has on itself",
         0, UINT32_MAX},
        {0, "poll", OPTION_TIME, &options->poll_ns, "TIME",
         "pause between two looks at the rings; default 10ms, at a target's memory 1ms", 0, 0},
        {0, "monotonic", OPTION_FLAG, &options->monotonic, NULL,
         "stamp with CLOCK_MONOTONIC even where the processor's counter is good", 0, 0},
        {0, "elf", OPTION_TEXT, &options->elf, "FILE",
         "the firmware, whose symbol tare0 tells where in mem:FILE the rings are", 0, 0},
        {0, "address", OPTION_UNSIGNED, &options->address, "N",
         "address of the control block in mem:FILE; default: it is searched", 0, UINT32_MAX},
        {0, "base", OPTION_UNSIGNED, &options->base, "N",
         "address of the first byte of mem:FILE; default: the control blocks tell", 0, UINT32_MAX},
        {0, "names", OPTION_FLAG, &options->names, NULL,
         "ask the target for all names again; done anyway when reading begins late", 0, 0},
        {0, "until-end", OPTION_FLAG, &options->until_end, NULL,
         "end when the target ends its recording (tare_stop)", 0, 0},
        {0, "wait", OPTION_TIME, &options->wait_ns, "TIME",
         "how long to wait for a target that is not there yet, or a connection that was lost; "
         "default 10s",
         0, 0},
        {0, "frames", OPTION_FLAG, &options->frames, NULL,
         "PLACE gives frames: tcp:HOST:PORT, file:PATH, or - for standard input", 0, 0},
        {0, "baud", OPTION_UNSIGNED, &options->baud, "N", "rate of a serial port; default 115200",
         1, 100000000},
        {0, "for", OPTION_TIME, &options->limit_ns, "TIME",
         "end a recording from PLACE after this time; default: at the end of the input or at "
         "Ctrl-C",
         0, 0},
        {'q', "quiet", OPTION_FLAG, &options->quiet, NULL, "no closing line", 0, 0},
        {0}};

    return options_parse(&command_record, rows, argc, argv, arguments, command, command_words,
                         error);
}

static int record_command(struct recording *recording, char **command)
{
    const struct record_options *options = &recording->options;
    struct session_options wanted = {.rings = (uint32_t)options->rings,
                                     .ring_bytes = (uint32_t)options->ring_bytes,
                                     .block_words = (uint32_t)options->block_words,
                                     .categories = (uint32_t)options->categories,
                                     .want_monotonic = options->monotonic};
    struct error error = {0};
    int status = find_command(command[0]);

    if (status != 0)
        return refuse_command(command[0], status, &error);
    catch_signals();
    if (!session_create(&recording->session, &wanted, &error) ||
        !container_create(&recording->container, options->output,
                          recording->session.region->session, &error)) {
        session_destroy(&recording->session);
        error.code = EXIT_RECORD_FAULT;
        return error_report(&error);
    }
    status = record(recording, command, &error);
    session_destroy(&recording->session);
    if (!container_close(&recording->container, &error) && error.code != EXIT_DONE) {
        error_report(&error);
        return EXIT_RECORD_FAULT;
    }
    return status;
}

static int record_place(const struct record_options *options, char **places, int count)
{
    struct error error = {0};
    bool frames = options->frames;

    for (int i = 0; i < count; i++)
        frames = frames || frames_place(places[i]);
    if (frames && (count > 1 || options->until_end)) {
        error_set(&error, EXIT_USAGE, "%s",
                  count > 1 ? "frames come from one PLACE; record each line into a file of its own"
                            : "--until-end is for mem: and tcp: without --frames; frames end with "
                              "the input, --for or Ctrl-C");
        return error_report(&error);
    }
    if (frames)
        return record_frames(&(struct frames_source){.place = places[0],
                                                     .output = options->output,
                                                     .baud = (uint32_t)options->baud,
                                                     .categories = options->categories,
                                                     .limit_ns = options->limit_ns,
                                                     .names = options->names,
                                                     .quiet = options->quiet});
    return record_target(&(struct target_source){.places = places,
                                                 .place_count = count,
                                                 .output = options->output,
                                                 .elf = options->elf,
                                                 .address = options->address,
                                                 .base = options->base,
                                                 .categories = options->categories,
                                                 .poll_ns = options->poll_ns,
                                                 .limit_ns = options->limit_ns,
                                                 .wait_ns = options->wait_ns,
                                                 .names = options->names,
                                                 .until_end = options->until_end,
                                                 .quiet = options->quiet});
}

static int run_record(int argc, char **argv)
{
    static struct recording recording;
    struct record_options *options = &recording.options;
    struct error error = {0};
    char **command = NULL;
    int arguments = 0, command_words = 0;
    bool place;

    *options = (struct record_options){.output = "run.tare",
                                       .ring_bytes = SESSION_RING_BYTES_DEFAULT,
                                       .rings = SESSION_RINGS_DEFAULT,
                                       .block_words = 256,
                                       .categories = TARGET_NOT_GIVEN,
                                       .address = TARGET_NOT_GIVEN,
                                       .base = TARGET_NOT_GIVEN,
                                       .baud = SERIAL_BAUD_DEFAULT,
                                       .wait_ns = 10000000000,
                                       .poll_ns = -1};
    if (!parse(options, argc, argv, &arguments, &command, &command_words, &error)) {
        error.code = EXIT_RECORD_FAULT;
        return error_report(&error);
    }
    place = command_words == 0 && arguments > 0 &&
            (options->frames || frames_place(argv[1]) || target_place(argv[1]));
    if (options->poll_ns == -1)
        options->poll_ns = place ? 1000000 : 10000000;
    if (!place && (command_words == 0 || arguments > 0))
        error_set(&error, EXIT_RECORD_FAULT, "%s",
                  command_words == 0 && arguments == 0
                      ? "no command: write 'tare record -o FILE -- COMMAND ...'"
                      : "the command to record stands behind '--'");
    else if (options->poll_ns < 10000)
        error_set(&error, EXIT_RECORD_FAULT, "--poll must be 10us or more");
    if (error.code != EXIT_DONE)
        return error_report(&error);
    /* A file that would grow beyond `ulimit -f` is a failed write like any other. */
    sigaction(SIGXFSZ, &(struct sigaction){.sa_handler = SIG_IGN}, &inherited_size);
    return place ? record_place(options, argv + 1, arguments) : record_command(&recording, command);
}

const struct command command_record = {
    .name = "record",
    .synopsis = "[options] -- COMMAND [ARGUMENT ...] | [options] PLACE ...",
    .summary = "run a command and record what it does, or record a target",
    .details =
        "Runs COMMAND and writes the events of all its processes and threads to a recording.\n"
        "COMMAND must be built with the recorder (recorder/README.md). Each thread writes into a\n"
        "ring of its own in shared memory; this program empties the rings every --poll. A full "
        "ring\n"
        "drops new events and counts each of them: see 'tare check'.\n"
        "\n"
        "Exit status: COMMAND's own, 128 + N when signal N ended it; 125 when recording failed, "
        "126\n"
        "when COMMAND could not be run, 127 when it was not found.\n"
        "\n"
        "With a PLACE instead of a COMMAND, records a target until Ctrl-C, --for or --until-end:\n"
        "  mem:FILE[@OFFSET]  its memory as a file (QEMU's memory-backend-file, share=on)\n"
        "  tcp:HOST:PORT      an RTT server (OpenOCD, a probe's); one for each core\n"
        "  serial:PATH        frames on a serial port (--baud)\n"
        "  udp:ADDRESS:PORT   datagrams; udp::PORT hears this machine alone\n"
        "  with --frames tcp:HOST:PORT, file:PATH or - (standard input), until that ends.\n"
        "Exit status: 0; 2 the place cannot be opened; 3 nothing came; 4 what came or is there "
        "had to\n"
        "be refused.\n"
        "\n"
        "Examples: tare record -o run.tare -- ./server --port 8080\n"
        "          tare record -o run.tare tcp:localhost:9090\n"
        "          tare record -o run.tare mem:/dev/shm/board --elf firmware.elf\n",
    .run = run_record};
