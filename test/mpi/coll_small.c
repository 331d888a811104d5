/* coll_small.c -- few bytes, many collectives in a row: what one leaves in the members' shared lines must not reach another.
 *
 * All ranks draw the same sequence; some of them come late, so that others yield and sleep.  Barriers are checked against counters
 * in a window that the ranks of a node share.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

#include <stdatomic.h>
#include <time.h>

enum { STEPS = 600, MOST = 24 };

static int value(int who, int step, int i) { return (who * 7 + step * 13 + i * 3) % 5; }

/* Byte i of the sum over the members first .. last, and nothing behind the n bytes. */
static void check_sum(const unsigned char *got, int first, int last, int step, int n)
{
    for (int i = 0; i < n; i++) {
        int want = 0;
        for (int r = first; r <= last; r++) want += value(r, step, i);
        CHECK_EQ(got[i], want & 255);
    }
}

static void check_first(const unsigned char *got, int step, int n)
{
    for (int i = 0; i < n; i++) {
        int r = 0;
        while (r < size - 1 && !value(r, step, i)) r++;
        CHECK_EQ(got[i], value(r, step, i));
    }
}

/* The first operand that is not 0: does not commute. */
static void first_of(void *in, void *inout, int *n, MPI_Datatype *t)
{
    unsigned char *a = in, *b = inout;
    (void)t;
    for (int i = 0; i < *n; i++) b[i] = a[i] ? a[i] : b[i];
}

static void come_late(int step)
{
    if ((step * 31 + rank * 17) % 97 == 0) nanosleep(&(struct timespec){0, step % 3 ? 50000 : 2500000}, NULL);
}

/* Nobody leaves before everybody has come. */
static void barrier_check(_Atomic int *mine, _Atomic int **all, int n_near, int step)
{
    atomic_store(mine, step);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int r = 0; r < n_near; r++) CHECK(atomic_load(all[r]) >= step);
}

static void one(unsigned kind, int step, int n, int root, MPI_Op op)
{
    unsigned char in[MOST], out[MOST];
    memset(out, 0xee, sizeof out);
    for (int i = 0; i < n; i++) in[i] = (unsigned char)value(rank, step, i);
    switch (kind) {
    case 1:
        MPI_Allreduce(in, out, n, MPI_UNSIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
        check_sum(out, 0, size - 1, step, n);
        break;
    case 2:
        MPI_Reduce(in, out, n, MPI_UNSIGNED_CHAR, MPI_SUM, root, MPI_COMM_WORLD);
        if (rank == root) check_sum(out, 0, size - 1, step, n);
        break;
    case 3:
        if (rank == root) memcpy(out, in, (size_t)n);
        MPI_Bcast(out, n, MPI_UNSIGNED_CHAR, root, MPI_COMM_WORLD);
        check_sum(out, root, root, step, n);
        break;
    case 4:
        MPI_Scan(in, out, n, MPI_UNSIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
        check_sum(out, 0, rank, step, n);
        break;
    case 5:
        MPI_Exscan(in, out, n, MPI_UNSIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
        if (rank > 0) check_sum(out, 0, rank - 1, step, n);
        break;
    default:
        memcpy(out, in, (size_t)n);
        MPI_Allreduce(MPI_IN_PLACE, out, n, MPI_UNSIGNED_CHAR, op, MPI_COMM_WORLD);
        check_first(out, step, n);
    }
    for (int i = n; i < MOST; i++) CHECK_EQ(out[i], 0xee);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    MPI_Comm node;
    MPI_Win win;
    MPI_Op op;
    int n_near;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &n_near);
    _Atomic int *mine, **all = malloc(sizeof *all * (size_t)n_near);
    MPI_Win_allocate_shared(sizeof *mine, 1, MPI_INFO_NULL, node, &mine, &win);
    for (int r = 0; r < n_near; r++) {
        MPI_Aint bytes;
        int unit;
        MPI_Win_shared_query(win, r, &bytes, &unit, &all[r]);
    }
    atomic_store(mine, 0);
    MPI_Op_create(first_of, 0, &op);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = 1; step <= STEPS; step++) {
        int n = 1 + (int)random_below(random_below(3) ? 8 : MOST), root = (int)random_below((unsigned)size);
        unsigned kind = random_below(7);
        come_late(step);
        if (kind == 0)
            barrier_check(mine, all, n_near, step);
        else
            one(kind, step, n, root, op);
    }
    MPI_Op_free(&op);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
    free(all);
    return test_end();
}
