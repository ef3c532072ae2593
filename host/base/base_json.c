#include "base_json.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Length of the UTF-8 sequence at `text` when it is complete and well formed, else 0 and in *bad
 * the number of bytes that one replacement character stands for (Unicode's "maximal subpart"). */
static size_t utf8_length(const unsigned char *text, size_t *bad)
{
    unsigned char lead = text[0], low = 0x80, high = 0xBF;
    size_t length;

    *bad = 1;
    if (lead < 0x80)
        return 1;
    if (lead < 0xC2 || lead > 0xF4)
        return 0;
    length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    /* The second byte rules out overlong forms, surrogates and what lies beyond U+10FFFF. */
    if (lead == 0xE0)
        low = 0xA0;
    else if (lead == 0xED)
        high = 0x9F;
    else if (lead == 0xF0)
        low = 0x90;
    else if (lead == 0xF4)
        high = 0x8F;
    for (size_t i = 1; i < length; i++) {
        if (text[i] < low || text[i] > high)
            return 0;
        *bad = i + 1;
        low = 0x80;
        high = 0xBF;
    }
    return length;
}

static void write_escape(struct buffer *out, unsigned char byte)
{
    static const char letters[] = "\b\f\n\r\t\"\\", names[] = "bfnrt\"\\";
    const char *found = byte != 0 ? strchr(letters, byte) : NULL;

    if (found != NULL)
        buffer_printf(out, "\\%c", names[found - letters]);
    else
        buffer_printf(out, "\\u%04x", byte);
}

static void write_string(struct buffer *out, const char *value)
{
    const unsigned char *text = (const unsigned char *)value, *plain = text;

    buffer_append(out, "\"", 1);
    while (*text != 0) {
        size_t bad, length = utf8_length(text, &bad);

        if (length > 0 && *text >= 0x20 && *text != '"' && *text != '\\') {
            text += length;
            continue;
        }
        buffer_append(out, plain, (size_t)(text - plain));
        if (length == 0) {
            buffer_text(out, "\xEF\xBF\xBD");
            text += bad;
        } else {
            write_escape(out, *text++);
        }
        plain = text;
    }
    buffer_append(out, plain, (size_t)(text - plain));
    buffer_append(out, "\"", 1);
}

static void write_line_break(const struct json *json)
{
    static const char spaces[] = "                ";
    size_t left = (size_t)json->indent * (size_t)json->depth;

    if (json->indent == 0)
        return;
    buffer_append(json->out, "\n", 1);
    while (left > 0) {
        size_t part = left < sizeof spaces - 1 ? left : sizeof spaces - 1;

        buffer_append(json->out, spaces, part);
        left -= part;
    }
}

/* Comma, line break and key in front of a value. */
static void write_prefix(struct json *json, const char *key)
{
    if (json->need_comma)
        buffer_append(json->out, ",", 1);
    if (json->depth > 0)
        write_line_break(json);
    if (key != NULL) {
        write_string(json->out, key);
        buffer_text(json->out, json->indent == 0 ? ":" : ": ");
    }
    json->need_comma = true;
}

static void write_open(struct json *json, const char *key, const char *bracket)
{
    write_prefix(json, key);
    buffer_append(json->out, bracket, 1);
    json->depth++;
    json->need_comma = false;
}

static void write_close(struct json *json, const char *bracket)
{
    if (json->depth == 0)
        die("JSON writer: \"%s\" closes nothing", bracket);
    json->depth--;
    /* need_comma is still false when nothing was written since the bracket: "{}" on one line. */
    if (json->need_comma)
        write_line_break(json);
    buffer_append(json->out, bracket, 1);
    json->need_comma = true;
}

struct json json_begin(struct buffer *out, int indent)
{
    return (struct json){.out = out, .indent = indent};
}

void json_put_object(struct json *json, const char *key)
{
    write_open(json, key, "{");
}

void json_end_object(struct json *json)
{
    write_close(json, "}");
}

void json_put_array(struct json *json, const char *key)
{
    write_open(json, key, "[");
}

void json_end_array(struct json *json)
{
    write_close(json, "]");
}

void json_put_text(struct json *json, const char *key, const char *value)
{
    if (value == NULL) {
        json_put_null(json, key);
        return;
    }
    write_prefix(json, key);
    write_string(json->out, value);
}

void json_put_bool(struct json *json, const char *key, bool value)
{
    write_prefix(json, key);
    buffer_text(json->out, value ? "true" : "false");
}

void json_put_integer(struct json *json, const char *key, int64_t value)
{
    write_prefix(json, key);
    buffer_printf(json->out, "%" PRId64, value);
}

void json_put_unsigned(struct json *json, const char *key, uint64_t value)
{
    write_prefix(json, key);
    buffer_printf(json->out, "%" PRIu64, value);
}

/* "1e-07" to "1e-7" and "1e+30" to "1e30". */
static void shorten_exponent(char *text)
{
    char *from = strchr(text, 'e'), *to;

    if (from == NULL)
        return;
    to = ++from;
    if (*from == '-')
        to++;
    from++;
    while (*from == '0' && from[1] != 0)
        from++;
    memmove(to, from, strlen(from) + 1);
}

void json_put_number(struct json *json, const char *key, double value)
{
    char text[40];
    /* Up to 15 digits always survive a double, so the search starts there; subnormal numbers hold
     * fewer, and for them shorter texts are tried too. */
    int digits = fabs(value) < DBL_MIN ? 1 : 15;

    if (!isfinite(value)) {
        json_put_null(json, key);
        return;
    }
    do {
        snprintf(text, sizeof text, "%.*g", digits, value);
    } while (++digits <= 17 && strtod(text, NULL) != value);
    shorten_exponent(text);
    write_prefix(json, key);
    buffer_text(json->out, text);
}

void json_put_null(struct json *json, const char *key)
{
    write_prefix(json, key);
    buffer_text(json->out, "null");
}
