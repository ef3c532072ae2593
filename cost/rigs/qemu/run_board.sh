#!/bin/sh
# Runs a program of build_board.sh: BOARD=NAME run_board.sh PROGRAM.elf RAM [QEMU OPTION ...]
#
# RAM is the file that holds the 16 MiB of the board's memory in which the data lie; it is made anew,
# and stays. Standard output is the board's UART; the exit status is the program's, 124 after
# BOARD_SECONDS (60). One instruction takes 2^BOARD_SHIFT ns (2^5) of the board's time, whatever the
# machine is busy with.
set -eu
program=$1
ram=$2
shift 2
board=${BOARD:-mps2-an385}
size=16M
case $board in
virt)
    emulator="qemu-system-riscv32 -bios none -m 16M"
    ;;
mps3-an547)
    emulator="qemu-system-arm -semihosting-config enable=on,target=native"
    size=2G # it takes no other; the part that is used begins at 256 MiB
    ;;
*)
    emulator="qemu-system-arm -semihosting-config enable=on,target=native"
    ;;
esac

rm -f "$ram"
run() {
    exec timeout -k 5 "${BOARD_SECONDS:-60}" $emulator -machine "$board,memory-backend=ram" \
        -object memory-backend-file,id=ram,size=$size,mem-path="$ram",share=on \
        -icount shift="${BOARD_SHIFT:-5}",sleep=off -kernel "$program" -nic none \
        -display none -monitor none -serial stdio "$@" </dev/null
}

if [ "$size" = 16M ]; then
    run "$@"
fi
status=0
(run "$@") || status=$?
if [ -f "$ram" ]; then
    dd if="$ram" of="$ram.part" bs=1M skip=256 count=16 conv=sparse 2>/dev/null
    mv "$ram.part" "$ram"
fi
exit "$status"
