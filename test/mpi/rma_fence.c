/* rma_fence.c -- windows of every kind, fences, and put, get, accumulate and their like between layouts.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>

#include "rma_check.h"

#include <stdint.h>

enum { SMALL = 1000, BIG = 300000 };

/* Everybody writes a block into everybody's window, then reads them all. */
static void blocks(int kind, int bytes)
{
    struct window w;
    unsigned char *all = malloc((size_t)bytes * (size_t)size), *in = malloc((size_t)bytes);
    window_make(&w, kind, (MPI_Aint)bytes * size);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, w.win);
    for (int i = 0; i < size; i++) {
        unsigned char *out = all + (size_t)bytes * (size_t)i;
        pattern_fill(out, bytes, (unsigned)(rank * 100 + i));
        MPI_Put(out, bytes, MPI_BYTE, i, w.at[i] + (MPI_Aint)bytes * rank, bytes, MPI_BYTE, w.win);
    }
    MPI_Win_fence(0, w.win);
    for (int i = 0; i < size; i++) CHECK_EQ(pattern_wrong(w.base + (size_t)bytes * i, bytes, (unsigned)(i * 100 + rank)), -1);
    for (int i = 0; i < size; i++) {
        int from = (rank + i) % size;
        memset(in, 0, (size_t)bytes);
        MPI_Get(in, bytes, MPI_BYTE, i, w.at[i] + (MPI_Aint)bytes * from, bytes, MPI_BYTE, w.win);
        MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT, w.win);
        CHECK_EQ(pattern_wrong(in, bytes, (unsigned)(from * 100 + i)), -1);
    }
    MPI_Put(all, bytes, MPI_BYTE, MPI_PROC_NULL, 0, bytes, MPI_BYTE, w.win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win);
    window_free(&w);
    free(all);
    free(in);
}

/* A column of a matrix becomes a run with gaps at the right neighbour, and comes back as a row. */
static void layouts(int kind)
{
    enum { N = 40 };
    struct window w;
    MPI_Datatype column, gaps;
    int m[N][N], row[N], right = (rank + 1) % size, left = (rank + size - 1) % size;
    window_make(&w, kind, 3 * N * (MPI_Aint)sizeof(int));
    MPI_Type_vector(N, 1, N, MPI_INT, &column);
    MPI_Type_vector(N, 1, 3, MPI_INT, &gaps);
    MPI_Type_commit(&column);
    MPI_Type_commit(&gaps);
    for (int i = 0; i < N * N; i++) ((int *)m)[i] = rank * 10000 + i;
    for (int i = 0; i < 3 * N; i++) ((int *)w.base)[i] = -1;
    MPI_Win_fence(0, w.win);
    MPI_Put(&m[0][7], 1, column, right, w.at[right], 1, gaps, w.win);
    MPI_Win_fence(0, w.win);
    for (int i = 0; i < 3 * N; i++) CHECK_EQ(((int *)w.base)[i], i % 3 ? -1 : left * 10000 + i / 3 * N + 7);
    MPI_Get_c(row, N, MPI_INT, right, w.at[right], 1, gaps, w.win);
    MPI_Win_fence(0, w.win);
    for (int i = 0; i < N; i++) CHECK_EQ(row[i], rank * 10000 + i * N + 7);
    for (int i = 0; i < N; i++) row[i] = i;
    MPI_Accumulate(row, N, MPI_INT, right, w.at[right], 1, gaps, MPI_SUM, w.win);
    MPI_Win_fence(0, w.win);
    for (int i = 0; i < 3 * N; i++) CHECK_EQ(((int *)w.base)[i], i % 3 ? -1 : left * 10000 + i / 3 * N + 7 + i / 3);
    MPI_Win_fence(0, w.win); /* what follows changes it */
    memset(m, 0, sizeof m);
    MPI_Get_accumulate(row, N, MPI_INT, &m[0][3], 1, column, right, w.at[right], 1, gaps, MPI_REPLACE, w.win);
    MPI_Win_fence(0, w.win);
    for (int i = 0; i < N; i++) CHECK_EQ(m[i][3], rank * 10000 + i * N + 7 + i);
    for (int i = 0; i < 3 * N; i++) CHECK_EQ(((int *)w.base)[i], i % 3 ? -1 : i / 3);
    MPI_Type_free(&column);
    MPI_Type_free(&gaps);
    window_free(&w);
}

