#!/bin/sh
# Steps of the experiments with the gateway on a board (gateway-board.yaml and its neighbours):
#
#     board_steps.sh image ADAPTER ARM OUT.elf
#     board_steps.sh run ADAPTER BUILD IMAGE.elf [OPTION...]    one run: one JSON object
#     board_steps.sh load ADAPTER BUILD IMAGE.elf [OPTION...]   the same, with the trace's losses
#     board_steps.sh counted BYTES RUN.out                      losses as the firmware counts them
#     board_steps.sh kernel                                     freertos or none: what image builds
#
# ADAPTER is `lockstep` (QEMU, a run repeats to the byte) or a file of cost/rigs/board, for OpenOCD.
# ARM is off, off2, tare, or a folder with another recorder's hooks; then `counted` makes a health
# report out of the firmware's own counts, BYTES being the size of its records.
#
# Options of run and load:
#     --seconds N, --warm-up N, --rate N    board seconds and blocks a second
#     --seed N          jitter of the load; boards behind OpenOCD have none
#     --record FILE     a probe empties the ring while the firmware runs
#     --snapshot FILE   nobody empties it; FILE gets what is there at the end (lockstep only)
#     --probe-rate N    the probe fetches N bytes a board second at most, 0: as many as there are
#
# The kernel is FreeRTOS if FREERTOS_KERNEL_PATH names version 10 or later, else there is none: the
# licence of version 9 forbids comparisons.
# Exit status: 0 done, 2 wrong usage, 3 a tool is missing, else that of the program that failed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
gateway=$here/../workloads/gateway/board
boards=$here/../rigs/board

give_up() {
    echo "board_steps: $2" >&2
    exit "$1"
}

need() {
    for tool; do
        command -v "$tool" >/dev/null ||
            give_up 3 "no $tool here: install what tools/packages.txt lists"
    done
}

kernel() {
    header=${FREERTOS_KERNEL_PATH:-}/include/task.h
    major=$(sed -n 's/^#define tskKERNEL_VERSION_MAJOR[[:space:]]*\([0-9]*\).*/\1/p' "$header" \
        2>/dev/null || true)
    if [ "${major:-0}" -ge 10 ]; then
        echo freertos
    else
        [ -z "${FREERTOS_KERNEL_PATH:-}" ] ||
            echo "board_steps: $FREERTOS_KERNEL_PATH is no FreeRTOS 10 or later;" \
                "the gateway is built without a kernel" >&2
        echo none
    fi
}

make_image() {
    [ $# -eq 3 ] || give_up 2 "image takes ADAPTER ARM OUT.elf"
    need arm-none-eabi-gcc ninja
    live=
    if [ "$1" = lockstep ]; then
        need qemu-system-arm
    else
        need openocd
        live=--live
    fi
    mkdir -p "$(dirname "$3")"
    exec "$gateway/build_gateway_board.sh" "$3" --kernel "$(kernel)" --arm "$2" $live
}

# The value of a number of one JSON line.
value() {
    printf '%s\n' "$line" | sed -n "s/.*\"$1\":\([0-9.]*\).*/\1/p"
}

# What only some arms or adapters measure, in the others null.
optional="recorder_bytes recorder_dropped_events recorder_suppressed_events probe_bytes \
ring_highest_fill_bytes window_instructions"

# Sets $line to the JSON object of one run.
run() {
    [ $# -ge 3 ] || give_up 2 "run and load take ADAPTER BUILD IMAGE.elf; see the script's head"
    adapter=$1 build=$2 image=$3
    shift 3
    seconds=10 warm_up=1 rate=750 seed=1 record='' snapshot='' probe_rate=0
    while [ $# -gt 0 ]; do
        [ $# -gt 1 ] || give_up 2 "$1 takes a value"
        case $1 in
        --seconds) seconds=$2 ;;
        --warm-up) warm_up=$2 ;;
        --rate) rate=$2 ;;
        --seed) seed=$2 ;;
        --record) record=$2 ;;
        --snapshot) snapshot=$2 ;;
        --probe-rate) probe_rate=$2 ;;
        *) give_up 2 "there is no option $1" ;;
        esac
        shift 2
    done
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    if [ "$adapter" = lockstep ]; then
        run_lockstep
    else
        run_board
    fi
    line=${line%\}}
    for key in $optional; do
        case $line in
        *"\"$key\":"*) ;;
        *) line="$line,\"$key\":null" ;;
        esac
    done
    line="$line}"
}

run_lockstep() {
    set -- "$image" -q --seconds "$seconds" --warm-up "$warm_up" --rate "$rate" --seed "$seed"
    [ -z "$record" ] || set -- "$@" --record "$record" --probe-rate "$probe_rate"
    [ -z "$snapshot" ] || set -- "$@" --memory "$work/memory"
    "$build/cost/rigs/lockstep" "$@" >"$work/json"
    line=$(cat "$work/json")
    line="${line%\}},\"emulator\":\"$(qemu-system-arm --version | head -n 1)\"}"
    [ -z "$snapshot" ] || "$build/host/tare" snapshot "$work/memory" -o "$snapshot" 2>"$work/said" || {
        cat "$work/said" >&2
        exit 3
    }
}

run_board() {
    [ -z "$snapshot" ] || {
        echo "board_steps: --snapshot needs the adapter lockstep; the ring stays unread" >&2
        record=
    }
    set -- "$adapter" "$image" --seconds "$seconds" --warm-up "$warm_up" --rate "$rate" --runs 1 \
        --build "$build" -o "$work"
    [ -n "$record" ] || set -- "$@" --unread
    line=$("$boards/board.sh" "$@")
    [ -z "$record" ] || mv "$work/run-1.tare" "$record"
}

case ${1:-} in
image)
    shift
    make_image "$@"
    ;;
run)
    shift
    run "$@"
    printf '%s\n' "$line"
    ;;
load)
    shift
    set -- "$@" --record "$(mktemp)"
    for last; do :; done
    trap 'rm -f "$last"' EXIT
    run "$@"
    trap 'rm -rf "$work" "$last"' EXIT
    health=$("$build/host/tare" check --json "$last" | tr -d '\n')
    run_line=$line
    line=$(printf '%s' "$health" | sed 's/": /":/g')
    stored=$(value stored_events) lost=$(value lost_events)
    line=$run_line
    missing=$(value replies_missing)
    complete=no
    [ "$lost" -gt 0 ] || [ "$missing" -gt 0 ] || complete=yes
    limit=none
    [ "$probe_rate" -eq 0 ] || limit=$probe_rate
    printf '%s,"trace_stored_events":%s,"trace_lost_events":%s,"probe_limit":"%s"' "${line%\}}" \
        "$stored" "$lost" "$limit"
    printf ',"recorder_bytes_per_second":%s,"complete":"%s"}\n' \
        "$(($(value recorder_bytes) / (seconds + warm_up)))" "$complete"
    ;;
counted)
    [ $# -eq 3 ] || give_up 2 "counted takes BYTES RUN.out"
    line=$(tail -n 1 "$3")
    bytes=$(value recorder_bytes) dropped=$(value recorder_dropped_events)
    suppressed=$(value recorder_suppressed_events)
    [ -n "$bytes" ] && [ -n "$dropped" ] && [ -n "$suppressed" ] ||
        give_up 3 "$3 has no counts of a recorder: it must replace gateway_recorder_counts()"
    printf '{"stored_events":%s,"lost_events":%s}\n' "$((bytes / $2))" "$((dropped + suppressed))"
    ;;
kernel) kernel ;;
*) give_up 2 "give image, run, load, counted or kernel; see the first lines of the script" ;;
esac
