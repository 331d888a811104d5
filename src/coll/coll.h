/* coll.h -- collectives (MPI 4.1 chapter 6): targets of the entry points; algorithms and their choice inside.
 *
 * sbuf may be GW_IN_PLACE where the standard allows it.  Arguments are checked by kind; what only a collective can know
 * (root in range, op against type, overlap rules) is checked here.  Every algorithm is a pure emitter of rounds (plan/plan.h);
 * on one node small collectives are fused leaf steps on the node segment.
 *
 * The last argument is NULL for the blocking call; else the operation is behind a request: started, or prepared for MPI_Start.
 * Those go by messages.  Arrays of counts, displacements and datatypes may go when the call returns; buffers are the user's.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_COLL_COLL_H
#define GW_COLL_COLL_H

#include "base/base.h"
#include "comm/comm.h"
#include "op/op.h"

int coll_init(void);

/* ---- for tools: the algorithms by number, from 0 ---- */
int coll_algorithms(void);
void coll_algorithm_name(int i, char *name_out, size_t cap); /* "bcast binomial" */
uint64_t coll_algorithm_uses(int i);                         /* how often this process chose it */

struct coll_as {
    enum { COLL_START, COLL_INIT } when;
    struct gw_req **req_out;
};

int coll_barrier(struct gw_comm *c, struct coll_as *as);
int coll_bcast(void *buf, int64_t count, struct gw_type *t, int root, struct gw_comm *c, struct coll_as *as);
int coll_gather(const void *sbuf, int64_t scount, struct gw_type *st, void *rbuf, int64_t rcount, struct gw_type *rt, int root,
                struct gw_comm *c, struct coll_as *as);
int coll_gatherv(const void *sbuf, int64_t scount, struct gw_type *st, void *rbuf, struct gw_counts rcounts,
                 struct gw_counts displs, struct gw_type *rt, int root, struct gw_comm *c, struct coll_as *as);
int coll_scatter(const void *sbuf, int64_t scount, struct gw_type *st, void *rbuf, int64_t rcount, struct gw_type *rt, int root,
                 struct gw_comm *c, struct coll_as *as);
int coll_scatterv(const void *sbuf, struct gw_counts scounts, struct gw_counts displs, struct gw_type *st, void *rbuf,
                  int64_t rcount, struct gw_type *rt, int root, struct gw_comm *c, struct coll_as *as);
int coll_allgather(const void *sbuf, int64_t scount, struct gw_type *st, void *rbuf, int64_t rcount, struct gw_type *rt,
                   struct gw_comm *c, struct coll_as *as);
int coll_allgatherv(const void *sbuf, int64_t scount, struct gw_type *st, void *rbuf, struct gw_counts rcounts,
                    struct gw_counts displs, struct gw_type *rt, struct gw_comm *c, struct coll_as *as);
int coll_alltoall(const void *sbuf, int64_t scount, struct gw_type *st, void *rbuf, int64_t rcount, struct gw_type *rt,
                  struct gw_comm *c, struct coll_as *as);
int coll_alltoallv(const void *sbuf, struct gw_counts scounts, struct gw_counts sdispls, struct gw_type *st, void *rbuf,
                   struct gw_counts rcounts, struct gw_counts rdispls, struct gw_type *rt, struct gw_comm *c, struct coll_as *as);
int coll_alltoallw(const void *sbuf, struct gw_counts scounts, struct gw_counts sdispls, struct gw_type **st, void *rbuf,
                   struct gw_counts rcounts, struct gw_counts rdispls, struct gw_type **rt, struct gw_comm *c, struct coll_as *as);
int coll_reduce(const void *sbuf, void *rbuf, int64_t count, struct gw_type *t, struct gw_op *op, int root, struct gw_comm *c,
                struct coll_as *as);
int coll_allreduce(const void *sbuf, void *rbuf, int64_t count, struct gw_type *t, struct gw_op *op, struct gw_comm *c,
                   struct coll_as *as);
int coll_reduce_scatter(const void *sbuf, void *rbuf, struct gw_counts rcounts, struct gw_type *t, struct gw_op *op,
                        struct gw_comm *c, struct coll_as *as);
int coll_reduce_scatter_block(const void *sbuf, void *rbuf, int64_t rcount, struct gw_type *t, struct gw_op *op, struct gw_comm *c,
                              struct coll_as *as);
int coll_scan(const void *sbuf, void *rbuf, int64_t count, struct gw_type *t, struct gw_op *op, struct gw_comm *c,
              struct coll_as *as);
int coll_exscan(const void *sbuf, void *rbuf, int64_t count, struct gw_type *t, struct gw_op *op, struct gw_comm *c,
                struct coll_as *as);

/* Neighbourhood collectives (section 8.6) on a communicator with a topology, which says whom the blocks are from and for.  No
 * MPI_IN_PLACE.  Several edges between the same two go in the order of the lists; in a grid, what is sent in the negative
 * direction arrives from the positive one. */
int coll_neighbor_allgather(const void *sbuf, int64_t scount, struct gw_type *st, void *rbuf, int64_t rcount, struct gw_type *rt,
                            struct gw_comm *c, struct coll_as *as);
int coll_neighbor_allgatherv(const void *sbuf, int64_t scount, struct gw_type *st, void *rbuf, struct gw_counts rcounts,
                             struct gw_counts displs, struct gw_type *rt, struct gw_comm *c, struct coll_as *as);
int coll_neighbor_alltoall(const void *sbuf, int64_t scount, struct gw_type *st, void *rbuf, int64_t rcount, struct gw_type *rt,
                           struct gw_comm *c, struct coll_as *as);
int coll_neighbor_alltoallv(const void *sbuf, struct gw_counts scounts, struct gw_counts sdispls, struct gw_type *st, void *rbuf,
                            struct gw_counts rcounts, struct gw_counts rdispls, struct gw_type *rt, struct gw_comm *c,
                            struct coll_as *as);
int coll_neighbor_alltoallw(const void *sbuf, struct gw_counts scounts, struct gw_counts sdispls, struct gw_type **st, void *rbuf,
                            struct gw_counts rcounts, struct gw_counts rdispls, struct gw_type **rt, struct gw_comm *c,
                            struct coll_as *as);
/* For topo/: fills t->moves (room for nin + nout), t->nmoves, t->in_like and t->out_like of the member `rank` of `size`, from t's kind and lists. */
int coll_neighbor_order(struct gw_topo *t, int rank, int size);

/* For topo/: collectives on c between these two are part of one call of the user, see plan_call_begin(). */
void coll_call_begin(struct gw_comm *c);
void coll_call_end(struct gw_comm *c);

/* For world/: a small allreduce of int64 values over a *group* of c, identified by tag, on GW_STREAM_WORLD (point-to-point
 * rounds only).  members[n] are ranks in c, me is my index.  op MAX or MIN or BAND, in place. */
int coll_group_allreduce(struct gw_comm *c, const int *members, int n, int me, int tag, int64_t *values, int nvalues,
                         struct gw_op *op);

/* For world/: maxima over all members of c (both groups), behind a request, as often as the members ask for another: they all decide alike.
 * The two functions are called without a lock, by whichever thread makes progress. */
struct coll_agree {
    int64_t values[3];   /* mine, at each start */
    int64_t result[3];   /* the maxima */
    struct gw_done over; /* after each agreement: reads result, sets values for the next one or `more` to false */
    struct gw_done end;  /* after the last one, the request completes; may free this */
    bool more;
};
int coll_agree_start(struct gw_comm *c, struct coll_agree *g, struct gw_req **req_out);

#endif
