/* The listing of spec/FORMAT.md, section 8: what the vectors are compared by. */
#ifndef DEC_LISTING_H
#define DEC_LISTING_H

#include "base_buffer.h"
#include "dec_input.h"

/* Appends the listing of a decoder that was opened with `file_order` and `accept_all` and not used
 * yet. EXIT_DAMAGED when no stream was found in what is not an undamaged `.tare` file. */
enum exit_code listing_append(struct buffer *out, struct decoder *decoder);

#endif
