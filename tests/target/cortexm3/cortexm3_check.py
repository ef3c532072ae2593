#!/usr/bin/env python3
"""ctest: timeout=120 labels=plain

Runs cortexm3_program.c on an emulated Cortex-M3 and checks, in this one run of this one binary:

  - its account: attempted = stored + dropped + suppressed, to the event, in what it collected from
    the ring and in the image of its memory, by the host program and by the reference decoder;
  - that losses, texts and times are right; all this once more for a program that is compiled for a
    Cortex-M0+, whose instructions the Cortex-M3 has as well, and the account with the smallest ring;
  - what an event costs in instructions, how many of them run with interrupts masked, and how large
    the recorder is, against cost/budgets.json.

Instructions are counted twice: from QEMU's log of every executed instruction, and from the board's
counter, which takes 4 steps in 5 instructions. The last line of standard output is a JSON object
with the costs; it is also written to BUILD/costs/cortexm3.json.
"""
import json
import os
import shutil
import sys

SOURCE = os.environ["SOURCE"]
BUILD = os.environ["BUILD"]

sys.path.insert(0, os.path.join(SOURCE, "tests", "target"))
import budgets  # noqa: E402
from target_run import (CORTEX_M0PLUS, CORTEX_M3, build, check_content_and_losses,  # noqa: E402
                        check_recording, instructions, run, run_and_measure, run_program,
                        section_sizes)


def main():
    for tool in ("arm-none-eabi-gcc", "qemu-system-arm"):
        if not shutil.which(tool):
            print(f"skipped: no {tool}")
            sys.exit(77)
    build(CORTEX_M0PLUS, "small.elf")
    account = run_program(CORTEX_M0PLUS, "small.elf")
    check_content_and_losses(CORTEX_M0PLUS, *check_recording(CORTEX_M0PLUS, "small.elf", account))
    build(CORTEX_M3, "smallest.elf", "-DTARE_RING_BYTES=512", "-DTARE_BLOCK_WORDS=64")
    check_recording(CORTEX_M3, "smallest.elf", run_program(CORTEX_M3, "smallest.elf"))

    build(CORTEX_M3, "program.elf")
    build(CORTEX_M3, "disabled.elf", "-DTARE_ENABLED=0")
    costs = {"cortexm3_" + name: cost
             for name, cost in run_and_measure(CORTEX_M3, "program.elf").items()}
    costs["compiler"] = run("arm-none-eabi-gcc", "--version").splitlines()[0]
    costs["cortexm3_event_compiled_out_instructions"] = \
        len(instructions(CORTEX_M3, "disabled.elf", "loop_event1")) - \
        len(instructions(CORTEX_M3, "disabled.elf", "loop_nothing"))
    costs["cortexm3_image_delta_bytes"] = \
        section_sizes(CORTEX_M3, "program.elf")[0] - section_sizes(CORTEX_M3, "disabled.elf")[0]
    os.makedirs(os.path.join(BUILD, "costs"), exist_ok=True)
    with open(os.path.join(BUILD, "costs", "cortexm3.json"), "w", encoding="utf-8") as file:
        json.dump(costs, file, indent=1)
    print(json.dumps(costs))
    sys.exit(budgets.compare(costs, "cortexm3_", costs["compiler"]))


if __name__ == "__main__":
    main()
