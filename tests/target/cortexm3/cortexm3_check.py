#!/usr/bin/env python3
"""ctest: timeout=120 labels=plain

Runs cortexm3_program.c on an emulated Cortex-M3 and checks, in this one run of this one binary:

  - its account: attempted = stored + dropped + suppressed, to the event, in what it collected from
    the ring and in the image of its memory, by the host program and by the reference decoder;
  - that losses, texts and times are right; all this once more for a program that is compiled for a
    Cortex-M0, whose instructions the Cortex-M3 has as well, and the account with the smallest ring;
  - what an event costs in instructions, how many of them run with interrupts masked, and how large
    the recorder is, against cost/budgets.json.

Instructions are counted twice: from QEMU's log of every executed instruction, and from the board's
counter, which takes 4 steps in 5 instructions. The last line of standard output is a JSON object
with the costs; it is also written to BUILD/costs/cortexm3.json.
"""
import json
import os
import re
import shutil
import subprocess
import sys

SOURCE = os.environ["SOURCE"]
BUILD = os.environ["BUILD"]
RIG = os.path.join(SOURCE, "cost", "rigs", "qemu")
HERE = os.path.join(SOURCE, "tests", "target", "cortexm3")
RAM_ADDRESS = 0x21000000
CLOCK_HZ = 25000000
LOOPS = ("nothing", "off", "event0", "event1", "event2")
TEXT = "a text that the interrupt may cut into"

sys.path.insert(0, os.path.join(SOURCE, "tests", "target"))
import budgets  # noqa: E402


def require(condition, text):
    if not condition:
        sys.exit(f"cortexm3: {text}")


def run(*command, **environment):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, timeout=100,
                          env={**os.environ, **environment})
    require(done.returncode == 0, f"{' '.join(command)}: status {done.returncode}\n{done.stdout}")
    return done.stdout


def build(name, *options, cpu="cortex-m3"):
    run(os.path.join(RIG, "build_mps2.sh"), name, os.path.join(HERE, "cortexm3_program.c"),
        "-I" + HERE, "-I" + os.path.join(SOURCE, "cost", "figures"),
        '-DTARE_CONF_FILE="cortexm3_conf.h"', *options, MPS2_CPU=cpu)


# ---------------------------------------------------------------------- the binary


def symbols(program):
    """Address and size by name."""
    table = {}
    for line in run("arm-none-eabi-nm", "-S", program).splitlines():
        fields = line.split()
        if len(fields) == 4:
            table[fields[3]] = (int(fields[0], 16), int(fields[1], 16))
        elif len(fields) == 3:
            table[fields[2]] = (int(fields[0], 16), 0)
    return table


def section_sizes(name):
    """Bytes of code with its constants, and bytes of RAM."""
    code = memory = 0
    for line in run("arm-none-eabi-size", "-A", name).splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[1].isdigit():
            if re.match(r"\.(text|rodata)|tare_events$", fields[0]):
                code += int(fields[1])
            elif re.match(r"\.(data|bss)", fields[0]):
                memory += int(fields[1])
    return code, memory


def instructions(program, function):
    listing = run("arm-none-eabi-objdump", "-d", "--no-show-raw-insn", f"--disassemble={function}",
                  program)
    return re.findall(r"^ *[0-9a-f]+:\t(.*)", listing, re.MULTILINE)


class Code:
    """Where the recorder and the measured loops lie, and what their instructions mean."""

    def __init__(self, program):
        table = symbols(program)
        ranges = [(address, address + size, name) for name, (address, size) in table.items()
                  if size and (name.startswith("tare_") or name.startswith("loop_")) and
                  address < RAM_ADDRESS]
        self.entries = {address: name for address, _, name in ranges}
        self.ranges = ranges
        self.owner = {}
        self.masks, self.unmasks, self.returns = set(), set(), set()
        for line in run("arm-none-eabi-objdump", "-d", "--no-show-raw-insn", program).splitlines():
            match = re.match(r" *([0-9a-f]+):\t(\S+)\s*(.*)", line)
            if match:
                self.classify(int(match[1], 16), match[2], match[3])

    def classify(self, address, mnemonic, operands):
        for begin, end, name in self.ranges:
            if begin <= address < end:
                self.owner[address] = name
        if mnemonic == "cpsid":
            self.masks.add(address)
        elif mnemonic == "msr" and operands.startswith("PRIMASK"):
            self.unmasks.add(address)
        elif (mnemonic == "bx" and operands.startswith("lr")) or \
                (mnemonic.startswith(("pop", "ldmia")) and "pc" in operands):
            self.returns.add(address)

    def filter(self):
        return ",".join(f"{begin:#x}..{end - 1:#x}" for begin, end, _ in sorted(self.ranges))


