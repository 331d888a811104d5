/* rma_random.c -- random legal one-sided programs against the sequential model of rma_model.h.
 *
 * Every rank draws the same plan of all ranks from the seed: for a round a window, a way of synchronising, a use for each zone of each
 * rank's part (one origin's own, read only, accumulated to with one operation, swapped in, counted in under exclusive locks), and each
 * origin's calls.  Afterwards what a zone's only owner put and got must be as planned, byte by byte; of what was accumulated, all that
 * was fetched goes to everybody, and the target looks for an order of all calls that explains it, element by element.
 * args: rounds, seed.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "rma_check.h"
#include "rma_model.h"

enum { RANKS_MAX = 16, WINDOWS = 2, ZONES = 4, SLOTS = 10, ZONE_BYTES = 8 * SLOTS + 16, STEPS_MAX = 4096, CALLS = 9 };
enum sync { FENCE, PSCW, LOCK, LOCK_ALL, SYNCS };
enum mode { OWN, READ, ACCUMULATE, SWAP, COUNT, MODES };
enum kind {
    PUT,
    GET,
    ACC,
    GET_ACC,
    FETCH,
    CAS,
    SECTION, /* under an exclusive lock: get all, flush, put them one higher */
    TAKE,    /* a lock */
    GIVE,
    FLUSH,
    FLUSH_LOCAL,
    FLUSH_ALL,
    FLUSH_ALL_LOCAL,
    MIDDLE, /* a fence between two eras */
    STEP_KINDS
};
enum layout { DENSE, SPREAD, REVERSED, LAYOUTS };

struct zone {
    enum elem elem;
    enum mode mode;
    enum act act;
    int owner;
    uint64_t init[SLOTS], now[SLOTS];
    char read[SLOTS], written[SLOTS]; /* by the owner since it last flushed */
    struct history h[SLOTS];
};
struct step {
    enum kind kind;
    enum act act;
    int origin, target, zone, n, slots[SLOTS], is_run; /* is_run: slots follow each other */
    enum layout olayout, rlayout;
    int is_wide, has_request, waits_at_once, exclusive, assertions;
    uint64_t operand[SLOTS], compare, want[SLOTS];
    unsigned char compared[8]; /* as an element; until the operation is complete */
    unsigned char obuf[2 * ZONE_BYTES], rbuf[2 * ZONE_BYTES];
    MPI_Request q;
};
static struct zone zones[RANKS_MAX][ZONES];
static struct step *steps;
static uint64_t (*results)[SLOTS]; /* of each step */
static int n_steps;

static struct {
    struct window w;
    int unit[RANKS_MAX], is_ordered;
    enum elem elem[RANKS_MAX][ZONES];
    int was_locked; /* since the last fence: that one did not begin an epoch then, and the next one does not end it */
} windows[WINDOWS], *on;
static struct {
    enum sync sync;
    int hot;                                       /* the target of half of the calls */
    int eras, nocheck, link[RANKS_MAX][RANKS_MAX]; /* PSCW: origin, target */
    int writes_to[RANKS_MAX];
} plan;
static int era, stage[RANKS_MAX][RANKS_MAX], locked[RANKS_MAX], locked_exclusive[RANKS_MAX]; /* while the plan is drawn */

/* ---- the plan ---------------------------------------------------------------------------------------------------------------- */
static struct step *step_new(enum kind kind, int origin, int target)
{
    struct step *s = &steps[n_steps++];
    memset(s, 0, sizeof *s);
    s->kind = kind, s->origin = origin, s->target = target, s->q = MPI_REQUEST_NULL;
    return s;
}

/* What the origin did to the target is over at the target. */
static void plan_is_flushed(int origin, int target)
{
    stage[origin][target]++;
    for (int z = 0; z < ZONES; z++)
        if (zones[target][z].mode == OWN && zones[target][z].owner == origin) {
            memset(zones[target][z].read, 0, SLOTS);
            memset(zones[target][z].written, 0, SLOTS);
        }
}

static void plan_flush(int origin, int target)
{
    enum kind kind = plan.sync == LOCK_ALL && random_below(3) == 0 ? FLUSH_ALL : FLUSH;
    step_new(kind, origin, target);
    for (int t = 0; t < size; t++)
        if (kind == FLUSH_ALL || t == target) plan_is_flushed(origin, t);
}

