#!/bin/sh
# tare dump: every form and filter on recordings whose every event is known; hostile names; exit codes.
set -eu
export PYTHONDONTWRITEBYTECODE=1

expect_status() {
    wanted=$1
    shift
    status=0
    "$@" >out 2>err </dev/null || status=$?
    if [ "$status" -ne "$wanted" ]; then
        echo "$*: status $status instead of $wanted"
        cat out err
        exit 1
    fi
}

same() {
    if ! diff -u "$1" "$2"; then
        echo "$1 and $2 differ: $3"
        exit 1
    fi
}

python3 "$SOURCE/tests/cli/sample_recording.py" "$SOURCE" .

# ---- text: a tick is 16 ns, so the event 100 ticks after the start stands at 1600 ns
expect_status 0 "$TARE" dump run.tare
test ! -s err
head -n 14 out >text
cat >wanted <<'END'
# session 00005E51, time 0 is 2023-11-14 22:13:20.000000 UTC
#      time, s  thread  event       arguments
   0.000001600  main    start
   0.000002400  worker  work begin  id=1
   0.000003200  main    block       size=512 B
   0.000003200  main    mode        state=busy
   0.000003200  main    log         length=10 B "hello, ä\x0A"
   0.000018400  worker  !! 3 events dropped, first at 0.000003200 s, last 4000 ns later (the ring had no room)
   0.000018400  worker  work end    id=1
   0.000018560  worker  work begin  id=1
   0.000018720  worker  work begin  id=1
   0.000018880  worker  work begin  id=1
   0.000019040  worker  work begin  id=1
   0.000019200  worker  work begin  id=1
END
same wanted text 'the text form'
tail -n 4 out >text
cat >wanted <<'END'
   0.000027040  worker  !! 64 words were not read: between 22 and 64 events are missing, from 0.000022240 s on
   0.000027040  worker  work begin  id=2
   0.000026960  worker  !! clock-backwards: time goes backwards, at word 136 of the stream, by 80 ns
   0.000026960  worker  work end    id=9
END
same wanted text 'gap and clock fault in the text form'

# ---- filters
expect_status 0 "$TARE" dump --thread main --kind 'l*,pair' run.tare
grep -v '^#' out | cut -c 25- >text
cat >wanted <<'END'
log         length=10 B "hello, ä\x0A"
level       value=-3 blocks
pair        ratio=1.5 mask=0x0000BEEF
-- end: the recording of this stream was ended in order
END
same wanted text '--thread and --kind'
expect_status 0 "$TARE" dump --kind state --from 3200ns --to 19us run.tare
test "$(grep -c 'mode' out)" -eq 1
grep -q 'state=busy' out
expect_status 0 "$TARE" dump --thread 2 --kind nothing run.tare
test "$(grep -c '!!' out)" -eq 3 # losses and faults are shown whatever is asked for
test "$(grep -vc '^#' out)" -eq 3
expect_status 0 "$TARE" dump --thread nobody run.tare
test "$(grep -vc '^#' out)" -eq 0
grep -q 'run.tare: none of its 36 events is what --from, --to, --thread and --kind ask for' err

# ---- a kernel: what its objects did in words, and the task that runs in the place of the thread
expect_status 0 "$TARE" dump kernel.tare
test ! -s err
cat >wanted <<'END'
# session 00005E51
#      time, s  thread       event              arguments
   0.000000000  stream 0     worker created     priority=3
   0.000000000  stream 0     pending created    length=8
   0.000010000  stream 0     worker ready
   0.000011000  worker       worker runs
   0.000012000  worker       block              size=512 B
   0.000013000  worker       pending block on receive
   0.000014000  other tasks  other tasks runs
   0.000015000  other tasks  Ethernet enter
   0.000016000  other tasks  pending send
   0.000017000  other tasks  Ethernet exit
   0.000018000  worker       worker runs
   0.000019000  worker       settings take
   0.000019000  worker       settings holder    task=worker
   0.000019000  worker       worker delay       time=5 ticks of the kernel
   0.000019000  worker       settings bits      bits=0x000000F0
   0.000019000  worker       heap allocated     size=64 B address=0x20001000
   0.000019000  worker       heap freed         size=64 B address=0x20001000
   0.000019000  worker       #7F0 kind 99       value=0x00000001
   0.000019000  worker       worker deleted
   0.000019000  worker       sender created     priority=4
   0.000020000  sender       sender runs
   0.000120000  stream 0     !! 3 events dropped, first at 0.000070000 s, last 20.0 us later (the ring had no room)
   0.000121000  stream 0     pending send
END
same wanted out 'a kernel in the text form'
expect_status 0 "$TARE" dump --listing kernel.tare
python3 "$SOURCE/spec/reference_decoder.py" kernel.tare >wanted
same wanted out 'listing of a kernel and reference decoder'

