/* check_race_judge.c -- which accesses of one epoch to one rank's memory race?  Pure.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_race.h"

#include <stdlib.h>

/* ---- what came ------------------------------------------------------------------------------------------------------------------ */
static const char *const what = "the record of an access to a window";

bool check_race_bytes_are_right(int64_t bytes)
{
    const int64_t each = sizeof(struct race_access), most = LOCKED_MAX > ACCESSES_MAX ? LOCKED_MAX : ACCESSES_MAX;
    if (bytes >= 0 && bytes % each == 0 && bytes / each <= most) return true;
    gw_refused(what, "bytes", bytes);
    return false;
}

/* Loads and stores are the target's own. */
static bool is_sound(const struct race_access *a, int origin)
{
    const char *field = NULL;
    if (a->origin != origin)
        field = "origin";
    else if (a->kind < 0 || a->kind >= RACE_KINDS || a->kind == RACE_LOAD || a->kind == RACE_STORE)
        field = "kind";
    else if (memchr(a->module, 0, sizeof a->module) == NULL)
        field = "module";
    if (field) gw_refused(what, field, strcmp(field, "kind") == 0 ? a->kind : a->origin);
    return !field;
}

void check_race_place(struct race_access *v, size_t n, int origin, int64_t unit)
{
    for (size_t i = 0; i < n; i++) {
        struct race_access *a = &v[i];
        int64_t at;
        a->is_hit = 0;
        bool is_right = is_sound(a, origin) && !__builtin_mul_overflow(a->disp, unit, &at) &&
            !__builtin_add_overflow(a->lo, at, &a->lo) && !__builtin_add_overflow(a->hi, at, &a->hi);
        if (!is_right) *a = (struct race_access){.kind = RACE_KINDS};
    }
}

/* ---- the judge ------------------------------------------------------------------------------------------------------------------ */
#define BIT(kind) (1u << (kind))
/* What may not share bytes with it.  Accumulates are atomic to each other; those of one operation may meet in any number. */
static const uint32_t enemies[RACE_KINDS] = {
    [RACE_GET] = BIT(RACE_PUT) | BIT(RACE_STORE) | BIT(RACE_SWAP) | BIT(RACE_UPDATE),
    [RACE_PUT] =
        BIT(RACE_GET) | BIT(RACE_PUT) | BIT(RACE_FETCH) | BIT(RACE_SWAP) | BIT(RACE_LOAD) | BIT(RACE_STORE) | BIT(RACE_UPDATE),
    [RACE_FETCH] = BIT(RACE_PUT) | BIT(RACE_STORE),
    [RACE_SWAP] = BIT(RACE_GET) | BIT(RACE_PUT) | BIT(RACE_LOAD) | BIT(RACE_STORE),
    [RACE_LOAD] = BIT(RACE_PUT) | BIT(RACE_SWAP) | BIT(RACE_UPDATE),
    [RACE_STORE] = BIT(RACE_GET) | BIT(RACE_PUT) | BIT(RACE_FETCH) | BIT(RACE_SWAP) | BIT(RACE_UPDATE),
    [RACE_UPDATE] = BIT(RACE_GET) | BIT(RACE_PUT) | BIT(RACE_LOAD) | BIT(RACE_STORE),
};

struct item {
    struct check_node node;
    struct race_access *access;
    struct check_tree *in; /* NULL: not in one */
};
enum { OPS = 16, HITS = 1000 };
struct court {
    struct check_tree of[RACE_KINDS], updates[OPS]; /* UPDATE: by operation */
    uint32_t op[OPS];
    int n_ops;
    race_tell_fn *tell;
    void *arg;
    bool has_all;
};
struct search {
    struct court *court;
    const struct item *by;
    int hits;
    bool by_others;
};

/* They are called concurrent only where that is known. */
static bool may_compare(const struct race_access *a, const struct race_access *b)
{
    if (a->origin == b->origin || a->until_ns == 0) return true;
    return a->clock == b->clock && a->clock != 0 && !a->is_exclusive && !b->is_exclusive;
}

static bool hit(struct check_node *n, void *arg)
{
    struct search *s = arg;
    struct item *other = container_of(n, struct item, node);
    struct race_access *a = s->by->access, *b = other->access;
    assert(a != b);                                           /* it is looked for before it is added */
    if (s->by_others && a->origin == b->origin) return false; /* accumulates of one origin are ordered */
    if (!may_compare(a, b)) return false;
    if (s->hits++ == 0) {
        uintptr_t from = n->lo > s->by->node.lo ? n->lo : s->by->node.lo, to = n->hi < s->by->node.hi ? n->hi : s->by->node.hi;
        s->court->tell(b, a, (int64_t)from, (int64_t)to, s->court->arg);
    }
    a->is_hit = b->is_hit = 1;
    if (s->hits < HITS) return false;
    s->court->has_all = false;
    return true;
}

static int op_index(struct court *c, uint32_t op)
{
    int k = 0;
    while (k < c->n_ops && c->op[k] != op) k++;
    if (k == c->n_ops && k < OPS) c->op[c->n_ops++] = op;
    return k;
}

static void look(struct court *c, const struct item *i)
{
    struct search s = {c, i, 0, false};
    int kind = i->access->kind, mine = kind == RACE_UPDATE ? op_index(c, i->access->op) : -1;
    for (int k = 0; k < RACE_KINDS; k++)
        if (k != RACE_UPDATE && enemies[kind] & BIT(k)) check_tree_each(&c->of[k], i->node.lo, i->node.hi, hit, &s);
    s.by_others = kind == RACE_UPDATE;
    for (int k = 0; k < c->n_ops; k++)
        if (k != mine && (kind == RACE_UPDATE || enemies[kind] & BIT(RACE_UPDATE)))
            check_tree_each(&c->updates[k], i->node.lo, i->node.hi, hit, &s);
}

