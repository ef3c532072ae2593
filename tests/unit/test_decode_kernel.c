/* Objects of a kernel: what an id means at each place, where names come from, and whose text a TEXT
 * record belongs to. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include "cap_container.h"
#include "dec_input.h"
#include "dec_text.h"
#include "stream_maker.h"

#define SESSION 0x5E51u
#define TASK_A 0x010u
#define TASK_B 0x012u
#define QUEUE 0x020u
#define ETHERNET 0x040u

static struct maker maker, other;

/* ------------------------------------------------------------------ what is recorded */

static void kernel(struct maker *into, uint32_t kind, uint32_t generation, uint32_t id,
                   uint32_t value)
{
    maker_record(into, TARE_ID_KERNEL, kind << 24 | generation << 16 | id, value);
}

static void create(uint32_t class, uint32_t generation, uint32_t id, uint32_t value)
{
    kernel(&maker, TARE_KERNEL_CREATED, generation, id, class << 24 | value);
}

static void name(uint32_t class, uint32_t generation, uint32_t id, const char *text)
{
    maker_define(&maker, class, generation << 16 | id, text);
}

static void event(uint32_t id)
{
    maker.ticks++;
    maker_record(&maker, id, 0, 0);
}

static void begin(void)
{
    maker_begin(&maker, SESSION, 1, 256, 1000);
}

static void write_maker(const char *path)
{
    struct error error = {0};

    assert_true(file_write(path, maker.words, 4 * maker.count, &error));
}

/* ------------------------------------------------------------------ what is read */

/* "name operation" of every event of an object and "kind name" of every KERNEL record, in order. */
static struct decoder *read_words(const char *path, struct buffer *out)
{
    struct error error = {0};
    struct decoder *decoder = decoder_open(path, NULL, &error);
    struct decode_run run;

    if (decoder == NULL)
        fail_msg("%s", error.text);
    buffer_clear(out);
    while (decoder_next(decoder, &run))
        for (uint32_t i = 0; i < run.count; i++) {
            const struct definitions *definitions = &run.stream->session->definitions;
            const struct event *at = &run.events[i];
            bool rare = at->id == TARE_ID_KERNEL;
            uint32_t operation = 0;
            const struct definition *object = definitions_object(
                definitions, rare ? at->argument[0] & 0xFFFF : at->id, &operation);

            if (out->size > 0)
                buffer_text(out, ", ");
            if (object == NULL)
                buffer_printf(out, "#%03X", rare ? at->argument[0] & 0xFFFF : at->id);
            else
                text_append_object_name(out, object);
            if (rare)
                buffer_printf(out, " %s", kernel_kind_name(at->argument[0] >> 24));
            else if (object != NULL)
                buffer_printf(out, " %s", text_operation_name(object->class, operation));
        }
    return decoder;
}

static void assert_words(const char *path, const char *expected)
{
    struct buffer out = {0};
    struct decoder *decoder = read_words(path, &out);

    assert_string_equal(out.size > 0 ? out.data : "", expected);
    decoder_close(decoder);
    buffer_free(&out);
}

/* ------------------------------------------------------------------ names and generations */

static void objects_have_words(void **state)
{
    (void)state;
    begin();
    create(TARE_CLASS_TASK, 0, TASK_A, 3);
    create(TARE_CLASS_QUEUE, 0, QUEUE, 8);
    name(TARE_CLASS_TASK, 0, TASK_A, "worker");
    name(TARE_CLASS_INTERRUPT, 0, ETHERNET, "Ethernet");
    name(TARE_CLASS_QUEUE, 0, QUEUE, "pending");
    event(TASK_A);
    event(QUEUE + TARE_RECEIVE_BLOCK);
    event(ETHERNET);
    event(QUEUE);
    event(ETHERNET + 1);
    event(TASK_A + 1);
    event(TARE_ID_OTHER_TASK_RUNS);
    event(TARE_ID_OTHER_RECEIVE_BLOCK);
    kernel(&maker, TARE_KERNEL_DELAY_UNTIL, 0, TARE_ID_OTHER_TASK_RUNS, 5);
    event(QUEUE + 4);  /* behind the four of the queue, */
    event(TASK_A + 2); /* and the two of the task */
    write_maker("words.raw");
    assert_words("words.raw",
                 "worker created, pending created, worker runs, pending block on receive, "
                 "Ethernet enter, pending send, Ethernet exit, worker ready, other tasks runs, "
                 "other objects block on receive, other tasks delay until, #024, #012");
}

