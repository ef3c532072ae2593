"""Compiles the recorder for targets in every language and with every option that it promises, and
looks at the images that the linker makes of it. Runs nothing."""
import itertools
import multiprocessing.pool
import os
import re
import subprocess
import sys

SOURCE = os.environ["SOURCE"]
RECORDER = os.path.join(SOURCE, "recorder")
HERE = os.path.join(SOURCE, "tests", "config")
RIG = os.path.join(SOURCE, "cost", "rigs", "qemu")
PROGRAM = os.path.join(HERE, "every_target_name.c")
UNITS = [os.path.join(RECORDER, "tare.c"), os.path.join(RECORDER, "transport", "tare_transport.c"),
         PROGRAM]
STRICT = ["-Wall", "-Wextra", "-Wshadow", "-Wundef", "-Werror", "-pedantic", "-ffunction-sections",
          "-fdata-sections", "-I" + RECORDER, "-I" + HERE, '-DTARE_CONF_FILE="target_conf.h"']
ARM, RISCV = "arm-none-eabi-", "riscv64-unknown-elf-"
CORES = {
    "m0plus": (ARM, "-mthumb", "-mcpu=cortex-m0plus"),
    "m3": (ARM, "-mthumb", "-mcpu=cortex-m3"),
    "m33": (ARM, "-mthumb", "-mcpu=cortex-m33"),
    "riscv": (RISCV, "-march=rv32imac_zicsr", "-mabi=ilp32", "--specs=picolibc.specs"),
    "host": ("",),
}
STANDARDS = ("c99", "c11", "c++17")

# Each by itself: what needs no other to change what is compiled.
SINGLE = [["-DTARE_ENABLED=0"], ["-DTARE_BLOCK_WORDS=64"], ["-DTARE_BLOCK_WORDS=128"],
          ["-DTARE_RING_BYTES=65536"], ["-DTARE_NAME_PERIOD=1"], ["-DTARE_CATEGORIES=1u"],
          ["-DTARE_TEXT_LIMIT=8"], ["-DTARE_TEXT_LIMIT=1023"], ["-DTARE_SESSION=7u"],
          ["-DTARE_LOCK_BASEPRI=0x40"], ["-DTARE_PORT_IN_ORDER=0"], ["-DTARE_OBJECTS=1"],
          ["-DTARE_OBJECTS=32"], ["-DTARE_OBJECTS=400", "-DTARE_NAME_BYTES=8"],
          ["-DTARE_RTT_CHANNEL=1", "-DTARE_RTT_BLOCK=other_block"], ["-DTARE_CORES=16"]]

# All combinations of four, and of any three with the two that follow from them: each switches a
# part of the same functions.
TOGETHER = ("-DTARE_FULL_POLICY=TARE_OVERWRITE", "-DTARE_RTT_CHANNEL=1", "-DTARE_CORES=2",
            "-DTARE_OBJECTS=8")


def combinations():
    for chosen in itertools.product((False, True), repeat=4):
        policy, channel, cores, objects = chosen
        options = [option for option, is_on in zip(TOGETHER, chosen) if is_on]
        options += ["-DTARE_SELF_TEST=0"] if policy ^ channel ^ cores else []
        options += ["-DTARE_COMMANDS=0"] if channel ^ cores ^ objects else []
        yield options


REFUSED = [("m3", option) for option in (
    "-DTARE_BLOCK_WORDS=100", "-DTARE_RING_BYTES=1000", "-DTARE_RING_BYTES=1024",
    "-DTARE_TEXT_LIMIT=7", "-DTARE_TEXT_LIMIT=1024", "-DTARE_OBJECTS=401", "-DTARE_OBJECTS=-1",
    "-DTARE_NAME_BYTES=4", "-DTARE_NAME_BYTES=260", "-DTARE_NAME_BYTES=10",
    "-DTARE_FULL_POLICY=2", "-DTARE_CORES=0", "-DTARE_CORES=17", "-DTARE_LOCK_BASEPRI=0",
    "-DTARE_LOCK_BASEPRI=256", "-UTARE_CONF_FILE")] + [
        ("m0plus", "-DTARE_LOCK_BASEPRI=0x40"), ("riscv", "-UTARE_CONF_FILE")]

# A program that only starts the recorder needs none of these.
NOT_FOR_START = re.compile("tare_(stop|service|tick|obey|take_command|enable|disable|put_string|"
                           "thread_name|counts|object|kernel|ring_of|channel_of|frame|"
                           "datagram)")


def require(condition, text):
    if not condition:
        sys.exit(f"targets.py: {text}")


def call(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, timeout=60)


def run(command):
    done = call(command)
    require(done.returncode == 0, f"{' '.join(command)}\n{done.stdout}")
    return done.stdout


def compile_command(core, standard, source, out, *options):
    tools, *machine = CORES[core]
    compiler = [tools + "g++", "-x", "c++"] if standard.startswith("c++") else [tools + "gcc"]
    return [*compiler, "-std=" + standard, *machine, *STRICT, *options, "-c", source, "-o", out]


class Jobs:
    """Compiler runs, each one once and two at a time."""

    def __init__(self):
        self.commands = {}

    def add(self, core, standard, sources, *options):
        """Gives the objects."""
        objects = []
        for source in sources:
            command = compile_command(core, standard, source, "", *options)[:-1]
            out = self.commands.setdefault(tuple(command), f"{len(self.commands)}.o")
            objects.append(out)
        return objects

    def run(self):
        with multiprocessing.pool.ThreadPool(2) as pool:
            results = pool.map(lambda item: (call([*item[0], item[1]]), item[0]),
                               self.commands.items())
        refused = [f"must compile: {' '.join(command)}\n{done.stdout}" for done, command in results
                   if done.returncode != 0]
        require(not refused, "\n".join(refused))
        print(f"{len(self.commands)} runs of compilers")


