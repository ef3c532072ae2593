#!/bin/sh
# A recording of the telemetry gateway agrees, to the event, with what the gateway counted itself. Read
# with the reference decoder, so that neither side of the comparison is the host program's decoder.
# ctest: timeout=90 labels=thread
set -eu

programs=$BUILD/cost/workloads/gateway
if [ ! -x "$programs/gateway_tare" ]; then
    echo "skipped: this build has no gateway_tare"
    exit 77
fi
"$programs/gateway_run" --seconds 2 --warm-up 1 -- \
    "$TARE" record -q -o run.tare -- "$programs/gateway_tare" >run.json
python3 "$SOURCE/spec/reference_decoder.py" run.tare >run.txt

# Both inputs become lines "NAME COUNT"; numbers of events are found by the names that DEFINE gave.
tr '{},' '\n\n\n' <run.json | sed -n 's/^"\(whole_run_[a-z_]*\)":\([0-9]*\)$/\1 \2/p' >counted.txt
awk '
function fail(text) { print "FAILED: " text; bad++ }
function expect(what, is, should) {
    if (is + 0 != should + 0) fail(what ": " is + 0 " in the recording, " should + 0 " counted")
    else print "ok: " what ": " is + 0
}
FILENAME == "counted.txt" { counted[substr($1, 11)] = $2; next }
$1 == "define" {
    split($0, quoted, "\"")
    split(quoted[2], parts, "|")
    # Both ends of a span carry its name; the class (4 begin, 5 end) tells them apart.
    name[$5] = parts[1] ($3 == 4 ? " begin" : $3 == 5 ? " end" : "")
    if ($3 == 8) thread[parts[1]]++
    next
}
$1 == "fault" || $1 == "gap" { faults++ }
$1 == "total" && $2 > 0 { stored += $4; lost += $6 + $8 + $10; next }
$1 == "event" {
    events++
    is = name[$4]
    argument = $5 + 0
    seen[is]++
    of[is, argument]++
    if (is == "thread state") {
        if (($2 in state) && (state[$2] != 0) == (argument != 0) && bad < 10)
            fail("stream " $2 " goes from state " state[$2] " to " argument)
        state[$2] = argument
    }
    if (is ~ /^timer expiry/) {
        due = sprintf("%08X", expiry[is]++)
        if ($5 != due && bad < 10) fail(is " has number " $5 " where " due " is due")
    }
    next
}
END {
    dropped = counted["blocks_without_free_block"]
    queued = counted["blocks_received"] - dropped
    expect("queue send, free", of["queue send", 0], 16 + counted["blocks_processed"])
    expect("queue send, pending", of["queue send", 1], queued)
    expect("queue receive, free", of["queue receive", 0], queued)
    expect("queue receive, pending", of["queue receive", 1], counted["blocks_processed"])
    expect("queue receive failed, free", of["queue receive failed", 0], dropped)
    expect("queue send failed", seen["queue send failed"], counted["blocks_refused_by_queue"])
    expect("mutex take", seen["mutex take"], counted["blocks_processed"] + counted["commands_applied"])
    expect("mutex give", seen["mutex give"], seen["mutex take"])
    expect("timer expiry begin", seen["timer expiry begin"], counted["timer_expiries"])
    expect("timer expiry end", seen["timer expiry end"], counted["timer_expiries"])
    expect("waits for the queue", of["thread state", 1], seen["queue block"])
    expect("waits for the mutex", of["thread state", 2], seen["mutex block"])
    expect("waits for the timer", of["thread state", 4], counted["timer_expiries"])
    expect("events lost", lost, 0)
    expect("events stored", events, stored)
    expect("faults and gaps", faults, 0)
    split("main process receive command timer", wanted, " ")
    for (i = 1; i <= 5; i++) expect("thread " wanted[i], thread[wanted[i]], 1)
    if (counted["blocks_processed"] == 0) fail("the gateway processed no block")
    if (events == 0) fail("the recording holds no event")
    exit bad > 0
}' counted.txt run.txt
