#!/bin/sh
# A rank that dies inside an MPI call is named in one line, with rank, host, pid, signal and call (and a hint to its stack, launch/crash.sh);
# the others end with it, soon.
# users.md row 5
# run.py: timeout=60 tags=quick alone=yes
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
[ "${2-}" ] && [ -x "$2/bin/mpicc" ] || { echo "no mpicc to build with"; exit 77; }
dir=$(mktemp -d)
trap 'clock_stop; rm -rf "$dir"' EXIT
. "$(dirname "$0")/clock.sh"
clock_start "$dir"
fail() { echo "death: $*"; exit 1; }
e=$dir/gw-ends
"$2/bin/mpicc" "$(dirname "$0")/ends.c" -o "$e"
# named RANK SIGNAL NAME CALL: one line says all that; the pid is what the rank itself printed
# (behind what is said of a crash: crash.sh)
named() {
    pid=$(sed -n 's/^pid //p' "$dir/out")
    want="mpiexec: rank $1 (host $(hostname), pid $pid) was killed by signal $2 ($3); its last MPI call was $4"
    case $(grep -v '^mpiexec: for its stack run it again\|^mpiexec: rank .* crashes: \|^\[[0-9]*\] \|a stack of it needs\|the kernel refuses' "$dir/err") in
    "$want; the other ranks end now" | "$want (out of memory? see dmesg); the other ranks end now") ;;
    *) fail "it says '$(cat "$dir/err")', not '$want; ...'" ;;
    esac
}

# A bad buffer in MPI_Recv.
for n in 2 4; do
    rc=0
    timeout 60 "$build/mpiexec" -n $n "$e" 1 recv >"$dir/out" 2>"$dir/err" </dev/null || rc=$?
    [ $rc = 139 ] || fail "status $rc, not 139"
    named 1 11 "Segmentation fault" MPI_Recv
done

# A rank that ends the job dumps core where asked; what it had printed is not lost.
MPICH_ABORT_ON_ERROR=1 timeout 60 "$build/mpiexec" -n 2 "$e" 1 abort 3 >"$dir/out" 2>"$dir/err" </dev/null || rc=$?
[ $rc = 134 ] || fail "status $rc, not 134"
grep -q 'MPI_Abort(MPI_COMM_WORLD, 3)' "$dir/err" || fail "what ended the job: '$(cat "$dir/err")'"
grep -q '^said before' "$dir/out" || fail "what it had printed is lost"

# A rank that waits in MPI_Recv is killed from outside, as by the system that has no memory.
for try in "11 1" "11 2" "11 3" "9 1" "9 2" "9 3"; do
    s=${try% *}
    [ "${ended:-}" != $s ] || continue # in time
    rm -f "$dir/out"
    timeout 60 "$build/mpiexec" -n 3 "$e" 2 wait >"$dir/out" 2>"$dir/err" </dev/null &
    for _ in $(seq 300); do
        grep -q '^pid' "$dir/out" 2>/dev/null && break
        sleep 0.1
    done
    pid=$(sed -n 's/^pid //p' "$dir/out")
    for asleep in 1 2 3; do # then it is in MPI_Recv
        until grep -q '^[0-9]* (.*) S' "/proc/$pid/stat"; do sleep 0.1; done
        sleep 0.1
    done
    kill -$s "$pid"
    t0=$(now_ms)
    rc=0
    wait $! || rc=$?
    ms=$(($(now_ms) - t0))
    [ $ms -ge 1000 ] || ended=$s
    [ $ms -lt 1000 ] || [ "${try#* }" != 3 ] || fail "the other ranks ended $ms ms after the death, three times"
    if [ $s = 11 ]; then named 2 11 "Segmentation fault" MPI_Recv; else named 2 9 Killed MPI_Recv; fi
    [ $rc = $((128 + s)) ] || fail "status $rc after signal $s"
done
if ps -eo args | grep "^$e"; then fail "ranks are left"; fi
