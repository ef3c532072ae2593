/* Names, argument types and units of ids, as the recording itself defines them (FORMAT.md, 3.6). */
#ifndef DEC_DEFINITION_H
#define DEC_DEFINITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_buffer.h"
#include "dec_table.h"

#include "tare_layout.h"

enum argument_type {
    ARGUMENT_U32,
    ARGUMENT_I32,
    ARGUMENT_X32,
    ARGUMENT_F32
};

struct definition_argument {
    const char *name; /* never NULL; not checked bytes: go through text_append_safe() or JSON */
    const char *unit; /* "" for none, also when values are named */
    enum argument_type type;
    uint32_t value_count;      /* of an enumeration; 0: a number */
    const char *const *values; /* names of the values 0, 1, ... */
};

struct definition {
    enum tare_class class; /* may be a number that this version does not know */
    uint32_t category;
    uint32_t id;             /* of an event, category or stream, by class */
    const char *name;        /* never NULL */
    uint32_t argument_count; /* described arguments, at most 2 */
    struct definition_argument argument[2];
    const char *text; /* as recorded, `text_size` bytes and a zero */
    size_t text_size;
};

/* The definitions of one session. All pointers given out stay valid until definitions_free(). */
struct definitions {
    struct definition **list; /* in order of arrival */
    uint32_t count, capacity;
    struct definition_entry *entries; /* one for each group and id */
    uint32_t entry_count, entry_capacity;
    struct key_table table; /* group and id to 1 + number of the entry */
};

/* Ids are looked up in three groups. */
enum definition_group {
    DEFINITION_EVENT,
    DEFINITION_CATEGORY,
    DEFINITION_STREAM,
    DEFINITION_OTHER
};

enum definition_group definition_group(uint32_t class);

/* Parses and keeps a definition; it becomes the first known of its group and id when there was
 * none. Any bytes are accepted: what cannot be understood is left out of the arguments. */
const struct definition *definitions_add(struct definitions *definitions, uint32_t class,
                                         uint32_t category, uint32_t id, const char *text,
                                         size_t size);

/* Makes a definition the one that is in force: called in the order of the recording. */
void definitions_enforce(struct definitions *definitions, const struct definition *definition);

/* The definition in force, or else the first one that ever came; NULL: none, show "#id". */
const struct definition *definitions_find(const struct definitions *definitions,
                                          enum definition_group group, uint32_t id);

void definitions_free(struct definitions *definitions);

#endif
