/* counts_beyond.c -- data of 2^63 bytes and more, by large counts, by vast datatypes, by many blocks, by vast extents: MPI_ERR_COUNT, and
 * never a product that wrapped; memory of such sizes: MPI_ERR_NO_MEM or MPI_ERR_SIZE.  (Every large-count call with a count of 2^62: mpi_errors.)
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdint.h>

#include "p2p_check.h"

/* vast: 2^61 bytes, so that four are 2^63 and eight 2^64.  wide: an int now and then, 2^60 bytes apart.  big: 2^40 bytes. */
static MPI_Datatype vast, wide, big;
static char space[4096], other[4096];

static void is(int rc, int want, int line)
{
    int class = MPI_SUCCESS;
    if (rc != MPI_SUCCESS) MPI_Error_class(rc, &class);
    if (class != want && failures++ < 40) fprintf(stderr, "rank %d: line %d: class %d, not %d\n", rank, line, class, want);
}
#define COUNT(call) is(call, MPI_ERR_COUNT, __LINE__)

static void types_make(void)
{
    MPI_Type_contiguous_c((MPI_Count)1 << 59, MPI_INT, &vast);
    MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)1 << 60, &wide);
    MPI_Type_contiguous_c((MPI_Count)1 << 40, MPI_BYTE, &big);
    MPI_Type_commit(&vast), MPI_Type_commit(&wide), MPI_Type_commit(&big);
}

static void messages(void)
{
    static const int counts[] = {4, 5, 8, 16, 1 << 30};
    MPI_Request q;
    MPI_Comm c = MPI_COMM_WORLD;
    for (int i = 0; i < 5; i++) {
        int n = counts[i];
        COUNT(MPI_Send(space, n, vast, 0, 1, c));
        COUNT(MPI_Isend(space, n, vast, 0, 1, c, &q));
        COUNT(MPI_Send_init(space, n, vast, 0, 1, c, &q));
        COUNT(MPI_Bsend(space, n, vast, 0, 1, c));
        COUNT(MPI_Recv(space, n, vast, 0, 1, c, MPI_STATUS_IGNORE));
        COUNT(MPI_Irecv(space, n, vast, 0, 1, c, &q));
        COUNT(MPI_Sendrecv(space, n, vast, 0, 1, other, 1, MPI_INT, 0, 1, c, MPI_STATUS_IGNORE));
        COUNT(MPI_Sendrecv(space, 1, MPI_INT, 0, 1, other, n, vast, 0, 1, c, MPI_STATUS_IGNORE));
        COUNT(MPI_Sendrecv_replace(space, n, vast, 0, 1, 0, 1, c, MPI_STATUS_IGNORE));
    }
    for (int n = 9; n <= 32; n += 23) { /* 2^63 from the begin to the end, and more */
        COUNT(MPI_Send(space, n, wide, 0, 1, c));
        COUNT(MPI_Irecv(space, n, wide, 0, 1, c, &q));
    }
    COUNT(MPI_Psend_init(space, 1 << 20, 1 << 20, big, 0, 1, c, MPI_INFO_NULL, &q));
    COUNT(MPI_Precv_init(space, 1 << 30, (MPI_Count)1 << 40, MPI_INT, 0, 1, c, MPI_INFO_NULL, &q));
    COUNT(MPI_Precv_init(space, 4, 1, vast, 0, 1, c, MPI_INFO_NULL, &q));
}

