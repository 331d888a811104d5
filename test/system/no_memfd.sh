#!/bin/sh
# Where the kernel refuses memfd_create (EPERM or ENOSYS, as sandboxes do), shared memory lies in unlinked files: everything works,
# silently, and nothing is left.  Where /dev/shm is too small $TMPDIR serves, and where neither has room one sentence says so.
# users.md row 7
# run.py: timeout=300 tags=quick alone=yes
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { head -n 20 "$dir/out"; echo "$*"; exit 1; }
cc -O1 -o "$dir/refuse" "$(dirname "$0")/refuse.c"
"$dir/refuse" memfd EPERM true || { echo "seccomp filters are refused here"; exit 77; }
run() { # answer, ranks, program
    timeout 100 "$dir/refuse" memfd "$1" "$build/mpiexec" -n "$2" "$build/$3" > "$dir/out" 2>&1 || fail "$3 failed at $2 ranks, memfd_create: $1"
    [ ! -s "$dir/out" ] || fail "$3 printed this without being asked"
}
mkdir "$dir/tmp"
ls -A /dev/shm > "$dir/before"
export TMPDIR="$dir/tmp"
for n in 1 2 3 4; do
    run EPERM $n mpi_p2p_types
    run ENOSYS $n mpi_coll_basic
    run EPERM $n mpi_rma_fence
done
run ENOSYS 16 mpi_coll_basic
run ENOSYS 3 mpi_rma_passive
run EPERM 3 mpi_spawn_ports
run ENOSYS 2 mpi_spawn_windows
GODWIT_VNODES=2 run EPERM 4 mpi_coll_basic
timeout 60 "$dir/refuse" memfd EPERM "$build/mpi_p2p_types" > "$dir/out" 2>&1 || fail "a singleton failed"
[ -z "$(ls -A "$dir/tmp")" ] || { ls -A "$dir/tmp"; echo "left in TMPDIR"; exit 1; }
ls -A /dev/shm | grep godwit | grep -vxFf "$dir/before" && { echo "left in /dev/shm"; exit 1; }
GODWIT_EXPLAIN=boot timeout 60 "$dir/refuse" memfd EPERM "$build/mpi_p2p_types" > "$dir/out" 2>&1 || fail "a singleton failed"
grep -q 'boot: memfd_create is refused (Operation not permitted): godwit-alone is an unlinked file' "$dir/out" || fail "boot does not say why"

unshare -m true 2> "$dir/out" || { echo "note: no mount namespaces, /dev/shm is not made small"; exit 0; }
small() { timeout 100 unshare -m sh -c 'mount -t tmpfs -o size=2m tmpfs /dev/shm && "$@"' sh "$dir/refuse" memfd EPERM "$build/mpiexec" -n 4 "$@" > "$dir/out" 2>&1; }
small "$build/mpi_coll_basic" || fail "/dev/shm is small, and TMPDIR was not used"
export TMPDIR=/dev/shm
if small "$build/mpi_coll_basic"; then fail "4 ranks share 2 MiB?"; fi
grep -q 'does not fit into /dev/shm nor $TMPDIR; memfd_create, which needs neither, is refused here' "$dir/out" || fail "it does not say that there is no room"
