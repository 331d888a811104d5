/* bottom.c -- datatypes of absolute addresses with MPI_BOTTOM in point-to-point calls and collectives of several kinds.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stdlib.h>

#include "../unit.h"

enum { N = 3000 };
static int rank, size;
static int from_a[N], from_b[N], to_a[N], to_b[N];
static MPI_Datatype source, target;

/* Two arrays, wherever they are in memory. */
static MPI_Datatype absolute(int *a, int *b, int n)
{
    MPI_Datatype t;
    MPI_Aint at[2];
    int lengths[2] = {n, n};
    MPI_Get_address(a, &at[0]);
    MPI_Get_address(b, &at[1]);
    MPI_Type_create_hindexed(2, lengths, at, MPI_INT, &t);
    MPI_Type_commit(&t);
    return t;
}

static void fill(int n)
{
    for (int i = 0; i < N; i++) {
        from_a[i] = rank * 100000 + i, from_b[i] = -from_a[i];
        to_a[i] = to_b[i] = 7;
    }
    source = absolute(from_a, from_b, n);
    target = absolute(to_a, to_b, n);
}

static void check(int who, int n, const char *what)
{
    for (int i = 0; i < N; i++) {
        int want = i < n ? who * 100000 + i : 7, want_b = i < n ? -want : 7;
        if (to_a[i] == want && to_b[i] == want_b) continue;
        unit_failures++;
        fprintf(stderr, "rank %d: %s: [%d] is %d and %d, not %d and %d\n", rank, what, i, to_a[i], to_b[i], want, want_b);
        break;
    }
    MPI_Type_free(&source);
    MPI_Type_free(&target);
}

static void all(int n)
{
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    MPI_Request q[2];
    fill(n);
    MPI_Sendrecv(MPI_BOTTOM, 1, source, next, 1, MPI_BOTTOM, 1, target, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(last, n, "sendrecv");
    fill(n);
    MPI_Irecv(MPI_BOTTOM, 1, target, last, 2, MPI_COMM_WORLD, &q[0]);
    MPI_Issend(MPI_BOTTOM, 1, source, next, 2, MPI_COMM_WORLD, &q[1]);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    check(last, n, "issend");
    fill(n);
    MPI_Bcast(MPI_BOTTOM, 1, rank == 0 ? source : target, 0, MPI_COMM_WORLD);
    if (rank == 0) memcpy(to_a, from_a, sizeof(int) * (size_t)n), memcpy(to_b, from_b, sizeof(int) * (size_t)n);
    check(0, n, "bcast");
    fill(n);
    int *gathered = malloc(sizeof(int) * 2 * (size_t)n * (size_t)size);
    MPI_Allgather(MPI_BOTTOM, 1, source, gathered, 2 * n, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < n; i++) {
            int at = r * 2 * n + i;
            if (gathered[at] != r * 100000 + i || gathered[at + n] != -(r * 100000 + i)) {
                unit_failures++;
                fprintf(stderr, "rank %d: allgather: of rank %d, [%d]\n", rank, r, i);
                break;
            }
        }
    MPI_Scatter(gathered, 2 * n, MPI_INT, MPI_BOTTOM, 1, target, size - 1, MPI_COMM_WORLD);
    check(rank, n, "scatter");
    fill(n);
    MPI_Gather(MPI_BOTTOM, 1, source, gathered, 2 * n, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0) CHECK(gathered[(size - 1) * 2 * n + n - 1] == (size - 1) * 100000 + n - 1);
    MPI_Type_free(&source);
    MPI_Type_free(&target);
    free(gathered);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    all(3);
    all(200);
    all(N);
    MPI_Finalize();
    return unit_end();
}
