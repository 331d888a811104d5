/* topo_private.h -- shared by the files of topo/.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TOPO_TOPO_PRIVATE_H
#define GW_TOPO_TOPO_PRIVATE_H

#include "topo/map.h"
#include "topo/topo.h"

/* A topology object with room for `nints` integers behind it, the first at *ints_out; NULL after gw_fail(). */
struct gw_topo *topo_new(int kind, int64_t nints, int **ints_out);
/* Takes the next n integers of *ints, filled from `from` if that is not NULL. */
int *topo_take(int **ints, int n, const int *from);
/* Completes t for member `rank` of `size`: adds what neighbourhood collectives need, in the last
 * 4 * (nin + nout) integers.  Returns t, or frees it and returns NULL. */
struct gw_topo *topo_finish(struct gw_topo *t, int rank, int size, int **ints);
/* A communicator of n members of c: its rank i is rank order[i] of c, or i if order is NULL.  *comm_out is NULL at the other members. */
int topo_make_comm(struct gw_comm *c, int n, const int *order, struct gw_comm **comm_out);
int topo_intra(const struct gw_comm *c); /* GW_OK, or GW_ECOMM with the reason: c is an intercommunicator */
/* GW_OK, or GW_ETOPOLOGY with the reason: c has no topology of this kind. */
int topo_want(const struct gw_comm *c, int kind);

/* ---- reordering (reorder.c); collective over c ----
 *     topo_reorder_begin();  if (useful) { rank 0: its edges;  topo_reorder_end(); }  ... order ...  topo_reorder_free() */
struct topo_edges {
    int64_t n;
    int *from, *to, *weight;
}; /* weight NULL: 1 each */
struct topo_reorder {
    bool useful;              /* reordering may help; the same on all members */
    struct map_place *places; /* at rank 0 */
    int *order;               /* new rank i is rank order[i] of c; NULL: ranks do not change */
};
int topo_reorder_begin(struct gw_comm *c, struct topo_reorder *r);
int topo_reorder_end(struct gw_comm *c, struct topo_reorder *r, int n, const struct topo_edges *edges /* at rank 0 */,
                     const struct map_grid *grid);
void topo_reorder_free(struct topo_reorder *r); /* also after a failure */

#endif
