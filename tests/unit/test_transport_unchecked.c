/* recorder/transport with TARE_DATAGRAM_CRC 0: the third example of FORMAT.md, section 9. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/mman.h>

#define TARE_DATAGRAM_CRC 0
#include "transport/tare_transport.c" /* NOLINT(bugprone-suspicious-include) */

static struct tare_ring ring;

struct tare_ring *tare_ring_of_core(uint32_t core)
{
    (void)core;
    return &ring;
}

struct tare_channel *tare_channel_of_core(uint32_t core)
{
    (void)core;
    return &ring.up;
}

static void example(void **state)
{
    static const unsigned char datagram[] = {0x74, 0x44, 0x47, 0x4D, 0x01, 0x08, 0x07, 0x00,
                                             0x51, 0x5E, 0x01, 0x00, 0x06, 0x10, 0x00, 0x00,
                                             0x45, 0x23, 0x11, 0x80, 0x2A, 0x00, 0x00, 0x00};
    unsigned char made[TARE_DATAGRAM_MOST];
    uint32_t *words =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

    (void)state;
    assert_ptr_not_equal(words, MAP_FAILED);
    ring.up.buffer = (uint32_t)(uintptr_t)words;
    ring.up.bytes = 2048;
    ring.block_words = 256;
    ring.session = 0x5E51;
    ring.stream = 1;
    ring.up.read_offset = 24;
    ring.up.write_offset = 32;
    words[6] = 0x80112345u;
    words[7] = 42;
    tare_senders[0] = (struct tare_sender){7, 0x1006};
    assert_int_equal(tare_datagram_next(made, sizeof made), sizeof datagram);
    assert_memory_equal(made, datagram, sizeof datagram);
    assert_int_equal(tare_datagram_next(made, sizeof made), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
