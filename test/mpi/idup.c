/* idup.c -- communicators duplicated behind requests: really non-blocking, many at once and in different orders, on two groups, among
 * blocking ones, by threads ("threads").
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>

#include "inter_check.h"

enum { MANY = 20 };

/* All of these are alike: equal tags on each, and none gets another's. */
static void check_apart(MPI_Comm *c, int n, const char *what)
{
    int before = failures, r, s, got[MANY], v[MANY], sum;
    MPI_Request q[2 * MANY];
    MPI_Comm_rank(c[0], &r);
    MPI_Comm_size(c[0], &s);
    int to = (r + 1) % s, from = (r + s - 1) % s;
    for (int i = 0; i < n; i++) {
        got[i] = -1, v[i] = r * 1000 + i;
        MPI_Irecv(&got[i], 1, MPI_INT, from, 3, c[i], &q[i]);
    }
    for (int i = n - 1; i >= 0; i--) MPI_Isend(&v[i], 1, MPI_INT, to, 3, c[i], &q[n + i]);
    MPI_Waitall(2 * n, q, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++) CHECK_EQ(got[i], from * 1000 + i);
    for (int i = 0; i < n; i++) {
        int result = -1;
        MPI_Comm_compare(c[i], c[0], &result);
        CHECK_EQ(result, i ? MPI_CONGRUENT : MPI_IDENT);
        MPI_Allreduce(&v[i], &sum, 1, MPI_INT, MPI_SUM, c[i]);
        CHECK_EQ(sum, s * (s - 1) / 2 * 1000 + s * i);
    }
    if (failures != before) fprintf(stderr, "rank %d: that was %s\n", rank, what);
}

