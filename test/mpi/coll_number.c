/* coll_number.c -- collectives are numbered as the user counts: each call is one, whatever the library does in it; and with
 * blocking, non-blocking and persistent ones under way at once, within one group and between two, each gets its own messages.
 *
 *     mpi_coll_number         counts, then mixes them
 *     mpi_coll_number after   collectives from the callback that MPI_Finalize calls for an attribute of MPI_COMM_WORLD: ranks
 *                             that have come to it send to ranks that have not, which is no mistake
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

#include <stdbool.h>

enum { ROUNDS = 12, N = 3000 };
typedef unsigned long long u64;
static MPI_T_pvar_session session;
static int begun;

static MPI_T_pvar_handle handle_on(MPI_Comm *c)
{
    MPI_T_pvar_handle h;
    int n;
    CHECK_EQ(MPI_T_pvar_handle_alloc(session, begun, c, &h, &n), MPI_SUCCESS);
    MPI_T_pvar_start(session, h);
    return h;
}
static int number(MPI_T_pvar_handle h)
{
    u64 v = 0;
    CHECK_EQ(MPI_T_pvar_read(session, h, &v), MPI_SUCCESS);
    return (int)v;
}

#define ONE(call)                                                                                                                  \
    do {                                                                                                                           \
        int was = number(h);                                                                                                       \
        CHECK_EQ(call, MPI_SUCCESS);                                                                                               \
        if (number(h) != was + 1) failures++, fprintf(stderr, "rank %d: %s is %d collectives\n", rank, #call, number(h) - was);    \
    } while (0)
#define MADE(call)                                                                                                                 \
    do {                                                                                                                           \
        ONE(call);                                                                                                                 \
        if (made != MPI_COMM_NULL) MPI_Comm_free(&made);                                                                           \
    } while (0)

static void count_topologies(MPI_Comm c, MPI_T_pvar_handle h)
{
    MPI_Comm made;
    int periodic = 1, one = 1, next = (rank + 1) % size, last = (rank + size - 1) % size;
    int *index = malloc(2 * (size_t)size * sizeof *index), *edges = index + size;
    for (int i = 0; i < size; i++) index[i] = i + 1, edges[i] = (i + 1) % size;
    MADE(MPI_Cart_create(c, 1, &size, &periodic, 1, &made));
    MADE(MPI_Graph_create(c, size, index, edges, 1, &made));
    MADE(MPI_Dist_graph_create(c, 1, &rank, &one, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &made));
    MADE(MPI_Dist_graph_create_adjacent(c, 1, &last, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &made));
    free(index);
}

static void count_inter(MPI_Comm c)
{
    MPI_Comm half, inter, made;
    MPI_Group group;
    MPI_Win win;
    int leader = rank % 2 ? 0 : 1, x = 0, y;
    MPI_T_pvar_handle h = handle_on(&c);
    ONE(MPI_Comm_split(c, rank % 2, 0, &half));
    ONE(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, c, &win));
    MPI_Win_free(&win);
    MPI_T_pvar_handle_free(session, &h);
    h = handle_on(&half);
    ONE(MPI_Intercomm_create(half, 0, c, leader, 3, &inter));
    MPI_T_pvar_handle_free(session, &h);
    h = handle_on(&inter);
    MPI_Comm_group(inter, &group);
    MADE(MPI_Comm_dup(inter, &made));
    MADE(MPI_Comm_split(inter, 0, 0, &made));
    MADE(MPI_Comm_create(inter, group, &made));
    MADE(MPI_Intercomm_merge(inter, rank % 2, &made));
    ONE(MPI_Barrier(inter));
    ONE(MPI_Allreduce(&x, &y, 0, MPI_INT, MPI_SUM, inter));
    ONE(MPI_Bcast(&x, 1, MPI_INT, rank % 2 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter));
    MPI_T_pvar_handle_free(session, &h);
    MPI_Group_free(&group);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

static void counts(MPI_Comm c)
{
    MPI_T_pvar_handle h = handle_on(&c);
    MPI_Comm made;
    MPI_Request q;
    MPI_Group group;
    int x = rank, y;
    ONE(MPI_Barrier(c));
    ONE(MPI_Bcast(&x, 1, MPI_INT, 0, c));
    ONE(MPI_Allreduce(&x, &y, 0, MPI_INT, MPI_SUM, c));
    ONE(MPI_Ibarrier(c, &q));
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    ONE(MPI_Bcast_init(&x, 1, MPI_INT, 0, c, MPI_INFO_NULL, &q));
    int was = number(h);
    for (int i = 0; i < 3; i++) MPI_Start(&q), MPI_Wait(&q, MPI_STATUS_IGNORE);
    CHECK_EQ(number(h), was);
    MPI_Request_free(&q);
    MPI_Comm_group(c, &group);
    MADE(MPI_Comm_dup(c, &made));
    ONE(MPI_Comm_idup(c, &made, &q));
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    MPI_Comm_free(&made);
    MADE(MPI_Comm_create(c, group, &made));
    MADE(MPI_Comm_split_type(c, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made));
    count_topologies(c, h);
    MPI_T_pvar_handle_free(session, &h);
    MPI_Group_free(&group);
    if (size > 1) count_inter(c);
}

/* ---- all kinds at once ---- */
static int value(int from, int round, int which, int i) { return from * 100003 + round * 1009 + which * 101 + i; }
static void fill(int *v, int n, int round, int which)
{
    for (int i = 0; i < n; i++) v[i] = value(rank, round, which, i);
}
static void holds(const int *v, int n, int from, int round, int which)
{
    for (int i = 0; i < n && failures < 20; i++) CHECK_EQ(v[i], value(from, round, which, i));
}
static void sums(const int *v, int n, const int *ranks, int n_ranks, int round, int which)
{
    for (int i = 0; i < n && failures < 20; i++) {
        int sum = 0;
        for (int k = 0; k < n_ranks; k++) sum += value(ranks[k], round, which, i);
        CHECK_EQ(v[i], sum);
    }
}

