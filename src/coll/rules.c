/* rules.c -- applies settings to the algorithm that the tables have chosen: they may replace it, or set its parameter.
 *
 * Only for algorithms by messages: those through shared memory have neither trees nor messages under way.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll/coll_private.h"
#include "base/settings.h"

/* The number of ranks from which on scatterv sends one block after the other (as documented for HPE's library). */
enum { SCATTERV_MANY = 200000 };

const struct plan_algorithm *coll_instead(const struct plan_algorithm *alg, int64_t bytes, const struct plan_args *a)
{
    int64_t is_long = gw_set.reduce_scatter_long_msg;
    if (alg == &coll_alg_bcast_chain && gw_set.bcast_only_tree) return &coll_alg_bcast_binomial;
    bool whole = alg == &coll_alg_reduce_scatter_ordered || alg == &coll_alg_reduce_scatter_pairwise ||
        alg == &coll_alg_reduce_scatter_halving;
    if (!whole || is_long < 0 || !op_commutes(a)) return alg;
    return bytes >= is_long && a->size <= gw_set.reduce_scatter_max_commsize ? &coll_alg_reduce_scatter_pairwise
                                                                             : &coll_alg_reduce_scatter_halving;
}

/* All ranks must come to the same radix, so no threshold that each of them has for itself (GODWIT_CMA_MIN) decides. */
enum { SHORT = 16 << 10 };

/* The radix of trees between nodes: if the depth of the tree decides, sending more messages per rank is faster. */
static int32_t radix_between(const struct plan_args *a)
{
    if (gw_set.bcast_internode_radix >= 0) return (int32_t)gw_set.bcast_internode_radix;
    return a->rcount * a->rt->size <= SHORT ? 4 : 2;
}

/* The radix of trees on a node: receivers of long messages read them at the same time, but a sender writes short ones one after
 * the other. */
static int32_t radix_on_node(const struct plan_args *a)
{
    if (gw_set.bcast_intranode_radix >= 0) return (int32_t)gw_set.bcast_intranode_radix;
    return a->rcount * a->rt->size < SHORT ? 2 : 4;
}

void coll_parameter(enum coll_kind kind, const struct plan_algorithm *alg, bool across, struct plan_args *a)
{
    struct plan_params *p = &a->params;
    if (alg == &coll_alg_alltoall_pairwise || alg == &coll_alg_alltoall_in_place)
        p->under_way = (int32_t)(kind == COLL_ALLTOALL ? gw_set.alltoall_sync_freq : gw_set.alltoallv_throttle);
    else if (alg == &coll_alg_allgather_direct)
        p->under_way = (int32_t)gw_set.iallgatherv_throttle;
    else if (alg == &coll_alg_bcast_binomial)
        p->radix = across ? radix_between(a) : radix_on_node(a);
    else if (alg == &coll_alg_scatter_linear && kind == COLL_SCATTERV)
        p->under_way = gw_set.scatterv_synchronous || a->size >= SCATTERV_MANY ? 1 : 0;
    else if ((alg == &coll_alg_allreduce_levels || alg == &coll_alg_allreduce_levels_parts) && gw_set.allreduce_blk_size > 0)
        p->piece_bytes = gw_set.allreduce_blk_size;
}
