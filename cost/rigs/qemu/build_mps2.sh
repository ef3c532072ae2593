#!/bin/sh
# Builds a program for the MPS2 board: build_mps2.sh OUT.elf SOURCE.c [COMPILER OPTION ...]
#
# The recorder is compiled with the same options into OUT.tare.o and linked. Give the recorder's
# options in a header: -DTARE_CONF_FILE='"my_conf.h"' -IFOLDER. The board also runs what is compiled
# for the smaller cores: MPS2_CPU=cortex-m0.
set -eu
rig=$(cd "$(dirname "$0")" && pwd)
recorder=$(cd "$rig/../../../recorder" && pwd)
out=$1
source=$2
shift 2
compiler=${ARM_CC:-arm-none-eabi-gcc}
cpu=${MPS2_CPU:-cortex-m3}

# -ffreestanding tells the compiler what is true; the pieces of C99 below are all the code needs.
compile() {
    "$compiler" -mcpu="$cpu" -mthumb -std=c99 -O2 -g -ffreestanding -ffunction-sections \
        -fdata-sections -Wall -Wextra -Werror -I"$recorder" -I"$rig" "$@"
}

compile "$@" -c "$recorder/tare.c" -o "$out.tare.o"
compile "$@" -c "$rig/mps2_start.c" -o "$out.start.o"
compile "$@" -c "$source" -o "$out.program.o"
"$compiler" -mcpu="$cpu" -mthumb -nostartfiles --specs=nano.specs -Wl,--gc-sections \
    -T "$rig/mps2.ld" "$out.start.o" "$out.program.o" "$out.tare.o" -o "$out"
