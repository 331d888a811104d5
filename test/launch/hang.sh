#!/bin/sh
# A job that hangs is explained: mpiexec says where its ranks are and why they do not go on, on SIGQUIT and when --timeout ends it.
# Each kind of test/mpi/hang.c is one mistake and has one right verdict; a program that only takes its time has none.
# (./check --quick leaves out the warnings that mpiexec gives by itself.)  users.md row 1
# run.py: timeout=240 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
dir=$(mktemp -d)
export GW_MARK=gw-hang-$$
trap 'for p in $(left); do kill -9 $p 2>/dev/null || :; done; clock_stop; rm -rf "$dir"' EXIT
. "$(dirname "$0")/clock.sh"
clock_start "$dir"
fail() { echo "hang: $*"; tail -12 "$dir/out"; exit 1; }
# What is left of our jobs, by the mark in their environment.
left() { grep -lzsx "GW_MARK=$GW_MARK" /proc/[0-9]*/environ | cut -d/ -f3 | grep -vx $$ | tr '\n' ' ' || :; }
nothing_left() {
    t0=$(now_ms)
    while :; do
        job=$(for p in $(left); do cat "/proc/$p/cmdline" 2>/dev/null | tr '\0' ' ' | grep -o 'mpi_hang.*' || :; done)
        [ "$job" ] || return 0
        [ $(($(now_ms) - t0)) -lt 2500 ] || fail "$kind: this is left: $job"
        sleep 0.1
    done
}
says() { # TEXT...: the output holds each
    for text in "$@"; do grep -qF -- "$text" "$dir/out" || return 1; done
}
start() { "$build/mpiexec" "$@" >"$dir/out" 2>&1 </dev/null & pid=$!; }

# hangs KIND TEXT...: asked often enough, mpiexec says these, and the job stays as it is until it is ended
hangs() {
    kind=$1
    shift
    start -n ${RANKS-4} "$build/mpi_hang" "$kind"
    for try in $(seq 100); do
        sleep 0.3
        kill -QUIT $pid || fail "$kind: it ended"
        says "$@" && break
    done
    says "$@" || fail "$kind: it does not say all of: $*"
    [ "$(grep -c 'verdict: no deadlock' "$dir/out")" -lt $try ] || [ "${LIVE-}" ] || fail "$kind: only this"
    kill -TERM $pid
    rc=0
    wait $pid || rc=$?
    [ $rc = 143 ] || fail "$kind: status $rc"
    nothing_left
}

# tells KIND TEXT...: the ranks notice it themselves, and the job ends.  Who notices it first names itself and one other, so the text does not
# say all ranks, as a verdict does.
tells() {
    kind=$1 rc=0
    shift
    timeout 60 "$build/mpiexec" -n 4 "$build/mpi_hang" "$kind" >"$dir/out" 2>&1 </dev/null || rc=$?
    [ $rc != 0 ] && [ $rc != 124 ] || fail "$kind: status $rc"
    says "$@" || fail "$kind: it does not say all of: $*"
    nothing_left
}

hangs recv_cycle "ranks 1-2 in MPI_Barrier #1 on MPI_COMM_WORLD since" \
    "verdict: a cycle of messages: each waits for the next: rank 0 -> 3 -> 0; all receive first"
hangs send_cycle "verdict: a cycle of messages: each waits for the next: rank 0 -> 1 -> 2 -> 3 -> 0; all send first"
hangs wrong_tag "ranks 0, 2-3 in MPI_Barrier #1 on MPI_COMM_WORLD since" \
    "verdict: wrong tag: rank 1 waits for a message from 0 tag 5 on MPI_COMM_WORLD, and none came; nearest: tag 6 (unexpected at rank 1)"
