/* check.h -- finds misuse of MPI at run time (GODWIT_CHECK): what a user reads about it stands in doc/checking.md.
 *
 * A decorator: while gw_checking is on, the entry points call check_TARGET instead of TARGET (api/check.lst lists them), and tell of
 * every handle that comes or goes; the functions here look at the arguments, call the target, and look again.  The rooms below know
 * nothing of it, but for proto/, which lets the type signature of a message travel before it.
 * Nothing here runs, and nothing is allocated, while checking is off.
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
/* Around each twin. */
void check_inside(void);
int check_left(int rc); /* rc */
/* The request that this call makes was given this array (n of `each` bytes), which must stay as it is until the operation is complete.
 * name: for ever. */
void check_array(const char *name, const void *at, int64_t n, size_t each);
/* The call gave this handle out (predefined ones do not count); the program freed it. */
void check_made(int fn, const void *from, uint32_t id);
void check_gone(uint32_t id);

/* Twins: as their targets. */
#define CHECK_TWIN(target) extern __typeof__(target) check_##target
CHECK_TWIN(p2p_send);
CHECK_TWIN(p2p_ssend);
CHECK_TWIN(p2p_bsend);
CHECK_TWIN(p2p_rsend);
CHECK_TWIN(p2p_recv);
CHECK_TWIN(p2p_mrecv);
CHECK_TWIN(p2p_sendrecv);
CHECK_TWIN(p2p_sendrecv_replace);
CHECK_TWIN(p2p_isend);
CHECK_TWIN(p2p_issend);
CHECK_TWIN(p2p_ibsend);
CHECK_TWIN(p2p_irsend);
CHECK_TWIN(p2p_irecv);
CHECK_TWIN(p2p_imrecv);
CHECK_TWIN(p2p_isendrecv);
CHECK_TWIN(p2p_isendrecv_replace);
CHECK_TWIN(p2p_send_init);
CHECK_TWIN(p2p_ssend_init);
CHECK_TWIN(p2p_bsend_init);
CHECK_TWIN(p2p_rsend_init);
CHECK_TWIN(p2p_recv_init);
CHECK_TWIN(p2p_start);
CHECK_TWIN(p2p_startall);
CHECK_TWIN(p2p_request_free);
CHECK_TWIN(p2p_cancel);
CHECK_TWIN(p2p_psend_init);
CHECK_TWIN(p2p_precv_init);
CHECK_TWIN(p2p_pready);
CHECK_TWIN(p2p_pready_range);
CHECK_TWIN(p2p_pready_list);
CHECK_TWIN(p2p_parrived);
CHECK_TWIN(req_wait);
CHECK_TWIN(req_test);
CHECK_TWIN(req_waitall);
CHECK_TWIN(req_testall);
CHECK_TWIN(req_waitany);
CHECK_TWIN(req_testany);
CHECK_TWIN(req_waitsome);
CHECK_TWIN(req_testsome);
CHECK_TWIN(req_get_status);
CHECK_TWIN(req_get_status_any);
CHECK_TWIN(req_get_status_all);
CHECK_TWIN(req_get_status_some);
CHECK_TWIN(world_comm_free);
CHECK_TWIN(coll_barrier);
CHECK_TWIN(coll_bcast);
CHECK_TWIN(coll_gather);
CHECK_TWIN(coll_gatherv);
CHECK_TWIN(coll_scatter);
CHECK_TWIN(coll_scatterv);
CHECK_TWIN(coll_allgather);
CHECK_TWIN(coll_allgatherv);
CHECK_TWIN(coll_alltoall);
CHECK_TWIN(coll_alltoallv);
CHECK_TWIN(coll_alltoallw);
CHECK_TWIN(coll_reduce);
CHECK_TWIN(coll_allreduce);
CHECK_TWIN(coll_reduce_scatter);
CHECK_TWIN(coll_reduce_scatter_block);
CHECK_TWIN(coll_scan);
CHECK_TWIN(coll_exscan);
CHECK_TWIN(coll_neighbor_allgather);
CHECK_TWIN(coll_neighbor_allgatherv);
CHECK_TWIN(coll_neighbor_alltoall);
CHECK_TWIN(coll_neighbor_alltoallv);
CHECK_TWIN(coll_neighbor_alltoallw);
CHECK_TWIN(rma_put);
CHECK_TWIN(rma_get);
CHECK_TWIN(rma_accumulate);
CHECK_TWIN(rma_get_accumulate);
CHECK_TWIN(rma_fetch_and_op);
CHECK_TWIN(rma_compare_and_swap);
CHECK_TWIN(rma_rput);
CHECK_TWIN(rma_rget);
CHECK_TWIN(rma_raccumulate);
CHECK_TWIN(rma_rget_accumulate);
CHECK_TWIN(rma_win_fence);
CHECK_TWIN(rma_win_start);
CHECK_TWIN(rma_win_complete);
CHECK_TWIN(rma_win_post);
CHECK_TWIN(rma_win_wait);
CHECK_TWIN(rma_win_test);
CHECK_TWIN(rma_win_lock);
CHECK_TWIN(rma_win_lock_all);
CHECK_TWIN(rma_win_unlock);
CHECK_TWIN(rma_win_unlock_all);
CHECK_TWIN(rma_win_flush);
CHECK_TWIN(rma_win_flush_all);
CHECK_TWIN(rma_win_flush_local);
CHECK_TWIN(rma_win_flush_local_all);
CHECK_TWIN(rma_win_free);
CHECK_TWIN(io_access);
CHECK_TWIN(io_begin);
CHECK_TWIN(io_end);

/* Of a call that all members of c make and that has no twin, before its target: GW_OK, or (only if it waits) they do not agree. */
int check_together(struct gw_comm *c, bool waits);

#endif
