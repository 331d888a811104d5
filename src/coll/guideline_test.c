/* guideline_test.c -- performance guidelines of the table of choices, in simulated cost.
 *
 * All ranks run the chosen algorithm's rounds in one process, without data: each step takes its rank's core for a time that a
 * simple model gives (message: overhead and gap at both ends, latency between; copies, reductions, flags, pulls), and ranks wait
 * for what they wait for.  What must hold is what users take for granted: more bytes do not cost less, a collective costs no more
 * than others that do the same together, one rank more or less does not matter.
 *
 * users.md row 11
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "coll/coll_private.h"
#include "base/settings.h"

#include "../../test/unit.h"

enum { MAX_RANKS = 130 };

/* Microseconds, and microseconds a byte: about what shared memory takes where the table was measured (Zen 3, 4 cores, 2026-11). */
static const double MESSAGE = 0.25, LATENCY = 0.1, MESSAGE_BYTE = 4e-5, PULL = 1.0, PULL_BYTE = 5e-5;
static const double COPY = 0.03, COPY_BYTE = 4e-5, REDUCE = 0.03, REDUCE_BYTE = 4e-5;
static const double PUBLISH = 0.05, FLAG = 0.15, LOOK = 0.03; /* flags: raised, seen by another, looked at */

/* ---- the machine ----------------------------------------------------------------------------------------------------------- */
struct message {
    double there;
    int64_t len;
    bool taken;
};
struct pipe {
    struct message *at;
    int n, room, taken;
}; /* from one rank to another, in order */
struct flag_rise {
    int phase;
    double at;
};
struct member {
    struct plan_args a;
    double now; /* when this rank's core is free */
    int round, n, at;
    bool sent, over;
    struct plan_step steps[PLAN_STEPS];
    struct flag_rise *rises;
    int n_rises, room;
};
static struct member members[MAX_RANKS];
static struct pipe *pipes; /* [from * MAX_RANKS + to] */
static int p;
static bool are_read; /* long messages, by who gets them: of algorithms that count on it */

static void *grown(void *at, int n, int *room, size_t each)
{
    if (n < *room) return at;
    *room = *room ? 2 * *room : 8;
    at = realloc(at, (size_t)*room * each);
    if (!at) abort();
    return at;
}

static void publish(struct member *m, int phase)
{
    m->now += PUBLISH + LOOK * p / 2;
    m->rises = grown(m->rises, m->n_rises, &m->room, sizeof *m->rises);
    CHECK(m->n_rises == 0 || m->rises[m->n_rises - 1].phase < phase);
    m->rises[m->n_rises++] = (struct flag_rise){phase, m->now};
}

/* When a member's flag reaches a phase; negative: not yet known. */
static double reached(const struct member *m, int phase)
{
    int low = 0, high = m->n_rises;
    while (low < high) {
        int mid = (low + high) / 2;
        if (m->rises[mid].phase >= phase)
            high = mid;
        else
            low = mid + 1;
    }
    return low < m->n_rises ? m->rises[low].at : -1;
}

static bool wait_for(struct member *m, int peer, int phase)
{
    double last = 0;
    for (int i = peer < 0 ? 0 : peer; i < (peer < 0 ? p : peer + 1); i++) {
        double t = &members[i] == m ? 0 : reached(&members[i], phase);
        if (t < 0) return false;
        if (t + FLAG > last) last = t + FLAG;
    }
    if (last > m->now) m->now = last;
    m->now += LOOK * (peer < 0 ? p : 1);
    return true;
}

static int64_t bytes_of(const struct plan_ref *r) { return r->len >= 0 || !r->type ? r->len : r->count * r->type->size; }

/* A local step; false: it must wait for somebody. */
static bool local(struct member *m, const struct plan_step *s)
{
    int64_t len;
    switch (s->kind) {
    case PLAN_COPY:
    case PLAN_LABEL:
    case PLAN_UNLABEL:
        len = gw_min64(bytes_of(&s->a), bytes_of(&s->b));
        if (len > 0) m->now += COPY + COPY_BYTE * (double)len;
        return true;
    case PLAN_REDUCE: m->now += REDUCE + REDUCE_BYTE * (double)bytes_of(&s->a); return true;
    case PLAN_EXACT: m->now += 3 * (REDUCE + REDUCE_BYTE * 8 * (double)s->stride); return true;
    case PLAN_SHM_REDUCE: m->now += s->peer * (REDUCE + REDUCE_BYTE * (double)bytes_of(&s->a)); return true;
    case PLAN_ASSEMBLE:
        m->now += COPY * (double)((s->b.len + s->stride - 1) / s->stride) + COPY_BYTE * (double)s->b.len;
        return true;
    case PLAN_PULL: m->now += PULL + PULL_BYTE * (double)s->a.len; return true;
    case PLAN_PUBLISH: publish(m, s->phase); return true;
    case PLAN_WAIT: return wait_for(m, s->peer, s->phase);
    case PLAN_PAIR_SIGNAL: m->now += LOOK; return true; /* who has handed all its lines publishes */
    case PLAN_PAIR_WAIT: return wait_for(m, s->peer, 1);
    default: return true; /* EXPOSE is free; messages come later */
    }
}

