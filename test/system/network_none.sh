#!/bin/sh
# On one node no DNS, no network interface and no libfabric is touched: runs in a namespace with only lo and a bogus host name.
# users.md row 9
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
unshare --net --uts true 2>/dev/null || { echo "namespaces are refused here"; exit 77; }
unshare --net --uts sh -c "ip link set lo up; hostname no-such-host.invalid; exec timeout 100 '$build/mpiexec' -n 4 '$build/mpi_citizen'"
# No socket of the Internet families, no resolver, no libfabric in any rank.
if command -v strace >/dev/null; then
    log=$(mktemp)
    timeout 100 strace -f -qq -o "$log" -e trace=socket,openat "$build/mpiexec" -n 2 "$build/mpi_citizen"
    if grep -E 'AF_INET|resolv\.conf|libfabric|/etc/hosts' "$log"; then
        echo "the network was touched"
        rm -f "$log"
        exit 1
    fi
    rm -f "$log"
fi