# ---------------------------------------------------------------------- the run


def read_log(path, code):
    """Instructions of each call of each measured loop, and the longest stretch with interrupts
    masked of each function: those behind `cpsid`, up to and with the `msr` that unmasks. The slow
    path within a measured loop is the opening of a new block. QEMU logs an instruction that reads a
    device twice, as it starts it again with its clock brought up to date; none of these branches to
    itself."""
    calls = {name: [] for name in LOOPS}
    masked = {}
    loop, count, masked_since, owner = None, 0, None, None
    executed, previous = 0, None
    with open(path, encoding="ascii", errors="replace") as log:
        for line in log:
            if not line.startswith("Trace "):
                continue
            address = int(line.split("/", 2)[1], 16)
            if address == previous:
                continue
            previous = address
            executed += 1
            name = code.entries.get(address, "")
            if name.startswith("loop_"):
                loop, count = name[5:], 0
            count += 1
            if loop and address in code.returns and code.owner[address] == "loop_" + loop:
                calls[loop].append(count)
                loop = None
            if address in code.masks:
                masked_since, owner = executed, code.owner[address]
            elif address in code.unmasks and masked_since is not None:
                where = "new block" if loop and owner == "tare_put_slow" else owner
                masked[where] = max(masked.get(where, 0), executed - masked_since)
                masked_since = None
    return calls, masked


def run_program(program, *options):
    """The program's account; leaves the file ram."""
    output = run(os.path.join(RIG, "run_mps2.sh"), program, "ram", *options)
    return {name: int(value) for name, value in (line.split() for line in output.splitlines())}


def unread_words(ram):
    """What the ring holds unread: found by its id, as a probe's software would do it."""
    at = ram.index(b"SEGGER RTT\0\0\0\0\0\0")
    field = lambda number: int.from_bytes(ram[at + 16 + 4 * number:at + 20 + 4 * number], "little")
    buffer, size, write, read = field(3) - RAM_ADDRESS, field(4), field(5), field(6)
    words = ram[buffer:buffer + size]
    return words[read:write] if read <= write else words[read:] + words[:write]


# ---------------------------------------------------------------------- the account


class Listing:
    """Lines of FORMAT.md, section 8, by their first word."""

    def __init__(self, text):
        self.lines = [line.split(" ") for line in text.splitlines()]

    def of(self, kind):
        return [line for line in self.lines if line[0] == kind]

    def total(self):
        lines = self.of("total")
        require(len(lines) == 1, f"{len(lines)} streams instead of one")
        numbers = lines[0]
        return {numbers[i]: int(numbers[i + 1]) for i in range(2, len(numbers), 2)}


def decode(path, *options):
    """The listing of the file, the same from both decoders."""
    ours = run(os.environ["TARE"], "dump", "--listing", path)
    other = run(sys.executable, os.path.join(SOURCE, "spec", "reference_decoder.py"), *options, path)
    require(ours == other, f"{path}: the two decoders differ")
    return Listing(ours)


def check_account(listing, account, attempted, dropped):
    total = listing.total()
    require(total["stored"] + dropped == attempted,
            f"attempted {attempted}, but stored {total['stored']} + dropped {dropped}")
    require(total["dropped"] == account["dropped"] and total["suppressed"] == total["torn"] == 0,
            f"totals {total} instead of {account['dropped']} dropped, 0 suppressed")
    require(listing.of("end") == [["end", "0", str(account["dropped"]), "0"]],
            f"end record: {listing.of('end')}")
    for kind in ("fault", "skipped", "unverified", "reserved"):
        require(not listing.of(kind), f"{kind} in a sound recording: {listing.of(kind)[:3]}")


