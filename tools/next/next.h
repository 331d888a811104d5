/* next.h -- for libraries that stand between a program and MPI (--profile, --record): the next one in line.
 *
 * A user's tools do the same by LD_PRELOAD: they define MPI_ and call PMPI_.  mpiexec puts ours before them; what we pass on of a call of the
 * program's goes to NEXT(Send), which is the tool's MPI_Send where there is one, else MPI's.  What we call for ourselves goes to PMPI_, and
 * no tool sees it.
 *
 * Tools for Fortran define mpi_send_ and call pmpi_send_.  Programs find them before Fortran's library, whose pmpi_send_ then calls our MPI_Send
 * in place of PMPI_Send (godwit_chain(), fortran/below.c); NEXT(Send) of such a call passes by who has seen it: a tool that has both.
 *
 * A program that was started with tools before ours, by a script that has set LD_PRELOAD so, is started once more with ours before them.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TOOLS_NEXT_H
#define TOOLS_NEXT_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)
/* The function MPI_... in the first library behind this one that has it, else "PMPI_...", wherever it is; where that is nowhere the process ends,
 * as by a symbol that the loader does not find.  by_fortran: libraries that wrap Fortran's routine do not count. */
void *tools_next(const char *pmpi_name, bool by_fortran);
/* A tool for Fortran hands this thread's call on: its name, until NEXT() of it takes it. */
extern __thread const char *tools_handed __attribute__((tls_model("initial-exec")));
bool tools_handed_take(const char *pmpi_name);
/* By rank 0 after MPI_Init: names tools that chain with this library in part or not at all: those before it, those behind the first one
 * behind it, those that wrap Fortran's routines. */
void tools_next_say(const char *who);
/* The same at the end of a process in which MPI_Init never came here, by what GODWIT_RANK says. */
void tools_unmet_say(const char *who);
#pragma GCC visibility pop

/* The function that takes the program's call of MPI_X.  Looked up once at each place. */
#define NEXT(X)                                                                                                                    \
    (*__extension__({                                                                                                              \
        static __typeof__(&PMPI_##X) kept[2];                                                                                      \
        bool by_ = __builtin_expect(tools_handed != NULL, 0) && tools_handed_take("PMPI_" #X);                                     \
        __typeof__(&PMPI_##X) next_ = __atomic_load_n(&kept[by_], __ATOMIC_RELAXED);                                               \
        if (__builtin_expect(!next_, 0)) {                                                                                         \
            next_ = (__typeof__(&PMPI_##X))tools_next("PMPI_" #X, by_);                                                            \
            __atomic_store_n(&kept[by_], next_, __ATOMIC_RELAXED);                                                                 \
        }                                                                                                                          \
        next_;                                                                                                                     \
    }))
/* The same of OpenSHMEM's shmem_x, whose other name is pshmem_x. */
#define NEXT_SHMEM(x)                                                                                                              \
    (*__extension__({                                                                                                              \
        static __typeof__(&p##x) kept;                                                                                             \
        __typeof__(&p##x) next_ = __atomic_load_n(&kept, __ATOMIC_RELAXED);                                                        \
        if (__builtin_expect(!next_, 0)) {                                                                                         \
            next_ = (__typeof__(&p##x))tools_next("p" #x, false);                                                                  \
            __atomic_store_n(&kept, next_, __ATOMIC_RELAXED);                                                                      \
        }                                                                                                                          \
        next_;                                                                                                                     \
    }))

#endif