static void collectives(void)
{
    int n = size, counts[64], displs[64];
    MPI_Count many[64];
    MPI_Aint far[64];
    MPI_Datatype types[64];
    MPI_Request q;
    MPI_Comm c = MPI_COMM_WORLD;
    COUNT(MPI_Bcast(space, 4, vast, 0, c));
    COUNT(MPI_Ibcast(space, 4, vast, 0, c, &q));
    COUNT(MPI_Bcast_init(space, 5, vast, 0, c, MPI_INFO_NULL, &q));
    COUNT(MPI_Allgather(space, 1, MPI_INT, other, 1 << 30, big, c));
    COUNT(MPI_Reduce(space, other, 4, vast, MPI_SUM, 0, c));
    COUNT(MPI_Allreduce(space, other, 5, vast, MPI_SUM, c));
    COUNT(MPI_Iallreduce(space, other, 5, vast, MPI_SUM, c, &q));
    COUNT(MPI_Scan(space, other, 32, wide, MPI_SUM, c));
    COUNT(MPI_Reduce_local(space, other, 4, vast, MPI_SUM));
    for (int i = 0; i < n; i++) counts[i] = 1, displs[i] = i, many[i] = 1, far[i] = i, types[i] = vast;
    displs[n - 1] = 7;
    COUNT(MPI_Allgatherv(space, 1, MPI_INT, other, counts, displs, vast, c));
    COUNT(MPI_Alltoallv(space, counts, displs, vast, other, counts, displs, vast, c));
    COUNT(MPI_Gatherv(space, 1, MPI_INT, other, counts, displs, vast, rank, c));
    COUNT(MPI_Iscatterv(space, counts, displs, vast, other, 1, MPI_INT, rank, c, &q));
    far[n - 1] = (MPI_Aint)1 << 61;
    COUNT(MPI_Allgatherv_c(space, 1, MPI_INT, other, many, far, MPI_INT, c));
    COUNT(MPI_Ialltoallv_c(space, many, far, MPI_INT, other, many, far, MPI_INT, c, &q));
    counts[n - 1] = 4;
    COUNT(MPI_Alltoallw(space, counts, displs, types, other, counts, displs, types, c));
    COUNT(MPI_Reduce_scatter(space, other, counts, vast, MPI_SUM, c));
    if (n < 2) return;
    /* Each block would do, all of them do not. */
    COUNT(MPI_Allgather(space, 1, MPI_INT, other, 2, vast, c));
    COUNT(MPI_Gather(space, 1, MPI_INT, other, 2, vast, rank, c));
    COUNT(MPI_Scatter(space, 2, vast, other, 1, MPI_INT, rank, c));
    COUNT(MPI_Alltoall_c(space, (MPI_Count)1 << 60, MPI_INT, other, (MPI_Count)1 << 60, MPI_INT, c));
    COUNT(MPI_Reduce_scatter_block(space, other, 2, vast, MPI_SUM, c));
    for (int i = 0; i < n; i++) many[i] = (MPI_Count)1 << 60;
    COUNT(MPI_Reduce_scatter_c(space, other, many, MPI_INT, MPI_SUM, c));
    MPI_Comm ring;
    MPI_Cart_create(c, 1, &n, (int[]){1}, 0, &ring);
    MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
    COUNT(MPI_Neighbor_allgather(space, 1, MPI_INT, other, 2, vast, ring));
    COUNT(MPI_Ineighbor_alltoall(space, 2, vast, other, 1, MPI_INT, ring, &q));
    MPI_Comm_free(&ring);
}

static void windows(void)
{
    MPI_Win w;
    MPI_Win_create(space, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
    MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, w);
    for (int n = 4; n <= 8; n += 2) {
        COUNT(MPI_Put(other, n, vast, 0, 0, n, vast, w));
        COUNT(MPI_Put(other, n, vast, 0, 0, 1, MPI_INT, w));
        COUNT(MPI_Get(other, n, vast, 0, 0, n, vast, w));
        COUNT(MPI_Get(other, 1, MPI_INT, 0, 0, n, vast, w));
        COUNT(MPI_Accumulate(other, n, vast, 0, 0, n, vast, MPI_SUM, w));
        COUNT(MPI_Get_accumulate(other, 1, MPI_INT, other + 64, n, vast, 0, 0, 1, MPI_INT, MPI_SUM, w));
    }
    COUNT(MPI_Put_c(other, (MPI_Count)1 << 62, MPI_INT, 0, 0, (MPI_Count)1 << 62, MPI_INT, w));
    COUNT(MPI_Get_c(other, 1, MPI_INT, 0, 0, (MPI_Count)1 << 62, MPI_INT, w));
    COUNT(MPI_Accumulate_c(other, (MPI_Count)1 << 61, MPI_DOUBLE, 0, 0, (MPI_Count)1 << 61, MPI_DOUBLE, MPI_SUM, w));
    MPI_Win_unlock_all(w);
    MPI_Win_free(&w);
}

