"""export_perfetto_kernel.py SOURCE FILE: writes a recording of a kernel to FILE, made by hand.

One core, 1 tick = 10 ns. Two tasks, a queue, a mutex whose holder inherits a priority, an interrupt, a
timer, one loss. The times in recording() are ticks behind ORIGIN; what must come of them stands in
export_perfetto.py."""
import pathlib
import struct
import sys

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "tools"))
import vector_encoder as encoder

VALUE, STATE, SPAN_BEGIN, SPAN_END, STREAM = 2, 3, 4, 5, 8
TASK, QUEUE, MUTEX, TIMER, INTERRUPT = 9, 10, 13, 17, 18
CREATED, INHERITS, DISINHERITS, DELAY, HOLDER = 1, 4, 5, 6, 16
PRODUCER, CONSUMER, LOCK, REQUESTS, UART, BLINK = 0x010, 0x012, 0x020, 0x024, 0x030, 0x032
RUNS, READY, SEND, RECEIVE, RECEIVE_BLOCK, ENTER, EXIT = 0, 1, 0, 1, 3, 0, 1
DEPTH, WORK, MODE = 0x810, 0x811, 0x813
ORIGIN, MONOTONIC, REALTIME, TICK_NS = 0x10000, 5_000_000_000, 1_700_000_000_000_000_000, 10


def snapshot(ticks):
    passed = (ticks - ORIGIN) * TICK_NS
    return encoder.chunk(5, [(struct.pack("<4Q", ticks, MONOTONIC + passed, REALTIME + passed, 20),
                              "clock")])


def recording():
    core = encoder.Stream(number=1, time=ORIGIN)
    for kind, id, text in (
            (STREAM, 1, "core 0"), (TASK, PRODUCER, "producer"), (TASK, CONSUMER, "consumer"),
            (MUTEX, LOCK, "lock"), (QUEUE, REQUESTS, "requests"), (INTERRUPT, UART, "uart"),
            (VALUE, DEPTH, "depth|value:u32:items"), (SPAN_BEGIN, WORK, "work|id:u32:"),
            (SPAN_END, WORK + 1, "work|id:u32:"), (STATE, MODE, "mode|state:u32:{idle,busy}")):
        core.define(kind, 0, id, text.encode())

    def at(ticks, id, *arguments):
        core.time = ORIGIN + ticks
        core.event(id, *arguments)

    def kernel(ticks, kind, id, value=0):
        at(ticks, 0xC0A, kind << 24 | id, value)

    kernel(100, CREATED, PRODUCER, TASK << 24 | 1)
    at(110, PRODUCER + READY)
    kernel(120, CREATED, CONSUMER, TASK << 24 | 3)
    at(125, CONSUMER + READY)
    kernel(130, CREATED, REQUESTS, QUEUE << 24 | 4)
    at(200, CONSUMER + RUNS)
    at(240, REQUESTS + RECEIVE_BLOCK)
    at(260, PRODUCER + RUNS)
    at(300, LOCK + RECEIVE)
    at(310, WORK, 7)
    at(340, UART + ENTER)
    at(345, DEPTH, 3)
    at(350, REQUESTS + SEND)
    at(352, CONSUMER + READY)
    at(360, UART + EXIT)
    at(370, CONSUMER + RUNS)
    at(380, REQUESTS + RECEIVE)
    at(400, LOCK + RECEIVE_BLOCK)
    kernel(402, HOLDER, LOCK, PRODUCER)
    kernel(404, INHERITS, PRODUCER, 3)
    at(420, PRODUCER + RUNS)
    at(450, WORK + 1, 7)
    at(460, LOCK + SEND)
    kernel(462, DISINHERITS, PRODUCER, 1)
    at(464, CONSUMER + READY)
    at(480, CONSUMER + RUNS)
    at(490, LOCK + RECEIVE)
    kernel(500, DELAY, CONSUMER, 5)
    at(520, PRODUCER + RUNS)
    at(540, MODE, 1)
    kernel(550, CREATED, BLINK, TIMER << 24)  # nobody says its name
    at(560, BLINK + ENTER)
    at(570, BLINK + EXIT)
    core.time = ORIGIN + 1000
    core.loss(0xC05, 5, ORIGIN + 600, 300)
    at(1000, CONSUMER + RUNS)
    core.time = ORIGIN + 1100
    core.put("END", 0xC09, 5, 0)
    return encoder.joined(encoder.file_header() + encoder.text_chunk(1, b"{}") + snapshot(ORIGIN) +
                          encoder.stream_chunk(core.data(), number=1) +
                          snapshot(ORIGIN + 100_000_000) + encoder.text_chunk(6, b"{}"))


if __name__ == "__main__":
    pathlib.Path(sys.argv[2]).write_bytes(recording())
