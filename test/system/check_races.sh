#!/bin/sh
# GODWIT_CHECK: races in windows, writes into pending receive buffers, ready sends without a receive, threads below their level.
# Each is reported, in the right words; what is right is not complained about.  users.md row 21.
# run.py: timeout=300 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() {
    head -n 12 "$out" | cut -c1-400
    echo "$1"
    exit 1
}
program=$build/mpi_check_races
# finds RANKS CASE[,CASE...] FINDINGS [LEVEL]: so many in all (or so many: 3|4), and nothing else is said
finds() {
    n=$1 case=$2 want=$3
    GODWIT_CHECK=1 timeout 100 "$build/mpiexec" $nodes -n "$n" "$program" "$case" ${4:-0} > "$out" 2>&1 || fail "$nodes -n $n $case: exit status $?"
    got=$(grep -c '^godwit\[[0-9]*\] check: ' "$out" || true)
    case "|$want|" in *"|$got|"*) ;; *) fail "$nodes -n $n $case: $got findings, not $want" ;; esac
    [ "$(wc -l < "$out")" = "$got" ] || fail "$nodes -n $n $case: it says something else"
}
# says COUNT PATTERN: of the last run
says() {
    got=$(grep -c -E "$2" "$out" || true)
    case "|$1|" in *"|$got|"*) ;; *) fail "$nodes -n $n $case: $got lines say '$2', not $1" ;; esac
}

# What is right, one after the other in one job.
right=many_ok,written_ok,freed_ok,protected_ok,ready_ok,races_ok,shared_ok,stored_ok,over_ok,locks_ok

buffers() {
    finds $1 written $((14 * ($1 - 1)))
    for call in Irecv Start; do
        each=4
        [ $call = Start ] && each=3
        says $((each * (n - 1))) "receive buffer written: bytes 0 to 62[0-9]* of the buffer of MPI_$call at receive.* from rank 0 with tag 3 .* before a message"
        says $((each * (n - 1))) "changed too early: bytes 0 to 62[0-9]* of what MPI_$call at receive.* receives \(100000 x MPI_INT"
    done
    # many, freed, protected: 1, 1 and 3 of each rank; ready: 3 of all but rank 0
    finds $1 many,freed,protected,ready $((8 * $1 - 3))
    says $n 'buffers overlap: the receive buffer of MPI_Get at many_gets.* and the receive buffer of MPI_Get at many_gets'
    says $n "receive given up: MPI_Request_free at freed.* frees the request of MPI_Irecv at freed.*, which is active\\."
    says $((2 * n)) "given back too early: the (send|receive) buffer of MPI_I(send|recv) at protected.* with tag 4 .*100 x MPI_CHAR.* was not in the program's memory any more, or protected, when the"
    says $n "given back too early: the send buffer of MPI_Isend at protected.* with tag 5 .*8 x MPI_CHAR"
    says $((3 * (n - 1))) "ready send without a receive: rank 0 sent 10 x MPI_INT with tag 6 on MPI_COMM_WORLD by MPI_Rsend.* no receive for that was posted"
}

threads() {
    for level in 0 1; do
        finds $1 other_thread $1 $level
        says $n "call of another thread: MPI_Sendrecv at say_hello.* with MPI_THREAD_(SINGLE|FUNNELED) only"
    done
    finds $1 in_turn_ok,other_thread 0 2
    finds $1 other_thread,at_once 0 3
    finds $1 at_once $1 2
    says $n "calls of several threads at a time: MPI_Send at at_once.* while MPI_Recv at wait_here.* of another thread was under way"
}

