/* extra.c -- shmemx.h: what programs for Cray's and Sandia's libraries use beyond OpenSHMEM 1.6.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

#include <shmemx.h>
#include <string.h>

enum { N = 40 };
static long from[N], to[N], words[4];
static int small;
static uint64_t flag;

static int right, left;

/* ---- Cray: operations that do not block, with the handle that they once had and without ---- */
static void puts_and_gets(void)
{
    void *handle = &handle;
    for (int i = 0; i < N; i++) from[i] = 1000 * me + i, to[i] = -1;
    shmem_barrier_all();
    shmemx_long_put_nb(to, from, 10, right);
    shmemx_putmem_nb(to + 10, from + 10, 10 * sizeof(long), right, NULL);
    shmemx_put64_nb(to + 20, from + 20, 10, right, &handle);
    shmemx_ctx_long_put_nb(SHMEM_CTX_DEFAULT, to + 30, from + 30, 9, right);
    shmemx_put_nb(to + 39, from + 39, 1, right);
    shmem_barrier_all();
    for (int i = 0; i < N; i++) CHECK(to[i] == 1000 * left + i);
    shmem_barrier_all();
    memset(to, 0, sizeof to);
    shmemx_long_get_nb(to, from, 20, right);
    shmemx_getmem_nb(to + 20, from + 20, 10 * sizeof(long), right, NULL);
    shmemx_get64_nb(to + 30, from + 30, 10, right);
    shmem_quiet();
    for (int i = 0; i < N; i++) CHECK(to[i] == 1000 * right + i);
    shmem_barrier_all();
    shmemx_long_ibput(to, from, 4, 2, 2, 3, right); /* Sandia's name of before 1.6 */
    shmem_barrier_all();
    for (int i = 0; i < 6; i++) CHECK(to[i / 2 * 4 + i % 2] == 1000 * left + i);
    shmemx_long_sum_exscan(SHMEM_TEAM_WORLD, to, from, 1);
    CHECK(to[0] == 1000 * me * (me - 1) / 2);
}

static void atomics(void)
{
    void *handle = &handle;
    long old[4];
    words[0] = words[1] = 0;
    words[2] = 7;
    small = 0;
    shmem_barrier_all();
    for (int pe = 0; pe < pes; pe++) {
        shmemx_long_add_nb(&words[0], me + 1, pe, &handle);
        CHECK(handle == NULL);
        shmemx_long_inc_nb(&words[0], pe, NULL);
        shmemx_int_inc_nb(&small, pe, NULL);
        shmemx_long_fadd_nb(&old[0], &words[1], 10, pe, NULL);
        shmemx_long_finc_nb(&old[1], &words[1], pe, NULL);
        shmem_quiet();
        CHECK(old[0] % 10 <= pes && old[1] - old[0] >= 10);
    }
    shmem_barrier_all();
    CHECK(words[0] == pes * (pes + 1) / 2 + pes && words[1] == 11 * pes && small == pes);
    if (me == 0) {
        shmemx_long_swap_nb(&old[2], &words[2], 8, right, NULL);
        shmem_quiet();
        shmemx_long_cswap_nb(&old[3], &words[2], 8, 9, right, NULL);
        shmem_quiet();
        CHECK(old[2] == 7 && old[3] == 8 && shmem_long_g(&words[2], right) == 9);
    }
    shmem_barrier_all();
}

static void signals(void)
{
    flag = 0;
    to[0] = to[1] = to[2] = 0;
    shmem_barrier_all();
    shmemx_long_put_signal(to, from + 1, 1, &flag, 5, right);
    CHECK(shmem_signal_wait_until(&flag, SHMEM_CMP_EQ, 5) == 5 && to[0] == 1000 * left + 1);
    shmem_barrier_all();
    shmemx_putmem_signal_nb(to + 1, from + 2, sizeof(long), &flag, 6, right);
    CHECK(shmem_signal_wait_until(&flag, SHMEM_CMP_EQ, 6) == 6 && to[1] == 1000 * left + 2);
    shmemx_pe_quiet(right);
    shmem_barrier_all();
    shmemx_signal_add(&flag, 4, right);
    CHECK(shmem_signal_wait_until(&flag, SHMEM_CMP_EQ, 10) == 10);
    shmem_barrier_all();
    shmemx_session_start(SHMEM_CTX_DEFAULT, SHMEM_SESSION_BUNDLE | SHMEM_SESSION_OP_AMO);
    shmemx_signal_set(&flag, 1, right);
    shmemx_session_stop(SHMEM_CTX_DEFAULT);
    CHECK(shmem_signal_wait_until(&flag, SHMEM_CMP_EQ, 1) == 1);
    shmem_barrier_all();
}

