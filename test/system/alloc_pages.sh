#!/bin/sh
# MPICH_ALLOC_MEM_PG_SZ and its relatives, each set alone: memory of MPI_Alloc_mem and MPI_Win_allocate lies on pages of that size, as the kernel says;
# where the machine has none, a sentence by one rank says which it lies on, or the call fails if that is wanted.
# run.py: timeout=300 tags=quick alone=yes
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
program=$build/mpi_alloc_pages
fail() { cat "$dir/out"; echo "alloc_pages: $*"; exit 1; }
# run N VARIABLE=VALUE... [-- ARG]
run() {
    n=$1
    shift
    timeout 60 env "$@" "$build/mpiexec" -n "$n" "$program" > "$dir/out" 2>&1 || fail "a job failed: $n ranks, $*"
}
pieces() { grep -c "^rank [0-9]*: .* page $1 KiB, huge $2" "$dir/out"; }
# sentences WHICH: how many say that memory lies on ordinary pages, or on pages of 2 MiB
sentences() { grep -c "cannot lie on pages of .*it lies on $1" "$dir/out" || true; }
# large N VARIABLE=VALUE: all pieces, three a rank, lie on large pages; once nothing forbids the kernel to move them.
large() {
    for try in 1 2 3; do
        run "$@"
        [ "$(grep -c ', all$' "$dir/out")" = $((3 * $1)) ] && return
        grep -q 'too many tasks want to run here' "$dir/out" || fail "$*: ordinary pages"
        sleep 1
    done
    grep -q 'it lies on ordinary pages' "$dir/out" || fail "$*: no sentence"
    echo "note: this machine was too busy for transparent huge pages"
}

for v in A=1 MPICH_ALLOC_MEM_PG_SZ=4096 MPICH_ALLOC_MEM_PG_SZ=4K MPICH_ALLOC_MEM_HUGE_PAGES=0 MPICH_ALLOC_MEM_POLICY=PREFERRED; do
    run 2 $v
    [ "$(pieces "[0-9]*" "0 KiB")" = 6 ] || fail "$v: large pages"
    [ "$(grep -vc '^rank' "$dir/out")" = 0 ] || fail "$v: something was said"
done
# A value that is no size, and one that pages cannot have.
run 2 MPICH_ALLOC_MEM_PG_SZ=huge
grep -q 'MPICH_ALLOC_MEM_PG_SZ.*huge' "$dir/out" || fail "a value that is no size is not told"
[ "$(pieces "[0-9]*" "0 KiB")" = 6 ] || fail "large pages for a value that is no size"

size=$(cat /sys/kernel/mm/transparent_hugepage/hpage_pmd_size 2> /dev/null || echo 0)
pool=/sys/kernel/mm/hugepages/hugepages-2048kB
if [ "$size" = 2097152 ] && ! grep -q '\[never\]' /sys/kernel/mm/transparent_hugepage/enabled; then
    for n in 1 2 4; do large $n MPICH_ALLOC_MEM_PG_SZ=2M; done
    [ "$(sentences .)" = 0 ] || grep -q 'too many tasks' "$dir/out" || fail "a sentence, though they are there"
    large 3 MPICH_ALLOC_MEM_HUGE_PAGES=1
    large 2 MPICH_ALLOC_MEM_HUGEPG_SZ=2M
    # Sizes that the machine has not: the next smaller one, and one sentence.
    large 3 MPICH_ALLOC_MEM_PG_SZ=16M
    [ "$(sentences "pages of 2 MiB")" = 1 ] || grep -q 'too many tasks' "$dir/out" || fail "16M: $(sentences .) sentences"
    [ "$(sentences ordinary)" -le 1 ] || fail "16M: each rank says it"
    [ "$(cat /sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages 2> /dev/null || echo 0)" != 0 ] || {
        large 3 MPICH_ALLOC_MEM_PG_SZ=1G
        grep -q 'cannot lie on pages of 1 GiB .*it lies on' "$dir/out" || fail "1G: no sentence"
    }
