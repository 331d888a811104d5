/* partitioned.c -- partitioned communication: all ways of cutting the data on the two sides, partitions that travel before
 * the others are ready, matching by the order of the inits, states that must fail.
 *
 * Every rank sends to the next one and receives from the one before (alone: from itself).  arg: a seed, which chooses some of it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

static int to, from;

static int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

static void shuffled(int *v, int n)
{
    for (int i = 0; i < n; i++) v[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int k = (int)random_below((unsigned)i + 1), was = v[i];
        v[i] = v[k];
        v[k] = was;
    }
}

/* Marks all partitions in a random order, by each of the three calls. */
static void mark_all(MPI_Request q, int n, int how)
{
    int *order = malloc(sizeof *order * (size_t)(n + 1)), half = n / 2;
    shuffled(order, n);
    if (how == 0) {
        for (int i = 0; i < n; i++) MPI_Pready(order[i], q);
    } else if (how == 1) {
        MPI_Pready_list(half, order, q);
        MPI_Pready_list(n - half, order + half, q);
    } else if (n > 0) {
        if (half < n) MPI_Pready_range(half, n - 1, q);
        if (half > 0) MPI_Pready_range(0, half - 1, q);
    }
    free(order);
}

/* `total` bytes, cut in ns and nr equal parts: rounds with changing data. */
static void bytes(long total, int ns, int nr, int rounds)
{
    unsigned char *out = malloc((size_t)total + 1), *in = malloc((size_t)total + 1);
    MPI_Request q[2];
    MPI_Status s[2];
    MPI_Precv_init(in, nr, nr ? total / nr : 0, MPI_BYTE, from, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &q[0]);
    MPI_Psend_init(out, ns, ns ? total / ns : 0, MPI_BYTE, to, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &q[1]);
    for (int i = 0; i < rounds; i++) {
        pattern_fill(out, total, (unsigned)(rank + i));
        memset(in, 0xee, (size_t)total);
        if (i % 2) {
            MPI_Startall(2, q);
            mark_all(q[1], ns, i % 3);
        } else { /* all data may come before the receive is started */
            MPI_Start(&q[1]);
            mark_all(q[1], ns, i % 3);
            MPI_Start(&q[0]);
        }
        CHECK_EQ(MPI_Waitall(2, q, s), MPI_SUCCESS);
        CHECK_EQ(s[0].MPI_SOURCE, from);
        CHECK_EQ(s[0].MPI_TAG, 4);
        CHECK_EQ(count_of(&s[0]), total);
        CHECK_EQ(pattern_wrong(in, total, (unsigned)(from + i)), -1);
        for (int k = 0; k < nr; k += 1 + nr / 3) {
            int flag = 0;
            MPI_Parrived(q[0], k, &flag); /* inactive again */
            CHECK(flag);
        }
    }
    MPI_Request_free(&q[0]);
    MPI_Request_free(&q[1]);
    CHECK(q[0] == MPI_REQUEST_NULL && q[1] == MPI_REQUEST_NULL);
    free(in);
    free(out);
}

static int arrived(MPI_Request q, int partition)
{
    int flag = 0;
    CHECK_EQ(MPI_Parrived(q, partition, &flag), MPI_SUCCESS);
    return flag;
}

