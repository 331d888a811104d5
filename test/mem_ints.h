/* mem_ints.h -- for tests of MPI calls on memory that the CPU may not touch (mem_fake.h): ints in it, and a file of all ranks.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_MEM_INTS_H
#define GW_TEST_MEM_INTS_H

#include <mpi.h>

#include "mem_fake.h"

enum { INTS_MOST = 100000 };
static int host[INTS_MOST], want[INTS_MOST];

static inline void fill(int *at, int n, int begin)
{
    for (int i = 0; i < n; i++) host[i] = begin + i;
    fake_put(at, host, (size_t)n * sizeof(int));
}

/* at[i] == begin + each * i */
static inline void expect(const int *at, int n, int begin, int each)
{
    for (int i = 0; i < n; i++) want[i] = begin + each * i;
    CHECK(fake_compare(at, want, (size_t)n * sizeof(int)) == 0);
}

/* A new file that goes when it is closed. */
static inline MPI_File file_open(void)
{
    char name[] = "/tmp/godwit_mem_XXXXXX";
    MPI_File f = MPI_FILE_NULL;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) CHECK(close(mkstemp(name)) == 0);
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    CHECK_EQ(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f), MPI_SUCCESS);
    return f;
}

#endif
