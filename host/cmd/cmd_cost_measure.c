/* `tare cost measure`: a parent around one part of a run. The variables ${measure_process} and
 * ${measure_collector} of an experiment file put it in front of a command, so that the CPU time of
 * the application and of its collector come from the kernel's own accounts, taken apart, even when
 * one starts the other. It passes signals, standard streams and the exit status through. */
#include "cmd_cost.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base_json.h"
#include "cmd_cost_process.h"

static const char inside_variable[] = "TARE_COST_INSIDE_COLLECTOR";

static volatile sig_atomic_t child;

static void pass_on(int signal_number)
{
    if (child > 0) {
        kill((pid_t)child, signal_number);
    }
}

static const int passed_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
enum {
    PASSED_SIGNALS = sizeof passed_signals / sizeof *passed_signals
};

static void child_start(char **command, bool collector, const sigset_t *mask)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (size_t i = 0; i < PASSED_SIGNALS; i++) {
        signal(passed_signals[i], SIG_DFL);
    }
    sigprocmask(SIG_SETMASK, mask, NULL);
    if (collector) {
        setenv(inside_variable, "1", 1);
    } else {
        unsetenv(inside_variable);
    }
    execvp(command[0], command);
    int code = errno;
    fprintf(stderr, "tare: cannot start '%s': %s\n", command[0], strerror(code));
    _exit(code == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

static double seconds_of(const struct rusage *usage)
{
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
           (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

static bool write_line(const char *path, bool collector, const struct rusage *usage,
                       double peak_bytes)
{
    struct rusage own = {0};
    struct buffer line = {0};
    getrusage(RUSAGE_SELF, &own);
    struct json json = json_begin(&line, 0);
    json_put_object(&json, NULL);
    json_put_text(&json, "role", collector ? "collector" : "process");
    json_put_number(&json, "cpu_s", seconds_of(usage));
    json_put_number(&json, "own_cpu_s", seconds_of(&own));
    json_put_number(&json, "peak_bytes", peak_bytes > 0 ? peak_bytes : NAN);
    json_put_bool(&json, "inside_collector", !collector && getenv(inside_variable) != NULL);
    json_end_object(&json);
    buffer_text(&line, "\n");
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    bool good = file >= 0 && write(file, line.data, line.size) == (ssize_t)line.size;
    if (file >= 0) {
        close(file);
    }
    buffer_free(&line);
    return good;
}

/* The child's largest resident size while it lives. */
static double watch_peak(pid_t process)
{
    double peak = 0;
    int pidfd = pidfd_open(process, 0);
    struct pollfd ended = {pidfd, POLLIN, 0};
    int wait_ms = 5;
    while (pidfd >= 0) {
        int ready = poll(&ended, 1, wait_ms);
        double now = process_peak_bytes(process);
        peak = now > peak ? now : peak;
        if (ready > 0) {
            break;
        }
        wait_ms = wait_ms < 100 ? wait_ms * 2 : 100;
    }
    if (pidfd >= 0) {
        close(pidfd);
    }
    return peak;
}

int cost_measure(bool collector, const char *into, char **command)
{
    sigset_t passed;
    sigset_t before;
    sigemptyset(&passed);
    for (size_t i = 0; i < PASSED_SIGNALS; i++) {
        sigaddset(&passed, passed_signals[i]);
    }
    /* A signal that comes before the child exists waits for it. */
    sigprocmask(SIG_BLOCK, &passed, &before);
    for (size_t i = 0; i < PASSED_SIGNALS; i++) {
        struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
        sigaction(passed_signals[i], &action, NULL);
    }
    pid_t process = fork();
    if (process < 0) {
        die("cannot start '%s': %s", command[0], strerror(errno));
    }
    if (process == 0) {
        child_start(command, collector, &before);
    }
    child = process;
    sigprocmask(SIG_SETMASK, &before, NULL);
    double polled = watch_peak(process);
    struct rusage usage = {0};
    int status = 0;
    while (wait4(process, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    child = 0;
    /* Exact where the kernel's figure is the child's own: not below the size that it was forked
     * with, and not of a collector, whose own child may be larger. */
    double exact = (double)usage.ru_maxrss * 1024;
    bool own = !collector && exact > process_peak_bytes(getpid());
    if (!write_line(into, collector, &usage, own ? exact : polled)) {
        die("cannot write to '%s': %s", into, strerror(errno));
    }
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
        return 128 + WTERMSIG(status);
    }
    return WEXITSTATUS(status);
}
