/* plan_state.c -- checks the invariants of an execution and of a region of leaves (plan.h).  For tests and asserts, and to be
 * called from a debugger.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "plan/plan_private.h"

/*   EMIT     steps [at, n_steps) of the round are to be done, no request is out
 *   POSTED   at == n_steps, some requests are out; no other state has any */
const char *plan_exec_broken(const struct plan_exec *x)
{
    if (x->at < 0 || x->at > x->n_steps || x->n_steps > PLAN_STEPS) return "a round has at most PLAN_STEPS steps";
    if (x->n_reqs < 0 || x->n_reqs > x->n_steps) return "a round has a request for each of its messages at most";
    if (x->n_reqs > 0 && x->at != x->n_steps) return "messages are posted after all local steps";
    if (x->n_messages < 0 || x->n_messages > x->at) return "messages are counted as their steps are passed";
    if (x->err > 0) return "an error is negative";
    if (!x->leaf != !x->alg->kind) return "an execution has a region if its algorithm has leaves";
    if (x->scan < 0 || x->scan > x->args->size) return "a wait for everybody is at one of the members";
    for (int i = 0; i < x->n_steps; i++) {
        if (x->steps[i].kind > PLAN_PULL) return "a step is of a known kind";
        if (x->steps[i].kind >= PLAN_PUBLISH && !x->leaf) return "steps of leaves need a region";
    }
    for (int i = 0; i < x->n_reqs; i++)
        if (!x->reqs[i]) return "a request that is out is known";
    return NULL;
}

/* P2: a member that has left a collective has published in it. */
const char *plan_region_broken(const struct comm_coll *k)
{
    if (k->me < 0 || k->me >= k->size) return "a member has a place in its region";
    for (int i = 0; i < PLAN_SLOTS; i++)
        if (k->left[i] >> 20 > leaf_last(k)) return "P2: every member publishes in every leaf collective";
    return NULL;
}
