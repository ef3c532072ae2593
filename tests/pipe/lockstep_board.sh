#!/bin/sh
# The experiment of cost/rigs/board against an emulated board: Debian's OpenOCD finds the ring behind a
# JTAG model and serves it, tare records it over TCP, the load is real UDP. The link is slower than this
# firmware: what the target dropped is what the reader misses, to the event.
# ctest: timeout=120 labels=plain serial
set -eu
for tool in "$BUILD/cost/rigs/live" "$BUILD/cost/rigs/jtag_model" openocd qemu-system-arm \
    arm-none-eabi-gcc arm-none-eabi-nm; do
    command -v "$tool" >/dev/null || {
        echo "skipped: no $tool"
        exit 77
    }
done

fail() {
    echo "FAILED: $*"
    tail -n 20 runs/*.log 2>/dev/null || true
    exit 1
}

value() {
    sed -n "s/.*\"$1\": \{0,1\}\"\{0,1\}\([^,\"}]*\).*/\1/p" "$2" | head -n 1
}

"$SOURCE/cost/rigs/qemu/build_mps2.sh" gateway.elf "$SOURCE/tests/pipe/lockstep_firmware.c" \
    -std=gnu11 -I"$SOURCE/tests/pipe" -I"$SOURCE/cost/workloads/gateway" \
    -DTARE_CONF_FILE='"lockstep_firmware_conf.h"'
"$SOURCE/cost/rigs/board/board.sh" adapter_emulated.cfg gateway.elf --seconds 2 --warm-up 0 --rate 50 \
    --runs 1 --build "$BUILD" -o runs >out || fail "status $?"
cmp out runs/run-1.json || fail "what was printed is not what was kept"
[ "$(value replies_unique out)" -gt 0 ] || fail "nothing was answered"
[ "$(value whole_run_replies_wrong out)" = 0 ] || fail "wrong replies"
[ "$(value stored_events runs/run-1.check.json)" -gt 1000 ] || fail "hardly anything was recorded"
lost=$(value lost_events runs/run-1.check.json)
dropped=$(value events_dropped out)
[ "$lost" = "$dropped" ] || fail "$dropped events dropped by the target, $lost missing for the reader"
[ "$(value damaged runs/run-1.check.json)" = false ] || fail "the recording is damaged"
echo "ok: $(value replies_unique out) replies, $(value stored_events runs/run-1.check.json) events," \
    "$lost lost, counted by both sides"

status=0
"$SOURCE/cost/rigs/board/board.sh" adapter_emulated.cfg missing.elf 2>message || status=$?
[ $status -eq 2 ] || fail "status $status for a firmware that is not there"
