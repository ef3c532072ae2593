/* The reader of a target's memory while that changes: resets at any moment, moved blocks, rings
 * that are overwritten, writers that run beside it. ctest: timeout=60 labels=thread */
#include "memory_scene.h"

#include <pthread.h>

#include "base_progress.h"

/* The target begins anew in mid-capture with 20 words unread: one recording, two sessions, and the
 * read offset of the new one is not touched before it is read. */
static void follows_a_reset(void **state)
{
    static struct scene scene;
    uint32_t first;

    (void)state;
    begin(&scene);
    open_reader(&scene);
    records_some(&scene, 300, 1);
    first = scene.target.written;
    for (int i = 0; i < 10; i++)
        target_record(&scene.target, 2);
    assert_int_equal(memory_drain(&scene.reader, 0, 2), 0); /* seen, not read */
    memset(scene.target.bytes + BLOCK, 0, 240);
    assert_int_equal(memory_drain(&scene.reader, ALL, 3), 0);
    assert_int_equal(scene.reader.restarts, 1);
    assert_true(scene.reader.words_missed == 20 || scene.reader.words_missed == 26);
    target_begin(&scene.target, BLOCK, BUFFER, RING, 8, 3);
    records_some(&scene, 100, SECOND);
    end(&scene);
    assert_int_equal(check_words(&scene, 7, 0), first);
    assert_int_equal(check_words(&scene, 8, 0), scene.target.written);
    assert_int_equal(scene.reader.streams, 0); /* closed */
    leave(&scene);
}

/* Between two looks, so that the block is never seen empty. */
static void follows_a_quick_reset(void **state)
{
    static struct scene scene;
    uint32_t first;

    (void)state;
    for (uint32_t session = 7; session < 9; session++) { /* 7: the same number again */
        begin(&scene);
        open_reader(&scene);
        records_some(&scene, 300, 1);
        first = scene.target.written;
        target_begin(&scene.target, BLOCK, BUFFER, RING, session, 3);
        for (int i = 0; i < 50; i++)
            target_record(&scene.target, 2);
        memory_drain(&scene.reader, ALL, 2);
        assert_int_equal(scene.reader.restarts, 1);
        assert_int_equal(target_fill(&scene.target), 4 * scene.target.written);
        memory_drain(&scene.reader, ALL, SECOND);
        assert_int_equal(target_fill(&scene.target), 0);
        assert_int_equal(scene.reader.streams, 2);
        assert_int_equal(scene.reader.words, first + scene.target.written);
        end(&scene);
        if (session == 8)
            assert_int_equal(check_words(&scene, 8, 0), scene.target.written);
        leave(&scene);
    }
}

static void another_hand_moves_the_read_offset(void **state)
{
    static struct scene scene;

    (void)state;
    begin(&scene);
    open_reader(&scene);
    records_some(&scene, 100, 1);
    target_record(&scene.target, 2);
    TARGET_PUT(&scene.target, up.read_offset, 64);
    assert_int_equal(memory_drain(&scene.reader, ALL, 2), 0);
    assert_int_equal(TARGET_GET(&scene.target, up.read_offset), 64);
    assert_int_equal(scene.reader.restarts, 1);
    end(&scene);
    leave(&scene);
}

static void follows_a_moved_block(void **state)
{
    static struct scene scene;
    struct target old;
    uint32_t first;

    (void)state;
    begin(&scene);
    open_reader(&scene);
    records_some(&scene, 100, 1);
    first = scene.target.written;
    old = scene.target; /* stays as it is: nobody clears it */
    target_begin(&scene.target, 0x2345 / 4 * 4, 0x5000, RING, 8, 3);
    for (int i = 0; i < 10; i++)
        target_record(&scene.target, 2);
    memory_drain(&scene.reader, ALL, SECOND / 2);
    assert_int_equal(scene.reader.streams, 1);
    memory_drain(&scene.reader, ALL, 3 * SECOND);
    memory_drain(&scene.reader, ALL, 3 * SECOND + 1);
    assert_int_equal(scene.reader.streams, 2);
    assert_int_equal(target_fill(&scene.target), 0);
    end(&scene);
    assert_int_equal(check_words(&scene, 7, 0), first);
    assert_int_equal(check_words(&scene, 8, 0), scene.target.written);
    assert_int_equal(target_fill(&old), 0);
    leave(&scene);
}

