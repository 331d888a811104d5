/* p2p_tagged.c -- messages matched by the library or by the network (GODWIT_MATCH_MODE): many receives at once, many messages
 * before their receives, wildcards that ranks of this node and of other nodes satisfy, buffers of all kinds, tags at their limit,
 * communicators beyond the network's.
 *
 *   p2p_tagged [WORD...]: only those parts; limit=N: MPI_TAG_UB has to be N; served=N: the network matches messages of N communicators
 *   that are made one after the other, and of no others; early=N: as many messages come before their receives
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "counters_check.h"

enum { MANY = 40, EACH = 60 };

/* The last rank sends to rank 0, whose receives are all posted, or none. */
static void many(int is_posted, int n)
{
    int v[MANY], last = size - 1;
    MPI_Request q[MANY];
    if (rank == 0) {
        for (int i = 0; i < n && is_posted; i++) MPI_Irecv(&v[i], 1, MPI_INT, last, 100 + i, MPI_COMM_WORLD, &q[i]);
        if (is_posted) MPI_Send(NULL, 0, MPI_INT, last, 1, MPI_COMM_WORLD);
        if (!is_posted) MPI_Recv(NULL, 0, MPI_INT, last, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n && !is_posted; i++) MPI_Irecv(&v[i], 1, MPI_INT, last, 100 + i, MPI_COMM_WORLD, &q[i]);
        MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
        for (int i = 0; i < n; i++) CHECK_EQ(v[i], 7 * i);
    } else if (rank == last) {
        if (is_posted) MPI_Recv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = n - 1; i >= 0; i--) {
            int w = 7 * i;
            MPI_Send(&w, 1, MPI_INT, 0, 100 + i, MPI_COMM_WORLD);
        }
        if (!is_posted) MPI_Send(NULL, 0, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All ranks, rank 0 itself too, send to rank 0, which looks for any source, for one by name, and for any tag, by turns. */
static void wildcards(void)
{
    int v[EACH], mine[EACH], *seen = calloc((size_t)size, sizeof *seen), total = EACH * size;
    MPI_Request q[EACH], *in = malloc((size_t)total * sizeof *in);
    MPI_Status *s = malloc((size_t)total * sizeof *s);
    int *got = malloc((size_t)total * sizeof *got);
    int by_name = size > 1 ? EACH / 3 : 0; /* messages of the last rank that are received by name, between the others */
    if (rank == 0) {
        for (int i = 0, named = 0; i < total; i++) {
            int is_named = named < by_name && i % 3 == 1;
            named += is_named;
            MPI_Irecv(&got[i], 1, MPI_INT, is_named ? size - 1 : MPI_ANY_SOURCE, i % 2 ? 5 : MPI_ANY_TAG, MPI_COMM_WORLD, &in[i]);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < EACH; i++) {
        mine[i] = rank * 1000 + i;
        MPI_Isend(&mine[i], 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &q[i]);
    }
    MPI_Waitall(EACH, q, MPI_STATUSES_IGNORE);
    if (rank == 0) {
        MPI_Waitall(total, in, s);
        for (int i = 0; i < total; i++) {
            int from = s[i].MPI_SOURCE;
            CHECK_EQ(s[i].MPI_TAG, 5);
            CHECK_EQ(got[i], from * 1000 + seen[from]); /* of each sender in order, for the receives are in theirs */
            seen[from]++;
        }
        for (int r = 0; r < size; r++) CHECK_EQ(seen[r], EACH);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    /* The same with what lies there already. */
    for (int i = 0; i < EACH; i++) MPI_Isend(&mine[i], 1, MPI_INT, 0, 6, MPI_COMM_WORLD, &q[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    memset(seen, 0, (size_t)size * sizeof *seen);
    for (int i = 0; rank == 0 && i < total; i++) {
        MPI_Recv(v, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s[0]);
        CHECK_EQ(v[0], s[0].MPI_SOURCE * 1000 + seen[s[0].MPI_SOURCE]++);
    }
    MPI_Waitall(EACH, q, MPI_STATUSES_IGNORE);
    free(seen), free(in), free(s), free(got);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Sizes around every threshold, synchronous and not, into runs of bytes and vectors; what lies behind a message stays as it was. */
static void buffers(void)
{
    static const int bytes[] = {0, 1, 4, 39, 40, 41, 104, 128, 4000, 8200, 65496, 65600, 300000};
    enum { ROOM = 300000 + 64 };
    unsigned char *b = malloc(2 * ROOM), *a = malloc(ROOM);
    int last = size - 1;
    for (size_t k = 0; k < sizeof bytes / sizeof *bytes; k++)
        for (int how = 0; how < 8; how++) {
            int is_sync = how & 1, is_vector = how & 2, is_tight = how & 4, n = bytes[k], room = is_tight ? n : ROOM;
            if (rank == last) {
                pattern_fill(a, n, (unsigned)(k + how));
                (is_sync ? MPI_Ssend : MPI_Send)(a, n, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
            } else if (rank == 0) {
                MPI_Status s;
                memset(b, 0xee, 2 * ROOM);
                if (is_vector) {
                    MPI_Datatype t;
                    MPI_Type_vector(room, 1, 2, MPI_BYTE, &t);
                    MPI_Type_commit(&t);
                    MPI_Recv(b, 1, t, last, 3, MPI_COMM_WORLD, &s);
                    MPI_Type_free(&t);
                    for (int i = 0; i < n; i++) CHECK_EQ(b[2 * i + 1], 0xee);
                    for (int i = 0; i < n; i++) b[i] = b[2 * i];
                    if (n) memset(b + n, 0xee, (size_t)n);
                } else {
                    MPI_Recv(b, room, MPI_BYTE, last, 3, MPI_COMM_WORLD, &s);
                }
                CHECK_EQ(count_of(&s), n);
                CHECK_EQ(pattern_wrong(b, n, (unsigned)(k + how)), -1);
                for (int i = n; i < ROOM; i++) CHECK_EQ(b[i], 0xee);
            }
        }
    free(a), free(b);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Several receives at once into one buffer, as programs that measure bandwidth have them: which message is there at last is not said. */
static void shared_buffer(void)
{
    enum { WINDOW = 16, ROUNDS = 10, LONGEST = 300000 };
    static const int bytes[] = {8, 4000, 60000, LONGEST};
    char *b = calloc(1, LONGEST);
    int last = size - 1;
    MPI_Request q[WINDOW];
    MPI_Status s[WINDOW];
    for (int k = 0; k < 4 * ROUNDS && (rank == 0 || rank == last); k++) {
        for (int i = 0; i < WINDOW; i++) {
            if (rank == 0) MPI_Irecv(b, bytes[k % 4], MPI_BYTE, last, 9, MPI_COMM_WORLD, &q[i]);
            if (rank == last) MPI_Isend(b, bytes[k % 4], MPI_BYTE, 0, 9, MPI_COMM_WORLD, &q[i]);
        }
        MPI_Waitall(WINDOW, q, s);
        for (int i = 0; rank == 0 && i < WINDOW; i++) CHECK_EQ(count_of(&s[i]), bytes[k % 4]);
    }
    free(b);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void tags(int limit)
{
    int *ub, has, v = rank, last = size - 1, class;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &ub, &has);
    CHECK(has);
    if (limit >= 0) CHECK_EQ(*ub, limit);
    MPI_Sendrecv(&rank, 1, MPI_INT, last - rank, *ub, &v, 1, MPI_INT, last - rank, *ub, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(v, last - rank);
    if (*ub == 2147483647 || size == 1 || rank) return;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Send(&v, 1, MPI_INT, last, *ub + 1, MPI_COMM_WORLD), &class);
    CHECK_EQ(class, MPI_ERR_TAG);
    MPI_Error_class(MPI_Recv(&v, 1, MPI_INT, last, *ub + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), &class);
    CHECK_EQ(class, MPI_ERR_TAG);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* More communicators than 12 bits have numbers for: those that have one are served by the network, and the others all the same. */
static void communicators(int served)
{
    enum { MORE = 40 };
    MPI_Comm c;
    int last = size - 1;
    counters_begin();
    MPI_T_pvar_handle matched = counter("net_matched", MPI_T_PVAR_CLASS_COUNTER);
    for (int i = 1; i <= (served > 0 ? served : 1000) + MORE; i++) {
        int v = rank + i, w = -1;
        MPI_Comm_dup(MPI_COMM_WORLD, &c);
        if (i % 50 == 0 || i > served - MORE) {
            unsigned long long before = counted(matched);
            MPI_Sendrecv(&v, 1, MPI_INT, last - rank, 1, &w, 1, MPI_INT, MPI_ANY_SOURCE, 1, c, MPI_STATUS_IGNORE);
            CHECK_EQ(w, last - rank + i);
            if (served >= 0) CHECK_EQ(counted(matched) - before, (unsigned long long)(i <= served));
        }
        MPI_Comm_free(&c);
    }
    counters_end();
}

static int wants(int argc, char **argv, const char *word)
{
    int any = 0;
    for (int i = 1; i < argc; i++) {
        any |= strncmp(argv[i], "limit=", 6) != 0 && strncmp(argv[i], "served=", 7) != 0 && strncmp(argv[i], "early=", 6) != 0;
        if (strcmp(argv[i], word) == 0) return 1;
    }
    return !any;
}

int main(int argc, char **argv)
{
    int limit = -1, served = -1, early = MANY;
    MPI_Init(&argc, &argv);
    test_begin();
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "limit=", 6) == 0) limit = atoi(argv[i] + 6);
        if (strncmp(argv[i], "served=", 7) == 0) served = atoi(argv[i] + 7);
        if (strncmp(argv[i], "early=", 6) == 0) early = atoi(argv[i] + 6);
    }
    if (wants(argc, argv, "posted") && size > 1) many(1, MANY);
    if (wants(argc, argv, "unexpected") && size > 1) many(0, early);
    if (wants(argc, argv, "tags")) tags(limit);
    if (wants(argc, argv, "buffers") && size > 1) buffers();
    if (wants(argc, argv, "buffers") && size > 1) shared_buffer();
    if (wants(argc, argv, "communicators")) communicators(served);
    if (wants(argc, argv, "wildcards")) wildcards();
    return test_end();
}
