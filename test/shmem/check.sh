#!/bin/sh
# GODWIT_CHECK and OpenSHMEM: PEs whose collectives or allocations differ, and accesses to memory of the heap that was freed or never
# allocated, end the job with one sentence that names both PEs, call, argument and value; what is right goes through.
# run.py: timeout=120 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
prefix=${2:+$(readlink -f "$2")}
[ -n "$prefix" ] && [ -x "$prefix/bin/oshcc" ] || { echo "nothing is installed"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
wrong() { echo "$*"; cat "$tmp/said"; exit 1; }

cat > "$tmp/a.c" <<'EOT'
#include <shmem.h>
#include <string.h>
static long from[4], to[16];
static uint64_t flag;
#define IS(x) if (strcmp(how, x) == 0)
int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    shmem_init();
    int me = shmem_my_pe(), pes = shmem_n_pes(), right = (me + 1) % pes, odd = me == 1;
    long *kept = shmem_malloc(100), *gone = shmem_malloc(256);
    shmem_team_t team = SHMEM_TEAM_INVALID;
    shmem_ctx_t ctx;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, pes - 1, -1, pes, NULL, 0, &team); /* PE p is pes - 1 - p there */
    shmem_team_create_ctx(team, 0, &ctx);
    if (me == 0) shmem_long_put(gone, from, 4, 1);
    shmem_barrier_all();
    shmem_free(gone);
    IS("right") {
        /* The place is not used again at once, but the heap is not lost for it. */
        long *next = shmem_malloc(256);
        if (next == gone) return 3;
        for (int i = 0; i < 200; i++) shmem_free(shmem_malloc(1 << 20));
        shmem_long_put(next, from, 4, right);
        shmem_long_p((long *)(void *)((char *)kept + 88), 1, right);
        shmem_long_sum_reduce(team, to, from, 4);
        shmem_long_collect(team, to, from, odd ? 1 : 2);
        shmem_broadcastmem(SHMEM_TEAM_WORLD, to, from, 8, 1);
        shmem_barrier_all();
        kept = shmem_realloc(kept, 4000);
        shmem_free(next);
    }
    /* both in turn, so that the first who is told is not always the one that differs */
    IS("calls") odd ? shmem_sync_all() : shmem_barrier_all();
    IS("kinds") if (odd) shmem_barrier_all(); else shmem_long_sum_reduce(SHMEM_TEAM_WORLD, to, from, 1);
    IS("sizes") shmem_long_fcollect(SHMEM_TEAM_WORLD, to, from, odd ? 2 : 1);
    IS("roots") shmem_long_broadcast(team, to, from, 3, me);
    IS("ops") if (odd) shmem_long_max_reduce(SHMEM_TEAM_WORLD, to, from, 1); else shmem_long_sum_reduce(SHMEM_TEAM_WORLD, to, from, 1);
    IS("malloc") shmem_malloc(odd ? 200 : 300);
    IS("none") shmem_malloc(odd ? 0 : 300);
    IS("align") shmem_align(odd ? 64 : 128, 300);
    IS("order") if (odd) shmem_free(kept); else shmem_malloc(64);
    IS("free") shmem_free(odd ? NULL : kept);
    IS("split") shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, odd ? 1 : 2, NULL, 0, &team);
    if (me == 0) {
        IS("put") shmem_long_put(gone + 2, from, 3, 1);
        IS("p") shmem_long_p(gone, 1, 1);
        IS("g") shmem_long_g(gone, 1);
        IS("get") shmem_getmem(from, gone, 8, 1);
        IS("iput") shmem_long_iput(gone, from, 2, 1, 2, 1);
        IS("atomic") shmem_long_atomic_fetch_add(gone + 1, 1, 1);
        IS("signal") shmem_signal_set((uint64_t *)gone, 1, 1);
        IS("put_signal") shmem_long_put_signal(gone, from, 1, &flag, 1, SHMEM_SIGNAL_SET, 1);
        IS("ctx") shmem_ctx_long_put(ctx, gone, from, 1, pes - 2);
        IS("never") shmem_long_p(kept + 100000, 1, 1);
        IS("behind") shmem_long_p(kept + 13, 1, 1);
        IS("beyond") shmem_long_put(kept + 12, from, 1, 1);
    }
    /* Two PEs write to the third, whoever is later. */
    from[0] = 100 + me, from[1] = 200 + me;
    if (me != 1) {
        IS("race") shmem_long_p(&to[3], 40 + me, 1);
        IS("race_long") shmem_long_put_nbi(me ? &kept[1] : &kept[0], from, 2, 1);
        IS("race_ctx") shmem_ctx_long_put(ctx, &to[2], from, 1, pes - 2);
        IS("race_signal") shmem_long_put_signal(&to[5], from, 1, &flag, 1, SHMEM_SIGNAL_ADD, 1);
    }
    /* PE 1 hands on what PE 0 has put; where it waits before, it looks at what came with the flag. */
    static long passed;
    IS("flag") {
        if (me == 0) shmem_long_put_nbi(to, from, 4, 1), shmem_long_p(&passed, 1, 1);
        if (me == 1) shmem_long_wait_until(&passed, SHMEM_CMP_EQ, 1), shmem_long_put(to + 8, to + 2, 1, 2);
    }
    IS("flag_ctx") {
        if (me == 0) shmem_ctx_long_put_nbi(ctx, to, from, 4, pes - 2), shmem_fence(), shmem_long_p(&passed, 1, 1);
        if (me == 1) shmem_long_wait_until(&passed, SHMEM_CMP_EQ, 1), shmem_long_put(to + 8, to + 2, 1, 2);
    }
    IS("flag_right") {
        if (me == 0) shmem_long_put_nbi(to, from, 4, 1), shmem_fence();
        if (me == 0) shmem_long_put_nbi(to + 4, from, 4, 1), shmem_long_p(&passed, 1, 1); /* the next ones are on their way */
        if (me == 1) shmem_long_wait_until(&passed, SHMEM_CMP_EQ, 1), shmem_long_put(to + 8, to + 2, 1, 2);
        shmem_barrier_all();
        if (me == 1) shmem_long_put(to + 8, to + 4, 4, 2);
    }
    IS("twice") shmem_free(gone);
    IS("put")
        for (;;) shmem_barrier_all();
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
EOT
"$prefix/bin/oshcc" "$tmp/a.c" -o "$tmp/a"
nodes=1
# runs HOW STATUS PES: what it says is in $tmp/said
runs() {
    rc=0
    GODWIT_CHECK=1 timeout 60 "$prefix/bin/oshrun" --vnodes $nodes -n $3 "$tmp/a" "$1" > "$tmp/said" 2>&1 || rc=$?
    [ $rc = "$2" ] || wrong "$1: the status is $rc, not $2"
}
# refused HOW PATTERN: one PE says it
refused() {
    runs "$1" 1 3
    [ "$(grep -c "^godwit: " "$tmp/said")" = 1 ] || wrong "$1: not one PE tells"
    grep -Eq "^godwit: rank [012] .*: $2" "$tmp/said" || wrong "$1: no line matches \"$2\""
}
runs right 0 3
[ ! -s "$tmp/said" ] || wrong "something is found where nothing is wrong"
refused calls "shmem_barrier_all: the PEs of SHMEM_TEAM_WORLD do not call alike: PEs 0, 2 called shmem_barrier_all; PE 1 called shmem_sync_all; all must"
refused kinds "the PEs .* do not call alike: PEs 0, 2 called shmem_long_sum_reduce \(nreduce 1\); PE 1 called shmem_barrier_all; "
refused sizes "the PEs .*: PEs 0, 2 called shmem_long_fcollect \(bytes 8\); PE 1 called shmem_long_fcollect \(bytes 16\); "
refused roots "the PEs of a team do not call alike: PE 2 called shmem_long_broadcast \(bytes 24, PE_root 2\); PE 1 called .*PE_root 1\); PE 0 called .*PE_root 0\); "
nodes=3 # where nobody reads what others have noted
refused roots "the PEs of a team do not call alike: PE 2 called shmem_long_broadcast \(bytes 24, PE_root 2\); PE 1 called .*PE_root 1\); PE 0 called .*PE_root 0\); "
nodes=1
refused ops "PEs 0, 2 called shmem_long_sum_reduce \(nreduce 1\); PE 1 called shmem_long_max_reduce \(nreduce 1\); "
refused malloc "shmem_malloc: the PEs .*: PEs 0, 2 called shmem_malloc \(size 300\); PE 1 called shmem_malloc \(size 200\); "
refused none "PEs 0, 2 called shmem_malloc \(size 300\); PE 1 called shmem_malloc \(size 0\); "
refused align "PEs 0, 2 called shmem_align \(size 300, alignment 128\); PE 1 called shmem_align \(size 300, alignment 64\); "
refused order "PEs 0, 2 called shmem_malloc \(size 64\); PE 1 called shmem_free \(.*block at heap \+ 0\); "
refused free "PEs 0, 2 called shmem_free \(.*block at heap \+ 0\); PE 1 called shmem_free"
refused split "PEs 0, 2 called shmem_team_split_strided \(start 0, stride 1, size 2\); PE 1 .*size 1\); "
at="at 0x[0-9a-f]+ \(heap \+ 0x[0-9a-f]+\) of PE 1, which PE 0 accesses, "
freed="${at}lie in a block that was freed: it had 256 bytes from 0x[0-9a-f]+ on$"
refused put "shmem_long_put: the 24 bytes $freed"
refused p "shmem_long_p: the 8 bytes $freed"
refused g "shmem_long_g: the 8 bytes $freed"
refused get "shmem_getmem: the 8 bytes $freed"
refused iput "shmem_long_iput: the 24 bytes $freed"
refused atomic "shmem_long_atomic_fetch_add: the 8 bytes $freed"
refused signal "shmem_signal_set: the 8 bytes $freed"
refused put_signal "shmem_long_put_signal: the 8 bytes $freed"
refused ctx "shmem_ctx_long_put: the 8 bytes $freed"
refused never "shmem_long_p: the 8 bytes ${at}lie in no block of the symmetric heap"
refused behind "shmem_long_p: the 8 bytes ${at}lie in no block of the symmetric heap: 4 bytes behind the end of the block of 100 bytes that begins at 0x[0-9a-f]+, freed long ago, or never allocated$"
refused beyond "shmem_long_put: the 8 bytes ${at}do not end in the block of 100 bytes that begins at 0x[0-9a-f]+$"
race="PE [02] and PE [02] write different values to one word, "
rest="of PE 1, and nothing orders them: PE [02] called"
refused race "shmem_long_p: ${race}static data \+ 0x[0-9a-f]+ $rest shmem_long_p there, and there was no barrier, wait, lock or read of PE [02] between"
refused race_long "shmem_long_put_nbi: ${race}heap \+ 0x8 $rest shmem_long_put_nbi there"
refused race_ctx "shmem_ctx_long_put: ${race}static data .* $rest shmem_ctx_long_put there"
refused race_signal "shmem_long_put_signal: ${race}static data .* $rest shmem_long_put_signal there"
late="it reads what PE 0 has put here \("
refused flag "shmem_long_put: ${late}shmem_long_put_nbi, 32 bytes at static data \+ 0x[0-9a-f]+\), which need not be there: PE 0 set the flag at static data \+ 0x[0-9a-f]+ by a store, with no shmem_fence"
refused flag_ctx "shmem_long_put: ${late}shmem_ctx_long_put_nbi, 32 bytes .* with no shmem_fence or shmem_quiet of that context between"
runs flag_right 0 3
[ ! -s "$tmp/said" ] || wrong "a flag behind a fence is told"
runs twice 1 2
grep -Eq "shmem_free: ptr is 0x[0-9a-f]+, where no block .* freed before" "$tmp/said" || wrong "twice: not told"
# Some PEs check, and others do not.
timeout 60 "$prefix/bin/oshrun" -n 1 -env GODWIT_CHECK 1 "$tmp/a" right : -n 1 "$tmp/a" right > "$tmp/said" 2>&1 && wrong "unlike: it goes on"
grep -q "GODWIT_CHECK is o.* for this PE, and not so for another one" "$tmp/said" || wrong "unlike: not told"
