/* numbers.c -- for numbers.sh, in front of the MPI library: a library that gives the number of a request out again as soon as the request is
 * complete, and in which another thread takes it before the call that completed it has returned: so does `again`, a procedure of the program.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>

enum { NUMBERS = 64, FIRST = 5000 }; /* above those of predefined objects */
static MPI_Request known[NUMBERS];
static int is_within;
extern void again(void) __attribute__((weak)); /* the program's */

int PMPI_Request_toint(MPI_Request r)
{
    int n = 0;
    while (n < NUMBERS && known[n] != r) n++;
    for (n = n < NUMBERS ? n : 0; known[n] && known[n] != r; n++) assert(n + 1 < NUMBERS);
    known[n] = r;
    return FIRST + n;
}

MPI_Request PMPI_Request_fromint(int n)
{
    assert(n >= FIRST && n < FIRST + NUMBERS);
    return known[n - FIRST];
}

int PMPI_Wait(MPI_Request *r, MPI_Status *status)
{
    static int (*wait)(MPI_Request *, MPI_Status *);
    MPI_Request was = *r;
    if (!wait) wait = (int (*)(MPI_Request *, MPI_Status *))dlsym(RTLD_NEXT, "PMPI_Wait");
    int rc = wait(r, status);
    for (int n = 0; n < NUMBERS; n++)
        if (known[n] == was) known[n] = 0;
    if (again && !is_within++) again();
    return rc;
}

/* By this the Fortran library sees that numbers are not handles. */
int PMPI_Info_toint(MPI_Info info) { return (int)(intptr_t)info ^ 1 << 30; }
MPI_Info PMPI_Info_fromint(int n) { return (MPI_Info)(intptr_t)(n ^ 1 << 30); }

int MPI_Wait(MPI_Request *r, MPI_Status *status) { return PMPI_Wait(r, status); }
