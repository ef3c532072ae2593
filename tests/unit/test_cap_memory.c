/* The reader of a target's memory, on memories made by hand: what it reads, what it refuses, and
 * that it writes nothing where it refuses. */
#include "memory_scene.h"

/* ------------------------------------------------------------------ reading */

static void reads_what_is_there(void **state)
{
    static struct scene scene;

    (void)state;
    begin(&scene);
    for (int i = 0; i < 10; i++)
        target_record(&scene.target, 2);
    open_reader(&scene);
    /* an anchor of 6 words and ten records of 2 */
    assert_int_equal(memory_drain(&scene.reader, ALL, 1), 4 * 26);
    assert_int_equal(TARGET_GET(&scene.target, up.read_offset), 4 * 26);
    assert_int_equal(memory_drain(&scene.reader, ALL, 2), 0);
    end(&scene);
    assert_int_equal(check_words(&scene, 7, 0), 26);
    assert_int_equal(scene.chunks.count, 3); /* RING, STREAM, RING */
    assert_int_equal(scene.chunks.list[0].type, CHUNK_RING);
    assert_int_equal(scene.chunks.list[0].session, 7);
    assert_int_equal(scene.chunks.list[0].arrival, 5);
    assert_int_equal(scene.chunks.list[1].type, CHUNK_STREAM);
    assert_memory_equal(scene.chunks.list[2].payload, scene.target.bytes + BLOCK, 240);
    leave(&scene);
}

/* No more than is allowed, and nothing is lost or read twice over many laps. */
static void keeps_to_the_limit(void **state)
{
    static struct scene scene;
    uint64_t read = 0;
    unsigned seed = 1;

    (void)state;
    begin(&scene);
    open_reader(&scene);
    for (int turn = 0; turn < 4000; turn++) {
        uint64_t limit = (uint64_t)rand_r(&seed) % 200, got;

        while (target_fill(&scene.target) < RING - 400 && rand_r(&seed) % 20 != 0)
            target_record(&scene.target, 2 + (uint32_t)rand_r(&seed) % 2);
        got = memory_drain(&scene.reader, limit, (uint64_t)turn);
        assert_true(got <= limit);
        assert_true(got + 4 > limit || target_fill(&scene.target) == 0);
        read += got;
    }
    assert_true(read > 50 * (uint64_t)RING);
    read += memory_drain(&scene.reader, ALL, 4000);
    assert_int_equal(read, 4 * (uint64_t)scene.target.written);
    end(&scene);
    assert_int_equal(check_words(&scene, 7, 0), scene.target.written);
    assert_int_equal(scene.reader.restarts, 0);
    leave(&scene);
}

/* A reader that comes late begins at the right word, also where the target has just moved the lap
 * index and not yet the offset. */
static void attaches_late(void **state)
{
    static struct scene scene;

    (void)state;
    for (int ahead = 0; ahead < 2; ahead++) {
        begin(&scene);
        for (uint32_t i = 0; i < 5000; i++) {
            target_record(&scene.target, 3);
            if (target_fill(&scene.target) > RING / 2) /* another reader was there before */
                TARGET_PUT(&scene.target, up.read_offset, scene.target.write / 256 * 256);
        }
        while (scene.target.write < RING - 64)
            target_record(&scene.target, 3);
        uint32_t unread = target_fill(&scene.target) / 4;
        uint32_t head = scene.target.lap_index + scene.target.write / 4;

        assert_true(unread > 0 && scene.target.lap_index > 10 * RING / 4);
        if (ahead)
            TARGET_PUT(&scene.target, lap_index, scene.target.lap_index + RING / 4);
        open_reader(&scene);
        assert_int_equal(memory_drain(&scene.reader, ALL, 1), 4 * unread);
        end(&scene);
        assert_int_equal(check_words(&scene, 7, head - unread), unread);
        leave(&scene);
    }
}

