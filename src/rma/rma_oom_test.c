/* rma_oom_test.c -- one rank and no memory: windows that cannot be made leave nothing; epochs that cannot be opened are not open, and no
 * message of theirs is waited for; what cannot be asked of a target is not waited for either, and what was is done once.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "../../test/rma_rooms.h"

#include <stdio.h>
#include <unistd.h>

#include "base/base.h"
#include "base/count.h"
#include "oom.h"

enum { LONG_GET_BYTES = 2000, FEW = 40 };
static struct rma_win *w;
static char *base, memory[WIN_BYTES], into[WIN_BYTES], from[WIN_BYTES];
static struct gw_group *group;
static struct gw_type *gaps; /* 4 bytes of every 12 */
static int64_t posted;       /* receives of the window itself */

/* ---- windows ---- */
static struct rma_win *made;
static int create(void) { return rma_win_create(memory, WIN_BYTES, 1, NULL, &gw_comm_world, &made); }
static int dynamic(void) { return rma_win_create_dynamic(NULL, &gw_comm_world, &made); }
static int allocate(void)
{
    void *at = NULL;
    int rc = rma_win_allocate(WIN_BYTES, 1, NULL, &gw_comm_world, &at, &made);
    if (rc == GW_OK) memset(at, 1, WIN_BYTES);
    return rc;
}
static int shared(void)
{
    void *at = NULL;
    int rc = rma_win_allocate_shared(WIN_BYTES, 1, NULL, &gw_comm_world, &at, &made);
    if (rc == GW_OK) memset(at, 1, WIN_BYTES);
    return rc;
}
static void dropped(void) { CHECK_EQ(rma_win_free(&made), GW_OK); }
static bool is_none(void)
{
    look(4);
    made = NULL;
    return proto_posted() == 0 && p2p_is_quiet();
}

/* ---- epochs ---- */
static void no_requests(void) { gw_lanes[0].free_reqs = NULL; }
static int post(void)
{
    no_requests();
    return rma_win_post(group, 0, w);
}
static void posted_end(void)
{
    CHECK_EQ(rma_win_start(group, 0, w), GW_OK);
    CHECK_EQ(rma_win_complete(w), GW_OK);
    CHECK_EQ(rma_win_wait(w), GW_OK);
}
static int start(void)
{
    int left = oom_pause();
    if (!w->epoch->is_posted) CHECK_EQ(rma_win_post(group, 0, w), GW_OK);
    posted = proto_posted();
    oom_go(left);
    no_requests();
    return rma_win_start(group, 0, w);
}
static void start_end(void)
{
    CHECK_EQ(rma_win_complete(w), GW_OK);
    CHECK_EQ(rma_win_wait(w), GW_OK);
    posted = 0;
}
static bool is_epoch_right(void)
{
    const char *broken = rma_epoch_broken(w);
    look(4);
    if (broken) fprintf(stderr, "epoch: %s\n", broken);
    return !broken && proto_posted() == posted && p2p_is_quiet();
}

