#!/bin/sh
# What `tare export --to perfetto` writes: a recording made by hand against a stored text that protoc
# prints, and against what `tare dump --json` says; a recording of real threads against the latter.
# ctest: timeout=120
set -eu
exec python3 -B "$SOURCE/tests/pipe/export_perfetto.py" "$SOURCE" "$TARE" "$BUILD"
