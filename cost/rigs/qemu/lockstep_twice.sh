#!/bin/sh
# Shows that a run in lock-step repeats to the byte: lockstep_twice.sh BUILD [FIRMWARE.elf [OPTION ...]]
#
# BUILD is a build folder with the program lockstep. Runs the firmware twice with the same seed and
# compares the hash of all reply bytes, the recording and the whole report; then once with another
# seed, which must differ, or the comparison would prove nothing. Without FIRMWARE: the gateway
# without a kernel, arms off and tare, built for this; OPTIONs are those of lockstep.
# Exit status: 0 identical, 1 not, 2 wrong usage, 3 a run failed or something is missing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

give_up() {
    echo "lockstep_twice: $2" >&2
    exit "$1"
}

[ $# -ge 1 ] || give_up 2 "give the build folder; see the first lines of the script"
build=$(cd "$1" && pwd)
shift
lockstep=$build/cost/rigs/lockstep
[ -x "$lockstep" ] || give_up 3 "there is no $lockstep: build it first (make all)"
command -v qemu-system-arm >/dev/null || give_up 3 "no qemu-system-arm here"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# The value of a text or number in a report: value KEY FILE
value() {
    sed -n "s/.*\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/p" "$2"
}

# run NAME SEED FIRMWARE [OPTION...]
run() {
    name=$1
    seed=$2
    shift 2
    "$lockstep" "$@" -q --seed "$seed" --record "$work/$name.tare" >"$work/$name.json" ||
        give_up 3 "the run '$name' failed; its own message stands above"
    printf '  %-14s replies %s  recording %s  report %s\n' "$name" \
        "$(value replies_xxh64 "$work/$name.json")" \
        "$(cksum <"$work/$name.tare" | tr ' ' -)" "$(cksum <"$work/$name.json" | tr ' ' -)"
}

# twice FIRMWARE [OPTION...]
twice() {
    echo "${1##*/}"
    run first 1 "$@"
    run second 1 "$@"
    run 'another seed' 2 "$@"
    cmp "$work/first.json" "$work/second.json" && cmp "$work/first.tare" "$work/second.tare" ||
        give_up 1 "two runs of the same image and seed differ"
    [ "$(value replies_xxh64 "$work/first.json")" != \
        "$(value replies_xxh64 "$work/another seed.json")" ] ||
        give_up 1 "another seed gives the same replies: the jitter has no effect"
    echo "  identical: replies, recording, report"
}

if [ $# -gt 0 ]; then
    twice "$@"
else
    for arm in off tare; do
        "$here/../../workloads/gateway/board/build_gateway_board.sh" "$work/$arm.elf" --kernel none \
            --arm "$arm" >&2 || give_up 3 "the firmware of the arm $arm cannot be built"
        twice "$work/$arm.elf" --seconds 3 --warm-up 1
    done
fi