hangs wrong_comm "verdict: wrong communicator: rank 1 waits for a message from 0 tag 5 on MPI_COMM_WORLD, and none came; nearest: on other (unexpected"
hangs wrong_dest "verdict: no sender: rank 1 waits for a message from 0 tag 5" "nearest: one sent to another rank (unexpected at rank 2)"
hangs wrong_source "verdict: no sender: rank 1 waits for a message from 0 tag 5" "nearest: from 2 (unexpected at rank 1)"
hangs no_sender "verdict: no sender: rank 1 waits for a message from 0 tag 5" "rank 0 is in MPI_Barrier #1 on MPI_COMM_WORLD, which waits for rank 1"
hangs no_receiver "verdict: no receiver: rank 2 sends to 3 tag 8 on MPI_COMM_WORLD" "rank 3 is in MPI_Allreduce #1 on MPI_COMM_WORLD"
for vnodes in 1 2; do # between nodes also what is in sockets when the receiver says stop comes: KiB, or MiB where the machine is busy
    unit=KiB
    [ $vnodes = 1 ] || unit=iB
    GODWIT_VNODES=$vnodes GODWIT_UNEXPECTED_MAX=64K hangs no_room "verdict: no room for messages: ranks 1-3 send to rank 0, which does not receive: it holds " \
        "$unit that came and were not received, and rank 1 keeps copies of 6" " KiB more, each at most 64.0 KiB (GODWIT_UNEXPECTED_MAX; a larger value" \
        "rank 0 is in MPI_Barrier" " on MPI_COMM_WORLD, which waits for rank 1"
done
hangs waitall "rank 2 in MPI_Waitall for a receive from 1 tag 11" "verdict: wrong tag: rank 2 waits" "nearest: tag 13 (unexpected at rank 2)"
hangs any_source "verdict: no sender: rank 0 waits for a message from any source tag 9 on MPI_COMM_WORLD"
hangs not_ready "rank 0 in MPI_Wait for its own MPI_Pready of a send to 1 tag 3 on MPI_COMM_WORLD" \
    "verdict: partitions that are not ready: rank 0 waits for its own MPI_Pready of a send to 1 tag 3 on MPI_COMM_WORLD: it was not called for each"
hangs held_lock "rank 0 in MPI_Win_lock for the lock at rank 1, which rank 3 holds exclusively since" \
    "rank 1 in MPI_Win_lock_all for the lock at rank 1, which rank 3 holds exclusively since" \
    "rank 2 in MPI_Win_lock for the lock at rank 2, held by 1 with MPI_LOCK_SHARED, 0 with MPI_Win_lock_all since" \
    "verdict: no sender: rank 3 waits for a message from 0 tag 5"
hangs probe "verdict: wrong tag: rank 3 probes for a message from 2 tag 21" "nearest: tag 22 (unexpected at rank 3)"
tells mismatch "the calls differ in collective #2 on MPI_COMM_WORLD: rank" "rank 2 called MPI_Barrier" "called MPI_Allreduce (1048576 bytes, MPI_MAX)"
tells wrong_root "the calls differ in collective #1 on MPI_COMM_WORLD: rank" "rank 2 called MPI_Gather (1048576 bytes, root 1)" \
    "called MPI_Gather (1048576 bytes, root 0)" "; all ranks of a communicator must give the same root"
hangs skipped "ranks 0-2 in MPI_Allreduce #5" "verdict: no sender: rank 3 waits for a message from 0 tag 2" "which waits for rank 3"
hangs order "verdict: collectives in different orders: rank 0 is in MPI_Barrier #1 on alpha, which waits for rank 1; rank 1 is in MPI_Barrier #1 on beta"
hangs left "verdict: a rank has left MPI: rank 2 waits for a message from 1 tag 3" "rank 1 is in MPI_Finalize"
tells finalized "the calls differ in collective #1 on MPI_COMM_WORLD: rank" "called MPI_Barrier" "rank 1 called MPI_Finalize"
tells nonblocking "the calls differ in collective #" "on MPI_COMM_WORLD: rank" "rank 3 called MPI_I" "called MPI_Iallreduce (4 bytes, MPI_SUM)" \
    "called MPI_Ibcast (1048576 bytes, root 0)" "; all ranks of a communicator must call the same collective operations in the same order"
