#!/bin/sh
# Memory of OpenSHMEM's PEs in jobs of mpiexec: on one node and on faked ones, whose PEs do not map each other's; with numbers of
# PEs that are not one behind the other on a node; and where the kernel refuses memfd_create.
# run.py: timeout=300 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
run() { # how, words of the command
    timeout 100 "$@" > "$dir/out" 2>&1 || { head -n 20 "$dir/out"; echo "failed: $*"; exit 1; }
}
for n in 3 "4 --vnodes 2" "3 --vnodes 3"; do
    for program in memory data heap; do
        run "$build/mpiexec" -n $n "$build/unit_sym_$program"
    done
done
printf '0\n2\n1\n3\n' > "$dir/MPICH_RANK_ORDER"
cd "$dir"
for program in memory data heap; do
    run env MPICH_RANK_REORDER_METHOD=3 "$build/mpiexec" -n 4 --vnodes 2 "$build/unit_sym_$program"
done
cc -O1 -o "$dir/refuse" "$here/refuse.c"
"$dir/refuse" memfd EPERM true || exit 0
run "$dir/refuse" memfd EPERM "$build/mpiexec" -n 3 "$build/unit_sym_heap"
