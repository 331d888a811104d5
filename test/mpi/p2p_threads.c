/* p2p_threads.c -- MPI_THREAD_MULTIPLE: threads that share one communicator (tags apart) and threads with one each; blocking and
 * non-blocking, small and large, probes; a message is completed by a thread other than the one that sees it arrive.
 *
 * users.md row 12
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 150, MAX = 120000 };

struct job {
    pthread_t thread;
    int id, bad;
    MPI_Comm comm;
};

static int bytes_of(int id, int round)
{
    static const int some[] = {8, 40, 600, 9000, 20000, MAX};
    return some[(id + round * 5) % 6];
}

static void *talk(void *arg)
{
    struct job *j = arg;
    int partner = rank ^ 1;
    unsigned char *out = malloc(MAX), *in = malloc(MAX);
    for (int r = 0; r < ROUNDS; r++) {
        int n = bytes_of(j->id, r), tag = j->id * 1000 + r;
        MPI_Request q[2];
        MPI_Status s[2];
        pattern_fill(out, n, (unsigned)(rank * 77 + tag));
        memset(in, 0, (size_t)n);
        switch (r % 4) {
        case 0:
            MPI_Irecv(in, MAX, MPI_BYTE, partner, tag, j->comm, &q[0]);
            MPI_Isend(out, n, MPI_BYTE, partner, tag, j->comm, &q[1]);
            MPI_Waitall(2, q, s);
            break;
        case 1: MPI_Sendrecv(out, n, MPI_BYTE, partner, tag, in, MAX, MPI_BYTE, partner, tag, j->comm, &s[0]); break;
        case 2:
            MPI_Issend(out, n, MPI_BYTE, partner, tag, j->comm, &q[1]);
            MPI_Recv(in, MAX, MPI_BYTE, MPI_ANY_SOURCE, tag, j->comm, &s[0]);
            MPI_Wait(&q[1], &s[1]);
            break;
        default: {
            MPI_Message m;
            MPI_Isend(out, n, MPI_BYTE, partner, tag, j->comm, &q[1]);
            MPI_Mprobe(partner, tag, j->comm, &m, &s[0]);
            MPI_Mrecv(in, count_of(&s[0]), MPI_BYTE, &m, &s[0]);
            MPI_Wait(&q[1], &s[1]);
        }
        }
        if (s[0].MPI_SOURCE != partner || s[0].MPI_TAG != tag || count_of(&s[0]) != n) j->bad++;
        if (pattern_wrong(in, n, (unsigned)(partner * 77 + tag)) != -1) j->bad++;
    }
    free(out);
    free(in);
    return NULL;
}

static void run(int own_comms)
{
    struct job j[THREADS];
    for (int i = 0; i < THREADS; i++) {
        j[i] = (struct job){.id = i, .comm = MPI_COMM_WORLD};
        if (own_comms) MPI_Comm_dup(MPI_COMM_WORLD, &j[i].comm);
    }
    int has_partner = (rank ^ 1) < size;
    for (int i = 0; i < THREADS && has_partner; i++) pthread_create(&j[i].thread, NULL, talk, &j[i]);
    for (int i = 0; i < THREADS && has_partner; i++) {
        pthread_join(j[i].thread, NULL);
        CHECK_EQ(j[i].bad, 0);
    }
    for (int i = 0; i < THREADS && own_comms; i++) MPI_Comm_free(&j[i].comm);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    test_begin();
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    if (provided == MPI_THREAD_MULTIPLE) {
        run(0);
        run(1);
    }
    return test_end();
}