fi
if [ -d $pool ] && [ "$(cat $pool/free_hugepages)" -ge 100 ]; then
    before=$(cat $pool/free_hugepages)
    run 4 MPICH_ALLOC_MEM_PG_SZ=2M
    [ "$(pieces 2048 "[0-9]* KiB, all")" = 12 ] || fail "the pool has pages, and they are not taken"
    [ "$(cat $pool/free_hugepages)" -ge $((before - 1)) ] || fail "pages of the pool are not given back"
fi
# 3M: no page is so large; with =mandatory the call fails, and says why.
run 2 MPICH_ALLOC_MEM_PG_SZ=3M
[ "$(sentences .)" = 1 ] || fail "3M: $(sentences .) sentences"
fails() { timeout 60 env "$@" MPICH_ALLOC_MEM_POLICY=MANDATORY "$build/mpiexec" -n 2 "$program" fails > "$dir/out" 2>&1 || fail "mandatory: $*"; }
fails MPICH_ALLOC_MEM_PG_SZ=3M
grep -q 'there are no pages of 3 MiB .*: this machine has \(none of that size\|no pool\)' "$dir/out" || fail "3M: not why"
# A size that the kernel knows and of which nobody has reserved any: what is missing, and the file where it is asked for.
size=/sys/kernel/mm/hugepages/hugepages-1048576kB
if [ -d $size ] && [ "$(cat $size/nr_hugepages)$(cat $size/nr_overcommit_hugepages)" = 00 ]; then
    fails MPICH_ALLOC_MEM_PG_SZ=1G
    grep -q "there are no pages of 1 GiB .*: none is reserved on this machine, and 1 is needed: root writes how many into $size/nr_hugepages" \
        "$dir/out" || fail "1G: not why"
fi
# With =mandatory the answer is the same on a busy machine.
answer() { timeout 60 env MPICH_ALLOC_MEM_PG_SZ=2M MPICH_ALLOC_MEM_POLICY=MANDATORY "$build/mpiexec" -n 2 "$program" > "$dir/out" 2>&1 && grep -c ', all$' "$dir/out"; }
quiet=$(answer) || quiet=none
busy= one=
for i in $(seq $(($(nproc) * 4 + 4))); do
    nice -n 19 sh -c 'while :; do :; done' &
    busy="$busy $!"
done
loud=$(answer) || loud=none
# Nor does a busy machine make two sentences that contradict each other: it lies on pages of 2 MiB, and on ordinary ones.
timeout 60 env MPICH_ALLOC_MEM_PG_SZ=4M "$build/mpiexec" -n 2 "$program" > "$dir/out" 2>&1 || one="a job failed"
[ "$(sentences .)" = 1 ] || one="$(sentences .) sentences"
kill $busy
[ -z "$one" ] || fail "4M on a busy machine: $one"
[ "$quiet" = "$loud" ] || fail "mandatory: $quiet pieces on large pages of a quiet machine, $loud of a busy one"
# Pages that somebody has reserved are taken: where the kernel lets this test do so, some of its own.
reserved=
if [ -w $pool/nr_hugepages ] && [ "$(cat $pool/nr_hugepages)" = 0 ]; then
    reserved=0
    trap 'echo $reserved > $pool/nr_hugepages; rm -rf "$dir"' EXIT
    { echo 40 > $pool/nr_hugepages; } 2> "$dir/err" || true
fi
if [ -n "$reserved" ] && [ "$(cat $pool/free_hugepages)" = 40 ]; then
    quiet=$(answer) || fail "mandatory, with a pool"
    [ "$quiet" = 6 ] && [ "$(pieces 2048 "[0-9]* KiB, all")" = 6 ] || fail "pages of the pool are there, and not taken"
    fails MPICH_ALLOC_MEM_PG_SZ=1G
    [ "$(cat $pool/free_hugepages)" = 40 ] || fail "pages of the pool are not given back"
fi
