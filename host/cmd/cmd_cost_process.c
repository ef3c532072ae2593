#include "cmd_cost_process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base_progress.h"

static const uint64_t kill_delay_ns = 2000000000u;

/* ------------------------------------------------------------------ one command */

static void child_start(const struct process_request *request, int out, int err, int started)
{
    setpgid(0, 0);
    /* Whatever happens to the lab, its runs do not go on without it. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (in >= 0 && dup2(in, 0) >= 0 && dup2(out, 1) >= 0 && dup2(err, 2) >= 0) {
        for (size_t i = 0; i < request->environment_count; i++) {
            putenv(request->environment[i]);
        }
        execvp(request->argv[0], request->argv);
    }
    int code = errno;
    ssize_t written = write(started, &code, sizeof code);
    _exit(written < 0 ? 126 : 127);
}

/* Takes what the pipe holds. False at its end. */
static bool drain(int descriptor, struct buffer *into)
{
    char bytes[16384];
    ssize_t got;
    while ((got = read(descriptor, bytes, sizeof bytes)) > 0) {
        size_t room = PROCESS_OUTPUT_MAXIMUM - into->size;
        buffer_append(into, bytes, (size_t)got < room ? (size_t)got : room);
    }
    return got < 0 && (errno == EAGAIN || errno == EINTR);
}

struct watch {
    pid_t process;
    int pidfd;
    int out, err; /* our ends of the pipes, -1 after their end */
    uint64_t begun_ns, killed_ns;
    double polled_peak_bytes;
};

static void watch_limits(const struct process_request *request, struct process_result *result,
                         struct watch *watch)
{
    uint64_t now = monotonic_ns();
    if (watch->killed_ns != 0) {
        if (now - watch->killed_ns > kill_delay_ns) {
            kill(-watch->process, SIGKILL);
        }
        return;
    }
    result->timed_out = (double)(now - watch->begun_ns) > request->timeout_s * 1e9;
    result->interrupted = request->interrupted != NULL && *request->interrupted != 0;
    if (result->timed_out || result->interrupted) {
        watch->killed_ns = now;
        kill(-watch->process, SIGTERM);
    }
}

static void watch_until_end(const struct process_request *request, struct process_result *result,
                            struct watch *watch)
{
    uint64_t ticked_ns = watch->begun_ns;
    while (true) {
        struct pollfd events[] = {
            {watch->pidfd, POLLIN, 0}, {watch->out, POLLIN, 0}, {watch->err, POLLIN, 0}};
        /* Short waits at first, so that a short command's memory is seen at all. */
        uint64_t age = monotonic_ns() - watch->begun_ns;
        int ready = poll(events, 3, age < 200000000u ? 10 : 100);
        double peak = process_peak_bytes(watch->process);
        watch->polled_peak_bytes =
            peak > watch->polled_peak_bytes ? peak : watch->polled_peak_bytes;
        if (ready > 0 && events[1].revents != 0 && !drain(watch->out, &result->out)) {
            close(watch->out);
            watch->out = -1;
        }
        if (ready > 0 && events[2].revents != 0 && !drain(watch->err, &result->err)) {
            close(watch->err);
            watch->err = -1;
        }
        if (ready > 0 && events[0].revents != 0) {
            return;
        }
        watch_limits(request, result, watch);
        uint64_t now = monotonic_ns();
        if (request->tick != NULL && now - ticked_ns > 200000000u) {
            request->tick(request->context, (double)(now - watch->begun_ns) / 1e9);
            ticked_ns = now;
        }
    }
}

static void collect(const struct process_request *request, struct process_result *result,
                    struct watch *watch)
{
    struct rusage usage = {0};
    while (wait4(watch->process, &result->status, 0, &usage) < 0 && errno == EINTR) {
    }
    result->wall_s = (double)(monotonic_ns() - watch->begun_ns) / 1e9;
    result->cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                    (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    /* The kernel's figure starts from the size of whoever forked; below that only polling knows. */
    double exact = (double)usage.ru_maxrss * 1024;
    bool larger = exact > process_peak_bytes(getpid());
    result->peak_bytes = larger ? exact : watch->polled_peak_bytes;
    if (result->peak_bytes == 0) {
        result->peak_bytes = NAN; /* smaller than we are, and gone before it could be asked */
    }
    if (request->sweep || watch->killed_ns != 0) {
        kill(-watch->process, SIGKILL);
    }
    if (watch->out >= 0) {
        drain(watch->out, &result->out);
        close(watch->out);
    }
    if (watch->err >= 0) {
        drain(watch->err, &result->err);
        close(watch->err);
    }
}

void process_run(const struct process_request *request, struct process_result *result)
{
    int out[2], err[2], started[2];
    *result = (struct process_result){0};
    if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0 ||
        pipe2(started, O_CLOEXEC) != 0) {
        die("no pipe for '%s': %s", request->argv[0], strerror(errno));
    }
    struct watch watch = {.out = out[0], .err = err[0], .begun_ns = monotonic_ns()};
    watch.process = fork();
    if (watch.process == 0) {
        child_start(request, out[1], err[1], started[1]);
    }
    if (watch.process < 0) {
        die("cannot start '%s': %s", request->argv[0], strerror(errno));
    }
    setpgid(watch.process, watch.process);
    close(out[1]);
    close(err[1]);
    close(started[1]);
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    fcntl(err[0], F_SETFL, O_NONBLOCK);
    /* Ends at the exec, which closes the other end, or brings the reason why there was none. */
    ssize_t got;
    do {
        got = read(started[0], &result->start_error, sizeof result->start_error);
    } while (got < 0 && errno == EINTR);
    close(started[0]);
    watch.pidfd = pidfd_open(watch.process, 0);
    if (watch.pidfd < 0) {
        kill(-watch.process, SIGKILL);
        die("cannot watch '%s': %s", request->argv[0], strerror(errno));
    }
    watch_until_end(request, result, &watch);
    close(watch.pidfd);
    collect(request, result, &watch);
}

void process_result_free(struct process_result *result)
{
    buffer_free(&result->out);
    buffer_free(&result->err);
}

bool process_succeeded(const struct process_result *result, struct buffer *reason)
{
    if (result->start_error != 0) {
        buffer_printf(reason, "could not be started: %s", strerror(result->start_error));
    } else if (result->interrupted) {
        buffer_text(reason, "interrupted");
    } else if (result->timed_out) {
        buffer_printf(reason, "timeout after %.3g s", result->wall_s);
    } else if (WIFSIGNALED(result->status)) {
        buffer_printf(reason, "ended by signal %d (%s)", WTERMSIG(result->status),
                      strsignal(WTERMSIG(result->status)));
    } else if (WEXITSTATUS(result->status) != 0) {
        buffer_printf(reason, "exit status %d", WEXITSTATUS(result->status));
    } else {
        return true;
    }
    return false;
}

double process_peak_bytes(pid_t process)
{
    char path[64];
    char line[256];
    double bytes = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)process);
    FILE *status = fopen(path, "re");
    if (status == NULL) {
        return 0;
    }
    while (fgets(line, sizeof line, status) != NULL) {
        if (strncmp(line, "VmHWM:", 6) == 0) {
            bytes = strtod(line + 6, NULL) * 1024;
            break;
        }
    }
    fclose(status);
    return bytes;
}

