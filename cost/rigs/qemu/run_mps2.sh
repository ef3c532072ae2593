#!/bin/sh
# Runs a program of build_mps2.sh: run_mps2.sh PROGRAM.elf RAM [QEMU OPTION ...]
#
# RAM is the file that holds the board's memory from 0x21000000 on; it is made anew, and stays.
# Standard output is the board's UART; the exit status is the program's, 124 after 60 seconds.
# One instruction takes 32 ns of the board's time, whatever the machine is busy with.
set -eu
program=$1
ram=$2
shift 2
rm -f "$ram"
exec timeout -k 5 "${MPS2_SECONDS:-60}" qemu-system-arm \
    -machine mps2-an385,memory-backend=ram \
    -object memory-backend-file,id=ram,size=16M,mem-path="$ram",share=on \
    -icount shift=5,sleep=off -kernel "$program" -net none \
    -display none -monitor none -serial stdio -semihosting-config enable=on,target=native "$@" \
    </dev/null
