#!/usr/bin/env python3
"""ctest: timeout=180 labels=plain serial

Runs `make figures-linux` in its short form: its last line is one JSON object with all keys, the
figures that do not depend on the time are within cost/budgets.json, and the books of every
recording in that run are right to the event. Times are printed and decide nothing.
"""
import json
import os
import shutil
import subprocess
import sys

SOURCE = os.environ["SOURCE"]
BUILD = os.environ["BUILD"]

sys.path.insert(0, os.path.join(SOURCE, "tests", "target"))
import budgets  # noqa: E402

NUMBERS = ["event_u32_instructions", "event_u32_full_speed_instructions", "event_0_instructions",
           "event_2_instructions", "event_off_instructions", "event_compiled_out_instructions",
           "event_u32_bytes", "anchor_epoch_share", "event_u32_ns", "clock_and_store_ns",
           "event_u32_full_speed_mean_ns", "event_u32_lost_mean_ns", "lttng_event_u32_ns",
           "event_u32_ns_ratio_lttng", "decode_events_per_second", "decode_ratio_babeltrace2",
           "events_dropped_on_purpose", "accounting_error_events", "processors"]
TEXTS = ["tare_version", "compiler", "lttng_version", "babeltrace2_version", "valgrind_version",
         "processor", "system", "clock", "size"]


def main():
    for tool in ("valgrind", "lttng", "babeltrace2"):
        if not shutil.which(tool):
            print(f"skipped: no {tool}")
            sys.exit(77)
    run = subprocess.run([os.path.join(SOURCE, "cost", "figures", "figures_linux.sh"), BUILD, "short"],
                         stdout=subprocess.PIPE, text=True, check=False, timeout=170)
    if run.returncode != 0:
        sys.exit(f"figures_linux.sh: status {run.returncode}\n{run.stdout}")
    figures = json.loads(run.stdout.splitlines()[-1])
    wrong = [key for key in NUMBERS if not isinstance(figures.get(key), (int, float))]
    wrong += [key for key in TEXTS if not isinstance(figures.get(key), str)]
    if wrong:
        sys.exit(f"figures without a value: {' '.join(wrong)}")
    if figures["events_dropped_on_purpose"] == 0:
        sys.exit("nothing was dropped, so the books of a lossy recording were not tested")
    print(json.dumps(figures))
    os.makedirs(os.path.join(BUILD, "costs"), exist_ok=True)
    with open(os.path.join(BUILD, "costs", "linux.json"), "w", encoding="utf-8") as file:
        json.dump(figures, file, indent=1)
    if figures["clock"] != "processor counter":
        if figures["accounting_error_events"] != 0:
            sys.exit(f"accounting_error_events: {figures['accounting_error_events']}")
        print(f"skipped: this machine's events are stamped with {figures['clock']}; the budgets of "
              "instructions are for the processor's counter")
        sys.exit(77)
    sys.exit(budgets.compare({"linux_" + key: figures[key] for key in NUMBERS}, "linux_",
                             figures["compiler"]))


if __name__ == "__main__":
    main()
