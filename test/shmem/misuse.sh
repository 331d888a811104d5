#!/bin/sh
# What a program does wrong with OpenSHMEM ends with one sentence that names the call, the argument and its value; the ends of a job; a wait that
# nobody ends is explained (OpenSHMEM 1.6 sections 1, 6, 9.1, 9.3, 9.13).
# run.py: timeout=180 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
prefix=${2:+$(readlink -f "$2")}
[ -n "$prefix" ] && [ -x "$prefix/bin/oshcc" ] || { echo "nothing is installed"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
wrong() { echo "$*"; cat "$tmp/said"; exit 1; }

cat > "$tmp/a.c" <<'EOT'
#include <shmemx.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
static long word, lock;
static uint64_t sig;
static int small[4];
static long p_sync[SHMEM_REDUCE_SYNC_SIZE];
#define IS(x) if (strcmp(how, x) == 0)
int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    long stack = 0;
    shmem_team_t team;
    shmem_init();
    int me = shmem_my_pe(), pes = shmem_n_pes();
    char *block = shmem_malloc(256);
    long *heap = shmem_calloc(4, sizeof *heap);
    IS("pe") shmem_long_p(&word, 1, pes);
    IS("below") shmem_long_atomic_inc(&word, -1);
    IS("stack") shmem_long_put(&stack, &word, 1, (me + 1) % pes);
    IS("unaligned") shmem_long_atomic_inc((long *)(void *)(block + 4), (me + 1) % pes);
    IS("ctx") shmem_ctx_long_p(SHMEM_CTX_INVALID, &word, 1, 0);
    IS("sig_op") shmem_long_put_signal(&word, &stack, 1, &sig, 1, 7, 0);
    IS("cmp") shmem_long_wait_until(&word, 99, 1);
    IS("root") shmem_int_broadcast(SHMEM_TEAM_WORLD, small, small + 1, 1, pes);
    IS("inner") shmem_free(block + 16);
    IS("twice") shmem_free(block), shmem_free(block);
    IS("clear") shmem_clear_lock(&lock);
    IS("set") if (me == 0) shmem_set_lock(heap), shmem_set_lock(heap);
    IS("team") shmem_team_sync((shmem_team_t)(uintptr_t)0x1234567);
    IS("lock_stack") stack = shmem_test_lock(&stack);
    IS("lock_between") shmem_set_lock((long *)(void *)(block + 4));
    IS("lock_value") heap[1] = 1000, shmem_barrier_all(), shmem_set_lock(&heap[1]);
    IS("parent") shmem_team_split_strided((shmem_team_t)(uintptr_t)0x1234567, 0, 1, pes, NULL, 0, &team);
    IS("from") shmem_team_translate_pe((shmem_team_t)(uintptr_t)0x1234567, 0, SHMEM_TEAM_WORLD);
    IS("to") shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, (shmem_team_t)(uintptr_t)0x1234567);
    IS("world") shmem_team_destroy(SHMEM_TEAM_WORLD);
    IS("ctx_none") shmem_ctx_quiet((shmem_ctx_t)(uintptr_t)0x1234567);
    IS("ctx_default") shmem_ctx_destroy(SHMEM_CTX_DEFAULT);
    IS("sig_addr") shmem_long_put_signal(&word, &stack, 1, (uint64_t *)(void *)(block + 4), 1, SHMEM_SIGNAL_SET, 0);
    IS("signal") shmem_signal_add((uint64_t *)(void *)(block + 12), 1, (me + 1) % pes);
    IS("many") shmem_long_fcollect(SHMEM_TEAM_WORLD, heap, heap, SIZE_MAX / 4);
    IS("many_sums") shmem_int_sum_reduce(SHMEM_TEAM_WORLD, small, small, SIZE_MAX / 4);
    IS("stride") shmem_int_alltoalls(SHMEM_TEAM_WORLD, small, small + 2, 0, 1, 1);
    IS("far_apart") shmem_int_iput(small, small + 1, (ptrdiff_t)1 << 62, 1, 9, (me + 1) % pes);
    IS("nreduce") shmem_int_sum_to_all(small, small, -1, 0, 0, pes, small, p_sync);
    size_t bytes[2] = {8, 8}, at[2] = {0, 8}, all = 0;
    IS("packed") shmemx_alltoallv_packed(block, 15, &all, heap, at, bytes, 0, 0, pes, p_sync);
    IS("team_aligned") shmem_team_sync((shmem_team_t)(uintptr_t)0x123456780);
    IS("ctx_aligned") shmem_ctx_long_p((shmem_ctx_t)(uintptr_t)0x123456780, &word, 1, 0);
    IS("ctx_small") shmem_ctx_fence((shmem_ctx_t)(uintptr_t)64);
    IS("ctx_data") shmem_ctx_fence((shmem_ctx_t)(void *)heap);
    IS("pe_quiet") shmem_pe_quiet((int[]){0, pes}, 2);
    IS("ctx_pe_quiet") shmem_ctx_pe_quiet(SHMEM_CTX_DEFAULT, (int[]){-1}, 1);
    IS("held") {
        if (me == pes - 1) shmem_set_lock(&lock);
        shmem_barrier_all();
        if (me != pes - 1) shmem_set_lock(&lock);
    }
    IS("differ") if (me) shmem_barrier_all(); else shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &word, heap, 1);
    IS("session") shmem_ctx_session_start(SHMEM_CTX_DEFAULT, SHMEM_CTX_SESSION_BATCH | 64, NULL, 0);
    IS("session_mask") shmem_ctx_session_start(SHMEM_CTX_DEFAULT, 0, NULL, 8);
    IS("session_config") shmem_ctx_session_start(SHMEM_CTX_DEFAULT, 0, NULL, SHMEM_CTX_SESSION_TOTAL_OPS);
    IS("cray_session") shmemx_session_start(SHMEM_CTX_DEFAULT, 1L << 20);
    IS("brought_size") shmemx_heap_preinit(), shmemx_heap_create(block, me ? 64 : 128, 0, 0), shmemx_heap_postinit();
    IS("brought_gpu") shmemx_heap_preinit(), shmemx_heap_create((void *)64, 64, SHMEMX_EXTERNAL_HEAP_ZE, 0), shmemx_heap_postinit();
    IS("brought_late") shmemx_heap_create(block, 64, 0, 0);
    IS("grid") shmemx_team_split_3d(SHMEM_TEAM_WORLD, 1, 0, 1, &team, &team, &team);
    IS("ended") shmem_finalize(), shmem_long_p(&word, 1, 0);
    IS("calloc") if (shmem_calloc(SIZE_MAX / 2 + 2, 2) || (shmem_barrier_all(), 0)) return 3;
    IS("calloc") if (me == 0) shmem_global_exit(0);
    IS("exit0") if (me == 0) shmem_global_exit(0);
    IS("exit7") if (me == 0) printf("said"), shmem_global_exit(7);
    IS("return") return 0;
    IS("ends_early") if (me == 0) return shmem_finalize(), 0;
    IS("ends_early") shmem_barrier_all();
    IS("hang") shmem_long_wait_until(&heap[1], SHMEM_CMP_GE, 42);
    shmem_long_wait_until(&word, SHMEM_CMP_EQ, 5); /* nobody ends it but the job's end */
    shmem_finalize();
    return 0;
}
EOT
"$prefix/bin/oshcc" "$tmp/a.c" -o "$tmp/a"
# runs HOW STATUS: what it says is in $tmp/said
runs() {
    rc=0
    timeout 60 "$prefix/bin/oshrun" -n 2 "$tmp/a" "$1" > "$tmp/said" 2>&1 || rc=$?
    [ $rc = "$2" ] || wrong "$1: the status is $rc, not $2"
}
# refused HOW PATTERN: each PE that says something says it in a line that matches
refused() {
    runs "$1" 1
    grep -Eq "^godwit: rank [01] .*: $2" "$tmp/said" || wrong "$1: no line matches \"$2\""
    grep "^godwit: " "$tmp/said" | grep -Evq ": $2" && wrong "$1: more is said than \"$2\""
    return 0
}
refused pe "shmem_long_p: pe is 2; .* 0 to 1$"
refused below "shmem_long_atomic_inc: pe is -1; .* 0 to 1$"
refused stack "shmem_long_put: the 8 bytes at 0x[0-9a-f]+ are not all symmetric"
refused unaligned "shmem_long_atomic_inc: the address 0x[0-9a-f]+ is not a multiple of 8"
refused ctx "shmem_ctx_long_p: ctx is SHMEM_CTX_INVALID"
refused sig_op "shmem_long_put_signal: sig_op is 7; .*SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD"
refused cmp "shmem_long_wait_until: cmp is 99; .*SHMEM_CMP_EQ to SHMEM_CMP_LE"
refused root "shmem_int_broadcast: PE_root is 2; .* 0 to 1$"
refused inner "shmem_free: ptr is 0x[0-9a-f]+, which is 16 bytes within the block"
refused twice "shmem_free: ptr is 0x[0-9a-f]+, where no block .* freed before"
refused clear "shmem_clear_lock: lock is 0x[0-9a-f]+, which this PE \([01]\) does not hold; it must be that of shmem_set_lock "
refused set "shmem_set_lock: lock is 0x[0-9a-f]+, which this PE \(0\) has set already; shmem_clear_lock must come first$"
refused lock_stack "shmem_test_lock: lock is 0x[0-9a-f]+, which is not symmetric; it must be a static variable or come from shmem_malloc$"
refused lock_between "shmem_set_lock: lock is 0x[0-9a-f]+4, which is not a multiple of 8"
refused lock_value "shmem_set_lock: lock is 0x[0-9a-f]+, which has a value that no lock has \(1000 on PE [01]\); it must be 0 on all PEs"
refused team "shmem_team_sync: team is 0x1234567, which is no team, or one that was destroyed; it must be predefined or come from a split$"
refused parent "shmem_team_split_strided: parent_team is 0x1234567, which is no team"
refused from "shmem_team_translate_pe: src_team is 0x1234567, which is no team"
refused to "shmem_team_translate_pe: dest_team is 0x1234567, which is no team"
refused world "shmem_team_destroy: team is SHMEM_TEAM_WORLD, which is predefined; it must be one that a split has made$"
refused ctx_none "shmem_ctx_quiet: ctx is 0x1234567, which is no context"
refused ctx_default "shmem_ctx_destroy: ctx is SHMEM_CTX_DEFAULT, which stays; it must be one that was created$"
refused sig_addr "shmem_long_put_signal: sig_addr is 0x[0-9a-f]+, which is not a multiple of 8"
refused signal "shmem_signal_add: sig_addr is 0x[0-9a-f]+, which is not a multiple of 8"
refused many "shmem_long_fcollect: [0-9]+ elements of 1 bytes of each of 2 PEs are more than addresses can tell$"
refused many_sums "shmem_int_sum_reduce: 4611686018427387903 elements of 4 bytes .* more than addresses can tell$"
refused stride "shmem_int_alltoalls: dst is 0; it must be at least 1$"
refused far_apart "shmem_int_iput: 9 blocks of 1 elements of 4 bytes, 4611686018427387904 elements apart, are more than addresses can tell$"
refused packed "shmemx_alltoallv_packed: target_len is 15; the PEs send 16 bytes$"
refused nreduce "shmem_int_sum_to_all: nreduce is -1; it must be 0 or more$"
refused team_aligned "shmem_team_sync: team is 0x123456780, which is no team, or one that was destroyed"
refused ctx_aligned "shmem_ctx_long_p: ctx is 0x123456780, which is no context, or one that was destroyed$"
refused ctx_small "shmem_ctx_fence: ctx is 0x40, which is no context, or one that was destroyed$"
refused ctx_data "shmem_ctx_fence: ctx is 0x[0-9a-f]+, which is no context, or one that was destroyed$"
refused pe_quiet "shmem_pe_quiet: pe is 2; .* 0 to 1$"
refused ctx_pe_quiet "shmem_ctx_pe_quiet: pe is -1; .* 0 to 1$"
refused session "shmem_ctx_session_start: options is 65; it must be 0 or SHMEM_CTX_SESSION_BATCH$"
refused session_mask "shmem_ctx_session_start: config_mask is 8; it must be 0 or SHMEM_CTX_SESSION_TOTAL_OPS$"
refused session_config "shmem_ctx_session_start: config is NULL; it must be a configuration where config_mask is not 0$"
refused cray_session "shmemx_session_start: options is 1048576; it must be 0 or an OR of SHMEM_SESSION_ hints$"
refused brought_size "shmemx_heap_postinit: the memory of shmemx_heap_create has (64|128) bytes here, and 64 to 128 on others; it must have the same size$"
refused brought_gpu "shmemx_heap_postinit: the 64 bytes of shmemx_heap_create at 0x40 are not memory that this processor can access; memory of GPUs is not"
refused brought_late "shmemx_heap_create: number of this call is 1; it must be 1, and between shmemx_heap_preinit and shmemx_heap_postinit$"
refused grid "shmemx_team_split_3d: yrange is 0; it must be 1 or more, and the grid no larger than the parent team$"
refused ended "shmem_long_p: OpenSHMEM is not initialised"