static void an_id_means_the_generation_of_its_place(void **state)
{
    (void)state;
    begin();
    name(TARE_CLASS_TASK, 6, TASK_A, "old");
    event(TASK_A);
    kernel(&maker, TARE_KERNEL_DELETED, 6, TASK_A, 0);
    create(TARE_CLASS_TASK, 7, TASK_A, 1);
    event(TASK_A);
    name(TARE_CLASS_TASK, 7, TASK_A, "new"); /* some ticks after its creation */
    event(TASK_A);
    write_maker("generation.raw");
    assert_words("generation.raw", "old runs, old deleted, new created, new runs, new runs");
}

static void before_its_creation_an_id_means_nothing(void **state)
{
    (void)state;
    begin();
    event(QUEUE + 1);
    create(TARE_CLASS_MUTEX, 0, QUEUE, 0);
    event(QUEUE + 1);
    write_maker("before.raw");
    assert_words("before.raw", "#021, #020 created, #020 take");
}

/* The creation was lost; the next record that tells the generation makes up for it. */
static void any_record_tells_the_generation(void **state)
{
    (void)state;
    begin();
    name(TARE_CLASS_TASK, 1, TASK_A, "first");
    event(TASK_A);
    maker_record(&maker, TARE_ID_DROPPED, 9, 0);
    kernel(&maker, TARE_KERNEL_PRIORITY, 2, TASK_A, 5);
    event(TASK_A);
    maker_record(&maker, TARE_ID_DROPPED, 9, 0);
    name(TARE_CLASS_TASK, 3, TASK_A, "third");
    event(TASK_A);
    name(TARE_CLASS_TASK, 2, TASK_B, "elsewhere");
    write_maker("told.raw");
    assert_words("told.raw", "first runs, #010 priority, #010, third runs");
}

/* A smaller object takes the place of a larger one: the rest of the ids are what they were. */
static void ids_may_be_shared_out_anew(void **state)
{
    (void)state;
    begin();
    name(TARE_CLASS_QUEUE, 0, QUEUE, "wide");
    event(QUEUE + 2);
    create(TARE_CLASS_TIMER, 1, QUEUE, 0);
    create(TARE_CLASS_TIMER, 0, QUEUE + 2, 0);
    name(TARE_CLASS_TIMER, 1, QUEUE, "left");
    name(TARE_CLASS_TIMER, 0, QUEUE + 2, "right");
    event(QUEUE + 1);
    event(QUEUE + 2);
    /* The one that was created last has the ids that two claim. */
    name(TARE_CLASS_QUEUE, 0, 0x030, "below");
    create(TARE_CLASS_TIMER, 0, 0x032, 0);
    name(TARE_CLASS_TIMER, 0, 0x032, "within");
    event(0x032);
    create(TARE_CLASS_QUEUE, 1, 0x030, 0);
    event(0x033);
    write_maker("shared.raw");
    assert_words("shared.raw",
                 "wide block on send, left created, right created, left end, right begin, "
                 "within created, within begin, #030 created, #030 block on receive");
}

/* A definition tells what lived when it was begun, not when its text is complete. */
static void a_definition_may_be_overtaken(void **state)
{
    (void)state;
    begin();
    create(TARE_CLASS_QUEUE, 4, QUEUE, 1);
    maker_record(&maker, TARE_ID_DEFINE, TARE_CLASS_QUEUE << 24 | 4u << 16 | QUEUE, 6);
    create(TARE_CLASS_QUEUE, 5, QUEUE, 1);
    maker_text(&maker, "former", 6);
    event(QUEUE);
    name(TARE_CLASS_QUEUE, 5, QUEUE, "latter");
    write_maker("overtaken.raw");
    assert_words("overtaken.raw", "former created, latter created, latter send");
}

