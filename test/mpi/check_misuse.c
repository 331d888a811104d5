/* check_misuse.c -- programs that misuse MPI, one a word of the command line, for test/system/check.sh, which reads what
 * GODWIT_CHECK says about them.  They end well: what they do wrong does no harm here.  Words that end in _ok misuse nothing.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

#include <stddef.h>
#include <unistd.h>

enum { MANY = 50000 };
static int ints[MANY];
static float floats[MANY];

/* Rank 0 sends to rank 1, which receives before (posted) or after the message came. */
static void pass(const void *sbuf, int scount, MPI_Datatype st, void *rbuf, int rcount, MPI_Datatype rt, int tag, int posted)
{
    MPI_Request q;
    MPI_Status s;
    int here;
    if (rank == 1 && posted) MPI_Irecv(rbuf, rcount, rt, 0, tag, MPI_COMM_WORLD, &q);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_Isend(sbuf, scount, st, 1, tag, MPI_COMM_WORLD, &q);
    for (here = 0; rank == 1 && !posted && !here;) MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &here, &s);
    if (rank == 1 && !posted) MPI_Recv(rbuf, rcount, rt, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0 || (rank == 1 && posted)) MPI_Wait(&q, MPI_STATUS_IGNORE);
}

static void expect(int rc, int want_class)
{
    int class = MPI_SUCCESS;
    if (rc != MPI_SUCCESS) MPI_Error_class(rc, &class);
    CHECK(class == want_class);
}

/* ---- datatypes ---------------------------------------------------------------------------------------------------------- */
static void types(void) /* eight findings of rank 1 */
{
    static double doubles[MANY / 2];
    for (int posted = 0; posted < 2; posted++) /* fewer elements, as many bytes */
        for (int count = 4; count <= MANY; count += MANY - 4) {
            ints[count - 1] = rank ? 0 : count;
            pass(ints, count, MPI_INT, doubles, count / 2, MPI_DOUBLE, 14, posted);
            if (rank == 1) memcpy(&ints[0], (char *)doubles + 4 * (size_t)(count - 1), 4);
            CHECK(rank != 1 || ints[0] == count);
        }
    for (int k = 0; k < 4; k++) {
        int count = k & 1 ? MANY : 3;
        for (int i = 0; i < count; i++) ints[i] = i * (rank + 1) - 7, floats[i] = 0;
        pass(ints, count, MPI_INT, floats, count, MPI_FLOAT, 10 + k, k & 2);
        if (rank == 1)
            for (int i = 0; i < count; i++) ints[i] = i - 7;
        CHECK(rank != 1 || memcmp(ints, floats, (size_t)count * 4) == 0);
    }
}

