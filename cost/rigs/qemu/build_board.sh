#!/bin/sh
# Builds a program for a board: BOARD=NAME build_board.sh OUT.elf SOURCE.c [COMPILER OPTION ...]
#
# The recorder is compiled with the same options into OUT.tare.o and linked. Give the recorder's
# options in a header: -DTARE_CONF_FILE='"my_conf.h"' -IFOLDER. NAME is mps2-an385 (the default),
# mps2-an386, mps2-an500, mps2-an505, mps3-an547 or virt. A Cortex-M also runs what is compiled for
# a smaller one: BOARD_CPU=cortex-m0plus.
set -eu
rig=$(cd "$(dirname "$0")" && pwd)
recorder=$(cd "$rig/../../../recorder" && pwd)
out=$1
source=$2
shift 2
board=${BOARD:-mps2-an385}

case $board in
mps2-an385) cpu=cortex-m3 code=0x00000000 ram=0x21000000 ;;
mps2-an386) cpu=cortex-m4 code=0x00000000 ram=0x21000000 ;;
mps2-an500) cpu=cortex-m7 code=0x00000000 ram=0x60000000 ;;
mps2-an505) cpu=cortex-m33 code=0x10000000 ram=0x80000000 ;;
mps3-an547) cpu=cortex-m55 code=0x10000000 ram=0x70000000 ;;
virt) ;;
*)
    echo "build_board.sh: no board $board; read the list in its first lines" >&2
    exit 2
    ;;
esac

if [ "$board" = virt ]; then
    start=virt_start.c
    compiler="${RISCV_CC:-riscv64-unknown-elf-gcc} -mabi=ilp32 --specs=picolibc.specs"
    core=-march=rv32imac_zicsr
    link="-march=rv32imac -T $rig/virt.ld" # the name under which the compiler has its library
    defines=
else
    start=mps2_start.c
    compiler="${ARM_CC:-arm-none-eabi-gcc} -mthumb"
    core=-mcpu=${BOARD_CPU:-$cpu}
    link="$core --specs=nano.specs -T $rig/mps2.ld -Wl,--defsym=mps2_code=$code,--defsym=mps2_ram=$ram"
    defines=-DMPS2_NOTE=${board#mps?-an}
fi

# -ffreestanding tells the compiler what is true; the pieces of C99 below are all the code needs.
compile() {
    $compiler $core $defines -std=c99 -O2 -g -ffreestanding -ffunction-sections -fdata-sections \
        -Wall -Wextra -Werror -I"$recorder" -I"$rig" "$@"
}

compile "$@" -c "$recorder/tare.c" -o "$out.tare.o"
compile "$@" -c "$rig/$start" -o "$out.start.o"
compile "$@" -c "$source" -o "$out.program.o"
$compiler -nostartfiles -Wl,--gc-sections $link "$out.start.o" "$out.program.o" "$out.tare.o" \
    -o "$out"
