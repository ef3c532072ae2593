#!/bin/sh
# One LTTng session for one run of an experiment: a daemon of its own, one channel, and the trace in a
# folder. LTTNG_HOME (set by the experiment) is where the daemon keeps its sockets.
#   lttng_session.sh begin FOLDER EVENTS [enable-channel options...]
#   lttng_session.sh end FOLDER         stops the session; the daemon stays, so that it can be measured
#   lttng_session.sh quit FOLDER        ends the daemon that `begin` started
#   lttng_session.sh health FOLDER      prints stored and lost events as one JSON object
set -eu

fail() {
    echo "lttng_session.sh: $*" >&2
    exit 1
}

[ $# -ge 2 ] || fail "usage: lttng_session.sh begin|end|quit|health FOLDER ..."
step=$1
folder=$2

pid_file() {
    if [ "$(id -u)" -eq 0 ]; then
        echo /var/run/lttng/lttng-sessiond.pid
    else
        echo "$LTTNG_HOME/.lttng/lttng-sessiond.pid"
    fi
}

case $step in
begin)
    events=$3
    shift 3
    # Socket paths may have 107 letters; the daemon adds some 35.
    [ "${#LTTNG_HOME}" -le 70 ] || fail "the path of LTTNG_HOME is too long for a socket: $LTTNG_HOME"
    # Root has one place for its daemon, whatever LTTNG_HOME says.
    if pgrep -x -U "$(id -u)" lttng-sessiond >/dev/null; then
        fail "a session daemon is running already; stop it first"
    fi
    mkdir -p "$LTTNG_HOME" "$folder"
    lttng-sessiond --background --no-kernel --quiet
    cp "$(pid_file)" "$folder/daemon.pid"
    lttng --no-sessiond create run --output="$folder/trace" >/dev/null
    lttng --no-sessiond enable-channel --userspace --session=run "$@" channel >/dev/null
    lttng --no-sessiond enable-event --userspace --session=run --channel=channel "$events" >/dev/null
    lttng --no-sessiond add-context --userspace --session=run --channel=channel --type=vtid >/dev/null
    lttng --no-sessiond start run >/dev/null
    ;;
end)
    status=0
    lttng --no-sessiond stop run >/dev/null || status=1
    lttng --no-sessiond list run >"$folder/session.txt" || status=1
    lttng --no-sessiond destroy run >/dev/null || status=1
    exit $status
    ;;
quit)
    [ -e "$folder/daemon.pid" ] || exit 0
    daemon=$(cat "$folder/daemon.pid")
    rm "$folder/daemon.pid"
    kill "$daemon"
    tries=0
    while kill -0 "$daemon" 2>/dev/null; do
        tries=$((tries + 1))
        [ $tries -le 100 ] || fail "the session daemon $daemon does not end"
        sleep 0.05
    done
    ;;
health)
    stored=$(babeltrace2 "$folder/trace" --component=sink.utils.counter 2>"$folder/reader.txt" |
        awk '/ Event messages/ {count = $1} END {print count + 0}')
    lost=$(sed -n 's/.*Discarded events: *\([0-9]*\).*/\1/p' "$folder/session.txt" |
        awk '{sum += $1; seen = 1} END {if (seen) print sum; else print "null"}')
    echo "{\"stored_events\":$stored,\"lost_events\":$lost}"
    ;;
*)
    fail "unknown step '$step'"
    ;;
esac
