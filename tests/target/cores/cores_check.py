#!/usr/bin/env python3
"""ctest: timeout=60 labels=plain

Runs cores_program.c on two RISC-V harts of QEMU that run side by side, and checks, per core and to
the event, what each drained of its own ring, what is still in the image of the memory, and what
`tare record mem:` drains while both run. One control block has both channels. The turns that the
cores took, each after the other's, must come out in that order.
"""
import json
import os
import shutil
import subprocess
import sys

SOURCE = os.environ["SOURCE"]

sys.path.insert(0, os.path.join(SOURCE, "tests", "target"))
from target_run import (RIG, RISCV32, TESTS, decode, definition_ids, require,  # noqa: E402
                        run, symbols)

TURNS = 400
IN_RING = 200  # turns that the program leaves to the image
RING_BYTES = 8192


def build(name, *options):
    run(os.path.join(RIG, "build_board.sh"), name, os.path.join(TESTS, "cores", "cores_program.c"),
        "-I" + os.path.join(TESTS, "cores"), '-DTARE_CONF_FILE="cores_conf.h"', *options,
        BOARD="virt")


def start(program):
    """Both harts at the machine's pace, each on a thread of its own."""
    with open("ram", "wb") as file:
        file.truncate(16 << 20)
    return subprocess.Popen(
        ["timeout", "-k", "5", "50", "qemu-system-riscv32", "-bios", "none", "-m", "16M",
         "-machine", "virt,memory-backend=ram", "-object",
         "memory-backend-file,id=ram,size=16M,mem-path=ram,share=on", "-smp", "2", "-accel",
         "tcg,thread=multi", "-kernel", program, "-nic", "none", "-display", "none", "-monitor",
         "none", "-serial", "stdio"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)


def account_of(process):
    output = process.communicate(timeout=60)[0]
    require(process.returncode == 0, f"status {process.returncode}\n{output}")
    return {name: int(value) for name, value in (line.split() for line in output.splitlines())}


def word(ram, address):
    at = address - RISCV32.ram
    return int.from_bytes(ram[at:at + 4], "little")


def check_control_block(ram, program):
    """One block as RTT's readers expect it. Gives the channels: buffer, size, write, read."""
    sought = b"SEGGER RTT\0\0\0\0\0\0"
    require(ram.count(sought) == 1, f"{ram.count(sought)} control blocks")
    block = RISCV32.ram + ram.index(sought)
    require(block == symbols(RISCV32, program)["tare_rtt"][0], "the control block is elsewhere")
    require((word(ram, block + 16), word(ram, block + 20)) == (2, 1), "channels up and down")
    channels = [[word(ram, block + 24 + 24 * number + field) for field in (4, 8, 12, 16)]
                for number in range(3)]
    require(channels[0][1] == channels[1][1] == RING_BYTES and channels[2][1] > 8,
            f"sizes of the buffers: {channels}")
    return channels


def total(listing, core):
    numbers = [line for line in listing.of("total") if line[1] == str(core)]
    require(len(numbers) == 1, f"core {core}: {len(numbers)} streams")
    return {numbers[0][i]: int(numbers[0][i + 1]) for i in range(2, len(numbers[0]), 2)}


def check_sound(listing, *allowed):
    """A text of which the head or the rest was dropped is no fault of the recording."""
    for kind in {"fault", "skipped", "unverified", "reserved"}.difference(allowed):
        found = [line for line in listing.of(kind) if line[-1] not in ("cut-text", "orphan-text")]
        require(not found, f"{kind} in a sound recording: {found[:3]}")


def check_core(listing, core, account):
    """All that this core attempted is stored or counted."""
    counts = total(listing, core)
    attempted, dropped = account[f"attempted{core}"], account[f"dropped{core}"]
    require(counts["stored"] + dropped == attempted and counts["dropped"] == dropped and
            counts["suppressed"] == counts["torn"] == 0,
            f"core {core}: attempted {attempted}, dropped {dropped}, in the recording {counts}")
    require([line[2:] for line in listing.of("end") if line[1] == str(core)] ==
            [[str(dropped), "0"]], f"end of core {core}")
    require(not [line for line in listing.of("gap") if line[1] == str(core)],
            f"core {core}: a gap in what was collected")
    times = [int(line[2]) for line in listing.of("event") if line[1] == str(core)]
    require(times == sorted(times), f"core {core}: time goes back")
    lost = sum(int(line[3]) for line in listing.of("loss") if line[1] == str(core))
    require(lost == dropped, f"core {core}: losses of {lost} events, {dropped} were dropped")


def turns(path, turn_id):
    """Numbers and times of the turns, as the host program merges both cores."""
    found = []
    for line in run(os.environ["TARE"], "dump", "--json", "-q", path).splitlines():
        note = json.loads(line)
        if note["type"] == "event" and note["id"] == int(turn_id, 16):
            found.append((note["arguments"][0]["value"], note["time_ticks"], note["stream"],
                          note["thread"]))
    return found


def check_turns(path, turn_id, least, names):
    """The last turns, all of them from where each core's first whole block begins: at least so many
    of each core, in the order in which they were taken."""
    found = turns(path, turn_id)
    numbers = [number for number, _, _, _ in found]
    of_core = [[number for number in numbers if number % 2 == core] for core in (0, 1)]
    require(numbers == sorted(numbers), f"{path}: turns are not in their order: {numbers}")
    require(all(len(of) >= least and of == list(range(of[0], TURNS, 2)) for of in of_core),
            f"{path}: turns are missing: {of_core}")
    require(all(one[1] < other[1] for one, other in zip(found, found[1:])), "times of the turns")
    require(all(stream == number % 2 and thread == names[stream]
                for number, _, stream, thread in found), f"cores of the turns: {found[:4]}")


def check_own_readers():
    build("own.elf")
    account = account_of(start("own.elf"))
    with open("ram", "rb") as file:
        ram = file.read()
    channels = check_control_block(ram, "own.elf")
    both = b""
    for core in (0, 1):
        buffer, size, write, read = channels[core]
        at = 0x400000 + 0x100000 * core
        words = ram[buffer - RISCV32.ram:buffer - RISCV32.ram + size]
        unread = words[read:write] if read <= write else words[read:] + words[:write]
        collected = ram[at:at + 4 * account[f"collected{core}"]]
        require(4 * account[f"words{core}"] == len(collected) + len(unread),
                f"core {core}: {account[f'words{core}']} words written, {len(collected) // 4} + "
                f"{len(unread) // 4} found")
        both += collected + unread
    with open("both.raw", "wb") as file:
        file.write(both)
    listing = decode("both.raw")
    check_sound(listing)
    for core in (0, 1):
        check_core(listing, core, account)
        require(account[f"dropped{core}"] > 1000 and account[f"suppressed{core}"] == 0,
                f"core {core} lost nothing, so the account of losses was not tested")
    turn_id = definition_ids(listing)["turn", 1]
    found = sorted((int(line[2]), int(line[4], 16)) for line in listing.of("event")
                   if line[3] == turn_id)
    wrong = [turn for turn, number in zip(found, range(TURNS)) if turn[1] != number]
    require(len(found) == TURNS and not wrong, f"{len(found)} turns by their time; at {wrong[:4]}")
    require(account["interrupts0"] > 3 and account["interrupts1"] == 0, "interrupts")
    with open("image", "wb") as file:
        file.write(ram[:0x400000])
    image = decode("image", "--image")
    check_sound(image, "skipped")  # the ring's unread words begin within a block
    for core in (0, 1):
        require(total(image, core)["dropped"] == account[f"dropped{core}"],
                f"core {core}: total of the image")
    check_turns("image", turn_id, IN_RING // 2 - 32, ("stream 0", "stream 1"))


def check_other_reader():
    build("other.elf", "-DOTHER_READER")
    board = start("other.elf")
    reader = subprocess.run([os.environ["TARE"], "record", "-q", "mem:ram", "--until-end", "--for",
                             "40s", "--poll", "100us", "-o", "run.tare"], check=False, timeout=60)
    account = account_of(board)
    require(reader.returncode == 0, f"tare record: status {reader.returncode}")
    listing = decode("run.tare")
    check_sound(listing)
    for core in (0, 1):
        check_core(listing, core, account)
    turn_id = definition_ids(listing)["turn", 1]
    check_turns("run.tare", turn_id, TURNS // 2, ("first core", "second core"))
    run(os.environ["TARE"], "check", "run.tare")


def main():
    for tool in ("riscv64-unknown-elf-gcc", "qemu-system-riscv32"):
        if not shutil.which(tool):
            print(f"skipped: no {tool}")
            sys.exit(77)
    check_own_readers()
    check_other_reader()


if __name__ == "__main__":
    main()
