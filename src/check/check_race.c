/* check_race.c -- accesses to windows that race: the logs of epochs, and the words (check_race.h).
 *
 * A fence: the epoch is closed as ever (all that was done is at its targets then), logs go to the targets, these judge and copy their
 * part, and a barrier lets the ranks go on.  MPI_Win_complete sends the log behind the accesses, and MPI_Win_wait takes the logs in.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_race.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>

#include "base/count.h"
#include "base/time.h"
#include "check/check_call.h"

enum state { OPEN_NONE, OPEN_FENCE, OPEN_START, OPEN_LOCKS };
enum { TAG_LOG = 1, RUNS_MAX = 256, COPY_MAX = 64 << 20, TOLD_MAX = 5, BEFORE_MAX = 1 << 16 };

struct race_win {
    struct race_win *next;
    struct rma_win *win;
    enum state state;
    bool is_exposed;         /* by a fence or MPI_Win_post */
    struct race_log *log;    /* this rank's accesses in the epoch that is open */
    struct race_access *own; /* to this rank's part, by calls of its own */
    size_t n_own, own_room;
    char *copy;               /* of the part as the exposure began, or NULL */
    int64_t calls;            /* n_calls then */
    int n_origins, *origins;  /* of MPI_Win_post */
    int n_targets, *targets;  /* of MPI_Win_start */
    struct check_site locked; /* a lock between fences, under which something was accessed; fn 0: none */
    struct check_site first_lock;
    struct race_locks *under_locks; /* NULL: no lock yet; OPEN_LOCKS: is there */
};
static struct {
    struct race_win *first; /* with check_lock */
    _Atomic int n_exposed;
    _Atomic int64_t n_calls; /* of any kind but accesses */
} wins;

static struct race_win *race_of(struct rma_win *w)
{
    struct race_win *r = wins.first;
    while (r && r->win != w) r = r->next;
    if (r) return r;
    r = gw_xcalloc(1, sizeof *r);
    r->win = w;
    r->log = check_race_log_new();
    r->next = wins.first;
    return wins.first = r;
}

static char *part_of(const struct rma_win *w, int64_t *size_out)
{
    bool is_dynamic = !w->base && w->size == 0;
    *size_out = w->size;
    return is_dynamic ? NULL : w->base;
}

/* ---- the origin's log ---- */
static const char *run_at(const void *buf, const struct gw_type *t)
{
    return (const char *)((uintptr_t)buf + (uintptr_t)t->true_lb);
}

/* Most accesses are made at few places, which are looked up once. */
static struct race_access access_new(struct rma_win *w, enum race_kind kind)
{
    enum { PLACES = 16 };
    static _Thread_local struct {
        const void *from;
        struct race_access is;
    } known[PLACES];
    uint64_t h = (uintptr_t)check_me.now.from * 0x9e3779b97f4a7c15u;
    int k = (int)(h >> 60);
    _Static_assert(PLACES == 1 << (64 - 60), "an index for each");
    if (known[k].from != check_me.now.from || !check_me.now.from)
        known[k].is.place = check_site_pack(check_me.now, known[k].is.module);
    known[k].from = check_me.now.from;
    struct race_access a = known[k].is;
    a.origin = w->comm->rank;
    a.kind = kind;
    a.fn = check_me.now.fn;
    return a;
}

static void log_locked(struct race_win *r, const struct check_race *is, const struct race_step *step)
{
    bool is_over = is->brings && is->has_request;
    if (likely(check_race_locks_add(r->under_locks, r->win, is->target, step, is_over))) return;
    struct race_access a = access_new(r->win, is->kind);
    check_race_locks_place(r->under_locks, is->target, &a, step, is_over);
    check_race_locks_add(r->under_locks, r->win, is->target, step, is_over);
}

/* An access of one run of bytes that is not the next step of a loop. */
static void log_one(struct race_win *r, const struct check_race *is, const struct race_step *step)
{
    if (r->state == OPEN_LOCKS) {
        log_locked(r, is, step);
        return;
    }
    struct race_access a = access_new(r->win, is->kind);
    a.disp = step->disp;
    a.op = step->op;
    a.brings = step->brings;
    a.has_before = step->before != NULL;
    a.has_after = step->after != NULL;
    a.lo = step->lo;
    a.hi = step->hi;
    check_race_log_add(r->log, is->target, &a, step);
}

