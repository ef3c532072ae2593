#!/bin/sh
# Debian's OpenOCD reads a program that runs in QEMU, through a model of a debug port, and `tare
# record tcp:` takes what its RTT server gives: every event, in order, through a reset; commands go
# the other way.
# ctest: timeout=120 labels=plain serial
set -eu
for tool in openocd qemu-system-arm arm-none-eabi-gcc; do
    command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
model=$BUILD/cost/rigs/jtag_model
. "$SOURCE/tests/pipe/reader_board.inc"
SECOND=6000
build_firmware
block=$(arm-none-eabi-nm firmware.elf | sed -n 's/ . tare0$//p')
start_board

"$model" -v ram 0 >model.out 2>writes &
model_id=$!
port=$(wait_for 10 model.out '^port ' | sed 's/port //')
cat >board.cfg <<END
adapter driver remote_bitbang
remote_bitbang host 127.0.0.1
remote_bitbang port $port
adapter speed 1000
reset_config none
jtag newtap board cpu -irlen 4 -expected-id 0x4ba00477
dap create board.dap -chain-position board.cpu
target create board.core cortex_m -dap board.dap -ap-num 0 -defer-examine
target create board.memory mem_ap -dap board.dap -ap-num 0
targets board.memory
END
timeout 80 openocd -c "set CB 0x$block" -c 'set RTT_PORT 0' -f board.cfg \
    -f "$SOURCE/cost/rigs/board/rtt.cfg" >openocd.log 2>&1 &
firmware_ids="$! $model_id $firmware_ids" # OpenOCD ends first
port=$(wait_for 30 openocd.log 'Listening on port .* for rtt' | sed 's/.*port \([0-9]*\) .*/\1/')

# In the second session the extras go off, and on again.
python3 - "$port" console <<'END' &
import socket, sys, time

def command(code, argument):
    data = bytearray([0xC5, code, 0, 0]) + argument.to_bytes(4, "little")
    for byte in data[:3] + data[4:]:
        data[3] ^= byte
    return bytes(data)

connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
connection.setblocking(False)
limit = time.monotonic() + 60
anchor = (2).to_bytes(2, "little")  # the high half of an anchor's word 2: session 2
seen = b""
while time.monotonic() < limit:
    try:
        seen = seen[-40:] + connection.recv(65536)
    except BlockingIOError:
        time.sleep(0.01)
    at = seen.find(b"\xA6\xF7\xFF")
    while at >= 1 and len(seen) >= at + 23 and seen[at + 9:at + 11] != anchor:
        at = seen.find(b"\xA6\xF7\xFF", at + 1)
    if at >= 1 and len(seen) >= at + 23:
        break
else:
    sys.exit("no second session")
end = time.monotonic() + 0.5
phases = [(end, command(3, 1)), (end + 1, command(3, 0xFFFFFFFF)), (end + 30, None)]
while phases[0][1] is not None:
    try:
        if connection.recv(65536) == b"":
            break
    except BlockingIOError:
        time.sleep(0.01)
    if time.monotonic() >= phases[0][0]:
        connection.sendall(phases.pop(0)[1])
END
speaker=$!
timeout 80 "$TARE" record "tcp:127.0.0.1:$port" --until-end --for 60s -o run.tare 2>err || {
    cat err console openocd.log; exit 1; }
wait "$speaker"
cat err
python3 "$SOURCE/tests/pipe/reader_check.py" "$TARE" run.tare "$FIRST" "$SECOND" filtered
grep -q 'restarts 1;' err

# OpenOCD wrote nothing but the two offsets that are a reader's, and the commands.
up=$(printf %08x $((0x$block + 40)))
down=$(printf %08x $((0x$block + 60)))
buffer=$(printf '%d' $((0x$block + 228)))
awk -v up="$up" -v down="$down" -v buffer="$buffer" '
    function number(text,    i, n) {
        for (i = 1; i <= length(text); i++) n = 16 * n + index("0123456789abcdef", substr(text, i, 1)) - 1
        return n
    }
    $2 == up || $2 == down { next }
    number($2) >= buffer && number($2) < buffer + 12 { commands++; next }
    { print "written: " $0; bad = 1 }
    END { exit bad || !commands }' writes
