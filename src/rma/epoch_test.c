/* epoch_test.c -- epochs of a window with one rank: in each state each call, what it answers and which state follows; the accesses that
 * are allowed in each, and their data.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../test/rma_rooms.h"

#include <stdio.h>

#include "base/base.h"
#include "unit.h"

static struct rma_win *w;
static char *base, memory[WIN_BYTES];
static struct gw_group *group, *nobody;

/* FRESH: an access epoch of a fence in which nothing was accessed; it counts as none. */
enum { S_NONE, S_FRESH, S_FENCE, S_START, S_LOCK, S_ALL, STATES };
enum { C_FENCE, C_START, C_COMPLETE, C_LOCK, C_UNLOCK, C_LOCK_ALL, C_UNLOCK_ALL, C_FLUSH, C_PUT, C_RPUT, C_FREE_CHECK, CALLS };
enum { NO = -1 }; /* GW_ERMA_SYNC, and nothing changes */
static const int after[STATES][CALLS] = {
    [S_NONE] = {S_FRESH, S_START, NO, S_LOCK, NO, S_ALL, NO, NO, NO, NO, S_NONE},
    [S_FRESH] = {S_FRESH, S_START, NO, S_LOCK, NO, S_ALL, NO, NO, S_FENCE, NO, S_FRESH},
    [S_FENCE] = {S_FRESH, NO, NO, NO, NO, NO, NO, NO, S_FENCE, NO, S_FENCE},
    [S_START] = {NO, NO, S_NONE, NO, NO, NO, NO, NO, S_START, NO, NO},
    [S_LOCK] = {NO, NO, NO, NO, S_NONE, NO, NO, S_LOCK, S_LOCK, S_LOCK, NO},
    [S_ALL] = {NO, NO, NO, NO, NO, NO, S_NONE, S_ALL, S_ALL, S_ALL, NO},
};
static const char *const words[STATES] = {"none", "fresh", "fence", "start", "lock", "all"};

static int state_now(void)
{
    static const int of[] = {[NONE] = S_NONE, [FENCE] = S_FENCE, [START] = S_START, [LOCK] = S_LOCK, [ALL] = S_ALL};
    int s = of[w->epoch->access];
    return s == S_FENCE && !atomic_load(&w->epoch->accessed) ? S_FRESH : s;
}

static const char *broken(void)
{
    const char *what = rma_epoch_broken(w);
    return what ? what : "";
}

static int put(bool by_request)
{
    static int64_t v = 1000;
    int64_t got = 0;
    struct gw_req *r = NULL;
    v++;
    int rc = by_request ? rma_rput(&v, 8, gw_type_byte, 0, 16, 8, gw_type_byte, w, &r)
                        : rma_put(&v, 8, gw_type_byte, 0, 16, 8, gw_type_byte, w);
    if (rc == GW_OK && by_request) rc = req_wait(&r, NULL);
    memcpy(&got, base + 16, 8);
    CHECK((rc == GW_OK) == (got == v)); /* an access that is refused changes nothing */
    return rc;
}

static int call(int c)
{
    switch (c) {
    case C_FENCE: return rma_win_fence(0, w);
    case C_START: return rma_win_start(group, 0, w);
    case C_COMPLETE: return rma_win_complete(w);
    case C_LOCK: return rma_win_lock(GW_LOCK_EXCLUSIVE, 0, 0, w);
    case C_UNLOCK: return rma_win_unlock(0, w);
    case C_LOCK_ALL: return rma_win_lock_all(0, w);
    case C_UNLOCK_ALL: return rma_win_unlock_all(w);
    case C_FLUSH: return rma_win_flush(0, w);
    case C_PUT: return put(false);
    case C_RPUT: return put(true);
    default: return rma_epoch_none(w);
    }
}

static void enter(int state)
{
    if (state == S_START) CHECK_EQ(rma_win_post(group, 0, w), GW_OK);
    static const int by[STATES] = {-1, C_FENCE, C_FENCE, C_START, C_LOCK, C_LOCK_ALL};
    if (by[state] >= 0) CHECK_EQ(call(by[state]), GW_OK);
    if (state == S_FENCE) CHECK_EQ(put(false), GW_OK);
    CHECK_EQ(state_now(), state);
}

