#include "cmd_cost_health.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_cost_host.h"
#include "cmd_cost_process.h"

static const double check_timeout_s = 120;

json_t *health_json(const struct buffer *out)
{
    if (out->size == 0) {
        return NULL;
    }
    json_t *whole = json_loadb(out->data, out->size, 0, NULL);
    if (whole != NULL) {
        return whole;
    }
    size_t end = out->size;
    while (end > 0 && isspace((unsigned char)out->data[end - 1])) {
        end--;
    }
    size_t start = end;
    while (start > 0 && out->data[start - 1] != '\n') {
        start--;
    }
    return json_loadb(out->data + start, end - start, 0, NULL);
}

json_t *health_find(json_t *json, const char *place)
{
    json_t *direct = json_object_get(json, place);
    if (direct != NULL) {
        return direct;
    }
    char *copy = memory_text(place);
    char *rest = NULL;
    for (char *part = strtok_r(copy, ".", &rest); part != NULL && json != NULL;
         part = strtok_r(NULL, ".", &rest)) {
        json = json_is_array(json) ? json_array_get(json, strtoul(part, NULL, 10))
                                   : json_object_get(json, part);
    }
    free(copy);
    return json;
}

char *health_text(json_t *value)
{
    if (value == NULL) {
        return memory_text("not reported");
    }
    if (json_is_string(value)) {
        return memory_text(json_string_value(value));
    }
    char *dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(6));
    char *text = memory_text(dumped);
    free(dumped);
    return text;
}

static void take_health(const struct cost_recording *recording, json_t *json,
                        struct cost_trace *trace)
{
    json_t *stored = health_find(json, recording->stored);
    json_t *lost = health_find(json, recording->lost);
    trace->checked = json_is_number(stored) && json_is_number(lost);
    if (!trace->checked) {
        struct buffer text = {0};
        buffer_printf(&text, "the check's answer has no number at '%s'",
                      json_is_number(stored) ? recording->lost : recording->stored);
        trace->problem = text.data;
        return;
    }
    trace->healthy =
        recording->healthy == NULL || json_is_true(health_find(json, recording->healthy));
    trace->stored = json_number_value(stored);
    trace->lost = json_number_value(lost);
    trace->facts = memory_new(recording->facts_count + 1, sizeof *trace->facts);
    for (unsigned i = 0; i < recording->facts_count; i++) {
        json_t *value = health_find(json, recording->facts[i].value);
        trace->facts[trace->fact_count++] =
            (struct cost_fact){memory_text(recording->facts[i].name), health_text(value)};
    }
}

void health_check(const struct cost_places *places, const struct cost_arm *arm,
                  const char *recording, struct cost_trace *trace)
{
    const struct cost_recording *wanted = arm->recording;
    size_t prefix = strlen(places->out);
    bool inside = strncmp(recording, places->out, prefix) == 0 && recording[prefix] == '/';
    trace->path = memory_text(inside ? recording + prefix + 1 : recording);
    trace->bytes = host_size_bytes(recording);
    char **argv = cost_expand_argv(places, wanted->check, wanted->check_count);
    struct process_request request = {.argv = argv, .timeout_s = check_timeout_s};
    struct process_result result;
    struct buffer reason = {0};
    process_run(&request, &result);
    json_t *json = health_json(&result.out);
    if (!process_succeeded(&result, &reason)) {
        trace->problem = memory_text(reason.data);
    } else if (!json_is_object(json)) {
        trace->problem = memory_text("the check printed no JSON object");
    } else {
        take_health(wanted, json, trace);
    }
    struct buffer path = {0};
    struct error ignored = {0};
    buffer_printf(&path, "%s/logs/%s.check.json", places->out, places->run);
    if (!file_write(path.data, result.out.data, result.out.size, &ignored)) {
        warn("%s", ignored.text);
    }
    json_decref(json);
    buffer_free(&path);
    buffer_free(&reason);
    process_result_free(&result);
    cost_argv_free(argv);
}
