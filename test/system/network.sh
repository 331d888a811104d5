#!/bin/sh
# Messages by the network wire alone, ranks of this one node: started by Hydra, which has the addresses' exchange.  One program, by each
# transport between nodes as the environment alone says: its sums of doubles are the same, bit for bit.
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
command -v mpiexec.hydra >/dev/null || { echo "no mpiexec.hydra here"; exit 77; }
export GODWIT_WIRES=ofi
log=$(mktemp)
trap 'rm -f "$log" "$log.wire"' EXIT
for provider in net "tcp;ofi_rxm" sockets; do
    GODWIT_OFI_PROVIDER=$provider GODWIT_EXPLAIN=wire,proto timeout 60 mpiexec.hydra -n 3 "$build/mpi_p2p_modes" 2>"$log" || { cat "$log"; exit 1; }
    grep -q "provider $provider, address" "$log" || { echo "provider $provider was not used:"; cat "$log"; exit 1; }
done
for p in r0 r1 e1; do GODWIT_PROTO=$p timeout 60 mpiexec.hydra -n 2 "$build/mpi_p2p_modes"; done
timeout 60 mpiexec.hydra -n 4 "$build/mpi_coll_reduce"
timeout 60 mpiexec.hydra -n 5 "$build/mpi_comm_make"
# Our own mpiexec, and some ranks by shared memory, others by the network.
timeout 60 "$build/mpiexec" -n 4 "$build/mpi_p2p_modes"
GODWIT_WIRES=shm,ofi timeout 60 "$build/mpiexec" -n 5 --vnodes 2 "$build/mpi_p2p_modes"
results() { # WIRES PROVIDER WORDS: a fingerprint of each result, of ranks on three faked nodes; WORDS are told of the network
    GODWIT_WIRES=$1 GODWIT_OFI_PROVIDER=$2 GODWIT_EXPLAIN=wire timeout 60 "$build/mpiexec" -n 5 --vnodes 3 "$build/mpi_reproducible" >"$log" 2>"$log.wire" ||
        { echo "$1 $2 failed" >&2; exit 1; }
    grep -q "lane 0: network by $3" "$log.wire" || { echo "$1 $2 was not used:"; cat "$log.wire"; exit 1; } >&2
    [ "$(wc -l <"$log")" = 90 ] || { echo "$1 $2: not all was printed" >&2; exit 1; }
    sort "$log"
}
own=$(results shm,tcp "" "TCP of our own")
[ "$(results shm,ofi net "libfabric .*, provider net")" = "$own" ] || { echo "other bits by libfabric than by TCP of our own"; exit 1; }
# The smallest number of buffers: a sender that finds none waits, nothing is lost.
GODWIT_OFI_SEND_BUFFERS=2 GODWIT_PROGRESS_EVENT_CNT=1 timeout 60 mpiexec.hydra -n 3 "$build/mpi_p2p_stress"
if timeout 60 mpiexec.hydra -n 2 -genv GODWIT_OFI_PROVIDER no_such "$build/mpi_hello" 2>"$log" >&2; then
    echo "a provider that does not exist was accepted"
    exit 1
fi
grep -q "not in GODWIT_OFI_PROVIDER=no_such" "$log" || { echo "no word of the provider:"; cat "$log"; exit 1; }
# What a job on several nodes would take, and why.
unset GODWIT_WIRES
takes() { # WORDS [VARIABLE=VALUE]: godwit-info --network begins with that
    words=$1
    shift
    env "$@" "$build/godwit-info" --network >"$log" 2>&1 || :
    head -n 1 "$log" | grep -q "^between nodes: $words" || { echo "$*: not '$words':"; cat "$log"; exit 1; }
}
takes "libfabric (because of GODWIT_OFI_PROVIDER)" GODWIT_OFI_PROVIDER=net
takes "libfabric (GODWIT_WIRES=shm,ofi does not list tcp)" GODWIT_WIRES=shm,ofi
takes "TCP.* (GODWIT_WIRES=shm,tcp does not list ofi)" GODWIT_WIRES=shm,tcp
takes "nothing, GODWIT_WIRES=shm " GODWIT_WIRES=shm