static void generations_wrap(void **state)
{
    (void)state;
    begin();
    name(TARE_CLASS_TASK, 255, TASK_A, "last");
    event(TASK_A);
    create(TARE_CLASS_TASK, 0, TASK_A, 1);
    name(TARE_CLASS_TASK, 0, TASK_A, "again");
    event(TASK_A);
    write_maker("wrap.raw");
    assert_words("wrap.raw", "last runs, again created, again runs");
}

/* A task that one core creates runs on the other: what an id means goes by time. */
static void another_core_creates(void **state)
{
    struct container container;
    struct error error = {0};

    (void)state;
    begin();
    name(TARE_CLASS_TASK, 0, TASK_A, "old");
    event(TASK_A); /* 1001 */
    maker.ticks = 3000;
    event(TASK_A);
    maker_begin(&other, SESSION, 2, 256, 2000);
    kernel(&other, TARE_KERNEL_CREATED, 1, TASK_A, TARE_CLASS_TASK << 24);
    maker_define(&other, TARE_CLASS_TASK, 1u << 16 | TASK_A, "new");
    assert_true(container_create(&container, "cores.tare", SESSION, &error));
    container_stream(&container, 1, 0, 1024, maker.words, 4 * maker.count);
    container_stream(&container, 2, 0, 1024, other.words, 4 * other.count);
    assert_true(container_close(&container, &error));
    assert_words("cores.tare", "old runs, new created, new runs");
}

/* ------------------------------------------------------------------ NAMES chunks */

static void put_name(uint32_t *table, uint32_t class, uint32_t generation, uint32_t id,
                     const char *text)
{
    table[0] = class << 24 | generation << 16 | id;
    memset(table + 1, 0, 12);
    memcpy(table + 1, text, strlen(text) < 12 ? strlen(text) : 12);
}

/* A recording whose reader came late: names come from tables alone, read before and behind. */
static void names_come_from_tables(void **state)
{
    struct container container;
    struct error error = {0};
    uint32_t table[1 + 5 * 4] = {16};
    struct decoder *decoder;
    struct buffer out = {0};
    struct decode_run run;
    uint32_t names = 0;

    (void)state;
    begin();
    event(TASK_A);
    event(QUEUE);
    kernel(&maker, TARE_KERNEL_DELETED, 4, TASK_A, 0);
    create(TARE_CLASS_TASK, 5, TASK_A, 1);
    event(TASK_A);
    put_name(table + 1, TARE_CLASS_TASK, 5, TASK_A, "a name of 12");
    put_name(table + 9, TARE_CLASS_QUEUE, 0, QUEUE, "pending"); /* one entry between is free */
    put_name(table + 13, TARE_CLASS_TASK, 4, TASK_A, "former");
    assert_true(container_create(&container, "tables.tare", SESSION, &error));
    container_names(&container, 1, table, sizeof table);
    container_stream(&container, 1, 0, 1024, maker.words, 4 * maker.count);
    container_names(&container, 1, table, sizeof table);
    assert_true(container_close(&container, &error));
    decoder = read_words("tables.tare", &out);
    assert_string_equal(out.data,
                        "former runs, pending send, former deleted, a name of 12 created, "
                        "a name of 12 runs");
    assert_int_equal(decoder_facts(decoder)->names_tables, 2);
    assert_int_equal(decoder_facts(decoder)->faults[FILE_FAULT_BAD_CHUNK], 0);
    decoder_close(decoder);
    buffer_free(&out);

    /* The stream had not appeared at the first of them; the second gives a note for each entry. */
    decoder = decoder_open("tables.tare", NULL, &error);
    assert_non_null(decoder);
    while (decoder_next(decoder, &run))
        for (uint32_t i = 0; i < run.note_count; i++)
            names += run.notes[i].kind == NOTE_NAME;
    assert_int_equal(names, 3);
    decoder_close(decoder);
}

