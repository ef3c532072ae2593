#!/usr/bin/env python3
"""Runs the examples of the documents: doc_examples.py TOP FILE.md...

In a scratch folder (the working directory) that shows the source tree through links:

  <!-- file: NAME -->      the fenced block that follows is that file: it must equal the file of this
                           name in the tree, or, if there is none, it is written to the scratch folder
  ```console               lines that begin with "$ " are run by sh, in order, one shell for the whole
                           document (a line that ends in "\\" goes on); all lines up to the next command
                           are what it must print (stdout and stderr), where "..." stands for any text
                           within a line and a line "..." for any lines. "[exit N]" as the last line is
                           the exit status, 0 without it
  <!-- not run: REASON --> the block that follows is left alone

A block of console lines that is not run without a reason is a fault. Exit status 1 if any example
fails; every failure names file, line, what was wanted and what came.
"""
import os
import re
import subprocess
import sys

TIME_LIMIT_S = 60


def blocks(lines):
    """Yields (line number, kind of fence, directive before it, lines of the block)."""
    directive, at = "", 0
    while at < len(lines):
        line = lines[at].strip()
        if line.startswith("<!--"):
            directive = line[4:].rsplit("-->", 1)[0].strip()
        elif line.startswith("```"):
            begin = at + 1
            at = begin
            while at < len(lines) and not lines[at].startswith("```"):
                at += 1
            yield begin + 1, line[3:].strip(), directive, lines[begin:at]
            directive = ""
        elif line:
            directive = ""
        at += 1


def commands(number, block):
    """Yields (line number, command, wanted lines, wanted status)."""
    found = []
    at = 0
    while at < len(block):
        if not block[at].startswith("$ "):
            raise SystemExit(f"line {number + at}: a console block begins with a command ('$ ...')")
        first, command = number + at, block[at][2:]
        while command.endswith("\\"):
            at += 1
            command = command[:-1] + block[at].strip()
        at += 1
        wanted, status = [], 0
        while at < len(block) and not block[at].startswith("$ "):
            wanted.append(block[at])
            at += 1
        while wanted and not wanted[-1].strip():
            wanted.pop()
        if wanted and re.fullmatch(r"\[exit \d+\]", wanted[-1]):
            status = int(wanted.pop()[6:-1])
        found.append((first, command, wanted, status))
    return found


def matches(wanted, came):
    pattern = ""
    for line in wanted:
        if line.strip() == "...":
            pattern += r"(?:.*\n)*"
        else:
            pattern += r"[^\n]*".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ ]*\n"
    return re.fullmatch(pattern, "".join(line + "\n" for line in came)) is not None


class Shell:
    """One sh for a document, so that variables and folders last."""

    def __init__(self):
        self.process = subprocess.Popen(["sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, errors="replace")

    def run(self, command):
        mark = "--end-of-example--"
        self.process.stdin.write(f"{{ {command}\n}} </dev/null\nprintf '\\n{mark} %s\\n' $?\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            line = line.rstrip("\n")
            if line.startswith(mark):
                if lines and not lines[-1]:
                    lines.pop()
                return lines, int(line[len(mark):])
            lines.append(line)
        return lines, -1

    def end(self):
        self.process.stdin.close()
        self.process.wait(TIME_LIMIT_S)


def link_tree(top):
    for name in os.listdir(top):
        if name not in (".git", "build") and not os.path.lexists(name):
            os.symlink(os.path.join(top, name), name)


def check_file(top, name, block, where):
    text = "".join(line + "\n" for line in block)
    in_tree = os.path.join(top, name)
    if os.path.exists(in_tree):
        with open(in_tree, encoding="utf-8") as file:
            if file.read() != text:
                print(f"{where}: the block differs from {name}")
                return 1
    else:
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
    return 0


def run_document(top, path):
    failures = ran = 0
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    shell = Shell()
    for number, kind, directive, block in blocks(lines):
        where = f"{os.path.relpath(path, top)}:{number}"
        if directive.startswith("file:"):
            failures += check_file(top, directive[5:].strip(), block, where)
            ran += 1
        if kind != "console" or directive.startswith("not run:"):
            continue
        for first, command, wanted, status in commands(number, block):
            came, came_status = shell.run(command)
            ran += 1
            if came_status == status and matches(wanted, came):
                continue
            failures += 1
            print(f"{os.path.relpath(path, top)}:{first}: $ {command}")
            print("  wanted" + (f" (status {status}):" if status else ":"))
            print("".join(f"    {line}\n" for line in wanted), end="")
            print(f"  came (status {came_status}):")
            print("".join(f"    {line}\n" for line in came), end="")
    shell.end()
    print(f"{os.path.relpath(path, top)}: {ran} examples, {failures} failed")
    return failures


def main():
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    top = os.path.abspath(sys.argv[1])
    link_tree(top)
    failures = sum(run_document(top, os.path.abspath(path)) for path in sys.argv[2:])
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
