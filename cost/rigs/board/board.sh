#!/bin/sh
# The gateway's experiment on a board: OpenOCD loads and starts the firmware and serves the recorder's
# ring, `tare record tcp:` takes it, gateway_load sends real UDP, three runs of 60 seconds.
#
#     board.sh ADAPTER.cfg FIRMWARE.elf [--seconds N] [--warm-up N] [--rate N] [--runs N]
#              [--unread] [--build FOLDER] [-o FOLDER]
#
# ADAPTER.cfg is the one thing that a board decides: adapter_mps2.cfg for a board on the desk,
# adapter_emulated.cfg for one in software. It configures OpenOCD's probe and target and sets
# BOARD_ADDRESS, BOARD_PORTS (data and command), BOARD_CONSOLE (the firmware's UART, 115,200 baud)
# and the procedure board_start. The firmware is a --live build of the gateway. With --unread nobody
# reads the recorder's ring.
#
# Standard output: one JSON object a run. FOLDER (default: board-runs) keeps run-N.tare, .json, .log
# and what `tare check` says. Exit status: 0 measured, 2 wrong usage, 3 a run failed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
seconds=60
warm_up=2
rate=750
runs=3
build=$here/../../../build/dev
out=board-runs
adapter=
firmware=
unread=

give_up() {
    echo "board.sh: $2" >&2
    exit "$1"
}

while [ $# -gt 0 ]; do
    case $1 in
    --seconds | --warm-up | --rate | --runs | --build | -o)
        [ $# -gt 1 ] || give_up 2 "$1 takes a value"
        case $1 in
        --seconds) seconds=$2 ;;
        --warm-up) warm_up=$2 ;;
        --rate) rate=$2 ;;
        --runs) runs=$2 ;;
        --build) build=$2 ;;
        -o) out=$2 ;;
        esac
        shift
        ;;
    --unread) unread=yes ;;
    -*) give_up 2 "there is no option $1" ;;
    *) if [ -z "$adapter" ]; then adapter=$1; else firmware=$1; fi ;;
    esac
    shift
done
[ -f "$firmware" ] || give_up 2 "give an adapter's file and the firmware; see the first lines of the script"
[ -f "$adapter" ] || adapter=$here/$adapter
[ -f "$adapter" ] || give_up 2 "there is no adapter's file $adapter"
build=$(cd "$build" && pwd) || give_up 2 "there is no build folder $build"
tare=$build/host/tare
load=$build/cost/workloads/gateway/gateway_load
for tool in openocd arm-none-eabi-nm; do
    command -v "$tool" >/dev/null || give_up 3 "no $tool here: install what tools/packages.txt lists"
done
for program in "$tare" "$load"; do
    [ -x "$program" ] || give_up 3 "there is no $program: build it first (make all)"
done
block=
[ -n "$unread" ] || block=$(arm-none-eabi-nm "$firmware" | sed -n 's/ . tare0$//p')
mkdir -p "$out"
out=$(cd "$out" && pwd)

openocd=
recorder=
console=
work=
end_all() {
    for process in $console $recorder $openocd; do
        kill "$process" 2>/dev/null || true
        wait "$process" 2>/dev/null || true
    done
    openocd=
    recorder=
    console=
    [ -z "$work" ] || rm -rf "$work"
    work=
}
trap end_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# wait_for SECONDS FILE PATTERN: until a line is there; false when the time is up
wait_for() {
    tries=$(($1 * 5))
    until grep -q "$3" "$2" 2>/dev/null; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || return 1
        sleep 0.2
    done
}

# said NAME FILE: the value that rtt.cfg logged
said() {
    sed -n "s/^board: $1 //p" "$2"
}

one_run() {
    name=$out/run-$1
    rm -f "$name".*
    work=$(mktemp -d)
    openocd -c "set BUILD {$build}; set WORK {$work}; set IMAGE {$firmware}" \
        -c "set SECONDS $((seconds + warm_up)); set RTT_PORT 0; set CB 0x${block:-0}" \
        -f "$adapter" -f "$here/board_run.cfg" >"$name.log" 2>&1 &
    openocd=$!
    if [ -n "$block" ]; then
        ready='Listening on port [0-9]* for rtt'
    else
        ready='^board: console'
    fi
    if ! wait_for 60 "$name.log" "$ready"; then
        tail -n 5 "$name.log" >&2
        give_up 3 "run $1: OpenOCD does not get the board to run; see $name.log"
    fi
    tail -f -c +1 "$(said console "$name.log")" >"$name.console" 2>/dev/null &
    console=$!
    if [ -n "$block" ]; then
        port=$(sed -n 's/.*Listening on port \([0-9]*\) for rtt.*/\1/p' "$name.log")
        "$tare" record -q "tcp:127.0.0.1:$port" -o "$name.tare" &
        recorder=$!
        sleep 1 # names and definitions first
    fi
    "$load" --address "$(said address "$name.log")" --data-port "$(said data "$name.log")" \
        --command-port "$(said command "$name.log")" --seconds "$seconds" --warm-up "$warm_up" \
        --rate "$rate" >"$name.load" || give_up 3 "run $1: the load failed"
    wait_for 30 "$name.console" '"workload"' ||
        give_up 3 "run $1: the firmware printed no measurements; see $name.console"
    sleep 2 # what is still in the ring
    end_all
    # Two objects become one: both are of one line.
    sed -n 's/^\({.*"workload".*\)}[^}]*$/\1/p' "$name.console" | tail -n 1 >"$name.json"
    sed 's/^{/,/' "$name.load" >>"$name.json"
    merged=$(tr -d '\n\r' <"$name.json")
    printf '%s\n' "$merged" | tee "$name.json"
    if [ -n "$block" ]; then
        "$tare" check --json "$name.tare" >"$name.check.json" ||
            give_up 3 "run $1: $name.tare cannot be read"
    fi
    rm -f "$name.load"
}

run=1
while [ "$run" -le "$runs" ]; do
    one_run "$run"
    run=$((run + 1))
done