/* The sender marks a partition only when the receiver has said that the one before is there. */
static void one_by_one(int ns, int nr, int each)
{
    long total = (long)ns * nr * each;
    unsigned char *out = malloc((size_t)total), *in = malloc((size_t)total);
    int *order = malloc(sizeof *order * (size_t)ns), *theirs = malloc(sizeof *order * (size_t)ns);
    MPI_Request q[2];
    MPI_Precv_init(in, nr, total / nr, MPI_BYTE, from, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &q[0]);
    MPI_Psend_init(out, ns, total / ns, MPI_BYTE, to, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &q[1]);
    for (int round = 0; round < 2; round++) {
        shuffled(order, ns);
        MPI_Sendrecv(order, ns, MPI_INT, to, 1, theirs, ns, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        char *have = calloc((size_t)total, 1);
        memset(in, 0xee, (size_t)total);
        MPI_Startall(2, q);
        for (int i = 0; i < ns; i++) {
            long at = order[i] * (total / ns), their_at = theirs[i] * (total / ns);
            for (long b = at; b < at + total / ns; b++) out[b] = pattern_at((unsigned)(rank + round), b);
            MPI_Pready(order[i], q[1]);
            memset(have + their_at, 1, (size_t)(total / ns));
            for (int k = 0; k < nr; k++) {
                long begin = k * (total / nr), end = begin + total / nr;
                if (memchr(have + begin, 0, (size_t)(end - begin))) { /* the other side waits: this part is not marked yet */
                    CHECK(!arrived(q[0], k));
                    continue;
                }
                while (!arrived(q[0], k)) {}
                for (long b = begin; b < end; b++)
                    if (in[b] != pattern_at((unsigned)(from + round), b)) failures++;
            }
            MPI_Sendrecv(NULL, 0, MPI_BYTE, from, 2, NULL, 0, MPI_BYTE, to, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        CHECK_EQ(MPI_Waitall(2, q, MPI_STATUSES_IGNORE), MPI_SUCCESS);
        free(have);
    }
    MPI_Request_free(&q[0]);
    MPI_Request_free(&q[1]);
    free(order);
    free(theirs);
    free(in);
    free(out);
}

/* Columns of a matrix on one side, rows or single items on the other; cuts that fall inside an item of the receiver. */
static void types(void)
{
    enum { N = 60 };
    int out[N][2], in[N][3];
    MPI_Datatype pair, third, odd, unsized;
    MPI_Request q[2];
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &pair);
    MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &third);
    MPI_Type_commit(&pair);
    MPI_Type_commit(&third);
    static const int cuts[][2] = {{1, 60}, {60, 1}, {4, 6}, {5, 3}, {12, 60}, {20, 4}};
    for (int c = 0; c < 6; c++) {
        for (int i = 0; i < N; i++) out[i][0] = 1000 * rank + i, out[i][1] = -1, in[i][0] = in[i][1] = in[i][2] = -2;
        MPI_Psend_init(out, cuts[c][0], N / cuts[c][0], pair, to, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &q[1]);
        MPI_Precv_init(in, cuts[c][1], N / cuts[c][1], third, from, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &q[0]);
        for (int round = 0; round < 2; round++) {
            MPI_Startall(2, q);
            mark_all(q[1], cuts[c][0], c % 3);
            MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
            int wrong = 0;
            for (int i = 0; i < N; i++) wrong += in[i][0] != 1000 * from + i || in[i][1] != -2 || in[i][2] != -2;
            CHECK_EQ(wrong, 0);
        }
        MPI_Request_free(&q[0]);
        MPI_Request_free(&q[1]);
    }
    /* 7 parts of 24 bytes into 3 parts of 7 items of 8 bytes, of which 5 and 3 lie apart. */
    unsigned char data[168], spread[21][16];
    int lens[2] = {5, 3}, places[2] = {0, 9};
    MPI_Type_indexed(2, lens, places, MPI_BYTE, &unsized);
    MPI_Type_create_resized(unsized, 0, 16, &odd);
    MPI_Type_free(&unsized);
    MPI_Type_commit(&odd);
    for (int n = 7; n <= 168; n *= 2) {
        if (168 % n) continue;
        pattern_fill(data, 168, (unsigned)rank);
        memset(spread, 0xee, sizeof spread);
        MPI_Psend_init(data, n, 168 / n, MPI_BYTE, to, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &q[1]);
        MPI_Precv_init(spread, 3, 7, odd, from, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &q[0]);
        MPI_Type_free(&third); /* the requests keep what they need */
        MPI_Type_dup(odd, &third);
        MPI_Startall(2, q);
        mark_all(q[1], n, 0);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        int wrong = 0;
        for (int i = 0; i < 168; i++) wrong += spread[i / 8][i % 8 < 5 ? i % 8 : i % 8 + 4] != pattern_at((unsigned)from, i);
        for (int i = 0; i < 21; i++) wrong += spread[i][5] != 0xee || spread[i][8] != 0xee || spread[i][12] != 0xee;
        CHECK_EQ(wrong, 0);
        MPI_Request_free(&q[0]);
        MPI_Request_free(&q[1]);
    }
    MPI_Type_free(&pair);
    MPI_Type_free(&third);
    MPI_Type_free(&odd);
}

/* Channels with the same tag match in the order of their inits; ordinary messages and other communicators are no concern. */
static void matching(void)
{
    enum { K = 5 };
    int out[K], in[K], plain = 100 + rank, got = 0, flag;
    MPI_Comm other;
    MPI_Request s[K], r[K], any;
    MPI_Status status;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any);
    for (int i = 0; i < K; i++) {
        out[i] = 10 * rank + i;
        in[i] = -1;
        MPI_Psend_init(&out[i], 1, 1, MPI_INT, to, 3, i == 2 ? other : MPI_COMM_WORLD, MPI_INFO_NULL, &s[i]);
    }
    for (int i = 0; i < K; i++) /* the one on `other` first */
        MPI_Precv_init(&in[(i + 2) % K], 1, 1, MPI_INT, from, 3, i == 0 ? other : MPI_COMM_WORLD, MPI_INFO_NULL, &r[i]);
    for (int i = K - 1; i >= 0; i--) {
        MPI_Start(&s[i]);
        MPI_Pready(0, s[i]);
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
    }
    MPI_Startall(K, r);
    MPI_Waitall(K, r, MPI_STATUSES_IGNORE);
    MPI_Waitall(K, s, MPI_STATUSES_IGNORE);
    /* On WORLD the sends 0, 1, 3, 4 met the receives into places 3, 4, 0, 1. */
    CHECK(in[2] == 10 * from + 2 && in[3] == 10 * from && in[4] == 10 * from + 1 && in[0] == 10 * from + 3 &&
          in[1] == 10 * from + 4);
    MPI_Test(&any, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&plain, 1, MPI_INT, to, 3, MPI_COMM_WORLD);
    MPI_Wait(&any, &status);
    CHECK(got == 100 + from && status.MPI_TAG == 3);
    for (int i = 0; i < K; i++) {
        MPI_Request_free(&s[i]);
        MPI_Request_free(&r[i]);
    }
    /* A receive that was freed before it ever ran has still taken its match, and so has a send. */
    for (int i = 0; i < 3; i++) MPI_Psend_init(&out[i], 1, 1, MPI_INT, to, 3, other, MPI_INFO_NULL, &s[i]);
    for (int i = 0; i < 3; i++) MPI_Precv_init(&in[i], 1, 1, MPI_INT, from, 3, other, MPI_INFO_NULL, &r[i]);
    for (int i = 0; i < 2; i++) {
        MPI_Request_free(&s[i]);
        MPI_Request_free(&r[i]);
    }
    MPI_Comm_free(&other);
    in[2] = -1;
    MPI_Start(&r[2]);
    MPI_Start(&s[2]);
    MPI_Pready(0, s[2]);
    MPI_Wait(&r[2], MPI_STATUS_IGNORE);
    MPI_Wait(&s[2], MPI_STATUS_IGNORE);
    CHECK_EQ(in[2], 10 * from + 2);
    MPI_Request_free(&s[2]);
    MPI_Request_free(&r[2]);
}

