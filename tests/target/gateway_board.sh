# ctest: timeout=240 labels=plain
# The gateway's firmware is built in every arm, answers real datagrams through QEMU's user network,
# and its report agrees with what the load counted. How fast the machine is decides nothing.
set -eu

fail() {
    echo "gateway_board: $*"
    exit 1
}

for tool in arm-none-eabi-gcc qemu-system-arm ninja; do
    command -v "$tool" >/dev/null || {
        echo "skipped: no $tool"
        exit 77
    }
done
status=0
"$SOURCE/tools/fetch_sources.sh" lwip freertos || status=$?
if [ "$status" -eq 3 ]; then
    echo "skipped: the sources of lwIP and FreeRTOS cannot be had here"
    exit 77
fi
[ "$status" -eq 0 ] || fail "tools/fetch_sources.sh ended with $status"
given_kernel=${FREERTOS_KERNEL_PATH:-}
unset FREERTOS_KERNEL_PATH

build() {
    "$SOURCE/cost/workloads/gateway/board/build_gateway_board.sh" "$@"
}

qemu=
end_qemu() {
    [ -z "$qemu" ] || kill "$qemu" 2>/dev/null || true
}
trap end_qemu EXIT

# emulate IMAGE [QEMU OPTION ...]: the board's UART goes to `uart`, its memory to `ram`
emulate() {
    image=$1
    shift
    rm -f ram
    exec timeout -k 5 40 qemu-system-arm -machine mps2-an385,memory-backend=ram \
        -object memory-backend-file,id=ram,size=16M,mem-path=ram,share=on \
        -icount shift=3,align=on -kernel "$image" -display none -monitor none -serial stdio \
        -semihosting-config enable=on,target=native "$@" </dev/null >uart 2>messages
}

# key NAME FILE: a number of the JSON line
key() {
    value=$(sed -n "s/.*[{,]\"$1\":\([0-9.]*\)[,}].*/\1/p" "$2")
    [ -n "$value" ] || fail "$2 has no number $1"
    echo "$value"
}

symbol() {
    arm-none-eabi-nm "$1" | sed -n "s/^\([0-9a-f]*\) [A-Za-z] $2\$/\1/p"
}

# word IMAGE SYMBOL OFFSET: a word of the board's memory after the run
word() {
    at=$((0x$(symbol "$1" "$2") - 0x21000000 + $3))
    od -A n -t u4 -j "$at" -N 4 ram | tr -d ' '
}

# run IMAGE: 100 blocks and 20 commands over real sockets. Ports may be taken: try others.
port=$((20000 + $$ % 20000))
run() {
    try=0
    while :; do
        rm -f uart messages
        network=user,model=lan9118,hostfwd=udp:127.0.0.1:$port-:5000
        emulate "$1" -nic "$network,hostfwd=udp:127.0.0.1:$((port + 1))-:5001" &
        qemu=$!
        waited=0
        until grep -q '"data_port"' uart 2>/dev/null || ! kill -0 "$qemu" 2>/dev/null; do
            [ $((waited += 1)) -lt 300 ] || fail "$1 was not ready after 30 s"
            sleep 0.1
        done
        ! grep -q 'forwarding rule' messages || {
            [ $((try += 1)) -lt 10 ] || fail "no free UDP ports near $port"
            port=$((port + 2))
            continue
        }
        break
    done
    "$BUILD/cost/workloads/gateway/gateway_load" --data-port "$port" \
        --command-port "$((port + 1))" --warm-up 0 --seconds 1 --rate 100 >load ||
        fail "$1: the load ended with $?: $(cat uart messages)"
    wait "$qemu" || fail "$1 ended with $?: $(cat uart messages)"
    qemu=
    tail -n 1 uart >report
}

# agree IMAGE ARM KERNEL: report and load tell one story
agree() {
    grep -q "\"workload\":\"gateway\",\"arm\":\"$2\",\"board\":\"mps2-an385\",\"kernel\":\"$3" \
        report || fail "$1: the report names another arm or kernel: $(cat report)"
    for count in replies_wrong replies_duplicate datagrams_foreign send_errors; do
        [ "$(key "whole_run_$count" load)" -eq 0 ] || fail "$1: the load counted $count"
    done
    received=$(key whole_run_blocks_received report)
    processed=$(key whole_run_blocks_processed report)
    replied=$(key whole_run_replies_sent report)
    [ "$received" -gt 0 ] && [ "$received" -le "$(key whole_run_blocks_sent load)" ] ||
        fail "$1: $received blocks received"
    lost=$(($(key whole_run_blocks_without_free_block report) +
        $(key whole_run_blocks_refused_by_queue report)))
    [ "$received" -eq $((processed + lost)) ] || fail "$1: blocks vanished: $(cat report)"
    [ "$processed" -eq $((replied + $(key whole_run_reply_errors report))) ] ||
        fail "$1: replies vanished: $(cat report)"
    [ "$replied" -ge "$(key whole_run_replies_unique load)" ] || fail "$1: too many replies"
    applied=$(key whole_run_commands_applied report)
    [ "$applied" -ge "$(key whole_run_commands_acknowledged load)" ] &&
        [ "$applied" -le "$(key whole_run_commands_sent load)" ] ||
        fail "$1: $applied commands applied"
    frames=$(key whole_run_nic_frames_received report)
    [ "$frames" -gt $((received + applied)) ] || fail "$1: only $frames frames"
    [ "$(key timer_expiries report)" -gt 10 ] || fail "$1: the timer stood still"
    [ "$(word "$1" gateway_board_us 0)" -gt 500000 ] || fail "$1: gateway_board_us stood still"
}

