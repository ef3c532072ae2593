#!/bin/sh
# `tare record mem:` and `tare record tcp:`: exit codes and messages, what is refused and stays
# untouched, connections that break, several of them, commands, signals.
# ctest: timeout=90 labels=plain serial
set -eu
for tool in qemu-system-arm arm-none-eabi-gcc; do
    command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }
done

# expect STATUS PATTERN COMMAND...: the exit status and a line on stderr
expect() {
    status=$1 pattern=$2
    shift 2
    got=0
    "$@" >out 2>err || got=$?
    if [ "$got" != "$status" ] || ! grep -q -- "$pattern" err; then
        echo "wanted status $status and '$pattern', got $got: $*"
        cat out err
        exit 1
    fi
}

example=$SOURCE/examples/cortexm_bare
sh "$SOURCE/cost/rigs/qemu/build_board.sh" bare.elf "$example/cortexm_bare.c" "-I$example" \
    '-DTARE_CONF_FILE="cortexm_bare_conf.h"'
sh "$SOURCE/cost/rigs/qemu/run_board.sh" bare.elf ram >/dev/null 2>&1
head -c 65536 ram >bare.ram
block=$((0x$(arm-none-eabi-nm bare.elf | sed -n 's/ . tare0$//p') - 0x21000000))
"$TARE" dump --listing bare.ram >listing

# A ring that was ended in order: read, and given back to its target word for word.
cp bare.ram memory
expect 0 ' words of 1 streams in run.tare; restarts 0; missed 0 words' \
    "$TARE" record mem:memory --elf bare.elf --base 0x21000000 --until-end -o run.tare
"$TARE" dump --listing run.tare | cmp - listing
od -A n -t u4 -j $((block + 36)) -N 8 memory | { read -r write read && test "$write" = "$read"; }
expect 0 'tare: 0 words of 1 streams' "$TARE" record mem:memory --until-end -o run.tare
cp bare.ram memory
{ printf abcde; cat bare.ram; } >memory
expect 0 ' words of 1 streams' "$TARE" record mem:memory@5 --until-end -o run.tare
"$TARE" dump --listing run.tare | cmp - listing
cp bare.ram memory
expect 0 ' words of 1 streams' "$TARE" record mem:memory --address $((0x21000000 + block)) \
    --until-end -o run.tare

# refused FIELD_OFFSET BYTES PATTERN: the field, its value, and not a byte written
refused() {
    cp bare.ram memory
    printf "$2" | dd of=memory bs=1 seek=$((block + $1)) conv=notrunc 2>/dev/null
    cp memory before
    expect 4 "$3" "$TARE" record mem:memory --wait 50ms -o run.tare
    cmp memory before
}
refused 0 'XEGGER' "id 'XEGGER RTT' is neither"
refused 32 '\001' 'bytes 4097 (size of the buffer)'
refused 36 '\377\377' 'write_offset 65535 is not a multiple of 4 below 4096'
refused 40 '\002' 'read_offset 2 is not'
refused 28 '\000\000\000' 'buffer 0x21000000 lies over the control block'
cat bare.ram bare.ram >memory
cp memory before
expect 4 'has a second block at' "$TARE" record mem:memory --wait 50ms -o run.tare
cmp memory before

head -c 65536 /dev/zero >nothing
expect 3 'no control block in this memory' "$TARE" record mem:nothing --wait 50ms -o run.tare
expect 2 'cannot be opened' "$TARE" record mem:no-such-file --wait 50ms -o run.tare
expect 2 'there are no' "$TARE" record mem:nothing@70000 --wait 50ms -o run.tare
expect 2 'is no ELF file' "$TARE" record mem:nothing --elf nothing -o run.tare
expect 2 'go with mem:FILE' "$TARE" record tcp:localhost:1 --address 5 -o run.tare
expect 2 'give one mem:FILE' "$TARE" record mem:nothing mem:nothing -o run.tare
expect 2 'Connection refused' "$TARE" record tcp:127.0.0.1:1 --wait 50ms -o run.tare
expect 2 'give tcp:HOST:PORT' "$TARE" record tcp:1 --wait 50ms -o run.tare

# Servers of RTT. Each part of a script is one connection: bytes FROM-TO of the file, then the end.
cat >server.py <<'END'
import socket
import sys
import time

