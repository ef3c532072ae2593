#!/bin/sh
# `tare record mem:` reads a program that runs in QEMU out of its memory, through a reset.
# ctest: timeout=90 labels=plain serial
set -eu
for tool in qemu-system-arm arm-none-eabi-gcc; do
    command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
. "$SOURCE/tests/pipe/reader_board.inc"
build_firmware
start_board
timeout 60 "$TARE" record "mem:ram" --elf firmware.elf --until-end --for 50s -o run.tare 2>err || {
    cat err console; exit 1; }
cat err
python3 "$SOURCE/tests/pipe/reader_check.py" "$TARE" run.tare "$FIRST" "$SECOND"
grep -q 'session 1, stream 0: ended without being closed' err
grep -q ' words of 2 streams in run.tare; restarts 1;' err

# The same memory as an image: nothing is left to read but the last moment of the second session.
cp ram image
timeout 60 "$TARE" snapshot image -o snapshot.tare 2>err
cmp ram image
grep -q 'session 2' err