/* ---- messages: all that a call began is over once it is settled, also where its answer was an error ---- */
static int settled(int rc)
{
    int end = rma_deferred_settle(w);
    return rc == GW_OK ? end : rc;
}
static uint64_t at(int64_t offset) { return (uint64_t)(uintptr_t)base + (uint64_t)offset; }
static void change(void)
{
    static char salt;
    memset(into, -1, sizeof into);
    memset(from, ++salt, sizeof from);
}
static int get_of(int64_t bytes)
{
    struct ask_run run = {at(8), (uint64_t)bytes};
    change();
    memcpy(base, from, WIN_BYTES);
    return settled(rma_deferred_get(w, 0, &run, 1, bytes, (struct rma_packed){into, NULL}));
}
static int get_long(void) { return get_of(LONG_GET_BYTES); }
static void got_long(void) { CHECK(memcmp(into, from, LONG_GET_BYTES) == 0); }
static int get_few(void) { return get_of(FEW); }
static void got_few(void) { CHECK(memcmp(into, from, FEW) == 0); }
static int put_long(void)
{
    change();
    return settled(rma_deferred_put_long(w, 0, (struct ask_run){at(8), LONG_GET_BYTES}, (struct rma_packed){from, NULL}));
}
static int put_few(void)
{
    struct ask_run run = {at(8), FEW};
    struct ask_head h = {.what = ASK_WRITE, .n_runs = 1, .bytes = FEW};
    change();
    int rc = rma_deferred_change(w, 0, h, &run, from, FEW), flushed = rma_deferred_flush(w, 0);
    return rc == GW_OK ? flushed : rc;
}
static int put_and_all(void)
{
    struct ask_run run = {at(8), FEW};
    struct ask_head h = {.what = ASK_WRITE, .n_runs = 1, .bytes = FEW};
    change();
    int rc = rma_deferred_change(w, 0, h, &run, from, FEW), flushed = rma_deferred_flush_all(w);
    return rc == GW_OK ? flushed : rc;
}
/* In one message. */
static int put_and_get(void)
{
    struct ask_run run = {at(8), FEW};
    struct ask_head h = {.what = ASK_WRITE, .n_runs = 1, .bytes = FEW};
    change();
    int rc = rma_deferred_change(w, 0, h, &run, from, FEW),
        got = rc == GW_OK ? rma_deferred_get(w, 0, &run, 1, FEW, (struct rma_packed){into, NULL}) : rc;
    return settled(got);
}
static void put_and_got(void) { CHECK(memcmp(into, from, FEW) == 0 && memcmp(base + 8, from, FEW) == 0); }
static void put_done_few(void)
{
    CHECK_EQ(rma_deferred_flush(w, 0), GW_OK);
    CHECK(memcmp(base + 8, from, FEW) == 0);
}
static void put_done_long(void)
{
    CHECK_EQ(rma_deferred_flush(w, 0), GW_OK);
    CHECK(memcmp(base + 8, from, LONG_GET_BYTES) == 0);
}
static int swap(void)
{
    char old[8];
    change();
    return rma_ask_swap(w, 0, at(8), from, base + 8, (struct rma_packed){old, NULL}, 8);
}
static void swapped(void) { CHECK(memcmp(base + 8, from, 8) == 0); }
static int get_wide(void) /* the answer does not fit what a question has for it */
{
    struct gw_op *no_op = container_of(gw_obj_lookup(GW_H_NO_OP, GW_KIND_OP), struct gw_op, obj);
    change();
    memcpy(base, from, WIN_BYTES);
    return rma_ask_update(w, 0, no_op, at(0), LONG_GET_BYTES, gw_type_byte, NULL, (struct rma_packed){into, NULL});
}
static int lock(void) { return rma_ask_lock(w, 0, LOCK_KIND_EXCLUSIVE); }
static void unlock(void) { CHECK_EQ(rma_ask_unlock(w, 0, LOCK_KIND_EXCLUSIVE), GW_OK); }
static bool is_settled(void)
{
    CHECK_EQ(rma_deferred_flush(w, 0), GW_OK);
    look(4);
    return atomic_load(&w->near[0].words->locked) == 0 && rma_deferred_settle(w) == GW_OK && proto_posted() == posted &&
        p2p_is_quiet();
}

/* ---- accumulates whose operands have gaps ---- */
static int accumulate(void)
{
    CHECK_EQ(rma_win_lock(GW_LOCK_SHARED, 0, GW_MODE_NOCHECK, w), GW_OK);
    int rc = rma_accumulate(from, 10, gaps, 0, 0, 10, gaps, gw_op_sum, w);
    CHECK_EQ(rma_win_unlock(0, w), GW_OK);
    return rc;
}
static void nothing(void) {}

static const struct oom_call windows[] = {
    {"create", create, dropped, 4, 0},
    {"create_dynamic", dynamic, dropped, 4, 0},
    {"allocate", allocate, dropped, 4, 0},
    {"allocate_shared", shared, dropped, 4, 0},
};
static const struct oom_call epochs[] = {
    {"post", post, posted_end, 3, 0},
    {"start", start, start_end, 3, 0},
    {"accumulate", accumulate, nothing, 0, 0},
};
static const struct oom_call messages[] = {
    {"a long get", get_long, got_long, 2, 0},
    {"a short get", get_few, got_few, 4, 0},
    {"a long put", put_long, put_done_long, 2, 0},
    {"a short put and a flush", put_few, put_done_few, 2, 0},
    {"a short put and a flush of all", put_and_all, put_done_few, 2, 0},
    {"a short put and a short get", put_and_get, put_and_got, 4, 0},
    {"a swap", swap, swapped, 1, 0},
    {"a lock", lock, unlock, 1, 0},
    {"a long answer", get_wide, got_long, 2, 0},
};

int main(void)
{
    alarm(300); /* what nobody answers would be waited for */
    rooms_up();
    CHECK(type_vector(1, 1, 3, gw_type_int, &gaps) == GW_OK && type_commit(&gaps) == GW_OK);
    CHECK_EQ(comm_group(&gw_comm_world, &group), GW_OK);
    for (size_t i = 0; i < GW_ARRAY_LEN(windows); i++) oom_try(&windows[i], is_none);
    CHECK_EQ(rma_win_create(memory, WIN_BYTES, 1, NULL, &gw_comm_world, &w), GW_OK);
    for (size_t i = 0; i < GW_ARRAY_LEN(epochs); i++) oom_try(&epochs[i], is_epoch_right);
    CHECK_EQ(rma_win_free(&w), GW_OK);
    w = win_of(0, memory, &base);
    posted = proto_posted();
    for (size_t i = 0; i < GW_ARRAY_LEN(messages); i++) oom_try(&messages[i], is_settled);
    CHECK_EQ(rma_win_free(&w), GW_OK);
    CHECK_EQ(proto_posted(), 0);
    CHECK_EQ(atomic_load(&gw_count.messages_refused), 0);
    group_release(group);
    type_release(gaps);
    rooms_down();
    return unit_end();
}