/* A table that is newer than the words behind it tells nothing about their generation. */
static void a_table_has_no_time(void **state)
{
    struct container container;
    struct error error = {0};
    uint32_t table[1 + 4] = {16};

    (void)state;
    begin();
    event(TASK_A);
    create(TARE_CLASS_TASK, 5, TASK_A, 1);
    event(TASK_A);
    put_name(table + 1, TARE_CLASS_TASK, 5, TASK_A, "new");
    assert_true(container_create(&container, "time.tare", SESSION, &error));
    container_names(&container, 1, table, sizeof table);
    container_stream(&container, 1, 0, 1024, maker.words, 4 * maker.count);
    assert_true(container_close(&container, &error));
    assert_words("time.tare", "#010, new created, new runs");
}

static void a_table_of_another_byte_order(void **state)
{
    struct container container;
    struct error error = {0};
    uint32_t table[1 + 4] = {16};

    (void)state;
    begin();
    event(QUEUE + 1);
    maker_swap(&maker);
    put_name(table + 1, TARE_CLASS_QUEUE, 0, QUEUE, "pending");
    table[0] = __builtin_bswap32(table[0]);
    table[1] = __builtin_bswap32(table[1]);
    assert_true(container_create(&container, "big.tare", SESSION, &error));
    container_names(&container, 1, table, sizeof table);
    container_stream(&container, 1, 0, 1024, maker.words, 4 * maker.count);
    assert_true(container_close(&container, &error));
    assert_words("big.tare", "pending receive");
}

static void a_table_that_cannot_be_is_a_bad_chunk(void **state)
{
    static const uint32_t sizes[] = {0, 4, 10, 1032, 12};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct container container;
        struct error error = {0};
        uint32_t table[1 + 4] = {sizes[i]};
        struct decoder *decoder;
        struct buffer out = {0};

        begin();
        event(QUEUE);
        put_name(table + 1, TARE_CLASS_QUEUE, 0, QUEUE, "pending");
        assert_true(container_create(&container, "bad.tare", SESSION, &error));
        container_names(&container, 1, table, sizeof table);
        container_stream(&container, 1, 0, 1024, maker.words, 4 * maker.count);
        assert_true(container_close(&container, &error));
        decoder = read_words("bad.tare", &out);
        assert_string_equal(out.data, "#020");
        assert_int_equal(decoder_facts(decoder)->faults[FILE_FAULT_BAD_CHUNK], 1);
        assert_int_equal(decoder_facts(decoder)->names_tables, 0);
        decoder_close(decoder);
        buffer_free(&out);
    }
}

/* ------------------------------------------------------------------ contexts of texts */

/* All texts and definitions in order, with the event that a text belongs to. */
static void read_texts(const char *path, struct buffer *out)
{
    struct error error = {0};
    struct decoder *decoder = decoder_open(path, NULL, &error);
    struct decode_run run;

    assert_non_null(decoder);
    while (decoder_next(decoder, &run))
        for (uint32_t i = 0; i < run.note_count; i++) {
            const struct note *note = &run.notes[i];

            if (note->kind == NOTE_TEXT)
                buffer_printf(out, "%s%s%s", out->size > 0 ? ", " : "", batch_text(run.batch, note),
                              note->text.cut ? " (cut)" : "");
            else if (note->kind == NOTE_DEFINE)
                buffer_printf(out, "%s[%s]", out->size > 0 ? ", " : "", note->definition->text);
            else if (note->kind == NOTE_FAULT && note->fault.fault != STREAM_FAULT_CUT_TEXT)
                buffer_printf(out, "%s%s", out->size > 0 ? ", " : "",
                              stream_fault_name(note->fault.fault));
        }
    decoder_close(decoder);
}

static void assert_texts(const char *expected)
{
    struct buffer out = {0};

    write_maker("texts.raw");
    read_texts("texts.raw", &out);
    assert_string_equal(out.size > 0 ? out.data : "", expected);
    buffer_free(&out);
}

