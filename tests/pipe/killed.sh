#!/bin/sh
# A program or a collector that is killed at any moment: every event is accounted for.
# ctest: timeout=120 labels=plain
set -eu
cc -O2 -Wall -Wextra -Werror -I"$SOURCE/recorder" "$SOURCE/tests/pipe/killed_program.c" \
    "$SOURCE/recorder/tare.c" -o killed_program -lpthread
python3 "$SOURCE/tests/pipe/killed.py" "$TARE" ./killed_program "${ROUNDS:-30}" "${SEED:-1}"
