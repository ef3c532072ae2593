#!/usr/bin/env python3
"""ctest: timeout=120 labels=plain

The headers of ports, and the recorder with them, compile as C99, C11 and C++17 without a warning for
every core; they take no more instructions than they must, and refuse settings that make no sense. A
ring in cached memory is noticed on a Cortex-M7 and a Cortex-M55.
"""
import os
import re
import subprocess
import sys

SOURCE = os.environ["SOURCE"]

sys.path.insert(0, os.path.join(SOURCE, "tests", "target"))
from target_run import CORTEX_M7, CORTEX_M55, RIG, build, require, run  # noqa: E402

HERE = os.path.join(SOURCE, "tests", "target", "ports")
DIALECTS = (("-std=c99", "-xc"), ("-std=c11", "-xc"), ("-std=c++17", "-xc++"))
BASEPRI = "-DTARE_LOCK_BASEPRI=0x40"
PRIMASK_LOCK = ["mrs PRIMASK", "cpsid", "msr PRIMASK"]
BASEPRI_LOCK = ["mrs BASEPRI", "msr BASEPRI_MAX", "msr BASEPRI"]
# Core, options, and the instructions of locks and barriers that the code must have.
CORTEX_M = [
    *((core, (), PRIMASK_LOCK) for core in ("cortex-m0", "cortex-m0plus", "cortex-m1", "cortex-m3")),
    *((core, (), [*PRIMASK_LOCK[:2], "dmb", PRIMASK_LOCK[2]])
      for core in ("cortex-m4", "cortex-m7", "cortex-m23", "cortex-m33", "cortex-m55")),
    ("cortex-m3", (BASEPRI,), BASEPRI_LOCK),
    ("cortex-m4", ("-DTARE_PORT_IN_ORDER=1",), PRIMASK_LOCK),
    ("cortex-m3", ("-DTARE_PORT_IN_ORDER=0",), [*PRIMASK_LOCK[:2], "dmb", PRIMASK_LOCK[2]]),
    *((core, (BASEPRI,), [*BASEPRI_LOCK[:2], "dmb", BASEPRI_LOCK[2]])
      for core in ("cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55")),
    ("cortex-m33", ("-DTARE_CORES=2", "-DTARE_CORE_READ=(*(volatile uint32_t*)0xD0000000u)"),
     [*PRIMASK_LOCK[:2], "dmb", PRIMASK_LOCK[2]]),
]
RISCV = [
    ((), ["csrrc mstatus", "csrr mcycle", "fence", "csrs mstatus"]),
    (("-DTARE_CORES=2", "-DTARE_CLOCK_READ=(*(volatile uint32_t*)0x0200BFF8u)"),
     ["csrrc mstatus", "csrr mhartid", "fence", "csrs mstatus"]),
    (("-DTARE_MEMORY_IS_SEEN(at,bytes)=0",), ["csrrc mstatus", "csrr mcycle", "fence", "csrs mstatus"]),
]
REFUSED = [
    *(("cortexm", core, (BASEPRI,), "has no BASEPRI")
      for core in ("cortex-m0", "cortex-m0plus", "cortex-m1", "cortex-m23")),
    ("cortexm", "cortex-m3", ("-DTARE_LOCK_BASEPRI=0",), "1 to 255"),
    ("cortexm", "cortex-m3", ("-DTARE_LOCK_BASEPRI=256",), "1 to 255"),
    ("cortexm", "cortex-m3", ("-DTARE_CORES=2",), "TARE_CORE_READ"),
    ("cortexm", "cortex-m3", ("-UTARE_CLOCK_HZ",), "TARE_CLOCK_HZ"),
    ("riscv", "", ("-UTARE_CLOCK_HZ",), "TARE_CLOCK_HZ"),
    ("riscv", "", ("-DTARE_CORES=2",), "TARE_CLOCK_READ"),
]


def command(port, core, *options):
    compiler = ["arm-none-eabi-gcc", "-mthumb", "-mcpu=" + core] if port == "cortexm" else \
        ["riscv64-unknown-elf-gcc", "-march=rv32imac_zicsr", "-mabi=ilp32", "--specs=picolibc.specs"]
    return [*compiler, "-O2", "-ffreestanding", "-pedantic", "-Wall", "-Wextra", "-Werror",
            "-DTARE_CLOCK_HZ=1000000u", f'-DTARE_PORT_FILE="port/tare_port_{port}.h"',
            "-I" + os.path.join(SOURCE, "recorder"), *options]


def compile_primitives(port, core, *options):
    return [*command(port, core, *options), "-c", os.path.join(HERE, "primitives.c"), "-o",
            "primitives.o"]


def special_instructions(tools):
    """Locks, barriers and control registers, as `mnemonic register`."""
    found = []
    for line in run(tools + "objdump", "-d", "--no-show-raw-insn", "primitives.o").splitlines():
        match = re.match(r" *[0-9a-f]+:\t(mrs|msr|cpsid|dmb|fence|csr\w+)\S*\s*(.*)", line)
        if match:
            name = re.search(r"PRIMASK|BASEPRI_MAX|BASEPRI|mstatus|mcycle|mhartid", match[2])
            found.append(match[1] + (" " + name[0] if name else ""))
    return found


def check_dialects():
    cases = [("cortexm", "arm-none-eabi-", core, options, wanted)
             for core, options, wanted in CORTEX_M]
    cases += [("riscv", "riscv64-unknown-elf-", "", options, wanted) for options, wanted in RISCV]
    for port, tools, core, options, wanted in cases:
        for dialect in DIALECTS:
            run(*compile_primitives(port, core, *dialect, *options))
            found = special_instructions(tools)
            require(found == wanted, f"{port} {core} {options} {dialect}: {found}, not {wanted}")
            run(*command(port, core, *dialect, *options), "-fsyntax-only",
                os.path.join(SOURCE, "recorder", "tare.c"))


def check_refusals():
    for port, core, options, text in REFUSED:
        done = subprocess.run(compile_primitives(port, core, *options), stderr=subprocess.PIPE, text=True,
                              check=False, timeout=60)
        require(done.returncode != 0 and text in done.stderr,
                f"{port} {core} {options}: status {done.returncode}, not refused with '{text}'")


def main():
    check_dialects()
    check_refusals()
    for board in (CORTEX_M7, CORTEX_M55):
        build(board, "seen.elf", "-DTARE_ENABLED=0",
              program=os.path.join("ports", "memory_seen_program.c"))
        run(os.path.join(RIG, "run_board.sh"), "seen.elf", "ram", **board.environment())


if __name__ == "__main__":
    main()
