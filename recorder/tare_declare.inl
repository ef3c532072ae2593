/* What the declaring macros of tare.h expand to. Included by tare.h alone. */

#define TARE_TYPE_u32 uint32_t
#define TARE_TYPE_x32 uint32_t
#define TARE_TYPE_i32 int32_t
#define TARE_TYPE_f32 float

/* Both arms of TARE_ENABLED declare the same names, so a program that compiles with one compiles
 * with the other; tests/config compiles one program both ways. */
#if TARE_ENABLED

/* One per declaration, collected by the linker in the section tare_events. */
struct tare_event {
    uint32_t *word;   /* where the id, shifted into place, is put at start (a span has two words);
                         NULL for a category */
    const char *text; /* as in a DEFINE record */
    uint8_t event_class; /* enum tare_class */
    uint8_t category;    /* number */
    uint8_t arguments;   /* argument words */
};

/* Start and end of the linker's section with all declarations of this program or library. Weak: one
 * that declares nothing links as well. */
extern const struct tare_event __start_tare_events[] __attribute__((weak, visibility("hidden")));
extern const struct tare_event __stop_tare_events[] __attribute__((weak, visibility("hidden")));

#if defined(__linux__) && !defined(TARE_PORT_FILE)
/* Each program and each library hands its own section over when it is loaded; many files of one
 * program do it once. */
extern char tare_registered_here __attribute__((visibility("hidden")));
char tare_registered_here __attribute__((weak));
int tare_register(const struct tare_event *events, const struct tare_event *end);

static __attribute__((constructor(102), used)) void tare_register_at_load(void)
{
    if (!tare_registered_here)
        tare_registered_here = (char)tare_register(__start_tare_events, __stop_tare_events);
}
#endif

/* Bit n: category n records. Written by tare_enable and tare_disable alone. */
extern uint32_t tare_categories_on;

void tare_put0(uint32_t word);
void tare_put1(uint32_t word, uint32_t first);
void tare_put2(uint32_t word, uint32_t first, uint32_t second);
void tare_put_string(uint32_t word, const char *string);

