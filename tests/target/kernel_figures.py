#!/usr/bin/env python3
"""ctest: timeout=120 labels=plain

What events cost in the hooks of a kernel, in instructions of a Cortex-M3; `make figures-cortexm`.
The workloads are those of kernel/hook_program.c, which need no kernel; their figures are held
against cost/budgets.json. Where FREERTOS_KERNEL_PATH names a kernel (FreeRTOS 10 or 11), the same
is measured on it (kernel/kernel_workload.c) and printed instead. FreeRTOS 9 is only run: its
licence does not allow to publish what is measured of it.

Instructions are counted twice, from QEMU's log of every executed instruction and from the board's
counter. The recording of each run is decoded, and every event that was made must be in it or
counted as lost. The last line of standard output is a JSON object, also written to
BUILD/costs/cortexm.json.
"""
import json
import os
import re
import shutil
import sys

SOURCE = os.environ["SOURCE"]
BUILD = os.environ["BUILD"]

sys.path.insert(0, os.path.join(SOURCE, "tests", "target"))
import budgets  # noqa: E402
from kernel_build import KERNEL_TESTS, RECORDER, build_on_kernel, kernel_version  # noqa: E402
from target_run import (CORTEX_M3, RIG, TESTS, Code, decode, require,  # noqa: E402
                        run, run_program, section_sizes, symbols, unread_words)

QUEUE_EVENTS = 5  # send, two switches, receive, block; a sixth says that the consumer may run
TICK = CORTEX_M3.instructions_per_tick()
RING_BYTES = 16384


# ---------------------------------------------------------------------- counting


def executed_addresses(path):
    """Addresses of the instructions in QEMU's log, in order. It names one before it executes it; if
    it then stops there, it says so and names the instruction once more later."""
    addresses = []
    with open(path, "rb") as log:
        notes = rb"^(?:Trace [^/]*/([0-9a-f]+)/|Stopped execution|cpu_io_recompile)"
        for found in re.finditer(notes, log.read(), re.MULTILINE):
            if found[1]:
                addresses.append(int(found[1], 16))
            else:
                addresses.pop()
    return addresses


def read_log(path, code, loops):
    """Instructions of each call of each measured loop, with all that runs before it returns; the
    longest stretch with interrupts masked by the recorder, and the function that ends it."""
    calls = {name: [] for name in loops}
    loop, count, masked_since, longest = None, 0, None, (0, "")
    for executed, address in enumerate(executed_addresses(path)):
        name = code.entries.get(address, "")
        if name.startswith("loop_"):
            loop, count = name[5:], 0
        count += 1
        owner = code.owner.get(address, "")
        if loop and address in code.returns and owner == "loop_" + loop:
            calls[loop].append(count)
            loop = None
        if owner.startswith("tare_"):
            if address in code.masks:
                masked_since = executed
            elif address in code.unmasks and masked_since is not None:
                longest = max(longest, (executed - masked_since, owner))
                masked_since = None
    return calls, longest


def run_with_log(program, loops):
    """The program's account, instructions of the calls by loop, the longest masked stretch."""
    code = Code(CORTEX_M3, program, "loop_")
    ranges = [(address, address + size - 1) for name, (address, size) in
              symbols(CORTEX_M3, program).items()
              if size and address < CORTEX_M3.data and not name.startswith(("mps2_v", "mps2_print"))
              and name not in ("drain", "print")]
    account = run_program(CORTEX_M3, program, "-singlestep", "-d", "exec,nochain", "-D", "log",
                          "-dfilter", ",".join(f"{begin:#x}..{end:#x}" for begin, end in ranges))
    calls, masked = read_log("log", code, loops)
    os.remove("log")
    return account, calls, masked


def agreed(account, calls, names, parts):
    """Instructions by the log of each measurement in `names`, in the order in which they ran: name
    to loop. Each took `batches` calls for each of `parts`. The counter must agree."""
    batches, costs = account["batches"], {}
    for name, loop in names:
        for part in parts:
            mine, calls[loop] = calls[loop][:batches], calls[loop][batches:]
            require(len(mine) == batches, f"{name}{part}: {len(mine)} calls in the log")
            by_log, by_counter = sum(mine), account[name + part] * TICK
            # Reading the counter takes some instructions a batch, which are not in the log.
            require(-batches * TICK <= by_counter - by_log <= batches * (10 + TICK),
                    f"{name}{part}: {by_log} instructions in the log, {by_counter} by the counter")
            costs[name + part] = by_log
    for loop, left in calls.items():
        require(not left, f"{len(left)} calls of {loop} too many in the log")
    return costs


# ---------------------------------------------------------------------- the recording


def words_of(data, begin, end):
    """Of the words from begin on: events, their words, and those of anchors, fillers and epochs."""
    events = event_words = other = 0
    at = begin
    while at < end:
        ident = int.from_bytes(data[4 * at:4 * at + 4], "little") >> 20
        words = 6 if ident == 0xFFF else 1 if ident < 0x800 else 2 if ident < 0xC00 else 3
        if ident in (0, 0x800, 0xC00, 0xFFF):
            other += words
        else:
            events += 1
            event_words += words
        at += words
    return events, event_words, other


