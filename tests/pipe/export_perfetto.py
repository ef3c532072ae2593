"""export_perfetto.py SOURCE TARE BUILD [--store]: see export_perfetto.sh. --store writes the expectation
of protoc's text anew; read the difference before you keep it."""
import difflib
import json
import pathlib
import re
import struct
import subprocess
import sys

SOURCE, TARE, BUILD = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
EXPECTED = SOURCE / "tests" / "pipe"
sys.path[:0] = [str(SOURCE / "tools"), str(SOURCE / "tests" / "pipe")]
import export_perfetto_kernel
import perfetto_trace
import vector_encoder as encoder
import vectors_variants

EVENT, VALUE, STATE, SPAN_BEGIN, SPAN_END, STRING, CATEGORY, STREAM = range(1, 9)
LOSSES = {"dropped", "suppressed", "gap", "disorder", "damage", "clock backwards", "unverified"}
KERNEL_TRACK = re.compile("scheduling$|((counting )?semaphore|(recursive )?mutex|queue|event group|"
                          "buffer|timer|interrupt) ")
VARIANTS = 300
KERNELS = 60
ORIGIN, MONOTONIC, REALTIME, TICK_NS = 0x10000, 5_000_000_000, 1_700_000_000_000_000_000, 10


def ns(ticks):
    return MONOTONIC + (ticks - ORIGIN) * TICK_NS


# ------------------------------------------------------------------ a recording made by hand


def snapshot(ticks):
    passed = (ticks - ORIGIN) * TICK_NS
    return encoder.chunk(5, [(struct.pack("<4Q", ticks, MONOTONIC + passed, REALTIME + passed, 20),
                              "clock")])


def ring(number, thread):
    data = bytearray(encoder.joined(encoder.ring(number=number, kind=2)))
    data[104:112] = struct.pack("<2I", 4000, thread)
    return encoder.chunk(3, [(bytes(data), "ring")], number=number)


