#include "mod_clock.h"

#include <math.h>

#define NS_PER_SECOND 1e9
/* Snapshots further apart than this many times their uncertainty are better than the estimate
 * before the start, which is good to about 1e-4. */
#define WORTHY_SPAN 10000.0
#define RATE_LEAST 1.0 /* ticks a second that can be meant: a clock of 1 Hz to one of 1 THz */
#define RATE_MOST 1e12

static bool is_rate(double rate)
{
    return rate >= RATE_LEAST && rate <= RATE_MOST;
}

/* Fixed point, so that the same ticks give the same nanoseconds on every machine: `ns` nanoseconds
 * are `ticks` ticks. */
static void set_multiplier(struct session_scale *scale, uint64_t ns, uint64_t ticks)
{
    scale->shift = 0;
    for (;;) {
        unsigned __int128 value = ((unsigned __int128)ns << (scale->shift + 1)) / ticks;

        if (scale->shift == 62 || value >> 62 != 0)
            break;
        scale->shift++;
    }
    scale->multiplier = (uint64_t)(((unsigned __int128)ns << scale->shift) / ticks);
}

static void use_rate(struct session_scale *scale, enum clock_source source, uint64_t rate)
{
    scale->source = source;
    scale->ticks_per_second = (double)rate;
    set_multiplier(scale, UINT64_C(1000000000), rate);
}

/* What the snapshots between first and last say. */
static void judge_snapshots(struct session_scale *scale, const struct decode_session *session)
{
    const struct clock_snapshot *first = &session->snapshots[0];

    for (size_t i = 1; i < session->snapshot_count; i++) {
        const struct clock_snapshot *before = &session->snapshots[i - 1], *now = before + 1;
        double residual = (double)scale_ns(scale, now->ticks) -
                          (double)(int64_t)(now->monotonic_ns - first->monotonic_ns);
        double seconds =
            (double)(int64_t)(now->monotonic_ns - before->monotonic_ns) / NS_PER_SECOND;
        double ticks = (double)(int64_t)(now->ticks - before->ticks), ppm;

        if (fabs(residual) > fabs(scale->worst_residual_ns))
            scale->worst_residual_ns = residual;
        if (seconds <= 0)
            continue;
        ppm = (ticks / seconds / scale->ticks_per_second - 1) * 1e6;
        if (ppm < scale->slowest_ppm)
            scale->slowest_ppm = ppm;
        if (ppm > scale->fastest_ppm)
            scale->fastest_ppm = ppm;
    }
}

/* False when first and last snapshot give no usable rate. */
static bool use_snapshots(struct session_scale *scale, const struct decode_session *session,
                          bool has_estimate)
{
    const struct clock_snapshot *first = session->snapshots, *last;
    uint64_t ticks, ns;
    double rate;

    if (session->snapshot_count < 2)
        return false;
    last = first + session->snapshot_count - 1;
    if (last->ticks <= first->ticks || last->monotonic_ns <= first->monotonic_ns)
        return false;
    ticks = last->ticks - first->ticks;
    ns = last->monotonic_ns - first->monotonic_ns;
    rate = (double)ticks / ((double)ns / NS_PER_SECOND);
    scale->uncertainty_ns = first->uncertainty_ns + last->uncertainty_ns;
    scale->span_s = (double)ns / NS_PER_SECOND;
    if (!is_rate(rate) ||
        (has_estimate && (double)ns < WORTHY_SPAN * (double)scale->uncertainty_ns))
        return false;
    scale->source = CLOCK_SNAPSHOTS;
    scale->ticks_per_second = rate;
    set_multiplier(scale, ns, ticks);
    return true;
}

struct session_scale session_scale(const struct decode_session *session, uint64_t first_ticks)
{
    struct session_scale scale = {.source = CLOCK_UNKNOWN, .origin_ticks = first_ticks};
    uint64_t region = session->first_region != NULL ? session->first_region->ticks_per_second : 0;
    uint64_t record = session->clock_rate;

    if (session->snapshot_count > 0) {
        scale.origin_ticks = session->snapshots[0].ticks;
        scale.origin_realtime_ns = session->snapshots[0].realtime_ns;
        scale.realtime_known = true;
    }
    if (is_rate((double)region))
        scale.declared_ticks_per_second = (double)region;
    else if (is_rate((double)record))
        scale.declared_ticks_per_second = (double)record;
    if (use_snapshots(&scale, session, scale.declared_ticks_per_second > 0))
        judge_snapshots(&scale, session);
    else if (is_rate((double)region))
        use_rate(&scale, CLOCK_REGION, region);
    else if (is_rate((double)record))
        use_rate(&scale, CLOCK_RECORD, record);
    return scale;
}

int64_t scale_span_ns(const struct session_scale *scale, uint64_t ticks)
{
    unsigned __int128 ns = (unsigned __int128)ticks * scale->multiplier >> scale->shift;

    return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

int64_t scale_ns(const struct session_scale *scale, uint64_t ticks)
{
    if (ticks >= scale->origin_ticks)
        return scale_span_ns(scale, ticks - scale->origin_ticks);
    return -scale_span_ns(scale, scale->origin_ticks - ticks);
}