/* The first `moved` bytes of several runs: an access of so many that it is not looked at leaves no trace. */
static void log_runs(struct race_win *r, const struct check_race *is, struct race_step *step, int64_t moved)
{
    static const uintptr_t anywhere = (uintptr_t)1 << 46; /* only the distances count, which may be negative */
    struct type_cursor c;
    struct iovec iov[RUNS_MAX];
    int64_t bytes;
    type_cursor_init(&c, gw_data_host((const void *)anywhere, is->count, is->type));
    int n = type_cursor_iov(&c, iov, RUNS_MAX, moved, &bytes);
    if (bytes < moved) return;
    step->before = step->after = NULL;
    for (int i = 0; i < n; i++) {
        step->lo = (int64_t)((uintptr_t)iov[i].iov_base - anywhere);
        step->hi = step->lo + (int64_t)iov[i].iov_len;
        log_one(r, is, step);
    }
}

static bool read_there(struct rma_win *w, int target, int64_t disp, int64_t count, struct gw_type *t, void *into)
{
    int rc = rma_get(into, count * t->size, gw_type_byte, target, disp, count, t, w);
    if (rc == GW_OK) { /* which the program did not make */
        gw_counted(&gw_count.rma_gets, (uint64_t)-1);
        gw_counted(&w->n_ops, (uint64_t)-1);
        rc = rma_settle(w);
    }
    return rc == GW_OK;
}

bool check_race_peek(struct rma_win *w, int target, int64_t disp, int64_t count, struct gw_type *t, uint64_t *sum_out)
{
    int64_t bytes = count * t->size;
    char *is = gw_xmalloc((size_t)bytes);
    bool is_there = read_there(w, target, disp, count, t, is);
    if (is_there) *sum_out = check_sum_bytes(CHECK_SEED, is, (size_t)bytes);
    free(is);
    return is_there;
}

void check_race_before(struct rma_win *w, struct check_race *a, void *room, size_t cap)
{
    enum { AWAITED = 64 };
    int64_t bytes = a->count * a->type->size;
    gw_lock(&check_lock);
    struct race_win *r = race_of(w);
    bool is_open = r->state == OPEN_FENCE || r->state == OPEN_START,
         is_soon = !w->deferred || check_race_log_calls(r->log) < AWAITED;
    bool wanted = is_open && is_soon && a->target >= 0 && a->count > 0 && a->count <= BEFORE_MAX && bytes > 0 &&
        bytes <= BEFORE_MAX && type_is_run(a->type, a->count);
    gw_unlock(&check_lock);
    if (!wanted) return;
    if ((size_t)bytes > cap) room = a->owned = gw_xmalloc((size_t)bytes);
    if (read_there(w, a->target, a->disp, a->count, a->type, room)) a->before = room;
}

/* Under locks. */
bool check_race_next(struct rma_win *w, const struct check_me *me, int target, int64_t disp, int64_t bytes)
{
    const struct race_win *r = race_of(w);
    return r->state == OPEN_LOCKS && !r->first_lock.fn && check_race_locks_next(r->under_locks, w, me, target, disp, bytes);
}

void check_race_access(struct rma_win *w, const struct check_race *a)
{
    if (a->target < 0 || a->count <= 0) return;
    int64_t whole = a->count * a->type->size, moved = a->data_type ? gw_min64(whole, a->data_count * a->data_type->size) : whole;
    if (moved == 0) return;
    struct race_step step = {
        .kind = a->kind, .fn = check_me.now.fn, .from = check_me.now.from, .disp = a->disp, .brings = a->brings};
    bool is_one = type_is_run(a->type, a->count);
    bool is_whole = a->data && is_one && type_is_run(a->data_type, a->data_count) && a->data_count * a->data_type->size == whole;
    if (a->kind == RACE_UPDATE) step.op = a->op->obj.id;
    step.before = moved == whole ? a->before : NULL;
    step.after = is_whole ? run_at(a->data, a->data_type) : NULL;
    step.lo = a->type->true_lb;
    step.hi = step.lo + moved;
    gw_lock(&check_lock);
    struct race_win *r = race_of(w);
    bool is_locked = r->state == OPEN_LOCKS;
    assert(!is_locked || r->under_locks);
    if (!is_locked) atomic_fetch_sub_explicit(&wins.n_calls, 1, memory_order_relaxed);
    if (is_locked && r->first_lock.fn) r->locked = r->first_lock;
    if (r->state != OPEN_NONE &&
        (is_locked || !is_one || !check_race_log_follow(r->log, rma_disp_unit(w, a->target), a->target, &step))) {
        if (is_one)
            log_one(r, a, &step);
        else
            log_runs(r, a, &step, moved);
    }
    gw_unlock(&check_lock);
}

