/* mpi_room.h -- the library as a whole: init and finalize in order, raising errors, environment.
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

/* What every call reads or writes first.  `call` points to where the launcher looks for the number of the last call. */
struct mpi_hot {
    _Atomic(_Atomic(uint32_t) *) call;
    _Atomic bool running; /* the World Model is, or a session exists */
    _Atomic bool check;   /* gw_set.check_args */
};
GW_EXTERN struct mpi_hot mpi_hot;
static inline void mpi_enter(uint32_t fn)
{
    /* Another thread may begin the first session now. */
    atomic_store_explicit(atomic_load_explicit(&mpi_hot.call, memory_order_relaxed), fn, memory_order_relaxed);
}

int mpi_init(int required, int *provided_out); /* rooms bottom up; ends with every rank of the job present */
int mpi_finalize(void);
bool mpi_was_started(void); /* the World Model or a session: the settings have been looked at */
int mpi_initialized(int *flag_out);
int mpi_finalized(int *flag_out);
int mpi_query_thread(int *provided_out);
int mpi_is_thread_main(int *flag_out);
bool mpi_may_lock(void); /* locks are real, or this thread is the program's only one in MPI: it may look at what they guard */
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
    struct gw_errhandler *errhandler; /* held */
    struct comm_family *family;       /* of what is made of it */
    int thread_level;
};
int mpi_session_init(struct gw_info *info, struct gw_errhandler *eh, struct mpi_session **session_out); /* info may be NULL */
int mpi_session_finalize(struct mpi_session **session);
int mpi_session_get_num_psets(struct mpi_session *s, struct gw_info *info, int *n_out);
/* *len: room in name_out, the 0 included; afterwards what the name needs.  0: name_out is not touched. */
int mpi_session_get_nth_pset(struct mpi_session *s, struct gw_info *info, int n, int *len, char *name_out);
int mpi_session_get_info(struct mpi_session *s, struct gw_info **info_out);
int mpi_session_get_pset_info(struct mpi_session *s, const char *name, struct gw_info **info_out);
int mpi_session_group(struct mpi_session *s, const char *pset, struct gw_group **group_out);
int mpi_session_set_errhandler(struct mpi_session *s, struct gw_errhandler *eh);
int mpi_session_get_errhandler(struct mpi_session *s, struct gw_errhandler **eh_out);

/* ---- raising -----------------------------------------------------------------------------------------------
 * Turns a negative core code into what the call returns, after its error handler ran.  `fn` is GW_FN_*, `on` the
 * object whose handler applies: a struct gw_comm, rma_win, gw_file (io_no_file: MPI_FILE_NULL's handler) or mpi_session, or a
 * struct gw_errhandler itself where the object is only being made (NULL: MPI_COMM_SELF's, as
 * MPI 4.1 section 9.3 says for calls without one; the initial one outside of the World Model).  Fatal: prints
 * one block (rank, host, pid; the call with its arguments; what was wrong; what to do) and aborts.  The reason is
 * gw_fail_text(). */
int mpi_raise(int fn, void *on, int code, const char *args);
/* False: mpi_raise would only turn the code into a class, so that nobody need format arguments. */
bool mpi_raise_prints(void *on);
/* MPI_Comm_call_errhandler and its kin: GW_OK if the handler returned. */
int mpi_call_errhandler(void *on, int mpi_code);
/* User functions take handles, so the door calls them: set by it at its init. */
struct mpi_upcalls {
    void (*call_errhandler)(const struct gw_callback *cb, struct gw_obj *on, int *mpi_code);
};
extern struct mpi_upcalls mpi_upcalls;

#endif