static void follows_a_file_that_is_made_anew(void **state)
{
    static struct scene scene;
    uint32_t first;

    (void)state;
    begin(&scene);
    open_reader(&scene);
    records_some(&scene, 100, 1);
    first = scene.target.written;
    target_unmap(&scene.target);
    unlink("ram");
    target_map(&scene.target, "ram", SIZE, 0);
    target_begin(&scene.target, BLOCK, BUFFER, RING, 9, 3);
    records_some(&scene, 30, 2 * SECOND);
    memory_drain(&scene.reader, ALL, 4 * SECOND);
    /* Cut while it is read: no access beyond its end. */
    assert_int_equal(truncate("ram", 100), 0);
    assert_int_equal(memory_drain(&scene.reader, ALL, 5 * SECOND), 0);
    assert_non_null(strstr(scene.reader.refusal.text, "was cut to 100 bytes"));
    end(&scene);
    assert_int_equal(check_words(&scene, 7, 0), first);
    assert_int_equal(check_words(&scene, 9, 0), scene.target.written);
    leave(&scene);
}

/* ------------------------------------------------------------------ overwrite */

static void begins_behind_the_write_offset(void **state)
{
    static struct scene scene;

    (void)state;
    for (int ahead = 0; ahead < 2; ahead++) { /* the lap index alone has moved already */
        begin(&scene);
        target_overwrites(&scene.target);
        TARGET_PUT(&scene.target, up.read_offset, 0xFFFFFFFF); /* has no meaning */
        while (scene.target.lap_index < 3 * RING / 4 || scene.target.write < 1000 - 8)
            target_record(&scene.target, 2);
        if (ahead)
            TARGET_PUT(&scene.target, lap_index, 4 * RING / 4);
        /* Block 3 (768 to 1023) is being written: 4 to 15 are of the lap before. */
        open_reader(&scene);
        assert_int_equal(memory_drain(&scene.reader, ALL, 1), RING - 1024 + 1000 - 8);
        assert_int_equal(TARGET_GET(&scene.target, up.read_offset), 0xFFFFFFFF);
        end(&scene);
        assert_int_equal(check_words(&scene, 7, 2 * RING / 4 + 256), (RING - 1024 + 992) / 4);
        assert_int_equal(scene.reader.words_missed, 0);
        leave(&scene);
    }
    /* One word is left in the block: the writer may have begun the anchor of the next one. */
    begin(&scene);
    target_overwrites(&scene.target);
    while (scene.target.lap_index < 3 * RING / 4 || scene.target.write < 1024 - 4)
        target_record(&scene.target, 3);
    assert_int_equal(scene.target.write, 1020);
    target_put(&scene.target, BUFFER + 1024 + 8, 0x12345678);
    open_reader(&scene);
    assert_int_equal(memory_drain(&scene.reader, ALL, 1), RING - 1024 - 256 + 1020);
    end(&scene);
    assert_int_equal(check_words(&scene, 7, 2 * RING / 4 + 256 + 64), (RING - 260) / 4);
    leave(&scene);
}