# Heaps that together are more than the memory are refused at the start; as much as the memory is not, though nobody could touch it all.
memory=$(awk '/^(Mem|Swap)Total:/ { kib += $2 } END { print int(kib / 1024) }' /proc/meminfo)
SHMEM_SYMMETRIC_SIZE=$((memory * 3 / 4))M; export SHMEM_SYMMETRIC_SIZE
runs exit0 1
grep -Eq "the symmetric heaps? .* (of|to be) .*MiB.* set SHMEM_SYMMETRIC_SIZE (to at most [0-9]+M, or start fewer PEs on a node|lower)" "$tmp/said" ||
    wrong "heaps that are more than the memory are not told"
if [ "$(cat /sys/fs/cgroup/memory.max 2> /dev/null || echo max)" = max ]; then
    SHMEM_SYMMETRIC_SIZE=$((memory / 2))M
    runs exit0 0
fi
unset SHMEM_SYMMETRIC_SIZE

runs calloc 0
grep -q "shmem_calloc: no room for count 9223372036854775809 times size 2," "$tmp/said" || wrong "calloc: an overflow is not told with its arguments"
runs exit0 0
[ ! -s "$tmp/said" ] || wrong "shmem_global_exit(0) is not silent"
runs exit7 7
grep -q "said" "$tmp/said" && grep -q "shmem_global_exit(7)" "$tmp/said" || wrong "shmem_global_exit(7): not flushed, or not told"
runs return 1
grep -q "ended with status 0 without calling shmem_finalize" "$tmp/said" || wrong "a return without shmem_finalize is not told"

