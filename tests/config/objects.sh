#!/bin/sh
# Events of a program, of a shared library, of C++ inline functions in two files: each keeps its own
# id and name, with and without link-time optimisation and removal of unused sections.
# ctest: timeout=120 labels=plain
set -eu
here=$SOURCE/tests/config
flags="-O2 -Wall -Wextra -Werror -I$SOURCE/recorder"

check()
{
    "$TARE" record -q -o run.tare -- ./program
    "$TARE" dump --json run.tare | python3 -c '
import json, sys
found = [(e["name"], *[a["value"] for a in e["arguments"] if a["name"] == "number"])
         for e in map(json.loads, sys.stdin) if e.get("type") == "event"]
wanted = [("program called", 1), ("inline called", 2), ("inline called", 3), ("inline called", 4),
          ("library called", 5)]
sys.exit(found != wanted and "wanted %s\nfound  %s" % (wanted, found))'
}

for extra in "" "-flto" "-ffunction-sections -fdata-sections -Wl,--gc-sections"; do
    gcc $flags $extra -c "$SOURCE/recorder/tare.c" -o tare.o
    gcc $flags $extra -fPIC -shared "$here/library_part.c" -o libpart.so
    g++ $flags $extra "$here/program_part.cpp" "$here/other_part.cpp" tare.o -o program \
        -L. -lpart -Wl,-rpath,"$PWD"
    check
done
