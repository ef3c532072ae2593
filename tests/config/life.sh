#!/bin/sh
# From the first constructor to the last destructor, in either order of linking.
# ctest: labels=plain
set -eu
program=$SOURCE/tests/config/life.c
recorder=$SOURCE/recorder/tare.c
for files in "$program $recorder" "$recorder $program"; do
    cc -O2 -Wall -Wextra -Werror -I"$SOURCE/recorder" $files -o life -lpthread
    "$TARE" record -q -o life.tare -- ./life
    "$TARE" dump --csv life.tare >life.csv
    test "$(awk -F, '$7 == "event" {printf "%s ", $9}' life.csv)" = "0 1 2 3 "
done
