/* A small deterministic JSON writer: the same calls give the same bytes on every machine.
 *
 * The names keep clear of jansson's (json_object, json_array, json_null ...): one program links
 * both, and a name of ours that is also one of jansson's would be called from inside that library.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base_buffer.h"

/* `indent` 0 writes one line, else that many spaces a level. Commas and escapes are the writer's
 * job; bytes that are not UTF-8 come out as U+FFFD. In an object give `key`, in an array give NULL.
 */
struct json {
    struct buffer *out;
    int indent;
    int depth;
    bool need_comma;
};

struct json json_begin(struct buffer *out, int indent);
void json_put_object(struct json *json, const char *key);
void json_end_object(struct json *json);
void json_put_array(struct json *json, const char *key);
void json_end_array(struct json *json);
void json_put_text(struct json *json, const char *key, const char *value); /* NULL writes null */
void json_put_bool(struct json *json, const char *key, bool value);
void json_put_integer(struct json *json, const char *key, int64_t value);
void json_put_unsigned(struct json *json, const char *key, uint64_t value);
/* The fewest digits that read back as the same double ("3", "0.1", "1e-7"); NaN and infinities are
 * written as null. */
void json_put_number(struct json *json, const char *key, double value);
void json_put_null(struct json *json, const char *key);

#endif
