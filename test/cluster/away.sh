#!/bin/sh
# A link that is away for a while, shorter than ranks wait, ends nothing, and the user hears of it; one that is cut for good just after the
# start of a job of mpiexec ends the ranks of the host behind it, too, though nobody can tell them.  mpirun ends as well where it is told to look.
# users.md row 5
# run.py: timeout=300 tags=cluster
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
if [ ! "${CLUSTER-}" ]; then
    for tool in mpiexec.hydra mpirun.openmpi; do command -v $tool >/dev/null || { echo "away: skipped: no $tool here"; exit 77; }; done
    exec "$here/cluster" --hosts 2 "$here/away.sh" "$build"
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "away: $*: $(cat "$dir/out" "$dir/err" | head -c 1500)"; exit 1; }
export GODWIT_HOST_TIMEOUT=4 # of ranks: 8
begin() { # ROUNDS COMMAND...
    rounds=$1
    shift
    timeout 200 "$@" "$build/cluster_ring" $rounds 20 >"$dir/out" 2>"$dir/err" </dev/null &
    job=$!
    for _ in $(seq 600); do grep -qs turning "$dir/out" && return 0; sleep 0.1; done
    fail "it does not start"
}
until_said() { for _ in $(seq 600); do grep -q "$1" "$dir/err" && return 0; kill -0 $job 2>/dev/null || break; sleep 0.1; done; fail "not said: $1"; }
gone() { # HOST: within the time that doc/launch.md gives a host that has not been heard
    for _ in $(seq 1000); do on $1 pgrep -x cluster_ring >/dev/null || return 0; sleep 0.1; done
    fail "the link was cut just after the start, and ranks live on at $1"
}

# Twice: probes are sent every second, and the last answer is older or younger when the cable goes.
begin 500 mpiexec.hydra -hosts n1:2,n2:2 -n 4
sleep 4 # they have been heard
for _ in 1 2; do
    : >"$dir/err"
    cable n2 pull
    sleep 7.4
    cable n2 plug
    until_said 'host n2 answers again, after [0-9]* s$'
    grep -q 'warning: host n2 has not answered for [0-9]* s; ranks wait for it (GODWIT_HOST_TIMEOUT=4)$' "$dir/err" || fail "the silence is not said"
done
wait $job || fail "an interruption shorter than the timeout ended the job"

begin 0 "$build/mpiexec" -host n1:2,n2:2 -n 4
cable n2 pull
rc=0
wait $job || rc=$?
[ $rc = 125 ] || fail "status $rc"
gone n1
gone n2
cable n2 plug
sleep 2 # until then the others know that there is no way to it

# ---- Open MPI's mpirun ends with its ranks where it looks after its own connections, by the words of doc/launch.md
begin 0 mpirun.openmpi $(grep -o -- '--mca oob_tcp_keepalive_[a-z]* [0-9]*' "$here/../../doc/launch.md") -x GODWIT_HOST_TIMEOUT --host n1:2,n2:2 -n 4
sleep 2 # its daemons' connections are idle
cable n2 pull
rc=0
wait $job || rc=$?
[ $rc != 0 ] && [ $rc != 124 ] || fail "mpirun: status $rc"
gone n1
gone n2
