/* undumpable.c -- programs that forbid others to read their memory (PR_SET_DUMPABLE) after MPI_Init: messages, collectives and windows
 * go another way, whole.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "p2p_check.h"

static const long sizes[] = {8, 1000, 20000, 100000, 400000, 3000001};
enum { SIZES = sizeof sizes / sizeof *sizes, MOST = 3000001 };

/* Root may read everything. */
static void give_up_rights(void)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0}};
    CHECK_EQ(syscall(SYS_capset, &head, none), 0);
}

static void messages(unsigned seed)
{
    unsigned char *out = malloc(MOST), *in = malloc(MOST);
    for (int i = 0; i < SIZES; i++)
        for (int step = 1; step < size; step++) {
            int to = (rank + step) % size, from = (rank + size - step) % size;
            MPI_Status s;
            pattern_fill(out, sizes[i], seed + (unsigned)rank);
            memset(in, 0, (size_t)sizes[i]);
            MPI_Sendrecv(out, (int)sizes[i], MPI_BYTE, to, i, in, MOST, MPI_BYTE, from, i, MPI_COMM_WORLD, &s);
            CHECK_EQ(count_of(&s), sizes[i]);
            CHECK_EQ(pattern_wrong(in, sizes[i], seed + (unsigned)from), -1);
            /* and in one direction at a time, where the sender helps */
            if (rank == 0) MPI_Send(out, (int)sizes[i], MPI_BYTE, step, 9, MPI_COMM_WORLD);
            if (rank == step) {
                MPI_Recv(in, MOST, MPI_BYTE, 0, 9, MPI_COMM_WORLD, &s);
                CHECK_EQ(pattern_wrong(in, sizes[i], seed), -1);
                MPI_Send(in, (int)sizes[i], MPI_BYTE, 0, 10, MPI_COMM_WORLD);
            }
            if (rank == 0) {
                memset(in, 0, (size_t)sizes[i]);
                MPI_Recv(in, MOST, MPI_BYTE, step, 10, MPI_COMM_WORLD, &s);
                CHECK_EQ(pattern_wrong(in, sizes[i], seed), -1);
            }
        }
    free(out);
    free(in);
}

static void collectives(MPI_Comm comm, unsigned seed)
{
    unsigned char *mine = malloc(MOST), *all = malloc((size_t)MOST * (size_t)size);
    for (int i = 0; i < SIZES; i++) {
        long n = sizes[i];
        for (int root = 0; root < size; root++) {
            memset(all, 0, (size_t)n);
            if (rank == root) pattern_fill(all, n, seed + (unsigned)root);
            MPI_Bcast(all, (int)n, MPI_BYTE, root, comm);
            CHECK_EQ(pattern_wrong(all, n, seed + (unsigned)root), -1);
        }
        pattern_fill(mine, n, seed + 50 + (unsigned)rank);
        memset(all, 0, (size_t)(n * size));
        MPI_Allgather(mine, (int)n, MPI_BYTE, all, (int)n, MPI_BYTE, comm);
        for (int r = 0; r < size; r++) CHECK_EQ(pattern_wrong(all + n * r, n, seed + 50 + (unsigned)r), -1);
        long each = n / size;
        for (int r = 0; r < size; r++) pattern_fill(mine + each * r, each, seed + (unsigned)(rank * size + r));
        MPI_Alltoall(mine, (int)each, MPI_BYTE, all, (int)each, MPI_BYTE, comm);
        for (int r = 0; r < size; r++) CHECK_EQ(pattern_wrong(all + each * r, each, seed + (unsigned)(r * size + rank)), -1);
        int words = (int)(n / 8), wrong = 0;
        long long *a = (void *)mine, *b = (void *)all;
        for (int k = 0; k < words; k++) a[k] = k * (rank + 1LL);
        MPI_Allreduce(a, b, words, MPI_LONG_LONG, MPI_SUM, comm);
        for (int k = 0; k < words; k++) wrong += b[k] != (long long)k * size * (size + 1) / 2;
        MPI_Reduce_scatter_block(a, b, words / size, MPI_LONG_LONG, MPI_SUM, comm);
        for (int k = 0; k < words / size; k++) wrong += b[k] != (long long)(k + rank * (words / size)) * size * (size + 1) / 2;
        CHECK_EQ(wrong, 0);
    }
    free(mine);
    free(all);
}

