#!/bin/sh
# Registrations of memory: kept or not, as the settings and the kernel say; and which monitor reports to libfabric's own caches that
# memory was freed: never replaced functions, unless the user asks for them.
# users.md row 19
# run.py: timeout=120
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
"$build/godwit-info" --network 2>/dev/null | grep -q "tcp;ofi_rxm" || { echo "skipped: no provider tcp;ofi_rxm here"; exit 77; }
unset FI_MR_CACHE_MONITOR
export GODWIT_OFI_PROVIDER="tcp;ofi_rxm" GODWIT_NET_RENDEZVOUS=enabled GODWIT_NET_GET_MAX=512K GODWIT_EXPLAIN=wire FI_LOG_LEVEL=info
out=$(mktemp)
trap 'rm -f "$out"' EXIT
fail() { echo "registrations: $*"; grep -v "^libfabric" "$out"; exit 1; }
run() { timeout 60 env "$@" "$build/mpiexec" --vnodes 2 -n 2 "$build/mpi_p2p_remap" $word >"$out" 2>&1 || fail "$*"; }
says() { grep -qF -- "lane 0: registrations of memory are $*" "$out" || fail "no '$*' in"; }
told() { # libfabric read this; where its log says nothing of the kind, nothing is learnt
    grep -q "var mr_cache_monitor=" "$out" || { echo "not tested: this libfabric does not say what it reads"; return; }
    ! grep "var mr_cache_monitor=" "$out" | grep -qv "=$1\$" || fail "libfabric was not told $1"
}
word=each
run A=1
says "not kept: with this provider they cost nothing"
run GODWIT_REG_CACHE=enabled GODWIT_REG_CACHE_ENTRIES=0
says "not kept: GODWIT_REG_CACHE_ENTRIES=0"
run MPICH_GNI_NDREG_LAZYMEM=disabled
says "not kept: MPICH_GNI_NDREG_LAZYMEM=disabled"
for who in disabled kdreg2 memhooks; do
    run GODWIT_REG_CACHE=enabled GODWIT_REG_CACHE_MONITOR=$who
    says "not kept: GODWIT_REG_CACHE_MONITOR is not userfaultfd"
    told $who
done
run GODWIT_REG_CACHE=enabled FI_MR_CACHE_MONITOR=memhooks
says "not kept: FI_MR_CACHE_MONITOR is not userfaultfd"
told memhooks
word=kept
run GODWIT_REG_CACHE=enabled
if grep -q "the kernel refuses userfaultfd" "$out"; then
    told disabled
    echo "skipped in part: registrations that are kept; the kernel refuses userfaultfd"
    exit 0
fi
says "kept, at most 1024, until userfaultfd tells that it is freed"
told userfaultfd