static void open_text(uint32_t length)
{
    maker_record(&maker, 0x811, length, 0);
}

static void tasks_write_texts_by_turns(void **state)
{
    (void)state;
    begin();
    event(TASK_A);
    open_text(12);
    maker_text(&maker, "written ", 8);
    event(TASK_B);
    open_text(16);
    maker_text(&maker, "another ", 8);
    event(ETHERNET);
    open_text(3);
    maker_text(&maker, "irq", 3);
    event(ETHERNET + 1);
    event(TARE_ID_OTHER_TASK_RUNS);
    open_text(12);
    maker_text(&maker, "without ", 8);
    event(TASK_A);
    maker_text(&maker, "by A", 4);
    event(TASK_B);
    maker_text(&maker, "one of B", 8);
    event(TARE_ID_OTHER_TASK_RUNS);
    maker_text(&maker, "name", 4);
    /* What the ids are comes last of all: it holds for the whole session. */
    name(TARE_CLASS_STRING, 0, 0x811, "log|length:u32:B");
    create(TARE_CLASS_TASK, 0, TASK_B, 0);
    name(TARE_CLASS_TASK, 0, TASK_A, "A");
    name(TARE_CLASS_INTERRUPT, 0, ETHERNET, "Ethernet");
    assert_texts("irq, written by A, another one of B, without name, [log|length:u32:B], [A], "
                 "[Ethernet]");
}

/* A definition is written piece by piece by a service, whoever runs in between. */
static void a_definition_may_be_interrupted(void **state)
{
    (void)state;
    begin();
    name(TARE_CLASS_STRING, 0, 0x811, "log|length:u32:B");
    event(TASK_A);
    maker_record(&maker, TARE_ID_DEFINE, TARE_CLASS_TASK << 24 | TASK_B, 9);
    maker_text(&maker, "the task", 8);
    event(TASK_B);
    open_text(4);
    maker_text(&maker, "mine", 4);
    event(TASK_A);
    maker_text(&maker, "s", 1);
    name(TARE_CLASS_TASK, 0, TASK_A, "A");
    assert_texts("[log|length:u32:B], mine, [the tasks], [A]");
    assert_words("texts.raw", "A runs, the tasks runs, #811, A runs");
}

/* What an id is may be told behind a definition whose text depends on it: the name that holds from
 * the beginning is the right one all the same. */
static void names_are_put_together_knowing_all_ids(void **state)
{
    (void)state;
    begin();
    name(TARE_CLASS_STRING, 0, 0x811, "log|length:u32:B");
    event(QUEUE);
    event(TASK_B);
    open_text(12);
    maker_text(&maker, "written ", 8);
    event(TASK_A);
    maker_record(&maker, TARE_ID_DEFINE, TARE_CLASS_QUEUE << 24 | QUEUE, 9);
    maker_text(&maker, "the queu", 8);
    event(TASK_B);
    maker_text(&maker, "by B", 4);
    event(TASK_A);
    maker_text(&maker, "e", 1);
    name(TARE_CLASS_TASK, 0, TASK_A, "A");
    name(TARE_CLASS_TASK, 0, TASK_B, "B");
    assert_texts("[log|length:u32:B], written by B, [the queue], [A], [B]");
    assert_words("texts.raw", "the queue send, B runs, #811, A runs, B runs, A runs");
}

static void interrupts_of_one_depth_are_one_context(void **state)
{
    (void)state;
    begin();
    name(TARE_CLASS_STRING, 0, 0x811, "log|length:u32:B");
    name(TARE_CLASS_INTERRUPT, 0, ETHERNET, "E");
    event(ETHERNET + 1); /* left without having been entered: nothing */
    open_text(12);
    maker_text(&maker, "main ...", 8);
    event(ETHERNET);
    open_text(12);
    maker_text(&maker, "outer ..", 8);
    event(ETHERNET);
    open_text(5);
    maker_text(&maker, "inner", 5);
    event(ETHERNET + 1);
    event(TASK_A); /* switched in by the interrupt, whose context is the same behind it */
    maker_text(&maker, "done", 4);
    event(ETHERNET + 1);
    name(TARE_CLASS_TASK, 0, TASK_A, "A");
    maker_text(&maker, "of A", 4);
    assert_texts("[log|length:u32:B], [E], inner, outer ..done, [A], orphan-text, main ... (cut)");
}

