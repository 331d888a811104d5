/* agree.c -- agreements for world/: the maxima of a few numbers over all members of a communicator (both groups of an
 * intercommunicator). One request may make several agreements in a row.
 *
 * In an agreement the group's maxima are reduced to its rank 0, the ranks 0 of two groups exchange theirs, and the result is
 * broadcast. Between two agreements the caller's code runs and sets the next numbers, so this emitter is not a pure function of
 * the round.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll/coll_private.h"

#include <stdio.h>

static struct plan_ref joined(const struct plan_args *a) { return ref_typed(PLAN_TMP, 0, a->rcount, a->rt); }

static int one_round(const struct plan_args *a, int round, struct plan_step *steps)
{
    struct plan_steps s = {steps, 0};
    int meet = 1 + 2 * log2_up(a->size);
    if (round < meet) return coll_alg_reduce_binomial.emit(a, round, steps);
    assert(a->op == gw_op_max);
    if (round > meet + 1) {
        s.n = coll_alg_bcast_binomial.emit(a, round - meet - 2, steps); /* the number of its rounds differs by rank */
    } else if (a->rank == 0 && round == meet && a->remote) {
        step_recv(&s, a->size, operand_out(a));
        step_send(&s, a->size, joined(a));
    } else if (a->rank == 0 && round == meet) {
        step_copy(&s, joined(a), operand_out(a));
    } else if (a->rank == 0 && a->remote) {
        step_reduce(&s, joined(a), operand_out(a));
    }
    if (s.n == 0) step_nothing(&s);
    return s.n;
}

static int agree(const struct plan_args *a, int round, struct plan_step *steps)
{
    int rounds = 3 + 3 * log2_up(a->size); /* per agreement */
    struct coll_agree *g = a->own;
    if (round > 0 && round % rounds == 0) {
        g->over.fn(&g->over, GW_OK);
        if (!g->more) {
            g->end.fn(&g->end, GW_OK);
            return 0;
        }
    }
    return one_round(a, round % rounds, steps);
}
static int64_t agree_tmp(const struct plan_args *a) { return 2 * a->tmp_span; }
static const struct plan_algorithm alg_agree = {.name = "agree", .emit = agree, .tmp_bytes = agree_tmp, .kind = PLAN_P2P};

int coll_agree_start(struct gw_comm *c, struct coll_agree *g, struct gw_req **req_out)
{
    _Static_assert(sizeof g->values <= GW_CACHELINE, "a temporary of one line holds them");
    struct plan_args a = {.rank = c->rank, .size = c->size, .remote = c->remote ? c->targets : 0};
    a.rcount = GW_ARRAY_LEN(g->values), a.rt = gw_type_int64, a.op = gw_op_max;
    a.tmp_span = GW_CACHELINE;
    a.own = g;
    a.number = c->colls - 1; /* part of the collective call entered last */
    return plan_start(PLAN_START, &alg_agree, &a, g->values, g->result, c, req_out);
}

int coll_worst(struct gw_comm *c, int rc, const char *who)
{
    int worst = rc < 0 ? rc : GW_OK, mine = worst;
    char text[256] = "";
    if (rc < 0) snprintf(text, sizeof text, "%s", gw_fail_text());
    rc = coll_allreduce(&mine, &worst, 1, gw_type_int, gw_op_min, c, NULL);
    if (rc != GW_OK || worst == GW_OK) return rc;
    return mine < 0 ? gw_fail(mine, "%s", text) : gw_fail(worst, "another %s failed: %s", who, gw_error_text(worst));
}
