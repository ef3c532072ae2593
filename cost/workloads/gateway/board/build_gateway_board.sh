#!/bin/sh
# Builds the gateway for the board mps2-an385:
#
#     build_gateway_board.sh OUT.elf --kernel freertos|none --arm off|off2|tare|DIRECTORY [OPTION...]
#
#     --ring BYTES      RAM of Tare's ring: 5120 (the default), 8192 or another multiple of 1024
#     --shift N         the image refuses to run at another -icount shift; default: any
#     --live            no stops of the lock-step rig
#     --stop-ns NS      mean time between two stops (default 666680)
#     --seed N          jitter of the stops; 0 for none (default 1)
#     --seconds N       length of the measured window; 0, the default: until the stop command
#     --define NAME=VALUE   any macro more
#
# DIRECTORY is an arm of your own: a header gateway_hook.h, which stands at the end of
# FreeRTOSConfig.h (without a kernel: in gateway_os_bare.c), and any number of .c files, which are
# linked. README.md says more.
#
# lwIP and the kernel come from tools/fetch_sources.sh; FREERTOS_KERNEL_PATH names another kernel
# (the folder with tasks.c; FreeRTOS 9, 10 or 11), TARE_RECORDER another folder recorder/. Objects
# are kept in build/gateway_board, so only what has changed is compiled.
# Exit status: 0 built, 2 wrong usage, 3 a source is missing, else the compiler's.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../../.." && pwd)
gateway=$top/cost/workloads/gateway
rig=$top/cost/rigs/qemu
sources=${TARE_SOURCES:-$top/build/sources}
recorder=${TARE_RECORDER:-$top/recorder}
compiler=${ARM_CC:-arm-none-eabi-gcc}
output=
kernel=
arm=
ring=5120
defines=
stop_ns=666680
seed=1
seconds=0
shift_n=

usage() {
    echo "build_gateway_board: $*; see the first lines of the script" >&2
    exit 2
}

is_number() {
    case $2 in
    '' | *[!0-9]*) usage "$1 takes a number, not '$2'" ;;
    esac
}

while [ $# -gt 0 ]; do
    case $1 in
    --live) stop_ns=0 ;;
    --kernel | --arm | --ring | --shift | --stop-ns | --seed | --seconds | --define)
        [ $# -gt 1 ] || usage "$1 takes a value"
        case $1 in
        --kernel) kernel=$2 ;;
        --arm) arm=$2 ;;
        --define) defines="$defines -D$2" ;;
        *)
            is_number "$1" "$2"
            case $1 in
            --ring) ring=$2 ;;
            --shift) shift_n=$2 ;;
            --stop-ns) stop_ns=$2 ;;
            --seed) seed=$2 ;;
            --seconds) seconds=$2 ;;
            esac
            ;;
        esac
        shift
        ;;
    -*) usage "there is no option $1" ;;
    *)
        [ -z "$output" ] || usage "two names for the output: $output and $1"
        output=$1
        ;;
    esac
    shift
done
[ -n "$output" ] || usage "give the name of the output"

# ---- kernel: its sources, their folder of objects, and which layer the gateway uses

case $kernel in
freertos)
    if [ -n "${FREERTOS_KERNEL_PATH:-}" ]; then
        path=$FREERTOS_KERNEL_PATH
    else
        "$top/tools/fetch_sources.sh" freertos
        path=$sources/freertos/Source
    fi
    [ -f "$path/tasks.c" ] && [ -d "$path/portable/GCC/ARM_CM3" ] || {
        echo "build_gateway_board: $path is no FreeRTOS kernel: it must hold tasks.c and" \
            "portable/GCC/ARM_CM3" >&2
        exit 3
    }
    path=$(cd "$path" && pwd)
    key=freertos-$(printf %s "$path" | cksum | cut -d' ' -f1)
    kernel_sources=
    for file in tasks queue list timers event_groups stream_buffer portable/GCC/ARM_CM3/port \
        portable/MemMang/heap_4; do
        [ ! -f "$path/$file.c" ] || kernel_sources="$kernel_sources $path/$file.c"
    done
    layer_sources="$here/freertos/gateway_os_freertos.c $here/freertos/sys_arch.c"
    includes="-I$here/freertos -I$path/include -I$path/portable/GCC/ARM_CM3"
    no_sys=0
    ;;
