/* mpi_room.h -- the library as a whole: initialisation and finalisation of all rooms, sessions, raising of errors, environment queries.
 *
 * Implementations of the entry points.  No lock is held by the caller; functions return GW_OK or a negative code, after gw_fail().
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_MPI_MPI_ROOM_H
#define GW_MPI_MPI_ROOM_H

#include "base/base.h"
#include "boot/boot.h"
#include "coll/coll.h"
#include "io/io.h"
#include "p2p/p2p_fast.h"
#include "rma/rma_fast.h"
#include "topo/topo.h"
#include "world/world.h"

enum mpi_phase { MPI_PHASE_BEFORE, MPI_PHASE_RUNNING, MPI_PHASE_FINALIZED };
extern _Atomic int mpi_phase;

/* What every entry point reads or writes first, on one cache line. */
struct mpi_hot {
    _Atomic(_Atomic(uint32_t) *) call; /* where the number of the last call is written, for the launcher */
    _Atomic bool running;              /* the World Model is initialised, or a session exists */
    _Atomic bool check;                /* gw_set.check_args */
};
GW_EXTERN struct mpi_hot mpi_hot;
static inline void mpi_enter(uint32_t fn)
{
    /* Another thread may begin the first session now. */
    atomic_store_explicit(atomic_load_explicit(&mpi_hot.call, memory_order_relaxed), fn, memory_order_relaxed);
}

int mpi_init(int required, int *provided_out); /* rooms bottom up; ends with every rank of the job present */
int mpi_finalize(void);
int mpi_initialized(int *flag_out);
int mpi_finalized(int *flag_out);
int mpi_query_thread(int *provided_out);
int mpi_is_thread_main(int *flag_out);
int mpi_abort(struct gw_comm *c, int errorcode);
int mpi_get_processor_name(char *name_out, int *len_out);
int mpi_get_version(int *version_out, int *subversion_out);
int mpi_get_library_version(char *version_out, int *len_out);
/* MPI_Info_create_env: before the first instance with the same keys as after it, but for maxprocs where the launcher's variables do not say. */
int mpi_info_create_env(int argc, char **argv, struct gw_info **info_out);
int mpi_get_hw_resource_info(struct gw_info **info_out);
int mpi_error_class(int code, int *class_out);
int mpi_error_string(int code, char *string_out, int *len_out);

/* ---- sessions (MPI 4.1 section 11.3): session.c ----------------------------------------------------------------
 * Process sets: mpi://WORLD, mpi://SELF, and under our mpiexec mpiexec://app/0 .. of the applications of its command line. */
struct mpi_session {
    struct gw_obj obj;
    struct gw_errhandler *errhandler; /* with a reference */
    struct comm_family *family;       /* scope of the groups and communicators derived from it */
    int thread_level;
};
int mpi_session_init(struct gw_info *info, struct gw_errhandler *eh, struct mpi_session **session_out); /* info may be NULL */
int mpi_session_finalize(struct mpi_session **session);
int mpi_session_get_num_psets(struct mpi_session *s, struct gw_info *info, int *n_out);
/* *len: in: bytes at name_out, including the terminating zero; out: bytes that the name needs.  *len 0: name_out is not written. */
int mpi_session_get_nth_pset(struct mpi_session *s, struct gw_info *info, int n, int *len, char *name_out);
int mpi_session_get_info(struct mpi_session *s, struct gw_info **info_out);
int mpi_session_get_pset_info(struct mpi_session *s, const char *name, struct gw_info **info_out);
int mpi_session_group(struct mpi_session *s, const char *pset, struct gw_group **group_out);
int mpi_session_set_errhandler(struct mpi_session *s, struct gw_errhandler *eh);
int mpi_session_get_errhandler(struct mpi_session *s, struct gw_errhandler **eh_out);

/* ---- raising -----------------------------------------------------------------------------------------------
 * Calls the error handler for a negative code and returns the MPI error code that the entry point must return.  `fn`: GW_FN_*.  `on`: the
 * object whose handler applies: a struct gw_comm, rma_win, gw_file (io_no_file: MPI_FILE_NULL's handler) or mpi_session; or a struct
 * gw_errhandler, while the object is being created; NULL: MPI_COMM_SELF's (MPI 4.1 section 9.3, calls without an object), outside of the
 * World Model the initial one.  MPI_ERRORS_ARE_FATAL: prints a block (rank, host, pid; the call with its arguments `args`; the reason, from
 * gw_fail_text(); what to do) and aborts. */
int mpi_raise(int fn, void *on, int code, const char *args);
/* False: mpi_raise() will not print, so the caller need not format arguments. */
bool mpi_raise_prints(void *on);
/* Whether the calling thread's last error went to gw_errors_throw; says so once. */
bool mpi_last_is_thrown(void);
/* MPI_Comm_call_errhandler and the like: GW_OK if the handler has returned. */
int mpi_call_errhandler(void *on, int mpi_code);
/* Users' functions take handles, so the facade calls them; it sets this at its init. */
struct mpi_upcalls {
    void (*call_errhandler)(const struct gw_callback *cb, struct gw_obj *on, int *mpi_code);
};
extern struct mpi_upcalls mpi_upcalls;

#endif