/* ---- what this rank does with its own part ---- */
static bool lies_in(const struct race_win *r, uintptr_t lo, uintptr_t hi)
{
    int64_t size;
    uintptr_t base = (uintptr_t)part_of(r->win, &size);
    return r->is_exposed && base && hi > base && lo < base + (uintptr_t)size;
}

bool check_race_is_exposed(uintptr_t lo, uintptr_t hi)
{
    if (atomic_load_explicit(&wins.n_exposed, memory_order_relaxed) == 0) return false;
    for (const struct race_win *r = wins.first; r; r = r->next)
        if (lies_in(r, lo, hi)) return true;
    return false;
}

void check_race_touch(const struct check_span *s)
{
    if (atomic_load_explicit(&wins.n_exposed, memory_order_relaxed) == 0 || s->lo == s->hi || !type_is_run(s->type, s->count))
        return;
    for (struct race_win *r = wins.first; r; r = r->next) {
        int64_t size;
        uintptr_t base = (uintptr_t)part_of(r->win, &size);
        if (!lies_in(r, s->lo, s->hi) || r->n_own == ACCESSES_MAX) continue;
        struct race_access a = access_new(r->win, s->is_written ? RACE_STORE : RACE_LOAD);
        a.lo = (int64_t)((s->lo > base ? s->lo : base) - base);
        a.hi = gw_min64((int64_t)(s->hi - base), size);
        assert(a.lo >= 0 && a.lo < a.hi && r->n_own < ACCESSES_MAX);
        struct race_access *last = r->n_own ? &r->own[r->n_own - 1] : NULL;
        if (last && last->kind == a.kind && last->fn == a.fn && last->place == a.place && last->hi == a.lo &&
            strcmp(last->module, a.module) == 0) {
            last->hi = a.hi;
            continue;
        }
        if (r->n_own == r->own_room) r->own = gw_xrealloc(r->own, (r->own_room = 2 * r->own_room + 16) * sizeof *r->own);
        r->own[r->n_own++] = a;
    }
}

void check_race_call(void) { atomic_fetch_add_explicit(&wins.n_calls, 1, memory_order_relaxed); }

/* Nothing that others do in the epoch can have been told to wait for what this rank did: it has called nothing but what ends the epoch, and
 * nobody stores here by another way. */
static bool is_alone_in(const struct race_win *r)
{
    int64_t size, other_size;
    const char *base = part_of(r->win, &size);
    if (atomic_load_explicit(&wins.n_calls, memory_order_relaxed) > r->calls + 1 || r->win->flavor == GW_WIN_FLAVOR_SHARED)
        return false;
    for (const struct race_win *o = wins.first; o; o = o->next) {
        const char *other = part_of(o->win, &other_size);
        if (o != r && (!other || (other < base + size && base < other + other_size))) return false;
    }
    return true;
}

/* ---- words ---- */
enum { ACCESS_TEXT = CHECK_SITE_TEXT + 64 };
struct told {
    struct race_win *r;
    const char *epoch;
    int n;
};

static const char *access_text(const struct race_access *a, int me, char *out)
{
    char site[CHECK_SITE_TEXT];
    check_site_text(check_site_unpack(a->fn, a->place, a->module), site);
    if (a->kind == RACE_LOAD || a->kind == RACE_STORE)
        snprintf(out, ACCESS_TEXT, "%s of rank %d itself, which %s that memory as a buffer", site, me,
                 a->kind == RACE_LOAD ? "reads" : "writes");
    else
        snprintf(out, ACCESS_TEXT, "%s of rank %d", site, a->origin);
    return out;
}

