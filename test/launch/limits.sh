#!/bin/sh
# Many ranks under a low limit of descriptors: mpiexec takes what it may, the ranks keep the limit that it was given; where that is
# not enough, one sentence says so and nothing stays.  Ranks on several nodes work where they may have no other thread.
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
fail() { echo "limits: $*"; exit 1; }
out=$(ulimit -S -n 100; timeout 90 "$build/mpiexec" -n 120 sh -c 'ulimit -S -n' </dev/null | sort | uniq -c | tr -s ' ')
[ "$out" = " 120 100" ] || fail "120 ranks under a soft limit of 100 descriptors: $out"
# A limit of file sizes (here in units of 1024 bytes, as bash has them): the job's memory, faked nodes' own, and what mpiexec writes itself.
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# limited STATUS WORDS LIMIT OPTIONS..: the job ends with that status, and says that
limited() {
    status=$1
    words=$2
    limit=$3
    shift 3
    rc=0
    out=$(bash -c 'ulimit -f "$1"; shift; exec timeout 60 "$@" 2>&1 >"$0/out"' "$dir" "$limit" "$build/mpiexec" "$@" </dev/null) || rc=$?
    [ $rc = "$status" ] || fail "ulimit -f $limit, $*: status $rc: $out"
    case $out in *"$words"*"ulimit -f"*) ;; *) fail "ulimit -f $limit, $* says: $out" ;; esac
}
limited 126 "cannot make the shared memory of the job: File too large" 1 -n 2 true
limited 1 "the shared memory of this node needs" 64 -n 2 "$build/mpi_hello"
limited 1 "the board of 2 ranks on faked nodes cannot be made: File too large" 64 -n 2 --vnodes 2 "$build/mpi_hello"
limited 1 "cannot write standard output: File too large" 64 -n 2 seq 100000
limited 1 "cannot write $dir/file.0: File too large" 64 -n 2 -outfile-pattern "$dir/file.%r" seq 100000
[ "$(wc -c <"$dir/file.0")" = 65536 ] || fail "what fits under a limit is not written: $(wc -c <"$dir/file.0")"
limited 153 "rank 0 (host $(hostname)" 64 -n 1 seq 100000 # the program's own write: its signal is what it was
user= # of root all processes are allowed
[ "$(id -u)" != 0 ] || user="setpriv --reuid 54322 --regid 54322 --clear-groups"
if $user test -x "$build/mpi_hello" 2>/dev/null; then
    for n in 2 5; do
        out=$(GODWIT_VNODES=2 timeout 90 "$build/mpiexec" -n $n $user prlimit --nproc=1 "$build/mpi_hello" 2>&1 </dev/null) ||
            fail "$n ranks that may have no thread: $out"
    done
fi
rc=0
out=$(ulimit -n 100; timeout 90 "$build/mpiexec" -n 120 sleep 7361 2>&1 </dev/null) || rc=$?
[ $rc = 126 ] || fail "under a hard limit: status $rc"
case $out in "mpiexec: cannot start rank "*"ulimit -n"*) ;; *) fail "under a hard limit it says: $out" ;; esac
case $out in *"problem  open files: at most 100; 120 ranks need"*) ;; *) fail "the doctor did not say which limit: $out" ;; esac
[ "$(echo "$out" | wc -l)" = 3 ] || fail "it says too much: $out" # mpiexec's line, the problem, what to do
# However few there are, it says that it is they, how many, and how many it takes.
for n in 4 5 6 7 8 9 10 11 12 13 14; do
    rc=0
    out=$(bash -c 'ulimit -n "$1"; exec timeout 60 "$0" -n 2 sleep 7361' "$build/mpiexec" $n 2>&1 </dev/null) || rc=$?
    [ $rc = 126 ] || fail "ulimit -n $n: status $rc: $out"
    case $out in *"Too many open files"*"ulimit -n"*"problem  open files: at most $n; 2 ranks need about "*"ulimit -Hn"*) ;; *) fail "ulimit -n $n says: $out" ;; esac
done
for _ in $(seq 50); do
    ps -eo args | grep -q '^sleep 7361' || exit 0
    sleep 0.1
done
fail "ranks of a job that could not start are still there"
