"""What a recording of reader_firmware.c must hold: reader_check.py TARE RECORDING FIRST SECOND

All numbers are there, in order; before the reset those that were read. `filtered` behind: the extras
were switched off for a while.
"""
import json
import subprocess
import sys


def numbers(tare, recording):
    """Session to the values of its numbers and of its extras, in their order."""
    text = subprocess.run([tare, "dump", "--json", recording], stdout=subprocess.PIPE, check=True)
    found = {}
    for line in text.stdout.splitlines():
        note = json.loads(line)
        if note["type"] != "event" or note["name"] not in ("number", "extra"):
            continue
        values = found.setdefault(note["session"], {"number": [], "extra": []})
        values[note["name"]].append(note["arguments"][0]["value"])
    return found


def check(condition, text):
    if not condition:
        sys.exit("reader_check.py: " + text)


def main():
    tare, recording, first, second = sys.argv[1:5]
    first, second, options = int(first), int(second), sys.argv[5:]
    totals = json.loads(subprocess.run([tare, "check", "--json", recording],
                                       stdout=subprocess.PIPE, check=True).stdout)
    found = numbers(tare, recording)
    check(len(found) == 2, f"{len(found)} sessions, not 2: {sorted(found)}")
    before, after = (found[key] for key in sorted(found))
    lost = {stream["session"]: stream["dropped_events"] for stream in totals["streams"]}
    for key in sorted(found):
        values = found[key]["number"]
        check(values == sorted(set(values)), f"session {key}: order of the numbers")
        end = second if key == max(found) else values[-1] + 1
        missing = end - len(values)
        check(missing == lost[key] == 0,
              f"session {key}: {missing} numbers are missing, {lost[key]} events were dropped")
    # The burst before the reset may have been unread.
    last = before["number"][-1] + 1
    check(first - 300 <= last <= first + 150, f"{last} numbers before the reset")
    extras = len(range(0, second, 8))
    if "filtered" in options:
        check(extras * 0.1 < len(after["extra"]) < extras * 0.95,
              f"{len(after['extra'])} of {extras} extras passed the filter")
        check(after["extra"][0] < second // 4 and after["extra"][-1] > second - second // 8,
              f"extras from {after['extra'][0]} to {after['extra'][-1]}")
    else:
        check(len(after["extra"]) == extras, f"{len(after['extra'])} of {extras} extras")


main()
