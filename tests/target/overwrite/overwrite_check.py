#!/usr/bin/env python3
"""ctest: timeout=90 labels=plain

A ring that keeps the newest events (TARE_OVERWRITE), from its memory. After ten laps the board is
stopped at many instructions, also in the midst of writing an event or opening a block; each time
the image must hold exactly the events from the oldest whole block to the newest, name all objects,
and tell to the word what was overwritten. Then `tare record mem:` reads the ring while it is written.
"""
import os
import random
import shutil
import subprocess
import sys
import time

SOURCE = os.environ["SOURCE"]

sys.path.insert(0, os.path.join(SOURCE, "tests", "target"))
from live_board import (RING_LAP, RING_SESSION, TARE, UP_BUFFER, UP_BYTES, UP_WRITE,  # noqa: E402
                        LiveBoard, build_program, notes, tare)
from target_run import CORTEX_M3, decode, require  # noqa: E402

BLOCK_WORDS = 64
ANCHOR_WORDS = 6
STOPS = 32
QUICK_STOPS = 15  # between two images
LAPS = 10
# By name, number of the class in recorder/tare_events.def.
OBJECTS = {"receiver": 9, "worker": 9, "commands": 9, "free": 10, "pending": 10, "refresh": 17,
           "settings": 11, "done": 13}
SINGLE = ("-icount", "shift=5,sleep=off", "-singlestep")  # stops between any two instructions


def number_id(board):
    return board.of("number_word") >> 20


def values_in_ring(board, first, end):
    """Values of `number` in these words of the stream, read here without a decoder: the id tells
    the length."""
    size = board.ring(UP_BYTES)
    at = board.ring(UP_BUFFER) - board.board.ram
    ring = memoryview(board.memory[at:at + size]).cast("I")
    values, index = [], first
    while index < end:
        if index % BLOCK_WORDS == 0:
            index += ANCHOR_WORDS
            continue
        event_id = ring[index % len(ring)] >> 20
        if event_id == number_id(board):
            values.append(ring[(index + 1) % len(ring)])
        index += 1 if event_id < 0x800 else 2 if event_id < 0xC00 else 3
    return values


def check_sound(listing, *kinds):
    for kind in ("fault", "unverified", "reserved", "loss", *kinds):
        # What is overwritten, and the moment of the image, may cut a name in two.
        found = [line for line in listing.of(kind) if line[-1] not in ("cut-text", "orphan-text")]
        require(not found, f"{kind}: {found[:3]}")


def check_names(listing):
    names = {line[5].strip('"'): int(line[2]) for line in listing.of("name")}
    require(names == OBJECTS, f"names of the table: {names}")


def check_image(board, listing):
    """Against the words of the ring, read apart."""
    check_sound(listing, "skipped")
    words = board.ring(RING_LAP) + board.ring(UP_WRITE) // 4
    ring_words = board.ring(UP_BYTES) // 4
    require(words > LAPS * ring_words, f"{words} words are no {LAPS} laps")
    # Behind the write offset the oldest block is overwritten in part; at a border it may be.
    oldest = words + BLOCK_WORDS - words % BLOCK_WORDS - ring_words
    require(listing.of("gap") == [["gap", "0", str(oldest)]],
            f"overwritten are {oldest} words, the image says {listing.of('gap')}")
    require(listing.of("stream")[0][3] == f"{board.ring(RING_SESSION):08X}",
            f"session {board.ring(RING_SESSION)}: {listing.of('stream')}")
    found = [int(line[4], 16) for line in listing.of("event")
             if line[3] == f"{number_id(board):03X}"]
    recorded = board.of("recorded")
    require(found == values_in_ring(board, oldest, words), "other events than the ring holds")
    require(found == list(range(found[0], found[-1] + 1)) and recorded - 1 <= found[-1] <= recorded,
            f"{recorded} events recorded, in the image {found}")
    check_names(listing)


def check_ring(board):
    """The numbers in the words of a stopped board go on to the last one."""
    words = board.ring(RING_LAP) + board.ring(UP_WRITE) // 4
    values = values_in_ring(board, words - words % BLOCK_WORDS - BLOCK_WORDS, words)
    recorded = board.of("recorded")
    require(values == list(range(values[0], values[-1] + 1)) and
            recorded - 1 <= values[-1] <= recorded, f"{recorded} recorded, in the ring {values}")


