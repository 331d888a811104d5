#!/bin/sh
# The points at which ABIs differ (abi.c), each through a door; and one process that uses libraries of two ABIs (two_abis.c).
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$(cd "$1" && pwd) here=$(cd "$(dirname "$0")" && pwd)
fail() { echo "doors/abi: $*"; exit 1; }
command -v mpicc.mpich >/dev/null || { echo "skipped: needs mpicc.mpich (Debian's libmpich-dev)"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
door=$build/src/door/mpich

mpicc.mpich -w -o "$dir/abi" "$here/abi.c"
for n in 1 2 4 7; do
    out=$(timeout 60 "$build/mpiexec" -n $n "$dir/abi" 2>&1) || fail "$n ranks: $out"
    [ "$out" = "all points" ] || fail "$n ranks: $out"
done
# By LD_LIBRARY_PATH alone: below a wrapper, and without mpiexec.
[ "$(LD_LIBRARY_PATH=$door timeout 60 "$build/mpiexec" -n 2 sh -c "$dir/abi" 2>&1)" = "all points" ] || fail "below sh"
[ "$(LD_LIBRARY_PATH=$door timeout 60 "$dir/abi" 2>&1)" = "all points" ] || fail "alone, by LD_LIBRARY_PATH"
# The setting keeps its own library.
[ "$(timeout 60 "$build/mpiexec" -n 2 "$dir/abi" version 2>&1)" = "2 ranks, Godwit" ] || fail "the door's library"
out=$(GODWIT_DOORS=off timeout 60 "$build/mpiexec" -n 2 "$dir/abi" version 2>&1)
[ "$out" = "2 ranks, MPICH " ] || fail "GODWIT_DOORS=off: $out"

# Two libraries, opened by a program that knows no MPI.
mpicc.mpich -w -shared -fPIC -DABI_MPICH -o "$dir/one.so" "$here/two_abis.c"
gcc -w -shared -fPIC -I"$build/include" -o "$dir/two.so" "$here/two_abis.c" "$build/libmpi_abi.so.1"
gcc -w -DMAIN -o "$dir/both" "$here/two_abis.c" -ldl
for n in 1 3; do
    out=$(LD_LIBRARY_PATH=$door:$build timeout 60 "$build/mpiexec" -n $n "$dir/both" "$dir/one.so" "$dir/two.so" 2>&1) || fail "two ABIs, $n ranks: $out"
    [ "$out" = "both" ] || fail "two ABIs, $n ranks: $out"
done
exit 0
