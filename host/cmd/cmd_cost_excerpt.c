#include "cmd_cost_excerpt.h"

#include <stdlib.h>

#include "base_buffer.h"

void cost_excerpt_take(struct cost_excerpt *excerpt, const struct cost_data *data,
                       const char *folder)
{
    (void)data;
    (void)folder;
    excerpt->note = memory_text("no recording of this experiment can be drawn");
}

void cost_excerpt_free(struct cost_excerpt *excerpt)
{
    free(excerpt->note);
}
