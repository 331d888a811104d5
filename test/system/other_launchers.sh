#!/bin/sh
# The same binary runs under our mpiexec, under Debian's mpirun.openmpi (a PMIx server), under MPICH's mpiexec.hydra (PMI-1) and
# alone; under an unknown launcher with several ranks it refuses in one sentence.
# users.md row 2
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
program=$build/mpi_citizen
timeout 100 "$build/mpiexec" -n 4 "$program"
timeout 100 "$program"
command -v mpiexec.hydra >/dev/null && timeout 100 mpiexec.hydra -n 4 "$program"
command -v mpirun.openmpi >/dev/null && timeout 100 mpirun.openmpi --allow-run-as-root --oversubscribe -n 4 "$build/mpi_hello" # libpmix starts a thread of its own
for n in 2 5; do
    [ "$(timeout 100 mpiexec.hydra -n $n "$build/mpi_world_size" | sort -u)" = "$n" ] || { echo "hydra: wrong world size"; exit 1; }
    [ "$(timeout 100 mpirun.openmpi --allow-run-as-root --oversubscribe -n $n "$build/mpi_world_size" | sort -u)" = "$n" ] ||
        { echo "mpirun.openmpi: wrong world size"; exit 1; }
done
# N silent singletons: refused.
if out=$(OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=1 timeout 100 "$program" 2>&1); then
    echo "ran alone although a launcher started four"
    exit 1
fi
[ "$(echo "$out" | wc -l)" -le 2 ] || { echo "too many words: $out"; exit 1; }
OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=1 GODWIT_SINGLETON=1 timeout 100 "$program"
# What a wrapper has closed or cleared, or used up, is named.
said() { # WORDS COMMAND...
    words=$1
    shift
    timeout 60 "$@" </dev/null 2>&1 | grep -q "$words" || { echo "$* does not say '$words'"; exit 1; }
}
ompi="mpirun.openmpi --allow-run-as-root --oversubscribe"
said "(the descriptor of PMI_FD was closed on the way here, as Python's subprocess does without close_fds=False)" \
    mpiexec.hydra -n 2 python3 -c 'import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))' "$build/mpi_hello"
for way in "$ompi" mpiexec.hydra; do
    said "A rank runs one MPI program, once: was another one here before?" $way -n 2 sh -c '"$0" && "$0"' "$build/mpi_hello"
    said "its environment was cleared on the way (env -i" $way -n 2 env -i "LD_LIBRARY_PATH=${LD_LIBRARY_PATH-}" "$build/mpi_hello"
done
# Ranks that use the network in different ways find out, whoever started them, and end in one sentence each.
differ() { # COMMAND...
    if out=$(timeout 60 "$@" 2>&1); then
        echo "different GODWIT_WIRES are accepted: $*"
        exit 1
    fi
    echo "$out" | grep -q "does not use the network in the same way as this one .*: set GODWIT_WIRES alike for all ranks" || { echo "$*: $out"; exit 1; }
}
coll=$build/mpi_coll_basic
differ "$build/mpiexec" --vnodes 2 -n 1 -x GODWIT_WIRES=shm,tcp "$coll" : -n 1 -x GODWIT_WIRES=shm,ofi "$coll"
export GODWIT_VNODES=2
differ mpirun.openmpi --allow-run-as-root --oversubscribe -x GODWIT_VNODES -n 1 -x GODWIT_WIRES=shm,tcp "$coll" : -n 1 -x GODWIT_WIRES=shm,ofi "$coll"
differ mpiexec.hydra -n 1 -env GODWIT_WIRES shm,tcp "$coll" : -n 1 -env GODWIT_WIRES shm,ofi "$coll"
