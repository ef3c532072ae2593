"""A board in QEMU that is looked at while it runs: its memory through the file behind it, its
processor through QEMU's machine protocol."""
import json
import mmap
import os
import socket
import subprocess
import time

from target_run import RIG, TESTS, require, run, symbols

TARE = os.environ["TARE"]
MEMORY = 16 << 20
SECONDS = 10  # to wait for whatever the board does
MARK = 0xC5
START, STOP, FILTER, NAMES = 1, 2, 3, 4

# Words of struct tare_ring (recorder/tare_layout.h).
UP_BUFFER, UP_BYTES, UP_WRITE, UP_READ = 7, 8, 9, 10
DOWN_BUFFER, DOWN_BYTES, DOWN_WRITE, DOWN_READ = 13, 14, 15, 16
RING_MAGIC, RING_SELF, RING_VERSION, RING_BLOCK, RING_SESSION = 18, 19, 20, 21, 22
RING_STATE, RING_LAP = 25, 28


def build_program(board, name, program, *options):
    run(os.path.join(RIG, "build_board.sh"), name, os.path.join(TESTS, program),
        "-I" + os.path.join(TESTS, os.path.dirname(program)), *options, **board.environment())


class LiveBoard:
    """`with` ends QEMU. Paths are in the working directory."""

    def __init__(self, board, program, *options):
        self.board = board
        self.symbols = symbols(board, program)
        with open("ram", "wb") as file:
            file.truncate(MEMORY)
        if os.path.exists("monitor"):
            os.remove("monitor")
        with open("ram", "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), MEMORY)
        self.process = subprocess.Popen(
            ["timeout", "-k", "5", "50", "qemu-system-arm", "-machine",
             board.name + ",memory-backend=ram", "-object",
             f"memory-backend-file,id=ram,size={MEMORY},mem-path=ram,share=on", "-kernel", program,
             "-nic", "none", "-display", "none", "-monitor", "none", "-serial", "stdio",
             "-semihosting-config", "enable=on,target=native", "-qmp",
             "unix:monitor,server=on,wait=off", *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(SECONDS)
        self.wait(lambda: self.socket.connect_ex("monitor") == 0, "QEMU's monitor")
        self.answers = self.socket.makefile("r", encoding="utf-8")
        self.monitor("qmp_capabilities")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.answers.close()
        self.socket.close()
        self.process.terminate()
        self.process.communicate(timeout=SECONDS)

    def monitor(self, command):
        self.socket.sendall((json.dumps({"execute": command}) + "\n").encode())
        while True:
            answer = json.loads(self.answers.readline())
            require("error" not in answer, f"{command}: {answer}")
            if "return" in answer:
                return

    def wait(self, condition, what):
        end = time.monotonic() + SECONDS
        while not condition():
            require(time.monotonic() < end, f"within {SECONDS} s there was no {what}")
            time.sleep(0.001)

    def account(self):
        """What the program printed until its end."""
        output = self.process.communicate(timeout=40)[0]
        require(self.process.returncode == 0, f"status {self.process.returncode}\n{output}")
        return {name: int(value) for name, value in (line.split() for line in output.splitlines())}

    def word(self, address):
        at = address - self.board.ram
        return int.from_bytes(self.memory[at:at + 4], "little")

    def set_word(self, address, value):
        at = address - self.board.ram
        self.memory[at:at + 4] = value.to_bytes(4, "little")

    def of(self, symbol):
        return self.word(self.symbols[symbol][0])

    def set(self, symbol, value):
        self.set_word(self.symbols[symbol][0], value)

    def ring(self, number):
        """A word of the ring's structure."""
        return self.word(self.ring_address() + 4 * number)

    def ring_address(self):
        return self.symbols["tare0"][0]

    def save(self, name, size=65536):
        """The first bytes of the memory, in which all data lie."""
        with open(name, "wb") as file:
            file.write(self.memory[:size])

    def unread(self):
        """Takes what is unread in the ring, as a probe does."""
        write, read, size = self.ring(UP_WRITE), self.ring(UP_READ), self.ring(UP_BYTES)
        at = self.ring(UP_BUFFER) - self.board.ram
        words = self.memory[at:at + size]
        self.set_word(self.ring_address() + 4 * UP_READ, write)
        return words[read:write] if read <= write else words[read:] + words[:write]

    def send(self, data):
        """Bytes into the down channel, as a probe writes them."""
        size, write = self.ring(DOWN_BYTES), self.ring(DOWN_WRITE)
        at = self.ring(DOWN_BUFFER) - self.board.ram
        for byte in data:
            self.memory[at + write] = byte
            write = (write + 1) % size
        self.set_word(self.ring_address() + 4 * DOWN_WRITE, write)
        self.wait(lambda: self.ring(DOWN_READ) == write, "answer to the command")


def command(code, argument=0):
    data = bytearray([MARK, code, 0, 0]) + argument.to_bytes(4, "little")
    for byte in bytes(data[:3] + data[4:]):
        data[3] ^= byte
    return bytes(data)


def tare(*arguments, status=0):
    """Standard error of a run of the host program that must end with this status."""
    done = subprocess.run([TARE, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, check=False, timeout=50)
    require(done.returncode == status,
            f"tare {' '.join(arguments)}: status {done.returncode}, not {status}\n{done.stderr}")
    return done.stderr


def notes(path):
    return [json.loads(line) for line in run(TARE, "dump", "--json", "-q", path).splitlines()]


def numbers(path, name="number"):
    """Values of the events of this name, by session."""
    found = {}
    for note in notes(path):
        if note["type"] == "event" and note["name"] == name:
            found.setdefault(note["session"], []).append(note["arguments"][0]["value"])
    return found
