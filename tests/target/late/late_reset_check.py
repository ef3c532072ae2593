#!/usr/bin/env python3
"""ctest: timeout=60 labels=plain

A board that is reset while `tare record mem:` reads it gives one recording with two sessions, of
which only what was unread at the reset is missing. A control block that is half destroyed, stale or
there twice is refused with the field and its value, and the board's memory stays as it is, to the
byte.
"""
import os
import shutil
import struct
import subprocess
import sys
import time

SOURCE = os.environ["SOURCE"]

sys.path.insert(0, os.path.join(SOURCE, "tests", "target"))
from live_board import (RING_BLOCK, RING_MAGIC, RING_SELF, RING_SESSION, RING_VERSION,  # noqa: E402
                        TARE, UP_BUFFER, UP_BYTES, UP_READ, UP_WRITE, LiveBoard, build_program,
                        numbers, tare)
from target_run import CORTEX_M3, decode, require  # noqa: E402

RING_STRUCT_BYTES = 240
UP_CHANNELS = 4
COPY = 0x300000  # offset of a place that nothing uses

# Word of the ring's structure, its wrong value, and what must be said.
WRONG = [
    (UP_CHANNELS, 3, "up_channels 3 is not 1"),
    (UP_BUFFER, 0x20, "buffer 0x00000020"),
    (UP_BYTES, 1000, "bytes 1000"),
    (UP_WRITE, 0x7FFFFFFC, "write_offset 2147483644"),
    (UP_READ, 6, "read_offset 6"),
    (RING_SELF, 0x10, "control block at 0x00000010"),
    (RING_VERSION, 7, "version 7"),
    (RING_BLOCK, 100, "block_words 100"),
    (RING_SESSION, 99, "session 99"),  # words of another run: what a reset leaves behind
]


def refused(board, text):
    """The memory must be as it was before the reader came."""
    before = bytes(board.memory)
    said = tare("record", "mem:ram", "--wait", "200ms", "--for", "1s", "-o", "refused.tare",
                status=4)
    place = board.ring_address() - board.board.ram
    require(text in said and f"(offset {place} of ram)" in said,
            f"wanted '{text}' and the offset {place}, said was\n{said}")
    require(bytes(board.memory) == before, f"{text}: the board's memory was written to")


def check_refusals(board):
    board.monitor("stop")
    at = board.ring_address() - board.board.ram
    sound = bytes(board.memory[at:at + RING_STRUCT_BYTES])
    for field, value, text in WRONG:
        board.set_word(board.ring_address() + 4 * field, value)
        refused(board, text)
        board.memory[at:at + RING_STRUCT_BYTES] = sound

    board.memory[at:at + 8] = b"\xA5" * 8
    refused(board, "id ")
    board.memory[at:at + RING_STRUCT_BYTES] = sound

    # A whole second one that says that it is where it is, with the same words.
    words = list(struct.unpack("<60I", sound))
    words[RING_SELF] = board.board.ram + COPY
    board.memory[COPY:COPY + RING_STRUCT_BYTES] = struct.pack("<60I", *words)
    refused(board, f"0x{board.board.ram + COPY:08x}")
    board.memory[COPY:COPY + RING_STRUCT_BYTES] = bytes(RING_STRUCT_BYTES)

    # And all that was refused is read when it is whole again.
    require(board.ring(RING_MAGIC) == 0x52A7E001, "the block is not as it was")
    board.monitor("cont")
    tare("record", "-q", "mem:ram", "--for", "300ms", "-o", "sound.tare")
    require(numbers("sound.tare"), "nothing was read from the sound block")


def reset_while_reading(board):
    """Gives how many numbers the board recorded in its two sessions."""
    first = board.ring(RING_SESSION)
    with subprocess.Popen([TARE, "record", "mem:ram", "--until-end", "--for", "30s", "-o",
                           "run.tare"], stderr=subprocess.PIPE, text=True) as reader:
        board.wait(lambda: board.ring(UP_READ) == board.ring(UP_WRITE) != 0, "reader")
        board.set("go", 1)
        time.sleep(0.4)
        board.monitor("stop")  # so that the number of what was recorded is certain
        before = board.of("recorded")
        board.monitor("system_reset")
        board.monitor("cont")
        board.wait(lambda: board.ring(RING_SESSION) == first + 1 and
                   board.ring(UP_READ) == board.ring(UP_WRITE) != 0, "second session")
        board.set("go", 1)
        time.sleep(0.4)
        board.set("finish", 1)
        after = board.account()["recorded"]
        said = reader.communicate(timeout=30)[1]
        require(reader.returncode == 0, f"tare record: {reader.returncode}\n{said}")
    return first, before, after, said


def check_sessions(first, before, after, said):
    found = numbers("run.tare")
    require(sorted(found) == [first, first + 1], f"sessions {sorted(found)}, the first is {first}")
    require(before > 50 and found[first] == list(range(len(found[first]))) and
            before - 60 <= len(found[first]) <= before + 1,
            f"{len(found[first])} of {before} numbers before the reset")
    require(after > 50 and found[first + 1] == list(range(after)),
            f"{len(found[first + 1])} of {after} numbers behind the reset")
    require("restarts 1;" in said, f"the closing line does not tell the restart:\n{said}")
    listing = decode("run.tare")
    require(len(listing.of("stream")) == 2 and not listing.of("fault"),
            f"streams {listing.of('stream')}, faults {listing.of('fault')}")


def main():
    for tool in ("arm-none-eabi-gcc", "qemu-system-arm"):
        if not shutil.which(tool):
            print(f"skipped: no {tool}")
            sys.exit(77)
    build_program(CORTEX_M3, "reset.elf", "late/late_reset.c", '-DTARE_CONF_FILE="late_conf.h"')
    with LiveBoard(CORTEX_M3, "reset.elf") as board:
        board.wait(lambda: board.ring(RING_MAGIC) == 0x52A7E001, "ring")
        board.set("go", 1)
        board.wait(lambda: board.of("recorded") > 20, "events")
        check_refusals(board)
    with LiveBoard(CORTEX_M3, "reset.elf") as board:
        board.wait(lambda: board.ring(RING_MAGIC) == 0x52A7E001, "ring")
        check_sessions(*reset_while_reading(board))


if __name__ == "__main__":
    main()
