#!/bin/sh
# What an experiment says whose program runs on a target, and what stands before its first run:
# images that the set-up builds, load selection, one seed a block.
set -eu

cat >load.sh <<'END'
test "$1" -lt 3000 || { echo "too much for it" >&2; exit 5; }
echo "noise"
echo "{\"rate\": $1, \"limit\": \"none\", \"lost\": $(($1 / 1000)), \"fits\": \"$2\"}"
END
cat >experiment.yaml <<'END'
title: A target
question: Is it told apart?
target: toy board
spread: toy seed
blocks: 3
metrics:
  - {name: cost, unit: us, primary: true, margin: 1, reason: as the test says, resolution: 0.5}
  - {name: block, unit: blocks}
arms:
  - name: "off"
    role: baseline
    setup:
      - run: [sh, -c, 'mkdir -p "$1/images" && printf 1234567 >"$1/images/off.elf"', x, "${out}"]
    command: [echo, '{"cost": 10, "block": ${block}}']
    images: ["${out}/images/off.elf"]
  - name: other
    role: change
    command: [echo, '{"cost": 10, "block": ${block}}']
    images: ["${out}/images/off.elf"]
load_selection:
  note: One run at each load.
  columns:
    - {name: per second, place: rate}
    - {name: limit, place: limit}
    - {name: lost events, place: lost}
    - {name: complete, place: fits}
  rows:
    - run: [sh, load.sh, "100", "yes"]
    - run: [sh, load.sh, "2000", "no"]
    - run: [sh, load.sh, "4000", "no"]
END
"$TARE" cost run experiment.yaml -o out >text 2>err
grep -q 'load selection, row 3: exit status 5' err
grep -q '^ *2000 *none *2 *no$' text
grep -q 'not measured: exit status 5' text
grep -q 'repeats to the byte' text
grep -q 'too much for it' out/logs/load03.err
head -n 1 out/runs.csv | grep -q ',cost,block,sentinel'

python3 - <<'END'
import csv, json, pathlib
data = json.load(open("out/analysis.json"))
rows = data["load_selection"]["rows"]
assert rows[0] == {"not_measured": None, "per second": "100", "limit": "none", "lost events": "0",
                   "complete": "yes"}, rows[0]
assert rows[2] == {"not_measured": "exit status 5"}, rows[2]
assert [float(r["block"]) for r in csv.DictReader(open("out/runs.csv"))] == [1, 1, 2, 2, 3, 3]
image = data["arms"][0]["images"][0]
assert image["file_bytes"] == 7 and image["hash"].startswith("xxh3-128:"), image
assert json.load(open("out/manifest.json"))["arms"][0]["images"][0]["hash"] == image["hash"]
checks = {c["name"]: c for c in data["checks"]}
assert checks["Machine speed over time"]["text"].startswith("every time is that of the toy board")
assert checks["Resolution"]["state"] == "good", checks["Resolution"]
page = open("out/report.html").read()
assert page.count("over toy seeds") >= 3 and "toy board" in page
assert "CPU time of a whole run" not in page and "Largest resident" not in page
assert "Time of the fixed computation" not in page
assert not pathlib.Path("out/plots/sentinel-order.svg").exists()
assert "sentinel-order" not in open("out/report.md").read()
assert "| 2000 | none | 2 | no |" in open("out/report.md").read()
END

# A set-up that fails says what the program said; nothing is measured.
sed 's/printf 1234567 .*off.elf"/echo no compiler >\&2; exit 3/' experiment.yaml >broken.yaml
status=0
"$TARE" cost run broken.yaml -o broken >/dev/null 2>err || status=$?
[ $status -eq 3 ] && grep -q "set-up failed: arm 'off'.*exit status 3; it said: no compiler" err
[ "$(wc -l <broken/runs.csv)" -le 1 ] || exit 1

# This machine's figures are not the target's.
sed 's/name: block, unit: blocks/name: lab.process_cpu_ms/' experiment.yaml >wrong.yaml
status=0
"$TARE" cost run wrong.yaml -o wrong >/dev/null 2>err || status=$?
[ $status -eq 2 ] && grep -q "wrong.yaml:8:12: 'lab.process_cpu_ms' is of this machine" err
# Rows are checked as every other command is.
for change in 's/load.sh, "100"/load.sh, "${bolck}"/' 's/\[sh, load.sh, "100"/[hs, load.sh, "100"/' \
    's/place: rate/plaice: rate/'; do
    sed "$change" experiment.yaml >wrong.yaml
    status=0
    "$TARE" cost run wrong.yaml -o wrong >/dev/null 2>err || status=$?
    [ $status -eq 2 ] && grep -q '^tare: wrong.yaml:[0-9]*:[0-9]*: ' err || {
        echo "$change: status $status"
        cat err
        exit 1
    }
done
