#!/bin/sh
# The examples of README.md and docs/ do what they say.
# ctest: timeout=180 labels=plain serial
set -eu
PATH=$(dirname "$TARE"):$PATH
export PATH
"$SOURCE/tools/doc_examples.py" "$SOURCE" "$SOURCE/README.md" $(find "$SOURCE/docs" -name '*.md' | sort)