/* To NONE, from wherever. */
static void leave(void)
{
    int state = state_now();
    if (state == S_START) CHECK_EQ(rma_win_complete(w), GW_OK);
    if (state == S_LOCK) CHECK_EQ(rma_win_unlock(0, w), GW_OK);
    if (state == S_ALL) CHECK_EQ(rma_win_unlock_all(w), GW_OK);
    if (state == S_FENCE || state == S_FRESH) CHECK_EQ(rma_win_fence(GW_MODE_NOSUCCEED, w), GW_OK);
    if (w->epoch->is_posted) CHECK_EQ(rma_win_wait(w), GW_OK);
    CHECK_EQ(state_now(), S_NONE);
}

static void table(void)
{
    for (int s = 0; s < STATES; s++)
        for (int c = 0; c < CALLS; c++) {
            enter(s);
            bool posts = c == C_START && after[s][c] == S_START;
            if (posts) CHECK_EQ(rma_win_post(group, 0, w), GW_OK);
            int rc = call(c), want = after[s][c];
            if (rc != (want == NO ? GW_ERMA_SYNC : GW_OK) || state_now() != (want == NO ? s : want)) {
                unit_failures++;
                fprintf(stderr, "state %s, call %d: answers %d, then state %s\n", words[s], c, rc, words[state_now()]);
            }
            CHECK_STR(broken(), "");
            leave();
            CHECK_STR(broken(), "");
        }
}

/* rma_epoch_broken() finds what is not so. */
static void faults(void)
{
    struct rma_epoch *e = w->epoch;
    enter(S_LOCK);
    e->n_held = 2;
    CHECK_STR(broken(), "the number of targets");
    e->n_held = 1, e->access = ALL;
    CHECK_STR(broken(), "targets are listed in an epoch of MPI_Win_start or MPI_Win_lock only");
    e->access = LOCK, e->accessed = true;
    CHECK_STR(broken(), "accesses are noted in an epoch of MPI_Win_fence only");
    e->accessed = false;
    atomic_store(&w->n_open, 1);
    CHECK_STR(broken(), "accesses are inlined in an epoch for all ranks that is in use");
    atomic_store(&w->n_open, 2);
    CHECK_STR(broken(), "all ranks may be accessed, or those of a list");
    atomic_store(&w->n_open, 0);
    atomic_store(&w->n_flushed, 1);
    CHECK_STR(broken(), "flushes are inlined where nothing is under way");
    atomic_store(&w->n_flushed, 0);
    leave();
    atomic_store(&w->listed, e->held);
    CHECK_STR(broken(), "the list of targets is that of the epoch");
    atomic_store(&w->listed, NULL);
    e->access = LOCK;
    CHECK_STR(broken(), "an epoch of MPI_Win_lock has a target");
    e->access = NONE, e->is_posted = true;
    CHECK_STR(broken(), "an exposure epoch has requests");
    e->is_posted = false;
    CHECK_STR(broken(), "");
}

/* ---- exposure: none --post--> posted --wait, test--> none ---- */
static void exposure(void)
{
    int flag = -1;
    CHECK(rma_win_wait(w) == GW_ERMA_SYNC && rma_win_test(w, &flag) == GW_ERMA_SYNC && flag == -1);
    CHECK_EQ(rma_win_post(group, 0, w), GW_OK);
    CHECK_EQ(rma_win_post(group, 0, w), GW_ERMA_SYNC);
    CHECK_EQ(rma_win_fence(0, w), GW_ERMA_SYNC);
    CHECK(rma_win_test(w, &flag) == GW_OK && !flag);
    CHECK(rma_win_start(group, 0, w) == GW_OK && rma_win_test(w, &flag) == GW_OK && !flag);
    CHECK(put(false) == GW_OK && rma_win_complete(w) == GW_OK);
    for (int i = 0; i < 100 && !flag; i++) CHECK_EQ(rma_win_test(w, &flag), GW_OK);
    CHECK(flag && !w->epoch->is_posted);
    /* a group without this rank: nobody to wait for, and nobody whom it may access */
    CHECK(rma_win_post(nobody, 0, w) == GW_OK && rma_win_wait(w) == GW_OK);
    CHECK(rma_win_start(nobody, 0, w) == GW_OK && put(false) == GW_ERMA_SYNC && rma_win_complete(w) == GW_OK);
}

