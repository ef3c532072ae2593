#!/bin/sh
# tare check: verdict, numbers and exit codes on recordings whose every event is known.
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

# expect_line PATTERN: a line of the last output matches it.
expect_line() {
    if ! grep -Eq -- "$1" out; then
        echo "no line matches '$1':"
        cat out
        exit 1
    fi
}

vector() {
    sed 's/#.*//' "$SOURCE/spec/vectors/$1.hex" | tr -d ' \n' | python3 -c \
        'import sys; sys.stdout.buffer.write(bytes.fromhex(sys.stdin.read()))' >"$2"
}

python3 "$SOURCE/tests/cli/sample_recording.py" "$SOURCE" .

# ---- text: the verdict is the first line
expect_status 0 "$TARE" check run.tare
test ! -s err
head -n 1 out >first
cat >wanted <<'END'
run.tare: damaged: the clock went back 1 time; every intact block was read; 3 of 41 attempted events are missing (3 dropped, 0 suppressed, 0 torn), and 1 gap holds 22 to 64 events that were not read
END
diff -u wanted first
expect_line '^  command +\./app --fast$'
expect_line '^  events +41 attempted = 38 stored \+ 3 dropped \+ 0 suppressed \+ 0 torn \(exact for 1 of 2 streams, else at least\)$'
expect_line '^  session +00005E51, began 2023-11-14 22:13:20 UTC, recorded from 0\.000000000 s to 0\.000027040 s$'
expect_line '^  clock +62500000 ticks/s, by two readings of both clocks 1 s apart'
expect_line '^  2 worker +31 +28 +3 +0 +0  closed, counts are at least$'
expect_line '^ +26  work \(span_begin\)$'
expect_line '^ +1  #816 \(no definition\)$'
expect_line '^  worker: 3 events dropped from 0\.000003200 s to 0\.000007200 s$'
expect_line '^  worker: gap of 64 words \(22 to 64 events\) from 0\.000022240 s to 0\.000027040 s$'
expect_line '^  worker: clock-backwards by 5 ticks at word 136, 0\.000026960 s$'
expect_status 1 "$TARE" check --strict run.tare

# ---- JSON
expect_status 0 "$TARE" check --json run.tare
python3 - <<'END'
import json

check = json.load(open("out", encoding="utf-8"))
wanted = {
    "schema": "tare check", "schema_version": 1, "file": "run.tare", "verdict": "damaged", "healthy": False,
    "lossy": True, "damaged": True, "unfinished": False, "attempted_events": 41, "stored_events": 38,
    "lost_events": 3, "dropped_events": 3, "suppressed_events": 0, "torn_events": 0, "counts_exact": False,
    "gaps": 1, "gap_words": 64, "gap_events_at_least": 22, "gap_events_at_most": 64, "input": "tare",
    "collector_finished": True, "poll_requested_ns": 1000000, "poll_mean_ns": 1100000,
    "poll_longest_ns": 3000000, "command_status": 0, "places_total": 3, "active_streams": 0,
}
for key, value in wanted.items():
    assert check[key] == value, (key, check[key], value)
assert check["faults"]["clock-backwards"] == 1 and sum(check["faults"].values()) == 1, check["faults"]
assert check["sessions"][0]["clock"]["source"] == "snapshots", check["sessions"]
assert check["sessions"][0]["clock"]["ticks_per_second"] == 62500000, check["sessions"]
main, worker = check["streams"]
assert main["name"] == "main" and main["ended_in_order"] and main["counts_exact"], main
assert worker["stored_events"] == 28 and worker["gap_words"] == 64 and not worker["counts_exact"], worker
assert {k["name"]: k["events"] for k in check["kinds"] if k["class"] != "span_begin"} == {
    "mode": 2, "work": 2, "start": 1, "block": 1, "level": 1, "log": 1, "#816": 1, "pair": 1}, check["kinds"]
loss, gap, fault = check["places"]
assert (loss["what"], loss["events"], loss["from_ns"], loss["to_ns"]) == ("dropped", 3, 3200, 7200), loss
assert (gap["what"], gap["words"], gap["from_ns"], gap["to_ns"]) == ("gap", 64, 22240, 27040), gap
assert (fault["what"], fault["back_ticks"], fault["index_words"]) == ("clock-backwards", 5, 136), fault
END
expect_status 1 "$TARE" check --strict --json run.tare

# ---- a healthy one, and what strict asks for
vector good/tare_all_chunks well.tare
expect_status 0 "$TARE" check --strict well.tare
expect_line '^well.tare: complete: 2 events of 1 stream in .*, nothing lost, nothing damaged$'
expect_line '\(exact\)$'
size=$(wc -c <well.tare)
head -c $((size - 20)) well.tare >cut.tare
expect_status 0 "$TARE" check cut.tare
expect_line '^cut.tare: unfinished: the file is cut$'
expect_status 1 "$TARE" check --strict cut.tare
for vector in good/tare_killed_after_storing good/tare_killed_after_counting; do
    vector $vector killed.tare
    expect_status 0 "$TARE" check killed.tare
    expect_line ' \+ 0 torn'
