#!/usr/bin/env python3
"""ctest: timeout=300 labels=plain

Runs cortexm3_program.c on every core that has a port, with every lock, and checks what it recorded
to the event, as cortexm3_check.py does for the Cortex-M3. What events cost is counted on each; the
last line of standard output is a JSON object with that, also written to BUILD/costs/ports.json.
"""
import json
import os
import re
import sys

SOURCE = os.environ["SOURCE"]
BUILD = os.environ["BUILD"]

sys.path.insert(0, os.path.join(SOURCE, "tests", "target"))
from target_run import (CORTEX_M0PLUS, CORTEX_M3, CORTEX_M4, CORTEX_M7, CORTEX_M33,  # noqa: E402
                        CORTEX_M55, RISCV32, build, check_content_and_losses, check_recording,
                        instructions, require, run, run_and_measure, run_program)

BASEPRI = "-DTARE_LOCK_BASEPRI=0x40"
COUNTED = {
    "cortexm0plus": (CORTEX_M0PLUS,),
    "cortexm3": (CORTEX_M3,),
    "cortexm3_basepri": (CORTEX_M3, BASEPRI),
    "cortexm4": (CORTEX_M4,),
    "cortexm7": (CORTEX_M7,),
    "cortexm33": (CORTEX_M33,),
    "cortexm55": (CORTEX_M55,),
    "riscv32": (RISCV32,),
}
ONLY_RUN = {
    "cortexm4_in_order": (CORTEX_M4, BASEPRI, "-DTARE_PORT_IN_ORDER=1"),
    "cortexm7_basepri": (CORTEX_M7, BASEPRI),
    "cortexm33_basepri": (CORTEX_M33, BASEPRI),
    "cortexm55_basepri": (CORTEX_M55, BASEPRI),
}


def has_barrier(board, program):
    """Has the fast path a barrier of the processor?"""
    return any(re.match("dmb|fence", line) for line in instructions(board, program, "tare_put1"))


def main():
    costs = {"compiler": run("arm-none-eabi-gcc", "--version").splitlines()[0],
             "compiler_riscv": run("riscv64-unknown-elf-gcc", "--version").splitlines()[0]}
    for name, (board, *options) in {**COUNTED, **ONLY_RUN}.items():
        print(f"{name}: {board.name} {' '.join(options)}", flush=True)
        build(board, "program.elf", "-DBATCHES=2u", *options)
        wanted = board not in (CORTEX_M0PLUS, CORTEX_M3) and "-DTARE_PORT_IN_ORDER=1" not in options
        require(has_barrier(board, "program.elf") == wanted,
                f"{name}: a barrier of the processor where none is needed, or none where it is")
        if name in COUNTED:
            costs[name] = run_and_measure(board, "program.elf")
        else:
            account = run_program(board, "program.elf")
            check_content_and_losses(board, *check_recording(board, "program.elf", account))
    keys = ("event_0", "event_u32", "event_u32_full_speed", "event_2", "event_off", "masked",
            "masked_new_block", "masked_longest", "masked_service")
    for key in keys:
        print(f"{key:22}", *(f"{costs[name][key + '_instructions']:>16}" for name in COUNTED))
    print(f"{'code_bytes':22}", *(f"{costs[name]['code_bytes']:>16}" for name in COUNTED))
    print(f"{'':22}", *(f"{name:>16}" for name in COUNTED))
    os.makedirs(os.path.join(BUILD, "costs"), exist_ok=True)
    with open(os.path.join(BUILD, "costs", "ports.json"), "w", encoding="utf-8") as file:
        json.dump(costs, file, indent=1)
    print(json.dumps(costs))


if __name__ == "__main__":
    main()
