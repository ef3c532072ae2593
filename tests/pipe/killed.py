"""Kills the recorded program, or the collector, at random moments; counts every event all the same.

usage: killed.py TARE PROGRAM ROUNDS SEED
"""
import json
import os
import random
import signal
import struct
import subprocess
import sys
import time

TARE, PROGRAM, ROUNDS, SEED = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
dice = random.Random(SEED)


def check(path):
    done = subprocess.run([TARE, "check", "--json", path], stdout=subprocess.PIPE, timeout=60, check=False)
    return done.returncode, json.loads(done.stdout) if done.stdout else None


def wait_for_count(path):
    """Until both threads of the program have begun."""
    limit = time.monotonic() + 20
    while time.monotonic() < limit:
        if os.path.exists(path) and os.path.getsize(path) == 16:
            with open(path, "rb") as file:
                counts = struct.unpack("4I", file.read(16))
            if counts[0] and counts[2]:
                return
        time.sleep(0.002)
    sys.exit("the program does not begin")


def child_of(process):
    with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
        return int(file.read().split()[0])


def start(number):
    for name in ("counts", "run.tare"):
        if os.path.exists(name):
            os.remove(name)
    recorder = subprocess.Popen([TARE, "record", "-q", "--block-words", "64", "--ring-bytes",
                                 str(dice.choice((512, 4096, 65536))), "-o", "run.tare", "--", PROGRAM,
                                 "counts"])
    wait_for_count("counts")
    time.sleep(dice.random() * 0.03)
    return recorder


def program_killed(number):
    """Both counts of the program enclose what the recording accounts for."""
    recorder = start(number)
    os.kill(child_of(recorder.pid), signal.SIGKILL)
    status = recorder.wait(20)
    if status != 128 + signal.SIGKILL:
        sys.exit(f"round {number}: record ended with {status}")
    with open("counts", "rb") as file:
        begun, done = {}, {}
        begun[0], done[0], begun[1], done[1] = struct.unpack("4I", file.read(16))
    code, found = check("run.tare")
    if code != 0 or not found["collector_finished"]:
        sys.exit(f"round {number}: check ended with {code}")
    streams = [stream for stream in found["streams"] if stream["attempted_events"]]
    if len(streams) != 2:
        sys.exit(f"round {number}: {len(streams)} streams instead of 2")
    torn = 0
    for stream in streams:
        thread = 0 if stream["name"] == "first" else 1
        attempted = sum(stream[key + "_events"] for key in ("stored", "dropped", "suppressed", "torn"))
        if attempted != stream["attempted_events"] or not done[thread] <= attempted <= begun[thread]:
            sys.exit(f"round {number}: thread {thread} begun {begun[thread]} done {done[thread]} "
                     f"but {json.dumps(stream)}")
        if stream["torn_events"] > 1:
            sys.exit(f"round {number}: more than one torn event in a thread")
        torn += stream["torn_events"]
    return torn, found["dropped_events"]


def collector_killed(number):
    """What was written is read; the check says that the collector did not finish."""
    recorder = start(number)
    program = child_of(recorder.pid)
    recorder.kill()
    recorder.wait(20)
    os.kill(program, signal.SIGKILL)
    code, found = check("run.tare")
    if code not in (0, 4) or found and found["collector_finished"]:
        sys.exit(f"round {number}: collector killed, but check ended with {code}")
    for name in os.listdir("/dev/shm"):  # what the killed collector could not remove
        if name.startswith(f"tare-{recorder.pid}-"):
            os.remove("/dev/shm/" + name)


torn = dropped = 0
for number in range(ROUNDS):
    found = program_killed(number)
    torn, dropped = torn + found[0], dropped + found[1]
    if number % 4 == 0:
        collector_killed(number)
print(f"{ROUNDS} programs killed: every event accounted for, {torn} torn, {dropped} dropped")
