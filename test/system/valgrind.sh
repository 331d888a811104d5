#!/bin/sh
# Programs are clean under valgrind: 0 errors, 0 bytes lost; init + barrier + finalize keep nothing at all.
# users.md row 21
# run.py: timeout=120
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
for n in 1 3; do
    timeout 300 "$build/mpiexec" -n $n valgrind -q --error-exitcode=9 --leak-check=full --show-leak-kinds=all \
        --errors-for-leak-kinds=all "$build/mpi_hello"
done
for run in "2 p2p_types" "3 comm_make" "2 coll_nonblocking" "3 fork"; do
    timeout 300 "$build/mpiexec" -n ${run% *} valgrind -q --error-exitcode=9 --leak-check=full \
        --show-leak-kinds=definite,indirect,possible --errors-for-leak-kinds=definite,indirect,possible "$build/mpi_${run#* }"
done
