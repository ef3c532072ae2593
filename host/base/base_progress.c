#include "base_progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base_buffer.h"

#define SECOND_NS UINT64_C(1000000000)
#define SHOW_AFTER_NS (2 * SECOND_NS)
#define SHOW_EVERY_NS (SECOND_NS / 10)

/* Whether a progress line stands on the terminal, of whichever progress. */
static bool line_is_shown;

uint64_t monotonic_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

struct progress progress_begin(const char *what, uint64_t total, bool quiet)
{
    return (struct progress){
        .what = what,
        .total = total,
        .started_ns = monotonic_ns(),
        .quiet = quiet || isatty(STDERR_FILENO) == 0,
    };
}

static void write_duration(struct buffer *line, uint64_t nanoseconds)
{
    uint64_t seconds = (nanoseconds + SECOND_NS / 2) / SECOND_NS;

    if (seconds < 60)
        buffer_printf(line, "%" PRIu64 " s", seconds);
    else
        buffer_printf(line, "%" PRIu64 " min %02" PRIu64 " s", seconds / 60, seconds % 60);
}

static void show(const struct progress *progress, uint64_t done, const char *note, uint64_t now_ns)
{
    struct buffer line = {0};
    struct winsize window = {0};
    uint64_t elapsed_ns = now_ns - progress->started_ns;
    size_t width = 80;

    buffer_printf(&line, "%s: ", progress->what);
    if (progress->total > 0) {
        double share;

        if (done > progress->total)
            done = progress->total;
        share = (double)done / (double)progress->total;
        buffer_printf(&line, "%d %%, ", (int)(share * 100));
        write_duration(&line, elapsed_ns);
        if (done > 0) {
            buffer_text(&line, ", about ");
            write_duration(&line, (uint64_t)((double)elapsed_ns * (1 - share) / share));
            buffer_text(&line, " left");
        }
    } else {
        write_duration(&line, elapsed_ns);
    }
    if (note != NULL)
        buffer_printf(&line, " (%s)", note);
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1)
        width = window.ws_col;
    /* A line that wraps could not be overwritten. */
    fprintf(stderr, "\r%.*s\033[K", (int)(line.size < width ? line.size : width - 1), line.data);
    fflush(stderr);
    line_is_shown = true;
    buffer_free(&line);
}

void progress_note(struct progress *progress, uint64_t done, const char *note)
{
    uint64_t now_ns;

    if (progress->quiet)
        return;
    now_ns = monotonic_ns();
    if (now_ns - progress->started_ns < SHOW_AFTER_NS ||
        (progress->visible && now_ns - progress->shown_ns < SHOW_EVERY_NS))
        return;
    show(progress, done, note, now_ns);
    progress->shown_ns = now_ns;
    progress->visible = true;
}

void progress_step(struct progress *progress, uint64_t done)
{
    progress_note(progress, done, NULL);
}

void progress_hide(void)
{
    if (!line_is_shown)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    line_is_shown = false;
}

void progress_end(struct progress *progress)
{
    if (progress->visible)
        progress_hide();
    progress->visible = false;
}
