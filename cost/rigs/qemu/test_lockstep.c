/* Frames and accounts of the lock-step rig, against bytes and sums that were worked out apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base_buffer.h"
#include "lockstep_account.h"
#include "lockstep_frames.h"

/* "tare!" from 10.0.2.2:40000 to 10.0.2.15:5000, by a few lines of Python with struct. */
static const uint8_t datagram[60] = {
    /* Ethernet */ 0x52,
    0x54,
    0x00,
    0x12,
    0x34,
    0x56,
    0x52,
    0x55,
    0x0a,
    0x00,
    0x02,
    0x02,
    0x08,
    0,
    /* IP */ 0x45,
    0x00,
    0x00,
    0x21,
    0x00,
    0x00,
    0x00,
    0x00,
    0x40,
    0x11,
    0x62,
    0xbc,
    0x0a,
    0x00,
    0x02,
    0x02,
    0x0a,
    0x00,
    0x02,
    0x0f,
    /* UDP */ 0x9c,
    0x40,
    0x13,
    0x88,
    0x00,
    0x0d,
    0x30,
    0x34,
    't',
    'a',
    'r',
    'e',
    '!'};

static void makes_datagrams(void **state)
{
    struct frame frame;
    (void)state;
    frame_udp(&frame, 40000, 5000, "tare!", 5);
    assert_int_equal(frame.size, sizeof datagram);
    assert_memory_equal(frame.bytes, datagram, sizeof datagram);
}

/* The same datagram on its way back. */
static struct frame from_board(void)
{
    struct frame frame = {.size = sizeof datagram};
    memcpy(frame.bytes, datagram, sizeof datagram);
    frame.bytes[29] = 15; /* the addresses change places: the sums stay */
    frame.bytes[33] = 2;
    return frame;
}

static void reads_datagrams(void **state)
{
    struct frame frame = from_board();
    struct frame_content content = frame_read(&frame);
    (void)state;
    assert_int_equal(content.kind, FRAME_UDP);
    assert_int_equal(content.from_port, 40000);
    assert_int_equal(content.to_port, 5000);
    assert_int_equal(content.size, 5);
    assert_memory_equal(content.payload, "tare!", 5);

    /* Any bit of the headers or of the payload that turns is noticed, or it is another's frame. */
    for (size_t at = 14; at < 47; at++) {
        for (int bit = 0; bit < 8; bit++) {
            frame = from_board();
            frame.bytes[at] ^= (uint8_t)(1u << bit);
            assert_int_not_equal(frame_read(&frame).kind, FRAME_UDP);
        }
    }
    /* No length is believed. */
    for (size_t size = 0; size < 47; size++) {
        frame = from_board();
        frame.size = size;
        assert_int_not_equal(frame_read(&frame).kind, FRAME_UDP);
    }
}

static void asks_and_answers(void **state)
{
    static const uint8_t request[42] = {
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x52, 0x54, 0x00, 0x12, 0x34, 0x56, 0x08, 0x06,
        0x00, 0x01, 0x08, 0x00, 0x06, 0x04, 0x00, 0x01, 0x52, 0x54, 0x00, 0x12, 0x34, 0x56,
        10,   0,    2,    15,   0,    0,    0,    0,    0,    0,    10,   0,    2,    2};
    static const uint8_t answer[42] = {
        0x52, 0x54, 0x00, 0x12, 0x34, 0x56, 0x52, 0x55, 0x0a, 0x00, 0x02, 0x02, 0x08, 0x06,
        0x00, 0x01, 0x08, 0x00, 0x06, 0x04, 0x00, 0x02, 0x52, 0x55, 0x0a, 0x00, 0x02, 0x02,
        10,   0,    2,    2,    0x52, 0x54, 0x00, 0x12, 0x34, 0x56, 10,   0,    2,    15};
    struct frame frame = {.size = 60}, made;
    (void)state;
    memcpy(frame.bytes, request, sizeof request);
    assert_int_equal(frame_read(&frame).kind, FRAME_REQUEST);
    frame_answer(&made, &frame);
    assert_int_equal(made.size, 60);
    assert_memory_equal(made.bytes, answer, sizeof answer);

    frame.bytes[41] = 3; /* somebody else's address */
    assert_int_equal(frame_read(&frame).kind, FRAME_OTHER);

    frame_question(&made);
    assert_int_equal(made.bytes[21], 1);
    assert_memory_equal(made.bytes + 38, ((const uint8_t[]){10, 0, 2, 15}), 4);
}

/* 100 blocks, 10 commands and an ARP question went into the controller: 111 frames. It lost 2, the
 * driver 3, the sockets 4: 101 datagrams arrived, 92 blocks and 9 commands. 5 blocks found no free
 * one, 87 were replied to. */
static bool balance(const char *changes, char *text, size_t size)
{
    struct gateway_ledger ledger = {.blocks_sent = 100, .commands_sent = 10, .replies = 87};
    struct buffer out = {0};
    struct error error = {0};
    json_t *firmware = json_pack(
        "{s:i,s:i,s:i,s:i,s:i,s:i,s:i,s:i}", "whole_run_nic_frames_received", 106,
        "whole_run_nic_frames_without_buffer", 3, "whole_run_socket_drops", 4,
        "whole_run_blocks_received", 92, "whole_run_blocks_without_free_block", 5,
        "whole_run_commands_applied", 9, "whole_run_reply_errors", 0, "whole_run_replies_sent", 87);
    json_t *changed = json_loads(changes, 0, NULL);
    assert_non_null(firmware);
    assert_int_equal(json_object_update(firmware, changed), 0);
    struct json json = json_begin(&out, 0);
    json_put_object(&json, NULL);
    bool good = account_write(&json, firmware, &ledger, 111, 0, &error);
    json_end_object(&json);
    snprintf(text, size, "%s", good ? out.data : error.text);
    buffer_free(&out);
    json_decref(firmware);
    json_decref(changed);
    return good;
}

static void accounts(void **state)
{
    static const char *const faults[][2] = {
        {"{\"whole_run_nic_frames_received\": 105}", "drops in the network controller"},
        {"{\"whole_run_socket_drops\": 5}", "drops in the network controller"},
        {"{\"whole_run_commands_applied\": 8}", "drops in the network controller"},
        {"{\"whole_run_blocks_without_free_block\": 6}", "without a free block"},
        {"{\"whole_run_reply_errors\": 1}", "without a free block"},
        {"{\"whole_run_replies_sent\": 88, \"whole_run_blocks_without_free_block\": 4}",
         "different replies that came are 87"}};
    char text[2000];
    (void)state;
    assert_true(balance("{}", text, sizeof text));
    assert_string_equal(text, "{\"whole_run_frames_lost_in_controller\":2,"
                              "\"whole_run_datagrams_lost_before_application\":9,"
                              "\"whole_run_replies_lost_on_the_way\":0}");
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        assert_false(balance(faults[i][0], text, sizeof text));
        assert_non_null(strstr(text, faults[i][1]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_datagrams), cmocka_unit_test(reads_datagrams),
        cmocka_unit_test(asks_and_answers), cmocka_unit_test(accounts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
