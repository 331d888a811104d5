#!/bin/sh
# GODWIT_HUGE_PAGES=pool: GODWIT_EXPLAIN=boot says which pages of the system's pool (hugetlbfs) the node's segment lies on, or why it does not;
# a pool that is empty, or too small, and ranks that do not all ask for it, are no reason for a job to fail.
# run.py: timeout=300 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
pool=/sys/kernel/mm/hugepages/hugepages-2048kB
fail() { cat "$dir/out"; echo "$*"; exit 1; }
run() { GODWIT_EXPLAIN=boot timeout 100 "$build/mpiexec" "$@" > "$dir/out" 2>&1 || fail "a job failed: $*"; }
told() { grep -qE "$1" "$dir/out" || fail "GODWIT_EXPLAIN=boot does not say: $1"; }
free() { echo $(($(cat $pool/free_hugepages) - $(cat $pool/resv_hugepages))); }

program=$build/mpi_p2p_sendrecv
all=0
left=0
if [ -d $pool ]; then
    all=$(($(cat $pool/nr_hugepages) + $(cat $pool/nr_overcommit_hugepages)))
    left=$(free)
fi
export GODWIT_HUGE_PAGES=pool
run -n 2 "$program"
if [ ! -d $pool ]; then
    told "the node's segment does not lie on pages of the system's pool: this system has none"
elif [ "$all" -eq 0 ]; then
    told "the node's segment does not lie on pages of 2 MiB of the system's pool: none is reserved on this machine, and [0-9]+ (is|are) needed: root writes how many into $pool/nr_hugepages"
elif [ "$left" -ge 32 ]; then
    told "the node's segment of [0-9.]+ MiB lies on [0-9]+ pages of 2 MiB of the system's pool"
else
    told "the node's segment .* of the system's pool"
fi
# As without the pool: what GODWIT_HUGE_PAGES=all does, or says that it cannot.
if grep -q 'does not lie' "$dir/out"; then
    told "a part of the node's segment of [0-9.]+ MiB: "
fi

# More than there is.
if [ "$all" -gt 0 ] && [ "$left" -lt 150 ] && [ "$(cat $pool/nr_overcommit_hugepages)" -eq 0 ]; then
    GODWIT_HEAP=$((left * 5 / 2 + 40))M run -n 2 "$program"
    told "does not lie on pages of 2 MiB of the system's pool: [0-9]+ are needed, and -?[0-9]+ of $(cat $pool/nr_hugepages) are free"
fi

# The ranks disagree: none has it, nobody says otherwise, and who asked says why not.  In each of these orders another one asks.
for settings in "pool all" "all pool" "pool auto pool" "auto pool auto" "auto pool pool" "pool pool auto"; do
    set --
    others=
    n=0
    for s in $settings; do
        [ "$s" = pool ] || others=$others$n # of two the one that is quicker
        n=$((n + 1))
        set -- "$@" : -n 1 env GODWIT_HUGE_PAGES="$s" "$program"
    done
    shift
    run "$@"
    ! grep -qE "the node's segment .* lies on" "$dir/out" || fail "ranks with different settings share the pool: $settings"
    grep -qE "the node's segment does not lie on pages of .*the system's pool: [^r]" "$dir/out" ||
        told "the node's segment does not lie on pages of the system's pool: rank [$others] does not ask for them"
done
# Nothing is kept.
if [ -d $pool ]; then
    for try in 1 2 3 4 5 6 7 8 9 10; do
        [ "$(free)" -ge "$left" ] && break
        sleep 1
    done
    [ "$(free)" -ge "$left" ] || fail "$left pages of the pool were free before, $(free) are now"
fi
