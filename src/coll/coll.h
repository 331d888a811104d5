/* coll.h -- collectives (MPI 4.1 chapter 6): implementations of the entry points, algorithms and their selection.
 *
 * ARGUMENTS sbuf may be GW_IN_PLACE where the standard allows it.  The caller has checked arguments by kind; what depends on the collective
 *           (root in range, op against type, overlap) is checked here.
 * as        NULL: the blocking call.  Otherwise the operation is non-blocking (COLL_START) or persistent (COLL_INIT), and *as->req_out
 *           gets its request; these use messages only.  Arrays of counts, displacements and datatypes are copied; buffers stay the user's
 *           until completion.
 * LOCK      No lock is held by the caller.
 * RETURNS   GW_OK or a negative code, after gw_fail().
 *
 * An algorithm is a pure function that emits rounds (plan/plan.h).  Small collectives on one node use the node's shared memory (leaves).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_COLL_COLL_H
#define GW_COLL_COLL_H

#include "base/base.h"
#include "comm/comm.h"
#include "op/op.h"

int coll_init(void);
/* Collective over `all`, a communicator of all processes of the job, where GODWIT_TUNE names a file: its rows are taken if they are the same
 * on all of them.  Only the first call of MPI's and OpenSHMEM's beginnings does something.  Communicators with members of other jobs, which
 * may have another file, do without them, and so do processes that have sessions only. */
int coll_tuned_take(struct gw_comm *all);

/* What a setting that lists collectives says, as one text for all words that mean the same: "on", "off", or names in the enum's order. */
void coll_kinds_text(const char *setting, const char *text, char *out, size_t cap);

/* ---- for tools: algorithms by number, from 0 ---- */
int coll_algorithms(void);
void coll_algorithm_name(int i, char *name_out, size_t cap); /* "bcast binomial" */
uint64_t coll_algorithm_uses(int i);                         /* how often this process has selected it */

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

/* Neighbourhood collectives (section 8.6): the communicator's topology gives the sources and destinations of the blocks.  No MPI_IN_PLACE.
 * Several edges between the same two members match in the order of their lists; in a grid, a block sent in the negative direction arrives
 * from the positive one. */
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
/* For topo/: computes t->moves (room for nin + nout), t->nmoves, t->in_like and t->out_like of member `rank` of `size`, from t's kind and
 * lists. */
int coll_neighbor_order(struct gw_topo *t, int rank, int size);

/* For topo/: collectives on c between these two calls belong to one call of the user, see plan_call_begin(). */
void coll_call_begin(struct gw_comm *c);
void coll_call_end(struct gw_comm *c);

/* For rooms above: the worst result of all members, GW_OK or negative.  This member's own failure keeps its text; where only others have
 * failed, it says "another WHO failed". */
int coll_worst(struct gw_comm *c, int rc, const char *who);

/* For rooms above: an allreduce of a few int64 values over a *group* of c, by messages with this tag on GW_STREAM_WORLD.  members[n] are
 * ranks in c, `me` is this process's index there; NULL: all of c.  In place; op is MAX, MIN or BAND. */
enum { COLL_GROUP_VALUES = 12 };
int coll_group_allreduce(struct gw_comm *c, const int *members, int n, int me, int tag, int64_t *values, int nvalues,
                         struct gw_op *op);

/* For rooms above: replaces each of at most COLL_GROUP_VALUES values by the largest of all ranks of the job, which are all on this node.  One
 * at a time.  Nobody needs a connection, nor pages of another rank, and each rank sleeps once at most: for starts. */
void coll_node_most(int64_t *values, int n);
/* The same way, from one rank to all.  False, for all: there is no room for it; use coll_bcast(). */
bool coll_node_tell(void *buf, int64_t bytes, bool is_teller);

/* For world/: a non-blocking series of allreduces (MAX) over all members of c (both groups), with one request for all.  After each one
 * `over` decides whether another follows; all members must decide alike.  The callbacks run without a lock, in the thread that makes
 * progress. */
struct coll_agree {
    int64_t values[3];   /* in: this process's, for the next allreduce */
    int64_t result[3];   /* out: the maxima */
    struct gw_done over; /* after each allreduce: reads `result`, then sets `values` for the next one, or `more` to false */
    struct gw_done end;  /* after the last one; the request completes then; may free this struct */
    bool more;
};
int coll_agree_start(struct gw_comm *c, struct coll_agree *g, struct gw_req **req_out);

#endif
