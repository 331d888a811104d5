/* check_misuse.c -- programs that misuse MPI, one a word of the command line, for test/system/check.sh, which reads what
 * GODWIT_CHECK says about them.  They end well: what they do wrong does no harm here.  Words that end in _ok misuse nothing.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

#include <stddef.h>

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

/* ---- datatypes ---------------------------------------------------------------------------------------------------------- */
static void types(void) /* four findings of rank 1 */
{
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
        MPI_Rsend(ints, n, MPI_INT, 1, 3, MPI_COMM_WORLD);
    } else {
        MPI_Mprobe(0, 1, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
        MPI_Mrecv(floats, n, MPI_FLOAT, &m, MPI_STATUS_IGNORE);
        MPI_Mprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
        MPI_Imrecv(floats, n, MPI_FLOAT, &m, &q[0]);
        MPI_Wait(&q[0], MPI_STATUS_IGNORE);
        MPI_Recv_init(floats, n, MPI_FLOAT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &q[0]);
        MPI_Start(&q[0]);
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
    struct mixed { int i; double d; char c[3]; } a[9], b[9];
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
        pass(ints, 20, MPI_INT, ints, 30, MPI_INT, 20, posted);         /* a larger buffer */
        pass(ints, 1, columns, ints, 4, pieces, 21, posted);            /* the same sequence built in another way */
        pass(ints, 4, pieces, ints, 2, columns, 22, posted);
        pass(a, 4, resized, b, 9, resized, 23, posted);
        pass(ints, 7, MPI_INT, ints, 2, pieces, 24, posted);            /* ends inside a datatype */
        pass(ints, 7, MPI_INT, ints, 7, MPI_INT32_T, 25, posted);       /* the same kind under another name */
        pass(packed, 100, MPI_BYTE, packed, 4096, MPI_BYTE, 26, posted);
        pass(NULL, 0, MPI_INT, floats, 4, MPI_FLOAT, 27, posted);       /* nothing has no type */
        at = 0;
        if (rank == 0) MPI_Pack(a, 3, resized, packed, sizeof packed, &at, MPI_COMM_WORLD);
        pass(packed, at, MPI_PACKED, b, 9, resized, 28, posted);        /* packed data may be received as what it is, */
        pass(a, 3, resized, packed, 4096, MPI_PACKED, 29, posted);      /* and anything as packed data */
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

static const struct { const char *name; void (*run)(void); } cases[] = {
    {"types", types}, {"types_calls", types_calls}, {"types_ok", types_ok}, {"types_cancel_ok", types_cancel_ok},
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    int found = 0;
    for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
        if (strcmp(argv[1], cases[i].name) == 0) cases[i].run(), found = 1;
    CHECK(found);
    return test_end();
}
