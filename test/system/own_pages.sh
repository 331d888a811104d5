#!/bin/sh
# The library's own memory lies on large pages where the system grants them, with no variable set: the node's segment, on a tmpfs that is mounted so,
# and the network's buffers.  Where the system does not, one line of GODWIT_EXPLAIN=boot says so, and nothing is touched for it.
# run.py: timeout=200 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { head -n 30 "$dir/out"; echo "own_pages: $*"; exit 1; }
run() { timeout 100 "$@" > "$dir/out" 2>&1 || fail "a job failed: $*"; }
thp=/sys/kernel/mm/transparent_hugepage
program=$build/mpi_own_pages
# most WORD: the largest of the ranks' numbers behind this word; least WORD: the smallest
numbers() { sed -n "s/^rank [0-9]*: .*$1 \([0-9]*\).*/\1/p" "$dir/out" | sort -n; }
most() { numbers "$1" | tail -n 1; }
least() { numbers "$1" | head -n 1; }

# As this machine is.  The setting that turns it off has the same pages resident, give or take a few that chance decides about.
run env GODWIT_HUGE_PAGES=off "$build/mpiexec" -n 4 "$program"
off=$(most of)
[ "$(most segment)" = 0 ] || fail "off: not off"
run env GODWIT_EXPLAIN=boot "$build/mpiexec" -n 4 "$program"
if [ ! -e $thp/shmem_enabled ] || grep -qE '\[(never|deny)\]' $thp/shmem_enabled; then
    grep -q "boot: the node's segment lies on ordinary pages: this system gives no others to shared memory" "$dir/out" || fail "it does not say why not"
    [ "$(most segment)" = 0 ] || fail "huge pages that nobody gave?"
    [ "$(most of)" -le $((off + 64)) ] || fail "$(most of) KiB of the segment are resident in a rank, $off with it off"
else
    grep -qE "boot: the node's segment of [0-9.]+ MiB may lie on huge pages|ordinary pages: huge ones could take too much" "$dir/out" || fail "it does not say so"
    ! grep -q 'may lie on huge pages' "$dir/out" || [ "$(least segment)" -ge 2048 ] || fail "this system gives them, and the segment has none"
fi

# The network's buffers, where the system gives a process's own memory large pages.
if grep -qE '\[(always|madvise)\]' $thp/enabled 2> /dev/null && [ "$(awk '$1 == "MemAvailable:" {print $2}' /proc/meminfo)" -gt 16000000 ]; then
    MPICH_OFI_USE_PROVIDER=net run "$build/mpiexec" -n 2 --vnodes 2 "$program"
    [ "$(least own)" -ge 2048 ] || fail "the network's buffers lie on ordinary pages"
    MPICH_OFI_USE_PROVIDER=net GODWIT_HUGE_PAGES=off run "$build/mpiexec" -n 2 --vnodes 2 "$program"
    [ "$(most own)" = 0 ] || grep -q '\[always\]' $thp/enabled || fail "off: not off for the network"
else
    echo "note: this system gives no large pages to a process's own memory, or has little of it"
fi

# A system that grants them to shared memory: a tmpfs of our own, where the segment lies if there are no memfds.
cc -O1 -o "$dir/refuse" "$(dirname "$0")/refuse.c"
"$dir/refuse" room EPERM true || { echo "note: seccomp filters are refused here"; exit 0; }
unshare -m sh -c 'mount -t tmpfs -o huge=advise tmpfs /dev/shm' 2> "$dir/out" || { echo "note: no tmpfs with large pages can be mounted here"; exit 0; }
granted() {
    set -- unshare -m sh -c 'mount -t tmpfs -o huge=advise tmpfs /dev/shm && "$@"' sh "$dir/refuse" room EPERM "$@"
    run "$@"
}
for n in 2 4 8; do
    granted "$build/mpiexec" -n $n "$program"
    [ "$(least segment)" -ge 2048 ] || fail "$n ranks: the segment lies on ordinary pages where the system grants large ones"
done
granted "$build/mpiexec" -n 4 "$build/mpi_coll_basic"
granted "$build/mpiexec" -n 4 "$build/mpi_p2p_types"
granted env GODWIT_EXPLAIN=boot "$build/mpiexec" -n 4 "$program"
grep -qE "boot: the node's segment of [0-9.]+ MiB may lie on huge pages" "$dir/out" || fail "it does not say so"
grep -qE "boot: the node's segment: [1-9][0-9]*\.[0-9] MiB of [0-9.]+ in this process lay on huge pages" "$dir/out" || fail "it does not say how much"
granted env GODWIT_HUGE_PAGES=off "$build/mpiexec" -n 4 "$program"
[ "$(most segment)" = 0 ] || fail "off: not off"
