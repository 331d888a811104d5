#!/bin/sh
# A rank is killed inside a system call of a collective write: the job ends, and every write that was complete is in the file.
# run.py: timeout=100 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for n in 2 4 5; do
    for calls in 1 30 77; do
        rm -rf "$dir/run"
        mkdir "$dir/run"
        rc=0
        timeout 100 "$build/mpiexec" -n $n "$build/mpi_io_kill" "$dir/run" die $calls > "$dir/out" 2>&1 || rc=$?
        [ $rc != 0 ] && [ $rc != 124 ] && [ $rc != 3 ] || { head -n 5 "$dir/out"; echo "$n ranks, call $calls: the job ended with $rc"; exit 1; }
        rounds=$(timeout 100 "$build/mpiexec" -n 1 "$build/mpi_io_kill" "$dir/run" check $n) || { echo "$n ranks, call $calls: lost data"; exit 1; }
        [ $calls = 1 ] || [ "${rounds%% *}" -gt 0 ] || { echo "$n ranks, call $calls: no round was complete"; exit 1; }
    done
done
