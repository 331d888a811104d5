/* check_win.c -- one-sided communication: the datatypes of both sides must agree, and the buffers at the origin are in use until
 * the call that completes the operation.  What lies outside of the window is an error without us.
 *
 * In this library operations are over when they return, so what is found here are programs that would go wrong with another one:
 * whatever changed after the operation was changed by the program.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "check/check_private.h"

static bool is_plain(const struct gw_type *t) { return t->is_dense && t->obj.predefined; }

static void add(struct check_run *r, void **arg, int64_t count, struct gw_type *t, bool is_written)
{
    void *buf = *arg;
    uintptr_t lo = (uintptr_t)buf + (uintptr_t)t->true_lb;
    r->args[r->n_spans] = arg;
    if (likely(is_plain(t) && buf != GW_IN_PLACE && count > 0 && r->a.target_rank >= 0))
        r->spans[r->n_spans++] = (struct check_span){
            .buf = buf, .count = count, .type = t, .lo = lo, .hi = lo + (uintptr_t)(count * t->size), .is_written = is_written};
    else
        check_run_use(r, arg, check_span(buf, r->a.target_rank == GW_PROC_NULL ? 0 : count, t, is_written));
}

/* What a get brings must be there before it is looked at.  Where that takes a round trip, it is waited for of the first operations of
 * an epoch only: of a program that has more of them under way the time must not multiply. */
static bool is_there_soon(struct rma_win *w, int target)
{
    enum { AWAITED = 64 };
    return !w->deferred || check_use_is_short(w->obj.id, target, AWAITED);
}
static int sum_all(struct check_run *r)
{
    struct rma_win *w = r->a.win;
    bool is_there = is_there_soon(w, r->a.target_rank), gets = false;
    for (int k = 0; k < r->n_spans; k++) gets = gets || (r->spans[k].is_written && r->spans[k].lo != r->spans[k].hi);
    int rc = is_there && gets ? rma_settle(w) : GW_OK;
    check_pages_hold(false);
    for (int k = 0; k < r->n_spans && rc == GW_OK; k++)
        if (is_there || !r->spans[k].is_written) check_span_sum_now(&r->spans[k]);
    check_pages_let_go();
    return rc;
}

/* ---- the most frequent ones: looked at late ---- */
static bool can_be_late(const struct check_run *r)
{
    const struct check_span *s = &r->spans[0];
    bool is_one =
        r->form == CHECK_BLOCKS && r->n_spans == 1 && is_plain(s->type) && s->lo != s->hi && s->hi - s->lo <= CHECK_LATE_MAX;
    if (!is_one) return false;
    gw_lock(&check_lock);
    bool is_apart = check_use_is_apart(s);
    if (is_apart) check_race_touch(s);
    gw_unlock(&check_lock);
    return is_apart;
}

static int accessed_late(struct check_run *r)
{
    struct rma_win *w = r->a.win;
    struct check_span *s = &r->spans[0];
    struct check_about about = {w->comm, r->a.target_rank, GW_UNDEFINED, w->obj.id};
    bool is_there = is_there_soon(w, r->a.target_rank);
    int rc = is_there && s->is_written ? rma_settle(w) : GW_OK;
    if (rc != GW_OK) return rc;
    gw_lock(&check_lock);
    bool has_sums = check_late_add(s, &about, is_there || !s->is_written);
    gw_unlock(&check_lock);
    if (r->race.kind == RACE_GET && !has_sums) r->race.data = NULL; /* it may not be there yet */
    r->race.brings = s->is_written;
    check_race_access(w, &r->race);
    return GW_OK;
}

