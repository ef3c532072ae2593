#include "exp_protobuf.h"

#include <string.h>

enum wire_type {
    WIRE_VARINT = 0,
    WIRE_FIXED64 = 1,
    WIRE_LENGTH = 2
};

#define VARINT_LIMIT 10

static size_t encode_varint(unsigned char bytes[VARINT_LIMIT], uint64_t value)
{
    size_t size = 0;

    for (; value > 0x7F; value >>= 7)
        bytes[size++] = (unsigned char)(value | 0x80);
    bytes[size++] = (unsigned char)value;
    return size;
}

static void put_varint(struct buffer *out, uint64_t value)
{
    unsigned char bytes[VARINT_LIMIT];

    buffer_append(out, bytes, encode_varint(bytes, value));
}

static void put_tag(struct buffer *out, uint32_t field, enum wire_type type)
{
    put_varint(out, (uint64_t)field << 3 | type);
}

void protobuf_unsigned(struct buffer *out, uint32_t field, uint64_t value)
{
    put_tag(out, field, WIRE_VARINT);
    put_varint(out, value);
}

void protobuf_signed(struct buffer *out, uint32_t field, int64_t value)
{
    protobuf_unsigned(out, field, (uint64_t)value);
}

void protobuf_double(struct buffer *out, uint32_t field, double value)
{
    unsigned char bytes[8];
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(bits >> 8 * i);
    put_tag(out, field, WIRE_FIXED64);
    buffer_append(out, bytes, sizeof(bytes));
}

void protobuf_bytes(struct buffer *out, uint32_t field, const void *bytes, size_t size)
{
    put_tag(out, field, WIRE_LENGTH);
    put_varint(out, size);
    buffer_append(out, bytes, size);
}

/* The length stands before the content: most messages are short, so one byte is kept for it, and
 * the content is moved when that is not enough. */
size_t protobuf_begin(struct buffer *out, uint32_t field)
{
    put_tag(out, field, WIRE_LENGTH);
    buffer_append(out, "", 1);
    return out->size;
}

void protobuf_end(struct buffer *out, size_t begin)
{
    unsigned char bytes[VARINT_LIMIT];
    size_t size = out->size - begin, more = encode_varint(bytes, size) - 1;

    if (more > 0) {
        buffer_append(out, bytes, more);
        memmove(out->data + begin + more, out->data + begin, size);
    }
    memcpy(out->data + begin - 1, bytes, more + 1);
}