RANKS=40 hangs send_cycle "rank 0 -> 1 -> 2 -> 3 -> 4 -> 5 -> 6 -> 7 -> ... -> 0 (40 ranks); all send first"
LIVE=yes hangs computes "verdict: no deadlock: the ranks that wait do so for rank 2; rank 2 is computing, in no MPI call"
hangs polls "rank 0 polling with MPI_Test for a receive from 1 tag 30 on MPI_COMM_WORLD" "verdict: a hang if rank 0 does nothing but poll; then:" \
    "verdict: no sender: rank 0 waits for a message from 1 tag 30 on MPI_COMM_WORLD" "rank 1 is in MPI_Barrier #1 on MPI_COMM_WORLD, which waits for rank 0"
hangs polls_probe "rank 0 polling with MPI_Iprobe for a message from any source tag 31 on MPI_COMM_WORLD" "verdict: a hang if rank 0 does nothing but poll; then:"
GODWIT_PROGRESS_THREAD=1 LIVE=yes hangs computes "verdict: no deadlock: the ranks that wait do so for rank 2; rank 2 is computing, in no MPI call"

# --timeout says the same before it ends the job, and nothing stays behind.
kind=no_sender
for time in 3 10 40; do # on a busy machine the ranks come to their places later
    rc=0
    "$build/mpiexec" --timeout $time -n 4 "$build/mpi_hang" $kind >"$dir/out" 2>&1 </dev/null || rc=$?
    [ $rc = 124 ] || fail "$kind: status $rc, not 124"
    says "the job ran longer than --timeout $time s" || fail "$kind: --timeout does not say so"
    says "verdict: no sender: rank 1 waits for a message from 0 tag 5" && break
done
says "verdict: no sender: rank 1 waits for a message from 0 tag 5" || fail "$kind: --timeout does not explain"
nothing_left

# A right program is asked, and goes on to its end.
kind=long_compute
start -n 4 "$build/mpi_hang" $kind
while sleep 0.3 && kill -QUIT $pid 2>/dev/null; do # before its ranks have begun there is nothing to say of them
    says "verdict: no deadlock" && break
done
rc=0
wait $pid || rc=$?
[ $rc = 0 ] || fail "$kind: status $rc after SIGQUIT"
says "$kind is over" "verdict: no deadlock" || fail "$kind"

[ -z "${TEST_QUICK:-}" ] || exit 0

# By itself mpiexec warns once where nothing can come any more, and the job goes on; not while somebody computes.
kind=no_sender
GODWIT_HANG_WARN=1 start -n 4 "$build/mpi_hang" $kind
for _ in $(seq 100); do
    sleep 0.5
    says "verdict:" && break
done
says "this job seems to hang" "verdict: no sender: rank 1 waits for a message from 0 tag 5" || fail "$kind: no warning"
sleep 1.5
[ "$(grep -c "this job seems to hang" "$dir/out")" = 1 ] || fail "$kind: more than one warning"
kill -TERM $pid
wait $pid || :
nothing_left
for kind in long_compute thread_computes thread_readies; do
    rc=0
    "$build/mpiexec" -genv GODWIT_HANG_WARN 1 -n 4 "$build/mpi_hang" $kind >"$dir/out" 2>&1 </dev/null || rc=$?
    [ "$rc $(cat "$dir/out")" = "0 $kind is over" ] || fail "$kind: status $rc"
done
for kind in computes polls; do
    for time in 4 10 40; do
        rc=0
        "$build/mpiexec" -genv GODWIT_HANG_WARN 1 --timeout $time -n 4 "$build/mpi_hang" $kind >"$dir/out" 2>&1 </dev/null || rc=$?
        [ $rc = 124 ] || fail "$kind: status $rc"
        ! says "seems to hang" || fail "$kind: a false alarm"
        says "verdict: " && break
    done
    says "verdict: " || fail "$kind"
done