/* As a call that is refused uses nothing, all this comes after it. */
static int accessed(struct check_run *r)
{
    if (can_be_late(r)) return accessed_late(r);
    struct rma_win *w = r->a.win;
    struct check_about about = {w->comm, r->a.target_rank, GW_UNDEFINED, w->obj.id};
    check_use_look(r->spans, r->n_spans);
    int rc = sum_all(r);
    if (rc != GW_OK) return rc;
    if (r->race.kind == RACE_GET && !r->spans[0].sums) r->race.data = NULL; /* it may not be there yet */
    for (int k = 0; k < r->n_spans; k++) r->race.brings = r->race.brings || r->spans[k].is_written;
    r->race.has_request = r->form == CHECK_STARTS;
    check_race_access(w, &r->race);
    if (r->form == CHECK_STARTS)
        check_use_track(r->a.request, r->spans, r->n_spans, about);
    else
        check_use_pend(r->spans, r->n_spans, about);
    return rc;
}
static int access_after(struct check_run *r, int rc)
{
    if (rc == GW_OK) rc = accessed(r);
    free(r->race.owned);
    return rc;
}

/* Staged buffers are free once the operation is over at the origin; one with a request tells of it itself. */
static int access_stage(struct check_run *r, int rc)
{
    return rc == GW_OK && r->stage && r->form == CHECK_BLOCKS ? rma_settle(r->a.win) : rc;
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
        check_site_text(check_me.now, site), moves, (long long)count, type_name(t), (long long)room, type_name(there),
        check_about_text(&place, about));
}

/* At the origin (count, t), at the target what the call says. */
static void compare_put(const struct check_run *r)
{
    const struct check_args *a = &r->a;
    if (a->origin_datatype != a->target_datatype || a->origin_count > a->target_count)
        compare_all("puts", a->origin_count, a->origin_datatype, a->target_count, a->target_datatype, a->target_rank, a->win);
}
static void compare_get(const struct check_run *r, const char *moves, int64_t count, struct gw_type *t)
{
    const struct check_args *a = &r->a;
    if (t != a->target_datatype || a->target_count > count)
        compare_all(moves, a->target_count, a->target_datatype, count, t, a->target_rank, a->win);
}

/* ---- operations ---- */
static struct check_race moves(enum race_kind kind, const struct check_args *a)
{
    return (struct check_race){.kind = kind,
                               .target = a->target_rank,
                               .disp = a->target_disp,
                               .count = a->target_count,
                               .type = a->target_datatype,
                               .data = a->origin_addr,
                               .data_count = a->origin_count,
                               .data_type = a->origin_datatype};
}

static void put_uses(struct check_run *r) { add(r, &r->a.origin_addr, r->a.origin_count, r->a.origin_datatype, false); }
static int put_before(struct check_run *r)
{
    compare_put(r);
    r->race = moves(RACE_PUT, &r->a);
    if (r->form == CHECK_BLOCKS) check_race_before(r->a.win, &r->race, r->small, sizeof r->small);
    return GW_OK;
}
const struct check_kind check_of_put = {
    .uses = put_uses, .before = put_before, .after = access_after, .stage_after = access_stage, .fills_all = true};

/* What is needed of a get is there after it, too; of the next one of a loop this is all. */
static bool is_next_get(const struct check_run *r)
{
    const struct check_args *a = &r->a;
    bool is_same = r->form == CHECK_BLOCKS && a->origin_datatype == a->target_datatype && a->origin_count == a->target_count;
    struct check_late_step s = {r->me, a->origin_addr, a->origin_count, a->origin_datatype, a->win->obj.id, a->target_rank};
    uintptr_t at = (uintptr_t)a->origin_addr;
    int64_t bytes = a->origin_count * a->origin_datatype->size;
    gw_lock(&check_lock);
    bool is_next = is_same && check_use_is_none() && !check_race_is_exposed(at, at + (uintptr_t)bytes) &&
        check_late_next(&s, !a->win->deferred);
    bool is_done = is_next && check_race_next(a->win, r->me, a->target_rank, a->target_disp, bytes);
    gw_unlock(&check_lock);
    if (is_next && !is_done) {
        struct check_race race = moves(RACE_GET, a);
        if (a->win->deferred) race.data = NULL;
        race.brings = true;
        check_race_access(a->win, &race);
    }
    return is_next;
}