static void any_alignment_and_order(void **state)
{
    static struct scene scene;

    (void)state;
    for (uint32_t skew = 0; skew < 8; skew++) {
        begin(&scene);
        target_unmap(&scene.target);
        target_map(&scene.target, "ram", SIZE, skew);
        scene.target.big_endian = skew >= 4;
        target_begin(&scene.target, BLOCK, BUFFER, RING, 7, 3);
        scene.options.offset = skew;
        scene.options.base_given = skew % 2 == 0;
        open_reader(&scene);
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < 100; i++)
                target_record(&scene.target, 2);
            assert_true(memory_drain(&scene.reader, ALL, (uint64_t)round) > 0);
            assert_int_equal(target_fill(&scene.target), 0);
        }
        end(&scene);
        assert_int_equal(check_words(&scene, 7, 0), scene.target.written);
        leave(&scene);
    }
    /* The whole file, in which the memory begins at an odd place: found by its own address. */
    begin(&scene);
    target_unmap(&scene.target);
    target_map(&scene.target, "ram", SIZE, 3);
    target_begin(&scene.target, BLOCK, BUFFER, RING, 7, 3);
    scene.options.base_given = false;
    target_record(&scene.target, 2);
    open_reader(&scene);
    assert_int_equal(memory_drain(&scene.reader, ALL, 1), 4 * 8);
    end(&scene);
    leave(&scene);
}

/* ------------------------------------------------------------------ refusals */

struct fault {
    uint32_t at, value;
    const char *text;
};
#define AT(field) ((uint32_t)offsetof(struct tare_ring, field))

static void refuses_with_field_and_value(void **state)
{
    static const struct fault faults[] = {
        {AT(id) + 4, 0x41414141, "id 'SEGGAAAATT' is neither"},
        {AT(version), 0, "version 0 is not 1"},
        {AT(version), 2, "version 2 is not 1"},
        {AT(self), TARGET_BASE, "self 0x21000000 is not where"},
        {AT(self), TARGET_BASE + BLOCK + 2, "self 0x21000102 is not where"},
        {AT(up_channels), 2, "up_channels 2 is not 1"},
        {AT(down_channels), 9, "down_channels 9 is not 0 or 1"},
        {AT(block_words), 65, "block_words 65 is not"},
        {AT(block_words), 0, "block_words 0 is not"},
        {AT(session), 0, "session 0 is not"},
        {AT(session), 65536, "session 65536 is not"},
        {AT(session), 8, "session 8 and stream 3 are not those of its words, 7 and 3"},
        {AT(kind), 3, "kind 3 is not"},
        {AT(state), 4, "state 4 is not"},
        {AT(policy), 2, "policy 2 is not"},
        {AT(policy), 1, "policy 1 (overwrite) does not go with"},
        {AT(channel), 0x20000000, "channel 0x20000000 is not in the memory"},
        {AT(channel), TARGET_BASE + SIZE - 20, "channel 0x2100ffec is not in the memory"},
        {AT(channel), TARGET_BASE + BLOCK + 72, "channel 0x21000148 lies within"},
        {AT(channel), TARGET_BASE + 0x2001, "channel 0x21002001 is not in the memory"},
        {AT(up.buffer), TARGET_BASE - 256, "buffer 0x20ffff00 with 4096 bytes does not lie"},
        {AT(up.buffer), TARGET_BASE + SIZE - RING + 4, "buffer 0x2100f004 with 4096"},
        {AT(up.buffer), TARGET_BASE + BUFFER + 2, "buffer 0x21001002 with 4096"},
        {AT(up.buffer), TARGET_BASE + 0x80, "buffer 0x21000080 lies over"},
        {AT(up.buffer), TARGET_BASE + BLOCK + 236, "buffer 0x210001ec lies over"},
        {AT(up.bytes), 256, "bytes 256 (size of the buffer) is not"},
        {AT(up.bytes), 4092, "bytes 4092 (size of the buffer) is not"},
        {AT(up.bytes), 0xFFFFFF00, "bytes does not lie"},
        {AT(up.bytes), 0, "bytes 0 (size of the buffer) is not"},
        {AT(up.write_offset), 4096, "write_offset 4096 is not"},
        {AT(up.write_offset), 5, "write_offset 5 is not"},
        {AT(up.read_offset), 4096, "read_offset 4096 is not"},
        {AT(up.read_offset), 2, "read_offset 2 is not"},
        {AT(up.read_offset), 400, "read_offset 400 is ahead of write_offset 104"},
        {AT(lap_index), 100, "lap_index 100 is not"},
        {AT(lap_index), 64, "lap_index 64 is not that of its words"},
        {AT(down.buffer), 0x1000, "down.buffer 0x00001000 with 16 bytes"},
        {AT(down.buffer), TARGET_BASE + BLOCK + 8, "down.buffer 0x21000108 lies over"},
        {AT(down.buffer), TARGET_BASE + BLOCK - 8, "down.buffer 0x210000f8 lies over"},
        {AT(down.buffer), TARGET_BASE + BUFFER + 64, "down.buffer 0x21001040 lies over"},
        {AT(down.bytes), 8, "down.bytes 8 has no room"},
        {AT(down.write_offset), 16, "down.write_offset 16 is not below 16"},
        {AT(down.read_offset), 99, "down.read_offset 99 is not below 16"},
    };
    static struct scene scene;
    static unsigned char before[SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        begin(&scene);
        for (int n = 0; n < 10; n++)
            target_record(&scene.target, 2);
        target_put(&scene.target, BLOCK + faults[i].at, faults[i].value);
        memcpy(before, scene.target.bytes, SIZE);
        open_reader(&scene);
        assert_int_equal(memory_find(&scene.reader, 1), MEMORY_REFUSED);
        if (strstr(scene.reader.refusal.text, faults[i].text) == NULL)
            fail_msg("wanted '%s' in '%s'", faults[i].text, scene.reader.refusal.text);
        assert_non_null(strstr(scene.reader.refusal.text, "0x21000100 (offset 256 of ram)"));
        assert_int_equal(memory_drain(&scene.reader, ALL, SECOND), 0);
        assert_false(memory_command(&scene.reader, TARE_COMMAND_STOP, 0));
        end(&scene);
        assert_memory_equal(before, scene.target.bytes, SIZE);
        assert_int_equal(scene.chunks.count, 0);
        leave(&scene);
    }
}