static void plan_unlock(int origin)
{
    if (locked[origin] < 0) return;
    step_new(GIVE, origin, locked[origin]);
    plan_is_flushed(origin, locked[origin]);
    locked[origin] = -1;
}
static void plan_lock(int origin, int target, int exclusive)
{
    if (locked[origin] == target && locked_exclusive[origin] >= exclusive && random_below(4)) return;
    plan_unlock(origin);
    struct step *s = step_new(TAKE, origin, target);
    locked[origin] = target, locked_exclusive[origin] = s->exclusive = exclusive || (!plan.nocheck && random_below(4) == 0);
    s->assertions = plan.nocheck && random_below(2) ? MPI_MODE_NOCHECK : 0;
}

static void plan_zone(int target, int number, int may_count)
{
    struct zone *z = &zones[target][number];
    memset(z, 0, sizeof *z);
    z->elem = on->elem[target][number];
    do z->mode = random_below(MODES);
    while ((z->mode == SWAP && z->elem >= E_FLOAT) || (z->mode == COUNT && (!may_count || z->elem == E_2INT)));
    z->owner = (int)random_below((unsigned)size);
    z->act = z->mode == COUNT ? A_SUM : z->mode == SWAP ? A_CAS : act_drawn(z->elem);
    uint64_t same = elem_of(z->elem, 1 + random_below(4));
    for (int k = 0; k < SLOTS; k++) {
        z->init[k] = z->now[k] = z->mode == COUNT ? same : elem_of(z->elem, 1 + random_below(5));
        z->h[k].elem = z->elem;
        z->h[k].is_ordered = on->is_ordered;
    }
}

/* Slots that follow each other, have gaps, or come in any order. */
static void plan_slots(struct step *s, int n)
{
    int style = (int)random_below(3), all[SLOTS];
    s->n = n, s->is_run = style == 0;
    int first = (int)random_below((unsigned)(SLOTS - n + 1)), stride = n < 2 ? 1 : 1 + (SLOTS - 1 - first) / (n - 1) / 2;
    if (first + (n - 1) * stride >= SLOTS) stride = 1;
    for (int k = 0; k < SLOTS; k++) all[k] = k;
    for (int k = SLOTS - 1; k > 0; k--) {
        int with = (int)random_below((unsigned)k + 1), was = all[k];
        all[k] = all[with], all[with] = was;
    }
    for (int k = 0; k < n; k++) s->slots[k] = style == 0 ? first + k : style == 1 ? first + k * stride : all[k];
}

/* A put or get of what nobody else touches: what it will find is known. */
static int plan_own(struct step *s, struct zone *z)
{
    int is_put = z->mode == OWN && random_below(2), clash = 0;
    s->kind = is_put ? PUT : GET;
    plan_slots(s, 1 + (int)random_below(SLOTS));
    for (int k = 0; k < s->n; k++) clash |= z->written[s->slots[k]] || (is_put && z->read[s->slots[k]]);
    if (clash && plan.sync <= PSCW) return 0;
    if (clash) { /* the flush comes first */
        struct step this = *s;
        n_steps--;
        plan_flush(this.origin, this.target);
        steps[n_steps++] = this;
        s = &steps[n_steps - 1];
    }
    for (int k = 0; k < s->n; k++) {
        int slot = s->slots[k];
        s->want[k] = z->now[slot];
        if (is_put) z->now[slot] = s->operand[k] = elem_of(z->elem, random_below(100));
        if (z->mode == OWN) (is_put ? z->written : z->read)[slot] = 1;
    }
    return 1;
}

