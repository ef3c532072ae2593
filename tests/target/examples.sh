# ctest: timeout=60 labels=plain
# The examples build without a warning, run, and record what they say.
set -eu

fail() {
    echo "examples: $*"
    exit 1
}

# expect COUNT PATTERN: so many lines of `listing` match
expect() {
    found=$(grep -c -E "$2" listing || true)
    [ "$found" -eq "$1" ] || fail "$found instead of $1 lines with $2"
}

# id NAME CLASS: the id of a declaration in `listing`
id() {
    sed -n "s/^define [0-9]* $2 [0-9]* \([0-9A-F]*\) \"$1[|\"].*/\1/p" listing
}

decode() {
    "$TARE" dump --listing "$1" >listing
    python3 "$SOURCE/spec/reference_decoder.py" $2 "$1" >other
    cmp listing other
}

# As README.md has it.
cd "$SOURCE"
program=$SCRATCH/first
"${CC:-cc}" -O2 -Wall -Wextra -Werror -Irecorder examples/first_recording.c recorder/tare.c \
    -o "$program" -lpthread
"${CC:-cc}" -O2 -Wall -Wextra -Werror -DTARE_ENABLED=0 -Irecorder examples/first_recording.c \
    -o "$program.disabled" -lpthread
cd "$SCRATCH"
./first.disabled
./first # without `tare record` it runs as well
"$TARE" record -q -o first.tare -- ./first
decode first.tare ""
expect 100 "^event [0-9]+ [0-9]+ $(id 'block ready' 1) 000002"
expect 100 "^event [0-9]+ [0-9]+ $(id 'left' 2) "
expect 100 "^event [0-9]+ [0-9]+ $(id 'process' 4) "
expect 100 "^event [0-9]+ [0-9]+ $(id 'process' 5) "
expect 1 '^define .* "producer"$'
expect 1 '^define .* "consumer"$'
expect 2 '^end [0-9]+ 0 0$'

# And as the recorder's manual has it.
mkdir manual
(
    cd manual
    PATH=$(dirname "$TARE"):$PATH python3 "$SOURCE/tools/doc_examples.py" "$SOURCE" \
        "$SOURCE/recorder/README.md"
)

for tool in arm-none-eabi-gcc qemu-system-arm; do
    command -v "$tool" >/dev/null || {
        echo "skipped: no $tool"
        exit 77
    }
done
bare=$SOURCE/examples/cortexm_bare
"$SOURCE/cost/rigs/qemu/build_board.sh" bare.elf "$bare/cortexm_bare.c" -I"$bare" \
    -DTARE_CONF_FILE='"cortexm_bare_conf.h"'
"$SOURCE/cost/rigs/qemu/run_board.sh" bare.elf bare.ram >out
grep -qx done out
head -c 65536 bare.ram >bare.image # the ring is there, and the reference decoder is slow
decode bare.image --image
expect 20 "^event 0 [0-9]+ $(id speed 2) "
expect 20 "^event 0 [0-9]+ $(id 'control step' 5) "
expect 3 "^event 0 [0-9]+ $(id mode 3) "
expect 1 '^text 0 [0-9]+ "warming up"$'
expect 20 "^event 0 [0-9]+ $(id tick 1) "
expect 1 '^end 0 0 0$'
"$TARE" dump bare.ram >dump
[ "$(grep -c 'main core *speed *value=[0-9]* rpm$' dump)" -eq 20 ] ||
    fail "20 lines with the speed are not in the dump of the whole memory"
"$TARE" check --strict bare.ram >checked || fail "tare check finds fault with bare.ram"
"$TARE" check --strict first.tare >checked || fail "tare check finds fault with first.tare"

for example in "$SOURCE"/examples/*.c "$SOURCE"/examples/*/*.c; do
    lines=$(wc -l <"$example")
    [ "$lines" -lt 100 ] || fail "$example has $lines lines, 100 or more"
done
[ "$(wc -l <"$SOURCE/examples/first_recording.c")" -lt 40 ] || fail "first_recording.c is too long"
