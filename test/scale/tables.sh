#!/bin/sh
# run.py: timeout=200
# What the tables in tune/ choose between nodes costs at most a tenth more than the best algorithm, on both machines that stand for
# users'; half as much again where the machines disagree on where the one algorithm should end and the next begin.
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
between=$(dirname "$0")/../../tune/between.py
for machine in cluster ethernet; do
    "$between" "$1" --machine $machine --most 512 --at-most 1.1 barrier gather scatter alltoall allreduce scan exscan
    "$between" "$1" --machine $machine --most 512 --at-most 1.5 bcast allgather reduce reduce_scatter alltoallv
done

# OpenSHMEM's collectives are priced by their own names, as what src/sym/coll.c makes them of, for a million PEs too.
sim() { "$1/sim/sim" --machine slingshot --coll "$2" --alg table --ranks 1048576 --bytes 8 | tail -n 1; }
for pair in shmem_barrier_all:barrier shmem_broadcast:bcast shmem_reduce:allreduce; do
    [ -n "$(sim "$1" ${pair%:*})" ] && [ "$(sim "$1" ${pair%:*})" = "$(sim "$1" ${pair#*:})" ] || { echo "tables: $pair differ"; exit 1; }
done
