# tools/setup.sh with stand-ins for apt, dpkg, id and sudo: what it asks for, and when it does nothing.
set -eu

mkdir bin tools
cp "$SOURCE/tools/setup.sh" tools/
cat >tools/packages.txt <<'END'
# comment
gcc    demo  compiles
cmake  demo  builds everything
ninja  demo  builds everything
R      test  checks, twice
END

cat >bin/dpkg-query <<'END'
#!/bin/sh
sed 's/$/ installed/' "$FAKE/installed"
echo 'cmake config-files'
END
cat >bin/apt-get <<'END'
#!/bin/sh
echo "apt-get $*" >>"$FAKE/calls"
echo "a message of apt"
echo "dlstatus:1:50.5:Fetching" >&2
case $* in
*install*)
    test ! -f "$FAKE/broken" || exit 100
    for word; do printf '%s\n' "$word"; done | sed '1,/^install$/d' >>"$FAKE/installed"
    ;;
esac
END
cat >bin/id <<'END'
#!/bin/sh
cat "$FAKE/id"
END
chmod +x bin/*
export FAKE="$PWD"

# start INSTALLED...: a machine with these packages, and no calls so far.
start() {
    : >calls
    printf '%s\n' "$@" >installed
}

run() {
    status=0
    PATH="$PWD/bin:/usr/bin:/bin" sh tools/setup.sh "$@" >out 2>err || status=$?
    test ! -s out
}

expect() {
    if [ "$status" -ne "$1" ]; then
        echo "status $status instead of $1"
        cat err
        exit 1
    fi
}

echo 0 >id

# All is there: no output, no call.
start gcc cmake ninja
run demo
expect 0
test ! -s err
test ! -s calls

# The list test includes demo; a package of which only the settings are left is missing.
start gcc gcc-12 ninja
run test
expect 0
grep -qx 'setup:   cmake: builds everything' err
grep -qx 'setup:   R: checks, twice' err
test "$(wc -l <calls)" -eq 2
sed -n 1p calls | grep -q ' update$'
sed -n 2p calls | grep -q -- '--no-install-recommends .*install cmake R$'
grep -q 'a message of apt' build/setup.log

# The second call finds nothing to do.
run test
expect 0
test ! -s err
test "$(wc -l <calls)" -eq 2

# Packages with one reason share a line; the list demo leaves R alone.
start gcc
run demo
expect 0
grep -qx 'setup:   cmake ninja: builds everything' err
grep -q 'install cmake ninja$' calls

# apt fails: its messages are shown.
start gcc
touch broken
run demo
expect 2
grep -q 'could not install: cmake ninja' err
grep -q 'ended with status 100' err
rm broken

# Neither root nor sudo: says what to run as root and calls nothing.
if [ ! -e /usr/bin/sudo ]; then
    echo 1000 >id
    start gcc
    run demo
    expect 2
    grep -q 'apt-get install --no-install-recommends cmake ninja' err
    test ! -s calls
fi

# Through sudo.
cat >bin/sudo <<'END'
#!/bin/sh
echo "sudo $*" >>"$FAKE/sudo_calls"
test "$1" != -v || exit 0
exec "$@"
END
chmod +x bin/sudo
echo 1000 >id
start gcc
run demo
expect 0
test "$(grep -c apt-get sudo_calls)" -eq 2

# Not Debian: only the tools that every system has.
mkdir bare
for tool in dirname awk; do ln -s "$(command -v $tool)" bare/; done
status=0
PATH="$PWD/bare" /bin/sh tools/setup.sh demo >out 2>err || status=$?
expect 2
grep -q 'this is not Debian' err
grep -q 'gcc cmake ninja$' err
PATH="$PWD/bare" TARE_SETUP=skip /bin/sh tools/setup.sh demo

run
expect 2
run all
expect 2
