/* Gives each new key the next number: 1, 2, 3, ... For names that are written once and referred to
 * by number, and for what belongs to a key. */
#ifndef EXP_TABLE_H
#define EXP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_buffer.h"

struct export_key {
    size_t at, size; /* in `keys` */
};

/* All zero is an empty table. */
struct export_table {
    struct buffer keys;
    struct export_key *entries; /* entries[n - 1] is the key with number n */
    uint32_t *slots;
    size_t count, capacity, slot_count;
    uint64_t seed;
};

/* The number of the key; *is_new (may be NULL) says whether it was given just now. */
uint32_t export_table_number(struct export_table *table, const void *key, size_t size,
                             bool *is_new);

void export_table_free(struct export_table *table);

#endif