static bool is_read(int64_t len) { return are_read && len >= gw_set.cma_min; }
static void send(struct member *m, const struct plan_step *s)
{
    struct pipe *to = &pipes[m->a.rank * MAX_RANKS + s->peer];
    int64_t len = bytes_of(&s->a);
    m->now += MESSAGE + (is_read(len) ? 0 : MESSAGE_BYTE * (double)len);
    to->at = grown(to->at, to->n, &to->room, sizeof *to->at);
    to->at[to->n++] = (struct message){m->now + LATENCY, len, false};
}

/* All receives of a round, in the order in which they come in; false: not all have been sent. */
static bool receive(struct member *m)
{
    struct message *in[PLAN_STEPS];
    int n = 0, behind[PLAN_STEPS] = {0};
    for (int i = 0; i < m->n; i++) {
        if (m->steps[i].kind != PLAN_RECV) continue;
        struct pipe *from = &pipes[m->steps[i].peer * MAX_RANKS + m->a.rank];
        for (int k = 0; k < i; k++) behind[i] += m->steps[k].kind == PLAN_RECV && m->steps[k].peer == m->steps[i].peer;
        if (from->taken + behind[i] >= from->n) return false;
        in[n] = &from->at[from->taken + behind[i]];
        CHECK_EQ(in[n]->len, bytes_of(&m->steps[i].a));
        n++;
    }
    for (int i = 0; i < m->n; i++)
        if (m->steps[i].kind == PLAN_RECV) pipes[m->steps[i].peer * MAX_RANKS + m->a.rank].taken++;
    for (int left = n; left > 0; left--) {
        struct message *first = NULL;
        for (int i = 0; i < n; i++)
            if (!in[i]->taken && (!first || in[i]->there < first->there)) first = in[i];
        first->taken = true;
        if (first->there > m->now) m->now = first->there;
        m->now += MESSAGE + (is_read(first->len) ? PULL + PULL_BYTE * (double)first->len : MESSAGE_BYTE * (double)first->len);
    }
    return true;
}

/* Goes on as far as a rank can; true if it has moved. */
static bool advance(struct member *m, const struct plan_algorithm *alg)
{
    for (bool moved = false; !m->over; moved = true) {
        for (; m->at < m->n; m->at++, moved = true)
            if (!local(m, &m->steps[m->at])) return moved;
        for (int i = 0; i < m->n && !m->sent; i++)
            if (m->steps[i].kind == PLAN_SEND) send(m, &m->steps[i]), moved = true;
        m->sent = true;
        if (!receive(m)) return moved;
        m->n = alg->emit(&m->a, m->round++, m->steps);
        m->at = 0;
        m->sent = false;
        m->over = m->n == 0;
        if (m->over) return true;
    }
    return false;
}

/* Until the last rank is through, microseconds. */
static double simulate(const struct plan_algorithm *alg, const struct plan_args *a)
{
    double last = 0;
    for (int r = 0; r < p; r++) {
        struct member *m = &members[r];
        struct flag_rise *rises = m->rises;
        int room = m->room;
        *m = (struct member){.a = *a, .rises = rises, .room = room};
        m->a.rank = r;
        for (int q = 0; q < p; q++) pipes[r * MAX_RANKS + q].n = pipes[r * MAX_RANKS + q].taken = 0;
    }
    for (bool any = true; any;) {
        any = false;
        for (int r = 0; r < p; r++) any |= advance(&members[r], alg);
    }
    for (int r = 0; r < p; r++) {
        CHECK(members[r].over);
        if (members[r].now > last) last = members[r].now;
    }
    return last;
}

/* ---- the choice ------------------------------------------------------------------------------------------------------------ */
enum where { MESSAGES, LEAVES, PULLS, WHERES }; /* by messages; on a node; on a node that lets ranks read each other's memory */
static const char *const where_names[] = {"messages", "leaves", "leaves and pulls"};
#define NOTHING(kind, name)
#define ONE(kind, name) {#name, &coll_alg_##name},
static const struct {
    const char *name;
    const struct plan_algorithm *alg;
} all_algorithms[] = {ALGORITHMS(ONE, NOTHING)};
static struct gw_op *op_any;
static struct gw_comm comm;

