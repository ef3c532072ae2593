#!/bin/sh
# The host program and the reference decoder read every vector, 2,000 damaged or made-up variants
# of them and 500 images of memory, line by line alike.
# ctest: timeout=180
set -eu
exec python3 -B "$SOURCE/tests/pipe/vectors_host.py" "$SOURCE" "$TARE"
