/* What the two parts of mod_excerpt.h share: mod_excerpt.c finds the stretch, mod_excerpt_lanes.c
 * collects what happens in it. */
#ifndef MOD_EXCERPT_INSIDE_H
#define MOD_EXCERPT_INSIDE_H

#include "mod_clock.h"
#include "mod_excerpt.h"
#include "mod_timeline.h"

/* The session of the first event, and its time. */
struct chosen_session {
    const struct decode_session *session;
    struct session_scale scale;
    int64_t origin_ns;
};

/* ns since the first event */
uint64_t excerpt_time(const struct chosen_session *chosen, uint64_t ticks);

/* Hands all items to SINK; FINISH (may be NULL) follows, as long as the directory is there. */
bool excerpt_read(const char *path, const struct decode_options *options,
                  struct chosen_session *chosen, timeline_sink *sink, void *context,
                  void (*finish)(void *, const struct decode_directory *), struct error *error);

/* Fills the lanes of the stretch. */
bool excerpt_collect(const char *path, const struct decode_options *options,
                     struct excerpt *excerpt, struct error *error);

#endif
