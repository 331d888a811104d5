/* std_mem_started_test.c -- calls of MPI on a kind of memory whose bytes the CPU may not touch, 1 to 4 ranks: what is started and
 * completed later, all collectives, operations on windows, and windows of such memory.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mem_ints.h"
#include "ranks.h"

enum { N = 12000, SHORT = 3, MOST = 4, LEN = MOST * N + 2, PARTS = 4 };
_Static_assert((int)LEN <= (int)INTS_MOST, "they fit");
static int me, size, left, right, *from, *to;
static const MPI_Comm world = MPI_COMM_WORLD;

/* ---- messages to the right, from the left ---- */
static void refill(int n, int begin)
{
    fill(to, n + 1, -7);
    fill(from, n, begin + 100 * me);
}
static void came(int n, int begin)
{
    expect(to, n, begin + 100 * left, 1);
    expect(to + n, 1, n - 7, 0); /* no message has filled it */
}

static void complete(int how, MPI_Request *q)
{
    int flag = 0, n = 0, at[2];
    switch (how) {
    case 0: MPI_Waitall(2, q, MPI_STATUSES_IGNORE); break;
    case 1: MPI_Wait(&q[1], MPI_STATUS_IGNORE), MPI_Wait(&q[0], MPI_STATUS_IGNORE); break;
    case 2:
        for (int k = 0; k < 2; k++)
            for (flag = 0; !flag;) MPI_Test(&q[k], &flag, MPI_STATUS_IGNORE);
        break;
    case 3: MPI_Waitany(2, q, at, MPI_STATUS_IGNORE), MPI_Waitany(2, q, at, MPI_STATUS_IGNORE); break;
    case 4:
        for (int all = 0; all < 2; all += n) MPI_Waitsome(2, q, &n, at, MPI_STATUSES_IGNORE);
        break;
    case 5:
        while (!flag) MPI_Testall(2, q, &flag, MPI_STATUSES_IGNORE);
        break;
    default: /* the send is given up */ MPI_Request_free(&q[0]); MPI_Wait(&q[1], MPI_STATUS_IGNORE);
    }
}

