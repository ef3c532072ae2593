/* base_json: exact bytes, escapes, damaged UTF-8, numbers that read back; jansson is the oracle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base_json.h"

static void write_sample(struct json *json)
{
    json_put_object(json, NULL);
    json_put_text(json, "name", "gateway");
    json_put_array(json, "list");
    json_put_integer(json, NULL, -1);
    json_put_unsigned(json, NULL, UINT64_MAX);
    json_put_object(json, NULL);
    json_end_object(json);
    json_put_array(json, NULL);
    json_end_array(json);
    json_end_array(json);
    json_put_bool(json, "yes", true);
    json_put_bool(json, "no", false);
    json_put_null(json, "nothing");
    json_put_text(json, "absent", NULL);
    json_end_object(json);
}

static void one_line(void **state)
{
    struct buffer out = {0};
    struct json json = json_begin(&out, 0);

    (void)state;
    write_sample(&json);
    assert_string_equal(out.data, "{\"name\":\"gateway\",\"list\":[-1,18446744073709551615,{},[]],"
                                  "\"yes\":true,\"no\":false,\"nothing\":null,\"absent\":null}");
    buffer_free(&out);
}

static void indented(void **state)
{
    struct buffer out = {0};
    struct json json = json_begin(&out, 2);

    (void)state;
    write_sample(&json);
    assert_string_equal(out.data, "{\n"
                                  "  \"name\": \"gateway\",\n"
                                  "  \"list\": [\n"
                                  "    -1,\n"
                                  "    18446744073709551615,\n"
                                  "    {},\n"
                                  "    []\n"
                                  "  ],\n"
                                  "  \"yes\": true,\n"
                                  "  \"no\": false,\n"
                                  "  \"nothing\": null,\n"
                                  "  \"absent\": null\n"
                                  "}");
    buffer_free(&out);
}

static void deep_indent(void **state)
{
    struct buffer out = {0};
    struct json json = json_begin(&out, 4);

    (void)state;
    for (int i = 0; i < 50; i++)
        json_put_array(&json, NULL);
    json_put_null(&json, NULL);
    for (int i = 0; i < 50; i++)
        json_end_array(&json);
    /* "\n" and 200 blanks stand in front of the innermost value. */
    assert_int_equal(strspn(strstr(out.data, "null") - 200, " "), 200);
    assert_int_equal((strstr(out.data, "null") - 201)[0], '\n');
    buffer_free(&out);
}

static void text_becomes(const char *value, const char *expected)
{
    struct buffer out = {0};
    struct json json = json_begin(&out, 0);

    json_put_text(&json, NULL, value);
    assert_string_equal(out.data, expected);
    buffer_free(&out);
}

static void escapes(void **state)
{
    (void)state;
    text_becomes("", "\"\"");
    text_becomes("a\"b\\c/d", "\"a\\\"b\\\\c/d\"");
    text_becomes("\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\"");
    text_becomes("\x01\x1f\x7f", "\"\\u0001\\u001f\x7f\"");
    text_becomes("\xC2\xB5s \xE2\x82\xAC \xF0\x9F\x8E\x81",
                 "\"\xC2\xB5s \xE2\x82\xAC \xF0\x9F\x8E\x81\"");
}

#define BAD "\xEF\xBF\xBD"

/* The number of replacement characters is the one of Python's bytes.decode(errors="replace"). */
static void damaged_utf8(void **state)
{
    (void)state;
    text_becomes("a\x80z", "\"a" BAD "z\"");
    text_becomes("\xFF\xFE", "\"" BAD BAD "\"");
    text_becomes("\xC0\xAF", "\"" BAD BAD "\"");                 /* overlong slash */
    text_becomes("\xE0\x80\xAF", "\"" BAD BAD BAD "\"");         /* overlong, three bytes */
    text_becomes("\xED\xA0\x80", "\"" BAD BAD BAD "\"");         /* surrogate */
    text_becomes("\xF4\x90\x80\x80", "\"" BAD BAD BAD BAD "\""); /* beyond U+10FFFF */
    text_becomes("\xE2\x82", "\"" BAD "\"");                     /* cut at the end */
    text_becomes("\xF0\x9F\x8Ex", "\"" BAD "x\"");               /* cut before a letter */
    text_becomes("\xE2\x82\"", "\"" BAD "\\\"\"");               /* the quote is still escaped */
}

static void every_byte_parses(void **state)
{
    (void)state;
    for (int first = 1; first < 256; first++) {
        for (int second = 1; second < 256; second++) {
            char text[] = {(char)first, (char)second, 0};
            struct buffer out = {0};
            struct json json = json_begin(&out, 0);
            json_error_t error;
            json_t *parsed;

            json_put_object(&json, NULL);
            json_put_text(&json, text, text);
            json_end_object(&json);
            parsed = json_loads(out.data, 0, &error);
            if (parsed == NULL)
                fail_msg("bytes %02x %02x: %s", first, second, error.text);
            json_decref(parsed);
            buffer_free(&out);
        }
    }
}

static void number_becomes(double value, const char *expected)
{
    struct buffer out = {0};
    struct json json = json_begin(&out, 0);

    json_put_number(&json, NULL, value);
    assert_string_equal(out.data, expected);
    buffer_free(&out);
}

static void numbers(void **state)
{
    (void)state;
    number_becomes(0, "0");
    number_becomes(-0.0, "-0");
    number_becomes(3, "3");
    number_becomes(-2.5, "-2.5");
    number_becomes(0.1, "0.1");
    number_becomes(0.1 + 0.2, "0.30000000000000004");
    number_becomes(1.0 / 3, "0.3333333333333333");
    number_becomes(100000, "100000");
    number_becomes(1e-7, "1e-7");
    number_becomes(1e30, "1e30");
    number_becomes(1e100, "1e100");
    number_becomes(9007199254740993.0, "9007199254740992");
    number_becomes(DBL_MAX, "1.7976931348623157e308");
    number_becomes(DBL_MIN, "2.2250738585072014e-308");
    number_becomes(DBL_TRUE_MIN, "5e-324");
    number_becomes((double)NAN, "null");
    number_becomes((double)INFINITY, "null");
    number_becomes((double)-INFINITY, "null");
}

/* 200000 bit patterns from a fixed seed over the whole range, read back by jansson's reader. */
static void numbers_read_back(void **state)
{
    uint64_t bits = 88172645463325252u;
    struct buffer out = {0};

    (void)state;
    for (int i = 0; i < 200000; i++) {
        struct json json = json_begin(&out, 0);
        double value;
        json_t *parsed;

        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        buffer_clear(&out);
        json_put_number(&json, NULL, value);
        parsed = json_loads(out.data, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL);
        assert_non_null(parsed);
        if (json_real_value(parsed) != value)
            fail_msg("%s is not %.17g", out.data, value);
        json_decref(parsed);
    }
    buffer_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_line),     cmocka_unit_test(indented),
        cmocka_unit_test(deep_indent),  cmocka_unit_test(escapes),
        cmocka_unit_test(damaged_utf8), cmocka_unit_test(every_byte_parses),
        cmocka_unit_test(numbers),      cmocka_unit_test(numbers_read_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