static void tell_race(const struct race_access *a, const struct race_access *b, int64_t from, int64_t to, void *arg)
{
    struct told *t = arg;
    char one[ACCESS_TEXT], other[ACCESS_TEXT], name[CHECK_WIN_TEXT];
    int me = t->r->win->comm->rank;
    if (t->n++ >= TOLD_MAX) return;
    access_text(a, me, one);
    access_text(b, me, other);
    check_win_name(t->r->win, name);
    const char *ops = a->kind == RACE_UPDATE && b->kind == RACE_UPDATE ? ", by accumulates of different operations" : "";
    if (t->epoch)
        check_say("accesses race: %s and %s, in one epoch of %s, both access bytes %lld to %lld of the part of rank %d in %s%s",
                  one, other, t->epoch, (long long)from, (long long)to - 1, me, name, ops);
    else
        check_say(
            "accesses race: %s and %s, under locks, both access bytes %lld to %lld of the part of rank %d in %s%s; no flush or unlock had "
            "completed either of them when the other one was called",
            one, other, (long long)from, (long long)to - 1, me, name, ops);
}

static void tell_store(struct told *t, const struct race_access *a)
{
    char one[ACCESS_TEXT], name[CHECK_WIN_TEXT];
    int me = t->r->win->comm->rank;
    if (t->n++ >= TOLD_MAX) return;
    check_say(
        "accesses race: bytes %lld to %lld of the part of rank %d in %s, which %s accesses, were changed in the same epoch of %s by a store of the "
        "program, or by way of another window over that memory",
        (long long)a->lo, (long long)a->hi - 1, me, check_win_name(t->r->win, name), access_text(a, me, one), t->epoch);
}

static void tell_changed(struct told *t, const struct race_access *a)
{
    char one[ACCESS_TEXT], name[CHECK_WIN_TEXT];
    int me = t->r->win->comm->rank;
    if (t->n++ >= TOLD_MAX) return;
    check_say(
        "accesses race: bytes %lld to %lld of the part of rank %d in %s, which %s wrote under a lock, were changed before a flush or unlock "
        "completed it, by a store of the program or by way of another window over that memory",
        (long long)a->lo, (long long)a->hi - 1, me, check_win_name(t->r->win, name), access_text(a, me, one));
}

/* ---- the target judges ---- */
static void look_for_stores(struct told *t, const struct race_access *v, size_t n)
{
    int64_t size;
    const char *base = part_of(t->r->win, &size);
    bool has_copy = t->r->copy && is_alone_in(t->r), is_readable = base && check_can_read(base, (size_t)size);
    for (size_t i = 0; i < n && base; i++) {
        const struct race_access *a = &v[i];
        if (a->is_hit || a->lo < 0 || a->lo >= a->hi || a->hi > size || (a->kind != RACE_PUT && a->kind != RACE_GET)) continue;
        size_t bytes = (size_t)(a->hi - a->lo);
        if (!is_readable && !check_can_read(base + a->lo, bytes)) continue;
        bool stored = a->has_after && check_sum_bytes(CHECK_SEED, base + a->lo, bytes) != a->after;
        if (!stored && has_copy && (a->kind == RACE_GET ? a->has_after : a->has_before))
            stored = check_sum_bytes(CHECK_SEED, t->r->copy + a->lo, bytes) != (a->kind == RACE_GET ? a->after : a->before);
        if (stored) tell_store(t, a);
    }
}

/* What was done under locks.  Takes v. */
static void judge_locks(struct race_win *r, struct race_access *v, size_t n)
{
    struct told t = {r, NULL, 0};
    bool has_all = check_race_judge(v, n, tell_race, &t);
    for (size_t i = 0; i < n && has_all; i++)
        if (v[i].is_changed && !v[i].is_hit) tell_changed(&t, &v[i]);
    free(v);
}

/* v[n]: of others, with room for what this rank did.  Takes it. */
static void judge_part(struct race_win *r, struct race_access *v, size_t n, const char *epoch)
{
    struct told t = {r, epoch, 0};
    v = gw_xrealloc(v, (n + r->n_own + 1) * sizeof *v);
    if (r->n_own) memcpy(v + n, r->own, r->n_own * sizeof *v);
    if (check_race_judge(v, n + r->n_own, tell_race, &t)) look_for_stores(&t, v, n);
    free(v);
}

