"""transport.py TARE SOURCE: frames and datagrams through `tare record`, made here from FORMAT.md's text
alone: its examples, a serial port (a pseudo terminal), UDP, TCP, files and pipes, good and bad lines."""
import fcntl
import json
import os
import pathlib
import pty
import random
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import time

TARE, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
BLOCK = 64
SESSION, STREAM = 0x5E51, 3
SECONDS = 30  # for anything


def crc(data):
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


def stuff(data):
    out = b""
    for part in (data + b"\0").split(b"\0")[:-1]:
        while len(part) >= 254:
            out += b"\xFF" + part[:254]
            part = part[254:]
        out += bytes([len(part) + 1]) + part
    return out + b"\0"


def unstuff(frame):
    out = b""
    while frame:
        code = frame[0]
        assert 0 < code <= len(frame), "COBS"
        out += frame[1:code] + (b"\0" if code < 255 and code < len(frame) else b"")
        frame = frame[code:]
    return out


def contents(sequence, position, words, log=6, session=SESSION, stream=STREAM):
    data = struct.pack("<BBHHHI", 1, log, sequence & 0xFFFF, session, stream, position)
    data += struct.pack("<%dI" % len(words), *words)
    return data + struct.pack("<I", crc(data))


def make_words(blocks, session=SESSION):
    """Blocks of UNNAMED1 records that count from 0, ten ticks apart."""
    words, count = [], 0
    for block in range(blocks):
        time_ticks = 1000 + 10 * count
        rest = [1 << 28 | 6 << 24, session << 16 | STREAM, time_ticks, BLOCK * block, 0]
        fold = 0
        for word in rest:
            fold ^= word
        fold ^= fold >> 16
        words += [0xFFF7A600 | (fold ^ fold >> 8) & 0xFF] + rest
        for _ in range((BLOCK - 6) // 2):
            words += [0x801 << 20 | 1000 + 10 * count, count]
            count += 1
    return words


def make_frames(words, per_frame=25):
    """Contents of frames; none crosses the border of a block."""
    frames, position = [], 0
    while position < len(words):
        count = min(per_frame, BLOCK - position % BLOCK)
        frames.append(contents(len(frames), position, words[position:position + count]))
        position += count
    return frames


WORDS = make_words(40)
FRAMES = make_frames(WORDS)
LINE = b"\0" + b"".join(stuff(frame) for frame in FRAMES)
EVENTS = 40 * 29


def run(*arguments, data=None, code=0):
    done = subprocess.run([TARE, *arguments], input=data, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=SECONDS, check=False)
    assert done.returncode == code, "%s: exit %d instead of %d: %s" % (
        arguments, done.returncode, code, done.stderr.decode())
    return done


def events(path):
    """Values of the events in the listing, and the words that gaps miss."""
    listing = run("dump", "--listing", path).stdout.decode()
    found = [(int(time_ticks), int(value, 16)) for time_ticks, value in
             re.findall(r"^event \d+ (\d+) 801 ([0-9A-F]{8})$", listing, re.M)]
    for time_ticks, value in found:
        assert time_ticks == 1000 + 10 * value, "event %d at %d" % (value, time_ticks)
    return [value for _, value in found], sum(map(int, re.findall(r"^gap \d+ (\d+)$", listing, re.M)))


def end_of(path):
    """The END chunk, the last of the file."""
    data = pathlib.Path(path).read_bytes()
    at = data.rindex(b"Tchk")
    assert struct.unpack("<H", data[at + 4:at + 6]) == (6,), "the last chunk is no END"
    return json.loads(data[at + 48:])


def size_of(path):
    return os.path.getsize(path) if os.path.exists(path) else 0


def wait_for(condition, what):
    limit = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < limit, "%s: not within %d s" % (what, SECONDS)
        time.sleep(0.01)


def examples():
    """The three lines of FORMAT.md, section 9, are made and read as it says."""
    document = (SOURCE / "spec" / "FORMAT.md").read_text(encoding="utf-8")
    section = document[document.index("## 9. Frames"):]
    shown = {name: bytes.fromhex(line) for name, line in
             re.findall(r"^(frame|datagram|no CRC) +((?:[0-9A-F]{2} ?)+)$", section, re.M)}
    assert crc(b"123456789") == 0xE3069283
    whole = contents(7, 0x1006, [0x80112345, 0x2A], log=8, stream=1)
    assert shown["frame"] == stuff(whole), stuff(whole).hex()
    assert unstuff(shown["frame"][:-1]) == whole
    assert shown["datagram"] == b"Tdgm" + whole
    assert shown["no CRC"] == b"tDGM" + whole[:-4]
    for unit in ("test_transport.c", "test_cap_frames.c"):
        text = (SOURCE / "tests" / "unit" / unit).read_text(encoding="utf-8")
        numbers = bytes(int(n, 16) for n in re.findall(r"0x([0-9A-F]{2})\b", text))
        assert shown["frame"] in numbers, "%s has another example" % unit


def good_lines():
    pathlib.Path("line").write_bytes(LINE)
    for arguments, data in ((["-"], LINE), (["file:line"], None)):
        run("record", "-q", "--frames", *arguments, "-o", "good.tare", data=data)
        run("check", "--strict", "good.tare")
        assert events("good.tare") == (list(range(EVENTS)), 0)
        end = end_of("good.tare")
        assert end["ended_by"] == "input" and end["frames"] == len(FRAMES), end
        assert end["words"] == len(WORDS) and end["bytes_received"] == len(LINE), end
        assert end["frames_damaged"] == end["words_lost"] == 0, end


def bad_lines():
    """What is damaged or lost is missing in the recording and shown, and nothing else is there."""
    chance = random.Random(5)
    for round_number in range(12):
        line = bytearray(LINE)
        for _ in range(1 + round_number):
            at = chance.randrange(len(line) - 30)
            kind = chance.randrange(4)
            if kind == 0:
                line[at] ^= 1 << chance.randrange(8)
            elif kind == 1:
                del line[at:at + chance.randrange(1, 30)]
            elif kind == 2:
                line[at:at] = b"a text on the same line\n\0"
            else:
                line[at:at + 20] = bytes(chance.randrange(256) for _ in range(20))
        run("record", "-q", "--frames", "-", "-o", "bad.tare", data=bytes(line))
        found, missed = events("bad.tare")
        end = end_of("bad.tare")
        assert found == sorted(set(found)) and found[-1] < EVENTS, "wrong or doubled events"
        assert len(found) >= EVENTS - 29 * 3 * (1 + round_number), "more lost than was damaged"
        assert end["frames_damaged"] > 0 or end["frames_lost"] > 0, end
        assert missed >= 2 * (found[-1] - found[0] + 1 - len(found)), "events are missing without a gap"
        run("check", "--strict", "bad.tare", code=1 if missed > 0 else 0)
    run("record", "-q", "--frames", "-", "-o", "none.tare", data=b"", code=3)
    run("record", "-q", "--frames", "-", "-o", "none.tare", data=b"hello\n" * 500, code=4)
    run("record", "-q", "--frames", "-", "-o", "none.tare",
        data=struct.pack("<%dI" % len(WORDS), *WORDS), code=4)


def refusals():
    for more, words in ((["serial:line"], "one PLACE"), (["--until-end"], "--until-end is for")):
        said = run("record", "--frames", "file:line", "-o", "refused.tare", *more, code=2).stderr.decode()
        assert words in said, said
    for place, words in (("file:missing", "No such file"), ("serial:line", "no serial port"),
                         ("serial:missing", "No such file"), ("tcp:127.0.0.1", "tcp:HOST:PORT"),
                         ("tcp:127.0.0.1:1", "refused"), ("file:.", "directory"),
                         ("pigeon:1", "serial:PATH"), ("udp:127.0.0.1:x", "ADDRESS:PORT")):
        said = run("record", "--frames", place, "-o", "refused.tare", code=2).stderr.decode()
        assert words in said and place in said, said
        assert not os.path.exists("refused.tare")


def serial_port():
    """A pseudo terminal: raw, at the rate asked for; the names are asked for when they were missed;
    the recording ends when the port goes away."""
    master, slave = pty.openpty()
    path = os.ttyname(slave)
    late = b"".join(stuff(frame) for frame in FRAMES[3:])  # the first block is gone
    with subprocess.Popen([TARE, "record", "-q", "--baud", "250000", "-o", "serial.tare",
                           "serial:" + path]) as recorder:
        try:
            wait_for(lambda: termios.tcgetattr(slave)[3] & termios.ICANON == 0, "raw mode")
            flags = termios.tcgetattr(slave)
            assert flags[0] & (termios.ICRNL | termios.IXON | termios.ISTRIP) == 0, flags
            assert flags[2] & termios.CSIZE == termios.CS8 and flags[2] & termios.PARENB == 0
            rate = struct.unpack("<36x2I", fcntl.ioctl(slave, 0x802C542A, bytes(44)))  # TCGETS2
            assert rate == (250000, 250000), rate
            os.close(slave)
            for at in range(0, len(late), 100):
                os.write(master, late[at:at + 100])
            command = b""
            while len(command) < 8 and select.select([master], [], [], SECONDS)[0]:
                command += os.read(master, 8)
            assert command == bytes([0xC5, 4, 0, 0xC1, 0, 0, 0, 0]), command.hex()
            # A terminal that goes away takes along what was not read yet.
            wait_for(lambda: size_of("serial.tare") > 4 * (len(WORDS) - BLOCK), "all words")
            os.close(master)
            assert recorder.wait(SECONDS) == 0
        finally:
            recorder.kill()
    assert events("serial.tare") == (list(range(29, EVENTS)), BLOCK)
    assert end_of("serial.tare")["ended_by"] == "input"


def from_the_start():
    """Over TCP: the target is told what it was said to be told, one thing at a time, and nothing else,
    for nothing was missed; a signal ends the recording."""
    server = socket.create_server(("127.0.0.1", 0))
    place = "tcp:127.0.0.1:%d" % server.getsockname()[1]
    with subprocess.Popen([TARE, "record", "-q", "--frames", "-o", "tcp.tare", "--categories",
                           "0x80000005", "--names", place]) as recorder:
        try:
            server.settimeout(SECONDS)
            peer = server.accept()[0]
            peer.settimeout(SECONDS)
            peer.sendall(LINE)
            for command in (b"\xC5\x03\0\x43\x05\0\0\x80", b"\xC5\x04\0\xC1\0\0\0\0"):
                came = peer.recv(8, socket.MSG_WAITALL)
                assert came == command, came.hex()
            wait_for(lambda: size_of("tcp.tare") > 4 * len(WORDS), "words in the file")
            recorder.send_signal(signal.SIGINT)
            assert recorder.wait(SECONDS) == 0
            assert peer.recv(100) == b"", "more bytes were sent to the target"
        finally:
            recorder.kill()
    assert events("tcp.tare") == (list(range(EVENTS)), 0)
    assert end_of("tcp.tare")["ended_by"] == "signal"


def receive_datagrams(datagrams, output):
    """Sends them to `tare record udp:`, which finds them all at once: how busy this machine is then makes
    no difference. Returns the END chunk."""
    with subprocess.Popen([TARE, "record", "-o", output, "udp::0"], stderr=subprocess.PIPE) as recorder:
        try:
            port = int(re.search(rb"port (\d+)", recorder.stderr.readline()).group(1))
            recorder.send_signal(signal.SIGSTOP)
            sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            for datagram in datagrams:
                sender.sendto(datagram, ("127.0.0.1", port))
            recorder.send_signal(signal.SIGCONT)
            wait_for(lambda: size_of(output) > 1000, "words in the file")
            recorder.send_signal(signal.SIGTERM)
            assert recorder.wait(SECONDS) == 0, recorder.stderr.read()
        finally:
            recorder.kill()
    return end_of(output)


def datagrams():
    chance = random.Random(9)
    sent = [b"Tdgm" + frame for frame in FRAMES]
    # Doubled and out of order, but all there.
    order = sorted(list(range(len(sent))) + list(range(0, len(sent), 5)),
                   key=lambda n: n + chance.random() * 6)
    end = receive_datagrams([sent[n] for n in order], "udp.tare")
    assert events("udp.tare") == (list(range(EVENTS)), 0)
    assert end["frames"] == len(sent) and end["frames_repeated"] == len(order) - len(sent), end
    # Some are lost, one is damaged, one comes from nowhere.
    gone = {7, 8, 60}
    lossy = [sent[n] for n in range(len(sent)) if n not in gone]
    lossy[30] = lossy[30][:50] + b"\x55" + lossy[30][51:]
    lossy.insert(20, b"who is there?")
    end = receive_datagrams(lossy, "udp.tare")
    words = [len(sent[n]) // 4 - 5 for n in sorted(gone | {32})]
    assert end["frames_lost"] == 4 and end["words_lost"] == sum(words), end
    assert end["frames_damaged"] == 2 and end["gaps"] == 3, end
    found, missed = events("udp.tare")
    assert found == sorted(set(found)) and len(found) < EVENTS and missed >= sum(words)


for test in (examples, good_lines, bad_lines, refusals, serial_port, from_the_start, datagrams):
    test()
    print("%s: good" % test.__name__)
