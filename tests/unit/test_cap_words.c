/* Raw words of an RTT server: what goes into the file, and where; what is stale stays out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cap_words.h"
#include "target_memory.h"

#define SIZE 65536u
#define RING 4096u
#define LATER ((uint64_t)2 * WORDS_CHUNK_NS)

struct scene {
    struct target target;
    struct words_input input;
    struct container container;
    struct chunks chunks;
    struct error error;
};

static void begin(struct scene *scene)
{
    memset(scene, 0, sizeof(*scene));
    target_map(&scene->target, "ram", SIZE, 0);
    target_begin(&scene->target, 0x100, 0x1000, RING, 7, 3);
    assert_true(container_create(&scene->container, "out.tare", 0, &scene->error));
    words_begin(&scene->input, &scene->container);
}

static void end(struct scene *scene)
{
    words_end(&scene->input);
    assert_true(container_close(&scene->container, &scene->error));
    chunks_read(&scene->chunks, "out.tare");
}

static void leave(struct scene *scene)
{
    buffer_free(&scene->chunks.file);
    target_unmap(&scene->target);
}

static void records(struct scene *scene, uint32_t words)
{
    while (scene->target.written < words)
        target_record(&scene->target, 2);
}

/* The ring's bytes from..to, as an RTT server would send them. */
static void send(struct scene *scene, uint32_t from, uint32_t to, uint64_t now_ns)
{
    words_take(&scene->input, scene->target.bytes + 0x1000 + from, to - from, now_ns);
}

/* The words of a session, whose chunks join; -1: there is a hole. */
static int joined(const struct scene *scene, uint32_t session, uint64_t begins)
{
    struct buffer words = {0};
    const struct chunk *chunk;
    size_t from = 0;
    bool join = true;
    uint32_t count;

    while ((chunk = chunks_next(&scene->chunks, CHUNK_STREAM, &from)) != NULL) {
        if (chunk->session != session)
            continue;
        join = join && chunk->position == begins + words.size / 4;
        buffer_append(&words, chunk->payload, chunk->bytes);
    }
    count = (uint32_t)(words.size / 4);
    join = join && words_are_right((const unsigned char *)words.data, count, begins, &scene->target,
                                   session);
    buffer_free(&words);
    return join ? (int)count : -1;
}

static void takes_any_pieces(void **state)
{
    static struct scene scene;
    unsigned seed = 1;

    (void)state;
    for (int big = 0; big < 2; big++) {
        begin(&scene);
        scene.target.big_endian = big != 0;
        target_begin(&scene.target, 0x100, 0x1000, RING, 7, 3);
        records(&scene, 1000);
        words_take(&scene.input, "noise\xA6\xF7\xFF", 8, 1); /* the head of a sync word at most */
        for (uint32_t at = 0, next; at < scene.target.write; at = next) {
            next = at + 1 + (uint32_t)rand_r(&seed) % 40;
            if (next > scene.target.write)
                next = scene.target.write;
            send(&scene, at, next, at);
        }
        end(&scene);
        assert_int_equal(scene.input.skipped_bytes, 8);
        assert_int_equal(scene.input.stale_bytes, 0);
        assert_int_equal(scene.input.gap_words, 0);
        assert_int_equal(scene.input.words, scene.target.written);
        assert_int_equal(joined(&scene, 7, 0), scene.target.written);
        leave(&scene);
    }
}

