#!/usr/bin/env python3
"""Writes spec/vectors/{good,bad}/NAME.hex from vectors_good.py, vectors_bad.py and vectors_target.py.

usage: make_vectors.py [--check]      (--check writes nothing and fails when a file differs)

The listings beside them (NAME.txt) are not made here: each was worked out by hand. The first line of a
.hex file may say `exit N` (exit code of a reader) and `image` (a copy of memory, not a stream or a file)."""
import pathlib
import sys

sys.dont_write_bytecode = True
import vectors_bad
import vectors_good
import vectors_target
from vector_encoder import VECTORS

TOP = pathlib.Path(__file__).resolve().parent.parent


def hex_text(name, function):
    documentation = " ".join(function.__doc__.split())
    marks = " image" if "image" in name else ""
    if documentation[:-1].endswith("exit "):
        marks += " " + documentation[-6:]
        documentation = documentation[:-6].rstrip()
    lines = ["# %s%s" % (name, marks), "# " + documentation]
    for data, note in function():
        for at in range(0, len(data), 24):
            digits = data[at:at + 24].hex(" ").upper()
            lines.append(digits + ("  # " + note if at == 0 and note else ""))
    return "\n".join(lines) + "\n"


def main(arguments):
    if arguments not in ([], ["--check"]):
        raise SystemExit(__doc__)
    folder, different = TOP / "spec" / "vectors", []
    for name, function in VECTORS.items():
        path, text = folder / (name + ".hex"), hex_text(name, function)
        if not arguments:
            path.write_text(text)
        elif not path.is_file() or path.read_text() != text:
            different.append(str(path))
    for path in folder.glob("*/*.hex"):
        if path.parent.name + "/" + path.stem not in VECTORS:
            different.append("%s (nothing makes it)" % path)
    for line in different:
        print("make_vectors: not in step: " + line, file=sys.stderr)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