static int plan_accumulate(struct step *s, struct zone *z)
{
    static const enum kind kinds[] = {ACC, ACC, GET_ACC, GET_ACC, FETCH}, swaps[] = {CAS, CAS, CAS, GET_ACC, FETCH};
    s->kind = z->mode == SWAP ? swaps[random_below(5)] : kinds[random_below(5)];
    s->act = s->kind == CAS ? A_CAS : z->mode == SWAP || (s->kind != ACC && random_below(4) == 0) ? A_NO_OP : z->act;
    plan_slots(s, s->kind == FETCH || s->kind == CAS ? 1 : 1 + (int)random_below(SLOTS));
    /* A displacement must say where a single element is. */
    if (s->kind == CAS && s->slots[0] * elem_bytes(z->elem) % on->unit[s->target]) s->slots[0] = 0;
    s->compare = elem_of(z->elem, random_below(6));
    int has_result = s->kind != ACC;
    for (int k = 0; k < s->n; k++) {
        const struct history *h = &z->h[s->slots[k]];
        int unseen = 0;
        for (int i = 0; i < h->n; i++) unseen += !h->e[i].has_result;
        if (h->n == EVENTS_MAX || (!has_result && unseen == UNSEEN_MAX)) return 0;
    }
    for (int k = 0; k < s->n; k++) {
        struct history *h = &z->h[s->slots[k]];
        s->operand[k] = operand_drawn(z->elem, s->act);
        h->e[h->n++] = (struct event){.origin = s->origin,
                                      .era = era,
                                      .stage = stage[s->origin][s->target],
                                      .act = s->act,
                                      .operand = s->operand[k],
                                      .compare = s->compare,
                                      .has_result = has_result,
                                      .step = n_steps - 1,
                                      .k = k};
    }
    return 1;
}

static int plan_section(struct step *s, struct zone *z)
{
    s->kind = SECTION;
    s->n = SLOTS, s->is_run = 1;
    for (int k = 0; k < SLOTS; k++) s->slots[k] = k;
    for (int k = 0; k < SLOTS; k++) {
        if (z->h[k].n == EVENTS_MAX) return 0;
        z->h[k].e[z->h[k].n++] = (struct event){.origin = s->origin,
                                                .stage = stage[s->origin][s->target],
                                                .act = A_SUM,
                                                .operand = elem_of(z->elem, 1),
                                                .has_result = 1,
                                                .step = n_steps - 1,
                                                .k = k};
    }
    plan_flush(s->origin, s->target); /* so that the next section may follow under the same lock */
    return 1;
}

static void plan_call(int origin)
{
    int target = random_below(2) ? plan.hot : (int)random_below((unsigned)size), number = (int)random_below(ZONES);
    struct zone *z = &zones[target][number];
    if (plan.sync == PSCW && !plan.link[origin][target]) return;
    if (z->mode == OWN && z->owner != origin) return;
    if (plan.sync == LOCK) plan_lock(origin, target, z->mode == COUNT);
    int at = n_steps;
    struct step *s = step_new(PUT, origin, target);
    s->zone = number;
    s->olayout = random_below(LAYOUTS), s->rlayout = random_below(LAYOUTS);
    s->is_wide = random_below(4) == 0;
    s->has_request = plan.sync >= LOCK && random_below(3) == 0, s->waits_at_once = random_below(2) == 0;
    int is_good = z->mode <= READ ? plan_own(s, z) : z->mode == COUNT ? plan_section(s, z) : plan_accumulate(s, z);
    if (!is_good)
        n_steps = at;
    else if (z->mode != READ)
        plan.writes_to[target] = 1;
    if (is_good && plan.sync >= LOCK && random_below(6) == 0) plan_flush(origin, target);
    if (is_good && plan.sync >= LOCK && random_below(6) == 0)
        step_new(plan.sync == LOCK_ALL && random_below(2) ? FLUSH_ALL_LOCAL : FLUSH_LOCAL, origin, target);
}

static void plan_round(void)
{
    memset(&plan, 0, sizeof plan);
    memset(stage, 0, sizeof stage);
    n_steps = era = 0;
    plan.sync = random_below(SYNCS);
    plan.hot = (int)random_below((unsigned)size);
    plan.eras = plan.sync == FENCE ? 1 + (int)random_below(3) : 1;
    plan.nocheck = plan.sync >= PSCW && random_below(3) == 0;
    for (int o = 0; o < size; o++) {
        locked[o] = -1;
        for (int t = 0; t < size; t++) plan.link[o][t] = random_below(3) > 0;
    }
    for (int t = 0; t < size; t++)
        for (int z = 0; z < ZONES; z++) plan_zone(t, z, plan.sync == LOCK && !plan.nocheck);
    for (; era < plan.eras; era++)
        for (int o = 0; o < size; o++) {
            for (int i = (int)random_below(CALLS); i > 0; i--) plan_call(o);
            plan_unlock(o);
            if (era + 1 == plan.eras) continue;
            step_new(MIDDLE, o, o)->assertions = random_below(2) ? MPI_MODE_NOSTORE : 0;
            for (int t = 0; t < size; t++) plan_is_flushed(o, t);
        }
}

