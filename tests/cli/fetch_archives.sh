# tools/fetch_sources.sh with a stand-in for apt: where it looks, what it unpacks, when it gives up.
set -eu

for tool in xz timeout; do
    command -v "$tool" >/dev/null || {
        echo "skipped: no $tool"
        exit 77
    }
done
mkdir bin etc etc/parts made
cat >bin/apt-config <<'END'
#!/bin/sh
echo "list='$FAKE/etc/list'; parts='$FAKE/etc/parts/'"
END
# Serves the archive that the file `good` names; every other one fails as apt does.
cat >bin/apt-get <<'END'
#!/bin/sh
for word; do
    case $word in
    Dir::Etc::sourcelist=*) list=${word#*=} ;;
    Dir::Etc::sourceparts=*) parts=${word#*=} ;;
    Dir::State=* | Dir::Cache=*) test -d "${word#*=}" || exit 9 ;;
    esac
done
test "$parts" = /dev/null || exit 9
case $* in
*update*) cat "$list" >>"$FAKE/calls" ;;
*source*)
    if ! grep -q -F "$(cat "$FAKE/good")" "$list"; then
        echo "E: no such package" >&2
        exit 100
    fi
    cp "$FAKE/made/"* .
    ;;
esac
END
chmod +x bin/*
export FAKE="$PWD" TARE_SOURCES="$PWD/sources"

fetch() {
    status=0
    PATH="$PWD/bin:$PATH" sh "$SOURCE/tools/fetch_sources.sh" "$@" >out 2>err || status=$?
    test ! -s out
}

expect() {
    if [ "$status" -ne "$1" ]; then
        echo "status $status instead of $1"
        cat err
        exit 1
    fi
}

# package NAME VERSION FILE...: what the stand-in delivers
package() {
    rm -rf made/* tree
    name=$1
    version=$2
    shift 2
    for file; do
        mkdir -p "tree/$(dirname "$file")"
        echo "text of $file" >"tree/$file"
    done
    tar -cJf "made/${name}_$version.orig.tar.xz" -C tree $(ls tree)
    : >"made/${name}_$version-1.dsc"
}

cat >etc/list <<'END'
# deb http://commented.example/ bookworm main
deb [arch=amd64 signed-by=/usr/bin/env] http://one.example/debian bookworm main contrib # text
deb-src http://two.example/debian bookworm non-free
END
cat >etc/parts/a.list <<'END'
deb http://three.example/debian bookworm main
END
cat >etc/parts/b.sources <<'END'
Types: deb
# A comment
URIs: http://four.example/debian
 http://five.example/debian
Suites: bookworm
Components: main
Signed-By: /usr/bin/env

Enabled: no
Types: deb
URIs: http://six.example/debian
Components: main

Types: deb
URIs: http://seven.example/debian
Components: contrib
END
echo "ignored" >etc/parts/c.list.disabled

# Wrong usage.
: >calls
fetch
expect 2
fetch lwip nothing
expect 2
grep -q "no source 'nothing'" err
test ! -s calls

# No archive has it: all were asked, those switched off were not, nothing stays behind.
echo nowhere >good
fetch lwip
expect 3
grep -q 'could not download the source package lwip' err
cat >wanted <<'END'
deb-src [signed-by=/usr/bin/env] http://five.example/debian bookworm main
deb-src [signed-by=/usr/bin/env] http://four.example/debian bookworm main
deb-src [signed-by=/usr/bin/env] http://one.example/debian bookworm main
deb-src http://three.example/debian bookworm main
END
sed 's,\[signed-by=/usr/share/[^]]*\] ,,' calls | sort >asked
sort wanted | cmp - asked
test -z "$(ls -A sources)"

# The wanted folders and no other; the archive's signature comes from the machine's own list.
echo three.example >good
package lwip 2.1.3 lwip-2.1.3/src/core/udp.c lwip-2.1.3/src/include/lwip/udp.h lwip-2.1.3/COPYING \
    lwip-2.1.3/doc/manual
fetch lwip
expect 0
test "$(find sources -type f | sort | tr '\n' ' ')" = "sources/lwip/COPYING sources/lwip/ORIGIN \
sources/lwip/src/core/udp.c sources/lwip/src/include/lwip/udp.h "
grep -qx 'Debian source package lwip_2.1.3-1, suite bookworm' sources/lwip/ORIGIN

: >calls
package micropython 1.25 m-1.25/ports/some/FreeRTOS/Source/tasks.c \
    m-1.25/ports/some/FreeRTOS/License/license.txt m-1.25/ports/some/FreeRTOS/FreeRTOSConfig.h
fetch lwip freertos
expect 0
test -f sources/freertos/Source/tasks.c
test -f sources/freertos/License/license.txt
test ! -e sources/freertos/FreeRTOSConfig.h
grep -q 'three.example/debian trixie main' calls

# All is there: apt is not called, nothing is said.
: >calls
fetch lwip freertos
expect 0
test ! -s calls
test ! -s err

# A package that has changed.
rm -r sources/freertos
package micropython 2.0 m-2.0/ports/some/other.c
fetch freertos
expect 3
grep -q 'holds no file /FreeRTOS/Source/tasks.c any more' err
package micropython 2.0 m-2.0/FreeRTOS/Source/tasks.c
fetch freertos
expect 3
grep -q 'holds no m-2.0/FreeRTOS/License any more' err
test ! -e sources/freertos
test "$(ls -A sources)" = lwip
