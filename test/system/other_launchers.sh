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