static void expose(struct race_win *r, bool is_exposed)
{
    int64_t size;
    const char *base = part_of(r->win, &size);
    int before = atomic_fetch_add_explicit(&wins.n_exposed, is_exposed - r->is_exposed, memory_order_relaxed);
    assert(before >= r->is_exposed); /* it counts the windows that are exposed */
    (void)before;
    r->is_exposed = is_exposed;
    r->n_own = 0;
    r->calls = atomic_load_explicit(&wins.n_calls, memory_order_relaxed);
    if (!is_exposed || !base || size > COPY_MAX || !check_can_read(base, (size_t)size)) {
        free(r->copy);
        r->copy = NULL;
        return;
    }
    if (!r->copy) r->copy = gw_xmalloc((size_t)size + 1);
    memcpy(r->copy, base, (size_t)size);
}

/* ---- fences ---- */
static int damaged(int from) { return gw_fail(GW_EOTHER, "what rank %d says of its accesses (GODWIT_CHECK) cannot be", from); }

/* Logs to the targets: v with room for one more, by target, of which each gets counts[i] bytes; *v_out is the caller's.  Takes v and counts. */
static int trade(const struct rma_win *w, struct race_access *v, int64_t *counts, struct race_access **v_out, size_t *n_out)
{
    struct gw_comm *c = w->comm;
    size_t p = (size_t)c->size;
    int64_t *sdispls = gw_xcalloc(3 * p, sizeof *counts), *rcounts = sdispls + p, *rdispls = sdispls + 2 * p, at = 0, all = 0;
    struct race_access *in;
    for (size_t i = 0; i < p; i++) sdispls[i] = at, at += counts[i];
    int rc = coll_alltoall(counts, 1, gw_type_int64, rcounts, 1, gw_type_int64, c, NULL);
    for (size_t i = 0; i < p && rc == GW_OK; i++) {
        if (!check_race_bytes_are_right(rcounts[i])) rc = damaged((int)i);
        rdispls[i] = all;
        if (rc == GW_OK) all += rcounts[i];
    }
    in = gw_xmalloc((size_t)all + sizeof *in);
    if (rc == GW_OK)
        rc = coll_alltoallv(v, (struct gw_counts){counts, true}, (struct gw_counts){sdispls, true}, gw_type_byte, in,
                            (struct gw_counts){rcounts, true}, (struct gw_counts){rdispls, true}, gw_type_byte, c, NULL);
    for (size_t i = 0; i < p && rc == GW_OK; i++)
        check_race_place(in + (size_t)rdispls[i] / sizeof *in, (size_t)rcounts[i] / sizeof *in, (int)i, w->disp_unit);
    free(counts);
    free(sdispls);
    free(v);
    *v_out = in;
    *n_out = (size_t)all / sizeof *in;
    return rc;
}

static struct race_access *locks_log(const struct race_win *r, int64_t *counts)
{
    size_t p = (size_t)r->win->comm->size, n = 0, at = 0;
    for (size_t i = 0; i < p && r->under_locks; i++) n += check_race_locks_count(r->under_locks, (int)i);
    struct race_access *out = gw_xmalloc((n + 1) * sizeof *out);
    for (size_t i = 0; i < p && r->under_locks; i++) {
        n = check_race_locks_count(r->under_locks, (int)i);
        counts[i] = (int64_t)(n * sizeof *out);
        check_race_locks_copy(r->under_locks, (int)i, out + at);
        at += n;
    }
    return out;
}

static void look_at_lock(struct race_win *r, int assertions)
{
    char site[CHECK_SITE_TEXT], here[CHECK_SITE_TEXT], name[CHECK_WIN_TEXT];
    if (r->locked.fn && !(assertions & GW_MODE_NOPRECEDE))
        check_say(
            "lock inside an epoch of MPI_Win_fence: %s of %s lies between two fences, and what was done under it too; the fence before it must say "
            "MPI_MODE_NOSUCCEED, or %s MPI_MODE_NOPRECEDE",
            check_site_text(r->locked, site), check_win_name(r->win, name), check_site_text(check_me.now, here));
    r->locked.fn = r->first_lock.fn = 0;
}

