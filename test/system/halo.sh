#!/bin/sh
# examples/halo.c: seven ways to exchange halos give the same cells; the one that says by empty messages that all is there has no barrier.
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
prefix=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"$prefix/bin/mpicc" -O2 -Wall -Wextra -Werror "$(dirname "$0")/../../examples/halo.c" -o "$tmp/halo"
for n in 1 2 3 4 5 8 16; do
    timeout 60 "$prefix/bin/mpiexec" -n $n "$tmp/halo" -g 4 5 6 -s 10 > "$tmp/out"
    [ "$(grep -c 'all halos right' "$tmp/out")" = 7 ] || { cat "$tmp/out"; exit 1; }
done
# The run itself has a barrier a step, and so has the way `lock`; `flush` has none.
barriers() {
    MPICH_STATS_DISPLAY=1 timeout 60 "$prefix/bin/mpiexec" -n 5 "$tmp/halo" -g 4 5 6 -s 10 "$1" 2>&1 |
        awk '$3 == "barrier" { n += substr($0, index($0, "sum ") + 4) + 0 } END { print n + 0 }'
}
lock=$(barriers lock) flush=$(barriers flush)
[ $((lock - flush)) = 50 ] || { echo "lock has $lock barriers, flush $flush: not 10 of each of 5 ranks more"; exit 1; }
