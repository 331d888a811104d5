#!/bin/sh
# doc/users.md: each test that a row names is there and names the row; each test that names a row stands in that row.
# run.py: timeout=20 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
cd "$(dirname "$0")/../.."
bad=0
rows=$(sed -n 's/^| \([0-9][0-9]*\) |.*| \([^|]*\) |$/\1 \2/p' doc/users.md | tr -d ,)
[ "$(echo "$rows" | wc -l)" -ge 19 ] || { echo "doc/users.md has lost rows"; exit 1; }
named=$(echo "$rows" | while read -r row tests; do
    for t in $tests; do
        case $t in src/*) echo "$row $t" ;; *) echo "$row test/$t" ;; esac
    done
done)
while read -r row file; do
    if [ ! -f "$file" ]; then
        echo "row $row: $file is not there"
        bad=1
    elif ! grep -qE "users\.md rows? ([0-9]+,? (and )?)*$row\b" "$file"; then
        echo "row $row: $file does not name it"
        bad=1
    fi
done <<END
$named
END
for file in $(grep -rlE 'users\.md row' test src --include=*.sh --include=*.c); do
    for row in $(grep -hoE 'users\.md rows? [0-9]+(,? (and )?[0-9]+)*' "$file" | grep -oE '[0-9]+'); do
        echo "$named" | grep -qx "$row $file" || { echo "$file names row $row, which does not name it"; bad=1; }
    done
done
exit $bad