static long combined(MPI_Op op, long have, long with)
{
    return op == MPI_SUM    ? have + with
        : op == MPI_PROD    ? have * with
        : op == MPI_MAX     ? (have > with ? have : with)
        : op == MPI_MIN     ? (have < with ? have : with)
        : op == MPI_BAND    ? (have & with)
        : op == MPI_BOR     ? (have | with)
        : op == MPI_BXOR    ? (have ^ with)
        : op == MPI_LAND    ? (have && with)
        : op == MPI_LOR     ? (have || with)
        : op == MPI_LXOR    ? (!have != !with)
        : op == MPI_REPLACE ? with
                            : have;
}

/* Every operation, by every rank on rank 0; the old values are those of some order. */
static void operations(int kind)
{
    const MPI_Op ops[] = {MPI_SUM,  MPI_PROD, MPI_MAX, MPI_MIN,  MPI_BAND,    MPI_BOR,
                          MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_REPLACE, MPI_NO_OP};
    enum { OPS = sizeof ops / sizeof *ops };
    struct window w;
    window_make(&w, kind, OPS * 2 * (MPI_Aint)sizeof(long));
    long *mine = (long *)w.base, with = 2 + rank % 2, old[OPS], seen[OPS];
    for (int i = 0; i < 2 * OPS; i++) mine[i] = 3;
    MPI_Win_fence(0, w.win);
    for (int i = 0; i < OPS; i++) {
        MPI_Aint at = w.at[0] + i * (MPI_Aint)sizeof(long), at2 = at + OPS * (MPI_Aint)sizeof(long);
        if (ops[i] != MPI_NO_OP && ops[i] != MPI_REPLACE) MPI_Accumulate(&with, 1, MPI_LONG, 0, at, 1, MPI_LONG, ops[i], w.win);
        if (rank == size - 1) { /* alone there: the old value is known */
            MPI_Fetch_and_op(&with, &old[i], MPI_LONG, 0, at2, ops[i], w.win);
            MPI_Get_accumulate(NULL, 0, MPI_BYTE, &seen[i], 1, MPI_LONG, 0, at2, 1, MPI_LONG, MPI_NO_OP, w.win);
        }
    }
    MPI_Win_fence(0, w.win);
    for (int i = 0; rank == size - 1 && i < OPS; i++) {
        CHECK_EQ(old[i], 3);
        CHECK_EQ(seen[i], combined(ops[i], 3, with));
    }
    for (int i = 0; rank == 0 && i < OPS; i++) {
        long want = 3;
        for (int r = 0; r < size && ops[i] != MPI_NO_OP && ops[i] != MPI_REPLACE; r++) want = combined(ops[i], want, 2 + r % 2);
        CHECK_EQ(mine[i], want);
    }
    window_free(&w);
}