# Collectives that differ are told in the words of OpenSHMEM, and counted as the program counts them (two allocations come before); a tool's own
# calls of MPI are nobody's.
for tool in "" --record="$tmp/recorded"; do
    rc=0
    timeout 60 "$prefix/bin/oshrun" $tool -n 2 "$tmp/a" differ > "$tmp/said" 2>&1 || rc=$?
    [ $rc = 1 ] || wrong "differ: the status is $rc, not 1"
    grep -Eq "the calls differ in collective #3 on SHMEM_TEAM_WORLD: PE [01] called shmem_(barrier_all|sum_reduce \(8 bytes\)), PE [01] called shmem_.*; all PEs of a team must call" "$tmp/said" ||
        wrong "differ: not told as OpenSHMEM has it"
    grep -q "MPI_" "$tmp/said" && wrong "differ: told in words of MPI"
done

rc=0
timeout 60 "$prefix/bin/oshrun" -n 2 "$tmp/a" ends_early > "$tmp/said" 2>&1 || rc=$?
[ $rc = 1 ] || wrong "ends_early: the status is $rc, not 1"
grep -q "the calls differ in collective #3 on SHMEM_TEAM_WORLD: PE 1 called shmem_barrier_all, PE 0 called shmem_finalize;" "$tmp/said" ||
    wrong "ends_early: it is not told that one ends where the other synchronises"

