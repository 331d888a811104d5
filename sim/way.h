/* way.h -- what a rank does, round by round, through the stages of an algorithm; and how many ranks do it differently.
 *
 * No data exist here: a stage that looks at what former ones left in the temporary finds zeros, or what another rank's arguments left.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_SIM_WAY_H
#define GW_SIM_WAY_H

#include "machine.h"
#include "plan/plan.h"

struct way {
    const struct plan_algorithm *alg;
    struct plan_args args;   /* of the whole; rank is the present one's */
    bool leaves;             /* may stages use memory that the ranks of a node share? */
    struct plan_nodes nodes; /* as the present rank sees them */
    char *tmp;
    size_t tmp_bytes;
    int i;                   /* the present stage of the present rank; -1: none yet */
    struct plan_stage stage; /* alg NULL: the rank has no part in it */
};

bool way_open(struct way *w, const struct plan_algorithm *alg, const struct plan_args *args,
              bool leaves); /* false: no memory */
void way_close(struct way *w);

/* Makes stage i of a rank the present one; false: there is none. */
bool way_stage(struct way *w, int rank, int i);
/* The steps of a round of the present stage, peers as ranks of the whole; 0: the stage is over. */
int way_round(struct way *w, int round, struct plan_step *steps);

/* The number of ranks that have to be run, from rank 0 on: all, or the widest group of the machine where every group does the same. */
int64_t way_period(struct way *w, const struct machine *m);

/* Bytes of a message, or of what a local step works on. */
static inline int64_t way_bytes(const struct plan_ref *r)
{
    return r->len >= 0 || !r->type ? r->len : r->count * r->type->size;
}

#endif