def check_losses(listing, account):
    """The loss in the middle, which the program itself has timed, and the one before the end."""
    middle, last = listing.of("loss")
    # The interrupt may have lost some more before the program saw that it had lost enough.
    require(account["dropped"] >= 1000 and middle[2:4] == ["dropped", "777"] and
            last[2:4] == ["dropped", str(account["dropped"] - 777)], f"losses {middle} and {last}")
    first = int(middle[4]) % 2 ** 32
    final = (int(middle[4]) + int(middle[5])) % 2 ** 32
    require(account["loss_first_after"] <= first <= account["loss_first_before"] and
            account["loss_last_after"] <= final <= account["loss_last_before"],
            f"loss from {first} to {final}, but the program lost between {account}")
    stored = max(int(event[2]) for event in listing.of("event"))
    require(int(last[4]) > stored, "the last loss begins before the last stored event")


def definition_ids(listing):
    """Ids by name and class."""
    return {(line[5].split("|")[0].strip('"'), int(line[2])): line[4]
            for line in (" ".join(one).split(" ", 5) for one in listing.of("define"))}


def check_content(listing, account):
    ids = definition_ids(listing)
    events = [line for line in listing.of("event")]
    of_id = lambda name, number: [line for line in events if line[3] == ids[name, number]]
    times = [int(event[2]) for event in events]
    require(all(one <= next_one for one, next_one in zip(times, times[1:])), "time goes back")
    require(times[0] < 2 ** 32 < times[-1], "the counter's turn was not seen")
    for event in of_id("stamped", 1):
        late = int(event[2]) % 2 ** 32 - int(event[4], 16)
        # The interrupt between the two may open a block, note the time and write a name.
        require(0 <= late < 1500, f"event {event} is {late} ticks late")
    batch = list(range(account["long_batch"])) * account["batches"] + \
        list(range(account["short_batch"])) * account["batches"]
    require([int(event[4], 16) for event in of_id("sample", 1)] == batch, "values of `sample`")
    require([int(event[4], 16) for event in of_id("job", 4)] ==
            [int(event[4], 16) for event in of_id("job", 5)] ==
            list(range(300)) + list(range(10)), "begins and ends of `job`")
    numbers = [int(event[4], 16) for event in of_id("tick number", 2)]
    require(numbers == list(range(1, len(numbers) + 1)) and
            len(numbers) > 100 and account["attempted_in_tick"] >= 2 * len(numbers),
            "values recorded in the interrupt")
    texts = [" ".join(line[3:]) for line in listing.of("text")]
    require(texts == [f'"{TEXT}"'] * 310, "texts")
    require(listing.of("clock") == [["clock", "0", str(CLOCK_HZ)]], "rate of the clock")
    require(("the core", 8) in ids and ("counted", 7) in ids, "names")
    require(not of_id("unwanted", 1), "an event of a category that is off was stored")


def check_recording(program, account):
    """The account of both ways to read what the program recorded. Gives the listing of all of it."""
    with open("ram", "rb") as file:
        ram = file.read(symbols(program)["mps2_bss_end"][0] - RAM_ADDRESS)
    begin = account["collected_address"] - RAM_ADDRESS
    with open("stream.raw", "wb") as file:
        file.write(ram[begin:begin + 4 * account["collected_words"]] + unread_words(ram))
    whole = decode("stream.raw")
    check_account(whole, account, account["attempted"], account["dropped"])
    require(not whole.of("gap"), "a gap in what was collected")

    with open("image", "wb") as file:
        file.write(ram)
    image = decode("image", "--image")
    check_account(image, account, account["attempted"] - account["attempted_before_last"],
                  account["dropped"] - account["dropped_before_last"])
    require(image.of("gap") == [["gap", "0", str(account["collected_words"])]],
            f"gap before the image: {image.of('gap')}")
    return whole, account


def check_content_and_losses(listing, account):
    check_losses(listing, account)
    check_content(listing, account)


# ---------------------------------------------------------------------- the costs


