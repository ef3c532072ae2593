/* A short stretch of one recording of the experiment, as lanes for the report. */
#ifndef CMD_COST_EXCERPT_H
#define CMD_COST_EXCERPT_H

#include <stdbool.h>

#include "ana_cost.h"
#include "rep_timeline_svg.h"

struct cost_excerpt {
    bool found;
    struct timeline timeline;
    char *note; /* which stretch of which recording, or why there is none */
};

/* Takes it from the middle block's run of the first arm that recorded with Tare. */
void cost_excerpt_take(struct cost_excerpt *excerpt, const struct cost_data *data,
                       const char *folder);
void cost_excerpt_free(struct cost_excerpt *excerpt);

#endif
