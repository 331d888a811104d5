/* session_life.c -- sessions begin and end any number of times, beside each other, before, around and after the World Model (MPI 4.1
 * section 11.3).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "session_check.h"

static void flags_are(int initialized, int finalized)
{
    int flag = -1;
    CHECK_EQ(MPI_Initialized(&flag), MPI_SUCCESS);
    CHECK_EQ(flag, initialized);
    CHECK_EQ(MPI_Finalized(&flag), MPI_SUCCESS);
    CHECK_EQ(flag, finalized);
}

/* Local: nobody else takes part. */
static void alone(int times)
{
    for (int i = 0; i < times; i++) {
        int n = -1;
        MPI_Session s = session_open(NULL);
        MPI_Comm self = session_comm(s, "mpi://SELF", "alone");
        MPI_Comm_size(self, &n);
        CHECK_EQ(n, 1);
        comm_works(self, i);
        MPI_Comm_free(&self);
        session_close(&s);
    }
}

static void together(int seed)
{
    MPI_Session s = session_open(NULL);
    MPI_Comm c = session_comm(s, "mpi://WORLD", "together"), d;
    MPI_Comm_rank(c, &rank);
    MPI_Comm_size(c, &size);
    comm_works(c, seed);
    CHECK_EQ(MPI_Comm_dup(c, &d), MPI_SUCCESS);
    comm_works(d, seed + 1);
    MPI_Comm_free(&c);
    comm_works(d, seed + 2);
    MPI_Comm_free(&d);
    session_close(&s);
}

/* Ends that do not nest, and differ from rank to rank. */
static void beside_each_other(void)
{
    MPI_Session a = session_open(NULL), b = session_open(NULL);
    CHECK(a != b);
    MPI_Comm ca = session_comm(a, "mpi://WORLD", "a"), cb = session_comm(b, "mpi://WORLD", "b");
    int result = -1;
    MPI_Comm_compare(ca, cb, &result);
    CHECK_EQ(result, MPI_CONGRUENT);
    comm_works(ca, 10);
    comm_works(cb, 20);
    MPI_Comm_free(&ca);
    if (rank % 2) session_close(&a);
    comm_works(cb, 30);
    if (!(rank % 2)) session_close(&a);
    comm_works(cb, 40);
    MPI_Comm_free(&cb);
    session_close(&b);
}

/* A sender has ended its session, and begun another one, when the receiver looks: more messages than a ring holds. */
static void leaves_early(void)
{
    enum { N = 600, BIG = 300000 };
    static unsigned char data[BIG];
    MPI_Session s = session_open(NULL);
    MPI_Comm c = session_comm(s, "mpi://WORLD", "early");
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Request r[2];
    pattern_fill(data, BIG, 7);
    unsigned char *in = malloc(BIG);
    MPI_Irecv(in, BIG, MPI_BYTE, from, N, c, &r[0]);
    MPI_Isend(data, BIG, MPI_BYTE, to, N, c, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    CHECK_EQ(pattern_wrong(in, BIG, 7), -1);
    free(in);
    if (rank == 0 && size > 1) {
        for (int i = 0; i < N; i++) {
            pattern_fill(data, 100, (unsigned)i);
            MPI_Send(data, 100, MPI_BYTE, 1, i, c);
        }
    }
    if (rank == 1) {
        unsigned char small[100];
        for (int i = N - 1; i >= 0; i--) {
            MPI_Recv(small, 100, MPI_BYTE, 0, i, c, MPI_STATUS_IGNORE);
            CHECK_EQ(pattern_wrong(small, 100, (unsigned)i), -1);
        }
    }
    MPI_Comm_free(&c);
    session_close(&s);
}

/* Members of some groups only, with an order of their own. */
static void parts(void)
{
    MPI_Session s = session_open(NULL);
    MPI_Group all, mine, empty = MPI_GROUP_EMPTY;
    MPI_Comm c = MPI_COMM_WORLD;
    int n = 0, ranks[64], result = -1, me = -1;
    CHECK_EQ(MPI_Group_from_session_pset(s, "mpi://WORLD", &all), MPI_SUCCESS);
    for (int i = size - 1; i >= 0; i--)
        if (i % 2 == rank % 2) ranks[n++] = i;
    MPI_Group_incl(all, n, ranks, &mine);
    CHECK_EQ(MPI_Comm_create_from_group(mine, "halves", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c), MPI_SUCCESS);
    comm_works(c, 50);
    MPI_Comm_rank(c, &me);
    CHECK_EQ(ranks[me], rank);
    MPI_Group of_comm;
    MPI_Comm_group(c, &of_comm);
    MPI_Group_compare(of_comm, mine, &result);
    CHECK_EQ(result, MPI_IDENT);
    MPI_Comm_free(&c);
    /* What was made of a communicator serves too. */
    CHECK_EQ(MPI_Comm_create_from_group(of_comm, "halves again", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c), MPI_SUCCESS);
    comm_works(c, 60);
    MPI_Comm_free(&c);
    c = MPI_COMM_WORLD;
    CHECK_EQ(MPI_Comm_create_from_group(empty, "nobody", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c), MPI_SUCCESS);
    CHECK(c == MPI_COMM_NULL);
    MPI_Group_free(&of_comm);
    MPI_Group_free(&mine);
    MPI_Group_free(&all);
    session_close(&s);
}

/* Even ranks and odd ranks. */
static void between(void)
{
    if (size < 2) return;
    MPI_Session s = session_open(NULL);
    MPI_Group all, side[2];
    MPI_Comm inter = MPI_COMM_NULL;
    int is_inter = 0, local = -1, remote = -1, me = -1, got = -1, sum = -1, want = 0;
    MPI_Group_from_session_pset(s, "mpi://WORLD", &all);
    for (int k = 0; k < 2; k++) {
        int range[1][3] = {{k, size - 1, 2}};
        MPI_Group_range_incl(all, 1, range, &side[k]);
    }
    /* The remote group counts at the leader alone, the last rank of either side. */
    int mine = rank % 2, n_mine = (size + 1 - mine) / 2, n_other = size - n_mine, leads = rank / 2 == n_mine - 1;
    CHECK_EQ(MPI_Intercomm_create_from_groups(side[mine], n_mine - 1, leads ? side[!mine] : MPI_GROUP_NULL,
                                              leads ? n_other - 1 : -77, "sides", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter),
             MPI_SUCCESS);
    MPI_Comm_test_inter(inter, &is_inter);
    CHECK_EQ(is_inter, 1);
    MPI_Comm_size(inter, &local);
    MPI_Comm_remote_size(inter, &remote);
    CHECK_EQ(local, n_mine);
    CHECK_EQ(remote, n_other);
    MPI_Comm_rank(inter, &me);
    CHECK_EQ(me, rank / 2);
    CHECK_EQ(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter), MPI_SUCCESS);
    for (int i = !mine; i < size; i += 2) want += i;
    CHECK_EQ(sum, want);
    if (me < n_other && me < n_mine) {
        MPI_Sendrecv(&rank, 1, MPI_INT, me, 3, &got, 1, MPI_INT, me, 3, inter, MPI_STATUS_IGNORE);
        CHECK_EQ(got, 2 * me + !mine);
    }
    CHECK_EQ(MPI_Comm_free(&inter), MPI_SUCCESS);
    for (int k = 0; k < 2; k++) MPI_Group_free(&side[k]);
    MPI_Group_free(&all);
    session_close(&s);
}