/* Relaxed: a switch need not order anything, it must only be seen. */
#define TARE_IS_ON(category) \
    (__builtin_expect((__atomic_load_n(&tare_categories_on, __ATOMIC_RELAXED) & \
                       ((uint32_t)1 << tare_category_##category)) != 0, \
                      0))

static inline uint32_t tare_word_u32(uint32_t value)
{
    return value;
}
static inline uint32_t tare_word_x32(uint32_t value)
{
    return value;
}
static inline uint32_t tare_word_i32(int32_t value)
{
    return (uint32_t)value;
}
static inline uint32_t tare_word_f32(float value)
{
    union {
        float number;
        uint32_t word;
    } both;
    both.number = value;
    return both.word;
}

#define TARE_PRIVATE_DESCRIBE(symbol, word, event_class, category, arguments, text) \
    static const struct tare_event tare_describe_##symbol \
        __attribute__((section("tare_events"), used, aligned(sizeof(void *)))) = { \
            word, text, event_class, category, arguments};

#define TARE_PRIVATE_CATEGORY(symbol, number, text) \
    enum { \
        tare_category_##symbol = (number) \
    }; \
    TARE_PRIVATE_DESCRIBE(symbol##_category, NULL, TARE_CLASS_CATEGORY, number, 0, text)

/* Until tare_start gives an id, a word says "unnamed", so that no call is ever a wrong event. */
#define TARE_PRIVATE_EVENT0(symbol, category, text) \
    static uint32_t symbol##_word = (uint32_t)TARE_ID_UNNAMED0 << TARE_STAMP_BITS; \
    TARE_PRIVATE_DESCRIBE(symbol, &symbol##_word, TARE_CLASS_EVENT, tare_category_##category, 0, \
                          text) \
    static inline void symbol(void) \
    { \
        if (TARE_IS_ON(category)) \
            tare_put0(symbol##_word); \
    }

#define TARE_PRIVATE_EVENT1(symbol, category, event_class, text, type, name, unit) \
    static uint32_t symbol##_word = (uint32_t)TARE_ID_UNNAMED1 << TARE_STAMP_BITS; \
    TARE_PRIVATE_DESCRIBE(symbol, &symbol##_word, event_class, tare_category_##category, 1, \
                          text "|" #name ":" #type ":" unit) \
    static inline void symbol(TARE_TYPE_##type name) \
    { \
        if (TARE_IS_ON(category)) \
            tare_put1(symbol##_word, tare_word_##type(name)); \
    }

#define TARE_PRIVATE_EVENT2(symbol, category, text, type1, name1, unit1, type2, name2, unit2) \
    static uint32_t symbol##_word = (uint32_t)TARE_ID_UNNAMED2 << TARE_STAMP_BITS; \
    TARE_PRIVATE_DESCRIBE(symbol, &symbol##_word, TARE_CLASS_EVENT, tare_category_##category, 2, \
                          text "|" #name1 ":" #type1 ":" unit1 "|" #name2 ":" #type2 ":" unit2) \
    static inline void symbol(TARE_TYPE_##type1 name1, TARE_TYPE_##type2 name2) \
    { \
        if (TARE_IS_ON(category)) \
            tare_put2(symbol##_word, tare_word_##type1(name1), tare_word_##type2(name2)); \
    }

#define TARE_PRIVATE_SPAN(symbol, category, text) \
    static uint32_t symbol##_words[2] = {(uint32_t)TARE_ID_UNNAMED1 << TARE_STAMP_BITS, \
                                         (uint32_t)TARE_ID_UNNAMED1 << TARE_STAMP_BITS}; \
    TARE_PRIVATE_DESCRIBE(symbol, symbol##_words, TARE_CLASS_SPAN_BEGIN, tare_category_##category, \
                          1, text "|id:u32:") \
    static inline void symbol##_begin(uint32_t id) \
    { \
        if (TARE_IS_ON(category)) \
            tare_put1(symbol##_words[0], id); \
    } \
    static inline void symbol##_end(uint32_t id) \
    { \
        if (TARE_IS_ON(category)) \
            tare_put1(symbol##_words[1], id); \
    }

#define TARE_PRIVATE_INTERRUPT(symbol, category, text) \
    static uint32_t symbol##_words[2] = {(uint32_t)TARE_ID_UNNAMED0 << TARE_STAMP_BITS, \
                                         (uint32_t)TARE_ID_UNNAMED0 << TARE_STAMP_BITS}; \
    TARE_PRIVATE_DESCRIBE(symbol, symbol##_words, TARE_CLASS_INTERRUPT, tare_category_##category, \
                          0, text) \
    static inline void symbol##_enter(void) \
    { \
        if (TARE_IS_ON(category)) \
            tare_put0(symbol##_words[0]); \
    } \
    static inline void symbol##_exit(void) \
    { \
        if (TARE_IS_ON(category)) \
            tare_put0(symbol##_words[1]); \
    }

#define TARE_PRIVATE_STRING(symbol, category, text) \
    static uint32_t symbol##_word = (uint32_t)TARE_ID_UNNAMED1 << TARE_STAMP_BITS; \
    TARE_PRIVATE_DESCRIBE(symbol, &symbol##_word, TARE_CLASS_STRING, tare_category_##category, 1, \
                          text "|length:u32:B") \
    static inline void symbol(const char *string) \
    { \
        if (TARE_IS_ON(category)) \
            tare_put_string(symbol##_word, string); \
    }

#else /* TARE_ENABLED 0 */

#define TARE_PRIVATE_CATEGORY(symbol, number, text) \
    enum { \
        tare_category_##symbol = (number) \
    };
#define TARE_PRIVATE_EVENT0(symbol, category, text) \
    static inline void symbol(void) \
    { \
    }
#define TARE_PRIVATE_EVENT1(symbol, category, event_class, text, type, name, unit) \
    static inline void symbol(TARE_TYPE_##type name) \
    { \
        (void)name; \
    }
#define TARE_PRIVATE_EVENT2(symbol, category, text, type1, name1, unit1, type2, name2, unit2) \
    static inline void symbol(TARE_TYPE_##type1 name1, TARE_TYPE_##type2 name2) \
    { \
        (void)name1; \
        (void)name2; \
    }
#define TARE_PRIVATE_SPAN(symbol, category, text) \
    static inline void symbol##_begin(uint32_t id) \
    { \
        (void)id; \
    } \
    static inline void symbol##_end(uint32_t id) \
    { \
        (void)id; \
    }
#define TARE_PRIVATE_INTERRUPT(symbol, category, text) \
    static inline void symbol##_enter(void) \
    { \
    } \
    static inline void symbol##_exit(void) \
    { \
    }
#define TARE_PRIVATE_STRING(symbol, category, text) \
    static inline void symbol(const char *string) \
    { \
        (void)string; \
    }

static inline int tare_start(void)
{
    return 0;
}
static inline void tare_stop(void)
{
}
static inline void tare_service(void)
{
}
static inline void tare_tick(uint32_t count)
{
    (void)count;
}
static inline void tare_enable(uint32_t categories)
{
    (void)categories;
}
static inline void tare_disable(uint32_t categories)
{
    (void)categories;
}
static inline void tare_thread_name(const char *name)
{
    (void)name;
}
static inline void tare_counts(struct tare_totals *counts)
{
    counts->words = counts->dropped = counts->suppressed = 0;
}

#endif /* TARE_ENABLED */