# A PE that does not come to the start.
rc=0
timeout 60 "$prefix/bin/oshrun" --oversubscribe -n 2 "$tmp/a" return : -n 1 true > "$tmp/said" 2>&1 || rc=$?
[ $rc = 1 ] && grep -q "rank 2 .*ended with status 0 without calling shmem_init, which the others wait for" "$tmp/said" ||
    wrong "a PE that ends before shmem_init is not told of"
for most in 1 5 30; do # seconds in which two come there
    "$prefix/bin/oshrun" --timeout $most --oversubscribe -n 2 "$tmp/a" return : -n 1 sleep 61.7 > "$tmp/said" 2>&1 || :
    grep -q "in shmem_init since" "$tmp/said" && break
done
grep -Eq "ranks (0-1|0, 1) in shmem_init since" "$tmp/said" && grep -q "rank 2 not in OpenSHMEM yet: shmem_init was not called" "$tmp/said" ||
    wrong "who waits in shmem_init, and for whom, is not told"

# The verdict on a wait that nobody ends, and what mpiexec --stack says of it.
GODWIT_HANG_WARN=1 "$prefix/bin/oshrun" -n 2 "$tmp/a" hang > "$tmp/said" 2>&1 &
job=$!
trap 'kill $job 2> /dev/null || :; wait $job 2> /dev/null || :; rm -rf "$tmp"' EXIT
for i in $(seq 300); do grep -q "verdict:" "$tmp/said" && break; sleep 0.1; done
what="shmem_long_wait_until until 1 word at heap \+ 0x[0-9a-f]+ is >= 42; it is 0"
grep -Eq "verdict: 2 ranks wait.*$what" "$tmp/said" || wrong "the verdict does not say what is waited for"
writers="nobody is left who could write that word: all ranks wait, or have ended|nobody is left who could write those words: all ranks wait, or have ended"
grep -Eq "$writers" "$tmp/said" || wrong "the verdict does not say who could end it"
# Who holds a lock for which others wait, on this node and on another.
for nodes in 1 3; do
    GODWIT_HANG_WARN=1 "$prefix/bin/oshrun" --oversubscribe --vnodes $nodes -n 3 "$tmp/a" held > "$tmp/held" 2>&1 &
    holds=$!
    trap 'kill $job $holds 2> /dev/null || :; wait $job $holds 2> /dev/null || :; rm -rf "$tmp"' EXIT
    held="in shmem_set_lock for the lock at static data \+ 0x[0-9a-f]+, which PE 2 holds"
    for i in $(seq 300); do grep -Eq "ranks 0-1 $held|ranks 0, 1 $held" "$tmp/held" && break; sleep 0.1; done
    grep -Eq "ranks 0-1 $held|ranks 0, 1 $held" "$tmp/held" || { cat "$tmp/held"; wrong "the verdict does not say who holds the lock"; }
    kill $holds
    wait $holds || :
