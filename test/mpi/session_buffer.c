/* session_buffer.c -- buffered sends by the buffer of a session (MPI 4.1 section 3.6): after the communicator's, before the process's.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "session_check.h"

enum { BYTES = 200000 };
static unsigned char out[BYTES], in[BYTES];

/* A message too large to be over at once goes through a buffer, or there is none. */
static int bsend(MPI_Comm c, unsigned seed)
{
    int me, n;
    MPI_Comm_rank(c, &me);
    MPI_Comm_size(c, &n);
    pattern_fill(out, BYTES, seed + (unsigned)me);
    int rc = MPI_Bsend(out, BYTES, MPI_BYTE, (me + 1) % n, 9, c);
    memset(out, 0, BYTES);
    if (rc != MPI_SUCCESS) return rc;
    MPI_Recv(in, BYTES, MPI_BYTE, (me + n - 1) % n, 9, c, MPI_STATUS_IGNORE);
    CHECK_EQ(pattern_wrong(in, BYTES, seed + (unsigned)((me + n - 1) % n)), -1);
    return rc;
}

int main(void)
{
    static char of_session[BYTES + MPI_BSEND_OVERHEAD], of_comm[BYTES + MPI_BSEND_OVERHEAD];
    MPI_Session s = session_open(NULL), other = session_open(NULL);
    MPI_Comm c = session_comm(s, "mpi://WORLD", "one"), d, foreign = session_comm(other, "mpi://WORLD", "other");
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
    void *back = NULL;
    int bytes = -1;
    MPI_Count bytes_c = -1;
    MPI_Request r;
    CHECK_EQ(MPI_Session_detach_buffer(s, &back, &bytes), MPI_ERR_BUFFER);
    CHECK_EQ(MPI_Session_flush_buffer(s), MPI_SUCCESS); /* nothing to wait for */
    CHECK_EQ(bsend(c, 1), MPI_ERR_BUFFER);
    CHECK_EQ(MPI_Session_attach_buffer(s, of_session, (int)sizeof of_session), MPI_SUCCESS);
    CHECK_EQ(MPI_Session_attach_buffer(s, of_session, 100), MPI_ERR_BUFFER);
    CHECK_EQ(bsend(c, 2), MPI_SUCCESS);
    CHECK_EQ(MPI_Session_flush_buffer(s), MPI_SUCCESS);
    MPI_Comm_dup(c, &d); /* of the same session */
    CHECK_EQ(bsend(d, 3), MPI_SUCCESS);
    CHECK_EQ(MPI_Session_iflush_buffer(s, &r), MPI_SUCCESS);
    CHECK_EQ(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_EQ(bsend(foreign, 4), MPI_ERR_BUFFER);
    /* A communicator's own comes first: it is too small. */
    CHECK_EQ(MPI_Comm_attach_buffer(d, of_comm, 100), MPI_SUCCESS);
    CHECK_EQ(bsend(d, 5), MPI_ERR_BUFFER);
    CHECK_EQ(bsend(c, 6), MPI_SUCCESS);
    CHECK_EQ(MPI_Session_flush_buffer(s), MPI_SUCCESS);
    CHECK_EQ(MPI_Comm_detach_buffer(d, &back, &bytes), MPI_SUCCESS);
    CHECK(back == of_comm && bytes == 100);
    CHECK_EQ(bsend(d, 7), MPI_SUCCESS);
    CHECK_EQ(MPI_Session_detach_buffer(s, &back, &bytes), MPI_SUCCESS);
    CHECK(back == of_session && bytes == (int)sizeof of_session);
    CHECK_EQ(MPI_Session_attach_buffer_c(s, MPI_BUFFER_AUTOMATIC, 0), MPI_SUCCESS);
    for (unsigned i = 0; i < 3; i++) CHECK_EQ(bsend(c, 10 + i), MPI_SUCCESS);
    CHECK_EQ(MPI_Session_detach_buffer_c(s, &back, &bytes_c), MPI_SUCCESS);
    CHECK(back == MPI_BUFFER_AUTOMATIC && bytes_c == 0);
    CHECK_EQ(MPI_Session_attach_buffer(s, NULL, 10), MPI_ERR_BUFFER);
    CHECK_EQ(MPI_Session_attach_buffer(s, of_session, -1), MPI_ERR_ARG);
    /* A session that ends detaches it, after everything in it was sent. */
    CHECK_EQ(MPI_Session_attach_buffer(s, of_session, (int)sizeof of_session), MPI_SUCCESS);
    CHECK_EQ(bsend(c, 20), MPI_SUCCESS);
    MPI_Comm_free(&d);
    MPI_Comm_free(&c);
    session_close(&s);
    memset(of_session, 1, sizeof of_session);
    MPI_Comm_free(&foreign);
    session_close(&other);
    return session_test_end();
}
