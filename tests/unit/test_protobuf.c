/* exp_protobuf: bytes worked out from the wire format's public description; lengths at the edges
 * where a varint grows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "exp_protobuf.h"

static void expect(struct buffer *out, const void *bytes, size_t size)
{
    assert_int_equal(out->size, size);
    assert_memory_equal(out->data, bytes, size);
    buffer_clear(out);
}

static void numbers(void **state)
{
    struct buffer out = {0};

    (void)state;
    protobuf_unsigned(&out, 1, 0);
    expect(&out, "\x08\x00", 2);
    protobuf_unsigned(&out, 1, 150);
    expect(&out, "\x08\x96\x01", 3);
    protobuf_unsigned(&out, 15, 127);
    expect(&out, "\x78\x7F", 2);
    protobuf_unsigned(&out, 16, 128);
    expect(&out, "\x80\x01\x80\x01", 4);
    protobuf_unsigned(&out, 2, UINT64_MAX);
    expect(&out, "\x10\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 11);
    protobuf_signed(&out, 2, -2);
    expect(&out, "\x10\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 11);
    protobuf_signed(&out, 536870911, 1);
    expect(&out, "\xF8\xFF\xFF\xFF\x0F\x01", 6);
    protobuf_double(&out, 5, 1.5);
    expect(&out, "\x29\x00\x00\x00\x00\x00\x00\xF8\x3F", 9);
    protobuf_bytes(&out, 2, "testing", 7);
    expect(&out, "\x12\x07testing", 9);
    buffer_free(&out);
}

static void nested(void **state)
{
    struct buffer out = {0};
    size_t outer, inner;

    (void)state;
    outer = protobuf_begin(&out, 3);
    protobuf_unsigned(&out, 1, 150);
    inner = protobuf_begin(&out, 4);
    protobuf_end(&out, inner);
    protobuf_end(&out, outer);
    expect(&out, "\x1A\x05\x08\x96\x01\x22\x00", 7);
    buffer_free(&out);
}

/* A message of `size` bytes: its length takes one, two or three bytes, and what stands behind it is
 * not touched. */
static void length_of(size_t size, const char *length, size_t length_size)
{
    static char content[20000];
    struct buffer out = {0};
    size_t begin, before = size < 128 ? 2 : size < 16384 + 3 ? 3 : 4;

    memset(content, 'x', sizeof(content));
    buffer_text(&out, "left");
    begin = protobuf_begin(&out, 1);
    protobuf_bytes(&out, 2, content, size - before);
    protobuf_end(&out, begin);
    buffer_text(&out, "right");
    assert_int_equal(out.size, 4 + 1 + length_size + size + 5);
    assert_memory_equal(out.data, "left\x0A", 5);
    assert_memory_equal(out.data + 5, length, length_size);
    assert_int_equal((unsigned char)out.data[5 + length_size], 0x12);
    assert_memory_equal(out.data + 5 + length_size + before, content, size - before);
    assert_string_equal(out.data + 5 + length_size + size, "right");
    buffer_free(&out);
}

static void lengths(void **state)
{
    (void)state;
    length_of(127, "\x7F", 1);
    length_of(140, "\x8C\x01", 2);
    length_of(16383, "\xFF\x7F", 2);
    length_of(16390, "\x86\x80\x01", 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers), cmocka_unit_test(nested),
                                       cmocka_unit_test(lengths)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
