#!/usr/bin/env python3
"""ctest: timeout=120 labels=plain

Runs kernel/kernel_program.c on FreeRTOS and compares what it recorded with what it did, event by
event: `kernel_check.py debian` on FreeRTOS 9 of Debian, `kernel_check.py given` on the kernel in
the folder FREERTOS_KERNEL_PATH (FreeRTOS 10 or 11; not set: skipped).
"""
import collections
import os
import shutil
import struct
import sys

SOURCE = os.environ["SOURCE"]

sys.path.insert(0, os.path.join(SOURCE, "tests", "target"))
from kernel_build import build_on_kernel, debian_kernel, kernel_version, options_for  # noqa: E402
from target_run import (CORTEX_M3, RIG, decode, require, run, symbols,  # noqa: E402
                        unread_words)

PROGRAMS = ["kernel_program.c", "kernel_account.c", "kernel_steps_queue.c", "kernel_steps_task.c",
            "kernel_steps_many.c"]
OBJECTS = 24
FIRST_ID = 0x7FF - 4 * OBJECTS + 1  # of kernel objects
RING_NAMES_LOST = 124  # offset in struct tare_ring

# Of kernel_account.h and recorder/tare_events.def.
OPERATION, ENTER, EXIT, MARK, TEXT = 0x80, 0x90, 0x91, 0xA0, 0xA1
LOOSE, STRICT, EARLY, OPTIONAL = 0xA2, 0xA3, 0xF0, 0xF1
NO_OBJECT, OTHER_TASK, OTHER_OBJECT = 0xFD, 0xFE, 0xFF
CREATED, DELETED, HOLDER, ALLOCATED, FREED = 1, 2, 16, 19, 20
TASK, INTERRUPT = 9, 18
TEXTS = ['"driver speaks"', '"the task that interrupts has its own words"']
NAMES = {"early", "driver", "IDLE", "TmrQ", "Tmr Svc", "tare"}  # of objects that live to the end
MARK_BEHIND_TEXTS = 1001


def read_image(program):
    """The program's notes, the recording as it collected it, and the image of the memory."""
    table = symbols(CORTEX_M3, program)
    with open("ram", "rb") as file:
        def words(symbol, count, at=0):
            file.seek(table[symbol][0] + at - CORTEX_M3.ram)
            return struct.unpack(f"<{count}I", file.read(4 * count))

        require(words("account_done", 1) == (1,), "the program has not come to its end")
        names_lost, = words("tare0", 1, RING_NAMES_LOST)
        count, = words("note_count", 1)
        notes = [words("notes", 3, 12 * i) for i in range(count)]
        epochs = [words("epoch_ticks", 3, 12 * i) for i in range(8)]
        collected, = words("account_collected", 1)
        file.seek(0)
        ram = file.read(table[CORTEX_M3.data_end][0] - CORTEX_M3.ram)
        file.seek(table["mps2_data_begin"][0] + 0x400000 - CORTEX_M3.ram)
        stream = file.read(4 * collected)
    with open("stream.raw", "wb") as file:
        file.write(stream + unread_words(CORTEX_M3, ram))
    with open("image", "wb") as file:
        file.write(ram)
    nameless = [note for note in notes
                if note[0] == CREATED and note[1] in (OTHER_TASK, OTHER_OBJECT)]
    require(len(nameless) == names_lost > 0,
            f"{len(nameless)} objects without a number, but {names_lost} are counted")
    return notes, epochs, collected


