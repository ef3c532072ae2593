# The list of subcommands, the version, and what a wrong first word gets.
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

expect_status 0 "$TARE" help
grep -q '^Subcommands:' out
test ! -s err
cp out list
expect_status 0 "$TARE" --help
cmp list out
expect_status 0 "$TARE" --version
grep -Eqx 'tare [0-9]+\.[0-9]+\.[0-9]+' out

# Without a subcommand the list is no result, so it goes to standard error.
expect_status 2 "$TARE"
test ! -s out
cmp list err

expect_status 2 "$TARE" hepl
grep -q "'hepl' is no subcommand; the nearest is 'help'" err
test ! -s out
expect_status 2 "$TARE" help hepl
grep -q "the nearest is 'help'" err
expect_status 2 "$TARE" help help help
expect_status 2 "$TARE" -x

# Every listed subcommand has a manual and is named on its first line.
sed -n 's/^  \([a-z]*\)  *.*/\1/p' list | while read -r name; do
    test "$name" != help || continue
    expect_status 0 "$TARE" help "$name"
    head -n 1 out | grep -q "^tare $name: "
    grep -q '^Options:' out
    cp out manual
    expect_status 0 "$TARE" "$name" --help
    cmp manual out
done

# A full disk behind standard output is no success.
status=0
"$TARE" help >/dev/full 2>err || status=$?
test "$status" -eq 2
grep -q 'No space left' err
