#!/bin/sh
# A job that hangs is explained: mpiexec says where its ranks are, on SIGQUIT and when --timeout ends it.
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
dir=$(mktemp -d)
mark=gw-hang-$$
trap 'rm -rf "$dir"' EXIT
fail() { echo "hang: $*"; cat "$dir/out"; exit 1; }
# What is left of our jobs, by a mark in their environment.
left() { grep -lzsx "GW_MARK=$mark" /proc/[0-9]*/environ | cut -d/ -f3 | tr '\n' ' '; }
# has TEXT...: each stands in the output
has() {
    for text in "$@"; do grep -qF -- "$text" "$dir/out" || fail "$kind: it does not say '$text'"; done
}
# hangs KIND TEXT...: the kind of hang.c does not end by itself, and these are said when it is ended
hangs() {
    kind=$1
    shift
    rc=0
    GW_MARK=$mark "$build/mpiexec" --timeout ${TIME-1.5} -n 4 "$build/mpi_hang" "$kind" >"$dir/out" 2>&1 </dev/null || rc=$?
    [ $rc = 124 ] || fail "$kind: status $rc, not 124"
    has "the job ran longer than --timeout" "$@"
    [ -z "$(left)" ] || fail "$kind: this is left: $(ps -o pid,args -p "$(left | tr ' ' ,)")"
}

hangs recv_cycle "ranks 0, 3 in MPI_Recv from" "ranks 1-2 in MPI_Barrier #1 on MPI_COMM_WORLD"
hangs wrong_tag "ranks 0, 2-3 in MPI_Barrier #1 on MPI_COMM_WORLD since" "rank 1 in MPI_Recv from 0 tag 5 on MPI_COMM_WORLD since"
hangs wrong_root "rank 2 in MPI_Gather #1 (root 1)"

# SIGQUIT asks, and the job goes on.
kind=long_compute
GW_MARK=$mark "$build/mpiexec" -n 4 "$build/mpi_hang" $kind >"$dir/out" 2>&1 </dev/null &
pid=$!
sleep 1
kill -QUIT $pid
rc=0
wait $pid || rc=$?
[ $rc = 0 ] || fail "$kind: status $rc after SIGQUIT"
has "$kind is over" "rank 1 computing" "ranks 0, 2-3 in MPI_Allreduce #2"
