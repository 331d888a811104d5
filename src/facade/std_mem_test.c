/* std_mem_test.c -- calls of MPI on a kind of memory whose bytes the CPU may not touch, between two ranks: nothing but the driver
 * of the test (mem_fake.h) knows this kind.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mem_ints.h"
#include "ranks.h"

enum { N = 50000, SHORT = 3, STRIDE = 3, LEN = 2 * N };
_Static_assert((int)LEN <= (int)INTS_MOST, "they fit");
static int me, *fake_buf, *fake_more;

static void messages(int n)
{
    MPI_Status s;
    int got = 0;
    fill(fake_buf, n, 100 * me);
    if (me == 0) {
        MPI_Send(fake_buf, n, MPI_INT, 1, 1, MPI_COMM_WORLD);
        MPI_Ssend(fake_buf, n, MPI_INT, 1, 2, MPI_COMM_WORLD);
    } else {
        fill(fake_buf, n + 1, -5);
        MPI_Recv(fake_buf, n + 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &s); /* shorter than the buffer */
        MPI_Get_count(&s, MPI_INT, &got);
        CHECK_EQ(got, n);
        expect(fake_buf, n, 0, 1);
        expect(fake_buf + n, 1, n - 5, 0);
        MPI_Recv(host, n, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(host[0] == 0 && host[n - 1] == n - 1);
        fill(fake_buf, n, 100);
    }
    MPI_Sendrecv(fake_buf, n, MPI_INT, 1 - me, 3, fake_more, n, MPI_INT, 1 - me, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(fake_more, n, 100 * (1 - me), 1);
}

/* Every third int of one to a run of the other. */
static void layouts(void)
{
    MPI_Datatype third;
    MPI_Type_vector(1000, 1, STRIDE, MPI_INT, &third);
    MPI_Type_commit(&third);
    fill(fake_buf, 3000, 0);
    if (me == 0) {
        MPI_Send(fake_buf, 1, third, 1, 4, MPI_COMM_WORLD);
    } else {
        MPI_Recv(fake_buf, 1000, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect(fake_buf, 1000, 0, STRIDE);
    }
    int position = 0;
    fill(fake_buf, 3000, 7);
    MPI_Pack(fake_buf, 1, third, fake_more, 4000, &position, MPI_COMM_WORLD);
    CHECK_EQ(position, 4000);
    expect(fake_more, 1000, 7, STRIDE);
    MPI_Type_free(&third);
}

static void collectives(int n)
{
    fill(fake_buf, n, me == 1 ? 5 : -1);
    MPI_Bcast(fake_buf, n, MPI_INT, 1, MPI_COMM_WORLD);
    expect(fake_buf, n, 5, 1);
    fill(fake_buf, n, 10 * me);
    fill(fake_more, n, -1);
    MPI_Allreduce(fake_buf, fake_more, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(fake_more, n, 10, 2);
    MPI_Allreduce(MPI_IN_PLACE, fake_buf, n, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    expect(fake_buf, n, 10, 1);
    fill(fake_buf, n, me);
    MPI_Reduce(fake_buf, me == 0 ? fake_more : NULL, n, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0) expect(fake_more, n, 1, 2);
    /* One rank has this kind of memory, the other has not. */
    for (int i = 0; i < n; i++) host[i] = i;
    MPI_Allreduce(MPI_IN_PLACE, me == 0 ? (int *)fake_more : host, n, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (me == 1) CHECK(host[0] == 1 && host[n - 1] == 2 * n - 1);
}

static void windows(int n, bool locks)
{
    int *base;
    MPI_Win w;
    MPI_Win_allocate(2 * N * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w);
    fill(fake_buf, n, 1000 * me);
    locks ? MPI_Win_lock_all(0, w) : MPI_Win_fence(0, w);
    MPI_Put(fake_buf, n, MPI_INT, 1 - me, 0, n, MPI_INT, w);
    locks ? MPI_Win_flush_all(w) : MPI_Win_fence(0, w);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Get(fake_more, n, MPI_INT, 1 - me, 0, n, MPI_INT, w);
    locks ? MPI_Win_unlock_all(w) : MPI_Win_fence(0, w);
    expect(fake_more, n, 1000 * me, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(base[0] == 1000 * (1 - me) && base[n - 1] == 1000 * (1 - me) + n - 1);
    MPI_Win_free(&w);
}

static void files(int n)
{
    MPI_File f = file_open();
    MPI_Status s;
    int got = 0;
    MPI_Offset at = (MPI_Offset)me * n * (MPI_Offset)sizeof(int);
    fill(fake_buf, n, 3 + me);
    CHECK_EQ(MPI_File_write_at(f, at, fake_buf, n, MPI_INT, &s), MPI_SUCCESS);
    MPI_Get_count(&s, MPI_INT, &got);
    CHECK_EQ(got, n);
    fill(fake_more, n, -1);
    CHECK_EQ(MPI_File_read_at(f, at, fake_more, n, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    expect(fake_more, n, 3 + me, 1);
    fill(fake_buf, n, 50 + me);
    CHECK_EQ(MPI_File_write_at_all(f, at, fake_buf, n, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_EQ(MPI_File_read_at_all(f, at, fake_more, n, MPI_INT, MPI_STATUS_IGNORE), MPI_SUCCESS);
    expect(fake_more, n, 50 + me, 1);
    MPI_File_close(&f);
}

static void ranks(int rank)
{
    (void)rank;
    CHECK_EQ(mem_add(&fake_driver), 1);
    fake_buf = fake_alloc(LEN * sizeof(int));
    fake_more = fake_alloc(LEN * sizeof(int));
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int n = SHORT; n <= N; n += N - SHORT) {
        messages(n);
        collectives(n);
        windows(n, true);
        windows(n, false);
        files(n);
    }
    layouts();
    CHECK(fake.copies > 0);
    MPI_Finalize();
    fake_free(fake_more);
    fake_free(fake_buf);
}

int main(void)
{
    ranks_start(2, 2, NULL, ranks);
    return unit_end();
}
