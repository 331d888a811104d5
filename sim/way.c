/* way.c -- the stages and rounds of a rank; comparison of ranks.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "way.h"

#include <assert.h>
#include <sys/mman.h>

/* Zeroed memory of which untouched pages cost nothing; NULL: none. */
static char *reserve(size_t n)
{
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}
static size_t heads_bytes(const struct way *w) { return (size_t)w->args.size * WAY_HEAD; }

bool way_open(struct way *w, const struct plan_algorithm *alg, const struct plan_args *args, bool leaves)
{
    *w = (struct way){.alg = alg, .args = *args, .leaves = leaves, .i = -1};
    if (!alg->stages) return true;
    w->nodes = *args->nodes;
    w->args.nodes = &w->nodes;
    w->tmp_bytes = (size_t)(alg->tmp_bytes ? alg->tmp_bytes(args) : 0) + WAY_HEAD;
    w->tmp = reserve(w->tmp_bytes);
    if (!alg->tmp_bytes) return w->tmp != NULL;
    w->heads = reserve(heads_bytes(w));
    return w->tmp && w->heads;
}

void way_close(struct way *w)
{
    if (w->tmp) munmap(w->tmp, w->tmp_bytes);
    if (w->heads) munmap(w->heads, heads_bytes(w));
}

/* Calls the algorithm's `stages`, with the kept beginning of the rank's temporary buffer. */
static bool ask(struct way *w, int rank, int i, bool first)
{
    assert(rank >= 0 && rank < w->args.size && i >= 0);
    char *head = w->heads ? w->heads + (size_t)rank * WAY_HEAD : NULL;
    w->nodes.me = plan_node_of(&w->nodes, rank);
    w->nodes.place = rank - w->nodes.first[w->nodes.me];
    if (head) memcpy(w->tmp, head, WAY_HEAD);
    bool there = w->alg->stages(&w->args, i, w->leaves, w->tmp, &w->stage);
    if (head && first) memcpy(head, w->tmp, WAY_HEAD);
    return there;
}

/* The steps of a stage that the network performs: one message of each rank to itself. */
static int by_network(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_ref all = {.buf = PLAN_OUT, .len = a->rcount * (a->rt ? a->rt->size : 0)};
    if (round > 0) return 0;
    steps[0] = (struct plan_step){.kind = PLAN_RECV, .peer = a->rank, .a = all};
    steps[1] = (struct plan_step){.kind = PLAN_SEND, .peer = a->rank, .a = all};
    return 2;
}
static const struct plan_algorithm alg_by_network = {.name = "network", .emit = by_network, .kind = PLAN_P2P};

bool way_in_network(const struct way *w) { return w->stage.alg == &alg_by_network; }

bool way_stage(struct way *w, int rank, int i, bool first)
{
    assert(rank >= 0 && rank < w->args.size && i >= 0);
    if (!first && w->i == i && w->args.rank == rank) return true;
    w->args.rank = rank;
    w->i = -1;
    w->stage = (struct plan_stage){.args = w->args, .team = {.nodes = &w->nodes, .odd = -1}, .out = {PLAN_OUT, 0}};
    if (!w->alg->stages) w->stage.alg = w->alg;
    if (w->alg->stages ? !ask(w, rank, i, first) : i > 0) return false;
    if (w->network && w->stage.alg && w->stage.team.kind == TEAM_ACROSS) w->stage.alg = &alg_by_network;
    w->i = i;
    return true;
}

int64_t *way_words(struct way *w, const struct plan_ref *r)
{
    int64_t bytes = way_bytes(r), word = (int64_t)sizeof(int64_t);
    if (!w->heads || (bytes != word && bytes != WAY_WORDS * word)) return NULL;
    struct plan_place p = r->buf == PLAN_IN ? w->stage.in
        : r->buf == PLAN_OUT                ? w->stage.out
                                            : (struct plan_place){PLAN_TMP, w->stage.tmp};
    int64_t at = p.off + r->off;
    if (p.buf != PLAN_TMP || r->buf == PLAN_SHM || at < 0 || at + bytes > WAY_HEAD) return NULL;
    return (int64_t *)(w->heads + (size_t)w->args.rank * WAY_HEAD + at);
}

static bool names_peer(const struct plan_step *s)
{
    return s->kind == PLAN_SEND || s->kind == PLAN_RECV || s->kind == PLAN_PULL || (s->kind == PLAN_WAIT && s->peer >= 0);
}

int way_round(struct way *w, int round, struct plan_step *steps)
{
    assert(round >= 0);
    int n = w->stage.alg ? w->stage.alg->emit(&w->stage.args, round, steps) : 0;
    for (int i = 0; i < n && w->stage.team.kind != TEAM_ALL; i++)
        if (names_peer(&steps[i])) steps[i].peer = plan_team_rank(&w->stage.team, steps[i].peer);
    return n;
}

/* ---- which ranks stand for all --------------------------------------------------------------------------------------------------- */
static bool same_step(const struct plan_step *s, const struct plan_step *t, int further, int size)
{
    if (s->kind != t->kind || s->phase != t->phase || way_bytes(&s->a) != way_bytes(&t->a) || way_bytes(&s->b) != way_bytes(&t->b))
        return false;
    return (names_peer(s) ? (s->peer + further) % size : s->peer) == t->peer;
}

enum { RUNNING, OVER, DIFFERENT };
static int compare_round(struct way *w, int rank, int other, int i, int round)
{
    assert(rank != other);
    struct plan_step s[PLAN_STEPS], t[PLAN_STEPS];
    bool there = way_stage(w, rank, i, true);
    int n = there ? way_round(w, round, s) : 0;
    if (way_stage(w, other, i, true) != there) return DIFFERENT;
    if (!there) return OVER;
    if (way_round(w, round, t) != n) return DIFFERENT;
    for (int k = 0; k < n; k++)
        if (!same_step(&s[k], &t[k], other - rank, w->args.size)) return DIFFERENT;
    return n ? RUNNING : OVER;
}

/* All of the first rounds of a stage are compared: an emitter that may not be called beyond its end has few rounds. */
static bool ranks_alike(struct way *w, int rank, int other)
{
    for (int i = 0; way_stage(w, rank, i, true); i++) {
        int is = RUNNING;
        for (int64_t round = 0; is == RUNNING; round += round < 64 ? 1 : round / 16)
            is = compare_round(w, rank, other, i, (int)round);
        if (is == DIFFERENT) return false;
    }
    return true;
}

static bool groups_alike(struct way *w, int64_t group)
{
    int64_t groups = w->args.size / group, others[] = {1, groups / 2, groups / 3 + 1, groups - 1};
    for (int64_t place = 0; place < group; place += place < 4 ? 1 : place)
        for (int i = 0; i < 4; i++)
            if (!ranks_alike(w, (int)place, (int)(place + others[i] % groups * group))) return false;
    return true;
}

int64_t way_period(struct way *w, const struct machine *m)
{
    int64_t group = m->node_ranks, size = w->args.size;
    for (int i = 0; i < m->n_levels; i++) group = gw_max64(group, m->levels[i].ranks);
    if (size % group || size < 2 * group) return size;
    bool alike = groups_alike(w, group);
    if (w->heads) madvise(w->heads, heads_bytes(w), MADV_DONTNEED); /* what looking has left there */
    w->i = -1;
    return alike ? group : size;
}
