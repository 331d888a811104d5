/* spawn_apart.c serve|use SERVICE HOW -- for test/launch/apart.sh: two jobs that meet by a published name.  HOW: "well"; "failing": the
 * client ends badly while they are connected; "parted": after they have disconnected.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>

#include "spawn_check.h"

static MPI_Comm serve(const char *service)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    if (rank == 0) CHECK_EQ(MPI_Open_port(MPI_INFO_NULL, port), MPI_SUCCESS);
    if (rank == 0) CHECK_EQ(MPI_Publish_name(service, MPI_INFO_NULL, port), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), MPI_SUCCESS);
    if (rank == 0) CHECK_EQ(MPI_Unpublish_name(service, MPI_INFO_NULL, port), MPI_SUCCESS);
    if (rank == 0) CHECK_EQ(MPI_Close_port(port), MPI_SUCCESS);
    return inter;
}

static MPI_Comm use(const char *service)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    while (rank == 0 && MPI_Lookup_name(service, MPI_INFO_NULL, port) != MPI_SUCCESS) usleep(1000);
    CHECK_EQ(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), MPI_SUCCESS);
    return inter;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    int serves = strcmp(argv[1], "serve") == 0, n;
    const char *how = argv[3];
    MPI_Comm inter = serves ? serve(argv[2]) : use(argv[2]);
    MPI_Comm_remote_size(inter, &n);
    CHECK_EQ(n, serves ? 3 : 2);
    inter_everything(inter, serves);
    if (strcmp(how, "failing") == 0 && serves) MPI_Recv(&n, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE); /* never comes */
    if (strcmp(how, "failing") == 0 && rank == 1) MPI_Abort(MPI_COMM_WORLD, 7);
    MPI_Comm_disconnect(&inter);
    if (strcmp(how, "parted") == 0 && !serves && rank == 2) MPI_Abort(MPI_COMM_WORLD, 7);
    return test_end();
}
