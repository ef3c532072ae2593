#include "cmd_export_svg.h"

#include <stdio.h>

#include "exp_export.h"
#include "rep_excerpt.h"

static uint64_t losses_in(const struct excerpt *excerpt)
{
    uint64_t count = 0;

    for (size_t i = 0; i < excerpt->lane_count; i++)
        for (size_t k = 0; k < excerpt->lanes[i].gap_count; k++)
            count += excerpt->lanes[i].gaps[k].begin_ns <= excerpt->end_ns;
    return count;
}

bool export_svg(const char *path, const struct excerpt_options *options,
                struct export_output *output, struct buffer *summary, struct error *error)
{
    struct buffer name = {0};
    FILE *copy = export_copy_input(path, &name, error);
    struct excerpt excerpt = {0};
    struct excerpt_picture picture = {0};
    bool good = error->code == EXIT_DONE && excerpt_take(name.data, options, &excerpt, error);

    if (good) {
        excerpt_picture_make(&picture, &excerpt);
        excerpt_append_note(summary, &excerpt, NULL);
        picture.timeline.caption = summary->data;
        timeline_svg(&output->buffer, "timeline", &picture.timeline, summary->data, true);
        if (losses_in(&excerpt) > 0)
            warn("the excerpt holds losses, gaps or damage: see what is drawn as \"not known\"");
    }
    excerpt_picture_free(&picture);
    excerpt_free(&excerpt);
    buffer_free(&name);
    if (copy != NULL)
        fclose(copy);
    return good;
}