def made_by_hand():
    """Thread 1 "worker": states, spans inside each other, values, a gap; thread 2, without a name: the
    other end of a span, a loss, a text. Every kind of argument; an id without definition."""
    one = encoder.Stream(number=1, time=ORIGIN + 100)
    for kind, id, text in (
            (CATEGORY, 3, "kernel"), (STREAM, 1, "worker"),
            (STATE, 0x810, "thread state|state:u32:{running,waiting for queue}"),
            (SPAN_BEGIN, 0x811, "outer|id:u32:"), (SPAN_END, 0x812, "outer|id:u32:"),
            (SPAN_BEGIN, 0x813, "inner|id:u32:"), (SPAN_END, 0x814, "inner|id:u32:"),
            (SPAN_BEGIN, 0x815, "request|id:u32:"), (SPAN_END, 0x816, "request|id:u32:"),
            (VALUE, 0x817, "depth|value:u32:blocks"), (VALUE, 0x818, "error|value:i32:ns"),
            (VALUE, 0x819, "load|value:f32:"), (STRING, 0x81A, "log|length:u32:B"),
            (EVENT, 0x81B, "queue send|queue:u32:{free,pending}"),
            (EVENT, 0xC10, "fault|address:x32:|temperature:f32:\u00b0C"),
            (EVENT, 0x010, "tick")):
        one.define(kind, 3, id, text.encode())
    f32 = struct.unpack("<I", struct.pack("<f", -0.5))[0]
    for step, id, *arguments in (
            (10, 0x810, 0), (10, 0x815, 1), (0, 0x815, 2), (10, 0x811, 7), (5, 0x813, 1), (5, 0x814, 1),
            (0, 0x813, 2), (5, 0x814, 2), (5, 0x812, 7), (5, 0x817, 3), (0, 0x818, 0xFFFFFFFE),
            (5, 0x819, f32), (5, 0x81B, 1), (0, 0x81B, 9), (5, 0xC10, 0xBEEF, f32), (0, 0x010,),
            (5, 0x820, 0x1234), (5, 0x810, 1), (1000, 0x810, 0), (5, 0x811, 8)):
        one.event(id, *arguments, after=step)
    known = len(one.blocks)
    while len(one.blocks) < known + 2:  # words that the file will not hold
        one.event(0x010, after=1)
    while one.room > 0:
        one.event(0x010)
    one.event(0x810, 1, after=500)  # the first event behind the gap
    one.event(0x812, 8, after=5)    # its begin was cut
    one.put("END", 0xC09, 0, 0)
    behind = len(one.blocks) - 1

    two = encoder.Stream(number=2, time=ORIGIN + 150)
    two.event(0x810, 0)
    two.string(0x81A, "caf\u00e9 \"ok\"".encode())
    two.event(0x816, 1, after=100)  # began on the other thread
    two.event(0x815, 3, after=5)
    two.time += 500
    two.loss(0xC05, 7, two.time - 400, 300)
    two.event(0x817, 5)
    two.event(0x810, 1, after=1000)
    two.event(0x817, 0, after=2000)

    first = one.data(*range(known))
    end = sum(len(data) for data, note in one.data(*range(behind)))
    return encoder.joined(
        encoder.file_header() +
        encoder.text_chunk(1, b'{"command":["./bin/plant","--fast"],"process_id":4000}') +
        snapshot(ORIGIN) + ring(1, 4000) + ring(2, 4001) +
        encoder.stream_chunk(first, number=1) + encoder.stream_chunk(two.data(), number=2) +
        encoder.stream_chunk(one.data(behind), position=end // 4, number=1) +
        snapshot(ORIGIN + 100_000_000) + encoder.text_chunk(6, b"{}"))


def export_as_stored(data, name, stored):
    """The trace of the recording, whose text must be that of the file `stored`, byte for byte."""
    pathlib.Path(name + ".tare").write_bytes(data)
    trace = export(name + ".tare", name + ".perfetto")
    with open(name + ".perfetto", "rb") as file:
        done = subprocess.run(["protoc", "--decode_raw"], stdin=file, stdout=subprocess.PIPE,
                              check=True)
    pathlib.Path(name + ".decoded").write_bytes(done.stdout)
    if "--store" in sys.argv:
        (EXPECTED / stored).write_bytes(done.stdout)
    difference = subprocess.run(["diff", "-u", str(EXPECTED / stored), name + ".decoded"],
                                stdout=subprocess.PIPE, check=False)
    assert difference.returncode == 0, difference.stdout.decode()[:4000]
    return trace


def check_made_by_hand():
    trace = export_as_stored(made_by_hand(), "hand", "export_perfetto.expected")
    assert trace.snapshots == [{3: MONOTONIC, 1: REALTIME}]
    expect("tracks", sorted((t.kind, t.name, path(trace, t), t.process, t.thread)
                            for t in trace.tracks.values()), [
        ("child", "lost", "plant/thread 4001/lost", None, None),
        ("child", "lost", "plant/worker/lost", None, None),
        ("child", "request", "plant/request", None, None),
        ("child", "request", "plant/request", None, None),
        ("child", "thread state", "plant/thread 4001/thread state", None, None),
        ("child", "thread state", "plant/worker/thread state", None, None),
        ("counter", "depth (blocks)", "plant/depth (blocks)", None, None),
        ("counter", "error (ns)", "plant/error (ns)", None, None),
        ("counter", "load", "plant/load", None, None),
        ("process", "plant", "plant", 4000, None),
        ("thread", "thread 4001", "plant/thread 4001", 4000, 4001),
        ("thread", "worker", "plant/worker", 4000, 4000)])
    cut = {"end": "cut by a loss", "end uncertain": True}
    expect("slices", [(path(trace, s["track"]), s["name"], s["time"] - MONOTONIC,
                       s["end"] - MONOTONIC, s["depth"], s["notes"]) for s in trace.slices], [
        ("plant/worker/thread state", "running", 1100, 1800, 0, {}),
        ("plant/request", "request", 1200, 2500, 0,
         {"id": 1, "began on": "worker", "ended on": "thread 4001"}),
        ("plant/request", "request", 1200, 12000, 0, {"id": 2, "began on": "worker", **cut}),
        ("plant/worker", "outer", 1300, 1500, 0, {"id": 7}),
        ("plant/worker", "inner", 1350, 1400, 1, {"id": 1}),
        ("plant/worker", "inner", 1400, 1450, 1, {"id": 2}),
        ("plant/thread 4001/thread state", "running", 1500, 3550, 0, cut),
        ("plant/worker/thread state", "waiting for queue", 1800, 11800, 0, {}),
        ("plant/request", "request", 2550, 3550, 0, {"id": 3, "began on": "thread 4001", **cut}),
        ("plant/thread 4001/lost", "dropped", 3550, 6550, 0, {"events": 7}),
        ("plant/worker/thread state", "running", 11800, 12000, 0, cut),
        ("plant/worker", "outer", 11850, 12000, 0, {"id": 8, **cut}),
        ("plant/thread 4001/thread state", "waiting for queue", 17550, 37550, 0,
         {"end": "open when the recording ended"}),
        ("plant/worker/lost", "gap", 12000, 17590, 0, {"words": 128}),
        ("plant/worker/thread state", "waiting for queue", 17590, 17640, 0,
         {"end": "the recording of this thread ended"})])
    expect("instants", [(i["track"].name, i["name"], i["time"] - MONOTONIC, i["notes"])
                        for i in trace.instants if i["name"] != "tick"], [
        ("thread 4001", "log", 1500, {"text": "caf\u00e9 \"ok\""}),
        ("worker", "queue send", 1650, {"queue": "pending"}),
        ("worker", "queue send", 1650, {"queue": 9}),
        ("worker", "fault", 1700, {"address": "0xbeef", "temperature (\u00b0C)": -0.5}),
        ("worker", "#820", 1750, {"first": "0x1234"}),
        ("worker", "outer: end without begin", 17640,
         {"id": 8, "its begin may be among what was lost": True})])
    expect("counters", [(c["track"].name, c["track"].unit, c["time"] - MONOTONIC, c["value"])
                        for c in trace.counters], [
        ("depth (blocks)", (None, "blocks"), 1550, 3),
        ("error (ns)", (1, None), 1550, -2),
        ("load", (None, None), 1600, -0.5),
        ("depth (blocks)", (None, "blocks"), 7550, 5),
        ("depth (blocks)", (None, "blocks"), 37550, 0)])
    assert {c for s in trace.slices for c in s["categories"]} == {"kernel"}


def check_stretch():
    """What reaches out of the stretch is cut at its border, and nothing else is there."""
    trace = export("hand.tare", "stretch.perfetto", "--begin", "1380ns", "--end", "2us")
    early, late, both = {"began earlier": True}, {"ended later": True}, \
        {"began earlier": True, "ended later": True}
    expect("slices of a stretch",
           [(s["track"].name, s["name"], s["time"] - MONOTONIC, s["end"] - MONOTONIC, s["depth"],
             {k: v for k, v in s["notes"].items() if "earlier" in k or "later" in k})
            for s in trace.slices], [
        ("thread state", "running", 1380, 1800, 0, early),
        ("request", "request", 1380, 2000, 0, both),
        ("request", "request", 1380, 2000, 0, both),
        ("worker", "outer", 1380, 1500, 0, early),
        ("worker", "inner", 1380, 1400, 1, early),
        ("worker", "inner", 1400, 1450, 1, {}),
        ("thread state", "running", 1500, 2000, 0, late),
        ("thread state", "waiting for queue", 1800, 2000, 0, late)])
    expect("counters of a stretch", [c["value"] for c in trace.counters], [3, -2, -0.5])
    trace = export("hand.tare", "loss.perfetto", "--begin", "5us", "--end", "6us")
    expect("a loss that is longer than the stretch",
           [(s["name"], s["time"] - MONOTONIC, s["end"] - MONOTONIC) for s in trace.slices
            if s["track"].name == "lost"], [("dropped", 5000, 6000)])


# ------------------------------------------------------------------ a kernel


def check_kernel():
    """Every slice and instant of export_perfetto_kernel.py, worked out by hand."""
    trace = export_as_stored(export_perfetto_kernel.recording(), "kernel",
                             "export_perfetto_kernel.expected")
    expect("tracks of a kernel", sorted((t.kind, path(trace, t), t.process, t.thread)
                                        for t in trace.tracks.values()), [
        ("child", "session 00005E51/consumer/scheduling", None, None),
        ("child", "session 00005E51/core 0/interrupt uart", None, None),
        ("child", "session 00005E51/core 0/lost", None, None),
        ("child", "session 00005E51/core 0/timer #032", None, None),
        ("child", "session 00005E51/mutex lock", None, None),
        ("child", "session 00005E51/producer/mode", None, None),
        ("child", "session 00005E51/producer/scheduling", None, None),
        ("child", "session 00005E51/queue requests", None, None),
        ("counter", "session 00005E51/depth (items)", None, None),
        ("process", "session 00005E51", 1, None),
        ("thread", "session 00005E51/consumer", 1, 0x1001200),
        ("thread", "session 00005E51/core 0", 1, 2),
        ("thread", "session 00005E51/producer", 1, 0x1001000)])
    cut = {"end": "cut by a loss", "end uncertain": True}
    low, high = {"priority": 1}, {"priority": 3}
    inherited = {"priority": 3, "priority is inherited": True}
    expect("slices of a kernel",
           [(path(trace, s["track"]).split("/", 1)[1], s["name"], (s["time"] - MONOTONIC) // 10,
             (s["end"] - MONOTONIC) // 10, s["depth"], s["notes"]) for s in trace.slices], [
        ("producer/scheduling", "ready", 110, 260, 0, low),
        ("consumer/scheduling", "ready", 125, 200, 0, high),
        ("consumer/scheduling", "running", 200, 260, 0, high),
        ("consumer/scheduling", "blocked: receive requests", 260, 352, 0, high),
        ("producer/scheduling", "running", 260, 370, 0, low),
        ("producer", "work", 310, 450, 0, {"id": 7}),
        ("core 0/interrupt uart", "uart", 340, 360, 0, {}),
        ("consumer/scheduling", "ready", 352, 370, 0, {"by": "interrupt uart", **high}),
        ("producer/scheduling", "preempted", 370, 420, 0, {"by": "consumer", **low}),
        ("consumer/scheduling", "running", 370, 420, 0, high),
        ("consumer/scheduling", "blocked: take lock", 420, 464, 0, {"held by": "producer", **high}),
        ("producer/scheduling", "running", 420, 480, 0, inherited),
        ("consumer/scheduling", "ready", 464, 480, 0, {"by": "producer", **high}),
        ("producer/scheduling", "preempted", 480, 520, 0, {"by": "consumer", **low}),
        ("consumer/scheduling", "running", 480, 520, 0, high),
        ("consumer/scheduling", "blocked: delay", 520, 600, 0,
         {"ticks of the kernel": 5, **high, **cut}),
        ("producer/scheduling", "running", 520, 600, 0, {**low, **cut}),
        ("producer/mode", "busy", 540, 600, 0, cut),
        ("core 0/timer #032", "timer #032", 560, 570, 0, {}),
        ("core 0/lost", "dropped", 600, 900, 0, {"events": 5}),
        ("consumer/scheduling", "running", 1000, 1100, 0,
         {"end": "the recording of this thread ended", **high})])
    expect("instants of a kernel",
           [(path(trace, i["track"]).split("/", 1)[1], i["name"], (i["time"] - MONOTONIC) // 10,
             i["notes"]) for i in trace.instants], [
        ("producer", "producer: created", 100, {"priority": 1}),
        ("consumer", "consumer: created", 120, {"priority": 3}),
        ("queue requests", "requests: created", 130, {"length": 4}),
        ("queue requests", "requests: block on receive", 240, {"by": "consumer"}),
        ("mutex lock", "lock: take", 300, {"by": "producer"}),
        ("queue requests", "requests: send", 350, {"by": "interrupt uart"}),
        ("queue requests", "requests: receive", 380, {"by": "consumer"}),
        ("mutex lock", "lock: block on take", 400, {"by": "consumer"}),
        ("mutex lock", "lock: holder", 402, {"by": "consumer", "held by": "producer"}),
        ("producer", "producer: inherits", 404, {"priority": 3, "by": "consumer"}),
        ("mutex lock", "lock: give", 460, {"by": "producer"}),
        ("producer", "producer: disinherits", 462, {"priority": 1, "by": "producer"}),
        ("mutex lock", "lock: take", 490, {"by": "consumer"}),
        ("consumer", "consumer: delay", 500, {"time (ticks of the kernel)": 5, "by": "consumer"}),
        ("core 0/timer #032", "timer #032: created", 550, {"by": "producer"})])
    expect("counters of a kernel", [(c["track"].name, (c["time"] - MONOTONIC) // 10, c["value"])
                                    for c in trace.counters], [("depth (items)", 345, 3)])


def check_any_kernel():
    """Events in any order: what the tasks do, against the same rules told a second time."""
    slices = 0
    for seed in range(KERNELS):
        data, events = export_perfetto_kernel.random_recording(seed)
        pathlib.Path("any.tare").write_bytes(data)
        done = subprocess.run([TARE, "export", "-q", "any.tare", "--to", "perfetto"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=True)
        trace = perfetto_trace.Trace(done.stdout)
        found = [(trace.tracks[s["track"].parent].name, s["name"], (s["time"] - MONOTONIC) // 10,
                  (s["end"] - MONOTONIC) // 10) for s in trace.slices
                 if s["track"].name == "scheduling"]
        expect("states of tasks (seed %d)" % seed,
               sorted(found, key=lambda one: (one[2], one[0], one[3])),
               export_perfetto_kernel.scheduling_of(events))
        slices += len(found)
    print("%d states of tasks agree" % slices)


# ------------------------------------------------------------------ whatever stands in the input


def check_damaged():
    """All vectors and what can become of them: either refused or a trace in which slices nest, times
    rise and every loss that the dump tells of stands on a track named "lost"."""
    inputs = {}
    for hexadecimal in sorted((SOURCE / "spec" / "vectors").glob("*/*.hex")):
        inputs[hexadecimal.stem] = bytes.fromhex(re.sub("#.*", "", hexadecimal.read_text()))
    inputs["hand"] = made_by_hand()
    inputs["kernel"] = export_perfetto_kernel.recording()
    accepted = kernels = 0
    for data in list(inputs.values()) + [data for name, data in vectors_variants.variants(
            {name: inputs[name] for name in ("hand", "kernel", *inputs)}, VARIANTS, 1)]:
        pathlib.Path("damaged.tare").write_bytes(data)
        done = subprocess.run([TARE, "export", "-q", "damaged.tare", "--to", "perfetto"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
        assert done.returncode in (0, 4), done.stderr.decode()
        if done.returncode == 4:
            assert done.stdout == b""
            continue
        accepted += 1
        trace = perfetto_trace.Trace(done.stdout)
        lines = dumped("damaged.tare")
        for kind, name in (("dropped", "dropped"), ("suppressed", "suppressed")):
            told = sum(line["events"] for line in lines
                       if line["type"] == "loss" and line["class"] == kind)
            shown = sum(s["notes"]["events"] for s in trace.slices if s["name"] == name)
            assert told == shown, "%s: the dump has %d, the export %d" % (kind, told, shown)
        assert sum(line["type"] == "gap" for line in lines) == \
            sum(s["name"] == "gap" for s in trace.slices)
        # What a kernel does becomes fewer or more slices than it has events.
        if any(line["type"] == "event" and (line["id"] == 0xC0A or line["id"] in range(2, 8))
               for line in lines) or any(KERNEL_TRACK.match(t.name) for t in trace.tracks.values()):
            kernels += 1
            continue
        shown = len(trace.instants) + len(trace.counters) + sum(
            "state" in s["track"].name or s["name"] not in LOSSES for s in trace.slices)
        # An end with a begin is no slice of its own; a text that came late is an instant more.
        stored = sum(line["type"] == "event" for line in lines)
        ends = sum(line["type"] == "event" and line["class"] == "span_end" for line in lines)
        late = sum(line["type"] == "text" for line in lines)
        orphans = sum("end without begin" in i["name"] for i in trace.instants)
        assert shown == stored - ends + orphans + late, (shown, stored, ends, orphans, late)
    assert kernels < accepted / 2, (kernels, accepted)
    print("%d of %d inputs were exported, %d of a kernel" % (accepted, len(inputs) + VARIANTS, kernels))


# ------------------------------------------------------------------ real threads


def dumped(recording):
    done = subprocess.run([TARE, "dump", "-q", "--json", recording], stdout=subprocess.PIPE,
                          check=True, timeout=60)
    return [json.loads(line) for line in done.stdout.splitlines()]


def value_name(event):
    argument = event["arguments"][0]
    return argument.get("value_name") or str(argument["value"])


def check_against_dump(trace, recording):
    """Every slice and every point of the export, worked out from the lines of the dump. Only for a
    recording without losses whose spans end where they begin."""
    lines = dumped(recording)
    slices, points, states, spans, last = [], [], {}, {}, 0
    for line in lines:
        if line["type"] not in ("event", "end"):
            assert line["type"] in ("session", "summary"), line
            continue
        time, thread = line["time_ns"], (line["stream"], line["thread"])
        last = max(last, time)
        if line["type"] == "end":
            for key in [key for key in states if key[0] == thread]:
                slices.append(states.pop(key) + (time,))
        elif line["class"] == "state":
            key = thread, line["id"]
            if key in states:
                slices.append(states.pop(key) + (time,))
            states[key] = (thread[1], value_name(line), time)
        elif line["class"] == "span_begin":
            spans[line["id"], line["arguments"][0]["value"]] = (thread[1], line["name"], time)
        elif line["class"] == "span_end":
            slices.append(spans.pop((line["id"] - 1, line["arguments"][0]["value"])) + (time,))
        else:
            points.append((thread[1], line["name"], time, value_name(line)))
    slices += [begun + (last,) for begun in list(states.values()) + list(spans.values())]
    base = trace.snapshots[0][3]
    expect("slices", sorted((thread_name(trace, s["track"]), s["name"], s["time"] - base,
                             s["end"] - base) for s in trace.slices), sorted(slices))
    expect("instants", [(thread_name(trace, i["track"]), i["name"], i["time"] - base,
                         *map(str, i["notes"].values())) for i in trace.instants], points)
    print("%d slices and %d instants agree" % (len(slices), len(points)))


def check_gateway():
    programs = BUILD / "cost" / "workloads" / "gateway"
    if not (programs / "gateway_tare").exists():
        print("no gateway in this build: nothing of real threads was compared")
        return
    with open("run.json", "wb") as out:
        subprocess.run([programs / "gateway_run", "--seconds", "1", "--warm-up", "0", "--", TARE,
                        "record", "-q", "-o", "run.tare", "--", programs / "gateway_tare"],
                       stdout=out, check=True, timeout=60)
    check_against_dump(export("run.tare", "run.perfetto"), "run.tare")


# ------------------------------------------------------------------ the program under test


def export(recording, name, *options):
    """The trace; the same call twice gives the same bytes, also when read from a pipe."""
    subprocess.run([TARE, "export", "-q", recording, "--to", "perfetto", "-o", name, *options],
                   check=True, timeout=60)
    data = pathlib.Path(name).read_bytes()
    with open(recording, "rb") as file:
        again = subprocess.run([TARE, "export", "-q", "--to=perfetto", "-", *options], stdin=file,
                               stdout=subprocess.PIPE, check=True, timeout=60)
    assert again.stdout == data, "the second run gives other bytes"
    return perfetto_trace.Trace(data)


def path(trace, track):
    """Names from the process down."""
    return (path(trace, trace.tracks[track.parent]) + "/" if track.parent else "") + track.name


def thread_name(trace, track):
    while track.kind != "thread":
        track = trace.tracks[track.parent]
    return track.name


def expect(what, found, wanted):
    if found != wanted:
        lines = difflib.unified_diff([str(x) for x in wanted], [str(x) for x in found], "wanted",
                                     "found", n=1, lineterm="")
        raise AssertionError("%s differ:\n%s" % (what, "\n".join(list(lines)[:60])))


def main():
    check_made_by_hand()
    check_stretch()
    check_kernel()
    check_any_kernel()
    check_damaged()
    check_gateway()


if __name__ == "__main__":
    main()
