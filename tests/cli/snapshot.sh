#!/bin/sh
# `tare snapshot` gives what the decoder finds in the same memory by itself: RAM of a target in either
# policy, ELF cores, any alignment, the shared memory of a Linux session; and refuses the rest.
# ctest: timeout=90 labels=plain
set -eu

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

# A core file: core.py BITS OUT ADDRESS=FILE...
cat >core.py <<'END'
import struct
import sys

bits, out = int(sys.argv[1]), sys.argv[2]
parts = [(int(part.split("=")[0], 0), open(part.split("=")[1], "rb").read())
         for part in sys.argv[3:]]
head = 52 if bits == 32 else 64
entry = 32 if bits == 32 else 56
at = head + entry * len(parts) + 5  # at no round place
data = bytearray(b"\x7fELF" + bytes([1 if bits == 32 else 2, 1, 1]) + bytes(9))
data += struct.pack("<HHI", 4, 40 if bits == 32 else 62, 1)  # a core, of ARM or x86-64
data += struct.pack("<IIIIHHHHHH" if bits == 32 else "<QQQIHHHHHH", 0, head, 0, 0, head, entry,
                    len(parts), 0, 0, 0)
for address, part in parts:
    if bits == 32:
        data += struct.pack("<8I", 1, at, address, address, len(part), len(part), 6, 4)
    else:
        data += struct.pack("<IIQQQQQQ", 1, 6, at, address, address, len(part), len(part), 4)
    at += len(part)
data += bytes(5) + b"".join(part for _, part in parts)
open(out, "wb").write(data)
END

# Linux: what a session's memory holds while the collector has not looked at it for a while.
cc -O2 -I"$SOURCE/recorder" "$SOURCE/examples/first_recording.c" "$SOURCE/recorder/tare.c" \
    -o first -lpthread
"$TARE" record -q --poll 20s -o live.tare -- sh -c './first; cp "$TARE_REGION" region'
cp region before
expect 0 'streams in region.tare' "$TARE" snapshot region -o region.tare
cmp region before
"$TARE" dump --listing region.tare >region.listing
"$TARE" dump --listing region | cmp - region.listing
"$TARE" dump --listing live.tare | cmp - region.listing
test "$(grep -c '^event ' region.listing)" -gt 5
head -c 4096 /dev/zero >gap
python3 core.py 64 linux.core 0x400000=gap 0x7f1234560000=region
expect 0 'streams in core.tare' "$TARE" snapshot linux.core -o core.tare
"$TARE" dump --listing core.tare | cmp - region.listing

expect 2 'is a recording already' "$TARE" snapshot live.tare
expect 2 'cannot' "$TARE" snapshot no-such-file
expect 2 'give one image' "$TARE" snapshot
expect 2 'nearest is' "$TARE" snapshot --bas 1 region
expect 2 'is no ELF file' "$TARE" snapshot region --elf gap
expect 2 'has no symbol tare0' "$TARE" snapshot region --elf /bin/true
expect 4 'no control block' "$TARE" snapshot gap -o older.tare
test ! -e older.tare
head -c 100 linux.core >cut.core
expect 4 'no PT_LOAD segment' "$TARE" snapshot cut.core

for tool in qemu-system-arm arm-none-eabi-gcc; do
    command -v $tool >/dev/null || { echo "not run (no $tool): images of a target"; exit 0; }
done
cat >overwrite_conf.h <<'END'
#include "mps2_board.h"
#define TARE_CLOCK_READ MPS2_COUNTER
#define TARE_CLOCK_HZ MPS2_COUNTER_HZ
#define TARE_RING_BYTES 1024
#define TARE_BLOCK_WORDS 64
#define TARE_FULL_POLICY TARE_OVERWRITE
#define TARE_OBJECTS 4
END
example=$SOURCE/examples/cortexm_bare
for policy in drop overwrite; do
    conf=overwrite_conf.h
    [ $policy = overwrite ] || conf=cortexm_bare_conf.h
    sh "$SOURCE/cost/rigs/qemu/build_board.sh" $policy.elf "$example/cortexm_bare.c" -I. \
        "-I$example" "-DTARE_CONF_FILE=\"$conf\"" 2>/dev/null
    sh "$SOURCE/cost/rigs/qemu/run_board.sh" $policy.elf ram >/dev/null 2>&1
    head -c 65536 ram >$policy.ram
    "$TARE" dump --listing $policy.ram >$policy.listing
    test "$(grep -c '^event ' $policy.listing)" -gt 20
    cp $policy.ram before
    expect 0 'session 1, stream 0: control block at 0x21' "$TARE" snapshot $policy.ram -o s.tare
    cmp $policy.ram before
    "$TARE" dump --listing s.tare | cmp - $policy.listing
    # gdb's dump memory of the part from the data on, whose address the user knows.
    tail -c +17 $policy.ram >part
    expect 0 "offset" "$TARE" snapshot part --base 0x21000010 --elf $policy.elf -o s.tare
    "$TARE" dump --listing s.tare | cmp - $policy.listing
    # An ELF core, at an odd place in the file.
    python3 core.py 32 $policy.core 0x20000000=gap 0x21000000=$policy.ram
    expect 0 "streams in s.tare" "$TARE" snapshot $policy.core -o s.tare
    "$TARE" dump --listing s.tare | cmp - $policy.listing
    # Three bytes in front of the memory.
    { printf abc; cat $policy.ram; } >odd
    expect 0 "streams in s.tare" "$TARE" snapshot odd -o s.tare
    "$TARE" dump --listing s.tare | cmp - $policy.listing
    expect 0 "streams in s.tare" "$TARE" snapshot odd --offset 3 -o s.tare
    "$TARE" dump --listing s.tare | cmp - $policy.listing
    # From elsewhere, or twice, it cannot be right.
    expect 4 'self 0x21.* is not where it was found' "$TARE" snapshot $policy.ram --base 0x20000000
    cat $policy.ram $policy.ram >twice
    expect 4 'has a second block' "$TARE" snapshot twice
    # But the wanted one can be named.
    expect 0 'streams in s.tare' "$TARE" snapshot twice --base 0x21000000 --elf $policy.elf -o s.tare
    "$TARE" dump --listing s.tare | cmp - $policy.listing
done