class Recording:
    """The events of a listing as the program notes them: (code, object, value), objects counted as
    they are created."""

    def __init__(self, listing, early):
        self.listing = listing
        self.number = {(FIRST_ID + 4 * i, 0): i for i in range(early)}  # of (id, generation)
        self.generation = {FIRST_ID + 4 * i: 0 for i in range(early)}  # of id, the latest
        self.classes = {}  # of id: has a task ever had it
        self.live = {FIRST_ID + 4 * i for i in range(early)}
        self.next = early
        names = {line[4]: line[5] for line in
                 (" ".join(line).split(" ", 5) for line in listing.of("define"))}
        by_text = lambda text: next(int(one, 16) for one, name in names.items()
                                    if name.strip('"').split("|")[0] == text)
        self.interrupts = {by_text("kernel"): 0, by_text("probe"): 1}
        self.mark, self.say = by_text("mark"), by_text("say")
        self.events = []
        for line in listing.lines:
            if line[0] == "event":
                self.take([int(field, 16) for field in line[3:]])
            elif line[0] == "text":
                self.events.append((TEXT, TEXTS.index(" ".join(line[3:])), 0))

    def take(self, fields):
        ident, arguments = fields[0], fields[1:]
        if ident == 0xC0A:
            self.take_kernel(arguments[0] >> 24, arguments[0] & 0xFFFFFF, arguments[1])
        elif ident == self.mark:
            self.events.append((MARK, NO_OBJECT, arguments[0]))
        elif ident == self.say:
            pass  # its text comes
        elif ident in (2, 3):
            self.events.append((OPERATION + ident - 2, OTHER_TASK, 0))
        elif 4 <= ident <= 7:
            self.events.append((OPERATION + ident - 4, OTHER_OBJECT, 0))
        elif FIRST_ID <= ident <= 0x7FF:
            operation = (ident - FIRST_ID) % 4
            base = ident - operation
            require(base in self.live, f"an event of id {ident:03X}, where no object lives")
            self.events.append((OPERATION + operation,
                                self.number[base, self.generation[base]], 0))
        else:
            base = ident if ident in self.interrupts else ident - 1
            require(base in self.interrupts, f"an event of id {ident:03X}, which nothing has")
            self.events.append((ENTER + ident - base, self.interrupts[base], 0))

    def take_kernel(self, kind, object_bits, value):
        ident, generation = object_bits & 0xFFFF, object_bits >> 16 & 0xFF
        if kind in (ALLOCATED, FREED):
            number = object_bits
        elif ident in (2, 4):
            number = OTHER_TASK if ident == 2 else OTHER_OBJECT
            require(generation == 0, "an object without a number has a generation")
            if kind == CREATED and self.first_without_number is None:
                self.first_without_number = set(self.generation)
        else:
            if kind == CREATED:
                self.create(ident, generation, value >> 24)
            require(self.generation.get(ident) == generation,
                    f"generation {generation} of {ident:03X}, which is {self.generation}")
            number = self.number[ident, generation]
            if kind == DELETED:
                self.live.remove(ident)
        if kind == HOLDER:
            value = self.number[value, self.generation[value]]
        self.events.append((kind, number, value))

    first_without_number = None

    def create(self, ident, generation, event_class):
        require(ident not in self.live, f"{ident:03X} is given to a second object")
        wanted = (self.generation.get(ident, -1) + 1) % 256
        require(generation == wanted, f"{ident:03X}: generation {generation}, not {wanted}")
        is_task = event_class == TASK
        require(self.classes.setdefault(ident, is_task) == is_task,
                f"{ident:03X} was that of a task and of something else")
        self.generation[ident] = generation
        self.number[ident, generation] = self.next
        self.live.add(ident)
        self.next += 1


def show(event):
    return f"code {event[0]:#x} object {event[1]} value {event[2]:#x}"


def compare(notes, events):
    """Every note against every event, in order; in the loose stretch, how many of each."""
    position, index = 0, 0
    while index < len(notes):
        note = notes[index]
        index += 1
        if note[0] == EARLY:
            continue
        if note[0] == OPTIONAL:
            if position >= len(events) or events[position] != notes[index]:
                index += 1
            continue
        if note[0] == LOOSE:
            wanted = collections.Counter()
            while notes[index][0] != STRICT:
                code, number, count = notes[index]
                wanted[code, number] += count
                index += 1
            index += 1
            end = position + sum(wanted.values())
            found = collections.Counter(event[:2] for event in events[position:end])
            require(found == wanted, f"in the texts' stretch: {found - wanted} too many, "
                    f"{wanted - found} too few")
            position = end
            continue
        before = "; ".join(show(event) for event in events[max(0, position - 6):position])
        require(position < len(events), f"nothing was recorded of {show(note)}, after {before}")
        require(events[position] == note, f"event {position} is {show(events[position])}, but the "
                f"program did {show(note)}; before it: {before}")
        position += 1
    require(position == len(events), f"recorded, but not done: {show(events[-1])}")


def check_texts(listing):
    """Texts were in fact cut into by another task's, and none lost a word."""
    lines = listing.lines
    cut = 0
    for at, line in enumerate(lines):
        if line[0] == "text":
            begin = max(i for i in range(at) if lines[i][0] == "event" and lines[i][2] == line[2])
            cut += any(other[0] == "text" for other in lines[begin:at])
    require(cut >= 5, f"only {cut} texts were interrupted by another")


def check_second_clock(listing, epochs):
    ticks = listing.of("tick")
    for before, after, count in epochs:
        near = [line for line in ticks if before <= int(line[2]) % 2 ** 32 <= after]
        require(len(near) == 1 and int(near[0][3]) == count,
                f"the tick {count} between {before} and {after} is told as {near}")


