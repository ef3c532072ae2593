#!/bin/sh
# The recorder with every option, language and compiler that it promises; off means off.
# ctest: timeout=120 labels=plain
set -eu
here=$SOURCE/tests/config
recorder=$SOURCE/recorder
strict="-O2 -Wall -Wextra -Wshadow -Wundef -Werror -I$recorder"

must_compile()
{
    if ! "$@" -o program 2>log; then
        echo "must compile: $*"
        cat log
        exit 1
    fi
    ./program
}

# Compilers, languages, levels.
for compiler in gcc clang; do
    for standard in c99 gnu11 gnu17; do
        for level in -O0 -Os -O3; do
            must_compile $compiler -std=$standard $strict $level "$here/every_name.c" "$recorder/tare.c"
        done
    done
    must_compile $compiler -std=c99 $strict -flto -ffunction-sections -fdata-sections -Wl,--gc-sections \
        "$here/every_name.c" "$recorder/tare.c"
    must_compile $compiler -std=c99 $strict -static "$here/every_name.c" "$recorder/tare.c"
done
gcc -std=c99 $strict -c "$recorder/tare.c" -o tare.o
for standard in c++11 c++17 c++20; do
    must_compile g++ -std=$standard -pedantic $strict -x c++ "$here/every_name.c" -x none tare.o
done

# Options, and the ranges that are refused.
for option in TARE_ENABLED=0 TARE_BLOCK_WORDS=64 TARE_BLOCK_WORDS=128 TARE_TEXT_LIMIT=8 \
    TARE_TEXT_LIMIT=1023 TARE_RING_BYTES=65536 TARE_CATEGORIES=1u TARE_SESSION=7u \
    TARE_SELF_TEST=0 TARE_COMMANDS=0 TARE_OBJECTS=8 TARE_CORES=2 \
    TARE_FULL_POLICY=TARE_OVERWRITE TARE_NAME_PERIOD=7; do
    must_compile gcc -std=c99 $strict -D$option "$here/every_name.c" "$recorder/tare.c"
done
echo '#define TARE_TEXT_LIMIT 16' >own_conf.h
must_compile gcc -std=c99 $strict -I. '-DTARE_CONF_FILE="own_conf.h"' "$here/every_name.c" "$recorder/tare.c"
for option in TARE_BLOCK_WORDS=100 TARE_RING_BYTES=1000 TARE_RING_BYTES=1024 TARE_TEXT_LIMIT=7 \
    TARE_TEXT_LIMIT=1024; do
    if gcc -std=c99 -I"$recorder" -D$option -c "$recorder/tare.c" -o refused.o 2>log; then
        echo "must be refused: $option"
        exit 1
    fi
    grep -q '#error' log
done

# Off means off: the bytes of a program with every call, compiled out, are those of one without.
image()
{
    gcc -std=c99 $strict -DTARE_ENABLED=0 "$@" -c "$here/every_name.c" -o image.o
    objcopy -O binary -j .text -j .text.startup -j .rodata -j .data image.o image.bin
    cat image.bin
}
image >with_calls
image -DNO_CALLS >without_calls
cmp with_calls without_calls
test -s with_calls
gcc -std=c99 $strict -DTARE_ENABLED=0 -c "$recorder/tare.c" -o empty.o
test "$(size -A empty.o | awk '$1 ~ /^\.(text|data|bss|rodata)/ {sum += $2} END {print sum + 0}')" = 0
