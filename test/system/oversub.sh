#!/bin/sh
# 64 ranks on the cores that there are: 200 barriers and 200 allreduces of 8 bytes end within 20 s.
# users.md row 4
# run.py: timeout=120 tags=quick alone=yes
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
. "$(dirname "$0")/../launch/clock.sh"
dir=$(mktemp -d)
trap 'clock_stop; rm -rf "$dir"' EXIT
clock_start "$dir"
rc=0
t0=$(now_ms)
timeout 100 "$build/mpiexec" -n 64 "$build/mpi_oversub" || rc=$?
[ $(($(now_ms) - t0)) -lt 20000 ] || { echo "64 ranks took more than 20 s"; exit 1; }
exit $rc
