"""export_perfetto_kernel.py SOURCE FILE: writes a recording of a kernel to FILE, made by hand.

One core, 1 tick = 10 ns. Two tasks, a queue, a mutex whose holder inherits a priority, an interrupt, a
timer, one loss. The times in recording() are ticks behind ORIGIN; what must come of them stands in
export_perfetto.py. random_recording() has the same objects in any order, and scheduling_of() says what
the tasks do in it, told a second time from section 3.13 of FORMAT.md alone."""
import pathlib
import random
import struct
import sys

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "tools"))
import vector_encoder as encoder

VALUE, STATE, SPAN_BEGIN, SPAN_END, STREAM = 2, 3, 4, 5, 8
TASK, QUEUE, MUTEX, TIMER, INTERRUPT = 9, 10, 13, 17, 18
CREATED, INHERITS, DISINHERITS, DELAY, SUSPENDED, HOLDER = 1, 4, 5, 6, 8, 16
PRODUCER, CONSUMER, LOCK, REQUESTS, UART, BLINK = 0x010, 0x012, 0x020, 0x024, 0x030, 0x032
RUNS, READY, SEND, RECEIVE, RECEIVE_BLOCK, ENTER, EXIT = 0, 1, 0, 1, 3, 0, 1
DEPTH, WORK, MODE = 0x810, 0x811, 0x813
ORIGIN, MONOTONIC, REALTIME, TICK_NS = 0x10000, 5_000_000_000, 1_700_000_000_000_000_000, 10


def snapshot(ticks):
    passed = (ticks - ORIGIN) * TICK_NS
    return encoder.chunk(5, [(struct.pack("<4Q", ticks, MONOTONIC + passed, REALTIME + passed, 20),
                              "clock")])


def core_with_names():
    core = encoder.Stream(number=1, time=ORIGIN)
    for kind, id, text in (
            (STREAM, 1, "core 0"), (TASK, PRODUCER, "producer"), (TASK, CONSUMER, "consumer"),
            (MUTEX, LOCK, "lock"), (QUEUE, REQUESTS, "requests"), (INTERRUPT, UART, "uart"),
            (VALUE, DEPTH, "depth|value:u32:items"), (SPAN_BEGIN, WORK, "work|id:u32:"),
            (SPAN_END, WORK + 1, "work|id:u32:"), (STATE, MODE, "mode|state:u32:{idle,busy}")):
        core.define(kind, 0, id, text.encode())
    return core


def file_of(core):
    return encoder.joined(encoder.file_header() + encoder.text_chunk(1, b"{}") + snapshot(ORIGIN) +
                          encoder.stream_chunk(core.data(), number=1) +
                          snapshot(ORIGIN + 100_000_000) + encoder.text_chunk(6, b"{}"))


def recording():
    core = core_with_names()

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
    return file_of(core)


# ------------------------------------------------------------------ any order of events


def random_recording(seed):
    """The file, and its events: (ticks, what, task or object, value)."""
    core, events, source = core_with_names(), [], random.Random(seed)
    for ticks in range(10, 10 + 10 * source.randrange(5, 200), 10):
        core.time = ORIGIN + ticks
        task, queue = source.choice((PRODUCER, CONSUMER, 0x014)), source.choice((LOCK, REQUESTS))
        what = source.choice(("runs",) * 4 + ("ready",) * 3 + ("blocks",) * 2 +
                             ("delay", "suspended", "interrupt", "lost")[:4 if ticks % 70 == 0 else 3])
        if what == "lost":
            core.loss(0xC05, 1, ORIGIN + ticks - 5, 2)
            core.dropped += 1
        elif what in ("delay", "suspended"):
            core.event(0xC0A, (DELAY if what == "delay" else SUSPENDED) << 24 | task, 3)
        else:
            core.event({"runs": task + RUNS, "ready": task + READY, "blocks": queue + RECEIVE_BLOCK,
                        "interrupt": UART + source.choice((ENTER, EXIT))}[what])
        events.append((ticks, what, queue if what == "blocks" else task))
    return file_of(core), events


def scheduling_of(events):
    """(task, what it does, begin, end) in the order of the begins."""
    names = {PRODUCER: "producer", CONSUMER: "consumer", 0x014: "#014",
             LOCK: "blocked: take lock", REQUESTS: "blocked: receive requests"}
    states, waits, woken, running, done = {}, {}, set(), None, []

    def change(task, state, ticks):
        if task in states:
            done.append((names[task],) + states.pop(task) + (ticks,))
        if state:
            states[task] = (state, ticks)

    def switch(task, ticks):
        nonlocal running
        if running not in (None, task):
            change(running, waits.get(running) or ("ready" if running in woken else "preempted"), ticks)
        if running != task:
            change(task, "running", ticks)
        running = task
        waits.clear()
        woken.clear()

    for ticks, what, which in events:
        if what == "lost":
            for task in list(states):
                change(task, None, ticks - 5)
            running = None
            waits.clear()
            woken.clear()
        elif what == "runs":
            if which != 0x014:  # it has no definition: nobody knows that it is a task
                switch(which, ticks)
        elif what == "blocks" and running:
            waits[running] = names[which]
            woken.discard(running)
        elif what in ("delay", "suspended") and which != 0x014:
            if what == "delay" and running is None:
                switch(which, ticks)
            if running == which:
                waits[which] = "blocked: " + what
                woken.discard(which)
            elif what == "suspended":
                change(which, "blocked: suspended", ticks)
        elif what == "ready" and which != 0x014:
            if which == running:
                if waits.pop(which, None):
                    woken.add(which)
            elif states.get(which, ("blocked",))[0].startswith("blocked"):
                change(which, "ready", ticks)
    for task in list(states):
        change(task, None, events[-1][0])
    return sorted(done, key=lambda one: (one[2], one[0], one[3]))


if __name__ == "__main__":
    pathlib.Path(sys.argv[2]).write_bytes(recording())
