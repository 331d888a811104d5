/* comm_threads.c -- threads that make, use and free communicators at the same time, each on a parent of its own; and several
 * threads that call MPI_Comm_create_group on one parent with different tags.
 *
 * users.md row 12
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>

#include "p2p_check.h"

enum { THREADS = 4, ROUNDS = 25 };
struct job {
    pthread_t thread;
    int id, bad;
    MPI_Comm parent;
};

/* A sum, and a message to the right that carries thread and round. */
static int use(MPI_Comm c, int id, int round)
{
    int r, s, sum = 0, mine = id * 1000 + round, got = -1;
    MPI_Comm_rank(c, &r);
    MPI_Comm_size(c, &s);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, c);
    MPI_Sendrecv(&mine, 1, MPI_INT, (r + 1) % s, 0, &got, 1, MPI_INT, (r + s - 1) % s, 0, c, MPI_STATUS_IGNORE);
    return (sum != s * mine) + (got != mine);
}

static void *churn(void *arg)
{
    struct job *j = arg;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm a, b, c;
        int r;
        MPI_Comm_dup(j->parent, &a);
        j->bad += use(a, j->id, i);
        MPI_Comm_rank(a, &r);
        MPI_Comm_split(a, r % (1 + j->id), r, &b);
        j->bad += use(b, j->id, i);
        MPI_Comm_dup(b, &c);
        MPI_Comm_free(&a);
        j->bad += use(c, j->id, i);
        MPI_Comm_free(&b);
        MPI_Comm_free(&c);
    }
    return NULL;
}

/* Threads meet by their tag; odd threads leave rank 0 out. */
static void *by_tag(void *arg)
{
    struct job *j = arg;
    MPI_Group world, g;
    int zero = 0;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    if (j->id % 2)
        MPI_Group_excl(world, 1, &zero, &g);
    else
        MPI_Comm_group(MPI_COMM_WORLD, &g);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm c;
        if (j->id % 2 && rank == 0) continue;
        MPI_Comm_create_group(MPI_COMM_WORLD, g, j->id, &c);
        if (c == MPI_COMM_NULL) {
            j->bad++;
            continue;
        }
        j->bad += use(c, j->id, i);
        MPI_Comm_free(&c);
    }
    MPI_Group_free(&g);
    MPI_Group_free(&world);
    return NULL;
}

static void run(void *(*fn)(void *), int own_parent)
{
    struct job j[THREADS];
    for (int i = 0; i < THREADS; i++) {
        j[i] = (struct job){.id = i, .parent = MPI_COMM_NULL};
        if (own_parent) MPI_Comm_dup(MPI_COMM_WORLD, &j[i].parent);
    }
    for (int i = 0; i < THREADS; i++) pthread_create(&j[i].thread, NULL, fn, &j[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(j[i].thread, NULL);
        CHECK_EQ(j[i].bad, 0);
        if (own_parent) MPI_Comm_free(&j[i].parent);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    test_begin();
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    if (provided == MPI_THREAD_MULTIPLE) {
        run(churn, 1);
        if (size > 1) run(by_tag, 0);
    }
    return test_end();
}