static void get_uses(struct check_run *r) { add(r, &r->a.origin_addr, r->a.origin_count, r->a.origin_datatype, true); }
static int get_before(struct check_run *r)
{
    compare_get(r, "gets", r->a.origin_count, r->a.origin_datatype);
    return GW_OK;
}
static int get_after(struct check_run *r, int rc)
{
    if (rc != GW_OK || is_next_get(r)) return rc;
    r->race = moves(RACE_GET, &r->a);
    return accessed(r);
}
const struct check_kind check_of_get = {
    .uses = get_uses, .before = get_before, .after = get_after, .stage_after = access_stage, .fills_all = true};

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
        check_site_text(check_me.now, site), check_about_text(&place, about), gw_fail_text());
}

static struct check_race updates(const struct check_args *a, int64_t count, struct gw_type *t)
{
    return (struct check_race){.kind = reads_origin(a->op) ? RACE_UPDATE : RACE_FETCH,
                               .target = a->target_rank,
                               .disp = a->target_disp,
                               .count = count,
                               .type = t,
                               .op = a->op};
}

/* With a result, too. */
static void accumulate_uses(struct check_run *r)
{
    struct check_args *a = &r->a;
    if (reads_origin(a->op)) add(r, &a->origin_addr, a->origin_count, a->origin_datatype, false);
    if (a->result_count >= 0) add(r, &a->result_addr, a->result_count, a->result_datatype, true);
}
static int accumulate_before(struct check_run *r)
{
    const struct check_args *a = &r->a;
    if (a->result_count >= 0) compare_get(r, "fetches", a->result_count, a->result_datatype);
    look_at_op(a->target_count, a->target_datatype, a->op, a->target_rank, a->win);
    r->race = updates(a, a->target_count, a->target_datatype);
    return GW_OK;
}
const struct check_kind check_of_accumulate = {
    .uses = accumulate_uses, .before = accumulate_before, .after = access_after, .stage_after = access_stage};

static void fetch_uses(struct check_run *r)
{
    struct check_args *a = &r->a;
    if (reads_origin(a->op)) add(r, &a->origin_addr, a->origin_addr ? 1 : 0, a->datatype, false);
    add(r, &a->result_addr, a->result_addr ? 1 : 0, a->datatype, true);
}
static int fetch_before(struct check_run *r)
{
    r->race = updates(&r->a, 1, r->a.datatype);
    return GW_OK;
}
const struct check_kind check_of_fetch = {
    .uses = fetch_uses, .before = fetch_before, .after = access_after, .stage_after = access_stage};

static void swap_uses(struct check_run *r)
{
    struct check_args *a = &r->a;
    add(r, &a->origin_addr, a->origin_addr ? 1 : 0, a->datatype, false);
    add(r, &a->compare_addr, a->compare_addr ? 1 : 0, a->datatype, false);
    add(r, &a->result_addr, a->result_addr ? 1 : 0, a->datatype, true);
}
static int swap_before(struct check_run *r)
{
    const struct check_args *a = &r->a;
    r->race =
        (struct check_race){.kind = RACE_SWAP, .target = a->target_rank, .disp = a->target_disp, .count = 1, .type = a->datatype};
    return GW_OK;
}
const struct check_kind check_of_swap = {
    .uses = swap_uses, .before = swap_before, .after = access_after, .stage_after = access_stage};

/* ---- locks of a window that was promised to have none ---- */
static int look_at_promise(struct check_run *r)
{
    char site[CHECK_SITE_TEXT], name[CHECK_WIN_TEXT];
    struct rma_win *w = r->a.win;
    if (rma_no_locks(w))
        check_say(
            "lock of a window without locks: %s, but the hint no_locks of %s is true. The call goes on here; other libraries may refuse it",
            check_site_text(check_me.now, site), check_win_name(w, name));
    return GW_OK;
}

