#!/bin/sh
# Rank order on two hosts under Hydra (PMI-1 and PMI-2) and Open MPI's mpirun (PMIx): which ranks share a node is what the method says, and
# messages find the right process.  Hydra deals four processes out one by one, so its own order is a b a b.
# run.py: timeout=120 tags=cluster
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
if [ "${2-}" != inside ]; then
    here=$(cd "$(dirname "$0")" && pwd)
    exec "$here/cluster" --hosts 2 sh "$here/order.sh" "${1:-$here/../../build}" inside
fi
build=$1
fail() { echo "order: $*"; exit 1; }
export MPICH_RANK_REORDER_FILE="/tmp/godwit-order.$(cat /proc/sys/kernel/random/uuid)"
trap 'rm -f "$MPICH_RANK_REORDER_FILE"*' EXIT
printf "3,0 # the first node's\n1-2\n" >"$MPICH_RANK_REORDER_FILE"

hydra() { timeout 30 mpiexec.hydra -hosts n1,n2 -n 4 "$build/mpi_nodes" "$@"; }
if command -v mpiexec.hydra >/dev/null; then
    hydra a b a b || fail "PMI-1 as Hydra has it"
    MPICH_RANK_REORDER_METHOD=1 hydra a a b b || fail "PMI-1, method 1"
    MPICH_RANK_REORDER_METHOD=3 hydra a b b a || fail "PMI-1, method 3"
    GODWIT_PMI=2 hydra a b a b || fail "PMI-2 as Hydra has it"
    GODWIT_PMI=2 MPICH_RANK_REORDER_METHOD=2 hydra a b b a || fail "PMI-2, method 2"
    MPICH_RANK_REORDER_METHOD=1 GODWIT_VNODES=2 hydra a b c d || fail "method 1, faked nodes"
    # Each host has a file of its own: of the same order, which is taken, and of another one, which is told.
    own() { timeout 30 mpiexec.hydra -hosts n1,n2 -n 4 sh -c 'MPICH_RANK_REORDER_FILE=$MPICH_RANK_REORDER_FILE.$(hostname) exec "$@"' sh "$build/mpi_nodes" "$@"; }
    cp "$MPICH_RANK_REORDER_FILE" "$MPICH_RANK_REORDER_FILE.n1"
    echo "3,0,1,2" >"$MPICH_RANK_REORDER_FILE.n2"
    MPICH_RANK_REORDER_METHOD=3 own a b b a || fail "the same order in files of two hosts"
    echo "0,3,1,2" >"$MPICH_RANK_REORDER_FILE.n2"
    rc=0
    said=$(MPICH_RANK_REORDER_METHOD=3 own a b b a 2>&1) || rc=$?
    [ $rc != 0 ] && [ $rc != 124 ] || fail "different orders of two hosts: status $rc"
    case $said in *"$MPICH_RANK_REORDER_FILE.n2"*) ;; *) fail "of different orders of two hosts it said: $said" ;; esac
    echo "0,1,9" >"$MPICH_RANK_REORDER_FILE"
    said=$(MPICH_RANK_REORDER_METHOD=3 hydra a b a b 2>&1) && fail "a bad file was taken"
    case $said in *"$MPICH_RANK_REORDER_FILE:1: there is no rank 9"*) ;; *) fail "of a bad file it said: $said" ;; esac
fi
if command -v mpirun.openmpi >/dev/null; then
    ompi() {
        timeout 30 mpirun.openmpi --allow-run-as-root --host n1:2,n2:2 -n 4 -x MPICH_RANK_REORDER_METHOD "$build/mpi_nodes" "$@"
    }
    MPICH_RANK_REORDER_METHOD=auto ompi a a b b || fail "PMIx as mpirun has it"
    MPICH_RANK_REORDER_METHOD=2 ompi a b b a || fail "PMIx, method 2"
fi
