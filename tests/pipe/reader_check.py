"""What a recording of reader_firmware.c must hold: reader_check.py TARE RECORDING FIRST SECOND

Options behind: `missing` when the reader may have come late or lost a race with the reset: then each
missing number must be counted as dropped (and so may extras be). `filtered`: the extras were switched off for a while.
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
    dropped = sum(stream["dropped_events"] for stream in totals["streams"]
                  if stream["session"] == max(found))

    # Up to the reset: from the first on, in order, none missing; the burst may have been unread.
    check(before["number"] == list(range(len(before["number"]))), "numbers before the reset")
    check(first - 200 <= len(before["number"]) <= first + 150,
          f"{len(before['number'])} numbers before the reset")
    # Behind it: all of them, in order.
    check(after["number"] == sorted(set(after["number"])), "order behind the reset")
    missing = second - len(after["number"])
    check(missing <= dropped <= missing + second // 8 if "missing" in options
          else missing == dropped == 0,
          f"behind the reset {missing} numbers are missing, {dropped} were dropped")
    extras = len(range(0, second, 8))
    if "filtered" in options:
        check(extras * 0.1 < len(after["extra"]) < extras * 0.95,
              f"{len(after['extra'])} of {extras} extras passed the filter")
        check(after["extra"][0] < 100 and after["extra"][-1] > second - 100,
              "extras are off at an end")
    elif missing == 0:
        check(len(after["extra"]) == extras, f"{len(after['extra'])} of {extras} extras")


main()
