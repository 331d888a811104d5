/* check_win.c -- twins of one-sided communication: the datatypes of both sides must agree, and the buffers at the origin are in use until
 * the call that completes the operation.  What lies outside of the window is an error without us.
 *
 * In this library operations are over when they return, so what is found here are programs that would go wrong with another one:
 * whatever changed after the operation was changed by the program.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "check/check_private.h"

struct uses {
    struct check_span v[CHECK_SPANS];
    int n;
};

static void add(struct uses *u, const void *buf, int64_t count, struct gw_type *t, int target, bool is_written)
{
    u->v[u->n++] = check_span(buf, target == GW_PROC_NULL ? 0 : count, t, is_written);
}

/* What a get brings must be there before it is looked at.  Where that takes a round trip, it is waited for of the first operations of
 * an epoch only: of a program that has more of them under way the time must not multiply. */
static int sum_all(struct uses *u, int target, struct rma_win *w)
{
    enum { AWAITED = 64 };
    bool is_there = !w->late || check_use_count(w->obj.id, target, AWAITED) < AWAITED, gets = false;
    for (int k = 0; k < u->n; k++) gets = gets || (u->v[k].is_written && u->v[k].lo != u->v[k].hi);
    int rc = is_there && gets ? rma_settle(w) : GW_OK;
    for (int k = 0; k < u->n && rc == GW_OK; k++)
        if (is_there || !u->v[k].is_written) check_span_sum_now(&u->v[k]);
    return rc;
}

/* After the call, as one that is refused uses nothing; req_out NULL: it has no request. */
static int end(int rc, struct uses *u, struct check_race *race, struct rma_win *w, struct gw_req **req_out)
{
    int target = race->target;
    struct check_about about = {w->comm, target, GW_UNDEFINED, w->obj.id};
    if (rc != GW_OK) return rc;
    check_use_look(u->v, u->n);
    rc = sum_all(u, target, w);
    if (rc != GW_OK) return rc;
    if (race->kind == RACE_GET && !u->v[0].sums) race->data = NULL; /* it may not be there yet */
    for (int k = 0; k < u->n; k++) race->brings = race->brings || u->v[k].is_written;
    race->has_request = req_out != NULL;
    check_race_access(w, race);
    if (req_out)
        check_use_track(req_out, u->v, u->n, about);
    else
        check_use_pend(u->v, u->n, about);
    return rc;
}

/* What the operation moves from (count, t) to (room, there), of which one is at the target. */
static GW_COLD void compare_all(const char *moves, int64_t count, struct gw_type *t, int64_t room, struct gw_type *there,
                                int target, struct rma_win *w)
{
    char site[CHECK_SITE_TEXT], about[CHECK_ABOUT_TEXT];
    struct check_item place = {.owner = w->obj.id, .rank = target};
    if (target == GW_PROC_NULL || check_type_fits(count, t, room, there)) return;
    check_say(
        "datatypes differ: %s %s %lld x %s as %lld x %s%s. The sequence of basic types must be the same at the origin and at the target",
        check_site_text(check_now, site), moves, (long long)count, type_name(t), (long long)room, type_name(there),
        check_about_text(&place, about));
}

static void compare(const char *moves, int64_t count, struct gw_type *t, int64_t room, struct gw_type *there, int target,
                    struct rma_win *w)
{
    if (t != there || count > room) compare_all(moves, count, t, room, there, target, w);
}

/* ---- operations ---- */
static struct check_race moves(enum race_kind kind, const void *data, int64_t ocount, struct gw_type *ot, int target, int64_t disp,
                               int64_t tcount, struct gw_type *tt)
{
    return (struct check_race){.kind = kind,
                               .target = target,
                               .disp = disp,
                               .count = tcount,
                               .type = tt,
                               .data = data,
                               .data_count = ocount,
                               .data_type = ot};
}