/* Of all ranks' accesses; they and this rank's own ones. */
static int kinds_of_all(const struct race_win *r, struct race_kinds mine, bool *may_meet_out)
{
    struct race_kinds all;
    for (size_t i = 0; i < r->n_own; i++) check_race_kinds_add(&mine, &r->own[i]);
    int rc = coll_allreduce(&mine, &all, RACE_KINDS_NUMBERS, gw_type_int64, gw_op_max, r->win->comm, NULL);
    *may_meet_out = rc == GW_OK && check_race_kinds_may_meet(&all);
    return rc;
}

static struct race_win *race_look(struct rma_win *w)
{
    gw_lock(&check_lock);
    struct race_win *r = race_of(w);
    gw_unlock(&check_lock);
    return r;
}

int check_race_fence(struct rma_win *w, int assertions)
{
    struct race_win *r = race_look(w);
    struct race_access *v;
    size_t n;
    look_at_lock(r, assertions);
    bool may_meet;
    int rc = kinds_of_all(r, check_race_log_kinds(r->log), &may_meet);
    if (rc == GW_OK) {
        int64_t *counts = gw_xcalloc((size_t)w->comm->size, sizeof *counts);
        rc = trade(w, check_race_log_all(r->log, w->comm->size, may_meet, counts), counts, &v, &n);
        if (rc == GW_OK)
            judge_part(r, v, n, "MPI_Win_fence");
        else
            free(v);
    }
    gw_lock(&check_lock);
    check_race_log_clear(r->log);
    r->state = assertions & GW_MODE_NOSUCCEED ? OPEN_NONE : OPEN_FENCE;
    expose(r, r->state == OPEN_FENCE);
    gw_unlock(&check_lock);
    return rc == GW_OK ? coll_barrier(w->comm, NULL) : rc;
}

/* ---- post, start, complete, wait ---- */
static int *ranks_in(struct rma_win *w, struct gw_group *g, int *n_out)
{
    int *in = gw_xmalloc(2 * ((size_t)g->size + 1) * sizeof *in), *out = in + g->size + 1;
    for (int i = 0; i < g->size; i++) in[i] = i;
    if (group_translate_ranks(g, g->size, in, w->comm->group, out) != GW_OK) {
        free(in);
        *n_out = 0;
        return NULL;
    }
    memmove(in, out, (size_t)g->size * sizeof *in);
    *n_out = g->size;
    return in;
}

void check_race_started(struct rma_win *w, struct gw_group *g)
{
    struct race_win *r = race_look(w);
    free(r->targets);
    r->targets = ranks_in(w, g, &r->n_targets);
    r->state = OPEN_START;
    check_race_log_clear(r->log);
}

int check_race_complete(struct rma_win *w)
{
    struct race_win *r = race_look(w);
    int rc = GW_OK;
    if (r->state != OPEN_START) return GW_OK;
    for (int i = 0; i < r->n_targets && rc == GW_OK; i++) {
        int to = r->targets[i];
        int64_t bytes;
        struct race_access *out = check_race_log_for(r->log, to, &bytes);
        rc = check_court_post(w->comm, to, TAG_LOG, &bytes, sizeof bytes);
        if (rc == GW_OK && bytes) rc = check_court_post(w->comm, to, TAG_LOG, out, (size_t)bytes);
        free(out);
    }
    check_race_log_clear(r->log);
    r->state = OPEN_NONE;
    return rc;
}

void check_race_post(struct rma_win *w, struct gw_group *g)
{
    struct race_win *r = race_look(w);
    if (r->n_origins) return; /* it is posted, which is an error by itself */
    free(r->origins);
    r->origins = ranks_in(w, g, &r->n_origins);
    gw_lock(&check_lock);
    expose(r, true);
    gw_unlock(&check_lock);
}

static int take(struct gw_comm *c, int from, void *into, int64_t bytes)
{
    struct gw_req *q;
    int64_t came = bytes;
    int rc = p2p_stream_irecv(GW_STREAM_CHECK, into, bytes, gw_type_byte, from, TAG_LOG, c, &q);
    if (rc == GW_POSTED) rc = p2p_stream_wait_bytes(q, &came);
    return rc == GW_OK && came != bytes ? damaged(from) : rc;
}

