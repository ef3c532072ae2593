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
# Name, board, and by how much each try is later than the one before: steps of the timer, 40 ns on the
# Cortex-M3 and 100 ns on RISC-V. With one more (the timer may begin within one) they are shorter than
# an instruction. A try that takes another way than those around it can still step over one; then
# all is tried once more from another first step on.
RUNS = (
    ("PRIMASK", CORTEX_M3, 11, ()),
    ("BASEPRI", CORTEX_M3, 11, (BASEPRI,)),
    ("above BASEPRI", CORTEX_M3, 11, (BASEPRI, "-DURGENT")),
    ("mstatus", RISCV32, 4, ()),
)
TEXT = '"a text cut up"'


FIRST_STEPS = (2, 5, 3, 7, 4, 9, 6)


def run_from(board, first_step, *options):
    return run_program(board, "program.elf", "-device",
                       f"loader,addr={board.data + 0x900000:#x},data={first_step},data-len=4",
                       *options, BOARD_SHIFT=str(SHIFT))


def executed(board, code):
    """Addresses that the cases execute with the lock open, and with it closed; and how many
    instructions each case takes."""
    run_from(board, 0, "-singlestep", "-d", "exec,nochain", "-D", "log", "-dfilter", code.filter())
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


def try_all(board, step, options, lengths, first_step):
    """Addresses before which interrupts came, after a check of all that was recorded."""
    account = run_from(board, first_step)
    listing, _ = check_recording(board, "program.elf", account)
    recorded = check_events(listing, account)
    require(recorded == 0 if "-DURGENT" in options else recorded > 1000,
            f"{recorded} interrupts recorded")
    steps = [steps for key, steps in account.items() if key.endswith("_steps")]
    require(len(steps) == len(lengths), f"{len(steps)} cases, {len(lengths)} in the log")
    for length, count in zip(lengths, steps):
        require(count * 1e9 / board.clock_hz >= length * (1 << SHIFT),
                f"{count} steps do not reach the end of {length} instructions")
    print(f"  {sum(steps) // step} interrupts in {len(steps)} cases of {min(lengths)} to "
          f"{max(lengths)} instructions; {account['attempted']} events, {account['dropped']} "
          "dropped, all accounted for", flush=True)
    return reached(board, account)


def main():
    for name, board, step, options in RUNS:
        require((step + 1) * 1e9 / board.clock_hz <= 1 << SHIFT, f"a step of {step} is too long")
        build(board, "program.elf", "-DTARE_RING_BYTES=768", "-DTARE_BLOCK_WORDS=64",
              "-DTARE_NAME_PERIOD=60000", f"-DSTEP={step}u", *options,
              program=os.path.join("ports", "interrupted_program.c"))
        opened, closed, lengths = executed(board, Code(board, "program.elf", "record_|act_|log_"))
        only_closed = closed - opened
        print(f"{name}: {board.name}, {len(opened)} instructions with the lock open, "
              f"{len(only_closed)} with it closed", flush=True)
        missed = opened | closed if "-DURGENT" in options else opened
        for first_step in FIRST_STEPS:
            hit = try_all(board, step, options, lengths, first_step)
            require("-DURGENT" in options or not hit & only_closed,
                    f"{name}: the lock did not hold off an interrupt")
            missed = missed - hit
            if not missed:
                break
        require(not missed,
                f"{name}: no interrupt before {[hex(address) for address in sorted(missed)]}")


if __name__ == "__main__":
    main()
