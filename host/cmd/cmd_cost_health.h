/* JSON that programs print: metrics of a run, health of a recording. */
#ifndef CMD_COST_HEALTH_H
#define CMD_COST_HEALTH_H

#include <jansson.h>

#include "ana_cost.h"
#include "cmd_cost_places.h"

/* The output as JSON: all of it, or else its last line that is not blank. NULL when neither is. */
json_t *health_json(const struct buffer *out);

/* The value at "name" or, through objects and arrays, at "outer.0.name". Borrowed; NULL: not there.
 */
json_t *health_find(json_t *json, const char *place);

/* A value as text for a page; NULL: "not reported". Caller frees. */
char *health_text(json_t *value);

/* Runs the arm's check command on a recording and fills the trace part of a run. */
void health_check(const struct cost_places *places, const struct cost_arm *arm,
                  const char *recording, struct cost_trace *trace);

#endif
