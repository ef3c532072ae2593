#include "exp_protobuf.h"

#include <string.h>

enum wire_type {
    WIRE_VARINT = 0,
    WIRE_FIXED64 = 1,
    WIRE_LENGTH = 2
};

#define VARINT_LIMIT 10

/* At most VARINT_LIMIT bytes; returns how many. */
static size_t encode_varint(unsigned char *bytes, uint64_t value)
{
    size_t size = 0;

    for (; value > 0x7F; value >>= 7)
        bytes[size++] = (unsigned char)(value | 0x80);
    bytes[size++] = (unsigned char)value;
    return size;
}

static size_t encode_tag(unsigned char *bytes, uint32_t field, enum wire_type type)
{
    return encode_varint(bytes, (uint64_t)field << 3 | type);
}

void protobuf_unsigned(struct buffer *out, uint32_t field, uint64_t value)
{
    unsigned char bytes[2 * VARINT_LIMIT];
    size_t size = encode_tag(bytes, field, WIRE_VARINT);

    size += encode_varint(bytes + size, value);
    buffer_append(out, bytes, size);
}

void protobuf_signed(struct buffer *out, uint32_t field, int64_t value)
{
    protobuf_unsigned(out, field, (uint64_t)value);
}

void protobuf_double(struct buffer *out, uint32_t field, double value)
{
    unsigned char bytes[VARINT_LIMIT + 8];
    size_t size = encode_tag(bytes, field, WIRE_FIXED64);
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    for (int i = 0; i < 8; i++)
        bytes[size++] = (unsigned char)(bits >> 8 * i);
    buffer_append(out, bytes, size);
}

void protobuf_bytes(struct buffer *out, uint32_t field, const void *bytes, size_t size)
{
    unsigned char head[2 * VARINT_LIMIT];
    size_t head_size = encode_tag(head, field, WIRE_LENGTH);

    head_size += encode_varint(head + head_size, size);
    buffer_append(out, head, head_size);
    buffer_append(out, bytes, size);
}

/* The length stands before the content: most messages are short, so one byte is kept for it, and
 * the content is moved when that is not enough. */
size_t protobuf_begin(struct buffer *out, uint32_t field)
{
    unsigned char head[VARINT_LIMIT + 1];
    size_t size = encode_tag(head, field, WIRE_LENGTH);

    head[size++] = 0;
    buffer_append(out, head, size);
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