/* ------------------------------------------------------------------ parts of a run */

struct measured_parts measured_parts_read(const char *path)
{
    struct measured_parts parts = {0};
    double inside_collector_s = 0;
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return parts;
    }
    json_t *line;
    while ((line = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL)) != NULL) {
        const char *role = json_string_value(json_object_get(line, "role"));
        struct measured_part *part =
            role != NULL && strcmp(role, "collector") == 0 ? &parts.collector : &parts.process;
        part->found = true;
        part->cpu_s += json_number_value(json_object_get(line, "cpu_s"));
        json_t *peak = json_object_get(line, "peak_bytes");
        if (!json_is_number(peak)) {
            part->peak_bytes = NAN;
        } else if (json_number_value(peak) > part->peak_bytes) {
            part->peak_bytes = json_number_value(peak);
        }
        if (json_is_true(json_object_get(line, "inside_collector"))) {
            inside_collector_s += json_number_value(json_object_get(line, "cpu_s")) +
                                  json_number_value(json_object_get(line, "own_cpu_s"));
        }
        json_decref(line);
    }
    fclose(file);
    if (parts.collector.found) {
        parts.collector.cpu_s -= inside_collector_s;
    }
    return parts;
}

/* ------------------------------------------------------------------ daemons */

static bool name_matches(const char *process, char *const *names, size_t count)
{
    char path[300];
    char name[64] = "";
    snprintf(path, sizeof path, "/proc/%s/comm", process);
    FILE *comm = fopen(path, "re");
    if (comm == NULL) {
        return false;
    }
    bool match = false;
    if (fgets(name, sizeof name, comm) != NULL) {
        name[strcspn(name, "\n")] = 0;
        for (size_t i = 0; i < count; i++) {
            /* The kernel keeps 15 letters. */
            match = match || strncmp(name, names[i], 15) == 0;
        }
    }
    fclose(comm);
    return match;
}

struct daemon_times daemon_times_read(char *const *names, size_t count)
{
    struct daemon_times times = {0};
    DIR *folder = count > 0 ? opendir("/proc") : NULL;
    if (folder == NULL) {
        return times;
    }
    struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        pid_t process = (pid_t)strtol(entry->d_name, NULL, 10);
        clockid_t clock;
        struct timespec used;
        if (process <= 0 || !name_matches(entry->d_name, names, count) ||
            clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0) {
            continue;
        }
        times.rows = memory_resize(times.rows, times.count + 1, sizeof *times.rows);
        times.rows[times.count++] = (struct daemon_time){
            process, (double)used.tv_sec + (double)used.tv_nsec / 1e9, process_peak_bytes(process)};
    }
    closedir(folder);
    return times;
}

struct measured_part daemon_times_between(const struct daemon_times *before,
                                          const struct daemon_times *after)
{
    struct measured_part part = {.found = after->count > 0};
    for (size_t i = 0; i < after->count; i++) {
        part.cpu_s += after->rows[i].cpu_s;
        part.peak_bytes += after->rows[i].peak_bytes;
        for (size_t k = 0; k < before->count; k++) {
            if (before->rows[k].process == after->rows[i].process) {
                part.cpu_s -= before->rows[k].cpu_s;
            }
        }
    }
    return part;
}
