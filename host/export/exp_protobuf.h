/* Writer of Protocol Buffers' wire format: the same calls give the same bytes, numbers in the
 * fewest bytes, no schema needed. `field` is the number in the .proto file, 1 to 536870911. */
#ifndef EXP_PROTOBUF_H
#define EXP_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

#include "base_buffer.h"

/* uint32, uint64, bool, enum. */
void protobuf_unsigned(struct buffer *out, uint32_t field, uint64_t value);
/* int32, int64: negative numbers take ten bytes. Not for sint32, sint64. */
void protobuf_signed(struct buffer *out, uint32_t field, int64_t value);
void protobuf_double(struct buffer *out, uint32_t field, double value);
/* bytes, and string when the bytes are UTF-8. */
void protobuf_bytes(struct buffer *out, uint32_t field, const void *bytes, size_t size);

/* A message inside another: what is written between the two calls. They nest. */
size_t protobuf_begin(struct buffer *out, uint32_t field);
void protobuf_end(struct buffer *out, size_t begin);

#endif
