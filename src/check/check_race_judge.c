/* check_race_judge.c -- which accesses of one epoch to one rank's memory race?  Pure.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_race.h"

#include <stdlib.h>

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

static bool hit(struct check_node *n, void *arg)
{
    struct search *s = arg;
    struct item *other = container_of(n, struct item, node);
    struct race_access *a = s->by->access, *b = other->access;
    if (s->by_others && a->origin == b->origin) return false; /* accumulates of one origin are ordered */
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

bool race_judge(struct race_access *v, size_t n, race_tell_fn *tell, void *arg)
{
    struct court c = {.tell = tell, .arg = arg, .has_all = true};
    struct item *items = gw_xcalloc(n + 1, sizeof *items);
    for (size_t i = 0; i < n; i++) {
        struct item *it = &items[i];
        if (v[i].lo >= v[i].hi || v[i].lo < 0 || v[i].kind < 0 || v[i].kind >= RACE_KINDS) continue;
        it->access = &v[i];
        it->node.lo = (uintptr_t)v[i].lo;
        it->node.hi = (uintptr_t)v[i].hi;
        look(&c, it);
        int op = v[i].kind == RACE_UPDATE ? op_index(&c, v[i].op) : -1;
        if (op < OPS) check_tree_add(op >= 0 ? &c.updates[op] : &c.of[v[i].kind], &it->node);
    }
    free(items);
    return c.has_all;
}