/* ---- doing it ---------------------------------------------------------------------------------------------------------------- */
static size_t place_of(enum layout l, int n, int k) { return (size_t)(l == DENSE ? k : l == SPREAD ? 2 * k : n - 1 - k); }
/* n elements in that layout are `count` of this type. */
static MPI_Datatype type_of(enum layout l, enum elem e, int n, int *count)
{
    MPI_Datatype t, old = elem_type(e);
    int at[SLOTS];
    for (int k = 0; k < n; k++) at[k] = n - 1 - k;
    *count = 1;
    if (l == SPREAD)
        MPI_Type_vector(n, 1, 2, old, &t);
    else if (l == REVERSED)
        MPI_Type_create_indexed_block(n, 1, at, old, &t);
    else
        MPI_Type_dup(old, &t), *count = n;
    MPI_Type_commit(&t);
    return t;
}
/* The step's slots at the target. */
static MPI_Datatype target_type(const struct step *s, enum elem e, MPI_Aint *disp, int *count)
{
    int unit = on->unit[s->target];
    MPI_Aint at = s->zone * ZONE_BYTES, first = s->slots[0] * elem_bytes(e);
    MPI_Datatype t;
    *disp = on->w.at[s->target] + at / unit;
    if (s->is_run && first % unit == 0) {
        *disp += first / unit;
        return type_of(DENSE, e, s->n, count);
    }
    MPI_Type_create_indexed_block(s->n, 1, s->slots, elem_type(e), &t);
    MPI_Type_commit(&t);
    *count = 1;
    return t;
}

static void call_transfer(struct step *s, int oc, MPI_Datatype ot, MPI_Aint disp, int tc, MPI_Datatype tt)
{
    MPI_Win w = on->w.win;
    int t = s->target;
    if (s->kind == PUT && s->has_request)
        s->is_wide ? MPI_Rput_c(s->obuf, oc, ot, t, disp, tc, tt, w, &s->q) : MPI_Rput(s->obuf, oc, ot, t, disp, tc, tt, w, &s->q);
    else if (s->kind == PUT)
        s->is_wide ? MPI_Put_c(s->obuf, oc, ot, t, disp, tc, tt, w) : MPI_Put(s->obuf, oc, ot, t, disp, tc, tt, w);
    else if (s->has_request)
        s->is_wide ? MPI_Rget_c(s->rbuf, oc, ot, t, disp, tc, tt, w, &s->q) : MPI_Rget(s->rbuf, oc, ot, t, disp, tc, tt, w, &s->q);
    else
        s->is_wide ? MPI_Get_c(s->rbuf, oc, ot, t, disp, tc, tt, w) : MPI_Get(s->rbuf, oc, ot, t, disp, tc, tt, w);
}

static void call_accumulate(struct step *s, int oc, MPI_Datatype ot, int rc, MPI_Datatype rt, MPI_Aint disp, int tc,
                            MPI_Datatype tt)
{
    MPI_Win w = on->w.win;
    MPI_Op op = act_op(s->act);
    int t = s->target;
    const void *o = s->act == A_NO_OP && s->is_wide ? NULL : s->obuf;
    if (s->kind == ACC && s->has_request)
        MPI_Raccumulate(o, oc, ot, t, disp, tc, tt, op, w, &s->q);
    else if (s->kind == ACC)
        s->is_wide ? MPI_Accumulate_c(o, oc, ot, t, disp, tc, tt, op, w) : MPI_Accumulate(o, oc, ot, t, disp, tc, tt, op, w);
    else if (s->has_request)
        MPI_Rget_accumulate(o, oc, ot, s->rbuf, rc, rt, t, disp, tc, tt, op, w, &s->q);
    else if (s->is_wide)
        MPI_Get_accumulate_c(o, oc, ot, s->rbuf, rc, rt, t, disp, tc, tt, op, w);
    else
        MPI_Get_accumulate(o, oc, ot, s->rbuf, rc, rt, t, disp, tc, tt, op, w);
}

