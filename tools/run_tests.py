#!/usr/bin/env python3
"""Builds and tests everything: run_tests.py [quick]   (called by ./test)

  build/test   gcc, warnings are errors: all tests and the lint steps
  build/asan   clang, address and undefined-behaviour sanitizer: all but `plain` and lint
  build/tsan   gcc, thread sanitizer: the tests labelled `thread`

`quick` stops after the first. On a terminal one line shows what runs and how long it will take,
judged by the last run. The output of what failed is printed. The last line of standard output is
"N passed, N failed, N skipped"; the exit status is 1 when anything failed.
"""
import collections
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
JOBS = str(len(os.sched_getaffinity(0)))
DURATIONS = os.path.join(TOP, "build", "test_durations.json")
STEP_LIMIT_S = 3600

# Seconds that a step is expected to take as long as there is no earlier run.
FIRST_GUESS_S = {"configure": 3, "build": 60, "tests": 240}

Stage = collections.namedtuple("Stage", "name cmake_options ctest_options environment")

STAGES = [
    Stage("test", ["-DTARE_LINT=ON"], ["--no-tests=error"], {"CC": "gcc"}),
    Stage("asan", ["-DTARE_SANITIZE=address"],
          ["--no-tests=error", "-LE", "^(plain|lint)$"],
          {"CC": "clang"}),
    Stage("tsan", ["-DTARE_SANITIZE=thread"], ["--no-tests=ignore", "-L", "^thread$"],
          {"CC": "gcc"}),
]


