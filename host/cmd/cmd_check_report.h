/* The two forms in which `tare check` prints what it found. */
#ifndef CMD_CHECK_REPORT_H
#define CMD_CHECK_REPORT_H

#include <jansson.h>

#include "base_buffer.h"
#include "dec_input.h"
#include "mod_check.h"

struct check_source {
    const char *path;
    const struct decoder *decoder;
};

void check_append_text(struct buffer *out, const struct check *check,
                       const struct check_source *source);
void check_append_json(struct buffer *out, const struct check *check,
                       const struct check_source *source);

/* The JSON object of an INFO or END chunk, read leniently: NULL when it is none. */
json_t *check_json(const struct buffer *text);

/* Class of a kind of event: "value", "task", "kernel"; NULL: not known. */
const char *check_kind_class(const struct check_kind *kind);

/* The first line of the text form, without its end: the verdict in one sentence. */
void check_append_verdict(struct buffer *out, const struct check *check,
                          const struct check_source *source);

#endif
