#!/bin/sh
# What matches messages from other nodes (GODWIT_MATCH_MODE): the network, Godwit, or first the one and then the other; on faked nodes with a
# provider that really takes only so many receives.
# run.py: timeout=240
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
"$build/godwit-info" --network 2>/dev/null | grep -q "tcp;ofi_rxm" || { echo "skipped: no provider tcp;ofi_rxm here"; exit 77; }
provider="tcp;ofi_rxm"
out=$(mktemp)
trap 'rm -f "$out"' EXIT
fail() { echo "match_modes: $*"; cat "$out"; exit 1; }
says() { grep -qF -- "$1" "$out" || fail "no '$1' in"; }
count() { [ "$(grep -cF -- "$2" "$out")" = "$1" ] || fail "not $1 times '$2' in"; }
run() { # MODE ARGUMENTS...: of mpiexec, on two faked nodes
    mode=$1
    shift
    GODWIT_OFI_PROVIDER=$provider GODWIT_MATCH_MODE=$mode MPICH_STATS_DISPLAY=1 GODWIT_EXPLAIN=proto,wire timeout 60 "$build/mpiexec" --vnodes 2 "$@" >"$out" 2>&1
}
taken_over="matches messages from other nodes itself"

# The network matches as long as nothing stands in the way.
run hardware -n 4 "$build/mpi_p2p_tagged" posted unexpected buffers || fail "hardware"
count 0 "$taken_over"
says "messages from other nodes are matched by the network"
says "MPICH_STATS: net_matched "
run software -n 4 "$build/mpi_p2p_tagged" || fail "software"
count 0 "net_matched"
count 0 "matched by the network"
# Unless the user says otherwise the network matches nothing.
unset GODWIT_MATCH_MODE FI_CXI_RX_MATCH_MODE
GODWIT_OFI_PROVIDER=$provider MPICH_STATS_DISPLAY=1 GODWIT_EXPLAIN=proto,wire timeout 60 "$build/mpiexec" --vnodes 2 -n 4 "$build/mpi_p2p_tagged" >"$out" 2>&1 || fail "no mode"
count 0 "net_matched"
count 0 "matched by the network"
# Wildcards over shared memory and network: the rank that has them takes over, and no other.
run hardware -n 4 "$build/mpi_p2p_tagged" wildcards || fail "wildcards"
count 1 "$taken_over"
says "godwit[0] proto: lane 0 $taken_over"

# 40 receives at once, and entries for 16: hardware warns and ends; hybrid goes on, one rank by itself.
export GODWIT_MATCH_ENTRIES=16
! run hardware -n 4 "$build/mpi_p2p_tagged" posted || fail "no entries were left, and nothing was wrong"
says "12 of 16 match entries of the network are in use"
says "LE resources not recovered during flow control"
says "FI_CXI_RX_MATCH_MODE)=[hybrid OR software] is required"
run hybrid -n 4 "$build/mpi_p2p_tagged" posted unexpected || fail "hybrid"
count 1 "$taken_over"
says "godwit[0] proto: lane 0 $taken_over from now on: match entries of the network run out"
count 0 "entries of the network are in use"
# What came before its receive takes an entry, too: 8 are fewer than what there is, 40 more.
run hardware -n 4 "$build/mpi_p2p_tagged" unexpected early=8 || fail "8 unexpected messages do not fit 16 entries"
! run hardware -n 4 "$build/mpi_p2p_tagged" unexpected || fail "40 unexpected messages fit 16 entries"
says "16 hold messages that came before their receives"
says "LE resources not recovered during flow control"
run hybrid -n 4 "$build/mpi_p2p_tagged" unexpected || fail "hybrid with unexpected messages"
count 1 "$taken_over"
says "godwit[0] proto: lane 0 $taken_over from now on: match entries of the network run out"
unset GODWIT_MATCH_ENTRIES
# The same with what the provider itself has: 2048.
! run hardware -n 2 "$build/mpi_p2p_order" || fail "the provider took all receives"
says "LE resources not recovered during flow control"
GODWIT_OFI_PROVIDER=$provider FI_CXI_RX_MATCH_MODE=hybrid GODWIT_EXPLAIN=proto timeout 60 "$build/mpiexec" --vnodes 2 -n 2 "$build/mpi_p2p_order" >"$out" 2>&1 || fail "hybrid by its other name"
says "match entries of the network run out"

# Layouts of the tag, and what does not fit them.
for layout in ofi_tag_1=2147483647 ofi_tag_2=524287 ofi_tag_full=2147483647; do
    GODWIT_OFI_TAG_MODE=${layout%=*} run hardware -n 4 "$build/mpi_p2p_tagged" "limit=${layout#*=}" posted unexpected tags buffers wildcards || fail "$layout"
    says "matches with ${layout%=*}"
done
mtl_ofi_tag_mode=ofi_tag_1 run hardware -n 2 "$build/mpi_p2p_tagged" communicators served=4095 || fail "communicators beyond the network's"
says "ofi_tag_1 has ids up to 4095: GODWIT_OFI_TAG_MODE=ofi_tag_2 may have more"
# A rank that differs is told so; a provider that cannot is named.
! run hardware -n 1 "$build/mpi_hello" : -n 1 env GODWIT_MATCH_MODE=software "$build/mpi_p2p_modes" || fail "ranks differ, and nobody noticed"
says "do not agree on matching by the network"
# A provider that loses what is beside the tag: the source lies in the tag.
provider="udp;ofi_rxd"
run hardware -n 4 "$build/mpi_p2p_tagged" wildcards posted unexpected || fail "matching by udp;ofi_rxd"
says "matches with ofi_tag_1"
provider=net,^ofi_rxm
! run hardware -n 2 "$build/mpi_p2p_modes" || fail "net matches"
says "stops a connection at a message that nobody waits for"
run hybrid -n 2 "$build/mpi_p2p_modes" || fail "hybrid with net"
count 0 "matched by the network"
says "GODWIT_MATCH_MODE=hybrid: no provider of libfabric that may be used has that: Godwit matches messages itself"
