#!/bin/sh
# The lock-step rig: a run repeats to the byte, another seed does not; a probe that is too slow costs
# events, which the target counts and the reader misses to the event, and no reply; what does not add
# up, does not stop or cannot start is said.
# ctest: timeout=150 labels=plain
set -eu
lockstep=$BUILD/cost/rigs/lockstep
for tool in "$lockstep" qemu-system-arm arm-none-eabi-gcc; do
    command -v "$tool" >/dev/null || {
        echo "skipped: no $tool"
        exit 77
    }
done

fail() {
    echo "FAILED: $*"
    exit 1
}

# build NAME [OPTION...]
build() {
    name=$1
    shift
    "$SOURCE/cost/rigs/qemu/build_mps2.sh" "$name.elf" "$SOURCE/tests/pipe/lockstep_firmware.c" \
        -std=gnu11 -I"$SOURCE/tests/pipe" -I"$SOURCE/cost/workloads/gateway" \
        -DTARE_CONF_FILE='"lockstep_firmware_conf.h"' "$@"
}

# value KEY FILE: a number of a report
value() {
    sed -n "s/.*\"$1\": \{0,1\}\"\{0,1\}\([^,\"}]*\).*/\1/p" "$2" | head -n 1
}

# same WHAT ONE OTHER
same() {
    [ "$2" = "$3" ] || fail "$1: $2 and $3"
    echo "ok: $1: $2"
}

# run NAME FIRMWARE [OPTION...]: NAME.json, NAME.tare
run() {
    name=$1
    firmware=$2
    shift 2
    "$lockstep" "$firmware.elf" 'recorder=tare_*' idle=gateway_idle -q --limit 60 --warm-up 0 \
        --record "$name.tare" "$@" >"$name.json"
}

# refused STATUS TEXT COMMAND...
refused() {
    wanted=$1
    text=$2
    shift 2
    status=0
    sh -c 'echo $$ >process; exec "$@"' sh "$@" 2>message || status=$?
    [ "$status" -eq "$wanted" ] || fail "status $status, not $wanted, of: $*: $(cat message)"
    grep -q "$text" message || fail "no '$text' in the message of $*: $(cat message)"
    for folder in /dev/shm /tmp; do
        left=$(find "$folder" -maxdepth 1 -name "tare-board-$(cat process)-*")
        [ -z "$left" ] || fail "$* left $left behind"
    done
    echo "ok: refused with $wanted: $text"
}

build gateway
run first gateway --seconds 2 --seed 1
run second gateway --seconds 2 --seed 1
run other gateway --seconds 2 --seed 2
cmp first.json second.json || fail "two runs of one seed differ in their reports"
cmp first.tare second.tare || fail "two runs of one seed differ in their recordings"
[ "$(value replies_xxh64 first.json)" != "$(value replies_xxh64 other.json)" ] ||
    fail "another seed changes nothing"
echo "ok: replies $(value replies_xxh64 first.json), recording $(value recording_xxh64 first.json)"

same "replies" 1500 "$(value whole_run_replies_unique first.json)"
same "wrong replies" 0 "$(value whole_run_replies_wrong first.json)"
"$TARE" check --strict --json first.tare >first.check || fail "first.tare is not complete"
same "events dropped" 0 "$(value events_dropped first.json)"
"$TARE" dump first.tare >first.dump
same "replies in the recording" 1500 "$(grep -c 'reply out' first.dump)"
same "frames in the recording" "$(value whole_run_nic_frames_received first.json)" \
    "$(grep -c 'frame in' first.dump)"
[ "$(value window_instructions_recorder first.json)" -gt 0 ] || fail "no instructions of the recorder"

# slow NAME OPTION...: a probe that does not keep up
slow() {
    name=$1
    shift
    run "$name" gateway --seconds 1 --seed 1 "$@"
    "$TARE" check --json "$name.tare" >"$name.check"
    dropped=$(value events_dropped "$name.json")
    [ "$dropped" -gt 1000 ] || fail "only $dropped events were dropped: the limit did not bind"
    same "dropped by the target, missing for the reader ($*)" "$dropped" \
        "$(value lost_events "$name.check")"
    same "replies" "$(value whole_run_blocks_sent "$name.json")" \
        "$(value whole_run_replies_unique "$name.json")"
}
slow rate --probe-rate 100000
slow stop --probe-stop 64 --rate 2000

# More than the board can do: every block is a reply or a loss with a name, else the status were 3.
run flood gateway --seconds 1 --rate 4000 --shift 5
missing=$(value replies_missing flood.json)
[ "$missing" -gt 100 ] || fail "only $missing replies are missing: the flood was none"
same "losses of the flood" "$missing" "$(value whole_run_socket_drops flood.json)"

build forgets -DLOCKSTEP_FORGETS
build hangs -DLOCKSTEP_HANGS
refused 3 'does not add up' "$lockstep" forgets.elf --seconds 1
refused 3 'did not come to its next stop' "$lockstep" hangs.elf --limit 3
refused 3 'status 1' "$lockstep" gateway.elf --plugin "$SCRATCH/missing.so"
refused 2 'no function .nothing_of_this_name' "$lockstep" gateway.elf recorder=nothing_of_this_name
refused 2 'is no 32-bit ELF file for ARM' "$lockstep" "$TARE"
refused 2 'missing.elf' "$lockstep" missing.elf