windows() {
    for case in races races_posted; do
        epoch=fence
        [ $case = races ] || epoch=post
        in="in one epoch of MPI_Win_$epoch, both access bytes"
        of="of the part of rank 0 in the window halo"
        # Where the target has called something in the epoch (MPI_Win_start), nothing is said of what it stored before the access; and where
        # a put may reach its target at the end of the epoch only, it undoes what was stored after its call.
        before=$([ $case = races ] && echo 2 || echo 1)
        all=$((10 + 2 * before)) put=$before
        [ -z "$nodes" ] || all="$all|$((all - 1))" put="$put|$((put - 1))"
        finds $1 $case "$all"
        says "$all" '^godwit\[0\] check: accesses race: '
        says 1 "MPI_Put at put.* of rank 0 and MPI_Put at put.* of rank 1, $in 36 to 39 $of$"
        says 1 "MPI_Put at put.* of rank 1 and MPI_Put at put.* of rank 1, $in 36 to 39 $of$"
        says 1 "MPI_Get at get.* of rank 0 and MPI_Put at put.* of rank 1, $in 28 to 31 $of$"
        says 1 "MPI_Accumulate at add.* of rank 0 and MPI_Put at put.* of rank 1, $in 28 to 31 $of$"
        says 1 "MPI_Accumulate at add.* of rank 0 and MPI_Get at get.* of rank 1, $in 28 to 31 $of$"
        says 1 "MPI_Accumulate at add.* of rank 0 and MPI_Accumulate at add.* of rank 1, $in 28 to 31 $of, by accumulates of different operations$"
        says 1 "MPI_Put at race.* of rank 0 and MPI_Put at put.* of rank 1, $in 32 to 35 $of$"
        says "$put" "race: bytes 20 to 39 $of, which MPI_Put at put.* of rank 1 accesses, were changed in the same epoch of MPI_Win_$epoch by a store"
        says $before "race: bytes 28 to 35 $of, which MPI_Get at get.* of rank 1 accesses, were changed in the same epoch of MPI_Win_$epoch by a store"
        says 1 "MPI_Irecv at race.* of rank 0 itself, which writes that memory as a buffer"
        says 1 "MPI_Send at race.* of rank 0 itself, which reads that memory as a buffer"
        says 1 "MPI_Get at race.* of rank 0 itself, which writes that memory as a buffer"
    done
    misuse=not_closed,lock_inside want=$(($1 + 1))
    [ -n "$nodes" ] || misuse=over,$misuse want=$(($1 + 2)) # between nodes the put of the other window may come after all
    finds $1 $misuse $want
    if [ -z "$nodes" ]; then
        says 1 '^godwit\[0\] check: accesses race: bytes 20 to 39 of the part of rank 0 in the window halo, which MPI_Put .* or by way of another window over'
    fi
    says 1 '^godwit\[1\] check: epoch not closed: no MPI_Win_fence followed MPI_Put at put.* at rank 0 on the window halo before MPI_Win_free'
    says $n 'lock inside an epoch of MPI_Win_fence: MPI_Win_lock at lock_inside.* of the window halo lies between two fences'
}

# What a put under a lock has left is not looked at where it may reach its target late.
locks() {
    stored=$([ -n "$nodes" ] && echo 0 || echo 2)
    finds $1 locks $((13 + stored))
    of="of the part of rank 0 in the window halo"
    in="under locks, both access bytes"
    until="$of; no flush or unlock had completed either of them when the other one was called$"
    says $((13 + stored)) '^godwit\[0\] check: accesses race: '
    says 3 "MPI_Put at put.* of rank 1 and MPI_Get at get.* of rank 1, $in 36 to 39 $until"
    says 1 "MPI_Put at put.* of rank 1 and MPI_Put at put.* of rank 1, $in 36 to 39 $until"
    says 1 "MPI_Get at get.* of rank 1 and MPI_Accumulate at add.* of rank 1, $in 36 to 39 $until"
    says 2 "MPI_Put at put.* of rank 1 and MPI_Put at put.* of rank 0, $in 36 to 39 $until"
    says 1 "MPI_Put at put.* of rank 1 and MPI_Get at get.* of rank 0, $in 28 to 31 $until"
    says 1 "MPI_Put at put.* of rank 1 and MPI_Accumulate at add.* of rank 0, $in 28 to 31 $until"
    says 1 "MPI_Accumulate at add.* of rank 1 and MPI_Accumulate at add.* of rank 0, $in 28 to 31 $of, by accumulates of different operations; no flush"
    says 1 "MPI_Get at get.* of rank 1 and MPI_Accumulate at add.* of rank 0, $in 28 to 31 $until"
    says 1 "MPI_Put at put.* of rank 1 and MPI_Put at (two_)?lock.* of rank 0, $in 32 to 35 $until"
    says 1 "MPI_Rput at (two_)?lock.* of rank 1 and MPI_Put at put.* of rank 0, $in 36 to 39 $until"
    says $stored "race: bytes 20 to 39 $of, which MPI_Put at put.* of rank 1 wrote under a lock, were changed before a flush or unlock completed it"
}

# all NODES-OPTION RANKS...
all() {
    nodes=$1
    shift
    for n in "$@"; do
        out=$dir/out$nodes
        finds $n $right 0
        if [ $n != 4 ]; then
            buffers $n
            threads $n
        fi
        windows $n
        locks $n
    done
}
# A start on faked nodes takes long: ./check --quick has one number of ranks there.
far="2 3 4 5"
[ -z "${TEST_QUICK:-}" ] || far=3
all "--vnodes 2" $far > "$dir/far" 2>&1 &
all "" 2 3 4 5
wait $! || { cat "$dir/far"; exit 1; }

# What does not fit the log is not judged, which is said once.
nodes='' n=3 case=locks_full out=$dir/full
GODWIT_CHECK=1 timeout 100 "$build/mpiexec" -n $n "$program" $case > "$out" 2>&1 || fail "$case: exit status $?"
says 1 '^godwit\[1\] GODWIT_CHECK: of the accesses under locks to one part of a window, 87381 of each rank are looked at'
[ "$(wc -l < "$out")" = 1 ] || fail "$case: it says something else"
