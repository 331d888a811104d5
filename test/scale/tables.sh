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
