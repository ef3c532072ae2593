#!/usr/bin/env python3
"""ctest: timeout=60 labels=plain

A reader that comes after 100,000 events: as an RTT reader it has every name within one name period,
out of memory at once. Commands through the down channel stop, start, filter and ask for the names;
damaged ones do nothing.
"""
import os
import shutil
import subprocess
import sys
import time

SOURCE = os.environ["SOURCE"]

sys.path.insert(0, os.path.join(SOURCE, "tests", "target"))
from live_board import (FILTER, NAMES, SECONDS, START, STOP, TARE, LiveBoard,  # noqa: E402
                        build_program, command, notes)
from target_run import CORTEX_M3, decode, definition_ids, require  # noqa: E402

CLASSES = (10, 11, 12, 13, 14)  # of the objects, in turn
TASK = 9
# Name and class of what the program declares, recorder/tare_events.def.
DECLARED = {("number", 1), ("extra", 1), ("nothing", 1), ("pair", 1), ("level", 2), ("job", 4),
            ("job", 5), ("mode", 3), ("note", 6), ("numbers", 7), ("extras", 7)}
OBJECTS = {(f"object {i:02}", CLASSES[i % 5]) for i in range(40) if i != 7} | \
    {(f"task {i}", TASK) for i in range(6)} | {("in its place", 10)}
ALL = 0xFFFFFFFF


def check_names(listing, wanted):
    missing = wanted - set(definition_ids(listing))
    require(not missing, f"names that a late reader does not get: {sorted(missing)}")


def decode_bytes(name, words):
    with open(name, "wb") as file:
        file.write(words)
    return decode(name)


def check_late_stream(board):
    """The bytes of one name period, from the midst of a block on."""
    collected = board.of("collected")
    words = bytes(board.memory[0x400000:0x400000 + 4 * collected])
    listing = decode_bytes("late.raw", words)
    require(not listing.of("fault") and int(listing.of("gap")[0][2]) > 100000,
            f"faults {listing.of('fault')}, gaps {listing.of('gap')}")
    check_names(listing, DECLARED | OBJECTS)
    require(listing.of("clock") == [["clock", "0", str(CORTEX_M3.clock_hz)]] or
            len(listing.of("clock")) > 1, f"rate of the clock: {listing.of('clock')}")
    unnamed = [note["name"] for note in notes("late.raw")
               if note["type"] == "event" and note["name"].startswith("#")]
    require(not unnamed, f"events without a name: {unnamed[:5]}")


def recorded_in(board, loops):
    """What the board records in so many of its loops, with what is unread."""
    before = board.of("recorded")
    words = b""
    end = time.monotonic() + SECONDS
    while board.of("recorded") < before + loops:
        require(time.monotonic() < end, "the board stands still")
        time.sleep(0.005)
        words += board.unread()
    return words


def ids_in(board, words):
    """Which of the program's events these words can hold."""
    return {name for name in ("number", "extra") if
            any(int.from_bytes(words[at:at + 4], "little") >> 20 == board.of(name + "_word") >> 20
                for at in range(0, len(words), 4))}


def obey(board, sent, categories, names):
    board.send(sent)
    require(board.of("tare_categories_on") == categories,
            f"after {sent.hex()} these categories are on: {board.of('tare_categories_on'):#x}")
    time.sleep(0.005)
    board.unread()
    found = ids_in(board, recorded_in(board, 20))
    require(found == names, f"after {sent.hex()} {found} were recorded, not {names}")


def check_commands(board):
    both = {"number", "extra"}
    wrong = bytearray(command(STOP))
    wrong[3] ^= 1
    obey(board, command(FILTER, 1), 1, {"number"})
    obey(board, command(STOP), 0, set())
    obey(board, command(STOP), 0, set())
    obey(board, command(START), 1, {"number"})
    obey(board, command(FILTER, ALL), ALL, both)
    obey(board, bytes(wrong), ALL, both)  # a damaged stop
    obey(board, b"\xc5\xc5" + command(FILTER, 2), 2, {"extra"})  # found behind other bytes
    obey(board, command(9, 0), 2, {"extra"})  # a command that there is not
    obey(board, command(FILTER, ALL), ALL, both)

    words = recorded_in(board, 50)  # a whole block, or the decoder cannot read what comes first
    asked = len(words)
    board.send(command(NAMES))
    words += recorded_in(board, 150)
    before = set(definition_ids(decode_bytes("before.raw", words[:asked])))
    require(not before, f"names came without being asked for: {before}")
    check_names(decode_bytes("names.raw", words), DECLARED | OBJECTS)


def check_memory_reader(board):
    with subprocess.Popen([TARE, "record", "-q", "mem:ram", "--until-end", "--for", "20s", "-o",
                           "late.tare"]) as reader:
        time.sleep(0.3)
        board.set("finish", 1)
        account = board.account()
        require(reader.wait(timeout=30) == 0, "tare record")
    listing = decode("late.tare")
    named = {(" ".join(line[5:]).strip('"'), int(line[2])) for line in listing.of("name")}
    require(OBJECTS <= named, f"names of the table: {sorted(OBJECTS - named)} are missing")
    check_names(listing, DECLARED)
    number_id = definition_ids(listing)["number", 1]
    last, lost, count = None, True, 0
    for line in listing.lines:
        if line[0] == "loss":  # the reader may be slow to start
            lost = True
        elif line[0] == "event" and line[3] == number_id:
            value = int(line[4], 16)
            require(last is None or value == last + 1 or (lost and value > last),
                    f"{value} behind {last} without a loss")
            last, lost, count = value, False, count + 1
    require(last == account["recorded"] - 1 and count > 50, f"{count} numbers up to {last}, "
            f"{account['recorded']} recorded")


def main():
    for tool in ("arm-none-eabi-gcc", "qemu-system-arm"):
        if not shutil.which(tool):
            print(f"skipped: no {tool}")
            sys.exit(77)
    build_program(CORTEX_M3, "late.elf", "late/late_program.c",
                  '-DTARE_CONF_FILE="late_conf.h"')
    with LiveBoard(CORTEX_M3, "late.elf") as board:
        board.wait(lambda: board.of("stage") == 1, "end of the first stage")
        check_late_stream(board)
        check_commands(board)
        check_memory_reader(board)


if __name__ == "__main__":
    main()
