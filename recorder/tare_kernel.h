/* What a kernel's hooks call; for the authors of hooks (hook/). Target only.
 *
 * An object of the kernel gets a word when it is created, and keeps it in the number field that the
 * kernel has for tracing. Its events are that word plus TARE_OBJECT_STEP times an operation (enum
 * tare_operation): no search, one load. When all TARE_OBJECTS numbers are in use an object gets the
 * word of "other tasks" or "other objects", and names_lost in the ring counts it.
 */
#ifndef TARE_KERNEL_H
#define TARE_KERNEL_H

#include "tare.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Categories of the hooks; a program's own take other numbers. */
#ifndef TARE_CATEGORY_TASK
#define TARE_CATEGORY_TASK 31 /* a task is switched in, may run */
#endif
#ifndef TARE_CATEGORY_OBJECT
#define TARE_CATEGORY_OBJECT 30 /* queues, semaphores, mutexes, timers: send, receive, block */
#endif
#ifndef TARE_CATEGORY_INTERRUPT
#define TARE_CATEGORY_INTERRUPT 29 /* enter, exit */
#endif
#ifndef TARE_CATEGORY_KERNEL
#define TARE_CATEGORY_KERNEL 28 /* rare: created, deleted, priorities, delays, notifications */
#endif
#ifndef TARE_CATEGORY_MEMORY
#define TARE_CATEGORY_MEMORY 27 /* heap and stacks */
#endif

#define TARE_OBJECT_STEP ((uint32_t)1 << TARE_STAMP_BITS)

#if TARE_ENABLED

#define TARE_CATEGORY_IS_ON(number) \
    (__builtin_expect((tare_categories_on & ((uint32_t)1 << (number))) != 0, 1))

/* One event of an object, 4 bytes in the ring. `word` is what tare_object_new gave, `operation` of
 * enum tare_operation. Task and interrupt. [hot] */
#define TARE_OBJECT_EVENT(category, word, operation) \
    do { \
        if (TARE_CATEGORY_IS_ON(category)) \
            tare_put0((uint32_t)(word) + (operation)*TARE_OBJECT_STEP); \
    } while (0)

/* A new object of an enum tare_class from TASK on. `name` is copied, at most TARE_NAME_BYTES - 4
 * bytes; NULL: none yet. `value`: priority of a task, length of a queue, below 2^24. Also before
 * tare_start. Task and interrupt. [rare] */
uint32_t tare_object_new(uint32_t event_class, const char *name, uint32_t value);

/* Gives it another name. [rare] */
void tare_object_name(uint32_t word, const char *name);

/* It exists no longer; its number may be used again. [rare] */
void tare_object_delete(uint32_t word);

/* Memory of the heap was given out (TARE_KERNEL_ALLOCATED) or back (_FREED): its first byte and its
 * size, below 2^24. 12 bytes in the ring, in the category MEMORY. [hot] */
#define TARE_MEMORY_EVENT(kind, address, bytes) \
    do { \
        if (TARE_CATEGORY_IS_ON(TARE_CATEGORY_MEMORY)) \
            tare_put2((uint32_t)TARE_ID_KERNEL << TARE_STAMP_BITS, \
                      (uint32_t)(kind) << 24 | ((uint32_t)(bytes)&0xFFFFFFu), \
                      (uint32_t)(uintptr_t)(address)); \
    } while (0)

/* A rare event of an object: `kind` of enum tare_kernel; 12 bytes in the ring, in the category
 * KERNEL. Task and interrupt. [hot] */
void tare_kernel_event(uint32_t kind, uint32_t word, uint32_t value);

#else

#define TARE_CATEGORY_IS_ON(number) 0
#define TARE_OBJECT_EVENT(category, word, operation) ((void)0)
#define TARE_MEMORY_EVENT(kind, address, bytes) ((void)0)

static inline uint32_t tare_object_new(uint32_t event_class, const char *name, uint32_t value)
{
    (void)event_class;
    (void)name;
    (void)value;
    return 0;
}
static inline void tare_object_name(uint32_t word, const char *name)
{
    (void)word;
    (void)name;
}
static inline void tare_object_delete(uint32_t word)
{
    (void)word;
}
static inline void tare_kernel_event(uint32_t kind, uint32_t word, uint32_t value)
{
    (void)kind;
    (void)word;
    (void)value;
}

#endif

#ifdef __cplusplus
}
#endif

#endif /* TARE_KERNEL_H */