static void call_single(struct step *s, enum elem e, MPI_Aint zone_at)
{
    MPI_Aint at = s->slots[0] * elem_bytes(e);
    int unit = on->unit[s->target];
    if (at % unit) { /* no displacement says it: the same with a datatype */
        int count;
        MPI_Aint disp;
        MPI_Datatype tt = target_type(s, e, &disp, &count);
        if (s->kind == FETCH) call_accumulate(s, 1, elem_type(e), 1, elem_type(e), disp, count, tt);
        MPI_Type_free(&tt);
        if (s->kind == FETCH) return;
    }
    elem_store(e, s->compared, s->compare);
    if (s->kind == FETCH)
        MPI_Fetch_and_op(s->obuf, s->rbuf, elem_type(e), s->target, zone_at + at / unit, act_op(s->act), on->w.win);
    else
        MPI_Compare_and_swap(s->obuf, s->compared, s->rbuf, elem_type(e), s->target, zone_at + at / unit, on->w.win);
}

static void call_section(struct step *s, enum elem e, MPI_Aint disp)
{
    MPI_Get(s->rbuf, SLOTS, elem_type(e), s->target, disp, SLOTS, elem_type(e), on->w.win);
    MPI_Win_flush(s->target, on->w.win);
    for (int k = 0; k < SLOTS; k++) {
        size_t at = (size_t)(k * elem_bytes(e));
        uint64_t v = elem_load(e, s->rbuf + at);
        CHECK(v == elem_load(e, s->rbuf)); /* all or nothing of another one's section */
        elem_store(e, s->obuf + at, act_apply(e, A_SUM, v, elem_of(e, 1), 0));
    }
    MPI_Put(s->obuf, SLOTS, elem_type(e), s->target, disp, SLOTS, elem_type(e), on->w.win);
}

static void do_call(struct step *s)
{
    enum elem e = zones[s->target][s->zone].elem;
    MPI_Aint zone_at = on->w.at[s->target] + s->zone * ZONE_BYTES / on->unit[s->target], disp;
    int oc, rc, tc, single = s->kind == FETCH || s->kind == CAS;
    if (single || s->kind == SECTION) s->olayout = s->rlayout = DENSE;
    if (s->kind == GET) s->olayout = s->rlayout;
    memset(s->rbuf, 0xcc, sizeof s->rbuf);
    memset(s->obuf, 0xdd, sizeof s->obuf);
    for (int k = 0; k < s->n; k++) elem_store(e, s->obuf + place_of(s->olayout, s->n, k) * (size_t)elem_bytes(e), s->operand[k]);
    if (single) return call_single(s, e, zone_at);
    if (s->kind == SECTION) return call_section(s, e, zone_at);
    MPI_Datatype ot = type_of(s->olayout, e, s->n, &oc), rt = type_of(s->rlayout, e, s->n, &rc), tt = target_type(s, e, &disp, &tc);
    if (s->kind == PUT || s->kind == GET)
        call_transfer(s, oc, ot, disp, tc, tt);
    else
        call_accumulate(s, oc, ot, rc, rt, disp, tc, tt);
    MPI_Type_free(&ot);
    MPI_Type_free(&rt);
    MPI_Type_free(&tt);
    if (s->q != MPI_REQUEST_NULL && s->waits_at_once) MPI_Wait(&s->q, MPI_STATUS_IGNORE);
}

static void do_step(struct step *s)
{
    MPI_Win w = on->w.win;
    switch (s->kind) {
    case TAKE: MPI_Win_lock(s->exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, s->target, s->assertions, w); break;
    case GIVE: MPI_Win_unlock(s->target, w); break;
    case FLUSH: MPI_Win_flush(s->target, w); break;
    case FLUSH_LOCAL: MPI_Win_flush_local(s->target, w); break;
    case FLUSH_ALL: MPI_Win_flush_all(w); break;
    case FLUSH_ALL_LOCAL: MPI_Win_flush_local_all(w); break;
    case MIDDLE: MPI_Win_fence(s->assertions, w); break;
    default: do_call(s);
    }
}