/* Those that the sums of this communicator come from, by their ranks in MPI_COMM_WORLD; what a broadcast of `root` has as its
 * root here. */
struct side {
    MPI_Comm c;
    int *ranks, n, root_world, root;
};

enum { IBCAST, IREDUCE, PERSIST_BCAST, PERSIST_REDUCE, KINDS };
static void mix(const struct side *s)
{
    static int in[KINDS][N], out[KINDS][N], own[N], sum[N];
    MPI_Request q[KINDS];
    bool is_root = rank == s->root_world, takes = s->root != MPI_PROC_NULL && !is_root;
    MPI_Bcast_init(in[PERSIST_BCAST], N, MPI_INT, s->root, s->c, MPI_INFO_NULL, &q[PERSIST_BCAST]);
    MPI_Allreduce_init(in[PERSIST_REDUCE], out[PERSIST_REDUCE], 5, MPI_INT, MPI_SUM, s->c, MPI_INFO_NULL, &q[PERSIST_REDUCE]);
    for (int round = 0; round < ROUNDS; round++) {
        int n = round % 3 ? 5 : N;
        for (int k = 0; k < KINDS; k++) fill(in[k], N, round, k);
        MPI_Ibcast(in[IBCAST], n, MPI_INT, s->root, s->c, &q[IBCAST]);
        if (round % 2) MPI_Start(&q[PERSIST_REDUCE]), MPI_Start(&q[PERSIST_BCAST]);
        fill(own, n, round, 7);
        MPI_Allreduce(own, sum, n, MPI_INT, MPI_SUM, s->c);
        sums(sum, n, s->ranks, s->n, round, 7);
        MPI_Iallreduce(in[IREDUCE], out[IREDUCE], n, MPI_INT, MPI_SUM, s->c, &q[IREDUCE]);
        if (round % 2 == 0) MPI_Start(&q[PERSIST_BCAST]), MPI_Start(&q[PERSIST_REDUCE]);
        fill(own, 5, round, 8);
        MPI_Bcast(own, 5, MPI_INT, s->root, s->c);
        if (takes) holds(own, 5, s->root_world, round, 8);
        for (int k = 0; k < KINDS; k++) MPI_Wait(&q[(k + rank + round) % KINDS], MPI_STATUS_IGNORE);
        if (takes) holds(in[IBCAST], n, s->root_world, round, IBCAST);
        if (takes) holds(in[PERSIST_BCAST], N, s->root_world, round, PERSIST_BCAST);
        sums(out[IREDUCE], n, s->ranks, s->n, round, IREDUCE);
        sums(out[PERSIST_REDUCE], 5, s->ranks, s->n, round, PERSIST_REDUCE);
    }
    MPI_Request_free(&q[PERSIST_BCAST]);
    MPI_Request_free(&q[PERSIST_REDUCE]);
}

static void mixes(MPI_Comm c)
{
    int *ranks = malloc((size_t)size * sizeof *ranks), theirs = 0;
    for (int i = 0; i < size; i++) ranks[i] = i;
    mix(&(struct side){c, ranks, size, size - 1, size - 1});
    if (size > 1) {
        MPI_Comm half, inter;
        MPI_Comm_split(c, rank % 2, 0, &half);
        MPI_Intercomm_create(half, 0, c, !(rank % 2), 4, &inter);
        for (int i = 0; i < size; i++)
            if (i % 2 != rank % 2) ranks[theirs++] = i;
        mix(&(struct side){inter, ranks, theirs, 0, rank % 2 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL});
        MPI_Comm_free(&inter);
        MPI_Comm_free(&half);
    }
    free(ranks);
}

/* ---- at the end ---- */
static MPI_Comm other;
static MPI_Request again;
static int often[N];

static void several(MPI_Comm c, int round)
{
    int few[5], many[N];
    fill(few, 5, round, 1), fill(many, N, round, 2), fill(often, N, round, 3);
    MPI_Start(&again);
    MPI_Bcast(few, 5, MPI_INT, 0, c);
    MPI_Bcast(many, N, MPI_INT, 0, c);
    MPI_Wait(&again, MPI_STATUS_IGNORE);
    holds(few, 5, 0, round, 1);
    holds(many, N, 0, round, 2);
    holds(often, N, 0, round, 3);
}
static int at_end(MPI_Comm c, int key, void *v, void *extra)
{
    (void)key, (void)v, (void)extra;
    for (int round = 0; round < ROUNDS; round++) several(round % 2 ? c : other, round);
    MPI_Request_free(&again);
    MPI_Comm_free(&other);
    if (failures) MPI_Abort(MPI_COMM_WORLD, 3);
    return MPI_SUCCESS;
}

static int after(void)
{
    int key;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Bcast_init(often, N, MPI_INT, 0, other, MPI_INFO_NULL, &again);
    several(other, 100);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, NULL);
    MPI_Comm_free_keyval(&key);
    return test_end();
}

int main(int argc, char **argv)
{
    int level;
    MPI_Comm c;
    MPI_Init(&argc, &argv);
    test_begin();
    if (argc > 1 && strcmp(argv[1], "after") == 0) return after();
    MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
    MPI_T_pvar_session_create(&session);
    CHECK_EQ(MPI_T_pvar_get_index("comm_collectives", MPI_T_PVAR_CLASS_COUNTER, &begun), MPI_SUCCESS);
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    counts(MPI_COMM_WORLD);
    counts(c);
    mixes(c);
    MPI_Comm_free(&c);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return test_end();
}
