/* bad_buffers.c -- large messages from and into memory that cannot be accessed: the owner's call returns MPI_ERR_BUFFER, a receive
 * whose sender's memory is bad fails and says whose it is, and everything works afterwards.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <sys/mman.h>

#include "p2p_check.h"

enum { PAGE = 4096, TAG = 5 };
enum kind { GOOD, HOLE, READ_ONLY, NOWHERE };

/* `bytes` of memory of which a page in the middle, or all, is bad. */
static char *memory(enum kind kind, long bytes)
{
    if (kind == NOWHERE) return (char *)16;
    char *p = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) abort();
    pattern_fill(p, bytes, (unsigned)rank);
    if (kind == HOLE) mprotect(p + bytes / 2 / PAGE * PAGE, PAGE, PROT_NONE);
    if (kind == READ_ONLY) mprotect(p, (size_t)bytes, PROT_READ);
    return p;
}

static void memory_free(char *p, long bytes)
{
    if (p != (char *)16) munmap(p, (size_t)bytes);
}

static void expect(const char *what, int rc, int class, const char *words)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int got = -1, n;
    MPI_Error_class(rc, &got);
    CHECK_EQ(got, class);
    if (rc != MPI_SUCCESS) MPI_Error_string(rc, text, &n);
    if (!strstr(text, words) && failures++ < 20)
        fprintf(stderr, "rank %d: %s says \"%s\", without \"%s\"\n", rank, what, text, words);
}

/* From rank 0 to the last; how: blocking, by requests, or a receive of every second block. */
static int transfer(char *p, long bytes, int how)
{
    MPI_Request r;
    MPI_Datatype blocks;
    int last = size - 1, rc, block = 16384;
    if (how == 0 && rank == 0) return MPI_Send(p, (int)bytes, MPI_BYTE, last, TAG, MPI_COMM_WORLD);
    if (how == 0) return MPI_Recv(p, (int)bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (how == 1 || rank == 0) {
        rc = rank == 0 ? MPI_Isend(p, (int)bytes, MPI_BYTE, last, TAG, MPI_COMM_WORLD, &r)
                       : MPI_Irecv(p, (int)bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &r);
        return rc == MPI_SUCCESS ? MPI_Wait(&r, MPI_STATUS_IGNORE) : rc;
    }
    MPI_Type_vector((int)bytes / block / 2, block, block * 2, MPI_BYTE, &blocks);
    MPI_Type_commit(&blocks);
    rc = MPI_Recv(p, 1, blocks, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&blocks);
    return rc;
}

static void good(long bytes)
{
    char *p = memory(GOOD, bytes);
    CHECK_EQ(transfer(p, bytes, 0), MPI_SUCCESS);
    CHECK_EQ(pattern_wrong(p, bytes, 0), -1);
    memory_free(p, bytes);
}

static void one(enum kind from, enum kind to, long bytes, int how)
{
    int last = size - 1, is_strided = how == 2;
    if (rank == 0) {
        char *p = memory(from, bytes);
        long n = is_strided ? bytes / 2 : bytes;
        expect("the send", transfer(p, n, how), from == GOOD ? MPI_SUCCESS : MPI_ERR_BUFFER, from == GOOD ? "" : "send buffer");
        memory_free(p, bytes);
    } else if (rank == last) {
        char *p = memory(to, bytes);
        int rc = transfer(p, bytes, how);
        if (to != GOOD)
            expect("the receive", rc, MPI_ERR_BUFFER, "receive buffer");
        else
            expect("the receive", rc, MPI_ERR_OTHER, "of rank 0 of the job");
        memory_free(p, bytes);
    }
    if (rank == 0 || rank == last) good(bytes);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    /* Where copies by processors could be chosen the program would end there: the caller says from where on the kernel copies. */
    const long sizes[] = {64 << 10, 192 << 10, 600 << 10, 5 << 20};
    long from = argc > 1 ? atol(argv[1]) : 0;
    for (int i = 0; i < 4; i++) {
        if (sizes[i] < from) continue;
        for (int how = 0; how < 3; how++) {
            one(GOOD, HOLE, sizes[i], how);
            one(GOOD, READ_ONLY, sizes[i], how);
            one(GOOD, NOWHERE, sizes[i], how);
            if (how == 2) continue;
            one(HOLE, GOOD, sizes[i], how);
            one(NOWHERE, GOOD, sizes[i], how);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return test_end();
}