static void do_mine(void)
{
    for (int i = 0; i < n_steps; i++)
        if (steps[i].origin == rank) do_step(&steps[i]);
    for (int i = 0; i < n_steps; i++)
        if (steps[i].q != MPI_REQUEST_NULL) MPI_Wait(&steps[i].q, MPI_STATUS_IGNORE);
}

static void fill_mine(void)
{
    memset(on->w.base, 0xee, ZONES * ZONE_BYTES);
    for (int z = 0; z < ZONES; z++)
        for (int k = 0; k < SLOTS; k++) {
            const struct zone *zone = &zones[rank][z];
            elem_store(zone->elem, on->w.base + z * ZONE_BYTES + k * elem_bytes(zone->elem), zone->init[k]);
        }
}

static void group_of(MPI_Group world, int as_origin, MPI_Group *g)
{
    int list[RANKS_MAX], n = 0;
    for (int i = size - 1; i >= 0; i--)
        if (as_origin ? plan.link[rank][i] : plan.link[i][rank]) list[n++] = i;
    MPI_Group_incl(world, n, list, g);
}

static void round_fence(void)
{
    fill_mine();
    int first = random_below(2) ? MPI_MODE_NOPRECEDE : 0, last = random_below(2) ? MPI_MODE_NOSUCCEED : 0;
    if (!plan.writes_to[rank] && plan.eras == 1) first |= MPI_MODE_NOPUT;
    MPI_Win_fence(on->was_locked ? first | MPI_MODE_NOPRECEDE : first, on->w.win);
    on->was_locked = 0;
    do_mine();
    MPI_Win_fence(last | MPI_MODE_NOSTORE, on->w.win);
}

static void round_pscw(MPI_Group world)
{
    MPI_Group targets, origins;
    int nocheck = plan.nocheck ? MPI_MODE_NOCHECK : 0, flag = 0, tests = (int)random_below(2);
    group_of(world, 1, &targets);
    group_of(world, 0, &origins);
    fill_mine();
    MPI_Win_post(origins, nocheck | (plan.writes_to[rank] ? 0 : MPI_MODE_NOPUT), on->w.win);
    if (nocheck) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_start(targets, nocheck, on->w.win);
    do_mine();
    MPI_Win_complete(on->w.win);
    while (tests && !flag) MPI_Win_test(on->w.win, &flag);
    if (!tests) MPI_Win_wait(on->w.win);
    MPI_Group_free(&targets);
    MPI_Group_free(&origins);
}

/* My own part is written, and later read, under a lock of mine. */
static void round_passive(void)
{
    MPI_Win w = on->w.win;
    on->was_locked = 1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, w);
    fill_mine();
    MPI_Win_unlock(rank, w);
    MPI_Barrier(MPI_COMM_WORLD);
    if (plan.sync == LOCK_ALL) MPI_Win_lock_all(plan.nocheck ? MPI_MODE_NOCHECK : 0, w);
    do_mine();
    if (plan.sync == LOCK_ALL) MPI_Win_unlock_all(w);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w);
}

/* ---- what came of it ----------------------------------------------------------------------------------------------------------- */
static void look_at_results(void)
{
    for (int i = 0; i < n_steps; i++) {
        const struct step *s = &steps[i];
        memset(results[i], 0, sizeof results[i]);
        if (s->origin != rank || s->kind > SECTION || s->kind == PUT || s->kind == ACC) continue;
        enum elem e = zones[s->target][s->zone].elem;
        unsigned char image[sizeof s->rbuf];
        memset(image, 0xcc, sizeof image);
        for (int k = 0; k < s->n; k++) {
            size_t at = place_of(s->rlayout, s->n, k) * (size_t)elem_bytes(e);
            results[i][k] = elem_load(e, s->rbuf + at);
            if (s->kind == GET && results[i][k] != s->want[k] && failures++ < 20)
                fprintf(stderr, "rank %d: step %d: got %#llx from slot %d of zone %d of rank %d, not %#llx\n", rank, i,
                        (unsigned long long)results[i][k], s->slots[k], s->zone, s->target, (unsigned long long)s->want[k]);
            memcpy(image + at, s->rbuf + at, (size_t)elem_bytes(e));
        }
        CHECK(memcmp(image, s->rbuf, sizeof image) == 0); /* nothing beside */
    }
    MPI_Allreduce(MPI_IN_PLACE, results, n_steps * SLOTS, MPI_UINT64_T, MPI_BOR, MPI_COMM_WORLD);
}