static const struct plan_algorithm *named(const char *kind, const char *name)
{
    char full[64];
    size_t len = strlen(kind);
    snprintf(full, sizeof full, "%.*s_%s", (int)(kind[len - 1] == 'v' ? len - 1 : len), kind, name);
    for (size_t i = 0; i < GW_ARRAY_LEN(all_algorithms); i++)
        if (!strcmp(all_algorithms[i].name, full)) return all_algorithms[i].alg;
    return NULL;
}

/* What coll.c gives the algorithm for a block or operand of n bytes, and the bytes by which it is chosen. */
static int64_t arguments(enum coll_kind kind, int64_t n, struct plan_args *a)
{
    int64_t count = n / 8;
    *a = (struct plan_args){.size = p, .n = 1, .scount = count, .rcount = count, .op = op_any};
    a->st = a->rt = gw_type_int64;
    a->tmp_span = gw_align_up((size_t)n, GW_CACHELINE);
    switch (kind) {
    case COLL_BARRIER:
    case COLL_GATHERV:
    case COLL_SCATTERV: return 0;
    case COLL_REDUCE_SCATTER: return n * p;
    default: return n;
    }
}

static const struct plan_algorithm *choose(enum where where, enum coll_kind kind, int64_t bytes, struct plan_args *a)
{
    for (int i = 0; i < coll_rule_count; i++) {
        const struct coll_rule *r = &coll_rules[i];
        if (r->kind != kind || bytes > r->max_bytes || p < r->min_ranks || p > r->max_ranks) continue;
        const struct plan_algorithm *alg = named(coll_kind_names[kind], r->name);
        CHECK(alg != NULL);
        if (!alg || alg->stages || (alg->fits && !alg->fits(a))) continue;
        if (alg->kind && (where == MESSAGES || p < 2 || (alg->kind == PLAN_PULLING && where != PULLS))) continue;
        a->params.piece_bytes = r->piece_bytes;
        if (where == MESSAGES) { /* as the library chooses */
            struct plan_args b = *a;
            comm.size = p;
            coll_parameter(kind, alg, false, a);
            CHECK(coll_select_messages(kind, bytes, &b, &comm) == alg && memcmp(&b.params, &a->params, sizeof b.params) == 0);
        }
        return alg;
    }
    CHECK(!"a row for everything");
    return NULL;
}

static const char *chosen; /* by the last call of cost() */
static double cost(enum where where, enum coll_kind kind, int64_t n, int ranks)
{
    struct plan_args a;
    p = ranks;
    int64_t bytes = arguments(kind, n, &a);
    const struct plan_algorithm *alg = choose(where, kind, bytes, &a);
    chosen = alg->name;
    are_read = alg->kind == PLAN_PULLING;
    return simulate(alg, &a);
}

/* ---- guidelines ------------------------------------------------------------------------------------------------------------ */
struct timed {
    double us;
    const char *by;
};
static struct timed timed(enum where where, enum coll_kind kind, int64_t n, int ranks)
{
    double us = cost(where, kind, n, ranks);
    return (struct timed){us, chosen};
}
static struct timed together(struct timed a, struct timed b) { return (struct timed){a.us + b.us, b.by}; }

/* `is` may cost at most `times` as much as `other`. */
static void at_most(struct timed is, double times, struct timed other, const char *rule, enum where where, enum coll_kind kind,
                    int64_t n, int ranks)
{
    if (is.us <= times * other.us) return;
    unit_failures++;
    fprintf(stderr, "%s, %lld bytes on %d ranks, %s: %s: %.2f us (%s), but %.2f us (%s)\n", coll_kind_names[kind], (long long)n,
            ranks, where_names[where], rule, is.us, is.by, other.us, other.by);
}

static const int ranks_of[] = {2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17, 24, 25, 33, 64, 65, 130};
enum { MOST_BYTES = 1 << 20 };

/* Where a choice ends, the next one must not be much better: the row ends too late. */
static void at_the_ends_of_rows(enum where w, int r)
{
    for (int i = 0; i < coll_rule_count; i++) {
        const struct coll_rule *rule = &coll_rules[i];
        enum coll_kind k = (enum coll_kind)rule->kind;
        int64_t n = k == COLL_REDUCE_SCATTER ? rule->max_bytes / r & ~(int64_t)7 : rule->max_bytes;
        if (n > MOST_BYTES || r < rule->min_ranks || r > rule->max_ranks) continue;
        at_most(timed(w, k, n, r), 1.2, timed(w, k, n + 8, r), "eight bytes more cost less", w, k, n, r);
    }
}
static void with_more_bytes(enum where w, int r)
{
    for (int kind = COLL_BCAST; kind < COLL_KINDS; kind++) {
        enum coll_kind k = (enum coll_kind)kind;
        if (k == COLL_ALLTOALLV) continue; /* is chosen without its bytes */
        struct timed last = timed(w, k, 8, r);
        for (int64_t n = 32; n <= MOST_BYTES; n *= 4) {
            struct timed now = timed(w, k, n, r);
            at_most(last, 1.2, now, "four times as much costs less", w, k, n / 4, r);
            last = now;
        }
    }
}

