#!/bin/sh
# Jobs on different hosts that are connected fail together, and the other one is named (MPI 4.1 section 11.10.4): by MPI_Abort, by
# SIGKILL of a rank, of everything, by a cable; under mpiexec and the engines.  Those that have disconnected go on, and a
# job that ends well ends no other.
# run.py: timeout=300 tags=cluster
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
if [ ! "${CLUSTER-}" ]; then
    for tool in mpiexec.hydra mpirun.openmpi; do command -v $tool >/dev/null || { echo "tied: skipped: no $tool here"; exit 77; }; done
    exec "$here/cluster" --slurm "$here/tied.sh" "$build"
fi
dir=$(mktemp -d "$build/tied.XXXXXX") # all hosts see it
trap 'clock_stop; rm -rf "$dir"' EXIT
. "$here/../launch/clock.sh"
clock_start "$dir"
fail() { echo "tied: $name: $*: $(head -c 1500 "$dir/one")$(head -c 1500 "$dir/two")"; exit 1; }
heard() { # FILE WORD: it says so within 30 s
    for _ in $(seq 300); do grep -qsx "$2" "$dir/$1" && return; sleep 0.1; done
    fail "no \"$2\" of $1"
}
# begin NAME HOW FATE-ONE FATE-TWO: the commands $one and $two side by side, until they have met, or parted
begin() {
    name=$1
    rm -f "$dir/port" "$dir/sign"
    timeout 60 $one "$build/cluster_tied" "$dir/port" "$dir/sign" serve $2 $3 >"$dir/one" 2>&1 </dev/null & pid_one=$!
    timeout 60 $two "$build/cluster_tied" "$dir/port" "$dir/sign" use $2 $4 >"$dir/two" 2>&1 </dev/null & pid_two=$!
    word=met
    [ $2 = tied ] || word=parted
    heard one $word
    heard two $word
}
ended() { # FILE PID SECONDS: it fails in that time; its status is in $rc
    begun=$(now_ms)
    rc=0
    wait $2 || rc=$?
    [ $(($(now_ms) - begun)) -le $(($3 * 1000)) ] || fail "$1 ended after $(($(now_ms) - begun)) ms"
    [ $rc != 0 ] || fail "$1 ended well"
}
names() { # HOST WHAT: of the job that failed
    grep -q "^godwit: rank 0 (n[0-9]*): the job cluster_tied ([0-9]* rank.*; rank 0 is process [0-9]* on $1), with which this one is connected, $2; this job ends now$" "$dir/two" ||
        fail "it does not name the other job"
}
export GODWIT_PORT_REACH=hosts
n1="on n1 $build/mpiexec -n 2" n2="on n2 $build/mpiexec -n 3"

one=$n1 two=$n2
for how in stay poll; do
    begin "MPI_Abort, the others $how" tied abort $how
    : >"$dir/sign"
    ended two $pid_two 8
    names n1 "has failed"
    ended one $pid_one 8
    [ $rc = 9 ] || fail "the status of who aborts is $rc"
    echo "$name"
done
begin "SIGKILL of a rank" tied stay stay
on n1 pkill -KILL -n -x cluster_tied
ended two $pid_two 8
names n1 "has failed"
ended one $pid_one 8
echo "$name"
begin "SIGKILL of the other side's whole job" tied stay stay
on n1 pkill -KILL -x 'mpiexec|cluster_tied' # one may be gone before its turn comes
ended two $pid_two 8
names n1 "has failed"
wait $pid_one || :
echo "$name"
begin "disconnected, and MPI_Abort" parted abort go
: >"$dir/sign"
wait $pid_two || fail "who has disconnected ends, too"
heard two "goes on"
ended one $pid_one 8
echo "$name"
begin "MPI_Finalize while connected" tied end end
wait $pid_one && wait $pid_two || fail "a job that ends well fails"
[ "$(cat "$dir/one" "$dir/two")" = "met
met" ] || fail "words"
echo "$name"
export GODWIT_HOST_TIMEOUT=3
begin "a cable" tied stay stay
cable n1 pull
ended two $pid_two 20
names n1 "cannot be reached any more"
ended one $pid_one 20
cable n1 plug
sleep 1
unset GODWIT_HOST_TIMEOUT GODWIT_PORT_REACH
echo "$name"

# ---- started by engines ----
srun="srun -Q --mpi=pmix --overlap --kill-on-bad-exit=1"
engines() { # NAME: a rank that is not the root is killed
    begin "$1: SIGKILL of a rank" tied stay stay
    on n1 pkill -KILL -n -x cluster_tied
    ended two $pid_two 8
    names n1 "has failed"
    ended one $pid_one 20
    echo "$name"
    begin "$1: disconnected" parted abort go
    : >"$dir/sign"
    wait $pid_two || fail "who has disconnected ends, too"
    heard two "goes on"
    ended one $pid_one 20
    echo "$name"
}
one="$srun -w n1,n2 -N 2 -n 4" two="$srun -w n3 -N 1 -n 2"
engines "srun"
one="$srun -w n1 -N 1 -n 2" two="srun -Q --mpi=pmi2 --overlap -w n1 -N 1 -n 2"
begin "srun, on one host" tied abort stay
: >"$dir/sign"
ended two $pid_two 8
names n1 "has failed"
ended one $pid_one 20
echo "$name"
one="mpiexec.hydra -hosts n1:2,n2:2 -n 4" two="mpiexec.hydra -hosts n2:1,n3:2 -n 3"
engines "Hydra"
one="mpirun.openmpi --host n1:2,n2:2" two="mpirun.openmpi --host n3:2"
engines "mpirun"
if command -v prterun >/dev/null; then # prrte.sh
    one="prterun --host n1:2,n2:2 -n 4" two="prterun --host n3:2 -n 2"
    engines "PRRTE"
fi
echo "tied: all as connected jobs do"
