#!/bin/bash
# Files that Godwit reads where a pipe lies that nobody writes to: the start is refused in a sentence, at once where the name is known before
# (MPICH_RANK_ORDER, PBS_NODEFILE), after seconds where a user names it.  What somebody writes is read: <(COMMAND), /dev/stdin, a FIFO.
# doc/security.md
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$(cd "$1" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
fail() { echo "read_pipes: $*"; exit 1; }
printf '4\n0 2 100\n1 3 100\n' >traffic
mkfifo pipe MPICH_RANK_ORDER

# ---- nobody writes; all at once, as some of them wait for seconds
n=0
refused() { # WORDS COMMAND...: ends, not by the limit, and says so
    n=$((n + 1))
    words=$1
    shift
    {
        rc=0
        timeout 60 "$@" >"out.$n" 2>&1 </dev/null || rc=$?
        [ "$rc" != 0 ] && [ "$rc" != 124 ] && grep -q "$words" "out.$n" || { echo "$*: status $rc, without \"$words\": $(head -n 5 "out.$n")" >"bad.$n"; }
    } &
}
refused "pipe.*nobody writes to that pipe" "$build/mpiexec" -hostfile pipe -n 2 "$build/mpi_hello"
refused "pipe.*nobody writes to that pipe" "$build/mpiexec" -machinefile pipe -n 2 "$build/mpi_hello"
refused "pipe.*nobody writes to that pipe" "$build/mpiexec" -configfile pipe
refused "pipe.*nobody writes to that pipe" "$build/mpiexec" -file pipe
refused "pipe.*nobody writes to that pipe" "$build/mpiexec" --rankfile pipe -n 2 "$build/mpi_hello"
refused "no file 'pipe' (it is none)" "$build/mpiexec" --reorder=pipe -n 2 "$build/mpi_hello"
refused "MPICH_RANK_ORDER.*it is no file" env MPICH_RANK_REORDER_METHOD=3 "$build/mpiexec" -n 2 "$build/mpi_hello"
refused "pipe.*it is no file" env MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_FILE=pipe "$build/mpiexec" -n 2 "$build/mpi_hello"
refused "pipe.*nobody writes to that pipe" "$build/rankplan" -t pipe -N 2
refused "pipe.*nobody writes to that pipe" "$build/rankplan" -t traffic -N 2 -f pipe
wait
! cat bad.* 2>/dev/null || fail "a pipe that nobody writes to"
# No reason to end: the usual counters are reported, and no batch system has hosts.
timeout 60 env PBS_NODEFILE="$dir/pipe" "$build/mpiexec" -n 2 "$build/mpi_hello" >out 2>&1 || fail "PBS_NODEFILE is a pipe: $(cat out)"
timeout 60 env MPICH_OFI_CXI_COUNTER_REPORT=2 MPICH_OFI_CXI_COUNTER_FILE="$dir/pipe" "$build/mpiexec" --vnodes 2 -n 2 "$build/mpi_hello" >out 2>&1 ||
    fail "MPICH_OFI_CXI_COUNTER_FILE is a pipe: $(cat out)"

# ---- somebody writes
timeout 60 "$build/mpiexec" -hostfile <(sleep 0.2; echo localhost:2) -n 2 "$build/mpi_hello" >out 2>&1 || fail "-hostfile <(..): $(cat out)"
echo localhost:2 | timeout 60 "$build/mpiexec" -hostfile /dev/stdin -n 2 "$build/mpi_hello" >out 2>&1 || fail "-hostfile /dev/stdin: $(cat out)"
timeout 60 "$build/mpiexec" -configfile <(echo "-n 2 $build/mpi_hello") >out 2>&1 || fail "-configfile <(..): $(cat out)"
(sleep 0.5; printf 'localhost:' >&3; sleep 0.2; echo 2 >&3) 3>pipe &
timeout 60 "$build/mpiexec" -hostfile pipe -n 2 "$build/mpi_hello" >out 2>&1 || fail "-hostfile with a FIFO: $(cat out)"
timeout 60 "$build/rankplan" -t <(cat traffic) -N 2 >out 2>&1 || fail "rankplan -t <(..): $(cat out)"
