#!/usr/bin/env python3
"""ctest: timeout=60 labels=plain

TARE_RTT_CHANNEL: the recorder takes one channel of an RTT control block that the firmware has
already and leaves all others as they are, to the byte. The reader of an image and `tare record mem:`
find it.
"""
import os
import shutil
import subprocess
import sys
import time

SOURCE = os.environ["SOURCE"]

sys.path.insert(0, os.path.join(SOURCE, "tests", "target"))
from live_board import TARE, LiveBoard, build_program, numbers, tare  # noqa: E402
from target_run import CORTEX_M3, decode, require  # noqa: E402

OWN = 24 + 24  # offset of channel 1 in the control block
NAME, BUFFER, BYTES, WRITE, READ, FLAGS = range(0, 24, 4)
RING_BYTES = 2048


class Block:
    """The firmware's control block, and all that its other channels have."""

    def __init__(self, board):
        self.board = board
        self.address = board.symbols["_SEGGER_RTT"][0]

    def others(self):
        block = self.content("_SEGGER_RTT")
        buffers = [self.content(name) for name in ("terminal", "log_bytes", "input", "keys")]
        return block[:OWN] + block[OWN + 24:], buffers

    def content(self, symbol):
        address, size = self.board.symbols[symbol]
        at = address - self.board.board.ram
        return bytes(self.board.memory[at:at + size])

    def own(self, field):
        return self.board.word(self.address + OWN + field)


def check_channel(board, block):
    ring = board.symbols["tare0"][0]
    require(block.own(BYTES) == RING_BYTES and block.own(FLAGS) == 0 and
            ring < block.own(BUFFER) < ring + board.symbols["tare0"][1],
            "the channel is not the ring's")
    require(block.own(WRITE) > 200 and block.own(READ) == 0, "offsets of the channel")
    id_at = ring - board.board.ram
    require(bytes(board.memory[id_at:id_at + 9]) == b"TARE ring", "the ring's own id is RTT's")


def check_image(board):
    board.monitor("stop")
    board.save("image")
    listing = decode("image", "--image")
    require(not listing.of("fault") and not listing.of("gap"), "faults or gaps in the image")
    found = numbers("image")[1]
    require(found == list(range(len(found))) and 100 <= len(found) <= board.of("recorded") + 1,
            f"numbers in the image: {found}")
    tare("snapshot", "image", "-o", "snapshot.tare")
    require(numbers("snapshot.tare")[1] == found, "tare snapshot has other numbers")
    board.monitor("cont")


def check_reader(board, block, *options):
    before = block.own(READ)
    with subprocess.Popen([TARE, "record", "-q", "mem:ram", *options, "--until-end", "--for", "20s",
                           "-o", "run.tare"]) as reader:
        board.wait(lambda: block.own(READ) != before, "reader")
        time.sleep(0.2)
        board.set("finish", 1)
        account = board.account()
        require(reader.wait(timeout=30) == 0, "tare record")
    found = numbers("run.tare")[1]
    require(found[-1] == account["recorded"] - 1 and found[:100] == list(range(100)),
            f"numbers {found}, {account['recorded']} recorded")
    require(block.own(READ) == block.own(WRITE), "the reader left words in the channel")


def main():
    for tool in ("arm-none-eabi-gcc", "qemu-system-arm"):
        if not shutil.which(tool):
            print(f"skipped: no {tool}")
            sys.exit(77)
    build_program(CORTEX_M3, "rtt.elf", "options/options_rtt.c", "-DTARE_RTT_CHANNEL=1",
                  '-DTARE_CONF_FILE="options_conf.h"')
    for options in ((), ("--elf", "rtt.elf")):
        with LiveBoard(CORTEX_M3, "rtt.elf") as board:
            block = Block(board)
            board.wait(lambda: board.of("stage") == 1, "control block")
            others = block.others()
            board.set("go", 1)
            board.wait(lambda: board.of("stage") == 2, "hundred events")
            check_channel(board, block)
            check_image(board)
            check_reader(board, block, *options)
            require(block.others() == others, "another channel of the block was changed")


if __name__ == "__main__":
    main()
