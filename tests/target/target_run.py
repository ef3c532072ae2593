"""Builds cortexm3_program.c for a board, runs it under QEMU, decodes what it recorded with the host
program and with the reference decoder, and compares that with the program's own account. Counts
instructions, in QEMU's log of every one that is executed and by the board's counter."""
import dataclasses
import os
import re
import subprocess
import sys

SOURCE = os.environ["SOURCE"]
RIG = os.path.join(SOURCE, "cost", "rigs", "qemu")
TESTS = os.path.join(SOURCE, "tests", "target")
INSTRUCTION_NS = 32  # of the board's time, see run_board.sh
LOOPS = ("nothing", "off", "event0", "event1", "event2")
FAST = ("tare_put0", "tare_put1", "tare_put2")
TEXT = "a text that the interrupt may cut into"


@dataclasses.dataclass(frozen=True)
class Board:
    """A machine of QEMU, and the core that programs are compiled for where that is another one."""
    name: str
    ram: int  # address of the first byte in the file that the runner leaves
    data: int  # the program's data lie from here on
    clock_hz: int
    cpu: str = ""
    tools: str = "arm-none-eabi-"
    data_end: str = "mps2_bss_end"  # symbol

    def environment(self):
        return {"BOARD": self.name, **({"BOARD_CPU": self.cpu} if self.cpu else {})}

    def instructions_per_tick(self):
        return 1e9 / self.clock_hz / INSTRUCTION_NS


CORTEX_M3 = Board("mps2-an385", 0x21000000, 0x21000000, 25000000)
CORTEX_M0PLUS = dataclasses.replace(CORTEX_M3, cpu="cortex-m0plus")
CORTEX_M4 = Board("mps2-an386", 0x21000000, 0x21000000, 25000000)
CORTEX_M7 = Board("mps2-an500", 0x60000000, 0x60000000, 25000000)
CORTEX_M33 = Board("mps2-an505", 0x80000000, 0x80000000, 20000000)
CORTEX_M55 = Board("mps3-an547", 0x70000000, 0x70000000, 20000000)
RISCV32 = Board("virt", 0x80000000, 0x80100000, 10000000, tools="riscv64-unknown-elf-",
                data_end="virt_bss_end")


def require(condition, text):
    if not condition:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {text}")


def run(*command, **environment):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, timeout=100,
                          env={**os.environ, **environment})
    require(done.returncode == 0, f"{' '.join(command)}: status {done.returncode}\n{done.stdout}")
    return done.stdout


def build(board, name, *options, program=os.path.join("cortexm3", "cortexm3_program.c")):
    run(os.path.join(RIG, "build_board.sh"), name, os.path.join(TESTS, program),
        "-I" + os.path.join(TESTS, "cortexm3"), "-I" + os.path.join(SOURCE, "cost", "figures"),
        '-DTARE_CONF_FILE="cortexm3_conf.h"', *options, **board.environment())


# ---------------------------------------------------------------------- the binary


def symbols(board, program):
    """Address and size by name."""
    table = {}
    for line in run(board.tools + "nm", "-S", program).splitlines():
        fields = line.split()
        if len(fields) == 4:
            table[fields[3]] = (int(fields[0], 16), int(fields[1], 16))
        elif len(fields) == 3:
            table[fields[2]] = (int(fields[0], 16), 0)
    return table


def section_sizes(board, name):
    """Bytes of code with its constants, and bytes of RAM."""
    code = memory = 0
    for line in run(board.tools + "size", "-A", name).splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[1].isdigit():
            if re.match(r"\.(text|s?rodata)|tare_events$", fields[0]):
                code += int(fields[1])
            elif re.match(r"\.s?(data|bss)", fields[0]):
                memory += int(fields[1])
    return code, memory


def instructions(board, program, function):
    listing = run(board.tools + "objdump", "-d", "--no-show-raw-insn",
                  f"--disassemble={function}", program)
    return re.findall(r"^ *[0-9a-f]+:\t(.*)", listing, re.MULTILINE)


