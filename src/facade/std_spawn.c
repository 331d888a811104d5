/* std_spawn.c -- bodies of entry points: MPI_Comm_spawn and MPI_Comm_spawn_multiple, whose arguments count at the root alone.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "facade/std.h"

#include <stdlib.h>

static int spawn(int n, const struct world_program *w, int root, struct gw_comm *c, MPI_Comm *intercomm_out, int *codes)
{
    struct gw_comm *made = NULL;
    int rc = world_comm_spawn(n, w, root, c, &made, codes);
    if (rc == GW_OK) *intercomm_out = std_comm_handle(made);
    return rc;
}

int std_comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *intercomm_out,
                   int codes[])
{
    struct gw_comm *c = std_comm(comm);
    struct world_program w = {0};
    if (c->rank == root) w = (struct world_program){command, argv, maxprocs, std_info(info)};
    return spawn(1, &w, root, c, intercomm_out, codes);
}

static int programs_of(int count, char *commands[], char **argvs[], const int maxprocs[], const MPI_Info infos[],
                       struct world_program **programs_out)
{
    if (!commands) return gw_fail(GW_EARG, "array_of_commands is NULL");
    struct world_program *w = malloc(sizeof *w * (size_t)count);
    if (!w) return gw_fail(GW_ENOMEM, "no memory for %d programs", count);
    for (int i = 0; i < count; i++) {
        MPI_Info info = infos ? infos[i] : MPI_INFO_NULL;
        w[i] = (struct world_program){commands[i], argvs ? argvs[i] : NULL, maxprocs[i], std_info(info)};
        if (w[i].info || info == MPI_INFO_NULL) continue;
        free(w);
        return gw_fail(GW_EINFO, "array_of_info[%d] is not an info object", i);
    }
    *programs_out = w;
    return GW_OK;
}

int std_comm_spawn_multiple(int count, char *commands[], char **argvs[], const int maxprocs[], const MPI_Info infos[], int root,
                            MPI_Comm comm, MPI_Comm *intercomm_out, int codes[])
{
    struct gw_comm *c = std_comm(comm);
    struct world_program *w = NULL;
    int rc = c->rank == root ? programs_of(count, commands, argvs, maxprocs, infos, &w) : GW_OK;
    if (rc == GW_OK) rc = spawn(count, w, root, c, intercomm_out, codes);
    free(w);
    return rc;
}
