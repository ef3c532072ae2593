#!/bin/sh
# README.md and cost/REPORT.md say what cost/results holds; the counts in it are those of this tree.
# ctest: labels=lint
set -eu
python3 "$SOURCE/tools/gen_readme.py" --check