class Code:
    """Where the recorder and the measured loops lie, and what their instructions mean."""

    def __init__(self, board, program, more="loop_"):
        """`more` begins the names of functions that count beside the recorder's."""
        table = symbols(board, program)
        # With what the compiler's own library does for them: memset, __ctzsi2.
        ranges = [(address, address + size, name) for name, (address, size) in table.items()
                  if size and re.match("tare_|__|mem|" + more, name) and
                  address < board.data]
        self.entries = {address: name for address, _, name in ranges}
        self.ranges = ranges
        self.owner = {}
        self.masks, self.unmasks, self.returns = set(), set(), set()
        for line in run(board.tools + "objdump", "-d", "--no-show-raw-insn", program).splitlines():
            match = re.match(r" *([0-9a-f]+):\t(\S+)\s*(.*)", line)
            if match:
                self.classify(int(match[1], 16), match[2], match[3])

    def classify(self, address, mnemonic, operands):
        for begin, end, name in self.ranges:
            if begin <= address < end:
                self.owner[address] = name
        instruction = f"{mnemonic} {operands}"
        if re.match(r"cpsid|msr BASEPRI_MAX|csrrci? .*mstatus", instruction):
            self.masks.add(address)
        elif re.match(r"msr (PRIMASK|BASEPRI),|csrs mstatus", instruction):
            self.unmasks.add(address)
        elif re.match(r"bx lr|ret$|(pop|ldmia).*pc|ldr(\.w)? pc,", instruction.strip()):
            self.returns.add(address)

    def filter(self, without=()):
        return ",".join(f"{begin:#x}..{end - 1:#x}" for begin, end, name in sorted(self.ranges)
                        if name not in without)


# ---------------------------------------------------------------------- the run


def log_addresses(path):
    """Addresses of the instructions in QEMU's log. It has one that reads a device twice, as QEMU
    starts it again with its clock brought up to date; none of these branches to itself."""
    with open(path, "rb") as log:
        texts = re.findall(rb"^Trace [^/]*/([0-9a-f]+)/", log.read(), re.MULTILINE)
    return [int(text, 16) for text, before in zip(texts, [b"", *texts]) if text != before]


def read_log(path, code):
    """Instructions of each call of each measured loop, and the longest stretch with interrupts
    masked of each function: those behind the one that masks, up to and with the one that unmasks.
    The slow path within a measured loop is the opening of a new block; that loop and the one for
    the service are run without interrupts."""
    calls = {name: [] for name in LOOPS}
    masked = {}
    loop, count, masked_since, owner = None, 0, None, None
    for executed, address in enumerate(log_addresses(path)):
        name = code.entries.get(address, "")
        if name.startswith("loop_"):
            loop, count = name[5:], 0
        count += 1
        if loop and address in code.returns and code.owner[address] == "loop_" + loop:
            if loop in calls:
                calls[loop].append(count)
            loop = None
        if address in code.masks:
            masked_since, owner = executed, code.owner[address]
        elif address in code.unmasks and masked_since is not None:
            where = "service" if loop == "service" else owner
            if loop in calls and owner not in FAST:
                where = "new block"
            masked[where] = max(masked.get(where, 0), executed - masked_since)
            masked_since = None
    return calls, masked


def run_program(board, program, *options, **environment):
    """The program's account; leaves the file ram."""
    output = run(os.path.join(RIG, "run_board.sh"), program, "ram", *options,
                 **board.environment(), **environment)
    return {name: int(value) for name, value in (line.split() for line in output.splitlines())}


def unread_words(board, ram):
    """What the ring holds unread: found by its id, as a probe's software would do it."""
    at = ram.index(b"SEGGER RTT\0\0\0\0\0\0")
    field = lambda number: int.from_bytes(ram[at + 16 + 4 * number:at + 20 + 4 * number], "little")
    buffer, size, write, read = field(3) - board.ram, field(4), field(5), field(6)
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
        # A text whose rest was dropped is no fault of the recording; check_content counts texts.
        found = [line for line in listing.of(kind) if line[-1] != "cut-text"]
        require(not found, f"{kind} in a sound recording: {found[:3]}")


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