static void counts_what_was_overwritten(void **state)
{
    static struct scene scene;
    uint64_t words;

    (void)state;
    begin(&scene);
    target_overwrites(&scene.target);
    open_reader(&scene);
    records_some(&scene, 10, 1);
    words = scene.reader.words;
    assert_int_equal(words, 26);
    while (scene.target.lap_index < 3 * RING / 4 || scene.target.write < 1000)
        target_record(&scene.target, 2);
    memory_drain(&scene.reader, ALL, 2);
    assert_int_equal(scene.reader.words - words, (RING - 1024 + scene.target.write) / 4);
    assert_int_equal(scene.reader.words_missed, 2 * RING / 4 + 256 - 26);
    /* The first lap again, and then a restart that the counts alone tell. */
    target_begin(&scene.target, BLOCK, BUFFER, RING, 7, 3);
    target_overwrites(&scene.target);
    records_some(&scene, 10, 3);
    assert_int_equal(scene.reader.restarts, 1);
    end(&scene);
    leave(&scene);
}

static bool writing;

static void *write_on(void *argument)
{
    struct target *target = argument;
    unsigned seed = 3;

    while (__atomic_load_n(&writing, __ATOMIC_RELAXED)) {
        for (int i = 0; i < 50; i++)
            target_record(target, 2 + (uint32_t)rand_r(&seed) % 2);
        if (rand_r(&seed) % 8 == 0)
            usleep((useconds_t)rand_r(&seed) % 200);
    }
    return NULL;
}

/* A writer that laps the reader at any moment: what is kept is right, word for word, and what is
 * not was counted. */