int check_rma_put(const void *origin, int64_t ocount, struct gw_type *ot, int target, int64_t disp, int64_t tcount,
                  struct gw_type *tt, struct rma_win *w)
{
    char small[64];
    struct uses u;
    u.n = 0; /* the spans are written as they come */
    add(&u, origin, ocount, ot, target, false);
    compare("puts", ocount, ot, tcount, tt, target, w);
    struct check_race race = moves(RACE_PUT, origin, ocount, ot, target, disp, tcount, tt);
    check_race_before(w, &race, small, sizeof small);
    int rc = end(rma_put(origin, ocount, ot, target, disp, tcount, tt, w), &u, &race, w, NULL);
    free(race.owned);
    return rc;
}

int check_rma_rput(const void *origin, int64_t ocount, struct gw_type *ot, int target, int64_t disp, int64_t tcount,
                   struct gw_type *tt, struct rma_win *w, struct gw_req **req_out)
{
    struct uses u;
    u.n = 0; /* the spans are written as they come */
    add(&u, origin, ocount, ot, target, false);
    compare("puts", ocount, ot, tcount, tt, target, w);
    struct check_race race = moves(RACE_PUT, origin, ocount, ot, target, disp, tcount, tt);
    return end(rma_rput(origin, ocount, ot, target, disp, tcount, tt, w, req_out), &u, &race, w, req_out);
}

int check_rma_get(void *origin, int64_t ocount, struct gw_type *ot, int target, int64_t disp, int64_t tcount, struct gw_type *tt,
                  struct rma_win *w)
{
    struct uses u;
    u.n = 0; /* the spans are written as they come */
    add(&u, origin, ocount, ot, target, true);
    compare("gets", tcount, tt, ocount, ot, target, w);
    struct check_race race = moves(RACE_GET, origin, ocount, ot, target, disp, tcount, tt);
    return end(rma_get(origin, ocount, ot, target, disp, tcount, tt, w), &u, &race, w, NULL);
}

int check_rma_rget(void *origin, int64_t ocount, struct gw_type *ot, int target, int64_t disp, int64_t tcount, struct gw_type *tt,
                   struct rma_win *w, struct gw_req **req_out)
{
    struct uses u;
    u.n = 0; /* the spans are written as they come */
    add(&u, origin, ocount, ot, target, true);
    compare("gets", tcount, tt, ocount, ot, target, w);
    struct check_race race = moves(RACE_GET, origin, ocount, ot, target, disp, tcount, tt);
    return end(rma_rget(origin, ocount, ot, target, disp, tcount, tt, w, req_out), &u, &race, w, req_out);
}

/* ---- accumulates: with MPI_NO_OP the origin is not looked at ---- */
static bool reads_origin(const struct gw_op *op) { return op->obj.id != GW_H_NO_OP; }

/* Without data nobody computes, so the call goes on. */
static void look_at_op(int64_t tcount, struct gw_type *tt, struct gw_op *op, int target, struct rma_win *w)
{
    char site[CHECK_SITE_TEXT], about[CHECK_ABOUT_TEXT];
    struct check_item place = {.owner = w->obj.id, .rank = target};
    bool computes = op->obj.predefined && op->obj.id != GW_H_NO_OP && op->obj.id != GW_H_REPLACE;
    if (target == GW_PROC_NULL || tcount * tt->size != 0 || (tcount > 0 && tt->size == 0) || !computes || op_check(op, tt) == GW_OK)
        return;
    check_say(
        "operation and datatype do not go together: %s%s: %s. The count is 0, so the call goes on here; other libraries may refuse it",
        check_site_text(check_now, site), check_about_text(&place, about), gw_fail_text());
}

static struct check_race updates(const struct gw_op *op, int target, int64_t disp, int64_t tcount, struct gw_type *tt)
{
    return (struct check_race){
        .kind = reads_origin(op) ? RACE_UPDATE : RACE_FETCH, .target = target, .disp = disp, .count = tcount, .type = tt, .op = op};
}