def link(core, objects, out):
    tools, *machine = CORES[core]
    if tools == RISCV:
        machine[0] = "-march=rv32imac"
        script = ["-T", os.path.join(RIG, "virt.ld")]
    else:
        script = ["-T", os.path.join(RIG, "mps2.ld"), "-Wl,--defsym=mps2_code=0",
                  "-Wl,--defsym=mps2_ram=0x21000000", "--specs=nano.specs"]
    run([tools + "gcc", *machine, "-nostartfiles", "-Wl,--gc-sections", *script, *objects, "-o",
         out])


def image(core, elf):
    """All that is loaded, and the size of all memory that is not."""
    tools = CORES[core][0]
    run([tools + "objcopy", "-O", "binary", elf, elf + ".bin"])
    with open(elf + ".bin", "rb") as file:
        sections = [line for line in run([tools + "size", "-A", elf]).splitlines()
                    if re.match(r"\.(bss|noinit|sbss)|tare_events", line)]
        return file.read(), sections


def symbols(core, elf):
    return {line.split()[-1] for line in run([CORES[core][0] + "nm", elf]).splitlines()}


def code_bytes(core, name):
    listing = run([CORES[core][0] + "size", "-A", name])
    return sum(int(line.split()[1]) for line in listing.splitlines()
               if re.match(r"\.(text|rodata)", line))


def write(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)
    return os.path.abspath(name)


class Images:
    """Programs that are linked; `add` before the jobs are run, `check` behind."""

    def __init__(self, jobs, core, start):
        self.core = core
        board = jobs.add(core, "gnu99", [start], "-O2", "-I" + RIG, "-Wno-pedantic")
        recorder = jobs.add(core, "c99", UNITS[:2], "-O2", "-DTARE_OBJECTS=8")
        self.programs = {}
        for name, body in (("nothing", ""), ("start", "return tare_start();")):
            source = write(f"{core}_{name}.c", '#include "tare.h"\nint main(void)\n{\n' + body +
                           ("" if body else "return 0;") + "\n}\n")
            program = jobs.add(core, "c99", [source], "-O2")
            self.programs[name] = board + program + recorder
            self.programs[name + "_alone"] = board + program
        self.programs["off"] = board + jobs.add(core, "c99", UNITS[2:] + UNITS[:2], "-O2",
                                                "-DTARE_ENABLED=0")
        self.programs["without"] = board + jobs.add(core, "c99", UNITS[2:], "-O2",
                                                    "-DWITHOUT_RECORDER")
        self.programs["on"] = board + jobs.add(core, "c99", UNITS[2:], "-O2") + recorder

    def same(self, one, other):
        for name in (one, other):
            link(self.core, self.programs[name], f"{self.core}_{name}.elf")
        first, second = (image(self.core, f"{self.core}_{name}.elf") for name in (one, other))
        require(first[0] and first == second,
                f"{self.core}: the image of '{one}' is not that of '{other}': "
                f"{len(first[0])} and {len(second[0])} bytes, memory {first[1]} and {second[1]}")

    def check(self):
        self.same("nothing", "nothing_alone")
        self.same("off", "without")
        for name in ("start", "on"):
            link(self.core, self.programs[name], f"{self.core}_{name}.elf")
        started, on = (symbols(self.core, f"{self.core}_{name}.elf") for name in ("start", "on"))
        require("tare_start" in started and "tare_stop" in on and "tare_service" in on,
                f"{self.core}: the symbols are not as this test takes them to be")
        extra = sorted(filter(NOT_FOR_START.match, started))
        require(not extra, f"{self.core}: a program that calls tare_start alone also has {extra}")
        require(not [name for name in symbols(self.core, f"{self.core}_off.elf")
                     if name.startswith("tare")], f"{self.core}: something is left of the recorder")


def main():
    jobs = Jobs()
    for core, standard in itertools.product(CORES, STANDARDS):
        own = os.path.join(HERE, "every_name.c") if core == "host" else PROGRAM
        jobs.add(core, standard, [*UNITS[:2], own], "-O2")
    for options in SINGLE:
        jobs.add("m3", "c99", [UNITS[0], PROGRAM], "-Os", *options)
        jobs.add("m3", "c++17", UNITS[:1], "-Os", *options)
    for options, standard in itertools.product(combinations(), ("c99", "c++17")):
        jobs.add("m3", standard, UNITS[:1], "-Os", *options)
    small = {option: jobs.add("m0plus", "c99", UNITS[:1], "-O2", *option) for option in
             ((), ("-DTARE_SELF_TEST=0",), ("-DTARE_COMMANDS=0",))}
    images = [Images(jobs, core, os.path.join(RIG, start)) for core, start in
              (("m0plus", "mps2_start.c"), ("m3", "mps2_start.c"), ("m33", "mps2_start.c"),
               ("riscv", "virt_start.c"))]
    jobs.run()
    for one in images:
        one.check()

    whole = code_bytes("m0plus", small[()][0])
    for option, objects in small.items():
        saved = whole - code_bytes("m0plus", objects[0])
        require(not option or saved > 200, f"{option} saves {saved} bytes of code")
    for core, option in REFUSED:
        done = call(compile_command(core, "c99", UNITS[0], "refused.o", option))
        require(done.returncode != 0 and "#error" in done.stdout,
                f"must be refused with a reason: {core} {option}\n{done.stdout}")


if __name__ == "__main__":
    main()
