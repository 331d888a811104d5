/* world.c -- the communicator is one of a session of its own.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "world.h"

MPI_Comm tools_world = MPI_COMM_WORLD;
static MPI_Session session = MPI_SESSION_NULL;

void tools_world_make(void)
{
    MPI_Group all;
    if (session != MPI_SESSION_NULL) return;
    PMPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    PMPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    PMPI_Comm_create_from_group(all, "godwit://tools", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &tools_world);
    PMPI_Group_free(&all);
}

void tools_world_end(void)
{
    if (session == MPI_SESSION_NULL) return;
    PMPI_Comm_free(&tools_world);
    PMPI_Session_finalize(&session);
    tools_world = MPI_COMM_WORLD;
}
