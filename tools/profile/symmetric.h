/* symmetric.h -- the profile's view of OpenSHMEM: what its wrappers (gen/shmem_profile.py) call.
 *
 * A PE is a rank of MPI_COMM_WORLD.  Functions are counted by families: all types, sizes and contexts of one operation.  Accesses to the
 * memory of other PEs have a matrix of their own, beside the one of messages.  shmem_init without MPI_Init begins the profile, too; the report
 * comes with the last end of the two.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SYMMETRIC_H
#define SYMMETRIC_H

#include "profile.h"

#include <pshmem.h>
#include <shmem.h>

/* A put, get, atomic or signal, which was made.  pe: a number in the context's team; fetched: the bytes come from there. */
void prof_accessed(struct prof_call *c, shmem_ctx_t ctx, int pe, uint64_t bytes, int fetched);
void prof_collected(struct prof_call *c, uint64_t bytes);
/* Before a collective that is more than a meeting: waits until all members are here. */
void prof_assemble(int fn, shmem_team_t team, const void *from);
void prof_assemble_set(int fn, int start, int log_stride, int size, long *psync, const void *from);
void prof_assembled(struct prof_call *c, int members); /* the call was such a wait, and nothing else */

#endif
