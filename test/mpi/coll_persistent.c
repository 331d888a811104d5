/* coll_persistent.c -- persistent collectives: each kind started again and again with other data; all kinds active at once on
 * three communicators, started in an order of each rank's own, among blocking and non-blocking ones; what is freed after the
 * init; errors.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "coll_jobs.h"

static unsigned long long shared = 99; /* drawn alike by all ranks */
static unsigned draw(unsigned n)
{
    shared = shared * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(shared >> 33) % n;
}

static void each(struct coll_comm *k)
{
    static const int sizes[] = {0, 1, 6, 500, 9000};
    int turn = 0;
    for (int n = 0; n < 5; n++)
        for (int kind = 0; kind < KINDS; kind++)
            for (int in_place = 0; in_place < 2; in_place++, turn++) {
                struct coll_comm *on = &k[turn % COMMS];
                struct job j = job_new(kind, on, turn % LAYOUTS, turn % OP_KINDS, sizes[n], turn % on->size, in_place);
                job_call(&j, turn % 2 ? PERSISTENT : PERSISTENT_C);
                job_free_objects(&j);
                MPI_Request handle = j.req;
                MPI_Status s;
                CHECK_EQ(MPI_Wait(&j.req, &s), MPI_SUCCESS); /* inactive: at once, with an empty status */
                CHECK_EQ(s.MPI_SOURCE, MPI_ANY_SOURCE);
                for (int round = 0; round < 3; round++) {
                    job_fill(&j, round);
                    CHECK_EQ(MPI_Start(&j.req), MPI_SUCCESS);
                    CHECK_EQ(MPI_Wait(&j.req, MPI_STATUS_IGNORE), MPI_SUCCESS);
                    job_check(&j, round);
                    CHECK(j.req == handle);
                }
                CHECK_EQ(MPI_Request_free(&j.req), MPI_SUCCESS);
                CHECK(j.req == MPI_REQUEST_NULL);
                job_free(&j);
            }
}

/* A non-blocking and a blocking one that have nothing to do with those prepared. */
static void others(struct coll_comm *k, int round)
{
    struct job a = job_new(ALLREDUCE, k, DENSE, OP_MAPS, 100, 0, 0),
               b = job_new(BCAST, k, GAPPED, OP_SUM, 3000, round % k->size, 0);
    job_fill(&a, 50 + round), job_fill(&b, 60 + round);
    job_call(&a, NONBLOCKING);
    job_call(&b, BLOCKING);
    CHECK_EQ(MPI_Wait(&a.req, MPI_STATUS_IGNORE), MPI_SUCCESS);
    job_check(&a, 50 + round), job_check(&b, 60 + round);
    job_free_objects(&a), job_free_objects(&b);
    job_free(&a), job_free(&b);
}

static void shuffle(int n, int *order)
{
    for (int i = 0; i < n; i++) order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int k = (int)random_below((unsigned)i + 1), t = order[i];
        order[i] = order[k], order[k] = t;
    }
}

