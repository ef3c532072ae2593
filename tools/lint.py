#!/usr/bin/env python3
"""Checks of the source text: lint.py format|tidy|cppcheck BUILD

BUILD is a build folder with compile_commands.json (not needed for format). Silent when nothing is
found; else prints the findings and ends with status 1. A file that clang-tidy found sound is not
looked at again until it, a header, the settings or its compiler options change.
"""
import concurrent.futures
import hashlib
import json
import os
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
JOBS = len(os.sched_getaffinity(0))


def tracked(*patterns):
    """Files under version control, as absolute paths."""
    listing = subprocess.run(["git", "-C", TOP, "ls-files", "-z", "--", *patterns],
                             stdout=subprocess.PIPE, check=True)
    names = os.fsdecode(listing.stdout).split("\0")
    return [os.path.join(TOP, name) for name in names
            if name and os.path.isfile(os.path.join(TOP, name))]


def check_format():
    files = tracked("*.c", "*.h", "*.inl", "*.cpp", "*.hpp")
    return subprocess.run(["clang-format", "--dry-run", "-Werror", *files], check=False).returncode


def compiled(build):
    """The entries of compile_commands.json whose source is under version control."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    ours = set(tracked("*.c"))
    chosen = {}
    for entry in entries:
        if entry["file"] in ours:
            chosen.setdefault(entry["file"], entry)
    return [chosen[name] for name in sorted(chosen)]


def digest_of(paths):
    digest = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            content = file.read()
        digest.update(f"{path} {len(content)} ".encode())
        digest.update(content)
    return digest.hexdigest()


def tidy_one(entry, shared, stamps, build):
    key = hashlib.sha256(
        (shared + digest_of([entry["file"]]) + entry["command"]).encode()).hexdigest()
    stamp = os.path.join(stamps, key)
    if os.path.exists(stamp):
        return ""
    result = subprocess.run(
        ["clang-tidy", "-p", build, "--quiet", "--extra-arg=-Wno-unknown-warning-option",
         entry["file"]],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if result.returncode != 0:
        # stderr has only counts unless clang-tidy itself failed.
        return result.stdout or result.stderr
    with open(stamp, "w", encoding="utf-8"):
        return ""


def check_tidy(build):
    stamps = os.path.join(build, "tidy")
    os.makedirs(stamps, exist_ok=True)
    shared = digest_of(tracked("*.h", "*.inl", "*.def", "*.clang-tidy"))
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        results = list(pool.map(lambda entry: tidy_one(entry, shared, stamps, build),
                                compiled(build)))
    for text in results:
        sys.stdout.write(text)
    return 1 if any(results) else 0


def check_cppcheck(build):
    folder = os.path.join(build, "cppcheck")
    os.makedirs(folder, exist_ok=True)
    project = os.path.join(folder, "compile_commands.json")
    # cppcheck does not know what the compiler defines by itself, nor the macros of LTTng's headers,
    # of which a file of tracepoints consists.
    machine = f" -D__linux__=1 -D__{os.uname().machine}__=1 -D__GNUC__=12 "
    entries = [dict(entry, command=entry["command"].replace(" ", machine, 1))
               for entry in compiled(build) if not entry["file"].endswith("_lttng_tp.c")]
    with open(project, "w", encoding="utf-8") as file:
        json.dump(entries, file)
    return subprocess.run(
        ["cppcheck", f"--project={project}", f"--cppcheck-build-dir={folder}", f"-j{JOBS}", "--quiet",
         "--enable=warning,performance,portability", "--inline-suppr", "--error-exitcode=1",
         "--library=posix,gnu", f"--suppressions-list={TOP}/.cppcheck",
         "--template={file}:{line}: {severity}: {message} [{id}]"],
        check=False).returncode


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("format", "tidy", "cppcheck"):
        sys.exit(__doc__)
    build = os.path.abspath(sys.argv[2])
    steps = {"format": check_format, "tidy": lambda: check_tidy(build),
             "cppcheck": lambda: check_cppcheck(build)}
    sys.exit(1 if steps[sys.argv[1]]() else 0)


if __name__ == "__main__":
    main()
