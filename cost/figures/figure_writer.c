/* Writes one event with a 32-bit value again and again, in three ways:
 *
 *     figure_writer beside CHUNKS    in turn 1,000 events of Tare, 1,000 of LTTng-UST, 1,000
 * readings of the clock alone; the fastest chunk of each counts figure_writer full EVENTS      as
 * fast as it goes, without LTTng figure_writer lose EVENTS      the same; the ring is meant to be
 * too small
 *
 * Prints one "name value" a line; times in ns an event.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base_progress.h"
#include "tare.h"
#ifdef FIGURE_LTTNG
#include "figure_lttng_tp.h"
#endif

#define CHUNK 1000u

TARE_CATEGORY(figures, 0, "figures")
TARE_EVENT1(sample, figures, "sample", u32, number, "")

struct fastest {
    uint64_t ns, sum_ns, chunks;
};

static void take(struct fastest *fastest, uint64_t begin_ns)
{
    uint64_t ns = monotonic_ns() - begin_ns;

    if (fastest->chunks++ == 0 || ns < fastest->ns)
        fastest->ns = ns;
    fastest->sum_ns += ns;
}

static void __attribute__((noinline)) write_chunk(uint32_t first)
{
    for (uint32_t i = 0; i < CHUNK; i++)
        sample(first + i);
}

static void __attribute__((noinline)) write_chunk_lttng(uint32_t first)
{
#ifdef FIGURE_LTTNG
    for (uint32_t i = 0; i < CHUNK; i++)
        lttng_ust_tracepoint(tare_figures, sample, first + i);
#else
    (void)first;
#endif
}

/* What no recorder that stamps each event can go below: the clock, and 16 bytes stored. */
static void __attribute__((noinline)) write_chunk_floor(uint32_t first)
{
    static uint64_t words[2048];

    for (uint32_t i = 0; i < CHUNK; i++) {
#if defined(__x86_64__)
        uint64_t clock = __builtin_ia32_rdtsc();
#else
        uint64_t clock = monotonic_ns();
#endif
        __atomic_store_n(&words[(2 * i) % 2048], clock, __ATOMIC_RELAXED);
        __atomic_store_n(&words[(2 * i + 1) % 2048], first + i, __ATOMIC_RELAXED);
    }
}

static void print_fastest(const char *name, const struct fastest *fastest)
{
    printf("%s_ns %.3f\n", name, (double)fastest->ns / CHUNK);
    printf("%s_mean_ns %.3f\n", name,
           (double)fastest->sum_ns / CHUNK / (double)(fastest->chunks ? fastest->chunks : 1));
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* The collectors get time after every 50 chunks: what is measured is writing, not a machine that
 * is out of processors. */
static uint32_t write_beside(uint32_t chunks)
{
    struct fastest tare = {0}, lttng = {0}, clock = {0};

    for (uint32_t chunk = 0; chunk < chunks; chunk++) {
        uint64_t begin = monotonic_ns();

        write_chunk(chunk * CHUNK);
        take(&tare, begin);
        begin = monotonic_ns();
        write_chunk_lttng(chunk * CHUNK);
        take(&lttng, begin);
        begin = monotonic_ns();
        write_chunk_floor(chunk * CHUNK);
        take(&clock, begin);
        if (chunk % 50 == 49)
            pause_ms(2);
    }
    print_fastest("event_u32", &tare);
#ifdef FIGURE_LTTNG
    print_fastest("lttng_event_u32", &lttng);
#endif
    print_fastest("clock_and_store", &clock);
    return chunks * CHUNK;
}

static uint32_t write_alone(uint32_t events)
{
    struct fastest tare = {0};

    for (uint32_t done = 0; done < events; done += CHUNK) {
        uint64_t begin = monotonic_ns();

        write_chunk(done);
        take(&tare, begin);
    }
    print_fastest("event_u32", &tare);
    return (events + CHUNK - 1) / CHUNK * CHUNK;
}

int main(int argc, char **argv)
{
    uint32_t count = argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0, attempted;
    struct tare_totals totals;

    if (count == 0) {
        fprintf(stderr, "usage: figure_writer beside CHUNKS | full EVENTS | lose EVENTS\n");
        return 2;
    }
    attempted = strcmp(argv[1], "beside") == 0 ? write_beside(count) : write_alone(count);
    tare_counts(&totals);
    printf("attempted %u\ndropped %u\nsuppressed %u\n", attempted, totals.dropped,
           totals.suppressed);
    return 0;
}