static void files_and_packing(void)
{
    MPI_File f;
    MPI_Status s;
    MPI_Request q;
    int at = 0, bytes;
    MPI_Count far_at = 0, far_bytes;
    char name[64];
    snprintf(name, sizeof name, "/tmp/godwit_beyond_%d", rank);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
    COUNT(MPI_File_write_at(f, 0, space, 4, vast, &s));
    COUNT(MPI_File_read_at(f, 0, space, 8, vast, &s));
    COUNT(MPI_File_iwrite_at(f, 0, space, 4, vast, &q));
    COUNT(MPI_File_write_at_all(f, 0, space, 4, vast, &s));
    COUNT(MPI_File_read_c(f, space, (MPI_Count)1 << 62, MPI_INT, &s));
    MPI_Offset size_now = -1;
    MPI_File_get_size(f, &size_now);
    CHECK_EQ(size_now, 0);
    MPI_File_close(&f);
    COUNT(MPI_Pack(space, 4, vast, other, 100, &at, MPI_COMM_WORLD));
    COUNT(MPI_Unpack(space, 100, &at, other, 4, vast, MPI_COMM_WORLD));
    COUNT(MPI_Pack_c(space, (MPI_Count)1 << 62, MPI_INT, other, 100, &far_at, MPI_COMM_WORLD));
    COUNT(MPI_Pack_external("external32", space, 4, vast, other, 100, &(MPI_Aint){0}));
    COUNT(MPI_Pack_size(4, vast, MPI_COMM_WORLD, &bytes));
    COUNT(MPI_Pack_size_c((MPI_Count)1 << 62, MPI_INT, MPI_COMM_WORLD, &far_bytes));
    COUNT(MPI_Pack_external_size("external32", 4, vast, &(MPI_Aint){0}));
    COUNT(MPI_Status_set_elements_c(&s, MPI_INT, (MPI_Count)1 << 62));
}

/* Memory that no machine has. */
static void memory(void)
{
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
    static const MPI_Aint sizes[] = {(MPI_Aint)1 << 60, (MPI_Aint)1 << 62, INT64_MAX - 4096, INT64_MAX};
    for (int i = 0; i < 4; i++) {
        void *p = space;
        MPI_Win w = MPI_WIN_NULL;
        is(MPI_Alloc_mem(sizes[i], MPI_INFO_NULL, &p), MPI_ERR_NO_MEM, __LINE__);
        is(MPI_Win_allocate(sizes[i], 8, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &w), MPI_ERR_NO_MEM, __LINE__);
        is(MPI_Win_allocate_shared(sizes[i], 8, MPI_INFO_NULL, node, &p, &w), MPI_ERR_NO_MEM, __LINE__);
    }
    MPI_Comm_free(&node);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    types_make();
    messages();
    collectives();
    windows();
    files_and_packing();
    memory();
    /* Right ones go through: nothing of a vast type, many of nothing. */
    MPI_Datatype none;
    MPI_Type_contiguous(0, MPI_INT, &none);
    MPI_Type_commit(&none);
    CHECK_EQ(MPI_Bcast(space, 0, vast, 0, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_EQ(MPI_Bcast_c(space, INT64_MAX, none, 0, MPI_COMM_WORLD), MPI_SUCCESS);
    int in = rank + 1, sum = 0;
    MPI_Datatype one;
    MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)1 << 60, &one); /* alone it spans 4 bytes */
    MPI_Type_commit(&one);
    CHECK_EQ(MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_EQ(sum, size * (size + 1) / 2);
    sum = in;
    CHECK_EQ(MPI_Bcast(&sum, 1, one, 0, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK_EQ(sum, 1);
    MPI_Type_free(&one), MPI_Type_free(&none), MPI_Type_free(&vast), MPI_Type_free(&wide), MPI_Type_free(&big);
    return test_end();
}
