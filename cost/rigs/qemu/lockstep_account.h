/* Whether a run adds up: every frame that was sent is a reply or a loss that has a name. */
#ifndef LOCKSTEP_ACCOUNT_H
#define LOCKSTEP_ACCOUNT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base_error.h"
#include "base_json.h"
#include "gateway_ledger.h"

/* `firmware` is what the firmware measured, `frames_sent` all frames that went into the network
 * controller, `lost_ends` how many of them were commands to end that did not end it. Writes the
 * losses that only both sides together show. False, with EXIT_CANNOT_TELL and the sum that does not
 * come out, when something is in no count. */
bool account_write(struct json *json, json_t *firmware, const struct gateway_ledger *ledger,
                   uint64_t frames_sent, uint32_t lost_ends, struct error *error);

#endif
