/* rest.c -- calls with few words in the standard: pe_quiet, contexts without stores, sessions, transfers of nothing, shmem_team_ptr, signals of
 * contexts (OpenSHMEM 1.6 sections 9.5, 9.8, 9.9, 9.12.3).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

static long slots[64], flag;
static uint64_t signals[2];

/* All PEs have put to all, and complete that for half of them, the rest by a quiet: who has been told looks. */
static void some_pes(shmem_ctx_t ctx)
{
    int few[64], n = 0;
    for (int pe = 0; pe < pes; pe += 2) few[n++] = pe;
    for (int i = 0; i < pes; i++) slots[i] = -1;
    shmem_barrier_all();
    for (int pe = 0; pe < pes; pe++) shmem_ctx_long_put_nbi(ctx, &slots[me], &(long){100 + me}, 1, pe), shmem_ctx_quiet(ctx);
    for (int pe = 0; pe < pes; pe++) shmem_ctx_long_p(ctx, &slots[me], 200 + me, pe);
    shmem_ctx_pe_quiet(ctx, few, (size_t)n);
    for (int i = 0; i < n; i++) CHECK(shmem_long_g(&slots[me], few[i]) == 200 + me);
    shmem_ctx_pe_quiet(ctx, NULL, 0); /* completes nothing, and does not look at the list */
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    for (int i = 0; i < pes; i++) CHECK(slots[i] == 200 + i);
    shmem_barrier_all();
}

/* With a count of 0 pointers need not lead anywhere; a signal comes all the same. */
static void nothing(void)
{
    int next = (me + 1) % pes;
    signals[0] = signals[1] = 0;
    shmem_barrier_all();
    shmem_long_put(NULL, NULL, 0, next);
    shmem_long_get(NULL, NULL, 0, next);
    shmem_putmem_nbi(NULL, NULL, 0, next);
    shmem_getmem_nbi(NULL, NULL, 0, next);
    shmem_long_iput(NULL, NULL, 1, 1, 0, next);
    shmem_long_iget(NULL, NULL, 1, 1, 0, next);
    shmem_putmem_signal(NULL, NULL, 0, &signals[0], 7, SHMEM_SIGNAL_SET, next);
    shmem_putmem_signal_nbi(NULL, NULL, 0, &signals[1], 9, SHMEM_SIGNAL_ADD, next);
    CHECK(shmem_signal_wait_until(&signals[0], SHMEM_CMP_NE, 0) == 7);
    CHECK(shmem_signal_wait_until(&signals[1], SHMEM_CMP_GE, 1) == 9);
    shmem_quiet();
    shmem_barrier_all();
}

/* Hints change no rule; an end too many does no harm. */
static void session(shmem_ctx_t ctx)
{
    shmem_ctx_session_config_t config = {.total_ops = 100};
    shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
    some_pes(ctx);
    shmem_ctx_session_stop(ctx);
    shmem_ctx_session_stop(ctx);
    shmem_ctx_session_start(SHMEM_CTX_INVALID, 0, NULL, 0);
    shmem_ctx_session_stop(SHMEM_CTX_INVALID);
}

static void context_signals(void)
{
    shmem_ctx_t ctx;
    int next = (me + 1) % pes;
    signals[0] = 0;
    shmem_barrier_all();
    CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0);
    shmem_ctx_long_put_signal(ctx, &flag, &(long){30 + me}, 1, &signals[0], 5, SHMEM_SIGNAL_SET, next);
    CHECK(shmem_signal_wait_until(&signals[0], SHMEM_CMP_EQ, 5) == 5 && flag == 30 + (me + pes - 1) % pes);
    shmem_barrier_all();
    shmem_ctx_signal_add(ctx, &signals[0], 2, next);
    CHECK(shmem_signal_wait_until(&signals[0], SHMEM_CMP_EQ, 7) == 7);
    shmem_barrier_all();
    shmem_signal_set(&signals[0], 1, next);
    CHECK(shmem_signal_wait_until(&signals[0], SHMEM_CMP_LT, 5) == 1);
    shmem_ctx_destroy(ctx);
    shmem_barrier_all();
}

/* A member's pointer to another's memory leads to what a get of that PE gives; without a team there is none. */
static void pointers(void)
{
    static long word;
    shmem_team_t back = SHMEM_TEAM_INVALID;
    word = 4000 + me;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes - 1, -1, pes, NULL, 0, &back) == 0);
    shmem_barrier_all();
    for (int i = 0; i < pes; i++) {
        const long *p = shmem_team_ptr(back, &word, i);
        CHECK(!p || *p == 4000 + pes - 1 - i);
        CHECK(pes - 1 - i != me || p == &word);
    }
    CHECK(!shmem_team_ptr(SHMEM_TEAM_INVALID, &word, 0) && !shmem_ptr(&back, me) && !shmem_ptr(&word, pes) &&
          !shmem_ptr(&word, -1));
    CHECK(shmem_addr_accessible(&word, me) == 1 && shmem_addr_accessible(&back, me) == 0 && shmem_pe_accessible(pes) == 0);
    shmem_barrier_all();
    shmem_team_destroy(back);
}

int main(void)
{
    shmem_ctx_t quiet_apart;
    begin();
    some_pes(SHMEM_CTX_DEFAULT);
    CHECK(shmem_ctx_create(SHMEM_CTX_NOSTORE | SHMEM_CTX_SERIALIZED, &quiet_apart) == 0);
    some_pes(quiet_apart);
    session(quiet_apart);
    session(SHMEM_CTX_DEFAULT);
    nothing();
    context_signals();
    pointers();
    shmem_finalize();
    return 0;
}