def check_names(listing, recording):
    """Every object alive has its name in the memory, and every name went into the stream."""
    named = {(int(line[4], 16), int(line[3])): " ".join(line[5:]).strip('"')
             for line in listing.of("name")}
    alive = {ident: named.get((ident, recording.generation[ident])) for ident in recording.live}
    require(set(alive.values()) == NAMES,
            f"names of what is alive: {alive}")


def check_streamed_names(listing):
    names = {" ".join(line[5:]).strip('"') for line in listing.of("define")}
    missing = NAMES | {"helper", "a queue", "a semaphore", "a mutex", "a timer", "kernel",
                       "queues and other objects", "probe"}
    require(missing <= names, f"names that never came: {missing - names}")


def check_account(listing, events, texts):
    total = listing.total()
    stored = len(events) + sum((len(TEXTS[which]) - 2 + 7) // 8 for which in texts)
    require(total == {"stored": stored, "dropped": 0, "suppressed": 0, "torn": 0},
            f"totals {total} instead of {stored} stored")
    require(len(listing.of("end")) == 1, "the recording has no end")
    for kind in ("fault", "skipped", "unverified", "reserved", "loss", "gap"):
        require(not listing.of(kind), f"{kind} in a sound recording: {listing.of(kind)[:3]}")


def check_image(image, whole, collected):
    """The memory alone gives what was left in the ring."""
    require(image.of("gap") == [["gap", "0", str(collected)]], f"gap: {image.of('gap')}")
    events = image.of("event")
    require(len(events) > 40 and events == whole.of("event")[-len(events):],
            "events in the memory are not the last ones")
    require(image.of("end") == whole.of("end"), "the image has another end than the stream")


def check_headers(path):
    """FreeRTOSConfig.h with the hooks at its end is also read from C++ and from the assembler."""
    with open("reads_config", "w", encoding="utf-8") as file:
        file.write('#include "FreeRTOSConfig.h"\n')
    with open("reads_kernel", "w", encoding="utf-8") as file:
        file.write('#include "FreeRTOS.h"\n#include "task.h"\n#include "queue.h"\n'
                   '#include "tare_baremetal.h"\n')
    options = ["-mcpu=cortex-m3", "-mthumb", "-Wall", "-Wextra", "-Werror", "-pedantic",
               "-DMPS2_NOTE=385", '-DTARE_CONF_FILE="kernel_conf.h"', *options_for(path)]
    for enabled in ("1", "0"):
        for language, standard, file in (
                ("c++", "c++17", "reads_config"), ("c++", "c++17", "reads_kernel"),
                ("c", "c99", "reads_config"), ("c", "c11", "reads_kernel"),
                ("assembler-with-cpp", "c99", "reads_config")):
            compiler = "arm-none-eabi-g++" if language == "c++" else "arm-none-eabi-gcc"
            run(compiler, "-x", language, f"-std={standard}", f"-DTARE_ENABLED={enabled}", *options,
                "-c", file, "-o", "reads.o")


def check_kernel(path):
    version, _ = kernel_version(path)
    check_headers(path)
    build_on_kernel(path, "kernel.elf", PROGRAMS)
    run(os.path.join(RIG, "run_board.sh"), "kernel.elf", "ram")
    notes, epochs, collected = read_image("kernel.elf")
    whole, image = decode("stream.raw"), decode("image", "--image")
    recording = Recording(whole, sum(note[0] == EARLY for note in notes))
    compare(notes, recording.events)
    require(len(recording.first_without_number) == OBJECTS,
            "an object got no number while one had never been used")
    check_account(whole, recording.events,
                  [event[1] for event in recording.events if event[0] == TEXT])
    check_texts(whole)
    check_second_clock(whole, epochs)
    check_names(image, recording)
    check_streamed_names(whole)
    check_image(image, whole, collected)
    print(f"FreeRTOS {version}: {len(recording.events)} events as the program did them, "
          f"{recording.next} objects")


def main():
    for tool in ("arm-none-eabi-gcc", "qemu-system-arm"):
        if not shutil.which(tool):
            print(f"skipped: no {tool}")
            sys.exit(77)
    if sys.argv[1:] == ["debian"]:
        path = debian_kernel()
        if not path:
            print("skipped: FreeRTOS cannot be fetched here; the lines above say why")
            sys.exit(77)
        check_kernel(path)
    elif sys.argv[1:] == ["given"]:
        path = os.environ.get("FREERTOS_KERNEL_PATH")
        if not path:
            print("skipped: FREERTOS_KERNEL_PATH names no kernel; FreeRTOS 10 and 11 were not run")
            sys.exit(77)
        check_kernel(path)
    else:
        sys.exit("kernel_check.py debian|given")


if __name__ == "__main__":
    main()
