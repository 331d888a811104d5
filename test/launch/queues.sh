#!/bin/sh
# For debuggers: mpiexec's process table (MPIR_proctable), and the message queues of a stopped rank (tools/gdb/godwit.py).
# run.py: timeout=90 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$(cd "$1" && pwd)
prefix=$2
here=$(cd "$(dirname "$0")/../.." && pwd)
fail() { echo "queues: $*"; cat "$dir/out"; exit 1; }
[ "$prefix" ] && [ -x "$prefix/bin/mpicc" ] || { echo "no mpicc to build with"; exit 77; }
command -v gdb >/dev/null || { echo "gdb is not here"; exit 77; }
dir=$(mktemp -d)
job=
trap 'if [ "$job" ]; then kill $job 2>/dev/null || true; fi; rm -rf "$dir"' EXIT
cat >"$dir/p.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank, small[3];
    char name[4096], *large = calloc(1, 3000000);
    MPI_Request q[3];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Send(large, 100, MPI_CHAR, 1, 41, MPI_COMM_WORLD);
        MPI_Isend(large, 3000000, MPI_CHAR, 1, 42, MPI_COMM_WORLD, &q[0]);
    } else {
        MPI_Irecv(small, 3, MPI_INT, 0, 7, MPI_COMM_WORLD, &q[1]);
        MPI_Irecv(small, 3, MPI_INT, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &q[2]);
        MPI_Probe(0, 42, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    snprintf(name, sizeof name, "%s/ready%d", argv[1], rank);
    FILE *f = fopen(name, "w");
    fprintf(f, "%d", (int)getpid());
    fclose(f);
    for (;;) sleep(1);
}
END
"$prefix/bin/mpicc" -w "$dir/p.c" -o "$dir/p"
"$build/mpiexec" -n 2 "$dir/p" "$dir" >"$dir/job" 2>&1 &
job=$!
for i in $(seq 300); do
    [ -s "$dir/ready0" ] && [ -s "$dir/ready1" ] && break
    sleep .1
done
[ -s "$dir/ready1" ] || { cat "$dir/job"; exit 1; }
queues() { gdb -batch -p "$(cat "$dir/ready$1")" -ex "source $here/tools/gdb/godwit.py" -ex mpi-queues >"$dir/out" 2>&1 || fail "gdb failed on rank $1"; }
if gdb -batch -p "$(cat "$dir/ready1")" 2>&1 | grep -q 'Operation not permitted'; then
    echo "gdb may not look at processes here (ptrace)"
    exit 77
fi
queues 1
grep -q 'lane 0: 2 receives posted, 2 messages unexpected' "$dir/out" || fail "the counts are wrong"
grep -q '  receive  source 0 tag 7 context [0-9]*\.0, up to 12 bytes' "$dir/out" || fail "the receive with tag 7 is not listed"
grep -q '  receive  any source tag 8 context [0-9]*\.0, up to 12 bytes' "$dir/out" || fail "the receive from any source is not listed"
grep -q '  message  source 0 tag 41 context [0-9]*\.0, 100 bytes, from rank 0' "$dir/out" || fail "the small message is not listed"
grep -q '  message  source 0 tag 42 context [0-9]*\.0, 3000000 bytes, from rank 0' "$dir/out" || fail "the large message is not listed"
queues 0
grep -q 'lane 0: 0 receives posted, 0 messages unexpected' "$dir/out" || fail "rank 0 has nothing in its queues"
grep -q '  send     tag 42 context [0-9]*\.0, 3000000 bytes: waits for its receiver' "$dir/out" || fail "the pending send is not listed"
# The launcher's table.
gdb -batch -p $job -ex 'print MPIR_proctable_size' -ex 'print MPIR_proctable[0].pid' -ex 'print MPIR_proctable[1]' >"$dir/out" 2>&1 || fail "gdb failed on mpiexec"
grep -q '^\$1 = 2$' "$dir/out" || fail "MPIR_proctable_size is not 2"
grep -q "^\\\$2 = $(cat "$dir/ready0")\$" "$dir/out" || fail "the table does not have rank 0's process"
grep -q "executable_name = .*\"$dir/p\", pid = $(cat "$dir/ready1")}" "$dir/out" || fail "the table does not have rank 1's program and process"
