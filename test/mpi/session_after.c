/* session_after.c -- the first session begins after MPI_Finalize; or the last one ends before MPI_Init (argument "before").
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "session_check.h"

static void a_session(void)
{
    MPI_Session s = session_open(NULL);
    MPI_Comm c = session_comm(s, "mpi://WORLD", "here");
    comm_works(c, 5);
    MPI_Comm_free(&c);
    session_close(&s);
}

int main(int argc, char **argv)
{
    int before = argc > 1 && strcmp(argv[1], "before") == 0, attr_is = -1, *appnum;
    if (before) a_session();
    MPI_Init(&argc, &argv);
    test_begin();
    comm_works(MPI_COMM_WORLD, 6);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &attr_is);
    CHECK_EQ(attr_is, 1);
    if (before) return test_end();
    MPI_Finalize();
    a_session();
    a_session();
    return session_test_end();
}
