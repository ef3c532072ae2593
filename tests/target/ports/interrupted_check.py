#!/usr/bin/env python3
"""ctest: timeout=240 labels=plain

Runs interrupted_program.c, which forces an interrupt at every instruction of the recorder's hot and
slow paths in turn, and checks:

  - every event is accounted for, in order of time, and none is torn;
  - the interrupt has come before every instruction that a run without interrupts executes while the
    lock is open, and before none that runs while it is closed;
  - with a BASEPRI lock, an interrupt above its level comes before those too: it is never delayed.
"""
import os
import sys

SOURCE = os.environ["SOURCE"]

sys.path.insert(0, os.path.join(SOURCE, "tests", "target"))
from target_run import (CORTEX_M3, RISCV32, Code, build, check_recording,  # noqa: E402
                        definition_ids, log_addresses, require, run_program, symbols)

BASEPRI = "-DTARE_LOCK_BASEPRI=0x40"
SHIFT = 9  # of QEMU's clock: an instruction takes 512 ns
# STEP: steps of the timer, 40 ns on the Cortex-M3 and 100 ns on RISC-V, by which each try is later than
# the one before; with one more (the timer may begin within one) they are shorter than an instruction.
RUNS = (
    ("PRIMASK", CORTEX_M3, 11, ()),
    ("BASEPRI", CORTEX_M3, 11, (BASEPRI,)),
    ("above BASEPRI", CORTEX_M3, 11, (BASEPRI, "-DURGENT")),
    ("mstatus", RISCV32, 4, ()),
)
TEXT = '"a text cut up"'


def executed(board, code):
    """Addresses that the cases execute with the lock open, and with it closed; and how many
    instructions each case takes."""
    run_program(board, "program.elf", "-singlestep", "-d", "exec,nochain", "-D", "log",
                "-dfilter", code.filter(), "-device",
                f"loader,addr={board.data + 0x900000:#x},data=1,data-len=4", BOARD_SHIFT=str(SHIFT))
    table = symbols(board, "program.elf")
    begin, end = table["log_begin"][0], table["log_end"][0]
    opened, closed, lengths, masked = set(), set(), [], False
    inside = False
    for address in log_addresses("log"):
        if address == begin:
            inside = True
            lengths.append(0)
        elif address == end:
            inside = False
        elif inside:
            lengths[-1] += 1
            (closed if masked else opened).add(address)
        if address in code.masks:
            masked = True
        elif address in code.unmasks:
            masked = False
    os.remove("log")
    return opened, closed, lengths


def reached(board, account):
    """Addresses before which the interrupt came."""
    with open("ram", "rb") as file:
        file.seek(account["reached_address"] - board.ram)
        bits = int.from_bytes(file.read(4 * account["reached_words"]), "little")
    begin = symbols(board, "program.elf")["log_begin"][0] & 0xF0000000
    return {begin + 2 * i for i in range(32 * account["reached_words"]) if bits >> i & 1}


def check_events(listing, account):
    ids = definition_ids(listing)
    events = listing.of("event")
    times = [int(event[2]) for event in events]
    require(all(one <= next_one for one, next_one in zip(times, times[1:])), "time goes back")

    def values(name, number, field=4):
        return [int(event[field], 16) for event in events if event[3] == ids[name, number]]

    pairs = list(zip(values("pair", 1), values("pair", 1, 5)))
    require(pairs and all(value ^ inverse == 0xFFFFFFFF for value, inverse in pairs), "a torn pair")
    interrupts = values("interrupt", 2)
    for what in (values("number", 1), [value for value, _ in pairs], interrupts):
        require(all(one < next_one for one, next_one in zip(what, what[1:])), "order of values")
    texts = [" ".join(line[3:]) for line in listing.of("text")]
    require(texts and set(texts) == {TEXT}, f"texts {set(texts)}")
    return len(interrupts)


def main():
    for name, board, step, options in RUNS:
        build(board, "program.elf", "-DTARE_RING_BYTES=768", "-DTARE_BLOCK_WORDS=64",
              "-DTARE_NAME_PERIOD=65000", f"-DSTEP={step}u", *options,
              program=os.path.join("ports", "interrupted_program.c"))
        code = Code(board, "program.elf", "record_|act_|log_")
        opened, closed, lengths = executed(board, code)
        account = run_program(board, "program.elf", BOARD_SHIFT=str(SHIFT))
        listing, _ = check_recording(board, "program.elf", account)
        recorded = check_events(listing, account)
        steps = [steps for key, steps in account.items() if key.endswith("_steps")]
        require(len(steps) == len(lengths), f"{len(steps)} cases, {len(lengths)} in the log")
        require((step + 1) * 1e9 / board.clock_hz <= 1 << SHIFT, f"{name}: a step of {step} is too long")
        for length, count in zip(lengths, steps):
            require(count * 1e9 / board.clock_hz >= length * (1 << SHIFT),
                    f"{count} steps do not reach the end of {length} instructions")

        hit = reached(board, account)
        only_closed = closed - opened
        urgent = "-DURGENT" in options
        wanted = opened | closed if urgent else opened
        missed = sorted(wanted - hit)
        require(not missed, f"{name}: no interrupt before {[hex(address) for address in missed]}")
        require(urgent or not hit & only_closed, f"{name}: the lock did not hold off an interrupt")
        require(urgent == (account["interrupts"] == 0) and (urgent or recorded > 1000),
                f"{name}: {recorded} interrupts recorded")
        print(f"{name}: {board.name}, {sum(steps) // step} interrupts in {len(steps)} cases of "
              f"{min(lengths)} to {max(lengths)} instructions; {len(opened)} instructions with the "
              f"lock open and {len(only_closed)} with it closed; {account['attempted']} events, "
              f"{account['dropped']} dropped, all accounted for")


if __name__ == "__main__":
    main()
