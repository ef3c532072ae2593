/* Hash table from 64-bit keys to numbers. The seed is random, so that no input can be made to hit
 * one slot only. */
#ifndef DEC_TABLE_H
#define DEC_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* All zero is an empty table. */
struct key_table {
    struct key_slot *slots;
    size_t count, capacity;
    uint64_t seed;
};

/* The number of the key, or 0 when it has none. */
uint32_t key_table_find(const struct key_table *table, uint64_t key);
/* Sets the number of a key, not 0. */
void key_table_set(struct key_table *table, uint64_t key, uint32_t number);
void key_table_free(struct key_table *table);

#endif