/* Partitioned, persistent and plain requests in one array. */
static void mixed(void)
{
    int out[4] = {rank, rank + 1, rank + 2, rank + 3}, in[4] = {-1, -1, -1, -1}, a = rank, b = -1, c = rank, d = -1, done = 0;
    MPI_Request q[6];
    MPI_Precv_init(in, 2, 2, MPI_INT, from, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &q[0]);
    MPI_Psend_init(out, 4, 1, MPI_INT, to, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &q[1]);
    MPI_Recv_init(&b, 1, MPI_INT, from, 9, MPI_COMM_WORLD, &q[2]);
    MPI_Send_init(&a, 1, MPI_INT, to, 9, MPI_COMM_WORLD, &q[3]);
    MPI_Startall(4, q);
    MPI_Irecv(&d, 1, MPI_INT, from, 8, MPI_COMM_WORLD, &q[4]);
    MPI_Isend(&c, 1, MPI_INT, to, 8, MPI_COMM_WORLD, &q[5]);
    int n, at[6], seen = 0;
    while (done < 4) { /* all but the partitioned ones */
        MPI_Waitsome(4, q + 2, &n, at, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++) seen |= 4 << at[i];
        done += n;
    }
    CHECK_EQ(seen, 0x3c);
    CHECK(b == from && d == from);
    MPI_Pready_range(0, 3, q[1]);
    while (done < 6) {
        MPI_Waitany(6, q, &n, MPI_STATUS_IGNORE);
        CHECK(n == 0 || n == 1);
        done++;
    }
    for (int i = 0; i < 4; i++) CHECK_EQ(in[i], from + i);
    MPI_Waitany(6, q, &n, MPI_STATUS_IGNORE);
    CHECK_EQ(n, MPI_UNDEFINED);
    for (int i = 0; i < 4; i++) MPI_Request_free(&q[i]);
}

