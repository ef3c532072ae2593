#include "dec_definition.h"

#include <stdlib.h>
#include <string.h>

#define OBJECT_IDS (TARE_ID_LAST0 + 1u)
#define IDS_MOST 4u /* of one object */

/* What is known of one group and id. */
struct definition_entry {
    const struct definition *first, *in_force;
};

/* What is known of one id below 0x800. */
struct object_id {
    /* Of the object whose first id this is. */
    bool expected, in_force; /* a generation is */
    uint8_t expected_generation, generation;
    uint64_t expected_ticks; /* time of what tells of it */
    uint32_t since;          /* number of the change that brought it into force */
    /* Found out already: the object whose event the id is. */
    bool cached;
    uint8_t operation;
    const struct definition *means;
};

enum definition_group definition_group(uint32_t class)
{
    if (class >= TARE_CLASS_EVENT && class <= TARE_CLASS_STRING)
        return DEFINITION_EVENT;
    if (class >= TARE_CLASS_TASK && class < TARE_CLASS_COUNT)
        return DEFINITION_OBJECT;
    if (class == TARE_CLASS_CATEGORY)
        return DEFINITION_CATEGORY;
    return class == TARE_CLASS_STREAM ? DEFINITION_STREAM : DEFINITION_OTHER;
}

static uint64_t key_of(enum definition_group group, uint32_t id, uint32_t generation)
{
    return (uint64_t)group << 32 | (uint64_t)generation << 16 | (id & 0xFFFF);
}

static struct definition_entry *find(const struct definitions *definitions,
                                     enum definition_group group, uint32_t id, uint32_t generation)
{
    uint32_t known = key_table_find(&definitions->table, key_of(group, id, generation));

    return known == 0 ? NULL : &definitions->entries[known - 1];
}