/* ---- Cray: teams ---- */
static void teams(void)
{
    shmemx_team_t odd, back, line, column, x, y, z;
    shmem_ctx_t ctx;
    shmem_team_t of_ctx;
    shmemx_team_split_color(SHMEMX_TEAM_WORLD, me % 2 ? 1 : SHMEM_COLOR_UNDEFINED, -me, &odd);
    CHECK((odd == SHMEMX_TEAM_NULL) == (me % 2 == 0));
    if (me % 2) CHECK(shmemx_team_n_pes(odd) == pes / 2 && shmemx_team_my_pe(odd) == pes / 2 - 1 - me / 2);
    CHECK(shmemx_team_split_strided(SHMEMX_TEAM_WORLD, pes - 1, -1, pes, NULL, 0, &back) == 0);
    CHECK(shmemx_team_my_pe(back) == pes - 1 - me && shmemx_team_translate_pe(back, 0, SHMEMX_TEAM_WORLD) == pes - 1);
    shmemx_team_split_strided(SHMEMX_TEAM_WORLD, 0, 1, 1, &line);
    CHECK(shmemx_team_n_pes(line) == (me == 0 ? 1 : -1));
    shmemx_team_destroy(line);
    shmemx_team_split_2d(back, 2 <= pes ? 2 : 1, pes / 2 ? pes / 2 : 1, &line, &column);
    int mine = pes - 1 - me, all = pes < 2 ? 1 : pes / 2 * 2;
    CHECK((line == SHMEMX_TEAM_INVALID) == (mine >= all));
    if (line != SHMEMX_TEAM_INVALID) {
        CHECK(shmemx_team_n_pes(line) == (pes > 1 ? 2 : 1) && shmemx_team_my_pe(line) == (pes > 1 ? mine % 2 : 0));
        CHECK(shmemx_team_n_pes(column) == all / (pes > 1 ? 2 : 1) && shmemx_team_my_pe(column) == (pes > 1 ? mine / 2 : 0));
        CHECK(shmemx_team_sync(column) == 0);
        shmemx_team_barrier(line);
    }
    shmemx_team_split_3d(SHMEMX_TEAM_WORLD, 1, pes > 3 ? 2 : 1, pes > 3 ? 2 : 1, &x, &y, &z);
    if (pes > 3 && me < 4) {
        CHECK(shmemx_team_n_pes(x) == 1 && shmemx_team_n_pes(y) == 2 && shmemx_team_n_pes(z) == 2);
        CHECK(shmemx_team_my_pe(y) == me % 2 && shmemx_team_my_pe(z) == me / 2);
        CHECK(shmemx_team_translate_pe(z, 1, SHMEMX_TEAM_WORLD) == me % 2 + 2);
    }
    CHECK(shmemx_team_ctx_create(back, 0, &ctx) == 0 && shmemx_ctx_get_team(ctx, &of_ctx) == 0 && of_ctx == back);
    to[0] = -1;
    shmem_barrier_all();
    shmem_ctx_long_p(ctx, to, 50 + me, (pes - 1 - me + 1) % pes); /* the PE to the left */
    shmem_ctx_destroy(ctx);
    shmem_barrier_all();
    CHECK(to[0] == 50 + right);
    static char in[64], out[64];
    size_t come[64], at[64], send[64], sum;
    for (int i = 0; i < pes; i++) send[i] = 1, at[i] = (size_t)i, in[i] = (char)(me * 4 + i);
    shmemx_team_alltoallv(out, at, come, in, at, send, back, NULL);
    for (int i = 0; i < pes; i++) CHECK(come[i] == 1 && out[i] == (char)((pes - 1 - i) * 4 + mine));
    shmemx_team_alltoallv_packed(out, sizeof out, &sum, in, at, send, back, NULL);
    CHECK(sum == (size_t)pes);
    shmemx_team_destroy(back);
}

