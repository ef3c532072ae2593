#!/bin/sh
# Runs a fuzz target from the vectors on, a bounded number of times with a fixed seed:
# run_fuzz.sh PROGRAM [RUNS [SEED]]. By hand: many runs and a seed of your own. What breaks a
# statement of docs/trust.md is left in the working directory as crash-...
# ctest: timeout=240 labels=plain
set -eu
vectors=$(cd "$(dirname "$0")/../../spec/vectors" && pwd)
program=$1
runs=${2:-4000}
seed=${3:-1}
mkdir -p seeds corpus
python3 -B - "$vectors" seeds <<'END'
import pathlib, re, sys
for path in pathlib.Path(sys.argv[1]).glob("*/*.hex"):
    data = bytes.fromhex(re.sub("#.*", "", path.read_text()))
    (pathlib.Path(sys.argv[2]) / (path.parent.name + "_" + path.stem)).write_bytes(data)
END
if ! "$program" -seed="$seed" -runs="$runs" -max_len=8192 -timeout=20 -rss_limit_mb=1024 \
    corpus seeds >log 2>&1; then
    grep -v '^#' log | tail -n 40
    exit 1
fi
tail -n 1 log
