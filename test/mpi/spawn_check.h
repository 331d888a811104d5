/* spawn_check.h -- what the tests of several jobs share: all that two groups do with each other over an intercommunicator.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_SPAWN_CHECK_H
#define GW_TEST_SPAWN_CHECK_H

#include "p2p_check.h"

static unsigned seed_of(int me, int to, int bytes) { return (unsigned)(me * 1009 + to * 31 + bytes) * 2u; }

/* Everybody here with everybody there, in both directions, in all protocols. */
static inline void inter_messages(MPI_Comm inter, int first)
{
    static const int sizes[] = {0, 1, 40, 41, 4000, 20000, 300000};
    int me, n;
    MPI_Comm_rank(inter, &me);
    MPI_Comm_remote_size(inter, &n);
    for (int s = 0; s < 7; s++) {
        int bytes = sizes[s];
        unsigned char *out = malloc((size_t)bytes * (size_t)n + 1), *in = malloc((size_t)bytes * (size_t)n + 1);
        MPI_Request *req = malloc(sizeof *req * 2 * (size_t)n);
        MPI_Status st;
        for (int i = 0; i < n; i++) {
            pattern_fill(out + (long)i * bytes, bytes, seed_of(me, i, bytes) + (unsigned)first);
            MPI_Irecv(in + (long)i * bytes, bytes, MPI_BYTE, i, s, inter, &req[i]);
        }
        for (int i = 0; i < n; i++) {
            if ((i + s) % 2)
                MPI_Issend(out + (long)i * bytes, bytes, MPI_BYTE, i, s, inter, &req[n + i]);
            else
                MPI_Isend(out + (long)i * bytes, bytes, MPI_BYTE, i, s, inter, &req[n + i]);
        }
        for (int i = 0; i < n; i++) {
            MPI_Wait(&req[i], &st);
            CHECK_EQ(st.MPI_SOURCE, i);
            CHECK_EQ(count_of(&st), bytes);
            CHECK_EQ(pattern_wrong(in + (long)i * bytes, bytes, seed_of(i, me, bytes) + (unsigned)!first), -1);
        }
        MPI_Waitall(n, req + n, MPI_STATUSES_IGNORE);
        free(out);
        free(in);
        free(req);
    }
}

static inline void inter_collectives(MPI_Comm inter, int first)
{
    int me, here, there, v, sum = 0;
    MPI_Comm_rank(inter, &me);
    MPI_Comm_size(inter, &here);
    MPI_Comm_remote_size(inter, &there);
    v = first ? 100 + me : 1 + me;
    MPI_Allreduce(&v, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK_EQ(sum, there * (first ? 1 : 100) + there * (there - 1) / 2);
    int *all = calloc((size_t)there, sizeof *all);
    MPI_Allgather(&v, 1, MPI_INT, all, 1, MPI_INT, inter);
    for (int i = 0; i < there; i++) CHECK_EQ(all[i], (first ? 1 : 100) + i);
    free(all);
    int word = first && me == here - 1 ? 4711 : 0;
    if (first) /* its last rank is the root: the other side names it by its rank */
        MPI_Bcast(&word, 1, MPI_INT, me == here - 1 ? MPI_ROOT : MPI_PROC_NULL, inter);
    else
        MPI_Bcast(&word, 1, MPI_INT, there - 1, inter);
    CHECK_EQ(word, first && me < here - 1 ? 0 : 4711);
    MPI_Barrier(inter);
}

/* Merged, split and put together again. */
static inline void inter_merge(MPI_Comm inter, int first)
{
    MPI_Comm all, copy, half, again;
    int me, here, there, rank_all, size_all, result;
    MPI_Comm_rank(inter, &me);
    MPI_Comm_size(inter, &here);
    MPI_Comm_remote_size(inter, &there);
    MPI_Intercomm_merge(inter, !first, &all);
    MPI_Comm_rank(all, &rank_all);
    MPI_Comm_size(all, &size_all);
    CHECK_EQ(size_all, here + there);
    CHECK_EQ(rank_all, first ? me : there + me);
    long sum = 0, v = 1 + rank_all;
    MPI_Allreduce(&v, &sum, 1, MPI_LONG, MPI_SUM, all);
    CHECK_EQ(sum, (long)size_all * (size_all + 1) / 2);
    int *from = calloc((size_t)size_all, sizeof *from), *to = calloc((size_t)size_all, sizeof *to);
    for (int i = 0; i < size_all; i++) to[i] = rank_all * 1000 + i;
    MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, all);
    for (int i = 0; i < size_all; i++) CHECK_EQ(from[i], i * 1000 + rank_all);
    free(from);
    free(to);
    MPI_Comm_dup(all, &copy);
    MPI_Comm_compare(all, copy, &result);
    CHECK_EQ(result, MPI_CONGRUENT);
    MPI_Comm_split(copy, rank_all % 2, -rank_all, &half);
    int n_half, r_half, top = rank_all, got = -1;
    MPI_Comm_size(half, &n_half);
    MPI_Comm_rank(half, &r_half);
    MPI_Bcast(&top, 1, MPI_INT, 0, half); /* ranks go down */
    CHECK_EQ(top, rank_all + 2 * r_half);
    CHECK(n_half == (size_all + 1 - rank_all % 2) / 2);
    if (size_all > 1) { /* of the two halves an intercommunicator, each with processes of both jobs */
        MPI_Intercomm_create(half, 0, copy, rank_all % 2 ? (size_all - 1) / 2 * 2 : size_all / 2 * 2 - 1, 9, &again);
        MPI_Allreduce(&rank_all, &got, 1, MPI_INT, MPI_MIN, again);
        CHECK_EQ(got, !(rank_all % 2));
        MPI_Comm_free(&again);
    }
    MPI_Comm_free(&half);
    MPI_Comm_free(&copy);
    MPI_Comm_disconnect(&all);
    CHECK(all == MPI_COMM_NULL);
}

static inline void inter_everything(MPI_Comm inter, int first)
{
    MPI_Comm copy;
    int flag = 0;
    MPI_Comm_test_inter(inter, &flag);
    CHECK(flag);
    inter_messages(inter, first);
    inter_collectives(inter, first);
    inter_merge(inter, first);
    MPI_Comm_dup(inter, &copy);
    inter_collectives(copy, first);
    MPI_Comm_free(&copy);
}

/* In a process that was spawned, what children do; false: this one was not. */
static inline int spawn_child(int argc, char **argv, void (*child)(int argc, char **argv, MPI_Comm parent))
{
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) return 0;
    child(argc, argv, parent);
    return 1;
}

#endif
