#!/bin/sh
# examples/halo.c: six ways to exchange halos give the same cells.
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
    [ "$(grep -c 'all halos right' "$tmp/out")" = 6 ] || { cat "$tmp/out"; exit 1; }
done
