"""sample_recording.py SOURCE FOLDER: recordings whose every event is known, for the tests of dump and check.

run.tare      two threads, all kinds of arguments, a loss, a gap and a clock fault; a tick is 16 ns
hostile.tare  names and texts that would do harm on a terminal or in a CSV or JSON file
raw.bin       one thread's stream alone, without clock
kernel.tare   a core of a target with tasks, a queue, a mutex and an interrupt; a tick is 1 us
ram.bin       memory of a target whose ring is overwritten, with its names
"""
import pathlib
import struct
import sys

SOURCE, FOLDER = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.path.insert(0, str(SOURCE / "tools"))
import vector_encoder as encoder

FIRST = 1000000  # the tick at which time begins: on 2023-11-14 at 22:13:20 UTC


def clock(ticks, seconds):
    ns = seconds * 1000000000
    return encoder.chunk(5, [(struct.pack("<4Q", ticks, ns, 1700000000000000000 + ns, 0), "clock")])


def names(stream):
    stream.define(1, 0, 0x010, b"start")
    stream.define(1, 0, 0x810, b"block|size:u32:B")
    stream.define(2, 0, 0x811, b"level|value:i32:blocks")
    stream.define(3, 0, 0x812, b"mode|state:u32:{idle,busy}")
    stream.define(4, 0, 0x813, b"work|id:u32:")
    stream.define(5, 0, 0x814, b"work|id:u32:")
    stream.define(6, 0, 0x815, b"log|length:u32:B")
    stream.define(1, 0, 0xC10, b"pair|ratio:f32:|mask:x32:")
    stream.define(8, 0, 1, b"main")
    stream.define(8, 0, 2, b"worker")


def write(name, pieces):
    (FOLDER / name).write_bytes(encoder.joined(pieces))


def ring(number, kind):
    return encoder.chunk(3, encoder.ring(number=number, kind=kind, state=3))


def run():
    defined = encoder.Stream(number=9, time=FIRST)
    names(defined)
    main = encoder.Stream(number=1, time=FIRST + 100)
    main.event(0x010)
    main.event(0x810, 512, after=100)
    main.event(0x812, 1)
    main.string(0x815, b"hello, \xc3\xa4\n")
    main.event(0x811, 0xFFFFFFFD, after=1000)
    main.event(0x812, 7)
    main.event(0xC10, struct.unpack("<I", struct.pack("<f", 1.5))[0], 0xBEEF, after=1)
    main.event(0x816, 1)
    main.put("END", 0xC09, 0, 0)
    worker = encoder.Stream(number=2, time=FIRST + 150)
    worker.event(0x813, 1)
    worker.time += 1000
    worker.loss(0xC05, 3, FIRST + 200, 250)
    worker.event(0x814, 1)
    while len(worker.blocks) < 3:  # the second block will be missing
        worker.event(0x813, len(worker.blocks), after=10)
    worker.time -= 5
    worker.event(0x814, 9)
    info = b'{"command": ["./app", "--fast"], "poll_requested_ns": 1000000, "later": 18446744073709551615}'
    write("run.tare", encoder.file_header() + encoder.text_chunk(1, info) + clock(FIRST, 0) +
          ring(9, 1) + ring(1, 0) + ring(2, 0) +
          encoder.stream_chunk(main.data(), number=1) + encoder.stream_chunk(worker.data(0), number=2) +
          encoder.stream_chunk(defined.data(), number=9) +
          encoder.stream_chunk(worker.data(2), position=128, number=2) +
          clock(FIRST + 62500000, 1) +
          encoder.text_chunk(6, b'{"command_status": 0, "poll_mean_ns": 1100000, "poll_longest_ns": 3000000}'))


def hostile():
    stream = encoder.Stream(time=5)
    stream.define(1, 0, 0x810, b"\x1b[31mred\x07|a\"b,c:u32:\r\n")
    stream.define(6, 0, 0x811, b'=cmd()|"q":u32:')
    stream.define(8, 0, 1, b"../../x\xff\xe2\x80\xae")
    stream.event(0x810, 1)
    stream.string(0x811, b'a\0b"c\n\x9b')
    write("hostile.tare", encoder.file_header() + encoder.stream_chunk(stream.data()))


def raw():
    stream = encoder.Stream(time=5)
    stream.event(0x810, 1)
    stream.event(0x810, 2, after=7)
    write("raw.bin", stream.data())


TASK, QUEUE, MUTEX, INTERRUPT = 9, 10, 13, 18


def kernel():
    """The id 0x010 is of a task, then of another; the names of queue and interrupt are in a table alone."""
    core = encoder.Stream(number=0, time=1000, block=256)
    core.put("CLOCK", 0xC07, 1000000, 0)
    core.created(TASK, 0, 0x010, 3)
    core.created(QUEUE, 0, 0x020, 8)
    core.define(TASK, 0, 0x010, b"worker")
    core.define(1, 0, 0x810, b"block|size:u32:B")
    core.event(0x011, after=10)  # worker ready
    core.event(0x010, after=1)
    core.event(0x810, 512, after=1)
    core.event(0x023, after=1)  # waits to receive
    core.event(0x002, after=1)  # a task without a number
    core.put("TICK", 0x802, 7)
    core.event(0x030, after=1)
    core.event(0x020, after=1)
    core.event(0x031, after=1)
    core.event(0x010, after=1)
    core.event(0x025, after=1)  # takes the mutex
    core.kernel(16, 0, 0x024, 0x010)
    core.kernel(6, 0, 0x010, 5)
    core.kernel(18, 0, 0x024, 0xF0)
    core.kernel(19, 0, 64, 0x20001000)
    core.put("KERNEL heap", 0xC0A, 20 << 24 | 64, 0x20001000)
    core.kernel(99, 3, 0x7F0, 1)
    core.kernel(2, 0, 0x010, 0)
    core.created(TASK, 1, 0x010, 4)
    core.event(0x010, after=1)
    core.time += 100
    core.loss(0xC05, 3, core.time - 50, 20)
    core.event(0x020, after=1)
    table = [(QUEUE, 0, 0x020, b"pending"), None, (MUTEX, 0, 0x024, b"settings"), (INTERRUPT, 0, 0x030, b"Ethernet"),
             (TASK, 1, 0x010, b"sender")]
    write("kernel.tare", encoder.file_header() + encoder.chunk(3, encoder.ring(number=0, block=256)) +
          encoder.stream_chunk(core.data(), number=0, piece=1024) + encoder.names_chunk(table, number=0) +
          encoder.text_chunk(6, b"{}"))


def ram():
    core = encoder.Stream(number=0, time=1000)
    while len(core.blocks) < 9:
        core.event(0x010, after=1)
        core.event(0x020, after=1)
    table = encoder.names_table([(TASK, 0, 0x010, b"worker"), (QUEUE, 0, 0x020, b"pending")], 16)
    size = 4 * 256
    write("ram.bin", encoder.target(core, tail=table, policy=1, number=0, names=240 + size, name_count=2, name_bytes=16,
                                    id=b"TARE ring"))


run()
hostile()
raw()
kernel()
ram()