/* Pairs, floating point, single bytes and compare_and_swap of every size. */
static void kinds_of_items(int kind)
{
    struct {
        double d;
        int i;
    } pair = {rank % 2 ? 7.5 : 2.5, rank}, *p;
    struct window w;
    window_make(&w, kind, 64);
    p = (void *)w.base;
    *p = (typeof(*p)){1.5, 99};
    ((double *)w.base)[2] = 0.25;
    memset(w.base + 24, 0, 40);
    MPI_Win_fence(0, w.win);
    double half = 0.5;
    MPI_Accumulate(&pair, 1, MPI_DOUBLE_INT, 0, w.at[0], 1, MPI_DOUBLE_INT, MPI_MAXLOC, w.win);
    MPI_Accumulate(&half, 1, MPI_DOUBLE, 0, w.at[0] + 16, 1, MPI_DOUBLE, MPI_SUM, w.win);
    const MPI_Datatype types[] = {MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T};
    int64_t none = 0, me = rank + 1, old[4];
    for (int i = 0; i < 4; i++) MPI_Compare_and_swap(&me, &none, &old[i], types[i], 0, w.at[0] + 24 + 8 * i, w.win);
    MPI_Win_fence(0, w.win);
    if (rank == 0) {
        CHECK(p->d == (size > 1 ? 7.5 : 2.5));
        CHECK_EQ(p->i, size > 1 ? 1 : 0);
        CHECK(((double *)w.base)[2] == 0.25 + 0.5 * size);
    }
    int8_t got = (int8_t)old[0], winner = 0;
    MPI_Get(&winner, 1, MPI_INT8_T, 0, w.at[0] + 24, 1, MPI_INT8_T, w.win);
    MPI_Win_fence(0, w.win);
    CHECK(winner >= 1 && winner <= size);
    CHECK_EQ(got, winner == rank + 1 ? 0 : winner);
    window_free(&w);
}

/* What windows say of themselves. */
static int deleted;
static int count_delete(MPI_Win win, int key, void *value, void *extra)
{
    (void)win, (void)key, (void)extra;
    deleted += *(int *)value;
    return MPI_SUCCESS;
}

static int model = MPI_WIN_UNIFIED; /* that windows are to have */

static void questions(int kind)
{
    const int flavors[KINDS] = {MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_SHARED,
                                MPI_WIN_FLAVOR_SHARED, MPI_WIN_FLAVOR_DYNAMIC,  MPI_WIN_FLAVOR_CREATE};
    struct window w;
    void *value;
    int flag, key, five = 5, len, result;
    char name[MPI_MAX_OBJECT_NAME], text[16];
    MPI_Group group, world;
    MPI_Info info;
    window_make(&w, kind, SMALL + rank);
    CHECK(MPI_Win_get_attr(w.win, MPI_WIN_CREATE_FLAVOR, &value, &flag) == MPI_SUCCESS && flag && *(int *)value == flavors[w.kind]);
    CHECK(MPI_Win_get_attr(w.win, MPI_WIN_MODEL, &value, &flag) == MPI_SUCCESS && flag && *(int *)value == model);
    CHECK(MPI_Win_get_attr(w.win, MPI_WIN_DISP_UNIT, &value, &flag) == MPI_SUCCESS && flag && *(int *)value == 1);
    MPI_Win_get_attr(w.win, MPI_WIN_SIZE, &value, &flag);
    CHECK_EQ(*(MPI_Aint *)value, kind == 4 ? 0 : SMALL + rank);
    MPI_Win_get_attr(w.win, MPI_WIN_BASE, &value, &flag);
    CHECK(flag && value == (kind == 4 ? MPI_BOTTOM : (void *)w.base));
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, count_delete, &key, NULL);
    MPI_Win_get_attr(w.win, key, &value, &flag);
    CHECK(!flag);
    MPI_Win_set_attr(w.win, key, &five);
    MPI_Win_get_attr(w.win, key, &value, &flag);
    CHECK(flag && value == &five);
    MPI_Win_delete_attr(w.win, key);
    CHECK_EQ(deleted, 5);
    MPI_Win_set_attr(w.win, key, &five);
    MPI_Win_free_keyval(&key);
    MPI_Win_get_name(w.win, name, &len);
    CHECK_EQ(len, 0);
    MPI_Win_set_name(w.win, "a name");
    MPI_Win_get_name(w.win, name, &len);
    CHECK(len == 6 && strcmp(name, "a name") == 0);
    MPI_Win_get_group(w.win, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &result);
    CHECK_EQ(result, MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    MPI_Win_get_info(w.win, &info);
    MPI_Info_get(info, "alloc_shared_noncontig", sizeof text - 1, text, &flag);
    CHECK(flag && strcmp(text, w.kind == 3 ? "true" : "false") == 0);
    MPI_Info_set(info, "no_locks", " true ");
    MPI_Win_set_info(w.win, info);
    MPI_Info_free(&info);
    MPI_Win_get_info(w.win, &info);
    MPI_Info_get(info, "no_locks", sizeof text - 1, text, &flag);
    CHECK(flag && strcmp(text, "true") == 0);
    MPI_Info_free(&info);
    window_free(&w);
    CHECK_EQ(deleted, 10);
    deleted = 0;
}