/* The accesses as they began, those of one moment as they stand in v. */
static int by_begin(const void *a, const void *b)
{
    const struct item *x = *(const struct item *const *)a, *y = *(const struct item *const *)b;
    if (x->access->since_ns != y->access->since_ns) return x->access->since_ns < y->access->since_ns ? -1 : 1;
    return x < y ? -1 : x > y;
}
static int by_end(const void *a, const void *b)
{
    const struct item *x = *(const struct item *const *)a, *y = *(const struct item *const *)b;
    return x->access->until_ns < y->access->until_ns ? -1 : x->access->until_ns > y->access->until_ns;
}

static void add(struct court *c, struct item *i)
{
    const struct race_access *a = i->access;
    int op = a->kind == RACE_UPDATE ? op_index(c, a->op) : -1;
    assert(!i->in);
    if (op >= OPS || (a->until_ns && a->until_ns <= a->since_ns)) return;
    i->in = op >= 0 ? &c->updates[op] : &c->of[a->kind];
    check_tree_add(i->in, &i->node);
}

/* In the trees are those that have begun and not ended. */
static void judge_in_time(struct court *c, struct item **begins, size_t n)
{
    struct item **ends = gw_xmalloc((n + 1) * sizeof *ends);
    size_t n_ended = 0;
    memcpy(ends, begins, n * sizeof *ends);
    qsort(begins, n, sizeof *begins, by_begin);
    qsort(ends, n, sizeof *ends, by_end);
    for (size_t i = 0; i < n; i++) {
        for (; n_ended < n && ends[n_ended]->access->until_ns <= begins[i]->access->since_ns; n_ended++)
            if (ends[n_ended]->in) check_tree_remove(ends[n_ended]->in, &ends[n_ended]->node);
        look(c, begins[i]);
        add(c, begins[i]);
    }
    free(ends);
}

/* ---- the most frequent answer: nobody meets an enemy, whenever it was ---- */
void check_race_kinds_add(struct race_kinds *k, const struct race_access *a)
{
    if (a->kind < 0 || a->kind >= RACE_KINDS) return;
    k->has[a->kind] = 1;
    k->is_changed |= a->is_changed;
    if (a->kind != RACE_UPDATE) return;
    k->op = gw_max64(k->op, a->op);
    k->other = gw_max64(k->other, -(int64_t)a->op);
}

static bool has_ops(const struct race_kinds *k) { return k->has[RACE_UPDATE] && k->op != -k->other; }

/* So do accumulates of different operations. */
static bool are_enemies(const struct race_kinds *k, int a, int b)
{
    return k->has[a] && k->has[b] && (enemies[a] & BIT(b) || (a == RACE_UPDATE && b == RACE_UPDATE && has_ops(k)));
}

bool check_race_kinds_may_meet(const struct race_kinds *k)
{
    bool may = k->is_changed;
    for (int a = 0; a < RACE_KINDS; a++)
        for (int b = 0; b <= a; b++) may = may || are_enemies(k, a, b);
    return may;
}

/* In order of addresses. */
static bool may_meet_any(struct item *const *right, size_t n)
{
    struct race_kinds kinds = check_race_kinds_none();
    for (size_t i = 0; i < n; i++) check_race_kinds_add(&kinds, right[i]->access);
    kinds.is_changed = 0; /* which has nothing to do with others */
    if (!check_race_kinds_may_meet(&kinds)) return false;
    struct check_range *v = gw_xmalloc((n + 1) * sizeof *v);
    int64_t reach[RACE_KINDS] = {0};
    bool found = false;
    for (size_t i = 0; i < n; i++) v[i] = (struct check_range){(uint64_t)right[i]->access->lo, (uintptr_t)right[i]->access};
    check_sort(v, n);
    for (size_t i = 0; i < n && !found; i++) {
        const struct race_access *a = (const struct race_access *)(uintptr_t)v[i].with;
        for (int k = 0; k < RACE_KINDS; k++) found = found || (are_enemies(&kinds, a->kind, k) && reach[k] > a->lo);
        reach[a->kind] = gw_max64(reach[a->kind], a->hi);
    }
    free(v);
    return found;
}

bool check_race_judge(struct race_access *v, size_t n, race_tell_fn *tell, void *arg)
{
    struct court c = {.tell = tell, .arg = arg, .has_all = true};
    struct item *items = gw_xcalloc(n + 1, sizeof *items), **right = gw_xmalloc((n + 1) * sizeof *right);
    size_t n_right = 0;
    bool has_times = n > 0;
    for (size_t i = 0; i < n; i++) {
        struct item *it = &items[i];
        if (v[i].lo >= v[i].hi || v[i].lo < 0 || v[i].kind < 0 || v[i].kind >= RACE_KINDS) continue;
        it->access = &v[i];
        it->node.lo = (uintptr_t)v[i].lo;
        it->node.hi = (uintptr_t)v[i].hi;
        right[n_right++] = it;
        has_times = has_times && v[i].until_ns != 0;
    }
    bool may_meet = may_meet_any(right, n_right);
    if (has_times && may_meet) judge_in_time(&c, right, n_right);
    for (size_t i = 0; i < n_right && !has_times && may_meet; i++) {
        look(&c, right[i]);
        add(&c, right[i]);
    }
    for (int k = 0; k < RACE_KINDS; k++) check_tree_drop(&c.of[k]);
    for (int k = 0; k < OPS; k++) check_tree_drop(&c.updates[k]);
    free(right);
    free(items);
    return c.has_all;
}
