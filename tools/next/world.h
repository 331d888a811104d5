/* world.h -- for libraries that stand between a program and MPI or OpenSHMEM: a communicator of all ranks, in their order, that lasts whichever
 * of the two ends first.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TOOLS_WORLD_H
#define TOOLS_WORLD_H

#include <mpi.h>

#pragma GCC visibility push(hidden)
extern MPI_Comm tools_world; /* MPI_COMM_WORLD, where it was not made */
void tools_world_make(void); /* collective, by all ranks */
void tools_world_end(void);  /* the same; nothing where it was not made */
#pragma GCC visibility pop

#endif
