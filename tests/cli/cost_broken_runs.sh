#!/bin/sh
# ctest: timeout=120
# Broken runs void and repeat their block; what cannot go on stops with its reason and its data.
set -eu
echo 'echo "{\"cost\": $1}"' >cost.sh

# experiment COMMAND-WORDS-OF-THE-ARM [more lines]
experiment()
{
    cat <<END
title: Broken runs
question: What happens to a block whose run breaks?
blocks: 3
timeout_s: 1
repeats: 2
metrics:
  - {name: cost, unit: ms, primary: true, margin: 1, reason: as the test says}
arms:
  - {name: "off", role: baseline, command: [echo, '{"cost": 1}']}
  - {name: other, role: change, command: $1}
END
}

# expect STATUS PATTERN NAME COMMAND: runs it; the reason stands in runs.csv
expect()
{
    status=$1 pattern=$2 name=$3
    experiment "$4" >"$name.yaml"
    got=0
    "$TARE" cost run "$name.yaml" -o "$name" >"$name.txt" 2>"$name.err" || got=$?
    if [ "$got" != "$status" ] || ! grep -q -- "$pattern" "$name/runs.csv"; then
        echo "$name: wanted status $status and '$pattern', got $got"
        cat "$name.txt" "$name.err" "$name/runs.csv"
        exit 1
    fi
    test -s "$name/report.html" -a -s "$name/report.md" -a -s "$name/analysis.json"
}

# Once only: the block is made again, both attempts stay in the data.
expect 0 'exit status 9' once '[sh, -c, "test -e flag || { touch flag; exit 9; }; sh cost.sh 2"]'
grep -q 'the whole block is repeated' once.err
python3 - <<'END'
import csv, json
rows = list(csv.DictReader(open("once/runs.csv")))
voided = [r for r in rows if r["voided"] == "1"]
kept = [r for r in rows if r["voided"] == "0"]
assert len(kept) == 6 and voided, rows
assert {r["block"] for r in voided} == {"1"} and {r["attempt"] for r in voided} == {"1"}
assert all(r["void_reason"] for r in voided)
assert [r["attempt"] for r in kept if r["block"] == "1"] == ["2", "2"]
data = json.load(open("once/analysis.json"))
assert data["experiment"]["blocks_complete"] == 3 and data["experiment"]["blocks_voided"] == 1
END

expect 3 'exit status 9' always '[sh, -c, "exit 9"]'
grep -q 'too many broken runs' always.err
expect 3 'ended by signal 11' signal '[sh, -c, "kill -SEGV $$"]'
expect 3 'printed nothing' silent '["true"]'
expect 3 'printed no JSON object' words '[echo, hello]'
expect 3 "metric 'cost' is not in its output" missing '[echo, "{\"coast\": 2}"]'
expect 3 "metric 'cost' is no number" text '[echo, "{\"cost\": \"2\"}"]'

# A timeout ends the whole group, also a child that ignores the first signal.
expect 3 'timeout after' slow '[sh, -c, "echo $$ >pid; trap : TERM; while :; do sleep 0.1; done"]'
if kill -0 "$(cat pid)" 2>/dev/null; then
    echo "a process of the run outlived its timeout"
    exit 1
fi

# A recording that cannot be checked is not complete, and not hidden.
cat >health.yaml <<'END'
title: Health
question: What if the check fails?
blocks: 6
metrics:
  - {name: cost, unit: ms, primary: true, margin: 1, reason: as the test says}
arms:
  - {name: "off", role: baseline, command: [echo, '{"cost": 5}']}
  - {name: rec, role: recorder, command: [echo, '{"cost": 1}'],
     recording: {path: "${out}/none", check: ["false"], stored: a, lost: b}}
END
"$TARE" cost run health.yaml -o health >health.txt
grep -q 'rec left 6 of 6 recordings whose health is not known' health.txt
grep -q 'word withheld' health.txt

# Nothing lost, and yet damaged: not complete either.
sed 's/check: \["false"\], stored: a, lost: b/check: [echo, "{\\"a\\": 9, \\"b\\": 0, \\"fine\\": false}"], stored: a, lost: b, healthy: fine/' \
    health.yaml >damaged.yaml
"$TARE" cost run damaged.yaml -o damaged >damaged.txt
grep -q 'rec left 6 of 6 recordings damaged or with gaps' damaged.txt
grep -q 'word withheld' damaged.txt

# Steps around a run: `after` and `finally` run whatever happens; a failing set-up ends the experiment.
cat >steps.yaml <<'END'
title: Steps
question: In which order?
blocks: 1
metrics:
  - {name: cost, unit: ms, primary: true, margin: 1, reason: as the test says}
arms:
  - {name: "off", role: baseline, command: [echo, '{"cost": 5}']}
  - name: other
    role: change
    environment: [WHO=steps]
    setup: [{run: [sh, -c, "echo $WHO setup >>${out}/../steps"]}]
    before: [{run: [sh, -c, "echo before >>${out}/../steps"]}]
    command: [sh, -c, "echo run >>${out}/../steps; sh cost.sh 1"]
    after: [{run: [sh, -c, "echo after >>${out}/../steps"]}]
    finally: [{run: [sh, -c, "echo finally ${run} >>${out}/../steps"]}]
    teardown: [{run: [sh, -c, "echo teardown >>${out}/../steps"]}]
END
"$TARE" cost run steps.yaml -o steps_out >/dev/null
printf 'steps setup\nbefore\nrun\nafter\nfinally block01-other\nteardown\n' | cmp - steps
sed 's/echo $WHO setup/exit 4; echo/' steps.yaml >setup.yaml
status=0
"$TARE" cost run setup.yaml -o setup_out >/dev/null 2>setup.err || status=$?
[ $status -eq 3 ] && grep -q "set-up failed: arm 'other': step 1 of 'setup' (sh): exit status 4" setup.err

# Application and collector apart: CPU time and memory go to the one who used them.
cat >parts.yaml <<'END'
title: Parts
question: Who used what?
blocks: 1
metrics:
  - {name: cost, unit: ms, primary: true, margin: 1, reason: as the test says}
arms:
  - {name: "off", role: baseline, command: [echo, '{"cost": 5}']}
  - name: parts
    role: change
    command: ["${measure_collector}", sh, -c, 'i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done; "$@"', x,
              "${measure_process}", python3, -c, "x = bytearray(96 << 20); print('{\"cost\": 1}')"]
END
"$TARE" cost run parts.yaml -o parts >/dev/null
python3 - <<'END'
import csv
row = next(r for r in csv.DictReader(open("parts/runs.csv")) if r["arm"] == "parts")
value = {k: float(row["lab." + k]) for k in ("process_cpu_ms", "collector_cpu_ms", "process_peak_mib", "collector_peak_mib")}
assert value["collector_cpu_ms"] > 2 * value["process_cpu_ms"] > 0, value
assert value["process_peak_mib"] > 96 > 20 > value["collector_peak_mib"] > 0, value
END