static int lock_after(struct check_run *r, int rc)
{
    bool is_alone = r->a.lock_type == GW_LOCK_EXCLUSIVE && !(r->a.assert &GW_MODE_NOCHECK);
    if (rc == GW_OK && r->a.rank >= 0) check_race_locked(r->a.win, r->a.rank, is_alone);
    return rc;
}
const struct check_kind check_of_win_lock = {
    .before = look_at_promise, .after = lock_after, .stage_before = check_stage_window, .stage_after = check_stage_windowed};

static int lock_all_after(struct check_run *r, int rc)
{
    if (rc == GW_OK) check_race_locked(r->a.win, CHECK_EVERYONE, false);
    return rc;
}
const struct check_kind check_of_win_lock_all = {
    .before = look_at_promise, .after = lock_all_after, .stage_before = check_stage_window, .stage_after = check_stage_windowed};

/* ---- calls that complete operations.  Looked at before the call: from then on other ranks may access this memory again. ---- */
static int complete(const struct check_run *r, int target, bool is_local)
{
    check_use_settle(r->a.win->obj.id, target);
    check_race_completes(r->a.win, target, is_local);
    return GW_OK;
}
static int one_before(struct check_run *r) { return r->a.rank >= 0 ? complete(r, r->a.rank, false) : GW_OK; }
static int one_local_before(struct check_run *r) { return r->a.rank >= 0 ? complete(r, r->a.rank, true) : GW_OK; }
static int all_before(struct check_run *r) { return complete(r, CHECK_EVERYONE, false); }
static int all_local_before(struct check_run *r) { return complete(r, CHECK_EVERYONE, true); }
const struct check_kind check_of_win_completes = {.before = one_before,
                                                  .stage_before = check_stage_window,
                                                  .stage_after = check_stage_windowed},
                        check_of_win_completes_local = {.before = one_local_before};
const struct check_kind check_of_win_completes_all = {.before = all_before,
                                                      .stage_before = check_stage_window,
                                                      .stage_after = check_stage_windowed},
                        check_of_win_completes_all_local = {.before = all_local_before};

static int settle_before(struct check_run *r)
{
    check_use_settle(r->a.win->obj.id, CHECK_EVERYONE);
    return GW_OK;
}

static int fence_after(struct check_run *r, int rc) { return rc == GW_OK ? check_race_fence(r->a.win, r->a.assert) : rc; }
const struct check_kind check_of_win_fence = {
    .before = settle_before, .after = fence_after, .stage_before = check_stage_window, .stage_after = check_stage_windowed};

static int start_after(struct check_run *r, int rc)
{
    if (rc == GW_OK) check_race_started(r->a.win, r->a.group);
    return rc;
}
const struct check_kind check_of_win_start = {.after = start_after};

static int complete_before(struct check_run *r)
{
    settle_before(r);
    r->told = check_race_complete(r->a.win);
    return GW_OK;
}
static int complete_after(struct check_run *r, int rc) { return rc == GW_OK ? r->told : rc; }
const struct check_kind check_of_win_complete = {.before = complete_before, .after = complete_after};

/* From then on others may access it. */
static int post_before(struct check_run *r)
{
    check_race_post(r->a.win, r->a.group);
    return GW_OK;
}
const struct check_kind check_of_win_post = {
    .before = post_before, .stage_before = check_stage_window, .stage_after = check_stage_windowed};

/* MPI_Win_test, too. */
static int wait_after(struct check_run *r, int rc)
{
    return rc == GW_OK && (!r->a.flag || *r->a.flag) ? check_race_waited(r->a.win) : rc;
}
const struct check_kind check_of_win_wait = {
    .after = wait_after, .stage_before = check_stage_window, .stage_after = check_stage_windowed};

static int free_before(struct check_run *r)
{
    settle_before(r);
    check_race_free(r->a.win);
    return GW_OK;
}
const struct check_kind check_of_win_free = {.before = free_before};