static void types_calls(void) /* six findings of rank 1, one of rank 0 */
{
    int n = 5, there = 1 - rank;
    MPI_Message m;
    MPI_Request q[2];
    MPI_Datatype s = rank == 0 ? MPI_INT : MPI_UNSIGNED;
    if (rank == 0) {
        MPI_Send(ints, n, MPI_INT, 1, 1, MPI_COMM_WORLD);
        MPI_Ssend(ints, n, MPI_INT, 1, 2, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Rsend(ints, n, MPI_INT, 1, 3, MPI_COMM_WORLD);
    } else {
        MPI_Mprobe(0, 1, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
        MPI_Mrecv(floats, n, MPI_FLOAT, &m, MPI_STATUS_IGNORE);
        MPI_Mprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
        MPI_Imrecv(floats, n, MPI_FLOAT, &m, &q[0]);
        MPI_Wait(&q[0], MPI_STATUS_IGNORE);
        MPI_Recv_init(floats, n, MPI_FLOAT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &q[0]);
        MPI_Start(&q[0]);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&q[0], MPI_STATUS_IGNORE);
        MPI_Request_free(&q[0]);
    }
    MPI_Sendrecv(ints, n, s, there, 4, floats, n, rank ? MPI_FLOAT : MPI_UNSIGNED, there, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Isendrecv(ints, n, s, there, 5, floats, n, rank ? MPI_FLOAT : MPI_UNSIGNED, there, 5, MPI_COMM_WORLD, &q[0]);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    /* What goes are copies, as bytes.  Both sides receive another type than was sent. */
    MPI_Sendrecv_replace(floats, n, rank ? MPI_FLOAT : MPI_INT, there, 6, there, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void types_ok(void)
{
    struct mixed {
        int i;
        double d;
        char c[3];
    } a[9], b[9];
    MPI_Datatype mixed, resized, columns, pieces;
    int lens[] = {1, 1, 3}, n, at = 0;
    MPI_Aint places[] = {offsetof(struct mixed, i), offsetof(struct mixed, d), offsetof(struct mixed, c)};
    MPI_Datatype kinds[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
    static char packed[4096];
    memset(a, rank + 1, sizeof a);
    MPI_Type_create_struct(3, lens, places, kinds, &mixed);
    MPI_Type_create_resized(mixed, 0, sizeof(struct mixed), &resized);
    MPI_Type_vector(10, 2, 5, MPI_INT, &columns);
    MPI_Type_contiguous(5, MPI_INT, &pieces);
    MPI_Type_commit(&resized);
    MPI_Type_commit(&columns);
    MPI_Type_commit(&pieces);
    for (int posted = 0; posted < 2; posted++) {
        pass(ints, 20, MPI_INT, ints, 30, MPI_INT, 20, posted); /* a larger buffer */
        pass(ints, 1, columns, ints, 4, pieces, 21, posted);    /* the same sequence built in another way */
        pass(ints, 4, pieces, ints, 2, columns, 22, posted);
        pass(a, 4, resized, b, 9, resized, 23, posted);
        pass(ints, 7, MPI_INT, ints, 2, pieces, 24, posted);      /* ends inside a datatype */
        pass(ints, 7, MPI_INT, ints, 7, MPI_INT32_T, 25, posted); /* the same kind under another name */
        pass(packed, 100, MPI_BYTE, packed, 4096, MPI_BYTE, 26, posted);
        pass(NULL, 0, MPI_INT, floats, 4, MPI_FLOAT, 27, posted); /* nothing has no type */
        at = 0;
        if (rank == 0) MPI_Pack(a, 3, resized, packed, sizeof packed, &at, MPI_COMM_WORLD);
        pass(packed, at, MPI_PACKED, b, 9, resized, 28, posted);   /* packed data may be received as what it is, */
        pass(a, 3, resized, packed, 4096, MPI_PACKED, 29, posted); /* and anything as packed data */
        pass(a, 3, resized, b, 4, resized, 30, posted);
    }
    CHECK(rank != 1 || (b[0].i == 0x01010101 && b[2].c[2] == 1));
    /* Copies inside: buffered sends, and what is replaced. */
    int bytes;
    MPI_Pack_size(MANY, MPI_INT, MPI_COMM_WORLD, &bytes);
    bytes += MPI_BSEND_OVERHEAD;
    void *room = malloc((size_t)bytes);
    MPI_Buffer_attach(room, bytes);
    for (int k = 0; k < 2; k++) {
        n = k ? MANY / 2 : 5;
        if (rank == 0) MPI_Bsend(ints, n, MPI_INT, 1, 40, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1) MPI_Recv(ints, n, MPI_INT, 0, 40, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Request q;
        MPI_Sendrecv_replace(ints, n, MPI_INT, 1 - rank, 41, 1 - rank, 41, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Isendrecv_replace(ints, n, MPI_INT, 1 - rank, 42, 1 - rank, 42, MPI_COMM_WORLD, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        /* The types of the call before are not those of this one. */
        MPI_Sendrecv_replace(ints, n, MPI_INT, MPI_PROC_NULL, 43, MPI_PROC_NULL, 43, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        pass(floats, 3, MPI_FLOAT, floats, 3, MPI_FLOAT, 44, 0);
    }
    MPI_Buffer_detach(&room, &bytes);
    free(room);
    MPI_Type_free(&mixed);
    MPI_Type_free(&resized);
    MPI_Type_free(&columns);
    MPI_Type_free(&pieces);
}

/* A message that is given up leaves its types to nobody. */
static void types_cancel_ok(void)
{
    MPI_Request q[3];
    MPI_Status s;
    int gone;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        for (int i = 0; i < 3; i++) MPI_Issend(floats, MANY, MPI_FLOAT, 1, 50, MPI_COMM_WORLD, &q[i]);
        MPI_Cancel(&q[1]);
        MPI_Wait(&q[1], &s);
        MPI_Test_cancelled(&s, &gone);
        CHECK(gone);
        MPI_Isend(ints, 4, MPI_INT, 1, 50, MPI_COMM_WORLD, &q[1]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        for (int i = 0; i < 2; i++) MPI_Recv(floats, MANY, MPI_FLOAT, 0, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Recv(ints, 4, MPI_INT, 0, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0) MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
}

/* ---- buffers ------------------------------------------------------------------------------------------------------------- */
static int other[MANY];

/* What is sent changes while it is pending; rank 1 receives it. */
static void changed_by(int count, int mode, int at)
{
    MPI_Request q;
    MPI_Status s;
    int flag = 0, index;
    if (rank == 1 && mode == 4) MPI_Irecv(ints, count, MPI_INT, 0, mode, MPI_COMM_WORLD, &q);
    if (mode == 4) MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        if (mode == 0) MPI_Isend(ints, count, MPI_INT, 1, mode, MPI_COMM_WORLD, &q);
        if (mode == 1) MPI_Issend(ints, count, MPI_INT, 1, mode, MPI_COMM_WORLD, &q);
        if (mode == 2) MPI_Send_init(ints, count, MPI_INT, 1, mode, MPI_COMM_WORLD, &q), MPI_Start(&q);
        if (mode == 3) MPI_Isendrecv(ints, count, MPI_INT, 1, mode, other, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &q);
        if (mode == 4) MPI_Irsend(ints, count, MPI_INT, 1, mode, MPI_COMM_WORLD, &q);
        ints[at]++;
        if (mode == 0) MPI_Wait(&q, &s);
        if (mode == 1) MPI_Waitany(1, &q, &index, &s);
        while (mode == 2 && !flag) MPI_Request_get_status(q, &flag, &s);
        if (mode == 2) ints[at]++, MPI_Wait(&q, &s), MPI_Request_free(&q); /* this is right: it is known to be complete */
        while (mode == 3 && !flag) MPI_Testall(1, &q, &flag, &s);
        if (mode == 4) MPI_Waitall(1, &q, &s);
    } else if (rank == 1 && mode == 4) {
        MPI_Wait(&q, &s);
    } else if (rank == 1) {
        MPI_Recv(ints, count, MPI_INT, 0, mode, MPI_COMM_WORLD, &s);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}
static void changed(void) /* ten findings of rank 0 */
{
    for (int mode = 0; mode < 5; mode++) changed_by(10, mode, 3), changed_by(MANY, mode, MANY - 1);
}

/* A column of a matrix, of which an element between is the program's own. */
static void changed_ok(void)
{
    MPI_Datatype column;
    MPI_Request q[2];
    MPI_Type_vector(100, 1, 7, MPI_INT, &column);
    MPI_Type_commit(&column);
    for (int big = 0; big < 2; big++) {
        int n = big ? 60 : 1;
        if (rank == 0) {
            MPI_Isend(ints + 1, n, column, 1, 0, MPI_COMM_WORLD, &q[0]);
            MPI_Isend(ints + 1, n, column, 1, 1, MPI_COMM_WORLD, &q[1]); /* the same data may be sent twice */
            ints[0]++, ints[2]++;
            MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
            ints[1]++;
        } else if (rank == 1) {
            for (int k = 0; k < 2; k++) MPI_Recv(ints + 1, n, column, 0, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Type_free(&column);
}

static void given_back(void) /* one finding of rank 0 */
{
    MPI_Request q;
    if (rank == 0) {
        char *far = malloc(1 << 24); /* so large that it is mapped, and unmapped, by itself */
        memset(far, 1, 1 << 24);
        MPI_Isend(far, 1000, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &q);
        free(far);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(ints, 1000, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void overlap(void) /* nine findings of rank 1 */
{
    MPI_Request q[4];
    MPI_Datatype column;
    int p = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        for (int tag = 0; tag < 15; tag++) MPI_Send(other, tag == 12 ? 30 : 10, MPI_INT, 1, tag, MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Irecv(ints, 10, MPI_INT, 0, 0, MPI_COMM_WORLD, &q[0]);
        MPI_Irecv(ints + 9, 10, MPI_INT, 0, 1, MPI_COMM_WORLD, &q[1]);   /* 1: a receive over a receive */
        MPI_Isend(ints + 18, 10, MPI_INT, 1, 20, MPI_COMM_WORLD, &q[2]); /* 2: a send over a receive */
        MPI_Irecv(ints + 25, 10, MPI_INT, 1, 20, MPI_COMM_WORLD, &q[3]); /* 3: a receive over a send */
        MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
        MPI_Recv_init(ints, 10, MPI_INT, 0, 2, MPI_COMM_WORLD, &q[0]);
        MPI_Recv_init(ints + 5, 10, MPI_INT, 0, 3, MPI_COMM_WORLD, &q[1]);
        MPI_Startall(2, q); /* 4: two of one call */
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        MPI_Request_free(&q[0]), MPI_Request_free(&q[1]);
        MPI_Irecv(ints, 10, MPI_INT, 0, 4, MPI_COMM_WORLD, &q[0]);
        MPI_Recv(ints, 10, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* 5: a blocking receive */
        MPI_Wait(&q[0], MPI_STATUS_IGNORE);
        MPI_Irecv(ints, 10, MPI_INT, 0, 6, MPI_COMM_WORLD, &q[0]);
        MPI_Irecv(other, 10, MPI_INT, 1, 21, MPI_COMM_WORLD, &q[1]);
        MPI_Send(ints + 9, 10, MPI_INT, 1, 21, MPI_COMM_WORLD); /* 6: a blocking send */
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        MPI_Sendrecv(ints, 10, MPI_INT, 1, 22, ints + 5, 10, MPI_INT, 1, 22, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* 7: one call */
        MPI_Type_vector(10, 1, 3, MPI_INT, &column);
        MPI_Type_commit(&column);
        MPI_Irecv(ints, 1, column, 0, 7, MPI_COMM_WORLD, &q[p++]);
        MPI_Irecv(ints + 6, 1, column, 0, 8, MPI_COMM_WORLD, &q[p++]);    /* 8: columns, moved by two rows */
        MPI_Irecv(ints + 1, 1, column, 0, 9, MPI_COMM_WORLD, &q[p++]);    /* beside both */
        MPI_Irecv(ints + 34, 1, MPI_INT, 1, 23, MPI_COMM_WORLD, &q[p++]); /* beyond all */
        MPI_Send(other, 1, MPI_INT, 1, 23, MPI_COMM_WORLD);
        MPI_Waitall(p, q, MPI_STATUSES_IGNORE);
        MPI_Irecv(ints, 1, column, 0, 10, MPI_COMM_WORLD, &q[0]);
        MPI_Type_free(&column);
        MPI_Irecv(ints + 3, 10, MPI_INT, 0, 11, MPI_COMM_WORLD, &q[1]); /* 9: by then the datatype has no handle */
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        for (int tag = 12; tag < 15; tag++) MPI_Recv(ints, 30, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* The buffers of collectives. */
static void changed_coll(void) /* two findings of rank 0 */
{
    MPI_Request q;
    MPI_Ibcast(ints, 40, MPI_INT, 0, MPI_COMM_WORLD, &q);
    if (rank == 0) ints[39]++;
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Iallreduce(ints, other, 20, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &q);
    if (rank == 0) ints[0]++;
    MPI_Wait(&q, MPI_STATUS_IGNORE);
}

static void overlap_coll(void) /* six findings of every rank */
{
    MPI_Request q[2];
    MPI_Datatype types[8];
    int counts[8], displs[8], bytes[8];
    MPI_Ibcast(ints, 10, MPI_INT, 0, MPI_COMM_WORLD, &q[0]);
    MPI_Irecv(ints + 9, 10, MPI_INT, rank, 3, MPI_COMM_WORLD,
              &q[1]); /* 1: a receive over a broadcast; of the root over what it sends */
    MPI_Send(other, 10, MPI_INT, rank, 3, MPI_COMM_WORLD);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    MPI_Allreduce(ints, ints + 4, 5, MPI_INT, MPI_MAX, MPI_COMM_WORLD); /* 2: one call */
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) counts[i] = 4, displs[i] = 3 * i, bytes[i] = 12 * i, types[i] = MPI_INT;
    MPI_Allgatherv(other, 4, MPI_INT, ints, counts, displs, MPI_INT, MPI_COMM_WORLD);             /* 3: blocks */
    MPI_Alltoallv(other, counts, displs, MPI_INT, ints, counts, displs, MPI_INT, MPI_COMM_WORLD); /* 4 */
    MPI_Alltoallw(other, counts, bytes, types, ints, counts, bytes, types, MPI_COMM_WORLD);       /* 5 */
    for (int root = 0; root < size; root++)
        MPI_Gatherv(other, 4, MPI_INT, ints, counts, displs, MPI_INT, root, MPI_COMM_WORLD); /* 6: the root */
}

/* Blocks beside each other, empty ones, and columns in each other's gaps. */
static void overlap_coll_ok(void)
{
    MPI_Datatype column, narrow;
    int counts[8], displs[8];
    MPI_Type_vector(6, 1, 8, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &narrow);
    MPI_Type_commit(&narrow);
    for (int i = 0; i < size; i++) counts[i] = 1, displs[i] = size - 1 - i;
    MPI_Allgatherv(other, 6, MPI_INT, ints, counts, displs, narrow, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) counts[i] = i % 2 ? 0 : 5, displs[i] = i % 2 ? 3 : 5 * i;
    MPI_Allgatherv(other, counts[rank], MPI_INT, ints, counts, displs, MPI_INT, MPI_COMM_WORLD);
    MPI_Type_free(&column);
    MPI_Type_free(&narrow);
}

/* Next to each other, one after the other, and all columns of a matrix at once. */
static void overlap_ok(void)
{
    MPI_Request q[9];
    MPI_Datatype column;
    MPI_Type_vector(50, 1, 8, MPI_INT, &column);
    MPI_Type_commit(&column);
    for (int round = 0; round < 3; round++) {
        int at = 0;
        if (rank == 0)
            for (int i = 0; i < 8; i++) MPI_Isend(other, 50, MPI_INT, 1, i, MPI_COMM_WORLD, &q[at++]);
        if (rank == 1)
            for (int i = 0; i < 8; i++) MPI_Irecv(ints + i, 1, column, 0, i, MPI_COMM_WORLD, &q[at++]);
        MPI_Irecv(ints + 400, 0, MPI_INT, 1 - rank, 8, MPI_COMM_WORLD, &q[at++]);
        MPI_Sendrecv(floats, 0, MPI_FLOAT, 1 - rank, 8, floats + 3, 0, MPI_FLOAT, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Waitall(at, q, MPI_STATUSES_IGNORE);
    }
    MPI_Type_free(&column);
    for (int round = 0; round < 3; round++) { /* the same buffer again, in every way to complete */
        int flag = 0, index, n = 0;
        if (rank == 0) MPI_Send(other, 10, MPI_INT, 1, 9, MPI_COMM_WORLD);
        if (rank != 1) continue;
        MPI_Irecv(ints, 10, MPI_INT, 0, 9, MPI_COMM_WORLD, &q[0]);
        while (round == 0 && !flag) MPI_Testany(1, q, &index, &flag, MPI_STATUS_IGNORE);
        while (round == 1 && !n) MPI_Testsome(1, q, &n, &index, MPI_STATUSES_IGNORE);
        if (round == 2) MPI_Waitsome(1, q, &n, &index, MPI_STATUSES_IGNORE);
    }
}

/* ---- windows ---------------------------------------------------------------------------------------------------------------- */
/* What ends an epoch, or lets the origin use its buffers: each in turn. */
enum {
    BY_FENCE,
    BY_COMPLETE,
    BY_UNLOCK,
    BY_UNLOCK_ALL,
    BY_FLUSH,
    BY_FLUSH_LOCAL,
    BY_FLUSH_ALL,
    BY_FLUSH_LOCAL_ALL,
    BY_REQUEST,
    BY_ENDS
};
static MPI_Win win;
static int *window;

static void window_open(void)
{
    MPI_Win_allocate(1000 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
    MPI_Win_set_name(win, "halo");
    for (int i = 0; i < 1000; i++) window[i] = i;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void epoch_begin(int by)
{
    MPI_Group all;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    if (by == BY_FENCE) MPI_Win_fence(0, win);
    if (by == BY_COMPLETE) MPI_Win_post(all, 0, win), MPI_Win_start(all, 0, win);
    if (by == BY_UNLOCK) MPI_Win_lock(MPI_LOCK_SHARED, (rank + 1) % size, 0, win);
    if (by >= BY_UNLOCK_ALL) MPI_Win_lock_all(0, win);
    MPI_Group_free(&all);
}

static void local_end(int by, MPI_Request *q)
{
    int there = (rank + 1) % size;
    if (by == BY_FENCE) MPI_Win_fence(0, win);
    if (by == BY_COMPLETE) MPI_Win_complete(win);
    if (by == BY_UNLOCK) MPI_Win_unlock(there, win);
    if (by == BY_UNLOCK_ALL) MPI_Win_unlock_all(win);
    if (by == BY_FLUSH) MPI_Win_flush(there, win);
    if (by == BY_FLUSH_LOCAL) MPI_Win_flush_local(there, win);
    if (by == BY_FLUSH_ALL) MPI_Win_flush_all(win);
    if (by == BY_FLUSH_LOCAL_ALL) MPI_Win_flush_local_all(win);
    if (by == BY_REQUEST) MPI_Wait(q, MPI_STATUS_IGNORE);
}

static void epoch_end(int by)
{
    if (by == BY_COMPLETE) MPI_Win_wait(win);
    if (by > BY_UNLOCK_ALL) MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Buffers are touched before (too early) or after what ends the operation. */
static void window_buffers(int early)
{
    MPI_Request q = MPI_REQUEST_NULL;
    int there = (rank + 1) % size;
    window_open();
    for (int by = 0; by < BY_ENDS; by++) {
        epoch_begin(by);
        if (by == BY_REQUEST)
            MPI_Rput(ints, 10, MPI_INT, there, 10 * rank, 10, MPI_INT, win, &q);
        else
            MPI_Put(ints, 10, MPI_INT, there, 10 * rank, 10, MPI_INT, win);
        if (rank == 0 && early) ints[9]++;
        local_end(by, &q);
        ints[9]++;
        epoch_end(by);
    }
    epoch_begin(BY_FLUSH);
    MPI_Get(ints + 20, 10, MPI_INT, there, 500, 10, MPI_INT, win);
    if (rank == 0 && early) ints[20] = -1;
    local_end(BY_FLUSH, &q);
    CHECK((rank == 0 && early) || ints[20] == 500);
    ints[20]++;
    for (int i = 0; i < 10; i++) MPI_Put(ints + 30 + i, 1, MPI_INT, there, 200 + 10 * rank + i, 1, MPI_INT, win);
    if (rank == 0 && early) ints[37]++, ints[39]++;
    local_end(BY_FLUSH, &q);
    MPI_Accumulate(ints, 10, MPI_INT, there, 100, 10, MPI_INT, MPI_SUM, win);
    if (rank == 0 && early) ints[1]++;
    local_end(BY_FLUSH, &q);
    MPI_Get_accumulate(ints, 10, MPI_INT, ints + 20, 10, MPI_INT, there, 100, 10, MPI_INT, MPI_SUM, win);
    if (rank == 0 && early) ints[3]++;
    local_end(BY_FLUSH, &q);
    MPI_Fetch_and_op(ints, ints + 20, MPI_INT, there, 100, MPI_SUM, win);
    if (rank == 0 && early) ints[0]++;
    local_end(BY_FLUSH, &q);
    MPI_Compare_and_swap(ints, ints + 1, ints + 20, MPI_INT, there, 100, win);
    if (rank == 0 && early) ints[1]++;
    local_end(BY_FLUSH, &q);
    epoch_end(BY_FLUSH);
    MPI_Win_free(&win);
}
static void windows(void) /* fifteen findings of rank 0 */ { window_buffers(1); }

static void windows_overlap(void) /* four findings of every rank */
{
    MPI_Request q;
    int there = (rank + 1) % size;
    window_open();
    epoch_begin(BY_FLUSH);
    MPI_Get(ints, 10, MPI_INT, there, 500, 10, MPI_INT, win);
    MPI_Get(ints + 9, 10, MPI_INT, there, 509, 10, MPI_INT, win); /* 1: the second over the first */
    MPI_Win_flush_all(win);
    MPI_Get(ints, 10, MPI_INT, there, 500, 10, MPI_INT, win);
    MPI_Put(ints + 5, 1, MPI_INT, there, 30 + rank, 1, MPI_INT, win); /* 2: sent before it is known to be here */
    MPI_Win_flush_all(win);
    MPI_Irecv(ints, 10, MPI_INT, rank, 1, MPI_COMM_WORLD, &q);
    MPI_Put(ints + 5, 1, MPI_INT, there, 30 + rank, 1, MPI_INT, win); /* 3: a receive beside a put */
    MPI_Win_flush_all(win);
    MPI_Send(other, 10, MPI_INT, rank, 1, MPI_COMM_WORLD);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Get_accumulate(ints, 10, MPI_INT, ints + 9, 10, MPI_INT, there, 100, 10, MPI_INT, MPI_SUM, win); /* 4: one call */
    epoch_end(BY_FLUSH);
    MPI_Win_free(&win);
}

/* Buffers that may be used: of other targets, after a request, of MPI_NO_OP, sent twice, a neighbour's part in the same memory. */
/* Loops, whose calls are looked at as they are completed; five findings of every rank. */
static void windows_loops(void)
{
    enum { N = 100, STRIDE = 3 };
    static int here[N * STRIDE], more[N];
    MPI_Request q;
    int there = (rank + 1) % size;
    window_open();
    epoch_begin(BY_FLUSH);
    for (int i = 0; i < N; i++) MPI_Put(here + STRIDE * i, 1, MPI_INT, there, 100 + i, 1, MPI_INT, win);
    here[STRIDE * 57]++; /* 1 */
    here[STRIDE * 57 + 1]++;
    MPI_Win_flush(there, win);
    for (int i = N - 1; i >= 0; i--) MPI_Get(here + STRIDE * i, 1, MPI_INT, there, 500 + i, 1, MPI_INT, win);
    MPI_Win_flush(there, win);
    for (int i = 0, k = 0; i < N; i++, k = (k + 37) % N) MPI_Get(more + k, 1, MPI_INT, there, 500 + k, 1, MPI_INT, win);
    MPI_Win_flush(there, win);
    for (int i = 0; i < N; i++) CHECK(here[STRIDE * i] == 500 + i && more[i] == 500 + i);
    for (int i = 0, k = 0; i < N; i++, k = (k + 37) % N)
        MPI_Get(more + (k == 41 ? 40 : k), 1, MPI_INT, there, 500, 1, MPI_INT, win); /* 2: one over another */
    MPI_Win_flush(there, win);
    for (int i = 0; i < N; i++) MPI_Put(here + STRIDE * i, 1, MPI_INT, there, 100 + i, 1, MPI_INT, win);
    MPI_Irecv(here + STRIDE * 11 + 1, 2, MPI_INT, rank, 1, MPI_COMM_WORLD, &q); /* between two */
    MPI_Send(more, 2, MPI_INT, rank, 1, MPI_COMM_WORLD);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Irecv(here + STRIDE * 11, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &q); /* 3: over the twelfth */
    MPI_Win_flush(there, win);
    MPI_Send(more, 1, MPI_INT, rank, 1, MPI_COMM_WORLD);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        MPI_Put(here + STRIDE * i, 1, MPI_INT, i % 2 ? there : rank, 600 + 100 * (i % 2) + i, 1, MPI_INT, win);
    MPI_Win_flush(there, win);
    for (int i = 1; i < N; i += 2) here[STRIDE * i]++; /* of those that are over */
    here[STRIDE * 20]++;                               /* 4: of one that is not */
    MPI_Win_flush(rank, win);
    here[STRIDE - 1] = 500;
    MPI_Put(here, STRIDE, MPI_INT, there, 300, STRIDE, MPI_INT, win);
    MPI_Get(here + 2, STRIDE, MPI_INT, there, 500, STRIDE, MPI_INT, win); /* 5 */
    epoch_end(BY_FLUSH);
    MPI_Win_free(&win);
}

static void windows_ok(void)
{
    MPI_Request q;
    int there = (rank + 1) % size, nobody = -1;
    window_buffers(0);
    window_open();
    MPI_Win_lock_all(0, win);
    MPI_Put(ints, 10, MPI_INT, there, 10 * rank, 10, MPI_INT, win);
    MPI_Put(ints, 10, MPI_INT, rank, 200, 10, MPI_INT, win);
    MPI_Put(ints + 50, 10, MPI_INT, MPI_PROC_NULL, 0, 10, MPI_INT, win);
    ints[50]++;
    MPI_Win_flush_all(win);
    ints[3]++;
    MPI_Rget(other, 10, MPI_INT, there, 500, 10, MPI_INT, win, &q);
    MPI_Win_flush(there, win); /* completes it too */
    other[0]++;
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Fetch_and_op(&nobody, other, MPI_INT, there, 500, MPI_NO_OP, win);
    nobody++;
    MPI_Win_flush(there, win);
    CHECK(other[0] == 500);
    MPI_Get(window + 600 + rank, 1, MPI_INT, there, 700, 1, MPI_INT, win); /* into the own window */
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    /* From the own window, into which the others put in the next epoch. */
    MPI_Win_fence(0, win);
    MPI_Put(window + 800, 20, MPI_INT, there, 900, 20, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Put(ints, 20, MPI_INT, there, 800, 20, MPI_INT, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 3000; i++) MPI_Get(other + i, 1, MPI_INT, there, i % 500, 1, MPI_INT, win); /* more than are kept in mind */
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* What goes on here and need not elsewhere. */
static void windows_promises_to(int early)
{
    MPI_Info info;
    int there = (rank + 1) % size;
    double d = 0, old = 0;
    window_open();
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", early ? "true" : "false");
    MPI_Win_set_info(win, info);
    MPI_Info_free(&info);
    MPI_Win_lock_all(0, win);
    MPI_Accumulate(&d, 0, MPI_DOUBLE, there, 0, 0, MPI_DOUBLE, early ? MPI_BAND : MPI_SUM, win);
    MPI_Get_accumulate(&d, 0, MPI_DOUBLE, &old, 0, MPI_DOUBLE, there, 0, 0, MPI_DOUBLE, early ? MPI_MINLOC : MPI_NO_OP, win);
    MPI_Win_unlock_all(win);
    MPI_Win_lock(MPI_LOCK_SHARED, there, 0, win);
    MPI_Win_unlock(there, win);
    MPI_Win_free(&win);
}
static void windows_promises(void) /* four findings of every rank */ { windows_promises_to(1); }
static void windows_promises_ok(void) { windows_promises_to(0); }

/* Datatypes of the other side: the bytes pass.  What is an error without the check stays one. */
static void windows_types(void) /* seven findings of every rank */
{
    MPI_Request q;
    double *to = (double *)(void *)(ints + 40);
    int there = (rank + 1) % size;
    window_open();
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    for (int i = 0; i < 100; i++) ints[i] = i * (rank + 1);
    epoch_begin(BY_FLUSH);
    MPI_Put(ints, 4, MPI_INT, there, 0, 2, MPI_DOUBLE, win);
    MPI_Put(ints + 4, 4, MPI_INT, there, 4, 16, MPI_BYTE, win);
    MPI_Rput(ints + 8, 4, MPI_INT, there, 8, 4, MPI_UNSIGNED, win, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Win_flush_all(win);
    MPI_Get(to, 2, MPI_DOUBLE, there, 0, 4, MPI_INT, win);
    MPI_Rget(floats, 4, MPI_FLOAT, there, 4, 4, MPI_INT, win, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Get_accumulate(NULL, 0, MPI_INT, floats + 4, 4, MPI_FLOAT, there, 8, 4, MPI_INT, MPI_NO_OP, win);
    MPI_Win_flush_all(win);
    CHECK(memcmp(to, ints, 16) == 0 && memcmp(floats, ints + 4, 32) == 0);
    expect(MPI_Accumulate(ints, 4, MPI_INT, there, 0, 2, MPI_DOUBLE, MPI_SUM, win), MPI_ERR_TYPE);
    expect(MPI_Accumulate(ints, 4, MPI_INT, there, 0, 4, MPI_FLOAT, MPI_REPLACE, win), MPI_ERR_TYPE);
    expect(MPI_Put(ints, 4, MPI_INT, there, 997, 4, MPI_INT, win), MPI_ERR_RMA_RANGE);
    expect(MPI_Get(to, 1, MPI_DOUBLE, there, 999, 1, MPI_DOUBLE, win), MPI_ERR_RMA_RANGE);
    expect(MPI_Put(ints, 4, MPI_INT, there, 0, 1, MPI_DOUBLE, win), MPI_ERR_TRUNCATE);
    MPI_Rget_accumulate(ints, 2, MPI_INT, floats, 2, MPI_FLOAT, there, 20, 2, MPI_INT, MPI_REPLACE, win, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    epoch_end(BY_FLUSH);
    MPI_Win_free(&win);
}

/* The same sequence in another form, the same kind under another name, bytes as bytes, packed data as anything, room for more. */
static void windows_types_ok(void)
{
    MPI_Datatype pair, column, mixed;
    MPI_Request q;
    static char packed[64];
    int there = (rank + 1) % size, at = 0, sum[2] = {0, 0};
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_vector(4, 1, 3, MPI_INT, &column);
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &mixed);
    MPI_Type_commit(&pair), MPI_Type_commit(&column), MPI_Type_commit(&mixed);
    for (int i = 0; i < 100; i++) ints[i] = i;
    window_open();
    epoch_begin(BY_FLUSH);
    MPI_Put(ints, 4, MPI_INT, there, 0, 2, pair, win);
    MPI_Put(ints, 2, pair, there, 20, 1, column, win);
    MPI_Rput(ints, 4, MPI_INT, there, 40, 4, MPI_INT32_T, win, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Put(ints, 3, MPI_INT, there, 50, 2, pair, win);
    MPI_Put(ints, 16, MPI_BYTE, there, 60, 16, MPI_BYTE, win);
    MPI_Put(ints, 1, mixed, there, 70, 1, mixed, win);
    MPI_Pack(ints, 4, MPI_INT, packed, sizeof packed, &at, MPI_COMM_WORLD);
    MPI_Put(packed, at, MPI_PACKED, there, 80, 4, MPI_INT, win);
    MPI_Put(floats, 4, MPI_FLOAT, MPI_PROC_NULL, 0, 4, MPI_INT, win);
    MPI_Put(floats, 0, MPI_FLOAT, there, 0, 4, MPI_INT, win);
    MPI_Win_flush_all(win);
    MPI_Get(other, 1, column, there, 80, 4, MPI_INT, win);
    MPI_Get_accumulate(floats, 0, MPI_FLOAT, sum, 1, pair, there, 20, 1, pair, MPI_NO_OP, win);
    MPI_Accumulate(ints, 4, MPI_INT, there, 100, 1, column, MPI_REPLACE, win);
    MPI_Win_flush_all(win);
    CHECK(other[0] == 0 && other[3] == 1 && other[9] == 3 && sum[0] == 0 && sum[1] == 21);
    epoch_end(BY_FLUSH);
    CHECK(window[1] == 1 && window[23] == 1 && window[29] == 3 && window[43] == 3 && window[52] == 2 && window[109] == 3);
    MPI_Win_free(&win);
    MPI_Type_free(&pair), MPI_Type_free(&column), MPI_Type_free(&mixed);
}

/* ---- files ------------------------------------------------------------------------------------------------------------------- */
/* Without a name when it is open: nothing stays behind, also where it is not closed. */
static void file_open(MPI_File *f)
{
    char name[300];
    const char *tmp = getenv("TMPDIR");
    snprintf(name, sizeof name, "%.200s/check_misuse.%d.tmp", tmp ? tmp : "/tmp", (int)getppid());
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, f);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(name);
}

static void file_buffers(int early)
{
    MPI_File f;
    MPI_Request q;
    MPI_Offset at = rank * 400;
    file_open(&f);
    for (int i = 0; i < 100; i++) ints[i] = i;
    MPI_File_iwrite_at(f, at, ints, 100, MPI_INT, &q);
    ints[99] += early;
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_File_iread_at(f, at, other, 100, MPI_INT, &q);
    other[1] -= early;
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK(other[1] == 1 - early);
    MPI_File_write_at_all_begin(f, at, ints, 100, MPI_INT);
    ints[98] += early;
    MPI_File_write_at_all_end(f, ints, MPI_STATUS_IGNORE);
    MPI_File_read_at_all_begin(f, at, other, 50, MPI_INT);
    if (early) MPI_File_read_at(f, at, other + 49, 10, MPI_INT, MPI_STATUS_IGNORE); /* its place is taken */
    if (!early) MPI_File_read_at(f, at, other + 50, 10, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at_all_end(f, other, MPI_STATUS_IGNORE);
    for (int i = 0; i < 100; i++) ints[i]++, other[i]++;
    MPI_File_close(&f);
}
static void files(void) /* four findings of every rank */ { file_buffers(1); }
static void files_ok(void) { file_buffers(0); }

/* ---- collectives ---------------------------------------------------------------------------------------------------------- */
/* Calls that do not match: nobody hangs, all are told by the error. */
static void colls(void) /* eight findings of rank 0: calls that would go wrong, and are refused */
{
    int odd = rank == 1, n = odd ? 4 : 3, counts[8], displs[8];
    MPI_Comm c;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    expect(odd ? MPI_Barrier(MPI_COMM_WORLD) : MPI_Bcast(ints, n, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_OTHER);
    expect(MPI_Bcast(ints, 3, MPI_INT, odd, MPI_COMM_WORLD), MPI_ERR_ROOT);
    expect(MPI_Allreduce(ints, other, 3, MPI_INT, odd ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD), MPI_ERR_OP);
    expect(MPI_Reduce(ints, other, n, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    expect(MPI_Gather(ints, n, MPI_INT, other, 3, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    expect(MPI_Scatter(ints, 3, MPI_INT, other, n, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    for (int i = 0; i < size; i++) counts[i] = 3, displs[i] = 5 * i;
    if (odd) counts[0] = 5;
    expect(MPI_Alltoallv(ints, counts, displs, MPI_INT, other, counts, displs, MPI_INT, MPI_COMM_WORLD),
           size > 1 ? MPI_ERR_COUNT : MPI_SUCCESS);
    expect(odd ? MPI_Comm_dup(MPI_COMM_WORLD, &c) : MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &c), MPI_ERR_OTHER);
    /* The next calls are right again. */
    for (int i = 0; i < 3; i++) ints[i] = rank, other[i] = -1;
    expect(MPI_Allreduce(ints, other, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    CHECK(other[2] == size * (size - 1) / 2);
}

/* Of other types but as long: the data passes, and all are told. */
static void colls_types(void) /* five findings of rank 0 */
{
    MPI_Request q;
    MPI_Comm c;
    MPI_Datatype t = rank == 1 ? MPI_FLOAT : MPI_INT;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_set_name(c, "the name");
    for (int i = 0; i < 8; i++) ints[i] = rank == 0 ? i + 5 : 0;
    MPI_Bcast(ints, 8, t, 0, c);
    for (int i = 0; i < 8; i++) CHECK(ints[i] == i + 5);
    MPI_Allgather(ints, 2, t, other, 2, t, c);
    MPI_Ibcast(ints, 4, t, 0, c, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Bcast_init(ints, 4, t, 0, c, MPI_INFO_NULL, &q);
    for (int i = 0; i < 2; i++) MPI_Start(&q), MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Request_free(&q);
    MPI_Igather(ints, 2, t, other, 2, MPI_INT, 0, c, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Comm_free(&c);
}

static void colls_missing(void) /* rank 0: a call that not all make, and its request; every rank: the communicator */
{
    MPI_Comm c;
    MPI_Request q;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    if (rank == 0) MPI_Ibarrier(c, &q);
}

static void colls_left(void) /* rank 1 goes to MPI_Finalize, which ends the job */
{
    if (rank == 1) MPI_Finalize();
    MPI_Allreduce(ints, other, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void colls_stuck(void) /* rank 2 waits for rank 0, which waits for all: rank 0 says what differs without it */
{
    if (rank == 2) MPI_Recv(ints, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(ints, 1, MPI_INT, rank, MPI_COMM_WORLD);
}

static int free_attr(MPI_Comm c, int key, void *value, void *extra)
{
    int sum = 0;
    (void)key, (void)value, (void)extra;
    MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, c);
    CHECK(sum == size);
    return MPI_SUCCESS;
}
/* What may differ. */
static void colls_ok(void)
{
    MPI_Datatype pair, t = MPI_INT;
    MPI_Comm c, half, inter;
    MPI_Request q[3];
    int n = 6, key, counts[8], displs[8];
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    if (rank == 1) n = 3, t = pair;
    MPI_Bcast(ints, n, t, 0, MPI_COMM_WORLD); /* the same sequence, built in another way */
    MPI_Gather(ints, n, t, other, 6, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Gather(ints, n, t, other, rank ? -1 : 3, rank ? MPI_DATATYPE_NULL : pair, 0, MPI_COMM_WORLD); /* counts at the root alone */
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, other, 6, MPI_INT, MPI_COMM_WORLD);
    MPI_Allreduce(rank == 0 ? MPI_IN_PLACE : ints, rank == 0 ? other : ints + 100, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0, at = 0; i < size; i++) counts[i] = i + 1, displs[i] = at, at += i + 1;
    MPI_Gatherv(ints, rank + 1, MPI_INT, other, counts, displs, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allgatherv(ints, rank + 1, MPI_INT, other, counts, displs, MPI_INT, MPI_COMM_WORLD);
    MPI_Scatterv(ints, counts, displs, MPI_INT, other, rank + 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) counts[i] = rank + i, displs[i] = 20 * i;
    MPI_Alltoallv(ints, counts, displs, MPI_INT, other, counts, displs, MPI_INT, MPI_COMM_WORLD);
    /* Several under way at once, completed in another order, beside those of another communicator. */
    MPI_Comm_idup(MPI_COMM_WORLD, &c, &q[2]);
    MPI_Wait(&q[2], MPI_STATUS_IGNORE);
    MPI_Ibcast(ints, 3, MPI_INT, 0, MPI_COMM_WORLD, &q[0]);
    MPI_Ibarrier(c, &q[1]);
    MPI_Iallreduce(floats, floats + 10, 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &q[2]);
    if (rank == 1) MPI_Wait(&q[2], MPI_STATUS_IGNORE);
    MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
    /* Between two groups. */
    MPI_Comm_split(c, rank > 0, 0, &half);
    if (size > 1) {
        MPI_Intercomm_create(half, 0, c, rank > 0 ? 0 : 1, 3, &inter);
        MPI_Bcast(ints, 3, MPI_INT, rank ? 0 : MPI_ROOT, inter);
        MPI_Allreduce(ints, other, 3, MPI_INT, MPI_SUM, inter);
        MPI_Comm_free(&inter);
    }
    MPI_Comm_free(&half);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_attr, &key, NULL); /* a collective inside MPI_Comm_free */
    MPI_Comm_set_attr(c, key, ints);
    MPI_Comm_free(&c);
    MPI_Comm_free_keyval(&key);
    MPI_Type_free(&pair);
}

/* ---- collectives between two groups: rank 0, and all others ------------------------------------------------------------------ */
static MPI_Comm between_groups(void)
{
    MPI_Comm half, inter;
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 3, &inter);
    MPI_Comm_free(&half);
    MPI_Comm_set_name(inter, "between");
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    return inter;
}

static void inter(void) /* eight findings of rank 0 */
{
    MPI_Comm c = between_groups();
    MPI_Request q;
    int odd = rank > 0, n = odd ? 4 : 3, counts[8], displs[8];
    expect(MPI_Bcast(ints, n, MPI_INT, odd ? 0 : MPI_ROOT, c), MPI_ERR_COUNT);
    expect(MPI_Bcast(ints, 3, MPI_INT, 0, c), MPI_ERR_ROOT);
    expect(MPI_Allreduce(ints, other, n, MPI_INT, MPI_SUM, c), MPI_ERR_COUNT);
    expect(MPI_Gather(ints, n, MPI_INT, other, 3, MPI_INT, odd ? 0 : MPI_ROOT, c), MPI_ERR_COUNT);
    expect(odd ? MPI_Barrier(c) : MPI_Allgather(ints, 3, MPI_INT, other, 3, MPI_INT, c), MPI_ERR_OTHER);
    for (int i = 0; i < size; i++) counts[i] = n, displs[i] = 5 * i;
    expect(MPI_Alltoallv(ints, counts, displs, MPI_INT, other, counts, displs, MPI_INT, c), MPI_ERR_COUNT);
    expect(MPI_Scatterv(ints, counts, displs, MPI_INT, other, n, MPI_INT, odd ? 0 : MPI_ROOT, c), MPI_ERR_COUNT);
    /* Other types, but as long: the data pass. */
    for (int i = 0; i < 3; i++) ints[i] = rank + 5, floats[i] = 0;
    MPI_Ibcast(odd ? (void *)floats : (void *)ints, 3, odd ? MPI_FLOAT : MPI_INT, odd ? 0 : MPI_ROOT, c, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK(!odd || *(int *)(void *)&floats[2] == 5);
    MPI_Comm_free(&c);
}

static void inter_ok(void)
{
    if (size == 1) return;
    MPI_Comm c = between_groups(), all, copy;
    MPI_Request q[2];
    MPI_Datatype pair;
    int odd = rank > 0, there = odd ? 1 : size - 1, me = odd ? rank - 1 : 0, counts[8], displs[8];
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Barrier(c);
    MPI_Bcast(ints, odd ? 3 : 6, odd ? pair : MPI_INT, odd ? 0 : MPI_ROOT, c);
    MPI_Bcast(ints, odd && me > 0 ? -1 : 6, odd && me > 0 ? MPI_DATATYPE_NULL : MPI_INT,
              odd ? me == 0 ? MPI_ROOT : MPI_PROC_NULL : 0, c);
    MPI_Reduce(ints, other, 3, MPI_INT, MPI_SUM, odd ? 0 : MPI_ROOT, c);
    MPI_Allreduce(ints, other, 3, MPI_INT, MPI_SUM, c);
    MPI_Gather(ints, 4, MPI_INT, other, 2, pair, odd ? 0 : MPI_ROOT, c);
    MPI_Scatter(ints, 4, MPI_INT, other, 2, pair, odd ? 0 : MPI_ROOT, c);
    MPI_Allgather(ints, odd ? 3 : 2, MPI_INT, other, odd ? 2 : 3, MPI_INT, c); /* each way another size */
    for (int i = 0, at = 0; i < there; i++) counts[i] = odd ? 2 : i + 1, displs[i] = at, at += counts[i];
    MPI_Allgatherv(ints, odd ? me + 1 : 2, MPI_INT, other, counts, displs, MPI_INT, c);
    for (int i = 0; i < there; i++) counts[i] = odd ? me + 1 : i + 1, displs[i] = 8 * i;
    MPI_Alltoallv(ints, counts, displs, MPI_INT, other, counts, displs, MPI_INT, c);
    int mine = odd ? 1 : size - 1;
    MPI_Reduce_scatter_block(ints, other, mine, MPI_INT, MPI_SUM, c); /* as many in all */
    for (int i = 0; i < size; i++) counts[i] = mine;
    MPI_Reduce_scatter(ints, other, counts, MPI_INT, MPI_SUM, c);
    MPI_Ibarrier(c, &q[0]);
    MPI_Iallreduce(ints, other, 4, MPI_INT, MPI_MAX, c, &q[1]);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    MPI_Intercomm_merge(c, odd, &all);
    MPI_Comm_dup(c, &copy);
    MPI_Comm_free(&c);
    MPI_Barrier(copy);
    MPI_Barrier(all);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&all);
    MPI_Type_free(&pair);
}

/* ---- neighbours ---------------------------------------------------------------------------------------------------------------- */
static MPI_Comm ring(int n, int periodic)
{
    MPI_Comm c;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &n, &periodic, 0, &c);
    if (c == MPI_COMM_NULL) return c;
    MPI_Comm_set_name(c, "ring");
    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    return c;
}

static void neighbors(void) /* six findings of rank 0 */
{
    MPI_Comm c = ring(size, 1), lame;
    MPI_Request q;
    int odd = rank == 1, counts[2] = {3, 3}, displs[2] = {0, 10}, few[2] = {odd ? 2 : 3, 3};
    MPI_Aint bytes[2] = {0, 40};
    MPI_Datatype t = odd ? MPI_FLOAT : MPI_INT, types[2] = {MPI_INT, MPI_INT};
    expect(MPI_Neighbor_alltoall(ints, odd ? 4 : 3, MPI_INT, other, 3, MPI_INT, c), MPI_ERR_COUNT);
    expect(MPI_Neighbor_allgather(ints, odd ? 4 : 3, MPI_INT, other, 3, MPI_INT, c), MPI_ERR_COUNT);
    expect(MPI_Neighbor_alltoallv(ints, counts, displs, MPI_INT, other, few, displs, MPI_INT, c), MPI_ERR_COUNT);
    expect(MPI_Neighbor_alltoallw(ints, few, bytes, types, other, counts, bytes, types, c), MPI_ERR_COUNT);
    MPI_Ineighbor_allgather(ints, 3, t, other, 3, MPI_INT, c, &q); /* as long: it goes on */
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Comm_free(&c);
    /* Rank 0 sends to rank 1, which does not know. */
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_UNWEIGHTED, rank == 0, &(int){1}, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &lame);
    MPI_Comm_set_errhandler(lame, MPI_ERRORS_RETURN);
    expect(MPI_Neighbor_alltoall(ints, 3, MPI_INT, other, 3, MPI_INT, lame), MPI_ERR_TOPOLOGY);
    MPI_Comm_free(&lame);
}

/* Sizes that differ by direction, also where both neighbours are the same rank; a border; several edges between two. */
static void neighbors_ok(void)
{
    MPI_Datatype pair, types[2], others[2];
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    types[0] = types[1] = MPI_INT;
    others[0] = others[1] = pair;
    for (int n = 1; n <= size; n++)
        for (int periodic = 0; periodic < 2; periodic++) {
            MPI_Comm c = ring(n, periodic);
            if (c == MPI_COMM_NULL) continue;
            int down[2] = {2, 6}, up[2] = {6, 2}, half[2] = {3, 1}, displs[2] = {0, 10}, mine = rank + 1;
            int left = n == 1 ? 0 : (rank + n - 1) % n, right = (rank + 1) % n, all[2] = {left + 1, right + 1};
            MPI_Aint bytes[2] = {0, 40};
            MPI_Neighbor_allgather(ints, 4, MPI_INT, other, 2, pair, c);
            MPI_Neighbor_allgatherv(ints, mine, MPI_INT, other, all, displs, MPI_INT, c);
            MPI_Neighbor_alltoall(ints, 2, pair, other, 4, MPI_INT, c);
            MPI_Neighbor_alltoallv(ints, down, displs, MPI_INT, other, up, displs, MPI_INT, c);
            MPI_Neighbor_alltoallw(ints, down, bytes, types, other, half, bytes, others, c);
            MPI_Comm_free(&c);
        }
    MPI_Comm twice;
    int right[3] = {(rank + 1) % size, (rank + 1) % size, rank},
        left[3] = {(rank + size - 1) % size, rank, (rank + size - 1) % size};
    int scounts[3] = {1, 2, 3}, rcounts[3] = {1, 3, 2}, displs[3] = {0, 5, 10};
    if (size == 1) rcounts[1] = 2, rcounts[2] = 3; /* all are one pair's */
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, left, MPI_UNWEIGHTED, 3, right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &twice);
    MPI_Neighbor_alltoallv(ints, scounts, displs, MPI_INT, other, rcounts, displs, MPI_INT, twice);
    MPI_Comm_free(&twice);
    MPI_Type_free(&pair);
}

/* ---- buffers in blocks of different sizes, and of persistent collectives ---------------------------------------------------------- */
static void blocks_changed(int early)
{
    MPI_Request q;
    MPI_Comm c = ring(size, 1);
    MPI_Datatype types[8];
    int counts[8], displs[8], bytes[8];
    for (int i = 0; i < size; i++) counts[i] = 4 + i, displs[i] = 20 * i, bytes[i] = 80 * i, types[i] = MPI_INT;
    int mine = 4 + rank, same[8], at = early && rank == 0 ? 3 : 19; /* in the first block, or in the gap behind it */
    for (int i = 0; i < size; i++) same[i] = 6;
    MPI_Iscatterv(ints, counts, displs, MPI_INT, other, mine, MPI_INT, 0, MPI_COMM_WORLD, &q);
    ints[at]++;
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    ints[3]++;
    MPI_Ialltoallv(ints, same, displs, MPI_INT, other, same, displs, MPI_INT, MPI_COMM_WORLD, &q);
    ints[at]++;
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Ialltoallw(ints, same, bytes, types, other, same, bytes, types, MPI_COMM_WORLD, &q);
    ints[at]++;
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Ineighbor_alltoallv(ints, (int[]){6, 6}, (int[]){0, 20}, MPI_INT, other, (int[]){6, 6}, (int[]){0, 20}, MPI_INT, c, &q);
    ints[at]++;
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Alltoallv_init(ints, same, displs, MPI_INT, other, same, displs, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &q);
    for (int round = 0; round < 2; round++) { /* between rounds it may change */
        ints[3]++;
        MPI_Start(&q);
        if (round == 1) ints[at]++;
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&q);
    MPI_Allreduce_init(ints, other, 40, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &q);
    MPI_Start(&q);
    ints[at == 3 ? 39 : 40]++;
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    ints[0]++;
    MPI_Request_free(&q);
    MPI_Comm_free(&c);
}
static void blocks(void) /* six findings of rank 0 */ { blocks_changed(1); }
static void blocks_ok(void) { blocks_changed(0); }

/* ---- arrays of counts, displacements and datatypes: changed when the operation is complete, or before -------------------------------- */
static void arrays_changed(int early)
{
    MPI_Request q;
    MPI_Comm c = ring(size, 1);
    int counts[8], displs[8], bytes[8], now = early && rank == 0, later = !now;
    MPI_Count counts_c[8];
    MPI_Aint displs_c[8];
    MPI_Datatype types[8];
    for (int i = 0; i < 8; i++)
        counts_c[i] = counts[i] = 4, displs_c[i] = displs[i] = 20 * i, bytes[i] = 80 * i, types[i] = MPI_INT;
    MPI_Igatherv(ints, 4, MPI_INT, other, counts, displs, MPI_INT, 0, MPI_COMM_WORLD, &q);
    counts[0] -= now;
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    counts[0] += now;
    MPI_Ialltoallv_c(ints, counts_c, displs_c, MPI_INT, other, counts_c, displs_c, MPI_INT, MPI_COMM_WORLD, &q);
    displs_c[size - 1] -= now;
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Ialltoallw(ints, counts, bytes, types, other, counts, bytes, types, MPI_COMM_WORLD, &q);
    if (now) types[0] = MPI_DATATYPE_NULL;
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    types[0] = MPI_INT;
    MPI_Ineighbor_alltoallv(ints, counts, displs, MPI_INT, other, (int[]){4, 4}, (int[]){0, 20}, MPI_INT, c, &q);
    displs[1] -= now;
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    displs[1] -= later;
    for (int at_start = 0; at_start < 2; at_start++) {
        MPI_Reduce_scatter_init(ints, other, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &q);
        for (int round = 0; round < 3; round++) {
            if (at_start && round == 1) counts[0] += now; /* told at the start, once */
            MPI_Start(&q);
            if (!at_start && round == 1) counts[0] += now;
            MPI_Wait(&q, MPI_STATUS_IGNORE);
        }
        MPI_Request_free(&q);
        counts[0] = 4;
    }
    MPI_Comm_free(&c);
}
static void arrays(void) /* six findings of rank 0 */ { arrays_changed(1); }
static void arrays_ok(void) { arrays_changed(0); }

static void blocks_overlap(void) /* three findings of every rank */
{
    MPI_Request q[2];
    int counts[8], displs[8];
    for (int i = 0; i < size; i++) counts[i] = 4, displs[i] = 20 * i;
    for (int at = 17; at < 19; at++) { /* what is received beside or into the second block; of one rank, at its end */
        int last = 20 * (size - 1);
        MPI_Iallgatherv(other, 4, MPI_INT, ints, counts, displs, MPI_INT, MPI_COMM_WORLD, &q[0]);
        MPI_Irecv(ints + last + (at == 17 ? 4 : 3), 3, MPI_INT, rank, at, MPI_COMM_WORLD, &q[1]); /* 1 */
        MPI_Send(other, 3, MPI_INT, rank, at, MPI_COMM_WORLD);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    }
    MPI_Alltoallv(ints, counts, displs, MPI_INT, ints + 3, counts, displs, MPI_INT, MPI_COMM_WORLD); /* 2: one call */
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &q[0]);
    MPI_Request_free(&q[0]);
    MPI_Bcast_init(ints, 10, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &q[0]);
    MPI_Start(&q[0]);
    MPI_Irecv(ints + 9, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &q[1]); /* 3: beside a persistent collective */
    MPI_Send(other, 1, MPI_INT, rank, 3, MPI_COMM_WORLD);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    MPI_Request_free(&q[0]);
}

/* ---- partitions: four of ten integers ------------------------------------------------------------------------------------------------ */
static void partitions_to(int early)
{
    MPI_Request q;
    MPI_Psend_init(ints, 4, 10, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &q);
    for (int round = 0; round < 2; round++) {
        MPI_Start(&q);
        for (int i = 0; i < 40; i++) ints[i] = i + round; /* they are not ready yet */
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Pready(2, q);
        ints[15]++, ints[15]--; /* nor is this one */
        if (early && round == 1) ints[29]++;
        MPI_Pready_range(0, 1, q);
        MPI_Pready_list(1, &(int){3}, q);
        if (early && round == 1) ints[30]++;
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        ints[0]++;
    }
    MPI_Request_free(&q);
}

static void partitions_from(int early)
{
    MPI_Request q, r;
    int flag;
    MPI_Precv_init(other, 4, 10, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &q);
    for (int round = 0; round < 2; round++) {
        MPI_Start(&q);
        if (early && round == 1) {
            MPI_Irecv(other + 39, 1, MPI_INT, rank, 8, MPI_COMM_WORLD, &r); /* over what is received */
            MPI_Send(other + 10, 1, MPI_INT, rank, 8, MPI_COMM_WORLD);      /* and from it */
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < 4; i++) {
            for (flag = 0; !flag;) MPI_Parrived(q, i, &flag);
            CHECK(other[10 * i + 5] == 10 * i + 5 + round);
            MPI_Sendrecv(other + 10 * i, 10, MPI_INT, rank, 9, ints, 10, MPI_INT, rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        MPI_Sendrecv(ints, 10, MPI_INT, rank, 9, other + 5, 10, MPI_INT, rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&q);
}

static void partitions_of(int early)
{
    if (rank == 0) partitions_to(early);
    if (rank == 1) partitions_from(early);
    for (int round = 0; round < 2 && rank > 1; round++) MPI_Barrier(MPI_COMM_WORLD);
}
static void partitions(void) /* two findings each of ranks 0 and 1 */ { partitions_of(1); }
static void partitions_ok(void)
{
    MPI_Request q;
    partitions_of(0);
    MPI_Psend_init(ints, 4, 10, MPI_INT, MPI_PROC_NULL, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &q);
    MPI_Start(&q);
    MPI_Pready_range(0, 3, q);
    ints[3]++;
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Request_free(&q);
}

/* Rank 0 sends, rank 1 receives, once, in so many partitions each; the receive is made before or after the send. */
static void parts_pass(int sparts, int scount, MPI_Datatype st, int rparts, int rcount, MPI_Datatype rt, int tag, int late)
{
    MPI_Request q;
    if (rank == 1 && !late) MPI_Precv_init(other, rparts, rcount, rt, 0, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &q);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_Psend_init(ints, sparts, scount, st, 1, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &q);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1 && late) MPI_Precv_init(other, rparts, rcount, rt, 0, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &q);
    for (int round = 0; round < 2 && rank < 2; round++) { /* told once */
        MPI_Start(&q);
        if (rank == 0) MPI_Pready_range(0, sparts - 1, q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
    if (rank < 2) MPI_Request_free(&q);
}

static void partitions_types(void) /* six findings of rank 1 */
{
    for (int i = 0; i < 40; i++) ints[i] = rank == 0 ? i + 3 : 0, other[i] = 0;
    for (int late = 0; late < 2; late++) {
        parts_pass(4, 10, MPI_INT, 4, 10, MPI_FLOAT, 60, late);
        parts_pass(4, 10, MPI_INT, 2, 10, MPI_DOUBLE, 61, late);
        parts_pass(1, 40, MPI_INT, 160, 1, MPI_BYTE, 62, late);
        CHECK(rank != 1 || (other[0] == 3 && other[39] == 42));
    }
}

static void partitions_types_ok(void)
{
    MPI_Datatype pair, column;
    MPI_Request q;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_vector(5, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&pair), MPI_Type_commit(&column);
    for (int i = 0; i < 40; i++) ints[i] = rank == 0 ? i + 3 : 0;
    for (int late = 0; late < 2; late++) {
        for (int i = 0; i < 40; i++) other[i] = 0;
        parts_pass(4, 10, MPI_INT, 8, 5, MPI_INT, 70, late);
        parts_pass(4, 10, MPI_INT, 5, 4, pair, 71, late);
        CHECK(rank != 1 || (other[0] == 3 && other[39] == 42));
        parts_pass(4, 1, column, 20, 1, MPI_INT32_T, 72, late);
        parts_pass(3, 5, MPI_INT, 4, 2, column, 73, late); /* room for more, ends inside a partition and a datatype */
        parts_pass(4, 10, MPI_INT, 160, 1, MPI_PACKED, 74, late);
        parts_pass(4, 10, MPI_PACKED, 5, 2, MPI_INT, 75, late);
        parts_pass(4, 40, MPI_BYTE, 40, 4, MPI_BYTE, 76, late);
        parts_pass(4, 0, MPI_INT, 4, 10, MPI_FLOAT, 77, late); /* nothing has no type */
    }
    /* Freed before it was ever started: the next two of the same tag meet each other. */
    for (int k = 0; k < 2 && rank < 2; k++) {
        MPI_Datatype t = k ? MPI_INT : MPI_FLOAT;
        if (rank == 0) MPI_Psend_init(ints, 2, 3, t, 1, 78, MPI_COMM_WORLD, MPI_INFO_NULL, &q);
        if (rank == 1) MPI_Precv_init(other, 2, 3, t, 0, 78, MPI_COMM_WORLD, MPI_INFO_NULL, &q);
        if (rank < 2) MPI_Request_free(&q);
    }
    MPI_Type_free(&pair), MPI_Type_free(&column);
}

/* ---- what is left ----------------------------------------------------------------------------------------------------------- */
static int copy_nothing(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
    (void)c, (void)key, (void)extra, (void)in, (void)out;
    return *flag = 0;
}
static void add(void *in, void *inout, int *n, MPI_Datatype *t) { (void)in, (void)inout, (void)n, (void)t; }
static void handle_error(MPI_Comm *c, int *code, ...) { (void)c, (void)code; }
static void leaks(void) /* ten findings of every rank */
{
    MPI_Comm c;
    MPI_Datatype t;
    MPI_Op op;
    MPI_Group g;
    MPI_Info info;
    MPI_Errhandler eh;
    MPI_Request q[3];
    int key;
    for (volatile int i = 0; i < 3; i++) MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Type_contiguous(3, MPI_INT, &t);
    MPI_Type_commit(&t);
    MPI_Op_create(add, 1, &op);
    MPI_Comm_group(MPI_COMM_WORLD, &g);
    MPI_Info_create(&info);
    MPI_Comm_create_errhandler(handle_error, &eh);
    MPI_Comm_create_keyval(copy_nothing, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Send_init(ints, 3, MPI_INT, rank, 5, MPI_COMM_WORLD, &q[0]);
    MPI_Irecv(ints, 3, MPI_INT, rank, 6, c, &q[1]);
    MPI_Isend(other, 3, MPI_INT, rank, 6, c, &q[2]);
}

static void leaks_more(void) /* seven findings of every rank */
{
    MPI_File f;
    MPI_Message m;
    MPI_Info info, copy;
    MPI_Group g, h;
    MPI_Datatype t;
    int key;
    window_open();
    file_open(&f);
    MPI_Send(ints, 1, MPI_INT, rank, 4, MPI_COMM_WORLD);
    MPI_Mprobe(rank, 4, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL);
    MPI_Info_create(&info);
    MPI_Info_dup(info, &copy);
    MPI_Info_free(&info);
    MPI_Win_get_group(win, &g);
    MPI_Group_incl(g, 1, &(int){0}, &h);
    MPI_Group_free(&g);
    MPI_Type_dup(MPI_INT, &t);
}

static void leaks_ok(void)
{
    MPI_Comm c, d;
    MPI_Datatype t, u, v[2], real;
    MPI_Op op;
    MPI_Group g, h;
    MPI_Info info, copy;
    MPI_Errhandler eh, again;
    MPI_Request q;
    MPI_Message m;
    int key, ints_[4];
    MPI_Aint aints[4];
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_idup(c, &d, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Comm_group(c, &g);
    MPI_Comm_group(c, &h); /* perhaps the same object */
    MPI_Group_free(&g);
    MPI_Group_free(&h);
    MPI_Comm_free(&c);
    MPI_Comm_free(&d);
    MPI_Type_contiguous(3, MPI_INT, &t);
    MPI_Type_contiguous(3, t, &u);
    MPI_Type_commit(&u);
    MPI_Type_get_contents(u, 4, 4, 2, ints_, aints, v); /* one more handle of t */
    MPI_Type_free(&v[0]);
    MPI_Type_free(&t);
    MPI_Type_free(&u);
    MPI_Type_create_f90_real(6, MPI_UNDEFINED, &real); /* is never freed */
    MPI_Op_create(add, 1, &op);
    MPI_Op_free(&op);
    MPI_Info_create(&info);
    MPI_Info_dup(info, &copy);
    MPI_Info_free(&info);
    MPI_Info_free(&copy);
    MPI_Comm_create_errhandler(handle_error, &eh);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, eh);
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &again);
    MPI_Errhandler_free(&eh);
    MPI_Errhandler_free(&again);
    MPI_Comm_create_keyval(copy_nothing, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_free_keyval(&key);
    MPI_Isend(ints, 3, MPI_INT, rank, 6, MPI_COMM_WORLD, &q);
    MPI_Mprobe(rank, 6, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
    MPI_Mrecv(other, 3, MPI_INT, &m, MPI_STATUS_IGNORE);
    MPI_Request_free(&q);
    MPI_Irecv(ints, 3, MPI_INT, MPI_PROC_NULL, 6, MPI_COMM_WORLD, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
}

static void unreceived(void) /* three findings of rank 1, two of rank 0: the operation that nobody can complete */
{
    MPI_Request q;
    if (rank == 0) {
        for (int i = 0; i < 4; i++) MPI_Send(ints, 3, MPI_INT, 1, 5, MPI_COMM_WORLD);
        MPI_Send(ints, 5, MPI_INT, 1, 6, MPI_COMM_WORLD);
        MPI_Isend(ints, MANY, MPI_INT, 1, 7, MPI_COMM_WORLD, &q);
        MPI_Irecv(other, 1, MPI_INT, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &q);
    }
}

/* Without MPI_Init: four findings of every rank. */
static void session_leaks(void)
{
    MPI_Session s;
    MPI_Group g;
    MPI_Comm c;
    MPI_Request q;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &s);
    MPI_Group_from_session_pset(s, "mpi://WORLD", &g);
    MPI_Comm_create_from_group(g, "leaks", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &c);
    MPI_Comm_rank(c, &rank);
    MPI_Isend(ints, 2, MPI_INT, rank, 9, c, &q);
    MPI_Session_finalize(&s);
}
static void session_open(void) /* one finding of every rank */
{
    MPI_Session s;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &s);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"types", types},
    {"types_calls", types_calls},
    {"types_ok", types_ok},
    {"types_cancel_ok", types_cancel_ok},
    {"changed", changed},
    {"changed_ok", changed_ok},
    {"given_back", given_back},
    {"overlap", overlap},
    {"overlap_ok", overlap_ok},
    {"changed_coll", changed_coll},
    {"overlap_coll", overlap_coll},
    {"overlap_coll_ok", overlap_coll_ok},
    {"colls", colls},
    {"colls_types", colls_types},
    {"colls_missing", colls_missing},
    {"colls_left", colls_left},
    {"colls_stuck", colls_stuck},
    {"colls_ok", colls_ok},
    {"windows", windows},
    {"windows_overlap", windows_overlap},
    {"windows_loops", windows_loops},
    {"windows_ok", windows_ok},
    {"windows_promises", windows_promises},
    {"windows_promises_ok", windows_promises_ok},
    {"windows_types", windows_types},
    {"windows_types_ok", windows_types_ok},
    {"files", files},
    {"files_ok", files_ok},
    {"inter", inter},
    {"inter_ok", inter_ok},
    {"neighbors", neighbors},
    {"neighbors_ok", neighbors_ok},
    {"blocks", blocks},
    {"blocks_ok", blocks_ok},
    {"blocks_overlap", blocks_overlap},
    {"arrays", arrays},
    {"arrays_ok", arrays_ok},
    {"partitions", partitions},
    {"partitions_ok", partitions_ok},
    {"partitions_types", partitions_types},
    {"partitions_types_ok", partitions_types_ok},
    {"leaks", leaks},
    {"leaks_more", leaks_more},
    {"leaks_ok", leaks_ok},
    {"unreceived", unreceived},
    {"session_open", session_open},
};

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "session_leaks") == 0) {
        session_leaks();
        return 0;
    }
    MPI_Init(&argc, &argv);
    test_begin();
    int found = 0;
    for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
        if (strcmp(argv[1], cases[i].name) == 0) cases[i].run(), found = 1;
    CHECK(found);
    return test_end();
}
