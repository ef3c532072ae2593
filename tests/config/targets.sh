#!/bin/sh
# The recorder on targets: every option, language and core; what is not called; off means off.
# ctest: timeout=150 labels=plain
for tool in arm-none-eabi-g++ riscv64-unknown-elf-g++; do
    command -v $tool >/dev/null || {
        echo "skipped: no $tool"
        exit 77
    }
done
exec python3 "$SOURCE/tests/config/targets.py"