static const struct definition *of_entry(const struct definition_entry *entry)
{
    if (entry == NULL)
        return NULL;
    return entry->in_force != NULL ? entry->in_force : entry->first;
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
    key_table_set(&definitions->table, key_of(group, definition->id, definition->generation),
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
    if (definition_group(class) == DEFINITION_OBJECT)
        definition->generation = category;
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

/* What the ids of an object mean must be found out anew. */
static void forget_means(struct definitions *definitions, uint32_t id)
{
    for (uint32_t i = id; i < id + IDS_MOST && i < OBJECT_IDS; i++)
        definitions->objects[i].cached = false;
}

static struct object_id *object_at(struct definitions *definitions, uint32_t id)
{
    if (id < TARE_ID_FREE0 || id > TARE_ID_LAST0)
        return NULL;
    if (definitions->objects == NULL)
        definitions->objects = memory_new(OBJECT_IDS, sizeof *definitions->objects);
    forget_means(definitions, id);
    return &definitions->objects[id];
}

/* A name takes the place of none: it holds from the creation of the object on. */
static void name_object(struct definitions *definitions, struct definition_entry *entry,
                        const struct definition *definition)
{
    if (entry != NULL && entry->first->class == definition->class && entry->first->text_size == 0)
        entry->first = definition;
    if (entry != NULL && entry->in_force != NULL && entry->in_force->class == definition->class &&
        entry->in_force->text_size == 0)
        entry->in_force = definition;
    (void)object_at(definitions, definition->id);
}

const struct definition *definitions_add(struct definitions *definitions, uint32_t class,
                                         uint32_t category, uint32_t id, const char *text,
                                         size_t size)
{
    enum definition_group group = definition_group(class);
    uint32_t generation = group == DEFINITION_OBJECT ? category : 0;
    struct definition_entry *entry =
        group == DEFINITION_OTHER ? NULL : find(definitions, group, id, generation);
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
    if (group == DEFINITION_OBJECT)
        name_object(definitions, entry, definition);
    return definition;
}

void definitions_enforce(struct definitions *definitions, const struct definition *definition)
{
    enum definition_group group = definition_group(definition->class);
    struct definition_entry *entry;

    if (group == DEFINITION_OTHER)
        return;
    entry = find(definitions, group, definition->id, definition->generation);
    if (entry != NULL)
        entry->in_force = definition;
    if (group == DEFINITION_OBJECT)
        (void)object_at(definitions, definition->id);
}

const struct definition *definitions_find(const struct definitions *definitions,
                                          enum definition_group group, uint32_t id)
{
    return of_entry(find(definitions, group, id, 0));
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
    free(definitions->objects);
    key_table_free(&definitions->table);
    *definitions = (struct definitions){0};
}

/* ------------------------------------------------------------------ objects of a kernel */

const struct definition *definitions_generation(const struct definitions *definitions, uint32_t id,
                                                uint32_t generation)
{
    return of_entry(find(definitions, DEFINITION_OBJECT, id, generation));
}

const struct definition *definitions_create(struct definitions *definitions, uint32_t class,
                                            uint32_t generation, uint32_t id)
{
    const struct definition *known = definitions_generation(definitions, id, generation);

    if (definition_group(class) != DEFINITION_OBJECT)
        return NULL;
    if (known != NULL && known->class == (enum tare_class) class)
        return known;
    return definitions_add(definitions, class, generation, id, "", 0);
}

void definitions_renew(struct definitions *definitions, uint32_t id, uint32_t generation)
{
    struct object_id *object = object_at(definitions, id);

    if (object == NULL)
        return;
    object->in_force = true;
    object->generation = (uint8_t)generation;
    object->since = ++definitions->changes;
}

void definitions_expect(struct definitions *definitions, uint32_t id, uint32_t generation,
                        uint64_t ticks)
{
    struct object_id *object = object_at(definitions, id);

    if (object == NULL || (object->expected && ticks >= object->expected_ticks))
        return;
    object->expected = true;
    object->expected_ticks = ticks;
    object->expected_generation = (uint8_t)generation;
}

uint32_t definitions_count_objects(const struct definitions *definitions,
                                   uint32_t counts[TARE_CLASS_COUNT])
{
    uint32_t unnamed = 0;

    for (uint32_t i = 0; i < definitions->entry_count; i++) {
        const struct definition *definition = of_entry(&definitions->entries[i]);

        if (definition_group(definition->class) != DEFINITION_OBJECT)
            continue;
        counts[definition->class]++;
        unnamed += definition->name[0] == 0;
    }
    return unnamed;
}

void definitions_take_up(struct definitions *definitions, const struct definitions *from)
{
    for (uint32_t i = 0; i < from->count; i++) {
        const struct definition *definition = from->list[i];

        definitions_add(definitions, definition->class, definition->category, definition->id,
                        definition->text, definition->text_size);
    }
    for (uint32_t id = 0; from->objects != NULL && id < OBJECT_IDS; id++)
        if (from->objects[id].expected)
            definitions_expect(definitions, id, from->objects[id].expected_generation,
                               from->objects[id].expected_ticks);
}

/* Of several objects that claim the id the one that came into force last, then the nearest. */
static void find_means(const struct definitions *definitions, uint32_t id)
{
    struct object_id *of = &definitions->objects[id];
    uint32_t since = 0;

    of->cached = true;
    of->means = NULL;
    for (uint32_t i = 0; i < IDS_MOST && id - i >= TARE_ID_FREE0; i++) {
        const struct object_id *object = &definitions->objects[id - i];
        const struct definition *definition;

        if (!object->expected && !object->in_force)
            continue;
        definition = definitions_generation(definitions, id - i,
                                            object->in_force ? object->generation
                                                             : object->expected_generation);
        if (definition == NULL || class_ids(definition->class) <= i ||
            (of->means != NULL && object->since <= since))
            continue;
        of->means = definition;
        of->operation = (uint8_t)i;
        since = object->since;
    }
}

const struct definition *definitions_object(const struct definitions *definitions, uint32_t id,
                                            uint32_t *operation)
{
    static const struct definition task = {.class = TARE_CLASS_TASK,
                                           .id = TARE_ID_OTHER_TASK_RUNS,
                                           .name = "other tasks",
                                           .text = "other tasks",
                                           .text_size = sizeof "other tasks" - 1};
    static const struct definition object = {.class = TARE_CLASS_QUEUE,
                                             .id = TARE_ID_OTHER_SEND,
                                             .name = "other objects",
                                             .text = "other objects",
                                             .text_size = sizeof "other objects" - 1};

    if (id >= TARE_ID_OTHER_TASK_RUNS && id <= TARE_ID_OTHER_RECEIVE_BLOCK) {
        *operation = id - (id < TARE_ID_OTHER_SEND ? task.id : object.id);
        return id < TARE_ID_OTHER_SEND ? &task : &object;
    }
    if (id < TARE_ID_FREE0 || id > TARE_ID_LAST0 || definitions->objects == NULL)
        return NULL;
    if (!definitions->objects[id].cached)
        find_means(definitions, id);
    *operation = definitions->objects[id].operation;
    return definitions->objects[id].means;
}

/* ------------------------------------------------------------------ tables of tare_events.def */

uint32_t class_ids(uint32_t class)
{
#define TARE_RECORD(id, symbol, arguments, version, text, argument1, unit1, argument2, unit2)
#define TARE_CLASS(number, symbol, ids, text) [number] = (ids),
    static const uint8_t counts[TARE_CLASS_COUNT] = {
#include "tare_events.def"
    };

    return class < TARE_CLASS_COUNT ? counts[class] : 0;
}

struct kernel_kind {
    const char *symbol, *value, *unit;
};

static const struct kernel_kind *kind_of(uint32_t kind)
{
#define TARE_RECORD(id, symbol, arguments, version, text, argument1, unit1, argument2, unit2)
#define TARE_KERNEL(number, symbol, text, value, unit) [number] = {#symbol, value, unit},
    static const struct kernel_kind kinds[TARE_KERNEL_COUNT] = {
#include "tare_events.def"
    };

    return kind < TARE_KERNEL_COUNT && kinds[kind].symbol != NULL ? &kinds[kind] : NULL;
}

const char *kernel_kind_name(uint32_t kind)
{
    static char names[TARE_KERNEL_COUNT][24];
    const struct kernel_kind *known = kind_of(kind);

    if (known == NULL)
        return NULL;
    /* "DELAY_UNTIL" is said "delay until". */
    for (size_t i = 0; known->symbol[i] != 0; i++)
        names[kind][i] = (char)(known->symbol[i] == '_' ? ' ' : known->symbol[i] | 0x20);
    return names[kind];
}

const char *kernel_kind_value(uint32_t kind)
{
    const struct kernel_kind *known = kind_of(kind);

    return known != NULL ? known->value : NULL;
}

const char *kernel_kind_unit(uint32_t kind)
{
    const struct kernel_kind *known = kind_of(kind);

    return known != NULL ? known->unit : NULL;
}
