#!/bin/sh
# `tare record` ends with the command's status, says what went wrong, and leaves nothing behind.
# ctest: timeout=60 serial
set -eu
ls /dev/shm >shm_before

# expect STATUS PATTERN COMMAND...: the exit status and a line on stderr
expect()
{
    status=$1 pattern=$2
    shift 2
    got=0
    "$@" >out 2>err || got=$?
    if [ "$got" != "$status" ] || ! grep -q -- "$pattern" err; then
        echo "wanted status $status and '$pattern', got $got: $*"
        cat out err
        exit 1
    fi
}

expect 7 'recorded nothing' "$TARE" record -o r.tare -- sh -c 'exit 7'
expect 143 'recorded nothing' "$TARE" record -o r.tare -- sh -c 'kill -TERM $$'
expect 137 'recorded nothing' "$TARE" record -o r.tare -- sh -c 'kill -KILL $$'
expect 127 'no-such-command: No such file' "$TARE" record -o r.tare -- ./no-such-command
: >plain_file
expect 126 'plain_file: Permission denied' "$TARE" record -o r.tare -- ./plain_file
expect 125 'no command' "$TARE" record -o r.tare
expect 125 "behind '--'" "$TARE" record -o r.tare true -- true
expect 125 'nearest is' "$TARE" record --ring-byte 4096 -- true
expect 125 'two blocks' "$TARE" record --ring-bytes 1000 -o r.tare -- true
expect 125 'block of 65 words' "$TARE" record --block-words 65 -o r.tare -- true
expect 125 'at most 2 GiB' "$TARE" record --ring-bytes 1073741824 --rings 2 -o r.tare -- true
if unshare -m true 2>/dev/null; then
    expect 125 'no room for .* bytes of shared memory' unshare -m sh -c '
        mount -t tmpfs -o size=1m none /dev/shm && exec "$0" record -o r.tare -- true' "$TARE"
else
    echo "not run (no right to mount): shared memory that is too small"
fi
expect 125 'no-such-folder/r.tare' "$TARE" record -o no-such-folder/r.tare -- true
expect 125 'No space left' sh -c 'exec "$0" record -o - -- true >/dev/full' "$TARE"

# A limit on the size of files is told like a full disk, and does not end the command. (The session's
# memory, 12 KiB, is a file too.)
cat >many.c <<'END'
#include <stdio.h>
#include <unistd.h>
#include "tare.h"
TARE_CATEGORY(all, 0, "all")
TARE_EVENT1(step, all, "step", u32, number, "")
int main(void)
{
    for (uint32_t i = 0; i < 5000; i++) {
        step(i);
        if (i % 10 == 0)
            usleep(500);
    }
    puts("went on to its end");
    return 5;
}
END
cc -O2 -I"$SOURCE/recorder" many.c "$SOURCE/recorder/tare.c" -o many -lpthread
expect 125 'File too large; write to a file system without this limit' sh -c '
    ulimit -f 26 && exec "$0" record --rings 2 --ring-bytes 2048 --block-words 64 -o limited.tare \
        -- ./many' "$TARE"
grep -q 'went on to its end' out

# The length of a tick stands at the start, for a recording whose collector was killed.
"$TARE" record -q -o killed.tare -- sh -c '
    echo "$TARE_REGION" >region; ./many >/dev/null; kill -KILL $PPID; sleep 1' || true
rm "$(cat region)"
"$TARE" check killed.tare >checked
grep -q 'ticks/s' checked

# A mistyped command costs no older recording.
echo older >older.tare
expect 127 'No such file' "$TARE" record -o older.tare -- no-such-command
test "$(cat older.tare)" = older

# A parent that ignores the end of its children hides nothing; what is ignored stays ignored.
expect 3 'recorded nothing' sh -c 'trap "" CHLD HUP; exec "$0" record -o r.tare -- sh -c "kill -HUP \$\$; exit 3"' "$TARE"

# -q: no closing line. Standard output carries the recording alone.
"$TARE" record -q -o - -- sh -c 'exit 0' >piped.tare
test "$(head -c 4 piped.tare)" = TARE

# SIGTERM goes to the command, and the recording is finished.
"$TARE" record -o r.tare -- sh -c 'trap "exit 9" TERM; : >started; while :; do sleep 0.05; done' 2>err &
recorder=$!
while [ ! -e started ]; do sleep 0.05; done
kill -TERM $recorder
got=0
wait $recorder || got=$?
test $got = 9
grep -q '"command_status":9' r.tare

ls /dev/shm | grep '^tare-' >shm_after || true
grep '^tare-' shm_before >shm_own || true
cmp shm_own shm_after || { echo "left behind in /dev/shm:"; cat shm_after; exit 1; }
