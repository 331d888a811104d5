#!/bin/sh
# mpiexec as a PMIx server: programs of Debian's Open MPI find their rank and size, also in a job of several programs; an abort
# ends the job with its code; our own ranks can take that way too; no folder is left, whatever is killed.  (Wrappers: foreign.sh.)
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
export GODWIT_DOORS=off # with its own library; through ours: test/doors
command -v mpicc.openmpi >/dev/null || { echo "skipped: needs Debian's Open MPI (libopenmpi-dev)"; exit 77; }
dir=$(mktemp -d)
trap 'clock_stop; rm -rf "$dir"' EXIT
. "$(dirname "$0")/clock.sh"
clock_start "$dir"
fail() { echo "pmix: $*"; exit 1; }
# ranks in folders of their own, so that what is left can be seen
mkdir "$dir/tmp"
run() { TMPDIR=$dir/tmp timeout 100 "$build/mpiexec" "$@" </dev/null; }
left() { [ -z "$(ls -A "$dir/tmp")" ] || fail "$1 left $(ls -A "$dir/tmp")"; }

mpicc.openmpi "$(dirname "$0")/sum.c" -o "$dir/sum"
[ "$(run -n 4 "$dir/sum" | sort | tr '\n' ,)" = "0/4 app 0 sum 6,1/4 app 0 sum 6,2/4 app 0 sum 6,3/4 app 0 sum 6," ] ||
    fail "Open MPI on 4 ranks: $(run -n 4 "$dir/sum" 2>&1)"
[ "$(run -n 1 "$dir/sum")" = "0/1 app 0 sum 0" ] || fail "Open MPI on 1 rank"
[ "$(run -n 1 "$dir/sum" : -n 2 "$dir/sum" | sort | tr '\n' ,)" = "0/3 app 0 sum 3,1/3 app 1 sum 3,2/3 app 1 sum 3," ] ||
    fail "Open MPI, two programs: $(run -n 1 "$dir/sum" : -n 2 "$dir/sum" 2>&1)"
# by its folder, and where the program cannot be looked into
[ "$(run -n 2 -wdir "$dir" ./sum | wc -l)" = 2 ] && [ "$(run -n 2 -wdir "$dir" ./sum | grep -c /2)" = 2 ] || fail "with -wdir"
[ "$(run --pmix on -n 2 sh -c "exec $dir/sum" | grep -c /2)" = 2 ] || fail "--pmix on by way of a shell"
left "Open MPI"

rc=0
out=$(run -n 3 "$dir/sum" 7 2>&1) || rc=$?
[ $rc = 7 ] || fail "MPI_Abort(7) of Open MPI gave status $rc"
case $out in *"mpiexec: rank 2 "*" ended the job with code 7"*) ;; *) fail "the abort of rank 2 is not told: $out" ;; esac
rc=0
out=$(run -n 3 "$dir/sum" 5 exit 2>&1) || rc=$?
[ $rc = 5 ] || fail "a rank of Open MPI that leaves with 5 gave status $rc: $out"
case $out in *"mpiexec: rank 2 "*" ended with status 5 without calling MPI_Finalize"*) ;; *) fail "its leaving is not told: $out" ;; esac
left "ranks that end early"

# our own ranks through PMIx
for n in 1 2 5; do
    [ "$(run --pmix on -n $n env -u GODWIT_BOOT "$build/mpi_world_size" | sort -u)" = $n ] || fail "our ranks by PMIx, $n"
    [ "$(run --pmix on -n $n "$build/mpi_world_size" | sort -u)" = $n ] || fail "our ranks with a PMIx server beside, $n"
done
[ -z "$(run --pmix off -n 2 env | grep ^PMIX_ | grep -v ^PMIX_RANK=)" ] || fail "PMIx though it is off"
[ -z "$(run -n 1 env | grep ^PMIX_ | grep -v ^PMIX_RANK=)" ] || fail "PMIx for a rank that is alone"
[ "$(run -n 2 env | grep -c ^PMIX_NAMESPACE=)" = 2 ] || fail "no PMIx for a program that may start another library's"
[ -n "$(run --pmix on -n 2 env | grep ^PMIX_RANK)" ] || fail "no PMIx for who asks"
[ -z "$(run --pmix on -n 2 env | grep -E '^PMIX_MCA_')" ] || fail "the server's settings reach the ranks"
[ "$(PMIX_MCA_gds=hash run --pmix on -n 2 env | grep -c '^PMIX_MCA_gds=hash$')" = 2 ] || fail "the user's settings do not"
left "our own"
# a user who is in no passwd and has no home, as in containers, where libpmix 4 crashes
stranger="env -u HOME setpriv --reuid 54321 --regid 54321 --clear-groups"
chmod 755 "$dir"
chmod 1777 "$dir/tmp"
if [ "$(id -u)" = 0 ] && $stranger test -x "$build/mpiexec" 2>/dev/null; then
    out=$(TMPDIR=$dir/tmp timeout 100 $stranger "$build/mpiexec" --pmix on -n 2 env -u GODWIT_BOOT "$build/mpi_world_size" 2>&1 </dev/null) ||
        fail "without a home: $out"
    [ "$(echo "$out" | sort -u)" = 2 ] || fail "without a home: $out"
    [ -z "$(TMPDIR=$dir/tmp $stranger "$build/mpiexec" --pmix on -n 2 env | grep ^HOME=)" ] || fail "ranks are given a home"
    left "a user without a home"
fi

# killed: the keeper removes the folder
TMPDIR=$dir/tmp "$build/mpiexec" --pmix on -n 2 sleep 7341 &
pid=$!
n=0
until [ -n "$(ls -A "$dir/tmp")" ] || [ $n = 300 ]; do sleep 0.1; n=$((n + 1)); done
[ -n "$(ls -A "$dir/tmp")" ] || fail "no folder while it runs"
kill -9 $pid
wait $pid 2>/dev/null || true
t0=$(now_ms)
while [ -n "$(ls -A "$dir/tmp")" ] && [ $(($(now_ms) - t0)) -lt 2500 ]; do sleep 0.1; done
left "kill -9 of mpiexec"
exit 0
