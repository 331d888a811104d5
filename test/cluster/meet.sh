#!/bin/sh
# Jobs on several hosts meet: connect and accept by a port's name, over a socket, by published names; strangers at the port; a port that
# is closed, and one at which nobody accepts; children.  Jobs on one host, on several, and on the same; under mpiexec and the engines.
# run.py: timeout=300 tags=cluster
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
if [ ! "${CLUSTER-}" ]; then
    for tool in mpiexec.hydra mpirun.openmpi; do command -v $tool >/dev/null || { echo "meet: skipped: no $tool here"; exit 77; }; done
    exec "$here/cluster" --slurm "$here/meet.sh" "$build"
fi
fail() { echo "meet: $*"; exit 1; }
dir=$(mktemp -d "$build/meet.XXXXXX") # all hosts see it
trap 'rm -rf "$dir"' EXIT
meet=$build/cluster_meet port=$dir/port
said() { head -c 1500 "$dir/first"; head -c 1500 "$dir/second"; }
# silent FILE...: they hold nothing but what Open MPI's mpirun says when its child is quicker than itself
silent() {
    sed -i '/plm:rsh: Warning: setpgid.*Permission denied/d' "$@"
    [ -z "$(cat "$@")" ]
}
# both NAME: the commands $first and $second side by side; both end well and say nothing
both() {
    rm -f "$port"
    : >"$dir/second"
    timeout 60 $first >"$dir/first" 2>&1 </dev/null & pid=$!
    rc=0 rc_first=0
    timeout 60 $second >"$dir/second" 2>&1 </dev/null || rc=$?
    wait $pid || rc_first=$?
    [ "$rc_first $rc" = "0 0" ] || fail "$1: $rc_first and $rc: $(said)"
    silent "$dir/first" "$dir/second" || fail "$1 says: $(said)"
    echo "$1"
}
# one NAME COMMAND...: the same of one
one() {
    name=$1
    shift
    timeout 60 "$@" >"$dir/first" 2>&1 </dev/null || fail "$name: status $?: $(head -c 1500 "$dir/first")"
    silent "$dir/first" || fail "$name says: $(head -c 1500 "$dir/first")"
    echo "$name"
}
on1="on n1 $build/mpiexec -n 2 $meet" on2="on n2 $build/mpiexec -n 3 $meet"

# Under mpiexec ports are for their host, unless the user says otherwise; a process of another host that connects gets an error that says so.
first="$on1 late $port" second="true"
rm -f "$port"
timeout 60 $first >"$dir/first" 2>&1 </dev/null & pid=$!
for i in $(seq 300); do [ -e "$port" ] && break; sleep 0.1; done
! grep -q @ "$port" || fail "a port of mpiexec is open to other hosts: $(cat "$port")"
one "a port for one host" $on2 closed "$port"
rm "$port"
wait $pid || fail "late: $(cat "$dir/first")"

export GODWIT_PORT_REACH=hosts
first="$on1 serve $port 1" second="$on2 use $port"
both "mpiexec on one host and on another"
one "the port is closed now" $on2 closed "$port"
first="$on1 late $port"
rm "$port"
timeout 60 $first >"$dir/first" 2>&1 </dev/null & pid=$!
one "nobody accepts" $on2 patient "$port"
rm "$port"
wait $pid || fail "late: $(cat "$dir/first")"

# Strangers: silent, with nonsense, with a secret that is almost right.  They get no answer and disturb nobody.
cat >"$dir/stranger.py" <<'END'
import socket, sys, time
text = open(sys.argv[1]).read().strip()
secret, at = text.split(":", 2)[2].split("@")
host, number = at.rsplit(":", 1)
words = bytearray(int(secret[:16], 16).to_bytes(8, sys.byteorder) + int(secret[16:], 16).to_bytes(8, sys.byteorder))
words[15] ^= 1
for i in range(60):
    s = socket.create_connection((host, int(number)), 5)
    s.sendall([b"", b"GET / HTTP/1.0\r\n\r\n", bytes(words), bytes(words[:7])][i % 4])
    if i % 4 == 2:
        s.settimeout(20)
        try:
            assert s.recv(1) == b"", "an answer"
        except ConnectionResetError:
            pass
print("done")
END
first="$on1 serve $port 1" second="sh -c 'while [ ! -e $port ]; do sleep 0.1; done'"
rm -f "$port"
timeout 60 $first >"$dir/first" 2>&1 </dev/null & pid=$!
for i in $(seq 300); do [ -e "$port" ] && break; sleep 0.1; done
[ "$(timeout 60 on n3 python3 "$dir/stranger.py" "$port" 2>&1)" = "done" ] || fail "strangers"
one "after strangers" $on2 use "$port"
wait $pid || fail "the server: $(cat "$dir/first")"

first="on n1 $build/mpiexec -n 1 $meet join $port 1" second="on n2 $build/mpiexec -n 1 $meet join $port 0"
both "MPI_Comm_join between hosts"
first="on n1 $build/mpiexec -n 1 $meet join $port 1" second="on n1 $build/mpiexec -n 1 $meet join $port 0"
both "MPI_Comm_join on a host"
export GODWIT_NAMES_DIR="$dir"
first="$on1 publish a-service $port" second="$on2 lookup a-service -"
both "a published name"
[ ! "$(ls "$dir" | grep godwit-name)" ] || fail "left: $(ls "$dir")"
unset GODWIT_PORT_REACH

# Started by engines, on several hosts.
srun="srun -Q --mpi=pmix --overlap"
first="$srun -w n1,n2 -N 2 -n 4 $meet serve $port 2" second="$srun -w n3 -N 1 -n 2 $meet use $port"
rm -f "$port"
timeout 100 $first >"$dir/first" 2>&1 </dev/null & pid=$!
one "srun: hosts of their own" $second
one "srun: some hosts of both" $srun -w n2,n3 -N 2 -n 3 $meet use "$port"
wait $pid || fail "the server: $(cat "$dir/first")"
first="mpiexec.hydra -hosts n1:2,n2:2 -n 4 $meet publish other $port" second="mpiexec.hydra -hosts n2:1,n3:2 -n 3 $meet lookup other -"
both "Hydra: a published name, some hosts of both"
first="mpirun.openmpi --host n1:2,n2:2 $meet serve $port 1" second="srun -Q --mpi=pmi2 --overlap -w n3,n1 -N 2 -n 3 $meet use $port"
both "mpirun and Slurm by PMI-2"
one "srun: children" $srun -N 3 -n 6 --ntasks-per-node=2 "$meet" spawn 3
one "Hydra: children" mpiexec.hydra -hosts n1:2,n2:2 -n 4 "$meet" spawn 3
one "mpirun: children" mpirun.openmpi --host n1:2,n2:2 "$meet" spawn 2
if command -v prterun >/dev/null; then # prrte.sh
    one "PRRTE: children" prterun --host n1:2,n2:2 -n 4 "$meet" spawn 2
    first="prterun -x GODWIT_NAMES_DIR --host n1:2,n2:2 -n 4 $meet publish third $port" second="prterun -x GODWIT_NAMES_DIR --host n2:1,n3:2 -n 3 $meet lookup third -"
    both "PRRTE: a published name, some hosts of both"
    first="prterun --host n1:2,n2:2 -n 4 $meet serve $port 1" second="$srun -w n3 -N 1 -n 2 $meet use $port"
    both "PRRTE and Slurm"
fi
[ ! "$(ls "$dir" | grep godwit-name)" ] || fail "left: $(ls "$dir")"
echo "meet: all met"