def check_snapshot(board, listing):
    """The commands that people use, on the same image. Where the next record may not fit into the
    block, `tare snapshot` takes the block behind it as begun."""
    words = board.ring(UP_WRITE) // 4
    left_out = BLOCK_WORDS if (words + 2) // BLOCK_WORDS > words // BLOCK_WORDS else 0
    tare("snapshot", "image", "-o", "snapshot.tare")
    kept = decode("snapshot.tare")
    events = listing.of("event")
    require(int(kept.of("gap")[0][2]) == int(listing.of("gap")[0][2]) + left_out and
            kept.of("event") == events[len(events) - len(kept.of("event")):] and
            (left_out or len(kept.of("event")) == len(events)),
            f"tare snapshot keeps other events: {kept.of('gap')}, not {listing.of('gap')}")
    for path, wanted in (("image", listing), ("snapshot.tare", kept)):
        shown = [note for note in notes(path) if note["type"] == "event"]
        require(len(shown) == len(wanted.of("event")), f"tare dump {path}: {len(shown)} events")
    tare("check", "image")


def stop_at_many_places():
    generator = random.Random(3)
    within = set()
    with LiveBoard(CORTEX_M3, "overwrite.elf", *SINGLE) as board:
        ring_words = 1024
        board.wait(lambda: board.ring(RING_LAP) >= LAPS * ring_words, f"{LAPS} laps")
        for stop in range(STOPS):
            for _ in range(QUICK_STOPS):
                time.sleep(generator.uniform(0, 0.002))
                board.monitor("stop")
                check_ring(board)
                board.monitor("cont")
            board.monitor("stop")
            board.save("image")
            listing = decode("image", "--image")
            check_image(board, listing)
            within.add((board.ring(RING_LAP) + board.ring(UP_WRITE) // 4) % BLOCK_WORDS)
            if stop % 4 == 0:
                check_snapshot(board, listing)
            board.monitor("cont")
        require(len(within) > STOPS // 3, f"always stopped at the same words of a block: {within}")
        board.set("finish", 1)
        board.account()


def read_while_it_runs():
    """First faster than anybody reads, then at a pace at which nothing is missed."""
    with LiveBoard(CORTEX_M3, "overwrite.elf") as board:
        board.wait(lambda: board.of("recorded") > 20000, "ten laps")
        event_id = f"{number_id(board):03X}"
        with subprocess.Popen([TARE, "record", "-q", "mem:ram", "--until-end", "--for", "30s", "-o",
                               "run.tare"]) as reader:
            time.sleep(0.3)
            board.set("pace", 1)
            paced = board.of("recorded")
            time.sleep(0.5)
            board.set("finish", 1)
            account = board.account()
            require(reader.wait(timeout=40) == 0, "tare record")
    listing = decode("run.tare")
    check_sound(listing)
    require(listing.of("end") == [["end", "0", "0", "0"]], f"end {listing.of('end')}")
    last, missing, gap_since = None, 0, True
    for line in listing.lines:
        if line[0] == "gap":
            gap_since = True
        elif line[0] == "event" and line[3] == event_id:
            value = int(line[4], 16)
            require(last is None or value == last + 1 or (gap_since and value > last),
                    f"{value} behind {last} without a gap")
            missing += 0 if last is None else value - last - 1
            last, gap_since = value, False
    require(last == account["recorded"] - 1, f"the last of {account['recorded']} is {last}")
    gaps = sum(int(line[2]) for line in listing.of("gap"))
    require(gaps >= 2 * missing and missing + 1000 < account["recorded"],
            f"gaps of {gaps} words, {missing} of {account['recorded']} numbers are missing")
    require(account["recorded"] > paced + 50 and account["dropped"] == 0, f"account {account}")
    check_names(listing)


def main():
    for tool in ("arm-none-eabi-gcc", "qemu-system-arm"):
        if not shutil.which(tool):
            print(f"skipped: no {tool}")
            sys.exit(77)
    build_program(CORTEX_M3, "overwrite.elf", "overwrite/overwrite_program.c",
                  '-DTARE_CONF_FILE="overwrite_conf.h"')
    stop_at_many_places()
    read_while_it_runs()


if __name__ == "__main__":
    main()
