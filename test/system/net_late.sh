#!/bin/sh
# libfabric is opened by a message to another node, not by MPI_Init and MPI_Finalize, and where asked for, at once.
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
command -v strace >/dev/null || { echo "skipped: no strace here"; exit 77; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
opened() { # SETTING PROGRAM [WORD]: how many of three ranks on two nodes opened it
    env GODWIT_WIRES=shm,ofi "$1" timeout 50 strace -f -qq -o "$log" -e trace=openat "$build/mpiexec" -n 3 --vnodes 2 "$build/$2" ${3-} >/dev/null || { echo "net_late: $2 failed with $1"; exit 1; }
    grep 'libfabric\.so\.1' "$log" | grep -vc ENOENT || true
}
n=$(opened GODWIT_NET_OPEN=late mpi_net_late silent)
[ "$n" = 0 ] || { echo "net_late: $n of 3 ranks opened the network and sent nothing"; exit 1; }
n=$(opened GODWIT_NET_OPEN=early mpi_net_late silent)
[ "$n" = 3 ] || { echo "net_late: early: $n of 3 ranks opened the network"; exit 1; }
n=$(opened GODWIT_NET_OPEN=late mpi_net_late)
[ "$n" = 3 ] || { echo "net_late: $n of 3 ranks opened the network, and all sent something"; exit 1; }