static void what_cuts_texts(void **state)
{
    (void)state;
    begin();
    name(TARE_CLASS_STRING, 0, 0x811, "log|length:u32:B");
    name(TARE_CLASS_TASK, 0, TASK_A, "A");
    event(TASK_A);
    open_text(12);
    event(TASK_B);
    open_text(13);
    /* The creation of a task cuts the texts of its id alone; of a timer, none. */
    create(TARE_CLASS_TIMER, 0, TASK_A, 0);
    create(TARE_CLASS_TASK, 1, TASK_B, 0);
    event(TASK_A);
    maker_text(&maker, "of A and", 8);
    /* A loss cuts all, and nobody counts as switched in behind it. */
    maker_record(&maker, TARE_ID_DROPPED, 1, 0);
    open_text(4);
    event(TASK_A);
    maker_text(&maker, "away", 4);
    assert_texts("[log|length:u32:B], [A],  (cut), of A and (cut), orphan-text,  (cut)");
}

/* 64 contexts may have open texts, each 8; a text of one context more cuts them all. */
static void contexts_have_limits(void **state)
{
    struct buffer expected = {0}, out = {0};

    (void)state;
    begin();
    name(TARE_CLASS_STRING, 0, 0x811, "l");
    for (uint32_t i = 0; i < 65; i++)
        create(TARE_CLASS_TASK, 0, 0x100 + 2 * i, 0);
    for (uint32_t i = 0; i < 64; i++) {
        event(0x100 + 2 * i);
        open_text(10);
        maker_text(&maker, "12345678", 8);
    }
    for (uint32_t i = 0; i < 7; i++) /* of the last */
        open_text(1);
    open_text(1); /* a ninth: its context's eight are cut */
    maker_text(&maker, "n", 1);
    open_text(1); /* the 64th context again */
    event(0x100 + 2 * 64);
    open_text(0); /* a 65th, even if nothing is to follow */
    buffer_text(&expected, "[l]");
    for (uint32_t i = 0; i < 7; i++)
        buffer_text(&expected, ",  (cut)");
    buffer_text(&expected, ", 12345678 (cut), n,  (cut)");
    for (uint32_t i = 0; i < 63; i++)
        buffer_text(&expected, ", 12345678 (cut)");
    buffer_text(&expected, ", ");
    write_maker("limits.raw");
    read_texts("limits.raw", &out);
    assert_string_equal(out.data, expected.data);
    buffer_free(&expected);
    buffer_free(&out);
}

/* The path that is taken for most events must follow the context like the other. */
static void contexts_hold_over_many_events(void **state)
{
    (void)state;
    for (uint32_t turn = 0; turn < 2; turn++) {
        begin();
        name(TARE_CLASS_STRING, 0, 0x811, "l");
        name(TARE_CLASS_TASK, 0, TASK_A, "A");
        name(TARE_CLASS_TASK, 0, TASK_B, "B");
        name(TARE_CLASS_INTERRUPT, 0, ETHERNET, "E");
        event(TASK_A);
        open_text(12);
        maker_text(&maker, "of A -- ", 8);
        for (uint32_t i = 0; i < 100; i++) {
            event(TASK_B);
            event(QUEUE);
            event(ETHERNET);
            event(QUEUE + 1);
            event(ETHERNET + 1);
        }
        event(turn == 0 ? TASK_A : ETHERNET);
        event(QUEUE);
        event(QUEUE);
        maker_text(&maker, "to A", 4);
        assert_texts(turn == 0 ? "[l], [A], [B], [E], of A -- to A"
                               : "[l], [A], [B], [E], orphan-text, of A --  (cut)");
    }
}

/* ------------------------------------------------------------------ what else a stream tells */