none)
    key=none
    kernel_sources=
    layer_sources=$here/bare/gateway_os_bare.c
    includes="-I$here/bare"
    no_sys=1
    ;;
*) usage "--kernel is freertos or none" ;;
esac
"$top/tools/fetch_sources.sh" lwip
lwip=$sources/lwip/src

# ---- arm: its hooks and its own sources

arm_name=$arm
arm_sources=
recorder_sources=
link_first=
case $arm in
off | off2) ;;
tare)
    recorder_sources="$recorder/tare.c"
    arm_sources=$here/gateway_recorder_tare.c
    includes="$includes -I$recorder -I$recorder/hook"
    defines="-DGATEWAY_ARM_TARE -DTARE_RING_BYTES=$ring
        -DTARE_CONF_FILE='\"gateway_tare_conf.h\"' $defines"
    if [ "$kernel" = freertos ]; then
        hook=tare_freertos
    else
        hook=tare_baremetal
    fi
    if [ -f "$recorder/hook/$hook.c" ]; then
        recorder_sources="$recorder_sources $recorder/hook/$hook.c"
    fi
    if [ "$kernel" = freertos ]; then
        [ -f "$recorder/hook/$hook.h" ] || {
            echo "build_gateway_board: this tree has no recorder/hook/$hook.h, so there is no arm" \
                "tare with a kernel" >&2
            exit 3
        }
        defines="$defines -DGATEWAY_HOOK_HEADER='\"$hook.h\"'"
        # Where the kernel keeps the holder of a mutex.
        if grep -q 'define pxMutexHolder' "$path/queue.c"; then
            defines="$defines -DTARE_FREERTOS_OLD_HOLDER"
        fi
    else
        defines="$defines -DGATEWAY_HOOK_HEADER='\"gateway_hook_tare.h\"'"
    fi
    ;;
*)
    [ -f "$arm/gateway_hook.h" ] ||
        usage "--arm is off, off2, tare, or a directory with a file gateway_hook.h, not '$arm'"
    arm=$(cd "$arm" && pwd)
    arm_name=$(basename "$arm")
    arm_sources=$(find "$arm" -maxdepth 1 -name '*.c' | sort)
    includes="$includes -I$arm"
    defines="$defines -DGATEWAY_HOOK_HEADER='\"gateway_hook.h\"'"
    ;;
esac
case $arm_name in
*[!A-Za-z0-9_.-]*) usage "the arm's name '$arm_name' may hold letters, digits, . _ and - only" ;;
esac
defines="$defines -DGATEWAY_STOP_PERIOD=$((stop_ns / 40)) -DGATEWAY_JITTER_SEED=$seed"
defines="$defines -DGATEWAY_WINDOW_SECONDS=$seconds ${shift_n:+-DGATEWAY_SHIFT=$shift_n}"

# ---- compile: ninja knows what has changed

for tool in "$compiler" ninja flock; do
    command -v "$tool" >/dev/null || {
        echo "build_gateway_board: no $tool here; install what tools/packages.txt lists" >&2
        exit 3
    }
done
cache=$top/build/gateway_board/$key-$arm_name-$(printf %s "$arm" | cksum | cut -d' ' -f1)
lwip_cache=$top/build/gateway_board/lwip-$no_sys
mkdir -p "$cache" "$lwip_cache"
# One build at a time: callers may share objects.
exec 9>"$top/build/gateway_board/lock"
flock 9
machine="-mcpu=cortex-m3 -mthumb -O2"
common="$machine -g -ffunction-sections -fdata-sections"
ours="-std=gnu11 -Wall -Wextra -Werror"
lwip_sources=$(find "$lwip/core" "$lwip/api" "$lwip/netif/ethernet.c" -name '*.c' \
    ! -path '*/ipv6/*' ! -name err.c ! -name netdb.c ! -name sockets.c | sort)