def read_recording(program, account):
    with open("ram", "rb") as file:
        ram = file.read(symbols(CORTEX_M3, program)[CORTEX_M3.data_end][0] - CORTEX_M3.ram)
        file.seek(account["collected_address"] - CORTEX_M3.ram)
        collected = file.read(4 * account["collected_words"])
    with open("stream.raw", "wb") as file:
        file.write(collected + unread_words(CORTEX_M3, ram))
    return collected, decode("stream.raw")


def account_of(listing, stretches):
    """Events by which the books of a run are wrong, and words of its stretches: name to (events
    made, events found, their words, other words)."""
    for kind in ("fault", "skipped", "unverified", "reserved", "gap"):
        require(not listing.of(kind), f"{kind} in a sound recording: {listing.of(kind)[:3]}")
    require(len(listing.of("end")) == 1, "the recording has no end")
    return sum(abs(made - found) for made, found, _, _ in stretches.values())


def stretches_of(data, account, events):
    made = account["batches"] * account["iterations"]
    return {name: (made * each, *words_of(data, account[name + "_begin"], account[name + "_end"]))
            for name, each in events.items()}


# ---------------------------------------------------------------------- the two workloads


def size_figures(program, objects):
    """Code and memory of the recorder, without the ring's words; names apart."""
    table = symbols(CORTEX_M3, program)
    names = sum(table[symbol][1] for symbol in
                ("tare_names", "tare_objects_live", "tare_objects_fresh"))
    code, memory = map(sum, zip(*(section_sizes(CORTEX_M3, one) for one in objects)))
    return {"code_bytes": code, "ram_bytes": memory - RING_BYTES - names,
            "names_bytes_64_objects": names}


def figures_of(costs, account, stretches, masked, error):
    iterations = account["batches"] * account["iterations"]
    added = lambda name: (costs[name + "_all"] - costs[name + "_bare_all"]) / iterations
    _, found, event_words, other = stretches["queue"]
    _, user_found, user_words, _ = stretches["user"]
    return {
        "kernel_event_instructions": round(added("queue") / QUEUE_EVENTS, 2),
        "kernel_event_bytes": round(4 * event_words / found, 2),
        "anchor_epoch_share": round(other / (other + event_words), 4),
        "user_u32_instructions": round(added("user"), 2),
        "user_u32_bytes": round(4 * user_words / user_found, 2),
        "iteration_added_instructions": round(added("ready"), 2),
        "masked_max_instructions": masked[0],
        "mutex_pair_instructions_1_object": round(added("mutex_1"), 2),
        "mutex_pair_instructions_64_objects": round(added("mutex_64"), 2),
        "accounting_error_events": error,
    }


def hook_figures():
    """Of the hooks alone, and what else has a budget."""
    run(os.path.join(RIG, "build_board.sh"), "hook.elf",
        os.path.join(KERNEL_TESTS, "hook_program.c"), "-I" + KERNEL_TESTS,
        "-I" + os.path.join(TESTS, "cortexm3"), "-I" + os.path.join(RECORDER, "hook"),
        '-DTARE_CONF_FILE="hook_conf.h"', "-Wno-unused-function", **CORTEX_M3.environment())
    loops = [name + bare for name in ("queue", "ready", "user", "isr") for bare in ("_bare", "")]
    names = [(name, name) for name in loops]
    names += [("mutex" + bare + suffix, "mutex" + bare) for suffix in ("_1", "_64")
              for bare in ("_bare", "")]
    account, calls, masked = run_with_log("hook.elf", [*loops, "mutex", "mutex_bare"])
    costs = agreed(account, calls, names, ("_all", "_fast"))
    for name, cost in list(costs.items()):
        costs[name.replace("mutex_bare_1", "mutex_1_bare").replace("mutex_bare_64",
                                                                   "mutex_64_bare")] = cost
    data, listing = read_recording("hook.elf", account)
    stretches = stretches_of(data, account, {"queue": 5, "ready": 6, "user": 1, "isr": 2,
                                             "mutex_1": 2, "mutex_64": 2})
    total = listing.total()
    error = account_of(listing, stretches) + \
        abs(account["attempted"] - total["stored"] - account["dropped"]) + \
        abs(total["dropped"] - account["dropped"])
    require(account["dropped"] > 0, "nothing was lost, so the books of losses were not tested")
    figures = figures_of(costs, account, stretches, masked, error)
    figures.update(size_figures("hook.elf", ["hook.elf.tare.o"]))
    short = account["batches"] * account["short_iterations"]
    alone = lambda name: (costs[name + "_fast"] - costs[name + "_bare_fast"]) / short
    more = {"masked_longest_in": masked[1], "isr_pair_instructions":
            round((costs["isr_all"] - costs["isr_bare_all"]) /
                  account["batches"] / account["iterations"], 2),
            "kernel_event_fast_instructions": round(alone("queue") / QUEUE_EVENTS, 2),
            "mutex_pair_growth_instructions": abs(alone("mutex_64") - alone("mutex_1"))}
    return figures, more