/* ---- Sandia: counters of puts; of operations ---- */
static void counters(void)
{
    shmemx_ct_t ct;
    shmemx_pcntr_t before, now;
    uint64_t one;
    shmemx_ct_create(&ct);
    for (int pe = 0; pe < pes; pe++) shmemx_putmem_ct(ct, to + me, from + 3, sizeof(long), pe);
    shmemx_ct_wait(ct, pes);
    CHECK(shmemx_ct_get(ct) == pes);
    for (int pe = 0; pe < pes; pe++) CHECK(to[pe] == 1000 * pe + 3);
    shmem_barrier_all();
    shmemx_getmem_ct(ct, to, from, sizeof(long), right);
    shmemx_ct_wait(ct, pes + 1);
    shmem_barrier_all();
    shmemx_ct_set(ct, 0);
    CHECK(shmemx_ct_get(ct) == 0 && to[0] == 1000 * right);
    shmemx_ct_free(&ct);
    int is_far = !shmem_ptr(&from, right);
    shmemx_pcntr_get_all(SHMEM_CTX_DEFAULT, &before);
    shmem_barrier_all();
    shmem_long_put_nbi(to, from, N, right);
    shmem_long_get(to, from, 1, right);
    shmem_quiet();
    shmemx_pcntr_get_all(SHMEM_CTX_DEFAULT, &now);
    CHECK(now.completed_put == before.completed_put + before.pending_put + (uint64_t)is_far && now.pending_put == 0);
    CHECK(now.completed_get == before.completed_get + before.pending_get + (uint64_t)is_far && now.pending_get == 0);
    shmemx_pcntr_get_completed_put(SHMEM_CTX_DEFAULT, &one);
    CHECK(one == now.completed_put);
    shmemx_pcntr_get_completed_get(SHMEM_CTX_DEFAULT, &one);
    CHECK(one == now.completed_get);
    shmem_barrier_all();
    shmemx_pcntr_get_completed_target(&one);
    CHECK(one >= before.target + 2 * (uint64_t)!shmem_ptr(&from, left)); /* what the PE to the left has done here */
    CHECK(shmemx_nodename()[0] != 0 && shmemx_query_thread() == SHMEM_THREAD_SINGLE);
}

/* ---- Sandia: memory that the program brings; statics and it in one program ---- */
static void brought(long *own)
{
    uint64_t *sig = (uint64_t *)(void *)(own + N);
    for (int i = 0; i < N; i++) own[i] = -1;
    *sig = 0;
    shmem_barrier_all();
    shmem_long_put(own, from, N, right);
    shmem_fence();
    shmem_long_p(&words[3], 77, right); /* another region, behind the fence */
    shmem_long_wait_until(&words[3], SHMEM_CMP_EQ, 77);
    for (int i = 0; i < N; i++) CHECK(own[i] == 1000 * left + i);
    shmem_barrier_all();
    CHECK(shmem_long_atomic_fetch_add(own, 1, right) == 1000 * me);
    shmem_long_put_signal(own + 1, from + 5, 1, sig, 3, SHMEM_SIGNAL_SET, right);
    CHECK(shmem_signal_wait_until(sig, SHMEM_CMP_EQ, 3) == 3 && own[1] == 1000 * left + 5);
    shmem_barrier_all();
    CHECK(own[0] == 1000 * left + 1 && shmem_addr_accessible(own, right) == 1 && shmem_long_g(own + 2, right) == 1000 * me + 2);
    shmem_barrier_all();
}

int main(void)
{
    int provided;
    long *own = calloc(N + 1, sizeof *own);
    if (!own || shmemx_heap_preinit_thread(SHMEM_THREAD_SINGLE, &provided) != 0 || provided != SHMEM_THREAD_SINGLE) return 3;
    shmemx_heap_create(own, (N + 1) * sizeof *own, 0, 0);
    shmemx_heap_postinit();
    me = shmem_my_pe(), pes = shmem_n_pes(), right = (me + 1) % pes, left = (me + pes - 1) % pes;
    puts_and_gets();
    atomics();
    signals();
    teams();
    counters();
    brought(own);
    shmem_finalize();
    shmemx_heap_preinit();
    shmemx_heap_postinit(); /* nothing is brought */
    CHECK(!shmem_addr_accessible(own, me));
    shmem_finalize();
    free(own);
    return 0;
}