# rules NINJA-FILE-TEXT: what every ninja file begins with
rules() {
    echo "rule compile"
    echo "  command = $compiler $common \$flags -MMD -MF \$out.d -c \$in -o \$out"
    echo "  description = compile \$in"
    echo "  depfile = \$out.d"
    echo "  deps = gcc"
}

# objects NAME FLAGS SOURCE...: one edge each; appends the objects to the list in $objects
objects() {
    list=$1
    flags=$2
    shift 2
    for source; do
        # Two folders may hold files of the same name.
        object=$list/$(basename "$source" .c).o
        printf 'build %s: compile %s\n  flags = %s\n' "$object" "$source" "$flags"
        echo "$object" >>"$objects"
    done
}

objects=$lwip_cache/objects.tmp
: >"$objects"
{
    rules
    printf 'rule archive\n  command = rm -f $out && %s rcs $out $in\n' \
        "${compiler%gcc}ar"
    objects lwip "-std=gnu11 -w -DNO_SYS=$no_sys -I$here -I$lwip/include" $lwip_sources
    echo "build liblwip.a: archive $(tr '\n' ' ' <"$objects")"
} >"$lwip_cache/build.ninja.tmp"
objects=$cache/objects.tmp
: >"$objects"
{
    rules
    printf 'rule link\n  command = %s %s $in $more -o $out\n' "$compiler" "$machine"
    system="-I$here -I$gateway -I$rig $includes -isystem $lwip/include -DNO_SYS=$no_sys"
    system="$system -DGATEWAY_ARM_NAME='\"$arm_name\"' $(echo $defines)"
    if [ "$arm_name" = off2 ]; then
        objects gateway "$ours" "$gateway/gateway_padding.c"
    fi
    objects rig "-std=gnu11 -Wall -Wextra -Werror" "$rig/mps2_start.c"
    # Options that end in the report; they never change with the arm.
    objects gateway "$ours $system -DGATEWAY_COMPILE_OPTIONS='\"$machine\"'" \
        "$here/gateway_board_main.c" "$here/gateway_report.c" "$here/gateway_board.c" \
        "$here/gateway_lan9118.c" "$gateway/gateway_application.c" $layer_sources
    objects arm "$ours $system" $arm_sources
    objects recorder "-std=c99 -Wall -Wextra -Werror $system" $recorder_sources
    objects kernel "-std=gnu11 -w $system" $kernel_sources
    if [ "$arm_name" = off2 ]; then
        # The A/A arm: padding first, then everything in the other order.
        in=$(sed -n '1!G;h;$p' "$objects" | grep -v gateway_padding | tr '\n' ' ')
        in="gateway/gateway_padding.o $in"
        keep="-Wl,--undefined=gateway_padding_code,--undefined=gateway_padding_data"
    else
        in=$(tr '\n' ' ' <"$objects")
        keep=
    fi
    echo "build gateway.elf: link $in | $rig/mps2.ld $lwip_cache/liblwip.a"
    echo "  more = -Wl,--start-group $lwip_cache/liblwip.a -Wl,--end-group -nostartfiles" \
        "--specs=nano.specs -Wl,--gc-sections $keep -T $rig/mps2.ld" \
        "-Wl,--defsym=mps2_code=0 -Wl,--defsym=mps2_ram=0x21000000"
} >"$cache/build.ninja.tmp"
for folder in "$lwip_cache" "$cache"; do
    cmp -s "$folder/build.ninja.tmp" "$folder/build.ninja" ||
        cp "$folder/build.ninja.tmp" "$folder/build.ninja"
    ninja --quiet -j2 -C "$folder" >"$folder/log" 2>&1 9>&- || {
        cat "$folder/log" >&2
        exit 1
    }
done
cp "$cache/gateway.elf" "$output"
