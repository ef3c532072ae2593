#!/bin/sh
# The live rig: the same firmware over real sockets, at the pace of this machine. Only what does not
# depend on how busy it is decides: every answer is right, and the recording is sound.
# ctest: timeout=120 labels=plain serial
set -eu
live=$BUILD/cost/rigs/live
for tool in "$live" qemu-system-arm arm-none-eabi-gcc; do
    command -v "$tool" >/dev/null || {
        echo "skipped: no $tool"
        exit 77
    }
done

fail() {
    echo "FAILED: $*"
    exit 1
}

value() {
    sed -n "s/.*\"$1\": \{0,1\}\"\{0,1\}\([^,\"}]*\).*/\1/p" "$2" | head -n 1
}

# Its network code drops nothing silently; a host that stalls may, and that is a loss with a name.
"$SOURCE/cost/rigs/qemu/build_mps2.sh" gateway.elf "$SOURCE/tests/pipe/lockstep_firmware.c" \
    -std=gnu11 -I"$SOURCE/tests/pipe" -I"$SOURCE/cost/workloads/gateway" \
    -DTARE_CONF_FILE='"lockstep_firmware_conf.h"' -DTARE_RING_BYTES=65536
status=0
"$live" gateway.elf --seconds 2 --warm-up 0 --rate 200 --record live.tare >live.json 2>message ||
    status=$?
cat message
if [ $status -eq 3 ] && grep -q 'too busy' message; then
    echo "skipped: this machine was too busy to tell"
    exit 77
fi
[ $status -eq 0 ] || fail "status $status"
[ "$(value replies_unique live.json)" -gt 0 ] || fail "nothing was answered"
[ "$(value whole_run_replies_wrong live.json)" = 0 ] || fail "wrong replies"
"$TARE" check --json live.tare >check.json || fail "the recording cannot be read"
lost=$(value lost_events check.json)
dropped=$(value events_dropped live.json)
[ "$lost" = "$dropped" ] || fail "$dropped events dropped by the target, $lost missing for the reader"
"$TARE" dump live.tare >dump
[ "$lost" -ne 0 ] || [ "$(grep -c 'reply out' dump)" = "$(value whole_run_replies_sent live.json)" ] ||
    fail "the recording does not have every reply"
echo "ok: $(value replies_unique live.json) of $(value blocks_sent live.json) answered, $lost events lost"
