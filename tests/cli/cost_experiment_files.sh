#!/bin/sh
# ctest: timeout=60
# Every fault in an experiment file is refused with file, line and column, and status 2.
set -eu

cat >good.yaml <<'END'
title: Good
question: Is it?
blocks: 1
seed: 1
timeout_s: 5
metrics:
  - {name: cost, unit: ms, primary: true, margin: 1, reason: because}
  - name: lost
    unit: replies
    kind: loss
    of: cost
arms:
  - name: first
    role: baseline
    command: [echo, '{"cost": 1, "lost": 0}']
  - name: second
    role: change
    command: [echo, '{"cost": 1, "lost": 0}']
  - name: third
    role: recorder
    requires: [no-such-program-here]
    command: [no-such-program-here]
    environment: [A=b]
    recording: {path: x, check: [y], stored: s, lost: l}
comparisons:
  - {arm: second, against: third}
END
"$TARE" cost run good.yaml -o good >/dev/null

# refuse LINE:COLUMN PATTERN SED-SCRIPT
number=0
refuse()
{
    number=$((number + 1))
    sed "$3" good.yaml >bad.yaml
    if cmp -s good.yaml bad.yaml; then
        echo "case $number: '$3' changes nothing"
        exit 1
    fi
    status=0
    "$TARE" cost run bad.yaml -o "out$number" >out 2>err || status=$?
    if [ $status -ne 2 ] || ! grep -q "bad.yaml:$1: .*$2" err || [ -e "out$number" ]; then
        echo "case $number ($3): wanted status 2 and 'bad.yaml:$1: ...$2', got $status:"
        cat err
        exit 1
    fi
}

# Syntax and schema.
refuse '[0-9]*:[0-9]*' 'no valid YAML' 's/^title: Good/title: "Good/'
refuse '2:[0-9]*' 'no valid YAML' 's/^question:/	question:/'
refuse '1:1' 'empty' '1,$d'
refuse '1:1' 'expected a mapping' '2,$d; s/title: Good/- a/'
refuse '3:1' "unknown key 'blokcs'; the nearest is 'blocks'" 's/^blocks:/blokcs:/'
refuse '1:1' "'title' is missing" '/^title/d'
refuse '3:9' "'many' is no whole number.*'blocks'" 's/^blocks: 1/blocks: many/'
refuse '3:9' "'-1' is no whole number" 's/^blocks: 1/blocks: -1/'
refuse '4:1' "'blocks' is given twice" 's/^seed: 1/blocks: 1/'
refuse '14:11' "'base' is none of baseline, same, recorder, change (in 'role' of 'arms')" 's/role: baseline/role: base/'
refuse '7:37' "'maybe' is neither true nor false" 's/primary: true/primary: maybe/'
refuse '18:14' "a list of 0.*'command'" '/- name: second/,/- name: third/s/command: .*/command: []/'
refuse '18:14' 'expected a list' '/- name: second/,/- name: third/s/command: .*/command: echo/'
refuse '18:15' 'expected one value' '/- name: second/,/- name: third/s/command: .*/command: [[echo]]/'
refuse '7:51' "is no number" 's/margin: 1/margin: 1ms/'
refuse '1:1' "'arms' is missing" '/^arms:/,/^comparisons:/d; /- {arm/d'
refuse '6:[0-9]*' "in 'metrics'" '/^  - {name: cost/,/of: cost/d'

# What a schema cannot say.
refuse '3:9' 'blocks must be 1 to 200' 's/^blocks: 1/blocks: 0/'
refuse '3:9' 'blocks must be 1 to 200' 's/^blocks: 1/blocks: 201/'
refuse '5:12' 'timeout_s must be above 0' 's/^timeout_s: 5/timeout_s: 0/'
refuse '13:3' "no arm has 'role: baseline'" 's/role: baseline/role: change/'
refuse '17:11' "already the baseline" '/- name: second/,/- name: third/s/role: change/role: baseline/'
refuse '16:11' "two arms 'first'" 's/name: second/name: first/'
refuse '16:11' "must be 1 to 40 letters" 's/name: second/name: se.cond/'
refuse '18:15' "program 'ehco' is not there" '/- name: second/,/- name: third/s/\[echo/[ehco/'
refuse '18:21' 'unknown variable' '/- name: second/,/- name: third/s/\[echo, /[echo, "${bulid}", /'
refuse '23:19' "must be NAME=VALUE" 's/A=b/A/'
refuse '[0-9]*:[0-9]*' "needs 'recording'" '/^    recording/d'
refuse '7:5' "needs 'unit'" 's/unit: ms, //'
refuse '8:11' "two metrics 'cost'" 's/name: lost/name: cost/'
refuse '8:11' "the nearest is 'lab.wall_s'" 's/name: lost/name: lab.wall_sec/'
refuse '11:9' "there is no metric 'sent'" 's/of: cost/of: sent/'
refuse '8:5' "go together" '/of: cost/d'
refuse '7:51' 'must be above 0' 's/margin: 1/margin: 0/'
refuse '7:5' "needs 'margin'" 's/margin: 1, //'
refuse '7:5' "needs 'reason'" 's/, reason: because//'
refuse '7:3' 'no metric is primary' 's/primary: true, //'
refuse '10:11' 'cannot be primary' 's/kind: loss/kind: extreme\n    primary: true/; /of: cost/d'
refuse '26:[0-9]*' "there is no arm 'fourth'" 's/against: third/against: fourth/'
refuse '26:[0-9]*' "compared with the baseline" 's/against: third/against: first/'
refuse '26:5' "cannot be compared with itself" 's/against: third/against: second/'

# Not a file at all.
expect()
{
    status=0
    "$TARE" cost "$@" -o none >out 2>err || status=$?
    [ $status -eq 2 ] || { echo "wanted 2, got $status: $*"; cat err; exit 1; }
}
expect run no-such-file.yaml
expect run .
expect run
expect walk good.yaml
expect run good.yaml good.yaml
expect run good.yaml --blocks 0
expect run good.yaml --build no-such-folder
status=0
sed '/- name: second/,/- name: third/s/role: change/role: change\n    requires: [no-such-program-here]/' good.yaml >alone.yaml
"$TARE" cost run alone.yaml -o alone >out 2>err || status=$?
[ $status -eq 3 ] && grep -q 'only one arm can run here' err