static void the_tick_count_is_a_note(void **state)
{
    struct error error = {0};
    struct decoder *decoder;
    struct decode_run run;
    uint64_t stored = 0;
    uint32_t ticks = 0;

    (void)state;
    begin();
    maker_record(&maker, TARE_ID_TICK, 41, 0);
    event(TARE_ID_OTHER_TASK_READY);
    maker_record(&maker, TARE_ID_TICK, 42, 0);
    kernel(&maker, TARE_KERNEL_ALLOCATED, 0, 64, 0x20000000);
    write_maker("tick.raw");
    decoder = decoder_open("tick.raw", NULL, &error);
    assert_non_null(decoder);
    while (decoder_next(decoder, &run))
        for (uint32_t i = 0; i < run.note_count; i++)
            if (run.notes[i].kind == NOTE_TICK)
                assert_int_equal(run.notes[i].tick, 41 + ticks++);
    assert_int_equal(ticks, 2);
    /* Events of objects without a number and rare events of a kernel count; ticks do not. */
    stored = decoder_directory(decoder)->streams[0]->counts.events;
    assert_int_equal(stored, 2);
    assert_int_equal(decoder_directory(decoder)->streams[0]->counts.unnamed, 0);
    assert_int_equal(decoder_directory(decoder)->streams[0]->counts.reserved, 0);
    decoder_close(decoder);
}

static void tables_of_the_format(void **state)
{
    (void)state;
    assert_int_equal(class_ids(TARE_CLASS_TASK), 2);
    assert_int_equal(class_ids(TARE_CLASS_QUEUE), 4);
    assert_int_equal(class_ids(TARE_CLASS_CATEGORY), 0);
    assert_int_equal(class_ids(TARE_CLASS_STRING), 1);
    assert_int_equal(class_ids(0), 0);
    assert_int_equal(class_ids(200), 0);
    assert_string_equal(kernel_kind_name(TARE_KERNEL_HOLDER), "holder");
    assert_string_equal(kernel_kind_name(TARE_KERNEL_NOTIFY_BLOCK), "notify block");
    assert_string_equal(kernel_kind_value(TARE_KERNEL_PRIORITY), "priority");
    assert_string_equal(kernel_kind_unit(TARE_KERNEL_STACK_LEFT), "B");
    assert_null(kernel_kind_name(0));
    assert_null(kernel_kind_name(TARE_KERNEL_COUNT));
    assert_string_equal(text_class_name(TARE_CLASS_COUNTING), "counting semaphore");
    assert_null(text_class_name(TARE_CLASS_COUNT));
    assert_string_equal(text_operation_name(TARE_CLASS_EVENTS, TARE_RECEIVE), "seen");
    assert_null(text_operation_name(TARE_CLASS_TIMER, 2));
    assert_null(text_operation_name(TARE_CLASS_EVENT, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_have_words),
        cmocka_unit_test(an_id_means_the_generation_of_its_place),
        cmocka_unit_test(before_its_creation_an_id_means_nothing),
        cmocka_unit_test(any_record_tells_the_generation),
        cmocka_unit_test(ids_may_be_shared_out_anew),
        cmocka_unit_test(a_definition_may_be_overtaken),
        cmocka_unit_test(generations_wrap),
        cmocka_unit_test(another_core_creates),
        cmocka_unit_test(names_come_from_tables),
        cmocka_unit_test(a_table_has_no_time),
        cmocka_unit_test(a_table_of_another_byte_order),
        cmocka_unit_test(a_table_that_cannot_be_is_a_bad_chunk),
        cmocka_unit_test(tasks_write_texts_by_turns),
        cmocka_unit_test(a_definition_may_be_interrupted),
        cmocka_unit_test(names_are_put_together_knowing_all_ids),
        cmocka_unit_test(interrupts_of_one_depth_are_one_context),
        cmocka_unit_test(what_cuts_texts),
        cmocka_unit_test(contexts_have_limits),
        cmocka_unit_test(contexts_hold_over_many_events),
        cmocka_unit_test(the_tick_count_is_a_note),
        cmocka_unit_test(tables_of_the_format),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