/* From the middle of block 2 on, and with block 5 lost on the way: positions say so. */
static void keeps_positions(void **state)
{
    static struct scene scene;
    const struct chunk *chunk;
    size_t from = 0;

    (void)state;
    begin(&scene);
    records(&scene, 640);
    send(&scene, 2 * 256 + 100, 5 * 256, 1);
    send(&scene, 6 * 256, 10 * 256, 2);
    end(&scene);
    assert_int_equal(scene.input.skipped_bytes, 156);
    assert_int_equal(scene.input.gap_words, 64);
    chunk = chunks_next(&scene.chunks, CHUNK_STREAM, &from);
    assert_int_equal(chunk->position, 3 * 64);
    assert_int_equal(chunk->bytes, 2 * 256);
    chunk = chunks_next(&scene.chunks, CHUNK_STREAM, &from);
    assert_int_equal(chunk->position, 6 * 64);
    assert_int_equal(chunk->bytes, 4 * 256);
    assert_null(chunks_next(&scene.chunks, CHUNK_STREAM, &from));
    leave(&scene);
    /* Three bytes are lost within block 1: what came of it is kept as it came, whole words. */
    begin(&scene);
    records(&scene, 256);
    send(&scene, 0, 300, 1);
    send(&scene, 303, 1024, 2);
    end(&scene);
    assert_int_equal(scene.input.gap_words, 1);
    assert_int_equal(scene.input.skipped_bytes, 1);
    from = 0;
    chunk = chunks_next(&scene.chunks, CHUNK_STREAM, &from);
    assert_int_equal(chunk->bytes, 512 - 4);
    assert_memory_equal(chunk->payload + 300, scene.target.bytes + 0x1000 + 303, 208);
    chunk = chunks_next(&scene.chunks, CHUNK_STREAM, &from);
    assert_int_equal(chunk->position, 128);
    leave(&scene);
}

/* What OpenOCD does when a reset meets a poll: it read up to word 500 of the first session (block
 * 7, 52 words of it), and after the reset it gives the ring from there to its end, which is old,
 * and then the new session. */
static void refuses_stale_bytes(void **state)
{
    static struct scene scene;
    uint32_t first;

    (void)state;
    for (int quiet = 0; quiet < 2; quiet++) {
        begin(&scene);
        records(&scene, 1024 + 6 + 2 * 23); /* a lap, an anchor and 23 records */
        first = scene.target.written;
        target_put(&scene.target, 0x1000 + scene.target.write - 8, 0x81000000u | 9);
        send(&scene, 256, RING, 1); /* that the first lap lacks a block here is no matter */
        send(&scene, 0, scene.target.write, 2);
        if (quiet)
            words_flush(&scene.input, LATER); /* what stood there before the reset is sure */
        /* Nothing is unread. What lies behind is of the lap before, as its stamps tell. */
        target_put(&scene.target, 0x1000 + scene.target.write, 0x81000000u | 5);
        send(&scene, scene.target.write, RING, LATER + 1);
        assert_int_equal(scene.input.stale_bytes + scene.input.pending.size, RING - 4 * 52);
        target_begin(&scene.target, 0x100, 0x1000, RING, 8, 3);
        records(&scene, 200);
        send(&scene, 0, scene.target.write, LATER + 2);
        /* An old block again, after the new session has begun. */
        send(&scene, 2048, RING, LATER + 3);
        end(&scene);
        assert_int_equal(scene.input.restarts, 1);
        assert_int_equal(scene.input.stale_bytes, RING - 4 * 52 + 2048);
        assert_int_equal(joined(&scene, 7, 64), first - 64);
        assert_int_equal(joined(&scene, 8, 0), scene.target.written);
        leave(&scene);
    }
}

/* The same where the start-up code has cleared the ring, while it was read: block 1 has been read
 * up to its word 16, and a reset has cleared what follows, beginning with the argument of a record.
 */
static void refuses_cleared_words(void **state)
{
    static struct scene scene;
    static const unsigned char zeros[RING];

    (void)state;
    begin(&scene);
    records(&scene, 64 + 30);
    send(&scene, 0, 256 + 4 * 16, 1);
    send(&scene, 256 + 4 * 16, 256 + 4 * 21, 2); /* two records, and the head of a third */
    words_take(&scene.input, zeros, RING - 256 - 4 * 21, 3);
    target_begin(&scene.target, 0x100, 0x1000, RING, 8, 3);
    records(&scene, 100);
    send(&scene, 0, scene.target.write, 4);
    end(&scene);
    assert_int_equal(joined(&scene, 7, 0), 64 + 20);
    assert_int_equal(joined(&scene, 8, 0), scene.target.written);
    assert_int_equal(scene.input.stale_bytes + scene.input.skipped_bytes, RING - 256 - 4 * 20);
    leave(&scene);
}

