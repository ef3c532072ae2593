#!/bin/sh
# A board that sends its ring over a UART which it also prints to: the recording is complete; read late,
# it gives the names when asked. The target's side compiles in each language it is meant for.
# ctest: timeout=180 labels=plain
set -eu
transport=$SOURCE/recorder/transport/tare_transport.c
example=$SOURCE/examples/cortexm_uart
warnings="-Wall -Wextra -Wconversion -Wno-sign-conversion -Wshadow -Werror -pedantic"

fail() {
    echo "transport_uart: $*"
    exit 1
}

cp "$transport" transport.cpp
# shellcheck disable=SC2086
{
    for standard in c99 c11; do
        cc -std=$standard -ffreestanding $warnings -O2 -c "$transport" -o transport.o
    done
    c++ -std=c++17 $warnings -O2 -I"$SOURCE/recorder/transport" -I"$SOURCE/recorder" \
        -iquote "$SOURCE/recorder/transport" -c transport.cpp -o transport.o
    cc -std=c99 $warnings -DTARE_ENABLED=0 -c "$transport" -o off.o
}
[ "$(size off.o | awk 'NR == 2 { print $4 }')" -eq 0 ] || fail "compiled out, something is left"

for tool in arm-none-eabi-gcc qemu-system-arm; do
    command -v "$tool" >/dev/null || {
        echo "skipped: no $tool"
        exit 77
    }
done

# said ROW COLUMN: what the table of the manual says
said() {
    awk -F '|' -v row="$1" -v column="$2" 'index($2, row) { print $(column + 2) + 0 }' \
        "$SOURCE/recorder/transport/README.md"
}

# told FIGURE ROW COLUMN
told() {
    [ "$1" -eq "$(said "$2" "$3")" ] || fail "$2: $1, but the manual says $(said "$2" "$3")"
}

# bytes PATTERN: text and constants of the functions that match
bytes() {
    arm-none-eabi-size -A size.o | awk -v names="$1" '
        $1 ~ "^[.](text|rodata)[.](" names ")" { sum += $2 } END { print sum }'
}

arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -std=c99 -Os -ffreestanding -ffunction-sections \
    -fdata-sections -c "$transport" -o size.o
common='part|tare_next_of_any|tare_contents'
told "$(bytes "$common|tare_sender_frame|tare_frame_next|tare_transit|tare_frame_send")" \
    "code and constants" 1
told "$(bytes "$common|magic|tare_sender_datagram|tare_datagram_next")" "code and constants" 2

"$SOURCE/cost/rigs/qemu/build_mps2.sh" cost.elf "$SOURCE/tests/pipe/transport_cost.c" \
    -I"$example" -DTARE_CONF_FILE='"cortexm_uart_conf.h"'
"$SOURCE/cost/rigs/qemu/run_mps2.sh" cost.elf cost.ram >cost.out
column=1
for name in frame datagram; do
    told "$(awk -v name=$name '$1 == name && $2 > 250 && $3 / $2 > most { most = $3 / $2 }
        END { printf "%.0f", most }' cost.out)" "a byte sent" $column
    told "$(awk -v name=$name '$1 == name && $2 == 0 { print int($3 / 50 + 0.5) * 50 }' cost.out)" \
        "finds nothing" $column
    column=$((column + 1))
done

"$SOURCE/cost/rigs/qemu/build_mps2.sh" uart.elf "$example/cortexm_uart.c" -I"$example" \
    -DTARE_CONF_FILE='"cortexm_uart_conf.h"'
"$SOURCE/cost/rigs/qemu/run_mps2.sh" uart.elf uart.ram >uart.out
"$TARE" record -q --frames - -o uart.tare <uart.out
"$TARE" check --strict uart.tare >checked || fail "$(cat checked)"
grep -q "^uart.tare: complete: " checked || fail "$(cat checked)"
"$TARE" dump --listing uart.tare >listing
python3 "$SOURCE/spec/reference_decoder.py" uart.tare >other
cmp listing other
"$TARE" dump uart.tare >dump
[ "$(grep -c ' round done *number=' dump)" -eq 2000 ] || fail "not 2000 rounds"
[ "$(grep -c ' speed *value=' dump)" -eq 2000 ] || fail "not 2000 speeds"
awk '/ tick  *number=/ { sub(/.*=/, ""); if ($0 != ++n) exit 1 } END { exit n < 100 }' dump ||
    fail "the ticks are not all there"
grep -q '"over a line that others use too"' dump || fail "the note is missing"
python3 "$SOURCE/tests/pipe/transport_uart.py" "$TARE" uart.elf uart.out