static void history_print(const struct history *h, int zone, int slot, uint64_t begin, uint64_t end)
{
    fprintf(stderr, "rank %d: no order explains slot %d of zone %d (element kind %d): from %#llx to %#llx%s\n", rank, slot, zone,
            h->elem, (unsigned long long)begin, (unsigned long long)end, h->is_ordered ? "" : ", unordered");
    for (int i = 0; i < h->n; i++) {
        const struct event *e = &h->e[i];
        fprintf(stderr, "    rank %d, step %d, era %d, stage %d: operation %d of %#llx, compare %#llx, %s %#llx\n", e->origin,
                e->step, e->era, e->stage, e->act, (unsigned long long)e->operand, (unsigned long long)e->compare,
                e->has_result ? "fetched" : "nothing fetched", (unsigned long long)e->result);
    }
}

static void look_at_mine(const unsigned char *mine)
{
    for (int z = 0; z < ZONES; z++) {
        struct zone *zone = &zones[rank][z];
        int bytes = elem_bytes(zone->elem);
        for (int k = 0; k < SLOTS; k++) {
            struct history *h = &zone->h[k];
            uint64_t is = elem_load(zone->elem, mine + z * ZONE_BYTES + k * bytes);
            if (zone->mode <= READ) {
                CHECK_EQ(is, zone->now[k]);
                continue;
            }
            for (int i = 0; i < h->n; i++) h->e[i].result = results[h->e[i].step][h->e[i].k];
            if (!history_is_possible(h, zone->init[k], is) && failures++ < 3) history_print(h, z, k, zone->init[k], is);
        }
        for (int b = SLOTS * bytes; b < ZONE_BYTES; b++) CHECK_EQ(mine[z * ZONE_BYTES + b], 0xee);
    }
}

static void round_run(MPI_Group world)
{
    unsigned char mine[ZONES * ZONE_BYTES];
    on = &windows[random_below(WINDOWS)];
    plan_round();
    if (plan.sync == FENCE) round_fence();
    if (plan.sync == PSCW) round_pscw(world);
    if (plan.sync >= LOCK) round_passive();
    memcpy(mine, on->w.base, sizeof mine);
    if (plan.sync >= LOCK) MPI_Win_unlock(rank, on->w.win);
    look_at_results();
    look_at_mine(mine);
}

static void windows_open(void)
{
    for (int i = 0; i < WINDOWS; i++) {
        int kind = (int)random_below(KINDS);
        MPI_Info info;
        MPI_Info_create(&info);
        on = &windows[i];
        on->is_ordered = random_below(3) > 0;
        if (!on->is_ordered) MPI_Info_set(info, "accumulate_ordering", "none");
        if (random_below(3) == 0) MPI_Info_set(info, "accumulate_ops", "same_op_no_op");
        for (int r = 0; r < size; r++) {
            on->unit[r] = kind == 4 ? 1 : 1 << random_below(4);
            for (int z = 0; z < ZONES; z++) on->elem[r][z] = random_below(ELEMS);
        }
        window_make_with(&on->w, kind, ZONES * ZONE_BYTES, on->unit[rank], info);
        MPI_Info_free(&info);
    }
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 60;
    MPI_Group world;
    MPI_Init(&argc, &argv);
    test_begin();
    if (size > RANKS_MAX) return test_end();
    if (argc > 2) random_seed(argv[2]);
    steps = malloc(sizeof *steps * STEPS_MAX);
    results = malloc(sizeof *results * STEPS_MAX);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    windows_open();
    for (int i = 0; i < rounds; i++) round_run(world);
    for (int i = 0; i < WINDOWS; i++) window_free(&windows[i].w);
    MPI_Group_free(&world);
    free(steps);
    free(results);
    return test_end();
}
