# tools/check_layers.py finds each kind of fault, and none in a sound tree.
set -eu

mkdir -p tree/host/base tree/host/decode tree/host/cmd tree/recorder/port tree/tests
cd tree
git init -q .
cp "$SOURCE/host/LAYERS" host/
echo '#include <stdint.h>' >recorder/tare_layout.h
echo '#include "tare_layout.h"' >recorder/tare.h
echo '#include <unistd.h>' >recorder/port/tare_port_linux.h
echo '#include <stdlib.h>' >host/base/base_a.h
printf '#include "base_a.h"\n#include "tare_layout.h"\n' >host/decode/dec_a.c
echo '#include "dec_a.h"' >host/cmd/cmd_a.c
: >host/decode/dec_a.h
echo '#include "cmd_b.h"' >host/main.c
: >host/cmd/cmd_b.h

check() {
    python3 "$SOURCE/tools/check_layers.py" . >../out
}

check

# found FILE TEXT WANTED: with TEXT as the contents of FILE, the fault WANTED is reported and no other.
found() {
    saved=
    if [ -f "$1" ]; then saved=$(cat "$1"); fi
    printf '%s\n' "$2" >"$1"
    if check; then
        echo "not found: $3"
        exit 1
    fi
    if [ "$(wc -l <../out)" -ne 1 ] || ! grep -qF "$3" ../out; then
        echo "expected: $3"
        cat ../out
        exit 1
    fi
    if [ -n "$saved" ]; then printf '%s\n' "$saved" >"$1"; else rm "$1"; fi
}

found host/base/base_b.c '#include "dec_a.h"' 'host/base/base_b.c:1: includes host/decode/dec_a.h'
found host/decode/dec_b.c '#include "cmd_b.h"' 'decode stands before cmd'
found host/decode/dec_b.c '  #  include "tare.h"' 'includes recorder/tare.h; host/ takes only'
found host/base/base_b.c '#include "tare_layout.h"' 'must not know what a trace is'
found host/decode/dec_b.c '#include "absent.h"' 'not in the tree'
found recorder/tare_b.inl '#include "base_a.h"' 'recorder/ must do without'
found recorder/tare_b.inl '#include <stdlib.h>' 'includes <stdlib.h>'
found recorder/other.h '' 'name must begin with tare'
found host/decode/cmd_c.c '' 'name must begin with dec_'
mkdir host/utils
found host/utils/utils_a.c '' 'not listed in host/LAYERS'
found tests/Dec_a.h '' 'same name as'
found tests/long.c "$(seq 801)" 'has 801 lines'
check

# Without git it walks the folders, leaving build/ out.
rm -rf .git
mkdir build
: >build/dec_a.h
check
