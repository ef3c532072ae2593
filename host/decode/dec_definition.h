/* Names, argument types and units of ids, and the objects of a kernel, as the recording itself
 * defines them (FORMAT.md, 3.6 and 3.13). */
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
    enum tare_class class;   /* may be a number that this version does not know */
    uint32_t category;       /* of a kernel object: its generation */
    uint32_t id;             /* of an event, category, stream or object, by class */
    uint32_t generation;     /* of a kernel object, modulo 256; else 0 */
    const char *name;        /* never NULL; "": an object whose name is not known */
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
    struct key_table table;    /* group, id and generation to 1 + number of the entry */
    struct object_id *objects; /* by id below 0x800; NULL: there are no kernel objects */
    uint32_t changes;          /* counts what came into force among the objects */
};

/* Ids are looked up in groups; those of kernel objects by definitions_object() alone. */
enum definition_group {
    DEFINITION_EVENT,
    DEFINITION_CATEGORY,
    DEFINITION_STREAM,
    DEFINITION_OBJECT,
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

/* ------------------------------------------------------------------ objects of a kernel */

/* A kernel object's event: the definition of its object and which of its 2 or 4 events (enum
 * tare_operation) the id is; that of the generation in force, when called while the events are
 * delivered in order. NULL: the id is not one of an object's. 0x002 to 0x007 give built-in
 * definitions of class TASK and QUEUE with the names "other tasks" and "other objects". */
const struct definition *definitions_object(const struct definitions *definitions, uint32_t id,
                                            uint32_t *operation);

/* The definition of an object by its generation, whichever is in force; NULL: none. */
const struct definition *definitions_generation(const struct definitions *definitions, uint32_t id,
                                                uint32_t generation);

/* An object was created: known from now on, without a name if none has come yet. */
const struct definition *definitions_create(struct definitions *definitions, uint32_t class,
                                            uint32_t generation, uint32_t id);

/* From here on an id means this generation: called in the order of the recording. */
void definitions_renew(struct definitions *definitions, uint32_t id, uint32_t generation);

/* How many objects are known, all generations, by class; returns how many of them have no name. */
uint32_t definitions_count_objects(const struct definitions *definitions,
                                   uint32_t counts[TARE_CLASS_COUNT]);

/* What an id means until something else comes into force: of several calls the one with the
 * earliest time counts. Names tables have no time: UINT64_MAX. */
void definitions_expect(struct definitions *definitions, uint32_t id, uint32_t generation,
                        uint64_t ticks);

/* Adds the definitions and expectations of another session, none of them in force. */
void definitions_take_up(struct definitions *definitions, const struct definitions *from);

/* Number of neighbouring ids that a definition of this class takes: 1, 0, 2 or 4; of a class that
 * this version does not know 0. */
uint32_t class_ids(uint32_t class);

/* What a KERNEL record says, from tare_events.def: "created", "delay until", "holder"; and its
 * value: "priority", and "B". "" for no value or unit. NULL: a kind that this version does not
 * know. */
const char *kernel_kind_name(uint32_t kind);
const char *kernel_kind_value(uint32_t kind);
const char *kernel_kind_unit(uint32_t kind);

/* Whether a KERNEL record of this kind speaks of an object: all but those of the heap. */
static inline bool kernel_kind_has_object(uint32_t kind)
{
    return kind != TARE_KERNEL_ALLOCATED && kind != TARE_KERNEL_FREED;
}

#endif