def kernel_runs(path):
    """Costs of all workloads on the kernel, and the account of the run with all hooks."""
    loops = ["queue", "user", "isr", "mutex"]
    names = [("queue", "queue"), ("user", "user"), ("isr", "isr"), ("mutex_1", "mutex"),
             ("mutex_64", "mutex")]
    costs = {}
    for name, suffix, option in (("off.elf", "_bare", "-DTARE_ENABLED=0"),
                                 ("without.elf", "_without", "-DKERNEL_WITHOUT_READY"),
                                 ("kernel.elf", "", "-DKERNEL_WITH_ALL")):
        build_on_kernel(path, name, ["kernel_workload.c"], option, conf="hook_conf.h")
        account, calls, masked = run_with_log(name, loops)
        one = agreed(account, calls, names, ("_all",))
        costs.update({key[:-4] + suffix + "_all": cost for key, cost in one.items()})
    costs["ready_all"], costs["ready_bare_all"] = costs["queue_all"], costs["queue_bare_all"]
    costs["queue_all"] = costs["queue_without_all"]
    return costs, account, masked


def kernel_books(account):
    """Events by which the books of a run on a kernel are wrong, and the words of its stretches."""
    data, listing = read_recording("kernel.elf", account)
    stretches = stretches_of(data, account, {"queue": QUEUE_EVENTS + 1, "user": 1, "isr": 2,
                                             "mutex_1": 2, "mutex_64": 2})
    return account_of(listing, stretches) + listing.total()["dropped"] + account["dropped"], \
        stretches


def kernel_figures(path):
    costs, account, masked = kernel_runs(path)
    error, stretches = kernel_books(account)
    objects = [os.path.join("kernel.elf.objects", name) for name in ("tare.o", "tare_freertos.o")]
    return {**figures_of(costs, account, stretches, masked, error),
            **size_figures("kernel.elf", objects)}


def only_run(path):
    """Measures nothing. Gives the error of the books."""
    build_on_kernel(path, "kernel.elf", ["kernel_workload.c"], conf="hook_conf.h")
    return kernel_books(run_program(CORTEX_M3, "kernel.elf"))[0]


KEYS = ("kernel", "kernel_event_instructions", "kernel_event_bytes", "anchor_epoch_share",
        "user_u32_instructions", "user_u32_bytes", "iteration_added_instructions",
        "masked_max_instructions", "code_bytes", "ram_bytes", "names_bytes_64_objects",
        "mutex_pair_instructions_1_object", "mutex_pair_instructions_64_objects",
        "accounting_error_events")


CORES = {"cortexm0plus": "Cortex-M0+", "cortexm4": "Cortex-M4", "cortexm7": "Cortex-M7",
         "cortexm33": "Cortex-M33", "cortexm55": "Cortex-M55", "riscv32": "RISC-V 32"}


def print_other_cores():
    """What target.ports counted there, of a program's own events."""
    path = os.path.join(BUILD, "costs", "ports.json")
    if not os.path.exists(path):
        return
    with open(path, encoding="utf-8") as file:
        costs = json.load(file)
    for core, name in CORES.items():
        cost = costs[core]
        print(f"{name}: event {cost['event_0_instructions']} instructions, with a value "
              f"{cost['event_u32_instructions']}, masked at most "
              f"{cost['masked_longest_instructions']}, code {cost['code_bytes']} B")


def main():
    for tool in ("arm-none-eabi-gcc", "qemu-system-arm"):
        if not shutil.which(tool):
            print(f"skipped: no {tool}")
            sys.exit(77)
    figures, more = hook_figures()
    figures["kernel"] = "none (hook workload)"
    print("more of the hooks: " + json.dumps(more))
    status = budgets.compare({"cortexm_" + key: value for key, value in (figures | more).items()},
                             "cortexm_", "")
    path = os.environ.get("FREERTOS_KERNEL_PATH")
    if path:
        version, number = kernel_version(path)
        if number >= 1000:
            figures = kernel_figures(path) | {"kernel": f"FreeRTOS {version}"}
            error = figures["accounting_error_events"]
        else:
            error = only_run(path)
            print(f"FreeRTOS {version} was run; its licence does not allow to publish "
                  "measurements, so the figures are those of the hooks alone", file=sys.stderr)
        require(error == 0, f"FreeRTOS {version}: the books are wrong by {error} events")
    print_other_cores()
    figures = {key: figures[key] for key in KEYS}
    os.makedirs(os.path.join(BUILD, "costs"), exist_ok=True)
    with open(os.path.join(BUILD, "costs", "cortexm.json"), "w", encoding="utf-8") as file:
        json.dump(figures, file, indent=1)
    print(json.dumps(figures), flush=True)
    sys.exit(status)


if __name__ == "__main__":
    main()
