/* Kernel objects: tasks, queues, timers. Each has four neighbouring ids and an entry in a table of
 * names that a reader of memory finds at any time. An entry stays as it is when its object is
 * deleted, because older events still need the name, until a new object takes it over. */

#if TARE_OBJECTS > 0

static struct {
    volatile uint32_t what; /* as in struct tare_name */
    char text[TARE_NAME_BYTES - 4];
} tare_names[TARE_OBJECTS];

/* Bit n: object n exists; its name has not been written to the stream yet. */
static uint32_t tare_objects_live[(TARE_OBJECTS + 31) / 32];
static uint32_t tare_objects_fresh[(TARE_OBJECTS + 31) / 32];

static void tare_set_bit(uint32_t *bits, uint32_t number)
{
    uint32_t state = tare_port_mask();

    bits[number / 32] |= 1u << number % 32;
    tare_port_unmask(state);
}

/* Whether it was set. */
static int tare_clear_bit(uint32_t *bits, uint32_t number)
{
    uint32_t state = tare_port_mask(), bit = 1u << number % 32;
    int was_set = (bits[number / 32] & bit) != 0;

    bits[number / 32] &= ~bit;
    tare_port_unmask(state);
    return was_set;
}

/* The number of an object; TARE_OBJECTS for one that has none. */
static uint32_t tare_object_number(uint32_t word)
{
    uint32_t id = word >> TARE_STAMP_BITS;

    return id > TARE_LAST_ID0 && id <= TARE_ID_LAST0 ? (id - TARE_LAST_ID0 - 1) / 4 : TARE_OBJECTS;
}

/* A free number, new or used before by the same kind; of these the one that has been free for
 * longest, as `next` goes round. TARE_OBJECTS: there is none. */
static uint32_t tare_claim_number(int is_task, int is_new)
{
    static uint32_t next;
    uint32_t tries, number = next;

    for (tries = 0; tries < TARE_OBJECTS; tries++, number++) {
        uint32_t state, bit, *live, what;

        if (number >= TARE_OBJECTS)
            number = 0;
        bit = 1u << number % 32;
        live = &tare_objects_live[number / 32];
        state = tare_port_mask();
        what = tare_names[number].what;
        if ((*live & bit) == 0 &&
            (is_new ? what == 0 : what != 0 && (what >> 24 == TARE_CLASS_TASK) == is_task)) {
            *live |= bit;
            tare_port_unmask(state);
            next = number + 1;
            return number;
        }
        tare_port_unmask(state);
    }
    return TARE_OBJECTS;
}

/* A number that a task has had is for tasks: a reader that comes late must know without history
 * which events tell the running task. New ones come second, so that those who use up most leave
 * some for the others. */
static uint32_t tare_claim_object(int is_task)
{
    uint32_t number = tare_claim_number(is_task, 0);

    return number < TARE_OBJECTS ? number : tare_claim_number(is_task, 1);
}

static void tare_name_object(uint32_t number, uint32_t what, const char *name)
{
    uint32_t length = name ? tare_text_length(name, TARE_NAME_BYTES - 4) : 0;

    tare_names[number].what = 0;
    memset(tare_names[number].text, 0, sizeof(tare_names[number].text));
    if (length)
        memcpy(tare_names[number].text, name, length);
    tare_port_publish(&tare_names[number].what, what);
    tare_set_bit(tare_objects_fresh, number);
}

uint32_t tare_object_new(uint32_t event_class, const char *name, uint32_t value)
{
    uint32_t number = tare_claim_object(event_class == TARE_CLASS_TASK);
    uint32_t what = event_class == TARE_CLASS_TASK ? TARE_ID_OTHER_TASK_RUNS : TARE_ID_OTHER_SEND;

    if (number == TARE_OBJECTS) {
        tare0[0].ring.names_lost++;
    } else {
        uint32_t old = tare_names[number].what;

        what = event_class << 24 | (old ? (old + 0x10000u) & 0xFF0000u : 0) |
               (TARE_LAST_ID0 + 1 + 4 * number);
        tare_name_object(number, what, name);
    }
    tare_kernel_event(TARE_KERNEL_CREATED, TARE_WORD(what & 0xFFFu),
                      event_class << 24 | (value & 0xFFFFFFu));
    return TARE_WORD(what & 0xFFFu);
}

void tare_object_name(uint32_t word, const char *name)
{
    uint32_t number = tare_object_number(word);

    if (number < TARE_OBJECTS)
        tare_name_object(number, tare_names[number].what, name);
}

void tare_object_delete(uint32_t word)
{
    uint32_t number = tare_object_number(word);

    tare_kernel_event(TARE_KERNEL_DELETED, word, 0);
    if (number < TARE_OBJECTS)
        (void)tare_clear_bit(tare_objects_live, number);
}

void tare_kernel_event(uint32_t kind, uint32_t word, uint32_t value)
{
    uint32_t number, what;

    if (!TARE_CATEGORY_IS_ON(TARE_CATEGORY_KERNEL))
        return;
    number = tare_object_number(word);
    what = number < TARE_OBJECTS ? tare_names[number].what : word >> TARE_STAMP_BITS;
    tare_put2(TARE_WORD(TARE_ID_KERNEL), kind << 24 | (what & 0xFFFFFFu), value);
}

static int tare_define_object(struct tare_writer *writer, uint32_t number)
{
    uint32_t what = tare_names[number].what;
    char text[TARE_NAME_BYTES - 3];

    if (what == 0)
        return 1;
    memcpy(text, tare_names[number].text, sizeof(text) - 1);
    text[sizeof(text) - 1] = 0;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (tare_names[number].what != what) /* another object has it now, and its name is due */
        return 1;
    return tare_define(writer, what >> 24, what >> 16 & 0xFFu, what & 0xFFFFu, text);
}

/* The name of an object that is new; 0: there is none, or no room for it. */
static int tare_define_fresh(struct tare_writer *writer)
{
    uint32_t number;

    for (number = 0; number < TARE_OBJECTS; number++) {
        if (tare_objects_fresh[number / 32] == 0) {
            number |= 31;
        } else if (tare_clear_bit(tare_objects_fresh, number)) {
            if (tare_define_object(writer, number))
                return 1;
            tare_set_bit(tare_objects_fresh, number);
            return 0;
        }
    }
    return 0;
}

#endif
