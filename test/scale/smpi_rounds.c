/* smpi_rounds.c -- five algorithms of src/coll written once more, as a program would, over MPI_Isend and MPI_Irecv: for SimGrid's SMPI.
 *
 * smpi_rounds ALGORITHM BYTES: prints the microseconds until the last rank is through.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static char *in, *out; /* what is in them does not matter */

static void exchange(int to, int n_out, int from, int n_in)
{
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (from >= 0) MPI_Irecv(in, n_in, MPI_BYTE, from, 0, MPI_COMM_WORLD, &r[0]);
    if (to >= 0) MPI_Isend(out, n_out, MPI_BYTE, to, 0, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static void bcast_binomial(int n)
{
    int top = 1;
    while (top < size) top *= 2;
    for (int d = top / 2; d > 0; d /= 2) {
        if (rank % (2 * d) == 0 && rank + d < size) exchange(rank + d, n, -1, 0);
        if (rank % (2 * d) == d) exchange(-1, 0, rank - d, n);
    }
}
static void barrier_dissemination(int n)
{
    for (int d = 1; d < size; d *= 2) exchange((rank + d) % size, n, (rank - d + size) % size, n);
}
static void allgather_ring(int n)
{
    for (int k = 1; k < size; k++) exchange((rank + 1) % size, n, (rank - 1 + size) % size, n);
}
static void allgather_bruck(int n)
{
    for (int d = 1; d < size; d *= 2) {
        int blocks = d < size - d ? d : size - d;
        exchange((rank - d + size) % size, blocks * n, (rank + d) % size, blocks * n);
    }
}
/* Everything at once: the root's receives, and everybody's send. */
static void gather_flat(int n)
{
    MPI_Request *r = malloc(sizeof *r * (size_t)size);
    if (rank > 0) exchange(0, n, -1, 0);
    for (int i = 1; i < size && rank == 0; i++) MPI_Irecv(in + (size_t)i * n, n, MPI_BYTE, i, 0, MPI_COMM_WORLD, &r[i - 1]);
    if (rank == 0) MPI_Waitall(size - 1, r, MPI_STATUSES_IGNORE);
    free(r);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(int n);
    } algorithms[] = {{"bcast_binomial", bcast_binomial},
                      {"barrier_dissemination", barrier_dissemination},
                      {"allgather_ring", allgather_ring},
                      {"allgather_bruck", allgather_bruck},
                      {"gather_flat", gather_flat}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int n = argc > 2 ? atoi(argv[2]) : 8, found = 0;
    in = malloc((size_t)n * size + 1), out = malloc((size_t)n * size + 1);
    double start = MPI_Wtime(), mine, last;
    for (size_t i = 0; i < sizeof algorithms / sizeof algorithms[0]; i++)
        if (argc > 1 && !strcmp(argv[1], algorithms[i].name)) algorithms[i].run(n), found = 1;
    mine = MPI_Wtime() - start;
    MPI_Reduce(&mine, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0 && found) printf("%.3f\n", last * 1e6);
    free(in), free(out);
    MPI_Finalize();
    return !found;
}