# figures IMAGE: times and load are there, and the longest time is the one that the replies carried
figures() {
    [ "$(key instruction_ns report)" -eq 8 ] || fail "$1: an instruction took another time"
    awk -v busy="$(key cpu_busy_percent report)" \
        -v mean="$(key receive_to_summary_mean_us report)" \
        -v max="$(key receive_to_summary_max_us report)" \
        -v p99="$(key receive_to_summary_p99_us load)" \
        -v rounds="$(key window_idle_rounds report)" -v seconds="$(key window_seconds report)" '
        BEGIN {
            # 4 instructions of 8 ns a round.
            left = 100 - rounds * 32e-9 / seconds * 100
            exit !(busy > 0 && busy < 100 && busy - left < 1e-4 && left - busy < 1e-4 &&
                   0 < mean && mean <= max && p99 <= max + 0.001)
        }' || fail "$1: figures that cannot be: $(cat report)"
}

# records IMAGE: what the example's recorder left in memory is what it reported
records() {
    stored=$(word "$1" other_recorder 0)
    [ "$(key recorder_bytes report)" -eq $((stored * 8)) ] || fail "$1: $stored records stored"
    [ "$(key recorder_dropped_events report)" -eq "$(word "$1" other_recorder 4)" ] ||
        fail "$1: other drops than reported"
    at=$((0x$(symbol "$1" other_recorder) - 0x21000000 + 8))
    od -A n -v -t u4 -w8 -j "$at" -N $((stored * 8)) ram | awk '
        NR > 1 && $1 < before || $2 > 20 { exit 1 }
        { before = $1; tasks[$2] }
        END { exit !(NR > 20 && length(tasks) > 1) }' || fail "$1: the records make no sense"
}

# The settings that a rig changes are words in the image, with the values that were asked for.
build stops.elf --kernel none --arm off --stop-ns 400000 --seed 77 --seconds 9
arm-none-eabi-objcopy -O binary -j .data stops.elf data
for setting in stop_period=10000 jitter_seed=77 window_seconds=9; do
    at=$((0x$(symbol stops.elf "gateway_${setting%=*}") - 0x$(symbol stops.elf mps2_data_begin)))
    [ "$(od -A n -t u4 -j "$at" -N 4 data | tr -d ' ')" -eq "${setting#*=}" ] ||
        fail "gateway_$setting is not in the image"
done
arm-none-eabi-objdump -d --disassemble=gateway_probe_stop stops.elf | awk '
    $3 == "nop" { nop = NR } $3 == "bx" { bx = NR } END { exit !(nop && bx == nop + 1) }' ||
    fail "gateway_probe_stop is not nop; bx lr"

# An image for another instruction rate says so.
build wrong.elf --kernel none --arm off --shift 2
status=0
(emulate wrong.elf -net none) || status=$?
[ "$status" -eq 3 ] && grep -q 'another -icount shift' uart ||
    fail "at the wrong shift it ended with $status: $(cat uart)"

other=$SOURCE/examples/other_recorder
for arm in off tare "$other"; do
    name=$(basename "$arm")
    build "none-$name.elf" --live --kernel none --arm "$arm"
    run "none-$name.elf"
    agree "none-$name.elf" "$name" none
    figures "none-$name.elf"
    case $name in
    other_recorder) records "none-$name.elf" ;;
    tare)
        [ "$(key recorder_bytes report)" -gt 1000 ] || fail "Tare recorded nothing"
        "$TARE" check --json ram >check || fail "tare check: $(cat check)"
        dropped=$(sed -n 's/^  "dropped_events": \([0-9]*\).*/\1/p' check)
        [ "$(key recorder_dropped_events report)" -eq "$dropped" ] ||
            fail "the reader counts $dropped drops: $(cat report)"
        "$TARE" dump ram >dump
        grep -q 'loop *step begin' dump && grep -q 'loop *queue send *queue=free' dump ||
            fail "the dump holds no steps and queues"
        ;;
    esac
done

# The A/A arm: the same code at other addresses.
build off2.elf --live --kernel none --arm off2
for name in gateway_summarise gateway_board_tick; do
    [ "$(symbol off2.elf "$name")" != "$(symbol none-off.elf "$name")" ] ||
        fail "$name stands at the same address in off2"
done
for name in gateway_padding_code gateway_padding_data; do
    [ -n "$(symbol off2.elf "$name")" ] || fail "off2 has no padding"
done

# FreeRTOS 9: its licence forbids to publish figures, so there must be none. A kernel by path has
# them.
hooked=
[ ! -f "$SOURCE/recorder/hook/tare_freertos.h" ] || hooked=tare
for kernel in V9 ${given_kernel:+given}; do
    for arm in off $hooked "$other"; do
        name=$(basename "$arm")
        if [ "$kernel" = given ]; then
            FREERTOS_KERNEL_PATH=$given_kernel build "$kernel-$name.elf" --live --kernel freertos \
                --arm "$arm"
        else
            build "$kernel-$name.elf" --live --kernel freertos --arm "$arm"
        fi
        run "$kernel-$name.elf"
        if [ "$kernel" = given ]; then
            agree "$kernel-$name.elf" "$name" "FreeRTOS V1"
            figures "$kernel-$name.elf"
        else
            agree "$kernel-$name.elf" "$name" "FreeRTOS V9"
            ! grep -q -E '_us"|percent|window_|instruction_ns' report ||
                fail "the report of FreeRTOS 9 holds figures"
            rm load # what the load measured of it is nobody's business either
        fi
        case $name in
        other_recorder) records "$kernel-$name.elf" ;;
        tare) [ "$(key recorder_bytes report)" -gt 1000 ] || fail "Tare recorded nothing" ;;
        esac
    done
done
[ -n "$given_kernel" ] || echo "not run: a kernel by FREERTOS_KERNEL_PATH"
