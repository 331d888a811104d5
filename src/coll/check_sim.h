/* check_sim.h -- runs collective algorithms for many ranks in one process: the checker's machine (for tests alone).
 *
 * Ranks take turns in random order, a step at a time, each with its own sequence of collectives, so that fast ranks run ahead of
 * slow ones as far as the steps let them.  A message is handed over when both ends have posted it: whoever counts on buffering
 * stands still here.  Leaf steps work on a segment of ordinary memory, by the rules of plan/plan.h; of an algorithm over nodes each
 * node's members have theirs.
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
    struct plan_walk walk;            /* where alg has stages; it takes tmp over */
    const struct plan_algorithm *now; /* whose rounds are under way: of alg, or of a stage */
    struct plan_args *args;           /* of those */
    bool waits;                       /* until it may begin a stage */
    bool leaves;                      /* in stages */
    struct sim *sim;
    int job, round, n, at;
    bool begun, posted, done[PLAN_STEPS]; /* begun: the caller has made the arguments */
    uint64_t seq, leaves_begun, left[PLAN_SLOTS];
    struct plan_step steps[PLAN_STEPS];
};
struct sim {
    int size;
    int left; /* members of the first of two groups; 0: there is one */
    struct sim_member *members;
    uint64_t *flags;
    char **exposed, *shm, *scratch;
    int64_t scratch_bytes;
    bool raised; /* a flag, by a member that cannot begin yet */
    const char *error;
};
enum { SIM_SLOTS = 2 * PLAN_SLOTS + PLAN_SMALLS, SIM_SCRATCH = 255 }; /* as a slot: the message under way */

/* Whom a step of member m means: of two groups, its own comes first; in a stage, its team. */
static inline int sim_peer(const struct sim *s, const struct sim_member *m, int peer)
{
    int right = s->size - s->left;
    if (m->alg && m->alg->stages) return plan_team_rank(&m->walk.stage.team, peer);
    if (!s->left || m < s->members + s->left) return peer;
    return peer < right ? s->left + peer : peer - right;
}

static inline char *sim_slot(void *ctx, int rank, int slot)
{
    const struct sim_member *m = ctx;
    if (slot == SIM_SCRATCH) return m->sim->scratch;
    return m->sim->shm + ((int64_t)sim_peer(m->sim, m, rank) * SIM_SLOTS + slot) * PLAN_SLOT_BYTES;
}
static inline struct plan_memory sim_memory(struct sim *s, struct sim_member *m)
{
    const struct plan_walk *w = &m->walk;
    m->sim = s;
    if (m->alg->stages) return (struct plan_memory){w->stage_in, w->stage_out, w->stage_tmp, m->args->tmp_shift, sim_slot, m};
    return (struct plan_memory){m->in, m->out, m->tmp, m->args->tmp_shift, sim_slot, m};
}
static inline uint64_t *sim_flag(const struct sim *s, const struct sim_member *m, int rank)
{
    return &s->flags[sim_peer(s, m, rank)];
}

/* rank: among those that are in the stage of m, or -1. */
static inline bool sim_reached(const struct sim *s, const struct sim_member *m, int rank, uint64_t value)
{
    for (int i = 0; i < m->args->size; i++)
        if ((rank < 0 ? i != m->args->rank : i == rank) && *sim_flag(s, m, i) < value) return false;
    return true;
}

/* The number of a line from one member to another. */
static inline uint64_t *sim_pair(struct sim *s, struct sim_member *m, int to, int from)
{
    m->sim = s;
    return (uint64_t *)(sim_slot(m, to, PLAN_SLOTS + PLAN_SMALLS + (int)(m->args->n % PLAN_SLOTS)) + from * GW_CACHELINE);
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
    if (m->args->exact.words) {
        plan_shm_sum(mem, p, m->args->exact);
        return;
    }
    piece.rank = p->peer - 1;
    memcpy(acc, plan_address(mem, &piece), (size_t)(p->a.count * p->a.type->size));
    while (piece.rank-- > 0) op_reduce(m->args->op, plan_address(mem, &piece), acc, p->a.count, p->a.type);
}