def check_content(board, listing, account):
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
    require(listing.of("clock") == [["clock", "0", str(board.clock_hz)]], "rate of the clock")
    require(("the core", 8) in ids and ("counted", 7) in ids, "names")
    require(not of_id("unwanted", 1), "an event of a category that is off was stored")


def check_recording(board, program, account):
    """The account of both ways to read what the program recorded. Gives the listing of all of it."""
    with open("ram", "rb") as file:
        ram = file.read(symbols(board, program)[board.data_end][0] - board.ram)
        file.seek(account["collected_address"] - board.ram)
        collected = file.read(4 * account["collected_words"])
    with open("stream.raw", "wb") as file:
        file.write(collected + unread_words(board, ram))
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


def check_content_and_losses(board, listing, account):
    check_losses(listing, account)
    check_content(board, listing, account)


# ---------------------------------------------------------------------- the costs


def cost_of_loops(board, account, calls):
    """Added instructions an event: in long batches, with new blocks and all else; and on the fast
    path alone. From the log; the counter must agree."""
    batches, long_batch, short_batch = (account[name] for name in
                                        ("batches", "long_batch", "short_batch"))
    costs = {}
    for loop in LOOPS:
        require(len(calls[loop]) == 2 * batches, f"{loop}: {len(calls[loop])} calls in the log")
        by_log = (sum(calls[loop][:batches]), sum(calls[loop][batches:]))
        tick = board.instructions_per_tick()
        by_counter = (account[loop + "_all"] * tick, account[loop + "_fast"] * tick)
        for one, other in zip(by_log, by_counter):
            # Reading the counter takes some instructions a batch, which are not in the log; it is
            # right to a tick.
            require(-batches * tick <= other - one <= batches * (8 + tick),
                    f"{loop}: {one} instructions in the log, {other} by the counter")
        costs[loop] = by_log
    result = {}
    for loop in LOOPS[1:]:
        added = [costs[loop][i] - costs["nothing"][i] for i in (0, 1)]
        result[loop] = (added[0] / (batches * long_batch), added[1] / (batches * short_batch))
    return result


def measured_costs(board, program, account, calls, masked, listing):
    """What the run has cost, by names that say the unit."""
    loops = cost_of_loops(board, account, calls)
    code, memory = section_sizes(board, program + ".tare.o")
    costs = {}
    for loop, name in (("event0", "event_0"), ("event1", "event_u32"), ("event2", "event_2"),
                       ("off", "event_off")):
        full_speed, alone = loops[loop]
        # What a call of the loop costs once is less than one event's share, and cut off.
        costs[f"{name}_instructions"] = int(alone)
        if loop != "off":
            costs[f"{name}_full_speed_instructions"] = round(full_speed, 2)
    costs["masked_instructions"] = max(masked[name] for name in FAST)
    costs["masked_new_block_instructions"] = masked["new block"]
    costs["masked_longest_instructions"] = max(masked.values())
    costs["masked_service_instructions"] = masked["service"]
    costs["start_instructions"] = round(account["start_ticks"] * board.instructions_per_tick())
    costs["code_bytes"] = code
    costs["ram_beyond_ring_bytes"] = memory - account["ring_bytes"]
    for line, name in zip(listing.of("cost"), ("event_0", "event_u32", "event_2")):
        itself = int(line[3]) * board.instructions_per_tick() / 1000
        counted = costs[f"{name}_instructions"]
        costs[f"{name}_self_cost_instructions"] = round(itself, 3)
        require(-5 < itself - counted < 9,  # its loop is in it, the test of the category is not
                f"{name}: the recorder says {itself} instructions, counted are {counted}")
    return costs


def run_and_measure(board, program):
    """Runs the program, checks all that it recorded, and gives its costs."""
    code = Code(board, program)
    account = run_program(board, program, "-singlestep", "-d", "exec,nochain", "-D", "log",
                          "-dfilter", code.filter(("tare_put_string", "tare_counts")))
    calls, masked = read_log("log", code)
    os.remove("log")
    listing, _ = check_recording(board, program, account)
    check_content_and_losses(board, listing, account)
    return measured_costs(board, program, account, calls, masked, listing)