/* Words that nobody had read when the target began anew are as good as any. */
static void keeps_unread_words(void **state)
{
    static struct scene scene;
    unsigned char later[256];
    uint32_t first;

    (void)state;
    begin(&scene);
    records(&scene, 64 * 6 + 64);
    memcpy(later, scene.target.bytes + 0x1000 + (size_t)6 * 256, 256);
    target_begin(&scene.target, 0x100, 0x1000, RING, 7, 3);
    records(&scene, 300);
    send(&scene, 0, 4 * 100, 1);
    first = scene.target.written;
    send(&scene, 4 * 100, 4 * first, 2);
    target_begin(&scene.target, 0x100, 0x1000, RING, 8, 3);
    records(&scene, 100);
    send(&scene, 0, scene.target.write, 3);
    words_take(&scene.input, later, 256, 4); /* but not behind the first words of the new session */
    end(&scene);
    assert_int_equal(scene.input.stale_bytes, 256);
    assert_int_equal(joined(&scene, 7, 0), first);
    assert_int_equal(joined(&scene, 8, 0), scene.target.written);
    leave(&scene);
}

static void notices_the_same_session_again(void **state)
{
    static struct scene scene;

    (void)state;
    begin(&scene);
    records(&scene, 500);
    send(&scene, 0, scene.target.write, 1);
    target_begin(&scene.target, 0x100, 0x1000, RING, 7, 3);
    records(&scene, 300);
    send(&scene, 0, scene.target.write, 2);
    end(&scene);
    assert_int_equal(scene.input.restarts, 1);
    assert_int_equal(scene.input.stale_bytes, 0);
    assert_true(scene.input.words >= 800);
    leave(&scene);
}

static void goes_on_behind_a_lost_connection(void **state)
{
    static struct scene scene;

    (void)state;
    begin(&scene);
    records(&scene, 640);
    send(&scene, 0, 1000, 1);
    words_cut(&scene.input);
    send(&scene, 1500, 2560, 2); /* into block 5, which ends at 1536 */
    end(&scene);
    assert_int_equal(scene.input.skipped_bytes, 36);
    assert_int_equal(scene.input.words, 250 + 256);
    assert_int_equal(scene.input.gap_words, 384 - 250);
    leave(&scene);
}

static void sees_the_end(void **state)
{
    static struct scene scene;
    const unsigned char record[12] = {0, 0, 0x90, 0xC0};

    (void)state;
    begin(&scene);
    records(&scene, 100);
    send(&scene, 0, scene.target.write, 1);
    words_flush(&scene.input, LATER);
    assert_false(words_ended(&scene.input));
    words_take(&scene.input, record, 12, LATER);
    words_flush(&scene.input, 2 * LATER);
    assert_true(words_ended(&scene.input));
    end(&scene);
    assert_int_equal(scene.input.words, scene.target.written + 3);
    leave(&scene);
}

