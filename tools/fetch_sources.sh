#!/bin/sh
# Unpacks third-party sources into build/sources/NAME: fetch_sources.sh NAME...
#
#     lwip      network stack, from Debian's source package lwip (bookworm): src/, COPYING
#     freertos  kernel V9, from Debian's source package micropython (trixie): Source/, License/
#
# What is there already is left alone, without a look at the network. Sources come from the archive
# that this machine's apt uses, through a configuration of its own: the lists, the cache and the
# settings of the machine stay as they are. Every file is checked against the archive's signature.
# Nothing of it belongs into the tree; docs/licences.md says which licence holds for what.
#
# Exit status: 0 all are there; 2 wrong usage; 3 they cannot be had (the message says why).
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
sources=${TARE_SOURCES:-$top/build/sources}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
work=

say() {
    printf 'fetch_sources: %s\n' "$*" >&2
}

give_up() {
    say "$*"
    exit 3
}

clean_up() {
    [ -z "$work" ] || rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# describe NAME: sets suite, package, the wanted parts, and where the package has one file of them
describe() {
    case $1 in
    lwip)
        suite=bookworm package=lwip wanted='src COPYING'
        above='' landmark=/src/core/udp.c
        ;;
    freertos)
        suite=trixie package=micropython wanted='Source License'
        above=/FreeRTOS landmark=/Source/tasks.c
        ;;
    *)
        say "there is no source '$1'; known: lwip freertos"
        exit 2
        ;;
    esac
}

# One line for each archive with a component main that apt reads packages from: ADDRESS KEYRING.
# Both forms: one line a source (.list) and paragraphs of fields (.sources).
machine_archives() {
    eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
    for file in "${list:-}" "${parts:-}"*.list; do
        [ -f "$file" ] || continue
        sed -n 's/#.*//; s/^[[:space:]]*deb\(-src\)\{0,1\}[[:space:]]\{1,\}//p' "$file" | awk '
            {
                key = "-"
                if ($0 ~ /^\[/) {
                    options = $0
                    sub(/\].*/, "", options)
                    sub(/^[^]]*\][ \t]*/, "")
                    count = split(substr(options, 2), pairs, /[ \t]+/)
                    for (i = 1; i <= count; i++)
                        if (tolower(pairs[i]) ~ /^signed-by=\//)
                            key = substr(pairs[i], 11)
                }
                if ((" " $0 " ") ~ /[ \t]main[ \t]/)
                    print $1, key
            }'
    done
    for file in "${parts:-}"*.sources; do
        [ -f "$file" ] || continue
        awk '
            function paragraph(    count, words, i) {
                if (enabled && (" " components " ") ~ /[ \t]main[ \t]/) {
                    count = split(addresses, words, /[ \t]+/)
                    for (i = 1; i <= count; i++)
                        if (words[i] != "")
                            print words[i], key
                }
                enabled = 1; components = ""; addresses = ""; key = "-"; field = ""
            }
            BEGIN { paragraph() }
            /^#/ { next }
            /^[ \t]*$/ { paragraph(); next }
            /^[ \t]/ {
                if (field == "uris") addresses = addresses " " $0
                if (field == "components") components = components " " $0
                next
            }
            {
                field = tolower($0); sub(/:.*/, "", field)
                value = $0; sub(/^[^:]*:[ \t]*/, "", value); sub(/[ \t]+$/, "", value)
                if (field == "uris") addresses = value
                if (field == "components") components = value
                if (field == "enabled" && tolower(value) ~ /^(no|false|off|0|disable|without)$/)
                    enabled = 0
                if (field == "signed-by" && value ~ /^\//) key = value
            }
            END { paragraph() }' "$file"
    done
}

private_apt() {
    LC_ALL=C timeout 300 apt-get -qq -o Dir::Etc::sourcelist="$work/sources.list" \
        -o Dir::Etc::sourceparts=/dev/null -o Dir::State="$work/state" \
        -o Dir::Cache="$work/cache" -o APT::Sandbox::User=root \
        -o Acquire::AllowInsecureRepositories=false -o APT::Get::AllowUnauthenticated=false \
        -o Acquire::Languages=none -o Acquire::Retries=2 -o Acquire::http::Timeout=30 \
        -o Acquire::https::Timeout=30 "$@" </dev/null >>"$work/log" 2>&1
}

# Downloads $package of $suite into $work/package from the first archive that has it.
download() {
    machine_archives | sort -u >"$work/archives"
    [ -s "$work/archives" ] ||
        give_up "apt on this machine names no archive with a component main to fetch $package from"
    : >"$work/log"
    while read -r address key; do
        [ -f "$key" ] || key=$keyring
        signed=
        [ ! -f "$key" ] || signed="[signed-by=$key] "
        rm -rf "$work/state" "$work/cache" "$work/package"
        mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/package"
        echo "deb-src $signed$address $suite main" >"$work/sources.list"
        private_apt update || continue
        (cd "$work/package" && private_apt source --only-source --download-only "$package") ||
            continue
        return 0
    done <"$work/archives"
    sed -n 's/^[EW]: /fetch_sources: apt: /p' "$work/log" | tail -n 5 >&2
    give_up "could not download the source package $package ($suite); see the lines above," \
        "or unpack it by hand to $sources/$name"
}

# Takes the wanted folders out of the package; they appear all at once.
unpack() {
    archive=$(find "$work/package" -name '*.orig.tar.*' ! -name '*.asc')
    [ -f "$archive" ] || give_up "the source package $package holds no archive of its origin"
    tar -tf "$archive" >"$work/names" 2>>"$work/log" ||
        give_up "cannot read $(basename "$archive"): is xz-utils installed?"
    folder=$(grep -F "$above$landmark" "$work/names" | head -n 1)
    [ -n "$folder" ] || give_up "$(basename "$archive") holds no file $above$landmark any more"
    folder=${folder%"$landmark"}
    mkdir "$work/unpacked"
    for part in $wanted; do
        grep -q "^$folder/$part" "$work/names" ||
            give_up "$(basename "$archive") holds no $folder/$part any more"
        tar -xf "$archive" -C "$work/unpacked" "$folder/$part"
    done
    version=$(basename "$work/package"/*.dsc .dsc)
    echo "Debian source package $version, suite $suite" >"$work/unpacked/$folder/ORIGIN"
    mv -T "$work/unpacked/$folder" "$sources/$name" 2>>"$work/log" ||
        [ -d "$sources/$name" ] || give_up "cannot write $sources/$name"
}

[ $# -gt 0 ] || {
    say "give the sources to unpack: lwip freertos"
    exit 2
}
for name; do
    describe "$name"
done
for name; do
    describe "$name"
    [ ! -d "$sources/$name" ] || continue
    for tool in apt-get apt-config tar xz timeout; do
        command -v "$tool" >/dev/null ||
            give_up "no $tool here, so $name cannot be fetched; unpack it by hand to $sources/$name"
    done
    mkdir -p "$sources"
    work=$(mktemp -d "$sources/fetch.XXXXXX")
    say "$name: fetching Debian's source package $package ($suite)"
    download
    unpack
    say "$name: unpacked to $sources/$name ($(cat "$sources/$name/ORIGIN"))"
    clean_up
    work=
done
