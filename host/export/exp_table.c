#include "exp_table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <xxhash.h>

#include "base_progress.h"

static uint32_t *find(const struct export_table *table, const void *key, size_t size)
{
    size_t at = XXH64(key, size, table->seed) & (table->slot_count - 1);

    while (table->slots[at] != 0) {
        const struct export_key *entry = &table->entries[table->slots[at] - 1];

        if (entry->size == size && memcmp(table->keys.data + entry->at, key, size) == 0)
            break;
        at = (at + 1) & (table->slot_count - 1);
    }
    return &table->slots[at];
}

static void grow(struct export_table *table)
{
    if (2 * table->count < table->slot_count)
        return;
    /* A random seed, so that no input can be made to hit one slot only. */
    if (table->slot_count == 0 && getrandom(&table->seed, sizeof(table->seed), GRND_NONBLOCK) < 0)
        table->seed = monotonic_ns();
    table->slot_count = table->slot_count == 0 ? 64 : table->slot_count * 2;
    free(table->slots);
    table->slots = memory_new(table->slot_count, sizeof(*table->slots));
    for (size_t i = 0; i < table->count; i++) {
        const struct export_key *entry = &table->entries[i];

        *find(table, table->keys.data + entry->at, entry->size) = (uint32_t)i + 1;
    }
}

uint32_t export_table_number(struct export_table *table, const void *key, size_t size, bool *is_new)
{
    uint32_t *slot;

    grow(table);
    slot = find(table, key, size);
    if (is_new != NULL)
        *is_new = *slot == 0;
    if (*slot != 0)
        return *slot;
    if (table->count == table->capacity) {
        table->capacity = table->capacity == 0 ? 64 : table->capacity * 2;
        table->entries = memory_resize(table->entries, table->capacity, sizeof(*table->entries));
    }
    table->entries[table->count] = (struct export_key){.at = table->keys.size, .size = size};
    buffer_append(&table->keys, key, size);
    return *slot = (uint32_t)++table->count;
}

void export_table_free(struct export_table *table)
{
    buffer_free(&table->keys);
    free(table->entries);
    free(table->slots);
    *table = (struct export_table){0};
}
