/* way.h -- what a rank does, round by round, through the stages of an algorithm; and how many ranks do it differently.
 *
 * Stages may look at what former ones left in the temporary: lengths, decisions.  So of its begin each rank has one of its own, and
 * what goes from and to there in words of eight bytes are the only data that exist here: way_word().
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_SIM_WAY_H
#define GW_SIM_WAY_H

#include "machine.h"
#include "plan/plan.h"

enum { WAY_HEAD = 384 }; /* bytes kept of each rank's temporary */
struct way {
    const struct plan_algorithm *alg;
    struct plan_args args;   /* of the whole; rank is the present one's */
    bool network;            /* what the stages across nodes do, the network does: each of their ranks sends to itself, once */
    bool leaves;             /* may stages use memory that the ranks of a node share? */
    struct plan_nodes nodes; /* as the present rank sees them */
    char *tmp, *heads;       /* tmp: the present rank's; its begin is changed for heads[rank] (NULL: nothing is to be kept) */
    size_t tmp_bytes;
    int i;                   /* the present stage of the present rank; -1: none yet */
    struct plan_stage stage; /* alg NULL: the rank has no part in it */
};

bool way_open(struct way *w, const struct plan_algorithm *alg, const struct plan_args *args, bool leaves); /* false: no memory */
void way_close(struct way *w);

/* Makes stage i of a rank the present one; false: there is none.  first: the rank begins it now, and keeps what the stage writes into
 * its temporary; later the stage is only asked again for its arguments. */
bool way_stage(struct way *w, int rank, int i, bool first);
/* The steps of a round of the present stage, peers as ranks of the whole; 0: the stage is over. */
int way_round(struct way *w, int round, struct plan_step *steps);

/* Is a message of the present stage for the network to reduce? */
bool way_in_network(const struct way *w);

/* Where a word lies that a step of the present stage sends, receives or works on; NULL: in memory that does not exist here. */
int64_t *way_word(struct way *w, const struct plan_ref *r);

/* The number of ranks that have to be run, from rank 0 on: all, or the widest group of the machine where every group does the same. */
int64_t way_period(struct way *w, const struct machine *m);

/* Bytes of a message, or of what a local step works on. */
static inline int64_t way_bytes(const struct plan_ref *r) { return r->len >= 0 || !r->type ? r->len : r->count * r->type->size; }

#endif
