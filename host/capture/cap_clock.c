#include "cap_clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#include "tare_layout.h"

#define FASTEST_TICKS_PER_SECOND 166666666u /* 6 ns a tick */
#define CALIBRATION_NS 20000000

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t counter(void)
{
#if defined(__x86_64__) || defined(__i386__)
    return __rdtsc();
#else
    return 0;
#endif
}

/* The kernel watches the counter against other clocks and turns away from a bad one. */
static bool kernel_trusts_counter(void)
{
    char name[32] = "";
    FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");

    if (file == NULL)
        return false;
    if (fgets(name, sizeof(name), file) == NULL)
        name[0] = '\0';
    fclose(file);
    return strcmp(name, "tsc\n") == 0;
}

static bool counter_is_invariant(void)
{
#if defined(__x86_64__) || defined(__i386__)
    unsigned a, b, c, d = 0;

    return __get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0 &&
           kernel_trusts_counter();
#else
    return false;
#endif
}

static uint64_t measure_counter_hz(void)
{
    struct session_clock raw = {.kind = TARE_CLOCK_TSC, .shift = 0};
    struct clock_snapshot begin = session_clock_snapshot(&raw), end;
    struct timespec pause = {.tv_nsec = CALIBRATION_NS};

    nanosleep(&pause, NULL);
    end = session_clock_snapshot(&raw);
    return (uint64_t)((double)(end.ticks - begin.ticks) * 1e9 /
                      (double)(end.monotonic_ns - begin.monotonic_ns));
}

struct session_clock session_clock_choose(bool want_monotonic)
{
    struct session_clock clock = {.kind = TARE_CLOCK_MONOTONIC};
    uint64_t hz = 1000000000u;

    if (!want_monotonic && counter_is_invariant()) {
        clock.kind = TARE_CLOCK_TSC;
        hz = measure_counter_hz();
    }
    while ((hz >> clock.shift) > FASTEST_TICKS_PER_SECOND)
        clock.shift++;
    clock.ticks_per_second = (uint32_t)(hz >> clock.shift);
    return clock;
}

struct clock_snapshot session_clock_snapshot(const struct session_clock *clock)
{
    struct clock_snapshot best = {.uncertainty_ns = UINT64_MAX};

    for (int i = 0; i < 16; i++) {
        uint64_t before = clock_ns(CLOCK_MONOTONIC);
        uint64_t ticks = counter();
        uint64_t realtime = clock_ns(CLOCK_REALTIME);
        uint64_t after = clock_ns(CLOCK_MONOTONIC);
        uint64_t middle = before + (after - before) / 2;

        if ((after - before) / 2 >= best.uncertainty_ns)
            continue;
        best.uncertainty_ns = (after - before) / 2;
        best.monotonic_ns = middle;
        best.realtime_ns = realtime;
        best.ticks = (clock->kind == TARE_CLOCK_TSC ? ticks : middle) >> clock->shift;
    }
    return best;
}