/* Each of these behind an anchor at time 0x300005 (high part 3) and one good record. */
static void knows_what_can_follow(void **state)
{
    static const struct {
        uint32_t words[4];
        size_t sound; /* words of them */
    } cases[] = {
        {{0x01000007, 0x01000007, 0x81000008, 1}, 4}, /* equal stamps are right */
        {{0x01000005, 0x01000007, 0, 0}, 0},          /* the clock goes back */
        {{0x80000002, 0x00030004, 0x01000003, 0}, 3}, /* an epoch explains it */
        {{0x80000002, 0x00020004, 0x01000003, 0}, 0}, /* not one from another part */
        {{0x80000002, 0x00030003, 0x01000003, 0}, 0}, /* or into the same */
        {{0xC0000002, 0x00500002, 0, 0x80000001}, 3}, /* wide: high part 5, one word is left */
        {{0xC0000002, 0x00500003, 0, 0}, 0},          /* with another stamp */
        {{0, 0x01000007, 0, 0}, 0},                   /* no filler in the middle */
        {{0x81000007, 7, 0, 0}, 2},                   /* cleared behind a whole record ... */
        {{0xC1000007, 7, 0, 0}, 0},                   /* ... or maybe from within it on */
        {{0x01000007, 0, 0, 0}, 1},                   /* which one word cannot be */
        {{0x00000007, 0, 0, 0}, 0},                   /* id 0 with a stamp */
        {{0xFFF7A600, 0, 0, 0}, 0},                   /* an anchor that is none */
        {{0xC1000007, 1, 2, 0x81000007}, 3},          /* the last one is not whole */
    };
    unsigned char bytes[4 * 64];
    bool ended;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t words[TARE_ANCHOR_WORDS + 1 + 4] = {0, 0, 0, 0x00300005, 0, 0, 0x01000006};

        memcpy(words + TARE_ANCHOR_WORDS + 1, cases[i].words, 16);
        for (size_t n = 0; n < TARE_ANCHOR_WORDS + 5; n++)
            put_little(bytes + 4 * n, words[n], 4);
        assert_int_equal(
            words_sound(bytes, (size_t)4 * (TARE_ANCHOR_WORDS + 5), 64, false, false, &ended),
            4 * (TARE_ANCHOR_WORDS + 1 + cases[i].sound));
    }
    /* Filler at the very end, and no record across it. */
    memset(bytes, 0, sizeof(bytes));
    for (size_t n = TARE_ANCHOR_WORDS; n < 62; n++)
        put_little(bytes + 4 * n, 0x01000000, 4);
    assert_int_equal(words_sound(bytes, 256, 64, false, false, &ended), 256);
    put_little(bytes + (size_t)4 * 62, 0xC1000000, 4);
    assert_int_equal(words_sound(bytes, 256, 64, false, false, &ended), 4 * 62);
    /* The last record ends with a zero: good, unless something else follows. */
    put_little(bytes + (size_t)4 * 62, 0x81000000, 4);
    assert_int_equal(words_sound(bytes, 256, 64, false, false, &ended), 256);
    assert_int_equal(words_sound(bytes, 256, 64, false, true, &ended), 4 * 62);
    put_little(bytes + (size_t)4 * 63, 1, 4);
    assert_int_equal(words_sound(bytes, 256, 64, false, true, &ended), 256);
}

/* Whatever comes: each byte is accounted for, and in the file or left out. */
static void accounts_for_every_byte(void **state)
{
    static struct scene scene;
    static unsigned char bytes[8192];
    unsigned seed = 7;

    (void)state;
    for (int round = 0; round < 2000; round++) {
        uint64_t in_file = 0;
        const struct chunk *chunk;
        size_t from = 0, size = 0;

        begin(&scene);
        for (int session = 7; session < 9; session++) {
            target_begin(&scene.target, 0x100, 0x1000, RING, (uint32_t)session, 3);
            records(&scene, (uint32_t)rand_r(&seed) % 900);
            memcpy(bytes + size, scene.target.bytes + 0x1000, scene.target.write);
            size += scene.target.write;
        }
        for (int n = rand_r(&seed) % 6; n > 0 && size > 8; n--) {
            size_t at = (size_t)rand_r(&seed) % (size - 8), cut = (size_t)rand_r(&seed) % 8;

            if (rand_r(&seed) % 2 == 0)
                bytes[at] ^= (unsigned char)(1 << rand_r(&seed) % 8);
            else
                memmove(bytes + at, bytes + at + cut, (size -= cut) - at);
        }
        for (size_t at = 0, piece; at < size; at += piece) {
            piece = 1 + (size_t)rand_r(&seed) % 700;
            if (piece > size - at)
                piece = size - at;
            words_take(&scene.input, bytes + at, piece, at);
            if (rand_r(&seed) % 4 == 0)
                words_flush(&scene.input, at + LATER);
            if (rand_r(&seed) % 40 == 0)
                words_cut(&scene.input);
        }
        end(&scene);
        while ((chunk = chunks_next(&scene.chunks, CHUNK_STREAM, &from)) != NULL)
            in_file += chunk->bytes;
        assert_int_equal(in_file, 4 * scene.input.words);
        assert_int_equal(scene.input.bytes, size);
        assert_int_equal(in_file + scene.input.skipped_bytes + scene.input.stale_bytes, size);
        leave(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_any_pieces),
        cmocka_unit_test(keeps_positions),
        cmocka_unit_test(refuses_stale_bytes),
        cmocka_unit_test(refuses_cleared_words),
        cmocka_unit_test(keeps_unread_words),
        cmocka_unit_test(notices_the_same_session_again),
        cmocka_unit_test(goes_on_behind_a_lost_connection),
        cmocka_unit_test(sees_the_end),
        cmocka_unit_test(knows_what_can_follow),
        cmocka_unit_test(accounts_for_every_byte),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
