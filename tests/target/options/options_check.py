#!/usr/bin/env python3
"""ctest: timeout=120 labels=plain

Options of the recorder on running targets: link-time optimisation, other levels of optimisation and
the options that leave parts out, each with an exact account; no event is lost when an interrupt
opens a block meanwhile.
"""
import os
import shutil
import sys

SOURCE = os.environ["SOURCE"]

sys.path.insert(0, os.path.join(SOURCE, "tests", "target"))
from target_run import (CORTEX_M3, CORTEX_M33, RISCV32, build,  # noqa: E402
                        check_content_and_losses, check_recording, require, run_program)

RUNS = [
    (CORTEX_M3, "-flto"),
    (CORTEX_M33, "-Os", "-flto", "-DTARE_BLOCK_WORDS=128"),
    (CORTEX_M3, "-Og", "-DTARE_OBJECTS=8"),
    (CORTEX_M3, "-O3", "-DTARE_COMMANDS=0"),
    (CORTEX_M3, "-Os", "-DTARE_SELF_TEST=0", "-DTARE_BLOCK_WORDS=64"),
]


def check_border(board):
    """An interrupt anywhere in the opening of a block of a ring that was just emptied."""
    build(board, "border.elf", "-I" + os.path.join(SOURCE, "tests", "target", "options"),
          "-UTARE_CONF_FILE", '-DTARE_CONF_FILE="options_conf.h"',
          program=os.path.join("options", "options_border.c"))
    account = run_program(board, "border.elf")
    require(account["before"] > 30 and account["behind"] > 30,
            f"the interrupts did not come from before the opening to behind it: {account}")
    require(account["dropped"] == 0, f"lost in a ring with room: {account}")


def main():
    for tool in ("arm-none-eabi-gcc", "riscv64-unknown-elf-gcc", "qemu-system-arm",
                 "qemu-system-riscv32"):
        if not shutil.which(tool):
            print(f"skipped: no {tool}")
            sys.exit(77)
    for board in (CORTEX_M3, RISCV32):
        check_border(board)
    for board, *options in RUNS:
        print(board.name, *options, flush=True)
        build(board, "program.elf", "-DBATCHES=2u", *options)
        account = run_program(board, "program.elf")
        check_content_and_losses(board, *check_recording(board, "program.elf", account))


if __name__ == "__main__":
    main()
