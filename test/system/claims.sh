#!/bin/sh
# doc/security.md: each test that stands behind a claim is there, and each of its decision records.
# run.py: timeout=20 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
cd "$(dirname "$0")/../.."
bad=0
tests=$(sed -n 's/^| [^|]* | .* | \([^|]*\.[ch][^|]*\|[^|]*\.sh[^|]*\) |$/\1/p' doc/security.md | tr -d ,)
[ "$(echo "$tests" | wc -w)" -ge 15 ] || { echo "doc/security.md has lost claims"; exit 1; }
for t in $tests; do
    case $t in src/*) f=$t ;; *) f=test/$t ;; esac
    [ -f "$f" ] || { echo "doc/security.md names $f, which is not there"; bad=1; }
done
for record in $(grep -o 'doc/adr/[0-9a-z-]*\.md' doc/security.md); do
    [ -f "$record" ] || { echo "doc/security.md names $record, which is not there"; bad=1; }
done
exit $bad