int check_race_waited(struct rma_win *w)
{
    struct race_win *r = race_look(w);
    struct race_access *v = gw_xmalloc(sizeof *v);
    int64_t all = 0, bytes = 0;
    int rc = GW_OK;
    for (int i = 0; i < r->n_origins && rc == GW_OK; i++) {
        rc = take(w->comm, r->origins[i], &bytes, sizeof bytes);
        if (rc == GW_OK && !check_race_bytes_are_right(bytes)) rc = damaged(r->origins[i]);
        if (rc != GW_OK || bytes == 0) continue;
        v = gw_xrealloc(v, (size_t)(all + bytes));
        struct race_access *in = v + (size_t)all / sizeof *v;
        rc = take(w->comm, r->origins[i], in, bytes);
        if (rc == GW_OK) check_race_place(in, (size_t)bytes / sizeof *v, r->origins[i], w->disp_unit);
        all += bytes;
    }
    if (rc == GW_OK)
        judge_part(r, v, (size_t)all / sizeof *v, "MPI_Win_post");
    else
        free(v);
    r->n_origins = 0;
    gw_lock(&check_lock);
    expose(r, false);
    gw_unlock(&check_lock);
    return rc;
}

/* ---- locks, and the end ---- */
void check_race_locked(struct rma_win *w, int target, bool is_exclusive)
{
    gw_lock(&check_lock);
    struct race_win *r = race_of(w);
    if (r->state == OPEN_FENCE) r->first_lock = check_me.now;
    r->state = OPEN_LOCKS;
    if (!r->under_locks) r->under_locks = check_race_locks_new(w);
    check_race_locks_take(r->under_locks, target, is_exclusive);
    gw_unlock(&check_lock);
}

void check_race_completes(struct rma_win *w, int target, bool is_local)
{
    struct race_win *r = race_look(w);
    if (!r->under_locks || target >= w->comm->size) return;
    int first = target == CHECK_EVERYONE ? 0 : target, end = target == CHECK_EVERYONE ? w->comm->size : target + 1;
    for (int i = first; i < end && !is_local; i++) check_race_locks_look(r->under_locks, w, i);
    gw_lock(&check_lock);
    for (int i = first; i < end; i++) check_race_locks_end(r->under_locks, i, is_local);
    gw_unlock(&check_lock);
}

/* All ranks of the window call it; what is not complete is so now. */
static void judge_all_locks(struct race_win *r)
{
    struct race_kinds mine = check_race_kinds_none();
    bool may_meet;
    if (r->under_locks) mine = check_race_locks_kinds(r->under_locks);
    if (kinds_of_all(r, mine, &may_meet) != GW_OK || !may_meet) return;
    struct race_access *v;
    size_t n;
    int64_t *counts = gw_xcalloc((size_t)r->win->comm->size, sizeof *counts);
    for (int i = 0; i < r->win->comm->size && r->under_locks; i++) check_race_locks_end(r->under_locks, i, false);
    if (trade(r->win, locks_log(r, counts), counts, &v, &n) == GW_OK)
        judge_locks(r, v, n);
    else
        free(v);
}

void check_race_free(struct rma_win *w)
{
    char site[CHECK_SITE_TEXT], name[CHECK_WIN_TEXT];
    struct race_win *r = race_look(w), **at = &wins.first;
    judge_all_locks(r);
    gw_lock(&check_lock);
    while (*at != r) at = &(*at)->next;
    *at = r->next;
    expose(r, false);
    gw_unlock(&check_lock);
    int target;
    const struct race_access *a = check_race_log_first(r->log, &target);
    if (r->state == OPEN_FENCE && a)
        check_say(
            "epoch not closed: no MPI_Win_fence followed %s at rank %d on %s before MPI_Win_free; only that fence completes it",
            check_site_text(check_site_unpack(a->fn, a->place, a->module), site), target, check_win_name(w, name));
    check_race_log_drop(r->log);
    free(r->own);
    free(r->origins);
    free(r->targets);
    check_race_locks_drop(r->under_locks);
    free(r);
}