enum { MANY = 2 * KINDS };
static void complete(int n, MPI_Request *q, int round)
{
    int got[MANY], outcount = 0, left = n, i, flag = 0;
    if (round % 3 == 0) CHECK_EQ(MPI_Waitall(n, q, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    if (round % 3 == 1)
        for (; left; left--) {
            CHECK_EQ(MPI_Waitany(n, q, &i, MPI_STATUS_IGNORE), MPI_SUCCESS);
            CHECK(i != MPI_UNDEFINED);
        }
    if (round % 3 == 2)
        for (; left > 0; left -= outcount) CHECK_EQ(MPI_Waitsome(n, q, &outcount, got, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    CHECK_EQ(MPI_Testall(n, q, &flag, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    CHECK(flag);
}

/* Where a message travels early, its receiver may not have started yet, and other operations may begin and end in between. */
static void many(struct coll_comm *k)
{
    static const int sizes[] = {1, 6, 700, 6000};
    struct job j[MANY];
    MPI_Request q[MANY];
    int order[MANY];
    for (int i = 0; i < MANY; i++) {
        struct coll_comm *on = &k[draw(COMMS)];
        int layout = (int)draw(LAYOUTS), op = (int)draw(OP_KINDS), n = sizes[draw(4)], in_place = (int)draw(2);
        j[i] = job_new(i % KINDS, on, layout, op, n, (int)(draw(1000) % (unsigned)on->size), in_place);
        job_call(&j[i], PERSISTENT);
        job_free_objects(&j[i]);
    }
    for (int round = 0; round < 6; round++) {
        shuffle(MANY, order);
        for (int i = 0; i < MANY; i++) job_fill(&j[order[i]], round), q[i] = j[order[i]].req;
        for (int i = 0; i < MANY / 2; i++) CHECK_EQ(MPI_Start(&q[i]), MPI_SUCCESS);
        /* Nothing here waits for those just started, which need not be the same on other ranks. */
        CHECK_EQ(MPI_Startall(MANY - MANY / 2, q + MANY / 2), MPI_SUCCESS);
        for (int i = 0; i < COMMS; i++) others(&k[i], round);
        complete(MANY, q, round);
        for (int i = 0; i < MANY; i++) job_check(&j[i], round);
    }
    for (int i = 0; i < MANY; i++) {
        CHECK_EQ(MPI_Request_free(&j[i].req), MPI_SUCCESS);
        job_free(&j[i]);
    }
}

/* The communicator goes after the init; the operation goes on being started. */
static void frees(struct coll_comm *k)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct coll_comm own = k[kind % COMMS];
        MPI_Comm_dup(k[kind % COMMS].c, &own.c);
        struct job j = job_new(kind, &own, PAIRS, OP_GAPPED, 400, 0, 0);
        job_call(&j, PERSISTENT);
        job_free_objects(&j);
        MPI_Comm_free(&own.c);
        for (int round = 0; round < 2; round++) {
            job_fill(&j, round);
            CHECK_EQ(MPI_Startall(1, &j.req), MPI_SUCCESS);
            CHECK_EQ(MPI_Wait(&j.req, MPI_STATUS_IGNORE), MPI_SUCCESS);
            job_check(&j, round);
        }
        CHECK_EQ(MPI_Request_free(&j.req), MPI_SUCCESS);
        job_free(&j);
    }
}

static int class_of(int rc)
{
    int class = -1;
    MPI_Error_class(rc, &class);
    return class;
}

static void errors(struct coll_comm *k)
{
    MPI_Request q = MPI_REQUEST_NULL, kept;
    MPI_Info info;
    int x = k->rank, y = -1, *all = calloc((size_t)k->size, sizeof(int));
    MPI_Comm_set_errhandler(k->c, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK_EQ(class_of(MPI_Bcast_init(&x, 1, MPI_INT, -3, k->c, MPI_INFO_NULL, &q)), MPI_ERR_ROOT);
    CHECK_EQ(class_of(MPI_Scan_init(&x, &y, 1, MPI_INT, MPI_MINLOC, k->c, MPI_INFO_NULL, &q)), MPI_ERR_OP);
    CHECK(q == MPI_REQUEST_NULL);
    MPI_Info_create(&info);
    MPI_Info_set(info, "godwit_unknown", "1");
    CHECK_EQ(MPI_Allreduce_init(&x, &y, 1, MPI_INT, MPI_MAX, k->c, info, &q), MPI_SUCCESS);
    MPI_Info_free(&info);
    kept = q;
    CHECK_EQ(class_of(MPI_Cancel(&q)), MPI_ERR_REQUEST);
    CHECK_EQ(MPI_Start(&q), MPI_SUCCESS);
    CHECK_EQ(class_of(MPI_Start(&q)), MPI_ERR_REQUEST);
    CHECK_EQ(class_of(MPI_Startall(1, &q)), MPI_ERR_REQUEST);
    CHECK_EQ(class_of(MPI_Request_free(&q)), MPI_ERR_REQUEST);
    CHECK_EQ(class_of(MPI_Cancel(&q)), MPI_ERR_REQUEST);
    CHECK(q == kept);
    CHECK_EQ(MPI_Wait(&q, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_EQ(y, k->size - 1);
    CHECK_EQ(MPI_Request_free(&q), MPI_SUCCESS);
    /* An error of one start is not one of the next: the root's room is too small for what the others send. */
    CHECK_EQ(MPI_Gather_init(all, k->rank ? 2 : 1, MPI_SHORT, k->rank ? NULL : (short *)all + 1, 1, MPI_SHORT, 0, k->c,
                             MPI_INFO_NULL, &q),
             MPI_SUCCESS);
    for (int round = 0; round < 2; round++) {
        MPI_Start(&q);
        int class = class_of(MPI_Wait(&q, MPI_STATUS_IGNORE));
        CHECK(class == MPI_ERR_TRUNCATE || (class == MPI_SUCCESS && (k->rank > 0 || k->size == 1))); /* others may notice it, too */
        CHECK(q != MPI_REQUEST_NULL);
    }
    CHECK_EQ(MPI_Request_free(&q), MPI_SUCCESS);
    free(all);
}

int main(int argc, char **argv)
{
    struct coll_comm k[COMMS];
    MPI_Init(&argc, &argv);
    test_begin();
    random_state += 1000u * (unsigned)rank;
    comms_open(k);
    each(k);
    many(k);
    frees(k);
    for (int i = 0; i < COMMS; i++) errors(&k[i]);
    comms_close(k);
    return test_end();
}
