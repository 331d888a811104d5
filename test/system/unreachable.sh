#!/bin/sh
# Two hosts that are made to use interfaces which do not reach each other: the pair is named within seconds, with the interface,
# whether the kernel knows that there is no way or packets just vanish.
# run.py: timeout=120 tags=cluster
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
command -v mpiexec.hydra >/dev/null || { echo "skipped: no mpiexec.hydra here"; exit 77; }
exec "$here/../cluster/cluster" --hosts 2 sh -c '
    build=$0
    out=$(mktemp)
    trap "rm -f $out" EXIT
    fail() { echo "unreachable: $*"; cat "$out"; exit 1; }
    for i in 1 2; do
        on n$i ip link add priv type veth peer name privp || exit 77
        on n$i ip addr add 10.99.$i.1/24 dev priv
        on n$i ip link set priv up
        on n$i ip link set privp up
    done
    job() { timeout 100 mpiexec.hydra -hosts n1,n2 -n 2 "$build/mpi_p2p_sendrecv" >"$out" 2>&1; }
    job || fail "the network that both have does not work"
    ! grep -q "gets no answer" "$out" || fail "a warning without reason"
    export GODWIT_NET_IFACE=priv
    ! job || fail "a job went on without a way"
    grep -qE "rank [01] \([^)]*10\.99\.[12]\.1[^)]* on priv of n[12]\) failed: Network is unreachable" "$out" || fail "no route: the pair is not named"
    for i in 1 2; do on n$i ip route add default via 10.78.0.77; done # nobody is there
    export GODWIT_NET_TIMEOUT=7
    warning="warning: rank 0 \(host n1\) gets no answer from rank 1 at [^ ]*10\.99\.2\.1:[0-9]*, by way of eth0 10\.78\.0\.1, for 5 s"
    end="rank ([01]) .* gets no answer from rank [01] .*, for [78] s"
    for try in 1 2 3; do # a rank that stands still for a second tells of more
        ! job || fail "a job went on without an answer"
        if grep -qE "$warning" "$out" && grep -qE "$end" "$out"; then break; fi
    done
    grep -qE "$warning" "$out" || fail "vanishing packets: no warning"
    grep -qE "$end" "$out" || fail "the job did not end of it"
' "$build"
