# tare export: what is refused and how, what becomes of the output file, and the examples of its page.
set -eu

expect_status() {
    wanted=$1
    shift
    status=0
    "$@" >out 2>err </dev/null || status=$?
    if [ "$status" -ne "$wanted" ]; then
        echo "$*: status $status instead of $wanted"
        cat out err
        exit 1
    fi
}

# Vectors are recordings enough.
vector() {
    sed 's/#.*//' "$SOURCE/spec/vectors/$1.hex" | tr -d ' \n' | python3 -c \
        'import sys; sys.stdout.buffer.write(bytes.fromhex(sys.stdin.read()))' >"$2"
}
vector good/tare_all_chunks run.tare

expect_status 0 "$TARE" export run.tare --to perfetto -o run.trace
test ! -s out
grep -q '^tare: run.trace written' err
expect_status 0 "$TARE" export run.tare --to perfetto -o run.trace -q
cp run.trace kept
expect_status 0 "$TARE" export -q run.tare --to perfetto
cmp out kept
"$TARE" export -q - --to=perfetto <run.tare >out
cmp out kept
cat run.tare | "$TARE" export -q - --to=perfetto >out
cmp out kept
protoc --decode_raw <kept >decoded

# A file that is replaced keeps its mode, a link stays a link, and no part is left behind.
chmod 600 run.trace
ln -s run.trace link.trace
expect_status 0 "$TARE" export -q run.tare --to perfetto -o link.trace
test -L link.trace
test "$(stat -c %a run.trace)" = 600
cmp run.trace kept

expect_status 2 "$TARE" export run.tare
grep -q 'give --to FORMAT (perfetto, svg)' err
expect_status 2 "$TARE" export run.tare --to perfeto
grep -q 'perfeto: no such format; there is: perfetto, svg' err
expect_status 2 "$TARE" export --to perfetto
grep -q 'export takes one recording, but got 0' err
expect_status 2 "$TARE" export run.tare other.tare --to perfetto
expect_status 2 "$TARE" export run.tare --to perfetto --begin 2s --end 1s
grep -q -- '--begin lies behind --end' err
expect_status 2 "$TARE" export missing.tare --to perfetto -o run.trace
grep -q 'missing.tare' err
expect_status 2 "$TARE" export . --to perfetto -o run.trace
expect_status 2 "$TARE" export run.tare --to perfetto -o .
grep -q 'is a directory' err
expect_status 2 "$TARE" export run.tare --to perfetto -o missing/run.trace
expect_status 2 "$TARE" export run.tare --to perfetto -o /dev/full
grep -q 'No space left' err
# The recording itself, also under another name, is not overwritten.
cp run.tare before
ln run.tare same
expect_status 2 "$TARE" export run.tare --to perfetto -o same
grep -q 'this is the recording itself' err
cmp run.tare before

# Nothing to read: the old output stays.
head -c 5 /dev/zero >bad.tare
expect_status 4 "$TARE" export bad.tare --to perfetto -o run.trace
grep -q 'bad.tare' err
cmp run.trace kept
: >empty.tare
expect_status 4 "$TARE" export empty.tare --to perfetto -o run.trace
cmp run.trace kept
test -z "$(find . -name '*.part')"

# Nothing in the stretch, and a recording that does not know its clock.
expect_status 0 "$TARE" export run.tare --to perfetto -o far.trace --begin 100000s
grep -q 'nothing lies in the stretch' err
vector good/events raw
expect_status 0 "$TARE" export raw --to perfetto -o raw.trace
grep -q 'each is shown as 1 ns' err

# A picture: of a kernel's recording that is known by hand, from 2 us on, 4 us long on 798 pixels.
python3 "$SOURCE/tests/pipe/export_perfetto_kernel.py" "$SOURCE" kernel.tare
expect_status 0 "$TARE" export kernel.tare --to svg --begin 2us --length-ms 0.004 -o kernel.svg
test ! -s out
grep -q 'kernel.svg written: 0.004 ms from 0.000002 s on; 4 of the 4 tasks, interrupts and timers' err
grep -q 'warning: the excerpt holds losses' err
"$TARE" export -q - --to=svg --begin=2us --length-ms=0.004 <kernel.tare >out 2>err
cmp out kernel.svg
sed 's/></>\n</g' kernel.svg >lines
for lane in uart 'timer #032' producer consumer; do
    grep -q ">$lane</text>" lines
done
# The lanes' bars begin 37, 71, 105 and (the producer has a row for its span) 152 pixels below the top.
for bar in 'svg-f3" x="409.3" y="37" width="39.9" height="20"' \
    'svg-f6" x="848.2" y="71" width="19.95" height="20"' \
    'svg-f2" x="249.7" y="105" width="219.45" height="20"' \
    'svg-f5 svg-light" x="469.15" y="108" width="99.75" height="14"' \
    'svg-f4" x="349.45" y="127" width="279.3" height="13"' \
    'svg-f2" x="130" y="152" width="119.7" height="20"' \
    'svg-f1 svg-light" x="249.7" y="158.5" width="183.54" height="7"' \
    'svg-f3 svg-light" x="433.24" y="155" width="35.91" height="14"'; do
    if ! grep -q "<rect class=\"$bar" lines; then
        echo "no bar $bar in"
        cat lines
        exit 1
    fi
done
# Without a begin it lies where most are at work; a thread of Linux is a lane.
expect_status 0 "$TARE" export kernel.tare --to svg --length-ms 0.001 -o -
grep -q '</svg>' out
expect_status 0 "$TARE" export run.tare --to svg -o run.svg
grep -q '</svg>' run.svg
expect_status 2 "$TARE" export kernel.tare --to svg --end 1s
grep -q 'give --length-ms instead' err
expect_status 2 "$TARE" export kernel.tare --to perfetto --length-ms 1
grep -q -- '--length-ms is for --to svg' err
expect_status 2 "$TARE" export kernel.tare --to svg --length-ms -1
grep -q 'above 0' err
expect_status 2 "$TARE" export kernel.tare --to svg -o kernel.tare
cp kernel.svg kept.svg
expect_status 3 "$TARE" export kernel.tare --to svg --begin 1s -o kernel.svg
grep -q 'not behind the begin' err
expect_status 3 "$TARE" export raw --to svg -o kernel.svg
grep -q 'how long a tick is' err
expect_status 4 "$TARE" export bad.tare --to svg -o kernel.svg
cmp kernel.svg kept.svg

# The page's examples.
mkdir page
cd page
PATH=$(dirname "$TARE"):$PATH python3 "$SOURCE/tools/doc_examples.py" "$SOURCE" \
    "$SOURCE/docs/cli/export.md"