def load_durations():
    try:
        with open(DURATIONS, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def fixed_addresses():
    """The thread sanitizer of gcc 12 cannot start where the kernel spreads addresses widely."""
    command = ["setarch", os.uname().machine, "-R"]
    try:
        done = subprocess.run(command + ["true"], stderr=subprocess.DEVNULL, check=False)
    except OSError:
        return []
    return command if done.returncode == 0 else []


def duration_text(seconds):
    seconds = int(seconds + 0.5)
    return f"{seconds} s" if seconds < 60 else f"{seconds // 60} min {seconds % 60:02} s"


class Display:
    """One line that is overwritten on a terminal; nothing of it elsewhere."""

    def __init__(self, steps):
        self.on_terminal = sys.stdout.isatty()
        self.started = time.monotonic()
        self.known = load_durations()
        self.waiting = list(steps)
        self.step = None
        self.step_started = 0
        self.shown = 0

    def expected(self, step):
        return self.known.get(step, FIRST_GUESS_S[step.split()[1]])

    def begin(self, step):
        self.waiting.remove(step)
        self.step = step
        self.step_started = time.monotonic()
        self.show("")

    def show(self, note):
        now = time.monotonic()
        if not self.on_terminal or now - self.shown < 0.2:
            return
        self.shown = now
        left = max(self.expected(self.step) - (now - self.step_started), 0)
        left += sum(self.expected(step) for step in self.waiting)
        line = (f"{self.step}: {duration_text(now - self.started)}, about {duration_text(left)} "
                f"left {note}")
        width = os.get_terminal_size().columns or 80
        print("\r" + line[:width - 1] + "\033[K", end="", flush=True)

    def say(self, text):
        if self.on_terminal:
            print("\r\033[K", end="")
        print(text, flush=True)

    def end(self, text, count_time=True):
        spent = time.monotonic() - self.step_started
        if count_time:
            self.known[self.step] = round(spent, 1)
        self.say(f"{self.step}: {text} ({duration_text(spent)})")

    def save(self):
        with open(DURATIONS, "w", encoding="utf-8") as file:
            json.dump(self.known, file, indent=1)


class Note:
    """What a step is doing, from the lines that ninja and ctest print."""

    def __init__(self):
        self.text = ""
        self.running = {}

    def read(self, line):
        built = re.match(r"\[(\d+)/(\d+)\] ", line)
        started = re.match(r" +Start +(\d+): (\S+)", line)
        ended = re.match(r" *(\d+)/(\d+) Test +#(\d+):", line)
        if built:
            self.text = f"({built[1]} of {built[2]})"
        elif started:
            self.running[started[1]] = started[2]
            self.text = "(" + ", ".join(self.running.values()) + ")"
        elif ended:
            self.running.pop(ended[3], None)
            self.text = f"({ended[1]} of {ended[2]}: " + ", ".join(self.running.values()) + ")"


def without_progress(output):
    """The messages of a failed step: what ninja prints for each good command is left out."""
    return "\n".join(line for line in output.splitlines() if not re.match(r"\[\d+/\d+\] ", line))


def end_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def run(command, environment, display):
    """Runs one step; gives its exit status (None after the time limit) and its output."""
    process = subprocess.Popen(command, cwd=TOP, env={**os.environ, **environment},
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True)
    deadline = time.monotonic() + STEP_LIMIT_S
    note = Note()
    output = bytearray()
    read_to = 0
    try:
        while True:
            if time.monotonic() > deadline:
                end_group(process)
                output += f"\nstopped after {STEP_LIMIT_S} s\n".encode()
                return None, output.decode(errors="replace")
            ready, _, _ = select.select([process.stdout], [], [], 0.5)
            if ready:
                data = os.read(process.stdout.fileno(), 65536)
                if not data:
                    break
                output += data
                while (end := output.find(b"\n", read_to)) >= 0:
                    note.read(output[read_to:end].decode(errors="replace"))
                    read_to = end + 1
            display.show(note.text)
    except KeyboardInterrupt:
        end_group(process)
        display.say("stopped")
        sys.exit(130)
    return process.wait(), output.decode(errors="replace")


def read_results(path, display):
    """Counts of one ctest run; prints what failed or was skipped."""
    counts = collections.Counter()
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        name = case.get("name")
        output = case.findtext("system-out") or ""
        skipped = case.find("skipped")
        if case.get("status") == "run":
            counts["passed"] += 1
        elif case.get("status") == "disabled" or (
                skipped is not None and "SKIP_RETURN_CODE" in (skipped.get("message") or "")):
            counts["skipped"] += 1
            reason = output.strip().splitlines()[-1:] or ["no reason given"]
            display.say(f"  skipped: {name}: {reason[0]}")
        else:
            counts["failed"] += 1
            failure = case.find("failure")
            message = failure.get("message") if failure is not None else case.get("status")
            display.say(f"\n--- {name} failed: {message}\n{output.rstrip()}\n---")
    return counts


def run_stage(stage, display):
    build = f"build/{stage.name}"
    results = os.path.join(TOP, build, "results.xml")
    prefix = fixed_addresses() if stage.name == "tsan" else []
    steps = [
        ("configure", ["cmake", "-S", ".", "-B", build, "-G", "Ninja", "-DTARE_WERROR=ON",
                       "-DCMAKE_BUILD_TYPE=RelWithDebInfo", *stage.cmake_options]),
        ("build", prefix + ["cmake", "--build", build, "-j", JOBS, "--", "-k", "0"]),
        ("tests", prefix + ["ctest", "--test-dir", build, "-j", JOBS, "--timeout", "300",
                            "--output-junit", results, *stage.ctest_options]),
    ]
    for kind, command in steps:
        display.begin(f"{stage.name} {kind}")
        if kind == "tests":
            if os.path.exists(results):
                os.remove(results)
        status, output = run(command, stage.environment, display)
        if kind == "tests" and os.path.exists(results):
            counts = read_results(results, display)
            if status != 0 and counts["failed"] == 0:
                display.say(output.rstrip())
                counts["failed"] += 1
            display.end(totals(counts))
            return counts
        if status != 0:
            display.say(without_progress(output))
            display.end("failed", count_time=False)
            for later in list(display.waiting):
                if later.startswith(stage.name + " "):
                    display.waiting.remove(later)
            return collections.Counter(failed=1)
        display.end("done")
    # ctest ended well and without a result file: no test carries the label.
    return collections.Counter()


def totals(counts):
    return f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped"


def main():
    if sys.argv[1:] not in ([], ["quick"]):
        sys.exit(__doc__)
    os.makedirs(os.path.join(TOP, "build"), exist_ok=True)
    stages = STAGES[:1] if sys.argv[1:] else STAGES
    display = Display(f"{stage.name} {kind}" for stage in stages for kind in FIRST_GUESS_S)
    counts = collections.Counter()
    for stage in stages:
        counts += run_stage(stage, display)
    display.save()
    display.say(f"all: {duration_text(time.monotonic() - display.started)}")
    print(totals(counts))
    sys.exit(1 if counts["failed"] else 0)


if __name__ == "__main__":
    main()
