#include "dec_table.h"

#include <stdlib.h>
#include <sys/random.h>

#include <xxhash.h>

#include "base_buffer.h"
#include "base_progress.h"

struct key_slot {
    uint64_t key;
    uint32_t number; /* 0: the slot is free */
};

/* The slot of the key, or the free one where it belongs. */
static struct key_slot *find(const struct key_table *table, uint64_t key)
{
    size_t at = XXH64(&key, sizeof key, table->seed) & (table->capacity - 1);

    while (table->slots[at].number != 0 && table->slots[at].key != key)
        at = (at + 1) & (table->capacity - 1);
    return &table->slots[at];
}

static void grow(struct key_table *table)
{
    struct key_table old = *table;

    if (old.capacity == 0 && getrandom(&table->seed, sizeof table->seed, GRND_NONBLOCK) < 0)
        table->seed = monotonic_ns();
    table->capacity = old.capacity == 0 ? 8 : 2 * old.capacity;
    table->slots = memory_new(table->capacity, sizeof *table->slots);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i].number != 0)
            *find(table, old.slots[i].key) = old.slots[i];
    free(old.slots);
}

uint32_t key_table_find(const struct key_table *table, uint64_t key)
{
    return table->capacity == 0 ? 0 : find(table, key)->number;
}

void key_table_set(struct key_table *table, uint64_t key, uint32_t number)
{
    struct key_slot *slot;

    if (2 * (table->count + 1) > table->capacity)
        grow(table);
    slot = find(table, key);
    table->count += slot->number == 0;
    *slot = (struct key_slot){key, number};
}

void key_table_free(struct key_table *table)
{
    free(table->slots);
    *table = (struct key_table){0};
}