done
command -v gdb > /dev/null || exit 0
"$prefix/bin/mpiexec" --stack $job > "$tmp/said" 2>&1 || wrong "mpiexec --stack"
grep -Eq "^(\[0,1\]|  \[0,1\]|\[0-1\]) .*pshmem_long_wait_until( \(.*)?$" "$tmp/said" || wrong "mpiexec --stack does not name the call that waits"
grep -q "node_wait" "$tmp/said" && wrong "mpiexec --stack shows the library's own frames"
grep -Eq "^  ranks 0-1 in $what since " "$tmp/said" || wrong "mpiexec --stack does not say what is waited for"
grep -Eq "^  ($writers)$" "$tmp/said" || wrong "mpiexec --stack does not say who could end it"
kill $job
wait $job || :

# A PE that computes could; of several words the first is told that is not as wished.
cat > "$tmp/b.c" <<'EOT'
#include <shmem.h>
#include <unistd.h>
int main(void)
{
    long wished[3] = {42, 7, 8};
    shmem_init();
    long *heap = shmem_calloc(3, sizeof *heap);
    heap[0] = 42;
    if (shmem_my_pe() == 0) for (;;) pause();
    if (shmem_my_pe() == 1) shmem_barrier_all();
    shmem_long_wait_until_all_vector(heap, 3, NULL, SHMEM_CMP_EQ, wished);
    return 0;
}
EOT
"$prefix/bin/oshcc" "$tmp/b.c" -o "$tmp/b"
"$prefix/bin/oshrun" --oversubscribe -n 3 "$tmp/b" > "$tmp/out" 2>&1 &
job=$!
for i in $(seq 300); do
    "$prefix/bin/mpiexec" --stack $job > "$tmp/said" 2>&1 || :
    grep -q "that word\|those words" "$tmp/said" && break
    sleep 0.1
done
grep -Eq "^  rank 2 in shmem_long_wait_until_all_vector until all of 3 words at heap \+ 0x0 are == 7; number 1 is 0 since " "$tmp/said" ||
    wrong "of several words: not the one that is missing"
grep -q "^  that word could be written by rank 0.*; all others wait, or have ended$" "$tmp/said" || wrong "a PE that goes on is not named"
for i in $(seq 100); do
    grep -Eq "\[1\] (main / )?pshmem_barrier_all" "$tmp/said" && break
    sleep 0.1
    "$prefix/bin/mpiexec" --stack $job > "$tmp/said" 2>&1 || :
done
grep -Eq "\[1\] (main / )?pshmem_barrier_all" "$tmp/said" || wrong "mpiexec --stack does not name the barrier"
grep -q "godwit_sym" "$tmp/said" && wrong "mpiexec --stack shows the library's own frames"
exit 0
