#!/bin/sh
# packaging/abi.sh: an installation is like itself; a name that comes is listed, one that goes or whose arguments change is told.
# run.py: timeout=300 tags=extra
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
compare=$(cd "$(dirname "$0")/../.." && pwd)/packaging/abi.sh
[ -n "${2:-}" ] || { echo "needs an installed Godwit"; exit 77; }
command -v abidiff > /dev/null || { echo "there is no abidiff (Debian: abigail-tools)"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "$1"; cat "$dir/said"; exit 1; }
"$compare" "$2" "$2" > "$dir/said" || fail "an installation is not like itself"
[ "$(grep -c ': the same$' "$dir/said")" = 3 ] || fail "not the three libraries with a soname of ours were compared"

# library NAME CODE: an installation NAME whose libmpi_abi.so.1 has this code
library() {
    mkdir -p "$dir/$1/lib"
    echo "$2" | gcc -g -shared -fPIC -xc - -o "$dir/$1/lib/libmpi_abi.so.1"
}
library old 'int MPI_A(int x) { return x; } int MPI_B(char *y) { return *y; } int godwit_old(void) { return 1; }'
library more 'int MPI_A(int x) { return x; } int MPI_B(char *y) { return *y; } int MPI_C(void) { return 0; } int godwit_new(void);
    int godwit_new(void) { return 1; }'
library less 'int MPI_A(int x) { return x; } int godwit_old(void) { return 1; }'
library other 'int MPI_A(int x) { return x; } int MPI_B(char *y, long z) { return *y + z; } int godwit_old(void) { return 1; }'
"$compare" "$dir/old" "$dir/more" > "$dir/said" || fail "a name that comes counts as one that goes"
grep -q 'MPI_C' "$dir/said" || fail "what comes is not listed"
! grep -q 'godwit_' "$dir/said" || fail "names of our own are told"
for kind in less other; do
    if "$compare" "$dir/old" "$dir/$kind" > "$dir/said"; then fail "$kind: nothing is told"; fi
    grep -q 'MPI_B' "$dir/said" || fail "$kind: what goes is not named"
done
mkdir -p "$dir/none/lib"
if "$compare" "$dir/old" "$dir/none" > "$dir/said"; then fail "a library that is gone is not told"; fi
rc=0
"$compare" "$dir/none" "$dir/old" > "$dir/said" 2>&1 || rc=$?
[ $rc = 2 ] || fail "nothing was compared, with status $rc"
