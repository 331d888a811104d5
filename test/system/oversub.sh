#!/bin/sh
# 64 ranks on the cores that there are: 200 barriers and 200 allreduces of 8 bytes end within 20 s.
# users.md row 4
# run.py: timeout=30 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
rc=0
timeout 20 "$build/mpiexec" -n 64 "$build/mpi_oversub" || rc=$?
[ $rc != 124 ] || echo "64 ranks took more than 20 s"
exit $rc
