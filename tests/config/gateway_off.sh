#!/bin/sh
# The gateway for the board with the recorder compiled out is, to the byte, the gateway of the arm
# `off`, which has no recorder: under FreeRTOS with its hook header, and without a kernel.
# ctest: timeout=180 labels=plain
set -eu
for tool in arm-none-eabi-gcc ninja; do
    command -v "$tool" >/dev/null || {
        echo "skipped: no $tool"
        exit 77
    }
done
status=0
"$SOURCE/tools/fetch_sources.sh" lwip freertos || status=$?
[ "$status" -ne 3 ] || {
    echo "skipped: the sources of lwIP and FreeRTOS cannot be had here"
    exit 77
}
[ "$status" -eq 0 ]
recorder=$SOURCE/recorder

# An arm of the same name, linked in the same order, that has the recorder and says TARE_ENABLED 0.
mkdir -p off
for header in tare.h hook/tare_baremetal.h hook/tare_freertos.h; do
    echo "#include \"$recorder/$header\"" >"off/$(basename "$header")"
done
echo "#include \"$recorder/tare.c\"" >off/recorder.c

# image KERNEL OUT ARM [OPTION...]
image() {
    kernel=$1 out=$2 arm=$3
    shift 3
    "$SOURCE/cost/workloads/gateway/board/build_gateway_board.sh" "$out.elf" --kernel "$kernel" \
        --arm "$arm" "$@"
    arm-none-eabi-objcopy -O binary "$out.elf" "$out.bin"
    arm-none-eabi-size -A "$out.elf" | grep -E '^(\.|tare)' | grep -Ev '^\.(debug|comment|ARM)' \
        >"$out.sections"
}

for kernel in freertos none; do
    if [ "$kernel" = freertos ]; then
        echo '#include "tare_freertos.h"' >off/gateway_hook.h
        echo "#include \"$recorder/hook/tare_freertos.c\"" >off/hook.c
    else
        board=$SOURCE/cost/workloads/gateway/board
        echo "#include \"$board/bare/gateway_hook_tare.h\"" >off/gateway_hook.h
        rm off/hook.c
    fi
    image $kernel without off
    image $kernel disabled ./off --define GATEWAY_ARM_TARE=1 --define TARE_ENABLED=0
    cmp without.bin disabled.bin
    cmp without.sections disabled.sections
    [ "$(wc -c <without.bin)" -gt 10000 ]
done