static void races_the_writer(void **state)
{
    static struct scene scene;
    uint64_t until;
    pthread_t thread;
    const struct chunk *chunk;
    size_t from = 0;
    uint64_t next = 0, missed = 0;

    (void)state;
    begin(&scene);
    target_overwrites(&scene.target);
    open_reader(&scene);
    memory_drain(&scene.reader, ALL, 1);
    writing = true;
    pthread_create(&thread, NULL, write_on, &scene.target);
    until = monotonic_ns() + SECOND;
    for (uint64_t now = 2; monotonic_ns() < until && scene.reader.words < 4000000; now++) {
        memory_drain(&scene.reader, now % 7 == 0 ? 100 : ALL, now);
        if (now % 50 == 0)
            usleep(100);
    }
    __atomic_store_n(&writing, false, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    memory_drain(&scene.reader, ALL, 3);
    uint64_t counted = scene.reader.words_missed, words = scene.reader.words;

    assert_int_equal(scene.reader.restarts, 0);
    end(&scene);
    while ((chunk = chunks_next(&scene.chunks, CHUNK_STREAM, &from)) != NULL) {
        assert_true(chunk->position >= next);
        if (chunk->position != next) {
            missed += chunk->position - next;
            assert_int_equal(chunk->position % 64, 0); /* begins at a block */
        }
        next = chunk->position + chunk->bytes / 4;
    }
    assert_int_equal(missed, counted);
    assert_int_equal(words + missed, scene.target.written);
    assert_true(missed > 0);
    /* Runs that join, each from its first word on. */
    struct buffer run = {0};
    uint64_t begins = 0;

    from = 0;
    for (chunk = chunks_next(&scene.chunks, CHUNK_STREAM, &from); chunk != NULL;) {
        if (run.size == 0)
            begins = chunk->position;
        buffer_append(&run, chunk->payload, chunk->bytes);
        chunk = chunks_next(&scene.chunks, CHUNK_STREAM, &from);
        if (chunk != NULL && chunk->position == begins + run.size / 4)
            continue;
        assert_true(words_are_right((const unsigned char *)run.data, (uint32_t)(run.size / 4),
                                    begins, &scene.target, 7));
        buffer_clear(&run);
    }
    buffer_free(&run);
    leave(&scene);
}

/* The same with a ring that is drained: the writer waits for room, nothing is lost. */
static void *write_with_room(void *argument)
{
    struct target *target = argument;
    unsigned seed = 5;

    while (target->written < 400000) {
        if (target_fill(target) < RING - 256)
            target_record(target, 2 + (uint32_t)rand_r(&seed) % 2);
    }
    __atomic_store_n(&writing, false, __ATOMIC_RELEASE);
    return NULL;
}

static void drains_while_it_is_written(void **state)
{
    static struct scene scene;
    pthread_t thread;
    uint64_t now = 1;

    (void)state;
    begin(&scene);
    open_reader(&scene);
    writing = true;
    pthread_create(&thread, NULL, write_with_room, &scene.target);
    while (__atomic_load_n(&writing, __ATOMIC_ACQUIRE))
        memory_drain(&scene.reader, now % 3 == 0 ? 64 : ALL, now + 1), now++;
    pthread_join(thread, NULL);
    memory_drain(&scene.reader, ALL, now);
    assert_int_equal(scene.reader.restarts, 0);
    end(&scene);
    assert_int_equal(check_words(&scene, 7, 0), scene.target.written);
    leave(&scene);
}

/* A target that begins anew at any moment, also between two steps of the reader: what is kept is of
 * the session that it is kept as. */
static void *reset_at_any_moment(void *argument)
{
    struct target *target = argument;
    unsigned seed = 9;

    for (uint32_t session = 8; session < 400; session++) {
        uint32_t wanted = (uint32_t)rand_r(&seed) % 3000;
        uint64_t patience = monotonic_ns() + SECOND / 10;

        target_begin(target, BLOCK, BUFFER, RING, session, 3);
        while (target->written < wanted) {
            if (target_fill(target) < RING - 256)
                target_record(target, 2);
            else if (monotonic_ns() > patience)
                break;
        }
    }
    __atomic_store_n(&writing, false, __ATOMIC_RELEASE);
    return NULL;
}

static void believes_no_stale_word(void **state)
{
    static struct scene scene;
    struct buffer run = {0};
    const struct chunk *chunk, *last = NULL;
    uint32_t sessions = 0;
    pthread_t thread;
    uint64_t begins = 0, now = 1;
    size_t from = 0;
    int standard = dup(2);

    (void)state;
    begin(&scene);
    scene.options.addresses[0] = TARGET_BASE + BLOCK;
    scene.options.address_count = 1;
    open_reader(&scene);
    assert_non_null(freopen("warnings", "w", stderr)); /* one a reset */
    writing = true;
    pthread_create(&thread, NULL, reset_at_any_moment, &scene.target);
    while (__atomic_load_n(&writing, __ATOMIC_ACQUIRE))
        memory_drain(&scene.reader, ALL, now++);
    pthread_join(thread, NULL);
    memory_drain(&scene.reader, ALL, now);
    end(&scene);
    fflush(stderr);
    dup2(standard, 2);
    close(standard);
    while ((chunk = chunks_next(&scene.chunks, CHUNK_STREAM, &from)) != NULL || last != NULL) {
        if (chunk == NULL || last == NULL || chunk->session != last->session ||
            chunk->position != begins + run.size / 4) {
            if (last != NULL)
                assert_true(words_are_right((const unsigned char *)run.data,
                                            (uint32_t)(run.size / 4), begins, &scene.target,
                                            last->session));
            buffer_clear(&run);
            begins = chunk != NULL ? chunk->position : 0;
            sessions++;
        }
        if (chunk != NULL)
            buffer_append(&run, chunk->payload, chunk->bytes);
        last = chunk;
    }
    assert_true(sessions > 20);
    buffer_free(&run);
    leave(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_a_reset),
        cmocka_unit_test(follows_a_quick_reset),
        cmocka_unit_test(another_hand_moves_the_read_offset),
        cmocka_unit_test(follows_a_moved_block),
        cmocka_unit_test(follows_a_file_that_is_made_anew),
        cmocka_unit_test(begins_behind_the_write_offset),
        cmocka_unit_test(counts_what_was_overwritten),
        cmocka_unit_test(races_the_writer),
        cmocka_unit_test(drains_while_it_is_written),
        cmocka_unit_test(believes_no_stale_word),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