static void arguments(void)
{
    CHECK_EQ(rma_win_fence(GW_MODE_NOCHECK, w), GW_EASSERT);
    CHECK_EQ(rma_win_lock(12345, 0, 0, w), GW_ELOCKTYPE);
    CHECK_EQ(rma_win_lock(GW_LOCK_SHARED, 1, 0, w), GW_ERANK);
    CHECK_EQ(rma_win_lock(GW_LOCK_SHARED, -7, 0, w), GW_ERANK);
    CHECK(rma_win_lock(GW_LOCK_SHARED, GW_PROC_NULL, 0, w) == GW_OK && state_now() == S_NONE);
    CHECK(rma_win_lock(GW_LOCK_SHARED, 0, GW_MODE_NOSTORE, w) == GW_EASSERT && state_now() == S_NONE);
    enter(S_FENCE);
    CHECK(rma_win_fence(GW_MODE_NOPRECEDE, w) == GW_ERMA_SYNC && state_now() == S_FENCE);
    leave();
    CHECK(rma_win_lock(GW_LOCK_SHARED, 0, GW_MODE_NOCHECK, w) == GW_OK);
    CHECK(rma_win_lock(GW_LOCK_SHARED, 0, 0, w) == GW_ERMA_SYNC && strstr(gw_fail_text(), "already"));
    leave();
}

/* ---- data: beyond the window, strides, sums, swaps ---- */
static void data(void)
{
    struct gw_type *stride;
    int64_t v = 7, old = 0, three[3] = {1, 2, 3}, sums[3];
    CHECK(type_vector(3, 8, 24, gw_type_byte, &stride) == GW_OK && type_commit(&stride) == GW_OK);
    memset(base, 0, WIN_BYTES);
    enter(S_ALL);
    CHECK_EQ(rma_put(three, 24, gw_type_byte, 0, 8, 1, stride, w), GW_OK);
    int64_t *b = (int64_t *)(void *)base;
    for (int i = 0; i < 12; i++) CHECK_EQ(b[i], i % 3 == 1 && i < 9 ? i / 3 + 1 : 0);
    CHECK_EQ(rma_get_accumulate(three, 3, gw_type_int64, sums, 3, gw_type_int64, 0, 8, 3, gw_type_int64, gw_op_sum, w), GW_OK);
    CHECK(sums[0] == 1 && sums[1] == 0 && b[1] == 2 && b[2] == 2 && b[3] == 3);
    CHECK(rma_fetch_and_op(&v, &old, gw_type_int64, 0, 8, gw_op_max, w) == GW_OK && old == 2 && b[1] == 7);
    CHECK(rma_compare_and_swap(&three[2], &v, &old, gw_type_int64, 0, 8, w) == GW_OK && old == 7 && b[1] == 3);
    CHECK(rma_compare_and_swap(&v, &v, &old, gw_type_int64, 0, 8, w) == GW_OK && old == 3 && b[1] == 3);
    CHECK(rma_get(&old, 8, gw_type_byte, 0, 8, 8, gw_type_byte, w) == GW_OK && old == 3);
    const int64_t places[] = {WIN_BYTES - 7, WIN_BYTES, -1, INT64_MAX - 4, INT64_MIN};
    char last = base[WIN_BYTES - 1];
    for (size_t i = 0; i < GW_ARRAY_LEN(places); i++)
        CHECK_EQ(rma_put(&v, 8, gw_type_byte, 0, places[i], 8, gw_type_byte, w), places[i] < 0 ? GW_EDISP : GW_ERMA_RANGE);
    CHECK_EQ(base[WIN_BYTES - 1], last);
    leave();
    type_release(stride);
}

int main(void)
{
    rooms_up();
    CHECK(group_incl(gw_comm_world.group, 1, (int[]){0}, &group) == GW_OK);
    nobody = &gw_group_empty;
    for (int flavor = 0; flavor < 3; flavor++) {
        w = win_of(flavor, memory, &base);
        table();
        faults();
        exposure();
        arguments();
        data();
        enter(S_LOCK);
        CHECK_EQ(rma_epoch_none(w), GW_ERMA_SYNC);
        leave();
        CHECK_EQ(rma_win_free(&w), GW_OK);
    }
    group_release(group);
    CHECK(p2p_is_quiet());
    return unit_end();
}