/* What is not there yet is waited for; the bare magic in a program's code is no block. */
static void waits_for_what_is_unfinished(void **state)
{
    static struct scene scene;

    (void)state;
    begin(&scene);
    memset(scene.target.bytes + BLOCK, 0, 240);
    target_put(&scene.target, 0x3000, TARE_RING_MAGIC);
    target_put(&scene.target, 0x3005, __builtin_bswap32(TARE_RING_MAGIC));
    open_reader(&scene);
    assert_int_equal(memory_find(&scene.reader, 1), MEMORY_NOTHING);
    target_begin(&scene.target, BLOCK, BUFFER, RING, 7, 3);
    memset(scene.target.bytes + BLOCK, 0, 4); /* the head of the id comes last */
    assert_int_equal(memory_find(&scene.reader, SECOND), MEMORY_NOTHING);
    assert_non_null(strstr(scene.reader.unfinished.text, "id is still empty"));
    memcpy(scene.target.bytes + BLOCK, "SEGG", 4);
    TARGET_PUT(&scene.target, state, TARE_RING_CLAIMED);
    assert_int_equal(memory_find(&scene.reader, 2 * SECOND), MEMORY_NOTHING);
    TARGET_PUT(&scene.target, state, TARE_RING_ACTIVE);
    assert_int_equal(memory_find(&scene.reader, 2 * SECOND + 1), MEMORY_NOTHING); /* too early */
    assert_int_equal(memory_find(&scene.reader, 3 * SECOND), MEMORY_ATTACHED);
    end(&scene);
    leave(&scene);
}

