#!/bin/sh
# A rank that is blocked in MPI_Recv or MPI_Barrier leaves its core to others, but for GODWIT_WAIT=spin.
# users.md row 4
# run.py: timeout=100 tags=quick alone=yes
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
timeout 100 "$build/mpiexec" -n 3 "$build/mpi_idle" 3 most 2
[ -n "${TEST_QUICK:-}" ] || GODWIT_WAIT=sleep timeout 100 "$build/mpiexec" -n 3 "$build/mpi_idle" 1.4 most 2
GODWIT_WAIT=spin timeout 100 "$build/mpiexec" -n 2 "$build/mpi_idle" 1.4 least 80