int check_rma_accumulate(const void *origin, int64_t ocount, struct gw_type *ot, int target, int64_t disp, int64_t tcount,
                         struct gw_type *tt, struct gw_op *op, struct rma_win *w)
{
    struct uses u;
    u.n = 0; /* the spans are written as they come */
    if (reads_origin(op)) add(&u, origin, ocount, ot, target, false);
    look_at_op(tcount, tt, op, target, w);
    struct check_race race = updates(op, target, disp, tcount, tt);
    return end(rma_accumulate(origin, ocount, ot, target, disp, tcount, tt, op, w), &u, &race, w, NULL);
}

int check_rma_raccumulate(const void *origin, int64_t ocount, struct gw_type *ot, int target, int64_t disp, int64_t tcount,
                          struct gw_type *tt, struct gw_op *op, struct rma_win *w, struct gw_req **req_out)
{
    struct uses u;
    u.n = 0; /* the spans are written as they come */
    if (reads_origin(op)) add(&u, origin, ocount, ot, target, false);
    look_at_op(tcount, tt, op, target, w);
    struct check_race race = updates(op, target, disp, tcount, tt);
    return end(rma_raccumulate(origin, ocount, ot, target, disp, tcount, tt, op, w, req_out), &u, &race, w, req_out);
}

int check_rma_get_accumulate(const void *origin, int64_t ocount, struct gw_type *ot, void *result, int64_t rcount,
                             struct gw_type *rt, int target, int64_t disp, int64_t tcount, struct gw_type *tt, struct gw_op *op,
                             struct rma_win *w)
{
    struct uses u;
    u.n = 0; /* the spans are written as they come */
    if (reads_origin(op)) add(&u, origin, ocount, ot, target, false);
    add(&u, result, rcount, rt, target, true);
    compare("fetches", tcount, tt, rcount, rt, target, w);
    look_at_op(tcount, tt, op, target, w);
    struct check_race race = updates(op, target, disp, tcount, tt);
    return end(rma_get_accumulate(origin, ocount, ot, result, rcount, rt, target, disp, tcount, tt, op, w), &u, &race, w, NULL);
}

int check_rma_rget_accumulate(const void *origin, int64_t ocount, struct gw_type *ot, void *result, int64_t rcount,
                              struct gw_type *rt, int target, int64_t disp, int64_t tcount, struct gw_type *tt, struct gw_op *op,
                              struct rma_win *w, struct gw_req **req_out)
{
    struct uses u;
    u.n = 0; /* the spans are written as they come */
    if (reads_origin(op)) add(&u, origin, ocount, ot, target, false);
    add(&u, result, rcount, rt, target, true);
    compare("fetches", tcount, tt, rcount, rt, target, w);
    look_at_op(tcount, tt, op, target, w);
    struct check_race race = updates(op, target, disp, tcount, tt);
    return end(rma_rget_accumulate(origin, ocount, ot, result, rcount, rt, target, disp, tcount, tt, op, w, req_out), &u, &race, w,
               req_out);
}

int check_rma_fetch_and_op(const void *origin, void *result, struct gw_type *t, int target, int64_t disp, struct gw_op *op,
                           struct rma_win *w)
{
    struct uses u;
    u.n = 0; /* the spans are written as they come */
    if (reads_origin(op)) add(&u, origin, origin ? 1 : 0, t, target, false);
    add(&u, result, result ? 1 : 0, t, target, true);
    struct check_race race = updates(op, target, disp, 1, t);
    return end(rma_fetch_and_op(origin, result, t, target, disp, op, w), &u, &race, w, NULL);
}

int check_rma_compare_and_swap(const void *origin, const void *compare, void *result, struct gw_type *t, int target, int64_t disp,
                               struct rma_win *w)
{
    struct uses u;
    u.n = 0; /* the spans are written as they come */
    add(&u, origin, origin ? 1 : 0, t, target, false);
    add(&u, compare, compare ? 1 : 0, t, target, false);
    add(&u, result, result ? 1 : 0, t, target, true);
    struct check_race race = {.kind = RACE_SWAP, .target = target, .disp = disp, .count = 1, .type = t};
    return end(rma_compare_and_swap(origin, compare, result, t, target, disp, w), &u, &race, w, NULL);
}

