/* coll_small.c -- few bytes, many collectives in a row: what one leaves in the members' shared lines must not reach another.
 *
 * All ranks draw the same sequence; some of them come late, so that others yield and sleep.  Barriers are checked against counters
 * in a window that the ranks of a node share.  In a quarter of the calls some ranks describe their bytes by a derived type, so that their
 * calls go another way than the others', and in others what may be in place is.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

enum { STEPS = 900, MOST = 64, RANKS = 64, SHIFT = 4 };

static MPI_Datatype chosen;  /* of this rank in this call: bytes, */
static MPI_Datatype derived; /* or a byte that lies SHIFT behind the buffer's address */
static bool in_place;
static void *from(void *buf) { return chosen == derived ? (char *)buf - SHIFT : buf; }

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

/* ---- blocks: byte i of the one for rank `to` of rank `from` ---- */
static int block_value(int from, int to, int step, int i) { return (from * 11 + to * 5 + step * 3 + i) & 255; }
static unsigned char blocks[RANKS * MOST], others[RANKS * MOST];

static void fill_blocks(int step, int n) /* what this rank has for each */
{
    for (int to = 0; to < size; to++)
        for (int i = 0; i < n; i++) blocks[to * n + i] = (unsigned char)block_value(rank, to, step, i);
}
static void check_block(const unsigned char *got, int from, int to, int step, int n)
{
    for (int i = 0; i < n; i++) CHECK_EQ(got[i], block_value(from, to, step, i));
}
static void check_behind(const unsigned char *p, const unsigned char *end)
{
    for (; p < end; p++) CHECK_EQ(*p, 0xee);
}

static void gather_one(int step, int n, int root)
{
    bool here = in_place && rank == root;
    fill_blocks(step, n);
    if (here) memcpy(others + rank * n, blocks + root * n, (size_t)n);
    MPI_Gather(here ? MPI_IN_PLACE : from(blocks + root * n), n, chosen, from(others), n, chosen, root, MPI_COMM_WORLD);
    for (int r = 0; rank == root && r < size; r++) check_block(others + r * n, r, root, step, n);
    check_behind(others + (rank == root ? size * n : 0), others + sizeof others);
}
/* Rank r gives (r + step) % (n + 1) bytes; the blocks lie in the order of the ranks, from the last to the first. */
static int given(int r, int step, int n) { return (r + step) % (n + 1); }
static void gatherv_one(int step, int n, int root)
{
    int counts[RANKS], displs[RANKS], at = 0;
    bool here = in_place && rank == root;
    fill_blocks(step, n);
    for (int r = size - 1; r >= 0; r--) counts[r] = given(r, step, n), displs[r] = at, at += counts[r];
    if (here) memcpy(others + displs[rank], blocks + root * n, (size_t)counts[rank]);
    MPI_Gatherv(here ? MPI_IN_PLACE : from(blocks + root * n), counts[rank], chosen, from(others), counts, displs, chosen, root,
                MPI_COMM_WORLD);
    for (int r = 0; rank == root && r < size; r++) check_block(others + displs[r], r, root, step, counts[r]);
    check_behind(others + (rank == root ? at : 0), others + sizeof others);
}
static void scatter_one(int step, int n, int root)
{
    bool here = in_place && rank == root;
    fill_blocks(step, n);
    MPI_Scatter(from(blocks), n, chosen, here ? MPI_IN_PLACE : from(others), n, chosen, root, MPI_COMM_WORLD);
    if (!here) check_block(others, root, rank, step, n);
    check_behind(others + (here ? 0 : n), others + sizeof others);
    for (int to = 0; to < size; to++) check_block(blocks + to * n, rank, to, step, n);
}
static void allgather_one(int step, int n)
{
    fill_blocks(step, n);
    if (in_place) memcpy(others + rank * n, blocks, (size_t)n);
    MPI_Allgather(in_place ? MPI_IN_PLACE : from(blocks), n, chosen, from(others), n, chosen, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++) check_block(others + r * n, r, 0, step, n);
    check_behind(others + size * n, others + sizeof others);
}
static void alltoall_one(int step, int n)
{
    fill_blocks(step, n);
    if (in_place) memcpy(others, blocks, (size_t)(size * n));
    MPI_Alltoall(in_place ? MPI_IN_PLACE : from(blocks), n, chosen, from(others), n, chosen, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++) check_block(others + r * n, r, rank, step, n);
    check_behind(others + size * n, others + sizeof others);
}
/* By an operation that does not commute; part p of rank r begins with a 0 unless r >= p. */
static void reduce_scatter_one(int step, int n, MPI_Op op)
{
    fill_blocks(step, n);
    for (int to = 0; to < size; to++)
        for (int i = 0; i < n; i++) blocks[to * n + i] = rank < to ? 0 : (unsigned char)(1 + (rank + step + i) % 200);
    if (in_place) memcpy(others, blocks, (size_t)(size * n));
    MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : blocks, others, n, MPI_UNSIGNED_CHAR, op, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) CHECK_EQ(others[i], 1 + (rank + step + i) % 200);
    check_behind(others + (in_place ? size * n : n), others + sizeof others);
}

static void one_of_blocks(unsigned kind, int step, int n, int root, MPI_Op op)
{
    memset(others, 0xee, sizeof others);
    switch (kind) {
    case 7: gather_one(step, n, root); break;
    case 8: gatherv_one(step, n, root); break;
    case 9: scatter_one(step, n, root); break;
    case 10: allgather_one(step, n); break;
    case 11: alltoall_one(step, n); break;
    default: reduce_scatter_one(step, n, op);
    }
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
        MPI_Bcast(from(out), n, chosen, root, MPI_COMM_WORLD);
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
    MPI_Type_create_hindexed_block(1, 1, (MPI_Aint[]){SHIFT}, MPI_BYTE, &derived);
    MPI_Type_commit(&derived);
    CHECK(size <= RANKS);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = 1; step <= STEPS; step++) {
        int n = 1 + (int)random_below(random_below(3) ? 8 : MOST), root = (int)random_below((unsigned)size);
        unsigned kind = random_below(13), odd = random_below(4), times = random_below(8) ? 1 : 12;
        in_place = random_below(2);
        chosen = odd == 0 && (rank + step) % 3 == 0 ? derived : MPI_BYTE;
        come_late(step);
        for (unsigned i = 0; i < times; i++) /* in a row some ranks run ahead */
            if (kind == 0)
                barrier_check(mine, all, n_near, step);
            else if (kind < 7)
                one(kind, step, n, root, op);
            else
                one_of_blocks(kind, step, n, root, op);
    }
    MPI_Type_free(&derived);
    MPI_Op_free(&op);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
    free(all);
    return test_end();
}
