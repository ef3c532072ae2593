/* base_progress on a pseudo terminal; the clock is moved by setting started_ns, nothing waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base_error.h"
#include "base_progress.h"

#define SECOND UINT64_C(1000000000)

static int terminal = -1, saved_stderr = -1;
static char shown[4096];

/* What was written to the terminal since the last call. The kernel hands a terminal's bytes over in
 * its own time, so a mark behind them tells when all have come. */
static const char *take_shown(void)
{
    struct pollfd ready = {.fd = terminal, .events = POLLIN};
    size_t size = 0;

    fflush(stderr);
    assert_int_equal(write(STDERR_FILENO, "\001", 1), 1);
    while (size < sizeof shown - 1 && (size == 0 || shown[size - 1] != 1)) {
        assert_int_equal(poll(&ready, 1, 10000), 1);
        ssize_t count = read(terminal, shown + size, sizeof shown - 1 - size);
        assert_true(count > 0);
        size += (size_t)count;
    }
    shown[size - 1] = 0;
    return shown;
}

static int open_terminal(void **state)
{
    struct winsize window = {.ws_row = 24, .ws_col = 100};
    int other;

    (void)state;
    terminal = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0)
        return -1;
    other = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    if (other < 0 || ioctl(other, TIOCSWINSZ, &window) != 0)
        return -1;
    saved_stderr = dup(STDERR_FILENO);
    dup2(other, STDERR_FILENO);
    close(other);
    return 0;
}

static int close_terminal(void **state)
{
    (void)state;
    progress_hide();
    fflush(stderr);
    dup2(saved_stderr, STDERR_FILENO);
    close(saved_stderr);
    close(terminal);
    return 0;
}

static void silent_before_two_seconds(void **state)
{
    struct progress progress = progress_begin("decoding", 100, false);

    (void)state;
    assert_false(progress.quiet);
    progress_step(&progress, 50);
    assert_string_equal(take_shown(), "");
    progress_end(&progress);
    assert_string_equal(take_shown(), "");
}

static void share_and_time_left(void **state)
{
    struct progress progress = progress_begin("decoding", 200, false);

    (void)state;
    progress.started_ns -= 30 * SECOND;
    progress_note(&progress, 50, "arm tare");
    assert_string_equal(take_shown(),
                        "\rdecoding: 25 %, 30 s, about 1 min 30 s left (arm tare)\033[K");
    /* Less than a tenth of a second later: nothing. */
    progress_step(&progress, 60);
    assert_string_equal(take_shown(), "");
    progress.shown_ns -= SECOND;
    progress_step(&progress, 250);
    assert_string_equal(take_shown(), "\rdecoding: 100 %, 30 s, about 0 s left\033[K");
    progress_end(&progress);
    assert_string_equal(take_shown(), "\r\033[K");
}

static void unknown_total(void **state)
{
    struct progress progress = progress_begin("recording", 0, false);

    (void)state;
    progress.started_ns -= 65 * SECOND;
    progress_step(&progress, 5);
    assert_string_equal(take_shown(), "\rrecording: 1 min 05 s\033[K");
    progress_end(&progress);
    take_shown();
}

static void nothing_done_yet(void **state)
{
    struct progress progress = progress_begin("building", 10, false);

    (void)state;
    progress.started_ns -= 3 * SECOND;
    progress_step(&progress, 0);
    assert_string_equal(take_shown(), "\rbuilding: 0 %, 3 s\033[K");
    progress_end(&progress);
    take_shown();
}

static void never_wider_than_the_terminal(void **state)
{
    struct progress progress = progress_begin("decoding", 0, false);
    char note[300];

    (void)state;
    memset(note, 'n', sizeof note - 1);
    note[sizeof note - 1] = 0;
    progress.started_ns -= 3 * SECOND;
    progress_note(&progress, 1, note);
    take_shown();
    /* "\r", 99 of 100 columns, "\033[K" */
    assert_int_equal(strlen(shown), 1 + 99 + 3);
    progress_end(&progress);
    take_shown();
}

static void messages_clear_the_line(void **state)
{
    struct progress progress = progress_begin("decoding", 0, false);

    (void)state;
    progress.started_ns -= 3 * SECOND;
    progress_step(&progress, 1);
    take_shown();
    warn("gap");
    assert_string_equal(take_shown(), "\r\033[Ktare: warning: gap\r\n");
    progress_end(&progress);
    assert_string_equal(take_shown(), "");
}

static void quiet_shows_nothing(void **state)
{
    struct progress progress = progress_begin("decoding", 0, true);

    (void)state;
    progress.started_ns -= 3 * SECOND;
    progress_step(&progress, 1);
    progress_end(&progress);
    assert_string_equal(take_shown(), "");
}

static void no_terminal_shows_nothing(void **state)
{
    struct progress progress;
    int other = dup(STDERR_FILENO);

    (void)state;
    dup2(open("stderr.txt", O_RDWR | O_CREAT, 0666), STDERR_FILENO);
    progress = progress_begin("decoding", 0, false);
    progress.started_ns -= 3 * SECOND;
    progress_step(&progress, 1);
    progress_end(&progress);
    assert_int_equal(lseek(STDERR_FILENO, 0, SEEK_END), 0);
    dup2(other, STDERR_FILENO);
    close(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(silent_before_two_seconds),
        cmocka_unit_test(share_and_time_left),
        cmocka_unit_test(unknown_total),
        cmocka_unit_test(nothing_done_yet),
        cmocka_unit_test(never_wider_than_the_terminal),
        cmocka_unit_test(messages_clear_the_line),
        cmocka_unit_test(quiet_shows_nothing),
        cmocka_unit_test(no_terminal_shows_nothing),
    };

    return cmocka_run_group_tests(tests, open_terminal, close_terminal);
}
