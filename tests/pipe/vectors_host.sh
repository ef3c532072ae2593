#!/bin/sh
# The host program and the reference decoder read every vector, and 2,000 damaged or made-up
# variants of them, line by line alike.
# ctest: timeout=180
set -eu
exec python3 -B "$SOURCE/tests/pipe/vectors_host.py" "$SOURCE" "$TARE"
