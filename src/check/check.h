/* check.h -- finds misuse of MPI at run time (GODWIT_CHECK): what a user reads about it stands in doc/checking.md.
 *
 * While gw_args_wanted is on, an entry point fills a struct check_args with what the call was given, and the kind of check that the
 * tables of api/ name for it looks at that before and after the call of the target.  It is on with gw_checking, and with memory that
 * the CPU may not touch, for whose buffers others are put into the struct, which the target then gets (check_stage.c).  So one check
 * serves all calls of a kind, and none repeats a target.  The entry points also tell of every handle that comes or goes.  The rooms below know
 * nothing of it, but for proto/, which lets the type signature of a message travel before it.
 * Nothing here runs, and nothing is allocated, while both are off.
 *
 * Findings are one paragraph each on stderr, at most CHECK_FINDINGS of a rank.
 * Locks: the room's own one is taken last, under a lane's or without; nothing is called with it held but plain look-ups.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_CHECK_CHECK_H
#define GW_CHECK_CHECK_H

#include "coll/coll.h"
#include "io/io.h"
#include "p2p/p2p.h"
#include "rma/rma.h"
#include "world/world.h"

enum { CHECK_FINDINGS = 20 };

/* ---- for mpi/ ---- */
bool check_is_asked(void); /* by the settings */
void check_begin(void);
void check_alike(void); /* MPI_Init, after the first barrier: ends the job unless all ranks check */

void check_level(int highest); /* threads: the highest level that an instance was given */
void check_main_thread(void);  /* MPI_Init, in this thread */
int check_leave(int fn);       /* MPI_Finalize (its number) begins: together with the others? */
/* MPI_Finalize, when everybody is there and the last callback has run; what may stay until exit, or while there are sessions (it is not
 * the last instance), is told then. */
void check_end(bool is_last);
void check_rest(void); /* the last instance ends; alone */

/* ---- for the entry points, while gw_checking ----
 * The call number `fn` (GW_FN_*) begins in this thread; `from`: where it returns to. */
void check_enter(int fn, const void *from);
/* The request that this call makes was given this array (n of `each` bytes), which must stay as it is until the operation is complete.
 * name: for ever. */
void check_array(const char *name, const void *at, int64_t n, size_t each);
/* The call gave this handle out (predefined ones do not count); the program freed it. */
void check_made(int fn, const void *from, uint32_t id);
void check_gone(uint32_t id);

/* ---- one call ----
 * NEW --check_before()--> LOOKED --the target--> --check_after()--> gone; check_before() that does not answer GW_OK ends it, too. */
enum check_form { CHECK_BLOCKS, CHECK_STARTS, CHECK_PREPARES }; /* it makes no request; one that is active; a persistent one */
/* By MPI's names for them.  What the call has not is 0, the counts of buffers -1. */
struct check_args {
    void *buf, *buffer, *sendbuf, *recvbuf, *origin_addr, *compare_addr, *result_addr; /* check_before() may change them */
    int64_t count, sendcount, recvcount, origin_count, target_count, result_count, target_disp;
    struct gw_type *datatype, *sendtype, *recvtype, *origin_datatype, *target_datatype, *result_datatype;
    struct gw_type **sendtypes, **recvtypes;
    struct gw_counts sendcounts, recvcounts, displs, sdispls, rdispls;
    int dest, source, tag, sendtag, recvtag, root, target_rank, rank, assert, lock_type;
    int partitions, partition, partition_low, partition_high, length, incount;
    const int *array_of_partitions;
    int *flag, *index, *outcount, *array_of_indices; /* read after the call */
    struct gw_comm *comm;
    struct gw_group *group;
    struct gw_op *op;
    struct rma_win *win;
    struct gw_file *fh;
    struct gw_msg **message;
    struct gw_req **request, **array_of_requests; /* request: where the one that is made comes to stand, or that which is given */
};
struct check_kind;
struct check_args *check_args_new(const struct check_kind *kind, enum check_form form) GW_COLD; /* after check_enter() */
/* GW_OK: the call goes on.  Else this is its answer (CHECK_MADE: all is done), and k is gone. */
enum { CHECK_MADE = 1 };
int check_before(struct check_args *k) GW_COLD;
int check_after(struct check_args *k, int rc) GW_COLD; /* the target answered rc; the answer of the call.  k is gone */

/* The kinds, as api/ has them after check=. */
extern const struct check_kind check_of_send, check_of_ready_send, check_of_recv, check_of_mrecv, check_of_sendrecv,
    check_of_replace, check_of_start, check_of_startall, check_of_request_free, check_of_cancel;
extern const struct check_kind check_of_psend, check_of_precv, check_of_ready_partition, check_of_ready_range, check_of_ready_list,
    check_of_arrived;
extern const struct check_kind check_of_complete, check_of_seen, check_of_seen_any, check_of_seen_all, check_of_seen_some;
extern const struct check_kind check_of_comm_free, check_of_barrier, check_of_bcast, check_of_gather, check_of_scatter,
    check_of_allgather, check_of_alltoall, check_of_alltoall_vectors, check_of_reduce, check_of_reduce_all, check_of_exscan,
    check_of_reduce_scatter, check_of_neighbors_all, check_of_neighbors_each;
extern const struct check_kind check_of_put, check_of_get, check_of_accumulate, check_of_fetch, check_of_swap;
extern const struct check_kind check_of_win_fence, check_of_win_start, check_of_win_complete, check_of_win_post, check_of_win_wait,
    check_of_win_lock, check_of_win_lock_all, check_of_win_completes, check_of_win_completes_all, check_of_win_completes_local,
    check_of_win_completes_all_local, check_of_win_free;
extern const struct check_kind check_of_file_read, check_of_file_write, check_of_file_read_begin, check_of_file_write_begin,
    check_of_file_end;

/* Of a call that all members of c make and that has no kind, before its target: GW_OK, or (only if it waits) they do not agree. */
int check_together(struct gw_comm *c, bool waits);

#endif