/* Between two groups: every rank of one sends to every rank of the other, and back. */
static void groups(void)
{
    MPI_Comm half, inter;
    int others, mine, in[16][4], out[16][4];
    if (size < 2) return;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &inter);
    MPI_Comm_remote_size(inter, &others);
    MPI_Comm_rank(inter, &mine);
    MPI_Request q[32];
    for (int i = 0; i < others; i++) {
        MPI_Psend_init(out[i], 4, 1, MPI_INT, i, 3, inter, MPI_INFO_NULL, &q[i]);
        MPI_Precv_init(in[i], 2, 2, MPI_INT, i, 3, inter, MPI_INFO_NULL, &q[others + i]);
        for (int k = 0; k < 4; k++) out[i][k] = 1000 * rank + 10 * i + k;
    }
    MPI_Startall(2 * others, q);
    for (int i = 0; i < others; i++) MPI_Pready_range(0, 3, q[i]);
    MPI_Waitall(2 * others, q, MPI_STATUSES_IGNORE);
    for (int i = 0; i < others; i++) { /* rank i there is 2i or 2i + 1 here */
        for (int k = 0; k < 4; k++) CHECK_EQ(in[i][k], 1000 * (2 * i + 1 - rank % 2) + 10 * mine + k);
    }
    for (int i = 0; i < 2 * others; i++) MPI_Request_free(&q[i]);
    MPI_Comm_free(&half);
    MPI_Comm_free(&inter);
}

static void nobody(void)
{
    int v[2] = {7, 8}, flag = 0;
    MPI_Request q[2];
    MPI_Status s[2];
    MPI_Precv_init(v, 2, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &q[0]);
    MPI_Psend_init(v, 2, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &q[1]);
    for (int i = 0; i < 3; i++) {
        MPI_Startall(2, q);
        CHECK(arrived(q[0], 1));
        MPI_Pready(1, q[1]);
        MPI_Test(&q[1], &flag, &s[1]);
        CHECK(!flag);
        MPI_Pready(0, q[1]);
        MPI_Waitall(2, q, s);
        CHECK_EQ(s[0].MPI_SOURCE, MPI_PROC_NULL);
        CHECK_EQ(s[0].MPI_TAG, MPI_ANY_TAG);
        CHECK_EQ(count_of(&s[0]), 0);
        CHECK(v[0] == 7 && v[1] == 8);
    }
    MPI_Request_free(&q[0]);
    MPI_Request_free(&q[1]);
}

