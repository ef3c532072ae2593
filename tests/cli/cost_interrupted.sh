#!/bin/sh
# ctest: timeout=60
# An interrupted experiment keeps every run, reports the complete blocks, and says so.
set -eu
echo 'echo "{\"cost\": $1}"' >cost.sh

cat >slow.yaml <<'END'
title: Interrupted
question: What is left?
blocks: 50
metrics:
  - {name: cost, unit: ms, primary: true, margin: 1, reason: as the test says}
arms:
  - {name: "off", role: baseline, command: [sh, -c, "sleep 0.05; sh cost.sh 1"]}
  - {name: other, role: change, command: [sh, -c, "sleep 0.05; sh cost.sh 2"],
     teardown: [{run: [touch, "${out}/torn_down"]}]}
END

"$TARE" cost run slow.yaml -o slow >slow.txt 2>slow.err &
lab=$!
tries=0
while [ ! -e slow/runs.csv ] || [ "$(wc -l <slow/runs.csv)" -lt 8 ]; do
    tries=$((tries + 1))
    [ $tries -lt 400 ] || { echo "no runs after 40 s"; cat slow.err; exit 1; }
    sleep 0.1
done
kill -INT $lab
status=0
wait $lab || status=$?
[ $status -eq 3 ] || { echo "ended with $status"; cat slow.err; exit 1; }
grep -q 'interrupted after [0-9]* of 50 blocks' slow.err
grep -q 'interrupted after' slow/report.html
test -e slow/torn_down
python3 - <<'END'
import csv, json
rows = list(csv.DictReader(open("slow/runs.csv")))
data = json.load(open("slow/analysis.json"))
complete = data["experiment"]["blocks_complete"]
kept = [r for r in rows if r["voided"] == "0"]
assert complete >= 3 and len(kept) == 2 * complete, (complete, len(kept))
assert data["experiment"]["stopped_early"].startswith("interrupted")
END
