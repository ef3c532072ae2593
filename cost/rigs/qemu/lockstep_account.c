#include "lockstep_account.h"

#include <inttypes.h>

/* Counts of what the board's own driver and stack dropped; a firmware prints those that it has. */
static const char *const drops[] = {
    "whole_run_nic_frames_damaged", "whole_run_nic_frames_without_buffer",
    "whole_run_nic_frames_refused", "whole_run_socket_drops", "whole_run_udp_datagrams_dropped"};
#define DROPS_OF_DRIVER 3 /* the first so many are of frames, the others of datagrams */

static int64_t count_of(json_t *firmware, const char *key)
{
    return json_integer_value(json_object_get(firmware, key));
}

static void expect(const char *what, int64_t one, const char *is, int64_t other,
                   struct error *error)
{
    if (one != other)
        error_set(error, EXIT_CANNOT_TELL,
                  "the run does not add up: %s are %" PRId64 ", %s are %" PRId64, what, one, is,
                  other);
}

bool account_write(struct json *json, json_t *firmware, const struct gateway_ledger *ledger,
                   uint64_t frames_sent, uint32_t lost_ends, struct error *error)
{
    int64_t dropped[2] = {0, 0}, in_controller = 0;
    for (size_t i = 0; i < sizeof drops / sizeof drops[0]; i++)
        dropped[i >= DROPS_OF_DRIVER] += count_of(firmware, drops[i]);
    if (json_object_get(firmware, "whole_run_nic_frames_received"))
        in_controller =
            (int64_t)frames_sent - count_of(firmware, "whole_run_nic_frames_received") - dropped[0];
    int64_t received = count_of(firmware, "whole_run_blocks_received");
    int64_t without_block = count_of(firmware, "whole_run_blocks_without_free_block");
    int64_t refused = count_of(firmware, "whole_run_blocks_refused_by_queue");
    int64_t errors = count_of(firmware, "whole_run_reply_errors");
    int64_t replied = count_of(firmware, "whole_run_replies_sent");
    int64_t commands = count_of(firmware, "whole_run_commands_applied") +
                       count_of(firmware, "whole_run_commands_refused");
    int64_t sent = (int64_t)ledger->blocks_sent + ledger->commands_sent + lost_ends;
    int64_t lost = sent - received - commands;

    json_put_integer(json, "whole_run_frames_lost_in_controller", in_controller);
    json_put_integer(json, "whole_run_datagrams_lost_before_application", lost);
    json_put_integer(json, "whole_run_replies_lost_on_the_way", replied - (int64_t)ledger->replies);
    expect("blocks that the gateway received", received,
           "those without a free block, refused, replied to and failed",
           without_block + refused + replied + errors, error);
    expect("replies that the gateway sent", replied, "different replies that came",
           (int64_t)ledger->replies, error);
    expect("blocks and commands that the gateway did not receive", lost,
           "drops in the network controller, its driver and the stack",
           in_controller + dropped[0] + dropped[1], error);
    return error->code == EXIT_DONE;
}
