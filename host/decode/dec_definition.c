#include "dec_definition.h"

#include <stdlib.h>
#include <string.h>

/* What is known of one group and id. */
struct definition_entry {
    const struct definition *first, *in_force;
};

enum definition_group definition_group(uint32_t class)
{
    if (class >= TARE_CLASS_EVENT && class <= TARE_CLASS_STRING)
        return DEFINITION_EVENT;
    if (class == TARE_CLASS_CATEGORY)
        return DEFINITION_CATEGORY;
    return class == TARE_CLASS_STREAM ? DEFINITION_STREAM : DEFINITION_OTHER;
}

static struct definition_entry *find(const struct definitions *definitions,
                                     enum definition_group group, uint32_t id)
{
    uint32_t known = key_table_find(&definitions->table, (uint64_t)group << 32 | id);

    return known == 0 ? NULL : &definitions->entries[known - 1];
}

static void add_entry(struct definitions *definitions, enum definition_group group,
                      const struct definition *definition)
{
    if (definitions->entries == NULL || definitions->entry_count == definitions->entry_capacity) {
        definitions->entry_capacity = 2 * definitions->entry_capacity + 8;
        definitions->entries = memory_resize(definitions->entries, definitions->entry_capacity,
                                             sizeof *definitions->entries);
    }
    definitions->entries[definitions->entry_count++] = (struct definition_entry){definition, NULL};
    key_table_set(&definitions->table, (uint64_t)group << 32 | definition->id,
                  definitions->entry_count);
}

static enum argument_type type_named(const char *name)
{
    static const char *const names[] = {"u32", "i32", "x32", "f32"};

    for (unsigned i = 0; i < 4; i++)
        if (strcmp(name, names[i]) == 0)
            return (enum argument_type)i;
    return ARGUMENT_X32; /* of a later version: the raw word is never wrong */
}

/* "{a,b,c}" in place to the names a, b and c. */
static void parse_values(struct definition_argument *argument, char *unit)
{
    size_t length = strlen(unit);
    const char **values;
    uint32_t count = 1;

    if (length < 2 || unit[0] != '{' || unit[length - 1] != '}')
        return;
    unit[length - 1] = 0;
    unit++;
    for (const char *at = unit; *at != 0; at++)
        count += *at == ',';
    values = memory_new(count, sizeof *values);
    for (uint32_t i = 0; i < count; i++)
        values[i] = strsep(&unit, ",");
    argument->values = values;
    argument->value_count = count;
    argument->unit = "";
}

static void parse_argument(struct definition_argument *argument, char *text)
{
    char *name = strsep(&text, ":"), *type = strsep(&text, ":");

    argument->name = name;
    argument->type = type_named(type != NULL ? type : "x32");
    argument->unit = text != NULL ? text : "";
    if (text != NULL)
        parse_values(argument, text);
}

static struct definition *parse(uint32_t class, uint32_t category, uint32_t id, const char *text,
                                size_t size)
{
    /* The text twice: once as it is and once to be cut up. */
    struct definition *definition = memory_new(1, sizeof *definition + 2 * (size + 1));
    char *whole = (char *)(definition + 1), *parts = whole + size + 1;

    if (size > 0) {
        memcpy(whole, text, size);
        memcpy(parts, text, size);
    }
    *definition = (struct definition){.class = (enum tare_class) class,
                                      .category = category,
                                      .id = id,
                                      .name = parts,
                                      .text = whole,
                                      .text_size = size};
    if (definition_group(class) != DEFINITION_EVENT)
        return definition;
    (void)strsep(&parts, "|");
    while (parts != NULL && definition->argument_count < 2)
        parse_argument(&definition->argument[definition->argument_count++], strsep(&parts, "|"));
    return definition;
}

static bool is_same(const struct definition *definition, uint32_t class, uint32_t category,
                    const char *text, size_t size)
{
    return definition != NULL && definition->class == class && definition->category == category &&
           definition->text_size == size &&
           (size == 0 || memcmp(definition->text, text, size) == 0);
}

const struct definition *definitions_add(struct definitions *definitions, uint32_t class,
                                         uint32_t category, uint32_t id, const char *text,
                                         size_t size)
{
    enum definition_group group = definition_group(class);
    struct definition_entry *entry =
        group == DEFINITION_OTHER ? NULL : find(definitions, group, id);
    struct definition *definition;

    /* A target repeats its definitions for readers that come late. */
    if (entry != NULL && is_same(entry->in_force, class, category, text, size))
        return entry->in_force;
    if (entry != NULL && is_same(entry->first, class, category, text, size))
        return entry->first;
    definition = parse(class, category, id, text, size);
    if (definitions->count == definitions->capacity) {
        definitions->capacity = 2 * definitions->capacity + 8;
        definitions->list =
            memory_resize(definitions->list, definitions->capacity, sizeof(struct definition *));
    }
    definitions->list[definitions->count++] = definition;
    if (entry == NULL && group != DEFINITION_OTHER)
        add_entry(definitions, group, definition);
    return definition;
}

void definitions_enforce(struct definitions *definitions, const struct definition *definition)
{
    enum definition_group group = definition_group(definition->class);
    struct definition_entry *entry;

    if (group == DEFINITION_OTHER)
        return;
    entry = find(definitions, group, definition->id);
    if (entry != NULL)
        entry->in_force = definition;
}

const struct definition *definitions_find(const struct definitions *definitions,
                                          enum definition_group group, uint32_t id)
{
    const struct definition_entry *entry = find(definitions, group, id);

    if (entry == NULL)
        return NULL;
    return entry->in_force != NULL ? entry->in_force : entry->first;
}

void definitions_free(struct definitions *definitions)
{
    for (uint32_t i = 0; i < definitions->count; i++) {
        free((void *)(uintptr_t)definitions->list[i]->argument[0].values);
        free((void *)(uintptr_t)definitions->list[i]->argument[1].values);
        free(definitions->list[i]);
    }
    free(definitions->list);
    free(definitions->entries);
    key_table_free(&definitions->table);
    *definitions = (struct definitions){0};
}
