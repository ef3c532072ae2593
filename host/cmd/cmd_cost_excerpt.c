#include "cmd_cost_excerpt.h"

#include <stdlib.h>
#include <string.h>

#include "base_buffer.h"

/* The programs' own warm-up is a fifth of a run or less. */
static const struct excerpt_options options = {.length_ns = 20000000, .warm_up_percent = 25};

static bool tare_recording(const struct cost_run *run)
{
    const char *path = run->trace.path;
    size_t length = path != NULL ? strlen(path) : 0;
    return !run->voided && length > 5 && strcmp(path + length - 5, ".tare") == 0;
}

/* Of an arm without losses where there is one: a picture of gaps shows little. */
static const struct cost_run *middle_run(const struct cost_data *data)
{
    const struct cost_run *found = NULL;
    for (size_t i = 0; i < data->run_count; i++) {
        const struct cost_run *run = &data->runs[i];
        if (!tare_recording(run)) {
            continue;
        }
        bool more = found != NULL && run->arm == found->arm && run->block <= data->blocks_done / 2;
        bool better = found != NULL && found->trace.lost > 0 && run->trace.lost == 0;
        if (found == NULL || better || (more && run->trace.lost <= found->trace.lost)) {
            found = run;
        }
    }
    return found;
}

void cost_excerpt_take(struct cost_excerpt *excerpt, const struct cost_data *data,
                       const char *folder)
{
    const struct cost_run *run = middle_run(data);
    struct error error = {0};
    if (run == NULL) {
        excerpt->note = memory_text("no arm left a recording of Tare's");
        return;
    }
    struct buffer path = {0};
    buffer_printf(&path, "%s/%s", folder, run->trace.path);
    if (excerpt_take(path.data, &options, &excerpt->excerpt, &error)) {
        struct buffer note = {0};
        excerpt_picture_make(&excerpt->picture, &excerpt->excerpt);
        excerpt_append_note(&note, &excerpt->excerpt, run->trace.path);
        excerpt->timeline = excerpt->picture.timeline;
        excerpt->note = note.data;
        excerpt->found = excerpt->excerpt.lane_count > 0;
    } else {
        /* The reason names the file with its full path, which belongs on no page. */
        const char *reason = strstr(error.text, run->trace.path);
        excerpt->note = memory_text(reason != NULL ? reason : "the recording cannot be read");
    }
    buffer_free(&path);
}

void cost_excerpt_free(struct cost_excerpt *excerpt)
{
    excerpt_picture_free(&excerpt->picture);
    free(excerpt->note);
    excerpt_free(&excerpt->excerpt);
}
