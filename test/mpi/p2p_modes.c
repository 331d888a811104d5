/* p2p_modes.c -- every send mode, blocking and not, at sizes around every threshold, received before and after it is sent.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

enum { GUARD = 16 };
enum mode { SEND, SSEND, BSEND, RSEND, ISEND, ISSEND, IBSEND, IRSEND, MODES };

static const int sizes[] = {0,     1,     7,      8,      31,     32,     33,     39,     40,      41,      64,
                            1000,  4096,  8184,   8192,   8193,   16376,  16384,  16385,  32760,   32769,   65535,
                            65536, 65537, 131072, 200001, 262143, 262144, 262145, 524288, 1048576, 1048577, 3000000};
static unsigned char *out, *in;

static void send_by(enum mode m, int n, int to, int tag)
{
    MPI_Request q = MPI_REQUEST_NULL;
    switch (m) {
    case SEND: MPI_Send(out, n, MPI_BYTE, to, tag, MPI_COMM_WORLD); break;
    case SSEND: MPI_Ssend(out, n, MPI_BYTE, to, tag, MPI_COMM_WORLD); break;
    case BSEND: MPI_Bsend(out, n, MPI_BYTE, to, tag, MPI_COMM_WORLD); break;
    case RSEND: MPI_Rsend(out, n, MPI_BYTE, to, tag, MPI_COMM_WORLD); break;
    case ISEND: MPI_Isend(out, n, MPI_BYTE, to, tag, MPI_COMM_WORLD, &q); break;
    case ISSEND: MPI_Issend(out, n, MPI_BYTE, to, tag, MPI_COMM_WORLD, &q); break;
    case IBSEND: MPI_Ibsend(out, n, MPI_BYTE, to, tag, MPI_COMM_WORLD, &q); break;
    case IRSEND: MPI_Irsend(out, n, MPI_BYTE, to, tag, MPI_COMM_WORLD, &q); break;
    case MODES: break;
    }
    MPI_Status s;
    CHECK_EQ(MPI_Wait(&q, &s), MPI_SUCCESS);
    CHECK(q == MPI_REQUEST_NULL);
}

static void check_in(const MPI_Status *s, int n, int from, int tag, unsigned seed)
{
    CHECK_EQ(s->MPI_SOURCE, from);
    CHECK_EQ(s->MPI_TAG, tag);
    CHECK_EQ(count_of(s), n);
    CHECK_EQ(pattern_wrong(in, n, seed), -1);
    for (int i = 0; i < GUARD; i++) CHECK_EQ(in[n + i], 0xee);
}

/* One message from each even rank to the next; then the other way round.  posted: the receive stands before the send starts. */
static void exchange(enum mode m, int n, int is_posted, int turn)
{
    int partner = rank ^ 1, tag = 100 + (int)m;
    if (partner >= size) return;
    unsigned seed = (unsigned)(n * 31 + (int)m * 7 + turn);
    if ((rank & 1) == turn) {
        pattern_fill(out, n, seed);
        if (is_posted) MPI_Recv(NULL, 0, MPI_BYTE, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        send_by(m, n, partner, tag);
        return;
    }
    MPI_Request q;
    MPI_Status s;
    memset(in, 0xee, (size_t)n + GUARD);
    if (is_posted) {
        MPI_Irecv(in, n + GUARD, MPI_BYTE, partner, tag, MPI_COMM_WORLD, &q);
        MPI_Send(NULL, 0, MPI_BYTE, partner, 1, MPI_COMM_WORLD);
        MPI_Wait(&q, &s);
        CHECK(q == MPI_REQUEST_NULL);
    } else {
        MPI_Recv(in, n, MPI_BYTE, partner, tag, MPI_COMM_WORLD, &s);
    }
    check_in(&s, n, partner, tag, seed);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    const int max = 3000000;
    out = malloc((size_t)max);
    in = malloc((size_t)max + GUARD);
    int attached = 2 * max + 10 * MPI_BSEND_OVERHEAD;
    void *buffer = malloc((size_t)attached);
    MPI_Buffer_attach(buffer, attached);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int m = 0; m < MODES; m++)
            for (int turn = 0; turn < 2; turn++) {
                exchange((enum mode)m, sizes[i], 1, turn);
                if (m != RSEND && m != IRSEND) exchange((enum mode)m, sizes[i], 0, turn);
            }
    MPI_Buffer_detach(&buffer, &attached);
    CHECK_EQ(attached, 2 * max + 10 * MPI_BSEND_OVERHEAD);
    free(buffer);
    free(out);
    free(in);
    return test_end();
}
