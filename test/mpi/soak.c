/* soak.c -- a long run does not grow: once its pools are full, a million messages of many sizes, a hundred thousand communicators, types,
 * operations, groups and requests leave the resident memory where it was.  Argument: a divisor of the work, default 10.
 *
 * users.md row 22
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <unistd.h>

#include "p2p_check.h"

enum { MOST = 40000, WINDOW = 32, ALLOWED_KIB = 32 };
static const int lengths[] = {0, 8, 100, 1000, 3000, 9000, 20000, MOST};
static char in[MOST], out[WINDOW][MOST];

/* Of sanitizers' libraries: what is allocated and not freed. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

/* Pages of this process alone: the shared segment is filled bit by bit, up to its size.  A sanitizer keeps pages that were freed, to find uses
 * of them; there it says what is allocated. */
static long private_kib(void)
{
    long total, resident = 0, shared = 0;
    if (__sanitizer_get_current_allocated_bytes) return (long)(__sanitizer_get_current_allocated_bytes() / 1024);
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld %ld", &total, &resident, &shared) != 3) failures++;
    if (f) fclose(f);
    return (resident - shared) * (sysconf(_SC_PAGESIZE) / 1024);
}

static void messages(int rounds)
{
    MPI_Request q[2 * WINDOW];
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int k = 0; k < rounds; k++) {
        int n = lengths[k % 8];
        if (n > 0) in[n - 1] = (char)k;
        for (int i = 0; i < WINDOW; i++) {
            if (k % 2) MPI_Irecv(out[i], MOST, MPI_CHAR, from, i, MPI_COMM_WORLD, &q[i]);
            MPI_Isend(in, n, MPI_CHAR, to, i, MPI_COMM_WORLD, &q[WINDOW + i]);
        }
        /* Every second round the messages come unexpected. */
        for (int i = 0; i < WINDOW && k % 2 == 0; i++)
            MPI_Irecv(out[i], MOST, MPI_CHAR, i % 4 ? from : MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &q[i]);
        MPI_Waitall(2 * WINDOW, q, MPI_STATUSES_IGNORE);
        if (n > 0) CHECK_EQ(out[WINDOW - 1][n - 1], (char)k);
    }
}
static void communicators(int rounds)
{
    MPI_Comm dup, half;
    for (int k = 0; k < rounds; k++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &dup);
        if (k % 16 == 0) {
            int sum = 0;
            MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, dup);
            CHECK_EQ(sum, size * (size - 1) / 2);
            MPI_Comm_split(dup, rank % 2, rank, &half);
            MPI_Barrier(half);
            MPI_Comm_free(&half);
        }
        MPI_Comm_free(&dup);
    }
}
static void add(void *a, void *b, int *n, MPI_Datatype *t)
{
    (void)t;
    for (int i = 0; i < *n; i++) ((int *)b)[i] += ((int *)a)[i];
}
static void objects(int rounds)
{
    static const int lens[3] = {1, 2, 3}, places[3] = {9, 0, 4};
    for (int k = 0; k < rounds; k++) {
        MPI_Datatype vector, indexed;
        MPI_Group world, one;
        MPI_Request q[2];
        MPI_Info info;
        MPI_Errhandler eh;
        MPI_Op op;
        int v[12] = {k, 1, 2, 3}, w[12] = {0}, key;
        MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
        MPI_Type_indexed(3, lens, places, vector, &indexed);
        MPI_Type_commit(&vector), MPI_Type_commit(&indexed);
        MPI_Recv_init(w, 1, vector, rank, 1, MPI_COMM_WORLD, &q[0]);
        MPI_Send_init(v, 1, vector, rank, 1, MPI_COMM_WORLD, &q[1]);
        MPI_Startall(2, q);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        CHECK_EQ(w[0] + w[2], k + 2);
        MPI_Request_free(&q[0]), MPI_Request_free(&q[1]);
        MPI_Type_free(&vector), MPI_Type_free(&indexed);
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        MPI_Group_incl(world, 1, &rank, &one);
        MPI_Group_free(&world), MPI_Group_free(&one);
        MPI_Info_create(&info);
        MPI_Info_set(info, "key", "value");
        MPI_Info_free(&info);
        MPI_Op_create(add, 1, &op);
        MPI_Reduce_local(v, w, 1, MPI_INT, op);
        MPI_Op_free(&op);
        MPI_Comm_get_errhandler(MPI_COMM_WORLD, &eh);
        MPI_Errhandler_free(&eh);
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, v);
        MPI_Comm_delete_attr(MPI_COMM_SELF, key);
        MPI_Comm_free_keyval(&key);
    }
}
static void collectives(int rounds)
{
    MPI_Request q;
    for (int k = 0; k < rounds; k++) {
        int n = lengths[k % 8] / 8;
        MPI_Iallreduce(in, out[0], n / 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q);
        MPI_Bcast(out[1], n, MPI_CHAR, k % size, MPI_COMM_WORLD);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        MPI_Ibarrier(MPI_COMM_WORLD, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
}

/* Pools fill up to their caps at first; then the work, done once more, grows nothing.  What leaks grows every time; pages that the kernel had
 * taken back come again now and then, on one rank or another. */
static void soak(const char *what, void (*work)(int), int rounds)
{
    enum { TRIES = 12 };
    long least = LONG_MAX, most = 0;
    for (int i = 0; i < TRIES; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        long before = private_kib();
        work(rounds);
        long grown = private_kib() - before;
        least = grown < least ? grown : least;
        MPI_Allreduce(&least, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
        if (most <= ALLOWED_KIB) return;
    }
    if (failures++ < 20) fprintf(stderr, "rank %d: %s: %ld KiB more with each %d rounds\n", rank, what, least, rounds);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    int less = argc > 1 ? atoi(argv[1]) : 10;
    memset(in, 7, sizeof in);
    memset(out, 0, sizeof out);
    soak("messages", messages, 1000000 / WINDOW / less);
    soak("communicators", communicators, 100000 / less);
    soak("objects", objects, 100000 / less);
    soak("collectives", collectives, 100000 / less);
    return test_end();
}