static inline void sim_publish(struct sim *s, const struct sim_member *m, int phase)
{
    uint64_t value = m->args->n << 20 | (uint64_t)phase;
    if (value <= *sim_flag(s, m, m->args->rank)) sim_wrong(s, "a flag does not go up");
    *sim_flag(s, m, m->args->rank) = value;
}

static inline uint64_t sim_number(const struct sim_member *m, const struct plan_step *p)
{
    return m->args->n << 32 | (uint32_t)p->stride;
}
static inline uint64_t *sim_size(const struct plan_memory *mem, const struct plan_ref *block)
{
    return (uint64_t *)(plan_address(mem, block) - plan_size_gap(block->len));
}

/* A local step: false where it must wait. */
static inline bool sim_local(struct sim *s, struct sim_member *m, const struct plan_step *p)
{
    struct plan_memory mem = sim_memory(s, m);
    struct plan_ref piece = p->a;
    bool leaf = p->kind >= PLAN_PUBLISH;
    if (leaf && !m->now->kind) return sim_wrong(s, "a leaf step in an algorithm of messages");
    if ((p->kind == PLAN_WAIT || p->kind == PLAN_PAIR_WAIT) && *sim_flag(s, m, m->args->rank) < (m->args->n << 20 | 1) &&
        !(m->now->kind & PLAN_LATE))
        return sim_wrong(s, "a wait before this member has published");
    switch (p->kind) {
    case PLAN_COPY: plan_copy(&mem, &p->a, &p->b); return true;
    case PLAN_LABEL: plan_label(&mem, &p->a, &p->b); return true;
    case PLAN_UNLABEL:
        if (plan_unlabel(&mem, &p->a, &p->b) != plan_ref_bytes(&p->b))
            sim_wrong(s, "a block is not as long as who unpacks it says");
        return true;
    case PLAN_REDUCE:
        op_reduce(p->op ? p->op : m->args->op, plan_address(&mem, &p->a), plan_address(&mem, &p->b), p->a.count, p->a.type);
        return true;
    case PLAN_EXACT: plan_exact(&mem, p); return true;
    case PLAN_PUBLISH: sim_publish(s, m, p->phase); return true;
    case PLAN_WAIT: return sim_reached(s, m, p->peer, m->args->n << 20 | (uint64_t)p->phase);
    case PLAN_PAIR_SIGNAL: *sim_pair(s, m, p->peer, m->args->rank) = sim_number(m, p); return true;
    case PLAN_PAIR_WAIT:
        for (int i = 0; i < m->args->size; i++)
            if ((p->peer < 0 ? i != m->args->rank : i == p->peer) && *sim_pair(s, m, m->args->rank, i) != sim_number(m, p))
                return false;
        return true;
    case PLAN_GIVE:
        plan_copy(&mem, &p->a, &p->b);
        *sim_size(&mem, &p->b) = plan_size_word(m->args->n, p->b.len);
        return true;
    case PLAN_TAKE:
        if (*sim_size(&mem, &p->a) != plan_size_word(m->args->n, plan_ref_bytes(&p->b)))
            sim_wrong(s, "a block is not as long as who takes it says");
        plan_copy(&mem, &p->a, &p->b);
        return true;
    case PLAN_SHM_REDUCE: sim_shm_reduce(m, &mem, p); return true;
    case PLAN_ASSEMBLE:
        for (int64_t at = 0; at < p->b.len; at += p->stride, piece.rank++)
            memcpy(plan_address(&mem, &p->b) + at, plan_address(&mem, &piece) + at, (size_t)gw_min64(p->stride, p->b.len - at));
        return true;
    case PLAN_EXPOSE: s->exposed[sim_peer(s, m, m->args->rank)] = plan_address(&mem, &p->a); return true;
    case PLAN_PULL:
        if (!s->exposed[sim_peer(s, m, p->peer)]) return sim_wrong(s, "a pull of what nobody exposes");
        if (p->a.len > 0) memcpy(plan_address(&mem, &p->a), s->exposed[sim_peer(s, m, p->peer)] + p->remote, (size_t)p->a.len);
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
            int64_t len = plan_ref_bytes(&p->a);
            struct plan_ref scratch = {.buf = PLAN_SHM, .slot = SIM_SCRATCH, .len = len};
            if (len != plan_ref_bytes(&q->a) || len > s->scratch_bytes) {
                sim_wrong(s, "a message is not as long as its receive, or too long for the checker");
                return true;
            }
            plan_copy(&from, &p->a, &scratch);
            plan_copy(&at, &scratch, &q->a);
            m->done[i] = to->done[k] = any = true;
            break;
        }
    }
    return any;
}