static void refuses_doubles(void **state)
{
    static struct scene scene;
    static unsigned char before[SIZE];

    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        begin(&scene);
        target_record(&scene.target, 2);
        if (kind == 0) { /* a second sound block of the same stream, of another session */
            target_begin(&scene.target, 0x800, 0x4000, RING, 8, 3);
        } else { /* a copy, where nothing but the blocks says what their address is */
            memcpy(scene.target.bytes + 0x801, scene.target.bytes + BLOCK, 240);
            scene.options.base_given = false;
        }
        if (kind == 2) { /* the address decides nothing: both say that they stand there */
            scene.options.addresses[0] = TARGET_BASE + BLOCK;
            scene.options.address_count = 1;
        }
        if (kind == 3) { /* with the base it does */
            scene.options.base_given = true;
            scene.options.addresses[0] = TARGET_BASE + BLOCK;
            scene.options.address_count = 1;
        }
        memcpy(before, scene.target.bytes, SIZE);
        open_reader(&scene);
        if (kind == 3) {
            assert_int_equal(memory_find(&scene.reader, 1), MEMORY_ATTACHED);
        } else {
            assert_int_equal(memory_find(&scene.reader, 1), MEMORY_REFUSED);
            assert_non_null(strstr(scene.reader.refusal.text, "has a second block at"));
            assert_int_equal(memory_drain(&scene.reader, ALL, 2), 0);
            assert_memory_equal(before, scene.target.bytes, SIZE);
        }
        end(&scene);
        leave(&scene);
    }
}

/* Two cores: two streams. */
static void reads_all_cores(void **state)
{
    static struct scene scene;
    struct target other;

    (void)state;
    begin(&scene);
    other = scene.target;
    target_begin(&other, 0x800, 0x4000, RING, 7, 4);
    scene.options.addresses[0] = TARGET_BASE + BLOCK; /* the symbol of an array of two */
    scene.options.sizes[0] = 0x800;
    scene.options.address_count = 1;
    open_reader(&scene);
    for (int round = 0; round < 10; round++) {
        uint64_t got = 0;

        for (int i = 0; i < 100; i++) {
            target_record(&scene.target, 2);
            target_record(&other, 3);
        }
        /* A small limit is not spent on one of them alone. */
        for (int turn = 0; turn < 2; turn++)
            got += memory_drain(&scene.reader, 80, (uint64_t)round * SECOND);
        assert_int_equal(got, 160);
        memory_drain(&scene.reader, ALL, (uint64_t)round * SECOND);
        assert_int_equal(target_fill(&scene.target) + target_fill(&other), 0);
    }
    assert_int_equal(scene.reader.words, scene.target.written + other.written);
    end(&scene);
    leave(&scene);
}

/* ------------------------------------------------------------------ names, commands, failures */

static void writes_names_when_they_change(void **state)
{
    static struct scene scene;
    const uint32_t table = 0x3000;
    const struct chunk *chunk;
    size_t from = 0;

    (void)state;
    begin(&scene);
    TARGET_PUT(&scene.target, names, TARGET_BASE + table);
    TARGET_PUT(&scene.target, name_count, 2);
    TARGET_PUT(&scene.target, name_bytes, 12);
    target_put(&scene.target, table, 0x09000010);
    memcpy(scene.target.bytes + table + 4, "idle", 4);
    open_reader(&scene);
    memory_drain(&scene.reader, ALL, 1);
    memory_drain(&scene.reader, ALL, 2);
    target_put(&scene.target, table + 12, 0x09010012);
    memcpy(scene.target.bytes + table + 16, "receiver", 8);
    memory_drain(&scene.reader, ALL, 3);
    target_put(&scene.target, table, 0);
    end(&scene);
    chunk = chunks_next(&scene.chunks, CHUNK_NAMES, &from);
    assert_int_equal(chunk->session, 7);
    assert_int_equal(chunk->stream, 3);
    assert_int_equal(chunk->bytes, 28);
    assert_memory_equal(chunk->payload,
                        "\x0c\0\0\0\x10\0\0\x09"
                        "idle\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
                        28);
    chunk = chunks_next(&scene.chunks, CHUNK_NAMES, &from);
    assert_memory_equal(chunk->payload + 16, "\x12\0\x01\x09receiver", 12);
    chunk = chunks_next(&scene.chunks, CHUNK_NAMES, &from);
    assert_memory_equal(chunk->payload, "\x0c\0\0\0\0\0\0\0", 8);
    assert_null(chunks_next(&scene.chunks, CHUNK_NAMES, &from));
    leave(&scene);
    /* A table that is not in the memory costs the names alone. */
    begin(&scene);
    TARGET_PUT(&scene.target, names, TARGET_BASE + SIZE - 20);
    TARGET_PUT(&scene.target, name_count, 2);
    TARGET_PUT(&scene.target, name_bytes, 12);
    open_reader(&scene);
    assert_int_equal(memory_find(&scene.reader, 1), MEMORY_ATTACHED);
    end(&scene);
    from = 0;
    assert_null(chunks_next(&scene.chunks, CHUNK_NAMES, &from));
    leave(&scene);
}

