#!/bin/sh
# Installs the Debian packages that are still missing: setup.sh demo|test
#
# The table is packages.txt beside this file. When everything is there, nothing is printed, nothing
# is installed and the network is not touched. TARE_SETUP=skip skips the check.
set -eu

list=${1:-}
here=$(dirname "$0")
log=$here/../build/setup.log

say() {
    printf 'setup: %s\n' "$*" >&2
}

case $list in
demo) wanted='$2 == "demo"' ;;
test) wanted='$2 == "demo" || $2 == "test"' ;;
*)
    say "give the list to install: demo or test"
    exit 2
    ;;
esac
test "${TARE_SETUP:-}" != skip || exit 0

packages=$(awk "!/^#/ && NF > 2 && ($wanted) { print \$1 }" "$here/packages.txt")

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    say "this is not Debian (no apt-get), so nothing can be installed. Install what these packages"
    say "stand for, then call again with TARE_SETUP=skip in the environment:"
    say "$(echo $packages)"
    exit 2
fi

# Prints those of $packages that are not installed.
missing_packages() {
    installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' $packages 2>/dev/null |
        sed -n 's/ installed$//p')
    for package in $packages; do
        case "
$installed
" in
        *"
$package
"*) ;;
        *) echo "$package" ;;
        esac
    done
}

missing=$(missing_packages)
test -n "$missing" || exit 0

# One line for each reason, with all packages that share it.
say "these Debian packages are missing and will be installed:"
awk -v missing="$(echo $missing)" '
    BEGIN { count = split(missing, names, " "); for (i = 1; i <= count; i++) needed[names[i]] = 1 }
    !/^#/ && ($1 in needed) {
        why = $0
        sub(/^[^ ]+ +[^ ]+ +/, "", why)
        if (!(why in packages)) order[++groups] = why
        packages[why] = packages[why] " " $1
    }
    END { for (i = 1; i <= groups; i++) printf "setup:  %s: %s\n", packages[order[i]], order[i] }
' "$here/packages.txt" >&2

options="-y --no-install-recommends -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3"
if [ "$(id -u)" -eq 0 ]; then
    root=env
elif command -v sudo >/dev/null; then
    say "sudo may ask for your password"
    root='sudo env'
    sudo -v || {
        say "sudo refused; as root run: apt-get update && apt-get install --no-install-recommends" \
            "$(echo $missing)"
        exit 2
    }
else
    say "you are not root and there is no sudo; as root run:"
    say "apt-get update && apt-get install --no-install-recommends $(echo $missing)"
    exit 2
fi

mkdir -p "$(dirname "$log")"
: >"$log"
started=$(date +%s)

# Turns apt's status lines into one line with the time left; everything else goes to the log.
show_status() {
    shown=$started
    while IFS= read -r line; do
        case $line in
        dlstatus:* | pmstatus:*) ;;
        *)
            printf '%s\n' "$line" >>"$log"
            continue
            ;;
        esac
        [ -t 2 ] || continue
        now=$(date +%s)
        [ "$now" -gt "$shown" ] || continue
        shown=$now
        percent=${line#*:*:}
        percent=${percent%%[.:]*}
        # Fetching is counted as a third of the way.
        case $line in
        dlstatus:*) what=fetching percent=$((percent / 3)) ;;
        *) what=unpacking percent=$((34 + percent * 2 / 3)) ;;
        esac
        left=
        if [ "$percent" -gt 0 ]; then
            left=", about $(((now - started) * (100 - percent) / percent)) s left"
        fi
        printf '\r\033[Ksetup: %s, %s %%, %s s%s' "$what" "$percent" "$((now - started))" \
            "$left" >&2
    done
    if [ -t 2 ]; then printf '\r\033[K' >&2; fi
}

# sudo closes all but the standard streams, so the status lines share one with the messages.
apt() {
    {
        $root DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -o APT::Status-Fd=2 $options "$@" \
            </dev/null || echo "apt-get $1 ended with status $?" >&2
    } 2>&1 >>"$log" | show_status
}

apt update
apt install $missing

missing=$(missing_packages)
if [ -n "$missing" ]; then
    tail -n 20 "$log" >&2
    say "could not install: $(echo $missing) (all messages: $log)"
    exit 2
fi
say "done in $(($(date +%s) - started)) s"