# events FILTER...: the lines of kernel.tare that pass, losses aside, without time and thread.
events() {
    expect_status 0 "$TARE" dump "$@" kernel.tare
    grep -v -e '^#' -e '!!' out | cut -c 30- >text || true
}
events --kind queue
printf '%s\n' 'pending created    length=8' 'pending block on receive' 'pending send' 'pending send' >wanted
same wanted text '--kind by class'
events --kind 'sender*,settings take,heap,deleted'
cat >wanted <<'END'
settings take
heap allocated     size=64 B address=0x20001000
heap freed         size=64 B address=0x20001000
worker deleted
sender created     priority=4
sender runs
END
same wanted text '--kind by object, by words, by what happened'
events --thread sender
printf '%s\n' 'sender runs' >wanted
same wanted text '--thread by task'
grep -q '3 events dropped' out # whatever was lost may have been of that task
events --thread 'stream 0' --kind runs
test "$(wc -l <text)" -eq 4
events --kind interrupt --thread nobody
test ! -s text
grep -q 'none of its 22 events' err
expect_status 0 "$TARE" dump ram.bin
head -n 4 out >text
cat >wanted <<'END'
# session 00005E51
# times are ticks: this recording does not say how long a tick is
#  time, ticks  thread       event             arguments
          1291  stream 0     !! 320 words before this were overwritten by newer ones
END
same wanted text 'an overwritten ring'

# ---- JSON lines and CSV, read by others' parsers
expect_status 0 "$TARE" dump --json run.tare
cp out json
expect_status 0 "$TARE" dump --csv run.tare
cp out csv
expect_status 0 "$TARE" dump --json kernel.tare
cp out kernel.json
expect_status 0 "$TARE" dump --csv kernel.tare
cp out kernel.csv
expect_status 0 "$TARE" dump --json hostile.tare
cp out hostile.json
expect_status 0 "$TARE" dump --csv hostile.tare
cp out hostile.csv
python3 - <<'END'
import csv, json

lines = [json.loads(line) for line in open("json", encoding="utf-8")]
assert lines[0]["type"] == "session" and lines[0]["schema_version"] == 1, lines[0]
assert lines[0]["ticks_per_second"] == 62500000, lines[0]
assert lines[0]["origin_realtime_ns"] == 1700000000000000000, lines[0]
events = [line for line in lines if line["type"] == "event"]
assert len(events) == 36, len(events)
assert events[0]["time_ns"] == 1600 and events[0]["time_ticks"] == 1000100, events[0]
named = {event["name"]: event for event in events}
assert named["level"]["arguments"] == [{"name": "value", "value": -3, "unit": "blocks"}], named["level"]
assert named["pair"]["arguments"][0]["value"] == 1.5, named["pair"]
assert named["pair"]["arguments"][1]["value"] == 0xBEEF, named["pair"]
assert named["log"]["text"] == "hello, ä\n", named["log"]
assert named["#816"]["class"] is None and named["#816"]["arguments"][0]["name"] is None, named["#816"]
busy = [event for event in events if event["name"] == "mode"][0]
assert busy["arguments"][0]["value_name"] == "busy" and busy["class"] == "state", busy
loss = [line for line in lines if line["type"] == "loss"]
assert len(loss) == 1 and loss[0]["class"] == "dropped" and loss[0]["events"] == 3, loss
assert loss[0]["first_ns"] == 3200 and loss[0]["span_ticks"] == 250 and not loss[0]["pending"], loss
gap = [line for line in lines if line["type"] == "gap"]
assert len(gap) == 1 and gap[0]["words"] == 64 and gap[0]["from_ns"] == 22240, gap
assert (gap[0]["events_at_least"], gap[0]["events_at_most"]) == (22, 64), gap
fault = [line for line in lines if line["type"] == "fault"]
assert [f["fault"] for f in fault] == ["clock-backwards"] and fault[0]["back_ticks"] == 5, fault
summary = lines[-1]
assert summary["type"] == "summary" and summary["printed_events"] == 36, summary
assert summary["stored_events"] == 38 and summary["dropped_events"] == 3, summary

rows = list(csv.DictReader(open("csv", encoding="utf-8", newline="")))
assert len(rows) == 36 + 1 + 1 + 1 + 1, len(rows) # and a loss, a gap, a fault, an end
assert rows[0]["time_s"] == "0.000001600" and rows[0]["name"] == "start", rows[0]
log = [row for row in rows if row["name"] == "log"][0]
assert log["text"] == "hello, ä\\x0A" and log["argument1"] == "10" and log["unit1"] == "B", log

# Objects of a kernel.
events = [line for line in map(json.loads, open("kernel.json", encoding="utf-8")) if line["type"] == "event"]
assert len(events) == 22, len(events)
created, ready, runs = events[0], events[2], events[3]
assert (created["name"], created["operation"], created["class"], created["object_id"], created["generation"],
        created["id"]) == ("worker", "created", "task", 0x10, 0, 0xC0A), created