static void sends_commands(void **state)
{
    static struct scene scene;
    const unsigned char *commands;

    (void)state;
    begin(&scene);
    commands = scene.target.bytes + BLOCK + 256;
    open_reader(&scene);
    assert_false(memory_command(&scene.reader, TARE_COMMAND_STOP, 0)); /* nobody there yet */
    memory_find(&scene.reader, 1);
    assert_true(memory_command(&scene.reader, TARE_COMMAND_FILTER, 0x80000005));
    /* C5 ^ 03 ^ 05 ^ 80 = 43 */
    assert_memory_equal(commands, "\xC5\x03\x00\x43\x05\x00\x00\x80", 8);
    assert_int_equal(TARGET_GET(&scene.target, down.write_offset), 8);
    /* 7 bytes are free in a buffer of 16: not the half of one. */
    assert_false(memory_command(&scene.reader, TARE_COMMAND_NAMES, 0));
    assert_int_equal(TARGET_GET(&scene.target, down.write_offset), 8);
    TARGET_PUT(&scene.target, down.read_offset, 4);
    TARGET_PUT(&scene.target, down.write_offset, 12);
    TARGET_PUT(&scene.target, down.read_offset, 12);
    assert_true(memory_command(&scene.reader, TARE_COMMAND_NAMES, 0));
    assert_memory_equal(commands + 12, "\xC5\x04\x00\xC1", 4); /* goes round the end */
    assert_memory_equal(commands, "\0\0\0\0", 4);
    assert_int_equal(TARGET_GET(&scene.target, down.write_offset), 4);
    end(&scene);
    leave(&scene);
}

/* A ring whose up channel lies in another control block: its offsets count, the ring's own do not.
 */
static void uses_another_channel(void **state)
{
    static struct scene scene;
    const uint32_t channel = 0x2000;

    (void)state;
    begin(&scene);
    for (int i = 0; i < 10; i++)
        target_record(&scene.target, 2);
    target_name(&scene.target, "TARE ring");
    for (uint32_t i = 0; i < 24; i += 4) {
        uint32_t word = target_get(&scene.target, BLOCK + AT(up) + i);

        target_put(&scene.target, channel + i, word);
        target_put(&scene.target, BLOCK + AT(up) + i, 0);
    }
    TARGET_PUT(&scene.target, channel, TARGET_BASE + channel);
    open_reader(&scene);
    assert_int_equal(memory_drain(&scene.reader, ALL, 1), 4 * 26);
    assert_int_equal(target_get(&scene.target, channel + 16), 4 * 26);
    assert_int_equal(TARGET_GET(&scene.target, up.read_offset), 0);
    end(&scene);
    assert_int_equal(check_words(&scene, 7, 0), 26);
    leave(&scene);
}

/* What could not be kept is not taken from the target. */
static void takes_nothing_when_the_disk_is_full(void **state)
{
    static struct scene scene;
    struct error error = {0};

    (void)state;
    begin(&scene);
    assert_true(container_close(&scene.container, &error));
    assert_true(container_create(&scene.container, "out.tare", 0, &error));
    assert_int_equal(close(scene.container.file), 0);
    scene.container.file = open("/dev/full", O_WRONLY);
    target_record(&scene.target, 2);
    open_reader(&scene);
    memory_drain(&scene.reader, ALL, 1); /* the RING chunk already fails */
    target_record(&scene.target, 2);
    memory_drain(&scene.reader, ALL, 2);
    assert_int_equal(TARGET_GET(&scene.target, up.read_offset), 0);
    memory_end(&scene.reader);
    memory_close(&scene.reader);
    assert_false(container_close(&scene.container, &error));
    target_unmap(&scene.target);
}

