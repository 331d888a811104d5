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
for _ in $(seq 50); do
    ps -eo args | grep -q '^sleep 7361' || exit 0
    sleep 0.1
done
fail "ranks of a job that could not start are still there"
