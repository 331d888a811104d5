#!/bin/sh
# run.py: tags=quick
# The applications of one command are process sets of sessions, whose ranks find each other.
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
[ -x "$build/mpi_session_psets" ] || { echo "no session_psets in $build"; exit 77; }
"$build/mpiexec" -n 2 "$build/mpi_session_psets" 3 : -n 1 "$build/mpi_session_psets" 3 : -n 3 "$build/mpi_session_psets" 3
"$build/mpiexec" -n 1 "$build/mpi_session_psets" 2 : -n 4 "$build/mpi_session_psets" 2
