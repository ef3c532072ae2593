/* A short stretch of one recording of the experiment, as lanes for the report. */
#ifndef CMD_COST_EXCERPT_H
#define CMD_COST_EXCERPT_H

#include <stdbool.h>

#include "ana_cost.h"
#include "rep_excerpt.h"

struct cost_excerpt {
    bool found;
    struct timeline timeline;
    char *note;             /* which stretch of which recording, or why there is none */
    struct excerpt excerpt; /* these two own what the timeline refers to */
    struct excerpt_picture picture;
};

/* Takes 20 ms from a recording of the middle block: of the first arm whose recordings are Tare's
 * (*.tare). Zeroed before; free it in either case. */
void cost_excerpt_take(struct cost_excerpt *excerpt, const struct cost_data *data,
                       const char *folder);
void cost_excerpt_free(struct cost_excerpt *excerpt);

#endif