/* Numbers a collective, or a stage, of leaves; false: it may not begin yet (INVARIANT P1, as plan/exec.c keeps it). */
static inline bool sim_begin(struct sim *s, struct sim_member *m)
{
    uint64_t n = 1 + m->leaves_begun + 3 * (m->leaves_begun / 3); /* some numbers are left out */
    uint64_t entry = plan_entry(m->now, m->args, n, m->left), *mine = sim_flag(s, m, m->args->rank);
    bool must_wait = !sim_reached(s, m, -1, entry);
    uint64_t least = m->now->kind & PLAN_LATE ? m->left[n % PLAN_SLOTS] : must_wait ? entry : 0;
    if (*mine < least) *mine = n << 20, s->raised = true;
    if (must_wait) return false;
    m->args->n = n;
    m->leaves_begun++;
    plan_slots_use(m->now, n, m->left);
    return true;
}

/* On to the next stage; false: there is none. */
static inline bool sim_stage(struct sim *s, struct sim_member *m)
{
    int next = plan_walk_next(&m->walk);
    m->tmp = m->walk.tmp;
    if (next < 0) sim_wrong(s, "no memory");
    if (next <= 0) return false;
    m->now = m->walk.stage.alg;
    m->args = &m->walk.stage.args;
    m->round = m->n = m->at = 0;
    m->posted = false;
    m->waits = m->now->kind != PLAN_P2P;
    return true;
}

/* The next thing that a member can do: false if there is none now.  *over: its collective is. */
static inline bool sim_step(struct sim *s, struct sim_member *m, bool *over)
{
    *over = false;
    if (m->waits && !sim_begin(s, m)) return false;
    m->waits = false;
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
    m->n = m->now->emit(m->args, m->round++, m->steps);
    m->at = 0;
    m->posted = false;
    if (m->n > PLAN_STEPS) sim_wrong(s, "too many steps in a round");
    if (m->n > 0 && m->round > 1 && m->now->kind & PLAN_ONCE) sim_wrong(s, "a second round of a leaf that has one");
    if (m->n > 0) return true;
    uint64_t flag = m->now->kind ? *sim_flag(s, m, m->args->rank) : 0;
    if (m->now->kind && flag >> 20 != m->args->n) sim_wrong(s, "a member has not published");
    if (m->now->kind == PLAN_WIDE && (flag & 0xfffff) != PLAN_FINAL) sim_wrong(s, "a wide leaf without its end");
    *over = !m->alg->stages || !sim_stage(s, m);
    return true;
}

/* May the member begin a collective by this algorithm now? */
static inline bool sim_enter(struct sim *s, struct sim_member *m, const struct plan_algorithm *alg)
{
    m->alg = m->now = alg;
    m->args = &m->a;
    if (alg->kind && !sim_begin(s, m)) {
        m->alg = NULL;
        return false;
    }
    if (!alg->kind) m->a.n = m->seq++;
    m->round = m->n = m->at = 0;
    m->posted = m->waits = false;
    if (alg->stages) {
        m->walk = (struct plan_walk){.alg = alg, .args = &m->a, .in = m->in, .out = m->out, .leaves = m->leaves};
        if (!sim_stage(s, m)) sim_wrong(s, "an algorithm without any stage");
    }
    return true;
}

#endif