/* Rank 0 begins only when all others have come back from the call. */
static void not_blocking(void)
{
    MPI_Comm c = MPI_COMM_NULL;
    MPI_Request q;
    int word = 0, flag = 1;
    for (int i = 1; rank == 0 && i < size; i++) {
        MPI_Recv(&word, 1, MPI_INT, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(word, 77 + i);
    }
    CHECK_EQ(MPI_Comm_idup(MPI_COMM_WORLD, &c, &q), MPI_SUCCESS);
    if (rank > 0) {
        MPI_Test(&q, &flag, MPI_STATUS_IGNORE);
        CHECK_EQ(flag, 0);
        MPI_Send(&(int){77 + rank}, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    MPI_Status st;
    CHECK_EQ(MPI_Wait(&q, &st), MPI_SUCCESS);
    CHECK(q == MPI_REQUEST_NULL && c != MPI_COMM_NULL && c != MPI_COMM_WORLD);
    check_apart(&c, 1, "a duplicate");
    MPI_Comm_free(&c);
}

/* Many on one communicator, completed by each kind of call, with collectives of the parent in between. */
static void many(void)
{
    MPI_Comm c[MANY];
    MPI_Request q[MANY];
    int sum = 0, n = 0, which[MANY], flag = 0;
    for (int i = 0; i < MANY; i++) {
        CHECK_EQ(MPI_Comm_idup(i % 2 ? c[0] : MPI_COMM_WORLD, &c[i], &q[i]), MPI_SUCCESS);
        if (i == 0) MPI_Wait(&q[0], MPI_STATUS_IGNORE);
        if (i == 5) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    CHECK_EQ(sum, size * (size - 1) / 2);
    MPI_Wait(&q[MANY - 1], MPI_STATUS_IGNORE); /* the last first */
    MPI_Waitany(MANY, q, &which[0], MPI_STATUS_IGNORE);
    MPI_Waitsome(MANY, q, &n, which, MPI_STATUSES_IGNORE);
    while (!flag) MPI_Testall(MANY, q, &flag, MPI_STATUSES_IGNORE);
    check_apart(c, MANY, "one of many duplicates");
    for (int i = 0; i < MANY; i++) MPI_Comm_free(&c[i * 7 % MANY]);
}

/* On communicators that share members, begun in different orders by different ranks, and blocking ones between: which id a rank proposes
 * first differs from rank to rank. */
static void orders(void)
{
    MPI_Comm parent[4], c[4], d[4];
    MPI_Request q[4];
    random_state = 99 + (unsigned)rank; /* each rank its own */
    MPI_Comm_dup(MPI_COMM_WORLD, &parent[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &parent[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &parent[2]);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, -rank, &parent[3]);
    for (int round = 0; round < 25; round++) {
        int order[4] = {0, 1, 2, 3}, first = (int)random_below(3);
        for (int i = 3; i > 0; i--) {
            int j = (int)random_below((unsigned)i + 1), t = order[i];
            order[i] = order[j], order[j] = t;
        }
        for (int i = 0; i < 4; i++) {
            /* One blocking call among them, of the same communicator on all ranks, before or after any of the others. */
            if (i == first) MPI_Comm_dup(MPI_COMM_WORLD, &d[0]);
            CHECK_EQ(MPI_Comm_idup(parent[order[i]], &c[order[i]], &q[order[i]]), MPI_SUCCESS);
        }
        MPI_Comm_split(MPI_COMM_WORLD, rank % 3, 0, &d[1]);
        MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
        MPI_Comm two[3] = {c[0], c[1], d[0]};
        check_apart(two, 3, "duplicates begun in different orders");
        for (int i = 2; i < 4; i++) check_apart(&c[i], 1, "a duplicate of a part");
        check_apart(&d[1], 1, "a split among duplicates");
        for (int i = 0; i < 4; i++) MPI_Comm_free(&c[i]);
        for (int i = 0; i < 2; i++) MPI_Comm_free(&d[i]);
    }
    for (int i = 0; i < 4; i++) MPI_Comm_free(&parent[i]);
}

/* ---- what is copied ------------------------------------------------------------------------------------------------------ */
static int copies, copy_answer = MPI_SUCCESS;
static int copy_fn(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
    (void)c, (void)key, (void)extra;
    *(void **)out = (char *)in + 1;
    copies++;
    *flag = 1;
    return copy_answer;
}

static void copied(void)
{
    MPI_Comm parent, c, x;
    MPI_Request q;
    MPI_Info info, got;
    int key, flag = 0, class = -1, len = -1;
    void *value = NULL;
    char text[MPI_MAX_OBJECT_NAME] = "?";
    MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    MPI_Comm_set_name(parent, "parent");
    MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(copy_fn, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(parent, key, (void *)40);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    CHECK_EQ(MPI_Comm_idup_with_info(parent, info, &c, &q), MPI_SUCCESS);
    /* As if it were done in the call: what changes now is not copied. */
    MPI_Info_free(&info);
    MPI_Comm_set_attr(parent, key, (void *)60);
    CHECK_EQ(copies, 1);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK_EQ(copies, 1);
    MPI_Comm_get_attr(c, key, &value, &flag);
    CHECK(flag && value == (void *)41);
    MPI_Comm_get_info(c, &got);
    MPI_Info_get_string(got, "mpi_assert_no_any_tag", &(int){sizeof text}, text, &flag);
    CHECK(flag && !strcmp(text, "true"));
    MPI_Info_free(&got);
    MPI_Comm_get_name(c, text, &len);
    CHECK(len == 0 && text[0] == 0);
    MPI_Errhandler eh;
    MPI_Comm_get_errhandler(c, &eh);
    CHECK(eh == MPI_ERRORS_RETURN);
    check_apart(&c, 1, "a duplicate with info");
    MPI_Comm_free(&c);
    /* A copy function that fails, on rank 0 alone: the others get theirs. */
    if (rank == 0) copy_answer = MPI_ERR_OTHER;
    int rc = MPI_Comm_idup(parent, &x, &q);
    MPI_Error_class(rc, &class);
    CHECK_EQ(class, rank == 0 ? MPI_ERR_OTHER : MPI_SUCCESS);
    copy_answer = MPI_SUCCESS;
    if (rc == MPI_SUCCESS) MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Barrier(parent);
    if (rc == MPI_SUCCESS) MPI_Comm_free(&x);
    /* The parent goes before the duplicate is there. */
    CHECK_EQ(MPI_Comm_idup(parent, &c, &q), MPI_SUCCESS);
    CHECK(MPI_Cancel(&q) != MPI_SUCCESS);
    MPI_Comm_free(&parent);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    check_apart(&c, 1, "a duplicate whose parent is gone");
    MPI_Comm_free(&c);
    MPI_Comm_free_keyval(&key);
}

static void between_groups(void)
{
    for (int shape = 0; shape < SHAPES; shape++) {
        struct sides s;
        MPI_Comm local, inter, c[6], d;
        MPI_Request q[7];
        if (!sides_of(&s, shape)) continue;
        inter = sides_open(&s, shape, &local);
        if (s.side < 0) continue;
        for (int i = 0; i < 6; i++) {
            CHECK_EQ(MPI_Comm_idup(i == 5 ? local : inter, &c[i], &q[i]), MPI_SUCCESS);
            if (i == 2) MPI_Comm_dup(inter, &d);
        }
        MPI_Waitall(6, q, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 5; i++) check_inter(c[i], s.mine, s.nl, s.theirs, s.nr, "a duplicate of two groups");
        check_inter(d, s.mine, s.nl, s.theirs, s.nr, "a blocking one among them");
        check_apart(&c[5], 1, "a duplicate of one of them");
        /* Collectives, and messages that must not mix. */
        int out = rank, sum = 0, want = 0, got[5];
        MPI_Request m[10];
        MPI_Allreduce(&out, &sum, 1, MPI_INT, MPI_SUM, c[0]);
        for (int i = 0; i < s.nr; i++) want += s.theirs[i];
        CHECK_EQ(sum, want);
        int partner = s.me < s.nr ? s.me : MPI_PROC_NULL, v[5];
        for (int i = 0; i < 5; i++) {
            v[i] = rank * 10 + i, got[i] = -1;
            MPI_Irecv(&got[i], 1, MPI_INT, partner, 4, c[i], &m[i]);
        }
        for (int i = 4; i >= 0; i--) MPI_Isend(&v[i], 1, MPI_INT, partner, 4, c[i], &m[5 + i]);
        MPI_Waitall(10, m, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 5 && partner >= 0; i++) CHECK_EQ(got[i], s.theirs[partner] * 10 + i);
        for (int i = 0; i < 6; i++) MPI_Comm_free(&c[i]);
        MPI_Comm_free(&d);
        MPI_Comm_free(&local);
        MPI_Comm_free(&inter);
    }
}

/* ---- threads --------------------------------------------------------------------------------------------------------------- */
enum { THREADS = 3, ROUNDS = 20 };
static MPI_Comm mine[THREADS];
static int bad[THREADS];

static void *by_thread(void *arg)
{
    int t = (int)(long)arg;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm c[3];
        MPI_Request q[3];
        for (int i = 0; i < 2; i++) MPI_Comm_idup(mine[t], &c[i], &q[i]);
        if (round % 3 == t) {
            MPI_Comm_dup(mine[t], &c[2]);
            MPI_Comm_free(&c[2]);
        }
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 2; i++) {
            int v = rank + t * 100 + i, sum = 0, got = -1, r = (rank + 1) % size, l = (rank + size - 1) % size;
            MPI_Allreduce(&v, &sum, 1, MPI_INT, MPI_SUM, c[i]);
            bad[t] += sum != size * (size - 1) / 2 + size * (t * 100 + i);
            MPI_Sendrecv(&v, 1, MPI_INT, r, 1, &got, 1, MPI_INT, l, 1, c[i], MPI_STATUS_IGNORE);
            bad[t] += got != l + t * 100 + i;
            MPI_Comm_free(&c[i]);
        }
    }
    return NULL;
}

static void threads(void)
{
    pthread_t id[THREADS];
    for (int t = 0; t < THREADS; t++) MPI_Comm_dup(MPI_COMM_WORLD, &mine[t]);
    for (long t = 0; t < THREADS; t++) CHECK_EQ(pthread_create(&id[t], NULL, by_thread, (void *)t), 0);
    for (int t = 0; t < THREADS; t++) pthread_join(id[t], NULL);
    for (int t = 0; t < THREADS; t++) {
        CHECK_EQ(bad[t], 0);
        MPI_Comm_free(&mine[t]);
    }
}

int main(int argc, char **argv)
{
    int with_threads = argc > 1 && !strcmp(argv[1], "threads"), provided;
    MPI_Init_thread(&argc, &argv, with_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    test_begin();
    if (with_threads) threads();
    not_blocking();
    many();
    orders();
    copied();
    between_groups();
    return test_end();
}