assert created["arguments"] == [{"name": "priority", "value": 3, "unit": ""}] and "task" not in created, created
assert (ready["name"], ready["operation"], ready["arguments"], ready["id"]) == ("worker", "ready", [], 0x11), ready
assert runs["task"] == "worker" and runs["thread"] == "stream 0", runs
holder = [event for event in events if event.get("operation") == "holder"][0]
assert holder["arguments"] == [{"name": "task", "value": 16, "value_name": "worker", "unit": ""}], holder
unknown = [event for event in events if event.get("operation") == "kind 99"][0]
assert (unknown["name"], unknown["object_id"], unknown["generation"]) == ("#7F0", 0x7F0, 3), unknown
sender = [event for event in events if event["name"] == "sender"][-1]
assert (sender["operation"], sender["generation"], sender["task"]) == ("runs", 1, "sender"), sender
rows = list(csv.DictReader(open("kernel.csv", encoding="utf-8", newline="")))
assert len(rows) == 23, len(rows)
assert (rows[4]["name"], rows[4]["kind"], rows[4]["task"]) == ("block", "event", "worker"), rows[4]
assert (rows[12]["name"], rows[12]["argument1"]) == ("settings holder", "worker"), rows[12]
assert (rows[15]["name"], rows[15]["argument1"], rows[15]["unit1"], rows[15]["argument2"]) == \
    ("heap allocated", "64", "B", "0x20001000"), rows[15]

# What the recorded program says stays data.
event, text = [json.loads(line) for line in open("hostile.json", encoding="utf-8")][1:3]
assert event["name"] == "\x1b[31mred\x07" and event["arguments"][0]["name"] == 'a"b,c', event
assert text["text"] == 'a\ufffdb"c\n\ufffd', text
rows = list(csv.DictReader(open("hostile.csv", encoding="utf-8", newline="")))
assert rows[0]["name"] == "\\x1B[31mred\\x07", rows[0]
assert rows[1]["text"] == 'a\\x00b"c\\x0A\\x9B', rows[1]
END
expect_status 0 "$TARE" dump hostile.tare
if LC_ALL=C grep -q '[^ -~]' out; then
    echo "a byte that is no printable character came through:"
    cat -v out
    exit 1
fi
grep -q '"a\\x00b\\"c\\x0A\\x9B"' out

# ---- listing: what the reference decoder says
expect_status 0 "$TARE" dump --listing run.tare
python3 "$SOURCE/spec/reference_decoder.py" run.tare >wanted
same wanted out 'listing and reference decoder'
expect_status 2 "$TARE" dump --listing --kind x run.tare
grep -q 'leave out' err

# ---- raw streams, without a clock: times are ticks
expect_status 0 "$TARE" dump raw.bin
grep -q '^# times are ticks' out
grep -Eq '^ +12  stream 1  #810 +0x00000002$' out
expect_status 0 "$TARE" dump --from 1s raw.bin
grep -q 'does not say how long a tick is' err

# ---- standard input and output
"$TARE" dump - <run.tare >piped
"$TARE" dump run.tare >out
same out piped 'a file on standard input'
cat run.tare | "$TARE" dump - >piped
same out piped 'a pipe on standard input'
"$TARE" dump -- run.tare >piped
same out piped 'behind --'
# Whoever reads the output may have enough: no message.
{ "$TARE" dump run.tare 2>err; } | head -n 1 >one
test ! -s err
(trap '' PIPE; i=0; while [ $i -lt 50 ]; do "$TARE" dump run.tare 2>>err; i=$((i + 1)); done) | head -n 1 >one
test ! -s err
expect_status 2 sh -c '"$TARE" dump run.tare >/dev/full'
grep -q 'No space left' err

# ---- what cannot be read
expect_status 2 "$TARE" dump missing.tare
grep -q 'missing.tare: cannot be opened: No such file' err
expect_status 2 "$TARE" dump .
grep -q 'is a directory' err
: >empty
expect_status 4 "$TARE" dump empty
grep -q 'is empty' err
expect_status 4 "$TARE" dump "$0"
grep -q 'holds no recording' err
expect_status 4 sh -c '(head -c 8 run.tare; printf "\005"; tail -c +10 run.tare) >later; "$TARE" dump later'
grep -q 'is a Tare file of version 5, this program reads version 1' err
expect_status 2 "$TARE" dump
expect_status 2 "$TARE" dump run.tare raw.bin
expect_status 2 "$TARE" dump --json --csv run.tare
grep -q 'one of --json, --csv and --listing' err
expect_status 2 "$TARE" dump --from 2s --to 1s run.tare
expect_status 2 "$TARE" dump --form text run.tare
