/* check_sim.h -- runs collective algorithms for many ranks in one process: the checker's machine (for tests alone).
 *
 * Ranks take turns in random order, a step at a time, each with its own sequence of collectives, so that fast ranks run ahead of
 * slow ones as far as the steps let them.  A message is handed over when both ends have posted it: whoever counts on buffering
 * stands still here.  Leaf steps work on a segment of ordinary memory, by the rules of plan/plan.h.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_COLL_CHECK_SIM_H
#define GW_COLL_CHECK_SIM_H

#include <stdlib.h>

#include "coll/coll_private.h"

struct sim_member {
    struct plan_args a;
    const struct plan_algorithm *alg; /* NULL: between two collectives */
    char *in, *out, *tmp;
    int job, round, n, at;
    bool begun, posted, done[PLAN_STEPS]; /* begun: the caller has made the arguments */
    uint64_t seq, leaf_n, wide;
    struct plan_step steps[PLAN_STEPS];
};
struct sim {
    int size;
    int left; /* members of the first of two groups; 0: there is one */
    struct sim_member *members;
    uint64_t *flags;
    char **exposed, *shm, *scratch;
    int64_t scratch_bytes;
    const char *error;
};
enum { SIM_SCRATCH = 255 }; /* as a slot: the message under way */

static inline char *sim_slot(void *ctx, int rank, int slot)
{
    struct sim *s = ctx;
    return slot == SIM_SCRATCH ? s->scratch : s->shm + ((int64_t)rank * (PLAN_SLOTS + PLAN_SMALLS) + slot) * PLAN_SLOT_BYTES;
}
static inline struct plan_memory sim_memory(struct sim *s, const struct sim_member *m)
{
    return (struct plan_memory){m->in, m->out, m->tmp, m->a.tmp_shift, sim_slot, s};
}

/* Whom a step of member m means: of two groups, its own comes first. */
static inline int sim_peer(const struct sim *s, const struct sim_member *m, int peer)
{
    int right = s->size - s->left;
    if (!s->left || m < s->members + s->left) return peer;
    return peer < right ? s->left + peer : peer - right;
}

static inline bool sim_reached(const struct sim *s, int rank, uint64_t value)
{
    for (int i = 0; i < s->size; i++)
        if ((rank < 0 || i == rank) && s->flags[i] < value) return false;
    return true;
}

/* Everything that a step of a correct algorithm does not do is an error here. */
static inline bool sim_wrong(struct sim *s, const char *what)
{
    if (!s->error) s->error = what;
    return true;
}

static inline void sim_shm_reduce(const struct sim_member *m, const struct plan_memory *mem, const struct plan_step *p)
{
    struct plan_ref piece = p->a;
    char *acc = plan_address(mem, &p->b);
    piece.rank = p->peer - 1;
    memcpy(acc, plan_address(mem, &piece), (size_t)(p->a.count * p->a.type->size));
    while (piece.rank-- > 0) op_reduce(m->a.op, plan_address(mem, &piece), acc, p->a.count, p->a.type);
}

static inline void sim_publish(struct sim *s, const struct sim_member *m, int phase)
{
    uint64_t value = m->a.n << 20 | (uint64_t)phase;
    if (value <= s->flags[m->a.rank]) sim_wrong(s, "a flag does not go up");
    s->flags[m->a.rank] = value;
}

