/* way.h -- the stages and rounds of a rank in an algorithm; and how many ranks differ in them.
 *
 * Later stages may read what earlier ones have stored in the temporary buffer: lengths, decisions.  So each rank has a copy of the beginning
 * of that buffer, and words of eight bytes, one or two at a time, that are sent, received or computed there are the only data that exist in
 * the simulator (way_words()).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_SIM_WAY_H
#define GW_SIM_WAY_H

#include "machine.h"
#include "plan/plan.h"

enum { WAY_HEAD = 384 }; /* bytes that are kept of the temporary buffer of each rank */
struct way {
    const struct plan_algorithm *alg;
    struct plan_args args;   /* of the whole algorithm; args.rank is the present rank */
    bool network;            /* the network performs stages across nodes: each of their ranks sends one message to itself */
    bool leaves;             /* stages may use shared memory of a node */
    struct plan_nodes nodes; /* from the point of view of the present rank */
    char *tmp, *heads;       /* tmp: temporary buffer of the present rank; heads[rank]: its kept beginning; NULL: nothing is kept */
    size_t tmp_bytes;
    int i;                   /* the present stage of the present rank; -1: none yet */
    struct plan_stage stage; /* alg NULL: the rank takes no part in it */
};

bool way_open(struct way *w, const struct plan_algorithm *alg, const struct plan_args *args, bool leaves); /* false: no memory */
void way_close(struct way *w);

/* Makes stage i of a rank the present one; false: there is no such stage.  first: the rank begins the stage, and what the stage writes into
 * the temporary buffer is kept; otherwise only its arguments are computed again. */
bool way_stage(struct way *w, int rank, int i, bool first);
/* Writes the steps of a round of the present stage, with peers as ranks of the whole algorithm.  Returns their number; 0: the stage is over. */
int way_round(struct way *w, int round, struct plan_step *steps);

/* Is a message of the present stage for the network to reduce? */
bool way_in_network(const struct way *w);

/* Are messages of the present stage counters that the network raises (struct plan_algorithm, by_counters)? */
static inline bool way_counts(const struct way *w) { return w->stage.alg && w->stage.alg->by_counters; }

/* The words that a step of the present stage sends, receives or changes, as many as fit into its bytes; NULL: they are in memory that does
 * not exist in the simulator. */
enum { WAY_WORDS = 2 };
int64_t *way_words(struct way *w, const struct plan_ref *r);

/* The number of ranks that must be simulated, from rank 0 on: all, or those of the largest group of the machine if all groups do the same. */
int64_t way_period(struct way *w, const struct machine *m);

/* Bytes of a message, or of what a local step works on. */
static inline int64_t way_bytes(const struct plan_ref *r) { return r->len >= 0 || !r->type ? r->len : r->count * r->type->size; }

#endif
