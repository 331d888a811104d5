#!/bin/sh
# MPI_Comm_spawn with the info key soft starts fewer processes where there is no room for all (MPI 4.1 section 11.8.4).
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
ulimit -n 60
for n in 1 2; do timeout 25 "$build/mpiexec" -n $n "$build/mpi_spawn_soft" room; done
GODWIT_SINGLETON=1 timeout 25 "$build/mpi_spawn_soft" room
