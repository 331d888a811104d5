#!/bin/sh
# The points at which ABIs differ (abi.c), each through each door; one process that uses libraries of two ABIs (two_abis.c); one job of
# programs of two.
# run.py: timeout=240 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$(cd "$1" && pwd) here=$(cd "$(dirname "$0")" && pwd)
fail() { echo "doors/abi: $*"; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
doors=$build/src/door
run() { timeout 60 "$build/mpiexec" "$@" 2>&1 </dev/null; }

points() { # ABI MPICC VERSION
    $2 -w -o "$dir/abi_$1" "$here/abi.c"
    for n in 1 2 4 7; do
        out=$(run -n $n "$dir/abi_$1") || fail "$1, $n ranks: $out"
        [ "$out" = "all points" ] || fail "$1, $n ranks: $out"
    done
    # By LD_LIBRARY_PATH alone: below a wrapper, and without mpiexec.
    [ "$(LD_LIBRARY_PATH=$doors run -n 2 sh -c "$dir/abi_$1")" = "all points" ] || fail "$1 below sh"
    [ "$(LD_LIBRARY_PATH=$doors timeout 60 "$dir/abi_$1" 2>&1)" = "all points" ] || fail "$1 alone, by LD_LIBRARY_PATH"
    # The setting keeps its own library.
    [ "$(run -n 2 "$dir/abi_$1" version)" = "2 ranks, Godwit" ] || fail "$1: the door's library"
    out=$(GODWIT_DOORS=off run -n 2 "$dir/abi_$1" version | sed "s, *$,,")
    [ "$out" = "2 ranks, $3" ] || fail "$1, GODWIT_DOORS=off: $out"
}

# Two libraries, opened by a program that knows no MPI.
two() { # RANKS ONE TWO
    out=$(LD_LIBRARY_PATH=$doors:$build run -n "$1" "$dir/both" "$dir/$2.so" "$dir/$3.so") || fail "$2 and $3, $1 ranks: $out"
    [ "$out" = "both" ] || fail "$2 and $3, $1 ranks: $out"
}
gcc -w -DMAIN -o "$dir/both" "$here/two_abis.c" -ldl
gcc -w -shared -fPIC -I"$build/include" -o "$dir/std.so" "$here/two_abis.c" "$build/libmpi_abi.so.1"
abis=
while read -r abi mpicc version; do
    command -v "$mpicc" >/dev/null || continue
    points "$abi" "$mpicc" "$version"
    $mpicc -w -shared -fPIC -o "$dir/$abi.so" "$here/two_abis.c"
    for n in 1 3; do two $n "$abi" std && two $n std "$abi"; done
    abis="$abis $abi"
done <<END
mpich mpicc.mpich MPICH
ompi mpicc.openmpi Open M
END
[ "$abis" ] || { echo "skipped: needs mpicc.mpich or mpicc.openmpi (Debian's libmpich-dev, libopenmpi-dev)"; exit 77; }
[ "$abis" = " mpich ompi" ] || exit 0
for n in 1 3; do two $n ompi mpich && two $n mpich ompi; done
out=$(run -n 2 "$dir/abi_mpich" : -n 3 "$dir/abi_ompi") || fail "programs of two ABIs: $out"
[ "$out" = "all points" ] || fail "programs of two ABIs: $out"