static void messages(int n)
{
    for (int how = 0; how < 7; how++) {
        MPI_Request q[2];
        refill(n, how);
        MPI_Irecv(to, n + 1, MPI_INT, left, how, world, &q[1]);
        (how % 2 ? MPI_Issend : MPI_Isend)(from, n, MPI_INT, right, how, world, &q[0]);
        complete(how, q);
        came(n, how);
        MPI_Barrier(world);
    }
    MPI_Request q, r;
    MPI_Message m;
    int flag = 0;
    refill(n, 10);
    MPI_Isend(from, n, MPI_INT, right, 10, world, &q);
    MPI_Irecv(to, n + 1, MPI_INT, left, 10, world, &r);
    while (!flag) MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE);
    came(n, 10); /* though the request is still there */
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    refill(n, 11);
    MPI_Isend(from, n, MPI_INT, right, 11, world, &q);
    MPI_Mprobe(left, 11, world, &m, MPI_STATUS_IGNORE);
    MPI_Imrecv(to, n + 1, MPI_INT, &m, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    came(n, 11);
    refill(n, 12);
    MPI_Isendrecv(from, n, MPI_INT, right, 12, to, n + 1, MPI_INT, left, 12, world, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    came(n, 12);
    MPI_Isendrecv_replace(from, n, MPI_INT, right, 13, left, 13, world, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    expect(from, n, 12 + 100 * left, 1);
    MPI_Sendrecv_replace(from, n, MPI_INT, left, 14, right, 14, world, MPI_STATUS_IGNORE);
    expect(from, n, 12 + 100 * me, 1);
    MPI_Datatype third;
    MPI_Type_vector(n, 1, 3, MPI_INT, &third);
    MPI_Type_commit(&third);
    refill(n, 15);
    MPI_Isend(from, n, MPI_INT, right, 15, world, &q);
    fill(to, 3 * n, -7);
    MPI_Irecv(to, 1, third, left, 15, world, &r);
    MPI_Type_free(&third); /* the receive goes on with it */
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    expect(to, 1, 15 + 100 * left, 0);
    expect(to + 1, 2, -6, 1);
    expect(to + 3, 1, 16 + 100 * left, 0);
}

static void prepared(int n)
{
    MPI_Request q[2];
    MPI_Send_init(from, n, MPI_INT, right, 20, world, &q[0]);
    MPI_Recv_init(to, n + 1, MPI_INT, left, 20, world, &q[1]);
    for (int k = 0; k < 4; k++) {
        refill(n, 1000 * k);
        if (k % 2)
            MPI_Startall(2, q);
        else
            MPI_Start(&q[1]), MPI_Start(&q[0]);
        if (k < 3) {
            complete(k, q);
            came(n, 1000 * k);
        }
    }
    MPI_Request_free(&q[0]); /* under way, perhaps */
    MPI_Wait(&q[1], MPI_STATUS_IGNORE);
    came(n, 3000);
    MPI_Request_free(&q[1]);
    MPI_Barrier(world);
}

static void partitioned(int n)
{
    MPI_Request q[2];
    int all = PARTS * n, flag;
    MPI_Psend_init(from, PARTS, n, MPI_INT, right, 30, world, MPI_INFO_NULL, &q[0]);
    MPI_Precv_init(to, PARTS, n, MPI_INT, left, 30, world, MPI_INFO_NULL, &q[1]);
    for (int k = 0; k < 3; k++) {
        fill(to, all, -7);
        fill(from, all, -9);
        MPI_Startall(2, q);
        fill(from, all, 100 * me + k); /* after the start */
        MPI_Pready(2, q[0]);
        MPI_Pready_range(0, 1, q[0]);
        MPI_Pready_list(1, (int[]){3}, q[0]);
        for (flag = 0; !flag;) MPI_Parrived(q[1], 1, &flag);
        expect(to + n, n, 100 * left + k + n, 1);
        fill(to + n, n, 5); /* the program's again */
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        expect(to, n, 100 * left + k, 1);
        expect(to + n, n, 5, 1);
        expect(to + 2 * n, 2 * n, 100 * left + k + 2 * n, 1);
    }
    MPI_Request_free(&q[0]);
    MPI_Request_free(&q[1]);
}

/* ---- collectives: the same thrice, blocking, started, prepared ---- */
#define THRICE(name, ...)                                                                                                          \
    do {                                                                                                                           \
        if (form == 0) MPI_##name(__VA_ARGS__);                                                                                    \
        if (form == 1) MPI_I##name##_(__VA_ARGS__, &q);                                                                            \
        if (form == 2) MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &q), MPI_Start(&q);                                           \
        if (form > 0) MPI_Wait(&q, MPI_STATUS_IGNORE);                                                                             \
        if (form == 2) MPI_Request_free(&q);                                                                                       \
    } while (0)
#define MPI_IBcast_                MPI_Ibcast
#define MPI_IGather_               MPI_Igather
#define MPI_IGatherv_              MPI_Igatherv
#define MPI_IScatter_              MPI_Iscatter
#define MPI_IScatterv_             MPI_Iscatterv
#define MPI_IAllgather_            MPI_Iallgather
#define MPI_IAllgatherv_           MPI_Iallgatherv
#define MPI_IAlltoall_             MPI_Ialltoall
#define MPI_IAlltoallv_            MPI_Ialltoallv
#define MPI_IAlltoallw_            MPI_Ialltoallw
#define MPI_IReduce_               MPI_Ireduce
#define MPI_IAllreduce_            MPI_Iallreduce
#define MPI_IReduce_scatter_       MPI_Ireduce_scatter
#define MPI_IReduce_scatter_block_ MPI_Ireduce_scatter_block
#define MPI_IScan_                 MPI_Iscan
#define MPI_IExscan_               MPI_Iexscan
#define MPI_INeighbor_allgather_   MPI_Ineighbor_allgather
#define MPI_INeighbor_alltoallw_   MPI_Ineighbor_alltoallw

static void moves(int form, int n)
{
    MPI_Request q;
    int last = size - 1, counts[MOST], displs[MOST], bytes[MOST], all = n * size;
    MPI_Datatype types[MOST];
    for (int i = 0; i < size; i++) counts[i] = n, displs[i] = n * (last - i), bytes[i] = 4 * displs[i], types[i] = MPI_INT;
    fill(to, n, me == last ? 9 : -9);
    THRICE(Bcast, to, n, MPI_INT, last, world);
    expect(to, n, 9, 1);
    fill(from, all, n * me);
    fill(to, all, -1);
    THRICE(Gather, from, n, MPI_INT, me == last ? to : NULL, n, MPI_INT, last, world);
    me == last ? expect(to, all, 0, 1) : expect(to, all, -1, 1);
    fill(to, all, -1);
    THRICE(Gatherv, from, n, MPI_INT, to, counts, displs, MPI_INT, 0, world);
    for (int i = 0; me == 0 && i < size; i++) expect(to + displs[i], n, n * i, 1);
    fill(from, all, 4);
    THRICE(Scatter, from, n, MPI_INT, to, n, MPI_INT, last, world);
    expect(to, n, 4 + n * me, 1);
    THRICE(Scatterv, from, counts, displs, MPI_INT, to, n, MPI_INT, 0, world);
    expect(to, n, 4 + displs[me], 1);
    fill(from, n, n * me);
    fill(to, all, -1);
    THRICE(Allgather, from, n, MPI_INT, to, n, MPI_INT, world);
    expect(to, all, 0, 1);
    fill(to, all, -1);
    THRICE(Allgatherv, from, n, MPI_INT, to, counts, displs, MPI_INT, world);
    for (int i = 0; i < size; i++) expect(to + displs[i], n, n * i, 1);
    fill(to, all, -1);
    fill(to + n * me, n, n * me);
    THRICE(Allgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, n, MPI_INT, world);
    expect(to, all, 0, 1);
    fill(from, all, 100000 * me);
    THRICE(Alltoall, from, n, MPI_INT, to, n, MPI_INT, world);
    for (int i = 0; i < size; i++) expect(to + n * i, n, 100000 * i + n * me, 1);
    fill(to, all, -1);
    THRICE(Alltoallv, from, counts, displs, MPI_INT, to, counts, displs, MPI_INT, world);
    for (int i = 0; i < size; i++) expect(to + displs[i], n, 100000 * i + displs[me], 1);
    fill(to, all, -1);
    THRICE(Alltoallw, from, counts, bytes, types, to, counts, bytes, types, world);
    for (int i = 0; i < size; i++) expect(to + displs[i], n, 100000 * i + displs[me], 1);
}

static void reductions(int form, int n)
{
    MPI_Request q;
    int counts[MOST], all = n * size, sum = size * (size - 1) / 2;
    for (int i = 0; i < size; i++) counts[i] = n;
    fill(from, all, me);
    fill(to, all, -1);
    THRICE(Reduce, from, me == 0 ? to : NULL, n, MPI_INT, MPI_SUM, 0, world);
    me == 0 ? expect(to, n, sum, size) : expect(to, n, -1, 1);
    THRICE(Allreduce, from, to, n, MPI_INT, MPI_SUM, world);
    expect(to, n, sum, size);
    THRICE(Reduce_scatter, from, to, counts, MPI_INT, MPI_SUM, world);
    expect(to, n, sum + size * n * me, size);
    THRICE(Reduce_scatter_block, from, to, n, MPI_INT, MPI_SUM, world);
    expect(to, n, sum + size * n * me, size);
    THRICE(Scan, from, to, n, MPI_INT, MPI_SUM, world);
    expect(to, n, me * (me + 1) / 2, me + 1);
    fill(to, n, -1);
    THRICE(Exscan, from, to, n, MPI_INT, MPI_SUM, world);
    me ? expect(to, n, me * (me - 1) / 2, me) : expect(to, n, -1, 1);
    fill(to, n, me);
    THRICE(Exscan, MPI_IN_PLACE, to, n, MPI_INT, MPI_SUM, world);
    me ? expect(to, n, me * (me - 1) / 2, me) : expect(to, n, 0, 1);
    fill(from, n, 3);
    fill(to, n, 4);
    MPI_Reduce_local(from, to, n, MPI_INT, MPI_SUM);
    expect(to, n, 7, 2);
}

static void neighbors(int form, int n)
{
    MPI_Request q;
    MPI_Comm ring;
    MPI_Cart_create(world, 1, &size, (int[]){1}, 0, &ring);
    fill(from, 2 * n, 100000 * me);
    THRICE(Neighbor_allgather, from, n, MPI_INT, to, n, MPI_INT, ring);
    expect(to, n, 100000 * left, 1);
    expect(to + n, n, 100000 * right, 1);
    int two[2] = {n, n};
    MPI_Aint at[2] = {0, n * (MPI_Aint)sizeof(int)}, swapped[2] = {at[1], 0};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    THRICE(Neighbor_alltoallw, from, two, at, types, to, two, swapped, types, ring);
    expect(to + n, n, 100000 * left + n, 1);
    expect(to, n, 100000 * right, 1);
    MPI_Comm_free(&ring);
}

/* ---- windows ---- */
static void operations(MPI_Win w, int n)
{
    MPI_Request q;
    int one = 0;
    fill(from, n, 1);
    MPI_Win_lock_all(0, w);
    MPI_Accumulate(from, n, MPI_INT, right, 0, n, MPI_INT, MPI_SUM, w);
    MPI_Win_flush(right, w);
    MPI_Get_accumulate(NULL, 0, MPI_INT, to, n, MPI_INT, right, 0, n, MPI_INT, MPI_NO_OP, w);
    MPI_Win_flush(right, w);
    expect(to, n, 1, 2); /* what was there: 0, 1, .. */
    MPI_Fetch_and_op(from, to, MPI_INT, right, 0, MPI_SUM, w);
    MPI_Win_flush(right, w);
    expect(to, 1, 1, 0);
    fill(from, 1, 2);
    fill(from + 1, 1, 77);
    MPI_Compare_and_swap(from + 1, from, to, MPI_INT, right, 0, w);
    MPI_Win_flush(right, w);
    expect(to, 1, 2, 0);
    MPI_Rget(to, 1, MPI_INT, right, 0, 1, MPI_INT, w, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    expect(to, 1, 77, 0);
    fill(from, n, 50);
    MPI_Rput(from, n, MPI_INT, right, 0, n, MPI_INT, w, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Win_flush(right, w);
    MPI_Raccumulate(from, n, MPI_INT, right, 0, n, MPI_INT, MPI_SUM, w, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Win_flush(right, w);
    MPI_Rget_accumulate(from, n, MPI_INT, to, n, MPI_INT, right, 0, n, MPI_INT, MPI_REPLACE, w, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    expect(to, n, 100, 2);
    MPI_Fetch_and_op(from, &one, MPI_INT, right, 0, MPI_NO_OP, w);
    MPI_Win_unlock_all(w);
    CHECK_EQ(one, 50);
    MPI_Barrier(world);
}

static void windows(int n)
{
    int *base, *window = fake_alloc(LEN * sizeof(int)), *model, flag, **told;
    MPI_Win w;
    MPI_Win_allocate(n * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, world, &base, &w);
    for (int i = 0; i < n; i++) base[i] = i;
    MPI_Barrier(world);
    operations(w, n);
    CHECK(base[0] == 50 && base[n - 1] == 49 + n);
    MPI_Win_free(&w);

    fill(window, 2 * n, 0);
    MPI_Win_create(window, 2 * n * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, world, &w);
    MPI_Win_get_attr(w, MPI_WIN_MODEL, &model, &flag);
    CHECK(flag && *model == MPI_WIN_SEPARATE);
    MPI_Win_get_attr(w, MPI_WIN_BASE, &told, &flag);
    CHECK(flag && (int *)told == window);
    operations(w, n);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, w);
    expect(window, n, 50, 1);
    fill(window, n, 7 + me);
    MPI_Win_unlock(me, w);
    MPI_Barrier(world);
    MPI_Win_fence(0, w);
    MPI_Get(to, n, MPI_INT, right, 0, n, MPI_INT, w);
    MPI_Win_fence(0, w);
    expect(to, n, 7 + right, 1);
    fill(window + 1, n - 1, -3); /* stores here, while another rank puts beside them, between two fences */
    fill(from, 1, 1000 + me);
    MPI_Put(from, 1, MPI_INT, right, 0, 1, MPI_INT, w);
    MPI_Win_fence(0, w);
    expect(window, 1, 1000 + left, 0);
    expect(window + 1, n - 1, -3, 1);
    MPI_Get(to, n, MPI_INT, right, 0, n, MPI_INT, w);
    MPI_Win_fence(0, w);
    expect(to, 1, 1000 + me, 0);
    expect(to + 1, n - 1, -3, 1);
    MPI_Group all, one, other;
    MPI_Win_get_group(w, &all);
    MPI_Group_incl(all, 1, &left, &one);
    MPI_Group_incl(all, 1, &right, &other);
    fill(window + n, 1, 30 + me);
    MPI_Win_post(one, 0, w);
    MPI_Win_start(other, 0, w);
    MPI_Get(to, 1, MPI_INT, right, n, 1, MPI_INT, w);
    MPI_Put(from, 1, MPI_INT, right, 1, 1, MPI_INT, w);
    MPI_Win_complete(w);
    MPI_Win_wait(w);
    expect(to, 1, 30 + right, 0);
    expect(window + 1, 1, 1000 + left, 0);
    MPI_Win_lock_all(0, w);
    fill(window, 1, 60 + me);
    MPI_Win_sync(w);
    MPI_Barrier(world);
    MPI_Get(to, 1, MPI_INT, right, 0, 1, MPI_INT, w);
    MPI_Put(from, 1, MPI_INT, right, n + 1, 1, MPI_INT, w);
    MPI_Win_flush_all(w);
    expect(to, 1, 60 + right, 0);
    MPI_Barrier(world);
    MPI_Win_sync(w);
    expect(window + n + 1, 1, 1000 + left, 0);
    MPI_Put(from, 1, MPI_INT, right, n + 2, 1, MPI_INT, w);
    MPI_Win_unlock_all(w);
    MPI_Group_free(&all);
    MPI_Group_free(&one);
    MPI_Group_free(&other);
    MPI_Win_free(&w);
    expect(window + n + 2, 1, 1000 + left, 0);

    MPI_Win_create_dynamic(MPI_INFO_NULL, world, &w);
    MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
    CHECK_EQ(MPI_Win_attach(w, window, 8), MPI_ERR_RMA_ATTACH); /* said, not a crash */
    MPI_Win_free(&w);
    fake_free(window);
}

static void files(int n)
{
    MPI_File f = file_open();
    MPI_Request q;
    MPI_Offset at = (MPI_Offset)me * n * (MPI_Offset)sizeof(int);
    for (int form = 0; form < 3; form++) {
        fill(from, n, 3 + me + form);
        fill(to, n, -1);
        switch (form) {
        case 0:
            MPI_File_iwrite_at(f, at, from, n, MPI_INT, &q), MPI_Wait(&q, MPI_STATUS_IGNORE);
            MPI_File_iread_at(f, at, to, n, MPI_INT, &q), MPI_Wait(&q, MPI_STATUS_IGNORE);
            break;
        case 1:
            MPI_File_iwrite_at_all(f, at, from, n, MPI_INT, &q), MPI_Wait(&q, MPI_STATUS_IGNORE);
            MPI_File_iread_at_all(f, at, to, n, MPI_INT, &q), MPI_Wait(&q, MPI_STATUS_IGNORE);
            break;
        default:
            MPI_File_write_at_all_begin(f, at, from, n, MPI_INT), MPI_File_write_at_all_end(f, from, MPI_STATUS_IGNORE);
            MPI_File_read_at_all_begin(f, at, to, n, MPI_INT), MPI_File_read_at_all_end(f, to, MPI_STATUS_IGNORE);
        }
        expect(to, n, 3 + me + form, 1);
        MPI_Barrier(world);
    }
    MPI_File_close(&f);
}

static void ranks(int rank)
{
    (void)rank;
    CHECK_EQ(mem_add(&fake_driver), 1);
    from = fake_alloc(LEN * sizeof(int));
    to = fake_alloc(LEN * sizeof(int));
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(world, &me);
    MPI_Comm_size(world, &size);
    left = (me + size - 1) % size, right = (me + 1) % size;
    for (int n = SHORT; n <= N; n += N - SHORT) {
        messages(n);
        prepared(n);
        partitioned(n);
        for (int form = 0; form < 3; form++) {
            moves(form, n);
            reductions(form, n);
            neighbors(form, n);
        }
        windows(n);
        files(n);
    }
    MPI_Finalize();
    fake_free(to);
    fake_free(from);
}

int main(void)
{
    for (int n = 1; n <= MOST; n++) ranks_start(n, 2, NULL, ranks);
    return unit_end();
}