/* Loads and stores into each other's part; parts of different sizes, also of none. */
static void shared(int kind)
{
    struct window w;
    int bytes = rank % 3 == 1 ? 0 : 64 + 8 * rank, unit;
    MPI_Aint n;
    char *first, *p;
    window_make(&w, kind, bytes);
    MPI_Win_lock_all(0, w.win);
    memset(w.base, rank + 1, (size_t)bytes);
    MPI_Win_sync(w.win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(w.win);
    MPI_Win_shared_query(w.win, MPI_PROC_NULL, &n, &unit, &first);
    CHECK_EQ(n, is_neighbour(MPI_COMM_WORLD, 0) ? 64 : 0);
    CHECK_EQ(unit, 1);
    char *expected = first;
    for (int i = 0; i < size; i++) {
        int is_mapped = is_neighbour(MPI_COMM_WORLD, i);
        MPI_Win_shared_query(w.win, i, &n, &unit, &p);
        CHECK_EQ(n, i % 3 == 1 || !is_mapped ? 0 : 64 + 8 * i);
        CHECK(is_mapped || !p);
        for (int k = 0; k < n; k++) CHECK_EQ(p[k], i + 1);
        /* A part of no bytes lies where it would lie with some; its owner is told what it was given (MPI_Win_allocate_shared), the others
         * the same place, as the standard makes no difference between them. */
        if (w.kind == 2) CHECK(p == expected); /* without gaps */
        if (i == rank) CHECK(p == (char *)w.base);
        if (w.kind >= 1 && w.kind <= 3 && is_mapped) CHECK(p != NULL);
        if (w.kind == 2) expected = p + n;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(w.win);
    window_free(&w);
}

/* More memory of MPI_Alloc_mem than is kept in files, given back in another order; a window over the last piece. */
static void pieces(void)
{
    enum { N = 300, LONG = 3000 };
    static unsigned char *p[N];
    for (int i = 0; i < N; i++) {
        MPI_Alloc_mem(LONG + i, MPI_INFO_NULL, &p[i]);
        memset(p[i], i, LONG + (size_t)i);
    }
    for (int i = 0; i < N; i += 2) MPI_Free_mem(p[i]);
    for (int i = 1; i < N; i += 2) {
        for (int k = 0; k < LONG + i; k++) CHECK_EQ(p[i][k], i % 256);
        if (i < N - 1) MPI_Free_mem(p[i]);
    }
    MPI_Win win;
    int right = (rank + 1) % size;
    MPI_Win_create(p[N - 1], LONG, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    unsigned char mine = (unsigned char)rank;
    MPI_Put(&mine, 1, MPI_UNSIGNED_CHAR, right, LONG - 1, 1, MPI_UNSIGNED_CHAR, win);
    MPI_Win_fence(0, win);
    CHECK_EQ(p[N - 1][LONG - 1], (rank + size - 1) % size);
    MPI_Win_free(&win);
    MPI_Free_mem(p[N - 1]);
}

/* Memory that was given back serves again, also under other windows and for other sizes: the other ranks see what it is now. */
static void again(void)
{
    static const int sizes[] = {60000, 2000000, 58000, 1200000, 40 << 20, 2000000, 100, 60000, 9 << 20, 31 << 20, 60000};
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; i < (int)(sizeof sizes / sizeof sizes[0]); i++) {
        int *base, *other, n = sizes[i] / (int)sizeof(int), mine[3] = {rank, i, n};
        MPI_Win win;
        MPI_Alloc_mem(sizes[i], MPI_INFO_NULL, &base);
        MPI_Alloc_mem(sizes[i], MPI_INFO_NULL, &other);
        CHECK(other >= base + n || base >= other + n); /* two pieces never share bytes */
        base[0] = base[n - 1] = -7, other[0] = other[n - 1] = -8;
        if (rank == i % size) MPI_Free_mem(other); /* ranks keep different pieces */
        MPI_Win_create(base, sizes[i], (int)sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_fence(0, win);
        MPI_Put(mine, 3, MPI_INT, right, n - 4, 3, MPI_INT, win);
        MPI_Win_fence(0, win);
        CHECK(base[0] == -7 && base[n - 1] == -7);
        CHECK(base[n - 4] == left && base[n - 3] == i && base[n - 2] == n);
        if (rank != i % size) CHECK(other[0] == -8 && other[n - 1] == -8);
        MPI_Win_free(&win);
        MPI_Free_mem(base);
        if (rank != i % size) MPI_Free_mem(other);
    }
}

/* The hint mpi_minimum_memory_alignment, with sizes and wishes that differ between ranks: the strictest counts. */
static void aligned(int noncontig)
{
    for (int shift = 3; shift <= 21; shift += 3) {
        MPI_Info info;
        MPI_Win win;
        char text[16], *base;
        int right = (rank + 1) % size, left = (rank + size - 1) % size;
        MPI_Info_create(&info);
        snprintf(text, sizeof text, "%d", rank == 0 ? 1 << shift : 8);
        MPI_Info_set(info, "mpi_minimum_memory_alignment", text);
        if (noncontig && is_one_node(MPI_COMM_WORLD)) MPI_Info_set(info, "alloc_shared_noncontig", "true");
        if (noncontig && is_one_node(MPI_COMM_WORLD))
            CHECK_EQ(MPI_Win_allocate_shared(100 + rank, 1, info, MPI_COMM_WORLD, &base, &win), MPI_SUCCESS);
        else
            CHECK_EQ(MPI_Win_allocate(100 + rank, 1, info, MPI_COMM_WORLD, &base, &win), MPI_SUCCESS);
        CHECK_EQ((uintptr_t)base % (uintptr_t)(1 << shift), 0);
        MPI_Win_fence(0, win);
        MPI_Put(&rank, (int)sizeof rank, MPI_BYTE, right, 100 + right - (int)sizeof rank, (int)sizeof rank, MPI_BYTE, win);
        MPI_Win_fence(0, win);
        CHECK(memcmp(base + 100 + rank - sizeof rank, &left, sizeof left) == 0);
        MPI_Win_free(&win);
        MPI_Info_free(&info);
    }
}

/* The same hint for MPI_Alloc_mem: the other ranks map such memory too, whatever the alignment. */
static void aligned_pieces(void)
{
    for (int shift = 6; shift <= 21; shift += 3) {
        enum { BYTES = 5000 };
        MPI_Info info;
        MPI_Win win;
        MPI_Aint bytes;
        char text[16], *base, *there;
        int right = (rank + 1) % size, left = (rank + size - 1) % size, unit;
        MPI_Info_create(&info);
        snprintf(text, sizeof text, "%d", 1 << shift);
        MPI_Info_set(info, "mpi_minimum_memory_alignment", text);
        CHECK_EQ(MPI_Alloc_mem(BYTES, info, &base), MPI_SUCCESS);
        CHECK_EQ((uintptr_t)base % (uintptr_t)(1 << shift), 0);
        memset(base, rank, BYTES);
        CHECK_EQ(MPI_Win_create(base + 8, BYTES - 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_SUCCESS);
        MPI_Win_fence(0, win);
        MPI_Put(&rank, (int)sizeof rank, MPI_BYTE, right, 100, (int)sizeof rank, MPI_BYTE, win);
        MPI_Win_fence(0, win);
        CHECK(memcmp(base + 108, &left, sizeof left) == 0);
        MPI_Win_shared_query(win, right, &bytes, &unit, &there);
        if (is_neighbour(MPI_COMM_WORLD, right) && !getenv("GODWIT_RMA_MAP")) CHECK(bytes == BYTES - 8 && there);
        if (there) CHECK(there[BYTES - 9] == right && memcmp(there + 100, &rank, sizeof rank) == 0);
        MPI_Win_free(&win);
        CHECK_EQ(MPI_Free_mem(base), MPI_SUCCESS);
        MPI_Info_free(&info);
    }
}

/* A displacement unit that no int holds. */
static void wide_unit(void)
{
    MPI_Win win;
    MPI_Aint bytes, unit, *p;
    char *base;
    int flag, value = rank, right = (rank + 1) % size, narrow;
    if (is_one_node(MPI_COMM_WORLD))
        CHECK_EQ(MPI_Win_allocate_shared_c(sizeof value, (MPI_Aint)1 << 33, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
                 MPI_SUCCESS);
    else
        CHECK_EQ(MPI_Win_allocate_c(sizeof value, (MPI_Aint)1 << 33, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_shared_query_c(win, right, &bytes, &unit, &p), MPI_SUCCESS);
    CHECK_EQ(unit, (MPI_Aint)1 << 33);
    CHECK_EQ(MPI_Win_shared_query(win, right, &bytes, &narrow, &p), MPI_SUCCESS);
    CHECK_EQ(narrow, MPI_UNDEFINED);
    int *attribute;
    CHECK_EQ(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &attribute, &flag), MPI_SUCCESS);
    CHECK(flag && *attribute == MPI_UNDEFINED);
    MPI_Win_fence(0, win);
    CHECK_EQ(MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, win), MPI_SUCCESS);
    MPI_Win_fence(0, win);
    CHECK_EQ(*(int *)(void *)base, (rank + size - 1) % size);
    MPI_Win_free(&win);
}

/* Rank 0 is late to store what the others get.  Where the fence that opens the epoch need not wait (MPI_MODE_NOPRECEDE) they may read
 * what was there before: locks stand for such a fence here, and rank 0 stores when all have read.  A fence that waits lets them read what
 * it has stored. */
static void late_store(int is_fenced)
{
    int old = 100, new = 200, *base, got = -1;
    MPI_Win win;
    MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    *base = old;
    MPI_Win_fence(0, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    if (is_fenced) {
        if (!rank) usleep(20000), *base = new;
        MPI_Win_fence(0, win);
        MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    } else {
        MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
        if (rank) MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPI_Win_unlock_all(win);
        MPI_Barrier(MPI_COMM_WORLD);
        if (!rank) *base = got = new;
    }
    CHECK_EQ(got, is_fenced || !rank ? new : old);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    if (argc > 1 && strcmp(argv[1], "separate") == 0) model = MPI_WIN_SEPARATE;
    for (int kind = 0; kind < KINDS; kind++) {
        blocks(kind, SMALL);
        blocks(kind, BIG);
        layouts(kind);
        operations(kind);
        kinds_of_items(kind);
        questions(kind);
    }
    shared(2);
    shared(3);
    if (!getenv("GODWIT_RMA_MAP")) shared(ALLOCATED);
    pieces();
    again();
    aligned_pieces();
    wide_unit();
    late_store(0);
    late_store(1);
    aligned(0);
    aligned(1);
    return test_end();
}
