"""transport_uart.py TARE PROGRAM LINE: what the board's UART gave, damaged on the way; and a reader that
comes late to a running board, over TCP."""
import random
import re
import socket
import subprocess
import sys
import time

TARE, PROGRAM, LINE = sys.argv[1:]
SECONDS = 60


def tare(*arguments, data=None, good=(0,)):
    done = subprocess.run([TARE, *arguments], input=data, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=SECONDS, check=False)
    assert done.returncode in good, "%s: exit %d: %s" % (arguments, done.returncode, done.stderr)
    return done.stdout.decode()


def events(path):
    return re.findall(r"^event .*$", tare("dump", "--listing", path), re.M)


def damaged_line(line, sent, seed):
    """No event is there that was not sent, or in another order; what is missing is shown."""
    chance = random.Random(seed)
    for _ in range(200):
        line[chance.randrange(len(line))] ^= 1 << chance.randrange(8)
    for _ in range(20):
        at = chance.randrange(len(line))
        del line[at:at + chance.randrange(1, 3)]
    tare("record", "-q", "--frames", "-", "-o", "damaged.tare", data=bytes(line))
    rest = iter(sent)
    found = events("damaged.tare")
    for event in found:
        assert event in rest, "an event that was not sent there: " + event
    assert len(sent) // 4 < len(found) < len(sent), "%d of %d events" % (len(found), len(sent))
    tare("check", "--strict", "damaged.tare", good=(1,))


def late_reader():
    """The board's line is a TCP server. What it sends first is thrown away, what comes then goes to `tare
    record`, whose command goes back; later the test itself tells the board to stop recording."""
    probe = socket.socket()
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
    probe.close()
    board = subprocess.Popen(
        ["qemu-system-arm", "-machine", "mps2-an385", "-icount", "shift=5,sleep=off", "-kernel", PROGRAM,
         "-net", "none", "-display", "none", "-monitor", "none", "-serial",
         "tcp:127.0.0.1:%d,server=on,wait=on" % port, "-semihosting-config",
         "enable=on,target=native"], stdin=subprocess.DEVNULL)
    try:
        limit = time.monotonic() + SECONDS
        front = None
        while front is None:
            try:
                front = socket.create_connection(("127.0.0.1", port), 1)
            except OSError:
                assert time.monotonic() < limit, "the board does not listen"
                time.sleep(0.05)
        server = socket.create_server(("127.0.0.1", 0))
        skipped = b""
        while len(skipped) < 12000:
            skipped += front.recv(4096)
        recorder = subprocess.Popen([TARE, "record", "-q", "--frames", "-o", "late.tare",
                                     "tcp:127.0.0.1:%d" % server.getsockname()[1]])
        back = server.accept()[0]
        server.close()
        back.settimeout(SECONDS)
        front.settimeout(SECONDS)
        command, came, stopped = b"", 0, False
        while True:  # until the board has ended
            if len(command) == 8 and came > 25000 and not stopped:
                front.sendall(b"\xC5\xC5\x02" + bytes([0xC5, 2, 0, 0xC7, 0, 0, 0, 0]))
                stopped = True
            if len(command) < 8:
                back.settimeout(0.001)
                try:
                    command += back.recv(8 - len(command))
                except OSError:
                    pass
                back.settimeout(SECONDS)
                if len(command) == 8:
                    front.sendall(command)
            data = front.recv(256)
            if not data:
                break
            came += len(data)
            back.sendall(data)
        back.close()
        assert recorder.wait(SECONDS) == 0
        assert board.wait(SECONDS) == 0
    finally:
        board.kill()
    listing = tare("dump", "--listing", "late.tare")
    assert command == bytes([0xC5, 4, 0, 0xC1, 0, 0, 0, 0]), command.hex()
    for name in ("round done", "speed", "tick", "note"):
        assert re.search(r'^define .*"%s[|"]' % name, listing, re.M), "no name: " + name
    rounds = re.findall(r" round done *number=(\d+)$", tare("dump", "late.tare"), re.M)
    assert len(rounds) > 50 and int(rounds[-1]) < 1900, "it did not stop: %s" % rounds[-1:]
    assert re.search(r"^end 0 0 0$", listing, re.M), "no end"
    assert len(re.findall(r"^gap ", listing, re.M)) == 1, "one gap, before the first block"


WHOLE = bytearray(open(LINE, "rb").read())
SENT = events("uart.tare")
for number in range(3):
    damaged_line(bytearray(WHOLE), SENT, number)
late_reader()
