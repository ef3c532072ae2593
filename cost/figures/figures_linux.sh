#!/bin/sh
# What an event costs on this machine: figures_linux.sh BUILD [short]
#
# Prints one JSON object as the last line of standard output: `make figures-linux`. What the keys
# mean stands in README.md beside this file. `short` takes fewer events: the counts stay true, the
# times get worse. Without LTTng-UST and babeltrace2, or without valgrind, their figures are null.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
size=${2:-full}
programs=$build/cost/figures
tare=$build/host/tare

work=$(mktemp -d "${TMPDIR:-/tmp}/tare-figures.XXXXXX")
values=$work/values
session=tare-figures-$$
daemon=
created=

clean_up() {
    if [ -n "$created" ]; then
        lttng --no-sessiond destroy "$session" >/dev/null 2>&1 || true
    fi
    if [ -n "$daemon" ] && [ -s "$daemon" ]; then
        process=$(cat "$daemon")
        # Until it has gone, a daemon looks as if it could be used.
        for try in 1 2 3 4 5 6 7 8 9 10; do
            kill "$process" 2>/dev/null || break
            sleep 0.3
        done
    fi
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM

case $size in
full) full_events=4000000 beside_chunks=2000 decode_rounds=9 left=14 ;;
short) full_events=200000 beside_chunks=100 decode_rounds=3 left=4 ;;
*)
    echo "figures_linux.sh: '$size' is neither nothing nor short" >&2
    exit 2
    ;;
esac

step() {
    if [ -t 2 ]; then
        printf '\r\033[Kfigures: %s, about %s s left' "$1" "$left" >&2
    fi
    left=$((left - $2))
}

# record NAME RECORD_OPTION... -- PROGRAM...: runs, decodes, keeps all values as NAME.value
record() {
    name=$1
    shift
    "$tare" record -q -o "$work/$name.tare" "$@" >"$work/out"
    "$programs/figure_decode" "$work/$name.tare" "$decode_rounds" >>"$work/out"
    sed "s/^/$name./" "$work/out" >>"$values"
}

# Fewest instructions of a call of each loop: lines "PREFIX.LOOP.BATCH.least COUNT".
count_instructions() {
    prefix=$1
    for part in "$work/$prefix".callgrind.[0-9]*; do
        awk '
            /^desc: Trigger: --dump-after=/ { batch = $NF; sub(/.*=batch_/, "", batch) }
            # A function has its name beside its number where it first comes up.
            /^c?fn=/ {
                key = $1
                sub(/.*=/, "", key)
                if (NF > 1) names[key] = $2
                called = names[key]
            }
            /^calls=/ { getline; if (sub(/^loop_/, "", called)) print called "." batch, $2 }
        ' "$part"
    done | awk -v prefix="$prefix" '
        !($1 in least) || $2 < least[$1] { least[$1] = $2 }
        END { for (key in least) print prefix "." key ".least", least[key] }' >>"$values"
}

: >"$values"
step "counting instructions" 2
if command -v valgrind >/dev/null; then
    record counts --ring-bytes 4194304 --rings 2 -- valgrind --tool=callgrind \
        --callgrind-out-file="$work/on.callgrind" --dump-after='batch_*' \
        --log-file="$work/valgrind.log" "$programs/figure_counts"
    count_instructions on
    valgrind --tool=callgrind --callgrind-out-file="$work/out.callgrind" --dump-after='batch_*' \
        --log-file="$work/valgrind.log" "$programs/figure_counts_disabled" >/dev/null
    count_instructions out
fi

step "writing at full speed" 1
record full --ring-bytes 67108864 --rings 2 -- "$programs/figure_writer" full "$full_events"
step "losing events" 1
record lose --ring-bytes 512 --block-words 64 --rings 2 -- "$programs/figure_writer" lose 300000
record jitter --ring-bytes 1024 --block-words 64 --rings 2 --poll 137us -- \
    "$programs/figure_writer" lose 300000

step "writing beside LTTng" 6
lttng_quietly() {
    lttng --no-sessiond "$@" >"$work/lttng.log" 2>&1 || {
        echo "figures_linux.sh: lttng $* failed:" >&2
        cat "$work/lttng.log" >&2
        exit 1
    }
}
if command -v lttng >/dev/null && command -v lttng-sessiond >/dev/null &&
    command -v babeltrace2 >/dev/null; then
    # A daemon of our own, unless this user's (root: the machine's) already runs.
    export LTTNG_HOME="$work"
    if ! lttng --no-sessiond list >/dev/null 2>&1; then
        daemon=$work/daemon
        lttng-sessiond --daemonize --no-kernel --pidfile="$daemon" >/dev/null 2>&1
    fi
    lttng_quietly create "$session" --output="$work/lttng"
    created=yes
    lttng_quietly enable-channel -s "$session" -u --subbuf-size=8M --num-subbuf=16 channel
    lttng_quietly enable-event -s "$session" -u -c channel tare_figures:sample
    lttng_quietly start "$session"
    record beside --ring-bytes 8388608 --rings 2 -- "$programs/figure_writer" beside "$beside_chunks"
    lttng_quietly stop "$session"
    lttng_quietly destroy "$session"
    created=
    step "reading with babeltrace2" 3
    babeltrace2 "$work/lttng" -c sink.utils.counter -p step=+0 |
        awk '/ Event messages?$/ { print "lttng.stored", $1 }
             / Discarded event messages?$/ { print "lttng.lost", $1 }' >>"$values"
    for round in 1 2 3; do
        "$programs/figure_user_time" babeltrace2 "$work/lttng" -c sink.utils.dummy
    done | sort -n | sed -n 's/^/babeltrace2.user_s /;1p' >>"$values"
else
    record beside --ring-bytes 8388608 --rings 2 -- "$programs/figure_writer" beside "$beside_chunks"
fi
if [ -t 2 ]; then printf '\r\033[K' >&2; fi

version_of() {
    "$@" 2>/dev/null | sed -n '1s/^[^0-9]*//p'
}
{
    echo "text.tare_version $("$tare" --version | sed 's/^tare //')"
    echo "text.compiler $(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt" |
        while read -r compiler; do "$compiler" --version | sed -n 1p; done)"
    echo "text.lttng_version $(version_of lttng --version)"
    echo "text.babeltrace2_version $(version_of babeltrace2 --version)"
    echo "text.valgrind_version $(version_of valgrind --version)"
    echo "text.processor $(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | sed -n 1p)"
    echo "text.processors $(getconf _NPROCESSORS_ONLN)"
    echo "text.system $(uname -srm)"
    echo "text.clock $(grep -a -o '"clock":"[^"]*"' "$work/full.tare" | sed -n '1s/^"clock":"\(.*\)"$/\1/p')"
    echo "text.size $size"
} >>"$values"
awk -f "$here/figures_linux.awk" "$values"
