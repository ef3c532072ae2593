#!/bin/sh
# What events cost on a Cortex-M3, in the hooks of a kernel: figures_cortexm.sh BUILD
#
# Prints one JSON object as the last line of standard output, above it a line for each other core:
# `make figures-cortexm`. What the keys mean stands in README.md beside this file. On the kernel in
# the folder FREERTOS_KERNEL_PATH where that is set, else on the hooks alone. The exit status is 1
# when a budget of cost/budgets.json is not kept, 77 when a tool is missing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=$(cd "$here/../.." && pwd)
BUILD=$(cd "$1" && pwd)
TARE=$BUILD/host/tare
export SOURCE BUILD TARE

work=$(mktemp -d "${TMPDIR:-/tmp}/tare-figures.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work"

if [ ! -f "$BUILD/costs/ports.json" ]; then
    echo "figures: the other cores, about a minute" >&2
    python3 "$SOURCE/tests/target/ports/ports_check.py" >"$work/ports" || {
        cat "$work/ports" >&2
        exit 1
    }
fi
echo "figures: the hooks, about 20 s" >&2
python3 "$SOURCE/tests/target/kernel_figures.py"