/* A local step: false where it must wait. */
static inline bool sim_local(struct sim *s, struct sim_member *m, const struct plan_step *p)
{
    struct plan_memory mem = sim_memory(s, m);
    struct plan_ref piece = p->a;
    bool leaf = p->kind >= PLAN_PUBLISH;
    if (leaf && !m->alg->kind) return sim_wrong(s, "a leaf step in an algorithm of messages");
    switch (p->kind) {
    case PLAN_COPY: plan_copy(&mem, &p->a, &p->b); return true;
    case PLAN_REDUCE:
        op_reduce(m->a.op, plan_address(&mem, &p->a), plan_address(&mem, &p->b), p->a.count, p->a.type);
        return true;
    case PLAN_PUBLISH: sim_publish(s, m, p->phase); return true;
    case PLAN_WAIT: return sim_reached(s, p->peer, m->a.n << 20 | (uint64_t)p->phase);
    case PLAN_SHM_REDUCE: sim_shm_reduce(m, &mem, p); return true;
    case PLAN_ASSEMBLE:
        for (int64_t at = 0; at < p->b.len; at += p->stride, piece.rank++)
            memcpy(plan_address(&mem, &p->b) + at, plan_address(&mem, &piece) + at, (size_t)gw_min64(p->stride, p->b.len - at));
        return true;
    case PLAN_EXPOSE: s->exposed[m->a.rank] = plan_address(&mem, &p->a); return true;
    case PLAN_PULL:
        if (!s->exposed[p->peer]) return sim_wrong(s, "a pull of what nobody exposes");
        if (p->a.len > 0) memcpy(plan_address(&mem, &p->a), s->exposed[p->peer] + p->remote, (size_t)p->a.len);
        return true;
    default: return true; /* messages */
    }
}

/* Hands over my sends whose receives have been posted; true if any. */
static inline bool sim_deliver(struct sim *s, struct sim_member *m)
{
    bool any = false;
    for (int i = 0; i < m->n; i++) {
        struct plan_step *p = &m->steps[i];
        struct sim_member *to = &s->members[sim_peer(s, m, p->kind == PLAN_SEND ? p->peer : 0)];
        if (p->kind != PLAN_SEND || m->done[i] || !to->alg || !to->posted || to->job != m->job) continue;
        for (int k = 0; k < to->n; k++) {
            struct plan_step *q = &to->steps[k];
            if (q->kind != PLAN_RECV || to->done[k] || &s->members[sim_peer(s, to, q->peer)] != m) continue;
            struct plan_memory from = sim_memory(s, m), at = sim_memory(s, to);
            int64_t len = ref_bytes(&p->a);
            struct plan_ref scratch = {.buf = PLAN_SHM, .slot = SIM_SCRATCH, .len = len};
            if (len != ref_bytes(&q->a) || len > s->scratch_bytes) sim_wrong(s, "a message is not as long as its receive");
            plan_copy(&from, &p->a, &scratch);
            plan_copy(&at, &scratch, &q->a);
            m->done[i] = to->done[k] = any = true;
            break;
        }
    }
    return any;
}

/* The next thing that a member can do: false if there is none now.  *over: its collective is. */
static inline bool sim_step(struct sim *s, struct sim_member *m, bool *over)
{
    *over = false;
    if (m->at < m->n) {
        if (!sim_local(s, m, &m->steps[m->at])) return false;
        m->at++;
        return true;
    }
    bool moved = !m->posted;
    if (!m->posted) {
        for (int i = 0; i < m->n; i++) m->done[i] = m->steps[i].kind != PLAN_SEND && m->steps[i].kind != PLAN_RECV;
        m->posted = true;
    }
    moved |= sim_deliver(s, m);
    for (int i = 0; i < m->n; i++)
        if (!m->done[i]) return moved;
    m->n = m->alg->emit(&m->a, m->round++, m->steps);
    m->at = 0;
    m->posted = false;
    if (m->n > PLAN_STEPS) sim_wrong(s, "too many steps in a round");
    if (m->n == 0) {
        if (m->alg->kind && s->flags[m->a.rank] >> 20 != m->a.n) sim_wrong(s, "a member has not published");
        if (m->alg->kind == PLAN_WIDE && (s->flags[m->a.rank] & 0xfffff) != PLAN_FINAL) sim_wrong(s, "a wide leaf without its end");
        *over = true;
    }
    return true;
}

/* May the member begin a collective by this algorithm now? (INVARIANT P1, as plan/exec.c keeps it) */
static inline bool sim_enter(struct sim *s, struct sim_member *m, const struct plan_algorithm *alg)
{
    if (alg->kind) {
        uint64_t n = m->leaf_n + 1;
        if (!sim_reached(s, -1, plan_entry(alg, &m->a, n, m->wide))) return false;
        m->a.n = ++m->leaf_n;
        if (alg->kind == PLAN_WIDE) m->wide = n;
    } else {
        m->a.n = m->seq++;
    }
    m->alg = alg;
    m->round = m->n = m->at = 0;
    m->posted = false;
    return true;
}

#endif