data = open(sys.argv[1], "rb").read()
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
for part in sys.argv[3:]:
    begin, end = (int(number) for number in part.split("-"))
    connection = listener.accept()[0]
    connection.sendall(data[begin:end])
    connection.settimeout(0.7 if sys.argv[2] else 0.1)
    got = b""
    try:
        while True:
            more = connection.recv(100)
            if not more:
                break
            got += more
            if sys.argv[2]:
                print(f"{time.monotonic():.3f} {more.hex()}", file=open(sys.argv[2], "a"))
    except socket.timeout:
        pass
    connection.close()
END
# serve FILE LOG PART...: sets $port
serve() {
    python3 server.py "$@" >port &
    while [ ! -s port ]; do sleep 0.05; done
    port=$(cat port)
    rm port
}
# The unread words of the ring are what an RTT server gives.
write=$(od -A n -t u4 -j $((block + 36)) -N 4 bare.ram | tr -d ' ')
buffer=$(($(od -A n -t u4 -j $((block + 28)) -N 4 bare.ram) - 0x21000000))
tail -c +$((buffer + 1)) bare.ram | head -c "$write" >words
serve words '' "0-$write"
expect 0 "tare: $((write / 4)) words of 1 streams in run.tare; restarts 0" \
    "$TARE" record tcp:127.0.0.1:"$port" --until-end -o run.tare
grep -v '^total\|^loss' listing >1
"$TARE" dump --listing run.tare | grep -v '^total\|^loss' | cmp - 1

# It breaks in the middle of a block and comes back at once.
serve words '' 0-500 "500-$write"
expect 0 'connection lost (the server closed it); trying again' \
    "$TARE" record tcp:127.0.0.1:"$port" --wait 1s --until-end -o run.tare
grep -q "missed 131 words" err # to the end of the block of 256

# Two cores, two connections.
python3 - <<'END'
import struct
data = bytearray(open("words", "rb").read())
for at in range(0, len(data), 1024):
    word = list(struct.unpack_from("<6I", data, at))
    word[2] |= 1  # another stream
    check = word[1] ^ word[2] ^ word[3] ^ word[4] ^ word[5]
    check ^= check >> 16
    word[0] = word[0] & ~0xFF | (check ^ check >> 8) & 0xFF
    struct.pack_into("<6I", data, at, *word)
open("other", "wb").write(data)
END
serve words '' "0-$write"
first=$port
serve other '' "0-$write"
expect 0 "tare: $((write / 2)) words of 2 streams" "$TARE" record tcp:127.0.0.1:"$first" \
    tcp:localhost:"$port" --wait 1s --until-end -o run.tare
test "$("$TARE" dump --listing run.tare | grep -c '^stream ')" = 2

# Commands go the other way, one after the other: filter 5, then all names.
serve words commands "0-100"
expect 0 ' words of 1 streams' "$TARE" record tcp:127.0.0.1:"$port" --categories 5 --names \
    --for 600ms -o run.tare
sed 's/.* //' commands | tr -d '\n' >sent
test "$(cat sent)" = c50300c305000000c50400c100000000
awk '{ if (NR == 2 && $1 - before < 0.15) exit 1; before = $1 }' commands

serve nothing '' 0-5000
expect 4 '5000 bytes were received, but no block' \
    "$TARE" record tcp:127.0.0.1:"$port" --for 300ms -o run.tare
serve nothing '' 0-0
expect 3 'nothing was received' "$TARE" record tcp:127.0.0.1:"$port" --for 300ms -o run.tare

# A signal ends it in order.
cp bare.ram memory
"$TARE" record mem:memory -o run.tare 2>err &
recorder=$!
while ! grep -q 'Tchk' run.tare 2>/dev/null; do sleep 0.05; done
sleep 0.3
kill -INT $recorder
wait $recorder || { cat err; exit 1; }
grep -q '"ended_by":"signal"' run.tare
"$TARE" dump --listing run.tare | cmp - listing

# A limit on the size of files is told like a full disk.
cp bare.ram memory
expect 2 'File too large; write to a file system without this limit' sh -c '
    ulimit -f 1 && exec "$0" record mem:memory --until-end -o limited.tare' "$TARE"
