#!/bin/sh
# Frames and datagrams of a target through `tare record`: serial port, UDP, TCP, files, bad lines.
# ctest: timeout=120
set -eu
python3 "$SOURCE/tests/pipe/transport.py" "$TARE" "$SOURCE"