/* Of the predefined attributes there is MPI_TAG_UB alone; windows are as elsewhere. */
static void things_of_a_session(void)
{
    MPI_Session s = session_open(NULL);
    MPI_Comm c = session_comm(s, "mpi://WORLD", "things");
    int *value = NULL, flag = -1,
        others[] = {MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_UNIVERSE_SIZE, MPI_APPNUM, MPI_LASTUSEDCODE};
    CHECK_EQ(MPI_Comm_get_attr(c, MPI_TAG_UB, &value, &flag), MPI_SUCCESS);
    CHECK(flag == 1 && *value >= 32767);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        CHECK_EQ(MPI_Comm_get_attr(c, others[i], &value, &flag), MPI_SUCCESS);
        CHECK_EQ(flag, 0);
    }
    MPI_Win win;
    int *base = NULL, next = (rank + 1) % size;
    CHECK_EQ(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, c, &base, &win), MPI_SUCCESS);
    *base = -1;
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, next, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK_EQ(*base, (rank + size - 1) % size);
    MPI_Win_free(&win);
    MPI_Comm_free(&c);
    session_close(&s);
}

static void world_works(void)
{
    int n = -1;
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    CHECK_EQ(n, size);
    comm_works(MPI_COMM_WORLD, 70);
}

int main(int argc, char **argv)
{
    flags_are(0, 0);
    alone(1);
    together(1);
    if (rank % 3 == 1) alone(3);
    together(2);
    beside_each_other();
    leaves_early();
    parts();
    between();
    things_of_a_session();
    flags_are(0, 0);
    MPI_Session around = session_open(NULL);
    MPI_Comm c = session_comm(around, "mpi://WORLD", "around");
    MPI_Init(&argc, &argv);
    flags_are(1, 0);
    world_works();
    comm_works(c, 80);
    MPI_Session within = session_open(NULL);
    MPI_Comm w = session_comm(within, "mpi://WORLD", "within");
    comm_works(w, 90);
    if (rank % 2) {
        MPI_Comm_free(&w);
        session_close(&within);
    }
    CHECK_EQ(MPI_Finalize(), MPI_SUCCESS);
    flags_are(1, 1);
    comm_works(c, 100);
    if (!(rank % 2)) {
        MPI_Comm_free(&w);
        session_close(&within);
    }
    MPI_Comm_free(&c);
    session_close(&around);
    together(3);
    alone(2);
    flags_are(1, 1);
    return session_test_end();
}