/* ---- locks of a window that was promised to have none ---- */
static void look_at_promise(struct rma_win *w)
{
    char site[CHECK_SITE_TEXT];
    if (!rma_no_locks(w)) return;
    check_say(
        "lock of a window without locks: %s, but the hint no_locks of %s%s is true. The call goes on here; other libraries may refuse it",
        check_site_text(check_now, site), w->name[0] ? "the window " : "this window", w->name);
}

int check_rma_win_lock(int type, int rank, int assertions, struct rma_win *w)
{
    look_at_promise(w);
    int rc = rma_win_lock(type, rank, assertions, w);
    if (rc == GW_OK && rank >= 0) check_race_locked(w, rank, type == GW_LOCK_EXCLUSIVE && !(assertions & GW_MODE_NOCHECK));
    return rc;
}

int check_rma_win_lock_all(int assertions, struct rma_win *w)
{
    look_at_promise(w);
    int rc = rma_win_lock_all(assertions, w);
    if (rc == GW_OK) check_race_locked(w, CHECK_EVERYONE, false);
    return rc;
}

/* ---- calls that complete operations.  Looked at before the call: from then on other ranks may access this memory again. ---- */
#define COMPLETES_ALL(name, is_local)                                                                                              \
    int check_rma_win_##name(struct rma_win *w)                                                                                    \
    {                                                                                                                              \
        check_use_settle(w->obj.id, CHECK_EVERYONE);                                                                               \
        check_race_completes(w, CHECK_EVERYONE, is_local);                                                                         \
        return rma_win_##name(w);                                                                                                  \
    }
COMPLETES_ALL(unlock_all, false)
COMPLETES_ALL(flush_all, false)
COMPLETES_ALL(flush_local_all, true)

#define COMPLETES_ONE(name, is_local)                                                                                              \
    int check_rma_win_##name(int rank, struct rma_win *w)                                                                          \
    {                                                                                                                              \
        if (rank >= 0) check_use_settle(w->obj.id, rank);                                                                          \
        if (rank >= 0) check_race_completes(w, rank, is_local);                                                                    \
        return rma_win_##name(rank, w);                                                                                            \
    }
COMPLETES_ONE(unlock, false)
COMPLETES_ONE(flush, false)
COMPLETES_ONE(flush_local, true)

int check_rma_win_fence(int assertions, struct rma_win *w)
{
    check_use_settle(w->obj.id, CHECK_EVERYONE);
    int rc = rma_win_fence(assertions, w);
    return rc == GW_OK ? check_race_fence(w, assertions) : rc;
}

int check_rma_win_start(struct gw_group *g, int assertions, struct rma_win *w)
{
    int rc = rma_win_start(g, assertions, w);
    if (rc == GW_OK) check_race_started(w, g);
    return rc;
}

int check_rma_win_complete(struct rma_win *w)
{
    check_use_settle(w->obj.id, CHECK_EVERYONE);
    int told = check_race_complete(w), rc = rma_win_complete(w);
    return rc == GW_OK ? told : rc;
}

int check_rma_win_post(struct gw_group *g, int assertions, struct rma_win *w)
{
    check_race_post(w, g); /* from then on others may access it */
    return rma_win_post(g, assertions, w);
}

int check_rma_win_wait(struct rma_win *w)
{
    int rc = rma_win_wait(w);
    return rc == GW_OK ? check_race_waited(w) : rc;
}

int check_rma_win_test(struct rma_win *w, int *flag_out)
{
    int rc = rma_win_test(w, flag_out);
    return rc == GW_OK && *flag_out ? check_race_waited(w) : rc;
}

int check_rma_win_free(struct rma_win **w)
{
    check_use_settle((*w)->obj.id, CHECK_EVERYONE);
    check_race_free(*w);
    return rma_win_free(w);
}
