#!/bin/sh
# Where there is no /proc (a container without it, a sandbox that hides it): jobs run, and ranks map each other's windows, whose descriptors
# they get by a socket.
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
prefix=${2:-}
[ "$prefix" ] && [ -x "$prefix/bin/mpicc" ] || { echo "needs an installation"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "no_proc: $*"; cat "$dir/out"; exit 1; }
without() { unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' - timeout 60 "$@"; }
without sh -c '[ ! -e /proc/self ]' 2>"$dir/out" || { echo "/proc cannot be hidden here"; exit 77; }
cat >"$dir/p.c" <<'END'
#include <mpi.h>
#include <stdio.h>
enum { WORDS = 100000 };
int main(int n, char **a)
{
    int rank, size, unit, ok = 1;
    long *mine, *other;
    MPI_Aint bytes;
    MPI_Win shared, own;
    MPI_Init(&n, &a);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate_shared(WORDS * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &shared);
    MPI_Win_fence(0, shared);
    MPI_Win_shared_query(shared, (rank + 1) % size, &bytes, &unit, &other);
    other[WORDS - 1] = rank;
    MPI_Win_fence(0, shared);
    ok &= mine[WORDS - 1] == (rank + size - 1) % size;
    MPI_Win_free(&shared);
    MPI_Win_allocate(WORDS * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &own);
    mine[7] = -1;
    long v = rank;
    MPI_Win_fence(0, own);
    MPI_Put(&v, 1, MPI_LONG, (rank + 1) % size, 7, 1, MPI_LONG, own);
    MPI_Win_fence(0, own);
    ok &= mine[7] == (rank + size - 1) % size;
    MPI_Win_free(&own);
    printf(ok ? "good\n" : "wrong\n");
    return MPI_Finalize();
}
END
"$prefix/bin/mpicc" -O1 -o "$dir/p" "$dir/p.c"
for n in 1 2 4; do
    without "$prefix/bin/mpiexec" -n $n "$dir/p" >"$dir/out" 2>&1 || fail "$n ranks: status $?"
    [ "$(grep -c '^good$' "$dir/out")" = $n ] && [ "$(wc -l <"$dir/out")" = $n ] || fail "$n ranks"
done