/* Each rank has MOST bytes of the window for every rank. */
static void one_sided(MPI_Win win, unsigned seed)
{
    unsigned char *mine = malloc(MOST);
    int right = (rank + 1) % size;
    long long sum = 0, one = 1;
    for (int i = 0; i < SIZES; i++) {
        long n = sizes[i];
        pattern_fill(mine, n, seed + (unsigned)(rank + i));
        MPI_Win_fence(0, win);
        MPI_Put(mine, (int)n, MPI_BYTE, right, 8 + (MPI_Aint)MOST * rank, (int)n, MPI_BYTE, win);
        MPI_Win_fence(0, win);
        memset(mine, 0, (size_t)n);
        int left = (rank + size - 1) % size;
        MPI_Get(mine, (int)n, MPI_BYTE, rank == left ? rank : right, 8 + (MPI_Aint)MOST * rank, (int)n, MPI_BYTE, win);
        MPI_Win_fence(0, win);
        CHECK_EQ(pattern_wrong(mine, n, seed + (unsigned)(rank + i)), -1);
        MPI_Win_lock(MPI_LOCK_SHARED, left, 0, win);
        memset(mine, 0, (size_t)n);
        MPI_Get(mine, (int)n, MPI_BYTE, left, 8 + (MPI_Aint)MOST * ((left + size - 1) % size), (int)n, MPI_BYTE, win);
        MPI_Win_unlock(left, win);
        CHECK_EQ(pattern_wrong(mine, n, seed + (unsigned)((left + size - 1) % size + i)), -1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_lock_all(0, win);
    long long before = 0;
    MPI_Fetch_and_op(NULL, &before, MPI_LONG_LONG, 0, 0, MPI_NO_OP, win);
    MPI_Win_flush(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; k < 100; k++) MPI_Accumulate(&one, 1, MPI_LONG_LONG, 0, 0, 1, MPI_LONG_LONG, MPI_SUM, win);
    MPI_Win_flush(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Fetch_and_op(NULL, &sum, MPI_LONG_LONG, 0, 0, MPI_NO_OP, win);
    MPI_Win_flush(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    CHECK_EQ(sum - before, 100 * size);
    free(mine);
}

/* Long and scattered accesses, accumulates of all kinds, locks; counts are those of every rank. */
static void more_one_sided(MPI_Win win)
{
    enum { N = 5000 };
    static long long ones[N], old[N], got[N], words[2 * N];
    MPI_Datatype apart;
    MPI_Type_vector(N, 1, 2, MPI_LONG_LONG, &apart);
    MPI_Type_commit(&apart);
    for (int i = 0; i < N; i++) ones[i] = 1 + i;
    MPI_Win_fence(0, win);
    for (int to = 0; to < size; to++) MPI_Accumulate(ones, N, MPI_LONG_LONG, to, 8, N, MPI_LONG_LONG, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Win_lock_all(0, win);
    for (int to = 0; to < size; to++) {
        MPI_Get(got, N, MPI_LONG_LONG, to, 8, N, MPI_LONG_LONG, win);
        MPI_Win_flush(to, win);
        for (int i = 0; i < N; i++) CHECK_EQ(got[i], size * (1LL + i));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int left = (rank + size - 1) % size;
    MPI_Get_accumulate(ones, N, MPI_LONG_LONG, old, N, MPI_LONG_LONG, left, 8, N, MPI_LONG_LONG, MPI_REPLACE, win);
    MPI_Win_flush(left, win);
    for (int i = 0; i < N; i++) CHECK_EQ(old[i], size * (1LL + i));
    MPI_Put(ones, N, MPI_LONG_LONG, left, 100000, 1, apart, win);
    MPI_Win_flush(left, win);
    MPI_Get(words, 2 * N, MPI_LONG_LONG, left, 100000, 2 * N, MPI_LONG_LONG, win);
    MPI_Win_flush(left, win);
    for (int i = 0; i < N; i++) CHECK(words[2 * i] == 1 + i && words[2 * i + 1] == 0);
    long long zero = 0, was, mine = rank + 1, won = 0, all = 0;
    MPI_Compare_and_swap(&mine, &zero, &was, MPI_LONG_LONG, 0, 200000, win);
    MPI_Win_flush(0, win);
    won = was == 0;
    MPI_Win_unlock_all(win);
    MPI_Allreduce(&won, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(all, 1);
    MPI_Type_free(&apart);
}

static MPI_Win made;
static unsigned char *made_base;
static void window_make(void)
{
    MPI_Aint bytes = 8 + (MPI_Aint)MOST * size;
    made_base = calloc(1, (size_t)bytes);
    MPI_Win_create(made_base, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &made);
}
static void window_use(unsigned seed)
{
    one_sided(made, seed);
    MPI_Win_free(&made);
    free(made_base);
}
static MPI_Win counted;
static long long *counted_base;

/* Rank `who` cannot be read, and has no room for a copy of what it sends: a receiver that needs one gets an error that names the rank
 * and the reason. */
static void refused(int who, int is_over)
{
    char text[MPI_MAX_ERROR_STRING] = "", name[64];
    unsigned char *mine = calloc(1, MOST), *all = malloc((size_t)MOST * (size_t)size);
    int n, rc;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    rc = MPI_Allgather(mine, MOST, MPI_BYTE, all, MOST, MPI_BYTE, MPI_COMM_WORLD);
    CHECK((rc == MPI_SUCCESS) == (!is_over || rank == who));
    if (rc != MPI_SUCCESS) MPI_Error_string(rc, text, &n);
    snprintf(name, sizeof name, "memory of rank %d of the job cannot be read any more", who);
    CHECK(rc == MPI_SUCCESS || (strstr(text, name) && strstr(text, "PR_SET_DUMPABLE") && strstr(text, "GODWIT_HEAP")));
    free(mine);
    free(all);
}

static void window(unsigned seed)
{
    window_make();
    window_use(seed);
}

/* Memory that is shared by opening the files of a rank. */
static void allocated(unsigned seed)
{
    MPI_Win w;
    unsigned char *base;
    MPI_Aint bytes = 8 + (MPI_Aint)MOST * size;
    for (int i = 0; i < 2; i++) {
        MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w);
        memset(base, 0, (size_t)bytes);
        MPI_Barrier(MPI_COMM_WORLD);
        one_sided(w, seed);
        MPI_Win_free(&w);
    }
    MPI_Comm node;
    int mine, there, unit;
    MPI_Aint n;
    long *shared;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &mine);
    MPI_Comm_size(node, &there);
    MPI_Win_allocate_shared(100000 * sizeof(long), sizeof(long), MPI_INFO_NULL, node, &shared, &w);
    MPI_Win_fence(0, w);
    for (int i = 0; i < 100000; i++) shared[i] = mine * 1000000L + i;
    MPI_Win_fence(0, w);
    for (int r = 0; r < there; r++) {
        MPI_Win_shared_query(w, r, &n, &unit, &shared);
        for (int i = 0; i < 100000; i++) CHECK_EQ(shared[i], r * 1000000L + i);
    }
    MPI_Win_free(&w);
    MPI_Comm_free(&node);
}

/* undumpable WHAT [WHO [late]]: all ranks (-1) or one of them.  late: after everything has gone directly once.  window: made afterwards;
 * made: before. */
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    const char *what = argc > 1 ? argv[1] : "";
    int who = argc > 2 ? atoi(argv[2]) : -1, is_late = argc > 3;
    give_up_rights();
    MPI_Barrier(MPI_COMM_WORLD); /* a process that has them cannot be read by one that has not */
    if (strcmp(what, "refused") == 0) refused(who, 0);
    if (is_late) messages(300);
    if (is_late && strcmp(what, "collectives") == 0) collectives(MPI_COMM_WORLD, 400);
    if (strcmp(what, "made") == 0) {
        window_make();
        counted_base = calloc(8, 300000);
        MPI_Win_create(counted_base, 8 * 300000, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &counted);
        if (is_late) one_sided(made, 200);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (who < 0 || who == rank) {
        CHECK_EQ(prctl(PR_SET_DUMPABLE, 0), 0);
        CHECK_EQ(prctl(PR_GET_DUMPABLE), 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(what, "messages") == 0) messages(1);
    if (strcmp(what, "collectives") == 0) collectives(MPI_COMM_WORLD, 2);
    if (strcmp(what, "window") == 0) window(4);
    if (strcmp(what, "allocated") == 0) allocated(6);
    if (strcmp(what, "refused") == 0) refused(who, 1);
    if (strcmp(what, "made") == 0) {
        more_one_sided(counted);
        MPI_Win_free(&counted);
        free(counted_base);
        window_use(5);
    }
    return test_end();
}
