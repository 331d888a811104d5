/* p2p_stress.c -- seeded random traffic between all ranks: sizes, modes, layouts, wildcards, late receives; data is checked.
 *
 * Every rank draws the same plan from the seed, so it knows what it will get without asking.  args: rounds, seed.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

enum { MESSAGES = 48 };
static const int sizes[] = {0, 1, 8, 40, 41, 100, 4000, 8192, 16384, 16385, 40000, 66000, 262144, 300000};

struct message {
    int from, to, tag, bytes, mode;
    int strided_send, strided_recv; /* in units of 4 bytes with gaps of 4 */
    unsigned char *out, *in;
};

static void plan(struct message *m, int n)
{
    for (int i = 0; i < n; i++) {
        m[i] = (struct message){.from = (int)random_below((unsigned)size),
                                .to = (int)random_below((unsigned)size),
                                .tag = (int)random_below(3),
                                .bytes = sizes[random_below(14)],
                                .mode = (int)random_below(3),
                                .strided_send = random_below(4) == 0,
                                .strided_recv = random_below(4) == 0};
        if (m[i].strided_send || m[i].strided_recv) m[i].bytes &= ~3;
    }
}

/* The place of byte k in a buffer. */
static long place(int is_strided, long k) { return is_strided ? k / 4 * 8 + k % 4 : k; }

static MPI_Datatype words; /* 4 bytes of data, 8 of extent */

static void round_of(int number)
{
    struct message m[MESSAGES];
    MPI_Request q[2 * MESSAGES];
    MPI_Status s[2 * MESSAGES];
    int of[2 * MESSAGES], n = 0, late = (int)random_below(2);
    plan(m, MESSAGES);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < MESSAGES; i++) {
            struct message *x = &m[i];
            if (pass != late && x->to == rank) { /* receives; to the same tag in the order of sending */
                x->in = malloc(2 * (size_t)x->bytes + 8);
                memset(x->in, 0xee, 2 * (size_t)x->bytes + 8);
                of[n] = i;
                MPI_Irecv(x->in, x->strided_recv ? x->bytes / 4 : x->bytes, x->strided_recv ? words : MPI_BYTE, x->from, x->tag,
                          MPI_COMM_WORLD, &q[n++]);
            }
            if (pass == late && x->from == rank) {
                x->out = malloc(2 * (size_t)x->bytes + 8);
                for (long k = 0; k < x->bytes; k++) x->out[place(x->strided_send, k)] = pattern_at((unsigned)(number * 100 + i), k);
                of[n] = -1;
                int count = x->strided_send ? x->bytes / 4 : x->bytes;
                MPI_Datatype t = x->strided_send ? words : MPI_BYTE;
                if (x->mode == 0)
                    MPI_Issend(x->out, count, t, x->to, x->tag, MPI_COMM_WORLD, &q[n++]);
                else
                    MPI_Isend(x->out, count, t, x->to, x->tag, MPI_COMM_WORLD, &q[n++]);
            }
        }
    MPI_Waitall(n, q, s);
    for (int k = 0; k < n; k++) {
        if (of[k] < 0) continue;
        struct message *x = &m[of[k]];
        int elements;
        MPI_Get_elements(&s[k], x->strided_recv ? MPI_FLOAT : MPI_BYTE, &elements);
        CHECK_EQ(s[k].MPI_SOURCE, x->from);
        CHECK_EQ(s[k].MPI_TAG, x->tag);
        CHECK_EQ(elements * (x->strided_recv ? 4 : 1), x->bytes);
        long wrong = -1;
        for (long b = 0; b < x->bytes && wrong < 0; b++)
            if (x->in[place(x->strided_recv, b)] != pattern_at((unsigned)(number * 100 + of[k]), b)) wrong = b;
        CHECK_EQ(wrong, -1);
        if (x->strided_recv && x->bytes) CHECK_EQ(x->in[4], 0xee);
        CHECK_EQ(x->in[x->strided_recv ? 2 * x->bytes : x->bytes], 0xee);
    }
    for (int i = 0; i < MESSAGES; i++) {
        if (m[i].to == rank) free(m[i].in);
        if (m[i].from == rank) free(m[i].out);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    MPI_Datatype bytes;
    MPI_Type_contiguous(4, MPI_BYTE, &bytes);
    MPI_Type_create_resized(bytes, 0, 8, &words);
    MPI_Type_commit(&words);
    MPI_Type_free(&bytes);
    int rounds = argc > 1 ? atoi(argv[1]) : 40;
    if (argc > 2) random_seed(argv[2]);
    for (int i = 0; i < rounds && failures < 20; i++) round_of(i);
    MPI_Type_free(&words);
    return test_end();
}
