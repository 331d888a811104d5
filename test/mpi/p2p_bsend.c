/* p2p_bsend.c -- buffered mode: buffers of the process and of a communicator, automatic ones, detach, flush, too little room.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

enum { N = 50, BYTES = 3000, BIG = 200000 };

static int message_bytes(int i) { return i % 5 == 4 ? BIG : BYTES; }

/* More than the partner takes before it starts to receive; all of it must be in the buffer. */
static void burst(MPI_Comm c, int is_nonblocking)
{
    int partner = rank ^ 1;
    MPI_Barrier(c);
    if (partner >= size) return;
    unsigned char *b = malloc(BIG);
    MPI_Request q[N];
    for (int i = 0; i < N; i++) {
        pattern_fill(b, message_bytes(i), (unsigned)(i + rank));
        if (is_nonblocking) {
            MPI_Ibsend(b, message_bytes(i), MPI_BYTE, partner, 4, c, &q[i]);
            MPI_Wait(&q[i], MPI_STATUS_IGNORE);
        } else {
            MPI_Bsend(b, message_bytes(i), MPI_BYTE, partner, 4, c);
        }
        memset(b, 0, (size_t)message_bytes(i));
    }
    for (int i = 0; i < N; i++) {
        MPI_Status s;
        MPI_Recv(b, BIG, MPI_BYTE, partner, 4, c, &s);
        CHECK_EQ(count_of(&s), message_bytes(i));
        CHECK_EQ(pattern_wrong(b, message_bytes(i), (unsigned)(i + partner)), -1);
    }
    free(b);
}

/* Room for two bursts: when one is received here, the partner may still be at the other. */
static int all_bytes(void)
{
    int n = 0;
    for (int i = 0; i < N; i++) n += message_bytes(i) + MPI_BSEND_OVERHEAD;
    return 2 * n;
}

static void given_buffer(void)
{
    int n = all_bytes(), size_out = -1;
    void *mine = malloc((size_t)n), *back = NULL;
    MPI_Buffer_attach(mine, n);
    burst(MPI_COMM_WORLD, 0);
    burst(MPI_COMM_WORLD, 1);
    MPI_Buffer_detach(&back, &size_out);
    CHECK(back == mine);
    CHECK_EQ(size_out, n);
    free(mine);
}

/* Exactly as much as MPI_Pack_size and the overhead say. */
static void exact_room(void)
{
    int partner = rank ^ 1, packed, n;
    if (partner >= size) return;
    MPI_Pack_size(1000, MPI_INT, MPI_COMM_WORLD, &packed);
    n = packed + MPI_BSEND_OVERHEAD;
    void *mine = malloc((size_t)n), *back;
    int v[1000], w[1000];
    for (int i = 0; i < 1000; i++) v[i] = i * 3 + rank;
    MPI_Buffer_attach(mine, n);
    MPI_Bsend(v, 1000, MPI_INT, partner, 1, MPI_COMM_WORLD);
    MPI_Recv(w, 1000, MPI_INT, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&back, &n);
    for (int i = 0; i < 1000; i++) CHECK_EQ(w[i], i * 3 + partner);
    free(mine);
}

static void no_room(void)
{
    char small[1000], big[5000];
    void *back;
    int n, class = 0;
    memset(big, 1, sizeof big);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Bsend(big, 10, MPI_CHAR, rank, 1, MPI_COMM_WORLD), &class);
    CHECK_EQ(class, MPI_ERR_BUFFER);
    MPI_Buffer_attach(small, sizeof small);
    class = 0;
    MPI_Error_class(MPI_Bsend(big, sizeof big, MPI_CHAR, rank, 1, MPI_COMM_WORLD), &class);
    CHECK_EQ(class, MPI_ERR_BUFFER);
    MPI_Buffer_detach(&back, &n);
    CHECK(back == small);
    CHECK_EQ(n, sizeof small);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
static void newer(void)
{
    MPI_Comm c;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    int n = all_bytes(), size_out;
    void *mine = malloc((size_t)n), *back;
    MPI_Request q;
    MPI_Comm_attach_buffer(c, mine, n);
    burst(c, 0);
    MPI_Comm_flush_buffer(c);
    burst(c, 1);
    MPI_Comm_iflush_buffer(c, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Comm_detach_buffer(c, &back, &size_out);
    CHECK(back == mine);
    CHECK_EQ(size_out, n);
    free(mine);
    MPI_Comm_attach_buffer(c, MPI_BUFFER_AUTOMATIC, 0);
    burst(c, 0);
    MPI_Comm_detach_buffer(c, &back, &size_out);
    CHECK(back == MPI_BUFFER_AUTOMATIC);
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    burst(MPI_COMM_WORLD, 1);
    burst(c, 0); /* without one of its own the process's applies */
    MPI_Buffer_iflush(&q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Buffer_flush();
    MPI_Buffer_detach(&back, &size_out);
    CHECK(back == MPI_BUFFER_AUTOMATIC);
    MPI_Comm_free(&c);
}
#endif

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    given_buffer();
    exact_room();
    no_room();
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    newer();
#endif
    return test_end();
}