def cost_of_loops(account, calls):
    """Added instructions an event: in long batches, with new blocks and all else; and on the fast
    path alone. From the log; the counter must agree."""
    batches, long_batch, short_batch = (account[name] for name in
                                        ("batches", "long_batch", "short_batch"))
    costs = {}
    for loop in LOOPS:
        require(len(calls[loop]) == 2 * batches, f"{loop}: {len(calls[loop])} calls in the log")
        by_log = (sum(calls[loop][:batches]), sum(calls[loop][batches:]))
        by_counter = (account[loop + "_all"] * 1.25, account[loop + "_fast"] * 1.25)
        for one, other in zip(by_log, by_counter):
            # Reading the counter takes some instructions a batch, which are not in the log.
            require(0 <= other - one <= 8 * batches, f"{loop}: {one} instructions in the log, "
                    f"{other} by the counter")
        costs[loop] = by_log
    result = {}
    for loop in LOOPS[1:]:
        added = [costs[loop][i] - costs["nothing"][i] for i in (0, 1)]
        result[loop] = (added[0] / (batches * long_batch), added[1] / (batches * short_batch))
    return result


def costs_of_run(account, calls, masked, listing):
    loops = cost_of_loops(account, calls)
    code, memory = section_sizes("program.elf.tare.o")
    costs = {"compiler": run("arm-none-eabi-gcc", "--version").splitlines()[0]}
    for loop, name in (("event0", "event_0"), ("event1", "event_u32"), ("event2", "event_2"),
                       ("off", "event_off")):
        full_speed, alone = loops[loop]
        # What a call of the loop costs once is less than one event's share, and cut off.
        costs[f"cortexm3_{name}_instructions"] = int(alone)
        if loop != "off":
            costs[f"cortexm3_{name}_full_speed_instructions"] = round(full_speed, 2)
    costs["cortexm3_event_compiled_out_instructions"] = \
        len(instructions("disabled.elf", "loop_event1")) - \
        len(instructions("disabled.elf", "loop_nothing"))
    costs["cortexm3_masked_instructions"] = max(masked[f"tare_put{i}"] for i in range(3))
    costs["cortexm3_masked_new_block_instructions"] = masked["new block"]
    costs["cortexm3_masked_longest_instructions"] = max(masked["tare_put_slow"],
                                                        masked["new block"])
    costs["cortexm3_masked_service_instructions"] = masked["tare_service"]
    costs["cortexm3_start_instructions"] = round(account["start_ticks"] * 1.25)
    costs["cortexm3_code_bytes"] = code
    costs["cortexm3_image_delta_bytes"] = \
        section_sizes("program.elf")[0] - section_sizes("disabled.elf")[0]
    costs["cortexm3_ram_beyond_ring_bytes"] = memory - account["ring_bytes"]
    for line, name in zip(listing.of("cost"), ("event_0", "event_u32", "event_2")):
        itself = int(line[3]) * 1.25 / 1000  # 1.25 instructions a tick
        counted = costs[f"cortexm3_{name}_instructions"]
        costs[f"cortexm3_{name}_self_cost_instructions"] = itself
        require(0.85 < itself / counted < 1.15,
                f"{name}: the recorder says {itself} instructions, counted are {counted}")
    return costs


def main():
    for tool in ("arm-none-eabi-gcc", "qemu-system-arm"):
        if not shutil.which(tool):
            print(f"skipped: no {tool}")
            sys.exit(77)
    build("small.elf", cpu="cortex-m0")
    check_content_and_losses(*check_recording("small.elf", run_program("small.elf")))
    build("smallest.elf", "-DTARE_RING_BYTES=512", "-DTARE_BLOCK_WORDS=64")
    check_recording("smallest.elf", run_program("smallest.elf"))

    build("program.elf")
    build("disabled.elf", "-DTARE_ENABLED=0")
    code = Code("program.elf")
    account = run_program("program.elf", "-singlestep", "-d", "exec,nochain", "-D", "log",
                          "-dfilter", code.filter())
    calls, masked = read_log("log", code)
    os.remove("log")
    listing, _ = check_recording("program.elf", account)
    check_content_and_losses(listing, account)
    costs = costs_of_run(account, calls, masked, listing)
    os.makedirs(os.path.join(BUILD, "costs"), exist_ok=True)
    with open(os.path.join(BUILD, "costs", "cortexm3.json"), "w", encoding="utf-8") as file:
        json.dump(costs, file, indent=1)
    print(json.dumps(costs))
    sys.exit(budgets.compare(costs, "cortexm3_", costs["compiler"]))


if __name__ == "__main__":
    main()
