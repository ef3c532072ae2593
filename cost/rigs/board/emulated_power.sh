#!/bin/sh
# Switches on the emulated board of adapter_emulated.cfg: emulated_power.sh BUILD WORK IMAGE SECONDS
#
# Starts QEMU and the JTAG model in the background and writes one line into WORK/power: the ports of
# JTAG, of blocks and of commands. WORK/console gets the firmware's UART. Whoever removes WORK switches
# the board off.
set -eu
build=$1
work=$2
image=$3
seconds=$4

"$build/cost/rigs/live" "$image" --serve --seconds "$seconds" --warm-up 0 --memory "$work/memory" \
    >"$work/console" 2>"$work/live.log" </dev/null &
live=$!

# first_line FILE PATTERN: waits until a line matches
first_line() {
    tries=150
    until line=$(grep -m 1 "$2" "$1" 2>/dev/null); do
        tries=$((tries - 1))
        if [ $tries -eq 0 ] || ! kill -0 "$live" 2>/dev/null; then
            cat "$work/live.log" >&2
            exit 3
        fi
        sleep 0.2
    done
}
first_line "$work/console" '"data_port"'
ports=$(echo "$line" | sed 's/[^0-9]\{1,\}/ /g')
"$build/cost/rigs/jtag_model" "$work/memory" 0 >"$work/jtag" 2>"$work/jtag.log" </dev/null &
model=$!
(
    # OpenOCD must not see the model go away: it would end by an assertion.
    while [ -d "$work" ]; do sleep 0.2; done
    kill "$model" "$live" 2>/dev/null
) >/dev/null 2>&1 </dev/null &
first_line "$work/jtag" '^port '
echo "${line#port }$ports" >"$work/power"
