#!/bin/sh
# Where the kernel refuses direct copies (process_vm_readv and process_vm_writev give EPERM, as in many containers) everything
# works, silently; only GODWIT_EXPLAIN says that messages go through the wire in pieces.
# users.md row 7
# run.py: timeout=200 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cc -O1 -o "$dir/refuse" "$(dirname "$0")/refuse.c"
"$dir/refuse" cma EPERM true || { echo "seccomp filters are refused here"; exit 77; }
run() { timeout 60 "$dir/refuse" cma EPERM "$build/mpiexec" -n 4 "$build/$1" > "$dir/out" 2>&1 || { head -n 20 "$dir/out"; echo "$1 failed"; exit 1; }; }
for program in mpi_p2p_types mpi_p2p_stress mpi_coll_basic; do
    run $program
    if [ -s "$dir/out" ]; then
        head -n 5 "$dir/out"
        echo "$program printed this without being asked"
        exit 1
    fi
done
export MPICH_ENV_DISPLAY=1
run mpi_hello
grep -q '^PE 0:   MPICH_SMP_SINGLE_COPY_MODE  *= NONE ' "$dir/out" || { grep COPY_MODE "$dir/out"; echo "MPICH_ENV_DISPLAY does not say so"; exit 1; }
unset MPICH_ENV_DISPLAY
export GODWIT_EXPLAIN=proto
run mpi_p2p_types
grep -q 'proto: .*then in pieces through the wire; at most' "$dir/out" || { head -n 5 "$dir/out"; echo "proto does not speak of pieces"; exit 1; }
# The counts at the end: four lines, no message copied directly, some in pieces.
[ "$(grep -c 'proto: lane 0 sent .* 0 r0, [1-9][0-9]* r1' "$dir/out")" = 4 ] || { grep 'lane 0' "$dir/out"; echo "direct copies were used"; exit 1; }
# Without the filter messages are copied directly, and large blocks of collectives are read where they lie, if the kernel allows that.
if "$dir/refuse"; then
    GODWIT_CMA_SURE=16K timeout 60 "$build/mpiexec" -n 4 "$build/mpi_p2p_types" 2>&1 | grep -q 'sent .* [1-9][0-9]* r0' || { echo "no direct copies, though the kernel allows them"; exit 1; }
    GODWIT_EXPLAIN=coll timeout 100 "$build/mpiexec" -n 4 "$build/mpi_coll_basic" 2>&1 | grep -q 'coll: alltoall of .*: pull' || { echo "no collective reads"; exit 1; }
fi
export GODWIT_EXPLAIN=wire
run mpi_p2p_types
grep -q 'wire: no direct copies from local rank .*Operation not permitted' "$dir/out" || { head -n 5 "$dir/out"; echo "wire does not say why"; exit 1; }
