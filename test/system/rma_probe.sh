#!/bin/sh
# examples/rma_probe.c: all ways of one-sided communication work here; where a library refuses some, or does nothing, it says which.
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
prefix=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "rma_probe: $*"; cat "$tmp/out"; exit 1; }
make() { "$prefix/bin/mpicc" -O2 -Wall -Wextra -Werror "$(dirname "$0")/../../examples/rma_probe.c" "$@" -o "$tmp/probe"; }
run() { timeout 60 "$prefix/bin/mpiexec" -n "$1" "$tmp/probe" >"$tmp/out" 2>&1; }
lines() { [ "$(grep -c "$2" "$tmp/out")" = "$1" ] || fail "not $1 lines with '$2'"; }
make
for n in 1 2 3 5; do
    run $n || fail "$n ranks"
    lines 7 ' works$'
    lines 1 '^memory model  *unified$'
done
GODWIT_RMA_MODEL=separate run 2 || fail "the separate model"
lines 1 '^memory model  *separate$'
# A library without passive targets, one without MPI_Rput, one whose puts are refused, and one whose puts do nothing.
printf '#include <mpi.h>\nint MPI_Win_lock(int t, int r, int a, MPI_Win w)\n{ (void)t, (void)r, (void)a, (void)w; return MPI_ERR_RMA_SYNC; }\n' >"$tmp/refuse.c"
make "$tmp/refuse.c"
! run 3 || fail "a library without locks passed"
lines 3 ' is refused: '
lines 2 '^lock, .* is refused: '
lines 4 ' works$'
puts() {
    printf '#include <mpi.h>\nint %s(const void *b, int n, MPI_Datatype t, int r, MPI_Aint d, int m, MPI_Datatype u, MPI_Win w%s)\n{ (void)b, (void)n, (void)t, (void)r, (void)d, (void)m, (void)u, (void)w%s; return %s; }\n' "$@" >"$tmp/puts.c"
    make "$tmp/puts.c"
}
puts MPI_Rput ', MPI_Request *q' ', (void)q' MPI_ERR_RMA_SYNC
! run 3 || fail "a library without MPI_Rput passed"
lines 1 ' is refused: '
lines 1 '^request (MPI_Rput) .* is refused: '
lines 6 ' works$'
puts MPI_Put '' '' MPI_ERR_RMA_SYNC
! run 3 || fail "a library without MPI_Put passed"
lines 5 ' is refused: '
lines 2 ' works$'
puts MPI_Put '' '' MPI_SUCCESS
! run 2 || fail "puts that do nothing passed"
lines 5 ' gives wrong data$'
lines 2 ' works$'
