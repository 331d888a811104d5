#!/bin/sh
# The exit status of mpiexec: of the first rank that failed, 128 + its signal, the code of MPI_Abort, 124 when time is up; a rank
# that leaves without MPI_Finalize or MPI_Init ends the job and is named.
# run.py: timeout=60 tags=quick alone=yes
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
export GW_LONG=7321.$$ # how long our processes sleep: nobody else's do
dir=$(mktemp -d)
trap 'clock_stop; rm -rf "$dir"' EXIT
. "$(dirname "$0")/clock.sh"
clock_start "$dir"
fail() { echo "status: $*"; exit 1; }
# want STATUS WORDS OPTIONS...: mpiexec ends with it, and says WORDS (nothing: "")
want() {
    status=$1 words=$2
    shift 2
    rc=0
    timeout 60 "$build/mpiexec" "$@" >"$dir/out" 2>"$dir/err" </dev/null || rc=$?
    [ $rc = "$status" ] || fail "$* ended with status $rc, not $status: $(cat "$dir/err")"
    if [ "$words" ]; then
        grep -q "^mpiexec: .*$words" "$dir/err" || fail "$* says '$(cat "$dir/err")', without '$words'"
        # out of time, it also says where the ranks are; after a crash, its stack (crash.sh)
        [ "$status" = 124 ] || [ "$(grep -v '^mpiexec: for its stack run it again\|^mpiexec: rank .* crashes: \|^mpiexec: a stack of it needs\|^mpiexec: the kernel refuses' "$dir/err" | grep -c '^mpiexec: ')" = 1 ] || fail "$* says too much: $(cat "$dir/err")"
    else
        if grep '^mpiexec: ' "$dir/err"; then fail "$* should say nothing"; fi
    fi
}

# programs without MPI
want 0 "" -n 3 true
want 1 "" -n 3 false
want 7 "" -n 1 sh -c 'exit 7'
want 7 "" -n 3 sh -c 'if [ $GODWIT_RANK = 1 ]; then exit 7; fi'
# rank 2 is the first that fails: each other one goes when mpiexec has seen the end of the next
want 5 "" -n 3 sh -c 'echo $$ >"$1.$GODWIT_RANK"
    next=$1.$((GODWIT_RANK + 1))
    until [ $GODWIT_RANK = 2 ] || { [ -s "$next" ] && ! [ -e "/proc/$(cat "$next")" ]; }; do sleep 0.05; done
    exit $((GODWIT_RANK + 3))' sh "$dir/pid"
want 0 "" -n 1 true : -n 1 sh -c 'exit 0'
want 255 "" -n 1 true : -n 1 sh -c 'exit 255'
want 137 "rank 1 (host .*, pid [0-9]*) was killed by signal 9 (Killed)" -n 2 sh -c 'if [ $GODWIT_RANK = 1 ]; then kill -9 $$; fi; sleep 30'
want 134 "rank 0 .*signal 6 (Aborted)" -n 1 sh -c 'kill -ABRT $$'
want 143 "rank 0 .*signal 15" -n 3 sh -c 'if [ $GODWIT_RANK = 0 ]; then kill -TERM $$; fi; exec sleep 30'
want 139 "rank 2 .*signal 11" -n 3 sh -c 'if [ $GODWIT_RANK = 2 ]; then kill -SEGV $$; fi; trap "" TERM; sleep 30'
# a limit of CPU time: by the signal that is for it, and by SIGKILL, where no higher one is left
(ulimit -S -t 1 && want 152 "signal 24 (CPU time limit exceeded) (limit: ulimit -t 1, seconds of CPU time" -n 1 sh -c 'while :; do :; done') || exit 1
(ulimit -t 1 && want 137 "signal 9 (Killed) (the limit of CPU time? it has used [01]\\.[0-9] s, and ulimit -t is 1)" -n 1 sh -c 'while :; do :; done') || exit 1

# time
for _ in 1 2 3; do
    t0=$(now_ms)
    want 124 "longer than --timeout 0.5 s" --timeout 0.5 -n 2 sleep $GW_LONG
    ms=$(($(now_ms) - t0))
    [ $ms -ge 1500 ] || break
done
[ $ms -lt 1500 ] || fail "--timeout 0.5 took $ms ms, three times"
want 124 "longer than --timeout" --timeout 0.5 -n 2 sh -c 'trap "" TERM; sleep $GW_LONG'
want 124 "longer than --timeout" --timeout 0.5 -n 2 sh -c 'trap "exit 0" TERM; sleep $GW_LONG & wait'
want 3 "" --timeout 20 -n 2 sh -c 'exit 3'
t0=$(now_ms)
while ps -eo args | grep "^sleep $GW_LONG"; do
    [ $(($(now_ms) - t0)) -lt 2500 ] || fail "the job that ran out of time is still there"
    sleep 0.1
done

# programs with MPI
[ "${2-}" ] && [ -x "$2/bin/mpicc" ] || { echo "no mpicc to build with"; exit 77; }
"$2/bin/mpicc" "$(dirname "$0")/ends.c" -o "$dir/ends"
e=$dir/ends
want 0 "" -n 3 "$e"
want 9 "" -n 3 "$e" 1 final 9                                                            # after MPI_Finalize: not told, as of any program
want 139 "rank 2 .*signal 11 .*it had left MPI_Finalize" -n 3 "$e" 2 final -11
for n in 1 3; do
    want 9 "rank 0 .*ended the job with code 9: MPI_Abort" -n $n "$e" 0 abort 9
    want 4 "rank 0 .*ended with status 4 without calling MPI_Finalize" -n $n "$e" 0 nofinal 4
    want 1 "rank 0 .*ended with status 0 without calling MPI_Finalize" -n $n "$e" 0 nofinal 0
    [ $n = 1 ] || want 4 "rank 0 .*ended with status 4 without completing MPI_Finalize" -n $n "$e" 0 badfinal 4
    want 136 "rank 0 .*signal 8 .*MPI_Barrier" -n $n "$e" 0 signal 8
done
want 9 "rank 2 .*ended the job with code 9: MPI_Abort" -n 3 "$e" 2 abort 9
want 1 "rank 1 .*ended the job with code 256" -n 3 "$e" 1 abort 256                       # never looks like success
want 4 "rank 2 .*ended with status 4 without calling MPI_Finalize" -n 3 "$e" 2 nofinal 4
want 4 "rank 2 .*ended with status 4 without calling MPI_Init" -n 3 "$e" 2 noinit 4
want 1 "rank 0 .*ended with status 0 without calling MPI_Init" -n 3 "$e" 0 noinit 0
want 1 "rank 1 .*ended with status 0 without calling MPI_Init" -n 1 sh -c 'sleep 0.3; exec "$1"' sh "$e" : -n 1 true
want 0 "" -n 1 "$e" 0 noinit 0
want 124 "longer than --timeout" --timeout 1 -n 2 "$e" 0 wait