static void against_others(enum where w, int r)
{
    at_most(timed(w, COLL_BARRIER, 0, r), 1, timed(w, COLL_ALLREDUCE, 8, r), "more than an allreduce", w, COLL_BARRIER, 0, r);
    for (int64_t n = 8; n <= MOST_BYTES; n *= 4) {
        struct timed bcast = timed(w, COLL_BCAST, n, r);
        at_most(timed(w, COLL_ALLREDUCE, n, r), 1, together(timed(w, COLL_REDUCE, n, r), bcast), "more than reduce and bcast", w,
                COLL_ALLREDUCE, n, r);
        if (n * r > 4 * MOST_BYTES) continue;
        bcast = timed(w, COLL_BCAST, n * r, r);
        at_most(timed(w, COLL_ALLGATHER, n, r), 1, together(timed(w, COLL_GATHER, n, r), bcast), "more than gather and bcast", w,
                COLL_ALLGATHER, n, r);
    }
}

/* One rank fewer than r against one more.  Of few ranks, two more are much; and what all ranks give together outgrows the slots
 * of a leaf at some number of them. */
static void with_more_ranks(enum where w, int r)
{
    for (int kind = 0; kind < COLL_KINDS; kind++)
        for (int64_t n = 8; n <= 64 << 10 && kind != COLL_ALLTOALLV; n *= 16) {
            enum coll_kind k = (enum coll_kind)kind;
            struct timed fewer = timed(w, k, n, r - 1), more = timed(w, k, n, r + 1);
            at_most(fewer, 1.5, more, "two more ranks take less", w, k, n, r - 1);
            if (r < 10 || k == COLL_ALLTOALL || k == COLL_REDUCE_SCATTER) continue;
            at_most(more, 1.5, fewer, "two ranks fewer take much less", w, k, n, r + 1);
        }
}

/* That the machine counts at all: a chain of messages, a tree, flags. */
static void known_costs(void)
{
    const double message = 2 * MESSAGE + LATENCY;
    double t = cost(MESSAGES, COLL_BARRIER, 0, 8);
    CHECK(t > 2.999 * message && t < 3.001 * message);
    t = cost(MESSAGES, COLL_BCAST, 8, 2) - 2 * 8 * MESSAGE_BYTE;
    CHECK(t > 0.999 * message && t < 1.001 * message);
    t = cost(LEAVES, COLL_BARRIER, 0, 4) - (PUBLISH + 2 * LOOK + FLAG + 4 * LOOK);
    CHECK(t > -0.001 && t < 0.001);
    CHECK(cost(LEAVES, COLL_BCAST, 8, 4) < cost(MESSAGES, COLL_BCAST, 8, 4));
    /* Large blocks are read where they lie. */
    for (int ranks = 2; ranks <= 64; ranks *= 2) {
        cost(PULLS, COLL_ALLGATHER, 256 << 10, ranks);
        CHECK_STR(chosen, "pull");
    }
}

int main(void)
{
    gw_settings_load();
    CHECK_EQ(type_init(), GW_OK);
    CHECK_EQ(op_init(), GW_OK);
    CHECK_EQ(op_create((void (*)(void))main, 1, false, &op_any), GW_OK);
    CHECK_EQ(coll_select_init(), GW_OK);
    pipes = calloc(MAX_RANKS * MAX_RANKS, sizeof *pipes);
    CHECK(pipes != NULL);
    known_costs();
    for (int w = 0; w < WHERES && pipes; w++) {
        for (size_t i = 0; i < GW_ARRAY_LEN(ranks_of); i++) {
            at_the_ends_of_rows((enum where)w, ranks_of[i]);
            with_more_bytes((enum where)w, ranks_of[i]);
            against_others((enum where)w, ranks_of[i]);
        }
        for (int r = 3; r < MAX_RANKS; r += r < 27 ? 1 : 11) with_more_ranks((enum where)w, r);
    }
    for (int i = 0; i < MAX_RANKS * MAX_RANKS && pipes; i++) free(pipes[i].at);
    for (int r = 0; r < MAX_RANKS; r++) free(members[r].rises);
    free(pipes);
    op_free(&op_any);
    op_finalize();
    type_finalize();
    gw_obj_finalize();
    gw_settings_free();
    return unit_end();
}