/* Less than the receiver has room for, and more. */
static void lengths(void)
{
    int out[12], in[8], list[2] = {1, 0};
    MPI_Request q[2];
    MPI_Status s;
    for (int i = 0; i < 12; i++) out[i] = 50 * rank + i;
    for (int partitions = 3; partitions <= 6; partitions += 3) {
        memset(in, 0xff, sizeof in);
        MPI_Precv_init(in, 4, 2, MPI_INT, from, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &q[0]);
        MPI_Psend_init(out, partitions, 2, MPI_INT, to, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &q[1]);
        MPI_Startall(2, q);
        MPI_Pready_range(2, partitions - 1, q[1]);
        MPI_Pready_list(2, list, q[1]);
        MPI_Wait(&q[1], MPI_STATUS_IGNORE);
        int rc = MPI_Wait(&q[0], &s), n;
        CHECK_EQ(class_of(rc), partitions == 3 ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
        MPI_Get_count(&s, MPI_INT, &n);
        CHECK_EQ(n, partitions == 3 ? 6 : 8);
        for (int i = 0; i < n; i++) CHECK_EQ(in[i], 50 * from + i);
        MPI_Request_free(&q[0]);
        MPI_Request_free(&q[1]);
    }
}

#define FAILS(call, class) CHECK_EQ(class_of(call), class)
static void errors(void)
{
    int out[4] = {1, 2, 3, 4}, in[4] = {0}, flag, list[3] = {0, 1, 0}, bad_list[2] = {2, 4}, again[2] = {3, 1};
    MPI_Request s, r, plain, null = MPI_REQUEST_NULL;
    FAILS(MPI_Precv_init(in, 4, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r), MPI_ERR_RANK);
    FAILS(MPI_Precv_init(in, 4, 1, MPI_INT, from, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &r), MPI_ERR_TAG);
    FAILS(MPI_Precv_init(in, -1, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r), MPI_ERR_ARG);
    FAILS(MPI_Psend_init(out, 4, -1, MPI_INT, to, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &s), MPI_ERR_COUNT);
    MPI_Psend_init(out, 4, 1, MPI_INT, to, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
    MPI_Precv_init(in, 4, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    MPI_Send_init(out, 1, MPI_INT, to, 1, MPI_COMM_WORLD, &plain);
    FAILS(MPI_Pready(0, s), MPI_ERR_REQUEST); /* inactive */
    FAILS(MPI_Pready(0, plain), MPI_ERR_REQUEST);
    FAILS(MPI_Pready(0, null), MPI_ERR_REQUEST);
    FAILS(MPI_Cancel(&s), MPI_ERR_REQUEST);
    CHECK_EQ(MPI_Parrived(null, 3, &flag), MPI_SUCCESS);
    CHECK(flag);
    FAILS(MPI_Parrived(plain, 0, &flag), MPI_ERR_REQUEST);
    FAILS(MPI_Parrived(s, 0, &flag), MPI_ERR_REQUEST);
    MPI_Start(&s);
    MPI_Start(&r);
    FAILS(MPI_Start(&s), MPI_ERR_REQUEST);
    FAILS(MPI_Pready(0, r), MPI_ERR_REQUEST);
    FAILS(MPI_Pready(4, s), MPI_ERR_ARG);
    FAILS(MPI_Pready(-1, s), MPI_ERR_ARG);
    FAILS(MPI_Parrived(r, 4, &flag), MPI_ERR_ARG);
    FAILS(MPI_Pready_range(0, 4, s), MPI_ERR_ARG);
    FAILS(MPI_Pready_range(-1, 2, s), MPI_ERR_ARG);
    FAILS(MPI_Pready_range(2, 1, s), MPI_ERR_ARG);
    FAILS(MPI_Pready_list(3, list, s), MPI_ERR_ARG); /* one twice: none is marked */
    FAILS(MPI_Pready_list(2, bad_list, s), MPI_ERR_ARG);
    FAILS(MPI_Request_free(&s), MPI_ERR_REQUEST); /* under way */
    FAILS(MPI_Request_free(&r), MPI_ERR_REQUEST);
    FAILS(MPI_Cancel(&r), MPI_ERR_REQUEST);
    CHECK(s != MPI_REQUEST_NULL && r != MPI_REQUEST_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pready_list(2, list, s);
    FAILS(MPI_Pready(1, s), MPI_ERR_ARG); /* twice */
    FAILS(MPI_Pready_list(2, again, s), MPI_ERR_ARG);
    FAILS(MPI_Pready_range(0, 3, s), MPI_ERR_ARG);
    MPI_Pready_range(2, 3, s);
    CHECK_EQ(MPI_Wait(&s, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_EQ(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    FAILS(MPI_Pready(0, s), MPI_ERR_REQUEST);
    for (int i = 0; i < 4; i++) CHECK_EQ(in[i], i + 1);
    MPI_Request_free(&plain);
    MPI_Request_free(&s);
    MPI_Request_free(&r);
}

static const int cuts[][2] = {{1, 1}, {4, 4}, {6, 1}, {1, 6}, {4, 6}, {6, 4}, {12, 3}, {60, 12}};
static const long totals[] = {0, 60, 1200, 24000, 600000};
static void (*const others[])(void) = {types, matching, mixed, groups, nobody, lengths, errors};
enum { CUTS = 8, TOTALS = 5, OTHERS = 7 };

static void all(void)
{
    for (int t = 0; t < TOTALS; t++)
        for (int c = 0; c < CUTS; c++) bytes(totals[t], cuts[c][0], cuts[c][1], 6);
    bytes(0, 0, 0, 6);
    bytes(0, 0, 3, 6);
    bytes(0, 3, 0, 6);
    bytes(40000, 40000, 500, 2); /* more partitions than messages */
    one_by_one(4, 4, 3);
    one_by_one(6, 4, 1000);
    one_by_one(2, 5, 20000);
    for (int i = 0; i < OTHERS; i++) others[i]();
}

/* A few of them, by the seed. */
static void some(void)
{
    for (int i = 0; i < 3; i++) {
        const int *cut = cuts[random_below(CUTS)];
        long total = totals[random_below(20) ? random_below(TOTALS - 1) : TOTALS - 1];
        bytes(total, cut[0], cut[1], 2);
    }
    int ns = 1 + (int)random_below(5), nr = 1 + (int)random_below(5);
    one_by_one(ns, nr, random_below(2) ? 3 : 1000);
    others[random_below(OTHERS)]();
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (argc > 1) {
        random_seed(argv[1]);
        some();
    } else
        all();
    return test_end();
}
