#!/bin/sh
# The document, the vectors, their encoder and the reference decoder agree.
# ctest: timeout=120
set -eu
python3 "$SOURCE/tools/gen_tables.py" --check
python3 "$SOURCE/tools/make_vectors.py" --check
exec python3 -B "$SOURCE/tests/pipe/vectors_reference.py" "$SOURCE"