static void says_when_it_is_finished(void **state)
{
    static struct scene scene;

    (void)state;
    begin(&scene);
    open_reader(&scene);
    assert_false(memory_finished(&scene.reader));
    records_some(&scene, 5, 1);
    assert_false(memory_finished(&scene.reader));
    target_record(&scene.target, 2);
    TARGET_PUT(&scene.target, state, TARE_RING_CLOSED);
    memory_drain(&scene.reader, 4, 2);
    assert_false(memory_finished(&scene.reader));
    memory_drain(&scene.reader, ALL, 3);
    assert_true(memory_finished(&scene.reader));
    end(&scene);
    leave(&scene);
}

static void reads_an_image_without_a_change(void **state)
{
    static struct scene scene;
    static unsigned char before[SIZE];

    (void)state;
    begin(&scene);
    for (int i = 0; i < 10; i++)
        target_record(&scene.target, 2);
    memcpy(before, scene.target.bytes, SIZE);
    scene.options.read_only = true;
    open_reader(&scene);
    assert_int_equal(memory_drain(&scene.reader, ALL, 1), 4 * 26);
    assert_int_equal(memory_drain(&scene.reader, ALL, 2), 0);
    end(&scene);
    assert_memory_equal(before, scene.target.bytes, SIZE);
    assert_int_equal(check_words(&scene, 7, 0), 26);
    leave(&scene);
}

/* Whatever a control block says: nothing outside of the memory is touched (as the sanitizers see),
 * and inside of it the read offset alone. */
static void survives_any_block(void **state)
{
    static struct scene scene;
    static unsigned char before[SIZE];
    unsigned seed = 11;
    int attached = 0;

    (void)state;
    for (int round = 0; round < 3000; round++) {
        begin(&scene);
        if (round % 2 == 0)
            target_overwrites(&scene.target);
        TARGET_PUT(&scene.target, names, TARGET_BASE + 0x3000);
        TARGET_PUT(&scene.target, name_count, 5);
        TARGET_PUT(&scene.target, name_bytes, 24);
        while (target_fill(&scene.target) < 3000)
            target_record(&scene.target, 2);
        scene.options.base_given = round % 3 != 0;
        open_reader(&scene);
        if (rand_r(&seed) % 2 == 0)
            memory_drain(&scene.reader, (uint64_t)rand_r(&seed) % 2000, 1);
        for (int n = rand_r(&seed) % 4; n > 0; n--) {
            uint32_t field = (uint32_t)rand_r(&seed) % 60 * 4;
            uint32_t value = (uint32_t)rand_r(&seed) << (uint32_t)rand_r(&seed) % 32;

            if (rand_r(&seed) % 2 == 0)
                value = target_get(&scene.target, BLOCK + field) ^ 1u << rand_r(&seed) % 32;
            target_put(&scene.target, BLOCK + field, value);
        }
        memcpy(before, scene.target.bytes, SIZE);
        attached += memory_find(&scene.reader, SECOND) == MEMORY_ATTACHED;
        memory_drain(&scene.reader, ALL, SECOND);
        memory_drain(&scene.reader, ALL, 3 * SECOND);
        memcpy(before + BLOCK + AT(up.read_offset), scene.target.bytes + BLOCK + AT(up.read_offset),
               4);
        assert_memory_equal(before, scene.target.bytes, SIZE);
        end(&scene);
        leave(&scene);
    }
    assert_true(attached > 500 && attached < 2900);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_is_there),
        cmocka_unit_test(keeps_to_the_limit),
        cmocka_unit_test(attaches_late),
        cmocka_unit_test(any_alignment_and_order),
        cmocka_unit_test(refuses_with_field_and_value),
        cmocka_unit_test(waits_for_what_is_unfinished),
        cmocka_unit_test(refuses_doubles),
        cmocka_unit_test(reads_all_cores),
        cmocka_unit_test(writes_names_when_they_change),
        cmocka_unit_test(sends_commands),
        cmocka_unit_test(uses_another_channel),
        cmocka_unit_test(takes_nothing_when_the_disk_is_full),
        cmocka_unit_test(says_when_it_is_finished),
        cmocka_unit_test(reads_an_image_without_a_change),
        cmocka_unit_test(survives_any_block),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