done
vector good/tare_pending pending.tare
expect_status 0 "$TARE" check pending.tare
expect_line ', at the very end$'
expect_status 1 "$TARE" check --strict pending.tare
vector bad/tare_piece_middle piece.tare
expect_status 0 "$TARE" check piece.tare
expect_line '^piece.tare: damaged: 1 fault in the file; every intact block was read'
expect_line 'file: bad-piece, 256 bytes at offset'
vector bad/tare_header_magic magic.tare
expect_status 0 "$TARE" check magic.tare
expect_line '1 block that no hash vouches for|blocks that no hash vouches for'
vector good/tare_no_stream nothing.tare
expect_status 0 "$TARE" check nothing.tare
expect_line '^nothing.tare: empty: the recording holds no event'
expect_status 1 "$TARE" check --strict nothing.tare

# ---- objects of a kernel
expect_status 0 "$TARE" check kernel.tare
expect_line '^kernel.tare: lossy: 3 of 25 attempted events are missing'
expect_line '^  objects +5 of a kernel: 2 tasks, 1 queue, 1 mutex, 1 interrupt; 1 names table was read$'
expect_line '^ +1 event of objects that found no number of their own'
expect_line '^ +2  worker runs \(task\)$'
expect_line '^ +1  sender runs \(task\)$'
expect_line '^ +10  kernel$'
expect_status 0 "$TARE" check --json kernel.tare
python3 - <<'END'
import json

check = json.load(open("out", encoding="utf-8"))
assert check["kernel_objects"] == 5 and check["kernel_objects_unnamed"] == 0, check
assert check["kernel_objects_by_class"] == {"task": 2, "queue": 1, "mutex": 1, "interrupt": 1}, check
assert check["names_tables"] == 1 and check["unnumbered_events"] == 1 and check["names_lost"] == 0, check
runs = [kind for kind in check["kinds"] if kind.get("operation") == "runs"]
assert [(kind["name"], kind["class"], kind["generation"], kind["events"]) for kind in runs] == [
    ("worker", "task", 0, 2), ("other tasks", "task", 0, 1), ("sender", "task", 1, 1)], runs
assert [(kind["name"], kind["class"]) for kind in check["kinds"] if kind["id"] == 0xC0A] == [("kernel", "kernel")]
END

# ---- a ring that is overwritten: what was in front of the oldest block is no loss
expect_status 0 "$TARE" check --strict ram.bin
expect_line '^ram.bin: complete: 176 events of 1 stream, nothing lost, nothing damaged; 320 words before the oldest block were overwritten$'
expect_line '^  overwritten +320 words \(107 to 320 events\) before the oldest block'
expect_line '^  stream 0: overwritten: 320 words \(107 to 320 events\) before 1291 ticks$'
if grep -q '^  late' out; then
    echo 'overwritten words are called late'
    exit 1
fi
# Its names table lies outside of what was saved: no damage, but not all is well.
head -c $(($(wc -c <ram.bin) - 4)) ram.bin >short.bin
expect_status 0 "$TARE" check short.bin
expect_line '^short.bin: complete: 176 events'
expect_line '^  file fault +1 x bad-names'
expect_line '; no names table was read$|^ +88  #010 \(no definition\)$'
grep -q 'names of kernel objects cannot be read' err
expect_status 1 "$TARE" check --strict short.bin

# ---- raw streams and images
expect_status 0 "$TARE" check raw.bin
expect_line '^  input +raw stream, [0-9]+ bytes$'
expect_line '^  clock +the recording does not say how long a tick is'
expect_status 0 "$TARE" check --strict raw.bin
{ printf 'boot: clock 72 MHz\r\n'; cat raw.bin; } >banner.bin
expect_status 0 "$TARE" check banner.bin
expect_line '^  before sync +20 bytes stood before the first block'
vector good/image image.bin
expect_status 0 "$TARE" check image.bin
expect_line '^image.bin: lossy: 4 of 9 attempted events are missing \(3 dropped, 0 suppressed, 1 torn\)'
expect_line '^  input +image of memory'
expect_line 'killed within a record'
vector bad/image_ring lost.bin
expect_status 4 "$TARE" check lost.bin
grep -q 'is not in this image; save more of the memory, or give the address of its first byte with --base' err

# ---- standard input, full disk, what cannot be read
"$TARE" check - <well.tare >out
expect_line '^-: complete'
expect_status 2 sh -c '"$TARE" check well.tare >/dev/full'
expect_status 2 "$TARE" check missing.tare
expect_status 2 "$TARE" check .
: >empty
expect_status 4 "$TARE" check --strict empty
grep -q 'is empty' err
vector bad/tare_version later.tare
expect_status 4 "$TARE" check later.tare
grep -q 'this program reads version 1; use the `tare` that made it or a later one' err
vector bad/version later.bin
expect_status 4 "$TARE" check later.bin
grep -q 'recorded in version 0 of the format' err
expect_status 2 "$TARE" check
expect_status 2 "$TARE" check --strcit well.tare
grep -q -- '--strict' err
if [ "$(id -u)" -ne 0 ]; then
    cp well.tare secret.tare
    chmod 0 secret.tare
    expect_status 2 "$TARE" check secret.tare
    grep -q 'Permission denied' err
fi
