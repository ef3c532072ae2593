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
grep -q 'give --to FORMAT (perfetto)' err
expect_status 2 "$TARE" export run.tare --to perfeto
grep -q 'perfeto: no such format; there is: perfetto' err
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

# The page's examples.
mkdir page
cd page
PATH=$(dirname "$TARE"):$PATH python3 "$SOURCE/tools/doc_examples.py" "$SOURCE" \
    "$SOURCE/docs/cli/export.md"
